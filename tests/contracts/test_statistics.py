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
_SHARE = estimate_share(np.arange(20) < 9, np.ones(20))
#: Name of a parameter -> a value that is right and its kind, where FUNCTIONS says nothing else.
USUAL: dict[str, tuple[Any, str]] = {
    "is_correct": (_FLAGS, "flags"), "categories": (_AB, "texts"),
    "weights": (np.array([1, 2]), "counts"), "level": (0.9, "level"),
    "probability_correct": ([0.9, 0.1], "numbers"), "left": (_AB, "labels"),
    "right": (_AB, "labels"), "groups": (_AB, "groups"), "labels": (_AB, "groups"),
    "n_resamples": (9, "count"), "seed": (0, "count"), "parts": ([1.0, 0.5], "figures"),
    "intervals": ({"a": Interval(0, 1)}, "named"), "columns": ([[1.0], [2.0]], "columns"),
    "strata": (_AB, "groups"), "trusted": (np.array([1.0, np.nan, 0, 1]), "figures"),
    "inclusion": (np.full(4, 0.5), "columns"), "references": (_AB, "texts"),
    "translations": (_AB, "texts"), "scorer": (BLEU(), ""),
    "verdicts": (["correct"] * 2, "texts"), "groupings": ({"x": _AB}, "object"),
    "result": (_RESULT, "object"), "cells": (_CELLS, "counts"), "first": (_X, "numbers"),
    "second": (_Y, "numbers"), "units": (_AB, "groups"),
    "figures": (lambda parts: {"a": next(iter(parts.values()))[:, 0]}, "object"),
    "wholes": ([1.0, 2.0], "figures"),
}  # fmt: skip


def _of(usual: str = "", **others: tuple[Any, str]) -> dict[str, tuple[Any, str]]:
    return {**{name: USUAL[name] for name in usual.split()}, **others}


