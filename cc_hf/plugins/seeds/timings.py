"""Decoding times of systems, read from files that `cc-hf compare --by time --output` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cc_hf.errors import FileError
from cc_hf.records import POSITIVE, WORD, NonEmpty, read_json
from cc_hf.rules import ABOVE_0

__all__ = ["Timing", "Timings", "read_timings"]

_ABOVE_0 = Annotated[float, ABOVE_0]
_FORM = {
    "timings": NonEmpty(
        [
            {
                "system": WORD,
                "seconds": _ABOVE_0,
                "tokens_per_second?": _ABOVE_0 | None,
                "precision?": str | None,
                "backend?": str | None,
                "beams?": POSITIVE | None,
            }
        ]
    )
}


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a system took to translate a file. What is not known is None or ""."""

    seconds: float  # median over rounds
    tokens_per_second: float | None = None
    precision: str = ""
    backend: str = ""
    beams: int | None = None
    is_busy: bool = False  # other processes shared the processor: the time is not reliable


@dataclass(frozen=True)
class Timings:
    """Decoding times of systems, with what a reader of them must know."""

    systems: Mapping[str, Timing] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_timings(paths: Sequence[Path] | None) -> Timings:
    """Read decoding times.

    Each file is a JSON object with the key `timings`, a list of objects with the keys `system` and
    `seconds`, and optionally `tokens_per_second`, `precision`, `backend`, `beams` and `busy`. Files
    may also have the objects `machine` and `options`. Other keys are ignored.
    """
    systems: dict[str, Timing] = {}
    settings: dict[str, dict[str, Path]] = {"machine": {}, "options": {}}
    for path in paths or ():
        content = read_json(path, "the JSON of `cc-hf compare --by time -o`", _FORM)
        for key, seen in settings.items():
            seen.setdefault(repr(content.get(key)), path)
        for number, entry in enumerate(content["timings"], 1):
            name = entry["system"].strip()
            if name in systems:
                raise FileError(
                    f"{path}: timings: item {number}",
                    f"{name} occurs twice; expected one time for each system",
                )
            systems[name] = _timing(entry)
    notes = [
        f"the times are of different {'machines' if key == 'machine' else 'options'}, so they"
        f" cannot be compared: {', '.join(map(str, seen.values()))}"
        for key, seen in settings.items()
        if len(seen) > 1
    ]
    if busy := [name for name, timing in systems.items() if timing.is_busy]:
        notes.append(f"timed while other processes shared the processor: {', '.join(busy)}")
    return Timings(systems, tuple(notes))


def _timing(entry: Mapping[str, Any]) -> Timing:
    rate = entry.get("tokens_per_second")
    return Timing(
        float(entry["seconds"]),
        None if rate is None else float(rate),
        entry.get("precision") or "",
        entry.get("backend") or "",
        entry.get("beams"),
        bool(entry.get("busy")),
    )
