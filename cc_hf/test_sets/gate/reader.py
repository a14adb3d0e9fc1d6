"""GATE (Rarrick et al. 2023): English sentences with people whose gender nothing says, and a
Spanish, French or Italian translation for every combination of genders. The figures are shares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from cc_hf.cues.appositions import person_sources
from cc_hf.data.declaration import (
    OPEN_GENDER,
    ConfigDeclaration,
    DatasetDeclaration,
    SourceFile,
)
from cc_hf.errors import DataError
from cc_hf.normalization import is_blank
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Focus,
    ProbingExample,
)
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf.test_sets.gate.words import only_words

__all__ = ["DECLARATION", "read_gate"]

_REPOSITORY = "MicrosoftTranslator/GATE"
_COMMIT = "5ea8884f9ee5f1c560a1e2dd1763a390a4ab68e4"
_PATH = "data/{lang}/{lang}_{n}_variants.tsv"
#: Number of variants of a sentence -> sha256 and size of its file, by target language.
_FILES: dict[str, dict[int, tuple[str, int]]] = {
    "es": {
        2: ("7eacbe9c98c350fd21fe12ad2df755a1a9f10a507cf14bc4b6aca92c359b5d2a", 530673),
        4: ("079ef66b69fd6d09e13b5e63e74ea212cf4756c09b74e8f263db7b9c8ece90f2", 191083),
        8: ("f1cc40458a6ef97da948092d286e0dfebaa6ac67477ba2f839aecae87128484e", 29974),
    },
    "fr": {
        2: ("ec1c7029114296e6c871e1c1dd84bfc8af91dd07252dadc0291e9ce7cc631f66", 461897),
        4: ("eb1e5e6607bfe21ac32e24fb6e9dd55cd57a26c7af57307b5fe27f34f4a8182f", 226620),
    },
    "it": {
        2: ("4ce41cba76f569d461295da405fee5ea9199262c0b02667482e58ec057528003", 372339),
        4: ("e6745cf64ae84d010e55104c97d25ff063d119bd1dcd9a9786b6e0323e6a60cc", 326631),
        8: ("b87807d80afcd412f94bcd9f3bc962c986f85291c230380438edaa43e961baf5", 47038),
    },
}
_SPLITS = ("dev", "test")
#: Labels of the kind of noun; the first of them in a row is its category.
_NOUNS = ("PROF", "NAT", "REL", "FAM", "NHUM", "OTH")
_LABELS = re.compile(r"[A-Z]+(?:;[A-Z]+)*")
_MARKS = re.compile(r"[\[\]()]")
_HEAD = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a file; `number` is its 0-based number among the rows."""

    number: int
    cells: Mapping[str, str]
    variants: Mapping[str, str]

    @property
    def id(self) -> str:
        return f"{len(self.variants)}.{self.number}"

    @property
    def feminine(self) -> str:
        """The variant in which everybody is a woman."""
        return next(text for name, text in self.variants.items() if "m" not in name)

    @property
    def masculine(self) -> str:
        """The variant in which everybody is a man."""
        return next(text for name, text in self.variants.items() if "f" not in name)

    @property
    def category(self) -> str:
        labels = self.cells["labels"].split(";")
        return next((label for label in labels if label in _NOUNS), "other")

    @property
    def extra(self) -> dict[str, str]:
        return {key: self.cells[key] for key in _SHARED}


_SHARED = ("labels", "kw_s", "kw_f", "kw_m")


