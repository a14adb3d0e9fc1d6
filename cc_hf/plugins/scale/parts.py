"""Parts of an evaluation: files of scores, computed anywhere and in any order. No torch here.

All parts plan the batches of all pairs alike, and each computes whole batches of its own. In other
batches up to 41 % of the scores differ in their last bits (400 examples of WinoMT, embedded
evaluator), and a pair at a time, which would be the same in any batch, takes three to four times as
long. The plan follows from evaluator, pairs and `batch_tokens` alone, never from a cache, so that
merged parts are the scores of one process to the bit (`cc_hf.plugins.scale.merging`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import re
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from cc_hf.errors import CCError, FileError, InputError
from cc_hf.evaluators.distributed import even_shares
from cc_hf.evaluators.options import PartialScores
from cc_hf.evaluators.scores import TokenScores
from cc_hf.files import exists, file_slug, resolved, sole_writer
from cc_hf.tables.rows import parquet_batches

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator
    from cc_hf.evaluators.cache_session import CacheSession, ScoreRow, TokenIds
    from cc_hf.progress import Progress
    from cc_hf.schema import ScoringRequest

__all__ = [
    "AGAIN",
    "FORMAT",
    "KeyedScore",
    "Part",
    "PartDone",
    "PartFile",
    "PartOrigin",
    "Work",
    "part_blocks",
    "part_numbers",
    "part_rows",
    "read_origin",
    "scores_schema",
    "write_scores",
]

#: Version of the format of a file of scores.
FORMAT = 1

# Nine digits at most: Python refuses to convert thousands.
_PART = re.compile(r"([1-9]\d{0,8})/([1-9]\d{0,8})")
# Merging has all files open, and each holds what was read of a group: groups bound its memory, and
# batches within a group that of the rows as Python's objects.
_ROWS_PER_GROUP, _ROWS_AT_ONCE = 65_536, 8_192
_CONSTANTS = ("evaluator", "plan", "n_pairs", "format")
# A file is written anew with what came since, at most this often, and for a twentieth of the time:
# it is sorted and written as a whole, which takes longer the more it holds.
_SECONDS = 30.0
_LARGEST_SHARE = 20
# Bytes of a SHA-256, and of a digest that reveals damage: without a secret none reveals forgery.
_N_KEY, _N_CHECK = 32, 8
_SCORE = struct.Struct("<dqd")
_MAGIC = b"PAR1"
#: What to do about a file that cannot be used.
AGAIN = "delete it, and run its part again"


class PartDone(CCError):  # noqa: N818
    """The scores of a part of an evaluation are computed; there is no result before all are merged.

    Attributes:
        part: the part, such as "3/16".
        n_scores: number of the part's scores, which are all in its file.
        n_new: how many of them were computed now.
        n_pairs: number of the scores of all parts.

    Examples:
        >>> raise PartDone("3/16", 250, 100, 4000)
        Traceback (most recent call last):
            ...
        cc_hf.plugins.scale.parts.PartDone: part 3/16 has its 250 of 4,000 scores, but no result; merge all parts (cc-hf cache FILE...), and evaluate without `part`
    """  # noqa: E501

    def __init__(self, part: str, n_scores: int, n_new: int, n_pairs: int) -> None:
        super().__init__(
            f"part {part} has its {n_scores:,} of {n_pairs:,} scores, but no result; merge all"
            " parts (cc-hf cache FILE...), and evaluate without `part`"
        )
        self.part, self.n_scores, self.n_new, self.n_pairs = part, n_scores, n_new, n_pairs


def part_numbers(part: str) -> tuple[int, int]:
    """Return which part is meant, from 1, and of how many.

    Examples:
        >>> part_numbers("3/16")
        (3, 16)
    """
    match = _PART.fullmatch(part)
    if match is None or int(match[1]) > int(match[2]):
        raise InputError(f"part: expected a part such as 3/16, from 1/16 to 16/16, got {part}")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class Part(PartialScores):
    """Which part of an evaluation's scores is computed, and the file that holds them.

    Attributes:
        part: compute only the scores of this part, such as 3/16, into the file of `scores`; `cc-hf
            cache FILE...` takes in the files of all parts.
        scores: file of the scores of `part`, in Parquet; a part that was stopped continues it.

    Examples:
        >>> Part("3/16", Path("3.parquet")).share([5, 4, 3, 3])
        [2]
        >>> Part("4/3", Path("4.parquet"))
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: part: expected a part such as 3/16, from 1/16 to 16/16, got 4/3
    """

    part: str
    scores: Path | None = None

    def __post_init__(self) -> None:
        part_numbers(self.part)
        if self.scores is None:
            raise InputError(
                "scores: expected a file with `part`, got none; each part needs a file of its own"
            )

    @property
    def path(self) -> Path:
        """The file of the scores."""
        return Path(self.scores or "")

    def share(self, costs: Sequence[int]) -> list[int]:
        """Return the batches of this part, as indices of their costs, the costliest first."""
        number, n_parts = part_numbers(self.part)
        # The first parts get a batch each, so that of more parts than batches the rest is empty.
        shares = even_shares(costs, min(n_parts, len(costs)))
        return shares[number - 1] if number <= len(shares) else []

    def compute(self, *planned: Any) -> NoReturn:
        """Compute the scores of this part into its file."""
        work = Work(*planned)
        team = work.evaluator.sharing.team
        share = self.share(work.costs)
        file = PartFile(self, work.origin, frozenset(work.keys_of(share)))
        with contextlib.ExitStack() as stack:
            with team.reporting_errors():
                if team.is_main:
                    stack.enter_context(file.writing())
            # The others have not opened the file, and all must score the same batches.
            done = team.from_main(lambda: frozenset(file.rows))
            left = work.missing(share, done)
            # The bar counts the pairs of all parts, and takes those of other parts for done.
            with work.show(len(work.keys) - len(work.keys_of(left))) as bar:
                for batch, rows in work.score([work.batches[i] for i in left]):
                    keyed = work.keyed(batch, rows)
                    if team.is_main:
                        with team.reporting_errors():
                            file.add(keyed)
                    bar.update(len(keyed))
        # After the block, which writes the file at its end: a part is done once its scores are
        # there.
        raise PartDone(self.part, len(file.share), len(file.share - done), len(work.keys))


@dataclass(frozen=True)
class PartOrigin:
    """What all scores of a file have in common."""

    evaluator: str  # the identity that the keys start from, as `CacheSession` encodes it
    # Digest of evaluator, pairs and `batch_tokens`, which decide the batches; "" if not known.
    plan: str
    n_pairs: int  # of all parts

    def checks(self, rows: Iterable[KeyedScore]) -> Iterator[bytes]:
        """Yield a digest for each row, of all that the file says of it."""
        # The checksums of Parquet do not cover every byte, and no tool keeps those of a whole file
        # when it sorts or joins rows.
        constants = repr((self.evaluator, self.plan, self.n_pairs, FORMAT)).encode()
        of_all = hashlib.blake2b(constants, digest_size=_N_CHECK)
        for key, ids_key, score in rows:
            digest = of_all.copy()
            digest.update(key + ids_key + _SCORE.pack(*score))
            yield digest.digest()


@dataclass(frozen=True)
class Work:
    """What the parts of an evaluation have to compute; see `PartialScores.compute`."""

    evaluator: Evaluator
    session: CacheSession
    requests: Sequence[ScoringRequest]
    alike: Mapping[TokenIds, Sequence[int]]
    show: Callable[[int], Progress]

    @functools.cached_property
    def keys(self) -> list[bytes]:
        """The key of each pair."""
        return [self.session.key((pair.source, pair.translation)) for pair in self.requests]

    @functools.cached_property
    def origin(self) -> PartOrigin:
        """What all scores have in common."""
        identity = self.session.identity
        # `batch_tokens` decides batches, and so the last bits, but is in no key of a score: a cache
        # may hold those of other batches.
        digest = hashlib.sha256(f"{identity}{self.evaluator.batch_tokens}".encode())
        for key in self.keys:
            digest.update(key)
        return PartOrigin(identity, digest.hexdigest(), len(self.keys))

    @functools.cached_property
    def batches(self) -> list[list[TokenIds]]:
        """The plan of all batches."""
        return self.evaluator.sharing.plan(self.evaluator, list(self.alike))

    @functools.cached_property
    def costs(self) -> list[int]:
        """The work of each batch, in any unit."""
        return self.evaluator.sharing.costs(self.batches)

    def score(
        self, batches: Sequence[list[TokenIds]]
    ) -> Iterator[tuple[list[TokenIds], list[ScoreRow]]]:
        """Yield batches with their scores."""
        for batch, rows in self.evaluator.sharing.score_batches(self.evaluator, batches):
            requests = [self.requests[self.alike[ids][0]] for ids in batch]
            self.evaluator.check_scores(TokenScores.of_rows(rows), requests)
            yield batch, rows

    def keys_of(self, numbers: Iterable[int]) -> list[bytes]:
        """Return the keys of all pairs in batches, which are named by their indices."""
        batches = (self.batches[number] for number in numbers)
        return [self.keys[i] for batch in batches for ids in batch for i in self.alike[ids]]

    def missing(self, numbers: Iterable[int], done: Set[bytes]) -> list[int]:
        """Return the batches of which a score is missing."""
        # A batch of which one score is missing is scored whole, or it would be another batch.
        return [number for number in numbers if not done >= {*self.keys_of([number])}]

    def keyed(self, batch: Sequence[TokenIds], rows: Sequence[ScoreRow]) -> list[KeyedScore]:
        """Return the scores of all pairs in a batch."""
        return [
            KeyedScore(self.keys[i], self.session.ids_key(ids), row)
            for ids, row in zip(batch, rows, strict=True)
            for i in self.alike[ids]
        ]


class KeyedScore(NamedTuple):
    """A score with its key in the cache."""

    key: bytes
    ids_key: bytes  # see `CacheSession.ids_key`; the key itself if not known
    score: ScoreRow


class PartFile:
    """The file of a part, which is replaced as a whole whenever it is written."""

    def __init__(self, part: Part, origin: PartOrigin, share: frozenset[bytes]) -> None:
        self.part = part
        self.origin = origin
        self.share = share
        self.rows: dict[bytes, KeyedScore] = {}
        # How long the last writing took, and when it ended.
        self._wait, self._written = 0.0, time.monotonic()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Read what the file holds, and keep other runs from writing it; write it at the end."""
        path = self.part.path
        with sole_writer(path, "scores"):
            if exists(path):
                origin = read_origin(path)
                self.rows = {row.key: row for row in part_rows(path)}
                # A file without rows has no origin; one of the same plan may be that of another
                # part.
                if (origin or self.origin) != self.origin or not self.rows.keys() <= self.share:
                    raise FileError(
                        path,
                        f"expected scores of part {self.part.part} of this evaluation, got others"
                        " (other pairs, parts, evaluator, options or libraries); choose another"
                        " file, or delete it once it is merged",
                    )
            try:
                yield
            finally:  # also for an error or Ctrl-C: the same command continues with what is there
                self.write()

    def add(self, rows: Sequence[KeyedScore]) -> None:
        """Add scores, and write the file if that is some time ago."""
        self.rows.update((row.key, row) for row in rows)
        if time.monotonic() - self._written >= max(_SECONDS, _LARGEST_SHARE * self._wait):
            self.write()

    def write(self) -> None:
        """Replace the file by one with all scores so far, in the order of their keys."""
        start = time.monotonic()
        write_scores(self.part.path, self.rows.values(), self.origin)
        self._written = time.monotonic()
        self._wait = self._written - start


