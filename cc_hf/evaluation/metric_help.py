"""What `evaluate` says of a metric's inputs and outputs, from the declarations of its class."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_type_hints

from cc_hf.docstrings import attribute_texts
from cc_hf.evaluation.inspection import is_inspected
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.metrics.base import Metric
from cc_hf.metrics.figure_names import DERIVED

__all__ = ["features", "inputs_description"]

_EVALUATOR = (
    "evaluator (str, list of str, cc_hf.Evaluator or function, optional): name or path of the"
    " evaluator model, several for an ensemble, or a function (sources, translations) -> scores,"
    " where higher is better. By default the evaluator that ships with cc_hf for the language pair."
)
_CLEAN = (
    "clean (bool, optional): whether what stands around a translation, such as code fences and"
    " prefaces, is removed; False judges it, too. By default it is not right, and predictions of"
    " which nearly all are wrapped are refused."
)
_ARGUMENTS = (
    "src_lang (str): ISO 639-1 code of the sources.",
    "tgt_lang (str): ISO 639-1 code of the translations.",
    "seed (int): seed of the bootstrap, 0 by default.",
    "n_resamples (int): number of resamples of the bootstrap, 1000 by default.",
)
_FIGURES = (
    "Figures are fractions: shares are in [0, 1], differences of two in [-1, 1]. One without a"
    " sample is absent."
)
_RESULTS = (
    "intervals: mapping from figure to [low, high], the limits of its 95 % interval.",
    "interval_notes: mapping from figure to a remark on its interval, or the reason why it has"
    " none.",
    "signature (str): data, options, models and versions on which the figures depend.",
    "notes (list of str): what to know of the figures, if there is something.",
    "unfit (str): why the figures are not fit to be cited, if there is a reason.",
)
#: What a reader of a reference's value returns -> the type of the column in `datasets`.
_COLUMNS = {int: "int64", str: "string"}


def inputs_description(metric: type[Metric]) -> str:
    """Return what a metric reads and gives, as its module for `evaluate` says it.

    Options come from the fields of the class and its section "Attributes:", figures from
    `figure_names`, and the rest from `help`.

    Examples:
        >>> from cc_hf.metrics.base import registered_metric
        >>> text = inputs_description(registered_metric("gender_accuracy"))
        >>> "undecided_rate (float): The share of translations without a word of" in text
        True
    """
    arguments, _, rest = inspect.cleandoc(metric.help).partition("\n\nReturns:\n")
    returned, _, example = rest.partition("\n\nExample:\n")
    texts = attribute_texts(metric)
    options = [
        f"{option.name} ({option.type}, default {option.default!r}): {texts[option.name]}"
        for option in fields(metric)
    ]
    more = [*options, *_ARGUMENTS]
    if metric.takes_evaluator:
        loading = [name for name in LoadingOptions.names() if not name.endswith("_lang")]
        loaded = f"{', '.join(loading)}: options of `cc_hf.load_evaluator`."
        more = [_EVALUATOR, *more, loaded]
    if is_inspected(metric):
        more.append(_CLEAN)
    # `help` itself says more of an argument where there is more to say.
    more = [entry for entry in more if f"\n    {entry.partition(' (')[0]} (" not in arguments]
    absent = {*DERIVED, *({"pair_accuracy"} if "pair" not in metric.reference_fields else ())}
    figures = [
        f"{name.replace('*', '<category>')} (float): {named.meaning.replace('{}', '<category>')}"
        for name, named in metric.figure_names.items()
        if name not in absent
    ]
    return "\n".join(
        (
            *(arguments, _filled(more), "\nReturns:"),
            *(_filled([*figures, _FIGURES]), returned, _filled(_RESULTS)),
            *("\nExample:", example, ""),
        )
    )


def features(metric: type[Metric]) -> dict[str, Any]:
    """Return the columns of a metric's rows for `datasets.Features`, by what reads their values."""
    from datasets import Sequence, Value

    references = {}
    for key, read in metric.reference_fields.items():
        column = get_type_hints(read)["return"]
        text = Value(_COLUMNS.get(column, "string"))
        references[key] = text if column in _COLUMNS else Sequence(text)
    predictions = {"predictions": Value("string")} if metric.takes_translations else {}
    return {**predictions, "references": references}


def _filled(entries: Iterable[str]) -> str:
    """Return entries in lines of at most 100 characters, with what follows the first indented."""
    first, others = " " * 4, " " * 8
    return "\n".join(
        textwrap.fill(
            entry,
            100,
            initial_indent=first,
            subsequent_indent=others,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for entry in entries
    )
