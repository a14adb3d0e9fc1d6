"""cc-hf study disambiguation_bias attack judge: which adversarial sentences flip the sense of a
homograph.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.options import AsJson, DataDir, Device, FiguresOutput, Quiet, Resamples, Seed
from cc_hf.cli.output import (
    check_output,
    json_text,
    print_result,
    say_written,
    shows_progress,
    write_atomically,
)
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.studies.disambiguation_bias.attacks.contrastive import SenseCues
    from cc_hf.studies.disambiguation_bias.attacks.judging import CueJudge

__all__ = ["judge"]


def judge(
    samples: Annotated[
        Path,
        typer.Argument(
            help="Samples that `cc-hf study disambiguation_bias attack make` wrote (.jsonl)."
        ),
    ],
    system: Annotated[
        str | None,
        typer.Option(help="Model that translates: a name, a folder, or a model on the Hub."),
    ] = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Translations of the file of `cc-hf study disambiguation_bias attack make"
                " --sources`, one per line, in place"
                " of --system."
            )
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the system. Default: that of the model or file.")
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help=(
                "Judge of the attacks: lexicon (the words of each sense), or contrastive"
                " (contrastive conditioning, which needs no words of the target language). May be"
                " repeated; both are then compared. Default: lexicon."
            ),
        ),
    ] = None,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file of homographs with their senses. Default: the published English-German"
                " lexicon of Emelin et al. (2020)."
            )
        ),
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            help="Where senses are looked for: anywhere, aligned, or sentence, as the program does."
        ),
    ] = "anywhere",
    aligner: Annotated[str, typer.Option(help="Aligner: fast_align or eflomal.")] = "fast_align",
    lemmatizer: Annotated[
        str, typer.Option(help="Lemmatizer of the translations: simplemma or none.")
    ] = "simplemma",
    attractors: Annotated[
        Path | None,
        typer.Option(
            help=(
                "With --judge contrastive: table of attractors, by `cc-hf study"
                " disambiguation_bias attractors"
                " --output`, whose most distinctive words are the cues of a sense."
            )
        ),
    ] = None,
    cues: Annotated[
        Path | None,
        typer.Option(
            help=(
                "With --judge contrastive: JSON file of cues in place of attractors, an object"
                ' {"spring": {"1": ["summer"], "2": ["water"]}}.'
            )
        ),
    ] = None,
    n_cues: Annotated[
        int, typer.Option(min=1, help="With --judge contrastive: number of cues of each sense.")
    ] = 6,
    placement: Annotated[
        str,
        typer.Option(
            help="With --judge contrastive: where a cue stands, before the homograph or instead."
        ),
    ] = "before",
    evaluator: Annotated[
        str | None,
        typer.Option(
            help=(
                "With --judge contrastive: evaluator model. Default: the model that ships with"
                " cc_hf for the language pair."
            )
        ),
    ] = None,
    src_lang: Annotated[
        str, typer.Option(help="Language of the sentences, as an ISO 639-1 code.")
    ] = "en",
    tgt_lang: Annotated[
        str, typer.Option(help="Language of the translations, as an ISO 639-1 code.")
    ] = "de",
    num_beams: Annotated[
        int, typer.Option(min=1, help="With --system: number of beams in the beam search.")
    ] = 5,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a page with the figures, and seeds beside attacked sentences, to this file."
        ),
    ] = None,
    judgements: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write what became of each sample to this .jsonl, for `cc-hf study"
                " disambiguation_bias attack transfer`."
            )
        ),
    ] = None,
    output: FiguresOutput = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    data_dir: DataDir = None,
    device: Device = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Translate adversarial sentences and count which attacks succeed, by kind of change and bias.

    The method is that of Emelin (2023), section 3.3.2. Contrastive conditioning as a judge is new.
    """
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.statistics.bootstrap import Bootstrap
    from cc_hf.studies.disambiguation_bias.attacks.judging import (
        attack_json,
        judge_attacks,
        translate_or_read,
    )
    from cc_hf.studies.disambiguation_bias.attacks.outcomes import LexiconJudge
    from cc_hf.studies.disambiguation_bias.attacks.samples import read_samples, write_rows
    from cc_hf.studies.disambiguation_bias.attacks.tables import attack_page, attack_tables
    from cc_hf.studies.disambiguation_bias.homographs import read_lexicon

    for option, path in {"output": output, "html": html, "judgements": judgements}.items():
        check_output(path, option)
    chosen = _judges(judges)
    if "contrastive" not in chosen and (attractors or cues or evaluator):
        raise InputError(
            "attractors, cues, evaluator: only --judge contrastive uses them; name it, or leave"
            " them out"
        )
    languages = src_lang, tgt_lang
    cue_judge = lexicon_judge = None
    if "contrastive" in chosen:
        cue_judge = _cue_judge(
            _cues(attractors, cues, n_cues, placement), evaluator, languages, device
        )
    if "lexicon" in chosen:
        senses = read_lexicon(lexicon, data_dir=data_dir, src_lang=src_lang, tgt_lang=tgt_lang)
        lexicon_judge = LexiconJudge(senses, search, aligner, lemmatizer)
    rows = list(read_samples(samples))
    translated = translate_or_read(
        rows,
        system,
        translations,
        name=name,
        languages=languages,
        num_beams=num_beams,
        loading=LoadingOptions(device=device),
        progress=shows_progress(quiet=quiet),
    )
    judged, report = judge_attacks(
        rows,
        translated,
        samples_path=samples,
        lexicon=lexicon_judge,
        cues=cue_judge,
        bootstrap=Bootstrap(seed, resamples),
        progress=shows_progress(quiet=quiet),
    )
    if judgements is not None:
        write_rows(judgements, judged)
    if html is not None:
        write_atomically(html, attack_page(report, judged))
    print_result(
        as_json, json_text(attack_json(report)), lambda: [attack_tables(report)], output=output
    )
    if not quiet:
        for written in (judgements, html, output):
            say_written(written)


def _judges(names: list[str] | None) -> tuple[str, ...]:
    from cc_hf.studies.disambiguation_bias.attacks.judge import JUDGES

    if unknown := sorted(set(names or ()) - set(JUDGES)):
        raise InputError(f"judge: expected one of {', '.join(JUDGES)}, got {unknown[0]!r}")
    return tuple(judge for judge in JUDGES if judge in (names or JUDGES[:1]))


def _cues(attractors: Path | None, cues: Path | None, n: int, placement: str) -> SenseCues:
    from cc_hf.studies.disambiguation_bias.attacks.contrastive import SenseCues, read_cues
    from cc_hf.studies.disambiguation_bias.attractors import read_table

    if (attractors is None) == (cues is None):
        raise InputError(
            "attractors, cues: contrastive conditioning needs words for each sense; expected one"
            f" of --attractors and --cues, got {'both' if attractors else 'neither'}"
        )
    if cues is not None:
        return read_cues(cues, n=n, placement=placement)
    return SenseCues.from_attractors(read_table(attractors or ""), n=n, placement=placement)


def _cue_judge(
    cues: SenseCues, name: str | None, languages: tuple[str, str], device: str | None
) -> CueJudge:
    from cc_hf.evaluators.loading import load_evaluator
    from cc_hf.models.location import default_evaluator
    from cc_hf.studies.disambiguation_bias.attacks.judging import CueJudge

    chosen = name or default_evaluator(*languages)
    evaluator = load_evaluator(
        chosen, device=device, src_lang=languages[0], tgt_lang=languages[1], cache=True
    )
    return CueJudge(cues, evaluator, *languages)
