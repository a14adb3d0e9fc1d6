from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.evaluators import distributed as sharding
from cc_hf.evaluators.distributed import ALONE, Team, even_shares
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.results import EvaluationResult
from tests.helpers.distributed_program import FEW, UNEVEN, as_lists
from tests.helpers.letter_evaluator import LetterEvaluator, Pair, letter_requests
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.processes import together, torchrun


@given(st.lists(st.integers(1, 1000), max_size=60), st.integers(1, 8))
def test_shares_are_even_and_hold_every_index_once(costs: list[int], n: int) -> None:
    shares = even_shares(costs, n)
    assert len(shares) == n
    assert sorted(i for share in shares for i in share) == list(range(len(costs)))
    loads = [sum(costs[i] for i in share) for share in shares]
    assert max(loads) - min(loads) <= max(costs, default=0)


# a team of threads synchronizes like processes, without starting any


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("n_requests", [1, 5, 200])
def test_every_member_gets_all_scores_in_the_order_of_one_process(n: int, n_requests: int) -> None:
    requests, seen = letter_requests(n_requests), [[] for _ in range(n)]  # type: list[Any], list[list[Pair]]
    plain = LetterEvaluator().score(requests, src_lang="en", tgt_lang="de")

    def work(team: Team) -> TokenScores:
        return LetterEvaluator(seen[team.rank].extend, team=team).score(
            requests, src_lang="en", tgt_lang="de"
        )

    for found in together(n, work):
        assert as_lists(found) == as_lists(plain)
    assert sorted(pair for pairs in seen for pair in pairs) == sorted(
        {(r.source, r.translation) for r in requests}
    )
    loads = [sum(len(s) + len(t) for s, t in pairs) for pairs in seen]
    if n_requests >= 200:
        assert max(loads) < 1.5 * sum(loads) / n
    assert n_requests < 2 * n or min(loads) > 0


