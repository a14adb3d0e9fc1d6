"""The results in a folder. A file that cannot be read is recorded with the reason, and does not
prevent the others from being shown.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from cc_hf import signature
from cc_hf.comparing.alignment import check_whole
from cc_hf.data.files.proof import why_not_proved
from cc_hf.data.files.result_files import read_result_file, system_names
from cc_hf.errors import InputError
from cc_hf.evaluators.judge_cards import JudgeCard, separate_cards
from cc_hf.files import is_file, is_folder
from cc_hf.reading import read_lines
from cc_hf.results import EvaluationResult

__all__ = ["DATES", "Store", "StoredResult", "read_folder", "read_shown", "without_translations"]

#: File in a folder of results with the dates of the others: a name, a tab, and YYYY-MM-DD per line.
#: The Hub and git do not keep the dates of files.
DATES = "dates.tsv"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredResult:
    """One result."""

    # The name in the result, else in its signature, else that of the file.
    system: str
    file: str
    result: EvaluationResult
    date: str = ""  # YYYY-MM-DD in UTC, when the file was written
    not_proved: str = ""  # why nothing shows that the figures are right, so that they have no rank

    @classmethod
    def of(
        cls,
        system: str,
        path: Path,
        result: EvaluationResult,
        *,
        date: str = "",
        whole: bool = True,
    ) -> StoredResult:
        """Return a result that was read from a file."""
        kept = result if whole else replace(result, judgements=(), readings=())
        return cls(system, path.name, kept, date, why_not_proved(result))


@dataclass(frozen=True)
class Store:
    """The results of a folder, in the order of file names, and why others could not be read."""

    entries: tuple[StoredResult, ...]
    broken: Mapping[str, str] = field(default_factory=dict)
    judge_cards: tuple[JudgeCard, ...] = ()


def read_folder(folder: str | Path, *, has_judgements: bool = False) -> Store:
    """Read all results of a folder: its files that end in .json, without subfolders."""
    folder = Path(folder)
    if not is_folder(folder):
        raise InputError(
            f"results: expected a folder with results that `cc-hf evaluate` wrote, {folder} is not"
            " a folder"
        )
    dates = _dates(folder)
    read: list[tuple[Path, EvaluationResult]] = []
    broken: dict[str, str] = {}
    judge_cards: list[JudgeCard] = []
    for path in sorted(folder.glob("*.json")):
        try:
            # A file that cannot be read is named in `broken` and logged; it raises no error.
            _, cards = separate_cards([path])
            if cards:
                judge_cards += cards
                continue
            results = read_result_file(path).results
            for result in results:
                check_whole(result)
            read += [(path, _named(result)) for result in results]
        except InputError as error:
            broken[path.name] = str(error).replace(str(path), path.name)
            _LOG.warning("%s is not shown: %s", path.name, broken[path.name])
    entries = [
        StoredResult.of(
            name, path, result, date=dates.get(path.name) or _day(path), whole=has_judgements
        )
        for name, (path, result) in zip(system_names(read), read, strict=True)
    ]
    return Store(tuple(entries), broken, tuple(judge_cards))


def read_shown(folder: str | Path, title: str, *, has_judgements: bool = False) -> Store:
    """Read a folder for a page that is written once, which must have something to show."""
    if not title.strip():
        raise InputError("title: expected a text, got none")
    store = read_folder(folder, has_judgements=has_judgements)
    if not store.entries:
        broken = (
            f"; {len(store.broken)} cannot be shown, the first:"
            f" {': '.join(next(iter(store.broken.items())))}"
            if store.broken
            else ""
        )
        raise InputError(f"results: expected at least one result in {folder}, got none{broken}")
    return store


def without_translations(result: EvaluationResult) -> EvaluationResult:
    """Return a result without translations, parts of texts and readings."""
    # Verdicts stay, so that they prove the figures, and a leaderboard ranks the same.
    judgements = tuple(replace(j, translation="", spans=()) for j in result.judgements)
    return replace(result, judgements=judgements, readings=())


def _dates(folder: Path) -> dict[str, str]:
    """Return the dates by file name from the file `DATES`, if any; other lines are ignored."""
    path = folder / DATES
    cells = [line.split("\t") for line in read_lines(path)] if is_file(path) else []
    return {row[0]: row[1] for row in cells if len(row) == 2 and _DAY.fullmatch(row[1])}


def _day(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).strftime("%Y-%m-%d")


def _named(result: EvaluationResult) -> EvaluationResult:
    """Return a result under the name of its system."""
    # Results of older versions hold no name, but some have one in their signature.
    in_signature = signature.parse(result.signature)[1].get("sys", "") if result.signature else ""
    return replace(result, system=result.system or in_signature)
