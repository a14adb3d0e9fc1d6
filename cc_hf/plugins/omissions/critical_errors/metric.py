"""Does a translation say what its source does not: is it more probable under a source with another
number, without the negation, with the names exchanged?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, shown
from cc_hf.evaluators.contests import Contest
from cc_hf.metrics.base import Rows, Scoring, ScoringMetric
from cc_hf.metrics.checks import Fields, check_ids, optional_text, text
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.normalization import is_blank
from cc_hf.plugins.omissions.critical_errors.rules import (
    PHENOMENA,
    Rewriting,
    languages,
    rewritings,
)
from cc_hf.plugins.omissions.critical_errors.thresholds import best_threshold
from cc_hf.plugins.omissions.source_variants import (
    Variants,
    label_figure_names,
    label_figures,
    n_without_difference,
    share_figure,
    with_error_rate,
)
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement, ScoringRequest, TextSpan
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["CriticalErrors", "judge_rows"]

_FIELDS: Fields = {"source": text, "errors": optional_text, "category": optional_text}
#: Row -> changes of its source, each with a difference in nats per token.
Differences = Mapping[int, Sequence[tuple[Rewriting, float]]]


def _thresholds(min_difference: float | str) -> dict[str, float]:
    """Return the least difference of each phenomenon."""
    parts = str(min_difference).split(",")
    named = [part.rpartition("=") for part in parts]
    try:
        thresholds = {name.strip(): float(value) for name, _, value in named}
    except ValueError:
        thresholds = {"": -1.0}
    is_named = set(thresholds) <= set(PHENOMENA) and len(thresholds) == len(parts)
    if not (is_named or list(thresholds) == [""]) or not all(
        0 <= value < np.inf for value in thresholds.values()
    ):
        raise InputError(
            "min_difference: expected a number from 0, or numbers of phenomena such as"
            f" negation=0.02,number=0.1 ({', '.join(PHENOMENA)}), got {shown(min_difference)}"
        )
    return {name: thresholds.get(name, thresholds.get("", 0.0)) for name in PHENOMENA}


def _threshold_text(min_difference: float | str) -> str:
    """Return the least difference for signatures, equal for equal values."""
    thresholds = _thresholds(min_difference)
    if len(set(thresholds.values())) == 1:
        return f"{thresholds['negation']:g}"
    return "+".join(f"{name}={value:g}" for name, value in thresholds.items() if value)


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    differences: Differences,
    *,
    ids: Sequence[str] | None = None,
    min_difference: float | str = 0.0,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation: "incorrect" with a critical error.

    Examples:
        >>> row = {"source": "He is not here.", "errors": "", "category": ""}
        >>> change = Rewriting("negation", 5, 9, "")
        >>> (judged,) = judge_rows(["Er ist hier."], [row], {0: [(change, 0.4)]})
        >>> judged.verdict, judged.predicted
        ('incorrect', 'negation')
    """
    names, thresholds = check_ids(ids, len(references)), _thresholds(min_difference)
    judgements = []
    for row, reference in enumerate(references):
        spans = tuple(
            _span(reference["source"], change, difference)
            for change, difference in differences.get(row, ())
            if difference > thresholds[change.phenomenon]
        )
        verdict = "inconclusive" if row not in differences else "incorrect" if spans else "correct"
        judgements.append(
            Judgement(
                names[row],
                reference["category"] or "all",
                verdict == "correct",
                predictions[row],
                verdict,
                predicted="+".join(dict.fromkeys(span.phenomenon for span in spans)),
                gold="" if reference["errors"] == "none" else reference["errors"],
                spans=spans,
            )
        )
    return tuple(judgements)


def _span(source: str, change: Rewriting, difference: float) -> TextSpan:
    phenomenon, start, end, replacement = change
    return TextSpan("source", start, end, source[start:end], difference, phenomenon, replacement)


