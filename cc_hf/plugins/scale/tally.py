"""Verdicts on the rows of a stream in compact columns: 54 bytes a row, with hashes for texts.

Tallies of any parts of a stream, merged in any order, are the tally of the whole to the bit.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import FileError, InputError, in_file
from cc_hf.files import resolved
from cc_hf.statistics.verdict_columns import VerdictColumns
from cc_hf.tables.rows import parquet_batches
from cc_hf.text.unusable import MANY_SOURCES

__all__ = [
    "FLAGS",
    "ROW",
    "TEXT_COLUMNS",
    "Tally",
    "check_row_ids",
    "read_tally",
    "text_hash",
    "write_tally",
]

#: Properties of a row, each a bit of the column `flags`.
FLAGS: dict[str, int] = {
    name: 1 << bit
    for bit, name in enumerate(
        (
            *("correct", "n_blank", "n_too_long", "n_with_source", "n_without_words"),
            *("other_cues", "n_marked", "n_wrapped", "n_untranslated", "n_both_genders"),
            "n_neither",
        )
    )
}
#: The columns of a tally. `row` is the number of the row in the stream, `reference_hash` the hash
#: of what the metric reads of it, and `category` an index.
ROW = np.dtype(
    [
        *(("row", "<i8"), ("id_hash", "<u8"), ("reference_hash", "<u8"), ("source_hash", "<u8")),
        *(("translation_hash", "<u8"), ("probability_correct", "<f8")),
        *(("category", "<i4"), ("flags", "<u2")),
    ]
)
#: Columns of the file of a chunk, beside those of a tally, with the type of their values.
TEXT_COLUMNS = {
    **{"example_id": "string", "translation": "string", "verdict": "string"},
    **{"score_correct": "double", "score_incorrect": "double"},
}
_N_DIGEST = 12
_ROWS_PER_GROUP = 65_536
_ABOUT, _DIGEST = b"cc_hf", "digest"
_MOST_ROWS = 1 << 62
_REMEDY = "delete it, and judge its rows again"

_Rows = npt.NDArray[np.void]
_Flags = npt.NDArray[np.bool_]


def text_hash(text: str) -> int:
    """Return a hash of 64 bits, the same on all machines.

    Examples:
        >>> text_hash("row 7") == text_hash("row 7") != text_hash("row 8")
        True
    """
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@dataclass(frozen=True, eq=False)
class Tally:
    """Verdicts on some rows of a stream."""

    rows: _Rows  # records of `ROW`, (n,), in the order of the stream
    names: tuple[str, ...]  # the categories that occur, sorted

    @classmethod
    def of(cls, rows: _Rows, categories: Sequence[str]) -> Tally:
        """Return the tally of rows in stream order, whose column `category` is not filled yet."""
        names = sorted(set(categories))
        index = {name: code for code, name in enumerate(names)}
        rows["category"] = [index[category] for category in categories]
        return cls(rows, tuple(names))

    @classmethod
    def merged(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the tally of all rows. A row may be in several tallies if they agree on it."""
        parts = [part for part in tallies if part.n]
        names = sorted({name for part in parts for name in part.names})
        index = {name: code for code, name in enumerate(names)}
        numbers = np.concatenate([np.zeros(0, np.int64), *(part.rows["row"] for part in parts)])
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        rows = np.zeros(len(numbers), dtype=ROW)
        for name in (ROW.names or ()) if parts else ():  # one by one, to hold less at once
            columns = [part.rows[name] for part in parts]
            if name == "category":
                codes = [np.array([index[n] for n in part.names], np.int32) for part in parts]
                columns = [code[column] for code, column in zip(codes, columns, strict=True)]
            rows[name] = np.concatenate(columns)[order]
        again = 1 + np.flatnonzero(numbers[1:] == numbers[:-1])
        if len(again):
            different = again[rows[again] != rows[again - 1]]
            if len(different):
                raise InputError(
                    f"row {numbers[different[0]]}: expected the same verdict from all parts that"
                    " have it, got two; judge it once, or with the same translations and the same"
                    " evaluator"
                )
            rows = np.delete(rows, again)
        check_row_ids(rows)
        return cls(rows, tuple(names))

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def first_missing(self, n_rows: int) -> int | None:
        """Return the first row of a stream of `n_rows` that has no verdict; None if all have."""
        if self.n >= n_rows:
            return None
        later = np.flatnonzero(self.rows["row"] != np.arange(self.n))
        return int(later[0]) if len(later) else self.n

    def columns(self, *, has_neither: bool = False) -> VerdictColumns:
        """Return the verdicts, for figures."""
        is_neither = self.has("n_neither") if has_neither else None
        is_correct = self.has("correct")
        return VerdictColumns(
            self.names,
            np.ascontiguousarray(self.rows["category"]),
            is_correct if is_neither is None else is_correct & ~is_neither,
            np.ascontiguousarray(self.rows["probability_correct"]),
            is_neither=is_neither,
        )

    def has(self, *flags: str) -> _Flags:
        """Return for each row whether it has one of some properties of `FLAGS`."""
        bits = np.uint16(sum(FLAGS[flag] for flag in flags))
        return np.asarray((self.rows["flags"] & bits) > 0)

    def counts_by_category(self, flag: str) -> dict[str, int]:
        """Return how many rows of each category have a property of `FLAGS`."""
        codes = self.rows["category"][self.has(flag)]
        numbers = np.bincount(codes, minlength=len(self.names)).tolist()
        return dict(zip(self.names, numbers, strict=True))

    def counts(self) -> dict[str, int]:
        """Return how many rows have each of `FLAGS`, and how many are repeated or unusable."""
        # A translation is repeated if two or more other sources share it.
        is_repeated = self._is_repeated()
        is_unusable = self.has("n_blank", "n_with_source", "n_without_words") | is_repeated
        return {
            **{name: int(self.has(name).sum()) for name in FLAGS},
            "n_repeated": int(is_repeated.sum()),
            "n_unusable": int(is_unusable.sum()),
        }

    def _is_repeated(self) -> _Flags:
        """Return whether a translation, which is not blank, is that of three sources or more."""
        order = np.lexsort((self.rows["source_hash"], self.rows["translation_hash"]))
        translation = self.rows["translation_hash"][order]
        is_new = np.ones(self.n, dtype=np.bool_)
        is_new[1:] = translation[1:] != translation[:-1]
        text = np.cumsum(is_new) - 1
        source = self.rows["source_hash"][order]
        is_new[1:] |= source[1:] != source[:-1]
        is_repeated = np.empty(self.n, dtype=np.bool_)
        is_repeated[order] = (np.bincount(text, is_new) >= MANY_SOURCES)[text]
        return is_repeated & ~self.has("n_blank")

    def data_digest(self) -> str:
        """Return a digest of what the metric reads of all rows, in their order."""
        return hashlib.sha256(self.rows["reference_hash"].tobytes()).hexdigest()[:_N_DIGEST]

    def scores_digest(self) -> str:
        """Return a digest of all rows with their translations and probabilities, up to rounding."""
        digest = hashlib.sha256(self.rows["reference_hash"].tobytes())
        digest.update(self.rows["translation_hash"].tobytes())
        digest.update(np.rint(1e4 * self.rows["probability_correct"]).astype("<i8").tobytes())
        return digest.hexdigest()[:8]


