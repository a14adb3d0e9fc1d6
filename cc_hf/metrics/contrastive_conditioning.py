"""Contrastive conditioning: do correct cues make a translation more probable than incorrect ones?

See Vamvas & Sennrich 2021.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest
from cc_hf.evaluators.scores import SCORES
from cc_hf.evaluators.suitability import evaluator_notes
from cc_hf.fit_to_cite import asks_of_gender
from cc_hf.gender_marking import gender_marking, has_gendered_pronoun
from cc_hf.languages import pair_codes
from cc_hf.metrics.base import Rows, Scoring, StreamedMetric
from cc_hf.metrics.both_genders import BOTH, rows_of_both
from cc_hf.metrics.checks import Fields, check_ids, optional_text, own_data, texts
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, twin_figures
from cc_hf.metrics.neither import (
    BY_EVIDENCE,
    OFF,
    checked_threshold,
    not_given,
    shows_neither,
    signed_threshold,
    text_of_threshold,
)
from cc_hf.metrics.open_choice import MEAN_PROBABILITY, open_figures, open_share
from cc_hf.metrics.verdict_checks import check_probability, check_verdict
from cc_hf.results import EvaluationResult
from cc_hf.schema import (
    INCONCLUSIVE,
    NEITHER,
    ContrastiveSourceExample,
    Example,
    Judgement,
    ScoringRequest,
)
from cc_hf.statistics.accuracy import share
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.verdict_columns import VerdictColumns

__all__ = ["ContrastiveConditioning", "contests", "judge_rows", "requests"]

#: Keys of a reference, each with the check of its value.
_FIELDS: Fields = {
    "correct_sources": texts,
    "incorrect_sources": texts,
    "category": optional_text,
    "open_share": optional_text,
    "pair": optional_text,
}
_KEYS = ("correct_sources", "incorrect_sources", "category")
_WEIGHTED = (
    "The accuracy where a verdict weighs the more, the surer the evaluator is of it: by its rank of"
    " confidence in its category"
)


def requests(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> list[ScoringRequest]:
    """Return one request per translation and contrastive source."""
    return [
        ScoringRequest(source, translation, row)
        for row, (translation, reference) in enumerate(zip(predictions, references, strict=True))
        for key in _KEYS[:2]
        for source in reference[key]
    ]


def contests(references: Sequence[Mapping[str, Any]]) -> list[Contest]:
    """Return, for each row, the positions of both sides' requests in `requests`.

    Examples:
        >>> contests(
        ...     [
        ...         {"correct_sources": ["a"], "incorrect_sources": ["b", "c"]},
        ...         {"correct_sources": ["d"], "incorrect_sources": ["e"]},
        ...     ]
        ... )
        [(range(0, 1), range(1, 3)), (range(3, 4), range(4, 5))]
    """
    row_contests: list[Contest] = []
    start = 0
    for reference in references:
        n_correct, n_incorrect = (len(reference[key]) for key in _KEYS[:2])
        middle, end = start + n_correct, start + n_correct + n_incorrect
        row_contests.append((range(start, middle), range(middle, end)))
        start = end
    return row_contests


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    scores: npt.NDArray[np.float64],
    *,
    ids: Sequence[str] | None = None,
    unscored: Collection[int] = (),
    both_genders: Collection[int] = (),
    ties: str = "correct",
    threshold: float = 0.0,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation (section 3.2 of the paper).

    The best score of each side counts. Their share is `probability_correct`, from which the rank
    weight follows. If both sides score 0, it is 0.5, a tie.

    Args:
        scores: shape (number of requests,), 0 or more, in the order of `requests`.
        ties: what a tie is, "correct" as in the paper's program, or "incorrect" as in its text
            (section 3.4).

    Examples:
        >>> row = {"correct_sources": ["a"], "incorrect_sources": ["b", "c"], "category": "female"}
        >>> judgement = judge_rows(["Die Ärztin half."], [row], np.array([0.6, 0.1, 0.2]))[0]
        >>> judgement.verdict, round(judgement.probability_correct, 2), judgement.weight
        ('correct', 0.75, 1)
    """
    names = check_ids(ids, len(predictions))
    best = np.empty((len(predictions), 2))
    start = 0
    for row, reference in enumerate(references):
        for side, key in enumerate(_KEYS[:2]):
            n = len(reference[key])
            best[row, side] = scores[start : start + n].max()
            start += n
    probability = np.array(
        [
            0.0 if row in unscored else share(correct, incorrect)
            for row, (correct, incorrect) in enumerate(best.tolist())
        ]
    )
    categories = [reference.get("category") or "all" for reference in references]
    correct = probability >= 0.5 if ties == "correct" else probability > 0.5
    verdicts = ["correct" if is_correct else "incorrect" for is_correct in correct]
    for row in np.flatnonzero(shows_neither(probability, threshold)).tolist():
        verdicts[row] = NEITHER
    for row in both_genders:
        verdicts[row] = INCONCLUSIVE
    is_neither = np.array([verdict == NEITHER for verdict in verdicts]) if threshold else None
    weights = VerdictColumns.of(categories, correct, probability, is_neither=is_neither).weights
    return tuple(
        Judgement(
            example_id=names[row],
            category=categories[row],
            probability_correct=float(probability[row]),
            is_correct=verdicts[row] == "correct",
            verdict=verdicts[row],
            predicted={INCONCLUSIVE: BOTH, NEITHER: NEITHER}.get(verdicts[row], ""),
            score_correct=None if row in unscored else float(best[row, 0]),
            score_incorrect=None if row in unscored else float(best[row, 1]),
            weight=int(weights[row]),
            translation=predictions[row],
        )
        for row in range(len(predictions))
    )


