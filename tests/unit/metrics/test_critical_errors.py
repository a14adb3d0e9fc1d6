"""Critical errors by scripted scorers, and the rules that rewrite sources."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.metrics.critical_errors import CriticalErrors
from cc_hf.metrics.critical_errors.rules import PHENOMENA, languages, rewritings
from cc_hf.metrics.critical_errors.thresholds import best_threshold
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses

#: English and German words that mean the same; a scorer counts those without their counterpart
_WORDS = {"not": "nicht", "more": "mehr", "less": "weniger", "7": "7", "9": "9"}


def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    pairs = [(s.split(), t.split()) for s, t in zip(sources, translations, strict=True)]
    return [0.9 ** sum((g in t) != (e in s) for e, g in _WORDS.items()) for s, t in pairs]


def judged(*rows: tuple[str, str, str], **options: Any) -> EvaluationResult:
    references = [{"source": source, "errors": errors} for source, _, errors in rows]
    metric = CriticalErrors(**options)
    texts = [translation for _, translation, _ in rows]
    return judge(metric, Material("en", "de", references), texts, evaluator=scores)


_SOURCE = "He did not eat more than 7 pears"


@cases(
    (_SOURCE, "Er aß nicht mehr als 7 Birnen", "correct", ""),
    (_SOURCE, "Er aß mehr als 7 Birnen", "incorrect", "negation"),
    (_SOURCE, "Er aß nicht mehr als 9 Birnen", "incorrect", "number"),
    (_SOURCE, "Er aß weniger als 7 Birnen", "incorrect", "negation+comparison"),
    (_SOURCE, "🎉", "incorrect", None),
    (_SOURCE, _SOURCE, "inconclusive", ""),
    (_SOURCE, " ", "inconclusive", ""),
    ("Trees grow.", "Bäume wachsen nicht.", "inconclusive", ""),
    ("🎉", "Feier", "inconclusive", ""),
    (f"{_SOURCE} and then " * 60, "Er aß nicht mehr als 7 Birnen", "correct", ""),
)
def test_verdicts_follow_rewritings(source: str, text: str, verdict: str, predicted: Any) -> None:
    result = judged((source, text, ""))
    (judgement,) = result.judgements
    assert judgement.verdict == verdict
    assert predicted in (judgement.predicted, None)
    assert result.counts["n_skipped"] == (verdict == "inconclusive")
    assert EvaluationResult.from_json(result.to_json()) == result


def test_the_rewriting_is_kept_with_its_place() -> None:
    (judgement,) = judged((_SOURCE, "Er aß nicht mehr als 9 Birnen", "")).judgements
    parts = [(s.phenomenon, s.text, s.replacement, s.start) for s in judgement.spans]
    assert parts[0] == ("number", "7", "9", _SOURCE.index("7"))


@cases(
        ("en", "He can't and won't.", "", "negation", ["He can and won't.", "He can't and will."]),
        ("en", "It isn't cold.", "", "negation", ["It is cold."]),
        ("en", "Not all know this.", "", "negation", ["All know this."]),
        ("en", "No dog barks.", "", "negation", ["A dog barks.", "Some dog barks.", "The dog barks."]),
        ("en", "It is unfair, under pressure.", "", "negation", ["It is fair, under pressure."]),
        ("en", "Not only he left.", "", "negation", []),
        ("en", "He is here.", "", "added_negation", ["He is not here."]),
        ("en", "He is not here.", "", "added_negation", []),
        ("en", "In May he may leave.", "", "modality", ["In May he must leave."]),
        ("en", "He came on Friday.", "am Montag", "date", None),
        ("en", "They paid 1,200 euros.", "Sie zahlten 1.200 Euro.", "number", ["They paid 1,201 euros."]),
        ("en", "They paid 15 euros.", "Sie zahlten 50 Euro.", "number", ["They paid 50 euros.", "They paid 16 euros."]),
        ("en", "From 3 to 5 of 3.", "3 5 3", "number", None),
        ("en", "It lasts two days.", "", "unit", None),
        ("en", "Yesterday Ann Lee met Tom.", "Gestern traf Ann Lee Tom.", "name", ["Yesterday Tom met Ann Lee."]),
        ("en", "Ann met Tom.", "Anna traf Thomas.", "name", []),
        ("en", "More came.", "", "comparison", ["Less came."]),
        ("en", "He left before noon.", "", "order", ["He left after noon."]),
        ("de", "Er hat kein Geld.", "", "negation", ["Er hat ein Geld."]),
        ("de", "Er kam nicht.", "", "negation", ["Er kam."]),
        ("de", "Er hat ein Auto.", "", "added_negation", ["Er hat nicht ein Auto.", "Er hat kein Auto."]),
        ("de", "Das muss sein.", "", "modality", ["Das darf sein.", "Das kann sein."]),
        ("de", "Anna traf Tom in Bonn.", "Anna met Tom in Bonn.", "name", ["Tom traf Anna in Bonn.", "Anna traf Bonn in Tom."]),
    )  # fmt: skip
def test_rules_rewrite_sources(lang: str, source: str, text: str, kind: str, expected: Any) -> None:
    changes = rewritings(source, text, lang)
    texts = [change.apply(source) for change in changes if change.phenomenon == kind]
    assert texts == expected if expected is not None else len(texts) == len(set(texts)) > 1
    assert source not in texts


@pytest.mark.parametrize("lang", languages())
def test_rules_of_every_language_have_every_phenomenon(lang: str) -> None:
    texts = {
        "en": "Ann must not go to Bonn before 7 May, for more days; it is always so.",
        "de": "Ann darf nicht vor 7 Mai nach Bonn gehen, mehr Tage; es ist immer so.",
    }
    changes = rewritings(texts[lang], texts[lang], lang)
    assert {change.phenomenon for change in changes} >= set(PHENOMENA) - {"unit", "modality"}


def test_labels_give_figures_and_a_threshold_by_phenomenon() -> None:
    rows = []
    for i in range(60):
        source, text = f"No {i}: he did not eat", f"Nr {i} er aß"
        rows += [(source, f"{text} nicht", "none"), (source, text, "negation")]
    result = judged(*rows, phenomena="negation")
    assert {result.scores[f"{name}_negation"] for name in ("recall", "auc", "f1")} == {1}
    assert result.scores["balanced_accuracy_negation"] == 1
    assert result.scores["error_rate_negation"] == result.scores["error_rate"] == 0.5
    assert "|rules:en|phen:negation|mind:0|" in result.signature
    assert any("--option min_difference=negation=0" in note for note in result.notes)
    stricter = judged(*rows, phenomena="negation", min_difference="negation=0.2,number=0.1")
    assert stricter.scores["error_rate"] == 0
    assert "|mind:negation=0.2+number=0.1|" in stricter.signature
    assert "error_rate_number" not in result.scores


def test_a_threshold_is_chosen_on_one_half_and_tested_on_the_other() -> None:
    draw = np.random.default_rng(0)
    gold = np.arange(400) % 2 == 1
    values = draw.normal(gold * 1.0 + 0.5, 0.2)
    sources = [str(i // 2) for i in range(400)]
    chosen = best_threshold(values, gold, sources, Bootstrap(n_resamples=50))
    assert chosen is not None
    assert 0.7 < chosen.threshold < 1.3
    assert 0.95 < chosen.accuracy < 1
    assert best_threshold(values[:30], gold[:30], sources[:30], Bootstrap()) is None


@cases(
    ({"min_difference": "x"}, "", "min_difference: expected a number from 0"),
    ({"min_difference": -1}, "", "min_difference: expected a number from 0"),
    ({"min_difference": "-inf"}, "", "min_difference: expected a number from 0"),
    ({"min_difference": "negation=1,negation=2"}, "", "min_difference: expected"),
    ({"min_difference": "colour=1"}, "", "numbers of phenomena such as"),
    ({"phenomena": "colour"}, "", "phenomena: expected some of negation"),
    ({}, "colour", "row 0: errors: expected none, or some of negation"),
)
def test_options_and_labels_are_checked(options: dict[str, Any], errors: str, message: str) -> None:
    refuses(message, judged, (_SOURCE, "Er", errors), **options)


def test_a_language_without_rules_is_refused() -> None:
    assert "expected sources in de or en" in CriticalErrors.fits("", "", object, "fr", "de")  # type: ignore[arg-type]
    refuses("src_lang", rewritings, "Il part.", "", "fr")


@pytest.mark.parametrize("metric", ["critical_errors", "coverage"])
def test_the_card_has_the_figures_of_the_benchmark(metric: str, root: Path) -> None:
    card = (root / f"cards/metrics/{metric}.md").read_text(encoding="utf-8")
    measured = card.partition("### Measured\n")[2].partition("\n## ")[0]
    if metric == "coverage":
        measured = measured.partition("DistilLingEval")[2].partition("\n- ")[0]
    page = (root / "docs/critical_errors.md").read_text(encoding="utf-8")
    figures = re.findall(r"\d+\.\d \(\d+\.\d – \d+\.\d\)", measured)
    assert len(figures) >= 2
    assert not [figure for figure in figures if figure not in page]