def write_scores(path: Path, scores: Iterable[KeyedScore], origin: PartOrigin) -> None:
    """Write a file of scores in the order of their keys, atomically."""
    import pyarrow
    import pyarrow.parquet

    # Merging reads all files side by side, and must hold no file in memory.
    rows = sorted(scores, key=itemgetter(0))
    sums, counts, means = zip(*(row.score for row in rows), strict=True) if rows else [()] * 3
    constants = {
        "evaluator": origin.evaluator,
        "plan": origin.plan,
        "n_pairs": origin.n_pairs,
        "format": FORMAT,
    }
    values = {
        "key": [row.key for row in rows],
        "token_ids": [row.ids_key for row in rows],
        **{"sum_logprob": sums, "n_tokens": counts, "mean_probability": means},
        # In each row: no tool keeps what stands beside a table when it sorts or joins rows.
        **{name: [value] * len(rows) for name, value in constants.items()},
        "check": list(origin.checks(rows)),
    }
    table = pyarrow.table(values, schema=scores_schema())
    path = resolved(path, "scores")
    beside = path.with_name(f".{file_slug(path.name)}.{os.getpid()}.new")
    try:
        with beside.open("wb") as file:
            pyarrow.parquet.write_table(table, file, row_group_size=_ROWS_PER_GROUP)
            file.flush()
            # Else a crash of the machine may leave the new name without the content.
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)  # where the disk is full, it would stay so
        raise InputError(
            f"scores: {path} cannot be written ({error.strerror or error}); free some space or"
            " choose another file, and run the part again"
        ) from error


