"""What the name of a submitted file says: its language pair and its system. No file is opened here.

Campaigns name files in many ways: `newstest2017.xmu.4910.en-de`, `SET.en-de.hyp.SYSTEM.de`,
`en-de.SYSTEM.txt`, `SYSTEM.en-de.txt`, `en-de/SYSTEM.txt`, `SYSTEM/en-de.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import PurePath
from typing import NamedTuple

from cc_hf.errors import InputError
from cc_hf.languages import base_code, pair_in

__all__ = ["FileName", "pair_name", "read_name"]

_ENDINGS = {
    *("csv", "hyp", "json", "jsonl", "out", "parquet", "sgm", "sgml", "tsv", "txt", "xlsx", "xml")
}
_LANGUAGE = r"(?:[a-z]{2,3}|[A-Z]{2})(?:_[A-Z][A-Za-z]{1,3})?"
#: What has the form of a pair, also where one overlaps another, as in opus-mt-en-de.
_PAIR = re.compile(rf"(?<![A-Za-z0-9])(?=({_LANGUAGE}-{_LANGUAGE})(?![A-Za-z0-9]))")
#: The name of a test set, such as newstest2017, wmttest2022, generaltest2024, wmt25.
_TEST_SET = re.compile(r"[a-z]*(test|dev)[a-z]*[-_]?\d{2,4}\w*|wmt[-_]?\d{2,4}\w*", re.IGNORECASE)
_NUMBER = re.compile(r"\d{3,}")  # that a campaign gives a submission
_HYPOTHESIS = ("hyp", "hypothesis")
_NO_SUBMISSION = re.compile(r"(src|source|sources|ref[A-Z0-9]?|reference|references)")
_EDGES = " ._-"


class FileName(NamedTuple):
    """What a name says.

    Attributes:
        pair: the language pair, such as en-de; "" if the name says none.
        system: what is left of the name of the file; "" if nothing is.
        folder: the nearest folder that is not named after a pair; "" for none.
    """

    pair: str
    system: str
    folder: str


def pair_name(text: str) -> str:
    """Return a language pair as results are named by it, "" for any other text.

    Examples:
        >>> pair_name("eng_Latn-deu_Latn"), pair_name("en-pt_BR"), pair_name("opus-mt")
        ('en-de', 'en-pt', '')
    """
    pair = pair_in(text)
    return "" if pair is None else "-".join(map(base_code, pair))


def read_name(
    path: PurePath, known: Callable[[str], bool], test_sets: Collection[str] = ()
) -> FileName:
    """Read the path of a file in the folder of submissions.

    Args:
        path: relative to that folder.
        known: whether the test set has a pair. Of several in a name, such a one counts.
        test_sets: further names of test sets, which are no part of the name of a system.

    Raises:
        InputError: for a source or a reference, a folder of another pair than that of the file, or
            what only has the form of a pair.

    Examples:
        >>> known = ["en-de"].__contains__
        >>> read_name(PurePath("newstest2017.xmu.4910.en-de"), known)
        FileName(pair='en-de', system='xmu', folder='')
        >>> read_name(PurePath("wmttest2022.en-de.hyp.Online-A.de"), known).system
        'Online-A'
        >>> read_name(PurePath("aws/en-de.txt"), known)
        FileName(pair='en-de', system='', folder='aws')
    """
    *folders, name = path.parts
    stem, _, ending = name.rpartition(".")
    if ending.lower() not in _ENDINGS or not stem:
        stem = name
    pair, text = _pair(stem, known)
    of_folders = [_pair(folder, known) for folder in reversed(folders)]
    of_folder = next((named for named, _ in of_folders if named), "")
    whole = next((pair_name(folder) for folder in reversed(folders) if pair_name(folder)), "")
    if pair and whole and pair != whole and known(pair) and known(whole):
        raise InputError(
            f"expected one language pair, got {pair} in the name and {whole} in that of the folder"
        )
    if not pair or (of_folder and known(of_folder) and not known(pair)):
        pair, text = (of_folder, "") if of_folder else ("", "")
    if not pair and (likely := _likely(stem)):
        raise InputError(f"expected a language pair such as en-de, got {likely!r}{_near(likely)}")
    rest = stem.replace(text, ".", 1) if text else stem
    named = [folder for folder in reversed(folders) if not pair_name(folder)]
    return FileName(pair, _system(rest, pair, test_sets), named[0] if named else "")


def _pair(text: str, known: Callable[[str], bool]) -> tuple[str, str]:
    """Return the last pair in a text that is known, else the last one, and how it is written."""
    pairs = [(pair_name(match[1]), match[1]) for match in _PAIR.finditer(text)]
    pairs = [(pair, written) for pair, written in pairs if pair]
    fitting = [of for of in pairs if known(of[0])]
    return (fitting or [of for of in pairs if _is_whole(of[1], text)] or [("", "")])[-1]


def _is_whole(part: str, text: str) -> bool:
    """Return whether a part stands between dots: "mt-en" in opus-mt-en is no pair."""
    return part in text.split(".")


def _likely(stem: str) -> str:
    """Return what has the form of a pair and is none."""
    parts = [match[1] for match in _PAIR.finditer(stem) if _is_whole(match[1], stem)]
    return parts[-1] if parts else ""


def _near(text: str) -> str:
    source, _, target = text.partition("-")
    unknown = [code for code in (source, target) if pair_in(f"{code}-en") is None and code != "en"]
    return f", in which {unknown[0]!r} is no code of a language" if unknown else ""


def _system(rest: str, pair: str, test_sets: Collection[str]) -> str:
    """Return what a name says besides pair, test set, number and ending."""
    words = [word for part in rest.split(".") if (word := part.strip(_EDGES))]
    words = [word for word in words if word.lower() not in _ENDINGS or word in _HYPOTHESIS]
    marks = [index for index, word in enumerate(words) if word.lower() in _HYPOTHESIS]
    target = pair.rpartition("-")[2]
    if marks:
        words = words[marks[0] + 1 :]
        if len(words) > 1 and base_code(words[-1]) == target:
            words.pop()
        return ".".join(words)
    is_set = bool(words) and bool(_TEST_SET.fullmatch(words[0]) or words[0] in test_sets)
    is_numbered = len(words) == 3 and _NUMBER.fullmatch(words[2])
    if is_set or is_numbered:
        words = words[1:]
    if any(_NO_SUBMISSION.fullmatch(word) for word in words[:1]):
        raise InputError("expected a submission, got a source or a reference by its name")
    if (is_set or is_numbered) and len(words) > 1 and _NUMBER.fullmatch(words[-1]):
        words.pop()
    return ".".join(words)