def check_row_ids(rows: _Rows) -> None:
    """Refuse an id that two rows have; `rows` are records of `ROW`, in the order of the stream."""
    # Of 10 million ids, two have one hash in 1 of 370,000 cases.
    ids = np.sort(rows["id_hash"])
    again = ids[1:][ids[1:] == ids[:-1]]
    if len(again):
        first, second = rows["row"][rows["id_hash"] == again[0]][:2].tolist()
        raise InputError(
            f"row {second}: expected an id that no other row has, got that of row {first}"
        )


def write_tally(
    path: Path,
    tally: Tally,
    about: Mapping[str, Any],
    texts: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Write a tally, and values of `TEXT_COLUMNS`, to a Parquet file, replaced as a whole."""
    import pyarrow
    import pyarrow.parquet

    types = _types()
    if texts:
        types |= {name: pyarrow.type_for_alias(kind) for name, kind in TEXT_COLUMNS.items()}
    held = {**about, _DIGEST: _digest(tally, about)}
    metadata = {_ABOUT: json.dumps(held).encode()}
    schema = pyarrow.schema(list(types.items()), metadata=metadata)
    target = resolved(path, "tally")
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}.new")
    try:
        with pyarrow.parquet.ParquetWriter(beside, schema) as writer:
            for start in range(0, tally.n, _ROWS_PER_GROUP):
                part = slice(start, start + _ROWS_PER_GROUP)
                columns = {
                    name: pyarrow.array(np.ascontiguousarray(tally.rows[name][part]))
                    for name in ROW.names or ()
                }
                columns["category"] = pyarrow.DictionaryArray.from_arrays(
                    columns["category"], pyarrow.array(tally.names, pyarrow.string())
                )
                columns |= {name: values[part] for name, values in (texts or {}).items()}
                writer.write_table(pyarrow.table(columns, schema=schema))
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            f"tally: {path} cannot be written ({error.strerror or error}); free some space or"
            " choose another file"
        ) from error


def _types() -> dict[str, Any]:
    """Return the types of the columns of a tally in its file."""
    import pyarrow

    numbers = {name: pyarrow.from_numpy_dtype(ROW[name]) for name in ROW.names or ()}
    return {**numbers, "category": pyarrow.dictionary(pyarrow.int32(), pyarrow.string())}


def _digest(tally: Tally, about: Mapping[str, Any]) -> str:
    """Return a digest of all that a file says but its texts: Parquet has no checksums of values."""
    said = json.dumps([about, tally.names], sort_keys=True)
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass"))
    digest.update(tally.rows.view(np.uint8).data)
    return digest.hexdigest()


def read_tally(path: Path) -> tuple[Tally, dict[str, Any]]:
    """Read what `write_tally` wrote, without the texts."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            about = dict(json.loads((file.schema_arrow.metadata or {})[_ABOUT]))
            digest = about.pop(_DIGEST, None)  # files of before have none
            with in_file(path, _REMEDY):
                tally = Tally.merged(_tallies(file))
                _check(tally, about.get("n_rows", _MOST_ROWS))
            if digest not in (None, _digest(tally, about)):
                raise ValueError("rows differ from their digest")
            return tally, about
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(path, "file not found") from None
    except (OSError, LookupError, ValueError, TypeError, pyarrow.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(
            path,
            f"expected a tally of verdicts, got another or a damaged file ({reason}); {_REMEDY}",
        ) from error


def _check(tally: Tally, n_rows: int) -> None:
    """Refuse rows that no stream of `n_rows` has, or whose values contradict each other."""
    number, probability = tally.rows["row"], tally.rows["probability_correct"]
    is_correct, is_undecided = tally.has("correct"), tally.has("n_both_genders")
    # A tie may count either way.
    follows = np.where(
        is_correct, (probability >= 0.5) & ~is_undecided, (probability <= 0.5) | is_undecided
    )
    rules = {
        "row": ((number >= 0) & (number < n_rows), f"a number from 0 to {n_rows - 1}"),
        "probability_correct": ((probability >= 0) & (probability <= 1), "a number from 0 to 1"),
        "flags": (
            follows & (tally.rows["flags"] < 1 << len(FLAGS)),
            "properties that follow from the probability",
        ),
    }
    for name, (holds, expected) in rules.items():
        if not holds.all():
            first = int(holds.argmin())
            raise InputError(
                f"row {number[first]}: {name}: expected {expected}, got {tally.rows[name][first]}"
            )


def _tallies(file: Any) -> Iterator[Tally]:
    for name, kind in _types().items():
        given = str(file.schema_arrow.field(name).type)
        # Format 1 had fewer flags. Whoever reads the tally names the version.
        if given not in (str(kind), "uint8" if name == "flags" else ""):
            raise ValueError(f"{name}: expected {kind}, got {given}")
    for batch in parquet_batches(file, _ROWS_PER_GROUP, ROW.names or ()):
        if any(column.null_count for column in batch.columns):
            raise ValueError("values are missing")
        rows = np.zeros(len(batch), dtype=ROW)
        for name in ROW.names or ():
            if name != "category":
                rows[name] = batch.column(name).to_numpy(zero_copy_only=False)
        encoded = batch.column("category")
        known = encoded.dictionary.to_pylist()
        codes = encoded.indices.to_numpy()
        used = sorted({known[code] for code in np.unique(codes).tolist()})
        index = np.array([used.index(name) if name in used else -1 for name in known], np.int32)
        rows["category"] = index[codes]
        yield Tally(rows, tuple(used))
