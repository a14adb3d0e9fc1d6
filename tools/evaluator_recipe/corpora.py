"""Natural pairs of the corpora that corpora.tsv declares: files of aligned lines, the archives of
Tatoeba, the messages and the help of translated programs of Debian, the files of translated
documentation, and English sentences that a student of Bergamot translated (students.py).
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from tools.evaluator_recipe.corpus import read_tatoeba
from tools.evaluator_recipe.sentences import Pair

LONGEST = 24  # words
#: The kind of a corpus whose translations students.py writes.
STUDENT = "student"
# Places that a program fills, markup and code: no text that a person would translate.
_MARKUP = re.compile(r"[%$][\w(]|[<>{}\[\]|`\\_^~*=#@]|::|\w/\w|\w\(\)|https?:")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”']? +(?=[\"“¿¡A-ZÀ-ÖØ-ÞŒ])")
_TAG = re.compile(r"<[^>]+>")
_PARAGRAPH = re.compile(r'<(p|h\d)\b[^>]*? id="(?P<id>[^"]+)"[^>]*>(?P<text>.*?)</\1>', re.DOTALL)


class Corpus(NamedTuple):
    """One row of corpora.tsv."""

    lang: str
    name: str
    kind: str
    address: str
    licence: str


@cache
def corpora(lang: str) -> tuple[Corpus, ...]:
    """Return the corpora of a target language."""
    text = (files(__package__) / "corpora.tsv").read_text(encoding="utf-8")
    rows = [Corpus(*line.split("\t")) for line in text.splitlines() if not line.startswith("#")]
    return tuple(row for row in rows if row.lang == lang)


def fetch_packages(lang: str, folder: Path) -> None:
    """Download the Debian packages of a language by `apt-get`, and unpack those that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for corpus in corpora(lang):
        of_debian = corpus.kind in {"help", "mo"}
        for package in corpus.address.partition(":")[0].split(",") if of_debian else ():
            if not (folder / package).is_dir():
                subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
                (archive,) = folder.glob(f"{package}_*.deb")
                subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)
                archive.unlink()


def translations_path(corpus: Corpus, folder: Path) -> Path:
    """Return where the translations of a corpus of English sentences lie."""
    archive = Path(corpus.address.partition(":")[0])
    return folder / f"{archive.stem}.en-{corpus.lang}.jsonl"


def read_corpus(corpus: Corpus, *, upstream: Path, packages: Path) -> list[Pair]:
    """Return the usable pairs of a corpus, each once, in the order of its files.

    Raises:
        FileNotFoundError: if the corpus has no file where it should be.
    """
    if corpus.kind == "mo":
        names, _, pattern = corpus.address.partition(":")
        paths = [path for name in names.split(",") for path in (packages / name).glob(pattern)]
    elif corpus.kind == "help":  # the package of the language, and that of English
        name, pattern = corpus.address.split(",")[0], corpus.address.partition(":")[2]
        paths = [*(packages / name).glob(pattern)]
    elif corpus.kind == "po":
        paths = [*(upstream / corpus.address).rglob("*.po")]
    elif corpus.kind == "tatoeba":  # the address ends with the sha256, as that of a student's
        paths = [*upstream.glob(corpus.address.partition(":")[0])]
    elif corpus.kind == STUDENT:
        paths = [path for path in [translations_path(corpus, packages)] if path.is_file()]
    else:
        paths = [*upstream.glob(corpus.address)]
    if not paths:
        raise FileNotFoundError(
            f"{corpus.name}: expected files at {corpus.address} in {upstream} or {packages}, got"
            " none; name the folder of the upstream repositories by --data-dir, and translate what a"
            f" student translates by python -m tools.evaluator_recipe.students {corpus.lang}"
        )
    readers: dict[str, Callable[[Path], Iterable[tuple[str, str]]]] = {
        "help": _of_help,
        "mo": _of_mo,
        "po": _of_po,
        "moses": _of_moses,
        "tatoeba": partial(_of_tatoeba, sha256=corpus.address.partition(":")[2]),
        STUDENT: _of_student,
    }
    texts = (texts for path in sorted(paths) for texts in readers[corpus.kind](path))
    return list(dict.fromkeys(_usable(texts)))


def _of_tatoeba(path: Path, *, sha256: str) -> Iterator[tuple[str, str]]:
    for pair in read_tatoeba(path, sha256=sha256):
        yield pair.english, pair.target


def _of_moses(path: Path) -> Iterator[tuple[str, str]]:
    (other,) = (p for p in path.parent.glob(f"{path.stem}.*") if p != path)
    english, target = (p.read_text(encoding="utf-8").splitlines() for p in (path, other))
    yield from zip(english, target, strict=True)


def _of_mo(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        for message in read_mo(file):
            if isinstance(message.id, str):  # a plural has several
                yield message.id.removeprefix("female^"), str(message.string)


def _of_po(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        for message in read_po(file):
            if isinstance(message.id, str) and not message.fuzzy:
                yield message.id, str(message.string)


def _of_student(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["source"], row["translation"]


def _of_help(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of a page of LibreOffice's help: those of both languages share an id."""
    package = next(p for p in path.parents if p.name.startswith("libreoffice-help-"))
    lang = package.name.rpartition("-")[2]
    page = path.relative_to(package).as_posix().replace(f"/help/{lang}/", "/help/en-US/")
    of_english = package.with_name("libreoffice-help-en-us") / page
    if not of_english.is_file():
        return
    english, target = (
        {
            match["id"]: html.unescape(_TAG.sub("", match["text"]))
            for match in _PARAGRAPH.finditer(p.read_text(encoding="utf-8"))
        }
        for p in (of_english, path)
    )
    yield from ((text, target[name]) for name, text in english.items() if name in target)


def _usable(texts: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    """Yield sentences where both sides have as many, of two words and more and no markup."""
    for pair in texts:
        english, target = (" ".join(unicodedata.normalize("NFC", t).split()) for t in pair)
        parts = [_SENTENCE_END.split(side) for side in (english, target)]
        sentences = (
            zip(*parts, strict=True) if len(parts[0]) == len(parts[1]) else [(english, target)]
        )
        for source, translation in sentences:
            lengths = len(source.split()), len(translation.split())
            if (
                min(lengths) >= 2
                and max(lengths) <= min(LONGEST, 2 * min(lengths) + 3)
                and source != translation
                and not _MARKUP.search(source + " " + translation)
            ):
                yield Pair(source, translation)
