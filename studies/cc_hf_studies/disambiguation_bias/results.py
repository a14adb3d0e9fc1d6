"""Bias and errors of the sentences in a result: what predicts the verdicts of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import InputError, check_choice, shown
from cc_hf.reading import finite_number
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example
from cc_hf.text.tokenization import word_texts
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.prediction import FEATURES
from cc_hf_studies.disambiguation_bias.sentences import BiasColumns

__all__ = ["UNDECIDED", "JudgedSentences", "bias_of_examples", "bias_of_rows", "judged_sentences"]

#: What an inconclusive verdict counts as: no error as in the thesis, an error, or nothing.
UNDECIDED = ("right", "wrong", "ignored")

#: Values of a sentence by name, as `cc_hf_studies.disambiguation_bias.prediction.FEATURES`.
_Values = Mapping[str, float]


@dataclass(frozen=True)
class JudgedSentences:
    """Sentences with their bias and whether their translation has an error.

    Attributes:
        homographs: the homograph of each sentence, "" where it is not known.
        n_undecided: number of inconclusive verdicts that were ignored.
        n_unknown: number of verdicts on sentences without bias.
    """

    features: Mapping[str, tuple[float, ...]]
    is_error: tuple[bool, ...]
    homographs: tuple[str, ...]
    n_undecided: int
    n_unknown: int


def bias_of_examples(
    examples: Sequence[Example],
    table: AttractorTable | None = None,
    *,
    smoothing: float = 0.0,
    log: bool = True,
) -> dict[str, dict[str, Any]]:
    """Return the bias of examples by their ids.

    Args:
        examples: those whose `extra` lacks `homograph` or `cluster` are ignored.
        table: counts of attractors; None for the values that the examples themselves hold.
    """
    if table is None:
        rows = {
            e.id: {**e.extra, "homograph": e.extra.get("homograph", "")}
            for e in examples
            if "freq_diff" in e.extra
        }
        if not rows:
            raise InputError(
                "examples: expected values of bias, as challenge sets have them, got none; name the"
                " table of attractors"
            )
        return bias_of_rows(rows.items())
    tagged = [e for e in examples if e.extra.get("homograph") and e.extra.get("cluster")]
    if not tagged:
        raise InputError(
            "examples: expected homographs with their clusters (the columns homograph and cluster),"
            " got none"
        )
    columns = BiasColumns(table, ("freq", "ppmi"), smoothing, log)(
        {
            "source": [e.source for e in tagged],
            "homograph": [e.extra["homograph"] for e in tagged],
            "cluster": [e.extra["cluster"] for e in tagged],
        }
    )
    return {
        example.id: {
            "homograph": example.extra["homograph"],
            "length": len(word_texts(example.source)),
            **{name: columns[name][index] for name in FEATURES if name != "length"},
        }
        for index, example in enumerate(tagged)
    }


def bias_of_rows(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return the bias of rows by their ids, checked."""
    values: dict[str, dict[str, Any]] = {}
    for name, row in rows:
        if name in values:
            raise InputError(f"example {name!r}: expected one row of bias, got several")
        numbers = {key: _number(row[key], name, key) for key in FEATURES if key in row}
        if "length" not in numbers and row.get("source"):
            numbers["length"] = float(len(word_texts(row["source"])))
        values[name] = {"homograph": row.get("homograph", ""), **numbers}
    return values


def _number(value: Any, name: str, key: str) -> float:
    number = finite_number(value)
    if number is None:
        raise InputError(f"example {name!r}: {key}: expected a finite number, got {shown(value)}")
    return number


def judged_sentences(
    result: EvaluationResult, bias: Mapping[str, Mapping[str, Any]], *, undecided: str = "right"
) -> JudgedSentences:
    """Join the verdicts of a result with the bias of the sentences."""
    check_choice("undecided", undecided, UNDECIDED)
    if not result.judgements:
        raise InputError(f"{result.metric}: expected verdicts on single translations, got none")
    known = [j for j in result.judgements if j.example_id in bias]
    if not known:
        raise InputError(
            "expected the bias of the sentences of the result, got that of others: the result has"
            f" the ids {result.judgements[0].example_id!r}, ..., the bias"
            f" {next(iter(bias), 'none')!r}, ..."
        )
    kept = [j for j in known if undecided != "ignored" or j.verdict != "inconclusive"]
    names = [key for key in FEATURES if all(key in bias[j.example_id] for j in kept)]
    return JudgedSentences(
        {key: tuple(float(bias[j.example_id][key]) for j in kept) for key in names},
        tuple(not j.is_correct if undecided == "wrong" else j.verdict == "incorrect" for j in kept),
        tuple(str(bias[j.example_id].get("homograph", "")) for j in kept),
        len(known) - len(kept),
        len(result.judgements) - len(known),
    )
