"""Natural pairs: Tatoeba's English and German, and copies in which a cue stands before an
occupation whose German gender is certain.
"""

from __future__ import annotations

import random
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from cc_hf.files import file_sha256
from tools.evaluator_recipe.grammar import CASES, Case, Gender, Noun, read_occupations
from tools.evaluator_recipe.sentences import CUE_WORD, Pair, SentenceMaker, capital

_WORDS = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
# The word before a masculine noun, and what it becomes before a feminine one in the same case.
_TO_FEMININE = {
    "der": "die",
    "den": "die",
    "dem": "der",
    "des": "der",
    "vom": "von der",
    "zum": "zur",
    "beim": "bei der",
    "im": "in der",
    "am": "an der",
    "ein": "eine",
    "einen": "eine",
    "einem": "einer",
    "eines": "einer",
    "dieser": "diese",
    "diesen": "diese",
    "diesem": "dieser",
    **{
        stem + ending: stem + feminine
        for stem in ("mein", "dein", "sein", "ihr", "unser", "kein", "Ihr", "euer")
        for ending, feminine in (("", "e"), ("en", "e"), ("em", "er"), ("es", "er"))
    },
    "guter": "gute",
    "ist": "ist",
    "bin": "bin",
    "bist": "bist",
    "war": "war",
    "als": "als",
    "wurde": "wurde",
    "wird": "wird",
}


#: sha256 of the archive of 2018-05-13, on which the embedded evaluator was trained.
TATOEBA = "b7688f84f99fa33c17397c14d8bd9cef1fdeb2ee0bf50074767023aee8926e28"


def read_tatoeba(path: Path, *, sha256: str | None = None) -> list[Pair]:
    """Return the pairs of a manythings.org archive (deu-eng.zip), NFC, in file order.

    Raises:
        ValueError: for a line without a tab, or a file of another `sha256` than expected.
    """
    if sha256 is not None and (digest := file_sha256(path)) != sha256:
        raise ValueError(f"{path}: expected sha256 {sha256}, got {digest}")
    with zipfile.ZipFile(path) as archive:
        # The pairs of French lie in a folder.
        (name,) = (n for n in archive.namelist() if re.fullmatch(r"(?:[a-z-]+/)?[a-z]{3}\.txt", n))
        text = archive.read(name).decode("utf-8")
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = unicodedata.normalize("NFC", line).split("\t")
        if len(fields) < 2:
            raise ValueError(
                f"{path}: line {number}: expected two sentences separated by a tab, got {line!r}"
            )
        pairs.append(Pair(fields[0].strip(), fields[1].strip()))
    return pairs


@cache
def _german_forms() -> dict[str, dict[str, set[Gender]]]:
    """Return English singular -> German singular form -> genders."""
    table: dict[str, dict[str, set[Gender]]] = {}
    for occupation in read_occupations():
        forms = table.setdefault(occupation.english.lower(), {})
        for gender, nouns in (("m", occupation.masculine), ("f", occupation.feminine)):
            for noun in nouns:
                for form in _singular_forms(noun):
                    forms.setdefault(form, set()).add("m" if gender == "m" else "f")
    return table


def _singular_forms(noun: Noun) -> set[str]:
    if noun.declension == "adjective":
        # The form of an adjectival noun does not show the gender.
        return set()
    return {noun.form(case, plural=False, adjective_ending="") for case in CASES}


@cache
def _feminine_of() -> dict[str, str]:
    """Return masculine singular form -> feminine noun (Lehrer -> Lehrerin), for nouns whose first
    four letters agree but for an umlaut.
    """
    table: dict[str, str] = {}
    for occupation in read_occupations():
        for masculine in occupation.masculine:
            for feminine in occupation.feminine:
                if feminine.base.endswith("in") and feminine.base[:4].translate(
                    _UMLAUTS
                ) == masculine.base[:4].translate(_UMLAUTS):
                    for form in _singular_forms(masculine):
                        table.setdefault(form, feminine.base)
    return table


_UMLAUTS = str.maketrans("ÄÖÜäöü", "AOUaou")


@cache
def _english_pattern() -> re.Pattern[str]:
    nouns = sorted((occupation.english for occupation in read_occupations()), key=len, reverse=True)
    return re.compile(r"\b(" + "|".join(map(re.escape, nouns)) + r")\b", re.IGNORECASE)


