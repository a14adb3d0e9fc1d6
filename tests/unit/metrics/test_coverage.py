"""Omissions and additions by scripted scorers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import evaluate, evaluate_all, load_material
from cc_hf.errors import InputError
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import options_like
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.metrics.coverage import Coverage
from cc_hf.metrics.coverage.spans import Span, chunks, function_words, without
from cc_hf.results import EvaluationResult
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.letter_evaluator import LetterEvaluator
from tests.helpers.lines import write_lines

#: German word -> English word; a scorer counts what has no counterpart
_WORDS = {"Haus": "house", "klein": "small", "heute": "today", "alt": "old"}


def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Score by the number of words of either text without their counterpart in the other."""
    values = []
    for english, german in zip(sources, translations, strict=True):
        n_alone = sum((g in german) != (e in english) for g, e in _WORDS.items())
        values.append(0.9**n_alone)
    return values


def backward(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return scores(translations, sources)


def judged(translation: str, source: str = "The small house today", **options: Any) -> Any:
    row = {"source": source, **options.pop("row", {})}
    metric = Coverage(backward_evaluator=backward, **options)
    return judge(metric, Material("en", "de", [row]), [translation], evaluator=scores)


def found(result: EvaluationResult) -> list[tuple[str, str]]:
    return [(span.side, span.text) for span in result.judgements[0].spans]


@pytest.mark.parametrize(
    ("translation", "verdict", "predicted", "parts"),
    [
        ("Das kleine Haus heute", "correct", "", []),
        ("Das Haus heute", "incorrect", "omission", [("source", "small")]),
        (
            "Das alte kleine Haus heute",
            "incorrect",
            "addition",
            [("translation", "alte")],
        ),
        ("The small house today", "inconclusive", "", []),
        (" ", "inconclusive", "", []),
        ("🎉", "incorrect", "omission", None),
    ],
)
def test_parts_without_which_the_other_text_is_more_probable(
    translation: str, verdict: str, predicted: str, parts: list[tuple[str, str]] | None
) -> None:
    result = judged(translation)
    (judgement,) = result.judgements
    assert (judgement.verdict, judgement.predicted) == (verdict, predicted)
    assert parts is None or [p for p in found(result) if p in parts] == parts
    skipped = {name: n for name, n in result.counts.items() if name.startswith("n_skipped")}
    n_skipped = int(verdict == "inconclusive")
    assert skipped == {
        **{"n_skipped": n_skipped, "n_skipped_sources": n_skipped},
        "n_skipped_translations": int(n_skipped or translation == "🎉"),
    }
    assert EvaluationResult.from_json(result.to_json()) == result


def test_the_evaluator_of_the_other_direction_is_loaded_like_the_first(tmp_path: Path) -> None:
    cache = tmp_path / "scores.sqlite"
    forward = cc_hf.load_evaluator(
        "cc-tiny-en-de", mode="exact", on_too_long="incorrect", cache=cache
    )
    options = options_like(forward)
    assert (options.mode, options.on_too_long, options.cache) == ("exact", "incorrect", cache)
    assert options_like(scores) == LoadingOptions()
    signed = {"eval": "facebook/wmt19-en-pt@1", "back": "bergamot:pt-en@2"}
    assert "small evaluator" in reasons_not_to_cite(signed, {}, 1)["evaluator"]


def test_translations_that_are_too_long_are_judged_in_neither_direction() -> None:
    both = LetterEvaluator(max_tokens=60, on_too_long="incorrect")
    texts = ["Das kleine Haus", "Das kleine Haus " * 5]
    for backward in (None, both):
        rows = [{"source": "The small house"}] * 2
        metric = Coverage(backward_evaluator=backward)
        result = judge(metric, Material("en", "de", rows), texts, evaluator=both)
        assert [j.verdict == "inconclusive" for j in result.judgements] == [False, True]


def test_given_spans_are_used_as_they_are() -> None:
    row = {"source_spans": "[[4, 9], [0, 3]]", "translation_spans": "[[0, 3]]"}
    result = judged("Das Haus heute", spans="given", row=row)
    assert found(result) == [("source", "small")]
    assert result.judgements[0].spans[0].difference == pytest.approx(0.10536, abs=1e-5)
    assert found(judged("Das Haus heute", spans="given", row=row, min_difference="0.2")) == []
    assert "spans:given|mind:0|tie:correct" in result.signature
    assert "tidy:yes" in judged("Das Haus heute", tidy=True).signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row": {"source_spans": "[[0]]"}}, r"row 0: source_spans: expected spans such as"),
        ({"row": {"source_spans": "[[3, 3]]"}}, r"expected 0 <= start < end, got \[3, 3\]"),
        (
            {"row": {"source_spans": "[[0, 99]]"}, "spans": "given"},
            r"row 0: source_spans: expected spans within the 21 characters",
        ),
        ({"row": {"omission": "maybe"}}, r"row 0: omission: expected \"true\", \"false\""),
        ({"min_difference": "-1"}, "min_difference: expected a number from 0"),
        ({"spans": "parse"}, "spans: expected"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        judged("Das Haus", **options)


def test_labels_give_precision_recall_and_auc() -> None:
    texts = ["Das kleine Haus heute", "Das Haus heute", "Das Haus heute", "Das kleine Haus heute"]
    rows = [
        {"source": "The small house today", "omission": label, "addition": "false"}
        for label in ("false", "true", "false", "true")
    ]
    metric = Coverage()
    result = judge(metric, Material("en", "de", rows), texts, evaluator=scores)
    names = ("precision", "recall", "f1", "auc")
    assert [result.scores[f"omission_{name}"] for name in names] == [0.5] * 4
    assert "addition_rate" not in result.scores
    assert "Additions were not looked for" in " ".join(result.notes)


@pytest.mark.parametrize("lang", function_words())
def test_a_part_leaves_something(lang: str) -> None:
    assert chunks("house", lang) == chunks("", lang) == chunks("…!", lang) == []
    text = "x1 y2, z3!"
    assert [text[a:b] for a, b in chunks(text, lang)] == ["x1 y2", "x1", "y2", "z3"]


def test_names_stay_together_where_that_is_wanted() -> None:
    text = "He saw New York today"
    plain, together = (
        [text[a:b] for a, b in chunks(text, "en", keeps_names=keeps)] for keeps in (False, True)
    )
    assert {"York today", "saw New", "New"} <= set(plain) - set(together)
    assert "New York" in together
    assert without("a b .", Span(2, 3), tidy=True) == "a."


def test_a_file_of_sources_is_judged_where_the_metric_is_named(tmp_path: Path) -> None:
    rows = [json.dumps({"source": text}) for text in ("The house is old.", "She left today.")]
    path = write_lines(tmp_path / "s.jsonl", rows)
    texts = write_lines(tmp_path / "t.de", ["Das Haus ist alt.", "Sie ging heute."])
    out = tmp_path / "r.json"
    command = f"evaluate {path} -l en-de --translations {texts} --no-cache"
    printed_by(f"{command} --metric coverage -q -o {out}")
    assert {j["verdict"] for j in read_json(out)["judgements"]} <= {"correct", "incorrect"}
    material = load_material("simplegen", "en-de", limit=2)
    names = {
        r.metric for r in evaluate_all(material, translations=["x", "y"], evaluator=scores).results
    }
    assert "coverage" not in names
    result = evaluate(
        material, translations=["Das Haus", "Das Haus"], metric="coverage", evaluator=scores
    )
    assert result.metric == "coverage"
