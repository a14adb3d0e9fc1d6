"""Sheets on which people judge adversarial and regular sentences, and what their answers say
(thesis, section 3.3.3).
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from cc_hf.data.homographs import HomographLexicon, TaggedPair
from cc_hf.data.text_files import read_lines
from cc_hf.errors import InputError, shown
from cc_hf.files import parse_json, parse_table
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval, weighted_kappa
from cc_hf.statistics.bootstrap import Bootstrap, wilson_interval
from cc_hf.studies.adversarial.samples import AdversarialSample

__all__ = [
    "ANSWERS",
    "KINDS_OF_SENTENCES",
    "Answer",
    "KindFigures",
    "SheetFigures",
    "SheetItem",
    "key_text",
    "rate_sheets",
    "read_key",
    "read_sheet",
    "sheet_items",
    "sheet_text",
]

#: Kinds of sentences on a sheet, which the raters do not see.
KINDS_OF_SENTENCES = ("adversarial", "regular")

#: Answers to the question which sense the word has.
ANSWERS = ("1", "2", "NONE", "BOTH")

_SCALE = ("1", "2", "3", "4", "5")
_ANSWER = "WHICH SENSE IS CORRECT? (1, 2, NONE or BOTH)"
_NATURALNESS = "DOES THE SENTENCE MAKE SENSE? (1 to 5)"
_COLUMNS = ("id", "sentence", "word", "SENSE 1", "SENSE 2", _ANSWER, _NATURALNESS)
_WORDS_OF_SENSE = 5
# A spreadsheet would compute a cell that begins with one of these characters.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class SheetItem:
    """A sentence on a sheet.

    Attributes:
        id: its name on the sheet, which does not say of which kind it is.
        kind: a name of `KINDS_OF_SENTENCES`.
        origin: id of the sample or of the tagged pair.
        sentence: the sentence.
        word: the homograph, as it stands in the sentence.
        sense_1: words of the first sense offered.
        sense_2: words of the second.
        right: the right one, "1" or "2".
    """

    id: str
    kind: str
    origin: str
    sentence: str
    word: str
    sense_1: str
    sense_2: str
    right: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answers of one rater about one sentence.

    Attributes:
        sense: one of `ANSWERS`.
        naturalness: from 1, completely unnatural, to 5, completely natural.
    """

    sense: str
    naturalness: int


@dataclass(frozen=True)
class KindFigures:
    """Answers of both raters about the sentences of one kind.

    Attributes:
        kind: a name of `KINDS_OF_SENTENCES`.
        n: number of answers.
        n_wrong: number of answers that name the wrong sense.
        n_none: number of answers that no sense fits.
        n_both: number of answers that both senses fit.
        error_rate: share of answers other than the right sense, in [0, 1].
        interval: Wilson's interval of the error rate.
        naturalness: mean of the ratings, in [1, 5].
    """

    kind: str
    n: int
    n_wrong: int
    n_none: int
    n_both: int
    error_rate: float
    interval: Interval
    naturalness: float


@dataclass(frozen=True)
class SheetFigures:
    """What two filled sheets say.

    Attributes:
        n: number of sentences.
        kinds: figures of each kind of sentences that occurs.
        kappa: Cohen's kappa of the two raters on the sense, over the four answers.
        kappa_interval: bootstrap interval over sentences.
        naturalness_kappas: weights ("linear", "quadratic") -> weighted kappa of the ratings. The
            thesis prints .17 without saying which.
    """

    n: int
    kinds: tuple[KindFigures, ...]
    kappa: float
    kappa_interval: Interval | NoInterval
    naturalness_kappas: dict[str, float]


def sheet_items(
    samples: Sequence[AdversarialSample],
    pairs: Sequence[TaggedPair],
    lexicon: HomographLexicon,
    *,
    n: int = 1000,
    seed: int = 0,
) -> list[SheetItem]:
    """Draw adversarial and regular sentences and shuffle them.

    An adversarial sentence offers the right sense and that of the attractor, a regular one the
    right sense and another one at random. Which of them comes first is random.

    Args:
        samples: adversarial samples, such as a challenge set.
        pairs: regular sentences with a known sense; may be empty.
        lexicon: the words that describe a sense.
        n: number of sentences of each kind, or all that there are.
        seed: decides what is drawn, and every order.

    Returns:
        The items in the order of the sheet.

    Raises:
        InputError: for a number below 1, no samples, a homograph or cluster that is not in the
            lexicon, or a homograph with one sense only.
    """
    if n < 1:
        raise InputError(f"n: expected at least 1, got {n}")
    if not samples:
        raise InputError("samples: expected adversarial samples, got none")
    draw = random.Random(seed)
    questions = [_of_sample(samples[i], lexicon) for i in _drawn(len(samples), n, draw)]
    questions += [_of_pair(pairs[i], lexicon, draw) for i in _drawn(len(pairs), n, draw)]
    draw.shuffle(questions)
    return [
        _item(question, str(number), draw.randrange(2), lexicon)
        for number, question in enumerate(questions, 1)
    ]


