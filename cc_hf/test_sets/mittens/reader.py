"""MiTTenS (Robinson et al. 2024): passages that say the gender of a person, out of English and into
it. The English side is contrasted with the same text in the other gender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cc_hf.citations import Citation
from cc_hf.cues.english_pronouns import PRONOUNS, with_pronouns
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.errors import DataError
from cc_hf.records import WORD
from cc_hf.rules import OneOf
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Focus,
)
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["DECLARATION", "in_gender", "read_mittens"]

_FILE = SourceFile(
    "google-research-datasets/mittens",
    "8266164a789715ae290083221fd8eb1a4db3040a",
    "mittens_dataset_v5.csv",
)
#: Languages beside English, those of the card on the Hub and Lingala, which the file has as well.
_LANGUAGES = (
    *("am", "ar", "as", "bn", "cs", "de", "es", "fa", "fi", "fr", "hi", "id"),
    *("it", "ja", "lg", "ln", "om", "pl", "pt", "ru", "te", "th", "tr", "zh"),
)
_OUT_OF, _INTO = "2xx", "2en"
_GENDERS = {"feminine": "female", "masculine": "male"}
_OTHER = {"female": "male", "male": "female"}
_FORM = {
    "example": WORD,
    "targets": WORD,
    "lang": str,
    "encoded_gender": OneOf(*_GENDERS),
    "eval_set_key": WORD,
    "split": str,
    "format": OneOf(_OUT_OF, _INTO),
}
_PAIRS = (
    "woman/man women/men girl/boy girls/boys lady/gentleman ladies/gentlemen queen/king"
    " queens/kings mother/father mothers/fathers daughter/son daughters/sons sister/brother"
    " sisters/brothers wife/husband wives/husbands grandmother/grandfather"
    " grandmothers/grandfathers aunt/uncle aunts/uncles niece/nephew nieces/nephews"
    " girlfriend/boyfriend girlfriends/boyfriends actress/actor actresses/actors princess/prince"
    " princesses/princes"
)
#: Nouns for women -> those for men.
_NOUNS = dict(pair.split("/") for pair in _PAIRS.split())
_TO = {"male": _NOUNS, "female": {man: woman for woman, man in _NOUNS.items()}}
_NOUN = re.compile(
    rf"\b(?:{'|'.join(word for pair in _NOUNS.items() for word in pair)})\b", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
_PAPER = Citation(
    r"""@misc{robinson-etal-2024-mittens,
    title = "{MiTTenS}: A Dataset for Evaluating Gender Mistranslation",
    author = "Robinson, Kevin and Kudugunta, Sneha and Stella, Romina and Dev, Sunipa and Bastings, Jasmijn",
    year = "2024",
    eprint = "2401.06935",
    archivePrefix = "arXiv",
    url = "https://arxiv.org/abs/2401.06935",
}""",  # noqa: E501
    "https://arxiv.org/abs/2401.06935",
)


def in_gender(text: str, gender: str) -> str:
    """Return an English text with its pronouns and its nouns for people in one gender.

    Examples:
        >>> in_gender("My wife has her own shop.", "male")
        'My husband has his own shop.'
    """

    def changed(match: re.Match[str]) -> str:
        new = _TO[gender].get(match[0].lower())
        if new is None:
            return match[0]
        return new.capitalize() if match[0][0].isupper() else new

    return with_pronouns(_NOUN.sub(changed, text), gender)


def _first(text: str, gender: str) -> Focus | None:
    """Return the first word of a gender; None where there is none, or one of the other gender."""
    words = [(_gender(match[0]), match) for match in _WORD.finditer(text)]
    if any(shown == _OTHER[gender] for shown, _ in words):
        return None
    return next((Focus(word[0], word.start()) for shown, word in words if shown == gender), None)


def _gender(word: str) -> str:
    for gender, pronouns in PRONOUNS.items():
        if word.lower() in pronouns or word.lower() in _TO[_OTHER[gender]]:
            return gender
    return ""


def read_mittens(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield the passages of a language pair whose English side names one gender, in file order.

    The id is the 0-based row of the file.
    """
    source, _, target = config.partition("-")
    wanted = (target, _OUT_OF) if source == "en" else (source, _INTO)
    path, known, n = paths[_FILE.path], set(), 0
    for number, (_, row) in enumerate(read_rows(path, TABLES, _FORM)):
        known.add((row["lang"], row["format"]))
        if (row["lang"], row["format"]) != wanted:
            continue
        if row["format"] == _INTO and row["split"] != split:
            continue
        n += 1
        example = _out_of if source == "en" else _into
        yield from example(str(number), row)
    if not n:
        pairs = sorted(f"en-{lang}" if kind == _OUT_OF else f"{lang}-en" for lang, kind in known)
        raise DataError(
            f"{path}: expected rows of {config} in {split}, got none; the file has"
            f" {', '.join(pairs)}"
        )


def _out_of(name: str, row: Mapping[str, Any]) -> Iterator[ContrastiveSourceExample]:
    source, gender = row["example"].strip(), _GENDERS[row["encoded_gender"]]
    if focus := _first(source, gender):
        yield ContrastiveSourceExample(
            name,
            "en",
            row["lang"],
            source,
            focus,
            (source,),
            (in_gender(source, _OTHER[gender]),),
            gender,
            gender,
            {"eval_set": row["eval_set_key"], "reference": row["targets"].strip()},
        )


def _into(name: str, row: Mapping[str, Any]) -> Iterator[ContrastiveTranslationExample]:
    target, gender = row["targets"].strip(), _GENDERS[row["encoded_gender"]]
    if _first(target, gender):
        yield ContrastiveTranslationExample(
            name,
            row["lang"],
            "en",
            row["example"].strip(),
            target,
            (in_gender(target, _OTHER[gender]),),
            gender,
            {"eval_set": row["eval_set_key"], "gender": gender},
        )


def _twins(example: Example) -> tuple[str, str] | None:
    """Return the passage in the masculine, which both of a pair share, and whom it means."""
    if example.src_lang != "en":
        return None
    who = {"female": "woman", "male": "man"}[example.category]
    return in_gender(example.source, "male"), who


def _config(lang: str, *, is_into: bool) -> ConfigDeclaration:
    if is_into:
        return ConfigDeclaration(
            f"{lang}-en",
            "passages translated into English, with the reference in both genders",
            ("en",),
            {"test": None, "validation": None},
            form=ContrastiveTranslationExample,
            src_lang=lang,
            extra_keys=("eval_set", "gender"),
        )
    return ConfigDeclaration(
        f"en-{lang}", "English passages in both genders", (lang,), {"test": None}
    )


DECLARATION = DatasetDeclaration(
    name="mittens",
    title="MiTTenS",
    phenomenon="gender",
    twins=_twins,
    description=(
        "MiTTenS: passages out of English and into it that say the gender of a person; does the"
        " translation have it?"
    ),
    licence="cc-by-4.0",
    homepage="https://github.com/google-research-datasets/mittens",
    citation_keys=(_PAPER,),
    revision=_FILE.commit,
    cues="counterfactual",
    files=(_FILE,),
    configs=tuple(
        _config(lang, is_into=is_into) for is_into in (False, True) for lang in _LANGUAGES
    ),
    default_config="en-es",
    extra_keys=("eval_set", "reference"),
    read=read_mittens,
)