#: Function -> its parameters: the names of those with usual values, and the others.
FUNCTIONS = {
    "accuracy.accuracy_estimates": _of(
        "is_correct categories weights level", is_inconclusive=(_FLAGS, "flags"),
    ),
    "accuracy.accuracy_intervals": _of("is_correct weights categories level"),
    "accuracy.category_accuracies": _of("probability_correct is_correct categories"),
    "accuracy.min_accuracy": _of(categories=([CategoryAccuracy("a", 1, 1, 1.0)], "texts")),
    "accuracy.rank_weights": _of("probability_correct categories"),
    "accuracy.share": _of(correct=(1.0, "number"), incorrect=(1.0, "number")),
    "accuracy.total_accuracy": _of("is_correct weights"),
    "accuracy.verdict_accuracies": _of("is_correct categories"),
    "agreement.agreement_interval": _of("left right groups level"),
    "agreement.cohen_kappa": _of("left right labels"),
    "agreement.confusion_matrix": _of("left right labels"),
    "agreement.f_scores": _of(table=(np.ones((2, 2), dtype=int), "counts")),
    "agreement.kappa_interval": _of("left right groups n_resamples seed level"),
    "agreement.krippendorff_alpha": _of(labels=([_AB, _AB], "rows of labels")),
    "agreement.proportion_of_agreement": _of("left right", weights=([1.0, 2.0], "numbers")),
    "agreement.weighted_kappa": _of(
        "left right", labels=(_AB, "labels"), weights=("linear", "name"),
    ),
    "bootstrap.Bootstrap": _of("n_resamples seed"),
    "bootstrap.check_bootstrap": _of("n_resamples seed level"),
    "bootstrap.figure_intervals": _of("level", samples=({"a": np.arange(9.0)}, "mapping")),
    "bootstrap.figures_of_sums": _of(parts=({"a": np.array([4, 3, 4, 3])}, "mapping")),
    "bootstrap.known_intervals": _of("intervals"),
    "bootstrap.missing_intervals": _of("intervals"),
    "bootstrap.percentile_interval": _of("level", values=(np.arange(9.0), "figures")),
    "bootstrap.resampled_strata": _of("columns strata groups n_resamples seed"),
    "bootstrap.resampled_sums": _of("columns strata groups n_resamples seed"),
    "bootstrap.whole_groups": _of(values=(np.ones((2, 1)), ""), names=(_AB, ""), groups=(_AB, "")),
    "correction.corrected_accuracies": _of(
        "categories level", judged=(np.ones(2), "figures"),
        trusted=(np.array([1.0, np.nan]), ""),
    ),
    "correction.corrected_share": _of("trusted inclusion level", judged=(np.ones(4), "figures")),
    "correction.labels_needed": _of(
        "trusted inclusion level", judged=(np.array([1.0, 1, 0, 1]), "figures"), width=(0.2, ""),
    ),
    "correction.transferred_share": _of(
        "level", judged=(np.array([7, 3]), "counts"),
        labels=(np.array([[9, 1], [2, 8]]), "columns"),
    ),
    "corpus_quality.corpus_quality": _of(
        "references", systems=({"a": _AB}, "mapping"), tokenize=("13a", "name"),
    ),
    "corpus_quality.corpus_score": _of("translations references", name=("bleu", "name")),
    "corpus_quality.score_of_sums": _of("scorer", name=("bleu", "")),
    "corpus_quality.scores_of_statistics": _of("scorer", sums=([[1.0] * 10], "columns")),
    "corpus_quality.sentence_statistics": _of("scorer translations references"),
    "decisions.decision_figures": _of(counts=(np.array([6, 2, 2]), "numbers")),
    "decisions.decision_intervals": _of("verdicts groupings level"),
    "decisions.decision_scores": _of("verdicts groupings"),
    "gender_figures.accuracy_ratio": _of("result"),
    "gender_figures.count_cells": _of(
        gold=(["male"], "texts"), stereotypes=(["pro"], "texts"), predicted=(["male"], "texts"),
    ),
    "gender_figures.gender_figures": _of("cells"),
    "gender_figures.gender_intervals": _of("cells level"),
    "gender_figures.printed_figures": _of("cells"),
    "gender_figures.ratio_of_estimates": _of(estimates=({}, "mapping")),
    "gender_figures.reading_ratio": _of("result"),
    "mean_tests.cohen_d": _of("first second"),
    "mean_tests.paired_t_test": _of("first second"),
    "mean_tests.t_test": _of("first second"),
    "paired.difference_interval": _of(first=(_SHARE, "object"), second=(_SHARE, "object")),
    "paired.estimated_difference": _of(first=(_SHARE, "object"), second=(_SHARE, "object")),
    "paired.f1_differences": _of(
        "units n_resamples seed level", gold=(_AB, "texts"),
        predicted=([_AB, ["b", "b"]], "rows of labels"), labels=(_AB, "texts"),
    ),
    "paired.figure_differences": _of(
        "figures strata groups n_resamples seed level", first=([[1.0], [2.0]], "columns"),
        second=([[1.0], [3.0]], "columns"),
    ),
    "paired.mcnemar": _of(first=(_FLAGS, "groups"), second=(_FLAGS, "groups")),
    "paired.paired_differences": _of(
        "categories units n_resamples seed level",
        correct=(np.array([[True, False], [True, True]]), "rows of flags"),
        weights=(np.array([[1, 2], [2, 1]]), "columns"),
        inconclusive=(np.zeros((2, 2), dtype=np.bool_), "rows of flags"),
    ),
    "pearson.pearson_correlation": _of("level", left=(_X, "numbers"), right=(_Y, "numbers")),
    "randomization.exchange_tests": _of(
        "figures strata groups n_resamples seed", first=([[1.0], [2.0]], "columns"),
        second=([[1.0], [3.0]], "columns"),
    ),
    "rank_correlation.checked_figures": _of(left=(_X, "numbers"), right=(_Y, "numbers")),
    "rank_correlation.rank_correlation": _of(
        "n_resamples seed level", left=(_X, "numbers"), right=(_Y, "numbers"),
    ),
    "rank_tests.effect_thresholds": _of(base_rate=(0.5, "level")),
    "rank_tests.mann_whitney": _of("first second"),
    "rank_tests.placements": _of("first second"),
    "regression.least_squares": _of(
        "level", dependent=(("y", _Y), "object"), independents=({"x": _X}, "mapping"),
    ),
    "separation.auc": _of(values=([1.0, 2.0], "numbers"), is_first=(_FLAGS, "flags")),
    "separation.auc_interval": _of(
        "groups n_resamples seed", values=([1.0, 2.0], "numbers"), is_first=(_FLAGS, "flags"),
    ),
    "separation.reported_half": _of("seed", sentences=(_AB, "")),
    "seeds.average_over_seeds": _of(
        rows=([{"a": 1.0, "b": 2.0}], "texts"), differences=({"a": ("a", "b")}, "object"),
        minima=({"a": ("a", "b")}, "object"), ratios=({"c": ("a", "b")}, "object"),
    ),
    "seeds.seed_figure": _of(values=(_X, "numbers")),
    "score_intervals.difference": _of(first=(_SHARE, "object"), second=(_SHARE, "object")),
    "score_intervals.estimate_share": _of("parts wholes groups level", strata=(_AB, "texts")),
    "score_intervals.lowest": _of(shares=([_SHARE], "texts")),
    "score_intervals.ratio": _of(first=(_SHARE, "object"), second=(_SHARE, "object")),
    "score_intervals.share_interval": _of("parts wholes groups level", strata=(_AB, "texts")),
    "score_intervals.wilson_interval": _of("level", part=(1, "number"), whole=(2, "number")),
    "shares.part_shares": _of(
        "groups", is_one=(_FLAGS, "flags"), parts=([_FLAGS, ~_FLAGS], "rows of flags"),
    ),
    "shares.wilson_share": _of(k=(1, "number"), n=(2, "number")),
    "shares.quotients": _of(parts=(_X, "figures"), wholes=(_Y, "figures")),
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
