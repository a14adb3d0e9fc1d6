"""Whether a translation names a person in both genders at once: "die Ärztin/der Arzt",
"Ingenieur*in", "el/la médico/a", "он(а)".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

__all__ = ["names_both_genders"]

#: Language -> pairs of masculine and feminine pronouns and articles.
_PAIRS = {
    "cs": "on ona, jeho její, jemu jí, ho ji, mu jí",
    "de": "er sie, ihm ihr, ihn sie, sein ihr, seine ihre, seinen ihren, seinem ihrem,"
    " seiner ihrer, der die, den die, dem der, des der, ein eine, einen eine, einem einer,"
    " eines einer, jeder jede, dieser diese",
    "en": "he she, him her, his her, his hers, himself herself",
    "es": "él ella, el la, un una, los las, unos unas, del la, al la, ellos ellas",
    "fr": "il elle, le la, un une, lui elle, ils elles, celui celle, du la, au la",
    "it": "lui lei, il la, lo la, un una, uno una, egli ella, i le, gli le, del della, dello della,"
    " al alla, allo alla, suo sua",
    "ja": "彼 彼女",
    "nl": "hij zij, hij ze, hem haar, zijn haar",
    "pl": "on ona, jego jej, jemu jej, go ją, mu jej, pan pani",
    "pt": "ele ela, o a, um uma, os as, do da, no na, ao à, dele dela, seu sua, eles elas",
    "ru": "он она, его её, его ее, ему ей, него неё, него нее, нему ней, сам сама",
    "uk": "він вона, його її, йому їй, нього неї",
    "zh": "他 她",
}
#: Language -> words that join two forms as alternatives.
_OR = {
    "cs": "nebo",
    "de": "oder|bzw\\.",
    "en": "or",
    "es": "o|u",
    "fr": "ou",
    "it": "o|oppure",
    "nl": "of",
    "pl": "lub|albo",
    "pt": "ou",
    "ru": "или",
    "uk": "або|чи",
}
_ROMANCE = (
    r"(?:\(-?(?:as?|es?|nes?|ne|trice|ra|ora|euse|se|ère)\)"
    r"|[/·•]-?(?:as?|es?|nes?|trice|rice|ra|ora|euse|ère|ssa)\b"
    r"|@s?(?!\w))"
)
_SLAVIC = (
    r"(?:\(-?(?:а|ла|ась|лась|я|ка|на|a|ła|ka|la|á|ná)\)"
    r"|[/·](?:а|ла|ась|лась|a|ła|ka|la|á)\b)"
)
#: Language -> the sign and the ending that make a word inclusive. A capital I within a word is the
#: ending of women, but in words that English made ("PlugIn").
_ENDINGS = {
    "de": r"(?:[*_·](?:in|innen|r|e|n|m|s|er|en)\b|:(?:in|innen|r|e|n)\b|/-?in(?:nen)?\b"
    r"|\(in(?:nen)?\)|(?<=[a-zäöüß])(?<!Linked)(?<!Plug)(?<!Drive)(?<!Stand)(?<!Sign)(?<!Add)"
    r"(?<!Log)(?<!Check)(?<!Built)In(?:nen)?\b)",
    "en": r"(?!)",
    **dict.fromkeys(("ca", "es", "gl", "it", "pt", "ro"), _ROMANCE),
    "fr": rf"(?:{_ROMANCE}|\.e(?:\.?s)?(?!\w))",
    **dict.fromkeys(("be", "bg", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk"), _SLAVIC),
}
#: Endings of a masculine and a feminine noun with the same stem, without accents.
_NOUNS = (
    *(("mann", "frau"), ("pfleger", "schwester"), ("er", "ress"), ("or", "ress"), ("", "ess")),
    *(("", "in"), ("e", "in"), ("er", "in"), ("", "innen"), ("e", "innen"), ("en", "innen")),
    *(("o", "a"), ("", "a"), ("e", "a"), ("os", "as"), ("es", "as"), ("", "e"), ("f", "ve")),
    *(("eur", "euse"), ("teur", "trice"), ("tore", "trice"), ("er", "ere"), ("e", "essa")),
    *(("en", "enne"), ("on", "onne"), ("ao", "a"), ("", "ka"), ("arz", "arka"), ("", "kyne")),
    *(("", "ка"), ("ник", "ница"), ("тель", "тельница"), ("", "ша"), ("ец", "ица"), ("", "иня")),
)
_STEM = 3
_SIGNS = r"[*:_·]|\s?[/|]\s?|\s?[(（]"
#: What parts two whole translations.
_ALTERNATIVES = re.compile(r"(?<!\s)(?:\s+/\s+|\s*\n\s*)")
#: What one of the patterns needs. Most texts have none.
_HINT = re.compile(r"[/*:_·|(（@•\n]|[a-zäöüß]In|\w\.e(?!\w)")


def names_both_genders(text: str, tgt_lang: str) -> bool:
    """Return whether a text names someone in both genders as alternatives, by its form.

    Two people of different genders ("the doctor and her son") are no alternatives. Forms are known
    for languages of Europe, Chinese and Japanese; elsewhere the answer is False.

    Examples:
        >>> texts = "Der*die Ärzt*in kam.", "Der Lehrer oder die Lehrerin", "Der Arzt und sie"
        >>> [names_both_genders(text, "de") for text in texts]
        [True, True, False]
    """
    if _HINT.search(text) is None and not any(word in text for word in _joining(tgt_lang)):
        return False
    pattern = _pattern(tgt_lang)
    if pattern is None:
        return False
    parts = [part.split() for part in _ALTERNATIVES.split(text.strip())]
    if len(parts) == 2 and any(_are_one_noun(*words) for words in zip(*parts, strict=False)):
        return True
    return any(
        match["nouns"] is None or _are_one_noun(match["left"], match["right"])
        for match in _matches(pattern, text)
    )


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, also those that begin at the second word of another."""
    match = pattern.search(text)
    while match is not None:
        yield match
        start = match.end() if match["nouns"] is None else match.start("right")
        match = pattern.search(text, start)


