"""What of a result to cite, in sentences: figures, intervals, signature and papers, or why none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from cc_hf import registry, signature
from cc_hf.citations import CITATIONS, Citation
from cc_hf.data.card_sections import card_section
from cc_hf.errors import MissingDependencyError, MissingOptionError, UnknownNameError
from cc_hf.figure_keys import category_name, figure_key
from cc_hf.fit_to_cite import OF_A_FIRST_LOOK
from cc_hf.languages import base_code
from cc_hf.levels import SUPPORTED
from cc_hf.metrics.base import Metric
from cc_hf.metrics.headline import CitedFigure, Headline, headline
from cc_hf.reports.figure_text import (
    figure_label,
    metric_name,
    score_text,
    source_language,
    with_interval,
)
from cc_hf.reports.numbers import count, percent
from cc_hf.results import EvaluationResult, Interval

__all__ = ["UNFIT", "WhatToCite", "main_reason", "what_to_cite", "why_unfit"]

#: The badge of figures that are not fit to be cited.
UNFIT = "not fit to cite"
_REMEDIES = {
    "unmarked": "judge other categories than gender, or another target language",
    "itself": "judge the system by another evaluator",
    "ties": "find an evaluator that sees the cues",
    "unresponsive": "find an evaluator that was trained on both languages",
    "inconclusive": "choose a metric that reads these translations",
    "few": "judge more samples",
    "translations": "check the file of translations",
    "wrapped": "judge the translations alone (--clean)",
    "limit": "judge all examples",
    "labels": "check the file of labels",
}
#: Kinds of reasons that a metric without an evaluator does not have.
_OF_EVALUATORS = {"evaluator", "bias", "itself", "ties", "unresponsive"}


class WhatToCite(NamedTuple):
    """What of a result to cite.

    Attributes:
        metric: the metric in words.
        figures: labels and values of the figures to cite, in order; a value may be followed by the
            shares that are wrong and unread. Of several systems, values are "".
        ranked_by: label and value of the figure that ranks systems; ("", "") where it is the only
            one to cite, or nothing ranks.
        beside: labels and values of figures that stand beside them.
        papers: the papers of the metric and of the data, each once.
        why_not: why nothing may be cited, as phrases; "" if the figures may be cited.
        remedy: what gives figures that may be cited; "" if these are.
        note: what is not in the figures; "" for nothing.
        is_first_look: whether nothing but missing evidence on the judge or few samples speaks
            against citing.
        is_moot: whether the translations do not show what is asked for, so that the figures say
            nothing.
    """

    metric: str
    figures: tuple[tuple[str, str], ...]
    ranked_by: tuple[str, str]
    beside: tuple[tuple[str, str], ...]
    papers: tuple[str, ...]
    signature: str
    why_not: str
    remedy: str
    note: str = ""
    is_first_look: bool = False
    is_moot: bool = False

    def _figures(self, metric: str) -> str:
        figures = f"{_joined(self.figures)}{metric}"
        if self.ranked_by[0]:
            figures += f"; systems are ranked by {_joined([self.ranked_by])}"
        if self.beside:
            figures += f", beside {_joined(self.beside)}"
        return figures

    @property
    def figures_text(self) -> str:
        """All figures in words, without the metric and the spaces that align intervals."""
        return self._figures("").replace("( ", "(").replace("–  ", "– ")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The content in sentences."""
        figures = self._figures(f" ({self.metric})")
        note = [self.note] if self.note else []
        if self.is_moot:
            return (
                f"Nothing: {self.why_not}.",
                f"To have figures that can be cited, {self.remedy}.",
            )
        if self.why_not:
            begin = "By a first look, the figures are" if self.is_first_look else "They would be"
            return (
                f"Nothing yet: {self.why_not}.",
                f"To have figures that can be cited, {self.remedy}.",
                f"{begin} {figures}.",
                *note,
            )
        papers = f" Papers: {'; '.join(self.papers)}." if self.papers else ""
        return (f"{figures}, each with its interval and the signature.{papers}", *note)

    def without_values(self) -> WhatToCite:
        """Return what to cite of any of several systems, by the names of the figures."""
        return self._replace(
            figures=_unvalued(self.figures),
            ranked_by=_unvalued([self.ranked_by])[0],
            beside=_unvalued(self.beside),
        )


