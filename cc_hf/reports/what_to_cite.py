"""What of a result to cite: figures, intervals, signature and papers, or why none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cc_hf.citations import CITATIONS, Citation
from cc_hf.data.card_sections import card_section
from cc_hf.evaluators.suitability import recommended
from cc_hf.reports.figure_text import (
    figure_label,
    metric_name,
    ordered_categories,
    score_text,
    source_language,
)
from cc_hf.reports.key_figures import main_figure
from cc_hf.results import CORRECTED, TRANSFERRED, EvaluationResult

__all__ = ["UNFIT", "WhatToCite", "figures_to_cite", "what_to_cite", "why_unfit"]

#: The badge of figures that are not fit to be cited.
UNFIT = "not fit to cite"
_MOST_CATEGORIES = 4  # beside a minimum
_REMEDIES = {
    "itself": "judge the system by another evaluator",
    "ties": "find an evaluator that sees the cues",
    "inconclusive": "choose a metric that reads these translations",
    "translations": "check the file of translations",
    "limit": "judge all examples",
}


class WhatToCite(NamedTuple):
    """What of a result to cite.

    Attributes:
        metric: the metric in words.
        figures: labels and values of the figures, the main one first.
        papers: the papers of the metric and of the data, each once.
        why_not: why nothing may be cited, as phrases; "" if the figures may be cited.
        remedy: what gives figures that may be cited; "" if these are.
    """

    metric: str
    figures: tuple[tuple[str, str], ...]
    papers: tuple[str, ...]
    signature: str
    why_not: str
    remedy: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """The content in sentences."""
        first, *others = (f"{label} {value}".strip() for label, value in self.figures)
        figures = f"{first}{', beside ' if others else ''}{', '.join(others)}"
        if self.why_not:
            return (
                f"Nothing yet: {self.why_not}.",
                f"To have figures that can be cited, {self.remedy}.",
                f"The figures would be {figures} ({self.metric}).",
            )
        papers = f" Papers: {'; '.join(self.papers)}." if self.papers else ""
        return (f"{figures} ({self.metric}), each with its interval and the signature.{papers}",)


def what_to_cite(results: Iterable[EvaluationResult]) -> WhatToCite | None:
    """Return what to cite of the results of one system: the first that is fit to be cited, else the
    first; None if none has scores.

    Examples:
        >>> scores = {"accuracy": 0.5, "min_accuracy": 0.4}
        >>> result = EvaluationResult("", "", "de", "own", "own|n:2", 2, scores, {}, (), ())
        >>> what_to_cite([result]).sentences
        ('minimum accuracy 40.0 (own), each with its interval and the signature.',)
    """
    scored = [result for result in results if result.scores]
    if not scored:
        return None
    result = next((r for r in scored if not why_unfit(r)), scored[0])
    names = figures_to_cite(result)
    figures = tuple((figure_label(result.metric, n), score_text(result, n)) for n in names)
    why_not = why_unfit(result)
    remedy = " and ".join(
        dict.fromkeys(
            _better_evaluator(result) if kind == "evaluator" else _REMEDIES.get(kind, "")
            for kind, reason in result.unfit.items()
            # Another evaluator is meant by both.
            if reason in why_not and not (kind == "itself" and "evaluator" in result.unfit)
        )
    )
    return WhatToCite(
        metric_name(result.metric),
        figures,
        tuple(_papers(result)),
        result.signature,
        why_not,
        remedy if why_not else "",
    )


def figures_to_cite(result: EvaluationResult) -> list[str]:
    """Return the names of the figures to cite: the main one, and beside a minimum those of the
    categories if there are few.

    Args:
        result: a result with scores.
    """
    main = main_figure(result)
    prefix = next((p for p in (CORRECTED, TRANSFERRED) if main.startswith(p)), "")
    beside = [f"{prefix}accuracy_{c.category}" for c in ordered_categories(result)]
    beside = [name for name in beside if name in result.scores]
    if not main.endswith("min_accuracy") or len(beside) > _MOST_CATEGORIES:
        beside = []
    return [main, *beside]


def why_unfit(result: EvaluationResult) -> str:
    """Return why the main figure of a result is not fit to be cited, as phrases; "" if it is."""
    return result.why_unfit(main_figure(result))


def _better_evaluator(result: EvaluationResult) -> str:
    large = recommended(source_language(result), result.tgt_lang)
    named = f" such as {large.name}" if large else ""
    return f"judge by a large evaluator{named}, or correct these by labels (--labels, --audit)"


def _papers(result: EvaluationResult) -> Iterable[str]:
    papers = []
    if of_metric := card_section(result.metric, "metrics", "Citation"):
        papers.append(Citation(of_metric.partition("\n}\n")[0], "").short_name)
    for key in result.declared.citation_keys[:1] if result.declared else ():
        papers.append((key if isinstance(key, Citation) else CITATIONS[key]).short_name)
    return dict.fromkeys(papers)
