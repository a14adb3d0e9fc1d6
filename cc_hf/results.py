"""Results of metrics: frozen, in [0, 1], with counts beside rates, and convertible to JSON and
back.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cc_hf import registry, signature
from cc_hf.displayed import Displayed, frame
from cc_hf.errors import FileError, InputError, UnknownNameError
from cc_hf.evidence import Evidence, distinct, kappa
from cc_hf.figure_keys import figure_key, is_corrected
from cc_hf.fit_to_cite import (
    OF_A_FIGURE,
    OF_THE_JUDGE,
    judge_trust,
    reasons_not_to_cite,
    why_untrusted,
)
from cc_hf.label_checks import rates_by_labels, why_doubted
from cc_hf.levels import CORRECTED_LEVEL, SCREEN, Trust
from cc_hf.records import OMITTED, NonEmpty, parse_json, read_record, write_record
from cc_hf.rules import Count, Kind, OneOf, Share
from cc_hf.schema import Judgement, Reading, dataset_in_words

if TYPE_CHECKING:
    from cc_hf.data.declaration import DatasetDeclaration

__all__ = [
    "CategoryAccuracy",
    "EvaluationResult",
    "Interval",
    "NoInterval",
    "OnData",
    "ResultSet",
    "difference_of_data",
    "different_options",
    "least_value",
    "once_per_result",
]

_T = TypeVar("_T")

#: Fields of a signature in which results of different systems may differ: also how a language model
#: was asked.
_OF_THE_SYSTEM = {"sys", "seed", "boot", "poisson", "v", "prompt", "shots", "demos", "left_out"}
#: Fields of what corrects the judge's mistakes, on which its own figures do not depend.
_OF_THE_CORRECTION = {"trusted", "transferred"}

# In the field `trusted`: labels of people, and what follows the name of a judge.
_PEOPLE = "people"
_PART = re.compile(r"(/seed\d+)?/n\d+$")
_SIGNED_ENDS = ("_gap", "_effect")
# Where results are shown, written as a report, and read from files: above this floor.
_DISPLAYED_BY = "cc_hf.reports.tables.answer:displayed"
_REPORT = "cc_hf.reports.written:write_report"
_READER = "cc_hf.data.files.result_files:read_result_file"
#: What a file of results is in messages.
RESULT = "the JSON of an evaluation result (the file that `cc-hf evaluate` writes)"
_METHOD = OneOf(
    *("percentile", "wilson", "agresti-coull", "mover", "lowest"),
    *("ppi", "lang-reiczigel", "fisher", "t", "poisson"),
)
# Names stand in tables and lines of the terminal; "" is one, too.
_IN_ONE_LINE = Kind("a text in one line, without control characters", str.isprintable)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval in the unit of its score, with a width above 0.

    Attributes:
        level: confidence level, in (0, 1).
        n_undefined: number of resamples in which the figure is undefined; the interval ignores
            them.
        method: "wilson" for a share, "mover" for a difference or ratio of shares, and "lowest" for
            their minimum (`cc_hf.statistics.score_intervals`); "agresti-coull" for a share that is
            drawn towards one half; "ppi" for a share that includes a judge's mistakes,
            "lang-reiczigel" where these are known from other samples
            (`cc_hf.statistics.correction`); "percentile" for the bootstrap; "fisher" for a
            correlation by Fisher's z, or "t" for a coefficient of a regression by Student's t;
            "poisson" for the Poisson bootstrap of streams.
    """

    low: float
    high: float
    level: float = 0.95
    n_undefined: Count = field(default=0, metadata=OMITTED)
    method: Annotated[str, _METHOD] = field(default="percentile", metadata=OMITTED)

    @property
    def note(self) -> str:
        """The sentence that a reader must know about the interval; "" for a usual one."""
        if not self.n_undefined:
            return ""
        return f"undefined in {self.n_undefined} resamples, which the interval leaves out"


@dataclass(frozen=True, slots=True)
class NoInterval:
    """The reason, as part of a sentence, that a figure has no confidence interval.

    Attributes:
        n_undefined: number of resamples in which the figure is undefined.
    """

    reason: str
    n_undefined: Count = 0

    @property
    def note(self) -> str:
        """The sentence that a reader must know."""
        return f"no interval: {self.reason}"


