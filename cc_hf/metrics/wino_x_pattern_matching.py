"""Agreement of pronouns on Wino-X by their form: has the pronoun that translates «it» the gender of
the right referent, or of the other one?

No evaluator is needed, and no verdict is guessed: where several pronouns could translate «it», the
translation is inconclusive.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.cues.referents import ambiguous_it
from cc_hf.errors import InputError, shown
from cc_hf.metrics.base import Figures, Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_twins,
    one_of,
    optional_text,
    text,
)
from cc_hf.metrics.summary import pair_figures, summarize
from cc_hf.schema import ContrastiveSourceExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.text.pronouns import pronoun_gender

__all__ = ["WinoXPatternMatching", "found_gender", "judge"]

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
#: subjects of the source whose translation is one of the target's pronouns; Russian «they» shows no
#: gender and is not among these
_SUBJECTS = {
    "de": frozenset({"he", "she", "it", "they"}),
    "fr": frozenset({"he", "she", "it", "they"}),
    "ru": frozenset({"he", "she", "it"}),
}
#: pronouns that stand for nothing: «il y a», «il faut», «es gibt»
_IMPERSONAL = {
    "de": re.compile(r"\bes (?:gibt|gab|gäbe)\b|\b(?:gibt|gab|gäbe) es\b", re.IGNORECASE),
    "fr": re.compile(
        r"\bil (?:(?:n['’])?y (?:a|avait|aura|eut|ait)\b|(?:ne"
        r" )?(?:faut|fallait|faudra|faudrait)\b)",
        re.IGNORECASE,
    ),
}
#: within a sentence «Sie» is a polite «you»
_POLITE = re.compile(r"(?<=[\w,;)–-] )Sie\b")


def found_gender(source: str, translation: str, lang: str) -> str:
    """The gender of the pronoun that translates the ambiguous «it»
    (`cc_hf.cues.referents.ambiguous_it`).

    Of the translation the third-person pronouns in the nominative are read: de er, sie, es; fr
    il(s), elle(s); ru он, она, оно, also in mixed script; not those of «es gibt», «il y a», «il
    faut», nor a «Sie» within a sentence. Where they are as many as he, she, it and they in the
    source, the one in the place of «it» counts; where they are more but show one gender, that one.

    Unicode is composed (NFC) first: an accent typed as a character of its own does not end a word.

    Returns:
        male, female, neutral, «» without a pronoun, or «several» where it cannot be told which one
        counts.

    >>> found_gender(
    ...     "She left the vase because it was small.",
    ...     "Sie ließ die Vase stehen, weil sie klein war.",
    ...     "de",
    ... )
    'female'
    >>> found_gender(
    ...     "He left the vase because it was small.",
    ...     "Er ließ die Vase wegen der Größe stehen.",
    ...     "de",
    ... )
    'several'
    """
    source, translation = (unicodedata.normalize("NFC", text) for text in (source, translation))
    subjects = [
        match.start()
        for match in _WORD.finditer(source)
        if match.group().lower() in _SUBJECTS[lang]
    ]
    spared = [
        match.span()
        for pattern in (_IMPERSONAL.get(lang), _POLITE if lang == "de" else None)
        if pattern
        for match in pattern.finditer(translation)
    ]
    words = [
        match.group()
        for match in _WORD.finditer(translation)
        if not any(start <= match.start() < end for start, end in spared)
    ]
    genders = [
        gender for gender in (pronoun_gender(word, lang) for word in words) if gender != "unknown"
    ]
    if not genders:
        return ""
    if len(genders) == len(subjects):
        return genders[subjects.index(ambiguous_it(source).start)]
    return genders[0] if len(genders) > len(subjects) and len(set(genders)) == 1 else "several"


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    tgt_lang: str,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """The verdict on every translation; each is judged by itself.

    Correct is a pronoun with the gender of the right referent, incorrect one with that of the
    other. Inconclusive is a translation without a pronoun, with several of which any could be the
    one, with the gender of neither, and any of a row whose two genders are the same. `predicted` is
    what `found_gender` says.
    """
    names, found = check_ids(ids, len(predictions)), []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        predicted, gold, other = (
            found_gender(reference["source"], translation, tgt_lang),
            reference["correct_gender"],
            reference["incorrect_gender"],
        )
        verdict = (
            "inconclusive"
            if gold == other
            else {gold: "correct", other: "incorrect"}.get(predicted, "inconclusive")
        )
        found.append(
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
    return tuple(found)


@dataclass(frozen=True)
class WinoXPatternMatching(Metric):
    """Agreement of the pronoun with the right referent.

    References hold `source` (English, with "it"), `correct_gender` and `incorrect_gender` of the
    two referents in the target language (male, female, neutral, unknown), and where there is one
    `category` and `pair`, a name that the twins of a schema share. A blank translation is
    inconclusive.

    Figures, in [0, 1]: accuracy (an inconclusive translation is not correct), min_accuracy,
    accuracy_<category>, inconclusive_rate, and with pairs pair_accuracy. Counts: n_correct,
    n_inconclusive, of these n_no_pronoun and n_several_pronouns; with pairs n_pairs,
    n_pairs_correct, n_without_twin.
    """

    name = "wino_x_pattern_matching"
    signature_name = "wxpm"
    version = 2
    reference_fields = _FIELDS
    reads_cues = False
    leaderboard = ("accuracy", "pair_accuracy")
    resampling = "within categories; of pairs, over whole pairs"
    default_src_lang = "en"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Only the sources of Wino-X have an ambiguous "it"."""
        if dataset == "wino_x" and form is ContrastiveSourceExample:
            return ""
        return (
            "wino_x_pattern_matching needs English sentences with an ambiguous «it», as mt_* of"
            f" wino_x have them, not {dataset} {config}"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return source, genders, category and pair of the examples."""
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
        """Refuse a source without "it", and more than two rows of a pair."""
        for row, reference in enumerate(references):
            try:
                ambiguous_it(reference["source"])
            except InputError as error:
                raise InputError(f"row {row}: source: {error}") from None
        if whole:
            check_twins([reference["pair"] for reference in references])

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every translation and sum up.

        Raises:
            InputError: for a language whose pronouns are not known.
        """
        if rows.src_lang not in ("", "en"):
            raise InputError(
                "src_lang: wino_x_pattern_matching reads the English «it»; expected en, got"
                f" {shown(rows.src_lang)}"
            )
        if rows.tgt_lang not in _LANGUAGES:
            raise InputError(
                f"tgt_lang: wino_x_pattern_matching knows the pronouns of {', '.join(_LANGUAGES)};"
                f" expected one of these, got {shown(rows.tgt_lang)}"
            )
        judgements = judge(rows.translations, rows.references, tgt_lang=rows.tgt_lang, ids=rows.ids)
        summary = summarize(judgements, bootstrap)
        pairs = pair_figures(judgements, rows.column("pair"), bootstrap)
        predicted = [j.predicted for j in judgements]
        return Figures(
            scores={
                **summary.scores,
                **pairs.scores,
                "inconclusive_rate": summary.counts["n_inconclusive"] / len(judgements),
            },
            signature={"langs": f"{rows.src_lang or '?'}-{rows.tgt_lang}"},
            intervals={**summary.intervals, **pairs.intervals},
            categories=summary.categories,
            judgements=judgements,
            counts={
                **summary.counts,
                **pairs.counts,
                "n_no_pronoun": predicted.count(""),
                "n_several_pronouns": predicted.count("several"),
            },
        )
