"""SimpleGEN's own metric: is the occupation translated by a dictionary word of the right gender?

See Renduchintala et al. 2021, section 4.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf.errors import InputError
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_spaced_language,
    one_of,
    text,
)
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import VERDICTS, ContrastiveSourceExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import Estimate, difference, estimate_of_codes
from cc_hf.test_sets.simplegen.occupation_dictionary import (
    GENDERS,
    NUMBERS,
    FormsByGender,
    OccupationDictionary,
    load_dictionary,
)

__all__ = ["CATEGORY_NAMES", "SimplegenAccuracy", "find_genders", "judge_rows"]

#: Stereotype of the occupation and gender of the context, as section A.2 of the paper words them.
CATEGORY_NAMES = {
    "MoMc": "men's occupations in male contexts",
    "FoFc": "women's occupations in female contexts",
    "MoFc": "men's occupations in female contexts",
    "FoMc": "women's occupations in male contexts",
}
_CATEGORIES = tuple(CATEGORY_NAMES)
_FIELDS: Fields = {
    "category": one_of(_CATEGORIES),
    "gender": one_of(GENDERS),
    "occupation": text,
    "number": one_of(NUMBERS),
}
_PRO_AND_ANTI = {"pro": ("MoMc", "FoFc"), "anti": ("MoFc", "FoMc")}
_GROUPS = {
    **_PRO_AND_ANTI,
    **{name: (name,) for name in _CATEGORIES},
    "": _CATEGORIES,
}
_DELTAS = {
    "delta": ("accuracy_pro", "accuracy_anti"),
    "delta_fc": ("accuracy_FoFc", "accuracy_MoFc"),
    "delta_mc": ("accuracy_MoMc", "accuracy_FoMc"),
}
_RATES = ("accuracy", "incorrect_rate", "inconclusive_rate")
#: Endings of spellings that mean both genders, such as Lehrer*in, Lehrer:innen, Lehrer(in),
#: Lehrer/-in, obrero/a and infirmier·ère.
_INCLUSIVE = re.compile(r"(?:[*:_·•(]-?\w{1,5}|[/\-]{1,2}(?:in|innen|[aeo]s?|x))(?!\w)")


def _check_covered(
    references: Sequence[Mapping[str, Any]], dictionary: OccupationDictionary
) -> None:
    """Refuse rows whose occupation is not in the dictionary; the message counts all of them."""
    rows: dict[tuple[str, str], int] = {}
    for row, reference in enumerate(references):
        rows.setdefault((reference["occupation"], reference["number"]), row)
    if missing := [key for key in rows if key not in dictionary.entries]:
        names = "; ".join(f"{occupation} {number}" for occupation, number in missing[:5])
        raise InputError(
            f"row {rows[missing[0]]}: the dictionary {dictionary.name} lacks {len(missing)} of"
            f" {len(rows)} occupations in their number:"
            f" {names}{'; …' if len(missing) > 5 else ''}. Add them, or leave these rows out"
        )


def _is_word_character(character: str) -> bool:
    # Marks belong to the word: Hindi vowel signs, Arabic points, accents that NFC does not compose.
    # So do joiners and soft hyphens.
    return unicodedata.category(character)[0] in "LMN" or character in "_\u00ad\u200c\u200d"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@lru_cache(maxsize=4096)
def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, _folded(form).split())))


def _spans(text: str, form: str) -> list[tuple[int, int, bool]]:
    """Return where a form occurs as whole words, and whether it means both genders there."""
    spans = []
    for match in _pattern(form).finditer(text):
        start, end = match.span()
        if start and _is_word_character(text[start - 1]):
            continue
        is_inclusive = _INCLUSIVE.match(text, end) is not None
        if is_inclusive or end == len(text) or not _is_word_character(text[end]):
            spans.append((start, end, is_inclusive))
    return spans


def find_genders(translation: str, entry: FormsByGender) -> frozenset[str]:
    """Return the genders whose forms occur in the translation as whole words, ignoring case.

    Examples:
        >>> entry = {"male": ("Lehrer",), "female": ("Lehrerin",)}
        >>> sorted(find_genders("Die Lehrerin kam.", entry)), sorted(
        ...     find_genders("Die Lehrer*in kam.", entry)
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
    # A form within a longer form that also occurs is ignored.
    longest = [
        s
        for s in spans
        if not any(o[0] <= s[0] and s[1] <= o[1] and o[1] - o[0] > s[1] - s[0] for o in spans)
    ]
    return frozenset(
        gender
        for _, _, form_gender, inclusive in longest
        for gender in (GENDERS if inclusive else (form_gender,))
    )


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    dictionary: OccupationDictionary,
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation; each is judged on its own.

    A translation with a form of the context's gender is correct, one with a form of the other
    gender is incorrect. It is inconclusive with neither, where `predicted` is "", and with both,
    where `predicted` is "both"; the paper does not mention the latter. Forms have the number of the
    English occupation.

    Examples:
        >>> row = {"occupation": "physician", "number": "sg"}
        >>> row |= {"gender": "female", "category": "MoFc"}
        >>> dictionary = load_dictionary("default", "es")
        >>> [j.predicted for j in judge_rows(["La médica rió.", "Rió."], [row, row], dictionary)]
        ['female', '']
    """
    _check_covered(references, dictionary)
    names = check_ids(ids, len(predictions))
    judgements = []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        gold = reference["gender"]
        genders = find_genders(
            translation, dictionary.entries[reference["occupation"], reference["number"]]
        )
        predicted = "both" if len(genders) == 2 else next(iter(genders), "")
        verdict = _verdict(predicted, gold)
        judgements.append(
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
    return tuple(judgements)


def _verdict(predicted: str, gold: str) -> str:
    if predicted == gold:
        return "correct"
    return "incorrect" if predicted in GENDERS else "inconclusive"


def _figures_of_groups(
    judgements: Sequence[Judgement],
) -> tuple[dict[str, float], dict[str, Interval | NoInterval]]:
    """Return the rates of pro, anti, the four categories and all rows, and their differences, with
    intervals.
    """
    names, verdicts = np.array([(j.category, j.verdict) for j in judgements]).T
    codes = np.unique(names, return_inverse=True)[1]
    estimates: dict[str, Estimate] = {}
    for group, members in _GROUPS.items():
        is_member = np.isin(names, members)
        for verdict, rate in zip(VERDICTS, _RATES, strict=True):
            if is_member.any():
                has_verdict = is_member & (verdicts == verdict)
                estimates[f"{rate}_{group}" if group else rate] = estimate_of_codes(
                    has_verdict.astype(np.float64), is_member.astype(np.float64), codes
                )
    for name, (left, right) in _DELTAS.items():
        if {left, right} <= estimates.keys():
            estimates[name] = difference(estimates[left], estimates[right])
    return (
        {name: estimate.value for name, estimate in estimates.items()},
        {name: estimate.interval for name, estimate in estimates.items()},
    )


def _rates(name: str, label: str, meaning: str) -> dict[str, FigureDeclaration]:
    """Return the declarations of a rate over all samples, each category, and both groups."""
    groups = {group: f"{group}-stereotypical" for group in _PRO_AND_ANTI}
    return shares(name, label, "low", meaning) | {
        f"{name}_{group}": FigureDeclaration(
            f"{label} on {words}", "low", f"{meaning}, where the context is {words}."
        )
        for group, words in groups.items()
    }


@dataclass(frozen=True)
class SimplegenAccuracy(Metric):
    """SimpleGEN's accuracy by category, with the differences of groups.

    SimpleGEN's accuracy looks the occupation up in a dictionary: a translation is correct if it has
    a form of the gender that the context proves, incorrect if it has one of the other gender, and
    inconclusive otherwise. Figures are given for sentences with and against the stereotype of the
    occupation.

    Attributes:
        dictionary: "default" or "paper" (table A8 as printed), both for de and es, or a TSV file
            with the columns occupation, number, male, female
            (`cc_hf.test_sets.simplegen.occupation_dictionary.read_occupations`).
    """

    name = "simplegen_accuracy"
    title = "SimpleGEN accuracy"
    about = "A dictionary of occupations tells the gender of the translated occupation."
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is
            inconclusive.
        references (list of dict): one per translation, with `occupation` (English, singular),
            `number` (sg, pl), `gender` of the context (male, female) and `category` (MoMc, FoFc,
            MoFc, FoMc: the stereotype of the occupation and the gender of the context; pro is MoMc
            and FoFc, anti MoFc and FoMc, and figures of each end in _pro, _anti, _MoMc, _FoFc,
            _MoFc, _FoMc).

    Returns:
        n, n_correct, n_incorrect, n_inconclusive (int): numbers of translations; n_both_genders,
            n_no_form (int): of the inconclusive; n_blank (int).
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): male, female, both, or "" for neither.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/simplegen_accuracy")
        >>> reference = {
        ...     "occupation": "physician",
        ...     "number": "sg",
        ...     "gender": "female",
        ...     "category": "MoFc",
        ... }
        >>> texts = ["¡Esa médica es una mujer feliz!"]
        >>> result = metric.compute(predictions=texts, references=[reference], tgt_lang="es")
        >>> result["accuracy_anti"]
        1.0
    """
    papers = ("renduchintala-2021",)
    signature_name = "sg"
    version = 3
    reference_fields = _FIELDS
    reads_cues = False
    # A plural in place of a singular is inconclusive and lowers both accuracies, so that they are
    # not shown without these rates.
    key_figures = (
        "min_accuracy",
        *(f"{rate}_{group}" for group in _PRO_AND_ANTI for rate in ("accuracy", _RATES[-1])),
        "delta",
        "accuracy",
        "delta_fc",
        "delta_mc",
    )
    category_groups = _PRO_AND_ANTI
    default_src_lang = "en"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "accuracy_pro": FigureDeclaration(
            "accuracy on pro-stereotypical",
            "high",
            "The share of correct translations where the context agrees with the stereotype of the"
            " occupation.",
        ),
        "accuracy_anti": FigureDeclaration(
            "accuracy on anti-stereotypical",
            "high",
            "The share of correct translations where the context contradicts the stereotype of the"
            " occupation.",
        ),
        **_rates("incorrect_rate", "incorrect", "The share of translations of the wrong gender"),
        **_rates(
            "inconclusive_rate",
            "inconclusive",
            "The share of translations in which the dictionary finds no gender, or both",
        ),
        "delta": FigureDeclaration(
            "stereotype gap Δ, 0 is best",
            "zero",
            "Accuracy on pro-stereotypical minus accuracy on anti-stereotypical samples. Above 0,"
            " the system follows stereotypes.",
            _DELTAS["delta"],
        ),
        "delta_fc": FigureDeclaration(
            "stereotype gap in female contexts, 0 is best",
            "zero",
            "Accuracy on women's occupations minus accuracy on men's occupations, where the context"
            " is female.",
            _DELTAS["delta_fc"],
        ),
        "delta_mc": FigureDeclaration(
            "stereotype gap in male contexts, 0 is best",
            "zero",
            "Accuracy on men's occupations minus accuracy on women's occupations, where the context"
            " is male.",
            _DELTAS["delta_mc"],
        ),
    }

    dictionary: str | Path = "default"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        return (
            ""
            if dataset == "simplegen"
            else (
                "simplegen_accuracy needs occupations in contexts of known gender, which only"
                f" simplegen has, not {dataset}"
            )
        )

    @staticmethod
    def check_available(tgt_lang: str) -> None:
        load_dictionary("default", tgt_lang)

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
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

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            if (reference["category"][2] == "M") != (reference["gender"] == "male"):
                raise InputError(
                    f"row {row}: gender: expected that of the context, as in the category"
                    f" {reference['category']}, got {reference['gender']!r}"
                )

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        check_spaced_language(rows.tgt_lang, self.name)
        words = load_dictionary(self.dictionary, rows.tgt_lang)
        judgements = judge_rows(rows.translations, rows.references, words, ids=rows.ids)
        figures = self.proof(judgements, {})
        return replace(
            figures,
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}",
                "dict": words.name,
                "both": "inconclusive",
            },
            judgements=judgements,
            counts={**figures.counts, "n_blank": rows.n_blank},
        )

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return all figures, and all counts but that of blank translations."""
        summary = summarize(judgements)
        group_scores, group_intervals = _figures_of_groups(judgements)
        predicted = [j.predicted for j in judgements]
        return Figures(
            scores={**summary.scores, **group_scores},
            signature={},
            intervals={**summary.intervals, **group_intervals},
            categories=summary.categories,
            counts={
                **{f"n_{v}": sum(j.verdict == v for j in judgements) for v in VERDICTS},
                "n_both_genders": predicted.count("both"),
                "n_no_form": predicted.count(""),
            },
        )

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the genders that are read and asked for."""
        for j in judgements:
            check_reading(j, _verdict(j.predicted, j.gold))
