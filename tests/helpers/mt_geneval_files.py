"""Files of MT-GenEval with two sentences of each gender."""

from pathlib import Path

from tests.helpers.lines import write_lines

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


written = write_lines


def pairs(
    tmp_path: Path,
    masculine: dict[str, list[str]] = MASCULINE,
    feminine: dict[str, list[str]] = FEMININE,
) -> dict[str, Path]:
    paths = {}
    for gender, columns in (("masculine", masculine), ("feminine", feminine)):
        for name, lines in columns.items():
            folder, slash, end = name.rpartition("/")
            path = write_lines(tmp_path / f"{folder}.{gender}.{end}", lines)
            paths[
                f"data/sentences/dev/{folder}{slash}geneval-sentences-{gender}-dev.en_de.{end}"
            ] = path
    return paths
