"""Scores by Ray Data are those of one process, also when a worker is killed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import CCError, EvaluatorError
from cc_hf.evaluators import ray_data
from cc_hf.evaluators.parts import Origin
from cc_hf.evaluators.ray_data import RayParts
from tests.helpers.cases import cases
from tests.helpers.letter_evaluator import LetterEvaluator, letter_requests
from tests.helpers.pairs import EN_DE

# Ray listens on all addresses of the machine; in a network of its own there is loopback alone.
_ALONE = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh")


@pytest.mark.slow
def test_scores_by_ray_are_those_of_one_process(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed (pip install 'cc_hf[ray]')")
    if shutil.which("unshare") is None or subprocess.run([*_ALONE, "true"]).returncode:
        pytest.skip("this system makes no network of a test's own (unshare --net)")
    command = [*_ALONE, sys.executable, "-m", "tests.helpers.ray_program", str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    happened: dict[str, Any] = json.loads((tmp_path / "happened.json").read_text())
    assert happened["killed"] == "120 of 120"
    assert happened["left"] == {"is_initialized": False, "n_processes": 0, "was_killed": True}
    assert happened["continued"] == f"{happened['n_removed']} of 120"
    assert 0 < happened["n_removed"] < 120
    assert happened["again"] == "0 of 120"
    assert json.loads(happened["plain"])["n"] == 60
    assert happened["merged"] == happened["plain"]
    assert "InputError: n_actors: 2 of 1 CPUs and 0 GPUs need a cluster" in happened["too few"]
    assert happened["failed"].startswith("EvaluatorError: row ")
    assert "log-probability nan" in happened["failed"]
    assert happened["other"].startswith("FileError: ")
    assert happened["is_joined"]
    example, auto = (json.loads(happened[name])["scores"] for name in ("example", "auto"))
    assert example == auto


@cases(
    ({"n_actors": 0}, "n_actors: expected an integer of at least 1, got 0"),
    ({"cpus": 0}, "cpus: expected a number above 0, got 0"),
    ({"gpus": -1}, "gpus: expected a number of at least 0, got -1"),
)
def test_numbers_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CCError, match=message):
        RayParts("scores", **options)


def test_an_evaluator_without_a_name_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed (pip install 'cc_hf[ray]')")
    evaluator = LetterEvaluator()
    evaluator.part = RayParts(tmp_path)
    with pytest.raises(CCError, match="that its workers can load by name"):
        evaluator.score(letter_requests(3), **EN_DE)


def test_a_worker_uses_the_pass_that_was_planned_and_no_other_evaluator() -> None:
    def origin(evaluator: Any) -> Origin:
        with evaluator._session("en", "de") as session:
            return Origin(session.identity, "", 1)

    whole, fast = LetterEvaluator(), LetterEvaluator(dtype="bfloat16")
    whole.own_fast = fast
    assert ray_data._same(whole, origin(whole)) is whole
    assert ray_data._same(whole, origin(fast)) is fast
    with pytest.raises(EvaluatorError, match=r"another evaluator .*: eval letters@b \(not "):
        ray_data._same(LetterEvaluator(identity="b"), origin(whole))


def test_an_evaluator_is_opened_again_without_cache_and_part(tmp_path: Path) -> None:
    options: dict[str, Any] = {"cache": tmp_path / "c.sqlite", "mode": "exact", "tgt_lang": "de"}
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", **options, part=RayParts(tmp_path))
    assert evaluator.reopen is not None
    again = evaluator.reopen()
    assert (again.cache, again.part) == (None, None)
    assert again.cache_identity() == evaluator.cache_identity()
