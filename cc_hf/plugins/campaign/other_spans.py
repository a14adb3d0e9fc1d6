"""Error spans of other metrics, in the folder spans among the submissions: METRIC.json, as
`comet-score --to_json` writes those of xCOMET, and METRIC.jsonl of mt-metrics-eval.

A translation is known by its text and its source, whichever system it is of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf import registry
from cc_hf.errors import CCError, FileError, InputError, in_file
from cc_hf.files import is_folder
from cc_hf.plugins.campaign.spans import ErrorSpan
from cc_hf.plugins.campaign.submissions import Fault, reason_of
from cc_hf.reading import read_text
from cc_hf.records import COUNT, parse_json, parse_objects, read_value
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example

__all__ = ["Beside", "OtherSpans", "Spans", "beside", "span_files"]

_FOLDER = "spans"
_NAME = re.compile(r"[\w-]+")
_XCOMET, _STANDALONE = ".json", ".jsonl"
_REMEDY = "use the file as the metric wrote it"
# `errors` is absent where xCOMET has found none.
_SEGMENT = {"src": str, "mt": str, "errors?": None}
_SPAN = {"start": COUNT, "end": COUNT, "severity": str, "confidence": float}
_ROW = {"source": str, "hypothesis": str, "errors": None}
_ERROR = {"start": COUNT, "end": COUNT, **dict.fromkeys(("category?", "severity?", "score?"))}

Spans = tuple[ErrorSpan, ...]


class Beside(NamedTuple):
    """How the marks of another metric lie to the errors of a system by one of ours.

    Attributes:
        n_placed: wrong translations whose error has a place, and which the other metric read.
        n_same: of these, those where it marks a part of the place.
        n_elsewhere: those where it marks other parts alone; it marks nothing in the rest.
        n_right, n_right_marked: right translations, and those in which it marks anything.
    """

    system: str
    metric: str
    other: str
    n_placed: int
    n_same: int
    n_elsewhere: int
    n_right: int
    n_right_marked: int


def span_files(folder: Path) -> list[Path]:
    """Return the files of spans of a folder of submissions."""
    spans = folder / _FOLDER
    if not is_folder(spans):
        return []
    endings = (_XCOMET, _STANDALONE)
    return [path for path in sorted(spans.iterdir()) if path.suffix.lower() in endings]


@dataclass
class OtherSpans:
    """The spans of all other metrics.

    Attributes:
        faults: files that do not fit.
    """

    faults: list[Fault] = field(default_factory=list)
    _rows: dict[str, dict[tuple[str, str], Spans]] = field(default_factory=dict)
    _files: dict[str, str] = field(default_factory=dict)  # metric -> its file
    _read: set[str] = field(default_factory=set)  # metrics that read a translation of ours

    @classmethod
    def of_folder(cls, folder: Path) -> OtherSpans:
        """Read the files of a folder of submissions."""
        spans = cls()
        for path in span_files(folder):
            file = path.relative_to(folder).as_posix()
            try:
                spans._add(path, file)
            except (CCError, OSError) as error:
                spans.faults.append(Fault(file, reason_of(error, path)))
        return spans

    def _add(self, path: Path, file: str) -> None:
        metric = path.stem
        if not _NAME.fullmatch(metric):
            raise InputError(f"expected the name of a metric, such as xcomet.json, got {path.name}")
        if metric in registry.names("metric"):
            raise InputError(f"expected a metric of others, {metric} is one that judges here")
        if metric in self._files:
            raise InputError(f"expected one file of {metric}, got {self._files[metric]}, too")
        read = _standalone if path.suffix.lower() == _STANDALONE else _xcomet
        rows: dict[tuple[str, str], Spans] = {}
        for where, source, text, errors in read(path):
            for error in errors:
                length = len(source if error.is_source_error else text)
                if not error.start < error.end <= length:
                    raise FileError(
                        where,
                        f"expected a span within {length} characters, got {error.start} to"
                        f" {error.end}; {_REMEDY}",
                    )
            rows.setdefault(_key(source, text), _moved(errors, -_indent(text)))
        self._rows[metric], self._files[metric] = rows, file

    def of(
        self, result: EvaluationResult, examples: Sequence[Example]
    ) -> dict[str, list[Spans | None]]:
        """Return what each other metric marks in each translation; None where it read none."""
        sources = {example.id: example.source for example in examples}
        judged = [(sources.get(j.example_id, ""), j.translation) for j in result.judgements]
        known: dict[str, list[Spans | None]] = {}
        for metric, rows in self._rows.items():
            of_rows = [rows.get(_key(source, text)) for source, text in judged]
            if any(errors is not None for errors in of_rows):
                self._read.add(metric)
                known[metric] = [
                    None if errors is None else _moved(errors, _indent(text))
                    for errors, (_, text) in zip(of_rows, judged, strict=True)
                ]
        return known

    def unread(self) -> list[Fault]:
        """Return the files of metrics that read none of the translations that were judged."""
        return [
            Fault(
                self._files[metric],
                "expected the sources and translations that are judged, got none in"
                f" {len(rows):,} rows",
            )
            for metric, rows in self._rows.items()
            if metric not in self._read
        ]


def _key(source: str, text: str) -> tuple[str, str]:
    # `comet-score` removes blanks at both ends.
    return source.strip(), text.strip()


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _moved(errors: Spans, by: int) -> Spans:
    return tuple(
        error
        if error.is_source_error
        else replace(error, start=max(0, error.start + by), end=max(0, error.end + by))
        for error in errors
    )


def _xcomet(path: Path) -> Iterator[tuple[str, str, str, Spans]]:
    """Yield place, source, translation and errors of each segment that xCOMET read."""
    with in_file(path, _REMEDY):
        form = {str: [{str: None}]}
        systems: Mapping[str, Any] = parse_json(read_text(path), "JSON of comet-score", form)
    for system, segments in systems.items():
        for number, segment in enumerate(segments, 1):
            where = f"{path}: {system}: segment {number}"
            with in_file(where, _REMEDY):
                read_value(_SEGMENT, segment)
                spans = segment.get("errors", [])
                read_value({"errors": [_SPAN]}, {"errors": spans})
            errors = (
                ErrorSpan(span["start"], span["end"], None, span["severity"], span["confidence"])
                for span in spans
            )
            yield where, segment["src"], segment["mt"], tuple(errors)


def _standalone(path: Path) -> Iterator[tuple[str, str, str, Spans]]:
    """Yield the same of the ratings of mt-metrics-eval."""
    for line, row in parse_objects(read_text(path).splitlines(), path, remedy=_REMEDY):
        with in_file(line, _REMEDY):
            read_value(_ROW, row)
            read_value({"errors": [_ERROR]}, row)
        errors = (
            ErrorSpan(
                error["start"],
                error["end"],
                error.get("category"),
                error.get("severity"),
                error.get("score"),
                is_source_error=error.get("is_source_error") is True,
            )
            for error in row["errors"]
        )
        yield str(line), row["source"], row["hypothesis"], tuple(errors)


def beside(
    result: EvaluationResult,
    ours: Sequence[Spans | None],
    other: str,
    theirs: Sequence[Spans | None],
) -> Beside:
    """Compare the marks of another metric with the errors of a system by one of ours."""
    n_placed = n_same = n_elsewhere = n_right = n_right_marked = 0
    for errors, marks in zip(ours, theirs, strict=True):
        if errors is None or marks is None:
            continue
        if not errors:
            n_right += 1
            n_right_marked += bool(marks)
            continue
        n_placed += 1
        if any(_overlap(error, mark) for error in errors for mark in marks):
            n_same += 1
        elif marks:
            n_elsewhere += 1
    counts = n_placed, n_same, n_elsewhere, n_right, n_right_marked
    return Beside(result.system, result.metric, other, *counts)


def _overlap(error: ErrorSpan, mark: ErrorSpan) -> bool:
    return (
        error.is_source_error == mark.is_source_error
        and error.start < mark.end
        and mark.start < error.end
    )
