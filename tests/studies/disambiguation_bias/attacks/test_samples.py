from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cc_hf.studies.disambiguation_bias.attacks.samples import (
    AttackJudgement,
    read_judgements,
    read_samples,
    write_rows,
)
from tests.helpers.cases import cases
from tests.helpers.lines import write_jsonl, write_lines
from tests.helpers.refusals import refuses
from tests.studies.disambiguation_bias.attacks.helper import sample_of

ROW = asdict(sample_of("hot"))


def test_judgements_survive_a_file(tmp_path: Path) -> None:
    rows = [
        AttackJudgement(sample_of("hot"), "a", "b", "correct", "flipped:water", 0.75, 0.25),
        AttackJudgement(sample_of("old", fluency_ratio=1.1), "a", "b"),
    ]
    path = tmp_path / "rows.jsonl"
    assert write_rows(path, rows) == 2
    assert list(read_judgements(path)) == rows
    assert [sample.adjective for sample in read_samples(path)] == ["hot", "old"]


@cases(
    ({"start": -1}, "start: expected a whole number from 0, got -1"),
    ({"start": 400}, "start: expected a position"),
    ({"start": True}, "start: expected a whole number from 0, got True"),
    ({"kind": "insert"}, "kind: expected insert_at_homograph, .* got 'insert'"),
    ({"source": None}, "source: expected a text, got None"),
    ({"freq_diff": "3"}, "freq_diff: expected a number, got '3'"),
    ({"freq_diff": float("nan")}, "freq_diff: expected a number, got nan"),
    ({"adv_cluster": "season"}, "expected two different clusters, got 'season' for both"),
    ({"fluency_ratio": "x"}, "fluency_ratio: expected a number or null"),
)
def test_a_damaged_row_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "samples.jsonl", [{**ROW, **change}])
    refuses(f"samples.jsonl: line 1.*{message}", list, read_samples(path))


@pytest.mark.parametrize("line", ["{", "[]"])
def test_other_files_are_refused(line: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "samples.jsonl", [line])
    message = "line 1: expected a JSON object, got .*; write the file with `cc-hf study disambig"
    refuses(message, list, read_samples(path))


def test_samples_occur_once_and_are_no_judgements(tmp_path: Path) -> None:
    row = json.dumps(ROW)
    path = write_lines(tmp_path / "samples.jsonl", [row, "", row])
    refuses("line 3: the id '0/hot' occurs twice", list, read_samples(path))
    refuses(r"seed_translation.*.*cc-hf study disambiguation_bias", list, read_judgements(path))
