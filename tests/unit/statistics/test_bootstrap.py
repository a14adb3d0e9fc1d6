from __future__ import annotations

import numpy as np
import pytest

from cc_hf.statistics import bootstrap
from cc_hf.statistics.bootstrap import resampled_strata, resampled_sums
from tests.helpers.refusals import refuses


def test_resampled_sums_are_of_samples_drawn_with_replacement() -> None:
    columns = np.stack([np.ones(5), np.arange(5.0)], axis=1)
    sums = resampled_sums(columns, n_resamples=600, seed=3)
    generator = np.random.default_rng(3)
    drawn = np.concatenate([generator.integers(0, 5, size=(rows, 5)) for rows in (250, 250, 100)])
    assert sums.tolist() == columns[drawn].sum(axis=1).tolist()


@pytest.mark.parametrize("counts", [None, [3, 1, 2, 5, 1, 1, 4]], ids=["without", "with"])
def test_memory_changes_nothing(counts: list[int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, strata = np.arange(7.0)[:, None], list("aabbbab")
    whole = resampled_sums(columns, strata, counts=counts, n_resamples=101)
    monkeypatch.setattr(bootstrap, "_DRAWN_AT_ONCE", 10)
    assert (resampled_sums(columns, strata, counts=counts, n_resamples=101) == whole).all()


def test_resampling_keeps_the_size_of_strata() -> None:
    names = ["a", "b", "a", "c"]
    one_hot = np.array([[name == other for other in "abc"] for name in names], dtype=np.float64)
    sums = resampled_sums(one_hot, names, n_resamples=20)
    assert {tuple(row) for row in sums.tolist()} == {(2.0, 1.0, 1.0)}
    found = resampled_strata(np.array([[1, 0], [0, 1]]), counts=[30, 70], n_resamples=2000)["all"]
    assert set(found.sum(axis=1)) == {100}
    assert found.mean(axis=0) == pytest.approx([30, 70], abs=0.5)


def test_groups_are_resampled_as_a_whole() -> None:
    sums = resampled_sums(np.eye(4), [*"xxxy"], groups=[*"pqpr"], n_resamples=50)
    assert (sums[:, 0] == sums[:, 2]).all()
    assert (sums[:, 0] + sums[:, 1] == 2).all()
    assert (sums[:, 3] == 1).all()


def test_input_that_cannot_be_resampled_is_refused() -> None:
    for n_rows, options, message in (
        (0, {}, "columns: expected at least one value"),
        (2, {"n_resamples": 0}, "n_resamples: expected an integer from 1"),
        (2, {"strata": ["a"]}, "strata: expected one per item, 2 in all, got 1"),
        (2, {"strata": [*"ab"], "groups": [7, 7]}, r"row 1: .* in.*got group 7 in 'a' and 'b'"),
    ):
        refuses(message, resampled_sums, np.ones((n_rows, 1)), **options)
