"""What a metric is: it checks rows, judges translations one by one, and computes figures with
intervals from the judgements.

Only `written` makes a result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from cc_hf import registry, signature
from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest, scorer_fields
from cc_hf.languages import base_code
from cc_hf.metrics.checks import Fields, check_references, check_rows, own_data
from cc_hf.metrics.figure_names import COMMON, FigureDeclarations
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.normalization import NORMALIZATION, composed_start, composed_value, is_blank
from cc_hf.results import EvaluationResult
from cc_hf.schema import (
    INCONCLUSIVE,
    NEITHER,
    Example,
    Judgement,
    Reading,
    ScoringRequest,
    TextSpan,
)
from cc_hf.statistics.bootstrap import Bootstrap, known_intervals, missing_intervals
from cc_hf.statistics.correction import corrected_accuracies
from cc_hf.statistics.score_intervals import Estimate
from cc_hf.statistics.verdict_columns import VerdictColumns

__all__ = [
    "Metric",
    "Origin",
    "Rows",
    "Scoring",
    "ScoringMetric",
    "StreamedMetric",
    "finish",
    "label_column",
    "registered_metric",
    "written",
]


@dataclass(frozen=True)
class Rows:
    """The rows that one metric judges, already checked.

    Attributes:
        translations: one per reference, composed (NFC); empty for a metric that judges the
            evaluator itself.
        references: what the metric reads, composed likewise, with exactly the keys of
            `Metric.reference_fields`.
        ids: one name per reference.
        src_lang, tgt_lang: codes of `cc_hf.languages` without script and region, by which rules and
            word lists are found; "" for a language that is not known.
        pairs: name of the pair of each reference, "" for none; empty if none has one.
        untranslated: row whose translation is "" since a refusal or a placeholder was given, which
            no metric counts as right -> what was given.
        languages: source and target language with their script and region, for evaluators,
            signatures and results; those of `src_lang` and `tgt_lang` if they are not given.

    Examples:
        >>> rows = Rows(["Ja.", " "], [{"pair": "a"}, {"pair": "a"}], ["0", "1"], tgt_lang="de")
        >>> rows.column("pair"), rows.n_blank
        (['a', 'a'], 1)
    """

    translations: list[str]
    references: list[dict[str, Any]]
    ids: list[str]
    src_lang: str = ""
    tgt_lang: str = ""
    pairs: Sequence[str] = ()
    untranslated: Mapping[int, str] = field(default_factory=dict)
    languages: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        if self.languages == ("", ""):
            object.__setattr__(self, "languages", (self.src_lang, self.tgt_lang))
        for name in ("src_lang", "tgt_lang"):
            object.__setattr__(self, name, base_code(getattr(self, name)))

    def column(self, key: str) -> list[Any]:
        """Return the values of one key in all references."""
        return [reference[key] for reference in self.references]

    @property
    def with_untranslated(self) -> list[str]:
        """The translations with refusals and placeholders as they were given, for aligners."""
        return [self.untranslated.get(row, text) for row, text in enumerate(self.translations)]

    @property
    def n_blank(self) -> int:
        """The number of translations without any text."""
        return sum(map(is_blank, self.translations))

    def plain_readings(
        self, readings: Iterable[str], *, categories: Iterable[str] | None = None
    ) -> tuple[Reading, ...]:
        """Return readings without probabilities, one for each row.

        Args:
            readings: their names; "inconclusive" stands for none.
            categories: the category of each row; None if all are in one.

        Examples:
            >>> rows = Rows(["Die Lesenden."], [{}], ["0"], tgt_lang="de")
            >>> rows.plain_readings(["neutral"])[0].category
            'all'
        """
        return tuple(
            Reading(name, category, translation, "" if reading == INCONCLUSIVE else reading)
            for name, category, translation, reading in zip(
                self.ids,
                categories or ["all"] * len(self.ids),
                self.translations,
                readings,
                strict=True,
            )
        )


@dataclass(frozen=True)
class Scoring:
    """The scores of a `ScoringMetric`, with the evaluator that gave them.

    Attributes:
        scores: shape (n,), in the order of `ScoringMetric.requests`; higher is better. NaN for the
            requests of `unscored`.
        unscored: reason ("blank" or "too_long") -> rows whose translation was not scored and counts
            as incorrect.
        backward: the same for `ScoringMetric.backward_requests`; None without a backward evaluator.
    """

    evaluator: Evaluator
    scores: npt.NDArray[np.float64]
    unscored: Mapping[str, frozenset[int]] = field(default_factory=dict)
    backward: Scoring | None = None

    @property
    def unscored_rows(self) -> frozenset[int]:
        """The rows of `unscored`, for any reason."""
        return frozenset().union(*self.unscored.values())


@dataclass(frozen=True)
class Origin:
    """Where rows come from, as a result records it.

    Attributes:
        dataset, config: names; "" for data of the caller.
        fields: signature fields, such as {"data": "winomt/default@b2f1b31"}.
        wording: wording of cues that replaced that of the dataset, as plain values; None for the
            dataset's own.
    """

    dataset: str = ""
    config: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    wording: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Metric(ABC):
    """A metric with its options, which are the fields of the subclass.

    Attributes:
        title: name in words, for titles and tables.
        help: what it reads and gives, in the sections "Args", "Returns" and "Example" of its module
            for `evaluate`, which adds options and figures (`cc_hf.evaluation.metric_help`).
        papers: keys of `cc_hf.citations`, the one to cite first.
        figure_names: its figures by name: their names in words, what they mean, what they are of.
        version: number that is raised whenever a figure can change; the CHANGELOG says which and
            why.
        reference_fields: keys that the metric reads of a reference, each with the check of its
            value.
        positions: key of a character position in a reference -> key of the text that it is in.
        is_blank_allowed: whether a blank translation is judged, unless an option says so.
        takes_evaluator: whether an evaluator model scores for the metric (`ScoringMetric`).
        takes_translations: whether the metric judges the translations of a system. Any other metric
            judges the evaluator itself, as the system under test, on translations of the dataset.
        reads_replies: whether the predictions are replies of a language model that was asked, not
            translations. Such a metric runs only where it is named.
        only_named: whether the metric runs only where it is named, because it asks another question
            than the datasets do.
        counts_unusable: whether translations that are blank or copies are counted and, where there
            are many, told of. A rewriter may rightly give none, or a copy.
        judges: whether there is a verdict on each translation. Results without judgements cannot be
            compared row by row.
        reads_cues: whether the cues of the data matter to the metric.
        leaderboard: names of the scores that the Hub's leaderboards show, each as a separate task.
            There higher is better, so all of them are best when high.
        key_figures: names of the scores that short tables show, the most important first; () for
            those of `leaderboard` and the gaps.
        uncounted: categories that are in no minimum, since nothing is right or wrong about them.
        category_groups: name of a group of categories that has figures of its own -> the
            categories.
        interval_method: how intervals are computed, in words that follow "intervals".
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    about: ClassVar[str] = ""
    help: ClassVar[str] = ""
    papers: ClassVar[tuple[str, ...]] = ()
    figure_names: ClassVar[FigureDeclarations] = COMMON
    signature_name: ClassVar[str]
    version: ClassVar[int]
    reference_fields: ClassVar[Fields]
    positions: ClassVar[Mapping[str, str]] = {}
    is_blank_allowed: ClassVar[bool] = True
    takes_evaluator: ClassVar[bool] = False
    takes_translations: ClassVar[bool] = True
    reads_replies: ClassVar[bool] = False
    only_named: ClassVar[bool] = False
    counts_unusable: ClassVar[bool] = True
    judges: ClassVar[bool] = True
    reads_cues: ClassVar[bool] = True
    leaderboard: ClassVar[tuple[str, ...]] = ("accuracy", "min_accuracy")
    key_figures: ClassVar[tuple[str, ...]] = ()
    uncounted: ClassVar[tuple[str, ...]] = ()
    category_groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    interval_method: ClassVar[str] = "by Wilson's score, within categories"
    default_src_lang: ClassVar[str] = ""

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Return the names of the metric's options.

        Examples:
            >>> registered_metric("gender_accuracy").option_names()
            ('undecided', 'tokens')
        """
        return tuple(option.name for option in fields(cls))

    @classmethod
    def differences(cls) -> dict[str, tuple[str, str]]:
        """Return the scores that are differences -> the two scores that they are the differences
        of.

        Examples:
            >>> registered_metric("winomt_pattern_matching").differences()["delta_g"]
            ('f1_male', 'f1_female')
        """
        declared = cls.figure_names.items()
        return {name: figure.difference_of for name, figure in declared if figure.difference_of}

    @staticmethod
    @abstractmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" if the metric can judge a configuration, else the reason as errors say it.

        Args:
            src_lang, tgt_lang: ISO 639-1 codes of the sources and the translations.
        """

    @staticmethod
    def check_available(tgt_lang: str) -> None:
        """Check that nothing is missing to judge translations on this machine with the default
        options, other than an evaluator; most metrics need nothing.

        Raises:
            MissingDependencyError: for a package that is not installed.
            MissingOptionError: for an option that only the caller can supply.
        """
        return None

    @staticmethod
    @abstractmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return what the metric reads of each example, with the keys of `reference_fields`."""

    @property
    def counts_blank(self) -> bool:
        """Whether a blank translation is judged; it is never right."""
        return self.is_blank_allowed

    @classmethod
    def check_input(
        cls,
        translations: Any,
        references: Any,
        *,
        whole: bool = True,
        counts_blank: bool = False,
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """Refuse rows that cannot be judged, and name the first that is wrong.

        Args:
            translations: one per reference; None for a metric that judges the evaluator itself.
            references: mappings with the keys of `reference_fields`.
            whole: whether these are all rows. A batch may hold one half of a pair.
            counts_blank: whether a blank translation is accepted by a metric that refuses it
                otherwise.

        Returns:
            Translations as they were given, and references with their texts composed (NFC), as
                plain lists for any container that was given.

        Raises:
            InputError: for no rows, different lengths, or the first row that is not as expected.
        """
        if cls.takes_translations:
            texts, rows = check_rows(
                translations,
                references,
                cls.reference_fields,
                is_blank_allowed=cls.is_blank_allowed or counts_blank,
            )
        else:
            cls.check_no_translations(translations)
            texts, rows = [], check_references(references, cls.reference_fields)
        rows = [
            {key: composed_value(value) for key, value in row.items()}
            | {key: composed_start(row[text], row[key]) for key, text in cls.positions.items()}
            for row in rows
        ]
        cls.check_values(rows, whole=whole)
        return texts, rows

    @classmethod
    def check_no_translations(cls, translations: object) -> None:
        """Refuse translations other than None or an empty list, which a metric that judges the
        evaluator itself does not read.
        """
        if translations is not None and not (isinstance(translations, list) and not translations):
            raise InputError(
                f"predictions: expected none: {cls.name} judges the evaluator itself, by the"
                " translations in the references. To judge those of a system, use"
                " contrastive_conditioning"
            )

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse references whose values do not fit together; most metrics need no such check.

        Args:
            whole: whether these are all rows; a batch may hold one half of a pair.

        Raises:
            InputError: for the first row that is wrong.
        """
        return None

    @abstractmethod
    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every row and compute the figures.

        Args:
            scoring: the scores of a `ScoringMetric`; ignored by other metrics.

        Raises:
            InputError: for an option or a language that does not fit.
        """

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return the figures that follow from verdicts alone, as `measure` computes them, without
        resamples. A result that is read from a file must have the same.

        By default these are accuracy, min_accuracy and accuracy_<category> with their intervals,
        the categories, n_correct and n_inconclusive. A metric for which these names mean something
        else, or with further figures of this kind, has its own.

        Args:
            signed: the fields of the signature.
        """
        return summarize(judgements, uncounted=cls.uncounted)

    @classmethod
    def corrected(cls, judgements: Sequence[Judgement]) -> dict[str, Estimate]:
        """Return the figures that trusted verdicts on some of the judgements correct, without
        "corrected_" in their names; {} if none has one.
        """
        trusted = label_column(judgements, "trusted")
        if np.isnan(trusted).all():
            return {}
        inclusion = label_column(judgements, "inclusion")
        neither = label_column(judgements, "trusted_neither")
        judged_neither = np.array([j.verdict == NEITHER for j in judgements])
        # Without the third verdict there is nothing to divide by, and the share is the accuracy.
        has_neither = judged_neither.any() or neither.any()
        return corrected_accuracies(
            np.array([float(j.is_correct) for j in judgements]),
            trusted,
            [j.category for j in judgements],
            inclusion=None if np.isnan(inclusion).all() else np.nan_to_num(inclusion, nan=1.0),
            shown=(~judged_neither, 1 - neither) if has_neither else None,
            groups=cls.category_groups,
            deltas=cls.differences(),
            uncounted=cls.uncounted,
        )

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse verdicts that contradict what stands beside them, such as scores; most metrics
        keep nothing that a verdict follows from.

        Args:
            signed: the fields of the signature, such as how a tie counts.

        Raises:
            InputError: for the first judgement that is wrong.
        """
        return None

    def data_fields(
        self, references: Sequence[Mapping[str, Any]], origin: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the signature fields of the data.

        Args:
            references: checked references, of which data without a name get a digest.
            origin: fields of data that have a name, which replace the digest.
        """
        named_fields = {
            key: text for key, text in origin.items() if self.reads_cues or key != "cues"
        }
        return {"data": own_data(references), **named_fields}

    def opened(self, evaluator: Evaluator | None, *, src_lang: str, tgt_lang: str) -> Self:
        """Return the metric with the evaluators that its options name, opened like `evaluator`.

        Args:
            src_lang, tgt_lang: languages of what is judged.

        Raises:
            InputError, EvaluatorError: as for `cc_hf.load_evaluator`.
        """
        return self

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return the lists with one value per row that the `evaluate` module returns."""
        return {
            "verdicts": [j.verdict for j in result.judgements],
            "predicted": [j.predicted for j in result.judgements],
        }


@dataclass(frozen=True)
class ScoringMetric(Metric):
    """A metric for which an evaluator model scores pairs of source and translation."""

    takes_evaluator: ClassVar[bool] = True

    @abstractmethod
    def requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return the pairs of source and translation to score, row by row.

        Raises:
            InputError: for an option that does not fit.
        """

    @abstractmethod
    def contests(self, rows: Rows) -> list[Contest]:
        """Return, for every decision, the indices of both sides' requests."""

    @property
    @abstractmethod
    def evaluator_score(self) -> str:
        """The definition of a score, as a name of `cc_hf.evaluators.base`."""

    @property
    def threshold(self) -> float:
        """The difference of the log scores of both sides below which neither wins; 0 for none."""
        return 0.0

    @property
    def backward(self) -> Evaluator | None:
        """The evaluator that scores sources given translations, for metrics that have one."""
        return None

    def backward_requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return the pairs to score by it: translations as sources, sources as translations."""
        return []

    def backward_contests(self, rows: Rows) -> list[Contest]:
        """Return, for every decision, the indices of both sides' backward requests."""
        return []

    @classmethod
    def of_signature(cls, fields: Mapping[str, str]) -> ScoringMetric | None:
        """Return the metric with the options that a signature names, to explain a verdict by
        `changes`; None for metrics without changes.
        """
        return None

    def changes(
        self, rows: Rows, scoring: Scoring, *, only_errors: bool
    ) -> list[tuple[TextSpan, ...]]:
        """Return the changes that were tried on the texts of each row, with their differences.

        Args:
            only_errors: whether to return only those that make the translation incorrect.
        """
        return [()] * len(rows.references)

    def change_notes(self) -> tuple[str, ...]:
        """Return which changes were not tried, for lack of something that the user can name."""
        return ()

    def notes(self, rows: Rows, evaluator: Evaluator, *, dataset: str) -> tuple[str, ...]:
        """Return what a reader must know of verdicts by this evaluator.

        Args:
            dataset: name of the dataset, "" for data of the caller.
        """
        return ()

    def scored(self, scoring: Scoring | None) -> Scoring:
        """Return the scores, which this metric requires; raise an InputError for None."""
        if scoring is None:
            raise InputError(f"evaluator: {self.name} expects an Evaluator or a function, got none")
        return scoring

    def model_fields(self, rows: Rows, scoring: Scoring, score: str) -> dict[str, str]:
        """Return the signature fields of languages and evaluator.

        Args:
            rows: name the languages; a missing one is that of the evaluator.
        """
        (src_lang, tgt_lang), evaluator = rows.languages, scoring.evaluator
        src_lang, tgt_lang = src_lang or evaluator.src_lang, tgt_lang or evaluator.tgt_lang
        model = scorer_fields(evaluator, score, self.requests(rows), scoring.scores)
        return {"langs": f"{src_lang or '?'}-{tgt_lang or '?'}", **model}


