"""Every public function of the statistics refuses values of wrong types and shapes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
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
_CELLS = np.ones((3, 3, 4), dtype=int)
_AB = ["a", "b"]
_RESULT = EvaluationResult("", "", "de", "own", "own|n:20", 20, {}, {}, (), ())
_BOOTSTRAP = {"n_resamples": (9, "count"), "seed": (0, "count")}
_RESAMPLING = {**_BOOTSTRAP, "level": (0.9, "level")}
_LABELS = {"left": (_AB, "labels"), "right": (_AB, "labels")}
_PAIR = {"first": (_X, "numbers"), "second": (_Y, "numbers")}
_SIDES = {"left": (_X, "numbers"), "right": (_Y, "numbers")}
_DECISIONS = {"verdicts": (["correct"] * 2, "texts"), "groupings": ({"x": _AB}, "object")}
_DRAWN = {
    "columns": ([[1.0], [2.0]], "columns"), "strata": (_AB, "groups"), "groups": (_AB, "groups"),
    **_BOOTSTRAP,
}  # fmt: skip
_SHARE = estimate_share(np.arange(20) < 9, np.ones(20))
_OF_WHOLES = {
    "parts": ([1.0, 0.5], "figures"), "wholes": ([1.0, 2.0], "figures"),
    "strata": (_AB, "texts"), "groups": (_AB, "groups"), "level": (0.9, "level"),
}  # fmt: skip
_SYSTEMS = {
    "first": ([[1.0], [2.0]], "columns"), "second": ([[1.0], [3.0]], "columns"),
    "figures": (lambda parts: {"a": next(iter(parts.values()))[:, 0]}, "object"),
    "strata": (_AB, "groups"), "groups": (_AB, "groups"),
}  # fmt: skip
#: Function -> its parameters, each with a value that is right and its kind.
FUNCTIONS: dict[str, dict[str, tuple[Any, str]]] = {
    "accuracy.accuracy_estimates": {
        "is_correct": (_FLAGS, "flags"), "categories": (_AB, "texts"),
        "weights": (np.array([1, 2]), "counts"), "is_inconclusive": (_FLAGS, "flags"),
        "level": (0.9, "level"),
    },
    "accuracy.accuracy_intervals": {
        "is_correct": (_FLAGS, "flags"), "weights": (np.array([1, 2]), "counts"),
        "categories": (_AB, "texts"), "level": (0.9, "level"),
    },
    "accuracy.category_accuracies": {
        "probability_correct": ([0.9, 0.1], "numbers"), "is_correct": (_FLAGS, "flags"),
        "categories": (_AB, "texts"),
    },
    "accuracy.min_accuracy": {"categories": ([CategoryAccuracy("a", 1, 1, 1.0)], "texts")},
    "accuracy.rank_weights": {
        "probability_correct": ([0.9, 0.1], "numbers"), "categories": (_AB, "texts"),
    },
    "accuracy.share": {"correct": (1.0, "number"), "incorrect": (1.0, "number")},
    "accuracy.total_accuracy": {
        "is_correct": (_FLAGS, "flags"), "weights": (np.array([1, 2]), "counts"),
    },
    "accuracy.verdict_accuracies": {"is_correct": (_FLAGS, "flags"), "categories": (_AB, "texts")},
    "agreement.agreement_interval": {
        **_LABELS, "groups": (_AB, "groups"), "level": (0.9, "level"),
    },
    "agreement.cohen_kappa": {**_LABELS, "labels": (_AB, "groups")},
    "agreement.confusion_matrix": {**_LABELS, "labels": (_AB, "groups")},
    "agreement.f_scores": {"table": (np.ones((2, 2), dtype=int), "counts")},
    "agreement.kappa_interval": {**_LABELS, "groups": (_AB, "groups"), **_RESAMPLING},
    "agreement.krippendorff_alpha": {"labels": ([_AB, _AB], "rows of labels")},
    "agreement.proportion_of_agreement": {**_LABELS, "weights": ([1.0, 2.0], "numbers")},
    "agreement.weighted_kappa": {**_LABELS, "labels": (_AB, "labels"), "weights": ("linear", "name")},
    "bootstrap.Bootstrap": _BOOTSTRAP,
    "bootstrap.check_bootstrap": _RESAMPLING,
    "bootstrap.figure_intervals": {
        "samples": ({"a": np.arange(9.0)}, "mapping"), "level": (0.9, "level"),
    },
    "bootstrap.figures_of_sums": {"parts": ({"a": np.array([4, 3, 4, 3])}, "mapping")},
    "bootstrap.known_intervals": {"intervals": ({"a": Interval(0, 1)}, "named")},
    "bootstrap.missing_intervals": {"intervals": ({"a": Interval(0, 1)}, "named")},
    "bootstrap.percentile_interval": {
        "values": (np.arange(9.0), "figures"), "level": (0.9, "level"),
    },
    "bootstrap.resampled_strata": _DRAWN,
    "bootstrap.resampled_sums": _DRAWN,
    "bootstrap.whole_groups": {
        "values": (np.ones((2, 1)), ""), "names": (_AB, ""), "groups": (_AB, ""),
    },
    "correction.corrected_accuracies": {
        "judged": (np.ones(2), "figures"), "trusted": (np.array([1.0, np.nan]), ""),
        "categories": (_AB, "texts"), "level": (0.9, "level"),
    },
    "correction.corrected_share": {
        "judged": (np.ones(4), "figures"), "trusted": (np.array([1.0, np.nan, 0, 1]), "figures"),
        "inclusion": (np.full(4, 0.5), "columns"), "level": (0.9, "level"),
    },
    "correction.labels_needed": {
        "judged": (np.array([1.0, 1, 0, 1]), "figures"),
        "trusted": (np.array([1.0, np.nan, 0, 1]), "figures"), "width": (0.2, ""),
        "inclusion": (np.full(4, 0.5), "columns"), "level": (0.9, "level"),
    },
    "correction.transferred_share": {
        "judged": (np.array([7, 3]), "counts"), "labels": (np.array([[9, 1], [2, 8]]), "columns"),
        "level": (0.9, "level"),
    },
    "corpus_quality.corpus_quality": {
        "systems": ({"a": _AB}, "mapping"), "references": (_AB, "texts"), "tokenize": ("13a", "name"),
    },
    "corpus_quality.corpus_score": {
        "name": ("bleu", "name"), "translations": (_AB, "texts"), "references": (_AB, "texts"),
    },
    "corpus_quality.score_of_sums": {"name": ("bleu", ""), "scorer": (BLEU(), "")},
    "corpus_quality.scores_of_statistics": {
        "scorer": (BLEU(), ""), "sums": ([[1.0] * 10], "columns"),
    },
    "corpus_quality.sentence_statistics": {
        "scorer": (BLEU(), ""), "translations": (_AB, "texts"), "references": (_AB, "texts"),
    },
    "decisions.decision_figures": {"counts": (np.array([6, 2, 2]), "numbers")},
    "decisions.decision_intervals": {**_DECISIONS, "level": (0.9, "level")},
    "decisions.decision_scores": _DECISIONS,
    "gender_figures.accuracy_ratio": {"result": (_RESULT, "object")},
    "gender_figures.count_cells": {
        "gold": (["male"], "texts"), "stereotypes": (["pro"], "texts"), "predicted": (["male"], "texts"),
    },
    "gender_figures.gender_figures": {"cells": (_CELLS, "counts")},
    "gender_figures.gender_intervals": {"cells": (_CELLS, "counts"), "level": (0.9, "level")},
    "gender_figures.printed_figures": {"cells": (_CELLS, "counts")},
    "gender_figures.ratio_of_estimates": {"estimates": ({}, "mapping")},
    "gender_figures.reading_ratio": {"result": (_RESULT, "object")},
    "mean_tests.cohen_d": _PAIR,
    "mean_tests.paired_t_test": _PAIR,
    "mean_tests.t_test": _PAIR,
    "paired.difference_interval": {"first": (_SHARE, "object"), "second": (_SHARE, "object")},
    "paired.estimated_difference": {"first": (_SHARE, "object"), "second": (_SHARE, "object")},
    "paired.f1_differences": {
        "gold": (_AB, "texts"), "predicted": ([_AB, ["b", "b"]], "rows of labels"),
        "labels": (_AB, "texts"), "units": (_AB, "groups"), **_RESAMPLING,
    },
    "paired.figure_differences": {**_SYSTEMS, **_RESAMPLING},
    "paired.mcnemar": {"first": (_FLAGS, "groups"), "second": (_FLAGS, "groups")},
    "paired.paired_differences": {
        "correct": (np.array([[True, False], [True, True]]), "rows of flags"),
        "categories": (_AB, "texts"), "weights": (np.array([[1, 2], [2, 1]]), "columns"),
        "inconclusive": (np.zeros((2, 2), dtype=np.bool_), "rows of flags"),
        "units": (_AB, "groups"), **_RESAMPLING,
    },
    "pearson.pearson_correlation": {**_SIDES, "level": (0.9, "level")},
    "randomization.exchange_tests": {**_SYSTEMS, **_BOOTSTRAP},
    "rank_correlation.checked_figures": _SIDES,
    "rank_correlation.rank_correlation": {**_SIDES, **_RESAMPLING},
    "rank_tests.effect_thresholds": {"base_rate": (0.5, "level")},
    "rank_tests.mann_whitney": _PAIR,
    "rank_tests.placements": _PAIR,
    "regression.least_squares": {
        "dependent": (("y", _Y), "object"), "independents": ({"x": _X}, "mapping"),
        "level": (0.9, "level"),
    },
    "seeds.average_over_seeds": {
        "rows": ([{"a": 1.0, "b": 2.0}], "texts"), "differences": ({"a": ("a", "b")}, "object"),
        "minima": ({"a": ("a", "b")}, "object"), "ratios": ({"c": ("a", "b")}, "object"),
    },
    "seeds.seed_figure": {"values": (_X, "numbers")},
    "score_intervals.difference": {"first": (_SHARE, "object"), "second": (_SHARE, "object")},
    "score_intervals.estimate_share": _OF_WHOLES,
    "score_intervals.lowest": {"shares": ([_SHARE], "texts")},
    "score_intervals.ratio": {"first": (_SHARE, "object"), "second": (_SHARE, "object")},
    "score_intervals.share_interval": _OF_WHOLES,
    "score_intervals.wilson_interval": {
        "part": (1, "number"), "whole": (2, "number"), "level": (0.9, "level"),
    },
    "shares.part_shares": {
        "is_one": (_FLAGS, "flags"), "parts": ([_FLAGS, ~_FLAGS], "rows of flags"),
        "groups": (_AB, "groups"),
    },
    "shares.wilson_share": {"k": (1, "number"), "n": (2, "number")},
    "shares.quotients": {"parts": (_X, "figures"), "wholes": (_Y, "figures")},
}  # fmt: skip
_OPTIONAL = (
    *("weights", "inconclusive", "inclusion", "is_inconclusive", "units", "groups", "labels"),
    *("strata", "differences", "minima", "ratios"),
)


def function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(".")
    found: Callable[..., Any] = getattr(
        importlib.import_module(f"{statistics.__name__}.{module}"), attribute
    )
    return found


def public() -> Iterator[str]:
    for module in pkgutil.iter_modules(statistics.__path__):
        named = importlib.import_module(f"{statistics.__name__}.{module.name}")
        for name in getattr(named, "__all__", ()):
            member = getattr(named, name)
            if inspect.isfunction(member) and module.name != "checks":
                yield f"{module.name}.{name}"


def test_every_public_function_is_called_here() -> None:
    assert set(public()) == set(FUNCTIONS) - {"bootstrap.Bootstrap"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_values_are_refused_with_an_input_error(name: str) -> None:
    given = {parameter: value for parameter, (value, _) in FUNCTIONS[name].items()}
    more = {"weighted": False} if name == "accuracy.min_accuracy" else {}
    function(name)(**given, **more)
    for parameter, (_, kind) in FUNCTIONS[name].items():
        for value in WRONG.get(kind, ()):
            if value is None and parameter in _OPTIONAL and kind != "labels":
                continue
            with pytest.raises(InputError):
                pytest.fail(
                    f"{parameter}={value!r}: {function(name)(**{**given, parameter: value}, **more)}"
                )
