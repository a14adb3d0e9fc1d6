"""The command of the study: what a judge prefers by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import CommandGroup, NewFile, Outcome, OutputFile, add_command
from cc_hf.cli.options import DataDir, EvaluatorFields, Resampling
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    from cc_hf.studies.metric_bias.audit import Audit

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Show what a judge prefers by itself: an evaluator, or any metric.",
    no_args_is_help=True,
)


def audit(
    evaluators: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EVALUATOR]...", help="An evaluator; several make an ensemble."),
    ] = None,
    *,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Your own pairs in place of the datasets, .jsonl: source (which leaves the gender"
                " open), masculine, feminine, and optionally id and referent."
            )
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Scores of any metric in place of an evaluator, .jsonl: id, setting (open, male or"
                " female), score_masculine, score_feminine, and optionally referent."
            )
        ),
    ] = None,
    loading: Annotated[
        LoadingOptions,
        replace(EvaluatorFields, names="language_pair", rare="device kind batch_tokens cache"),
    ],
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Write the card of the evaluator, which `report`, `leaderboard` and `publish` show"
                " beside its figures if it is among their results."
            ),
        ),
        OutputFile((".json",)),
    ] = None,
    data_dir: DataDir = None,
    bootstrap: Annotated[Bootstrap, replace(Resampling, rare="n_resamples seed", names="")],
    progress: bool = False,
) -> Outcome:
    """Show which gender a judge prefers where the source says none, and where it is wrong.

    The judge scores translations that differ in gender alone (Zaranis et al. 2025): of MT-GenEval
    with its contexts cut off, of GATE, and of MT-GenEval's counterfactual sentences, as far as they
    are in the target language. It also scores wrong texts.

    Example: cc-hf study metric_bias audit cc-tiny-en-de -l en-de
    """
    from cc_hf.studies.metric_bias.audit import audit_of_scores
    from cc_hf.studies.metric_bias.card import judge_card
    from cc_hf.studies.metric_bias.tables import audit_tables

    if (scores is None) == (not evaluators):
        raise InputError("expected an evaluator or --scores, and not both")
    if scores is None:
        made = _audited(
            tuple(evaluators or ()),
            pairs,
            loading,
            data_dir,
            bootstrap,
            progress=progress,
        )
    else:
        made = audit_of_scores(scores, bootstrap=bootstrap)
    files = [] if card is None else [NewFile(card, judge_card(made).to_json())]
    return Outcome(made.to_dict, lambda: audit_tables(made), files=files)


def _audited(
    names: tuple[str, ...],
    pairs: Path | None,
    loading: LoadingOptions,
    data_dir: Path | None,
    bootstrap: Bootstrap,
    *,
    progress: bool,
) -> Audit:
    from cc_hf.evaluators.resolve import resolve_evaluator
    from cc_hf.studies.metric_bias.audit import audit as run
    from cc_hf.studies.metric_bias.sets import Sets, published_sets, read_pairs

    evaluator = resolve_evaluator(names, loading, src_lang="", tgt_lang="")
    src_lang, tgt_lang = (
        loading.src_lang or evaluator.src_lang,
        loading.tgt_lang or evaluator.tgt_lang,
    )
    sets = (
        published_sets(src_lang, tgt_lang, data_dir)
        if pairs is None
        else Sets({pairs.name: read_pairs(pairs)}, {}, {}, ())
    )
    languages = {"src_lang": src_lang, "tgt_lang": tgt_lang}
    return run(evaluator, sets, **languages, bootstrap=bootstrap, progress=progress)


add_command(app, "audit", audit)
