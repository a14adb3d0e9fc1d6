"""The figures of results as text: names, and values in percent with their intervals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from cc_hf import registry
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.figure_keys import CORRECTED, category_name, figure_key, is_corrected
from cc_hf.languages import language_name
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.figure_names import FigureDeclaration
from cc_hf.metrics.figure_names import figure_name as declared_name
from cc_hf.metrics.headline import counted_in
from cc_hf.reports.derived_figures import derived_figures
from cc_hf.reports.numbers import count, decimal, p_text, percent
from cc_hf.results import CategoryAccuracy, EvaluationResult, Interval, NoInterval
from cc_hf.statistics.paired import PairedDifference
from cc_hf.statistics.randomization import MOST_ENUMERATED

if TYPE_CHECKING:
    from cc_hf.comparing.systems import Comparison

__all__ = [
    "FigureRow",
    "category_key",
    "category_label",
    "category_name",
    "column_label",
    "data_name",
    "data_title",
    "difference_p",
    "figure_label",
    "figure_name",
    "figure_rows",
    "is_gap",
    "language_pair",
    "metric_meaning",
    "metric_name",
    "ordered_categories",
    "pair_of_data",
    "randomization_text",
    "ratio_text",
    "score_text",
    "signed_percent",
    "source_language",
    "title_of_data",
    "with_interval",
]

_LANGS = re.compile(r"\|langs:([a-z]+)-")
# The papers list "female" after "male".
_ORDER = {
    name: i
    for i, name in enumerate(("male", "female", "frequent", "infrequent", *registry.CATEGORIES))
}


def with_interval(value: float, interval: Interval | NoInterval | None, *, digits: int = 1) -> str:
    """Write a figure in [-1, 1] in percent, followed by the limits of its interval if it has one.

    Examples:
        >>> with_interval(0.5, Interval(0.41, 0.6)), with_interval(-0.1, None)
        ('50.0 (41.0 – 60.0)', '−10.0')
    """
    text = percent(value, digits=digits)
    if isinstance(interval, Interval):
        low, high = (percent(v, digits=digits) for v in (interval.low, interval.high))
        text += f" ({low:>4} – {high:>4})"
    return text.replace("-", "−")


def signed_percent(value: float) -> str:
    """Return a difference in [-1, 1] in percentage points with a sign, but 0.0 without one.

    Examples:
        >>> signed_percent(0.012), signed_percent(-0.1), signed_percent(-0.0001)
        ('+1.2', '−10.0', '0.0')
    """
    text = with_interval(value, None)
    return text if text == "0.0" or value < 0 else f"+{text}"


def ratio_text(value: float, interval: Interval | NoInterval | None) -> str:
    """Write a ratio, which is no percentage, with its interval if it has one.

    Examples:
        >>> ratio_text(1.6, Interval(1.25, 2.0))
        '×1.60 (1.25 – 2.00)'
    """
    return f"×{decimal(value, interval)}"


def difference_p(difference: PairedDifference, n_resamples: int) -> str:
    """Write the p-value of a difference between two systems."""
    return p_text(difference.p_value, n_exchanges=None if difference.is_exact else n_resamples)


def randomization_text(n_resamples: int) -> str:
    """Say how the p-value of a difference between two systems is computed."""
    return (
        "paired randomisation (all exchanges of the outputs of both systems for shares of samples"
        f" and their minimum, and where at most {MOST_ENUMERATED} samples differ; else"
        f" {n_resamples:,} random ones)"
    )


def score_text(result: EvaluationResult, name: str) -> str:
    """Write a score of a result in percent, with its interval; "" if it does not have the score."""
    return (
        with_interval(result.scores[name], result.intervals.get(name))
        if name in result.scores
        else ""
    )


def metric_name(metric: str) -> str:
    """Return the name of a metric in words, as the metric declares it.

    Examples:
        >>> metric_name("winomt_pattern_matching"), metric_name("my_metric")
        ('WinoMT pattern matching', 'my metric')
    """
    return registered_metric(metric).title or metric.replace("_", " ")


def metric_meaning(metric: str) -> str:
    """Return what a metric does, in one sentence; "" if it does not say so."""
    return registered_metric(metric).about


def figure_name(metric: str, name: str) -> FigureDeclaration:
    """Return the name of a score in words and what it means, as its metric declares them.

    Examples:
        >>> figure_name("winomt_pattern_matching", "delta_g").label
        'gender gap ΔG, 0 is best'
    """
    return declared_name(registered_metric(metric).figure_names, name)


def figure_label(metric: str, name: str) -> str:
    """Return the name of a score in words.

    Examples:
        >>> figure_label("contrastive_conditioning", "accuracy_female")
        'accuracy on female'
    """
    return figure_name(metric, name).label


def column_label(metric: str, name: str, names: Iterable[str]) -> str:
    """Return the name of a figure in words, with a mark if it leaves out the judge's mistakes where
    others include them.

    Args:
        names: all figures of the table by this metric.

    Examples:
        >>> column_label("contrastive_conditioning", "accuracy", ["corrected_accuracy", "accuracy"])
        'accuracy, judge alone'
    """
    is_alone = any(map(is_corrected, names)) and not figure_key(name).reference
    return figure_label(metric, name) + ", judge alone" * is_alone


def is_gap(metric: str, name: str) -> bool:
    """Return whether a figure is a difference, for which 0 is best."""
    return figure_name(metric, name).best == "zero"


def data_name(result: EvaluationResult | Comparison) -> str:
    """Return dataset, configuration and languages of a result in words, without the default
    configuration.

    Examples:
        >>> data_name(EvaluationResult("winomt", "pro", "cs", "", "", 1, {}, {}, (), ()))
        'WinoMT (pro), English → Czech'
    """
    return ", ".join(part for part in (title_of_data(result), pair_of_data(result)) if part)


def title_of_data(result: EvaluationResult | Comparison) -> str:
    """Return dataset and configuration of a result in words, without its languages."""
    dataset = result.declared or result.dataset
    return data_title(dataset, result.config, (result.tgt_lang, source_language(result)))


def pair_of_data(result: EvaluationResult | Comparison) -> str:
    """Return the languages of a result in words; "" if none is known."""
    return language_pair(source_language(result), result.tgt_lang)


def data_title(
    dataset: str | DatasetDeclaration, config: str, languages: Collection[str] = ()
) -> str:
    """Return dataset and configuration in words; a declared dataset's default one is omitted.

    Args:
        dataset: a declaration, which is not looked up again; or a name, "" for data of the user.
        config: the name of the configuration; "" for none.
        languages: codes that are not repeated from the configuration, because they are named beside
            the title.

    Examples:
        >>> data_title("winomt", "default"), data_title("winomt", "pro"), data_title("", "")
        ('WinoMT', 'WinoMT (pro)', 'Own data')
        >>> data_title("simplegen", "en-de"), data_title("simplegen", "en-de", ("en", "de"))
        ('SimpleGEN (en-de)', 'SimpleGEN')
    """
    if dataset in ("", "custom"):
        return config or "Own data"
    declared = registry.find("dataset", dataset) if isinstance(dataset, str) else dataset
    title = str(dataset) if declared is None else declared.title or declared.name
    if declared is not None and config == "default":
        return title
    if languages:
        config = " ".join(part for part in re.split(r"[-_.]", config) if part not in languages)
    return f"{title} ({config})" if config else title


def language_pair(src_lang: str, tgt_lang: str) -> str:
    """Return languages in words; "" if none is known.

    Args:
        src_lang, tgt_lang: ISO 639-1 codes; "" if not known.

    Examples:
        >>> language_pair("en", "de"), language_pair("", "de")
        ('English → German', 'German')
    """
    codes = dict.fromkeys(code for code in (src_lang, tgt_lang) if code)
    return " → ".join(language_name(code) for code in codes)


def source_language(result: EvaluationResult | Comparison) -> str:
    """Return the code of the source language, by the signature or else the configuration; "" if it
    is not known.
    """
    signatures = [result.signature, *getattr(result, "signatures", {}).values()]
    for text in signatures:
        if match := _LANGS.search(text):
            return match[1]
    for config in result.declared.configs if result.declared is not None else ():
        if config.name == result.config:
            return config.src_lang
    return ""


def category_key(name: str) -> tuple[int, str]:
    """Return a key that sorts categories in the order of the papers, then others by name."""
    return _ORDER.get(name, len(_ORDER)), name


def ordered_categories(result: EvaluationResult) -> list[CategoryAccuracy]:
    """Return the categories of a result in the order of the papers."""
    return sorted(result.categories, key=lambda c: category_key(c.category))


def category_label(result: EvaluationResult, category: str) -> str:
    """Return the name of a category in words, with a remark if the minimum ignores it."""
    left_out = (
        category not in {counted.category for counted in counted_in(result)}
        and "min_accuracy" in result.scores
        and len(result.categories) > 1
    )
    return category_name(category) + " (not in minimum)" * left_out


class FigureRow(NamedTuple):
    """A figure of a result.

    Attributes:
        n: the number of samples if it covers a category or all samples; "" otherwise.
        text: the figure in percent, with its interval.
        value, interval: the same as numbers; None for an interval that is not known.
    """

    name: str
    label: str
    n: str
    text: str
    value: float
    interval: Interval | NoInterval | None


def figure_rows(result: EvaluationResult) -> list[FigureRow]:
    """Return every figure: totals and minima, categories in the order of the papers, all others.

    A figure that is corrected by trusted verdicts precedes the one that is not.

    Examples:
        >>> from cc_hf.results import EvaluationResult
        >>> (row,) = figure_rows(
        ...     EvaluationResult("", "", "de", "own", "own|n:2", 2, {"accuracy": 0.5}, {}, (), ())
        ... )
        >>> row.label, row.n, row.text
        ('accuracy', '2', '50.0')
    """
    categories = [c.category for c in ordered_categories(result)]
    order = [
        "accuracy",
        "weighted_accuracy",
        "min_accuracy",
        "weighted_min_accuracy",
        *(f"{w}accuracy_{c}" for w in ("", "weighted_") for c in categories),
    ]
    order += [name for name in result.scores if name not in order]
    order = [n for name in order for n in (f"{CORRECTED}{name}", name) if n in result.scores]
    names = list(dict.fromkeys(order))
    sizes = {"accuracy": count(result.n)} | {
        f"accuracy_{c.category}": count(c.n) for c in result.categories
    }
    rows = [
        FigureRow(
            name,
            figure_label(result.metric, name),
            sizes.get(name, ""),
            score_text(result, name),
            result.scores[name],
            result.intervals.get(name),
        )
        for name in names
    ]
    for figure in derived_figures(result):
        n = "" if figure.n is None else count(figure.n)
        as_text = ratio_text if figure.is_ratio else with_interval
        text = as_text(figure.value, figure.interval)
        rows.append(FigureRow(figure.name, figure.label, n, text, figure.value, figure.interval))
    has_share = not result.scores.keys().isdisjoint(("inconclusive", "inconclusive_rate"))
    if not has_share and (n_inconclusive := result.counts.get("n_inconclusive")):
        rows.append(
            FigureRow(
                "n_inconclusive",
                figure_label(result.metric, "n_inconclusive"),
                count(n_inconclusive),
                percent(n_inconclusive / result.n),
                n_inconclusive / result.n,
                None,
            )
        )
    return rows
