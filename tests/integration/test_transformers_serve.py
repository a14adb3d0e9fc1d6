"""`transformers serve` as the server of a tiny chat model; skipped where it is not installed
(`pip install transformers[serving]`).
"""

from __future__ import annotations

import contextlib
import os
import sys
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
from tests.helpers.leaderboard import answering, free_port

_IS_AVAILABLE = getattr(import_utils, "is_serve_available", lambda: False)()

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(not _IS_AVAILABLE, reason="transformers[serving] is not installed"),
]


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Yield the address of a server in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    command += f"--host 127.0.0.1 --port {port} --device cpu".split()
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    url = f"http://127.0.0.1:{port}"
    with answering(command, f"{url}/health", log=folder / "log.txt", env=variables):
        yield f"{url}/v1"


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