def read_gate(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield the rows in file order; the id is the number of variants and the 0-based row.

    `.translations` and the sources are of the rows with one person, without those whose two
    translations are equal; the sources also leave out rows whose person stands at several places of
    the sentence, or at none. `.all` leaves out the rows in which the all-feminine or the
    all-masculine translation has no word of its own. `.to_feminine` and `.to_masculine` have all
    rows with one person; their source is the translation of the other gender.
    """
    lang, _, form = config.partition(".")
    for n in _FILES[lang] if form == "all" else (2,):
        for row in _rows(paths[_PATH.format(lang=lang.upper(), n=n)], n, has_split=lang != "fr"):
            if row.cells.get("data_split", "test") != split:
                continue
            if form in ("to_feminine", "to_masculine"):
                yield _rewriting(row, lang, form.removeprefix("to_"))
                continue
            make = {"": _sources, "translations": _translations, "all": _probing}[form]
            if row.feminine != row.masculine and (example := make(row, lang)) is not None:
                yield example


def _rows(path: Path, n: int, *, has_split: bool) -> Iterator[_Row]:
    """Yield the rows of a file, whose columns are read by their names."""
    variants = ["".join(genders) for genders in product("fm", repeat=n.bit_length() - 1)]
    columns = [*_SHARED, "source", *variants, *(["data_split"] if has_split else [])]
    # A quotation mark at the beginning of a cell belongs to the sentence, so nothing is quoted.
    for number, (where, row) in enumerate(
        read_rows(path, TABLES, dict.fromkeys(columns), has_quotes=False)
    ):
        for name, cell in row.items():
            if is_blank(cell):
                raise DataError(f"{where}: {name}: expected a text, got {cell!r}")
        if not _LABELS.fullmatch(row["labels"]):
            raise DataError(
                f"{where}: labels: expected words in capitals with ';' between them, got"
                f" {row['labels'][:80]!r}"
            )
        if row.get("data_split", "test") not in _SPLITS:
            raise DataError(
                f"{where}: data_split: expected dev or test, got {row['data_split'][:80]!r}"
            )
        yield _Row(number, row, {name: row[name] for name in variants})


def _translations(row: _Row, lang: str) -> Example:
    return ContrastiveTranslationExample(
        row.id,
        "en",
        lang,
        row.cells["source"],
        row.feminine,
        (row.masculine,),
        row.category,
        {**row.extra, "open_share": "feminine_preference"},
    )


def _sources(row: _Row, lang: str) -> Example | None:
    """Return the row with cues at its person, whose gold is the reading that the share counts."""
    source = row.cells["source"]
    places = _places(source, row.cells["kw_s"])
    if len(places) != 1:
        return None
    feminine, masculine = person_sources(source, places[0])
    return ContrastiveSourceExample(
        row.id,
        "en",
        lang,
        source,
        places[0],
        feminine,
        masculine,
        row.category,
        "female",
        {
            **row.extra,
            "feminine": row.feminine,
            "masculine": row.masculine,
            "open_share": "feminine_share",
        },
    )


def _probing(row: _Row, lang: str) -> Example | None:
    """Return the row with the different variants, each with the combinations that share it."""
    if not all(only_words(row.feminine, row.masculine)):
        return None
    names: dict[str, list[str]] = {}
    for name, text in row.variants.items():
        names.setdefault(text, []).append(name)
    return ProbingExample(
        row.id,
        "en",
        lang,
        row.cells["source"],
        row.category,
        "open",
        extra={
            **row.extra,
            "people": str(len(next(iter(row.variants)))),
            "feminine": row.feminine,
            "masculine": row.masculine,
            "variants": "\n".join(f"{' '.join(same)}\t{text}" for text, same in names.items()),
        },
    )


def _rewriting(row: _Row, lang: str, gender: str) -> Example:
    """Return the translation of the other gender as a source, to be rewritten."""
    texts = (row.feminine, row.masculine)
    source, reference = texts if gender == "masculine" else texts[::-1]
    return ProbingExample(
        row.id,
        lang,
        lang,
        source,
        row.category,
        gender,
        extra={**row.extra, "english": row.cells["source"], "reference": reference},
    )


def _places(source: str, mentions: str) -> list[Focus]:
    """Return where a person is mentioned: all places of the first mention that is in the source,
    whole, or by its head in brackets, which is the focus where it is marked.
    """
    for mention in mentions.split("="):
        head = _HEAD.search(mention)
        before = _MARKS.sub("", mention[: head.start()]).lstrip() if head else ""
        whole = _MARKS.sub("", mention).strip()
        core = head[1] if head else whole
        for text, offset in ((whole, len(before)), (core, 0)):
            matches = re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", source, re.IGNORECASE)
            starts = [match.start() + offset for match in matches] if text else []
            if starts:
                return [Focus(source[start : start + len(core)], start) for start in starts]
    return []


#: Number of examples in dev and test by target language, in the order of `_FORMS`. French has no
#: parts, and is all test.
_SIZES: dict[str, tuple[tuple[int, int], ...]] = {
    "es": ((720, 719), (749, 751), (900, 890), (750, 751), (750, 751)),
    "fr": ((0, 1373), (0, 1384), (0, 1758), (0, 1550), (0, 1550)),
    "it": ((523, 524), (561, 561), (830, 834), (563, 564), (563, 564)),
}
_OPEN_KEYS = ("feminine", "masculine")
#: Ending of the name, description, format and columns of each configuration.
_FORMS: tuple[tuple[str, str, type[Example], tuple[str, ...]], ...] = (
    (
        "",
        "one person of open gender, with a cue at the person for either",
        ContrastiveSourceExample,
        (*_OPEN_KEYS, "open_share"),
    ),
    (
        ".translations",
        "the feminine and the masculine translation",
        ContrastiveTranslationExample,
        ("open_share",),
    ),
    (
        ".all",
        "one to three people of open gender, to be read by words",
        ProbingExample,
        ("people", *_OPEN_KEYS, "variants"),
    ),
    *(
        (
            f".to_{gender}",
            f"translations about one person, to be made {gender}",
            ProbingExample,
            ("english", "reference"),
        )
        for gender in _OPEN_KEYS
    ),
)


def _configs() -> Iterator[ConfigDeclaration]:
    for lang, sizes in _SIZES.items():
        for (ending, description, form, keys), size in zip(_FORMS, sizes, strict=True):
            is_rewriting = ending.startswith(".to_")
            yield ConfigDeclaration(
                f"{lang}{ending}",
                description,
                (lang,),
                {name: n for name, n in zip(_SPLITS, size, strict=True) if n},
                tuple(
                    SourceFile(_REPOSITORY, _COMMIT, _PATH.format(lang=lang.upper(), n=n), *pinned)
                    for n, pinned in _FILES[lang].items()
                    if n == 2 or ending == ".all"
                ),
                form,
                lang if is_rewriting else "en",
                extra_keys=(*_SHARED, *keys),
                remark="" if is_rewriting else OPEN_GENDER,
                cues="none" if ending else "gender_brackets+appositions",
            )


DECLARATION = DatasetDeclaration(
    name="gate",
    title="GATE",
    phenomenon="gender",
    description=(
        "GATE: English into Spanish, French and Italian; which gender does a translation give to"
        " people whose gender nothing says?"
    ),
    licence="mit",
    homepage="https://github.com/MicrosoftTranslator/GATE",
    citation_keys=("rarrick-2023",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=tuple(_configs()),
    default_config="es",
    extra_keys=(),
    read=read_gate,
)
