"""MuCoW's translation suite has the counts of the reference programs' input, and the scoring suite
equals its own files.
"""

from collections import Counter
from pathlib import Path

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.schema import ContrastiveTranslationExample, ProbingExample
from tests.helpers.command_line import read_json
from tests.helpers.mucow_logs import log_of, logged_verdict

pytestmark = pytest.mark.shared

_PAIRS = ("de-en", "en-cs", "en-de", "en-fi", "en-lt", "en-ru", "fi-en", "lt-en", "ru-en")


def suite(shared: Path, pair: str) -> list[ProbingExample]:
    config = f"{pair}.probing" if pair in ("en-de", "en-ru") else pair
    return cc_hf.load_examples("mucow", config, data_dir=shared / "upstream")


@pytest.mark.parametrize("pair", _PAIRS)
def test_the_translation_suite_has_the_recorded_counts(shared: Path, pair: str) -> None:
    stats = next(row for row in read_json(shared / "gold/mucow/stats.json") if row["pair"] == pair)
    examples = suite(shared, pair)
    assert Counter(e.category for e in examples) == Counter(
        in_domain=stats["samples_in"], out_of_domain=stats["samples_out"]
    )
    assert {
        **{"n": len(examples), "corpora": Counter(e.extra["corpus"] for e in examples)},
        "src_words": len({e.extra["ambiguous_word"] for e in examples}),
        "senses": len({(e.extra["ambiguous_word"], e.gold) for e in examples}),
    }.items() <= stats.items()


@pytest.mark.parametrize("language", ["de", "ru"])
def test_the_translation_suite_equals_the_logged_rows(shared: Path, language: str) -> None:
    """Every row of the log has the same source, word, senses, and frequent and infrequent counts."""
    rows, examples = log_of(shared, language), suite(shared, f"en-{language}")
    for example, row in zip(examples, rows, strict=True):
        extra = example.extra
        read = (example.source, extra["ambiguous_word"], extra["corpus"])
        assert read == (row["sentence"], row["src_word"], row["corpus"])
        assert set(example.gold.split()) == set(row["correct_senses"])
        assert set(extra["incorrect_senses"].split()) == set(row["wrong_senses"])
    path = shared / "gold/human_validation/mucow_pattern_matching_from_log.json"
    counts = read_json(path)[language]["counts"]
    names = {"inconclusive": "unk", "correct": "pos", "incorrect": "neg"}
    verdicts = [names[logged_verdict(row)] for row in rows]
    frequencies = [e.extra["frequency"] for e in examples]
    found = Counter(f"{v}_{f}" for v, f in zip(verdicts, frequencies, strict=True))
    assert found == {name: n for name, n in counts.items() if "_" in name}


def test_the_scoring_suite_equals_its_own_files(shared: Path) -> None:
    configs = registry.resolve("dataset", "mucow").configs
    declared = [config for config in configs if config.form is ContrastiveTranslationExample]
    assert len(declared) == 11
    folder = shared / "upstream/Helsinki-NLP/MuCoW/WMT2019/scoring test suite/json"
    for config in declared:
        path = folder / f"{config.name.removeprefix('scoring.')}.mucow.scoring.json"
        if not path.is_file():
            assert not config.files[0].sha256
            continue
        rows = read_json(path)
        examples = cc_hf.load_examples("mucow", config.name, data_dir=shared / "upstream")
        assert len(examples) == len(rows) == config.splits["test"]
        for example, row in zip(examples, rows, strict=True):
            read = (example.source, example.correct_translation, example.category)
            assert read == (row["source"], row["reference"], row["origin"])
            wrong = [error["contrastive"] for error in row["errors"]]
            replaced = [error["replacement"] for error in row["errors"]]
            assert list(example.contrastive_translations) == wrong
            assert example.extra["replacements"].split("; ") == replaced
            assert example.extra["n_equal_to_reference"] == "0"
