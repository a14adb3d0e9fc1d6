from dataclasses import replace
from typing import Any

import pytest

from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.errors import UnknownNameError
from cc_hf.plugins.seeds.seeds import average_results
from cc_hf.plugins.seeds.system_rows import (
    SystemLabels,
    SystemRow,
    mean_rows,
    ordered_sizes,
    system_rows,
)
from cc_hf.plugins.seeds.table import systems_tables
from cc_hf.plugins.seeds.timings import Timing, Timings
from cc_hf.statistics.gender_ratios import RATIO
from tests.helpers.metrics import simplegen
from tests.helpers.usual import cases, fails, printed, refuses, small_result

#: The worst category is another one for each seed.
_TWO = {"1": (0.5, 0.9), "2": (0.9, 0.6)}
SEEDS = [(f"base-seed{n}", small_result(both, system=f"s{n}")) for n, both in _TWO.items()]


def test_rows_have_labels_by_name_with_or_without_seed_or_by_pattern() -> None:
    groups, sizes = {"b*": "ours", "other": "theirs"}, {"base-seed2": "12M", "base": "6M"}
    labels = SystemLabels(groups, sizes, ["base"])
    rows = system_rows([*SEEDS, ("other", small_result((0.5, 0.5)))], labels=labels)
    shown = [(r.system, r.seed, r.group, r.size, r.is_seqkd) for r in rows]
    of_base = [("base", "1", "ours", "6M", True), ("base", "2", "ours", "12M", True)]
    assert shown == [*of_base, ("other", "", "theirs", "", False)]
    assert rows[0].figures["accuracy_female"] == 0.5
    sizes_of_all = {"n": 40, "n_female": 20, "n_male": 20}
    assert rows[0].counts == {**sizes_of_all, "n_correct": 28, "n_inconclusive": 0, "n_ties": 0}


def test_figures_are_named_by_what_differs() -> None:
    winomt, mucow = small_result((0.5, 0.5)), small_result((0.7, 0.7), dataset="mucow")
    for first, second, name in (
        (winomt, mucow, "winomt:accuracy"),
        (mucow, winomt, "mucow:accuracy"),
        (winomt, replace(winomt, metric="other"), "contrastive_conditioning:accuracy"),
        (winomt, replace(winomt, config="pro"), "default:accuracy"),
    ):
        (row,) = system_rows([("a", first), ("a", second)])
        assert row.figures[name] == first.scores["accuracy"]
    # A configuration that goes with the target language says nothing more.
    rows = system_rows([("a", winomt), ("a", replace(winomt, config="ru", tgt_lang="ru"))])
    assert [(r.tgt_lang, "accuracy" in r.figures) for r in rows] == [("de", True), ("ru", True)]


def test_minima_and_differences_come_from_averaged_accuracies() -> None:
    (mean,) = mean_rows(system_rows(SEEDS))
    assert mean.seeds == ("1", "2")
    assert mean.figures["min_accuracy"].mean == pytest.approx(0.7)
    assert mean.figures["min_accuracy"].values == (0.5, 0.6)
    assert mean.figures["accuracy"].sd == pytest.approx(0.05 / 2**0.5)
    assert mean.intervals == {}
    (single,) = mean_rows(system_rows(SEEDS[:1]))
    of_categories = {"accuracy_female", "accuracy_male", "min_accuracy"}
    assert single.intervals.keys() == {"accuracy", *of_categories}


def test_bleu_and_times_are_averaged_if_all_seeds_have_them() -> None:
    quality = QualityScores({("base-seed1", "", ""): 0.3, ("base-seed2", "", ""): 0.32})
    timings = Timings({"base-seed1": Timing(2.0)})
    (mean,) = mean_rows(system_rows(SEEDS, quality=quality, timings=timings))
    assert mean.bleu is not None
    assert mean.bleu.mean == pytest.approx(0.31)
    assert mean.seconds is None
    assert mean.incomplete == {"seconds": 1}


def test_sizes_are_in_the_order_of_numbers_or_of_the_options() -> None:
    rows = [SystemRow(name, "", "de", size=name) for name in ("small", "big", "mini", "big")]
    assert ordered_sizes(rows) == ["small", "big", "mini"]
    assert ordered_sizes(rows, ["big", "huge", "small"]) == ["big", "small", "mini"]
    rows = [SystemRow(size, "", "de", size=size) for size in ("9.5M", "900k", "10")]
    assert ordered_sizes(rows, ["9.5M"]) == ["10", "900k", "9.5M"]


