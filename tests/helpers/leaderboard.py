"""The leaderboard in a separate process, on a free port of this machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_socket import disable_socket, enable_socket


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(folder: Path, *options: str | Path, log: Path) -> Iterator[str]:
    """Yield the address of the page once it answers, and stop the server at the end.

    Sockets are refused again meanwhile. Files of visitors lie in the folder "tmp" beside the log.
    """
    enable_socket()
    port = free_port()
    (log.parent / "tmp").mkdir()
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(log.parent / "tmp")}
    with log.open("w", encoding="utf-8") as out:
        words = f"-m cc_hf.cli leaderboard {folder} --port {port}".split()
        command = [sys.executable, *words, *map(str, options)]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=variables)
        try:
            address = f"http://127.0.0.1:{port}/"
            while not _answers(address):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.1)
            disable_socket(allow_unix_socket=True)
            yield address
        finally:
            process.terminate()
            process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address) as response:
            return bool(re.search(rb"cc_hf leaderboard", response.read()))
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
