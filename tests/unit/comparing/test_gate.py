"""Gates and bands: rates of wrong decisions by simulation."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from cc_hf.comparing.gate import Gate, gate
from cc_hf.errors import InputError
from cc_hf.fit_to_cite import GENDERS
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.statistics.bands import standings
from examples.pytest_gate import decide
from tests.helpers.usual import (
    cases,
    fails,
    judgement,
    printed_by,
    refuses,
    result_of,
    small_result,
    write_result,
)


def drawn(shares: list[float], n: int, random: np.random.Generator) -> np.ndarray:
    """Verdicts on systems that find the same sentences difficult."""
    difficulty, noise = random.normal(size=n), random.normal(size=(len(shares), n))
    limits = np.array([NormalDist().inv_cdf(share) for share in shares])
    return np.asarray(0.8 * difficulty + 0.6 * noise < limits[:, None])


def decided(correct: np.ndarray, margin: float) -> Gate:
    said = ("incorrect", "correct")
    made = [[judgement(i, said[int(r)], of="abc"[i % 3]) for i, r in enumerate(x)] for x in correct]
    old, new = (result_of(row, signature="m|data:d/c|n:9") for row in made)
    return gate({"old": old, "new": new}, margin=margin)


@cases((0.80, "fail", 0.05), (0.78, "pass", 0.05), (0.80, "pass", 0.99), (0.74, "fail", 1))
def test_a_gate_is_wrong_as_often_as_it_says(share: float, verdict: Any, most: float) -> None:
    random, n_runs = np.random.default_rng(0), 60
    gates = [decided(drawn([0.8, share], 900, random), 0.02) for _ in range(n_runs)]
    n = [gate.verdict for gate in gates].count(verdict)
    assert n / n_runs <= most + 2.5 * np.sqrt(0.05 * 0.95 / n_runs)
    assert most < 0.9 or n / n_runs > 0.3


def test_a_gate_opens_for_a_small_loss_of_a_large_set() -> None:
    """20 of 20,000 are lost, all in one category, which is shown and tolerated."""
    old = of_genders((0.9, 0.9), n=10_000)
    new = of_genders((0.898, 0.9), n=10_000)
    actual = gate({"old": old, "new": new}, margin=0.02)
    assert (actual.verdict, actual.figures[1].decides) == ("pass", True)


def test_a_category_that_is_too_small_to_tell_closes_no_gate_unless_it_is_a_gender() -> None:
    few = [judgement(f"x{i}", "correct", of="other") for i in range(5)]
    large = of_genders((0.9, 0.9), n=10_000)
    more = replace(large, judgements=(*large.judgements, *few), n=large.n + 5)
    actual = gate({"old": more, "new": more}, margin=0.02)
    verdicts = {f.figure: (f.verdict, f.decides) for f in actual.figures}
    assert (actual.verdict, verdicts["accuracy_other"]) == ("pass", ("cannot tell", False))

    small = of_genders((0.9, 0.9), n=20)
    assert gate({"old": small, "new": small}, margin=0.02).verdict == "cannot tell"


def test_equal_systems_share_a_band_and_others_do_not() -> None:
    random = np.random.default_rng(0)
    shared = [max(s.band for s in standings(drawn([0.7] * 5, 300, random))) for _ in range(100)]
    assert shared.count(1) >= 95
    apart = [standings(drawn([0.7, 0.75], 3000, random)) for _ in range(20)]
    assert all([(s.band, s.first, s.last) for s in two] == [(2, 2, 2), (1, 1, 1)] for two in apart)


def of_genders(accuracies: tuple[float, float], n: int = 40) -> EvaluationResult:
    """Return a result with a gold gender for each of `n` women and as many men."""
    rows = [
        (gender, i < n * a) for gender, a in zip(GENDERS, accuracies, strict=True) for i in range(n)
    ]
    said = ("incorrect", "correct")
    row = [judgement(i, said[right], of=of) for i, (of, right) in enumerate(rows)]
    kinds = tuple(
        CategoryAccuracy(g, n, round(n * a), a) for g, a in zip(GENDERS, accuracies, strict=True)
    )
    scores = {
        "accuracy": sum(accuracies) / 2,
        "min_accuracy": min(accuracies),
        **{f"accuracy_{c.category}": c.accuracy for c in kinds},
    }
    return result_of(row, signature=f"m|data:d/c|n:{2 * n}", scores=scores, categories=kinds)


@cases(
    ((0.9, 0.9), 20, (), 0, "gate: pass"),
    ((0.1, 0.1), 5, (), 3, "fail"),
    ((0.88, 0.88), 1, (), 4, "samples are needed"),
    # women lost far more than is tolerated, men nothing
    ((0.3, 0.9), 30, (), 3, "gate: fail"),
    ((0.3, 0.9), 50, ("--gate-category", 90), 0, "gate: pass"),
)
def test_the_exit_status_follows_from_the_gate(
    shares: Any, points: Any, more: Any, status: int, text: str, tmp_path: Path
) -> None:
    for name, accuracies in (("old", (0.9, 0.9)), ("new", shares)):
        write_result(tmp_path, name, of_genders(accuracies))
    command = ("compare", tmp_path / "old.json", tmp_path / "new.json", "--gate", points, *more)
    assert text in printed_by(*command, status=status, columns=160)


def test_results_that_a_gate_cannot_compare_are_refused(tmp_path: Path) -> None:
    paths = [write_result(tmp_path, name, small_result((0.9, 0.9))) for name in ("old", "new")]
    other = write_result(tmp_path, "other", small_result((0.9, 0.9), dataset="mucow"))
    call = partial(printed_by, "compare", paths[0], other, "--gate", 2)
    fails(InputError, "same data", call)
    fails(InputError, "none of --shared", call, "--shared", "answered")
    fails(
        InputError, "expected --gate", partial(printed_by, "compare", *paths), "--gate-category", 2
    )
    refuses("two results", gate, {"old": small_result((0.5, 0.5))}, margin=0.1)
    refuses("got none", gate, {}, margin=0.1)
    small = small_result((0.5, 0.5), fields="|eval:cc-tiny-en-de@d644c6d303e7")
    first_look = replace(small, signature=small.signature.replace("@1|", "[first 20]@1|"))
    refuses("evaluate without a limit", gate, {"old": first_look, "new": first_look}, margin=0.1)
    (old, _) = gate({"old": small, "new": small}, margin=0.1).unfit
    assert old.startswith("old: no labels show how far cc-tiny-en-de")


def test_the_fixture_for_pytest_fails_and_skips(tmp_path: Path) -> None:
    made = {a: of_genders((a / 10, a / 10), n=40) for a in (9, 10, 8, 1)}
    paths = [write_result(tmp_path, f"{a}", result) for a, result in made.items()]
    fails(pytest.fail.Exception, "10.0 %, fail", decide, paths[0], paths[3], points=10)
    text = r"90.0 to 80.0 %, cannot tell, about \d+ samples"
    fails(pytest.skip.Exception, text, decide, paths[0], paths[2], points=10)
    decide(paths[0], paths[1], points=10)
