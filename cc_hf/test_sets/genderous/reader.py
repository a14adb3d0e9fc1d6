"""GENDEROUS (Hackenbuchner, Gkovedarou & Daems 2025): "The retiring secretary finished the work.",
30 occupations whose gender nothing says, alone, with "their" and with 15 adjectives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.citations import Citation
from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.data.declaration import (
    OPEN_GENDER,
    ConfigDeclaration,
    DatasetDeclaration,
    SourceFile,
)
from cc_hf.errors import FileError
from cc_hf.reading import Place
from cc_hf.schema import ContrastiveSourceExample, Example, Focus
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["DECLARATION", "read_genderous"]

_REPOSITORY = "jhacken/GENDEROUS"
_COMMIT = "f946fd7bf9787e5e9f29b8cad2ecf9218322846a"
_SHORT = ("base", "type", "source_sentences")
#: Part of the set -> its file, hash and size, and its columns.
_PARTS: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "base": (
        "raw_data/30_base_sentences_occupations.tsv",
        "0827771d2c350c2d3bb7a74e7164fe42bcbb0fedfb8f1760ffd7e4519b795bd6",
        1704,
        _SHORT,
    ),
    "their": (
        "raw_data/30_their_sentences_occupations.tsv",
        "77442b8bb50bdb6d911b8c215cb1d3a73e7e9abf6c9be1ae17f0ecc00aa1ecce",
        1764,
        _SHORT,
    ),
    "adjective": (
        "raw_data/450_sentences_including_adjectives.tsv",
        "c0cd63bf9708ff1ea032200baaba15af29a8ecdae971f07b6ef016989ec3d897",
        30078,
        ("source_sentences", "base", "adjective"),
    ),
}
#: Occupations are one word, but for the construction worker; others before them are adjectives.
_SENTENCE = re.compile(
    r"The (?:(?P<adjective>\w+) )??(?P<person>(?:construction )?\w+) finished (?:the|their) work\."
)
#: Class of an occupation or an adjective upstream -> the stereotype.
_STEREOTYPES = {"female": "feminine", "male": "masculine", "neutral": "neutral"}
_PAPER = Citation(
    "@inproceedings{hackenbuchner-etal-2025-genderous,\n"
    '    title = "{GENDEROUS}: Machine Translation and Cross-Linguistic Evaluation of a'
    r""" Gender-Ambiguous Dataset",
    author = "Hackenbuchner, Jani{\c{c}}a and Gkovedarou, Eleni and Daems, Joke",
    booktitle = "Proceedings of the 6th Workshop on Gender Bias in Natural Language Processing",
    year = "2025",
    address = "Vienna, Austria",
    publisher = "Association for Computational Linguistics",
    pages = "302--319",
    url = "https://aclanthology.org/2025.gebnlp-1.27",
}""",
    "https://aclanthology.org/2025.gebnlp-1.27",
)
_EXTRA = ("part", "adjective", "adjective_class", "open_share")


def read_genderous(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield the sentences in file order; the id is the part and the 0-based row in its file
    (`adjective.17`), the category the stereotype of the occupation.
    """
    for part, (name, _, _, columns) in _PARTS.items():
        for number, (where, row) in enumerate(
            read_rows(paths[name], TABLES, dict.fromkeys(columns))
        ):
            yield _example(f"{part}.{number}", part, row, where)


def _example(name: str, part: str, row: Mapping[str, str], where: Place) -> Example:
    source = row["source_sentences"]
    kind, adjective_kind = row.get("type", row["base"]), row.get("adjective", "")
    match = _SENTENCE.fullmatch(source)
    stereotype = _STEREOTYPES.get(re.split("[ _]", kind)[0])
    if match is None or stereotype is None or bool(match["adjective"]) != bool(adjective_kind):
        raise FileError(where, f"expected a sentence of GENDEROUS and its class, got {dict(row)}")
    focus = Focus(match["person"], match.start("person"))
    feminine, masculine = gender_bracket_sources(source, focus, "female")
    extra = {
        "part": part,
        "adjective": match["adjective"] or "",
        "adjective_class": _STEREOTYPES.get(adjective_kind.partition(" ")[0], ""),
        "open_share": "feminine_share",
    }
    return ContrastiveSourceExample(
        name, "en", "", source, focus, feminine, masculine, stereotype, "female", extra
    )


DECLARATION = DatasetDeclaration(
    name="genderous",
    title="GENDEROUS",
    phenomenon="gender",
    description=(
        "GENDEROUS: English into German, Greek, Spanish and Dutch; which gender does a translation"
        " give to occupations, alone and with adjectives?"
    ),
    licence="unknown",
    homepage="https://github.com/jhacken/GENDEROUS",
    citation_keys=(_PAPER,),
    revision=_COMMIT,
    cues="gender_brackets",
    files=tuple(SourceFile(_REPOSITORY, _COMMIT, *part[:3]) for part in _PARTS.values()),
    configs=(
        ConfigDeclaration(
            "default",
            "all sentences",
            ("de", "el", "es", "nl"),
            {"test": 510},
            remark=OPEN_GENDER,
        ),
    ),
    default_config="default",
    extra_keys=_EXTRA,
    read=read_genderous,
)
