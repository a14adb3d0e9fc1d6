from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from cc_hf.metrics.summary import summarize
from cc_hf.reports.findings import findings, most_split, splits
from cc_hf.reports.highlights import Attribute, attributes
from cc_hf.reports.page.page import _split_charts
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import System
from cc_hf.results import Interval
from tests.helpers import reported
from tests.helpers.cases import cases
from tests.helpers.judged import judgement, result_of

VALUES = ("driver", "nurse", "cook", "clerk", "chief", "guard", "tailor")
CATEGORIES, N = ("female", "male"), 20


def made_report(*systems: dict[tuple[str, str], int], n: int = N) -> tuple[Report, Attribute]:
    """Return a report of systems that have, of `n` samples of each value and category, all right
    but the given number, and its attribute.
    """
    cells, made = [(v, c, k) for v, c in product(VALUES, CATEGORIES) for k in range(n)], []
    for name, right in zip("abc", systems, strict=False):
        rows = [(v, c, k, k < right.get((v, c), n)) for v, c, k in cells]
        said = ("incorrect", "correct")
        judgements = [judgement(i, said[r], f"{v} {k}", c) for i, (v, c, k, r) in enumerate(rows)]
        categories = summarize(judgements).categories
        lowest = min(c.accuracy for c in categories)
        interval = Interval(lowest - 0.02, lowest + 0.02)
        figures = {"scores": {"min_accuracy": lowest}, "intervals": {"min_accuracy": interval}}
        own = {"dataset": "", "config": "", "signature": f"m|data:own@1|n:{len(rows)}"}
        result = result_of(judgements, **own, **figures, categories=categories)
        made.append(System(name, {"m": result}))
    return build_report(made, n_resamples=5), Attribute("occupation", tuple(v for v, _, _ in cells))


def test_sentences_are_made_where_the_intervals_bear_them() -> None:
    weak = {("driver", "female"): 0, ("nurse", "female"): 10, ("cook", "female"): 5}
    report, occupation = made_report(weak, {("driver", "female"): 6})
    assert findings(report, most_split(report, [occupation])) == [
        "b is best by minimum accuracy, the accuracy on the worst category (m): 90.0 (88.0 – 92.0) %;"
        " a has 67.9 (65.9 – 69.9) %.",
        "With every system, women are translated right less often than men: by 10.0 points with b"
        " to 32.1 points with a.",
        "“driver”: a has 0 of 20 women right, and 20 of 20 men.",
    ]
    assert len(findings(report, None)) == 2
    alike, occupation = made_report(weak, {**weak, ("chief", "male"): 19})
    first, *_ = findings(alike, most_split(alike, [occupation]))
    assert first.endswith("but their intervals overlap.")


# a small gap, none, and few samples of a value
@cases(({("driver", "female"): 17}, N), ({}, N), ({("driver", "female"): 0}, 5))
def test_what_intervals_do_not_bear_is_not_said(right: dict[tuple[str, str], int], n: int) -> None:
    report, occupation = made_report(right, n=n)
    assert "driver" not in "".join(findings(report, most_split(report, [occupation])))


def test_values_are_split_by_category_with_the_widest_first() -> None:
    report, occupation = made_report({("driver", "female"): 0, ("nurse", "male"): 5})
    [shown] = splits(report, "m", occupation).values()
    first = [(s.value, s.spread.lowest.name, s.spread.gap) for s in shown[:3]]
    assert first == [("driver", "female", 1.0), ("nurse", "male", 0.75), ("chief", "male", 0.0)]
    assert len(shown) == len(VALUES)
    assert most_split(report, []) is None
    [(caption, chart)] = _split_charts(report, most_split(report, [occupation]))
    assert caption.startswith("a: where categories differ most, by occupation")
    assert chart.count(">0/20<") == 1
    assert "#samples?wrong=a&amp;data.occupation=driver&amp;category=female" in chart
    # nothing is wrong with the men, so their mark opens nothing
    assert "data.occupation=driver&amp;category=male" not in chart


def test_metrics_that_are_not_fit_say_nothing() -> None:
    report = reported.report()

    def unfit(results: Any) -> Any:
        return {m: replace(r, counts={"n_ties": r.n}) for m, r in results.items()}

    systems = [replace(s, results=unfit(s.results)) for s in report.systems]
    weak = build_report(systems, examples=reported.examples(), n_resamples=5)
    assert findings(weak, most_split(weak, attributes(weak))) == []
    figures = build_report([System("a", {"m": result_of((), scores={"accuracy": 0.5})})])
    assert most_split(figures, []) is None


@pytest.mark.parametrize("corrected", [False, True])
def test_verdicts_that_are_not_fit_say_nothing_beside_those_that_are(corrected: bool) -> None:
    weak = {("driver", "female"): 0, ("nurse", "female"): 10, ("cook", "female"): 5}
    report, occupation = made_report({("driver", "female"): 6}, weak)
    first, second = report.systems
    result = replace(second.results["m"], counts={"n_ties": 100})
    if corrected:  # by people, so that the corrected figure is fit, and the verdicts are not
        signed = result.signature.replace("|n:", "|trusted:people/n50|n:")
        scores = {**result.scores, "corrected_min_accuracy": 0.6}
        result = replace(result, signature=signed, scores=scores)
    report = build_report([first, replace(second, results={"m": result})], n_resamples=5)
    table = most_split(report, [occupation])
    assert table is not None
    assert list(table.by_system) == [0]
    assert findings(report, table) == [
        "Women are translated right less often than men: by 10.0 points with a.",
        "“driver”: a has 6 of 20 women right, and 20 of 20 men.",
    ]
    alone = build_report([replace(second, results={"m": result})], n_resamples=5)
    assert findings(alone, most_split(alone, [occupation])) == []