def what_to_cite(results: Iterable[EvaluationResult]) -> WhatToCite | None:
    """Return what to cite of the results of one system: the first that is fit to be cited, else the
    first; None if none has scores.

    Examples:
        >>> scores = {"accuracy": 0.5, "min_accuracy": 0.4}
        >>> result = EvaluationResult("", "", "de", "own", "own|n:200", 200, scores, {}, (), ())
        >>> what_to_cite([result]).sentences
        ('minimum accuracy 40.0 (own), each with its interval and the signature.',)
    """
    scored = [result for result in results if result.scores]
    if not scored:
        return None
    # One that may be cited, wherever it stands among the metrics.
    result = next((r for r in scored if not why_unfit(r)), scored[0])
    said = headline(result)
    cited = [label for figure in said.cited for label in _texts(result, said, figure)]
    is_alone = said.by in ("", *(figure.name for figure in said.cited))
    others = [n for n in said.beside if n in result.scores]
    reasons = result.reasons_against(said.by)
    return WhatToCite(
        metric_name(result.metric),
        tuple(cited),
        ("", "") if is_alone else _of_rank(result, said),
        tuple((figure_label(result.metric, n), score_text(result, n)) for n in others),
        tuple(_papers(result)),
        result.signature,
        said.why_not,
        _remedy(result, said) if said.why_not else "",
        " ".join(filter(None, [_note(said), _of_support(result, said)])),
        bool(reasons) and reasons.keys() <= OF_A_FIRST_LOOK,
        "unmarked" in result.unfit,
    )


def why_unfit(result: EvaluationResult) -> str:
    """Return why the main figure of a result is not fit to be cited, as phrases; "" if it is."""
    return headline(result).why_not


def main_reason(result: EvaluationResult) -> str:
    """Return the first reason, without its details, why the main figure of a result is not fit to
    be cited; "" if it is.
    """
    said = headline(result)
    return next(iter(result.reasons_against(said.by).values()), said.why_not).partition(": ")[0]


def _texts(
    result: EvaluationResult, said: Headline, figure: CitedFigure
) -> Iterable[tuple[str, str]]:
    """Yield label and value of a figure; or where much is unread, of the shares of wrong and unread
    in place of it or after it.
    """
    label, value = figure_label(result.metric, figure.name), _widened(result, figure)
    if figure.name == said.by and figure.category and not said.beside:
        value += f" on {category_name(figure.category)}"
    if figure.unread is None:
        yield label, value
        return
    if figure.wrong is None:
        yield label, f"{value} of those that show a reading, {percent(figure.unread.value)} neither"
        return
    if not said.is_shares:
        yield (
            label,
            f"{value} right, {percent(figure.wrong.value)} wrong and"
            f" {percent(figure.unread.value)} unread",
        )
        return
    ending = f"_{figure.category}" if figure.category else ""
    for name, share in (("wrong", figure.wrong), ("unread", figure.unread)):
        text = with_interval(share.value, share.interval)
        yield figure_label(result.metric, f"{name}{ending}"), text


def _widened(result: EvaluationResult, figure: CitedFigure) -> str:
    """Return the value of a figure; mistakes of a supported judge widen its interval."""
    trust, interval = result.trust, figure.interval
    plain_name = figure_key(figure.name)._replace(reference="")
    moved = trust.bias.get(str(plain_name)) if trust and trust.level == SUPPORTED else None
    if moved is None or not isinstance(interval, Interval):
        return score_text(result, figure.name)
    # The judge's mistakes may move the figure either way: each limit takes the worse.
    low, high = interval.low - max(0.0, moved[1]), interval.high - min(0.0, moved[0])
    return with_interval(figure.value, replace(interval, low=max(0.0, low), high=min(1.0, high)))


def _of_support(result: EvaluationResult, said: Headline) -> str:
    """Say how far the mistakes of a supported judge may move the figures; "" for others."""
    trust = result.trust
    if trust is None or trust.level != SUPPORTED or said.why_not:
        return ""
    return (
        f"This judge's mistakes may move {trust.moved} (supported by {trust.labels});"
        " the intervals include that."
    )


def _of_rank(result: EvaluationResult, said: Headline) -> tuple[str, str]:
    """Return label and value of the figure that ranks, and on which samples it does so."""
    label = figure_label(result.metric, said.by)
    if said.is_shares:
        return f"{label} on the samples that all of them read", ""
    which = "the lower of both, " if said.gap else ""
    interval = result.intervals.get(said.by)
    figure = CitedFigure(said.by, result.scores[said.by], interval)
    return f"{which}{label}", _widened(result, figure)


def _note(said: Headline) -> str:
    """Say which samples are in none of the figures; "" if all are."""
    uncounted = [f"the {count(c.n)} samples of {category_name(c.category)}" for c in said.uncounted]
    if not uncounted:
        return ""
    text = f"{' and '.join(uncounted)} are in none of them but those of all samples."
    return text[0].upper() + text[1:]


