"""Compare a language model as judge with contrastive conditioning, beside people, and write the
table of docs/measurements.md: python docs/language_model_judge_figures.py SHARED

The labels are those of GENDEROUS (Hackenbuchner et al. 2025) on translations by DeepL. SHARED holds
upstream/. Scores are exact, so that every machine gives the same figures.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import typer

import cc_hf
from cc_hf.hub.cards import with_block
from cc_hf.reports.figure_text import with_interval
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.tables.rows import TABLES, read_rows

_PAGE = Path(__file__).parent / "measurements.md"
_FILE = "jhacken/GENDEROUS/annotations/MT/annotations_DeepL_{}_sentences.tsv"
#: Part of the set -> its column of sources.
_PARTS = {"base": "sentences", "their": "sentences", "adjectives": "adj5_sentences"}
_LANGUAGES = {"de": "German", "el": "Greek", "es": "Spanish", "nl": "Dutch"}
_GENDERS = {"F": "female", "M": "male"}
#: Target language -> the judge that reads it and is at hand.
_JUDGES = {"de": "cc-tiny-en-de"}


class Labelled(NamedTuple):
    """A translation with what a person and GPT-4o say that it shows: M, F, N or an error."""

    source: str
    translation: str
    person: str
    model: str


def labelled(shared: Path, lang: str) -> list[Labelled]:
    """Return the translations of which the person says that they show a woman or a man."""
    return [row for part in _PARTS for row in _rows(shared, part, lang) if row.person in _GENDERS]


def _rows(shared: Path, part: str, lang: str) -> Iterator[Labelled]:
    of = lang.upper()
    columns = (_PARTS[part], f"{of}_DeepL", f"{of}_annotation", f"{of}_GPT_annotation")
    path = shared / "upstream" / _FILE.format(part)
    for _, row in read_rows(path, TABLES, dict.fromkeys(columns)):
        yield Labelled(*(row[name].strip() for name in columns))


def conditioned(rows: list[Labelled], shared: Path, lang: str) -> Mapping[str, str]:
    """Return which gender contrastive conditioning finds in the translation of each source."""
    material = cc_hf.load_material("genderous", tgt_lang=lang, data_dir=shared / "upstream")
    texts = {row.source: row.translation for row in rows}
    sources = {e.id: e.source for e in material.examples if e.source in texts}
    result = cc_hf.evaluate(
        replace(material, chosen=frozenset(sources)),
        translations=[texts[source] for source in sources.values()],
        evaluator=_JUDGES[lang],
        loading=cc_hf.LoadingOptions(mode="exact"),
    )
    return {
        sources[r.example_id]: "F" if (r.probability_counted or 0) >= 0.5 else "M"
        for r in result.readings
    }


def _cells(rows: list[Labelled], genders: Mapping[str, str]) -> list[str]:
    """Return the agreement with people, of all translations, of women and of men."""
    n = Counter(row.person for row in rows)
    right = Counter(row.person for row in rows if genders[row.source] == row.person)
    parts = [(right.total(), n.total()), *((right[gender], n[gender]) for gender in _GENDERS)]
    return [
        f"{part} of {whole}: {with_interval(part / whole, wilson_interval(part, whole))}"
        for part, whole in parts
    ]


def table(shared: Path) -> str:
    """Return the agreement of both judges with people, by language."""
    lines = ["| language | judge | agrees with people | women | men |", "|---|---|---|---|---|"]
    for lang, name in _LANGUAGES.items():
        rows = labelled(shared, lang)
        judges: dict[str, Mapping[str, str]] = {}
        judges["GPT-4o"] = {row.source: row.model for row in rows}
        if lang in _JUDGES:
            judges[f"`{_JUDGES[lang]}`"] = conditioned(rows, shared, lang)
        for judge, genders in judges.items():
            lines.append(f"| {' | '.join([name, judge, *_cells(rows, genders)])} |")
    return "\n".join(lines)


def main(shared: Path) -> None:
    """Write the table."""
    page = _PAGE.read_text(encoding="utf-8")
    text = with_block(page, "language-model-judges", table(shared))
    _PAGE.write_text(text, encoding="utf-8", newline="\n")
    typer.echo(f"{_PAGE.name} written")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
