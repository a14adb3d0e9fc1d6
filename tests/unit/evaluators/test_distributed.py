"""Scoring shared by processes, and by two nodes on loopback, of which one may be killed."""

import json
import os
import pickle
import re
import socket
import subprocess
import sys
import time
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf import errors
from cc_hf.evaluators import distributed
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.distributed import ALONE, TIMEOUT_VARIABLE, Team, even_shares, report_failure
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.results import EvaluationResult
from cc_hf.schema import ScoringRequest
from tests.helpers.distributed_program import FEW, UNEVEN, as_lists
from tests.helpers.letter_evaluator import LetterEvaluator, Pair, letter_requests
from tests.helpers.node_program import REQUESTS
from tests.helpers.processes import in_processes, started, together
from tests.helpers.served_pages import free_port
from tests.helpers.usual import (
    EN_DE,
    cases,
    evaluate_dataset,
    fails,
    read_json,
    refuses,
    write_lines,
)

pytestmark = pytest.mark.enable_socket  # two nodes talk on loopback


@given(st.lists(st.integers(1, 1000), max_size=60), st.integers(1, 8))
def test_shares_are_even_and_hold_every_index_once(costs: list[int], n: int) -> None:
    shares = even_shares(costs, n)
    assert len(shares) == n
    assert sorted(i for share in shares for i in share) == list(range(len(costs)))
    loads = [sum(costs[i] for i in share) for share in shares]
    assert max(loads) - min(loads) <= max(costs, default=0)


def scored(requests: list[ScoringRequest], *before: Any, **options: Any) -> TokenScores:
    """Score by a member of a team, or alone; only the main member uses the cache."""
    if not options.get("team", ALONE).is_main:
        options["cache"] = None
    return LetterEvaluator(*before, **options).score(requests, **EN_DE)


# a team of threads synchronizes like processes, without starting any


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("n_requests", [1, 5, 200])
def test_every_member_gets_all_scores_in_the_order_of_one_process(n: int, n_requests: int) -> None:
    requests, seen = letter_requests(n_requests), [[] for _ in range(n)]  # type: list[Any], list[list[Pair]]

    def work(team: Team) -> TokenScores:
        return scored(requests, seen[team.rank].extend, team=team)

    plain = as_lists(scored(requests))
    assert [*map(as_lists, together(n, work))] == [plain] * n
    distinct = {(r.source, r.translation) for r in requests}
    assert sorted(pair for pairs in seen for pair in pairs) == sorted(distinct)
    loads = [sum(len(s) + len(t) for s, t in pairs) for pairs in seen]
    if n_requests >= 200:
        assert max(loads) < 1.5 * sum(loads) / n
    assert n_requests < 2 * n or min(loads) > 0


