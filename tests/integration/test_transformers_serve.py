"""`transformers serve` as the server of a tiny chat model; skipped where it is not installed
(`pip install transformers[serving]`).
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from transformers.utils import import_utils

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.prompting.conversations import Decoding
from cc_hf.systems.local_chat import open_local_chat
from cc_hf.systems.respondents import open_respondent
from tests.helpers.chat_models import QUESTIONS, save_tiny_chat_model

_IS_AVAILABLE = getattr(import_utils, "is_serve_available", lambda: False)()
_SECONDS = 300

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(not _IS_AVAILABLE, reason="transformers[serving] is not installed"),
]


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Yield the address of a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    with subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _await(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(url, timeout=10)
            return
        time.sleep(0.2)
    raise AssertionError(f"no answer from {url} in {_SECONDS} seconds")


def test_replies_equal_those_of_the_model_on_this_machine(tmp_path: Path) -> None:
    decoding = Decoding(max_new_tokens=6)
    folder = save_tiny_chat_model(tmp_path)
    expected = open_local_chat(str(folder), decoding=decoding).reply(QUESTIONS)
    with serving(folder) as url:
        served = open_respondent(str(folder), server=url, decoding=decoding)
        assert served.reply(QUESTIONS) == expected
        # It has no log-probabilities of prompts, and takes no token ids.
        with pytest.raises(EvaluatorError, match="prompt must be a string"):
            cc_hf.load_evaluator(f"server:{url}#{folder}")
