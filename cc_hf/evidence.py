"""Evidence: how often the verdicts of a judge are right, counted on labelled translations.

A row is of one judge with its cues, one label set, one system and one right reading. Files hold
counts, never texts. What ships with the package was counted by `python -m tools.evidence`; a user's
own is counted by `cc-hf judge check`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from cc_hf import signature
from cc_hf.errors import InputError, in_file
from cc_hf.files import huggingface_home, is_file
from cc_hf.reading import stream_lines
from cc_hf.records import OMITTED, parse_objects, read_value, write_record
from cc_hf.registry import kind_of_sentences, load_all
from cc_hf.rules import AtLeast, Count, OneOf
from cc_hf.score_limits import Z95, score_limits
from cc_hf.writing import write_atomically

__all__ = [
    "LABELS",
    "SHIPPED",
    "Evidence",
    "Rate",
    "Rates",
    "bias",
    "bias_limits",
    "corners",
    "distinct",
    "evidence_of",
    "kappa",
    "known_evidence",
    "known_threshold",
    "least_youden",
    "not_above",
    "options_of",
    "rates",
    "read_evidence",
    "shown_rates",
    "users_file",
    "write_evidence",
]

#: Who says what a translation shows: people, the pairs of versions that it was written for, or an
#: analyser of word forms.
LABELS = ("people", "pairs", "analyser")
#: Fields of a signature on which verdicts depend, besides the judge and the languages.
_OPTIONS = ("cues", "score", "pool", "tie", "back", "neither", "prompt", "toolong")
_OTHER = {"female": "male", "male": "female"}
#: The evidence of the package.
SHIPPED = Path(__file__).parent / "assets" / "evidence.jsonl"


@dataclass(frozen=True, slots=True)
class Evidence:
    """How often a judge finds right translations right and wrong ones wrong.

    Attributes:
        evaluator: the judge, as the field `eval` of signatures: "org/model@1a2b3c".
        languages: "en-de".
        kind: what kind of sentences these are (`cc_hf.registry.SENTENCES`).
        dataset: the test set that they are from.
        reading: the right reading, such as "female"; "" where readings have no names, as senses.
            Where sources leave it open, the reading that is counted.
        n_people: the number of people who labelled each translation, 0 for none.
        signature: of the verdicts; it has the cues, the options, and the commit of the data.
        n_right, n_wrong: numbers of translations that show this reading, and another one.
        n_right_found, n_wrong_found: how many of them the judge finds right, and wrong.
        n_neither: number of translations that show no reading.
        n_neither_right: how many of these the judge finds right.
        n_right_neither, n_wrong_neither, n_neither_found: in how many translations of each kind the
            judge finds neither reading, where the signature has a threshold for that.
        is_open: whether sources leave the reading open, so that none is right.
        people_kappa: Cohen's kappa of the people among themselves; None where it is not known.
        of: what the counts are of in truth, if they are lent to the judge, such as an ensemble that
            it is a member of; "" for its own.
    """

    evaluator: str
    languages: str
    kind: str
    dataset: str
    reading: Annotated[str, OneOf("female", "male", "")]
    labels: Annotated[str, OneOf(*LABELS)]
    n_people: Count
    system: str
    signature: str
    n_right: Count
    n_right_found: Count
    n_wrong: Count
    n_wrong_found: Count
    n_neither: Count = 0
    n_neither_right: Count = 0
    is_open: bool = False
    people_kappa: Annotated[float, AtLeast(-1.0, 1.0)] | None = None
    of: str = ""
    # Cross-fitted: the threshold was found on other translations than it was used on.
    n_right_neither: Count = field(default=0, metadata=OMITTED)
    n_wrong_neither: Count = field(default=0, metadata=OMITTED)
    n_neither_found: Count = field(default=0, metadata=OMITTED)

    def __post_init__(self) -> None:
        for parts, whole in (
            (("n_right_found", "n_right_neither"), "n_right"),
            (("n_wrong_found", "n_wrong_neither"), "n_wrong"),
            (("n_neither_right", "n_neither_found"), "n_neither"),
        ):
            if (n := sum(getattr(self, part) for part in parts)) > getattr(self, whole):
                raise InputError(
                    f"{parts[0]}: expected at most {whole}, {getattr(self, whole)}, got {n}"
                )
        signature.parse(self.signature)

    @property
    def key(self) -> tuple[str | None, ...]:
        """What only one row of a file has: a later count takes the place of an earlier one."""
        options = _options(self.signature)
        origin = (self.languages, self.dataset, self.reading, self.labels, self.system, self.of)
        identities = [signature.identity(part) for part in self.evaluator.split("+")]
        # The same weights may have several names.
        judge = "+".join(identities) if all(identities) else self.evaluator
        return (judge, *options, *origin)

    @property
    def n(self) -> int:
        """The number of labelled translations."""
        return self.n_right + self.n_wrong + self.n_neither

    @property
    def threshold(self) -> str:
        """The threshold of the verdict "neither", as signatures have it; "" for two verdicts."""
        return signature.parse(self.signature)[1].get("neither", "")

    @property
    def right(self) -> tuple[int, int]:
        """How many translations that show the reading are found right, of those found right or
        wrong.
        """
        return self.n_right_found, self.n_right - self.n_right_neither

    @property
    def wrong(self) -> tuple[int, int]:
        """How many translations that show another one are found wrong, likewise."""
        return self.n_wrong_found, self.n_wrong - self.n_wrong_neither


class Rate(NamedTuple):
    """How many of `n` translations the judge finds what they are."""

    n_found: int
    n: int

    @property
    def value(self) -> float:
        """The share, in [0, 1]; one half if there are none."""
        return self.n_found / self.n if self.n else 0.5

    @property
    def limits(self) -> tuple[float, float]:
        """Wilson's limits of 95 %; (0, 1) without translations."""
        return score_limits(self.value, self.n) if self.n else (0.0, 1.0)

    def plus(self, n_found: int, n: int) -> Rate:
        """Return the rate with further translations."""
        return Rate(self.n_found + n_found, self.n + n)


