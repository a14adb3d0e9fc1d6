"""The command `build` of the study: Wino-X for another language, from WinoGrande and any system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.options import DataDir, EvaluatorFields, LanguagePair
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.languages import language_pair as parsed_pair
from cc_hf_studies.common.corpus_options import Aligner

if TYPE_CHECKING:
    from cc_hf_studies.wino_x.make import MadeWinoX, TargetLanguage

__all__ = ["build"]

_GENDERS = ("male", "female", "neutral")


def build(
    *,
    language_pair: LanguagePair,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="New folder to write.", rich_help_panel="Output"
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            help="Model that translates: a folder, a model on the Hub, or a name of cc-hf."
        ),
    ] = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help=(
                "In place of --system: translations of the lines that --sources wrote, by any"
                " system, one per line."
            )
        ),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            help="Write the sentences that must be translated to this file, one per line, and stop."
        ),
        OutputFile(),
    ] = None,
    winogrande: Annotated[
        Path | None,
        typer.Option(
            help=(
                "A .jsonl or .parquet file in the format of WinoGrande. Default: the training and"
                " the validation set of the Hub."
            )
        ),
    ] = None,
    pronouns: Annotated[
        list[str] | None,
        typer.Option(
            "--pronoun",
            metavar="GENDER=PRONOUN",
            help=(
                "Pronoun of a gender (male, female or neutral), such as female=ona. May be"
                " repeated. Known for de, es, fr, it, pt, ru and uk."
            ),
        ),
    ] = None,
    nouns: Annotated[
        Path | None,
        typer.Option(
            help=(
                "File with a noun and its gender in each line, with a tab between them. It is asked"
                " before articles (de, es, fr, it, pt) and the dictionary of forms (ru, uk); other"
                " languages need it."
            )
        ),
    ] = None,
    animate: Annotated[
        Path | None,
        typer.Option(help="File of further English nouns for persons and animals, one per line."),
    ] = None,
    grammar: Annotated[
        bool,
        typer.Option(
            "--grammar",
            help=(
                'Remove sentences in which LanguageTool finds more errors with "it". It needs'
                " `language_tool_python` and Java."
            ),
        ),
    ] = False,
    agreement: Annotated[
        bool | None,
        typer.Option(
            "--agreement/--no-agreement",
            help=(
                "Whether verbs or adjectives agree with the gender of a noun, so that LM-Wino-X has"
                " only fillers of one gender. Default: for all languages but German."
            ),
        ),
    ] = None,
    num_beams: Annotated[int, typer.Option(min=1, help="With --system: number of beams.")] = 5,
    aligner: Aligner = "fast_align",
    data_dir: DataDir = None,
    loading: Annotated[
        LoadingOptions, replace(EvaluatorFields, rare="device", settings="revision")
    ],
    progress: bool = False,
) -> Outcome:
    """Build Wino-X for a language from WinoGrande, with the number of sentences that each filter
    removes.

    The folder holds a card, and Parquet files for each part. `cc-hf evaluate FOLDER
    mt_en_X.translations` judges a model on it. See Emelin (2023), section 4.2.2.

    Example: cc-hf study wino_x build -l en-pt --system bergamot:en-pt -o wino-x-pt
    """
    from cc_hf.reading import read_lines
    from cc_hf_studies.common.grammar import language_tool
    from cc_hf_studies.wino_x.make import gap_sources, make_wino_x
    from cc_hf_studies.wino_x.suitability import select_schemas
    from cc_hf_studies.wino_x.winogrande import SPLITS, load_winogrande

    if [system, translations, sources].count(None) != 2 or (output is None) != bool(sources):
        raise InputError(
            "expected --output FOLDER with either --system or --translations, or --sources FILE"
            " alone"
        )
    src_lang, tgt_lang = parsed_pair(language_pair)
    if src_lang != "en":
        raise InputError(
            "language_pair: expected a pair from English, the language of WinoGrande, such as"
            f" en-pt, got {language_pair}"
        )
    target = _target(tgt_lang, pronouns, nouns, agreement=agreement)
    sentences = (
        load_winogrande(winogrande)
        if winogrande
        else [s for split in SPLITS for s in load_winogrande(split=split, data_dir=data_dir)]
    )
    candidates, removed = select_schemas(
        sentences,
        animate={line.strip().lower() for line in read_lines(animate)} if animate else (),
        count_errors=language_tool() if grammar else None,
    )
    counted = f"WinoGrande: {len(sentences):,} sentences, suitable: {len(candidates):,}"
    if not candidates:
        raise InputError("WinoGrande: expected suitable sentences, the filters removed all")
    texts = gap_sources(candidates)
    if sources is not None:
        return Outcome(
            {"n_sentences": len(sentences), "n_suitable": len(candidates)},
            lambda: [counted],
            files=[NewFile(sources, "".join(f"{text}\n" for text in texts))],
        )
    if translations is not None:
        translated, name = read_lines(translations, keeps_end=True), translations.name
    else:
        translated, name = _translate(
            texts, str(system), tgt_lang, num_beams=num_beams, loading=loading, progress=progress
        )
    made = make_wino_x(candidates, translated, target, aligner=aligner, system=name)
    return _written(made, removed, Path(str(output)), name, counted)


def _target(
    lang: str, pronouns: list[str] | None, nouns: Path | None, *, agreement: bool | None
) -> TargetLanguage:
    """Return what is known of the target language."""
    from cc_hf_studies.wino_x.make import PRONOUNS, TargetLanguage
    from cc_hf_studies.wino_x.noun_genders import noun_genders

    forms = dict(PRONOUNS.get(lang, {}))
    for text in pronouns or ():
        gender, _, form = text.partition("=")
        if gender not in _GENDERS or not form.strip():
            raise InputError(f"--pronoun: expected GENDER=PRONOUN such as female=ona, got {text!r}")
        forms[gender] = form.strip()
    return TargetLanguage(
        lang,
        noun_genders(lang, _read_nouns(nouns) if nouns else None),
        forms,
        lang != "de" if agreement is None else agreement,
    )


def _read_nouns(path: Path) -> dict[str, str]:
    """Return the genders of the nouns in a file."""
    from cc_hf.reading import read_lines

    genders: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        noun, _, gender = (part.strip().lower() for part in line.partition("\t"))
        if not noun or gender not in _GENDERS or genders.get(noun, gender) != gender:
            raise InputError(
                f"{path}: line {number}: expected a noun, a tab and one gender (male, female or"
                f" neutral), the same wherever the noun recurs, got {line!r}"
            )
        genders[noun] = gender
    return genders


def _translate(
    texts: list[str],
    system: str,
    tgt_lang: str,
    *,
    num_beams: int,
    loading: LoadingOptions,
    progress: bool,
) -> tuple[list[str], str]:
    """Return translations, and the system with its version and beams."""
    from cc_hf.evaluators.loading import load_with
    from cc_hf.systems.system import System
    from cc_hf.systems.translate import translate_with

    model = load_with(system, loading)
    translated = translate_with(
        model,
        texts,
        src_lang="en",
        tgt_lang=tgt_lang,
        num_beams=num_beams,
        progress=progress,
    )
    return translated, System(system, num_beams).signature(model.signature_fields()["eval"])


def _written(
    made: MadeWinoX, removed: Mapping[str, int], output: Path, name: str, counted: str
) -> Outcome:
    """Write the dataset, and return what each filter removed."""
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder
    from cc_hf.plugins.dataset_folders.cards import wino_x_card
    from cc_hf_studies.wino_x.made_dataset import made_declaration
    from cc_hf_studies.wino_x.make import AFTER_TRANSLATION
    from cc_hf_studies.wino_x.suitability import FILTERS

    declared = made_declaration(made, name=name)
    counts = [(filter_, removed[filter_], what) for filter_, what in FILTERS.items()]
    for part, numbers in (("MT", made.removed_mt), ("LM", made.removed_lm)):
        counts += [
            (f"{part}: {filter_}", numbers[filter_], what)
            for filter_, what in AFTER_TRANSLATION.items()
        ]
    build_dataset_folder(
        declared, output=output, card=wino_x_card(declared, made.signature, counts)
    )
    return Outcome(
        {
            "folder": str(output),
            "removed": {filter_: n for filter_, n, _ in counts},
            "n_mt": len(made.mt),
            "n_lm": len(made.lm),
            "signature": made.signature,
        },
        lambda: [
            *(f"removed {n:,} by {filter_}: {what}" for filter_, n, what in counts if n),
            f"MT-Wino-X: {len(made.mt):,} sentences, LM-Wino-X: {len(made.lm):,}",
            f"signature: {made.signature}",
        ],
        files=[NewFile(output, None)],
        notes=[counted],
    )
