"""A cache of scores on disk: one SQLite file, keyed by the complete identity of the computation,
shared by any number of processes. No torch here.

Beside the scores it keeps what evaluators said of themselves when they were loaded
(`cc_hf.evaluators.lazy`).

Every `add` is a transaction of its own, so that a run that is killed loses no more than the batch
in flight. A file that cannot be read safely is an error. A damaged row or record in it is a
warning, and counts as missing: scores are computed again and replace it. What cannot be written is
a warning, too: a full disk does not end an evaluation.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import CacheError, CacheWarning, InputError
from cc_hf.evaluators.cache_session import CacheSession, encoded, shown_row
from cc_hf.files import exists, is_folder

__all__ = [
    "CacheInfo",
    "IdentityInfo",
    "ScoreCache",
    "open_cache",
]

# «ccHf», at a fixed place of the file: other files are never taken for a cache, nor removed as one
_APPLICATION = 0x63634866
_VERSION = 1
_MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.01
_SCHEMA = (
    "CREATE TABLE identities (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE)",
    """CREATE TABLE scores (
        key BLOB PRIMARY KEY,
        identity INTEGER NOT NULL REFERENCES identities (id),
        sum_logprob REAL NOT NULL,
        n_tokens INTEGER NOT NULL,
        mean_probability REAL NOT NULL
    ) WITHOUT ROWID""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)
_N_DIGEST = 64  # hexadecimal digits
# older files of this version lack it
_EVALUATORS = (
    "CREATE TABLE IF NOT EXISTS evaluators (request BLOB PRIMARY KEY, record TEXT NOT NULL) WITHOUT"
    " ROWID"
)


@dataclass(frozen=True)
class IdentityInfo:
    """What made some of the scores, and how many they are."""

    fields: Mapping[str, str]
    n_scores: int


@dataclass(frozen=True)
class CacheInfo:
    """What a cache holds. `n_bytes` counts the files of SQLite beside it, too."""

    path: Path
    n_bytes: int
    n_scores: int
    identities: tuple[IdentityInfo, ...]


