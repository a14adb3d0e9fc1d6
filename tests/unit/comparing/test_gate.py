"""Gates and bands: rates of wrong decisions by simulation, and what the command prints."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from cc_hf.comparing.gate import Gate, gate
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.bands import standings
from examples.pytest_gate import decide
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by
from tests.helpers.refusals import fails, refuses
from tests.helpers.results import small_result, write_result


def drawn(shares: list[float], n: int, random: np.random.Generator) -> np.ndarray:
    """Verdicts on systems that find the same sentences difficult."""
    difficulty, own = random.normal(size=n), random.normal(size=(len(shares), n))
    limits = np.array([NormalDist().inv_cdf(share) for share in shares])
    return np.asarray(0.8 * difficulty + 0.6 * own < limits[:, None])


def decided(correct: np.ndarray, margin: float) -> Gate:
    results = {}
    for name, row in zip(("old", "new"), correct, strict=True):
        judgements = tuple(
            Judgement(str(i), "abc"[i % 3], bool(right), "", "correct" if right else "incorrect")
            for i, right in enumerate(row)
        )
        n = len(judgements)
        results[name] = EvaluationResult(
            *("d", "c", "de", "m", f"m|data:d/c|n:{n}", n), {}, {}, (), judgements
        )
    return gate(results, margin=margin)


@cases((0.80, "fail", 0.05), (0.78, "pass", 0.05), (0.80, "pass", 0.99), (0.74, "fail", 1))
def test_a_gate_is_wrong_as_often_as_it_says(share: float, verdict: str, most: float) -> None:
    random, n_runs = np.random.default_rng(0), 60
    n = sum(
        decided(drawn([0.8, share], 900, random), 0.02).verdict == verdict for _ in range(n_runs)
    )
    assert n / n_runs <= most + 2.5 * np.sqrt(0.05 * 0.95 / n_runs)
    assert most < 0.9 or n / n_runs > 0.3


def test_equal_systems_share_a_band_and_others_do_not() -> None:
    random = np.random.default_rng(0)
    shared = [max(s.band for s in standings(drawn([0.7] * 5, 300, random))) for _ in range(100)]
    assert shared.count(1) >= 95
    apart = [standings(drawn([0.7, 0.75], 3000, random)) for _ in range(20)]
    assert all([(s.band, s.first, s.last) for s in two] == [(2, 2, 2), (1, 1, 1)] for two in apart)


@cases((0.9, 10, 0, "gate: pass"), (0.1, 5, 3, "fail"), (0.8, 1, 4, "samples are needed"))
def test_the_command_exits_with_the_verdict(
    share: float, points: float, status: int, text: str, tmp_path: Path
) -> None:
    for name, accuracy in (("old", 0.9), ("new", share)):
        write_result(tmp_path, name, small_result((accuracy, accuracy)))
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    printed = printed_by("compare", *paths, "--gate", points, status=status, columns=160)
    assert text in printed
    other = write_result(tmp_path, "other", small_result((0.9, 0.9), dataset="mucow"))
    call = partial(printed_by, "compare", paths[0], other, "--gate", points)
    fails(InputError, "same data", call)
    fails(InputError, "none of --shared", call, "--shared", "answered")
    refuses("two results", gate, {"old": small_result((0.5, 0.5))}, margin=0.1)
    refuses("got none", gate, {}, margin=0.1)
    small = small_result((0.5, 0.5), fields="|eval:cc-tiny-en-de@d644c6d303e7")
    first_look = replace(small, signature=small.signature.replace("@1|", "[first 20]@1|"))
    refuses("evaluate without a limit", gate, {"old": first_look, "new": first_look}, margin=0.1)
    (old, _) = gate({"old": small, "new": small}, margin=0.1).unfit
    assert old.startswith("old: cc-tiny-en-de is a small evaluator")


def test_the_fixture_for_pytest_fails_and_skips(tmp_path: Path) -> None:
    paths = [write_result(tmp_path, f"{a}", small_result((a / 10, a / 10))) for a in (9, 10, 8, 1)]
    fails(pytest.fail.Exception, "10.0 %, fail", decide, paths[0], paths[3], points=10)
    text = r"90.0 to 80.0 %, cannot tell, about \d+ samples"
    fails(pytest.skip.Exception, text, decide, paths[0], paths[2], points=10)
    decide(paths[0], paths[1], points=10)
