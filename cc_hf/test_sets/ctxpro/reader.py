"""CTXPRO (Wicks & Post 2023): sentences of subtitles whose translation needs the sentences before,
each with the form that the translation must hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.errors import DataError, FileError
from cc_hf.reading import Place, read_lines
from cc_hf.records import COUNT, WORD, read_json
from cc_hf.schema import ProbingExample

__all__ = ["DECLARATION", "read_ctxpro"]

_REPOSITORY = "rewicks/ctxpro"
_COMMIT = "9023459e68cda3a6a7d12f1341772c18e2e1ea96"
_SEPARATOR = "<eos> "
#: Phenomenon -> what the sentence leaves open, and the number of examples by target language.
_PHENOMENA: dict[str, tuple[str, dict[str, int]]] = {
    "auxiliary": (
        "which verb an auxiliary stands for",
        {"de": 3180, "es": 6960, "fr": 8322},
    ),
    "formality": ("whether “you” is formal", {"de": 10800, "fr": 12000, "ru": 10075}),
}
#: sha256 and size of the files that could be read when this was written; the others are pinned by
#: their commit.
_HASHES = {
    "paper/jsons/auxiliary.opensubtitles.en-de.test.json": (
        "c1a5ae29391d2fffc3ef9aa8c5e070d51af82b4d6ee8ef46abe5c5170d2cc89d",
        1603697,
    ),
    "paper/inputs/auxiliary.opensubtitles.en-de.test": (
        "fd5efc32a67ef4db5f1fe1e5008c9d8a09c1569e57edfcaa7ee7bc87e4dfa1c2",
        564073,
    ),
}
_ROWS = [
    {
        **dict.fromkeys(("expected", "src segment", "rule"), WORD),
        **{"ref segment": str, "document id": str, "segment id": COUNT},
    }
]


def read_ctxpro(paths: Mapping[str, Path], config: str, split: str) -> Iterator[ProbingExample]:
    """Yield all examples in file order; ids are 0-based rows."""
    name, _, variant = config.partition(".")
    rows_path, *context_paths = (paths[file.path] for file in _files(name, bool(variant)))
    rows = read_json(rows_path, "a list of objects, one for each example", _ROWS)
    sources = [row["src segment"] for row in rows]
    for path in context_paths:
        sources = _contexts(path, sources)
    for number, (row, source) in enumerate(zip(rows, sources, strict=True)):
        yield ProbingExample(
            str(number),
            "en",
            name.partition("_")[2],
            source,
            row["rule"],
            row["expected"],
            extra={
                "reference": row["ref segment"],
                "document": row["document id"],
                "segment": str(row["segment id"]),
            },
        )


def _contexts(path: Path, sentences: Sequence[str]) -> list[str]:
    """Return each sentence with the sentences before it, joined by blanks."""
    lines = read_lines(path)
    if len(lines) != len(sentences):
        raise DataError(
            f"{path}: expected {len(sentences):,} lines, one for each example, got {len(lines):,}"
        )
    for number, (line, sentence) in enumerate(zip(lines, sentences, strict=True), 1):
        if not line.endswith(sentence):
            raise FileError(
                Place(path, number), f"expected a text that ends with {sentence!r}, got {line!r}"
            )
    return [line.replace(_SEPARATOR, " ") for line in lines]


def _files(name: str, has_context: bool) -> tuple[SourceFile, ...]:
    phenomenon, _, lang = name.partition("_")
    test = f"{phenomenon}.opensubtitles.en-{lang}.test"
    names = (f"paper/jsons/{test}.json", f"paper/inputs/{test}")
    return tuple(
        SourceFile(_REPOSITORY, _COMMIT, path, *_HASHES.get(path, ("", 0)))
        for path in names[: 1 + has_context]
    )


def _config(phenomenon: str, lang: str, *, has_context: bool) -> ConfigDeclaration:
    what, sizes = _PHENOMENA[phenomenon]
    name = f"{phenomenon}_{lang}"
    return ConfigDeclaration(
        name + ".context" * has_context,
        f"{what}, {'with the sentences' if has_context else 'without the sentences'} before",
        (lang,),
        {"test": sizes[lang]},
        _files(name, has_context),
        ProbingExample,
    )


DECLARATION = DatasetDeclaration(
    name="ctxpro",
    title="CTXPRO",
    phenomenon="context",
    description=(
        "CTXPRO: English subtitles; does the translation hold the form that only the sentences"
        " before decide?"
    ),
    licence="apache-2.0",
    homepage="https://github.com/rewicks/ctxpro",
    citation_keys=("wicks-post-2023",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=tuple(
        _config(phenomenon, lang, has_context=has_context)
        for phenomenon, (_, sizes) in _PHENOMENA.items()
        for lang in sizes
        for has_context in (True, False)
    ),
    default_config="auxiliary_de.context",
    extra_keys=("reference", "document", "segment"),
    read=read_ctxpro,
)