class Rates(NamedTuple):
    """The rates of a judge for one reading.

    Attributes:
        right: of translations that show it, those that are found right (s1, the sensitivity).
        wrong: of those that show another one, those that are found wrong (s0, the specificity).
        systems: (s1, s0) by each system with both, where there are several.
    """

    right: Rate
    wrong: Rate
    systems: tuple[tuple[float, float], ...] = ()


def shown_rates(rows: Iterable[Evidence], reading: str) -> Rates:
    """Return how well a judge tells a reading from the other where a translation shows one."""
    right = wrong = Rate(0, 0)
    for row in rows:
        if row.reading == reading:
            right, wrong = right.plus(*row.right), wrong.plus(*row.wrong)
        # A judge does not know which reading is right: what is wrong where one gender is right
        # shows the other, and counts for that.
        elif row.reading == _OTHER.get(reading):
            right, wrong = right.plus(*row.wrong), wrong.plus(*row.right)
    return Rates(right, wrong)


def rates(rows: Iterable[Evidence], reading: str) -> Rates:
    """Return how well a judge does on the figure of a reading, for which what shows neither counts
    as right (Vamvas & Sennrich 2021), or of open sources as not this reading.
    """
    rows = list(rows)
    of_reading = [row for row in rows if row.reading == reading]
    if not of_reading:
        return shown_rates(rows, reading)
    by_system = {s: [r for r in of_reading if r.system == s] for s in _systems(of_reading)}
    of_systems = map(_of_figure, by_system.values())
    right, wrong = _of_figure(of_reading)
    points = tuple((r.value, w.value) for r, w in of_systems if r.n and w.n)
    if not any(row.n_neither for row in of_reading):
        # The judge reads the same translations where the other gender is right. Such rows are added
        # where the rates do not differ clearly.
        pooled = shown_rates(rows, reading)
        right, wrong = _pooled(right, pooled.right), _pooled(wrong, pooled.wrong)
    return Rates(right, wrong, points if len(points) > 1 else ())


def _pooled(rate: Rate, pooled: Rate) -> Rate:
    """Return the rate with that of the other gender, if each is within the limits of the other."""
    other = Rate(pooled.n_found - rate.n_found, pooled.n - rate.n)
    is_alike = (
        rate.limits[0] <= other.value <= rate.limits[1]
        and other.limits[0] <= rate.value <= other.limits[1]
    )
    return pooled if other.n and is_alike else rate


def _systems(rows: Iterable[Evidence]) -> list[str]:
    return [*dict.fromkeys(row.system for row in rows)]