class _Question(NamedTuple):
    """A sentence with the senses that it offers."""

    kind: str
    origin: str
    sentence: str
    start: int
    homograph: str
    right: str
    wrong: str


def _drawn(n_rows: int, n: int, draw: random.Random) -> list[int]:
    return sorted(draw.sample(range(n_rows), min(n, n_rows)))


def _of_sample(sample: AdversarialSample, lexicon: HomographLexicon) -> _Question:
    for cluster in (sample.seed_cluster, sample.adv_cluster):
        lexicon.check(sample.homograph, cluster, f"sample {sample.id!r}")
    return _Question(
        KINDS_OF_SENTENCES[0],
        sample.id,
        sample.source,
        sample.homograph_start,
        sample.homograph,
        sample.seed_cluster,
        sample.adv_cluster,
    )


def _of_pair(pair: TaggedPair, lexicon: HomographLexicon, draw: random.Random) -> _Question:
    """Return a question with another sense at random.

    Raises:
        InputError: for a homograph with one sense.
    """
    lexicon.check(pair.homograph, pair.cluster, f"pair {pair.id!r}")
    others = [name for name in lexicon.clusters(pair.homograph) if name != pair.cluster]
    if not others:
        raise InputError(
            f"pair {pair.id!r}: {pair.homograph!r} has one sense in the lexicon; expected another"
            " to offer; leave the pair out"
        )
    return _Question(
        KINDS_OF_SENTENCES[1],
        pair.id,
        pair.source,
        pair.start,
        pair.homograph,
        pair.cluster,
        draw.choice(others),
    )


def _item(question: _Question, name: str, position: int, lexicon: HomographLexicon) -> SheetItem:
    """Return the item whose right sense is the first (position 0) or the second."""
    clusters = lexicon.clusters(question.homograph)
    right, wrong = (
        ", ".join(clusters[cluster].senses[:_WORDS_OF_SENSE])
        for cluster in (question.right, question.wrong)
    )
    return SheetItem(
        name,
        question.kind,
        question.origin,
        question.sentence,
        _word_at(question.sentence, question.start),
        *((right, wrong) if position == 0 else (wrong, right)),
        str(position + 1),
    )


def _word_at(sentence: str, start: int) -> str:
    length = next(
        (i for i, letter in enumerate(sentence[start:]) if not letter.isalnum()),
        len(sentence) - start,
    )
    return sentence[start : start + length]


