from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cc_hf.reports.derived_figures import derived_figures
from cc_hf.reports.figure_text import figure_rows
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import figures_table
from cc_hf.reports.samples import System
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.gender_figures import accuracy_ratio, reading_ratio
from tests.helpers.intervals import limits
from tests.helpers.results import small_result


def readings(*pairs: tuple[str, str]) -> EvaluationResult:
    """Return a result with a judgement for each pair of gold gender and reading."""
    judgements = []
    for i, (gold, read) in enumerate(pairs):
        verdict = "correct" if gold == read else "incorrect"
        judgements.append(Judgement(str(i), gold, gold == read, "", verdict, read, gold))
    return replace(small_result((0.5, 0.8)), judgements=tuple(judgements), n=len(judgements))


def test_the_ratio_of_accuracies_has_the_interval_of_a_bootstrap_within_genders() -> None:
    ratio = accuracy_ratio(small_result((0.5, 0.8)))
    assert ratio is not None
    assert ratio.value == pytest.approx(1.6)
    rng = np.random.default_rng(1)
    resampled = rng.binomial(10, 0.8, 100_000) / np.maximum(rng.binomial(10, 0.5, 100_000), 1)
    expected_low, expected_high = np.quantile(resampled, [0.025, 0.975])
    low, high = limits(ratio.interval)
    assert low == pytest.approx(expected_low, abs=0.15)
    assert high == pytest.approx(expected_high, rel=0.25)


def test_there_is_no_ratio_without_two_genders_or_a_right_female_sample() -> None:
    assert accuracy_ratio(small_result((0.0, 0.8))) is None
    only_male = replace(small_result((0.5, 0.8)), categories=())
    assert accuracy_ratio(only_male) is None
    assert reading_ratio(only_male) is None
    assert reading_ratio(readings(("male", "male"), ("female", "male"))) is None
    assert reading_ratio(readings(("bank", "male"), ("female", "female"))) is None


def test_the_ratio_of_readings_counts_what_is_read_whatever_is_right() -> None:
    ratio = reading_ratio(
        readings(("male", "male"), ("female", "male"), ("female", "female"), ("neutral", "male"))
    )
    assert ratio is not None
    assert ratio.value == 3


def test_readings_of_neutral_samples_are_shown_in_all_tables() -> None:
    result = readings(
        *[("neutral", "male")] * 6, *[("neutral", "")] * 2, ("male", "male"), ("female", "female")
    )
    shown = {row.label: (row.n, row.value) for row in figure_rows(result)}
    assert shown["neutral samples read as male"] == ("8", "75.0 (40.9 – 92.9)")
    assert shown["neutral samples read as nothing"] == ("8", "25.0 ( 7.1 – 59.1)")
    assert shown["ratio M:F, 1 is best"][1].startswith("×1.60 (")
    table = figures_table(build_report([System("a", {result.metric: result})]), result.metric)
    cells = {row.label: (row.note, row.cells[0].value, row.meaning) for row in table.rows}
    assert cells["neutral samples read as male"][:2] == ("n = 8", "75.0")
    assert cells["ratio M:F, 1 is best"][:2] == ("", "×1.60")
    assert all(cells[f.label][2] == f.meaning for f in derived_figures(result))
