"""Two nodes on loopback that share the scoring, and what the other does when one is killed."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cc_hf.evaluators import distributed
from cc_hf.evaluators.distributed import TIMEOUT_VARIABLE, report_failure
from cc_hf.evaluators.score_cache import ScoreCache
from tests.helpers.distributed_program import as_lists
from tests.helpers.leaderboard import free_port
from tests.helpers.letter_evaluator import LetterEvaluator
from tests.helpers.lines import write_lines
from tests.helpers.node_program import REQUESTS
from tests.helpers.refusals import refuses

pytestmark = pytest.mark.enable_socket


_RUN = "torch.distributed.run --nnodes 2 --nproc-per-node 1"
torchrun = f"{_RUN} --node-rank {{}} --master-addr 127.0.0.1 --master-port {{}} -m"
rendezvous = f"{_RUN} --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:{{1}} -m"
_MAIN = "--main_process_ip 127.0.0.1 --main_process_port {} --module"
_LAUNCH = "accelerate.commands.launch --multi_gpu --num_machines 2 --num_processes 2"
accelerate = f"{_LAUNCH} --machine_rank {{}} {_MAIN}"


def two_nodes(
    launcher: str, programs: Sequence[Sequence[object]], limit: float = 600, **options: Any
) -> list[subprocess.CompletedProcess[str]]:
    """Run a command on each node, and return how each ended. No process is left behind."""
    port, environment = free_port(), {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    environment[TIMEOUT_VARIABLE] = str(limit)
    piped: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    piped |= {"start_new_session": True}
    nodes = [
        subprocess.Popen(
            [sys.executable, "-m", *launcher.format(rank, port).split(), *map(str, program)],
            **{**piped, "env": environment, **options},
        )
        for rank, program in enumerate(programs)
    ]
    ended = [(node, *node.communicate()) for node in nodes]
    return [subprocess.CompletedProcess(n.args, n.returncode, *printed) for n, *printed in ended]


def scored(launcher: str, folder: Path, killed: str, limit: float = 600) -> tuple[list[Any], str]:
    """Score on two nodes, and return what each process found, and what they printed."""
    nodes = two_nodes(launcher, [["tests.helpers.node_program", folder, killed]] * 2, limit)
    written = [folder / f"{rank}.json" for rank in range(2)]
    found = [json.loads(path.read_text("utf-8")) if path.exists() else {} for path in written]
    return found, "\n".join(node.stderr for node in nodes)


def alone() -> list[list[float]]:
    return as_lists(LetterEvaluator().score(REQUESTS, src_lang="en", tgt_lang="de"))


@pytest.mark.parametrize("launcher", [rendezvous, accelerate], ids=["rendezvous", "accelerate"])
def test_two_nodes_give_the_scores_of_one_process(launcher: str, tmp_path: Path) -> None:
    found, printed = scored(launcher, tmp_path, "never")
    assert [of_process.get("scores") for of_process in found] == [alone()] * 2, printed
    assert all(of_process["n_scored"] > 0 for of_process in found)


def test_a_node_killed_while_scoring_is_named_and_the_command_continues(tmp_path: Path) -> None:
    start = time.monotonic()
    (main, killed), printed = scored(torchrun, tmp_path, "during")
    assert not killed
    assert main["error"].startswith("EvaluatorError: scoring failed in process 1 of 2"), printed
    assert socket.gethostname() in main["error"]
    assert "the same command continues" in main["error"]
    assert time.monotonic() - start < 300  # long before the limit
    n_kept = ScoreCache(tmp_path / "scores.sqlite").info().n_scores
    assert 0 < n_kept < len(REQUESTS)
    found, printed = scored(torchrun, tmp_path, "never")
    assert [of_process.get("scores") for of_process in found] == [alone()] * 2, printed
    assert 0 < sum(of_process["n_scored"] for of_process in found) <= (len(REQUESTS) - n_kept)


def test_a_node_that_is_killed_before_scoring_is_named_after_the_limit(tmp_path: Path) -> None:
    (main, killed), printed = scored(torchrun, tmp_path, "before", limit=5)
    assert not killed
    assert "process 1 of 2: it did not come within 5 seconds" in main["error"], printed
    assert TIMEOUT_VARIABLE in main["error"]


def test_the_error_of_one_process_ends_the_other_soon(tmp_path: Path, tiny_marian: Path) -> None:
    write_lines(tmp_path / "a.csv", ["source,focus,gold,tgt_lang", "The nurse left.,nurse,male,de"])
    write_lines(tmp_path / "here.txt", ["Der Pfleger ging."])
    command = f"cc_hf.cli evaluate a.csv --device cpu --evaluator {tiny_marian} --translations"
    programs = [[*command.split(), name] for name in ("here.txt", "absent.txt")]
    start = time.monotonic()
    main, failed = two_nodes(torchrun, programs, cwd=tmp_path)
    assert time.monotonic() - start < 300  # long before the limit
    assert main.returncode != 0 != failed.returncode
    assert "absent.txt" in failed.stderr
    words = " ".join(main.stderr.split())
    assert "scoring failed in process 1 of 2: FileError" in words
    assert "absent.txt" in words


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "soon", "²"])
def test_a_time_limit_must_be_positive(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, given in (("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "0")):
        monkeypatch.setenv(name, given)
    monkeypatch.setenv(TIMEOUT_VARIABLE, value)
    refuses(f"{TIMEOUT_VARIABLE}: expected a number of seconds", distributed.join, "cpu")


def test_a_failure_out_of_reach_is_no_second_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "_NOTE_SECONDS", 0.1)
    for name, value in (("RANK", "1"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "127.0.0.1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_PORT", str(free_port()))
    report_failure(ValueError("no more"))