@cases(
    ({"labels": SystemLabels({"bas": "x"})}, ".of a group. 'bas'; did you mean 'base'"),
    ({"labels": SystemLabels(sizes={"x*": "1"})}, ".of a size. 'x.'"),
    ({"labels": SystemLabels(seqkd=["base-seed3"])}, ".of seqkd. 'base-seed3'"),
    ({"timings": Timings({"base": Timing(1.0)})}, ".of a time. 'base'"),
    ({"quality": QualityScores({("base", "", ""): 0.3})}, ".of a BLEU. 'base'"),
)
def test_labels_and_figures_of_unknown_systems_are_refused(options: Any, message: str) -> None:
    fails(UnknownNameError, f"unknown system {message}", system_rows, SEEDS, **options)


def test_rows_that_cannot_be_told_apart_are_refused() -> None:
    for rows, message in (
        ([], "at least one, got none"),
        ([SEEDS[0], SEEDS[0]], "base-seed1: expected one result by contrastive_cond"),
        ([SEEDS[0], ("base_seed1", SEEDS[1][1])], "got seed '1' under two names"),
    ):
        refuses(message, system_rows, rows)
    quality = QualityScores({("a", "winomt", ""): 0.3, ("a", "mucow", ""): 0.4})
    both = [("a", small_result((0.5, 0.5), dataset=name)) for name in ("winomt", "mucow")]
    refuses("a: expected one figure for all datasets", system_rows, both, quality=quality)


def test_seeds_that_differ_in_more_than_the_seed_are_refused() -> None:
    rows = system_rows(SEEDS, labels=SystemLabels(sizes={"base-seed1": "1M", "base-seed2": "2M"}))
    refuses("the same size for all seeds, got '1M' for seed '1'", mean_rows, rows)
    ways = Timings({name: Timing(1.0, beams=n) for n, (name, _) in enumerate(SEEDS, 1)})
    refuses("the same way of timing for all seeds", mean_rows, system_rows(SEEDS, timings=ways))
    refuses(
        "base: the results 1 and 2 are the same",
        mean_rows,
        system_rows([SEEDS[0], ("base-seed2", SEEDS[0][1])]),
    )


def test_deltas_come_from_averaged_accuracies_with_inconclusive_rates() -> None:
    average = average_results([simplegen((9, 8, 3, 4)), simplegen((8, 9, 5, 2))], system="base")
    figures = {name: figure.mean for name, figure in average.figures.items()}
    assert figures["accuracy_pro"] == pytest.approx((17 + 17) / 40)
    assert figures["accuracy_anti"] == pytest.approx((7 + 7) / 40)
    assert figures["delta"] == pytest.approx(20 / 40)
    assert figures["delta_fc"] == pytest.approx((17 - 8) / 20)
    assert figures["inconclusive_rate_pro"] == figures["inconclusive_rate_anti"] == 0.1
    # The worst category is another one for each seed: .3 and .2, but .3 on average.
    assert figures["min_accuracy"] == pytest.approx(0.3)
    assert (average.figures["min_accuracy"].values, average.n_seeds) == ((0.3, 0.2), 2)


def test_the_ratio_is_that_of_averaged_accuracies() -> None:
    figure = average_results(
        [small_result((0.5, 0.9), system="s1"), small_result((0.9, 0.6), system="s2")]
    ).figures[RATIO]
    assert figure.mean == pytest.approx(0.75 / 0.7)
    assert figure.values == pytest.approx((1.8, 0.6 / 0.9))


def test_a_system_that_judged_itself_is_said_to_beside_its_means() -> None:
    result = small_result((0.5, 0.9), system="a@3/beam1", fields="|eval:a@2")
    shown = systems_tables(mean_rows(system_rows([("base", result)])), ["accuracy"])
    assert "not fit to cite: base: judged by itself: a is the system" in printed(shown)


def test_what_is_not_one_system_is_refused() -> None:
    first, other = (small_result((0.5, 0.9), system=name) for name in "ab")
    changed = replace(other, signature=f"{other.signature}|score:arithmetic")
    for results, message in (
        ([first, other, first], "base: the results 1 and 3 are the same"),
        ([first, changed], "got score 'none' of seed 1 and 'arithmetic' of seed 2"),
        (
            [first, replace(first, dataset="mucow")],
            "expected results of all seeds on the same data",
        ),
        ([first, replace(first, metric="own")], "expected results of one metric, got"),
        ([], "at least one seed, got none"),
    ):
        refuses(message, average_results, results, system="base")


def test_evaluators_that_are_judged_themselves_are_seeds_of_one_system() -> None:
    scoring = {"metric": "contrastive_translation_scoring", "system": "scored"}
    fields = [f"|eval:model-{i}@1|score:perplexity" for i in (0, 1)]
    results = [small_result((0.5, 0.9), fields=field, **scoring) for field in fields]
    assert average_results(results).n_seeds == 2


def test_figures_that_some_seeds_lack_are_named() -> None:
    first = small_result((0.5, 0.9), system="a")
    fewer = {name: value for name, value in first.scores.items() if name != "delta_x"}
    other = replace(small_result((0.6, 0.9), system="b"), scores=fewer)
    assert average_results([first, other], system="base").undefined == {"delta_x": 1}
