"""The files of visitors, which are all in one folder: old files are deleted regularly, and
everything is deleted at the end.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
import threading
import time
from pathlib import Path

__all__ = ["LIFETIME", "SWEEP_INTERVAL", "VisitorFiles"]

_LOG = logging.getLogger(__name__)
#: The minimum time for which a file of a visitor is kept, in seconds.
LIFETIME = 600
#: The time between two sweeps, in seconds.
SWEEP_INTERVAL = 60


class VisitorFiles:
    """A folder for the files of one server."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="cc-hf-leaderboard-", ignore_cleanup_errors=True
        )
        self._kept: frozenset[str] = frozenset()

    @property
    def cache(self) -> Path:
        """The folder for gradio's own files: uploads, and copies of what it serves."""
        return Path(self._folder.name) / "gradio"

    def folder(self, name: str) -> Path:
        """Return a folder for files of the page itself, which is made if it is missing."""
        folder = Path(self._folder.name) / name
        folder.mkdir(exist_ok=True)
        return folder

    def write(self, name: str, text: str) -> str:
        """Write a new file, and return its path."""
        path = Path(tempfile.mkdtemp(dir=self.folder("results"))) / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return str(path)

    def keep_present(self) -> None:
        """Exclude the files that exist now from sweeps: they belong to the page itself."""
        self._kept = frozenset(
            os.path.join(folder, name)
            for folder, _, names in os.walk(self._folder.name)
            for name in names
        )

    def sweep(self, age: float = LIFETIME) -> None:
        """Delete files, links and empty folders older than `age` seconds. A failure is logged."""
        # Nothing else writes there, so every old file can be deleted, whoever created it. gradio's
        # own deletion is not enough: it deletes only files that it has listed, not uploads that
        # were aborted or refused, and it stops for good at the first file that it cannot delete.
        before = time.time() - age
        for folder, folders, names in os.walk(self._folder.name, topdown=False):
            for name in [*names, *folders]:
                path = os.path.join(folder, name)
                if path not in self._kept:
                    _delete(path, before)

    def close(self) -> None:
        """Delete the folder. If this is not called, the folder is deleted when the program ends."""
        self._folder.cleanup()

    def sweep_regularly(self) -> None:
        """Sweep in the background for as long as the program runs."""
        threading.Thread(target=self._sweep_forever, daemon=True).start()

    def _sweep_forever(self) -> None:
        while True:
            time.sleep(SWEEP_INTERVAL)
            self.sweep()


def _delete(path: str, before: float) -> None:
    """Delete a file, link or empty folder that was last changed before a given time."""
    try:
        status = os.lstat(path)
        if status.st_mtime >= before:
            return
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(path)
        elif not os.listdir(path):
            os.rmdir(path)
    except FileNotFoundError:  # gradio deletes files, too
        return
    except OSError as error:
        _LOG.warning("a file of a visitor could not be deleted: %s", error)