class ScoreCache:
    """The cache at a path; it holds no connection between sessions.

    Args:
        path: None for HF_HOME/cc_hf/scores.sqlite. The folder is made when something is stored.

    >>> import tempfile
    >>> cache = ScoreCache(Path(tempfile.mkdtemp()) / "scores.sqlite")
    >>> with cache.session({"eval": "model@abc", "dtype": "float32"}) as session:
    ...     session.add([("The bat.", "Der Schläger.")], [(-2.5, 4, 0.5)], [((7, 2), (8, 9, 5, 2))])
    ...     session.find([("The bat.", "Die Fledermaus."), ("The bat.", "Der Schläger.")])
    ...     session.find_equal([((7, 2), (8, 9, 5, 2))])
    {1: (-2.5, 4, 0.5)}
    {0: (-2.5, 4, 0.5)}
    >>> cache.clear().n_scores
    1
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.is_default = path is None
        self.path = _default_path() if path is None else Path(path)
        self._warned = False

    @contextlib.contextmanager
    def session(
        self, identity: Mapping[str, str], *, rounding: float = 0.0
    ) -> Iterator[CacheSession]:
        """Open the cache for scores of that identity: all that a score depends on but the pair, one
        string a name.

        Args:
            identity: what made the scores.
            rounding: how far above 0 the mean log-probability of a translation may come by
                rounding; scores beyond count as damaged.

        Raises:
            CacheError: when the file is damaged, of another version, or no cache.
        """
        with contextlib.ExitStack() as stack:
            try:
                connection = stack.enter_context(contextlib.closing(self._open()))
            except (sqlite3.Error, OSError) as error:
                self.given_up(error)
                connection = None
            yield CacheSession(self, connection, identity, rounding=rounding)

    def check(self) -> None:
        """Whether it can be used, before anything is computed.

        The default place may be unwritable, with a CacheWarning; a chosen one may not.

        Raises:
            CacheError: when the file is damaged, of another version, no cache, or cannot be written
                where it was asked for.
        """
        try:
            with contextlib.closing(self._open()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
        except (sqlite3.Error, OSError) as error:
            if not self.is_default and not _is_damage(error):
                raise CacheError(
                    f"cache: {self.path}: the cache of scores cannot be written ({error}); name"
                    " another file, or do without one"
                ) from error
            self.given_up(error)

    def info(self) -> CacheInfo:
        """What it holds; nothing where there is no file.

        Raises:
            CacheError: when it cannot be read.
        """
        if not exists(self.path):
            return CacheInfo(self.path, 0, 0, ())
        try:
            with contextlib.closing(self._open()) as connection:
                query = (
                    "SELECT i.identity, count(*) FROM scores s JOIN identities i ON i.id ="
                    " s.identity GROUP BY i.id ORDER BY i.id"
                )
                found = tuple(
                    IdentityInfo(self._identity_fields(text), n)
                    for text, n in connection.execute(query)
                )
        except (sqlite3.Error, OSError) as error:
            if _is_damage(error):
                raise self._damaged(error) from error
            raise CacheError(f"the cache of scores {self.path} cannot be read: {error}") from error
        return CacheInfo(
            self.path,
            sum(path.stat().st_size for path in self._files()),
            sum(i.n_scores for i in found),
            found,
        )

    def _identity_fields(self, text: object) -> dict[str, str]:
        """What made some of the scores; none where that cannot be read any more, with a
        CacheWarning.
        """
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

    def remember(self, request: object, record: Mapping[str, Any]) -> None:
        """Keep what is known of an evaluator, by the complete request that loaded it; what was kept
        before is replaced.

        Both are such as JSON holds. Where nothing can be written nothing is kept: it would only
        have saved time, and scores say it when they are not stored.
        """
        key, text = _request_key(request), encoded(record)
        with (
            contextlib.suppress(sqlite3.Error, OSError),
            contextlib.closing(self._open()) as connection,
            connection,
        ):
            connection.execute(_EVALUATORS)
            connection.execute(
                "INSERT OR REPLACE INTO evaluators VALUES (?, ?)", (key, _digest(key, text) + text)
            )

    def recall(self, request: object) -> dict[str, Any] | None:
        """What was remembered for that very request; None where nothing was, or the file cannot be
        read now.

        A record that is not the one that was stored for the request is reported by a CacheWarning
        and not used.

        Raises:
            CacheError: when the file is damaged, of another version, or no cache.
        """
        key = _request_key(request)
        try:
            if not exists(self.path):
                return None
            with contextlib.closing(self._open()) as connection:
                if not connection.execute(
                    "SELECT 1 FROM sqlite_master WHERE name = 'evaluators'"
                ).fetchone():
                    return None
                row = connection.execute(
                    "SELECT record FROM evaluators WHERE request = ?", (key,)
                ).fetchone()
        except (sqlite3.Error, OSError) as error:
            if _is_damage(error):
                raise self._damaged(error) from error
            return None
        if row is None:
            return None
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
        """Remove the file, and say what was in it (`n_scores` is 0 where it could not be read).

        Raises:
            CacheError: when the file is no cache and not at the default place: it may be something
                else that matters.
        """
        n_bytes = sum(path.stat().st_size for path in self._files())
        try:
            found = self.info()
        except CacheError:
            if not self.is_default and not _is_cache(self.path):
                raise
            found = CacheInfo(self.path, n_bytes, 0, ())
        for path in self._files():
            path.unlink(missing_ok=True)
        return found

    def given_up(self, error: Exception) -> None:
        """Go on without, after a warning.

        Raises:
            CacheError: when the error says that the file is damaged.
        """
        if _is_damage(error):
            raise self._damaged(error) from error
        self.warn(error)

    def warn(self, error: Exception) -> None:
        """Say once that scores are not stored."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the cache of scores {self.path} cannot be used ({error}); the evaluation goes on,"
                " scores are not stored",
                CacheWarning,
                stacklevel=2,
            )

    def warn_of_damage(self, problem: str) -> None:
        """Say that a part of the file is not used."""
        warnings.warn(
            f"the cache of scores {self.path} is damaged: {problem}", CacheWarning, stacklevel=2
        )

    def _open(self) -> sqlite3.Connection:
        """A connection to a file that is there, ours, and of this version; «locked» is tried again,
        also where SQLite does not wait by itself.
        """
        if is_folder(self.path):
            raise InputError(f"cache: expected a file, {self.path} is a folder")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        until = time.monotonic() + _BUSY_SECONDS
        while True:
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level="IMMEDIATE"
            )
            # a damaged text is an error of its row, not of the query
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            try:
                self._prepare(connection)
                return connection
            except BaseException as error:
                connection.close()
                if not (
                    isinstance(error, sqlite3.OperationalError)
                    and "locked" in str(error)
                    and time.monotonic() < until
                ):
                    raise
            time.sleep(_RETRY_SECONDS)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # a crash of the machine may lose the last scores, never the file
        connection.execute("PRAGMA synchronous = NORMAL")
        if _header(connection) == (0, 0):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                # no other process was faster
                if (
                    _header(connection) == (0, 0)
                    and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
                ):
                    for statement in _SCHEMA:
                        connection.execute(statement)
        application, version = _header(connection)
        if application != _APPLICATION:
            raise self._foreign()
        if version != _VERSION:
            raise CacheError(
                f"the cache of scores {self.path} has format {version}, expected {_VERSION};"
                f" {self._remedy()}"
            )
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")

    def _damaged(self, error: Exception) -> CacheError:
        if not _is_cache(self.path):
            return self._foreign()
        return CacheError(
            f"the cache of scores {self.path} is damaged ({error}) and was not used;"
            f" {self._remedy()}"
        )

    def _foreign(self) -> CacheError:
        remedy = self._remedy() if self.is_default else "name another place"
        return CacheError(
            f"expected a cache of scores, {self.path} is another file, or damaged; {remedy}"
        )

    def _remedy(self) -> str:
        return f"delete it: cc-hf cache clear{'' if self.is_default else f' --path {self.path}'}"

    def _files(self) -> list[Path]:
        paths = [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]
        return [path for path in paths if path.is_file()]


def open_cache(cache: bool | str | Path) -> ScoreCache | None:
    """The cache that the option `cache` names: True for the default place, False for none.

    Raises:
        CacheError: as `ScoreCache.check`.
        InputError: when a folder is named.
    """
    if cache is False:
        return None
    found = ScoreCache(None if cache is True else cache)
    found.check()
    return found


def _default_path() -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "cc_hf" / "scores.sqlite"


def _request_key(request: object) -> bytes:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()


def _digest(key: bytes, text: str) -> str:
    """Binds a record to its request, so that neither an altered record nor that of another request
    is believed.
    """
    return hashlib.sha256(key + text.encode("utf-8", "surrogatepass")).hexdigest()


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    """Application and version; both 0 in a new file."""
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return application, version


def _is_damage(error: Exception) -> bool:
    """Damage, as against a file that is locked, unwritable or on a full disk, which SQLite reports
    as operational.
    """
    return isinstance(error, sqlite3.DatabaseError) and (
        not isinstance(error, sqlite3.OperationalError) or str(error).startswith("no such")
    )


def _is_cache(path: Path) -> bool:
    """Whether the first bytes say so, whatever follows."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head[:16] == _MAGIC and head[68:72] == _APPLICATION.to_bytes(4, "big")
