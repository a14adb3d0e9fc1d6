import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from cc_hf.hub import metric_page
from cc_hf.systems.machine import wait_briefly
from tests.helpers.usual import cases

_NAMES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.setenv(name, "x")  # so that it is restored even if it was not set before
        monkeypatch.delenv(name)


#: Ends when torch is imported, and prints how threads wait then.
_WATCH = f"""
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            os.write(1, repr([os.environ.get(name) for name in {_NAMES}]).encode())
            os._exit(0)
sys.meta_path.insert(0, Watch())
"""
_COMMAND = """
import runpy
sentence = ["--source", "The doctor left.", "--translation", "Sie ging.", "--focus", "doctor"]
sys.argv = ["cc-hf", "explain", *sentence, "--gender", "female", "-l", "en-de"]
runpy.run_module("cc_hf.cli", run_name="__main__")
"""
_LIBRARY = (
    "import cc_hf.cli.main, cc_hf.plugins.leaderboard.app; cc_hf.load_evaluator('cc-tiny-en-de')"
)


@cases(
    (_COMMAND, {}, "[None, '10000', None]"),
    (_COMMAND, {"OMP_WAIT_POLICY": "ACTIVE"}, "['ACTIVE', None, None]"),
    (_COMMAND, {"GOMP_SPINCOUNT": "7"}, "[None, '7', None]"),
    (_COMMAND, {"KMP_BLOCKTIME": "1"}, "[None, None, '1']"),
    (_LIBRARY, {}, "[None, None, None]"),
)
def test_programs_alone_decide_how_threads_wait(code: str, variables: Any, expected: str) -> None:
    """They decide before torch is loaded."""
    program, environment = [sys.executable, "-c", _WATCH + code], {**os.environ, **variables}
    run = subprocess.run(program, capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stdout) == (0, expected), run.stderr


def test_the_page_of_a_metric_decides_before_it_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[str] = []
    monkeypatch.setattr(metric_page, "_gradio", Mock())
    page = SimpleNamespace(launch=lambda **_: counts.append(os.environ["GOMP_SPINCOUNT"]))
    metric_page.launch(page)
    assert counts == ["10000"]


@pytest.mark.parametrize("name", _NAMES)
def test_a_setting_of_the_user_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    before = dict(os.environ)
    wait_briefly()
    assert dict(os.environ) == before
