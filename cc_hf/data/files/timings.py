"""Decoding times of systems, read from files that `cc-hf compare --by time --output` wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cc_hf.data.files.text_files import read_lines
from cc_hf.errors import InputError, shown
from cc_hf.files import parse_json

__all__ = ["Timing", "Timings", "read_timings"]


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a system took to translate a file.

    Attributes:
        seconds: the median over rounds.
        tokens_per_second: tokens of the translations by that time; None if not known.
        precision: of the weights, such as "fp32" or "int8"; "" if not known.
        backend: the library that ran the model, such as "torch"; "" if not known.
        beams: number of beams; None if not known.
        is_busy: whether other processes shared the processor, so that the time is not reliable.
    """

    seconds: float
    tokens_per_second: float | None = None
    precision: str = ""
    backend: str = ""
    beams: int | None = None
    is_busy: bool = False


@dataclass(frozen=True)
class Timings:
    """Decoding times of systems, with what a reader of them must know."""

    systems: Mapping[str, Timing] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_timings(paths: Sequence[Path] | None) -> Timings:
    """Read decoding times.

    Args:
        paths: JSON files, each an object with the key `timings`, a list of objects with the keys
            `system` and `seconds`, and optionally `tokens_per_second`, `precision`, `backend`,
            `beams` and `busy`. Files may also have the objects `machine` and `options`. Other keys
            are ignored. None for no times.

    Returns:
        The times; with notes on systems that were timed while other processes ran, and on files
        from different machines or with different options.

    Raises:
        InputError: for a file that does not exist or is not as described, a time that is not above
            0, or a system that occurs twice. The message names the file and the entry.

    Examples:
        >>> read_timings(None).systems
        {}
    """
    systems: dict[str, Timing] = {}
    settings: dict[str, dict[str, Path]] = {"machine": {}, "options": {}}
    for path in paths or ():
        content = _parsed(path)
        for key, seen in settings.items():
            seen.setdefault(repr(content.get(key)), path)
        for number, entry in enumerate(content["timings"], 1):
            where = f"{path}: timing {number}"
            name, timing = _timing(where, entry)
            if name in systems:
                raise InputError(f"{where}: {name} occurs twice; expected one time for each system")
            systems[name] = timing
    notes = [
        f"the times are of different {'machines' if key == 'machine' else 'options'}, so they"
        f" cannot be compared: {', '.join(map(str, seen.values()))}"
        for key, seen in settings.items()
        if len(seen) > 1
    ]
    if busy := [name for name, timing in systems.items() if timing.is_busy]:
        notes.append(f"timed while other processes shared the processor: {', '.join(busy)}")
    return Timings(systems, tuple(notes))


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        content = parse_json("\n".join(read_lines(path)))
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from error
    entries = content.get("timings") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(
            f"{path}: expected an object with a list `timings`, as `cc-hf compare --by time -o`"
            f" writes it, got {shown(content)}"
        )
    return dict(content)


def _timing(where: str, entry: Any) -> tuple[str, Timing]:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object, got {shown(entry)}")
    name = entry.get("system")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: system: expected a name, got {shown(name)}")
    seconds = _positive(where, "seconds", entry.get("seconds"))
    rate = entry.get("tokens_per_second")
    beams = entry.get("beams")
    if beams is not None and (not isinstance(beams, int) or isinstance(beams, bool) or beams < 1):
        raise InputError(f"{where}: beams: expected a number, 1 or more, got {shown(beams)}")
    words = {key: entry.get(key) or "" for key in ("precision", "backend")}
    for key, value in words.items():
        if not isinstance(value, str):
            raise InputError(f"{where}: {key}: expected a text, got {shown(value)}")
    return name.strip(), Timing(
        seconds,
        None if rate is None else _positive(where, "tokens_per_second", rate),
        words["precision"],
        words["backend"],
        beams,
        bool(entry.get("busy")),
    )


def _positive(where: str, key: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not (math.isfinite(value) and value > 0):
        raise InputError(f"{where}: {key}: expected a number above 0, got {shown(value)}")
    return float(value)
