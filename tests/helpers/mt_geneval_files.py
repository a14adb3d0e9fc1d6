"""Files of MT-GenEval with two sentences of each gender."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MASCULINE = {
    "en": ["He left.", "The boy, she said, was a king."],
    "de": ["Er ging.", '"Der ""Junge"" war König." '],
    "annotated/en": ["<M>He</M> left.", "The <M>boy</M>, she said, was a <M>king</M>."],
    "annotated/de": ["<M>Er</M> ging.", '"Der ""<M>Junge</M>"" war <M>König</M>."'],
}


FEMININE = {
    "en": ["She left.", "The girl, she said, was a queen."],
    "de": ["Sie ging.", '"Das ""Mädchen"" war Königin."'],
    "annotated/en": ["<F>She</F> left.", "The <F>girl</F>, she said, was a <F>queen</F>."],
    "annotated/de": ["<F>Sie</F> ging.", '"Das ""<F>Mädchen</F>"" war <F>Königin</F>."'],
}


def pairs(
    tmp_path: Path,
    masculine: dict[str, list[str]] = MASCULINE,
    feminine: dict[str, list[str]] = FEMININE,
) -> dict[str, Path]:
    paths = {}
    for gender, columns in (("masculine", masculine), ("feminine", feminine)):
        for name, lines in columns.items():
            folder, _, end = name.rpartition("/")
            annotated = f"{folder}/" if folder else ""
            paths[f"data/sentences/dev/{annotated}geneval-sentences-{gender}-dev.en_de.{end}"] = (
                written(tmp_path / f"{folder}.{gender}.{end}", lines)
            )
    return paths


def written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
