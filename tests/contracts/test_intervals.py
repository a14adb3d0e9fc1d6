"""Confidence intervals and ties follow one rule in every statistic, metric, card and report."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from cc_hf import registry
from cc_hf.metrics.base import Metric
from cc_hf.plugins.leaderboard.html import result_html
from cc_hf.reports.figures import histograms
from cc_hf.reports.formats.latex import latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import intervals_text, result_table
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.statistics.agreement import kappa_interval
from cc_hf.statistics.bootstrap import MOST_UNDEFINED
from cc_hf.statistics.rank_correlation import rank_correlation
from tests.helpers.metric_rows import judged, row
from tests.helpers.usual import cases, printed

_N = 100
_Found = Interval | NoInterval


def _kappa(n_defined: int) -> _Found:
    rest = ["a"] * (_N - n_defined)
    return kappa_interval(["b"] * n_defined + rest, ["b", "a"] * (n_defined // 2) + rest)


def _correlation(n_defined: int) -> _Found:
    values = [1.0 + index for index in range(n_defined)] + [0.0] * (_N - n_defined)
    return rank_correlation(values, [value % 2 + value / 100 for value in values]).spearman_interval


@pytest.mark.parametrize("statistic", [_kappa, _correlation])
@cases((50, 0.0), (4, 0.017), (2, 0.133))
def test_undefined_resamples_are_excluded_and_counted(
    n_defined: int, share: float, statistic: Callable[[int], _Found]
) -> None:
    """The figure is undefined in a resample that contains none of the `n_defined` of 100 samples:
    in a share of (1 - n_defined / 100) ** 100 of the resamples.
    """
    actual = statistic(n_defined)
    assert actual.n_undefined == pytest.approx(1000 * share, abs=25)
    assert (actual.n_undefined > 0) == (share > 0)
    if share > MOST_UNDEFINED:
        assert isinstance(actual, NoInterval)
        share_undefined = f"undefined in {actual.n_undefined} of 1000 resamples, more than 5 %"
        assert actual.note == f"no interval: it is {share_undefined}"
    else:
        assert isinstance(actual, Interval)
        assert actual.low < actual.high
        assert (f"undefined in {actual.n_undefined} resamples" in actual.note) == (share > 0)


_CASES = {
    "one row": [(0, True)],
    "two rows": [(0, True), (1, False)],
    "all correct": [(index, True) for index in range(20)],
    "all wrong": [(index, False) for index in range(20)],
    "one category right, the other wrong": [(index, index % 2 == 0) for index in range(20)],
    "a category absent": [(2 * index, index % 3 == 0) for index in range(12)],
    "mixed": [(index, index % 5 > 1) for index in range(60)],
}


def _evaluated(metric: str, case: str) -> EvaluationResult:
    wanted = _CASES[case]
    if metric == "gender_quality_gap" and case in ("one row", "a category absent"):
        wanted = [(0, True), (1, True)]  # pairs are whole
    rows = [row(metric, index, is_right=is_right) for index, is_right in wanted]
    return judged(metric, [text for text, _ in rows], [r for _, r in rows], n_resamples=200)


#: not resampled
_WITHOUT = ("mean_confidence", "inconclusive_rate", "decided_accuracy_")


@pytest.mark.filterwarnings("ignore:none of .* translations was read as")
@pytest.mark.parametrize("metric", registry.METRICS)
@pytest.mark.parametrize("case", _CASES)
def test_intervals_have_width_or_state_a_reason(metric: str, case: str, tmp_path: Path) -> None:
    result = _evaluated(metric, case)
    for name, value in result.scores.items():
        interval = result.intervals.get(name)
        if interval is None:
            is_open = name.startswith(_WITHOUT) and metric != "simplegen_accuracy"
            assert is_open or name in result.no_interval, name
        else:
            assert interval.low < interval.high
            is_within = interval.low - 1e-12 <= value <= interval.high + 1e-12
            assert interval.method == "percentile" or is_within
    if case == "mixed":
        usual = {"accuracy", "bleu_male", "feminine_share", "recall", "masculine_rate"}
        assert usual & result.intervals.keys()
    assert EvaluationResult.from_json(result.to_json()) == result
    _check_shown(result, tmp_path)


def _check_shown(result: EvaluationResult, tmp_path: Path) -> None:
    """Check that table, reports and page show the result and what there is to say about its
    intervals.
    """
    report = build_report([ReportedSystem("a", {result.metric: result})], n_resamples=20)
    pages = [make(report) for make in (html_page, markdown_report, latex_report)]
    shown = [printed(result_table(result), width=400), *pages, result_html(result)]
    for text in set(result.interval_notes().values()):
        assert all(text.replace("%", r"\%") in page or text in page for page in shown), text
    declared: type[Metric] = registry.resolve("metric", result.metric)
    assert f"intervals {declared.interval_method}" in shown[0]
    assert escape(f"intervals {intervals_text([result.metric])}") in shown[4]
    if result.intervals:
        assert escape(declared.interval_method) in shown[1]


@pytest.mark.parametrize("metric", registry.METRICS)
def test_every_metric_counts_ties_as_its_signature_says(metric: str) -> None:
    declared: type[Metric] = registry.resolve("metric", metric)
    if not declared.takes_evaluator:
        assert _evaluated(metric, "mixed").ties is None
        return
    rows = [row(metric, index, is_right=True) for index in (0, 2, 4, 6)]
    ties: dict[str, Any] = {"evaluator": lambda sources, translations: [0.5] * len(sources)}
    result = judged(metric, [text for text, _ in rows], [r for _, r in rows], **ties)
    assert {judgement.verdict for judgement in result.judgements} == {result.ties}
    report = build_report([ReportedSystem("a", {metric: result})])
    assert f"4 of 4 judgements are ties, which count as {result.ties}" in report.unfit[0]
    for histogram in histograms(report, metric):  # none without probabilities
        n_right = sum(histogram.counts[len(histogram.counts) // 2 :])
        assert n_right == (4 if result.ties == "correct" else 0)
    assert f"which count as {result.ties}" in result_html(result)


@pytest.mark.parametrize("metric", registry.METRICS)
def test_every_metric_card_states_the_rule_for_intervals(metric: str, root: Path) -> None:
    card = " ".join((root / f"cards/metrics/{metric}.md").read_text(encoding="utf-8").split())
    declared: type[Metric] = registry.resolve("metric", metric)
    assert f"Intervals of 95 % are {declared.interval_method}." in card
    of_shares = _OF_SHARES if declared.judges else _OF_SHARES.partition(". ")[2]
    assert (_OF_BOOTSTRAP if "bootstrap" in declared.interval_method else of_shares) in card


_OF_BOOTSTRAP = (
    "Resamples in which a figure is undefined are dropped and counted. If they are more than 5 %,"
    " or if all resamples agree, the figure has no interval. `interval_notes` names every figure"
    " that this concerns."
)
_OF_SHARES = (
    "That of the minimum over categories covers at least 95 %. `interval_notes` names every figure"
    " without an interval, and why."
)
