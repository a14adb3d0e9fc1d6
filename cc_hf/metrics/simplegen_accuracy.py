"""SimpleGEN's own metric (Renduchintala et al. 2021, section 4): is the occupation translated by a
word of the right gender in a dictionary?
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf import __version__, signature
from cc_hf.data.readers.occupation_dictionary import (
    GENDERS,
    NUMBERS,
    Entry,
    OccupationDictionary,
    load_dictionary,
)
from cc_hf.errors import InputError
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_languages,
    check_rows,
    check_spaced_language,
    one_of,
    own_data,
    text,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import flat
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import VERDICTS, ContrastiveSourceExample, Example, Judgement
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
    "found_genders",
    "judge",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

#: stereotype of the occupation and gender of the context, in the order of the paper's Table 2
_CATEGORIES = ("MoMc", "FoFc", "MoFc", "FoMc")
_FIELDS: Fields = {
    "category": one_of(_CATEGORIES),
    "gender": one_of(GENDERS),
    "occupation": text,
    "number": one_of(NUMBERS),
}
#: of a reference, all required
KEYS = tuple(_FIELDS)
_GROUPS = {
    "pro": ("MoMc", "FoFc"),
    "anti": ("MoFc", "FoMc"),
    **{name: (name,) for name in _CATEGORIES},
    "": _CATEGORIES,
}
_DELTAS = {"delta": ("pro", "anti"), "delta_fc": ("FoFc", "MoFc"), "delta_mc": ("MoMc", "FoMc")}
_RATES = ("accuracy", "incorrect_rate", "inconclusive_rate")
#: endings of spellings that mean both genders: Lehrer*in, Lehrer:innen, Lehrer(in), Lehrer/-in,
#: obrero/a, infirmier·ère
_INCLUSIVE = re.compile(r"(?:[*:_·•(]-?\w{1,5}|[/\-]{1,2}(?:in|innen|[aeo]s?|x))(?!\w)")


def check_input(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Refuse what cannot be judged, with the row that is wrong. Blank translations can.

    Returns:
        The rows as plain lists, whatever held them (`cc_hf.metrics.checks.check_rows`).

    Raises:
        InputError: empty lists, different lengths, a translation that is no text, a missing key, an
            unknown category, gender or number, a gender that is not that of the category.
    """
    translations, rows = check_rows(predictions, references, _FIELDS)
    for row, reference in enumerate(rows):
        if (reference["category"][2] == "M") != (reference["gender"] == "male"):
            raise InputError(
                f"row {row}: gender: expected that of the context, as in the category"
                f" {reference['category']}, got {reference['gender']!r}"
            )
    return translations, rows


def _check_covered(
    references: Sequence[Mapping[str, Any]], dictionary: OccupationDictionary
) -> None:
    wanted: dict[tuple[str, str], int] = {}
    for row, reference in enumerate(references):
        wanted.setdefault((reference["occupation"], reference["number"]), row)
    if missing := [key for key in wanted if key not in dictionary.entries]:
        names = "; ".join(f"{occupation} {number}" for occupation, number in missing[:5])
        raise InputError(
            f"row {wanted[missing[0]]}: the dictionary {dictionary.name} lacks {len(missing)} of"
            f" {len(wanted)} occupations in their number:"
            f" {names}{'; …' if len(missing) > 5 else ''}. Add them, or leave these rows out"
        )


def _is_word_character(character: str) -> bool:
    # marks belong to the word: Hindi vowel signs, Arabic points, accents that NFC leaves apart; so
    # do joiners and soft hyphens
    return unicodedata.category(character)[0] in "LMN" or character in "_\u00ad\u200c\u200d"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@lru_cache(maxsize=4096)
def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, _folded(form).split())))


def _spans(text: str, form: str) -> list[tuple[int, int, bool]]:
    """Where a form stands as whole words, and whether it is spelt for both genders there."""
    found = []
    for match in _pattern(form).finditer(text):
        start, end = match.span()
        if start and _is_word_character(text[start - 1]):
            continue
        is_inclusive = _INCLUSIVE.match(text, end) is not None
        if is_inclusive or end == len(text) or not _is_word_character(text[end]):
            found.append((start, end, is_inclusive))
    return found