@dataclass(frozen=True)
class ContrastiveConditioning(StreamedMetric):
    """Accuracy by contrastive conditioning, plain and weighted.

    Contrastive conditioning finds disambiguation errors in any translation without references: an
    evaluator model scores the translation under variants of the source that carry a correct or an
    incorrect disambiguation cue ("the [female] doctor" / "the [male] doctor"). The translation is
    judged correct when it is more probable under a correct cue.

    If an evaluator that ships with the package judges data for which it was not made, the result
    carries a note, and a warning is given (`ResultWarning`).

    Attributes:
        score: "geometric", "arithmetic" or "reference" (`cc_hf.evaluators.base.SCORES`); ignored
            for a function.
        on_blank: what a blank translation is: "error", or "incorrect", which counts it with
            probability 0 (the signature says so if there is one).
        ties: what a tie is: "correct" as in the paper's program, or "incorrect" as in its text,
            which asks for a share above 0.5 (section 3.4).
        marks_gender: whether the translations can show a gender that is asked for: "table" goes by
            their language (`cc_hf.gender_marking`), "yes" and "no" override it and are signed. No
            figure depends on it.
        neither: the difference of log scores below which a translation shows neither reading, so
            that no accuracy counts it; "evidence" for the threshold that labels of this judge on
            this test set, or on others of its kind, give; "off" for two verdicts.
    """

    name = "contrastive_conditioning"
    title = "contrastive conditioning"
    about = (
        "An evaluator model says whether the translation is more probable under the correct reading"
        " of the source than under an incorrect one."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test.
        references (list of dict): one per translation, with `correct_sources` and
            `incorrect_sources` (lists of sources) and, optionally, `category` (str), the group that
            accuracies are computed for ("all" by default), `pair` (str), a name that two rows
            share, such as a sentence and the same with the other gender, and `open_share` (str),
            the name of the share of translations with the reading of `correct_sources`, where
            nothing says which reading is right.

    Returns:
        n, n_correct, n_ties (int): numbers of translations; n_pairs, n_pairs_correct (int): with
            pairs; n_blank, n_too_long (int): those that were not scored and count as incorrect, if
            there are any; n_inconclusive (int): those that name both genders ("der*die Ärzt*in"),
            which have no verdict and are not right.
        n_neither (int), neither_share, neither_share_<category> (float): with the option `neither`,
            those that show neither reading, which no accuracy counts.
        probability_correct (list of float): one per translation, in [0, 1].
        readings (list of str), probability_counted (list of float): with `open_share` in place of
            accuracies and these lists, the reading of each row and the probability of the one that
            the share counts (`cc_hf.metrics.open_choice`); the share is under its own name, over
            all translations and over each category.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/contrastive_conditioning")
        >>> source = "The assistant asked the [{}] doctor if she needs any help."
        >>> reference = {
        ...     "correct_sources": [source.format("female")],
        ...     "incorrect_sources": [source.format("male")],
        ...     "category": "female",
        ... }
        >>> result = metric.compute(
        ...     predictions=["Der Assistent fragte die Ärztin, ob sie Hilfe brauche."],
        ...     references=[reference],
        ...     src_lang="en",
        ...     tgt_lang="de",
        ... )
        >>> result["accuracy"]
        1.0
    """
    papers = ("vamvas-sennrich-2021",)
    signature_name = "cc"
    version = 5
    reference_fields = _FIELDS
    is_blank_allowed = False
    leaderboard = ("accuracy", "weighted_accuracy", "min_accuracy")
    figure_names = {  # noqa: RUF012
        **COMMON,
        **shares("weighted_accuracy", "weighted accuracy", "high", _WEIGHTED),
        "weighted_min_accuracy": FigureDeclaration(
            "weighted minimum accuracy",
            "high",
            "The weighted accuracy of the category on which it is lowest.",
        ),
        "mean_confidence": FigureDeclaration(
            "mean confidence",
            "none",
            "How far the probability of the correct reading is from 50 %, on average: 0 for a"
            " tie, 100 for certainty.",
        ),
        **shares(
            "feminine_share",
            "feminine share",
            "none",
            "The share of translations that are more probable for a woman than for a man, where"
            " nothing says which is right",
        ),
        **shares(
            "masculine_share",
            "masculine share",
            "none",
            "The share of translations that are more probable for a man than for a woman, where"
            " nothing says which is right",
        ),
        "mean_probability": MEAN_PROBABILITY,
        **shares(
            "neither_share",
            "neither",
            "none",
            "The share of translations that show neither reading, since their score barely depends"
            " on the cue; accuracies leave them out",
            counts=lambda judgement: judgement.verdict == NEITHER,
        ),
    }

    score: str = "geometric"
    on_blank: str = "error"
    ties: str = "correct"
    marks_gender: str = "table"
    neither: str | float = OFF

    def __post_init__(self) -> None:
        check_choice("on_blank", self.on_blank, ("error", "incorrect"))
        check_choice("ties", self.ties, ("correct", "incorrect"))
        check_choice("marks_gender", self.marks_gender, ("table", "yes", "no"))
        object.__setattr__(self, "neither", checked_threshold(self.neither))

    @property
    def counts_blank(self) -> bool:
        """Whether a blank translation is judged."""
        return self.on_blank == "incorrect"

    @property
    def threshold(self) -> float:
        """The difference of log scores below which neither side wins; 0 for none."""
        if self.neither == BY_EVIDENCE:
            raise InputError(
                "neither: expected a number here, got evidence, which is looked up where a data"
                " set is evaluated; `cc-hf judge check` shows the thresholds"
            )
        return 0.0 if isinstance(self.neither, str) else self.neither

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" for every configuration with contrastive sources, else the reason."""
        return (
            ""
            if form is ContrastiveSourceExample
            else f"{dataset} {config} has no contrastive sources; contrastive_conditioning needs"
            " them"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return the sources of both sides, category, open share and pair of the examples."""
        return [
            {key: getattr(example, key) for key in _KEYS}
            | {key: example.extra.get(key, "") for key in ("open_share", "pair")}
            for example in cast(Sequence[ContrastiveSourceExample], examples)
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse a source that is on both sides, and open rows beside others."""
        open_share(references)
        for row, reference in enumerate(references):
            if set(reference["correct_sources"]) & set(reference["incorrect_sources"]):
                raise InputError(
                    f"row {row}: the same source is both correct and incorrect; every such pair"
                    " would be a tie. Expected sources that differ in their cue"
                )

    def requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return one request per translation and contrastive source."""
        check_choice("score", self.score, SCORES)
        return requests(rows.translations, rows.references)

    def contests(self, rows: Rows) -> list[Contest]:
        """Return the indices of both sides of every row."""
        return contests(rows.references)

    @property
    def evaluator_score(self) -> str:
        """The score, which the evaluators call by the same name."""
        return self.score

    def notes(self, rows: Rows, evaluator: Evaluator, *, dataset: str) -> tuple[str, ...]:
        """Return a note if a shipped evaluator judges data for which it was not made."""
        return evaluator_notes(evaluator, rows.references, dataset=dataset)

    def data_fields(
        self, references: Sequence[Mapping[str, Any]], origin: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the signature fields of the data; cues of the caller are called "own"."""
        # A name that no row has is left out, so that digests of earlier versions stay the same.
        filled = [
            {key: value for key, value in reference.items() if key in _KEYS or value}
            for reference in references
        ]
        return {"data": own_data(filled), "cues": "own", **origin}

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every translation by its scores and compute the figures."""
        scoring = self.scored(scoring)
        judgements = self.row_judgements(rows, scoring)
        columns = _columns(judgements, has_neither=bool(self.threshold))
        if lacking := columns.without_reading:
            figures = replace(self, neither=OFF).measure(rows, bootstrap, scoring)
            return replace(figures, notes=(*figures.notes, not_given(lacking)))
        figures = self.column_figures(
            columns,
            self.model_fields(rows, scoring, self.score),
            {reason: len(numbers) for reason, numbers in scoring.unscored.items()},
        )
        figures = replace(_with_rows(figures, judgements, rows.pairs), judgements=judgements)
        figures = open_figures(figures, open_share(rows.references))
        lang = _target(figures)
        n_marked = sum(has_gendered_pronoun(text, lang) for text in rows.translations)
        return self.with_marking(figures, n_marked, len(rows.references))

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return accuracies, plain and weighted, the mean confidence, and the figure of pairs."""
        # Files of the first versions have no probabilities, so that only accuracies follow.
        if any(j.probability_correct is None for j in judgements):
            return super().proof(judgements, signed)
        columns = _columns(judgements, has_neither="neither" in signed)
        figures = cls().column_figures(columns, {}, {})
        return _with_rows(figures, judgements, [j.pair for j in judgements])

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse probabilities, verdicts and weights that do not follow from the scores."""
        threshold = signed_threshold(signed)
        for j in judgements:
            if j.score_correct is None or j.score_incorrect is None:
                probability = 0.0
            else:
                probability = share(j.score_correct, j.score_incorrect)
            check_probability(j, probability)
            if j.verdict == INCONCLUSIVE and j.predicted == BOTH:
                continue
            check_verdict(j, probability, ties=signed.get("tie", ""), threshold=threshold)
        columns = _columns(judgements, has_neither="neither" in signed)
        for j, weight in zip(judgements, columns.weights.tolist(), strict=True):
            if j.weight != weight:
                raise InputError(
                    f"example {j.example_id!r}: weight: expected {weight}, the rank of its"
                    f" confidence in its category, got {j.weight}"
                )

    def with_marking(self, figures: Figures, n_marked: int, n: int) -> Figures:
        """Return figures with a note where a gender is asked for that the target language does not
        show, or in pronouns only; then with the number of translations that have one.
        """
        categories = [c.category for c in figures.categories] + [
            reading.category for reading in figures.readings
        ]
        known = gender_marking(_target(figures))
        is_asked = asks_of_gender(categories, figures.scores)
        if self.marks_gender != "table" or known is None or not is_asked:
            return figures
        language, marking = known
        if marking.is_nothing:
            where = "a few nouns only" if marking.nouns == "few" else "no noun, verb or pronoun"
            note = (
                f"{language} marks gender in {where}, so that there is nothing to judge; the option"
                " marks_gender=yes overrides this, and is signed"
            )
            return replace(figures, notes=(*figures.notes, note))
        if not marking.is_in_pronouns_only:
            return figures
        note = (
            f"{language} marks gender in pronouns: {n_marked:,} of {n:,} translations"
            f" ({100 * n_marked / n:.1f} %) have one. Verdicts on the others say little"
        )
        counts = {**figures.counts, "n_marked": n_marked}
        return replace(figures, counts=counts, notes=(*figures.notes, note))

    def row_judgements(self, rows: Rows, scoring: Scoring) -> tuple[Judgement, ...]:
        """Return the verdict on every translation."""
        return judge_rows(
            rows.translations,
            rows.references,
            scoring.scores,
            ids=rows.ids,
            unscored=scoring.unscored_rows,
            both_genders=rows_of_both(rows),
            ties=self.ties,
            threshold=self.threshold,
        )

    def option_fields(self) -> dict[str, str]:
        """Return the signature fields of the options that verdicts depend on."""
        return {
            "pool": "max",
            "weight": "rank",
            "tie": self.ties,
            **({"neither": text_of_threshold(self.threshold)} if self.threshold else {}),
            **({} if self.marks_gender == "table" else {"marks": self.marks_gender}),
        }

    def column_figures(
        self, columns: VerdictColumns, model: Mapping[str, str], unscored: Mapping[str, int]
    ) -> Figures:
        """Return all accuracies, plain and weighted, and the mean confidence."""
        counted = {reason: n for reason, n in unscored.items() if n}
        return Figures(
            scores=columns.scores(),
            signature={
                **model,
                **self.option_fields(),
                **{reason.replace("_", ""): "incorrect" for reason in counted},
            },
            intervals=columns.intervals(),
            categories=columns.categories,
            counts={**columns.counts, **{f"n_{reason}": n for reason, n in counted.items()}},
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return the probability of being correct for every row."""
        return {"probability_correct": [j.probability_correct for j in result.judgements]}


def _columns(judgements: Sequence[Judgement], *, has_neither: bool) -> VerdictColumns:
    is_neither = np.array([j.verdict == NEITHER for j in judgements]) if has_neither else None
    return VerdictColumns.of(
        [j.category for j in judgements],
        np.array([j.is_correct for j in judgements]),
        np.array([j.probability_correct for j in judgements]),
        is_neither=is_neither,
    )


def _with_rows(figures: Figures, judgements: Sequence[Judgement], pairs: Sequence[str]) -> Figures:
    """Return figures of columns with what their rows add: missing verdicts, and pairs."""
    counted = Counter(j.category for j in judgements if j.verdict == INCONCLUSIVE)
    return figures.with_inconclusive(counted).joined(twin_figures(judgements, pairs))


def _target(figures: Figures) -> str:
    return pair_codes(str(figures.signature["langs"]))[1]
