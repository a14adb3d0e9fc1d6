"""What visitors send and are given lies in one folder, in which whatever is old is deleted, and all
of it at the end.
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
#: seconds for which a file of a visitor is kept at least
LIFETIME = 600
#: seconds between two sweeps
SWEEP_INTERVAL = 60


class VisitorFiles:
    """A folder for one server.

    Nobody else writes there, so that everything that is old may go, whoever made it.

    gradio deletes only files that it has listed, not uploads that broke off or were refused, and
    stops for good at the first one that it cannot delete.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="cc-hf-leaderboard-", ignore_cleanup_errors=True
        )
        self._kept: frozenset[str] = frozenset()

    @property
    def cache(self) -> Path:
        """The folder for gradio's own files: uploads, and copies of what it serves."""
        return Path(self._folder.name) / "gradio"

    def write(self, name: str, text: str) -> str:
        """Write a new file with this name, and return its path."""
        root = Path(self._folder.name) / "results"
        root.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(dir=root)) / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return str(path)

    def keep_present(self) -> None:
        """Never sweep the files that are there now: those of the page itself."""
        self._kept = frozenset(
            os.path.join(folder, name)
            for folder, _, names in os.walk(self._folder.name)
            for name in names
        )

    def sweep(self, age: float = LIFETIME) -> None:
        """Delete files, links and empty folders that are older than `age` seconds; what cannot be
        deleted is logged and left.
        """
        before = time.time() - age
        for folder, folders, names in os.walk(self._folder.name, topdown=False):
            for name in [*names, *folders]:
                path = os.path.join(folder, name)
                if path not in self._kept:
                    _delete(path, before)

    def close(self) -> None:
        """Delete the folder. Without it, this happens when the program ends."""
        self._folder.cleanup()

    def sweep_regularly(self) -> None:
        """Sweep in the background for as long as the program runs."""
        threading.Thread(target=self._sweep_forever, daemon=True).start()

    def _sweep_forever(self) -> None:
        while True:
            time.sleep(SWEEP_INTERVAL)
            self.sweep()


def _delete(path: str, before: float) -> None:
    """Delete a file, link or empty folder that was last changed before that time."""
    try:
        found = os.lstat(path)
        if found.st_mtime >= before:
            return
        if not stat.S_ISDIR(found.st_mode):
            os.unlink(path)
        elif not os.listdir(path):
            os.rmdir(path)
    except FileNotFoundError:  # gradio deletes, too
        return
    except OSError as error:
        _LOG.warning("a file of a visitor could not be deleted: %s", error)
