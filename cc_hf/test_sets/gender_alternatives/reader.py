"""Gender alternatives (Garg, Gheini, Emmanuel, Likhomanenko, Gao & Paulik 2024): natural English
sentences with a person whose gender nothing says, and their translation in a masculine and a
feminine version, both by people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.citations import Citation
from cc_hf.cues.appositions import person_sources
from cc_hf.data.declaration import (
    OPEN_GENDER,
    ConfigDeclaration,
    DatasetDeclaration,
    SourceFile,
)
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example, Focus
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["DECLARATION", "read_gender_alternatives"]

_REPOSITORY = "apple/ml-gendered-translation"
_COMMIT = "2c9cf5880467479e46feb79e3782fc44159a6cc3"
_PARTS = ("gate", "geneval")
#: Target language -> sha256 and size of the file of each part.
_FILES = {
    "de": (
        ("2edcd5a36a29fe7dcd1c7ccdf32ce244be6f5ac1feb8f7e5adafb50642504bb7", 1213950),
        ("5f03aabd6210663fe964ee6c9eedd4bc14c863390cd42179ad2206317490965f", 482027),
    ),
    "es": (
        ("28fc59ee3b0b4aed4fcb60793cfb7bdfda0e59a04cba5e6e4395f648fa789109", 423775),
        ("c3a596c34a098683222cb306760bd6ccc62145395e7afdf97b46cd59d3080f0b", 504928),
    ),
    "fr": (
        ("b39b6ec2bad6ccd640cdb7b27c3af72730c60fa9b55eca42b89cf50ff057c312", 414555),
        ("ea61792218a70d9f3eaf8de7e923234207d556bc450339042695bfcb11b50d34", 505614),
    ),
}
#: Number of examples; None for files that were not at hand, which are pinned by their commit only.
_SIZES = {"de": 1685, "es": 751, "fr": 845, "it": None, "pt": None, "ru": None}
_SOURCE, _HEADS = "source", "source with headwords"
_GENDERS, _ALIGNMENTS = "gender labels of headwords", "gender alignments"
_TRANSLATION = "translation with gender structures"
_COLUMNS = ("id", "invalid", _SOURCE, _HEADS, _GENDERS, _TRANSLATION, _ALIGNMENTS)
_MARKED = re.compile(r"\[\[([^\[\]]*)\]\]")
#: Head and structure that belong together, as 0-based numbers.
_LINK = re.compile(r"(?<!\d)(\d+)-(\d+)")
_EXTRA = ("part", "feminine", "masculine", "open_share")
_PAPER = Citation(
    """@inproceedings{garg-etal-2024-generating,
    title = "Generating Gender Alternatives in Machine Translation",
"""
    '    author = "Garg, Sarthak and Gheini, Mozhdeh and Emmanuel, Clara and Likhomanenko, Tatiana'
    """ and Gao, Qin and Paulik, Matthias",
    booktitle = "Proceedings of the 5th Workshop on Gender Bias in Natural Language Processing",
    year = "2024",
    publisher = "Association for Computational Linguistics",
    url = "https://arxiv.org/abs/2407.20438",
}""",
    "https://arxiv.org/abs/2407.20438",
    "2407.20438",
)


def read_gender_alternatives(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[Example]:
    """Yield the sentences with one person of open gender whom all gendered words of the translation
    belong to, in file order; the id is the part and upstream's id in it (`gate.17`).

    Rows that annotators called invalid, or with another number of people than of genders, are left
    out, and so is a person whose words are not found in the sentence.
    """
    lang, _, form = config.partition(".")
    for part in _PARTS:
        path = paths[f"data/test/raw/{part}.en-{lang}.tsv"]
        for _, row in read_rows(path, TABLES, dict.fromkeys(_COLUMNS), has_quotes=False):
            head = _only_open_head(row) if row["invalid"] == "No" else None
            if head is not None:
                yield _example(f"{part}.{row['id']}", part, row, head, lang, bool(form))


def _only_open_head(row: Mapping[str, str]) -> Focus | None:
    """Return the person of open gender whom all gendered words belong to; None for other rows."""
    structures = _MARKED.findall(row[_TRANSLATION])
    links = [(int(head), int(n)) for head, n in _LINK.findall(row[_ALIGNMENTS])]
    heads, linked = {head for head, _ in links}, {n for _, n in links}
    if not structures or len(heads) != 1 or linked != {*range(len(structures))}:
        return None
    genders, marked = row[_GENDERS].split(","), [*_MARKED.finditer(row[_HEADS])]
    number = heads.pop()
    if len(genders) != len(marked) or genders[number].strip() != "Amb":
        return None
    source, head = row[_SOURCE], marked[number]
    start = head.start() - 4 * number  # the brackets before a word are no part of the source
    if not source.startswith(head[1], start):
        # Upstream has words twice in some lines with brackets.
        places = [match.start() for match in re.finditer(rf"\b{re.escape(head[1])}\b", source)]
        if len(places) != 1:
            return None
        start = places[0]
    return Focus(head[1], start)


def _version(text: str, side: int) -> str:
    """Return the translation with the masculine (0) or the feminine (1) side of its structures."""
    return _MARKED.sub(lambda structure: structure[1].split("/")[side].strip(), text)


def _example(
    name: str, part: str, row: Mapping[str, str], head: Focus, lang: str, has_choices: bool
) -> Example:
    source = row[_SOURCE]
    masculine, feminine = (_version(row[_TRANSLATION], side) for side in (0, 1))
    if has_choices:
        extra = {"part": part, "open_share": "feminine_preference"}
        return ContrastiveTranslationExample(
            name, "en", lang, source, feminine, (masculine,), part, extra
        )
    extra = {
        "part": part,
        "feminine": feminine,
        "masculine": masculine,
        "open_share": "feminine_share",
    }
    women, men = person_sources(source, head)
    return ContrastiveSourceExample(
        name, "en", lang, source, head, women, men, part, "female", extra
    )


def _configs() -> Iterator[ConfigDeclaration]:
    for lang in _SIZES:
        pinned = _FILES.get(lang, (("", 0),) * len(_PARTS))
        files = tuple(
            SourceFile(_REPOSITORY, _COMMIT, f"data/test/raw/{part}.en-{lang}.tsv", *of_part)
            for part, of_part in zip(_PARTS, pinned, strict=True)
        )
        for ending, description, form in (
            ("", "one person of open gender, with a cue for either", ContrastiveSourceExample),
            (
                ".translations",
                "the feminine and the masculine version",
                ContrastiveTranslationExample,
            ),
        ):
            yield ConfigDeclaration(
                f"{lang}{ending}",
                description,
                (lang,),
                {"test": _SIZES[lang]},
                files,
                form,
                extra_keys=("part", "open_share") if ending else _EXTRA,
                remark=OPEN_GENDER,
                cues="none" if ending else "gender_brackets+appositions",
            )


DECLARATION = DatasetDeclaration(
    name="gender_alternatives",
    title="Gender alternatives",
    phenomenon="gender",
    description=(
        "Gender alternatives: natural English sentences into German and five other languages; which"
        " gender does a translation give to a person whose gender nothing says?"
    ),
    licence="cc-by-sa-3.0",
    homepage="https://github.com/apple/ml-gendered-translation",
    citation_keys=(_PAPER,),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=tuple(_configs()),
    default_config="de",
    extra_keys=(),
    read=read_gender_alternatives,
)