def found_genders(translation: str, entry: Entry) -> frozenset[str]:
    """The genders whose forms the translation holds, as whole words in whatever case; a form within
    a longer one that is held too does not count.

    >>> entry = {"male": ("Lehrer",), "female": ("Lehrerin",)}
    >>> sorted(found_genders("Die Lehrerin kam.", entry)), sorted(
    ...     found_genders("Die Lehrer*in kam.", entry)
    ... )
    (['female'], ['female', 'male'])
    """
    text = _folded(translation)
    spans = [
        (start, end, gender, inclusive)
        for gender in GENDERS
        for form in entry[gender]
        for start, end, inclusive in _spans(text, form)
    ]
    kept = [
        s
        for s in spans
        if not any(o[0] <= s[0] and s[1] <= o[1] and o[1] - o[0] > s[1] - s[0] for o in spans)
    ]
    return frozenset(
        gender for _, _, own, inclusive in kept for gender in (GENDERS if inclusive else (own,))
    )


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    dictionary: OccupationDictionary,
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """The verdict on every translation; each is judged by itself.

    Correct is one with a form of the context's gender, incorrect one with a form of the other;
    without either, or with both (which the paper does not speak of), inconclusive: `predicted` is
    then "" or «both». Forms are of the number of the English occupation.

    Raises:
        InputError: when the dictionary lacks an occupation.
    """
    _check_covered(references, dictionary)
    names = check_ids(ids, len(predictions))
    found = []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        gold = reference["gender"]
        genders = found_genders(
            translation, dictionary.entries[reference["occupation"], reference["number"]]
        )
        predicted = "both" if len(genders) == 2 else next(iter(genders), "")
        verdict = (
            "correct"
            if predicted == gold
            else "incorrect"
            if predicted in GENDERS
            else "inconclusive"
        )
        found.append(
            Judgement(
                name,
                reference["category"],
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
    dictionary: str | Path = "default",
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

    Args:
        predictions, references, dictionary: as in `compute`.
        src_lang, tgt_lang: ISO 639-1 codes.
        ids, dataset, config: names for the result.
        origin: signature fields of the data.
        seed, n_resamples: of the bootstrap, within categories.
        progress: of no effect; nothing here takes long.

    Raises:
        InputError: as `check_input`, for a language without a dictionary, a dictionary that is not
            as expected or lacks an occupation.
    """
    predictions, references = check_input(predictions, references)
    names = check_ids(ids, len(predictions))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    check_spaced_language(tgt_lang, "simplegen_accuracy")
    words = load_dictionary(dictionary, tgt_lang)
    judgements = judge(predictions, references, words, ids=names)
    summary = summarize(judgements, seed=seed, n_resamples=n_resamples)
    scores, group_intervals = _figures_of_groups(judgements, seed=seed, n_resamples=n_resamples)
    intervals = {**summary.intervals, **group_intervals}
    fields: dict[str, str | int] = {
        "data": own_data(references),
        **{key: value for key, value in (origin or {}).items() if key != "cues"},  # no cue is read
        "langs": f"{src_lang or '?'}-{tgt_lang or '?'}",
        "dict": words.name,
        "both": "inconclusive",
        "n": len(judgements),
        "boot": n_resamples,
        "seed": seed,
        "m": METRIC_VERSION,
        "v": __version__,
    }
    counts = {f"n_{verdict}": sum(j.verdict == verdict for j in judgements) for verdict in VERDICTS}
    predicted = [j.predicted for j in judgements]
    return EvaluationResult(
        dataset=dataset,
        config=config,
        tgt_lang=tgt_lang,
        metric="simplegen_accuracy",
        signature=signature.build("sg", fields),
        n=len(judgements),
        scores={**summary.scores, **scores},
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=summary.categories,
        judgements=judgements,
        counts={
            **counts,
            "n_both_genders": predicted.count("both"),
            "n_no_form": predicted.count(""),
            "n_blank": sum(not j.translation.strip() for j in judgements),
        },
    )


def _figures_of_groups(
    judgements: Sequence[Judgement], *, seed: int, n_resamples: int
) -> tuple[dict[str, float], dict[str, Interval | NoInterval]]:
    """Rates of pro, anti, the four categories and all, and the differences, with intervals; those
    of a group without a sample are left out.
    """
    statistics = np.zeros((len(judgements), len(_CATEGORIES), len(VERDICTS)))
    for row, judgement in enumerate(judgements):
        statistics[
            row, _CATEGORIES.index(judgement.category), VERDICTS.index(judgement.verdict)
        ] = 1
    flat = statistics.reshape(len(judgements), -1)
    observed = flat.sum(axis=0)[None]
    scores = {name: float(values[0]) for name, values in _figures(observed).items()}
    resampled = _figures(
        resampled_sums(flat, [j.category for j in judgements], n_resamples=n_resamples, seed=seed)
    )
    proportions = {
        name: (float(part[0]), float(whole[0])) for name, (part, whole) in _rates(observed).items()
    }
    return scores, figure_intervals(resampled, proportions)


_Floats = npt.NDArray[np.float64]


def _rates(sums: _Floats) -> dict[str, tuple[_Floats, _Floats]]:
    """Part and whole of each rate, from sums of shape (r, categories x verdicts)."""
    cells = sums.reshape(len(sums), len(_CATEGORIES), len(VERDICTS))
    found: dict[str, tuple[_Floats, _Floats]] = {}
    for group, categories in _GROUPS.items():
        part = cells[:, [_CATEGORIES.index(category) for category in categories]].sum(axis=1)
        # resampling is within categories, so a group is empty in all resamples or in none
        if not part.sum(axis=1).all():
            continue
        for at, rate in enumerate(_RATES):
            found[f"{rate}_{group}" if group else rate] = part[:, at], part.sum(axis=1)
    return found


def _figures(sums: _Floats) -> dict[str, _Floats]:
    """The rates and their differences, from sums of shape (r, categories x verdicts)."""
    found = {name: part / whole for name, (part, whole) in _rates(sums).items()}
    for name, (left, right) in _DELTAS.items():
        if f"accuracy_{left}" in found and f"accuracy_{right}" in found:
            found[name] = found[f"accuracy_{left}"] - found[f"accuracy_{right}"]
    return found


def compute(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    dictionary: str | Path = "default",
    src_lang: str = "en",
    tgt_lang: str = "",
    seed: int = 0,
    n_resamples: int = 1000,
) -> dict[str, Any]:
    """What the `evaluate` module returns: figures as one flat dict, in [0, 1], differences in [-1,
    1].

    Args:
        predictions: translations; a blank one is inconclusive.
        references: per translation `occupation` (English, singular), `number` (sg, pl), `gender` of
            the context (male, female) and `category`: MoMc, FoFc, MoFc, FoMc, the stereotype of the
            occupation and the gender of the context.
        dictionary: default, paper, or a TSV file
            (`cc_hf.data.readers.occupation_dictionary.read_dictionary`).
        src_lang, tgt_lang, seed, n_resamples: as in `evaluate`.

    Returns:
        accuracy, incorrect_rate, inconclusive_rate, and each with _pro, _anti, _MoMc, _FoFc, _MoFc,
        _FoMc; min_accuracy; delta (pro less anti), delta_fc (FoFc less MoFc), delta_mc (MoMc less
        FoMc); n, n_correct, n_incorrect, n_inconclusive, of these n_both_genders and n_no_form,
        n_blank; verdicts and predicted (lists); intervals (name -> [low, high], 95 %),
        interval_notes (name -> text); signature. A figure of no sample is left out.

    Raises:
        As `evaluate`.

    >>> reference = {
    ...     "occupation": "physician",
    ...     "number": "sg",
    ...     "gender": "female",
    ...     "category": "MoFc",
    ... }
    >>> result = compute(
    ...     ["¡Esa doctora es una mujer graciosa!", "¡Ese médico es una mujer graciosa!"],
    ...     [reference] * 2,
    ...     tgt_lang="es",
    ... )
    >>> result["accuracy_MoFc"], result["verdicts"]
    (0.5, ['correct', 'incorrect'])
    """
    result = evaluate(
        predictions,
        references,
        dictionary=dictionary,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        seed=seed,
        n_resamples=n_resamples,
    )
    return flat(result)


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    return [
        {
            "category": e.category,
            "gender": e.gold,
            "occupation": e.extra["occupation"],
            "number": e.extra["number"],
        }
        for e in examples
        if isinstance(e, ContrastiveSourceExample)
    ]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    return (
        ""
        if dataset == "simplegen"
        else (
            "simplegen_accuracy needs occupations in contexts of known gender, as simplegen has"
            f" them, not {dataset}"
        )
    )


DECLARATION = MetricDeclaration(
    "simplegen_accuracy", evaluate, _references, _fits, options=("dictionary",)
)
