"""What stands in translations beside the translation: prefaces, fences, markup, ids, pieces of a
vocabulary and other traces of the program that wrote a file.

Such text changes verdicts. Only what the sources do not have as well is counted.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cc_hf.normalization import composed, has_invisible_characters, is_blank
from cc_hf.text.replies import (
    is_placeholder,
    json_translation,
    without_fence,
    without_note,
    without_preface,
    without_thinking,
)
from cc_hf.text.shared_words import FEW, is_whole, shared_words

__all__ = [
    "ARTEFACTS",
    "Artefact",
    "ArtefactKind",
    "artefacts",
    "is_empty_wrapper",
    "rows_with_reasons",
    "without_artefacts",
]


@dataclass(frozen=True)
class ArtefactKind:
    """A kind of text that is no part of a translation.

    Attributes:
        what: what translations of the kind do, as a phrase that follows their number.
        is_reason: whether many of them are a reason not to cite figures. The others are ways to
            write a text, which real systems have.
        least: share of the translations from which the kind is named. Two are enough where it
            is the default.
    """

    what: str
    is_reason: bool = True
    least: float = FEW


#: Name -> kind. Some are named from a larger share, because people's translations have a few.
ARTEFACTS: Mapping[str, ArtefactKind] = {
    "thinking": ArtefactKind("contain the thinking of a model"),
    "json": ArtefactKind("are JSON"),
    "fence": ArtefactKind("contain a code fence"),
    "preface": ArtefactKind("begin with words that are no translation"),
    "ending": ArtefactKind("end with words that are no translation"),
    "beginning": ArtefactKind("begin with the same words, which no punctuation sets apart"),
    "id": ArtefactKind("begin with a number", least=0.05),
    "columns": ArtefactKind("contain tabs, as the rows of a table"),
    "special": ArtefactKind("contain special tokens of a model"),
    "markup": ArtefactKind("contain markup"),
    "pieces": ArtefactKind("contain marks of subwords"),
    "quotes": ArtefactKind("stand in quotes", least=0.02),
    "encoding": ArtefactKind("have letters that were read in a wrong encoding"),
    "control": ArtefactKind("contain control characters"),
    "upper": ArtefactKind("are in capitals", least=0.05),
    "entities": ArtefactKind("contain HTML entities", is_reason=False),
    "invisible": ArtefactKind("contain invisible characters, which are ignored", is_reason=False),
    "breaks": ArtefactKind("have several lines", is_reason=False),
    "tokenised": ArtefactKind("are tokenised", is_reason=False, least=0.5),
    "lower": ArtefactKind("begin in lower case", is_reason=False, least=0.5),
}

_THINKING = re.compile(
    r"</?(?:think|thinking|thought|reasoning|reflection)>|\u25c1/?think\u25b7|\[/?THINK\]"
    r"|<\|channel\|>analysis",
    re.IGNORECASE,
)
_JSON = re.compile(r"""\{\s*(?:["'{]|\})|\[\s*(?:["'{\[]|\])""")
_FENCE = re.compile(r"```|~~~")
_SPECIAL = re.compile(
    r"</?s>|<(?:pad|unk|mask|bos|eos|sep|cls|eot|end_of_turn|start_of_turn|extra_id_\d+)>"
    r"|<0x[0-9A-F]{2}>|<\|[^|<>\n]{1,40}\|>|\[(?:UNK|CLS|SEP|PAD|MASK|BOS|EOS|/?INST)\]"
    r"|<</?SYS>>|(?<!\S)__[a-z]{2,3}(?:_[A-Za-z]{2,8})?__|>>[a-z]{2,3}(?:_[A-Za-z]{2,8})?<<"
    r"|<2[a-z]{2,3}>|\A(?:[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2})(?!\S)"
    r"|(?<!\S)(?:[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2})\Z|\u2047"
)
#: Markup, whose tags may have attributes, and Markdown's bold text and headings.
_TAG = re.compile(
    r"</?[A-Za-z][\w.:-]{0,30}(?:\s{1,9}[\w:-]{1,30}=(?:\"[^\"<>]{0,99}\"|'[^'<>]{0,99}'|\w{1,30})){0,9}"
    r"\s{0,9}/?>"
)
_BOLD = re.compile(r"\*\*([^*\n]{1,400})\*\*")
_HEADING = re.compile(r"#{2,6}\s+(?=\S)")
#: SentencePiece, BPE of subword-nmt and GPT-2, and WordPiece. The mark of GPT-2 is a letter of
#: Maltese, too, where no small letter stands before it, and few words begin with it.
_PIECES = re.compile(
    r"\u2581|(?<=\S)@@(?=\s|$)|</w>|(?<!\S)##(?=\w)|(?<=[a-zäöüß.,])[\u0120\u010a]"
    r"|\s\u0120\w{1,40}\s\u0120"
)
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,9}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_BREAK = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]")
#: The bytes 0x80 to 0xbf as Windows-1252 and Latin-1 show them, behind the first byte of a letter
#: in UTF-8, but for quotes, dashes and dots, which may stand behind a letter.
_CONTINUATION = (
    "\u0080-\u00aa\u00ac-\u00ba\u00bc-\u00bf\u20ac\u0192\u201e\u2020\u2021\u02c6\u2030\u0160\u2039"
)
_CONTINUATION += "\u0152\u017d\u2022\u02dc\u2122\u0161\u203a\u0153\u017e\u0178"
_ENCODING = re.compile(
    f"[\u00c2-\u00c5\u00ce-\u00d1\u00d7-\u00d9][{_CONTINUATION}]|\u00e2[{_CONTINUATION}]{{2}}|\ufffd"
)
_TOKENISED = re.compile(r"\w [.,](?=\s|$)|@-@")
#: Any character or sequence that one of `_PATTERNS`, JSON or markup needs. Most texts have none.
_SUSPICIOUS = re.compile(
    r"[<>&@*`~{}\[\]#\x00-\x1f\x7f-\x9f\u010a\u0120\u2028\u2029\u2047\u2581\u25c1]|__|[a-z]_[A-Z]"
)
_PATTERNS = {
    "thinking": _THINKING,
    "fence": _FENCE,
    "special": _SPECIAL,
    "pieces": _PIECES,
    "control": _CONTROL,
    "entities": _ENTITY,
}
_CLOSING = {
    '"': '"',
    "'": "'",
    "`": "`'",
    "\u201c": "\u201d\u201c",
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\u2039": "\u203a",
    "*": "*",
    "_": "_",
}
_REPEATED_QUOTES = re.compile(r"(\"{2,3}|'{2,3}|`{2})([^\"`]+)(?:\1|'')")
_QUOTES = frozenset("".join(_CLOSING) + "".join(_CLOSING.values()) + "\u2039\u203a")
#: A number or an id in front: "12.", "[3]", "sent-7:", "0,", or a number and a blank.
_NUMBERED = re.compile(
    r"(?:[A-Za-z]{1,12}[ ])?[\[(#]?(?:[A-Za-z][\w.-]{0,30}?)?(\d{1,9})"
    r"(?P<mark>[\])]?[ ]?(?:[.:)|;,\t](?!\d)|[-\u2013](?=\s))\s*|[\])]\s+|\s+(?=\S))"
)
_DIGIT, _FARTHEST = re.compile(r"\d"), 50
#: Words that a translation may write as a number.
_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred"
    r"|first|second|third|\w+th|dozen|thousand|million)\b",
    re.IGNORECASE,
)
#: What `_cleaned` removes of a text, and what stands there afterwards.
_REMOVED = (
    (_SPECIAL, " "),
    (_BOLD, r"\1"),
    (_HEADING, ""),
    (_TAG, " "),
    (_CONTROL, ""),
)
#: Kinds whose marks are no shared words.
_LAYERS = ("thinking", "json", "fence", "special", "markup", "pieces")
#: Kinds that one translation alone shows.
_SURE = frozenset((*_LAYERS, "preface", "ending", "control", "entities", "invisible"))
_COMMON, _COUNTING = 0.5, 0.8  # share of numbers that are as far from the number of their row
_MOST_LAYERS = 4  # such as quotes in JSON in a fence behind a preface
_WRAPPING, _SHORT_WRAPPER = tuple("<`~[{*\u25c1"), 80  # how an empty wrapper begins; its length
_SHORT = 4  # letters of an abbreviation
_LONGEST = 60  # of an example


