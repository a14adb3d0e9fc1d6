"""What language models write around a translation: thoughts, code fences, JSON, introductions and
notes; and what they write in its place: refusals and placeholders.

Each function knows one kind and is sure or leaves the text as it is. Whether a text that stays
doubtful counts is decided elsewhere, see `cc_hf.plugins.asking.prompting.translation_replies`.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from cc_hf.languages import LANGUAGES
from cc_hf.normalization import is_blank
from cc_hf.text.reply_words import (
    AGREEMENT,
    AI,
    APOLOGY,
    INTRODUCTION,
    LABEL_WORDS,
    LANGUAGE_NAMES,
    NO_TEXT,
    NOTE,
    REFUSED_TASK,
    SOURCE_APOLOGY,
    SPEECH,
    TRANSLATION,
    VERBS_OF_LABELS,
)

__all__ = [
    "is_json",
    "is_placeholder",
    "is_refusal",
    "json_translation",
    "without_fence",
    "without_note",
    "without_preface",
    "without_thinking",
]

_THOUGHT = (
    r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad"
    r"|(?:inner|internal)_monologue)"
)
#: Kinds of thoughts: how each begins and ends. Chat templates often write the beginning into the
#: prompt, so that a reply has the end only.
_THOUGHTS = (
    (rf"(?:<|&lt;){_THOUGHT}(?:>|&gt;)", rf"(?:<|&lt;)/{_THOUGHT}(?:>|&gt;)"),
    (r"◁think▷", r"◁/think▷"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    # The channels of gpt-oss, as they are and without their special tokens.
    (
        r"<\|channel\|>\s{0,3}(?:analysis|commentary)\b[^<]{0,99}<\|message\|>",
        r"<\|channel\|>\s{0,3}final\b[^<]{0,99}<\|message\|>",
    ),
    (r"(?-i:\Aanalysis(?=[A-Z]))", r"assistantfinal"),
    # As ollama prints thoughts.
    (r"\AThinking(?:\.\.\.|…)[ \t]{0,9}\n", r"(?:\.\.\.|…)done thinking\."),
)
_THOUGHT_MARK = re.compile(
    "|".join(
        f"(?P<begin{kind}>{begin})|(?P<end{kind}>{end})"
        for kind, (begin, end) in enumerate(_THOUGHTS)
    ),
    re.IGNORECASE,
)
#: Fast passes: what each text with such a passage has. Most texts have none.
_MAY_HAVE_THOUGHT = re.compile("think|thought|reason|reflec|analysis|scratchpad|monologue|final")
_MAY_HAVE_NOTE = re.compile(r"[:：※\n]|[nN][oO][tT][eE]\s")

#: Words of refusals, for a first look at the bytes of a text, where marks at words are blanks:
#: most texts are none, and to translate bytes takes a tenth of the time that letters take.
_REFUSING = frozenset(word.encode() for kind in (AI, NO_TEXT, APOLOGY) for word in kind.by_word)
_ASCII_MARKS = b".,;:!?\"'()[]{}<>*_`~/|=+#-"
_NO_MARKS = bytes.maketrans(_ASCII_MARKS, b" " * len(_ASCII_MARKS))
_OTHER_MARKS = "\u2013\u2014\u2026\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_CJK = re.compile("[\u3040-\u9fff]")
_LONGEST_PLACEHOLDER, _MOST_PLACEHOLDER_WORDS = 60, 5
_END_OF_TURN = ("<|return|>", "<|end|>", "<|END_RESPONSE|>", "<|im_end|>", "<|eot_id|>")

_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})")
_INFO = re.compile(r"[\w+#.-]{0,30}[ \t]{0,9}\n")
_INFO_IN_LINE = re.compile(r"(?:text|txt|plaintext|plain|markdown|md|json|xml|html)[ \t]")
_TRANSLATION_KEY = re.compile(
    r"translat|übersetz|tradu[czt]|traduç|перев|перекл|tłumacz|překlad|vertal|翻译|翻訳|译文|訳"
    r"|\A(?:target|targettext|targetsentence|tgt|hypothesis|mt)\Z"
)
_TEXT_KEY = re.compile(
    r"(?:final|output)?(?:output|text|result|answer|response|content|sentence)s?"
)
_OTHER_KEY = re.compile(
    r"source|original|input|note|expla|reason|comment|error|lang|confiden|alternativ|status|model"
    r"|message|thought|analysis|warning"
)
_NO_LANGUAGE_KEYS = frozenset(("id", "no"))

_HEAD_END = re.compile(r"[:：\n]")
_SENTENCE_END = re.compile(r"[.!?。！]\s|\n")
_LONGEST_HEAD, _MOST_LABEL_WORDS = 200, 14
_CJK_LABEL = re.compile(
    r"[\w，,！!。 ]{0,20}(?:翻译|翻譯|译文|譯文|翻訳|訳文)[\w ]{0,8}(?:\([^)]{0,20}\))?"
)
_MARKS = "*_#>\"'“”„ \t\r\n"

_NOTE_IN_BRACKETS = re.compile(rf"[*_]{{0,3}}[(\[（]\s{{0,2}}[*_]{{0,3}}(?:{NOTE.pattern})", re.I)
_NOTE_IN_LINE = re.compile(
    rf"(?<=[.!?…。！？\"”»)`])[ \t]{{0,3}}[*_]{{0,3}}(?:{NOTE.pattern})", re.IGNORECASE
)
_CLOSING = (
    r"(?:please )?let me know\b|(?:i )?hope this\b|feel free\b|if you(?:['’]d| would| need| have"
    r"| want)\b|would you like\b|is there anything\b|(?:in )?this translation\b"
    r"|i(?:['’]ve| have)? (?:translated|used|chose|chosen|kept)\b"
    r"|lass(?:en sie)? mich wissen\b|ich hoffe, (?:das|dies)\b|falls (?:sie|du) (?:weitere|noch)\b"
    r"|n['’]hésitez pas\b|j['’]espère que cel|espero que (?:esto|isso|te|le|ajude)\b|avísame\b"
    r"|fammi sapere\b|spero che\b|надеюсь, это\b|дайте (?:мне )?знать\b|希望这|如果您"
)
_NOTE_PARAGRAPH = re.compile(
    rf"\n[ \t]{{0,8}}[*_#>(\[（-]{{0,4}}[ \t]{{0,2}}(?:{NOTE.pattern}|{_CLOSING})", re.IGNORECASE
)
_ANY_NOTE = re.compile(rf"(?<!\w)(?:{NOTE.pattern})", re.IGNORECASE)

_REFUSAL_START = 160
_APOLOGY_START = 80  # letters in which a refusal apologises

_SPREADSHEET = re.compile(r"#?\s?n\s?[/\\.]\s?a\.?|#(?:value|ref|name|null|num|div/0)[!?]?")
#: Codes for a missing text, which are words of some languages: "nan" is French for "nope".
_CODES = frozenset(("na", "nan", "tbd", "n/d"))
#: Words for a missing text, which are also right translations of short sources.
_WORDS = {
    *("none", "null", "nil", "todo", "undefined", "untranslated", "missing", "empty", "blank"),
    *("error", "unknown", "placeholder"),
    *("no translation", "not translated", "not available", "no output", "no text", "no answer"),
    *("translation not available", "no translation available", "translation missing"),
    *("missing translation", "translation here", "your translation here", "empty string"),
    *("keine übersetzung", "pas de traduction", "sin traducción", "nessuna traduzione"),
    *("sem tradução", "нет перевода", "немає перекладу", "brak tłumaczenia"),
}
_SHORT_SOURCE, _SHORT_WORD = 3, 5


def without_thinking(text: str) -> str | None:
    """Return a text without the thoughts of a model; None if the last thought does not end.

    Thoughts are passages between tags such as `<think>`, the channels of gpt-oss, and what ollama
    prints. A text with only the end of a thought begins with the thought.

    Examples:
        >>> without_thinking("<think>Der Arzt or die Ärztin?</think> Die Ärztin kam.")
        'Die Ärztin kam.'
        >>> without_thinking("<think>Der Arzt") is None
        True
    """
    if not _MAY_HAVE_THOUGHT.search(text.lower()):
        return text
    parts: list[str] = []
    position, open_kind = 0, ""
    has_thought = False
    for mark in _THOUGHT_MARK.finditer(text):
        name = mark.lastgroup or ""
        kind = name[-1]
        if open_kind:
            if name == f"end{open_kind}":
                position, open_kind = mark.end(), ""
            continue
        has_thought = True
        if name.startswith("begin"):
            parts.append(text[position : mark.start()])
            open_kind = kind
        else:
            parts.clear()  # its beginning is in the prompt
        position = mark.end()
    if open_kind:
        return None
    if not has_thought:
        return text
    parts.append(text[position:])
    outside = "\n".join(part.strip() for part in parts if not is_blank(part)).strip()
    for token in _END_OF_TURN:
        outside = outside.removesuffix(token).rstrip()
    return outside


def without_fence(text: str) -> str:
    """Return the content of a text that is one code fence of Markdown, or inline code.

    A text with only the end of a fence is its content: the beginning is in the prompt.

    Examples:
        >>> without_fence("```text\\nDie Ärztin kam.\\n```"), without_fence("`Die Ärztin kam.`")
        ('Die Ärztin kam.', 'Die Ärztin kam.')
    """
    stripped = text.strip()
    if fence := _FENCE.match(stripped):
        marks = fence["marks"]
        content = stripped[len(marks) :]
        if not content.endswith(marks) or marks in (content := content[: -len(marks)]):
            return text
        if info := _INFO.match(content) or _INFO_IN_LINE.match(content):
            content = content[info.end() :]
        return content.strip()
    for marks in ("```", "~~~"):
        if stripped.endswith(marks) and stripped.count(marks) == 1 and len(stripped) > len(marks):
            return stripped.removesuffix(marks).rstrip()
    for marks in ("``", "`"):
        content = stripped[len(marks) : -len(marks)]
        if stripped.startswith(marks) and stripped.endswith(marks) and content:
            return text if "`" in content else content.strip()
    return text


def is_json(text: str) -> bool:
    """Return whether a text is an object or an array of JSON, also with the quotes of Python.

    Examples:
        >>> is_json('{"de": ""}'), is_json("[Applause]")
        (True, False)
    """
    return _loaded(text) is not None


def json_translation(text: str) -> str | None:
    """Return the translation in an object or an array of JSON.

    Returns:
        The only text; of several the one whose key names a translation, else an output or a
        language; "" if there is no text; None if the text is no JSON, or if it stays doubtful which
        text is the translation.

    Examples:
        >>> json_translation('{"source": "She came.", "translation": "Sie kam."}')
        'Sie kam.'
        >>> json_translation('["Sie kam.", "Er kam."]') is None
        True
    """
    value = _loaded(text)
    if value is None:
        return None
    texts = list(_texts_of_json(value))
    if not texts:
        return ""
    of_kind: dict[str, list[str]] = {"translation": [], "text": [], "unknown": []}
    for key, member in texts:
        if (kind := _kind_of_key(key)) in of_kind:
            of_kind[kind].append(member)
    for members in of_kind.values():
        if members:
            # A text that no key names is a translation only where it is the only one.
            is_sure = len(members) == 1 and (members is not of_kind["unknown"] or len(texts) == 1)
            return members[0].strip() if is_sure else None
    return None


def _loaded(text: str) -> Any:
    """Return a JSON array as a list, an object as a tuple of pairs, and anything else as None."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return None
    try:
        return json.loads(stripped, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        pass
    if not re.match(r"[{\[]\s{0,9}'", stripped):
        return None
    try:  # as Python prints objects
        value = ast.literal_eval(stripped)
        return _with_pairs(value) if isinstance(value, (dict, list)) else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _with_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((str(key), _with_pairs(member)) for key, member in value.items())
    return [_with_pairs(member) for member in value] if isinstance(value, (list, tuple)) else value


def _texts_of_json(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of JSON that are not blank, with their keys; those of arrays have its key."""
    waiting = [("", value)]
    while waiting:
        key, member = waiting.pop()
        if isinstance(member, str) and not is_blank(member):
            yield key, member
        elif isinstance(member, list):
            waiting += [(key, part) for part in member]
        elif isinstance(member, tuple):
            waiting += member


def _kind_of_key(key: str) -> str:
    name = re.sub(r"[\s_-]", "", key.casefold())
    if _OTHER_KEY.search(name):
        return "other"
    if _TRANSLATION_KEY.search(name):
        return "translation"
    is_code = key.casefold() in LANGUAGES and key.casefold() not in _NO_LANGUAGE_KEYS
    return "text" if _TEXT_KEY.fullmatch(name) or is_code or name in LANGUAGE_NAMES else "unknown"


def without_preface(text: str, source: str = "") -> str:
    """Return a text without the introduction of a translation, such as "Here is the translation:"
    or "German:".

    Args:
        source: what was to be translated. If it has such an introduction itself, the text keeps
            one, too.

    Examples:
        >>> without_preface("Sure! Here's the German translation:\\n\\nDie Ärztin kam.")
        'Die Ärztin kam.'
    """
    rest = _behind_preface(text)
    if rest is None:
        return text
    if _names_translation(source) and _behind_preface(rest) is None:
        return text
    return rest


def _behind_preface(text: str) -> str | None:
    """Return what follows an introduction, None if there is none."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] in ("{", "[", "<"):
        return None  # JSON and markup have colons of their own
    for end in _HEAD_END.finditer(text, start, start + _LONGEST_HEAD):
        head = text[start : end.start()]
        if _is_preface(head, needs_label=end[0] == "\n"):
            rest = text[end.end() :]
            # The marks that close the emphasis of the introduction.
            is_marked = any(mark in head for mark in "*_#")
            return rest.lstrip("*_ \t\r\n" if is_marked else None)
        if end[0] != "\n":
            return None
    return None


def _is_preface(head: str, *, needs_label: bool) -> bool:
    head = head.strip(_MARKS)
    sentence = _SENTENCE_END.split(head)[-1].strip(_MARKS)
    if AGREEMENT.match(head):
        head = sentence
    is_named = TRANSLATION.search(sentence) is not None
    words = re.findall(r"\w+", head.casefold())
    if not words or not (is_named or not LANGUAGE_NAMES.isdisjoint(words)):
        return False
    if len(words) <= _MOST_LABEL_WORDS:
        others = [word for word in words if word not in LANGUAGE_NAMES | LABEL_WORDS]
        if all(TRANSLATION.fullmatch(word) for word in others) or _CJK_LABEL.fullmatch(head):
            return True
    is_introduced = INTRODUCTION.search(sentence) is not None
    if needs_label:
        return is_introduced and is_named
    return is_introduced or (is_named and words[-1] in VERBS_OF_LABELS)


def _names_translation(source: str) -> bool:
    """Return whether a source has words before a colon that may introduce a translation."""
    head, colon, _ = source[:_LONGEST_HEAD].replace("：", ":").partition(":")
    words = re.findall(r"\w+", head.casefold())
    is_named = TRANSLATION.search(head) is not None or not LANGUAGE_NAMES.isdisjoint(words)
    return bool(colon) and is_named


def without_note(text: str, source: str = "") -> str:
    """Return a text without the note behind it, such as "(Note: ...)" or a paragraph that begins
    with "Explanation:" or "Let me know".

    Args:
        source: what was to be translated. If it has a note itself, or as many lines, the text keeps
            its own. Notes in the line of the translation are removed only if there is a source to
            compare with.

    Examples:
        >>> without_note("Die Ärztin kam. (Note: feminine, because of her.)")
        'Die Ärztin kam.'
    """
    if not _MAY_HAVE_NOTE.search(text) or (
        _MAY_HAVE_NOTE.search(source) and _ANY_NOTE.search(source)
    ):
        return text
    starts = []
    if text.rstrip().rstrip("*_").endswith((")", "]", "）")):
        starts.append(_NOTE_IN_BRACKETS.search(text))
    if not source or _n_lines(text) > _n_lines(source):
        starts.append(_NOTE_PARAGRAPH.search(text))
    if source:
        starts.append(_NOTE_IN_LINE.search(text))
    cuts = [match.start() for match in starts if match is not None]
    rest = text[: min(cuts)].rstrip() if cuts else text
    lines = rest.splitlines()
    if cuts and len(lines) > 1 and not lines[-1].strip("-*_ \t"):  # a rule above the note
        rest = "\n".join(lines[:-1]).rstrip()
    return text if is_blank(rest) else rest


def _n_lines(text: str) -> int:
    return sum(not is_blank(line) for line in text.splitlines())


def is_refusal(text: str, source: str = "") -> bool:
    """Return whether a text says that a model does not translate: "I can't help with that".

    A refusal is an apology or inability in the first person beside a word for helping, translating
    or a text, or speaks of a language model, or asks for the text.

    Args:
        source: what was to be translated. If it apologises itself, so may its translation; only
            what speaks of a language model is a refusal then.

    Examples:
        >>> is_refusal("I'm sorry, but I can't translate this.", "The doctor came.")
        True
        >>> is_refusal("I'm sorry, I can't help.", "Es tut mir leid, ich kann nicht helfen.")
        False
    """
    start = text[: 2 * _REFUSAL_START].replace("\n", " ")
    if not _may_refuse(start):
        return False
    beginning = start[:_REFUSAL_START]
    words = _words(start)
    if AI.are_in(start, words) and not AI.are_in(source, _words(source)):
        return True
    if NO_TEXT.are_in(beginning, words) and not REFUSED_TASK.search(source):
        return True
    if not APOLOGY.are_in(beginning[:_APOLOGY_START], words) or REFUSED_TASK.search(start) is None:
        return False
    if SPEECH.search(source) and SPEECH.search(text[: 4 * _REFUSAL_START]):
        return False
    return SOURCE_APOLOGY.search(source) is None


def _may_refuse(text: str) -> bool:
    plain = text.lower()
    if not text.isascii():
        if _CJK.search(text):
            return True
        for mark in _OTHER_MARKS:
            plain = plain.replace(mark, " ")
    return not _REFUSING.isdisjoint(plain.encode().translate(_NO_MARKS).split())


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def is_placeholder(text: str, source: str = "") -> bool:
    """Return whether a text stands where a translation is missing: "N/A", "-", "TODO", empty JSON.

    A blank text is none.

    Args:
        source: what was to be translated. A text that is the source, or the translation of a source
            without letters, is no placeholder; a word such as "none" is none for a short source.

    Examples:
        >>> is_placeholder("N/A", "The doctor came."), is_placeholder("None.", "Keiner.")
        (True, False)
        >>> is_placeholder("...", "..."), is_placeholder("...", "The doctor came.")
        (False, True)
    """
    if text.count(" ") >= _MOST_PLACEHOLDER_WORDS and text[0].isalpha():
        return text[:11].casefold() == "lorem ipsum"
    plain = text.strip().casefold()
    if is_blank(text) or plain == source.strip().casefold():
        return False
    if source and not any(character.isalpha() for character in source):
        return False
    if json_translation(text) == "":
        return True
    if not any(character.isalnum() for character in plain):
        return all(_is_punctuation(character) for character in plain)
    if len(plain) > _LONGEST_PLACEHOLDER:
        return plain.startswith("lorem ipsum")
    core = " ".join(re.findall(r"[\w/']+", plain))
    source_words = re.findall(r"\w+", source)
    if _SPREADSHEET.fullmatch(plain.strip("[](){}<>\"'`*_ ")):
        return True
    if core in _CODES or re.fullmatch("x{3,}", core):
        return not (len(source_words) == 1 and len(source_words[0]) <= _SHORT_WORD)
    if core == "todo" and "TODO" in text:
        return True
    if core in _WORDS:
        is_in_source = core in source.casefold()
        return not is_in_source and not 0 < len(source_words) <= _SHORT_SOURCE
    return core.startswith("lorem ipsum")


def _is_punctuation(character: str) -> bool:
    is_sign = unicodedata.category(character)[0] == "P" or character in "<>=|~^`+$"
    return is_sign or is_blank(character)
