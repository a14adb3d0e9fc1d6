import pytest

from cc_hf.statistics.seeds import average_over_seeds

ROWS = [
    {"a": 0.9, "b": 0.5, "delta": 0.4, "min": 0.5, "bleu": 0.3},
    {"a": 0.5, "b": 0.7, "delta": -0.2, "min": 0.5, "bleu": 0.32},
    {"a": 0.7, "b": 0.6, "delta": 0.1, "min": 0.6},
]


def test_minima_and_ratios_are_computed_from_averages_and_not_averaged() -> None:
    figures = average_over_seeds(
        ROWS,
        differences={"delta": ("a", "b"), "unknown": ("a", "b")},
        minima={"min": ("a", "b")},
        ratios={"ratio": ("a", "b"), "other": ("a", "unknown")},
    )
    assert figures["min"].mean == pytest.approx(0.6)  # the mean of minima is 0.533
    assert figures["ratio"].mean == pytest.approx(0.7 / 0.6)  # the mean of ratios is 1.227
    assert figures["ratio"].values == pytest.approx((1.8, 0.5 / 0.7, 0.7 / 0.6))
    assert figures["delta"].mean == pytest.approx(0.1)
    assert list(figures) == ["a", "b", "delta", "min", "ratio"]  # bleu is not known for all


def test_the_deviation_is_that_of_a_sample() -> None:
    figures = average_over_seeds(ROWS)
    assert figures["a"].sd == pytest.approx(0.2)
    assert figures["a"].values == (0.9, 0.5, 0.7)
    assert average_over_seeds(ROWS[:1])["a"].sd is None
    rows = [{"a": 0.5, "b": 0.0}, {"a": 0.5, "b": 0.5}]  # a ratio to zero is left out
    assert "ratio" not in average_over_seeds(rows, ratios={"ratio": ("a", "b")})
