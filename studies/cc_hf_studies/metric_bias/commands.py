"""Commands of the study: what a judge prefers by itself, and what systems do with pairs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import CommandGroup, NewFile, Outcome, OutputFile, add_command
from cc_hf.cli.options import (
    DataDir,
    EvaluatorFields,
    LanguagePair,
    Resampling,
    Results,
    TextOutput,
)
from cc_hf.errors import InputError, in_file
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.languages import language_pair as parsed_pair
from cc_hf.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    from cc_hf_studies.metric_bias.audit import Audit
    from cc_hf_studies.metric_bias.sets import Sets

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Show what a judge prefers by itself: an evaluator, or any metric.",
    no_args_is_help=True,
)

Judge = replace(
    EvaluatorFields, names="language_pair", rare="device cache", settings="kind batch_tokens"
)
Pairs = Annotated[
    Path | None,
    typer.Option(
        help=(
            "Your own pairs in place of the datasets, .jsonl: source (which leaves the gender"
            " open), masculine, feminine, and optionally id and referent."
        )
    ),
]


def audit(
    evaluators: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EVALUATOR]...", help="An evaluator; several make an ensemble."),
    ] = None,
    *,
    pairs: Pairs = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Scores of any metric in place of an evaluator, .jsonl: id, setting (open, male or"
                " female), score_masculine, score_feminine, and optionally referent. Or what"
                " `cc-hf ask` chose of what `questions` wrote, .json."
            )
        ),
    ] = None,
    loading: Annotated[LoadingOptions, Judge],
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Write the card of the evaluator, which `report`, `leaderboard` and `publish"
                " leaderboard` show beside its figures if it is among their results."
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
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf_studies.metric_bias.audit import audit_of_choices, audit_of_scores
    from cc_hf_studies.metric_bias.card import judge_card
    from cc_hf_studies.metric_bias.tables import audit_tables

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
    elif scores.suffix.lower() == ".json":
        with in_file(scores):
            made = audit_of_choices(read_result_file(scores).results[0], bootstrap=bootstrap)
    else:
        made = audit_of_scores(scores, bootstrap=bootstrap)
    files = [] if card is None else [NewFile(card, judge_card(made).to_json())]
    warnings = []
    if made.choices is not None and made.choices.n_changed is None:
        warnings.append(
            "the model was asked in one order of the options: choices by position count like"
            " others, half for each gender, and hide a preference; ask with --both-orders"
        )
    return Outcome(made.to_dict, lambda: audit_tables(made), files=files, warnings=warnings)


def questions(
    *,
    pairs: Pairs = None,
    language_pair: LanguagePair,
    data_dir: DataDir = None,
    output: TextOutput,
) -> Outcome:
    """Write the pairs of the audit as questions for a language model, which `cc-hf ask` asks.

    There is a row for each source. Where it says no gender, the masculine translation stands as the
    correct one, so that its accuracy is how often it is chosen.

    Example: cc-hf study metric_bias questions -l en-de -o asked.jsonl
    """
    from cc_hf_studies.metric_bias import choices

    src_lang, tgt_lang = parsed_pair(language_pair)
    rows = choices.questions(
        _sets(pairs, src_lang, tgt_lang, data_dir), src_lang=src_lang, tgt_lang=tgt_lang
    )
    lines = [f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows]
    return Outcome(
        {"questions": len(lines)}, text="".join(lines), about=f", {len(lines):,} questions"
    )


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
    from cc_hf_studies.metric_bias.audit import audit as run

    evaluator = resolve_evaluator(names, loading, src_lang="", tgt_lang="")
    src_lang, tgt_lang = (
        loading.src_lang or evaluator.src_lang,
        loading.tgt_lang or evaluator.tgt_lang,
    )
    sets = _sets(pairs, src_lang, tgt_lang, data_dir)
    languages = {"src_lang": src_lang, "tgt_lang": tgt_lang}
    return run(evaluator, sets, **languages, bootstrap=bootstrap, progress=progress)


def _sets(pairs: Path | None, src_lang: str, tgt_lang: str, data_dir: Path | None) -> Sets:
    from cc_hf_studies.metric_bias.sets import Sets, published_sets, read_pairs

    if pairs is None:
        return published_sets(src_lang, tgt_lang, data_dir)
    return Sets({pairs.name: read_pairs(pairs)}, {}, {}, ())


def verdicts(
    evaluators: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EVALUATOR]...",
            help="An evaluator; several make an ensemble. Without one, only words are compared.",
        ),
    ] = None,
    *,
    loading: Annotated[LoadingOptions, Judge],
    data_dir: DataDir = None,
    bootstrap: Annotated[Bootstrap, replace(Resampling, rare="n_resamples seed", names="")],
    progress: bool = False,
) -> Outcome:
    """Compare gender_accuracy, and an evaluator, with released verdicts on Google's translations.

    The verdicts of Zaranis et al. (2025) are on MT-GenEval's counterfactual sentences, into Arabic,
    French, German, Italian and Portuguese.

    Example: cc-hf study metric_bias verdicts -l en-pt
    """
    from cc_hf.evaluators.resolve import resolve_evaluator
    from cc_hf_studies.metric_bias.tables import verdict_tables
    from cc_hf_studies.metric_bias.verdicts import checked

    evaluator = None
    if evaluators:
        evaluator = resolve_evaluator(tuple(evaluators), loading, src_lang="", tgt_lang="")
    tgt_lang = loading.tgt_lang or (evaluator.tgt_lang if evaluator is not None else "")
    made = checked(
        tgt_lang or "", evaluator, data_dir=data_dir, bootstrap=bootstrap, progress=progress
    )
    return Outcome(made.to_dict, lambda: verdict_tables(made))


def pairs(results: Results) -> Outcome:
    """Show how often both sentences of a pair are right, or have one gender whatever they say.

    Results are on winomt pairs (Manna et al. 2025), mt_geneval counterfactual_*, or data of your
    own with pairs of a male and a female sentence, by any metric with verdicts.

    Example: cc-hf study metric_bias pairs pairs.json
    """
    from cc_hf.comparing.systems import read_results
    from cc_hf_studies.metric_bias.pairs import members, pair_bias
    from cc_hf_studies.metric_bias.tables import pair_table

    made = {}
    for name, result in read_results(results).items():
        with in_file(name):
            made[name] = pair_bias(members(result))
    return Outcome({name: asdict(bias) for name, bias in made.items()}, lambda: [pair_table(made)])


add_command(app, "audit", audit)
add_command(app, "questions", questions)
add_command(app, "verdicts", verdicts)
add_command(app, "pairs", pairs)
