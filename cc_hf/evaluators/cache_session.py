"""An open cache for the scores of one identity: look up, store, check. No torch here."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from cc_hf.evaluators.cache_file import UNUSABLE, CacheFile, has_table, row_digest

__all__ = [
    "TOKEN_IDS",
    "CacheSession",
    "Pair",
    "ScoreRow",
    "TokenIds",
    "encoded",
    "is_score",
    "rounding_of",
    "shown_row",
]

#: source and translation
Pair: TypeAlias = tuple[str, str]
#: token ids of source and translation, as the model reads them
TokenIds: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
#: sum_logprob, n_tokens and mean_probability, as in `TokenScores`
ScoreRow: TypeAlias = tuple[float, int, float]

# How far rounding can raise the mean log-probability of a translation above 0. Products in bf16 and
# int8 round the logits themselves, so their limit is larger.
_ROUNDING = 1e-3
_LOW_PRECISION_ROUNDING = 0.5
_LOW_PRECISION = ("bf16", "int8")
_KEYS_PER_QUERY = 500  # older SQLite takes at most 999
_N_SHOWN = 80
#: Maps token ids to the key of the text that was scored first, whose score other texts with the
#: same ids get. Older files of this version lack this table.
TOKEN_IDS = (
    "CREATE TABLE IF NOT EXISTS token_ids (key BLOB PRIMARY KEY, score BLOB NOT NULL) WITHOUT ROWID"
)
_STAGED = (
    "CREATE TEMP TABLE IF NOT EXISTS staged (number INTEGER PRIMARY KEY, key BLOB, ids BLOB,"
    " sum_logprob REAL, n_tokens INTEGER, mean_probability REAL)",
    "CREATE TEMP TABLE IF NOT EXISTS by_ids (number INTEGER, key BLOB, ids BLOB)",
    "CREATE TEMP TABLE IF NOT EXISTS shared (number INTEGER PRIMARY KEY, score BLOB)",
    *("DELETE FROM staged", "DELETE FROM by_ids", "DELETE FROM shared"),
)
_STAGE = "INSERT INTO staged VALUES (NULL, ?, ?, ?, ?, ?)"
# Both tables are filled in the order of their keys, so that each page is written once, however many
# rows there are. token_ids comes first, and says whose score is shared.
_STORE_STAGED = (
    "INSERT INTO by_ids SELECT number, key, ids FROM staged ORDER BY ids, number",
    "INSERT OR IGNORE INTO token_ids SELECT ids, key FROM by_ids ORDER BY rowid",
    """INSERT INTO shared SELECT b.number, t.score
        FROM by_ids b CROSS JOIN token_ids t ON t.key = b.ids WHERE t.score != b.key""",
    """INSERT OR IGNORE INTO scores
        SELECT s.key, i.id, s.sum_logprob, s.n_tokens, s.mean_probability,
            row_digest(s.key, s.sum_logprob, s.n_tokens, s.mean_probability)
        FROM identities i CROSS JOIN staged s
        WHERE i.identity = ? AND s.number NOT IN (SELECT number FROM shared) ORDER BY s.key""",
    # The own score is stored if the one to share is not there, or damaged: here that one would get
    # a digest which fits it.
    """INSERT OR IGNORE INTO scores
        SELECT key, id, total, n, mean, row_digest(key, total, n, mean) FROM (
            SELECT s.key, i.id, COALESCE(o.sum_logprob, s.sum_logprob) AS total,
                COALESCE(o.n_tokens, s.n_tokens) AS n,
                COALESCE(o.mean_probability, s.mean_probability) AS mean
            FROM identities i CROSS JOIN shared h CROSS JOIN staged s ON s.number = h.number
                LEFT JOIN scores o ON o.key = h.score AND o.digest =
                    row_digest(o.key, o.sum_logprob, o.n_tokens, o.mean_probability)
            WHERE i.identity = ?)""",
)


class CacheSession:
    """An open cache for one identity; without a connection it finds and stores nothing.

    Attributes:
        rounding: how far rounding can raise a mean log-probability above 0, by the precision that
            the identity names; scores above that count as damaged.

    Args:
        file: the cache's file, which reports errors; None for a session that stores nothing.
        identity: everything that a score depends on except the pair, by name.
    """

    def __init__(
        self,
        file: CacheFile | None = None,
        connection: sqlite3.Connection | None = None,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        self._file = file
        self.rounding = rounding_of((identity or {}).get("dtype", ""))
        self._connection = connection
        self.identity = encoded(sorted((identity or {}).items()))
        # Every key starts from the identity, so that scores of different identities never mix.
        self._prefix = hashlib.sha256(self.identity.encode()).digest()
        self._damaged: set[bytes] = set()

    def find(self, pairs: Sequence[Pair]) -> dict[int, ScoreRow]:
        """Return the scores that are stored, by the index of their pair.

        Altered and impossible scores are reported by a CacheWarning, and count as missing.

        Raises:
            CacheError: for a damaged file.
        """
        if self._connection is None:
            return {}
        return self.find_keys({self.key(pair): i for i, pair in enumerate(pairs)})

    def find_equal(self, ids: Sequence[TokenIds]) -> dict[int, ScoreRow]:
        """Return the scores of texts that have the given token ids, by the index of these.

        Raises:
            CacheError: for a damaged file.
        """
        if self._connection is None:
            return {}
        index = {self.ids_key(pair_ids): i for i, pair_ids in enumerate(ids)}
        try:
            if not has_table(self._connection, "token_ids"):
                return {}
            keys = {
                bytes(score): index[key]
                for key, score in self._select("SELECT key, score FROM token_ids", list(index))
                # A damaged tree of SQLite yields keys that nobody asked for.
                if isinstance(score, bytes) and key in index
            }
        except UNUSABLE as error:
            self._give_up(error)
            return {}
        return self.find_keys(keys)

    def add(
        self, pairs: Sequence[Pair], rows: Sequence[ScoreRow], ids: Sequence[TokenIds] | None = None
    ) -> None:
        """Store scores in one transaction, or warn once (CacheWarning) that they cannot be stored.

        Stored scores are kept unless they are damaged, and impossible ones are not stored. Texts
        with the same token ids get one score, even if another process stored it first.

        Args:
            ids: token ids, in the order of the pairs; None if they are not known.
        """
        if self._connection is None:
            return
        keys = [self.key(pair) for pair in pairs]
        # Texts without known ids share their score with no other text.
        ids_keys = keys if ids is None else map(self.ids_key, ids)
        self.add_keyed(zip(keys, ids_keys, rows, strict=True))

    def add_keyed(self, rows: Iterable[tuple[bytes, bytes, ScoreRow]]) -> bool:
        """Store all scores, by their keys and those of token ids, or none; return whether."""
        if self._connection is None or self._file is None:
            return False
        possible = ((key, ids, *row) for key, ids, row in rows if self.is_score(row))
        try:
            # Others can write into the file meanwhile.
            with self._connection:
                self._connection.execute("BEGIN")
                for statement in _STAGED:
                    self._connection.execute(statement)
                self._connection.executemany(_STAGE, possible)
            with self._connection:
                # INSERT OR IGNORE would keep damaged rows.
                self._connection.executemany(
                    "DELETE FROM scores WHERE key = ?", [(key,) for key in self._damaged]
                )
                self._damaged.clear()
                self._connection.execute(TOKEN_IDS)
                self._connection.execute(
                    "INSERT OR IGNORE INTO identities (identity) VALUES (?)", (self.identity,)
                )
                for statement in _STORE_STAGED:
                    self._connection.execute(statement, (self.identity,) * ("?" in statement))
        except UNUSABLE as error:
            # A cache that cannot be written only costs time, so that scoring goes on without it.
            self._connection = None
            self._file.warn(error)
            return False
        return True

    def find_keys(self, index: Mapping[bytes, int]) -> dict[int, ScoreRow]:
        """Return the stored scores, as `find` does, by the numbers that `index` gives to keys."""
        scores: dict[int, ScoreRow] = {}
        damaged: list[object] = []
        try:
            for key, *row, digest in self._select(
                "SELECT key, sum_logprob, n_tokens, mean_probability, digest FROM scores",
                list(index),
            ):
                if key not in index:  # as in `find_equal`; its score is computed again
                    continue
                if digest == row_digest(key, *row) and self.is_score(row):
                    scores[index[key]] = (float(row[0]), row[1], float(row[2]))
                elif key not in self._damaged:
                    self._damaged.add(key)
                    damaged.append(row)
        except UNUSABLE as error:
            self._give_up(error)
            return {}
        if damaged and self._file is not None:
            self._file.warn_of_damage(
                f"{len(damaged)} of its scores are none that a model gave, such as"
                f" {shown_row(damaged[0])}; they are computed again"
            )
        return scores

    def _select(self, query: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that have one of the keys; none without a connection."""
        for start in range(0, len(keys) if self._connection is not None else 0, _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            if self._connection is not None:
                yield from self._connection.execute(
                    f"{query} WHERE key IN ({','.join('?' * len(part))})", part
                )

    def _give_up(self, error: Exception) -> None:
        """Raise if the file is damaged, else continue without it."""
        if self._file is not None:
            self._file.raise_or_warn(error)
        self._connection = None

    def is_score(self, row: Sequence[object]) -> bool:
        """Return whether a row holds a score that a model can give."""
        return is_score(row, self.rounding)

    def ids_key(self, ids: TokenIds) -> bytes:
        """Return the key of token ids, which starts from the identity."""
        return hashlib.sha256(self._prefix + encoded(["ids", *ids]).encode()).digest()

    def key(self, pair: Pair) -> bytes:
        """Return the key of a pair, which starts from the identity."""
        return hashlib.sha256(self._prefix + encoded(pair).encode()).digest()


def encoded(value: object) -> str:
    """Return a value as JSON in ASCII, unambiguous for any text, lone surrogates included."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def is_score(row: Sequence[object], rounding: float) -> bool:
    """Return whether a row holds a score that a model can give."""
    total, n, mean = row
    # SQLite keeps values of any type in any column, and a damaged page yields them.
    if not (
        isinstance(n, int) and isinstance(total, (int, float)) and isinstance(mean, (int, float))
    ):
        return False
    # Rounding may lift the sum of the logarithms above 0, and the mean probability above 1.
    return n >= 1 and -math.inf < total <= n * rounding and 0 <= mean <= math.exp(rounding)


def rounding_of(dtype: str) -> float:
    """Return how far rounding can change the mean log-probability of a translation.

    Examples:
        >>> rounding_of("float32"), rounding_of("bf16+float32")
        (0.001, 0.5)
    """
    is_low = any(name in dtype for name in _LOW_PRECISION)
    return _LOW_PRECISION_ROUNDING if is_low else _ROUNDING


def shown_row(value: object) -> str:
    """Return the beginning of a damaged value, for messages."""
    return repr(value)[:_N_SHOWN]