def test_scores_are_cached_between_rounds_before_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The main member stores scores of the others while they go on, so that the cache is not empty
    after a late error.
    """
    monkeypatch.setattr(sharding, "_ROUND_SECONDS", 0.0)
    cache = ScoreCache(tmp_path / "scores.sqlite")

    def work(team: Team) -> Any:
        n_seen = 0

        def before(pairs: list[Pair]) -> None:
            nonlocal n_seen
            n_seen += 1
            if team.rank == 1 and n_seen == 6:
                raise ValueError("no more")

        return LetterEvaluator(before, team=team, cache=cache if team.is_main else None).score(
            letter_requests(100), src_lang="en", tgt_lang="de"
        )

    first, second, third = together(3, work)
    assert isinstance(second, ValueError)
    for error in (first, third):
        assert isinstance(error, EvaluatorError)
        assert str(error) == "scoring failed in process 1 of 3: ValueError: no more"
    n_kept = cache.info().n_scores
    assert 15 <= n_kept < 100


def test_only_the_main_member_reads_the_cache(tmp_path: Path) -> None:
    cache, requests, seen = (ScoreCache(tmp_path / "scores.sqlite"), letter_requests(50), [])  # type: ScoreCache, list[Any], list[Pair]
    LetterEvaluator(cache=cache).score(requests[:30], src_lang="en", tgt_lang="de")

    def work(team: Team) -> TokenScores:
        return LetterEvaluator(seen.extend, team=team, cache=cache if team.is_main else None).score(
            requests, src_lang="en", tgt_lang="de"
        )

    plain = LetterEvaluator().score(requests, src_lang="en", tgt_lang="de")
    assert [as_lists(found) for found in together(2, work)] == [as_lists(plain)] * 2
    assert sorted(seen) == sorted((r.source, r.translation) for r in requests[30:50])
    assert cache.info().n_scores == 50


def test_a_damaged_cache_raises_on_every_member(tmp_path: Path) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"nonsense" * 1000)
    cache = ScoreCache(tmp_path / "scores.sqlite")

    def work(team: Team) -> Any:
        return LetterEvaluator(team=team, cache=cache if team.is_main else None).score(
            letter_requests(9), src_lang="en", tgt_lang="de"
        )

    main, other = together(2, work)
    assert "expected a cache of scores" in str(main)
    assert str(other).startswith(
        "scoring failed in process 0 of 2: CacheError: expected a cache of scores"
    )


# real processes


@pytest.fixture
def one_thread(same_threads: None) -> None:
    """Use one thread like the processes of torchrun: another number may round differently."""
    torch.set_num_threads(1)


@pytest.mark.usefixtures("one_thread")
def test_three_processes_give_the_scores_of_one(tmp_path: Path, tiny_marian: Path) -> None:
    found = torchrun(3, "tests.helpers.distributed_program", tiny_marian, tmp_path)
    assert found.returncode == 0, found.stderr
    alone = cc_hf.load_evaluator(tiny_marian)
    results = [
        json.loads((tmp_path / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(3)
    ]
    assert [r["has_cache"] for r in results] == [True, False, False]
    for rank, result in enumerate(results):
        assert result["size"] == 3
        for name, requests in (("few", FEW), ("uneven", UNEVEN), ("again", [*UNEVEN, *FEW])):
            np.testing.assert_allclose(
                result[name],
                as_lists(alone.score(requests, src_lang="en", tgt_lang="de")),
                rtol=1e-6,
                atol=1e-6,
            )
            assert result[name] == results[0][name]
        assert (
            "expected the same evaluator and the same pairs in all 3 processes, got others in"
            " process 1, 2" in result["other input"]
        )
        kind = (
            "TooLongError: row 0: the source has"
            if rank == 1
            else (
                "EvaluatorError: scoring failed in process 1 of 3: TooLongError: row 0: the"
                " source has"
            )
        )
        assert result["error of one"].startswith(kind)


@pytest.mark.usefixtures("one_thread")
def test_the_command_line_in_two_processes_writes_the_same_result(
    tmp_path: Path, tiny_marian: Path
) -> None:
    rows = [
        f"The {i} bats and {'x' * (i % 9)} were"
        f" old.,bats,baseball|wooden,flying|{'big' if i % 2 else 'tame'},{'odd' if i % 2 else 'even'},de"
        for i in range(90)
    ]
    (tmp_path / "bats.csv").write_text(
        "\n".join(["source,focus,correct_cues,incorrect_cues,category,tgt_lang", *rows]) + "\n",
        encoding="utf-8",
    )
    (tmp_path / "t.txt").write_text(
        "".join(f"Die {i} Schläger{' und' * (i % 4)} waren alt.\n" for i in range(90)),
        encoding="utf-8",
    )
    options = (
        "--evaluator",
        tiny_marian,
        "--device",
        "cpu",
        "--batch-tokens",
        "600",
        "-o",
        "2.json",
        "--cache",
        "c.sqlite",
        "--mode",
        "exact",
    )
    found = torchrun(
        2, "cc_hf.cli", "evaluate", "bats.csv", "--translations", "t.txt", *options, cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    one = evaluate_dataset(
        str(tmp_path / "bats.csv"),
        translations=tmp_path / "t.txt",
        evaluator=tiny_marian,
        device="cpu",
        batch_tokens=600,
        mode="exact",
    )
    two = EvaluationResult.from_json((tmp_path / "2.json").read_text(encoding="utf-8"))
    assert found.stdout.count(one.signature) == 1
    assert found.stderr.count("written: ") == 1
    assert two.signature == one.signature
    assert [(j.example_id, j.is_correct, j.weight) for j in two.judgements] == [
        (j.example_id, j.is_correct, j.weight) for j in one.judgements
    ]
    shared, alone = (
        np.array([j.probability_correct for j in found.judgements], dtype=np.float64)
        for found in (two, one)
    )
    np.testing.assert_allclose(shared, alone, rtol=0, atol=1e-6, equal_nan=False)
    assert ScoreCache(tmp_path / "c.sqlite").info().n_scores == 4 * 90


def test_an_error_is_printed_once_and_ends_all_processes(tmp_path: Path) -> None:
    found = torchrun(
        2, "tests.helpers.patient_cli", "evaluate", "winmt", "--translations", "t.txt", cwd=tmp_path
    )
    assert found.returncode != 0
    assert found.stderr.count("unknown dataset 'winmt'") == 1


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
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("RANK", "WORLD_SIZE", "MASTER_ADDR")
    }
    subprocess.run(
        [sys.executable, "-c", _WITHOUT_ACCELERATE],
        check=True,
        env={**environment, "WORLD_SIZE": "2"},
    )
    with pytest.raises(subprocess.CalledProcessError) as caught:
        subprocess.run(
            [sys.executable, "-c", _WITHOUT_ACCELERATE],
            check=True,
            capture_output=True,
            env={**environment, "WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "localhost"},
        )
    assert b"needs the package 'accelerate'" in caught.value.stderr
    assert ALONE.is_main
