"""Properties that hold for every registered metric."""

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cc_hf import registry
from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import InputError
from cc_hf.evaluation.judging import module_figures
from cc_hf.metrics.checks import optional_text, optional_texts
from cc_hf.metrics.figure_names import COMMON, figure_name
from cc_hf.plugins.leaderboard.store import without_translations
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.test_sets.gest.stereotype_rates.rates import masculine_rate
from tests.helpers.metric_rows import drawn_rows, drawn_scores, judged, row, swapped
from tests.helpers.usual import cases, metric_class, refuses, write_text

METRICS = sorted(registry.METRICS)
N = 12

pytestmark = pytest.mark.filterwarnings("ignore:none of .* translations was read as")


def rows_of(metric: str, n: int = N) -> tuple[list[str], list[dict[str, Any]]]:
    """Return rows of two categories, of which two in three are right."""
    pairs = [row(metric, index, is_right=index % 3 != 2) for index in range(n)]
    return [text for text, _ in pairs], [dict(reference) for _, reference in pairs]


def verdicts(result: EvaluationResult) -> list[tuple[str, str, str]]:
    return [(j.verdict, j.predicted, j.category) for j in result.judgements]


def without_ranks(result: EvaluationResult) -> dict[str, float]:
    """Return the figures without rank weights, which depend on the order where confidences are
    equal.
    """
    return {name: value for name, value in result.scores.items() if "weighted_" not in name}