@dataclass(frozen=True)
class StreamedMetric(ScoringMetric):
    """A metric that judges each row on its own by a probability, so that its figures follow from
    columns of verdicts, and a stream can be judged in parts (`cc_hf.plugins.scale.streaming`).
    """

    @abstractmethod
    def row_judgements(self, rows: Rows, scoring: Scoring) -> tuple[Judgement, ...]:
        """Return the verdict on every row, which depends on no other; a weight may."""

    @abstractmethod
    def column_figures(
        self, columns: VerdictColumns, model: Mapping[str, str], unscored: Mapping[str, int]
    ) -> Figures:
        """Return the figures of verdicts, without the judgements.

        Args:
            model: the signature fields of languages and evaluator.
            unscored: reason ("blank" or "too_long") -> number of translations that were not scored.
        """

    def with_marking(self, figures: Figures, n_marked: int, n: int) -> Figures:
        """Return figures with what a reader must know of how the target language shows gender;
        unchanged for metrics that do not ask for it.

        Args:
            n_marked: number of the `n` translations with a pronoun that shows gender
                (`cc_hf.gender_marking`).
        """
        return figures


def finish(
    metric: Metric,
    rows: Rows,
    figures: Figures,
    *,
    origin: Origin,
    bootstrap: Bootstrap,
    notes: tuple[str, ...] = (),
) -> EvaluationResult:
    """Make the result of a metric, with its signature."""
    judgements = figures.judgements
    # Rows that differ in the gender alone are resampled together, as one unit.
    if judgements and any(rows.pairs):
        judgements = tuple(
            replace(judgement, pair=pair)
            for judgement, pair in zip(judgements, rows.pairs, strict=True)
        )
    return written(
        metric,
        replace(figures, judgements=judgements),
        metric.data_fields(rows.references, origin.fields),
        len(rows.references),
        {"boot": bootstrap.n_resamples, "seed": bootstrap.seed},
        tgt_lang=rows.languages[1],
        origin=origin,
        notes=notes,
    )


