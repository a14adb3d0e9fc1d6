"""Parity with pattern matching on MuCoW, see PROVENANCE.md."""

from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.reading import read_lines
from cc_hf.results import EvaluationResult
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.mucow_logs import log_of, logged_verdict

pytestmark = pytest.mark.shared

VERDICTS = {"pos": "correct", "neg": "incorrect", "unk": "inconclusive"}
FIGURES = {
    **{"cov": "coverage", "prec": "precision", "recA": "recall_a", "recB": "recall_b"},
    **{"f1A": "f1_a", "f1B": "f1_b"},
}
PAIRS = ("cs", "de", "fi", "lt", "ru")


def run(shared: Path, config: str, translations: list[str], **options: Any) -> EvaluationResult:
    fixed: dict[str, Any] = {"metric": "mucow_pattern_matching", "data_dir": shared / "upstream"}
    return evaluate_dataset("mucow", config, translations=translations, options=options, **fixed)


def n_equal_decisions(result: EvaluationResult, rows: list[Any]) -> int:
    pairs = zip(result.judgements, rows, strict=True)
    return sum(judgement.verdict == logged_verdict(row) for judgement, row in pairs)


@cases(
    ("de", {"parity": True}, (1871, 615, 851), 3316),
    ("de", {}, (1868, 610, 859), 3307),
    ("ru", {"parity": True}, (948, 359, 507), 1780),
    ("ru", {}, (945, 357, 512), 1777),
)
def test_decisions_on_published_translations_agree_as_documented(
    lang: str, rules: dict[str, bool], counts: tuple[int, ...], n_equal: int, shared: Path
) -> None:
    rows = log_of(shared, lang)
    result = run(shared, f"en-{lang}.probing", [row["translation"] for row in rows], **rules)
    assert tuple(result.counts[f"n_{name}"] for name in VERDICTS.values()) == counts
    assert n_equal_decisions(result, rows) == n_equal
    if rules:
        folder = shared / "gold/mucow"
        name = f"decisions.cc_hyphen_split.en-{lang}.ensemble.simplemma.txt"
        other = [
            own.translation
            for own, recorded in zip(result.judgements, read_lines(folder / name), strict=True)
            if own.verdict != VERDICTS[recorded]
        ]
        # the recorded run split Russian at hyphens
        assert len(other) == {"de": 0, "ru": 6}[lang]
        assert all("-" in text for text in other)
        tokenizer = {"de": "ud", "ru": "moses"}[lang]
        wanted = {"impl": "cc_reimpl", "lang": lang, "hyp": "ensemble", "lemmatizer": "simplemma"}
        wanted["tokenizer"] = tokenizer
        recorded = read_json(folder / "gold_mucow.json")
        row = next(row for row in recorded if wanted.items() <= row.items())
        names = ("coverage", "precision", "precision_frequent", "precision_infrequent")
        expected = {
            **{name: row[name] for name in names},
            **{"min_precision_frequency": row["min_precision"], "recall_a": row["recallA"]},
        }
        found = {name: result.scores[name] for name in expected}
        assert found == pytest.approx(expected, abs=1e-12)


@cases(("de", 3330), ("ru", 1793))
def test_decisions_with_logged_lemmas_are_documented(lang: str, n_equal: int, shared: Path) -> None:
    rows = log_of(shared, lang)
    texts = [row["translation"] for row in rows]
    lemmas = [row["translation_lemmatized"] or "" for row in rows]
    result = run(shared, f"en-{lang}.probing", texts, parity=True, lemmatized=lemmas)
    assert n_equal_decisions(result, rows) == n_equal


@cases(*(f"en-{lang}" for lang in PAIRS), "de-en", "fi-en", "lt-en", "ru-en")
def test_references_as_translations_give_the_recorded_counts(pair: str, shared: Path) -> None:
    config = f"{pair}.probing" if pair in ("en-de", "en-ru") else pair
    examples = cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")
    references = [e.extra["reference"] for e in examples]
    recorded = read_json(shared / "gold/mucow/gold_mucow_allpairs_ref.json")
    row = next(r for r in recorded if (r["pair"], r["lemmatizer"]) == (pair, "simplemma"))
    result = run(shared, config, references, parity=True)
    counts = {key: result.counts[f"n_{name}"] for key, name in VERDICTS.items()}
    assert counts.items() <= row.items()
    expected = {
        name + suffix: row["full"][f"{key}_{group}"]
        for key, name in FIGURES.items()
        for group, suffix in {"all": "", "in": "_in_domain", "out": "_out_of_domain"}.items()
    }
    assert {name: result.scores[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    if pair == "en-de":
        plain = run(shared, config, references)
        assert [plain.counts[f"n_{name}"] for name in VERDICTS.values()] == [3324, 13, 0]


def test_configurations_with_cues_can_be_judged(shared: Path) -> None:
    by_source = {row["sentence"]: row["translation"] for row in log_of(shared, "de")}
    examples = cc_hf.load_examples("mucow", "en-de", data_dir=shared / "upstream")
    result = run(shared, "en-de", [by_source[e.source] for e in examples])
    assert {c.category: c.n for c in result.categories} == {"frequent": 1712, "infrequent": 1622}
    assert "precision_in_domain" not in result.scores
    assert 0.95 < result.scores["precision_frequent"] < 0.97
