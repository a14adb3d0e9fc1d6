"""How well the embedded evaluator finds critical errors and omissions, on translations whose errors
are known.

Lost negations and clauses are those of DistilLingEval (Vamvas & Sennrich 2021b), which removed them
from translations by people and by machines. All other errors are made here: a rule of the target
language changes the translation of a sentence of news, as the rules of the source language do.

python -m benchmarks.critical_errors --data-dir DIR --output docs/measurements.md
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from benchmarks.command import run_main
from benchmarks.documents import check_block, write_block
from cc_hf.data.loading import load_examples
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.metrics.base import Metric
from cc_hf.plugins.omissions.coverage import Coverage
from cc_hf.plugins.omissions.critical_errors import CriticalErrors
from cc_hf.plugins.omissions.critical_errors.rules import PHENOMENA, rewritings
from cc_hf.reports.figure_text import with_interval
from cc_hf.results import EvaluationResult
from cc_hf.statistics.score_intervals import estimate_share

__all__ = ["errors_table", "main"]

_POLARITY = {
    "nicht": "“nicht” deleted",
    "kein": "“kein” → “ein”",
    "affix": "“un-” deleted",
}
_VARIANTS = {"human": "by people", "mt": "by machines"}
_NEWS = "clause_omission.human"
_MOST = 300  # pairs of a right and a wrong translation of one kind
_LONGEST = 300  # characters of a source


@cache
def _evaluator() -> Evaluator:
    return load_evaluator("cc-tiny-en-de", mode="exact")  # so that AUC is exact, too


class _Pair(NamedTuple):
    source: str
    right: str
    wrong: str


def _pairs(config: str, data_dir: Path) -> list[_Pair]:
    examples = load_examples("distil_lingeval", config, data_dir=data_dir)
    pairs = (_Pair(e.source, e.correct_translation, *e.contrastive_translations) for e in examples)
    return [pair for pair in pairs if len(pair.source) <= _LONGEST]


def _made(pairs: Iterable[_Pair], phenomenon: str) -> Iterator[_Pair]:
    """Yield translations that a rule of German makes wrong, by a change that is drawn."""
    draw = random.Random(0)
    for pair in pairs:
        changes = [
            change
            for change in rewritings(pair.right, pair.source, "de")
            if change.phenomenon == phenomenon
        ]
        if changes:
            yield pair._replace(wrong=draw.choice(changes).apply(pair.right))


def _judged(metric: Metric, pairs: list[_Pair], label: str, error: str) -> EvaluationResult:
    """Judge the right and the wrong translation of each pair, labelled as such."""
    none = {"errors": "none", "omission": "false"}[label]
    rows = [{"source": pair.source, label: text} for pair in pairs for text in (none, error)]
    texts = [text for pair in pairs for text in (pair.right, pair.wrong)]
    return judge(metric, Material("en", "de", rows), texts, evaluator=_evaluator())


def _cells(result: EvaluationResult, error: str) -> list[str]:
    """Return the numbers of judged translations, and the figures of an error."""
    judged = np.array([j.verdict != "inconclusive" for j in result.judgements])
    is_right = judged & (np.arange(len(judged)) % 2 == 0)
    alarms = np.array([j.verdict == "incorrect" for j in result.judgements])
    flagged = estimate_share(alarms & is_right, is_right)
    name = f"{error}_{{}}" if error == "omission" else f"{{}}_{error}"
    recall, auc, balanced = (name.format(f) for f in ("recall", "auc", "balanced_accuracy"))
    thresholds = [note for note in result.notes if f"={error}=" in note]
    return [
        f"{judged.sum():,} of {len(judged):,}",
        with_interval(result.scores[recall], result.intervals.get(recall)),
        with_interval(flagged.value, flagged.interval),
        with_interval(result.scores[auc], result.intervals.get(auc)),
        with_interval(result.scores[balanced], result.intervals.get(balanced))
        if balanced in result.scores
        else "",
        *[note.rpartition("=")[2] for note in thresholds or [""]],
    ]


def _rows(data_dir: Path) -> Iterator[tuple[str, str, EvaluationResult, str]]:
    """Yield data, kind of error, the result, and the name of the error."""
    for variant, origin in _VARIANTS.items():
        for name, title in _POLARITY.items():
            pairs = _pairs(f"{name}.{variant}", data_dir)[:_MOST]
            metric = CriticalErrors(phenomena="negation")
            result = _judged(metric, pairs, "errors", "negation")
            yield f"DistilLingEval, {origin}", title, result, "negation"
        pairs = _pairs(f"clause_omission.{variant}", data_dir)[:_MOST]
        result = _judged(Coverage(), pairs, "omission", "true")
        yield f"DistilLingEval, {origin}", "clause deleted (`coverage`)", result, "omission"
    news = _pairs(_NEWS, data_dir)
    for phenomenon in PHENOMENA:
        pairs = list(_made(news, phenomenon))[:_MOST]
        result = _judged(CriticalErrors(phenomena=phenomenon), pairs, "errors", phenomenon)
        yield "made, news by people", phenomenon.replace("_", " "), result, phenomenon


def errors_table(data_dir: Path) -> str:
    """Return the table of figures by data and kind of error."""
    lines = [
        "| data | error | judged | wrong found | right flagged | AUC | balanced | threshold |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for data, title, result, error in _rows(data_dir):
        lines.append(f"| {' | '.join([data, title, *_cells(result, error)])} |")
    return "\n".join(lines)


def main(
    data_dir: Annotated[Path | None, typer.Option(help="Upstream repositories.")] = None,
    output: Annotated[Path | None, typer.Option(help="Page whose table is replaced.")] = None,
) -> None:
    """Make the table, and print or write it."""
    check_block(output, "critical-errors")
    folder = data_dir or Path(os.environ["CC_HF_DATA_DIR"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)
        text = errors_table(folder)
    typer.echo(text)
    write_block(output, "critical-errors", f"{text}\n")


if __name__ == "__main__":
    run_main(main)
