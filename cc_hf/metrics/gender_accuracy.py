"""Gender accuracy of MT-GenEval (Currey et al. 2022, section 3.1): does the translation hold a word
that only the reference of the other gender has?
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cc_hf import __version__, signature
from cc_hf.errors import InputError, shown
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_languages,
    check_rows,
    check_spaced_language,
    optional_text,
    own_data,
    text,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import flat
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement
from cc_hf.statistics.bootstrap import (
    check_bootstrap,
    figure_intervals,
    known_intervals,
    missing_intervals,
    resampled_sums,
)

__all__ = [
    "DECLARATION",
    "KEYS",
    "METRIC_VERSION",
    "check_input",
    "compute",
    "evaluate",
    "judge",
    "words",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

_FIELDS: Fields = {
    "reference": text,
    "contrastive_reference": text,
    "category": optional_text,
    "gender": optional_text,
    "pair": optional_text,
}
#: of a reference
KEYS = tuple(_FIELDS)
_OTHER = {"male": "female", "female": "male"}
_UNDECIDED = ("correct", "inconclusive")
_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))


def words(text: str) -> frozenset[str]:
    """The words as the paper's program has them: lower case, ASCII punctuation to blanks, split;
    other punctuation stays glued.

    Unicode is composed (NFC) first, which the program does not do: an accent typed as a character
    of its own is the same letter.

    >>> sorted(words("Die Ärztin, «ja»!"))
    ['die', '«ja»', 'ärztin']
    """
    return frozenset(unicodedata.normalize("NFC", text).lower().translate(_PUNCTUATION).split())


def check_input(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]], *, whole: bool = True
) -> tuple[list[str], list[dict[str, Any]]]:
    """Refuse what cannot be judged, with the row that is wrong.

    Blank translations can. A batch, which is not the `whole`, may hold one half of a pair.

    Returns:
        The rows as plain lists, whatever held them (`cc_hf.metrics.checks.check_rows`).

    Raises:
        InputError: empty lists, different lengths, a translation that is no text, a missing key, a
            blank reference, pairs that are not two rows each.
    """
    translations, checked = check_rows(predictions, references, _FIELDS)
    rows: dict[str, list[int]] = {}
    for row, reference in enumerate(checked):
        rows.setdefault(reference.get("pair") or "", []).append(row)
    if alone := rows.pop("", []):
        if rows:
            raise InputError(
                f"row {alone[0]}: pair: expected the name of a pair, as in row"
                f" {min(min(r) for r in rows.values())}, got none; give all rows one, or none"
            )
        return translations, checked
    for pair, members in rows.items() if whole else ():
        if len(members) != 2:
            raise InputError(
                f"row {members[0]}: pair {pair!r}: expected two rows, a sentence and its"
                f" counterfactual, got {len(members)} (rows {', '.join(map(str, members[:5]))})"
            )
    return translations, checked


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    ids: Sequence[str] | None = None,
    undecided: str = "correct",
) -> tuple[Judgement, ...]:
    """The verdict on every translation; each is judged by itself.

    Incorrect is a translation with a word that the contrastive reference has and the reference has
    not (eq. 2). All others are correct, also those with no word of only one reference, such as a
    blank one: they are undecided, and `predicted` is "".

    Args:
        predictions, references: as in `compute`.
        ids: names of the examples; None for row numbers.
        undecided: the verdict on undecided translations: correct (as the paper's program), or
            inconclusive.
    """
    names = check_ids(ids, len(predictions))
    found = []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        own, other = words(reference["reference"]), words(reference["contrastive_reference"])
        held = words(translation)
        sides = (not held.isdisjoint(own - other), not held.isdisjoint(other - own))
        gender = reference.get("gender") or ""
        gold, wrong = (gender, _OTHER[gender]) if gender in _OTHER else ("reference", "contrastive")
        verdict = "incorrect" if sides[1] else "correct" if sides[0] else undecided
        predicted = {
            (True, True): "both",
            (True, False): gold,
            (False, True): wrong,
            (False, False): "",
        }[sides]
        category = reference.get("category") or gender or "all"
        found.append(
            Judgement(
                name,
                category,
                verdict == "correct",
                translation,
                verdict,
                predicted=predicted,
                gold=gold,
            )
        )
    return tuple(found)


def evaluate(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    undecided: str = "correct",
    src_lang: str = "",
    tgt_lang: str = "",
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
    progress: bool = False,
) -> EvaluationResult:
    """Judge translations and sum up.

    Where the references come in pairs (the counterfactual subset), a pair is correct when both
    translations are: `pair_accuracy` is then the paper's figure. `accuracy`, categories and
    judgements are of single translations.

    Args:
        predictions, references, undecided: as in `compute`.
        src_lang, tgt_lang: ISO 639-1 codes; "" where unknown.
        ids, dataset, config: names for the result.
        origin: signature fields of the data.
        seed, n_resamples: of the bootstrap.
        progress: of no effect; nothing here takes long.

    Raises:
        InputError: as `check_input`, for a language without spaces between words, or an option that
            is not known.
    """
    predictions, references = check_input(predictions, references)
    names = check_ids(ids, len(predictions))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    check_spaced_language(tgt_lang, "gender_accuracy")
    if undecided not in _UNDECIDED:
        raise InputError(
            f"undecided: expected one of {', '.join(_UNDECIDED)}, got {shown(undecided)}"
        )
    judgements = judge(predictions, references, ids=names, undecided=undecided)
    summary = summarize(judgements, seed=seed, n_resamples=n_resamples)
    pairs = [reference.get("pair") or "" for reference in references]
    scores, unit_intervals, n_pairs_correct = _unit_figures(
        judgements, pairs if any(pairs) else None, seed=seed, n_resamples=n_resamples
    )
    intervals = {**summary.intervals, **unit_intervals}
    fields: dict[str, str | int] = {
        "data": own_data(references),
        **{key: value for key, value in (origin or {}).items() if key != "cues"},  # no cue is read
        "langs": f"{src_lang or '?'}-{tgt_lang or '?'}",
        "undecided": undecided,
        "n": len(judgements),
        "boot": n_resamples,
        "seed": seed,
        "m": METRIC_VERSION,
        "v": __version__,
    }
    of_pairs = (
        {"n_pairs": len(set(pairs)), "n_pairs_correct": n_pairs_correct} if any(pairs) else {}
    )
    blank = sum(not translation.strip() for translation in predictions)
    return EvaluationResult(
        dataset=dataset,
        config=config,
        tgt_lang=tgt_lang,
        metric="gender_accuracy",
        signature=signature.build("ga", fields),
        n=len(judgements),
        scores={**summary.scores, **scores, **_decided_by_category(judgements)},
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=summary.categories,
        judgements=judgements,
        counts={
            **summary.counts,
            **of_pairs,
            "n_undecided": sum(not j.predicted for j in judgements),
            "n_blank": blank,
        },
    )


_Intervals = dict[str, Interval | NoInterval]


def _unit_figures(
    judgements: Sequence[Judgement], pairs: Sequence[str] | None, *, seed: int, n_resamples: int
) -> tuple[dict[str, float], _Intervals, int]:
    """Figures of pairs and of decided translations, their intervals, and the number of correct
    pairs; pairs are drawn whole, without pairs translations are.
    """
    units: dict[str, list[Judgement]] = {}
    for row, judgement in enumerate(judgements):
        units.setdefault(str(row) if pairs is None else pairs[row], []).append(judgement)
    statistics = np.array([_contribution(unit) for unit in units.values()], dtype=np.float64)
    wanted = [
        *(("pair_accuracy", "decided_pair_accuracy") if pairs is not None else ()),
        "decided_accuracy",
        "undecided_rate",
    ]
    observed = statistics.sum(axis=0)
    proportions = {
        name: (observed[at], observed[at + 1])
        for name, at in _COLUMNS.items()
        if name in wanted and observed[at + 1]
    }
    sums = resampled_sums(statistics, n_resamples=n_resamples, seed=seed)
    drawn = {
        name: np.divide(
            sums[:, at],
            sums[:, at + 1],
            out=np.full(n_resamples, np.nan),
            where=sums[:, at + 1] > 0,
        )
        for name, at in _COLUMNS.items()
    }
    # translations of a pair are no independent samples
    independent = {
        name: share for name, share in proportions.items() if pairs is None or "pair" in name
    }
    intervals = figure_intervals({name: drawn[name] for name in proportions}, independent)
    return (
        {name: float(part / whole) for name, (part, whole) in proportions.items()},
        intervals,
        int(observed[0]),
    )


def _contribution(unit: Sequence[Judgement]) -> tuple[int, ...]:
    correct, decided = [j.is_correct for j in unit], [bool(j.predicted) for j in unit]
    both = [c and d for c, d in zip(correct, decided, strict=True)]
    return (
        all(correct),
        1,
        all(both),
        all(decided),
        sum(both),
        sum(decided),
        len(unit) - sum(decided),
        len(unit),
    )


#: place of the part of each figure in the sums of `_contribution`; its whole is behind it
_COLUMNS = {
    "pair_accuracy": 0,
    "decided_pair_accuracy": 2,
    "decided_accuracy": 4,
    "undecided_rate": 6,
}


def _decided_by_category(judgements: Sequence[Judgement]) -> dict[str, float]:
    found: dict[str, list[bool]] = {}
    for judgement in judgements:
        if judgement.predicted:
            found.setdefault(judgement.category, []).append(judgement.is_correct)
    return {
        f"decided_accuracy_{name}": sum(correct) / len(correct)
        for name, correct in sorted(found.items())
    }


def compute(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    undecided: str = "correct",
    src_lang: str = "",
    tgt_lang: str = "",
    seed: int = 0,
    n_resamples: int = 1000,
) -> dict[str, Any]:
    """What the `evaluate` module returns: figures in [0, 1] as one flat dict.

    Args:
        predictions: translations; a blank one is judged like any other.
        references: per translation `reference` and `contrastive_reference` (the same with the other
            gender); if wanted `category`, `gender` (male, female) and `pair`, a name that a
            sentence and its counterfactual share.
        undecided: correct (as the paper's program) or inconclusive, for translations with no word
            of only one reference.
        src_lang, tgt_lang, seed, n_resamples: as in `evaluate`.

    Returns:
        accuracy, min_accuracy, accuracy_<category>; pair_accuracy and decided_pair_accuracy, where
        there are pairs; decided_accuracy (of translations with a word of only one reference),
        decided_accuracy_<category>, undecided_rate; n, n_correct, n_inconclusive, n_undecided,
        n_blank, n_pairs, n_pairs_correct; verdicts and predicted (lists); intervals (name -> [low,
        high], 95 %), interval_notes (name -> text); signature. A figure of no sample is left out.

    Raises:
        As `evaluate`.

    >>> reference = {"reference": "Sie ist Ärztin.", "contrastive_reference": "Er ist Arzt."}
    >>> result = compute(["Sie ist eine Ärztin.", "Sie ist Arzt."], [reference] * 2, tgt_lang="de")
    >>> result["accuracy"], result["verdicts"]
    (0.5, ['correct', 'incorrect'])
    """
    result = evaluate(
        predictions,
        references,
        undecided=undecided,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        seed=seed,
        n_resamples=n_resamples,
    )
    return flat(result)


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    return [
        {
            "reference": (
                example.correct_translation
                if isinstance(example, ContrastiveTranslationExample)
                else example.extra["reference"]
            ),
            "contrastive_reference": (
                example.contrastive_translations[0]
                if isinstance(example, ContrastiveTranslationExample)
                else example.extra["contrastive_reference"]
            ),
            "category": example.category,
            "gender": (
                example.extra["gender"]
                if isinstance(example, ContrastiveTranslationExample)
                else example.gold
            ),
            "pair": example.extra.get("pair", ""),
        }
        for example in examples
    ]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    if dataset != "mt_geneval":
        return (
            "gender_accuracy needs a reference of each gender, which only mt_geneval has, not"
            f" {dataset}"
        )
    if config.startswith("counterfactual_") and form is ContrastiveTranslationExample:
        return (
            f"gender_accuracy counts pairs whose references show no gender too, which {config}"
            " leaves out"
        )
    return ""


DECLARATION = MetricDeclaration(
    name="gender_accuracy",
    evaluate=evaluate,
    references=_references,
    fits=_fits,
    options=("undecided",),
    leaderboard=("accuracy", "pair_accuracy"),
    resampling="within categories; of pairs and of what is decided, over whole pairs",
)