def written(
    metric: Metric,
    figures: Figures,
    data: Mapping[str, str],
    n: int,
    resampling: Mapping[str, int],
    *,
    tgt_lang: str,
    origin: Origin,
    notes: tuple[str, ...],
) -> EvaluationResult:
    """Return the figures of a metric on `n` rows as a result, with its signature."""
    fields = {**data, **figures.signature, "norm": NORMALIZATION, "n": n, **resampling}
    return EvaluationResult(
        dataset=origin.dataset,
        config=origin.config,
        tgt_lang=tgt_lang,
        metric=metric.name,
        signature=signature.build(metric.signature_name, {**fields, "m": metric.version}),
        n=n,
        scores=figures.scores,
        intervals=known_intervals(figures.intervals),
        no_interval=missing_intervals(figures.intervals),
        categories=figures.categories,
        judgements=figures.judgements,
        counts=figures.counts,
        notes=notes,
        wording=origin.wording if metric.reads_cues else None,
        readings=figures.readings,
    )


def label_column(judgements: Sequence[Judgement], name: str) -> npt.NDArray[np.float64]:
    """Return what trusted verdicts say of each judgement, NaN where there is none.

    Args:
        name: "trusted", "inclusion" or "trusted_neither".
    """
    values = [getattr(j, name) for j in judgements]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def registered_metric(name: str) -> type[Metric]:
    """Return the class of a metric by the name that a result holds.

    Returns:
        The class; `Metric` itself, with what it declares by default, for a metric that is not
        registered or whose plug-in cannot be loaded.

    Examples:
        >>> registered_metric("contrastive_conditioning").signature_name
        'cc'
    """
    metric: type[Metric] = registry.find("metric", name) or Metric
    return metric
