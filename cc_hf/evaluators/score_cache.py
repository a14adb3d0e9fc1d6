"""A cache of scores on disk: one SQLite file, keyed by the complete identity of the computation.

Any number of processes can share it. It also stores the records of evaluators that were loaded
(`cc_hf.evaluators.lazy`). A file that cannot be read safely raises. A damaged row or record in it
is a warning and counts as missing, so that its scores are computed again and replaced. A file that
cannot be written is a warning, too: a full disk does not end an evaluation. No torch here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import CacheError
from cc_hf.evaluators.cache_file import UNUSABLE, CacheFile, has_table, is_damage, row_digest
from cc_hf.evaluators.cache_session import (
    CacheSession,
    ScoreRow,
    encoded,
    is_score,
    rounding_of,
    shown_row,
)
from cc_hf.files import exists

__all__ = [
    "CacheInfo",
    "IdentityInfo",
    "ScoreCache",
    "open_cache",
    "unchecked_cache",
]

_N_DIGEST = 64  # hexadecimal digits
# Older files of this version lack this table.
_EVALUATORS = (
    "CREATE TABLE IF NOT EXISTS evaluators (request BLOB PRIMARY KEY, record TEXT NOT NULL) WITHOUT"
    " ROWID"
)
# The table token_ids has no index of scores: without this copy each score would search all of it.
# A score that once came without token ids has two rows there, either of which serves. Rows are
# sorted because a table is filled fastest in the order of its keys.
_IDS_OF = "CREATE TEMP TABLE ids_of (score BLOB PRIMARY KEY, key BLOB) WITHOUT ROWID"
_FILL_IDS_OF = "INSERT OR IGNORE INTO ids_of SELECT score, key FROM token_ids ORDER BY score"


@dataclass(frozen=True)
class IdentityInfo:
    """The identity of some of the scores in a cache, {} if it is damaged, and their number."""

    fields: Mapping[str, str]
    n_scores: int


@dataclass(frozen=True)
class CacheInfo:
    """The contents of a cache; `n_bytes` includes the files that SQLite keeps beside it."""

    path: Path
    n_bytes: int
    n_scores: int
    identities: tuple[IdentityInfo, ...]


class ScoreCache(CacheFile):
    """The cache in one file; it keeps no connection between sessions.

    Args:
        path: the file; None for HF_HOME/cc_hf/scores.sqlite. Its folder is created when something
            is stored.

    Examples:
        >>> import tempfile
        >>> cache = ScoreCache(Path(tempfile.mkdtemp()) / "scores.sqlite")
        >>> with cache.session({"eval": "model@abc", "dtype": "float32"}) as session:
        ...     session.add([("The bat.", "Der Schläger.")], [(-2.5, 4, 0.5)])
        ...     session.find([("The bat.", "Die Fledermaus."), ("The bat.", "Der Schläger.")])
        {1: (-2.5, 4, 0.5)}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        super().__init__(_default_path() if path is None else Path(path), is_default=path is None)

    @contextlib.contextmanager
    def session(self, identity: Mapping[str, str]) -> Iterator[CacheSession]:
        """Open the cache for the scores of one identity.

        Yields:
            A session, which stores nothing if the file cannot be opened (CacheWarning).

        Raises:
            CacheError: for a file that is damaged, of another version, or no cache.
            InputError: for a folder.
        """
        with contextlib.ExitStack() as stack:
            try:
                connection = stack.enter_context(contextlib.closing(self._open()))
            except UNUSABLE as error:
                self.raise_or_warn(error)
                connection = None
            # Every `add` of the session is a transaction of its own, so that a run that is killed
            # loses at most the batch in flight.
            yield CacheSession(self, connection, identity)

    def check(self) -> None:
        """Check that the cache can be used, before anything is computed.

        The default file may be unwritable, with a CacheWarning; a file that the user named may not.

        Raises:
            CacheError: for a file that is damaged, of another version, no cache, or cannot be
                written although the user named it.
            InputError: for a folder.
        """
        try:
            with contextlib.closing(self._open()) as connection:
                # Takes the lock for writing, which a file or a folder that is read-only refuses.
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
        except UNUSABLE as error:
            if not self.is_default and not is_damage(error):
                raise CacheError(
                    f"cache: {self.path}: the cache of scores cannot be written ({error}); name"
                    " another file, or do without one"
                ) from error
            self.raise_or_warn(error)

    def info(self) -> CacheInfo:
        """Return what the cache holds; nothing if there is no file.

        Raises:
            CacheError: for a file that cannot be read.
        """
        if not exists(self.path):
            return CacheInfo(self.path, 0, 0, ())
        with self._reading() as connection:
            query = (
                "SELECT i.identity, count(*) FROM scores s JOIN identities i ON i.id ="
                " s.identity GROUP BY i.id ORDER BY i.id"
            )
            identities = tuple(
                IdentityInfo(self._identity_fields(text), n)
                for text, n in connection.execute(query)
            )
        return CacheInfo(
            self.path,
            sum(path.stat().st_size for path in self._files()),
            sum(i.n_scores for i in identities),
            identities,
        )

    def _identity_fields(self, text: object) -> dict[str, str]:
        """Return the fields of a stored identity; none, with a CacheWarning, if it is damaged."""
        try:
            fields = dict(json.loads(text)) if isinstance(text, str) else {}
        except (ValueError, TypeError, RecursionError):
            fields = {}
        if not fields or not all(isinstance(item, str) for pair in fields.items() for item in pair):
            self.warn_of_damage(
                f"it does not say any more what made some of its scores: {shown_row(text)}"
            )
            return {}
        return fields

    def identities(self) -> list[str]:
        """Return the identities of the scores, as they are stored.

        Raises:
            CacheError: for a file that cannot be read.
        """
        with self._reading() as connection:
            return [str(text) for (text,) in connection.execute("SELECT identity FROM identities")]

    def rows(self, identity: str) -> Iterator[tuple[bytes, bytes, ScoreRow]]:
        """Yield key, key of the token ids and score of all undamaged scores of an identity, by key.

        Raises:
            CacheError: for a file that cannot be read.
        """
        rounding = rounding_of(dict(json.loads(identity))["dtype"])
        with self._reading() as connection:
            connection.execute(_IDS_OF)
            if has_table(connection, "token_ids"):
                connection.execute(_FILL_IDS_OF)
            query = (
                "SELECT s.key, coalesce(t.key, s.key), s.digest, s.sum_logprob, s.n_tokens,"
                " s.mean_probability FROM scores s JOIN identities i ON i.id = s.identity LEFT JOIN"
                " ids_of t ON t.score = s.key WHERE i.identity = ? ORDER BY s.key"
            )
            for key, ids_key, digest, *score in connection.execute(query, (identity,)):
                if digest == row_digest(key, *score) and is_score(score, rounding):
                    yield key, ids_key, (score[0], score[1], score[2])

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(self._open()) as connection:
                yield connection
        except UNUSABLE as error:
            if is_damage(error):
                raise self._damaged(error) from error
            raise CacheError(f"the cache of scores {self.path} cannot be read: {error}") from error

    def remember(self, request: object, record: Mapping[str, Any]) -> None:
        """Store the record of an evaluator, and replace an earlier record of the same request.

        Args:
            request: everything that decides what is loaded, as JSON values.
        """
        key, text = _request_key(request), encoded(record)
        # A record only saves time, so that nothing is reported if the file cannot be written:
        # scores that cannot be stored are reported anyway.
        with (
            contextlib.suppress(*UNUSABLE),
            contextlib.closing(self._open()) as connection,
            connection,
        ):
            connection.execute(_EVALUATORS)
            # The digest stands before the text, since older files have no column for it.
            connection.execute(
                "INSERT OR REPLACE INTO evaluators VALUES (?, ?)", (key, _digest(key, text) + text)
            )

    def recall(self, request: object) -> dict[str, Any] | None:
        """Return the record that was stored for the same request, if it is still readable.

        Raises:
            CacheError: for a file that is damaged, of another version, or no cache.
        """
        key = _request_key(request)
        try:
            if not exists(self.path):  # opening would create it
                return None
            with contextlib.closing(self._open()) as connection:
                if not has_table(connection, "evaluators"):
                    return None
                row = connection.execute(
                    "SELECT record FROM evaluators WHERE request = ?", (key,)
                ).fetchone()
        except UNUSABLE as error:
            if is_damage(error):
                raise self._damaged(error) from error
            return None
        if row is None:
            return None
        # The column may hold any type once a page is damaged.
        digest, text = (
            (row[0][:_N_DIGEST], row[0][_N_DIGEST:]) if isinstance(row[0], str) else ("", "")
        )
        if digest != _digest(key, text):
            self.warn_of_damage(
                f"what it holds of an evaluator was altered: {shown_row(text or row[0])}; the model"
                " is loaded"
            )
            return None
        return dict(json.loads(text))

    def clear(self) -> CacheInfo:
        """Remove the file and those that SQLite keeps beside it, and return what was in it.

        Raises:
            CacheError: for a file that is no cache and not the default file.
        """
        # Before `info` opens and closes the file, since SQLite then removes its log.
        n_bytes = sum(path.stat().st_size for path in self._files())
        try:
            contents = self.info()
        except CacheError:
            # A damaged cache can be removed, but no other file that the user named by mistake.
            if not self.is_default and not self.is_cache():
                raise
            contents = CacheInfo(self.path, n_bytes, 0, ())
        for path in self._files():
            path.unlink(missing_ok=True)
        return contents


def open_cache(cache: bool | str | Path) -> ScoreCache | None:
    """Return the cache that the option `cache` names, checked; None for False.

    Examples:
        >>> open_cache(False) is None
        True
    """
    store = unchecked_cache(cache)
    if store is not None:
        store.check()
    return store


def unchecked_cache(cache: bool | str | Path) -> ScoreCache | None:
    """Return the cache that the option `cache` names, whose file need not exist.

    Examples:
        >>> unchecked_cache(False) is None
        True
    """
    return None if cache is False else ScoreCache(None if cache is True else cache)


def _default_path() -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "cc_hf" / "scores.sqlite"


def _request_key(request: object) -> bytes:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()


def _digest(key: bytes, text: str) -> str:
    """Return a digest that binds a record to its request."""
    # It reveals an altered record as well as a record of another request.
    return hashlib.sha256(key + text.encode("utf-8", "surrogatepass")).hexdigest()