@dataclass(frozen=True)
class CriticalErrors(ScoringMetric):
    """Errors that reverse or falsify a sentence, by rewritings of its source.

    Critical errors reverse or falsify a sentence: a lost negation, another number, names exchanged.
    Rules of the source language rewrite the source so that it says the wrong thing: without a
    negation or with one, with another number, date or unit, with names exchanged, "less" for
    "more", "after" for "before", "may" for "must"
    (`cc_hf.plugins.omissions.critical_errors.rules`). A translation that is more probable under a
    rewriting than under its source, by an evaluator model, has the error and is incorrect. One
    whose source has no place for a rule is inconclusive, as is one that is blank or equals its
    source.

    This is contrastive conditioning (Vamvas & Sennrich 2021) with rules of this project; no paper
    has these figures. Those of a phenomenon end in its name, such as error_rate_negation.

    Attributes:
        phenomena: which to look for, separated by commas: negation, added_negation, number, date,
            unit, name, comparison, order, modality; "" for all of the language.
        min_difference: nats per token by which a translation must be more probable under the
            rewriting: a number, or one for each phenomenon ("negation=0.02,number=0.1").
    """

    name = "critical_errors"
    title = "critical errors"
    about = (
        "An evaluator model says whether the translation is more probable under a source with a"
        " critical change: without its negation, with another number, with names exchanged."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is not judged.
        references (list of dict): one per translation, with `source` (str). Optional keys are
            `errors` (str), the phenomena that people found, joined by "+", or "none"; and
            `category` (str).
        src_lang (str): ISO 639-1 code of the sources, "de" or "en".

    Returns:
        n, n_correct, n_inconclusive, n_skipped, n_ties (int): numbers of translations.
        n_negation, n_added_negation, n_number, n_date, n_unit, n_name, n_comparison, n_order,
            n_modality (int): numbers of translations whose source has a place for a rule.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): phenomena of the errors, joined by "+", or "".
        rewritings (list of list of str): the changes under which a translation is more probable.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/critical_errors")
        >>> def evaluator(sources, translations):
        ...     return [0.9 if "not" not in source else 0.1 for source in sources]
        >>> metric.compute(
        ...     predictions=["Sie kam heute."],
        ...     references=[{"source": "She did not come today."}],
        ...     evaluator=evaluator,
        ...     src_lang="en",
        ...     tgt_lang="de",
        ... )["rewritings"]
        [['negation:  not → ∅']]
    """
    papers = ("vamvas-sennrich-2021",)
    signature_name = "critical"
    version = 1
    reference_fields = _FIELDS
    is_blank_allowed = True
    reads_cues = False
    only_named = True
    leaderboard = ("accuracy",)
    key_figures = ("error_rate", "error_rate_negation", "error_rate_number")
    interval_method = (
        "by Wilson's score, within categories; AUC and balanced accuracy by bootstrap over sources"
    )
    figure_names = {  # noqa: RUF012
        **COMMON,
        "accuracy": FigureDeclaration(
            "accuracy", "high", "The share of translations without a critical error."
        ),
        "error_rate": FigureDeclaration(
            "error rate", "low", "The share of judged translations with a critical error."
        ),
        "n_inconclusive": FigureDeclaration(
            "not judged",
            "low",
            "The share of translations whose sources have no place for a rule, or that are blank or"
            " copies. They are not correct.",
        ),
        "error_rate_*": FigureDeclaration(
            "{}: error rate",
            "low",
            "The share of translations with this error, of those with a place for it.",
        ),
        **label_figure_names("{}_*", "{}:"),
        "balanced_accuracy_*": FigureDeclaration(
            "{}: balanced accuracy",
            "high",
            "The mean of the shares of right and of wrong translations that are told, with a"
            " threshold that other translations chose.",
        ),
    }

    phenomena: str = ""
    min_difference: float | str = 0.0

    def __post_init__(self) -> None:
        unknown = set(filter(None, self.phenomena.split(","))) - set(PHENOMENA)
        if unknown:
            raise InputError(
                f"phenomena: expected some of {', '.join(PHENOMENA)}, separated by commas, got"
                f" {shown(self.phenomena)}"
            )
        _thresholds(self.min_difference)

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" for sources in a language that has rules."""
        if src_lang in languages():
            return ""
        return f"expected sources in {' or '.join(languages())}, which have rules, got {src_lang!r}"

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return source, category, and the errors that the examples name."""
        return [
            {
                "source": example.source,
                "errors": example.extra.get("errors"),
                "category": example.category,
            }
            for example in examples
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse errors that are not phenomena."""
        for row, reference in enumerate(references):
            errors = reference["errors"]
            if errors not in ("", "none") and not set(errors.split("+")) <= set(PHENOMENA):
                raise InputError(
                    f"row {row}: errors: expected none, or some of {', '.join(PHENOMENA)} joined by"
                    f" '+', got {errors!r}"
                )

    @property
    def evaluator_score(self) -> str:
        """The score: exp of the mean log-probability per token."""
        return "geometric"

    def requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return the translation under its source and under each rewriting."""
        return self._variants(rows).requests

    def contests(self, rows: Rows) -> list[Contest]:
        """Return the indices of both requests of each rewriting."""
        return self._variants(rows).contests

    def _variants(self, rows: Rows) -> Variants[Rewriting]:
        """Return the rewritings of all sources, with their requests."""
        wanted = self.phenomena.split(",") if self.phenomena else PHENOMENA
        variants: Variants[Rewriting] = Variants()
        sources = rows.column("source")
        for row, (source, translation) in enumerate(zip(sources, rows.translations, strict=True)):
            if is_blank(source) or is_blank(translation) or source.strip() == translation.strip():
                continue
            for change in rewritings(source, translation, rows.src_lang):
                if change.phenomenon in wanted:
                    variants.add(row, change, source, change.apply(source), translation)
        return variants

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return verdicts, and the rewritings under which each translation is more probable."""
        return {
            **ScoringMetric.row_values(result),
            "rewritings": [
                [f"{s.phenomenon}: {s.text or '∅'} → {s.replacement or '∅'}" for s in j.spans]
                for j in result.judgements
            ],
        }

    @classmethod
    def of_signature(cls, fields: Mapping[str, str]) -> CriticalErrors:
        """Return the metric with the options that a signature names."""
        return cls(fields.get("phen", "").replace("+", ","), fields["mind"].replace("+", ","))

    def changes(
        self, rows: Rows, scoring: Scoring, *, only_errors: bool
    ) -> list[tuple[TextSpan, ...]]:
        """Return the rewritings, with their differences."""
        differences = self._variants(rows).differences(scoring.scores)
        thresholds = _thresholds(self.min_difference)
        return [
            tuple(
                _span(source, change, difference)
                for change, difference in differences.get(row, ())
                if not only_errors or difference > thresholds[change.phenomenon]
            )
            for row, source in enumerate(rows.column("source"))
        ]

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return accuracies and the rate of errors. Rates of one kind need more than verdicts."""
        return with_error_rate(super().proof(judgements, signed), judgements)

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the errors that are named."""
        for j in judgements:
            check_reading(j, *(["incorrect"] if j.predicted else ["correct", "inconclusive"]))

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every translation and compute the figures."""
        scoring = self.scored(scoring)
        differences = self._variants(rows).differences(scoring.scores)
        judgements = judge_rows(
            rows.translations,
            rows.references,
            differences,
            ids=rows.ids,
            min_difference=self.min_difference,
        )
        n_judged = sum(j.verdict != "inconclusive" for j in judgements)
        by_phenomenon = _largest(differences)
        rates = share_figure(
            "error_rate",
            [j.verdict == "incorrect" for j in judgements],
            [j.verdict != "inconclusive" for j in judgements],
        )
        chosen = {}
        for phenomenon, largest in by_phenomenon.items():
            least = _thresholds(self.min_difference)[phenomenon]
            of_phenomenon, threshold = _of_phenomenon(phenomenon, largest, rows, least, bootstrap)
            rates = rates.joined(of_phenomenon)
            if threshold is not None:
                chosen[phenomenon] = threshold
        figures = Figures(
            signature={
                **self.model_fields(rows, scoring, "geometric"),
                "rules": rows.src_lang,
                **({"phen": "+".join(sorted(self.phenomena.split(",")))} if self.phenomena else {}),
                "mind": _threshold_text(self.min_difference),
                "tie": "correct",
            },
            judgements=judgements,
            counts={
                **{f"n_{name}": len(by_phenomenon.get(name, ())) for name in PHENOMENA},
                "n_skipped": len(judgements) - n_judged,
                "n_ties": n_without_difference([differences]),
            },
            notes=_notes(judgements, n_judged, chosen),
        )
        return summarize(judgements).joined(rates, figures)


def _largest(differences: Differences) -> dict[str, dict[int, float]]:
    """Return phenomenon -> row -> the largest difference."""
    largest: dict[str, dict[int, float]] = {}
    for row, changes in differences.items():
        for change, difference in changes:
            rows = largest.setdefault(change.phenomenon, {})
            rows[row] = max(difference, rows.get(row, difference))
    return {name: largest[name] for name in PHENOMENA if name in largest}


def _of_phenomenon(
    phenomenon: str,
    largest: Mapping[int, float],
    rows: Rows,
    least: float,
    bootstrap: Bootstrap,
) -> tuple[Figures, float | None]:
    """Return a phenomenon's figures and its best threshold, None without enough labels."""
    values = np.array(list(largest.values()))
    rate = share_figure(f"error_rate_{phenomenon}", values > least, np.ones(len(values)))
    errors = [rows.references[row]["errors"] for row in largest]
    known = np.array([text != "" for text in errors], dtype=bool)
    gold: npt.NDArray[np.bool_] = np.array(
        [phenomenon in text.split("+") for text in errors], dtype=bool
    )[known]
    sources = [rows.references[row]["source"] for row in np.array([*largest])[known]]
    name = f"{{}}_{phenomenon}"
    of_labels = label_figures(
        name, values[known], gold, sources, min_difference=least, bootstrap=bootstrap
    )
    chosen = best_threshold(values[known], gold, sources, bootstrap)
    if chosen is None:
        return rate.joined(of_labels), None
    balanced = name.format("balanced_accuracy")
    best = Figures({balanced: chosen.accuracy}, intervals={balanced: chosen.interval})
    return rate.joined(of_labels, best), chosen.threshold


def _notes(
    judgements: Sequence[Judgement], n_judged: int, chosen: Mapping[str, float]
) -> tuple[str, ...]:
    notes = []
    if n_judged < len(judgements):
        notes.append(
            f"{len(judgements) - n_judged:,} of {len(judgements):,} translations are not judged:"
            " their sources have no place for a rule, or they are blank or copies"
        )
    n_wrong = sum(j.verdict == "incorrect" for j in judgements)
    if 2 * n_wrong > n_judged:
        notes.append(
            f"{n_wrong:,} of {n_judged:,} translations have a critical error: the evaluator may be"
            " too small for these texts, or the translations are of other sources"
        )
    if chosen:
        thresholds = ",".join(f"{name}={value:.3g}" for name, value in chosen.items())
        notes.append(
            "Thresholds that tell right from wrong best, chosen on half of the labelled"
            f" translations: --option min_difference={thresholds}"
        )
    return tuple(notes)
