"""gender-res (Dawkins, Nejadgholi & Lo 2024), a test suite of WMT 2024: lines of dialogue, in which
pronouns and nouns outside the quotation show the gender of speaker or listener.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.errors import DataError, FileError
from cc_hf.reading import Place
from cc_hf.schema import ContrastiveSourceExample, Example, Focus, ProbingExample

__all__ = ["DECLARATION", "read_gender_res"]

_REPOSITORY = "wmt-conference/wmt24-news-systems"
_COMMIT = "bfa937ee53586aa173d68657b89b8642693f7b66"
_SUITE = "gender-res_"
_N_ROWS, _N_LINES = 6686, 21318
_HASHES = {
    "txt-ts/sources/en-es.txt": (
        "8cd29efc38669fdb24b25cd6c6c449b8fa53fa51c7ebd94715a9273998afe7f9",
        2993798,
    ),
    "txt-ts/documents/en-es.docs": (
        "6a23bd9e6a3c60ea35bab505ace23965632c0befc26486833d4e950486c47219",
        1115026,
    ),
}
_SLOT = re.compile(r"\b(?P<word>I|you)(?:'m|'re| am| are) (?:not )?(?P<adjective>[\w-]+)")
#: A quotation and what stands outside it: who speaks, and with which adverb or to whom.
_FRAMES = (
    ("speech", re.compile(r'".+," I said(?: (?P<adverb>\w+))? ?\.')),
    (
        "to",
        re.compile(
            r'The (?P<c1>[\w-]+) (?P<o1>[\w ]+) smiled\. ".+," (?P<p1>he|she|they) said to the'
            r" (?P<c2>[\w-]+) (?P<o2>[\w ]+)\."
        ),
    ),
    (
        "pair",
        re.compile(
            r'The (?P<c1>[\w-]+) (?P<o1>[\w ]+) smiled\. ".+," they said\. The (?P<c2>[\w-]+)'
            r' (?P<o2>[\w ]+) laughed back\. ".+," they replied\.'
        ),
    ),
    (
        "dialogue",
        re.compile(
            r'(?P<p1>I|The man|The woman) smiled\. ".+," (?:I|he|she) said\. (?P<p2>I|He|She)'
            r' laughed back\. ".+," (?:I|he|she) replied\.'
        ),
    ),
)
#: Whether the template is `to`, and the person -> the words that show the gender.
_PERSONS = {
    (True, "first"): re.compile(r"\b(?:he|she|they)(?= said to )"),
    (False, "first"): re.compile(r"^(?:I|The man|The woman)(?= smiled)|\b(?:I|he|she)(?= said\.)"),
    (False, "second"): re.compile(r"\b(?:I|He|She)(?= laughed)|\b(?:I|he|she)(?= replied)"),
}
_GENDERS = {"man": "male", "he": "male", "woman": "female", "she": "female"}
_MASCULINE_ADVERBS = frozenset(
    ("arrogantly", "jovially", "handsomely", "suavely", "shiftily", "debonairly", "affably")
)
_MASCULINE_CHARACTERS = frozenset(
    {
        *("eminent", "grizzled", "suave", "jovial", "debonair", "shifty", "rascally"),
        *("handsome", "affable", "arrogant", "wiry"),
    }
)
_EXTRA = (
    *("row", "line", "template", "persons", "role", "person", "gender", "other", "cluster"),
    *("adverb", "adverb_class", "character", "character_class", "occupation"),
)


class _Row(NamedTuple):
    """What one line says of its two persons; each tuple has the first and the second."""

    template: str
    genders: tuple[str, str]
    characters: tuple[str, str] = ("", "")
    occupations: tuple[str, str] = ("", "")
    adverb: str = ""


def read_gender_res(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield an example for each slot, an adjective that agrees with a person, in file order.

    The id has the 1-based row of the suite and the slot in it (`0007.2`).
    """
    pair, _, is_probing = config.partition(".")
    sources, documents = (paths[file.path] for file in _files(pair))
    row = 0
    for line, (source, document) in enumerate(aligned_lines(sources, documents)):
        # The lines of the suite are found by their documents.
        if _SUITE in document.rpartition("\t")[2]:
            row += 1
            where = Place(sources, line + 1)
            yield from _slots(source, row, line, pair.partition("-")[2], bool(is_probing), where)
    if not row:
        raise DataError(f"{documents}: expected documents named *{_SUITE}*, got none")


