"""cc-hf study disambiguation_bias attack judge: which adversarial sentences flip the sense of a
homograph.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile, shown_command
from cc_hf.cli.options import EvaluatorFields, Resampling
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf_studies.common.corpus_options import Aligner, Lemmatizer
from cc_hf_studies.disambiguation_bias.command_options import (
    AttackSamples,
    LexiconFields,
    LexiconOptions,
    Search,
)

if TYPE_CHECKING:
    from cc_hf.text.alignment import Aligner as TextAligner
    from cc_hf_studies.disambiguation_bias.attacks.contrastive import SenseCues
    from cc_hf_studies.disambiguation_bias.attacks.judging import CueJudge

__all__ = ["judge"]

_CONTRASTIVE = "With --judge contrastive"


def judge(
    samples: AttackSamples,
    *,
    system: Annotated[
        str | None,
        typer.Option(help="Model that translates: a name, a folder, or a model on the Hub."),
    ] = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Translations of the file of `cc-hf study disambiguation_bias attack build"
                " --sources`, one per line, in place of --system."
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
    lexicon: Annotated[LexiconOptions, LexiconFields],
    search: Search = "anywhere",
    aligner: Aligner = "fast_align",
    align_with: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="SOURCE TARGET",
            help=(
                "Two line-aligned files, such as a part of the system's training corpus, from which"
                " the aligner learns, too."
            ),
        ),
    ] = None,
    alignments: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Word alignments in place of --aligner, in Pharaoh format between words and"
                " punctuation marks: one line for each line of the file of `cc-hf study"
                " disambiguation_bias attack build --sources`."
            )
        ),
    ] = None,
    lemmatizer: Lemmatizer = "simplemma",
    attractors: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Table of attractors, by `cc-hf study disambiguation_bias attractors --table`,"
                " whose most distinctive words are the cues of a sense."
            ),
            rich_help_panel=_CONTRASTIVE,
        ),
    ] = None,
    cues: Annotated[
        Path | None,
        typer.Option(
            help=(
                "JSON file of cues in place of attractors, an object"
                ' {"spring": {"1": ["summer"], "2": ["water"]}}.'
            ),
            rich_help_panel=_CONTRASTIVE,
        ),
    ] = None,
    n_cues: Annotated[
        int, typer.Option(min=1, help="Number of cues of each sense.", rich_help_panel=_CONTRASTIVE)
    ] = 6,
    placement: Annotated[
        str,
        typer.Option(
            help="Where a cue stands, before the homograph or instead.",
            rich_help_panel=_CONTRASTIVE,
        ),
    ] = "before",
    evaluator: Annotated[
        str | None,
        typer.Option(
            help=(
                "Evaluator model. Default: the model that ships with cc_hf for the language pair."
            ),
            rich_help_panel=_CONTRASTIVE,
        ),
    ] = None,
    num_beams: Annotated[
        int, typer.Option(min=1, help="With --system: number of beams in the beam search.")
    ] = 5,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a page with the figures, and seeds beside attacked sentences, to this file."
        ),
        OutputFile(),
    ] = None,
    judgements: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write the outcome of each sample to this .jsonl, for `cc-hf study"
                " disambiguation_bias attack transfer`."
            )
        ),
        OutputFile(),
    ] = None,
    loading: Annotated[LoadingOptions, replace(EvaluatorFields, rare="device", settings="")],
    bootstrap: Annotated[Bootstrap, Resampling],
    progress: bool = False,
) -> Outcome:
    """Translate adversarial sentences and count which attacks succeed, by kind of change and bias.

    The method is that of Emelin (2023), section 3.3.2. Contrastive conditioning as a judge is new.

    Example: cc-hf study disambiguation_bias attack judge samples.jsonl --system my/model
    """
    from cc_hf.metrics.alignments import corpus_aligner
    from cc_hf_studies.disambiguation_bias.attacks.judging import (
        attack_json,
        judge_attacks,
        translate_or_read,
    )
    from cc_hf_studies.disambiguation_bias.attacks.outcomes import LexiconJudge
    from cc_hf_studies.disambiguation_bias.attacks.samples import read_samples, write_rows
    from cc_hf_studies.disambiguation_bias.attacks.tables import attack_page, attack_tables
    from cc_hf_studies.disambiguation_bias.side_by_side import ATTACK

    chosen = _judges(judges)
    if "contrastive" not in chosen and (attractors or cues or evaluator):
        raise InputError(
            "attractors, cues, evaluator: only --judge contrastive uses them; name it, or leave"
            " them out"
        )
    rows = list(read_samples(samples))
    cue_judge = lexicon_judge = None
    if "contrastive" in chosen:
        cue_judge = _cue_judge(
            _cues(attractors, cues, n_cues, placement),
            evaluator,
            lexicon.languages,
            loading.device,
        )
    if "lexicon" in chosen:
        learner: str | TextAligner = aligner
        if align_with is not None:
            words = {row.homograph.lower() for row in rows}
            learner = corpus_aligner(
                aligner, align_with, words=words, languages=lexicon.languages, lemmatizer=lemmatizer
            )
        lexicon_judge = LexiconJudge(lexicon.read(), search, learner, lemmatizer, alignments)
    translated = translate_or_read(
        rows,
        system,
        translations,
        name=name,
        languages=lexicon.languages,
        num_beams=num_beams,
        loading=loading,
        progress=progress,
    )
    judged, report = judge_attacks(
        rows,
        translated,
        samples_path=samples,
        lexicon=lexicon_judge,
        cues=cue_judge,
        bootstrap=bootstrap,
        progress=progress,
    )
    if judgements is not None:
        write_rows(judgements, judged)
    files = [NewFile(judgements, None)]
    if html is not None:
        files.append(NewFile(html, attack_page(report, judged, command=shown_command())))
    row = {"study": ATTACK, "data": samples.stem, **attack_json(report)}
    return Outcome(row, lambda: attack_tables(report), files=files)


def _judges(names: list[str] | None) -> tuple[str, ...]:
    from cc_hf_studies.disambiguation_bias.attacks.judge import JUDGES

    if unknown := sorted(set(names or ()) - set(JUDGES)):
        raise InputError(f"judge: expected one of {', '.join(JUDGES)}, got {unknown[0]!r}")
    return tuple(judge for judge in JUDGES if judge in (names or JUDGES[:1]))


def _cues(attractors: Path | None, cues: Path | None, n: int, placement: str) -> SenseCues:
    from cc_hf_studies.disambiguation_bias.attacks.contrastive import SenseCues, read_cues
    from cc_hf_studies.disambiguation_bias.attractors import read_table

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
    from cc_hf.evaluators.loading import load_with
    from cc_hf.models.location import default_evaluator
    from cc_hf_studies.disambiguation_bias.attacks.judging import CueJudge

    chosen = name or default_evaluator(*languages)
    src_lang, tgt_lang = languages
    options = LoadingOptions(device=device, src_lang=src_lang, tgt_lang=tgt_lang, cache=True)
    return CueJudge(cues, load_with(chosen, options), src_lang, tgt_lang)
