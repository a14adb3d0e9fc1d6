"""Pronoun agreement on Wino-X by form: does the translation of "it" have the referent's gender?

No evaluator is needed, and no verdict is guessed: if several pronouns could translate "it", the
translation is inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cc_hf.errors import InputError, shown
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_twins,
    one_of,
    optional_text,
    text,
)
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration
from cc_hf.metrics.figures import Figures, pair_figures, summarize, twin_figures
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.schema import ContrastiveSourceExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.test_sets.wino_x.referents import ambiguous_it
from cc_hf.text.pronouns import pronoun_gender

__all__ = ["WinoXPatternMatching", "find_gender", "judge_rows"]

_LANGUAGES = ("de", "fr", "ru")
_GENDER = one_of(("male", "female", "neutral", "unknown"))
_FIELDS: Fields = {
    "source": text,
    "correct_gender": _GENDER,
    "incorrect_gender": _GENDER,
    "category": optional_text,
    "pair": optional_text,
}
_WORD = re.compile(r"[^\W\d_]+")
#: Subjects of the source that are translated by one of the target's pronouns. The Russian "they"
#: shows no gender and is not among them.
_SUBJECTS = {
    "de": frozenset({"he", "she", "it", "they"}),
    "fr": frozenset({"he", "she", "it", "they"}),
    "ru": frozenset({"he", "she", "it"}),
}
#: Impersonal pronouns, which refer to nothing: "il y a", "il faut", "es gibt".
_IMPERSONAL = {
    "de": re.compile(r"\bes (?:gibt|gab|gäbe)\b|\b(?:gibt|gab|gäbe) es\b", re.IGNORECASE),
    "fr": re.compile(
        r"\bil (?:(?:n['’])?y (?:a|avait|aura|eut|ait)\b|(?:ne"
        r" )?(?:faut|fallait|faudra|faudrait)\b)",
        re.IGNORECASE,
    ),
}
#: Within a sentence, "Sie" is a polite "you".
_POLITE = re.compile(r"(?<=[\w,;)–-] )Sie\b")


def find_gender(source: str, translation: str, lang: str) -> str:
    """Return the gender of the pronoun that translates the ambiguous "it": male, female or neutral;
    "" without a pronoun; "several" if it is unclear which one counts.

    Only third-person pronouns in the nominative are read: German er, sie, es; French il(s),
    elle(s); Russian он, она, оно, even in mixed script. Those of "es gibt", "il y a" and "il faut"
    are ignored, and so is "Sie" within a sentence. If the translation has as many pronouns as the
    source has he, she, it and they, the one at the position of "it" counts. If it has more, and all
    show the same gender, that gender counts.

    Examples:
        >>> find_gender(
        ...     "She left the vase because it was small.",
        ...     "Sie ließ die Vase stehen, weil sie klein war.",
        ...     "de",
        ... )
        'female'
    """
    subjects = [
        match.start()
        for match in _WORD.finditer(source)
        if match.group().lower() in _SUBJECTS[lang]
    ]
    exempt = [
        match.span()
        for pattern in (_IMPERSONAL.get(lang), _POLITE if lang == "de" else None)
        if pattern
        for match in pattern.finditer(translation)
    ]
    words = [
        match.group()
        for match in _WORD.finditer(translation)
        if not any(start <= match.start() < end for start, end in exempt)
    ]
    genders = [
        gender for gender in (pronoun_gender(word, lang) for word in words) if gender != "unknown"
    ]
    if not genders:
        return ""
    if len(genders) == len(subjects):
        return genders[subjects.index(ambiguous_it(source).start)]
    return genders[0] if len(genders) > len(subjects) and len(set(genders)) == 1 else "several"


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    tgt_lang: str,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation; each is judged on its own.

    A pronoun with the gender of the right referent is correct, one with that of the other referent
    is incorrect. A translation is inconclusive if it has no pronoun, several of which any could be
    the one, or one with the gender of neither referent, and if both referents have the same gender.
    `predicted` is what `find_gender` returns.
    """
    names, judgements = check_ids(ids, len(predictions)), []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        predicted, gold, other = (
            find_gender(reference["source"], translation, tgt_lang),
            reference["correct_gender"],
            reference["incorrect_gender"],
        )
        verdict = (
            "inconclusive"
            if gold == other
            else {gold: "correct", other: "incorrect"}.get(predicted, "inconclusive")
        )
        judgements.append(
            Judgement(
                name,
                reference.get("category") or gold,
                verdict == "correct",
                translation,
                verdict,
                predicted=predicted,
                gold=gold,
            )
        )
    return tuple(judgements)