# the rates of stereotype_rates are drawn to one half, the less the more rows there are
@pytest.mark.parametrize("metric", [name for name in METRICS if name != "stereotype_rates"])
def test_duplicated_rows_do_not_change_the_scores(metric: str) -> None:
    texts, references = rows_of(metric)
    again = [{**r, "pair": f"again {r['pair']}"} if r.get("pair") else r for r in references]
    plain = judged(metric, texts, references)
    doubled = judged(metric, texts * 2, references + again)
    assert verdicts(doubled) == verdicts(plain) * 2
    expected = without_ranks(plain)
    assert {name: doubled.scores[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert doubled.counts == {name: 2 * n for name, n in plain.counts.items()}


def test_rates_that_depend_on_the_number_of_rows_have_plain_shares_beside_them() -> None:
    texts, references = rows_of("stereotype_rates")
    once, twice = (judged("stereotype_rates", texts * n, references * n) for n in (1, 2))
    assert once.scores["masculine_rate_women"] != twice.scores["masculine_rate_women"]
    of_once, of_twice = (r.notes[-1].partition("Plain shares give")[2] for r in (once, twice))
    assert "masculine_rate_women 0." in of_once
    assert of_twice == of_once
    # as the card says of 1, 2 and 100 readings that are all feminine
    rates = masculine_rate(np.zeros(3), np.array([1.0, 2.0, 100.0]))
    assert rates.round(3).tolist() == [0.397, 0.329, 0.018]


@pytest.mark.parametrize("metric", [name for name in METRICS if metric_class(name).judges])
def test_each_verdict_depends_on_its_own_row(metric: str) -> None:
    texts, references = rows_of(metric)
    unpaired = [{**r, "pair": ""} if "pair" in r else r for r in references]
    alone = [judged(metric, [text], [r]) for text, r in zip(texts, unpaired, strict=True)]
    assert [verdicts(result)[0] for result in alone] == verdicts(judged(metric, texts, references))


SEEDS = range(3)
_FLIPPED = {"correct": "incorrect", "incorrect": "correct", "inconclusive": "inconclusive"}


def drawn(metric: str, seed: int, n_levels: int, rows: Any) -> EvaluationResult:
    options: dict[str, Any] = {"n_resamples": 2}
    if metric_class(metric).takes_evaluator:
        options["evaluator"] = drawn_scores(seed, n_levels=n_levels)
    return judged(metric, *rows, **options)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_rows_does_not_change_the_result(metric: str, seed: int) -> None:
    texts, references = drawn_rows(metric, seed, N)
    order = [(5 * index + seed) % N for index in range(N)]
    turned = [texts[i] for i in order], [references[i] for i in order]
    for n_levels in (4, 1 << 30):
        plain = drawn(metric, seed, n_levels, (texts, references))
        sample = drawn(metric, seed, n_levels, turned)
        expected = without_ranks(plain) if n_levels == 4 else plain.scores
        assert {n: sample.scores[n] for n in expected} == pytest.approx(expected, abs=1e-12)
        assert sample.counts == plain.counts
        assert n_levels == 4 or sample.categories == plain.categories
        assert [verdicts(plain)[i] for i in order if plain.judgements] == verdicts(sample)


@pytest.mark.parametrize("seed", SEEDS)
@cases(*(name for name in METRICS if swapped(name, dict(row(name, 0, is_right=True)[1]))))
def test_right_and_wrong_change_sides_with_the_references(metric: str, seed: int) -> None:
    texts, references = drawn_rows(metric, seed, N)
    other: list[Any] = [swapped(metric, reference) for reference in references]
    for n_levels in (4, 1 << 30):
        plain = drawn(metric, seed, n_levels, (texts, references))
        sample = drawn(metric, seed, n_levels, (texts, other))
        for before, after in zip(plain.judgements, sample.judgements, strict=True):
            p, q = before.probability_correct, after.probability_correct
            assert (p is None and q is None) or p + q == pytest.approx(1, abs=1e-12)  # type: ignore[operator]
            # how a tie counts is declared
            assert after.verdict == (before.verdict if p == 0.5 else _FLIPPED[before.verdict])
        undecided = sum(j.verdict == "inconclusive" for j in plain.judgements)
        n_ties = plain.counts.get("n_ties", 0)
        ties_right = n_ties if plain.ties == "correct" else 0
        n_right = N - undecided - plain.counts["n_correct"] + 2 * ties_right - n_ties
        assert sample.counts["n_correct"] == n_right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", [name for name in METRICS if metric_class(name).judges])
def test_files_that_are_judged_together_add_up(metric: str, seed: int) -> None:
    parts = [drawn_rows(metric, seed, N), drawn_rows(metric, seed + 9, N + 2, start=N)]
    whole = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
    first, second, both = (drawn(metric, seed, 5, rows) for rows in (*parts, whole))
    assert Counter(both.counts) == Counter(first.counts) + Counter(second.counts)
    accuracy = (first.scores["accuracy"] * N + second.scores["accuracy"] * (N + 2)) / (2 * N + 2)
    assert both.scores["accuracy"] == pytest.approx(accuracy, abs=1e-12)
    names = ("n", "n_correct", "n_ties", "n_inconclusive")

    def counted(result: EvaluationResult) -> Counter[tuple[str, str]]:
        return Counter({(c.category, n): getattr(c, n) for c in result.categories for n in names})

    assert counted(both) == counted(first) + counted(second)


@pytest.mark.parametrize("seed", SEEDS)
@cases(*(n for n in METRICS if metric_class(n).reference_fields.get("category") is optional_text))
def test_names_of_categories_change_the_names_of_figures_alone(metric: str, seed: int) -> None:
    texts, drawn_references = drawn_rows(metric, seed, N)
    references = [{"category": "ab"[index % 2], **r} for index, r in enumerate(drawn_references)]
    names = sorted({reference["category"] for reference in references} - {"none"})
    # their order is turned, too
    new = {name: f"{chr(122 - index)} new" for index, name in enumerate(names)} | {"none": "none"}
    renamed = [{**r, "category": new[r["category"]]} for r in references]
    plain = drawn(metric, seed, 5, (texts, references))
    sample = drawn(metric, seed, 5, (texts, renamed))
    expected = {}
    for figure, value in plain.scores.items():
        base, _, category = figure.rpartition("_")
        expected[f"{base}_{new[category]}" if category in new else figure] = value
    assert sample.scores == pytest.approx(expected, abs=1e-12)
    assert sample.counts == plain.counts


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", METRICS)
def test_a_file_proves_its_figures_with_translations_and_without(
    metric: str, seed: int, tmp_path: Path
) -> None:
    for n_levels in (4, 1 << 30):
        made = drawn(metric, seed, n_levels, drawn_rows(metric, seed, N))
        for result in (made, without_translations(made)):
            path = write_text(tmp_path / "r.json", ResultSet((result,)).to_json())
            assert read_result_file(path) == ResultSet((result,))


@pytest.mark.parametrize("metric", [name for name in METRICS if metric_class(name).judges])
def test_a_file_with_another_accuracy_than_its_judgements_is_refused(
    metric: str, tmp_path: Path
) -> None:
    result = drawn(metric, 0, 4, drawn_rows(metric, 0, N))
    forged = replace(result, scores={**result.scores, "accuracy": 0.999})
    path = write_text(tmp_path / "r.json", forged.to_json())
    refuses("scores: accuracy: the file says 0.999, its judgements give", read_result_file, path)


_ODD = {
    "direction marks": "\u200f\u05d0\u202b",
    "zero-width characters": "\u200bzero\u200dwidth\ufeff",
    "decomposed accents": "A\u0308rztin e\u0301",
    "line separators": "\u2028line\u2029paragraph\x85",
    "joined emoji": "\U0001f469\u200d\u2695\ufe0f",
    "control characters": "\u0600\u0000\x1b[31m",
    "full-width letters": "\uff21\uff22 \u00a0\u3000.",
    "ligatures": "\ufdfa" * 40,
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("text", _ODD.values(), ids=_ODD)
def test_texts_with_odd_characters_are_judged_and_kept_unchanged(metric: str, text: str) -> None:
    texts, references = rows_of(metric)
    if not metric_class(metric).takes_translations:
        references[0] = {**references[0], "source": text}
    texts[0] = text = f"{text} a b"
    result = judged(metric, texts, references)
    assert result.n == N
    assert EvaluationResult.from_json(result.to_json()) == result
    if result.judgements and metric_class(metric).takes_translations:
        assert result.judgements[0].translation == text
    assert verdicts(result)[1:] == verdicts(judged(metric, *rows_of(metric)))[1:]


@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_a_single_category_give_finite_scores(metric: str) -> None:
    texts, references = rows_of(metric)
    if metric != "gender_quality_gap":  # whose pairs have both
        texts, references = texts[::2], references[::2]
    result = judged(metric, texts, references)
    assert all(math.isfinite(value) for value in result.scores.values())
    assert all(category.n > 0 for category in result.categories)
    assert len(result.categories) == (1 if metric_class(metric).judges else 0)


_WRONG: tuple[Any, ...] = (None, 3, 2.5, True, b"bytes", "", " ", "\ud800", [], ["\ud800"], [3], {})


def refusal(metric: str, texts: list[str], references: list[dict[str, Any]]) -> str:
    """Return the message of the error, or "" if the rows are judged."""
    try:
        judged(metric, texts, references)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("metric", METRICS)
def test_every_bad_value_of_a_reference_is_refused_naming_its_row(metric: str) -> None:
    texts, references = rows_of(metric, 4)
    for key, read in metric_class(metric).reference_fields.items():
        may_be_absent = read in (optional_text, optional_texts)
        rest = {name: value for name, value in references[1].items() if name != key}
        values = [v for v in _WRONG if not may_be_absent or v not in (None, "", " ", [])]
        for wrong in [{**rest, key: value} for value in values] + [rest] * (not may_be_absent):
            if message := refusal(metric, texts, [references[0], wrong, *references[2:]]):
                assert "row 1" in message, (key, wrong.get(key), message)
            else:
                # this field may hold an integer or a blank text
                assert read(wrong[key], "row 1") == wrong[key], (key, wrong[key])


@cases(*(name for name in METRICS if metric_class(name).takes_translations))
def test_bad_translations_are_refused_naming_their_row(metric: str) -> None:
    texts, references = rows_of(metric, 4)
    blank = [] if metric_class(metric).is_blank_allowed else ["", " "]
    for value in (None, 3, b"bytes", ["a"], "\ud800", *blank):
        wrong: list[Any] = [*texts]
        wrong[1] = value
        refuses("row 1", judged, metric, wrong, references)
    refuses(r"4 references|3 predictions", judged, metric, texts[:3], references)
    refuses("nothing to judge", judged, metric, [], [])


@pytest.mark.parametrize("metric", METRICS)
def test_an_unknown_option_is_refused_by_name(metric: str) -> None:
    refuses(
        r"unknown option of the metric .* 'colour'",
        judged,
        metric,
        *rows_of(metric, 2),
        colour="red",
    )


@pytest.mark.parametrize("metric", METRICS)
def test_sources_beside_the_references_are_refused_with_their_home(metric: str) -> None:
    refuses(
        r"option of .*'sources'.* are part of the references",
        module_figures,
        metric_class(metric),
        *rows_of(metric, 2),
        {"sources": []},
    )


@pytest.mark.parametrize("metric", METRICS)
def test_every_figure_declares_where_it_is_best(metric: str) -> None:
    """Ranks, orders, bold type and colours come from this declaration."""
    declared = metric_class(metric)
    neither_good_nor_bad = {"mean_confidence", "first_rate", "mixed", "both", "stereotype_gap"}
    open_shares = re.compile(r"\w+_share|feminine_share_\w+|\w+_by_people|masculine_rate\w*")
    for name in judged(metric, *rows_of(metric)).scores:
        known = figure_name(declared.figure_names, name)
        assert known != figure_name({}, name), f"{name} is not declared"
        is_share = name in neither_good_nor_bad or open_shares.fullmatch(name) is not None
        assert (known.best == "none") == is_share, name
        assert (known.best == "zero") == (name in declared.differences() or name == "position_gap")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_and_figure_has_a_name_and_a_meaning(metric: str, root: Path) -> None:
    """Labels and tooltips come from these declarations, and the card has the same names."""
    declared = metric_class(metric)
    card = (root / f"cards/metrics/{metric}.md").read_text(encoding="utf-8")
    title = card.partition("\ntitle: ")[2].partition("\n")[0].partition(" (")[0]
    assert declared.title.casefold() == title.casefold()
    assert re.fullmatch(r"[A-Z].*\.", declared.about)
    for name in judged(metric, *rows_of(metric)).scores:
        figure = figure_name(declared.figure_names, name)
        assert "_" not in figure.label
        assert re.fullmatch(r"(?:[A-Z]|chrF).*\.", figure.meaning), name
        assert ("0 is best" in figure.label) == (figure.best == "zero")
    for name in declared.figure_names:
        if not name.startswith("min_") and name not in COMMON:  # the card describes the minima
            assert re.sub(r"_(\*|pro|anti)$", "", name) in card, name
