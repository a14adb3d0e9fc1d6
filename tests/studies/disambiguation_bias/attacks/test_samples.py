from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import InputError
from cc_hf.studies.disambiguation_bias.attacks.samples import (
    AttackJudgement,
    read_judgements,
    read_samples,
    write_rows,
)
from tests.studies.disambiguation_bias.attacks.helper import sample_of


def test_judgements_survive_a_file(tmp_path: Path) -> None:
    rows = [
        AttackJudgement(sample_of("hot"), "a", "b", "correct", "flipped:water", 0.75, 0.25),
        AttackJudgement(replace(sample_of("old"), fluency_ratio=1.1), "a", "b"),
    ]
    path = tmp_path / "rows.jsonl"
    assert write_rows(path, rows) == 2
    assert list(read_judgements(path)) == rows
    assert [sample.adjective for sample in read_samples(path)] == ["hot", "old"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": -1}, "start: expected a whole number from 0, got -1"),
        ({"start": 400}, "start: expected a position"),
        ({"start": True}, "start: expected a whole number from 0, got True"),
        ({"kind": "insert"}, "kind: expected insert_at_homograph, .* got 'insert'"),
        ({"source": None}, "source: expected a text, got None"),
        ({"freq_diff": "3"}, "freq_diff: expected a number, got '3'"),
        ({"freq_diff": float("nan")}, "freq_diff: expected a number, got nan"),
        ({"adv_cluster": "season"}, "expected two different clusters, got 'season' for both"),
        ({"fluency_ratio": "x"}, "fluency_ratio: expected a number or null"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps({**asdict(sample_of("hot")), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=f"samples.jsonl: line 1.*{message}"):
        list(read_samples(path))


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    for text, message in (
        ("{", "line 1: expected a JSON object, got .*; write the file with `cc-hf study disambig"),
        ("[]", "line 1: expected a JSON object, got .*; write the file with `cc-hf study disambig"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            list(read_samples(path))
    row = json.dumps(asdict(sample_of("hot")))
    path.write_text(f"{row}\n\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: the id '0/hot' occurs twice"):
        list(read_samples(path))
    with pytest.raises(InputError, match=r"seed_translation.*.*cc-hf study disambiguation_bias"):
        list(read_judgements(path))
    with pytest.raises(InputError, match="file not found"):
        list(read_samples(tmp_path / "absent.jsonl"))
