"""Parity with pattern matching on MuCoW, see PROVENANCE.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.results import EvaluationResult
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.mucow_logs import log_of, logged_verdict

pytestmark = pytest.mark.shared

VERDICTS = {"pos": "correct", "neg": "incorrect", "unk": "inconclusive"}
FIGURES = {
    "cov": "coverage",
    "prec": "precision",
    "recA": "recall_a",
    "recB": "recall_b",
    "f1A": "f1_a",
    "f1B": "f1_b",
}
GROUPS = {"all": "", "in": "_in_domain", "out": "_out_of_domain"}
PAIRS = ("cs", "de", "fi", "lt", "ru")


def run(shared: Path, config: str, translations: list[str], **options: Any) -> EvaluationResult:
    return evaluate_dataset(
        "mucow",
        config,
        translations=translations,
        metric="mucow_pattern_matching",
        data_dir=shared / "upstream",
        options=options,
    )


@pytest.mark.parametrize(
    ("lang", "rules", "counts", "n_equal"),
    [
        ("de", {"parity": True}, (1871, 615, 851), 3316),
        ("de", {}, (1868, 610, 859), 3307),
        ("ru", {"parity": True}, (948, 359, 507), 1780),
        ("ru", {}, (945, 357, 512), 1777),
    ],
    ids=["de-parity", "de-default", "ru-parity", "ru-default"],
)
def test_decisions_on_published_translations_agree_as_documented(
    shared: Path, lang: str, rules: dict[str, bool], counts: tuple[int, ...], n_equal: int
) -> None:
    rows = log_of(shared, lang)
    result = run(shared, f"en-{lang}.probing", [row["translation"] for row in rows], **rules)
    assert tuple(result.counts[f"n_{name}"] for name in VERDICTS.values()) == counts
    found = [j.verdict for j in result.judgements]
    logged = [logged_verdict(row) for row in rows]
    assert sum(a == b for a, b in zip(found, logged, strict=True)) == n_equal
    if rules:
        gold = (
            (shared / f"gold/mucow/decisions.cc_hyphen_split.en-{lang}.ensemble.simplemma.txt")
            .read_text(encoding="utf-8")
            .split()
        )
        other = [
            row["translation"]
            for row, a, b in zip(rows, found, gold, strict=True)
            if a != VERDICTS[b]
        ]
        # the recorded run split Russian at hyphens
        assert len(other) == {"de": 0, "ru": 6}[lang]
        assert all("-" in text for text in other)
        recorded = json.loads((shared / "gold/mucow/gold_mucow.json").read_text(encoding="utf-8"))
        tokenizer = {"de": "ud", "ru": "moses"}[lang]
        wanted = ("cc_reimpl", lang, "ensemble", tokenizer, "simplemma")
        row = next(
            r
            for r in recorded
            if tuple(r[key] for key in ("impl", "lang", "hyp", "tokenizer", "lemmatizer")) == wanted
        )
        for name in ("coverage", "precision", "precision_frequent", "precision_infrequent"):
            assert result.scores[name] == pytest.approx(row[name], abs=1e-12), name
        assert result.scores["min_precision_frequency"] == pytest.approx(
            row["min_precision"], abs=1e-12
        )
        assert result.scores["recall_a"] == pytest.approx(row["recallA"], abs=1e-12)


@pytest.mark.parametrize(("lang", "n_equal"), [("de", 3330), ("ru", 1793)])
def test_decisions_with_the_logged_lemmas_agree_as_documented(
    shared: Path, lang: str, n_equal: int
) -> None:
    rows = log_of(shared, lang)
    result = run(
        shared,
        f"en-{lang}.probing",
        [r["translation"] for r in rows],
        parity=True,
        lemmatized=[r["translation_lemmatized"] or "" for r in rows],
    )
    assert (
        sum(
            j.verdict == logged_verdict(row) for j, row in zip(result.judgements, rows, strict=True)
        )
        == n_equal
    )


@pytest.mark.parametrize(
    "pair", [*(f"en-{lang}" for lang in PAIRS), "de-en", "fi-en", "lt-en", "ru-en"]
)
def test_references_judged_as_translations_give_the_recorded_counts(
    shared: Path, pair: str
) -> None:
    config = f"{pair}.probing" if pair in ("en-de", "en-ru") else pair
    references = [
        e.extra["reference"]
        for e in cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")
    ]
    recorded = json.loads(
        (shared / "gold/mucow/gold_mucow_allpairs_ref.json").read_text(encoding="utf-8")
    )
    row = next(r for r in recorded if (r["pair"], r["lemmatizer"]) == (pair, "simplemma"))
    result = run(shared, config, references, parity=True)
    assert {key: result.counts[f"n_{name}"] for key, name in VERDICTS.items()} == {
        key: row[key] for key in VERDICTS
    }
    for key, name in FIGURES.items():
        for group, suffix in GROUPS.items():
            assert result.scores[name + suffix] == pytest.approx(
                row["full"][f"{key}_{group}"], abs=1e-12
            ), name + suffix
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