def _of_figure(rows: Iterable[Evidence]) -> tuple[Rate, Rate]:
    right = wrong = Rate(0, 0)
    for row in rows:
        right, wrong = right.plus(*row.right), wrong.plus(*row.wrong)
        if row.threshold:
            n_wrong = row.n_neither - row.n_neither_found - row.n_neither_right
            right, wrong = right.plus(0, n_wrong), wrong.plus(0, row.n_neither_right)
        elif row.is_open:
            wrong = wrong.plus(row.n_neither - row.n_neither_right, row.n_neither)
        else:
            right = right.plus(row.n_neither_right, row.n_neither)
    return right, wrong


def bias(observed: float, s0: float, s1: float) -> float:
    """Return how far the mistakes of a judge move a share: the observed one minus the true one
    (Rogan & Gladen 1978).
    """
    share = min(1.0, max(0.0, (observed + s0 - 1) / (s0 + s1 - 1)))
    return (1 - s0) * (1 - share) - (1 - s1) * share


def corners(of_judge: Rates) -> list[tuple[float, float]]:
    """Return the rates (s0, s1) at which mistakes move shares furthest: the worse limit of the one
    with the better limit of the other, and those of single systems.
    """
    right, wrong = of_judge.right.limits, of_judge.wrong.limits
    return [(wrong[1], right[0]), (wrong[0], right[1]), *((s0, s1) for s1, s0 in of_judge.systems)]


def bias_limits(observed: float, of_judge: Rates) -> tuple[float, float]:
    """Return how far down and up the mistakes of a judge may move a share, in [-1, 1].

    Examples:
        >>> low, high = bias_limits(0.8, Rates(Rate(124, 124), Rate(124, 124)))
        >>> round(low, 4), round(high, 4)
        (-0.0248, 0.0062)
    """
    # Single systems are among the corners: those that differ by more than chance widen the limits.
    points = corners(of_judge)
    if any(s0 + s1 <= 1 for s0, s1 in points):  # a judge that may guess says nothing
        return observed - 1, observed
    # An observed share beyond the rates is by chance: the true one is at most one.
    moved = [min(max(bias(observed, s0, s1), observed - 1), observed) for s0, s1 in points]
    return min(moved), max(moved)


def least_youden(of_judge: Rates) -> float:
    """Return the lower limit of s0 + s1 - 1, in [-1, 1] (the method of variance estimates
    recovery).

    By this factor, a judge shortens true differences.

    Examples:
        >>> round(least_youden(Rates(Rate(144, 146), Rate(29, 29))), 3)
        0.864
    """
    margins = [rate.value - rate.limits[0] for rate in (of_judge.right, of_judge.wrong)]
    return of_judge.right.value + of_judge.wrong.value - 1 - math.hypot(*margins)


def kappa(of_judge: Rates, *, at_least: bool = False) -> float | None:
    """Return Cohen's kappa of a judge with the labels, with `at_least` at the lower limits of both
    rates; None unless both readings are among them.

    Examples:
        >>> of_judge = Rates(Rate(29, 29), Rate(144, 146))
        >>> round(kappa(of_judge), 3), round(kappa(of_judge, at_least=True), 3)
        (0.96, 0.794)
    """
    n = of_judge.right.n + of_judge.wrong.n
    if not (of_judge.right.n and of_judge.wrong.n):
        return None
    share = of_judge.right.n / n
    s1, s0 = (rate.limits[0] if at_least else rate.value for rate in of_judge[:2])
    verdicts = share * s1 + (1 - share) * (1 - s0)  # the share that the judge finds right
    agreed = share * s1 + (1 - share) * s0
    by_chance = share * verdicts + (1 - share) * (1 - verdicts)
    return (agreed - by_chance) / (1 - by_chance)


def not_above(rate: Rate, limit: float) -> int | None:
    """Return how many translations in all show that a judge errs on at most a share of them, if
    further ones are like those so far; None if no number does.
    """
    least = 1 - limit
    if rate.value <= least:
        return None
    # Wilson's lower limit is the share whose score test the observed share just passes.
    return max(rate.n, math.ceil(Z95**2 * least * limit / (rate.value - least) ** 2))


