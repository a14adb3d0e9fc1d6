"""Read which of two options a reply chooses: "Translation 2", or a conclusion after both were named
(Emelin 2023, section 4.6).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.errors import check_choice
from cc_hf.normalization import is_blank
from cc_hf.plugins.asking.prompting.reply_parts import without_element
from cc_hf.text.replies import without_fence, without_thinking

__all__ = ["CUT_THOUGHT", "PARSERS", "ParsedChoice", "parse_choice"]

#: Why a reply without the end of its thought is not valid.
CUT_THOUGHT = "the reply is a thought that was cut off"

#: How a reply is read. "conclusion" reads the last mention in a concluding phrase, or the only
#: number that is mentioned; "last" the last mention of all; "exact" accepts a reply only if it is
#: the name of an option and nothing else.
PARSERS = ("conclusion", "last", "exact")

_NUMBERS = {
    "1": "1",
    "2": "2",
    "one": "1",
    "two": "2",
    "first": "1",
    "second": "2",
}
_LABEL = (
    r"(?:translations?|options?|fillers?|answers?|choices?|variants?|versions?"
    r"|übersetzung(?:en)?|traductions?|перевод\w*|вариант\w*|variante)"
)
_NUMBER = r"(?:[12](?!\d|[.,]\d)|one\b|two\b)"
_MARKS = r"[\s*_#:\"'“”„»«(\[`]*"  # what may stand between the label and its number
#: A mention of an option: "translation 2", "Option **two**", "the second filler".
_MENTION = re.compile(
    rf"\b{_LABEL}{_MARKS}(?:(?:is|number|no){_MARKS})?(?P<after>{_NUMBER})"
    rf"|\b(?P<before>first|second)\s+(?:gap\s+)?{_LABEL}(?!{_MARKS}{_NUMBER})",
    re.IGNORECASE,
)
#: A second option that is named together with the first: "translation 1 or 2", "1 and option 2".
_JOINED = re.compile(
    rf"{_MARKS}(?:\band\b|\bor\b|\bnor\b|\bvs\b\.?|&|/|,){_MARKS}(?:the\s+)?(?:{_LABEL}{_MARKS})?"
    rf"(?P<number>{_NUMBER}|second\b|first\b)",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(
    r"\b(?:therefore|thus|hence|consequently|accordingly|so|it follows|in conclusion|to conclude"
    r"|based on|overall|in summary|final(?:ly)?"
    r"|(?:choose|chose|pick|prefer|select|recommend|go with|opt for)"
    r"|(?:more |most |slightly )?(?:better|best|correct|right|accurate|appropriate|preferable"
    r"|preferred|suitable|fitting|acceptable)"
    r"|daher|deshalb|folglich|donc|поэтому|следовательно|значит|besser|richtig\w*|meilleure?"
    r"|correcte?|лучше|правильн\w*)\b",
    re.IGNORECASE,
)
#: Words before a mention that name the option which was not chosen.
_REJECTED_BEFORE = re.compile(
    r"\b(?:not|isn['’]t|than|over|instead of|rather than|unlike|against|compared (?:to|with))\s+"
    r"(?:that of\s+)?(?:in\s+|the\s+)?[*_\"'“(]*$",
    re.IGNORECASE,
)
#: Words behind a mention that reject the option.
_REJECTED_AFTER = re.compile(
    r"[\s*_\"'”):]*(?:,\s*)?(?:(?:which|that|however),?\s+)?"
    r"(?:(?:is|are|was|would be|seems|appears|sounds)(?: to be)?\s+)?"
    r"(?:(?:also|clearly|simply|therefore|thus|grammatically|slightly|the|a|an|less|more)\s+)*"
    r"(?:not\b|isn['’]t\b|wouldn['’]t\b|cannot\b|doesn['’]t\b|does not\b|incorrect|wrong\b|worse\b"
    r"|worst\b|inaccurate|inappropriate|unacceptable|false\b|mistaken|unsuitable|misleading)",
    re.IGNORECASE,
)
#: The answer in a box, as models write it that were trained on mathematics.
_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{(?P<answer>(?:[^{}]|\{[^{}]{0,200}\}){0,200})\}")
_LATEX = re.compile(r"\\(?:boxed|fbox|text\w{0,4}|math\w{1,4})\s{0,3}(?=\{)|\\[()\[\]]|[${}]")
_BARE = re.compile(r"\W*(?:№\s*)?([12]|one|two)\W*", re.IGNORECASE)
_CONCLUDING_NUMBER = re.compile(
    r"\b(?:is|choose|pick|prefer|select)\s*:?\s*[\"'(*]*([12])[\"')*]*\s*[.!]?\s*$", re.IGNORECASE
)
_ABBREVIATED = re.compile(r"\b(?:no|nr)\.\s*(?=[12])", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”*)]*\s+|\n+")
_EDGES = " \t\n\"'“”„«»()[]{}*_`.!:"


@dataclass(frozen=True, slots=True)
class ParsedChoice:
    """What a reply says."""

    number: str  # of the chosen option, "1" or "2"; "" for none
    reason: str = ""  # why the reply is not valid

    @property
    def is_valid(self) -> bool:
        """Whether the reply chooses an option."""
        return bool(self.number)


@dataclass(frozen=True, slots=True)
class _Mention:
    """An option that a sentence names."""

    number: str  # "1" or "2"
    is_candidate: bool  # neither rejected nor named together with the other one


def parse_choice(
    reply: str, options: Sequence[str] = (), *, parser: str = "conclusion"
) -> ParsedChoice:
    """Read which option a reply chooses.

    Mentions are "translation", "option" or "filler" with a number, in digits or words. The last
    mention in a concluding phrase counts ("therefore", "it follows", "the correct translation is",
    "is slightly better"). Without such a phrase, a reply that mentions exactly one number chooses
    it, unless the phrase rejects it. A reply that is the number alone, or the text of exactly one
    option, chooses that, and so does the answer in a box of LaTeX. Thoughts are no part of a reply,
    and one that was cut off chooses nothing.

    Examples:
        >>> parse_choice("Translation 1 uses the feminine. Thus, translation 2 is right.").number
        '2'
        >>> parse_choice("<think>Translation 1 has a woman.</think> $\\\\boxed{2}$").number
        '2'
        >>> parse_choice("Translation 1 or 2?").reason
        'both options are named, without a conclusion'
        >>> parse_choice('"the bouquet"', ["the vase", "the bouquet"]).number
        '2'
    """
    check_choice("parser", parser, PARSERS)
    outside = without_thinking(reply)
    if outside is None:
        return ParsedChoice("", CUT_THOUGHT)
    reply = without_element(without_fence(outside))
    if is_blank(reply):
        return ParsedChoice("", "the reply is empty")
    if number := _chosen(reply, options):
        return ParsedChoice(number)
    if parser == "exact":
        return ParsedChoice("", "the reply is not only the name of an option")
    if boxed := [_chosen(box[0], options) for box in _BOXED.finditer(reply)]:
        return _of_boxes(boxed)
    text = _ABBREVIATED.sub("number ", reply)
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    mentions = [_mentions(sentence) for sentence in sentences]
    if parser == "last":
        named = [mention.number for of_sentence in mentions for mention in of_sentence]
        return ParsedChoice(named[-1]) if named else ParsedChoice("", "no option is named")
    return _conclusion(sentences, mentions)


def _conclusion(sentences: Sequence[str], mentions: Sequence[Sequence[_Mention]]) -> ParsedChoice:
    """Return the option that the last concluding sentence chooses, else the only one named."""
    named = {mention.number for of_sentence in mentions for mention in of_sentence}
    for sentence, of_sentence in zip(reversed(sentences), reversed(mentions), strict=True):
        if not _CONCLUDING.search(sentence):
            continue
        candidates = [mention.number for mention in of_sentence if mention.is_candidate]
        if candidates:
            return ParsedChoice(candidates[-1])
        if not of_sentence and (match := _CONCLUDING_NUMBER.search(sentence)):
            return ParsedChoice(match[1])
    if not named:
        return ParsedChoice("", "no option is named")
    if len(named) == 2:
        return ParsedChoice("", "both options are named, without a conclusion")
    if not any(mention.is_candidate for of_sentence in mentions for mention in of_sentence):
        return ParsedChoice("", "the only option that is named is rejected")
    return ParsedChoice(named.pop())


def _mentions(sentence: str) -> list[_Mention]:
    mentions = []
    position = 0
    while match := _MENTION.search(sentence, position):
        number = _NUMBERS[(match["after"] or match["before"]).lower()]
        position = match.end()
        joined = _JOINED.match(sentence, position)
        if joined is not None and _NUMBERS[joined["number"].lower()] != number:
            position = joined.end()
            other = _NUMBERS[joined["number"].lower()]
            mentions += [_Mention(number, False), _Mention(other, False)]
            continue
        is_rejected = _REJECTED_BEFORE.search(sentence[: match.start()]) or _REJECTED_AFTER.match(
            sentence, position
        )
        mentions.append(_Mention(number, not is_rejected))
    return mentions


def _chosen(reply: str, options: Sequence[str]) -> str:
    """Return the number of the option that is the whole reply, "" if it is none."""
    plain = _LATEX.sub("", reply)
    return _of_text(reply, options) or _of_text(plain, options) or _whole(plain)


def _of_boxes(numbers: Sequence[str]) -> ParsedChoice:
    """Return the choice in boxes of LaTeX, which must agree."""
    if len(set(numbers)) > 1:
        return ParsedChoice("", "the boxes of the reply have several answers")
    if not numbers[0]:
        return ParsedChoice("", "the box of the reply names no option")
    return ParsedChoice(numbers[0])


def _whole(reply: str) -> str:
    """Return the number that is the whole reply, with or without its label; "" for more text."""
    if match := _BARE.fullmatch(reply):
        return _NUMBERS[match[1].lower()]
    match = _MENTION.fullmatch(_ABBREVIATED.sub("number ", reply).strip(_EDGES))
    return "" if match is None else _NUMBERS[(match["after"] or match["before"]).lower()]


def _of_text(reply: str, options: Sequence[str]) -> str:
    """Return the number of the option whose text is the reply; "" for none or both."""
    text = _plain(re.sub(rf"^\W*{_LABEL}\s*:", "", reply, flags=re.IGNORECASE))
    matching = [
        str(number)
        for number, option in enumerate(options, 1)
        if option.strip() and _plain(option) == text
    ]
    return matching[0] if len(matching) == 1 else ""


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", text)  # an accent may be a character of its own
    return " ".join(text.strip(_EDGES).casefold().split())
