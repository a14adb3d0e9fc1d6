"""Every public function of the statistics refuses values of wrong types and shapes."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from cc_hf_studies import common
from sacrebleu.metrics.bleu import BLEU

from cc_hf import statistics
from cc_hf.errors import InputError
from cc_hf.results import CategoryAccuracy, EvaluationResult, Interval
from cc_hf.statistics.score_intervals import estimate_share

_NAN, _INF = float("nan"), float("inf")
_OBJECTS = np.array([None, 1.5], dtype=object)
_NO_LIST = (None, 3, 2.5, True, "ab", b"ab", object(), {"a": 1}, {1.0}, iter([1, 2]))
_NO_NUMBER: tuple[Any, ...] = (None, "1", b"1", [], [1, 2], _NAN, object())
_NO_NUMBERS: tuple[Any, ...] = (
    *(*_NO_LIST, [], ["1", "2"], [None, 1], [1j, 2], [10**400, 1]),
    *([[1], [1, 2]], [[[1]], [[2]]], _OBJECTS),
)
#: Kind of a parameter -> values that none of that kind may have.
WRONG: dict[str, tuple[Any, ...]] = {
    "numbers": (*_NO_NUMBERS, [_NAN, 1.5], [_INF, 1], [True, False], [[1, 2], [3, 4]]),
    "figures": _NO_NUMBERS,  # NaN where a figure is undefined
    "columns": (*_NO_NUMBERS, [[_NAN]], [1, 2]),
    "counts": (*_NO_NUMBERS, [1.5, 2.5], [-1, 1], [_NAN, 1], [True, False]),
    "flags": (*_NO_NUMBERS, [0, 1], [0.5, 1], [[True], [False]]),
    "rows of flags": (*_NO_NUMBERS, [[0, 1], [1, 1]], [[True], [False]], [True, False]),
    "labels": (*_NO_LIST[:-1], [], [["a"], ["b"]], [{}, {}], [_NAN, _NAN]),
    "texts": (*_NO_LIST[:-1], [], [1, 2], [None, "a"], [["a"], ["b"]], _OBJECTS),
    "groups": (*(value for value in _NO_LIST if value is not None), [["a"], ["b"]], ["a"]),
    "mapping": (None, 3, 2.5, True, "ab", ["a"], object(), {"a": None}, {"a": "b"}, {"a": 5}),
    "number": (*_NO_NUMBER, True, -1, _INF, 10**400),
    "level": (*_NO_NUMBER, True, 0, 1, -0.5, _INF, 10**400),
    "count": (*_NO_NUMBER, True, -1, 1.5, 10**400),
    "name": (None, 3, True, "unknown", ["bleu"], object()),
    "object": (None, 3, "ab", [1], {"a": 1}, object()),
    "named": (None, 3, "ab", [1], object()),
    "rows of labels": (*_NO_LIST[:-1], [], [1, 2], [None, "a"], [[["a"]], [["b"]]], _OBJECTS),
}

_X, _Y = [1.0, 2.0, 4.0, 3.0], [2.0, 1.0, 3.0, 5.0]
_FLAGS = np.array([True, False])
_AB = ["a", "b"]
_RESULT = EvaluationResult("", "", "de", "own", "own|n:20", 20, {}, {}, (), ())
_SHARE = estimate_share(np.arange(20) < 9, np.ones(20))
_GROUPS = {"groups": ({"both": ("a", "b")}, "")}
_PAIRED = {"left": (_X, "numbers"), "right": (_Y, "numbers")}
_SHARES = {"first": (_SHARE, "object"), "second": (_SHARE, "object")}
_COLUMNS = {"first": ([[1.0], [2.0]], "columns"), "second": ([[1.0], [3.0]], "columns")}
_SEPARATED = {"values": ([1.0, 2.0], "numbers"), "is_first": (_FLAGS, "flags")}
#: Name of a parameter -> a value that is right and its kind, where OTHERS says nothing else.
USUAL: dict[str, tuple[Any, str]] = {
    "is_correct": (_FLAGS, "flags"),
    "categories": (_AB, "texts"),
    "weights": (np.array([1, 2]), "counts"),
    "level": (0.9, "level"),
    "probability_correct": ([0.9, 0.1], "numbers"),
    "left": (_AB, "labels"),
    "right": (_AB, "labels"),
    "groups": (_AB, "groups"),
    "labels": (_AB, "groups"),
    "n_resamples": (9, "count"),
    "seed": (0, "count"),
    "parts": ([1.0, 0.5], "figures"),
    "intervals": ({"a": Interval(0, 1)}, "named"),
    "columns": ([[1.0], [2.0]], "columns"),
    "strata": (_AB, "groups"),
    "trusted": (np.array([1.0, np.nan, 0, 1]), "figures"),
    "inclusion": (np.full(4, 0.5), "columns"),
    "references": (_AB, "texts"),
    "translations": (_AB, "texts"),
    "scorer": (BLEU(), ""),
    "result": (_RESULT, "object"),
    "first": (_X, "numbers"),
    "second": (_Y, "numbers"),
    "units": (_AB, "groups"),
    "figures": (lambda parts: {"a": next(iter(parts.values()))[:, 0]}, "object"),
    "wholes": ([1.0, 2.0], "figures"),
    "codes": (np.array([0, 1]), "counts"),
    "is_inconclusive": (_FLAGS, "flags"),
}


#: Function -> its parameters without a usual value, or with another one than that.
OTHERS: dict[str, dict[str, tuple[Any, str]]] = {
    "accuracy.accuracy_estimates": _GROUPS,
    "accuracy.min_accuracy": {
        "categories": ([CategoryAccuracy("a", 1, 1, 1.0)], "texts"),
        "weighted": (False, ""),
    },
    "accuracy.share": {"correct": (1.0, "number"), "incorrect": (1.0, "number")},
    "agreement.agreement_interval": {"weights": (None, "")},
    "agreement.f_scores": {"table": (np.ones((2, 2), dtype=int), "counts")},
    "agreement.krippendorff_alpha": {"labels": ([_AB, _AB], "rows of labels")},
    "agreement.mean_kappa": {"labels": ([_AB, _AB], "rows of labels")},
    "agreement.proportion_of_agreement": {"weights": ([1.0, 2.0], "numbers")},
    "bands.holm": {"p_values": ([0.5, 0.1], "columns")},
    "bands.standings": {
        "correct": (np.array([[True, False], [True, True]]), "rows of flags"),
        "categories": (None, ""),
    },
    "bands.standings_of": {"values": ([0.5, 0.1], "numbers"), "p_of": (lambda i, j: 0.5, "object")},
    "bootstrap.percentile_interval": {"values": (np.arange(9.0), "figures")},
    "bootstrap.whole_groups": {
        "values": (np.ones((2, 1)), ""),
        "names": (_AB, ""),
        "groups": (_AB, ""),
    },
    "correction.corrected_accuracies": {
        "judged": (np.ones(2), "figures"),
        "trusted": (np.array([1.0, np.nan]), ""),
        "inclusion": (None, ""),
        **_GROUPS,
    },
    "correction.corrected_share": {"judged": (np.ones(4), "figures")},
    "correction.labels_needed": {
        "judged": (np.array([1.0, 1, 0, 1]), "figures"),
        "width": (0.2, ""),
    },
    "correction.transferred_share": {
        "judged": (np.array([7, 3]), "counts"),
        "labels": (np.array([[9, 1], [2, 8]]), "columns"),
    },
    "corpus_quality.corpus_score": {
        "name": ("bleu", "name"),
        "tokenize": (None, ""),
        "tgt_lang": ("", ""),
    },
    "corpus_quality.points": {"score": (0.5, "number")},
    "corpus_quality.score_of_sums": {"name": ("bleu", "")},
    "corpus_quality.scorers": {"tokenize": ("13a", ""), "tgt_lang": ("", "")},
    "corpus_quality.scores_of_statistics": {"sums": ([[1.0] * 10], "columns")},
    "gender_ratios.ratio_of_estimates": {"estimates": ({}, "mapping")},
    "paired.difference_interval": _SHARES,
    "paired.estimated_difference": _SHARES,
    "paired.estimated_differences": {
        "first": ({"accuracy": _SHARE}, "named"),
        "second": ({"accuracy": _SHARE}, "named"),
        "counted": (_AB, ""),
    },
    "paired.f1_differences": {
        "gold": (_AB, "texts"),
        "predicted": ([_AB, ["b", "b"]], "rows of labels"),
        "labels": (_AB, "texts"),
    },
    "paired.figure_differences": _COLUMNS,
    "paired.mcnemar": {"first": (_FLAGS, "groups"), "second": (_FLAGS, "groups")},
    "paired.paired_differences": {
        "correct": (np.array([[True, False], [True, True]]), "rows of flags"),
        "weights": (np.array([[1, 2], [2, 1]]), "columns"),
        "inconclusive": (np.zeros((2, 2), dtype=np.bool_), "rows of flags"),
    },
    "pearson.pearson_correlation": _PAIRED,
    "randomization.exchange_p": {"first": (_FLAGS, "flags"), "second": (_FLAGS, "flags")},
    "randomization.exchange_tests": _COLUMNS,
    "randomization.minimum_p": {"first": (_FLAGS, "flags"), "second": (_FLAGS, "flags")},
    "rank_correlation.checked_figures": _PAIRED,
    "rank_correlation.rank_correlation": _PAIRED,
    "rank_tests.effect_thresholds": {"base_rate": (0.5, "level")},
    "regression.least_squares": {
        "dependent": (("y", _Y), "object"),
        "independents": ({"x": _X}, "mapping"),
    },
    "separation.auc": _SEPARATED,
    "separation.auc_interval": _SEPARATED,
    "separation.reported_half": {"sentences": (_AB, "")},
    "seeds.average_over_seeds": {
        "rows": ([{"a": 1.0, "b": 2.0}], "texts"),
        "differences": ({"a": ("a", "b")}, "object"),
        "minima": ({"a": ("a", "b")}, "object"),
        "ratios": ({"c": ("a", "b")}, "object"),
    },
    "seeds.seed_figure": {"values": (_X, "numbers")},
    "score_intervals.difference": _SHARES,
    "score_intervals.estimate_share": {"strata": (_AB, "texts")},
    "score_intervals.lowest": {"shares": ([_SHARE], "texts")},
    "score_intervals.ratio": _SHARES,
    "score_intervals.share_interval": {"strata": (_AB, "texts")},
    "score_intervals.wilson_interval": {"part": (1, "number"), "whole": (2, "number")},
    "shares.part_shares": {
        "is_one": (_FLAGS, "flags"),
        "parts": ([_FLAGS, ~_FLAGS], "rows of flags"),
    },
    "shares.wilson_share": {"k": (1, "number"), "n": (2, "number")},
    "weighted_kappa.weighted_kappa": {"weights": ("linear", "name")},
    "shares.quotients": {"parts": (_X, "figures"), "wholes": (_Y, "figures")},
}
_OPTIONAL = (
    "codes",
    *("weights", "inconclusive", "inclusion", "is_inconclusive", "units", "groups", "labels"),
    *("strata", "differences", "minima", "ratios"),
)


#: Statistics that studies share.
_SHARED = ("mean_tests", "pearson", "rank_tests", "weighted_kappa")


def imported(module: str) -> ModuleType:
    package = common if module in _SHARED else statistics
    return import_module(f"{package.__name__}.{module}")


def function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(".")
    actual: Callable[..., Any] = getattr(imported(module), attribute)
    return actual


def public() -> Iterator[str]:
    for module in (*_SHARED, *(m.name for m in pkgutil.iter_modules(statistics.__path__))):
        named = imported(module)
        for name in getattr(named, "__all__", ()):
            if inspect.isfunction(getattr(named, name)) and module != "checks":
                yield f"{module}.{name}"


@pytest.mark.parametrize("name", [*public(), "bootstrap.Bootstrap"])
def test_wrong_values_are_refused_with_an_input_error(name: str) -> None:
    known = {**USUAL, **OTHERS.get(name, {})}
    kinds = {k: known[k] for k in inspect.signature(function(name)).parameters if k in known}
    assert OTHERS.get(name, {}).keys() <= kinds.keys() != set()
    given = {parameter: value for parameter, (value, _) in kinds.items()}
    function(name)(**given)
    for parameter, (_, kind) in kinds.items():
        for value in WRONG.get(kind, ()):
            if value is None and parameter in _OPTIONAL and kind != "labels":
                continue
            with pytest.raises(InputError):
                pytest.fail(
                    f"{parameter}={value!r}: {function(name)(**{**given, parameter: value})}"
                )