def evidence_of(
    signed: Mapping[str, str], metric: str, *, dataset: str, kind: str, rows: Iterable[Evidence]
) -> list[Evidence]:
    """Return the evidence on the judge of a result: of the same test set, or else of others of the
    same kind, in the same languages and by the same cues and options.

    Args:
        metric: the name in front of the fields; "" if it is not known.
        kind: the kind of its sentences; "" if only the same test set counts.
    """
    wanted = options_of(signed)
    fitting = [
        row
        for row in rows
        if (row.dataset == dataset or (kind and kind_of_sentences(row.dataset) == kind))
        and row.languages == signed.get("langs")
        and _is_of(row, signed.get("eval", ""))
        and metric in ("", signature.parse(row.signature)[0])
        and _options(row.signature) == wanted
    ]
    fitting = [row for row in fitting if not row.of] or fitting
    return [row for row in fitting if row.dataset == dataset] or fitting


@cache
def _options(text: str) -> list[str | None]:
    return options_of(signature.parse(text)[1])


def options_of(signed: Mapping[str, str]) -> list[str | None]:
    """Return what verdicts depend on besides judge and languages, by the fields of a signature."""
    is_rounded = "int8" if "int8" in signed.get("dtype", "") else None
    return [*(signed.get(name) for name in _OPTIONS), is_rounded]


def known_threshold(
    signed: Mapping[str, str], metric: str, *, dataset: str, kind: str, rows: Iterable[Evidence]
) -> tuple[str, float] | None:
    """Return the threshold of the verdict "neither" that evidence on a judge gives, and the share
    of labelled translations that show neither; None without such evidence.
    """
    rows = list(rows)
    by_threshold = {
        threshold: evidence_of(
            {**signed, "neither": threshold}, metric, dataset=dataset, kind=kind, rows=rows
        )
        for threshold in dict.fromkeys(row.threshold for row in rows)
        if threshold and signed.get("neither", threshold) == threshold
    }
    known = {threshold: of for threshold, of in by_threshold.items() if of}
    if not known:
        return None

    def strength(threshold: str) -> tuple[bool, int]:
        fitting = known[threshold]
        return fitting[0].dataset == dataset, sum(row.n for row in fitting)

    best = max(known, key=strength)
    n_neither = sum(row.n_neither for row in known[best])
    return best, n_neither / sum(row.n for row in known[best])


def _is_of(row: Evidence, evaluator: str) -> bool:
    if row.of:  # a model of the Hub, by its name, of which no weights are known
        names = signature.evaluator_names(evaluator)
        return len(names) == 1 and names[0] == row.evaluator
    return signature.is_same_evaluator(row.evaluator, evaluator)


def known_evidence() -> tuple[Evidence, ...]:
    """Return the evidence of the user, the package and installed judges, of equal keys the one on
    more labels.
    """
    path = users_file()
    try:
        return _known(path, os.stat(path).st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return _known(None, 0)


@cache
def _known(of_user: Path | None, stamp: int) -> tuple[Evidence, ...]:
    of_judges = (judge.evidence for judge in load_all("evaluator").values())
    paths = [path for path in (of_user, SHIPPED, *of_judges) if path is not None]
    return distinct(row for path in paths for row in read_evidence(path))


def distinct(rows: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the rows with distinct keys, on most labels; among equals the first."""
    by_key: dict[tuple[str | None, ...], Evidence] = {}
    # No label may count twice.
    for row in rows:
        known = by_key.setdefault(row.key, row)
        if row.n > known.n:
            by_key[row.key] = row
    return tuple(by_key.values())


def read_evidence(path: Path) -> list[Evidence]:
    """Read a file of evidence: JSON objects on lines, with the fields of `Evidence`."""
    rows = []
    for where, row in parse_objects(stream_lines(path), path):
        with in_file(where):
            rows.append(read_value(Evidence, row))
    return rows


def users_file() -> Path:
    """Return the file of the evidence that a user's checks have given."""
    return huggingface_home() / "cc_hf" / "evidence.jsonl"


def write_evidence(path: Path, rows: Sequence[Evidence]) -> None:
    """Add rows to a file, which need not exist. Of equal keys, the row on more labels stays.

    Raises:
        FileError: for a file that is none of evidence.
        InputError: if it cannot be written.
    """
    from filelock import FileLock  # imported here, since results are read without it

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f".{path.name}.lock")).acquire()
    except OSError as error:
        raise InputError(
            f"{path}: the evidence cannot be written ({error.strerror}); set HF_HOME to a folder"
            " that can"
        ) from error
    with lock:  # another check may end now
        kept = distinct([*rows, *(read_evidence(path) if is_file(path) else ())])
        lines = [json.dumps(write_record(row), ensure_ascii=False) for row in kept]
        write_atomically(path, "".join(f"{line}\n" for line in lines))
