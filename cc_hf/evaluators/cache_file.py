"""The file of a cache of scores: open it, check that it is one, report damage."""

from __future__ import annotations

import sqlite3
import time
import warnings
from pathlib import Path

from cc_hf.errors import CacheError, CacheWarning, InputError
from cc_hf.files import is_file, is_folder

__all__ = ["CacheFile", "is_damage"]

# "ccHf", at a fixed offset in the file, so that no other file is used or removed as a cache
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


class CacheFile:
    """One SQLite file, which keeps no connection between two uses.

    Attributes:
        is_default: whether it is the default file, which need not be writable.

    Args:
        path: its folder is created when something is stored.
    """

    def __init__(self, path: Path, *, is_default: bool = False) -> None:
        self.path = path
        self.is_default = is_default
        self._warned = False

    @property
    def number(self) -> int:
        """The number that the file system gives the file, on every machine that shares it; 0 if
        there is no file.
        """
        return self.path.stat().st_ino if is_file(self.path) else 0

    def raise_or_warn(self, error: Exception) -> None:
        """Warn that scores are not stored, unless the file is damaged.

        Raises:
            CacheError: for an error that means damage.
        """
        if is_damage(error):
            raise self._damaged(error) from error
        self.warn(error)

    def warn(self, error: Exception) -> None:
        """Warn, once per cache object, that scores are not stored."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the cache of scores {self.path} cannot be used ({error}); the evaluation goes on,"
                " scores are not stored",
                CacheWarning,
                stacklevel=2,
            )

    def warn_of_damage(self, problem: str) -> None:
        """Warn that a part of the file is damaged and not used."""
        warnings.warn(
            f"the cache of scores {self.path} is damaged: {problem}", CacheWarning, stacklevel=2
        )

    def _open(self) -> sqlite3.Connection:
        """Open the file, create its tables if it is new, and check its version.

        A locked file is tried again, because SQLite does not wait by itself in every case.

        Returns:
            The open connection, which the caller must close.
        """
        if is_folder(self.path):
            raise InputError(f"cache: expected a file, {self.path} is a folder")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        until = time.monotonic() + _BUSY_SECONDS
        while True:
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level="IMMEDIATE"
            )
            # Damaged text then fails the check of its row instead of the whole query.
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
        """Set up a connection, create the tables of a new file, and check the file's version."""
        # A crash of the machine may lose the last scores, but does not damage the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        if _header(connection) == (0, 0):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                # Another process may have created the tables before this one got the lock.
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
        # With a write-ahead log, processes read scores while another one stores some.
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")

    def _damaged(self, error: Exception) -> CacheError:
        if not self.is_cache():
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
        return f"delete it: cc-hf cache --clear{'' if self.is_default else f' --path {self.path}'}"

    def is_cache(self) -> bool:
        """Return whether the first bytes of the file are those of a cache, whatever follows."""
        try:
            with self.path.open("rb") as file:
                head = file.read(72)
        except OSError:
            return False
        return head[:16] == _MAGIC and head[68:72] == _APPLICATION.to_bytes(4, "big")

    def _files(self) -> list[Path]:
        paths = [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]
        return [path for path in paths if path.is_file()]


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id and the version of a file; both are 0 in a new one."""
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return application, version


def is_damage(error: Exception) -> bool:
    """Return whether an error means damage.

    SQLite reports a file that is locked, unwritable or on a full disk as operational instead.

    Examples:
        >>> is_damage(sqlite3.DatabaseError("file is not a database"))
        True
        >>> is_damage(sqlite3.OperationalError("database is locked"))
        False
    """
    return isinstance(error, sqlite3.DatabaseError) and (
        not isinstance(error, sqlite3.OperationalError) or str(error).startswith("no such")
    )