@dataclass(frozen=True)
class Artefact:
    """A kind of text that is no translation, and the translations that have it.

    Attributes:
        rows: the 0-based rows, ascending.
        example: the words that several translations begin or end with, or the beginning of the
            first of the translations.
        n: number of all translations.
    """

    kind: str
    rows: tuple[int, ...]
    example: str
    n: int

    def __str__(self) -> str:
        return f'{len(self.rows):,} of {self.n:,} {ARTEFACTS[self.kind].what} ("{self.example}")'


@lru_cache(maxsize=2)
def artefacts(translations: tuple[str, ...], sources: tuple[str, ...]) -> tuple[Artefact, ...]:
    """Return what the translations of a file have beside the translation, and their sources do not.

    Args:
        sources: one per translation; "" where it is not known.

    Examples:
        >>> translations = "<b>Sie ging.</b>", "<b>Er kam.</b>"
        >>> [str(kind) for kind in artefacts(translations, ("She left.", "He came."))]
        ['2 of 2 contain markup ("<b>Sie ging.</b>")']
    """
    texts = [text.strip() for text in translations]
    rows: dict[str, dict[int, str]] = {kind: {} for kind in ARTEFACTS}
    for row, (text, source) in enumerate(zip(texts, sources, strict=True)):
        for kind, part in _kinds(text, source.strip()) if text else ():
            rows[kind][row] = part
    rows["id"] = {row: texts[row] for row in _numbered_rows(texts, sources)}
    wrapped = {row for kind in _LAYERS for row in rows[kind]}
    for row, (kind, words) in shared_words(texts, sources, wrapped):
        rows[kind].setdefault(row, words)  # the words of the largest group
    n_of_kind = dict.fromkeys(ARTEFACTS, len(texts))
    n_of_kind["tokenised"] = sum("." in text or "," in text for text in texts)
    named = []
    for kind, declared in ARTEFACTS.items():
        members = sorted(rows[kind])
        is_enough = len(members) > 1 and declared.least == FEW
        if members and (is_enough or len(members) >= declared.least * n_of_kind[kind]):
            [(frequent, _)] = Counter(rows[kind].values()).most_common(1)
            named.append(Artefact(kind, tuple(members), _shortened(frequent), len(texts)))
    return tuple(named)