@cache
def _joining(lang: str) -> tuple[str, ...]:
    """Return the words that join two forms, with blanks around them."""
    return tuple(f" {word} " for word in _OR.get(lang, "").replace("\\", "").split("|") if word)


@cache
def _pattern(lang: str) -> re.Pattern[str] | None:
    ending, pairs = _ENDINGS.get(lang), _PAIRS.get(lang, "")
    if ending is None and not pairs:
        return None
    sign = rf"(?:{_SIGNS}|\s(?:{_OR[lang]})\s)" if lang in _OR else rf"(?:{_SIGNS})"
    kinds = []
    for masculine, feminine in (pair.split() for pair in pairs.split(", ") if pair):
        is_word = "" if lang in ("ja", "zh") else r"\b"
        for left, right in ((masculine, feminine), (feminine, masculine)):
            kinds.append(rf"{is_word}{left}{sign}{right}{is_word}")
    if lang == "en":
        kinds.append(r"\bs/he\b|\(s\)he\b")
    if ending is not None:
        kinds.append(rf"\b[^\W\d_]{{2,40}}{ending}")
    nouns = (
        rf"\b(?P<left>[^\W\d_]{{3,40}}){sign}(?:[^\W\d_]{{1,6}}\s)?(?P<right>[^\W\d_]{{3,40}})\b"
    )
    kinds.append(f"(?P<nouns>{nouns})")
    return re.compile("|".join(kinds), re.IGNORECASE if lang != "de" else 0)


def _are_one_noun(left: str, right: str) -> bool:
    """Return whether two words are the masculine and the feminine form of one noun."""
    words = _folded(left), _folded(right)
    return any(
        man.endswith(of_men)
        and woman.endswith(of_women)
        and man != woman
        and len(stem := man.removesuffix(of_men)) >= _STEM
        and stem == woman.removesuffix(of_women)
        for man, woman in (words, words[::-1])
        for of_men, of_women in _NOUNS
    )


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
