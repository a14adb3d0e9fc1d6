"""Which schemas of WinoGrande can have "it" in their gap (thesis, section 4.2.2). The rules read
the English sentence only, with a dictionary of word forms and lists of words, without a parser.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cc_hf.errors import MissingDependencyError
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.text.professions import profession
from cc_hf.text.tokenization import word_texts
from cc_hf_studies.common.nouns import english_parts
from cc_hf_studies.wino_x.winogrande import GAP

__all__ = ["FILTERS", "Candidate", "select_schemas"]

#: Filter -> what it removes, in the order in which they are applied. A sentence counts for the
#: first that removes it.
FILTERS: dict[str, str] = {
    "no_twin": "sentences whose schema does not have exactly two, with one answer each",
    "animate": "a filler is a name, a person or an animal",
    "plural": "a filler is a plural, or the verb after the gap is",
    "activity": "a filler is an activity, such as singing",
    "adjective": "an adjective modifies the gap",
    "noun_phrase": "the gap is a part of a compound or of another noun phrase",
    "not_subject": "the gap is no subject, so that its translation is not in the nominative",
    "other_sentence": "a filler is not named before the gap in the same sentence",
    "another_it": 'another "it" follows the gap',
    "grammar": 'the sentence has more errors with "it" than with its filler',
    "twin_removed": "the other sentence of the schema was removed",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_GAP_PHRASE = re.compile(r"\bthe _|_", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]*\s+")
_IT = re.compile(r"(?<![\w-])it(?![\w-])", re.IGNORECASE)
_DETERMINERS = _words(
    """
    a an this that these those my your his her its our their some any no every each another
    either neither which what whose one of
    """
)
_BEFORE_CLAUSES = _words(
    """
    after although and as because before but except for however if later nor once or otherwise
    since so than that then therefore though thus till until when whenever where whereas
    wherever whether while yet know think feel believe say see find found hope notice realize
    """
)
_SINGULAR = _words(
    """
    was is has does had did can could will would should may might must shall wasn't isn't
    hasn't doesn't hadn't didn't can't cannot couldn't won't wouldn't shouldn't mightn't
    mustn't
    """
)
_PLURAL = _words("were are have do weren't aren't haven't don't")
_VERBS = _SINGULAR | _PLURAL
#: Plurals without a singular of this meaning.
_PAIRS = _words(
    """
    binoculars clothes glasses goggles groceries headphones jeans leggings pajamas pants
    pliers scissors shorts slacks sunglasses tights trousers tweezers
    """
)
_SKIPPED = _words(
    """
    also always ever even just long never not often once only soon still then
    """
)
#: Things that are named by a word in -ing.
_THINGS = _words(
    """
    awning bearing bedding building carving casing ceiling clothing coating covering drawing
    dressing earring engraving evening filling flooring frosting icing king lightning lining
    morning opening painting parking pudding railing ring sibling siding spring stocking
    string swing thing topping tubing wedding wing wiring wrapping writing
    """
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of WinoGrande in which "it" can stand.

    Attributes:
        id: the name of its schema with -1 or -2 for the first or second of the twins.
        pair: the name of its schema.
        context: the sentence with "_" where a noun phrase is missing, without the article before.
        sentence: the sentence with "it".
        options: the two fillers without articles, in the order of WinoGrande.
        answer: 1 or 2, the filler that is right.
    """

    id: str
    pair: str
    context: str
    sentence: str
    options: tuple[str, str]
    answer: int

    def filled(self, option: int) -> str:
        """Return the sentence with "the" and a filler in the gap."""
        return self.context.replace(GAP, f"the {self.options[option - 1]}")


def select_schemas(
    sentences: Iterable[ContrastiveTranslationExample],
    *,
    animate: Collection[str] = (),
    count_errors: Callable[[str], int] | None = None,
) -> tuple[list[Candidate], dict[str, int]]:
    """Choose the schemas in which "it" can stand for the fillers; None for no check of grammar."""
    schemas: dict[str, list[ContrastiveTranslationExample]] = {}
    for sentence in sentences:
        schemas.setdefault(sentence.extra["pair"], []).append(sentence)
    removed = dict.fromkeys(FILTERS, 0)
    candidates: list[Candidate] = []
    living = frozenset(animate) | _animate_nouns()
    for pair, members in schemas.items():
        fillers = {member.extra["correct_filler"].lower() for member in members}
        if len(members) != 2 or len(fillers) != 2:
            removed["no_twin"] += len(members)
            continue
        names = [f"{pair}-{i}" for i in (1, 2)]
        if {member.id for member in members} == set(names):  # as upstream names them
            names = [member.id for member in members]
        twins = [_candidate(member, name) for member, name in zip(members, names, strict=True)]
        reasons = [_reason(twin, living, count_errors) for twin in twins]
        if not any(reasons):
            candidates += twins
            continue
        removed.update(Counter(reason or "twin_removed" for reason in reasons) + Counter(removed))
    return candidates, removed