def sheet_text(items: Iterable[SheetItem]) -> str:
    """Return the CSV that a rater fills.

    Args:
        items: sentences in the order of the sheet.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for item in items:
        cells = (item.id, item.sentence, item.word, item.sense_1, item.sense_2, "", "")
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells])
    return text.getvalue()


def key_text(items: Iterable[SheetItem]) -> str:
    """Return the key of a sheet as JSON lines; raters must not see it.

    Args:
        items: sentences in the order of the sheet.
    """
    return "".join(json.dumps(asdict(item), ensure_ascii=False) + "\n" for item in items)


def read_key(path: Path) -> list[SheetItem]:
    """Read the key of a sheet.

    Args:
        path: a file that `key_text` makes.

    Returns:
        The items in the order of the sheet.

    Raises:
        InputError: for a file that does not exist, a line that is not such an item, or an id that
            occurs twice. The message names the line.
    """
    items: dict[str, SheetItem] = {}
    for number, line in enumerate(read_lines(path), 1):
        where = f"{path}: line {number}"
        names = SheetItem.__slots__
        try:
            row = parse_json(line)
        except InputError as error:
            raise InputError(
                f"{where}: expected a JSON object, got {shown(line)} ({error})"
            ) from None
        if not isinstance(row, dict) or not all(isinstance(row.get(n), str) for n in names):
            raise InputError(
                f"{where}: expected texts for {', '.join(names)}, as `cc-hf attack sheets` writes"
                f" them, got {shown(row)}"
            )
        item = SheetItem(**{name: row[name] for name in names})
        if item.kind not in KINDS_OF_SENTENCES or item.right not in ANSWERS[:2]:
            raise InputError(
                f"{where}: expected the kind {' or '.join(KINDS_OF_SENTENCES)} and 1 or 2 as right,"
                f" got {item.kind!r} and {item.right!r}"
            )
        if item.id in items:
            raise InputError(f"{where}: the id {item.id!r} occurs twice; use the key as written")
        items[item.id] = item
    if not items:
        raise InputError(f"{path}: expected at least one sentence, got none")
    return list(items.values())


def read_sheet(path: Path, items: Sequence[SheetItem]) -> dict[str, Answer]:
    """Read a sheet that a rater has filled.

    Args:
        path: the sheet as CSV; the order of its rows and columns does not matter.
        items: the key.

    Returns:
        Id of a sentence -> the answers.

    Raises:
        InputError: for a file that does not exist, a missing column, a sentence that is missing,
            unknown or there twice, or an answer that is not one of those offered. The message names
            the line.
    """
    rows = parse_table(read_lines(path), path, delimiter=",")
    _, header = next(rows, (0, []))
    columns = {name: header.index(name) for name in _COLUMNS if name in header}
    if missing := [name for name in ("id", _ANSWER, _NATURALNESS) if name not in columns]:
        raise InputError(
            f"{path}: line 1: expected the column {missing[0]!r}, got"
            f" {', '.join(header) or 'none'}; keep the first line of the sheet"
        )
    known = {item.id for item in items}
    answers: dict[str, Answer] = {}
    for number, cells in rows:
        where = f"{path}: line {number}"
        name = cells[columns["id"]].strip()
        sense = cells[columns[_ANSWER]].strip().upper()
        rating = cells[columns[_NATURALNESS]].strip()
        if name not in known or name in answers:
            problem = "occurs twice" if name in answers else "is not in the key"
            raise InputError(f"{where}: the id {name!r} {problem}; expected each sentence once")
        if sense not in ANSWERS:
            raise InputError(f"{where}: sense: expected {', '.join(ANSWERS)}, got {shown(sense)}")
        if rating not in _SCALE:
            raise InputError(f"{where}: naturalness: expected 1 to 5, got {shown(rating)}")
        answers[name] = Answer(sense, int(rating))
    if unanswered := known - answers.keys():
        first = min(unanswered, key=lambda name: [item.id for item in items].index(name))
        raise InputError(
            f"{path}: expected an answer for each sentence of the key, got none for {first!r} (and"
            f" {len(unanswered) - 1} more)"
        )
    return answers


def rate_sheets(
    items: Sequence[SheetItem],
    first: Mapping[str, Answer],
    second: Mapping[str, Answer],
    *,
    bootstrap: Bootstrap | None = None,
) -> SheetFigures:
    """Return error rates, naturalness, and the agreement of two raters.

    Args:
        items: the key.
        first: answers of the first rater.
        second: answers of the second.
        bootstrap: how the interval of kappa is drawn; None for the defaults.

    Returns:
        Rates in [0, 1].

    Raises:
        InputError: for no items.
    """
    names = [item.id for item in items]
    senses = [[rater[name].sense for name in names] for rater in (first, second)]
    ratings = [[str(rater[name].naturalness) for name in names] for rater in (first, second)]
    kinds = [
        _kind_figures(kind, [item for item in items if item.kind == kind], first, second)
        for kind in KINDS_OF_SENTENCES
        if any(item.kind == kind for item in items)
    ]
    return SheetFigures(
        len(items),
        tuple(kinds),
        cohen_kappa(*senses, labels=ANSWERS),
        kappa_interval(*senses, labels=ANSWERS, **(bootstrap or Bootstrap()).options),
        {
            weights: weighted_kappa(*ratings, labels=_SCALE, weights=weights)
            for weights in ("linear", "quadratic")
        },
    )


def _kind_figures(
    kind: str,
    items: Sequence[SheetItem],
    first: Mapping[str, Answer],
    second: Mapping[str, Answer],
) -> KindFigures:
    answers = [(item.right, rater[item.id]) for item in items for rater in (first, second)]
    counts = Counter("right" if a.sense == right else a.sense for right, a in answers)
    n, n_errors = len(answers), len(answers) - counts["right"]
    return KindFigures(
        kind,
        n,
        n_errors - counts["NONE"] - counts["BOTH"],
        counts["NONE"],
        counts["BOTH"],
        n_errors / n,
        wilson_interval(n_errors, n),
        sum(answer.naturalness for _, answer in answers) / n,
    )
