"""Turning what a user named as evaluator into one; no other module does this. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator, ScoreFunction
from cc_hf.evaluators.lazy import open_evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.models.location import default_evaluator

__all__ = ["AnyEvaluator", "resolve_evaluator"]

#: How users name an evaluator: a name or path, several of these (an ensemble), an Evaluator, or a
#: function (sources, translations) -> scores.
AnyEvaluator: TypeAlias = str | Path | Sequence[str | Path] | Evaluator | ScoreFunction


def resolve_evaluator(
    evaluator: AnyEvaluator | None,
    options: LoadingOptions | None = None,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
) -> Evaluator:
    """Return the evaluator that is meant.

    Args:
        evaluator: a name, a path or several of these are opened with `options`; an Evaluator is
            returned as it is; a function becomes a `FunctionEvaluator`; None stands for the
            evaluator that ships for the language pair.
        src_lang, tgt_lang: the languages that will be scored, "" where the evaluator knows them.

    Raises:
        InputError: for something else, None where no evaluator ships for the pair, or options that
            do not fit the model.
        UnknownNameError, EvaluatorError, CacheError, MissingDependencyError: as for
            `cc_hf.load_evaluator`.

    Examples:
        >>> resolve_evaluator(3)  # type: ignore[arg-type]
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: evaluator: expected a name, a path, an Evaluator or a function, got int
    """  # noqa: E501
    if evaluator is None:
        evaluator = default_evaluator(src_lang, tgt_lang)
    if isinstance(evaluator, (str, Path, list, tuple)):
        languages = (src_lang, tgt_lang)
        return open_evaluator(evaluator, options or LoadingOptions(), languages=languages)
    if isinstance(evaluator, Evaluator):
        return evaluator
    if callable(evaluator):
        return FunctionEvaluator(evaluator)
    raise InputError(
        "evaluator: expected a name, a path, an Evaluator or a function, got"
        f" {type(evaluator).__name__}"
    )