def cued_copies(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield copies of the pairs that hold one occupation, with the cue that the German noun proves,
    and their feminine twins where these are safe. Their contrast has the other cue.

    Examples:
        >>> for p in cued_copies([Pair("The teacher smiled.", "Der Lehrer lächelte.")]):
        ...     print(p.english, "|", p.target)
        The [male] teacher smiled. | Der Lehrer lächelte.
        The [female] teacher smiled. | Die Lehrerin lächelte.
    """
    for pair in pairs:
        occupations = list(_english_pattern().finditer(pair.english))
        if len(occupations) != 1:
            continue
        forms = _german_forms()[occupations[0].group().lower()]
        hits = [m for m in _WORDS.finditer(pair.target) if m.group() in forms]
        if len(hits) != 1 or len(forms[hits[0].group()]) != 1:
            continue
        gender = next(iter(forms[hits[0].group()]))
        start = occupations[0].start()
        sources = {
            g: f"{pair.english[:start]}[{CUE_WORD[g]}] {pair.english[start:]}" for g in CUE_WORD
        }
        yield Pair(sources[gender], pair.target, sources["f" if gender == "m" else "m"])
        if gender == "m" and (twin := _feminine_twin(pair.target, hits[0])):
            yield Pair(sources["f"], twin, sources["m"])


def _feminine_twin(german: str, noun: re.Match[str]) -> str | None:
    before = german[: noun.start()].rstrip(" ")
    word = re.search(r"[\w]+$", before)
    feminine = _feminine_of().get(noun.group())
    if word is None or feminine is None:
        return None
    key = word.group()
    replacement = _TO_FEMININE.get(key) or _TO_FEMININE.get(key[0].lower() + key[1:])
    if replacement is None:
        return None
    if key[0].isupper():
        replacement = replacement[0].upper() + replacement[1:]
    return before[: word.start()] + replacement + " " + feminine + german[noun.end() :]


_NAMES = re.compile(r"\b(Tom|Mary)\b(?!'|’)")
_GERMAN_NAMES = {"Tom": "Tom", "Mary": "Maria"}
_CASE_BEFORE: dict[str, Case] = {
    **dict.fromkeys(("mit", "von", "bei", "zu", "nach"), "dat"),
    **dict.fromkeys(("für", "ohne", "gegen", "um"), "acc"),
    **dict.fromkeys(("dass", "ob", "wenn", "weil", "als"), "nom"),
}


def with_person(pair: Pair, maker: SentenceMaker, *, cued: bool) -> Pair | None:
    """Return the pair with "Tom" or "Mary" replaced by an occupation, or None if the German case is
    not certain.

    The pronouns of the pair stay: the noun's gender comes from the cue alone.
    """
    names = _NAMES.findall(pair.english)
    if len(names) != 1 or pair.english.count(names[0]) != 1:
        return None
    german_name = _GERMAN_NAMES[names[0]]
    matches = list(re.finditer(rf"\b{german_name}\b", pair.target))
    if len(matches) != 1:
        return None
    start, end = matches[0].span()
    if start == 0 and pair.english.startswith(names[0] + " ") and pair.target[end : end + 1] == " ":
        case: Case = "nom"
    else:
        before = re.search(r"(\w+) $", pair.target[:start])
        if before is None or before.group(1).lower() not in _CASE_BEFORE:
            return None
        case = _CASE_BEFORE[before.group(1).lower()]
    person = maker.person(cued=cued, pronoun=None)
    german = person.german(case)
    sources = []
    for words in (person.english, person.contrast):
        position = pair.english.index(names[0])
        sources.append(
            pair.english[:position]
            + (capital(words) if position == 0 else words)
            + pair.english[position + len(names[0]) :]
        )
    return Pair(
        sources[0],
        pair.target[:start] + (capital(german) if start == 0 else german) + pair.target[end:],
        sources[1],
    )


def split_development(pairs: list[Pair], *, n: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return training and development pairs, with all translations of a sentence on one side."""
    english = sorted({p.english for p in pairs})
    held_out = set(random.Random(seed).sample(english, n))
    return [p for p in pairs if p.english not in held_out], [
        p for p in pairs if p.english in held_out
    ]