def rows_with_reasons(named: Sequence[Artefact]) -> frozenset[int]:
    """Return the rows with a kind of text that is a reason not to cite figures."""
    return frozenset(
        row for artefact in named if ARTEFACTS[artefact.kind].is_reason for row in artefact.rows
    )


def without_artefacts(translations: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Return the translations without what can be removed without doubt.

    Nothing is left of a thought that was not closed. Text in capitals, tokenised text and letters
    in a wrong encoding stay as they are.

    Examples:
        >>> without_artefacts(['1. "Sie ging."', '2. "Er kam."'], ["She left.", "He came."])
        ['Sie ging.', 'Er kam.']
    """
    named = artefacts(tuple(translations), tuple(sources))
    texts = [text.strip() for text in translations]
    of_kind = {artefact.kind: artefact.rows for artefact in named}
    wrapped = {row for kind in _LAYERS for row in of_kind.get(kind, ())}
    shared = list(shared_words(texts, sources, wrapped))
    for row in of_kind.get("id", ()):
        texts[row] = _NUMBERED.sub("", texts[row], count=1)
    for row, (kind, words) in shared:
        if kind == "preface" and kind in of_kind:
            texts[row] = texts[row].removeprefix(words)
        elif kind == "ending" and kind in of_kind:
            texts[row] = texts[row].removesuffix(words)
    cleaned = list(translations)
    changed = {row for rows in of_kind.values() for row in rows}
    changed |= {
        row
        for row, (text, source) in enumerate(zip(texts, sources, strict=True))
        if text and any(kind in _SURE for kind, _ in _kinds(text, source.strip()))
    }
    for row in changed:
        text, source = texts[row], sources[row].strip()
        for _ in range(_MOST_LAYERS):
            text = _cleaned(text, source).strip()
        cleaned[row] = text
    return cleaned


def is_empty_wrapper(text: str, source: str) -> bool:
    """Return whether a text is a preface, a thought, markup or a fence around nothing or a
    placeholder.

    Examples:
        >>> is_empty_wrapper("<seg></seg>", "She left."), is_empty_wrapper("Sie: nein", "She left.")
        (True, False)
    """
    is_near = text.startswith(_WRAPPING) or (len(text) < _SHORT_WRAPPER and ":" in text)
    if not is_near:
        return False
    rest = without_preface(without_thinking(text) or "", source)
    for pattern, replacement in _REMOVED:
        rest = pattern.sub(replacement, rest)
    rest = without_fence(rest).strip()
    return rest != text and (is_blank(rest) or is_placeholder(rest, source))


def _kinds(text: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds that a text and its source alone show, with the text or the part meant."""
    is_layer = False
    if _SUSPICIOUS.search(text):
        is_json = text[0] in "{[" and text[-1] in "]}" and _JSON.match(text)
        if is_json and not _JSON.search(source):
            yield "json", text
        is_layer = bool(is_json or _THINKING.search(text))
        for kind, pattern in _PATTERNS.items():
            if pattern.search(text) and not pattern.search(source):
                yield kind, text
        if "<" not in source and _has_markup(text) and not _has_markup(source):
            yield "markup", text
        if "\t" in text and "\t" not in source:
            yield "columns", text
    if not text.isascii():
        if _ENCODING.search(text) and not _ENCODING.search(source):
            yield "encoding", text
        if has_invisible_characters(text) and not has_invisible_characters(source):
            yield "invisible", text
    plain = html.unescape(text) if text[0] == "&" else text
    if plain[0] in _CLOSING and _unquoted(plain) != plain and not _begins_or_ends_quoted(source):
        yield "quotes", text
    is_long = ":" in text or "\uff1a" in text or "\n" in text or text[-1] in ")]*"
    if is_long and not is_layer:
        if (rest := without_preface(text, source)) != text and is_whole(rest, source):
            yield "preface", text.removesuffix(rest)
        if (rest := without_note(text, source)) != text and is_whole(rest, source):
            yield "ending", text.removeprefix(rest)
        if _BREAK.search(text) and not _BREAK.search(source):
            yield "breaks", text
    if text.isupper() and _is_written_in_capitals(text) and not source.isupper():
        yield "upper", text
    elif text[0].islower() and source[:1].isupper():
        yield "lower", text
    has_blanks = " ." in text or " ," in text or "@-@" in text
    if has_blanks and _TOKENISED.search(text) and not _TOKENISED.search(source):
        yield "tokenised", text


def _begins_or_ends_quoted(source: str) -> bool:
    return not _QUOTES.isdisjoint({*source[:1], *source[-2:]})


def _has_markup(text: str) -> bool:
    tags = "<" in text and _TAG.search(_THINKING.sub("", _SPECIAL.sub("", text)))
    return bool(tags or _BOLD.search(text) or _HEADING.match(text))


def _is_written_in_capitals(text: str) -> bool:
    """Return whether the letters of a text have capitals, and they are not one short word."""
    letters = [letter for letter in text if letter.isalpha()]
    return len(letters) > _SHORT and 2 * sum(map(str.isupper, letters)) > len(letters)


def _unquoted(text: str) -> str:
    """Return a text without the quotes around all of it, or without one that is never closed."""
    if match := _REPEATED_QUOTES.fullmatch(text):
        return match[2]
    if text[0] == '"' and _QUOTES.isdisjoint(text[1:].replace("\u2019", "").replace("'", "")):
        return text[1:]
    ending = text[-1] if text[-1] in ".," else ""
    inside = text[1 : len(text) - len(ending) - 1]
    closing = text[len(text) - len(ending) - 1 :][:1]
    if not inside or closing not in _CLOSING.get(text[0], "") or closing == "":
        return text
    if text[0] in inside or closing in inside:
        return text  # "a" and "b": the outer quotes are no pair
    return inside + ending


def _numbered_rows(texts: Sequence[str], sources: Sequence[str]) -> list[int]:
    """Return the rows with a number in front, not in their source, that counts or names rows."""
    matches = {
        row: match
        for row, (text, source) in enumerate(zip(texts, sources, strict=True))
        if _DIGIT.search(text, 0, _FARTHEST)
        and (match := _NUMBERED.match(text))
        and match[1] not in source
        # "Two nurses" may be "2 Pflegerinnen".
        and not _NUMBER_WORD.search(source)
    }
    if not matches:
        return []
    marked = {row for row, match in matches.items() if match["mark"].strip()}
    offsets = Counter(int(match[1]) - row for row, match in matches.items())
    [(_, n_counting)] = offsets.most_common(1)
    is_count = n_counting >= _COUNTING * len(matches)
    if is_count and (len(marked) == len(matches) or len(matches) >= _COMMON * len(texts) > 1):
        return [*matches]
    is_id = len(marked) >= _COMMON * len(texts)
    return sorted(marked) if is_id and len({matches[row][1] for row in marked}) > 1 else []


def _cleaned(text: str, source: str) -> str:
    """Return a text without its outer layer of what the source does not have."""
    answer = without_thinking(composed(text))
    if not answer:
        return ""
    text = answer if _FENCE.search(source) else without_fence(answer)
    if not _JSON.search(source):
        parsed = json_translation(text)
        text = text if parsed is None else parsed
    for without in (without_preface, without_note):
        rest = without(text, source)
        text = rest if is_whole(rest, source) else text
    if not _ENTITY.search(source):
        text = html.unescape(text)
    if _PIECES.search(text) and not _PIECES.search(source):
        text = _joined(text)
    for pattern, replacement in _REMOVED:
        if not pattern.search(source):
            text = pattern.sub(replacement, text)
    if not _BREAK.search(source):
        text = re.sub(r"[^\S\t]+", " ", text)
    text = text.strip()
    is_quoted = text[:1] in _CLOSING and not _begins_or_ends_quoted(source)
    return _unquoted(text) if is_quoted else text


def _joined(text: str) -> str:
    """Return a text whose words were cut into pieces as a text of words."""
    if text.count("\u2581") >= len(text.split()):
        text = "".join(text.split())
    text = re.sub(r"@@(?:\s|$)|\s##(?=\w)", "", text).replace("</w>", " ")
    return " ".join(re.sub(r"\u2581|(?<=\s)\u0120(?=\w)", " ", text).split())


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    plain = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST].rstrip()}..."
