from dataclasses import replace

import pytest

from cc_hf.comparing.seeds import average_results
from cc_hf.comparing.system_rows import mean_rows, system_rows
from cc_hf.reports.tables.systems import systems_tables
from cc_hf.statistics.gender_figures import RATIO
from tests.helpers.metrics import simplegen
from tests.helpers.refusals import refuses
from tests.helpers.results import small_result
from tests.helpers.terminal import printed


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
    results = [small_result((0.5, 0.9), system="s1"), small_result((0.9, 0.6), system="s2")]
    figure = average_results(results).figures[RATIO]
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
