"""Measure how texts in another language are told, and write the table of docs/measurements.md:
python docs/language_figures.py SHARED

SHARED holds upstream/.
"""

from __future__ import annotations

from pathlib import Path

import typer

from cc_hf.data.loading import load_examples
from cc_hf.hub.cards import with_block
from cc_hf.reading import text_lines
from cc_hf.tables.rows import read_rows
from cc_hf.text.unusable import unusable_rows

_PAGE = Path(__file__).parent / "measurements.md"
_GEST = "kinit-sk/gest/data/translations/{}/{}/translations.csv"
_MUCOW = "Helsinki-NLP/MuCoW/WMT2019/translation test suite/txt/en-{}.{}.txt"
_MT_GENEVAL, _OF_GEST, _OF_MUCOW = "MT-GenEval, references", "GEST, systems", "MuCoW, references"
#: Origin of the texts -> expected language -> a neighbour.
_NEIGHBOURS = {
    _MT_GENEVAL: {"pt": "es", "es": "pt", "it": "es", "fr": "it", "de": "nl", "nl": "de"},
    _OF_GEST: {
        **{"uk": "ru", "ru": "uk", "be": "ru", "sr": "ru", "cs": "sk", "sk": "cs", "pl": "cs"},
        **{"sl": "hr", "hr": "sl"},
    },
    _OF_MUCOW: {"cs": "", "fi": "", "ru": ""},
}


def texts(origin: str, lang: str, upstream: Path) -> list[str]:
    """Return texts in a language; for "en", their sources."""
    if origin == _MT_GENEVAL:
        if lang == "nl":
            rows = load_examples("mt_geneval", "contextual_nl", data_dir=upstream)
            return [row.correct_translation for row in rows]
        rows = load_examples(
            "mt_geneval", f"counterfactual_{lang.replace('en', 'de')}", data_dir=upstream
        )
        return [row.source if lang == "en" else row.extra["reference"] for row in rows]
    if origin == _OF_MUCOW:
        name = _MUCOW.format(*("cs", "text") if lang == "en" else (lang, "ref"))
        return text_lines(upstream / name)
    system = "nllb_3b" if lang == "sk" else "google_translate"
    path = upstream / _GEST.format(system, lang.replace("en", "cs"))
    return [row["from" if lang == "en" else "to"] for _, row in read_rows(path)]


def share(rows: list[str], lang: str, digits: int) -> str:
    """Return the share of texts that are counted as not in a language, in percent."""
    counted = unusable_rows(rows, rows, lang, are_texts=False)["n_without_words"]
    return f"{100 * len(counted) / len(rows):.{digits}f}"


def main(shared: Path) -> None:
    """Write the table."""
    lines = [
        "| expected | right texts | taken for another, % | English caught, % | other caught, % |",
        "|---|---|---|---|---|",
    ]
    for origin, languages in _NEIGHBOURS.items():
        texts_of = {lang: texts(origin, lang, shared / "upstream") for lang in ("en", *languages)}
        for lang, other in languages.items():
            right = texts_of[lang]
            caught = f"{other}: {share(texts_of[other], lang, 0)}" if other else ""
            cells = (share(right, lang, 2), share(texts_of["en"], lang, 0), caught)
            lines.append(f"| {lang} | {len(right):,} ({origin}) | {' | '.join(cells)} |")
    page = with_block(_PAGE.read_text(encoding="utf-8"), "languages", "\n".join(lines))
    _PAGE.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    typer.run(main)