def read_origin(path: Path) -> PartOrigin | None:
    """Return the origin of the scores of a file; None for a file without scores."""
    for columns in _tables(path, _CONSTANTS):
        return _origin(path, columns)
    return None


def part_rows(path: Path) -> Iterator[KeyedScore]:
    """Yield the scores of a file in the order of their keys."""
    return itertools.chain.from_iterable(part_blocks(path))


def part_blocks(path: Path) -> Iterator[list[KeyedScore]]:
    """Yield the scores of a file in the order of their keys, many at once."""
    last, origin = b"", None
    for columns in _tables(path, [field.name for field in scores_schema()]):
        origin = origin or _origin(path, columns)
        if _origin(path, columns) != origin:
            raise _several(path)
        scores = zip(
            *(columns[name] for name in ("sum_logprob", "n_tokens", "mean_probability")),
            strict=True,
        )
        rows = list(map(KeyedScore, columns["key"], columns["token_ids"], scores))
        try:
            is_whole = list(origin.checks(rows)) == columns["check"]
        except (struct.error, TypeError):
            is_whole = False
        if not is_whole:
            raise FileError(
                path, f"the file of scores is damaged (rows differ from their digests); {AGAIN}"
            )
        # Equal keys are refused, too: a key has one score.
        if any(a >= b for a, b in zip([last, *columns["key"]], columns["key"], strict=False)):
            raise FileError(path, f"expected scores in the order of their keys; {AGAIN}")
        last = rows[-1].key
        yield rows


