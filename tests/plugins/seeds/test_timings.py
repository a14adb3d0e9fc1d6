import json
from pathlib import Path
from typing import Any

from cc_hf.plugins.seeds.timings import Timing, read_timings
from tests.helpers.usual import cases, refuses, write_text

TIMES = {"seconds": 2.5, "rounds": [2.5, 2.4, 2.6], "tokens_per_second": 100.0, "busy": False}
ENTRY = {"system": "base-seed1", "precision": "int8", "backend": "ctranslate2", "beams": 5, **TIMES}


def timed(path: Path, *entries: Any, **more: Any) -> Path:
    return write_text(path, json.dumps({"timings": entries, **more}))


def test_times_are_read_with_how_systems_were_decoded(tmp_path: Path) -> None:
    timings = read_timings([timed(tmp_path / "t.json", ENTRY, {"system": "b", "seconds": 1})])
    first = Timing(2.5, 100.0, "int8", "ctranslate2", 5)
    assert (timings.systems, timings.notes) == ({"base-seed1": first, "b": Timing(1.0)}, ())


def test_unreliable_and_incomparable_times_are_noted(tmp_path: Path) -> None:
    first = timed(tmp_path / "a.json", {**ENTRY, "busy": True}, machine=1, options={})
    other = timed(tmp_path / "b.json", {**ENTRY, "system": "b"}, machine=2, options={})
    different, busy = read_timings([first, other]).notes
    assert "different machines" in different
    assert str(other) in different
    assert busy.endswith("shared the processor: base-seed1")


@cases(
    ([], r"expected an object, got \[\]"),
    ({"timings": []}, "timings: expected at least one item"),
    ({"timings": [1]}, "timings: item 1: expected an object, got 1"),
    ({"timings": [{"seconds": 1}]}, "timings: item 1: expected the key 'system'"),
    ({"timings": [{"system": "a", "seconds": 0}]}, "timings: item 1: seconds: expected.*got 0"),
    ({"timings": [{**ENTRY, "beams": 0}]}, "beams: expected a whole number from 1 or.*got 0"),
    ({"timings": [{**ENTRY, "backend": 1}]}, "backend: expected a text or null, got 1"),
    ({"timings": [ENTRY, ENTRY]}, "timings: item 2: base-seed1 occurs twice"),
)
def test_malformed_timings_are_refused(content: Any, message: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / "t.json", json.dumps(content))
    refuses(message, read_timings, [path])
    path.write_text("{", encoding="utf-8")
    refuses(r"t\.json", read_timings, [path])
