"""MuCoW's translation suite has the counts of the reference programs' input, and the scoring suite
equals its own files.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.schema import ContrastiveTranslationExample, ProbingExample

pytestmark = pytest.mark.shared

_PAIRS = ("de-en", "en-cs", "en-de", "en-fi", "en-lt", "en-ru", "fi-en", "lt-en", "ru-en")


def suite(shared: Path, pair: str) -> list[ProbingExample]:
    config = f"{pair}.probing" if pair in ("en-de", "en-ru") else pair
    return cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")


@pytest.mark.parametrize("pair", _PAIRS)
def test_the_translation_suite_has_the_recorded_counts(shared: Path, pair: str) -> None:
    stats: dict[str, Any] = next(
        row
        for row in json.loads((shared / "gold/mucow/stats.json").read_text(encoding="utf-8"))
        if row["pair"] == pair
    )
    examples = suite(shared, pair)
    assert len(examples) == stats["n"]
    assert Counter(e.category for e in examples) == Counter(
        in_domain=stats["samples_in"], out_of_domain=stats["samples_out"]
    )
    assert len({e.extra["ambiguous_word"] for e in examples}) == stats["src_words"]
    assert len({(e.extra["ambiguous_word"], e.gold) for e in examples}) == stats["senses"]
    assert Counter(e.extra["corpus"] for e in examples) == Counter(stats["corpora"])


def test_the_translation_suite_equals_the_logged_rows(shared: Path) -> None:
    """Every row of the log has the same source, word, senses, and frequent and infrequent counts."""
    for language in ("de", "ru"):
        log = (
            shared
            / f"upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data/mucow_pattern_matching.results.en-{language}.ensemble.log"
        )
        rows = [
            json.loads(line)
            for line in log.read_text(encoding="utf-8").splitlines()
            if line.startswith("{")
        ]
        examples = suite(shared, f"en-{language}")
        for example, row in zip(examples, rows, strict=True):
            assert (example.source, example.extra["ambiguous_word"], example.extra["corpus"]) == (
                row["sentence"],
                row["src_word"],
                row["corpus"],
            )
            assert (set(example.gold.split()), set(example.extra["incorrect_senses"].split())) == (
                set(row["correct_senses"]),
                set(row["wrong_senses"]),
            )
        counts = json.loads(
            (shared / "gold/human_validation/mucow_pattern_matching_from_log.json").read_text(
                encoding="utf-8"
            )
        )[language]["counts"]
        found = Counter(
            (
                e.extra["frequency"],
                "unk" if row["is_unknown"] else "pos" if row["is_correct"] else "neg",
            )
            for e, row in zip(examples, rows, strict=True)
        )
        assert {f"{verdict}_{frequency}": n for (frequency, verdict), n in found.items()} == {
            name: n for name, n in counts.items() if "_" in name
        }


def test_the_scoring_suite_equals_its_own_files(shared: Path) -> None:
    declared = [
        config
        for config in registry.resolve("dataset", "mucow").configs
        if config.form is ContrastiveTranslationExample
    ]
    assert len(declared) == 11
    for config in declared:
        pair = config.name.removeprefix("scoring.")
        path = (
            shared
            / f"upstream/Helsinki-NLP/MuCoW/WMT2019/scoring test suite/json/{pair}.mucow.scoring.json"
        )
        if not path.is_file():
            assert not config.files[0].sha256
            continue
        rows = json.loads(path.read_text(encoding="utf-8"))
        examples = cc_hf.load_examples("mucow", config.name, data_dir=shared / "upstream")
        assert len(examples) == len(rows) == config.splits["test"]
        for example, row in zip(examples, rows, strict=True):
            assert (example.source, example.correct_translation, example.category) == (
                row["source"],
                row["reference"],
                row["origin"],
            )
            assert list(example.contrastive_translations) == [
                e["contrastive"] for e in row["errors"]
            ]
            replaced = [error["replacement"] for error in row["errors"]]
            assert example.extra["replacements"].split("; ") == replaced
            assert example.extra["n_equal_to_reference"] == "0"
