from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.files.timings import Timing, read_timings
from cc_hf.errors import InputError
from tests.helpers.cases import cases_by_message

TIMES = {"seconds": 2.5, "rounds": [2.5, 2.4, 2.6], "tokens_per_second": 100.0, "busy": False}
ENTRY = {"system": "base-seed1", "precision": "int8", "backend": "ctranslate2", "beams": 5, **TIMES}


def write(path: Path, *entries: Any, **more: Any) -> Path:
    path.write_text(json.dumps({"timings": entries, **more}), encoding="utf-8")
    return path


def test_times_are_read_with_how_systems_were_decoded(tmp_path: Path) -> None:
    timings = read_timings([write(tmp_path / "t.json", ENTRY, {"system": "b", "seconds": 1})])
    first = Timing(2.5, 100.0, "int8", "ctranslate2", 5)
    assert timings.systems == {"base-seed1": first, "b": Timing(1.0)}
    assert timings.notes == ()


def test_unreliable_and_incomparable_times_are_noted(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", {**ENTRY, "busy": True}, machine={"threads": 1}, options={})
    other = write(tmp_path / "b.json", {**ENTRY, "system": "b"}, machine={"threads": 2}, options={})
    different, busy = read_timings([first, other]).notes
    assert "different machines" in different
    assert str(other) in different
    assert busy.endswith("shared the processor: base-seed1")


@cases_by_message(
    ("content", "message"),
    [
        ([], r"expected an object, got \[\]"),
        ({"timings": []}, "timings: expected at least one item"),
        ({"timings": [1]}, "timings: item 1: expected an object, got 1"),
        ({"timings": [{"seconds": 1}]}, "timings: item 1: expected the key 'system'"),
        ({"timings": [{"system": "a", "seconds": 0}]}, "timings: item 1: seconds: expected.*got 0"),
        ({"timings": [{**ENTRY, "beams": 0}]}, "beams: expected a whole number from 1 or.*got 0"),
        ({"timings": [{**ENTRY, "backend": 1}]}, "backend: expected a text or null, got 1"),
        ({"timings": [ENTRY, ENTRY]}, "timings: item 2: base-seed1 occurs twice"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_timings([path])
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.json"):
        read_timings([path])