def test_an_error_loses_no_earlier_round(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The main member stores scores of the others while they go on, so that the cache is not empty
    after a late error.
    """
    monkeypatch.setattr(distributed, "_ROUND_SECONDS", 0.0)
    cache = ScoreCache(tmp_path / "scores.sqlite")

    def work(team: Team) -> Any:
        failing = ValueError("no more") if team.rank == 1 else None
        before = Mock(side_effect=[None] * 5 + [failing] + [None] * 99)
        return scored(letter_requests(100), before, team=team, cache=cache)

    message = "scoring failed in process 1 of 3: ValueError: no more"
    elsewhere = f"{errors.EvaluatorError(message)!r}"
    assert [*map(repr, together(3, work))] == [elsewhere, "ValueError('no more')", elsewhere]
    assert 15 <= cache.info().n_scores < 100


def test_only_the_main_member_reads_the_cache(tmp_path: Path) -> None:
    cache, requests, seen = ScoreCache(tmp_path / "c.sqlite"), letter_requests(50), list[Pair]()
    scored(requests[:30], cache=cache)

    def work(team: Team) -> TokenScores:
        return scored(requests, seen.extend, team=team, cache=cache)

    assert [as_lists(actual) for actual in together(2, work)] == [as_lists(scored(requests))] * 2
    assert sorted(seen) == sorted((r.source, r.translation) for r in requests[30:50])
    assert cache.info().n_scores == 50


def test_a_damaged_cache_raises_on_every_member(tmp_path: Path) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"nonsense" * 1000)
    cache, message = ScoreCache(tmp_path / "scores.sqlite"), "expected a cache of scores"
    main, other = together(2, lambda team: scored(letter_requests(9), team=team, cache=cache))
    assert message in str(main)
    assert str(other).startswith(f"scoring failed in process 0 of 2: CacheError: {message}")


# real processes


@pytest.fixture
def one_thread(same_threads: None) -> None:
    """Use one thread like the processes of torchrun: another number may round differently."""
    torch.set_num_threads(1)


@pytest.mark.usefixtures("one_thread")
def test_three_processes_give_the_scores_of_one(tmp_path: Path, tiny_marian: Path) -> None:
    outcomes = in_processes(3, tmp_path, "tests.helpers.distributed_program", tiny_marian, tmp_path)
    assert outcomes.returncode == 0, outcomes.stderr
    alone = cc_hf.load_evaluator(tiny_marian)
    results = [read_json(tmp_path / f"{rank}.json") for rank in range(3)]
    assert [r["has_cache"] for r in results] == [True, False, False]
    too_long = "TooLongError: row 0: the source has"
    elsewhere = f"EvaluatorError: scoring failed in process 1 of 3: {too_long}"
    for rank, result in enumerate(results):
        assert result["size"] == 3
        for name, requests in (("few", FEW), ("uneven", UNEVEN), ("again", [*UNEVEN, *FEW])):
            expected = as_lists(alone.score(requests, **EN_DE))
            np.testing.assert_allclose(result[name], expected, rtol=1e-5, atol=1e-5)
            assert result[name] == results[0][name]
        message = "the same pairs in all 3 processes, got others in process 1, 2"
        assert f"expected the same evaluator and {message}" in result["other input"]
        assert result["error of one"].startswith(too_long if rank == 1 else elsewhere)


@pytest.mark.usefixtures("one_thread")
def test_commands_in_two_processes_write_the_same_result(tmp_path: Path, tiny_marian: Path) -> None:
    sources = [f"The {i} bats and {'x' * (i % 9)} were old." for i in range(90)]
    sides = "bats,baseball|wooden,flying"
    rows = [f"{s},{sides}|{('tame,even', 'big,odd')[i % 2]},de" for i, s in enumerate(sources)]
    columns = "source,focus,correct_cues,incorrect_cues,category,tgt_lang"
    bats = write_lines(tmp_path / "bats.csv", [columns, *rows])
    lines = [f"Die {i} Schläger{' und' * (i % 4)} waren alt." for i in range(90)]
    texts = write_lines(tmp_path / "t.txt", lines)
    settings = "--evaluator-option batch_tokens=600 --evaluator-option mode=exact"
    chosen = f"--device cpu {settings} -o 2.json --cache c.sqlite --evaluator"
    command = f"evaluate bats.csv --translations t.txt {chosen}".split()
    outcomes = in_processes(2, tmp_path, "cc_hf.cli", *command, tiny_marian)
    assert outcomes.returncode == 0, outcomes.stderr
    expected = evaluate_dataset(
        str(bats),
        translations=texts,
        evaluator=tiny_marian,
        device="cpu",
        batch_tokens=600,
        mode="exact",
    )
    actual = EvaluationResult.from_json((tmp_path / "2.json").read_text(encoding="utf-8"))
    assert (outcomes.stdout.count(expected.signature), outcomes.stderr.count("written: ")) == (1, 1)
    assert actual.signature == expected.signature
    named = attrgetter("example_id", "is_correct", "weight")
    assert [*map(named, actual.judgements)] == [*map(named, expected.judgements)]
    shared, alone = ([j.probability_correct for j in r.judgements] for r in (actual, expected))
    assert shared == pytest.approx(alone, abs=1e-5)
    assert ScoreCache(tmp_path / "c.sqlite").info().n_scores == 4 * 90


def test_an_error_is_printed_once_and_ends_all_processes(tmp_path: Path) -> None:
    launcher = "-m torch.distributed.run --standalone --nproc-per-node 2 -m"
    command = f"{launcher} tests.helpers.patient_cli evaluate winmt --translations t.txt"
    completed = subprocess.run(
        (sys.executable, *command.split()), capture_output=True, text=True, cwd=tmp_path
    )
    assert completed.returncode != 0
    assert completed.stderr.count("unknown dataset 'winmt'") == 1


_WITHOUT_ACCELERATE = """
import sys
sys.modules["accelerate"] = None  # importing it fails
from cc_hf.evaluators import distributed as sharding
from tests.helpers.letter_evaluator import LetterEvaluator, letter_requests
assert sharding.join("cpu") is sharding.ALONE and sharding.is_main_process()
LetterEvaluator(team=sharding.join("cpu")).score(letter_requests(5), src_lang="en", tgt_lang="de")
sharding.leave()
"""


def test_a_single_process_does_not_import_accelerate() -> None:
    names = {"RANK", "WORLD_SIZE", "MASTER_ADDR"}
    environment = {name: value for name, value in os.environ.items() if name not in names}

    def run(**variables: str) -> None:
        command = [sys.executable, "-c", _WITHOUT_ACCELERATE]
        subprocess.run(command, check=True, capture_output=True, env={**environment, **variables})

    run(WORLD_SIZE="2")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(WORLD_SIZE="2", RANK="0", MASTER_ADDR="localhost")
    assert b"needs the package 'accelerate'" in caught.value.stderr
    assert ALONE.is_main


_LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), max_size=60)


@given(_LENGTHS, st.integers(1, 300))
def test_batches_hold_pairs_once_within_budget(lengths: list[tuple[int, int]], budget: int) -> None:
    sources, targets = [s for s, _ in lengths], [t for _, t in lengths]
    batches = plan_batches(sources, targets, batch_tokens=budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        cost = len(batch) * (max(sources[i] for i in batch) + max(targets[i] for i in batch))
        assert len(batch) == 1 or cost <= budget


def test_batches_start_with_the_longest_pairs() -> None:
    assert plan_batches([1, 2, 3], [1, 2, 3], batch_tokens=2) == [[2], [1], [0]]


@cases(
    errors.InputError("rows: expected one"),
    errors.UnknownNameError("dataset", "winmt", ["winomt"]),
    errors.MissingDependencyError("eflomal", install="pip install eflomal"),
    errors.TooLongError("row 3: too long", translations=["a", "b"]),
)
def test_errors_are_sent_between_processes_unchanged(error: errors.CCError) -> None:
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert (str(sent), vars(sent)) == (str(error), vars(error))


# two nodes on loopback

_RUN = "torch.distributed.run --nnodes 2 --nproc-per-node 1"
by_torchrun = f"{_RUN} --node-rank {{}} --master-addr 127.0.0.1 --master-port {{}} -m"
rendezvous = f"{_RUN} --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:{{1}} -m"
_MAIN = "--main_process_ip 127.0.0.1 --main_process_port {} --module"
_LAUNCH = "accelerate.commands.launch --multi_gpu --num_machines 2 --num_processes 2"
accelerate = f"{_LAUNCH} --machine_rank {{}} {_MAIN}"


def scored_by_nodes(launcher: str, folder: Path, killed: str, limit: float = 600) -> Any:
    """Score on two nodes, and return what each process found, and what they printed. No process is
    left behind.
    """
    port, program = free_port(), ["tests.helpers.node_program", str(folder), killed]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", TIMEOUT_VARIABLE: str(limit)}
    commands = [[*launcher.format(rank, port).split(), *program] for rank in range(2)]
    start = partial(
        subprocess.Popen,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    nodes = [start([sys.executable, "-m", *command]) for command in commands]
    printed = "\n".join(node.communicate()[1] for node in nodes)
    written = [folder / f"{rank}.json" for rank in range(2)]
    actual = [json.loads(path.read_text("utf-8")) if path.exists() else {} for path in written]
    return actual, printed


@pytest.mark.parametrize("launcher", [rendezvous, accelerate], ids=["rendezvous", "accelerate"])
def test_two_nodes_give_the_scores_of_one_process(launcher: str, tmp_path: Path) -> None:
    actual, printed = scored_by_nodes(launcher, tmp_path, "never")
    assert [found_by.get("scores") for found_by in actual] == [as_lists(scored(REQUESTS))] * 2, (
        printed
    )
    assert all(of_process["n_scored"] > 0 for of_process in actual)


def test_a_node_killed_while_scoring_is_named_and_the_command_continues(tmp_path: Path) -> None:
    start = time.monotonic()
    (main, killed), printed = scored_by_nodes(by_torchrun, tmp_path, "during")
    assert not killed
    failed = "EvaluatorError: scoring failed in process 1 of 2"
    message = rf"{failed}.*{socket.gethostname()}.*the same command continues"
    assert re.match(message, main["error"], re.DOTALL), printed
    assert time.monotonic() - start < 300  # long before the limit
    n_kept = ScoreCache(tmp_path / "scores.sqlite").info().n_scores
    assert 0 < n_kept < len(REQUESTS)
    actual, printed = scored_by_nodes(by_torchrun, tmp_path, "never")
    assert [found_by.get("scores") for found_by in actual] == [as_lists(scored(REQUESTS))] * 2, (
        printed
    )
    assert 0 < sum(of_process["n_scored"] for of_process in actual) <= (len(REQUESTS) - n_kept)


def test_a_node_that_is_killed_before_scoring_is_named_after_the_limit(tmp_path: Path) -> None:
    (main, killed), printed = scored_by_nodes(by_torchrun, tmp_path, "before", limit=5)
    assert not killed
    assert "process 1 of 2: it did not come within 5 seconds" in main["error"], printed
    assert TIMEOUT_VARIABLE in main["error"]


def test_the_error_of_one_process_ends_the_other_soon(tmp_path: Path, tiny_marian: Path) -> None:
    write_lines(tmp_path / "a.csv", ["source,focus,gold,tgt_lang", "The nurse left.,nurse,male,de"])
    write_lines(tmp_path / "0.txt", ["Der Pfleger ging."])
    command = f"cc_hf.cli evaluate a.csv --device cpu --evaluator {tiny_marian} --translations"
    start = time.monotonic()
    team = started(2, tmp_path, *command.split(), "{rank}.txt")
    for process in team:
        process.join()
        assert process.exitcode
    assert time.monotonic() - start < 300  # long before the limit
    assert "1.txt" in (tmp_path / "1.stderr").read_text(encoding="utf-8")
    words = " ".join((tmp_path / "0.stderr").read_text(encoding="utf-8").split())
    assert "scoring failed in process 1 of 2: FileError" in words
    assert "1.txt" in words


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "soon", "²"])
def test_a_time_limit_must_be_positive(value: str) -> None:
    names = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "0", TIMEOUT_VARIABLE: value}
    with patch.dict(os.environ, names):
        refuses(f"{TIMEOUT_VARIABLE}: expected a number of seconds", distributed.join, "cpu")


def test_a_failure_that_cannot_be_reported_raises_no_second_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distributed, "_NOTE_SECONDS", 0.1)
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with patch.dict(os.environ, RANK="1", WORLD_SIZE="2", **address):
        report_failure(ValueError("no more"))
        fails(RuntimeError, "timed out", distributed._store, 0.1)  # which is not raised above
