"""Take the translation out of a reply, and tell translations from refusals, explanations and what
stays doubtful (Emelin 2023, section 3.5).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from cc_hf.errors import check_choice
from cc_hf.languages import base_code
from cc_hf.normalization import is_blank
from cc_hf.plugins.asking.prompting.choices import CUT_THOUGHT
from cc_hf.plugins.asking.prompting.reply_parts import alternatives, without_element
from cc_hf.text.replies import (
    is_json,
    is_placeholder,
    is_refusal,
    json_translation,
    without_fence,
    without_note,
    without_preface,
    without_thinking,
)

__all__ = ["TRANSLATION_PARSERS", "ParsedTranslation", "parse_translation"]

#: How a reply is read. "whole" takes the whole reply without what stands around the translation;
#: "quoted" takes the last quoted passage that follows "translation ... is:", else the text after
#: the last colon.
TRANSLATION_PARSERS = ("whole", "quoted")

_QUOTES = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "‚": "‘’",
    "‘": "’",
    "'": "'",
    "[": "]",
    "`": "`",
}
_INTRODUCED = re.compile(
    r"translation\b[^\n:]{0,200}?(?:\bis\b|:)[^\n:]{0,40}?:?\s*", re.IGNORECASE
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»")
_REFUSAL = re.compile(
    r"\W*(?:as an ai\b|as a language model|i['’]?m sorry|i am sorry|sorry,|i cannot\b|i can['’]t"
    r"|i am (?:not able|unable)|i['’]m (?:not able|unable)|i apologi[sz]e|unfortunately,"
    r"|the sentence is\b|this sentence (?:is|does|cannot)|the provided sentence|it is not possible"
    r"|without (?:more|further|additional) context|please provide)",
    re.IGNORECASE,
)
#: The beginnings that may be part of a correct translation into English.
_REFUSAL_IN_ENGLISH = re.compile(
    r"\W*(?:as an ai\b|as a language model|the provided sentence)", re.IGNORECASE
)
#: Frequent English words that are no words of the usual target languages.
_ENGLISH = frozenset(
    [
        *("the", "of", "and", "that", "this", "with", "for", "it", "not", "are", "you", "your"),
        *("have", "has", "because", "cannot", "which", "be", "is", "there", "they", "we", "word"),
    ]
)
#: Languages with a script of their own -> how Unicode names its letters.
_SCRIPTS: dict[str, str | tuple[str, ...]] = {
    "ar": "ARABIC",
    "be": "CYRILLIC",
    "bg": "CYRILLIC",
    "el": "GREEK",
    "fa": "ARABIC",
    "he": "HEBREW",
    "hi": "DEVANAGARI",
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    "ko": ("HANGUL",),
    "ru": "CYRILLIC",
    "th": "THAI",
    "uk": "CYRILLIC",
    "zh": "CJK",
}
_FENCE = re.compile(r"```|~~~")
#: A list, in a source whose translation may be one.
_LIST = re.compile(r"(?:^|\s)(?:\(?(?:\d{1,2}|[a-h])[.):]|[-*•·–—])\s", re.MULTILINE)
_ENGLISH_SHARE = 0.25
_COPIED_SHARE = 0.7
_REFUSED = "the reply is a refusal or an explanation"
_MOST_WRAPPERS = 4
_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True)
class ParsedTranslation:
    """What a reply says."""

    text: str  # "" if the reply is not valid
    reason: str = ""  # why it is not valid

    @property
    def is_valid(self) -> bool:
        """Whether the reply holds a translation."""
        return not self.reason


def parse_translation(
    reply: str, source: str, *, tgt_lang: str, src_lang: str = "en", parser: str = "whole"
) -> ParsedTranslation:
    """Take the translation out of a reply.

    Thoughts are no part of a reply. Code fences, JSON, introductions and notes around a translation
    are removed, but for what the source has itself. A reply is not valid if nothing is left of it,
    if its thought was cut off, if it repeats the source, if it is a refusal or a placeholder, if it
    has several translations or more lines than the source, or if it is in another language by a
    simple test: the script, the share of frequent English words, and the share of words in lower
    case that are words of the source.

    Examples:
        >>> reply = "<think>Is it a man?</think> Here is the translation: Er ging. (Note: a man)"
        >>> parse_translation(reply, "He left.", tgt_lang="de").text
        'Er ging.'
        >>> reply = 'Here "bat" is an animal. Thus, the German translation is: "Eine Fledermaus."'
        >>> parse_translation(reply, "A bat.", tgt_lang="de", parser="quoted").text
        'Eine Fledermaus.'
        >>> parse_translation("I'm sorry, but this is a fragment.", "To bat.", tgt_lang="de").reason
        'the reply is a refusal or an explanation'
    """
    check_choice("parser", parser, TRANSLATION_PARSERS)
    # A source may have the tags of a thought itself; then they are words as any other.
    has_tags = without_thinking(source) != source
    outside = reply if has_tags else without_thinking(reply)
    if outside is None:
        return ParsedTranslation("", CUT_THOUGHT)
    if is_refusal(outside, source):
        return ParsedTranslation("", _REFUSED)
    text = _quoted(outside) if parser == "quoted" else ""
    if not text:
        text = _unwrapped(outside, source)
        if parser == "quoted":
            text = text.rpartition(":")[2]
    if not is_json(text):
        text = _without_odd_quote(_bare(text), source)
    if is_blank(text):
        return ParsedTranslation("", "the reply is empty")
    languages = {"src_lang": base_code(src_lang), "tgt_lang": base_code(tgt_lang)}
    reason = _why_not(text, source, **languages)
    return ParsedTranslation("" if reason else " ".join(text.split()), reason)


def _why_not(text: str, source: str, *, src_lang: str, tgt_lang: str) -> str:
    """Return why a text is not the translation of a source, "" if it may be."""
    line = " ".join(text.split())
    if _plain(line) == _plain(source):
        return "the reply repeats the source"
    refusal = _REFUSAL_IN_ENGLISH if tgt_lang == "en" else _REFUSAL
    if refusal.match(line) or is_refusal(line, source):
        return _REFUSED
    if is_placeholder(line, source):
        return "the reply is a placeholder"
    if is_json(text) and not is_json(source):
        return "the reply is JSON in which several texts may be the translation"
    if _FENCE.search(text) and not _FENCE.search(source):
        return "the reply has other text beside a code fence"
    if alternatives(text) and not _LIST.search(source):
        return "the reply has several alternatives"
    if _n_lines(text) > max(1, _n_lines(source)):
        return "the reply has more lines than the source"
    if _is_other_language(line, source, src_lang, tgt_lang):
        return "the reply is in another language"
    return ""


def _n_lines(text: str) -> int:
    return sum(not is_blank(line) for line in text.splitlines())


def _unwrapped(reply: str, source: str) -> str:
    """Return a reply without what a model writes around a translation."""
    text = reply.strip()
    # Wrappers lie in each other, such as an introduction before a fence around JSON.
    for _ in range(_MOST_WRAPPERS):
        before = text
        text = without_preface(text, source)
        text = without_note(text, source)
        if not _FENCE.search(source):
            text = without_fence(text)
        text = without_element(text)
        if not is_json(source):
            text = json_translation(text) or text
        text = _without_emphasis(text.strip())
        if text == before:
            break
    return text


def _without_emphasis(text: str) -> str:
    """Return a text without the marks of Markdown for bold around all of it."""
    inside = text[2:-2]
    is_bold = text[:2] == text[-2:] and text[:2] in ("**", "__")
    return inside.strip() if is_bold and inside and text[:2] not in inside else text


def _quoted(reply: str) -> str:
    """Return the last quoted passage behind an introduction, "" if there is none."""
    passages: list[str] = []
    for introduction in _INTRODUCED.finditer(reply):
        if quoted := _QUOTED.match(reply, introduction.end()):
            passages.append(next(text for text in quoted.groups() if text))
    return passages[-1] if passages else ""


def _bare(text: str) -> str:
    """Return a text without the quotes and brackets around all of it."""
    text = text.strip()
    while len(text) > 1 and text[-1] in _QUOTES.get(text[0], ""):
        inside = text[1:-1]
        if text[0] in inside or text[-1] in inside:
            break  # "a" and "b": the outer marks are no pair
        text = inside.strip()
    return text


def _without_odd_quote(text: str, source: str) -> str:
    """Return a text without a quote at its end that nothing opens."""
    # Prompts have the source in quotes, and small models copy the second one. After a digit it
    # stands for inches.
    may_be_opened = '"' in source or bool(re.search(r'[„“”«»]|\d"$', text))
    return text.removesuffix('"') if text.count('"') == 1 and not may_be_opened else text


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _is_other_language(text: str, source: str, src_lang: str, tgt_lang: str) -> bool:
    """Return whether a text is in another language than `tgt_lang`, by a simple test."""
    letters = [character for character in text if character.isalpha()]
    if script := _SCRIPTS.get(tgt_lang):
        n_right = sum(unicodedata.name(character, "").startswith(script) for character in letters)
        return 2 * n_right < len(letters)
    words = re.findall(r"[^\W\d_]+", text)
    if len(words) < _FEWEST_WORDS:
        return False
    if tgt_lang != "en":
        n_english = sum(word.lower() in _ENGLISH for word in words)
        if n_english >= _ENGLISH_SHARE * len(words):
            return True
    if src_lang == tgt_lang:
        return False
    # Names and many nouns are the same in both languages, so only words in lower case count.
    of_source = set(re.findall(r"[^\W\d_]+", source))
    lower = [word for word in words if word.islower()]
    return len(lower) > _FEWEST_WORDS and (
        sum(word in of_source for word in lower) > _COPIED_SHARE * len(lower)
    )
