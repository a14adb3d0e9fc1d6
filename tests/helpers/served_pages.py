"""Pages in separate processes, on free ports of this machine."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_socket import disable_socket, enable_socket

from cc_hf.hub.spaces import build_metric_space


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as actual:
        actual.bind(("127.0.0.1", 0))
        return int(actual.getsockname()[1])


@contextmanager
def served(folder: Path, *options: str | Path, log: Path) -> Iterator[str]:
    """Yield the address of the page once it answers, and stop the server at the end.

    Sockets are refused again meanwhile. Files of visitors lie in the folder "tmp" beside the log.
    """
    enable_socket()
    port = free_port()
    (log.parent / "tmp").mkdir()
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(log.parent / "tmp")}
    words = f"-m cc_hf.cli leaderboard {folder} --port {port}".split()
    command = [sys.executable, *words, *map(str, options)]
    address = f"http://127.0.0.1:{port}/"
    with answering(command, address, "leaderboard", log=log, env=variables):
        disable_socket(allow_unix_socket=True)
        yield address


@contextmanager
def space_served(name: str, folder: Path) -> Iterator[str]:
    """Yield the address of a metric's Space that is built in the folder; it needs sockets."""
    build_metric_space(name, f"org/{name}", output=folder / "space")
    address = f"http://127.0.0.1:{(port := free_port())}/"
    variables = os.environ | {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
    variables["GRADIO_TEMP_DIR"] = str(folder / "tmp")
    options: dict[str, Any] = {"cwd": folder / "space", "env": variables, "log": folder / "log"}
    with answering([sys.executable, "app.py"], address, name, **options):
        yield address


@contextmanager
def transformers_served(folder: Path, *, log: Path) -> Iterator[str]:
    """Yield the address of `transformers serve` with a language model; it needs sockets."""
    words = f"--host 127.0.0.1 --port {(port := free_port())} --device cpu".split()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder), *words]
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    url = f"http://127.0.0.1:{port}"
    with answering(command, f"{url}/health", log=log, env=variables):
        yield f"{url}/v1"


@contextmanager
def answering(
    command: Sequence[str], url: str, word: str = "", *, log: Path, **options: Any
) -> Iterator[None]:
    """Run a server in a process of its own, from when a page of it has a word until the block ends.

    Args:
        command: starts the server.
        url: the address of the page.
        word: a word of the page.
        log: the file to which the server prints.
        options: those of `subprocess.Popen`.
    """
    with (
        log.open("w", encoding="utf-8") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, **options) as process,
    ):
        try:
            while not _answers(url, word):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def _answers(url: str, word: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return word.encode() in response.read()
    except OSError:
        return False