def _candidate(example: ContrastiveTranslationExample, name: str) -> Candidate:
    extra = example.extra
    options = tuple(_ARTICLE.sub("", extra[f"{side}_filler"]) for side in ("correct", "incorrect"))
    answer = int(extra["answer"])
    first, second = options if answer == 1 else options[::-1]
    context = _GAP_PHRASE.sub(GAP, extra["context"])
    return Candidate(
        name, extra["pair"], context, context.replace(GAP, "it"), (first, second), answer
    )


def _reason(
    candidate: Candidate, living: Collection[str], count_errors: Callable[[str], int] | None
) -> str:
    """Return the filter that removes a sentence, or ""."""
    before, after = candidate.context.split(GAP)
    last = next(iter(word_texts(before.lower())[::-1]), "")
    following = [word.lower().replace("’", "'") for word in word_texts(after)]
    tests: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("animate", lambda: any(_is_animate(filler, living) for filler in candidate.options)),
        (
            "plural",
            lambda: (
                any(_is_plural(filler) for filler in candidate.options)
                or _first_verb(following) in _PLURAL
            ),
        ),
        ("activity", lambda: any(_is_activity(filler) for filler in candidate.options)),
        ("adjective", lambda: _modifies(last)),
        ("noun_phrase", lambda: _in_noun_phrase(last, following, after)),
        ("not_subject", lambda: not _is_subject(last, following)),
        ("other_sentence", lambda: not _named_before(before, candidate.options)),
        ("another_it", lambda: bool(_IT.search(after))),
        (
            "grammar",
            lambda: (
                count_errors is not None
                and count_errors(candidate.sentence)
                > count_errors(candidate.filled(candidate.answer))
            ),
        ),
    )
    return next((name for name, is_removed in tests if is_removed()), "")


def _is_animate(filler: str, living: Collection[str]) -> bool:
    words = filler.split()
    return (
        any(word[0].isupper() and not word.isupper() for word in words)
        or words[-1].lower() in living
        or profession(filler) is not None
    )


def _is_plural(filler: str) -> bool:
    try:
        from lemminflect import getAllLemmas, getInflection
    except ImportError:
        raise MissingDependencyError("lemminflect", "morphology") from None
    head = filler.split()[-1].lower()
    lemmas = getAllLemmas(head, upos="NOUN").get("NOUN", ())
    return head in _PAIRS or any(
        head != lemma and head in getInflection(lemma, "NNS") for lemma in lemmas
    )


def _is_activity(filler: str) -> bool:
    """Return whether the first word is a verb in -ing, as in playing the piano."""
    first = filler.split()[0].lower()
    return first.endswith("ing") and first not in _THINGS and "VERB" in english_parts(first)


def _modifies(last: str) -> bool:
    """Return whether the word before the gap is an adjective that modifies it."""
    return not _begins_clause(last) and "ADJ" in english_parts(last)


def _in_noun_phrase(last: str, following: Sequence[str], after: str) -> bool:
    """Return whether a determiner other than "the" precedes the gap, or a noun follows it."""
    if last in _DETERMINERS and not _begins_clause(last):
        return True
    if after.startswith(("'s", "’s", "-")):
        return True
    first = following[0] if following else ""
    if "NOUN" not in english_parts(first) or first in _VERBS:
        return False
    if not _is_finite(first):
        return not english_parts(first) & {"ADV", "ADJ", "ADP"}
    # In "the _ keys were lost", the next word could be a verb, but another one follows.
    return len(following) > 1 and following[1] in _VERBS


def _is_subject(last: str, following: Sequence[str]) -> bool:
    """Return whether a clause begins before the gap, and a finite verb follows it."""
    verb = _first_verb(following)
    return _begins_clause(last) and (verb in _VERBS or _is_finite(verb))


def _begins_clause(last: str) -> bool:
    """Return whether a clause can begin after a word such as "thought"; "" is the beginning."""
    return (
        not last.isalpha()
        or last in _BEFORE_CLAUSES
        or english_parts(last) == {"ADV"}
        or _is_finite(last)
    )


def _first_verb(following: Sequence[str]) -> str:
    """Return the word after adverbs, or ""."""
    for word in following:
        if word in _SKIPPED or (word.endswith("ly") and english_parts(word) <= {"ADV", "ADJ"}):
            continue
        return word
    return ""


@cache
def _is_finite(word: str) -> bool:
    """Return whether a word can be a verb in the past or in the third person singular."""
    from lemminflect import getAllLemmas, getInflection

    return any(
        word in getInflection(lemma, tag)
        for lemma in getAllLemmas(word, upos="VERB").get("VERB", ())
        for tag in ("VBD", "VBZ")
    )


def _named_before(before: str, options: Sequence[str]) -> bool:
    """Return whether both nouns stand in the sentence of the gap, before it."""
    sentence = _SENTENCE_END.split(before)[-1]
    words = [word.lower() for word in word_texts(sentence)]
    return all(option.split()[-1].lower() in words for option in options)


@cache
def _animate_nouns() -> frozenset[str]:
    path = Path(__file__).with_name("animate_nouns.txt")
    return frozenset(path.read_text(encoding="utf-8").split())