def _slots(
    source: str, row: int, line: int, lang: str, is_probing: bool, where: Place
) -> Iterator[Example]:
    parsed = _parsed(source, where)
    slots = list(_SLOT.finditer(source))
    persons = " ".join("first" if slot["word"] == "I" else "second" for slot in slots)
    adjectives = sorted({slot["adjective"] for slot in slots})
    cluster = parsed.occupations if parsed.template == "to" else adjectives
    for number, slot in enumerate(slots, 1):
        is_answer = source.find("laughed back") not in (-1, *range(slot.start(), len(source)))
        is_speaker = slot["word"] == "I"
        person = int(is_speaker == is_answer)  # the first of both persons is 0
        gender, other = parsed.genders[person], parsed.genders[1 - person]
        category = gender if gender in ("male", "female") else "open"
        if category == "open" and not is_probing:
            continue
        character = parsed.characters[person]
        values = (
            *(str(row - 1), str(line), parsed.template, persons),
            *("speaker" if is_speaker else "listener", ("first", "second")[person]),
            *(gender, other, f"{parsed.template}: {' '.join(cluster)}"),
            *(parsed.adverb, _class_of(parsed.adverb, _MASCULINE_ADVERBS)),
            *(character, _class_of(character, _MASCULINE_CHARACTERS)),
            parsed.occupations[person],
        )
        extra = dict(zip(_EXTRA, values, strict=True))
        name, focus = f"{row:04}.{number}", Focus(slot["adjective"], slot.start("adjective"))
        if is_probing:
            gold = "none" if category == "open" else category
            yield ProbingExample(name, "en", lang, source, category, gold, focus, extra)
            continue
        women, men = (_with_noun(source, slot, noun) for noun in ("woman", "man"))
        right, wrong = (women, men) if category == "female" else (men, women)
        yield ContrastiveSourceExample(
            name, "en", lang, source, focus, (right,), (wrong,), category, category, extra
        )


def _parsed(source: str, where: Place) -> _Row:
    for name, pattern in _FRAMES:
        match = pattern.fullmatch(source)
        if match is None:
            continue
        parts = match.groupdict()
        genders = (_gender(parts.get("p1")), _gender(parts.get("p2")))
        if name == "speech":
            return _Row(name, ("I", ""), adverb=parts["adverb"] or "")
        if name == "dialogue":
            n_slots = len(_SLOT.findall(source))
            return _Row({4: "two", 2: "one"}.get(n_slots, "not"), genders)
        characters, occupations = (parts["c1"], parts["c2"]), (parts["o1"], parts["o2"])
        return _Row(name, genders if name == "to" else ("they", "they"), characters, occupations)
    raise FileError(where, f"expected a line of gender-res, got {source!r}")


def _twins(example: Example) -> tuple[str, str] | None:
    """Return the line without the words that show the gender of the slot's person, and the slot;
    and whom they mean.
    """
    template, person = example.extra["template"], example.extra["person"]
    if template in ("speech", "pair") or (template == "to" and person == "second"):
        # Lines in which no person has such words have no twins.
        return None
    line = _PERSONS[template == "to", person].sub("_", example.source)
    who = {"female": "woman", "male": "man"}.get(example.extra["gender"], "nobody")
    return f"{line} {example.id.partition('.')[2]}", who


def _gender(person: str | None) -> str:
    """Return the gender that a pronoun or noun shows, or the pronoun itself; "" for no person."""
    word = (person or "").removeprefix("The ")
    return _GENDERS.get(word.lower(), word)


def _class_of(word: str, masculine: frozenset[str]) -> str:
    if not word:
        return ""
    return "masculine" if word in masculine else "feminine"


def _with_noun(source: str, slot: re.Match[str], noun: str) -> str:
    """Return the source with "a fantastic woman" for "fantastic" in one slot."""
    article = "an" if slot["adjective"][0] in "aeiou" else "a"
    start, end = slot.span("adjective")
    return f"{source[:start]}{article} {slot['adjective']} {noun}{source[end:]}"


def _files(pair: str) -> tuple[SourceFile, ...]:
    names = (f"txt-ts/sources/{pair}.txt", f"txt-ts/documents/{pair}.docs")
    return tuple(SourceFile(_REPOSITORY, _COMMIT, name, *_HASHES[name]) for name in names)


def _config(name: str, description: str, n: int, form: type[Example]) -> ConfigDeclaration:
    return ConfigDeclaration(
        name,
        description,
        ("es",),
        {"test": n},
        _files(name.partition(".")[0]),
        form,
        line_keys={_N_ROWS: "row", _N_LINES: "line"},
    )


DECLARATION = DatasetDeclaration(
    name="gender_res",
    title="gender-res",
    phenomenon="gender",
    twins=_twins,
    description=(
        "gender-res (WMT 2024): English-Spanish; do adjectives in dialogue agree with the gender"
        " that pronouns outside the quotation show?"
    ),
    licence="unknown",
    homepage="https://github.com/wmt-conference/wmt24-news-systems",
    citation_keys=("dawkins-2024",),
    revision=_COMMIT,
    cues="own",
    files=(),
    configs=(
        _config("en-es", "slots with a gender", 9712, ContrastiveSourceExample),
        _config("en-es.all", "all slots, those of open gender too", 17966, ProbingExample),
    ),
    default_config="en-es",
    extra_keys=_EXTRA,
    read=read_gender_res,
)
