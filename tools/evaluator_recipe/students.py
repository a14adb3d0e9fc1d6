"""python -m tools.evaluator_recipe.students pt --data-dir DIR

Pairs for a language that has few natural ones: English sentences of an archive of Tatoeba, which a
student of Bergamot translates. A run that was stopped continues where it stopped.
"""

from __future__ import annotations

import argparse
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
from tools.evaluator_recipe.corpus import read_tatoeba
from tools.evaluator_recipe.romance_words import languages


def translate_corpus(corpus: Corpus, *, upstream: Path, folder: Path, system: str = "") -> Path:
    """Translate the English sentences of a corpus by greedy search, unless that is done.

    Args:
        upstream: the upstream repositories, which have the archive.
        folder: where the sentences and their translations are written.
        system: another system than `bergamot:en-XX`, such as a folder with a student.
    """
    path = translations_path(corpus, folder)
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    english = path.with_suffix(".txt")
    archive, _, sha256 = corpus.address.partition(":")
    every = dict.fromkeys(pair.english for pair in read_tatoeba(upstream / archive, sha256=sha256))
    sentences = [sentence for sentence in every if 2 <= len(sentence.split()) <= LONGEST]
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
    arguments = parser.parse_args()
    for row in corpora(arguments.lang):
        if row.kind == STUDENT:
            translate_corpus(
                row,
                upstream=arguments.data_dir,
                folder=arguments.packages,
                system=arguments.system,
            )
