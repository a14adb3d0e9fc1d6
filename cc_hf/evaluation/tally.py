"""Verdicts on the rows of a stream in compact columns: 53 bytes a row, with texts and ids as hashes.

Tallies of any parts of a stream, merged in any order, are the tally of the whole to the bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.statistics.verdict_columns import VerdictColumns

__all__ = ["FLAGS", "ROW", "Tally", "text_hash"]

#: Properties of a row, each a bit of the column `flags`. Those that begin with "n_" are counted.
FLAGS: dict[str, int] = {
    name: 1 << bit
    for bit, name in enumerate(
        ("correct", "n_blank", "n_too_long", "n_with_source", "n_without_words", "other_cues")
    )
}
#: The columns of a tally. `row` is the number of the row in the stream, `reference` the hash of
#: what the metric reads of it, and `category` an index.
ROW = np.dtype(
    [
        *(("row", "<i8"), ("id", "<u8"), ("reference", "<u8"), ("source", "<u8")),
        *(("translation", "<u8"), ("probability", "<f8"), ("category", "<i4"), ("flags", "u1")),
    ]
)
# As `cc_hf.text.unusable`: translations of so many sources are repeated.
_MANY_SOURCES = 3
_N_DIGEST = 12

_Rows = npt.NDArray[np.void]


def text_hash(text: str) -> int:
    """Return a hash of 64 bits, the same on all machines.

    Examples:
        >>> text_hash("row 7")
        10453405936684240178
    """
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@dataclass(frozen=True, eq=False)
class Tally:
    """Verdicts on some rows of a stream.

    Attributes:
        rows: shape (n,), records of `ROW`, in the order of the stream.
        names: the categories that occur, sorted.
    """

    rows: _Rows
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: _Rows, categories: Sequence[str]) -> Tally:
        """Return the tally of rows whose column `category` is not filled yet.

        Args:
            rows: in the order of the stream.
            categories: the category of each row.
        """
        names = sorted(set(categories))
        index = {name: code for code, name in enumerate(names)}
        rows["category"] = [index[category] for category in categories]
        return cls(rows, tuple(names))

    @classmethod
    def merged(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the tally of all rows. A row may be in several tallies if they agree on it.

        Raises:
            InputError: for different verdicts on a row, or one id of two rows; the message has the
                numbers of the rows.
        """
        parts = list(tallies)
        names = sorted({name for part in parts for name in part.names})
        index = {name: code for code, name in enumerate(names)}
        numbers = np.concatenate([np.zeros(0, np.int64), *(part.rows["row"] for part in parts)])
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        rows = np.zeros(len(numbers), dtype=ROW)
        for name in ROW.names or ():  # column by column, which holds less at once
            columns = [part.rows[name] for part in parts]
            if name == "category":
                codes = [np.array([index[n] for n in part.names], np.int32) for part in parts]
                columns = [code[column] for code, column in zip(codes, columns, strict=True)]
            if columns:
                rows[name] = np.concatenate(columns)[order]
        is_again = np.concatenate([[False], numbers[1:] == numbers[:-1]])[: len(numbers)]
        if is_again.any():
            second = np.flatnonzero(is_again)
            different = second[rows[second] != rows[second - 1]]
            if len(different):
                raise InputError(
                    f"row {numbers[different[0]]}: expected the same verdict from all parts that"
                    " judge it, got two; judge it once, or with the same translations, evaluator"
                    " and chunks"
                )
            rows = rows[~is_again]
        _check_ids(rows)
        return cls(rows, tuple(names))

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def first_missing(self, n_rows: int) -> int | None:
        """Return the first row of a stream without a verdict; None if all have one.

        Args:
            n_rows: number of rows of the stream.
        """
        numbers = self.rows["row"]
        if len(numbers) >= n_rows:
            return None
        later = np.flatnonzero(numbers != np.arange(len(numbers)))
        return int(later[0]) if len(later) else len(numbers)

    def columns(self) -> VerdictColumns:
        """Return the verdicts, for figures."""
        return VerdictColumns(
            self.names,
            self.rows["category"],
            self._has("correct"),
            np.ascontiguousarray(self.rows["probability"]),
        )

    def _has(self, flag: str) -> npt.NDArray[np.bool_]:
        return np.asarray((self.rows["flags"] & FLAGS[flag]) > 0)

    def counts(self) -> dict[str, int]:
        """Return how many rows have each property, and how many share their translation with two
        or more other sources (`n_repeated`).
        """
        counts = {name: int(self._has(name).sum()) for name in FLAGS}
        return counts | {"n_repeated": self._n_repeated()}

    def _n_repeated(self) -> int:
        """Return the number of translations, not blank, that are those of three sources or more."""
        filled = self.rows[~self._has("n_blank")]
        order = np.lexsort((filled["source"], filled["translation"]))
        translation, source = filled["translation"][order], filled["source"][order]
        is_new = np.ones(len(order), dtype=np.bool_)
        is_new[1:] = translation[1:] != translation[:-1]
        is_other = is_new.copy()
        is_other[1:] |= source[1:] != source[:-1]
        text = np.cumsum(is_new) - 1
        n_sources = np.bincount(text, is_other)
        return int(np.bincount(text)[n_sources >= _MANY_SOURCES].sum())

    def data_digest(self) -> str:
        """Return a digest of what the metric reads of all rows, in their order."""
        column = np.ascontiguousarray(self.rows["reference"])
        return hashlib.sha256(column.tobytes()).hexdigest()[:_N_DIGEST]

    def scores_digest(self) -> str:
        """Return a digest of all texts and probabilities, up to rounding."""
        digest = hashlib.sha256(np.ascontiguousarray(self.rows["reference"]).tobytes())
        digest.update(np.ascontiguousarray(self.rows["translation"]).tobytes())
        digest.update(np.rint(1e4 * self.rows["probability"]).astype("<i8").tobytes())
        return digest.hexdigest()[:8]


def _check_ids(rows: _Rows) -> None:
    """Refuse an id that two rows have; two of 10 million ids have one hash in 1 of 370,000 cases."""
    ids = np.sort(rows["id"])
    again = ids[1:][ids[1:] == ids[:-1]]
    if len(again):
        first, second = rows["row"][rows["id"] == again[0]][:2].tolist()
        raise InputError(
            f"row {second}: expected an id that no other row has, got that of row {first}"
        )


def as_table(tally: Tally) -> Any:
    """Return the columns as a table of Arrow."""
    import pyarrow

    columns = {name: np.ascontiguousarray(tally.rows[name]) for name in ROW.names or ()}
    codes = pyarrow.array(columns.pop("category"))
    categories = pyarrow.DictionaryArray.from_arrays(codes, list(tally.names))
    return pyarrow.table({**columns, "category": categories})
