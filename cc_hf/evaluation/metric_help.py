"""What a metric's module for `evaluate` says of it, from the declarations of its class."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import Field, fields
from typing import Any, get_type_hints

from cc_hf.citations import citation
from cc_hf.docstrings import attribute_texts, description
from cc_hf.evaluation.inspection import is_inspected
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.metrics.base import Metric
from cc_hf.metrics.figure_names import DERIVED

__all__ = ["BOOTSTRAP_OPTIONS", "inputs_description", "module_info", "option_names"]

BOOTSTRAP_OPTIONS = ("seed", "n_resamples")
_PLAIN_TYPES = {"str", "int", "float", "bool", "None"}
_OF_THE_LIBRARY = ("part",)  # an object that only `cc_hf.plugins.scale` makes
#: Option that several metrics have -> its type and what it is.
_OPTIONS = {
    "evaluator": (
        "(str, list of str, cc_hf.Evaluator or function, optional): name or path of the evaluator"
        " model, several for an ensemble, or a function (sources, translations) -> scores, where"
        " higher is better. By default the evaluator that ships with cc_hf for the language pair."
    ),
    "src_lang": "(str): ISO 639-1 code of the sources.",
    "tgt_lang": "(str): ISO 639-1 code of the translations.",
    "clean": (
        "(bool, optional): whether what stands around a translation, such as code fences and"
        " prefaces, is removed; False judges it, too. By default it is not right, and predictions"
        " of which nearly all are wrapped are refused."
    ),
    "seed": "(int): seed of the bootstrap, 0 by default.",
    "n_resamples": "(int): number of resamples of the bootstrap, 1000 by default.",
}
_RETURNED = """\
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options, models and versions on which the figures depend.
    notes (list of str): what to know of the figures, if there is something.
    unfit (str): why the figures are not fit to be cited, if there is a reason.
    Figures are fractions: shares are in [0, 1], differences of two in [-1, 1]; what is said of one
        in percent is of tables, which show 100 times the figure. One without a sample is absent."""


def option_names(metric: type[Metric]) -> set[str]:
    """Return the names of the options of a metric's module for `evaluate`."""
    loading = ("evaluator", *LoadingOptions.names()) if metric.takes_evaluator else ()
    cleaning = ("clean",) if is_inspected(metric) else ()
    others = ("src_lang", "tgt_lang", *BOOTSTRAP_OPTIONS)
    return {*metric.option_names(), *loading, *cleaning, *others}


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
    options = {
        field.name: f"({_type_text(field)}): {texts[field.name]}" for field in fields(metric)
    }
    # `help` itself says more of an argument where there is more to say.
    shown = [
        f"{name} {text}"
        for name, text in {**options, **_OPTIONS}.items()
        if name in option_names(metric) and f"\n    {name} (" not in arguments
    ]
    if metric.takes_evaluator:
        loading = [n for n in LoadingOptions.names() if n not in (*_OPTIONS, *_OF_THE_LIBRARY)]
        shown.append(f"{', '.join(loading)}: options of `cc_hf.load_evaluator`.")
    absent = {*DERIVED, *({"pair_accuracy"} if "pair" not in metric.reference_fields else ())}
    figures = [
        f"{name.replace('*', '<category>')} (float): {figure.meaning.replace('{}', '<category>')}"
        for name, figure in metric.figure_names.items()
        if name not in absent
    ]
    parts = (arguments, *map(_filled, shown), "\nReturns:", *map(_filled, figures))
    return "\n".join((*parts, returned, _RETURNED, "\nExample:", example, ""))


def module_info(metric: type[Metric]) -> dict[str, Any]:
    """Return the fields of `evaluate.MetricInfo` for a metric."""
    from datasets import Features, Sequence, Value

    # The columns of rows follow from what reads their values.
    text = Value("string")
    columns = {str: text, int: Value("int64"), list[str]: Sequence(text)}
    references = {
        key: columns[get_type_hints(read)["return"]]
        for key, read in metric.reference_fields.items()
    }
    predictions = {"predictions": text} if metric.takes_translations else {}
    papers = [citation(key) for key in metric.papers]
    return {
        "description": description(metric),
        "citation": papers[0].bibtex,
        "features": Features({**predictions, "references": references}),
        "inputs_description": inputs_description(metric),
        "homepage": papers[0].url,
        "license": "apache-2.0",
        "reference_urls": [paper.url for paper in papers],
    }


def _type_text(field: Field[Any]) -> str:
    """Return the type of an option where it is a plain one, and its default."""
    is_plain = set(re.findall(r"\w+", str(field.type))) <= _PLAIN_TYPES
    default = "optional" if field.default is None else f"default {field.default!r}"
    return f"{field.type}, {default}" if is_plain else default


def _filled(entry: str) -> str:
    """Return an entry of a section in lines of at most 100 characters."""
    lines = textwrap.wrap(entry, 92, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n    ".join(lines), " " * 4)