@dataclass(frozen=True)
class WinoXPatternMatching(Metric):
    """Agreement of the pronoun with the right referent.

    Reads the pronoun with which a translation renders an ambiguous "it" (Wino-X). The translation
    is correct if the pronoun has the gender of the right referent, incorrect if it has that of the
    other one, and inconclusive if there is no such pronoun or several are possible. An inconclusive
    translation is not correct.
    """

    name = "wino_x_pattern_matching"
    title = "Wino-X pattern matching"
    about = "A translation is right if the gender of its pronoun agrees with the right noun."
    help = """
    Args:
        predictions (list of str): translations by the system under test into de, fr or ru; a blank
            one is inconclusive.
        references (list of dict): one per translation, with `source` (English, with "it"),
            `correct_gender` and `incorrect_gender` of the two referents in the target language
            (male, female, neutral, unknown). Optional keys are `category`, as in accuracy_female,
            and `pair`, a name that the twins of a schema share.

    Returns:
        n, n_correct, n_inconclusive (int): numbers of translations; n_no_pronoun,
            n_several_pronouns (int): of the inconclusive; n_pairs, n_pairs_correct, n_without_twin
            (int): with pairs.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): the gender of the pronoun, "several", or "" for none.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/wino_x_pattern_matching")
        >>> reference = {
        ...     "source": "The vase broke because it was old.",
        ...     "correct_gender": "female",
        ...     "incorrect_gender": "male",
        ... }
        >>> metric.compute(
        ...     predictions=["Die Vase zerbrach, weil sie alt war."],
        ...     references=[reference],
        ...     tgt_lang="de",
        ... )["accuracy"]
        1.0
    """
    papers = ("emelin-sennrich-2021",)
    signature_name = "wxpm"
    version = 3
    reference_fields = _FIELDS
    reads_cues = False
    leaderboard = ("accuracy", "pair_accuracy")
    interval_method = "by Wilson's score, within categories; of pairs, over whole pairs"
    default_src_lang = "en"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "inconclusive_rate": FigureDeclaration(
            "inconclusive",
            "low",
            "The share of translations in which no pronoun is found, or pronouns of several"
            " genders.",
        ),
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "wino_x" and form is ContrastiveSourceExample:
            return ""
        return (
            'wino_x_pattern_matching needs English sentences with an ambiguous "it"; the'
            f" configurations mt_* of wino_x have such sentences, {dataset} {config} does not"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [
            {
                "source": e.source,
                "category": e.category,
                **{key: e.extra[key] for key in ("correct_gender", "incorrect_gender", "pair")},
            }
            for e in examples
            if isinstance(e, ContrastiveSourceExample)
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            try:
                ambiguous_it(reference["source"])
            except InputError as error:
                raise InputError(f"row {row}: source: {error}") from None
        if whole:
            check_twins([reference["pair"] for reference in references])

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the gender of the pronoun."""
        # Judgements do not say whether both nouns have the same gender, which is inconclusive.
        for j in judgements:
            check_reading(j, "inconclusive", "correct" if j.predicted == j.gold else "incorrect")

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        if rows.src_lang not in ("", "en"):
            raise InputError(
                'src_lang: wino_x_pattern_matching reads the English "it"; expected en, got'
                f" {shown(rows.src_lang)}"
            )
        if rows.tgt_lang not in _LANGUAGES:
            raise InputError(
                f"tgt_lang: wino_x_pattern_matching knows the pronouns of {', '.join(_LANGUAGES)};"
                f" expected one of these, got {shown(rows.tgt_lang)}"
            )
        judgements = judge_rows(
            rows.translations, rows.references, tgt_lang=rows.tgt_lang, ids=rows.ids
        )
        figures = summarize(judgements).joined(pair_figures(judgements, rows.column("pair")))
        predicted = [j.predicted for j in judgements]
        more = Figures(
            scores={"inconclusive_rate": figures.counts["n_inconclusive"] / len(judgements)},
            signature={"langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}"},
            judgements=judgements,
            counts={
                "n_no_pronoun": predicted.count(""),
                "n_several_pronouns": predicted.count("several"),
            },
        )
        return figures.joined(more)

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return all figures, those of pairs where both twins were judged."""
        pairs = twin_figures(judgements, [j.pair for j in judgements])
        figures = super().proof(judgements, signed).joined(pairs)
        predicted = [j.predicted for j in judgements]
        rate = figures.counts["n_inconclusive"] / len(judgements)
        return replace(
            figures,
            scores={**figures.scores, "inconclusive_rate": rate},
            counts={
                **figures.counts,
                "n_no_pronoun": predicted.count(""),
                "n_several_pronouns": predicted.count("several"),
            },
        )
