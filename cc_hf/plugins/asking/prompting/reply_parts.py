"""Parts of replies that translations of systems do not have: an element around the whole text, and
lists of alternatives.
"""

from __future__ import annotations

import re

__all__ = ["alternatives", "without_element"]

#: Fast pass: most texts have no such passage.
_MAY_BE_LIST = re.compile(r"[1aA][*_]{0,3}[.):：、]|[-*•·–—][ \t]")
_ELEMENT = re.compile(
    r"<(?P<name>translations?|translated_text|answer|final_answer|output|response|result|text"
    r"|target)>",
    re.IGNORECASE,
)
_OPTION = (
    r"(?:options?|alternatives?|versions?|variante?s?|translations?|übersetzung|möglichkeit"
    r"|opci[oó]n|opção|opzione|traduction|traducción|traduzione|tradução|вариант|варіант|перевод"
    r"|opcja|možnost|optie|vertaling)"
)
_NUMBERED = re.compile(
    rf"(?:(?<=\s)|\A)[*_#(]{{0,4}}[ ]?(?P<name>{_OPTION}[ ]{{1,2}}#?)?"
    r"(?P<number>\d{1,2}|[a-h])(?P<stop>[.):：]|[*_]{1,3}[.):：]|、)[*_]{0,3}(?=\s)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]{0,8}[-*•·–—][ \t]+", re.MULTILINE)
_SENTENCE_ENDS = tuple(".!?…。！？;:,\"'”»)]*")
_MARKS = "*_#>\"'“”„ \t\r\n"


def without_element(text: str) -> str:
    """Return the content of a text that is one element such as `<translation>` or `<answer>`."""
    stripped = text.strip()
    if tag := _ELEMENT.match(stripped):
        end = f"</{tag['name']}>"
        content = stripped[tag.end() : -len(end)]
        if stripped.endswith(end) and tag[0] not in content and end not in content:
            return content.strip()
    return text


def alternatives(text: str) -> list[str]:
    """Return the texts of a list with numbers, letters or bullets, without these.

    Examples:
        >>> alternatives("1. Die Ärztin kam.\\n2. Der Arzt kam.")
        ['Die Ärztin kam.', 'Der Arzt kam.']
        >>> alternatives("Option 1: Sie kam. Option 2: Er kam.")
        ['Sie kam.', 'Er kam.']
        >>> alternatives("1. Die Ärztin kam.")
        []
    """
    if not _MAY_BE_LIST.search(text):
        return []
    marks = _numbers_in_order(text)
    if len(marks) < 2:
        marks = [(mark.start(), mark.end()) for mark in _BULLET.finditer(text)]
    if len(marks) < 2:
        return []
    ends = [start for start, _ in marks[1:]] + [len(text)]
    return [text[end:stop].strip(_MARKS) for (_, end), stop in zip(marks, ends, strict=True)]


def _numbers_in_order(text: str) -> list[tuple[int, int]]:
    """Return where the numbers 1, 2, ... of a list begin and end."""
    marks: list[tuple[int, int]] = []
    line_start = 0  # behind the last line feed, or at the beginning
    for mark in _NUMBERED.finditer(text):
        line_start = max(line_start, text.rfind("\n", line_start, mark.start()) + 1)
        before = text[line_start : mark.start()].rstrip()[-1:]
        number = mark["number"].lower()
        value = int(number) if number.isdecimal() else ord(number) - ord("a") + 1
        if value != len(marks) + 1:
            continue
        # "3. and 4. place" in a sentence is no list.
        is_item = not before or before == ":" or (marks and before in _SENTENCE_ENDS)
        if is_item or (marks and (mark["name"] or mark["stop"] == ")")):
            marks.append(mark.span())
    return marks