@dataclass(frozen=True, slots=True)
class CategoryAccuracy:
    """The figures of one category.

    Attributes:
        accuracy: n_correct / (n - n_neither), in [0, 1].
        weighted_accuracy: accuracy with rank weights, in [0, 1]; None for metrics without weights.
        n_neither: number of samples that show neither reading, which accuracies leave out.
    """

    category: str
    n: Count
    n_correct: Count
    accuracy: Share
    n_ties: Count = 0
    weighted_accuracy: Share | None = None
    n_inconclusive: Count = 0
    n_neither: Count = field(default=0, metadata=OMITTED)


class OnData:
    """What is on one dataset, whose declaration is looked up when it is first needed, and kept."""

    dataset: str

    @functools.cached_property
    def declared(self) -> DatasetDeclaration | None:
        """The declaration of the dataset; None for the user's own data, or an unknown name."""
        declared: DatasetDeclaration | None = registry.find("dataset", self.dataset)
        return declared


@dataclass(frozen=True)
class EvaluationResult(Displayed, OnData):
    """The result of one metric for one system on one dataset.

    `print` and notebooks show what was found, the figures and what to cite. `result["accuracy"]` is
    a score or a count by its name.

    Attributes:
        dataset: name of the dataset; "" for the user's own data.
        config: name of the configuration; "" for the user's own data.
        tgt_lang: target language, ISO 639-1.
        signature: everything that the figures depend on.
        scores: name -> value in [0, 1], or in [-1, 1] for differences (names that begin with
            "delta" or end in "_gap" or "_effect"). BLEU and chrF are divided by 100. A score that
            is undefined for lack of samples is left out. Names that begin with `CORRECTED` or
            `TRANSFERRED` are of figures that include the judge's mistakes
            (`cc_hf.evaluation.correction`).
        categories: one entry per category, sorted by name.
        judgements: one per example, in the order of the examples.
        no_interval: name of a score that was resampled but has no interval -> the reason.
        notes: what a reader of the figures must know, one or more sentences each. They are shown
            wherever the figures are.
        wording: the wording of cues that replaced that of the dataset, as
            `cc_hf.records.write_record` gives it; None for the dataset's own.
        system: name of the system under test, as reports show it; "" if it was not named. No figure
            depends on it.
        readings: where sources leave the reading open, one per example, in the order of the
            examples; () where there are judgements, and for metrics that read no translations.
        unfit: kind of reason -> why the figures are not fit to be cited; {} if they are. It is
            always computed from the other attributes (`cc_hf.fit_to_cite.reasons_not_to_cite`).
        evidence: what is known of the judge: the rows that came with the result, and those that the
            package and the user have.

    Raises:
        InputError: for a score that is not a number in its range.
    """

    COMPUTED = ("level", "bias")  # in files, for readers of these
    displayed_by = _DISPLAYED_BY

    dataset: str
    config: str
    tgt_lang: str
    metric: str
    signature: str = field(repr=False)
    n: Count
    scores: Mapping[str, float] = field(repr=False)
    intervals: Mapping[str, Interval] = field(repr=False)
    categories: tuple[CategoryAccuracy, ...] = field(repr=False)
    judgements: tuple[Judgement, ...] = field(repr=False)
    counts: Mapping[str, Count] = field(default_factory=dict, repr=False)
    no_interval: Mapping[str, NoInterval] = field(
        default_factory=dict, repr=False, metadata=OMITTED
    )
    notes: tuple[str, ...] = field(default=(), repr=False)
    wording: Mapping[str, Any] | None = field(default=None, repr=False, metadata=OMITTED)
    system: Annotated[str, _IN_ONE_LINE] = field(default="", metadata=OMITTED)
    readings: tuple[Reading, ...] = field(default=(), repr=False, metadata=OMITTED)
    unfit: Mapping[str, str] = field(init=False, default_factory=dict, repr=False, metadata=OMITTED)
    evidence: tuple[Evidence, ...] = field(default=(), repr=False, metadata=OMITTED)

    def __post_init__(self) -> None:
        for name, value in self.scores.items():
            low = least_value(name)
            if not (math.isfinite(value) and low <= value <= 1):
                raise InputError(
                    f"score {name!r}: expected a number in [{low}, 1], got {value!r}; leave out"
                    " what is undefined"
                )
        try:
            signed = signature.parse(self.signature)[1]
            trust, judge = self._trust_in(signed), _trusted_judge(signed)
            trusted = None if judge is None else self._trust_in({**signed, "eval": judge})
            reasons = reasons_not_to_cite(
                signed,
                self.counts,
                self.n,
                dataset=self.dataset,
                system=self.system,
                categories={
                    c.category: (c.n, c.n_inconclusive + c.n_neither) for c in self.categories
                },
                scores=self.scores,
                trust=trust,
            )
        except FileError:  # damaged evidence must not make figures fit to be cited
            raise
        except InputError:  # a signature that is none
            reasons, trust, trusted = {}, None, None
        object.__setattr__(self, "unfit", reasons)
        object.__setattr__(self, "_of_judge", trust)
        object.__setattr__(self, "_of_trusted", trusted)
        rows = (row for of_judge in (trust, trusted) if of_judge for row in of_judge.rows)
        object.__setattr__(self, "evidence", distinct(rows))

    __iter__ = None  # a figure has a name, so that there is no first one

    def __getitem__(self, figure: str) -> float:
        """Return a score in [0, 1] or [-1, 1], or a count.

        Examples:
            >>> result = EvaluationResult(
            ...     "", "", "de", "own", "own|n:9", 9, {"accuracy": 0.5}, {}, (), (), {"n_ties": 1}
            ... )
            >>> result["accuracy"], result["n_ties"], "f1" in result
            (0.5, 1, False)
        """
        for figures in (self.scores, self.counts):
            if figure in figures:
                return figures[figure]
        raise UnknownNameError("figure", figure, [*self.scores, *self.counts])

    def __contains__(self, figure: object) -> bool:
        return figure in self.scores or figure in self.counts

    def _trust_in(self, signed: Mapping[str, str]) -> Trust | None:
        return judge_trust(
            {"sys": self.system, **signed},
            self.scores,
            metric=signature.parse(self.signature)[0],
            dataset=self.dataset,
            categories=[c.category for c in self.categories],
            rows=self.evidence,
        )

    @functools.cached_property
    def trust(self) -> Trust | None:
        """How far the judge can be trusted, by evidence; None for figures without an evaluator."""
        trust: Trust | None = self.__dict__["_of_judge"]
        if trust is None or "unmarked" in self.unfit:
            return None
        if "unresponsive" in self.unfit:  # whatever the evidence says
            return Trust(SCREEN, trust.bias, trust.rows)
        if not any(map(is_corrected, self.scores)):
            return trust
        # Corrected figures are as good as whoever corrects them.
        signed = signature.parse(self.signature)[1]
        if _trusted_judge(signed) is not None:
            of_trusted: Trust | None = self.__dict__["_of_trusted"]
            return of_trusted
        is_sound = not self._why_labels_are_doubted
        return Trust(CORRECTED_LEVEL, trust.bias, trust.rows) if is_sound else trust

    @property
    def level(self) -> str:
        """The level of the evidence on the judge; "" for figures that no evaluator made."""
        return "" if self.trust is None else self.trust.level

    @property
    def bias(self) -> Mapping[str, tuple[float, float]]:
        """How far the judge's mistakes may move figures, see `cc_hf.levels.Trust`."""
        return {} if self.trust is None else self.trust.bias

    @property
    def ties(self) -> str | None:
        """How a tie counts, "correct" or "incorrect", by the signature; None for metrics without
        ties.
        """
        return signature.parse(self.signature)[1].get("tie")

    def why_unfit(self, figure: str = "") -> str:
        """Return why a figure is not fit to be cited, as phrases; "" if it is.

        Args:
            figure: its name. Weaknesses of the judge are no reason against figures that include
                its mistakes, unless evidence on the trusted judge does not support it.

        Examples:
            >>> result = EvaluationResult(
            ...     "", "", "de", "own", "own|tie:correct", 9, {}, {}, (), (), {"n_ties": 1}
            ... )
            >>> result.why_unfit(), result.why_unfit("corrected_accuracy")
            ('1 of 9 judgements are ties, which count as correct', '')
        """
        return "; ".join(self.reasons_against(figure).values())

    def why_unranked(self, figure: str = "") -> str:
        """Return why systems may not be ranked by a figure, as phrases; "" if they may.

        A judge may be right often enough for that where the figure itself may not be cited.
        """
        reasons = self.reasons_against(figure)
        return "; ".join(text for kind, text in reasons.items() if kind not in OF_A_FIGURE)

    def reasons_against(self, figure: str) -> dict[str, str]:
        """Return why a figure is not fit to be cited: kind of reason -> phrase. The kinds are those
        of `unfit`, and "labels" for labels that are doubted.
        """
        reasons = dict(self.unfit)
        if not is_corrected(figure):
            return reasons
        signed = signature.parse(self.signature)[1]
        reasons = {kind: text for kind, text in reasons.items() if kind not in OF_THE_JUDGE}
        reasons |= self._against_trusted(signed)
        is_by_people = _trusted_judge(signed) is None
        doubt = self._why_labels_are_doubted if is_by_people else ""
        return {**reasons, "labels": doubt} if doubt else reasons

    @functools.cached_property
    def _why_labels_are_doubted(self) -> str:
        return why_doubted(self.judgements, self.__dict__["_of_judge"])

    @property
    def kappa_with_labels(self) -> float | None:
        """Cohen's kappa of the judge with the trusted verdicts; None without both readings."""
        return kappa(rates_by_labels(self.judgements))

    def _against_trusted(self, signed: Mapping[str, str]) -> dict[str, str]:
        """Return why figures that another judge corrects are not fit to be cited; {} for labels of
        people.
        """
        judge = _trusted_judge(signed)
        if judge is None:
            return {}
        reasons = why_untrusted(self.__dict__["_of_trusted"], judge, self.dataset)
        if names := signature.own_judges(judge, signed.get("sys", self.system)):
            reasons["itself"] = f"corrected by itself: {names[0]} is system and trusted judge"
        return reasons

    def by_id(self) -> dict[str, Judgement]:
        """Return the judgements by the ids of their examples."""
        return {judgement.example_id: judgement for judgement in self.judgements}

    def interval_notes(self) -> dict[str, str]:
        """Return notes on the intervals that are unusual or missing: name of the score -> text."""
        notes = {name: missing.note for name, missing in self.no_interval.items()}
        return notes | {
            name: interval.note for name, interval in self.intervals.items() if interval.note
        }

    def to_frame(self) -> Any:
        """Return the judgements as a `pandas.DataFrame`, one row for each, with the fields of
        `cc_hf.Judgement`; where there are none, the readings.

        Raises:
            MissingDependencyError: without pandas.

        Examples:
            >>> judged = Judgement("0", "female", True, "Die Ärztin kam.")
            >>> result = EvaluationResult("", "", "de", "own", "own|n:1", 1, {}, {}, (), (judged,))
            >>> result.to_frame()[["example_id", "category", "is_correct"]].to_dict("records")
            [{'example_id': '0', 'category': 'female', 'is_correct': True}]
        """
        return frame(map(asdict, self.judgements or self.readings))

    def report(self, path: str | Path) -> None:
        """Write the page that `cc-hf report --html` writes, with tables, plots and all samples.

        Args:
            path: the file, which ends in .html; or in .md for the tables as Markdown.

        Raises:
            InputError: for another ending, or a file that cannot be written.
        """
        registry.imported(_REPORT)(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> EvaluationResult:
        """Return the result in a file, as `cc-hf evaluate --output` and `save` write it.

        Raises:
            FileError: for a file that does not exist or holds no result, for a result whose
                judgements deny its figures, and for results of several metrics, which
                `ResultSet.load` reads.
        """
        results = ResultSet.load(path).results
        if len(results) > 1:
            names = ", ".join(result.metric for result in results)
            raise FileError(path, f"expected one result, got those of {names}; use ResultSet.load")
        return results[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts and lists, ready for JSON, without usual values of
        intervals.
        """
        return write_record(self)

    def to_json(self) -> str:
        """Return the result as strict JSON (no NaN)."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> EvaluationResult:
        """Return the result from its JSON, also that of older versions; the inverse of `to_json`.

        Raises:
            InputError: when the text is not JSON, lacks a field, or has a value of another type.
        """
        return cls.from_dict(parse_json(text, RESULT))

    @classmethod
    def from_dict(cls, row: Any) -> EvaluationResult:
        """Return the result from plain dicts and lists; the inverse of `to_dict`.

        Raises:
            InputError: when a field is missing or unknown, or has a value of another type.
        """
        return read_record(cls, row, RESULT)


@dataclass(frozen=True)
class ResultSet(Displayed):
    """Results of several metrics on the same translations, shown like an `EvaluationResult`.

    Attributes:
        not_run: metric that fits the data -> what it lacked to be run, such as a package. Files of
            older versions also name metrics that do not fit.
    """

    displayed_by = _DISPLAYED_BY

    results: Annotated[tuple[EvaluationResult, ...], NonEmpty()]
    not_run: Mapping[str, str] = field(default_factory=dict)

    def report(self, path: str | Path) -> None:
        """Write a page or Markdown, as `EvaluationResult.report` does."""
        registry.imported(_REPORT)(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> ResultSet:
        """Return the results in a file, of one metric or several."""
        results: ResultSet = registry.imported(_READER)(path)
        return results

    def to_json(self) -> str:
        """Return strict JSON with the complete results and what was not run."""
        row = write_record(self)
        return json.dumps(row, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> ResultSet:
        """Return the results from their JSON; the inverse of `to_json`."""
        return cls.of_content(parse_json(text, RESULT))

    @classmethod
    def of_content(cls, content: Any) -> ResultSet:
        """Return the results from plain values of JSON, as `from_json` does."""
        if not isinstance(content, dict) or "results" not in content:
            return cls((EvaluationResult.from_dict(content),))
        return read_record(cls, content, RESULT)


def _trusted_judge(signed: Mapping[str, str]) -> str | None:
    """Return the evaluator whose verdicts are trusted; None for people, or without any."""
    judge = _PART.sub("", signed.get("trusted", ""))
    return None if judge in ("", _PEOPLE) else judge


def least_value(name: str) -> int:
    """Return the least value that a score can have: -1 for a difference, 0 for others."""
    plain = figure_key(name).name
    is_signed = plain.startswith("delta") or name.endswith(_SIGNED_ENDS)
    return -1 if is_signed else 0


def difference_of_data(results: Mapping[str, EvaluationResult]) -> str:
    """Return why judgements of some results cannot be joined by their example ids; "" if they can.

    Metrics read different parts of the references, so digests of two metrics cannot be compared;
    the caller must make sure that the translations are the same.

    Args:
        results: name -> result. The names are used in the answer.
    """
    described = {
        name: (result.dataset, result.config, result.tgt_lang, _data(result))
        for name, result in results.items()
    }
    for left, right in itertools.combinations(results, 2):
        (*of_left, left_data), (*of_right, right_data) = described[left], described[right]
        # The user's own data have row numbers for ids, so the signatures must have the same digest
        # of the references.
        if of_left == of_right and {left_data.partition("@")[0], right_data.partition("@")[0]} == {
            "own"
        }:
            if results[left].metric != results[right].metric:
                continue
            if "own" in (left_data, right_data):
                return (
                    f"the signature of {left if left_data == 'own' else right} does not say which"
                    " rows of own data it is of; evaluate them again with this version"
                )
        if described[left] != described[right]:
            return f"{left} is of {_words(described[left])}, {right} of {_words(described[right])}"
    return ""


def different_options(
    first: EvaluationResult, second: EvaluationResult, *, ignored: Collection[str] = ()
) -> str:
    """Return the first field in which the signatures of two results differ, other than those that
    name the system, the version and the bootstrap.

    Args:
        ignored: further fields that may differ.

    Returns:
        The key of the field; "metric" where the signatures are of different metrics; "" if they
        agree. A function that has no name differs from every function.

    Examples:
        >>> a, b = (
        ...     EvaluationResult("", "", "de", "m", f"m|score:{score}|v:1", 1, {}, {}, (), ())
        ...     for score in "ab"
        ... )
        >>> different_options(a, b), different_options(a, a)
        ('score', '')
    """
    (kind, left), (other, right) = (signature.parse(r.signature) for r in (first, second))
    keys = [*left, *(key for key in right if key not in left)]
    different = [
        key
        for key in keys
        if not _is_same_option(key, left.get(key), right.get(key))
        and key not in {*_OF_THE_SYSTEM, *_OF_THE_CORRECTION, *ignored}
    ]
    return different[0] if different else "metric" if kind != other else ""


def _is_same_option(key: str, left: str | None, right: str | None) -> bool:
    if key != "eval" or left is None or right is None:
        return left == right
    return signature.is_same_evaluator(left, right)


def _words(described: tuple[str, ...]) -> str:
    dataset, config, tgt_lang, data = described
    return f"{dataset_in_words(dataset) or 'own data'} {config} {tgt_lang} ({data})".replace(
        "  ", " "
    )


def _data(result: EvaluationResult) -> str:
    return signature.parse(result.signature)[1].get("data", "" if result.dataset else "own")


def once_per_result(
    function: Callable[[EvaluationResult], _T],
) -> Callable[[EvaluationResult], _T]:
    """Keep what a function returns for a result with the result, as cached properties are kept."""

    name = f"_{function.__name__}"

    @functools.wraps(function)
    # Pages ask for it again for each of their cells.
    def kept(result: EvaluationResult) -> _T:
        if name not in result.__dict__:
            result.__dict__[name] = function(result)
        returned: _T = result.__dict__[name]
        return returned

    return kept
