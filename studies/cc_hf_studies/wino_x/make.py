"""Make Wino-X for a language from schemas of WinoGrande and translations of any system (thesis,
section 4.2.2). The filler is translated, located by word alignment, and replaced by the pronoun of
its gender, or by a gap.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cc_hf.errors import InputError
from cc_hf.signature import build
from cc_hf.text.alignment import Aligner, find_aligner
from cc_hf_studies.wino_x.noun_genders import NOT_NOMINATIVE, NounGenders
from cc_hf_studies.wino_x.pronoun_forms import PRONOUN_FORMS
from cc_hf_studies.wino_x.suitability import Candidate

__all__ = [
    "AFTER_TRANSLATION",
    "PRONOUNS",
    "MadeWinoX",
    "TargetLanguage",
    "gap_sources",
    "make_wino_x",
]

#: Language -> gender -> pronoun of the third person singular in the nominative.
PRONOUNS: dict[str, dict[str, str]] = {
    **PRONOUN_FORMS,
    "es": {"male": "él", "female": "ella"},
    "it": {"male": "esso", "female": "essa"},
    "pt": {"male": "ele", "female": "ela"},
    "uk": {"male": "він", "female": "вона", "neutral": "воно"},
}

#: Filter after translation -> what it removes.
AFTER_TRANSLATION: dict[str, str] = {
    "not_found": "no phrase of a translation is linked to the filler, beside that of its referent",
    "not_nominative": "the filler is not translated by a singular in the nominative",
    "unknown_gender": "the gender of the translated filler is not known, or has no pronoun",
    "same_gender": "both pronouns would be the same (MT-Wino-X only)",
    "different_gender": "the fillers have different genders, which agreement would show (LM only)",
    "twin_removed": "the other sentence of the schema was removed",
}

_TOKEN = re.compile(r"\w+|[^\w\s]")
#: "que" and similar words before a vowel.
_FRENCH_ELISION = re.compile(r"\b(qu|lorsqu|puisqu|jusqu|quoiqu)e (?=(?:il|elle)\b)", re.IGNORECASE)
_Row = dict[str, Any]


@dataclass(frozen=True)
class TargetLanguage:
    """What is known of the language of the translations.

    Attributes:
        pronouns: gender -> pronoun.
        agreement: whether verbs or adjectives agree with the gender of a noun, so that only fillers
            of the same gender make a sample of LM-Wino-X.
    """

    lang: str
    genders: NounGenders
    pronouns: Mapping[str, str]
    agreement: bool

    def __post_init__(self) -> None:
        if len(set(self.pronouns.values())) < 2:
            raise InputError(
                f"pronouns: expected at least two different ones for {self.lang!r}, such as"
                f" male=er and female=sie, got {dict(self.pronouns) or 'none'}"
            )


@dataclass(frozen=True)
class MadeWinoX:
    """Rows in the format of Wino-X.

    Attributes:
        mt: rows of MT-Wino-X, which also state the genders of their pronouns.
        n_candidates: number of sentences from which they were made.
        removed_mt, removed_lm: filter of `AFTER_TRANSLATION` -> number of sentences that it
            removed. With the rows they add up to `n_candidates`.
    """

    lang: str
    mt: tuple[_Row, ...] = field(repr=False)
    lm: tuple[_Row, ...] = field(repr=False)
    n_candidates: int
    removed_mt: Mapping[str, int]
    removed_lm: Mapping[str, int]
    signature: str


def gap_sources(candidates: Sequence[Candidate]) -> list[str]:
    """Return the sentences that have to be translated: each with either filler in its gap."""
    return [candidate.filled(option) for candidate in candidates for option in (1, 2)]


def make_wino_x(
    candidates: Sequence[Candidate],
    translations: Sequence[str],
    target: TargetLanguage,
    *,
    aligner: str | Aligner = "fast_align",
    system: str = "given",
) -> MadeWinoX:
    """Make rows of MT-Wino-X, and of LM-Wino-X with the right translation as context."""
    sources = gap_sources(candidates)
    if not candidates:
        raise InputError('expected at least one sentence in which "it" can stand, got none')
    if len(translations) != len(sources):
        raise InputError(
            f"translations: expected {len(sources)}, two for each of {len(candidates)} sentences,"
            f" got {len(translations)}"
        )
    chosen = find_aligner(aligner)
    words = [[_TOKEN.findall(text.lower()) for text in side] for side in (sources, translations)]
    links = chosen.align([" ".join(text) for text in words[0]], [" ".join(t) for t in words[1]])
    phrases = [
        _phrase(candidate.options[row % 2], source, translation, link, target.genders)
        for row, (source, translation, link) in enumerate(
            zip(words[0], translations, links, strict=True)
        )
        for candidate in (candidates[row // 2],)
    ]
    pairs = list(zip(phrases[::2], phrases[1::2], strict=True))
    mt, removed_mt = _rows(candidates, pairs, lambda pair: _mt_reason(pair, target))
    lm, removed_lm = _rows(candidates, pairs, lambda pair: _lm_reason(pair, target))
    text = "\n".join((*sources, "", *translations))
    fields: dict[str, str | int] = {
        "data": f"winogrande.{hashlib.sha256(text.encode()).hexdigest()[:7]}",
        "langs": f"en-{target.lang}",
        "sys": system,
        "align": chosen.signature_name,
        "n": len(candidates),
    }
    return MadeWinoX(
        target.lang,
        tuple(_mt_row(candidate, pair, target) for candidate, pair in mt),
        tuple(_lm_row(candidate, pair, target.lang) for candidate, pair in lm),
        len(candidates),
        removed_mt,
        removed_lm,
        build("wino-x", fields),
    )


class _Phrase(NamedTuple):
    """The filler in a translation, article included; `reason` says why it is unusable, or ""."""

    translation: str
    start: int
    end: int
    article: str
    noun: str
    gender: str
    reason: str

    def replaced(self, new: str) -> str:
        if self.translation[self.start : self.start + 1].isupper() and self.start == 0:
            new = new[0].upper() + new[1:]
        return self.translation[: self.start] + new + self.translation[self.end :]

    @property
    def text(self) -> str:
        return f"{self.article.lower()} {self.noun}".strip()


_Pair = tuple[_Phrase, _Phrase]


def _phrase(
    filler: str,
    source: Sequence[str],
    translation: str,
    links: Sequence[tuple[int, int]],
    genders: NounGenders,
) -> _Phrase:
    """Return the last phrase of a translation that is linked to the words of a filler."""
    tokens = list(_TOKEN.finditer(translation))
    words = _TOKEN.findall(filler.lower())
    heads = {i for i, word in enumerate(source) if word == words[-1]}
    named = {i for i, word in enumerate(source) if word in words}
    functional = set(genders.articles) | genders.other_forms
    linked = {
        j
        for i, j in links
        if i in named
        and tokens[j].group()[0].isalpha()
        and tokens[j].group().lower() not in functional
    }
    of_head = {j for i, j in links if i in heads} & linked
    # Words with one other between them, as in "verre à cocktail", are one phrase.
    groups: list[list[int]] = []
    for j in sorted(linked):
        if groups and j - groups[-1][-1] <= 2:
            groups[-1].append(j)
        else:
            groups.append([j])
    groups = [group for group in groups if of_head.intersection(group)]
    # The source names the filler at least twice, so that a translation with fewer phrases has a
    # pronoun or nothing in its place.
    if len(groups) < max(2, len(heads)):
        return _Phrase(translation, 0, 0, "", "", "", "not_found")
    first, last = groups[-1][0], groups[-1][-1]
    article = tokens[first - 1].group() if first else ""
    has_article = article.lower() in genders.articles
    start, end = tokens[first - has_article].start(), tokens[last].end()
    noun = translation[tokens[first].start() : end]
    gender = genders.gender(article, [token.group() for token in tokens[first : last + 1]])
    reason = {NOT_NOMINATIVE: NOT_NOMINATIVE, "unknown": "unknown_gender"}.get(gender, "")
    return _Phrase(translation, start, end, article if has_article else "", noun, gender, reason)


def _mt_reason(pair: _Pair, target: TargetLanguage) -> str:
    reason = pair[0].reason or pair[1].reason
    if reason:
        return reason
    if any(phrase.gender not in target.pronouns for phrase in pair):
        return "unknown_gender"
    first, second = (target.pronouns[phrase.gender] for phrase in pair)
    return "same_gender" if first == second else ""


def _lm_reason(pair: _Pair, target: TargetLanguage) -> str:
    reason = pair[0].reason or pair[1].reason
    if reason:
        return reason
    is_shown = target.agreement and pair[0].gender != pair[1].gender
    # Equal fillers cannot be told apart.
    return "different_gender" if is_shown else "not_found" if pair[0].text == pair[1].text else ""


def _rows(
    candidates: Sequence[Candidate], pairs: Sequence[_Pair], reason_of: Callable[[_Pair], str]
) -> tuple[list[tuple[Candidate, _Pair]], dict[str, int]]:
    """Return the candidates that remain with their phrases, and the numbers of removed ones."""
    removed = dict.fromkeys(AFTER_TRANSLATION, 0)
    reasons = [reason_of(pair) for pair in pairs]
    broken = {c.pair for c, reason in zip(candidates, reasons, strict=True) if reason}
    remaining = []
    for candidate, pair, reason in zip(candidates, pairs, reasons, strict=True):
        if candidate.pair in broken:
            removed[reason or "twin_removed"] += 1
        else:
            remaining.append((candidate, pair))
    return remaining, removed


def _mt_row(candidate: Candidate, pair: _Pair, target: TargetLanguage) -> _Row:
    row: _Row = {
        "qID": candidate.id,
        "sentence": candidate.sentence,
        "answer": candidate.answer,
    }
    for number, phrase in enumerate(pair, 1):
        pronoun = target.pronouns[phrase.gender]
        text = phrase.replaced(pronoun)
        if target.lang == "fr":
            text = _FRENCH_ELISION.sub(r"\1'", text)
        row |= {
            f"translation{number}": text,
            f"pronoun{number}": pronoun,
            f"gender{number}": phrase.gender,
            f"referent{number}_en": candidate.options[number - 1],
            f"true_translation_referent_of_pronoun{number}_{target.lang}": phrase.noun,
        }
    return row


def _lm_row(candidate: Candidate, pair: _Pair, lang: str) -> _Row:
    row: _Row = {
        "qID": candidate.id,
        "sentence": candidate.sentence,
        "context_en": candidate.context,
        f"context_{lang}": pair[candidate.answer - 1].replaced("_"),
        "answer": candidate.answer,
    }
    for number, phrase in enumerate(pair, 1):
        row |= {
            f"option{number}_en": f"the {candidate.options[number - 1]}",
            f"option{number}_{lang}": phrase.text,
            f"context_referent_of_option{number}_{lang}": phrase.noun,
        }
    return row
