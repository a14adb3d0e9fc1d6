from __future__ import annotations

import json
from pathlib import Path

import pytest

from cc_hf.data.files.sense_counts import frequent_senses, read_sense_counts, with_counts
from cc_hf.data.loading import declaration
from cc_hf.errors import InputError


def test_the_frequent_sense_of_a_word_has_the_highest_count_and_of_equal_ones_is_the_first() -> (
    None
):
    counts = {"bat - a": 1, "bat - b c": 2, "air - x": 4, "air - y": 4}
    assert frequent_senses(counts) == {("bat", frozenset({"b", "c"})), ("air", frozenset({"x"}))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected an object, sense to number"),
        ("{}", "expected an object, sense to number"),
        ('{"bat": 1}', "expected a word, ' - ' and the target words"),
        ('{"bat - a": -1}', "bat - a: expected a whole number from 0, got -1"),
        ('{"bat - a": 1.5}', "bat - a: expected a whole number from 0, got 1.5"),
        ("{", "counts.json: "),
    ],
)
def test_files_that_are_no_counts_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "counts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_sense_counts(path)


def test_counts_fit_only_data_that_name_senses(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    path.write_text(json.dumps({"counts": {"bat - a": 1}}), encoding="utf-8")
    assert read_sense_counts(path) == {"bat - a": 1}
    assert with_counts(declaration("mucow"), "en-de", path).counts
    for name, config in (("winomt", None), ("mucow", "scoring.lt-en")):
        with pytest.raises(InputError, match=f"counts: {name} .* does not name senses"):
            with_counts(declaration(name), config, path)
