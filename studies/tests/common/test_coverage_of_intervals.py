from collections import defaultdict

import numpy as np

from benchmarks.coverage_of_intervals import CASES, CONSERVATIVE, Coverage, page, simulate
from cc_hf.statistics.bootstrap import Bootstrap


def test_intervals_cover_what_they_promise_and_tests_reject_no_more_than_they_say() -> None:
    """In all cases of each figure, within 2.5 standard errors of the simulation."""
    by_figure: dict[str, list[Coverage]] = defaultdict(list)
    for case in CASES:
        for row in simulate(case, n_runs=60, bootstrap=Bootstrap(n_resamples=300)):
            by_figure[row.figure].append(row)
    for figure, rows in by_figure.items():
        n = sum(row.n for row in rows)
        rate = sum(row.rate * row.n for row in rows) / n
        margin = 2.5 * np.sqrt(0.05 * 0.95 / n)
        if rows[0].width is None:
            assert rate <= 0.05 + margin, figure
        else:
            assert rate >= 0.93 - margin, figure
            assert rate <= 0.99 + margin or figure.startswith(CONSERVATIVE), figure
    text = page([row for rows in by_figure.values() for row in rows], n_runs=60)
    assert text.count("\n| ") == len(by_figure) + 2