def _joined(figures: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{label} {value}".strip() for label, value in figures)


def _unvalued(figures: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((label, "") for label, _ in figures)


def _remedy(result: EvaluationResult, said: Headline) -> str:
    """Return what gives figures that may be cited: first a metric that needs no evaluator."""
    reasons = result.reasons_against(said.by)
    others = dict.fromkeys(
        _evidence_or_labels(result) if kind in ("evaluator", "bias") else _REMEDIES[kind]
        for kind in reasons
        # Another evaluator is meant by all of them.
        if not (kind in ("itself", "unresponsive") and {"evaluator", "bias"} & reasons.keys())
    )
    words = _by_words(result) if reasons.keys() & _OF_EVALUATORS else ""
    return "; or ".join(filter(None, [words, " and ".join(others)])) or "evaluate it again"


def _by_words(result: EvaluationResult) -> str:
    """Return how to judge the same translations without an evaluator; "" if no metric can."""
    config = next(
        (
            c
            for c in (result.declared.configs if result.declared else ())
            if c.name == result.config
        ),
        None,
    )
    if config is None:
        return ""
    src_lang, tgt_lang = source_language(result), base_code(result.tgt_lang)
    # Those of the test set first, so that no other is imported where one of them fits.
    of_dataset = f"cc_hf.test_sets.{result.dataset}."
    names = registry.names("metric")
    names.sort(key=lambda name: not registry.METRICS.get(name, "").startswith(of_dataset))
    for name in names:
        metric: type[Metric] | None = registry.find("metric", name)
        if metric is None or metric.takes_evaluator or metric.only_named or not metric.judges:
            continue
        if metric.fits(result.dataset, result.config, config.form, src_lang, tgt_lang):
            continue
        try:
            metric.check_available(tgt_lang)
        except (MissingDependencyError, MissingOptionError, UnknownNameError):
            continue
        return f"read the words, which needs no evaluator: `{_command(result, name, src_lang)}`"
    return ""


def _command(result: EvaluationResult, metric: str, src_lang: str) -> str:
    pair = f"{src_lang}-{result.tgt_lang}"
    data = pair if result.config == "default" else result.config
    if result.config != "default" and result.tgt_lang not in result.config:
        data += f" --language-pair {pair}"
    translator = signature.parse(result.signature)[1].get("sys", "")
    names = signature.evaluator_names(translator) if translator else []
    source = f"--system {names[0]}" if len(names) == 1 else "--translations FILE"
    return f"cc-hf evaluate {result.dataset} {data} {source} --metric {metric}"


def _evidence_or_labels(result: EvaluationResult) -> str:
    """Return how to get evidence on the judge, and how to correct its figures."""
    labels = "correct the figures by labels of some translations (--labels)"
    signed = signature.parse(result.signature)[1]
    names = signature.evaluator_names(signed.get("eval", ""))
    trust = result.trust
    is_checked = trust is not None and trust.rows and not trust.has_few_labels
    if is_checked or len(names) != 1 or names[0].startswith(("function", "the model")):
        return labels
    pair = f"{source_language(result)}-{base_code(result.tgt_lang)}"
    kind = registry.kind_of_sentences(result.dataset)
    pairs = registry.SENTENCES[kind][1] if kind else ()
    # Those of other test sets are not imported for a sentence.
    of_dataset = f".{result.dataset}.labels:"
    own_sets = (n for n, target in registry.LABEL_SETS.items() if of_dataset in target)
    has_labels = any(pair in registry.resolve("label set", n).configs for n in own_sets)
    # Labels of other sentences of the kind count by the same cues only, such as brackets.
    if pair not in pairs or not (has_labels or signed.get("cues") == "gender_brackets"):
        return labels
    words = f"{names[0]} {result.dataset}" if has_labels else names[0]
    cues = f" --cues {result.wording['name']}" if has_labels and result.wording else ""
    return f"check the judge, in minutes: `cc-hf judge check {words} -l {pair}{cues}`, or {labels}"


def _papers(result: EvaluationResult) -> Iterable[str]:
    papers = []
    if of_metric := card_section(result.metric, "metrics", "Citation"):
        papers.append(Citation(of_metric.partition("\n}\n")[0], "").short_name)
    for key in result.declared.citation_keys[:1] if result.declared else ():
        papers.append((key if isinstance(key, Citation) else CITATIONS[key]).short_name)
    return dict.fromkeys(papers)
