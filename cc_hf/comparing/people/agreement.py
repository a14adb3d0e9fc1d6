"""How often a result agrees with human annotators (Vamvas & Sennrich 2021, section 3.5, appendix E
and Table 2), for labels of two classes or of readings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from cc_hf.comparing.alignment import check_same_data
from cc_hf.comparing.people.annotations import Annotation, read_annotations
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import INCONCLUSIVE, Judgement, Reading
from cc_hf.statistics.agreement import (
    agreement_interval,
    cohen_kappa,
    confusion_matrix,
    f_scores,
    kappa_interval,
    proportion_of_agreement,
)
from cc_hf.text.tokenization import letters

__all__ = [
    "Annotation",
    "Assumption",
    "HumanAgreement",
    "agreement_with_labels",
    "labelled_judgements",
    "read_annotations",
]


@dataclass(frozen=True)
class Assumption:
    """Verdicts that serve as labels of translations that nobody annotated.

    The paper does this for MuCoW, where only translations were annotated that pattern matching
    could not decide.

    Attributes:
        decided: a result on the same translations, by a metric that may be inconclusive.
        population: ids of the examples from which the annotated ones were drawn; None for all
            examples of the result.
        as_published: whether to follow the notebook of the paper: the label of the second annotator
            counts twice and that of the first is ignored, and the number of assumed labels is n /
            (1 - coverage), rounded down, where n is the number of human labels. The notebook draws
            that many at random; here they are weighted to sum to that number.
    """

    decided: EvaluationResult
    population: frozenset[str] | None = None
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """The share of labels that the judgements agree with, in [0, 1].

    Attributes:
        n_labels, n_agree: number of human labels, and how many of them the judgements agree with.
        n_inconclusive: number of labels of translations whose verdict is inconclusive, or whose
            predicted gender is neither class.
        inconclusive: what such a verdict counts as, "correct" or "incorrect".
        agreement: agreement over all labels, including assumed ones.
        strict_agreement: the same, where an inconclusive verdict agrees with nothing.
        weighted_agreement: agreement where each label has the rank weight of its translation among
            all judgements of the result. None for metrics without probabilities.
        kappa: Cohen's kappa of human and judged labels, unweighted.
        interval, weighted_interval, kappa_interval: intervals over translations, each with all its
            labels.
        f_scores: F1 of each class, in the order of `labels`, in [0, 1]; NaN for one that does not
            occur (Currey et al. 2022, Table 5, report an F-score of a metric).
        labels: the two classes, or the readings of people and of the result.
        confusion: counts of human labels: rows are human, columns judged, in the order of `labels`.
        n_skipped: number of annotated translations that differ from the judged ones.
        n_open: number of human labels that count towards `agreement`: those of translations that
            the Assumption leaves undecided, or all labels without one.
        n_assumed: number of labels that the assumed ones count for; 0 without an Assumption.
        coverage: share of the population that the Assumption decides, in [0, 1]; None without one.
    """

    n_labels: int
    n_agree: int
    n_inconclusive: int
    inconclusive: str
    agreement: float
    strict_agreement: float
    weighted_agreement: float | None
    kappa: float
    interval: Interval | NoInterval
    weighted_interval: Interval | NoInterval | None
    kappa_interval: Interval | NoInterval
    f_scores: tuple[float, ...]
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    n_skipped: int = 0
    n_open: int = 0
    n_assumed: float = 0
    coverage: float | None = None

    def interval_notes(self) -> dict[str, str]:
        """Return remarks on intervals that are missing or not usual: figure -> remark."""
        intervals = {
            "agreement": self.interval,
            "weighted agreement": self.weighted_interval,
            "kappa": self.kappa_interval,
        }
        return {
            name: interval.note
            for name, interval in intervals.items()
            if interval is not None and interval.note
        }


@dataclass(frozen=True, slots=True)
class _Item:
    """One label of one translation; `share` is the number of labels that it counts for."""

    judgement: Judgement | Reading
    label: str
    judged: str
    undecided: bool
    share: float = 1.0

    @property
    def weight(self) -> float:
        rank = self.judgement.weight if isinstance(self.judgement, Judgement) else 1
        return self.share * rank


def agreement_with_labels(
    result: EvaluationResult,
    annotations: Sequence[Annotation],
    *,
    skip_others: bool = False,
    inconclusive: str | None = None,
    assumption: Assumption | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
) -> HumanAgreement:
    """Compare the judgements of a result, by any metric, with human labels.

    A verdict "correct" stands for the gold label, "incorrect" for the other one. Labels that are
    readings of any number are compared with what the result reads.

    Args:
        annotations: labels of translations that were judged. Translations are compared by their
            letters and digits only.
        skip_others: skip and count annotated translations that are not among the judged ones,
            instead of refusing them.
        inconclusive: what an inconclusive verdict counts as, "correct" or "incorrect". None follows
            the paper: "correct" if the labels are genders, because the annotators' "neutral" is,
            and "incorrect" if they are verdicts, as in recall B. Of readings it is a class of its
            own, "inconclusive", unless it is "correct".
        assumption: labels of translations that were not annotated. Decided and undecided
            translations then count by their share of the population.

    Raises:
        InputError: for another value of `inconclusive`; for an annotated example that is not in the
            result or was judged on another translation, unless `skip_others` is set; if no label is
            left, or the annotations have two kinds of classes; for an assumption about other
            translations, or one that leaves nothing to compare.
    """
    if inconclusive not in (None, "correct", "incorrect"):
        raise InputError(f"inconclusive: expected correct or incorrect, got {inconclusive!r}")
    names, have_readings = _classes(annotations)
    is_incorrect = have_readings or "correct" in names
    stands_for = inconclusive or ("incorrect" if is_incorrect else "correct")
    human, n_skipped = _human_items(result, annotations, names, stands_for, skip_others)
    if have_readings:
        if assumption is not None:
            raise InputError("assumption: expected labels of two classes with it, got readings")
        names = (*names, *sorted({item.judged for item in human} - {*names}))
    items, assumed, n_assumed, coverage = human, list[_Item](), 0.0, None
    if assumption is not None:
        items, assumed, n_assumed, coverage = _with_assumed(
            result, human, names, stands_for, assumption
        )
    all_items = [*items, *assumed]
    labels, judged = [item.label for item in all_items], [item.judged for item in all_items]
    # "" equals no label: what is undecided agrees with nobody.
    strict = ["" if item.undecided else item.judged for item in all_items]
    # Several people may have labelled one translation: its labels are resampled together.
    groups = [item.judgement.example_id for item in all_items]
    shares = [item.share for item in all_items]
    weights = [item.weight for item in all_items]
    has_weights = any(j.probability_correct is not None for j in result.judgements)
    human_labels, human_judged = [item.label for item in human], [item.judged for item in human]
    table = confusion_matrix(human_labels, human_judged, labels=names)
    return HumanAgreement(
        n_labels=len(human),
        n_agree=int(table.trace()),
        n_inconclusive=sum(item.undecided for item in human),
        inconclusive=stands_for,
        agreement=proportion_of_agreement(labels, judged, weights=shares),
        strict_agreement=proportion_of_agreement(labels, strict, weights=shares),
        weighted_agreement=(
            proportion_of_agreement(labels, judged, weights=weights) if has_weights else None
        ),
        kappa=cohen_kappa(human_labels, human_judged),
        interval=agreement_interval(labels, judged, weights=shares, groups=groups),
        weighted_interval=(
            agreement_interval(labels, judged, weights=weights, groups=groups)
            if has_weights
            else None
        ),
        kappa_interval=kappa_interval(
            human_labels,
            human_judged,
            groups=[item.judgement.example_id for item in human],
            seed=seed,
            n_resamples=n_resamples,
        ),
        f_scores=f_scores(table),
        labels=names,
        confusion=tuple(tuple(map(int, row)) for row in table),
        n_skipped=n_skipped,
        n_open=len(items),
        n_assumed=n_assumed,
        coverage=coverage,
    )


def _classes(annotations: Sequence[Annotation]) -> tuple[tuple[str, ...], bool]:
    """Return the classes of labels, and whether they are readings."""
    labelled = [annotation for annotation in annotations if annotation.labels]
    if labelled and all(annotation.has_readings for annotation in labelled):
        return tuple(sorted({name for a in labelled for name in a.classes})), True
    kinds = {annotation.classes for annotation in labelled}
    if len(kinds) != 1 or any(annotation.has_readings for annotation in labelled):
        raise InputError(f"expected annotations with one pair of labels, got {len(kinds)}")
    return kinds.pop(), False


def _human_items(
    result: EvaluationResult,
    annotations: Sequence[Annotation],
    names: tuple[str, ...],
    stands_for: str,
    skip_others: bool,
) -> tuple[list[_Item], int]:
    """Return one item per human label, by translation, and the number of skipped translations."""
    items, n_skipped = [], 0
    counted = [annotation for annotation in annotations if annotation.labels]
    for annotation, judgement in labelled_judgements(result, counted, skip_others=skip_others):
        if judgement is None:
            n_skipped += 1
            continue
        items += [
            _item(judgement, label, annotation.gold, names, stands_for)
            if isinstance(judgement, Judgement) and not annotation.has_readings
            else _reading_item(judgement, label, annotation, stands_for)
            for label in annotation.labels
        ]
    if not items:
        raise InputError(
            f"none of the {len(counted)} annotated translations was judged; is this the result of"
            " the annotated system?"
        )
    return items, n_skipped


def labelled_judgements(
    result: EvaluationResult, annotations: Sequence[Annotation], *, skip_others: bool = False
) -> Iterator[tuple[Annotation, Judgement | Reading | None]]:
    """Yield each annotation with the judgement or reading of its translation, None for others."""
    rows: Sequence[Judgement | Reading] = result.judgements or result.readings
    judgements = {row.example_id: row for row in rows}
    # Annotations of the same translation, without the ids of their examples, are taken in order.
    by_letters: dict[str, list[Judgement | Reading]] = {}
    # Reversed, since `pop` takes from the end: the first of equal translations comes first.
    for judged in reversed(rows):
        by_letters.setdefault(letters(judged.translation), []).append(judged)
    for annotation in annotations:
        alike = by_letters.get(letters(annotation.translation), [])
        judgement = (
            judgements.get(annotation.example_id)
            if annotation.is_located
            else (alike.pop() if alike else None)
        )
        if judgement is None or letters(judgement.translation) != letters(annotation.translation):
            if not skip_others:
                raise InputError(_mismatch(annotation, judgement, result.n))
            judgement = None
        yield annotation, judgement


def _reading_item(
    judged: Judgement | Reading, label: str, annotation: Annotation, stands_for: str
) -> _Item:
    """Return the item of a label that is a reading; "correct" may stand for the gold one."""
    if not annotation.has_readings:
        raise InputError(
            "expected labels that are readings (`gold_reading`), since the result has readings"
            f" without verdicts, got {label!r} of two classes"
        )
    gold, read = annotation.gold, ""
    if isinstance(judged, Reading):
        read = judged.reading
    elif judged.verdict != "inconclusive":
        read = judged.predicted or (gold if judged.is_correct else "other")
    is_undecided = not read
    if is_undecided and stands_for == "correct":
        read = gold
    return _Item(judged, label, read or INCONCLUSIVE, is_undecided)


def _item(
    judgement: Judgement,
    label: str,
    gold: str,
    names: tuple[str, ...],
    stands_for: str,
    share: float = 1.0,
) -> _Item:
    # A gender that is neither of the two classes, such as neutral, counts as an inconclusive
    # verdict.
    undecided = not judgement.is_decided or (
        "correct" not in names and judgement.predicted not in ("", *names)
    )
    is_right = stands_for == "correct" if undecided else judgement.is_correct
    return _Item(
        judgement, label, gold if is_right else names[1 - names.index(gold)], undecided, share
    )


def _with_assumed(
    result: EvaluationResult,
    human: list[_Item],
    names: tuple[str, ...],
    stands_for: str,
    assumption: Assumption,
) -> tuple[list[_Item], list[_Item], float, float]:
    """Return the human items of undecided translations, one item per decided translation of the
    population, the number of labels that these count for, and their share.
    """
    check_same_data({"the result": result, "the assumed verdicts": assumption.decided})
    decided = assumption.decided.by_id()
    population = frozenset(decided) if assumption.population is None else assumption.population
    members = [j for j in result.judgements if j.example_id in population]
    _check_same(members, decided, len(population))
    covered = [j for j in members if decided[j.example_id].verdict != "inconclusive"]
    # The assumption already supplies a label for the translations that it decides, so human labels
    # of these are dropped.
    undecided = [
        item
        for item in human
        if item.judgement.example_id in decided
        and decided[item.judgement.example_id].verdict == "inconclusive"
    ]
    coverage = len(covered) / len(members)
    if not undecided or not 0 < coverage < 1:
        raise InputError(
            "assumed verdicts: expected some that are inconclusive, on annotated translations too,"
            f" and some that are not, got {len(covered)} of {len(members)} decided"
        )
    # Undecided translations are the share 1 - coverage of the population. The number of assumed
    # labels is chosen so that decided translations have the share `coverage` of all labels.
    if assumption.as_published:
        undecided = [item for item in undecided[1::2] for _ in range(2)]
        n_assumed = float(int(len(undecided) / (1 - coverage)))
    else:
        n_assumed = len(undecided) * coverage / (1 - coverage)
    # The choice of the correct class is arbitrary here: it only matters whether label and verdict
    # agree.
    right, wrong = names
    assumed = [
        _item(
            j,
            right if decided[j.example_id].is_correct else wrong,
            right,
            names,
            stands_for,
            n_assumed / len(covered),
        )
        for j in covered
    ]
    return undecided, assumed, n_assumed, coverage


def _check_same(members: Collection[Judgement], decided: dict[str, Judgement], n: int) -> None:
    if not members:
        raise InputError(
            f"the assumed verdicts are about {n} translations, none of which is in the result;"
            " expected a result of the same data"
        )
    for judgement in members:
        other = decided.get(judgement.example_id)
        if other is None or other.translation != judgement.translation:
            got = "has no verdict" if other is None else f"is about {other.translation!r}"
            raise InputError(
                f"example {judgement.example_id}: judged was {judgement.translation!r}, the assumed"
                f" result {got}; evaluate the same translations"
            )


def _mismatch(annotation: Annotation, judgement: Judgement | Reading | None, n: int) -> str:
    skip = "or skip what was not judged (`skip_others`)"
    if judgement is None:
        return (
            f"the annotated example {annotation.example_id or '(without a place in the test set)'}"
            f" is not among the {n} judgements of the result; {skip}"
        )
    return (
        f"example {annotation.example_id}: annotated was {annotation.translation!r}, judged was"
        f" {judgement.translation!r}; evaluate the same translations, {skip}"
    )
