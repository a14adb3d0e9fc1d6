"""A metric of words alone: right where the translation holds a word, inconclusive where it holds a
question mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cc_hf.errors import MissingDependencyError, MissingOptionError
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement
from cc_hf.statistics.bootstrap import known_intervals, missing_intervals


def evaluate(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 100,
    progress: bool = False,
    word: str = "Ärztin",
) -> EvaluationResult:
    if word == "uninstalled":
        raise MissingDependencyError("spacy", "morphology")
    if word == "":
        raise MissingOptionError(
            "words: expected a word for the language; name one with --option word=..."
        )
    verdicts = [
        "inconclusive" if "?" in p else "correct" if word in p else "incorrect" for p in predictions
    ]
    rows = zip(
        ids or map(str, range(len(predictions))), predictions, references, verdicts, strict=True
    )
    judgements = tuple(
        Judgement(
            i,
            r["category"],
            v == "correct",
            p,
            v,
            predicted=word if v == "correct" else "",
            gold=word,
        )
        for i, p, r, v in rows
    )
    found = summarize(judgements, seed=seed, n_resamples=n_resamples)
    return EvaluationResult(
        dataset,
        config,
        tgt_lang,
        "words",
        f"w|data:{(origin or {}).get('data', 'own')}|word:{word}|n:{len(judgements)}",
        len(judgements),
        {**found.scores, "delta_words": -0.25},
        known_intervals(found.intervals),
        found.categories,
        judgements,
        found.counts,
        missing_intervals(found.intervals),
    )


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    return [{"category": example.category} for example in examples]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    return (
        "" if dataset in ("simplegen", "custom") else f"words knows simplegen only, not {dataset}"
    )


DECLARATION = MetricDeclaration("words", evaluate, _references, _fits, options=("word",))
