"""The file of a cache of scores: open it, check that it is one, report damage."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import time
import warnings
from pathlib import Path

from cc_hf.errors import CacheError, CacheWarning, InputError
from cc_hf.files import is_file, is_folder

__all__ = ["UNUSABLE", "CacheFile", "has_table", "is_damage", "row_digest"]

#: What SQLite raises for a file that cannot be used. A damaged name of a table stands in the text
#: of its error, which Python then cannot decode.
UNUSABLE = (sqlite3.Error, UnicodeDecodeError, OSError)

# "ccHf", at a fixed offset in the file, so that no other file is used or removed as a cache
_APPLICATION = 0x63634866
_VERSION = 2  # 2: a digest of each score
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
        mean_probability REAL NOT NULL,
        digest BLOB
    ) WITHOUT ROWID""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)
_SCORE = "key, sum_logprob, n_tokens, mean_probability"
# Scores of version 1 have no digest. They get one as they are, and are checked from then on.
_ADD_DIGESTS = (
    "ALTER TABLE scores ADD COLUMN digest BLOB",
    f"UPDATE scores SET digest = row_digest({_SCORE})",
    f"PRAGMA user_version = {_VERSION}",
)
# Stands in for the table of a file of version 1 that cannot be written.
_WITH_DIGESTS = (
    f"CREATE TEMP VIEW scores AS SELECT *, row_digest({_SCORE}) AS digest FROM main.scores"
)
_ROW = struct.Struct("<dqd")  # little-endian everywhere, since machines share files
# Copied for each score, which takes a quarter of the time of making one.
_EMPTY_DIGEST = hashlib.blake2b(digest_size=8)


class CacheFile:
    """One SQLite file without a connection between uses; the default one may be unwritable."""

    def __init__(self, path: Path, *, is_default: bool = False) -> None:
        self.path = path
        self.is_default = is_default
        self._warned = False

    @property
    def number(self) -> int:
        """The file's number in its file system, the same on every machine; 0 without a file."""
        return self.path.stat().st_ino if is_file(self.path) else 0

    def raise_or_warn(self, error: Exception) -> None:
        """Warn that scores are not stored, unless the file is damaged."""
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
        """Open the file, create its tables if need be, check its version; the caller closes it."""
        if is_folder(self.path):
            raise InputError(f"cache: expected a file, {self.path} is a folder")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A locked file is tried again, because SQLite does not wait by itself in every case.
        until = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return self._connected(str(self.path))
            except sqlite3.OperationalError as error:
                if self._is_in_a_closed_folder(error):
                    return self._connected(f"{self.path.absolute().as_uri()}?immutable=1")
                # By its text: Python tells the codes of SQLite's errors only from 3.11 on.
                if "locked" not in str(error) or time.monotonic() >= until:
                    raise
            time.sleep(_RETRY_SECONDS)

    def _connected(self, name: str) -> sqlite3.Connection:
        """Open the file by its path or URI, and check it."""
        # IMMEDIATE: a transaction that reads first does not wait but fails if another process wrote
        # meanwhile. A path is no URI, since it may hold "?" or "%".
        connection = sqlite3.connect(
            name, timeout=_BUSY_SECONDS, isolation_level="IMMEDIATE", uri=name != str(self.path)
        )
        try:
            # Damaged text then fails the check of its row instead of the whole query.
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.create_function("row_digest", 4, row_digest, deterministic=True)
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_in_a_closed_folder(self, error: sqlite3.OperationalError) -> bool:
        """Return whether the file cannot be read because SQLite cannot write beside it."""
        cannot_write = "readonly" in str(error) or "unable to open" in str(error)
        # Nobody has the file open for writing if there is no log beside it.
        return cannot_write and self.is_cache() and self._files() == [self.path]

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Set up a connection, create or complete the tables, and check the file's version."""
        # A crash of the machine may lose the last scores, but does not damage the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        # Without the lock first, which a file that is read-only refuses.
        if _header(connection) == (0, 0):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                # Another process may have created the tables before this one got the lock. A file
                # with tables but without numbers is another program's, and is left as it is.
                if (
                    _header(connection) == (0, 0)
                    and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
                ):
                    for statement in _SCHEMA:
                        connection.execute(statement)
        if _header(connection) == (_APPLICATION, 1):
            # What follows would refuse the old version, which a file that is read-only keeps.
            _migrate(connection)
            return
        application, version = _header(connection)
        if application != _APPLICATION:
            raise self._foreign()
        if version != _VERSION:
            raise CacheError(
                f"the cache of scores {self.path} has format {version}, expected {_VERSION};"
                f" {self._remedy()}"
            )
        _use_log(connection)

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
        # SQLite keeps the application id at byte 68, and would not open a damaged file: a damaged
        # cache may be cleared, another file may not.
        return head[:16] == _MAGIC and head[68:72] == _APPLICATION.to_bytes(4, "big")

    def _files(self) -> list[Path]:
        paths = [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]
        return [path for path in paths if path.is_file()]


def _use_log(connection: sqlite3.Connection) -> None:
    # With a write-ahead log, processes read scores while another one stores some.
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode = WAL")


def _migrate(connection: sqlite3.Connection) -> None:
    """Add digests to scores of version 1, for this connection only if the file is read-only."""
    try:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have added them before this one got the lock. The version changes
            # in the same transaction, so that a migration that was stopped begins anew.
            if _header(connection) == (_APPLICATION, 1):
                for statement in _ADD_DIGESTS:
                    connection.execute(statement)
        _use_log(connection)
    except sqlite3.OperationalError as error:
        # A full disk: digests take space, and scores can still be read.
        if "readonly" not in str(error) and "full" not in str(error):
            raise
        connection.execute(_WITH_DIGESTS)


def row_digest(key: object, total: object, n: object, mean: object) -> bytes | None:
    """Return the digest that is stored with a score; None for values that are no score."""
    # The checksums of SQLite, where it has some, do not cover values: one byte can make another
    # score of a score.
    digest = _EMPTY_DIGEST.copy()
    try:
        digest.update(key + _ROW.pack(total, n, mean))  # type: ignore[operator]
    except (struct.error, TypeError):
        return None
    return digest.digest()


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether a file has a table. Older ones of this version lack some."""
    query = "SELECT 1 FROM sqlite_master WHERE name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id and the version of a file; both are 0 in a new one."""
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return application, version


def is_damage(error: Exception) -> bool:
    """Return whether an error means damage, not a file that is locked or cannot be written.

    Examples:
        >>> is_damage(sqlite3.DatabaseError("file is not a database"))
        True
        >>> is_damage(sqlite3.OperationalError("database is locked"))
        False
    """
    # SQLite reports a file that is locked, unwritable or on a full disk as operational.
    if isinstance(error, sqlite3.OperationalError):
        # Damage to names hides a table or a column; damage to the version makes a file of version 2
        # look like one that lacks the column of digests.
        return str(error).startswith(("no such", "duplicate column"))
    return isinstance(error, (sqlite3.DatabaseError, UnicodeDecodeError))
