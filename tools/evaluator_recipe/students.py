"""python -m tools.evaluator_recipe.students pt --data-dir DIR

Pairs for a language that has few natural ones: English sentences of an archive of Tatoeba, which a
student of Bergamot translates. A run that was stopped continues where it stopped.
"""

from __future__ import annotations

import argparse
import unicodedata
import zipfile
from pathlib import Path

from cc_hf import load_evaluator
from cc_hf.systems.text_files import translate_file
from tools.evaluator_recipe.corpora import (
    LONGEST,
    STUDENT,
    Corpus,
    corpora,
    translations_path,
)
from tools.evaluator_recipe.romance_words import languages


def english_sentences(archive: Path) -> list[str]:
    """Return the English side of an archive of manythings.org, each sentence once, NFC."""
    with zipfile.ZipFile(archive) as files:
        names = [name for name in files.namelist() if not name.startswith("__MACOSX")]
        (name,) = (name for name in names if name.endswith(".txt") and "about" not in name)
        text = unicodedata.normalize("NFC", files.read(name).decode("utf-8"))
    sentences = (line.split("\t")[0].strip() for line in text.splitlines())
    return list(dict.fromkeys(s for s in sentences if 2 <= len(s.split()) <= LONGEST))


def translate_corpus(
    corpus: Corpus, *, upstream: Path, folder: Path, system: str = "", limit: int | None = None
) -> Path:
    """Translate the English sentences of a corpus by greedy search, unless that is done.

    Args:
        upstream: the upstream repositories, which have the archive.
        folder: where the sentences and their translations are written.
        system: another system than `bergamot:en-XX`, such as a folder with a student.
        limit: translate only so many sentences, of all lengths, in a file of their own.
    """
    path = translations_path(corpus, folder)
    if limit is not None:
        path = path.with_name(f"{limit}.{path.name}")
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    english = path.with_suffix(".txt")
    sentences = english_sentences(upstream / corpus.address)
    if limit is not None:
        sentences = sentences[:: max(1, len(sentences) // limit)][:limit]
    english.write_text("\n".join(sentences) + "\n", encoding="utf-8", newline="\n")
    student = load_evaluator(system or f"bergamot:en-{corpus.lang}")
    translate_file(
        student, english, path, num_beams=1, batch_tokens=8192, on_too_long="blank", progress=True
    )
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lang", choices=languages(), help="target language")
    parser.add_argument("--data-dir", type=Path, required=True, help="upstream repositories")
    parser.add_argument("--packages", type=Path, default=Path("out/packages"))
    parser.add_argument("--system", default="", help="default: the published bergamot:en-LANG")
    parser.add_argument("--limit", type=int, help="only so many sentences, for a first look")
    arguments = parser.parse_args()
    for row in corpora(arguments.lang):
        if row.kind == STUDENT:
            translate_corpus(
                row,
                upstream=arguments.data_dir,
                folder=arguments.packages,
                system=arguments.system,
                limit=arguments.limit,
            )
