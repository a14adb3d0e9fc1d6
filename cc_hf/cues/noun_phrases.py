"""Where the English noun phrase of a person begins: after its determiner, before its adjectives.

By lists of words and by endings, without a tagger. What they do not settle counts as outside.
"""

from __future__ import annotations

import re

from cc_hf.schema import Focus

__all__ = ["phrase_start"]

_LISTS = {
    # Left out are "her", "that", "these", "those" and "one", which are often no determiners, or
    # none of a singular: "made her head coach".
    "determiner": "a an another any each every its my no our some the their this your his",
    # No noun phrase has these between its determiner and its noun, or only rarely. Verbs are those
    # that endings do not tell.
    "outside": (
        # conjunctions and prepositions
        "and but or nor so yet although as because if lest since than that though till unless"
        " until when where whereas whereby wherein whether while why how about above across after"
        " against along amid among amongst around at before behind below beneath beside besides"
        " between beyond by concerning considering despite down during except following for from"
        " in including inside into like minus near of off on onto opposite out outside over past"
        " per plus regarding round through throughout to toward towards under underneath unlike"
        " up upon versus via with within without"
        # pronouns, and determiners and numbers that begin another phrase
        " all both either enough few fewer half he her hers herself him himself it itself many me"
        " mine much myself neither none one oneself ours ourselves several she such that theirs"
        " them themselves these they those us we what whatever which whichever who whoever whom"
        " whose you yours yourself yourselves anybody anyone anything everybody everyone"
        " everything nobody nothing somebody someone something two three four five six seven"
        " eight nine ten hundred thousand i"
        # adverbs
        " again ago almost already also always away back else even ever far here just later maybe"
        " never not now often once perhaps quite rather seldom sometimes soon still then there"
        " therefore thus together tomorrow tonight too today twice yesterday"
        # verbs
        " am are be been being can could did do does done had has have having is may might must"
        " ought shall should was were will would ate beat became become began begun bent bit"
        " bought broke brought built came caught chose come dealt drew drove dug fed fell felt"
        " fled flew forgot fought found froze gave get give given go goes gone got grew heard"
        " held help helped hid hit hung hurt keep kept knew know known laid lay led left lent let"
        " lost made make meant meet met paid put quit ran rode rose said sang sat saw say see"
        " seek seem seen sent shook shot shown shut slept sold spent spoke stole stood struck"
        " stuck swore take taken taught tell think thought threw told took tore treat understood"
        " want went win woke won wore write written wrote"
        # "no longer president", "this year director X won"
        " longer day moment month reason time way week year"
    ),
    # Another noun phrase may begin after these: "made the man king", "the word writer".
    "before a noun": (
        "boy brother child colleague daughter father friend girl guy husband kid lady man mother"
        " name person sister son term wife woman word"
    ),
    # Participles after these still stand before their noun.
    "before a participle": (
        "best better fairly first former highly last least less more most new newly old only other"
        " own same very well young"
    ),
}
_WORDS = {kind: frozenset(words.split()) for kind, words in _LISTS.items()}
#: Plurals without an "s", and other nouns that need no determiner.
_NEEDS_NO_DETERMINER = re.compile(r".*(?:men|people|children|folk|staff|youth|police|clergy)")
_WORD = re.compile(
    r"[a-z]+(?:-[a-z]+)*|\d+-year-old"
    r"|[A-Z][a-z]+(?:[aei]an|ish|ese)|African|American|Cuban|Dutch|French|German|Mexican|Swiss"
)
#: Plurals, and verbs after "he".
_MAY_END_IN_S = re.compile(r".*(?<![isu])s")
#: Participles and adverbs, which are verbs, or belong to one, after a noun: "The team hired coach".
_AFTER_NO_NOUN = re.compile(r".*(?:ed|ing|ly)")
_NAME = re.compile(r"\s+[A-ZÀ-Þ]\w")


def phrase_start(source: str, focus: Focus) -> int:
    """Return the position after the nearest determiner before a focus, if all words between them
    are adjectives, participles and nouns of the noun phrase of the focus; else that of the focus.

    Only a noun in the singular needs a determiner: the nearest one before it is its own, unless a
    conjunction, a preposition, a pronoun or a verb stands between them. Before plurals, names and
    pronouns, the result is the position of the focus.

    Returns:
        A 0-based position, at most `focus.start`.

    Examples:
        >>> phrase_start("Then the very old doctor left.", Focus("doctor", 18))
        9
    """
    words = focus.text.split()
    start = focus.start
    for match in reversed([*re.finditer(r"\S+", source[:start])]):
        word = match[0]
        if word.lstrip("\"'“‘([").lower() in _WORDS["determiner"]:
            break
        if word in _WORDS["before a noun"]:
            return focus.start
        words.insert(0, word)
        start = match.start()
    else:
        return focus.start
    is_one_phrase = (
        all(map(_may_be_of_phrase, ["", *words], words))
        and not _NEEDS_NO_DETERMINER.fullmatch(words[-1])
        and not _NAME.match(source, focus.start + len(focus.text))
    )
    return start if is_one_phrase else focus.start


def _may_be_of_phrase(previous: str, word: str) -> bool:
    """Return whether a word may stand after another one, or none, within a singular noun phrase."""
    if not _WORD.fullmatch(word) or _MAY_END_IN_S.fullmatch(word):
        return False
    if word in _WORDS["outside"] or word in _WORDS["determiner"]:
        return False
    if not previous or previous in _WORDS["before a participle"]:
        return True
    return bool(_AFTER_NO_NOUN.fullmatch(previous)) or not _AFTER_NO_NOUN.fullmatch(word)