def _origin(path: Path, columns: Mapping[str, Sequence[Any]]) -> PartOrigin:
    constants = [columns[name] for name in ("evaluator", "plan", "n_pairs")]
    if any(len(values) != 1 for values in constants):
        raise _several(path)
    return PartOrigin(*(values[0] for values in constants))


def _several(path: Path) -> FileError:
    return FileError(path, f"expected the scores of one evaluation, got several; {AGAIN}")


def _tables(path: Path, names: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """Yield the values of columns, many rows at a time; of constants only the distinct ones."""
    import pyarrow
    import pyarrow.parquet

    try:
        with path.open("rb") as begun:
            is_parquet = begun.read(len(_MAGIC)) == _MAGIC
        if not is_parquet:
            raise FileError(
                path, "expected scores of `cc-hf evaluate --part`, got another file; name others"
            )
        with pyarrow.parquet.ParquetFile(path) as file:
            _check_schema(path, file.schema_arrow)
            n_missing = file.metadata.num_rows
            for batch in parquet_batches(file, _ROWS_AT_ONCE, names):
                arrays = {name: batch.column(name) for name in names}
                arrays |= {name: arrays[name].unique() for name in _CONSTANTS}
                columns = {name: values.to_pylist() for name, values in arrays.items()}
                if formats := set(columns["format"]) - {FORMAT}:
                    raise FileError(
                        path,
                        f"expected scores in format {FORMAT}, got format {formats.pop()}, of"
                        f" another version of cc_hf; {AGAIN} with this version",
                    )
                n_missing -= len(batch)
                if len(batch):
                    yield columns
            # A changed bit in the footer can end a group early without an error of pyarrow.
            if n_missing:
                raise FileError(path, f"the file of scores is damaged (rows are missing); {AGAIN}")
    except FileNotFoundError:
        raise FileError(path, "file not found; run its part first") from None
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(path, f"the file of scores is damaged ({reason}); {AGAIN}") from error


def _check_schema(path: Path, schema: Any) -> None:
    expected: Mapping[str, Any] = {field.name: field.type for field in scores_schema()}
    # Further columns are ignored: tools that sort or join rows may add some.
    given = {field.name: field.type for field in schema}
    if missing := [name for name in expected if given.get(name) != expected[name]]:
        raise FileError(
            path,
            "expected scores of `cc-hf evaluate --part`, got a table without their columns"
            f" {', '.join(missing)}; name others",
        )


def scores_schema() -> Any:
    """Return the columns of a file of scores, as a schema of Arrow."""
    import pyarrow

    key, text = pyarrow.binary(_N_KEY), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    number, count = pyarrow.float64(), pyarrow.int64()
    columns = {
        **{"key": key, "token_ids": key},
        **{"sum_logprob": number, "n_tokens": count, "mean_probability": number},
        **{"evaluator": text, "plan": text, "n_pairs": count, "format": pyarrow.int32()},
        "check": pyarrow.binary(_N_CHECK),
    }
    return pyarrow.schema(columns.items())
