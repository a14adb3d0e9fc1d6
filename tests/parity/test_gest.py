"""GEST and its score: the authors' figures of four systems in five languages, and the labels that
they print, see PROVENANCE.md.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import FileError
from cc_hf.reading import stream_lines
from cc_hf.results import EvaluationResult
from cc_hf.tables.rows import parse_cells
from cc_hf.test_sets.gest.reader import STEREOTYPES, read_gest
from cc_hf.test_sets.gest.stereotype_rates.slavic import languages, read_gender
from tests.helpers.usual import cases, fails

_SYSTEMS = (
    *("amazon_translate.cs", "amazon_translate.ru", "amazon_translate.sl", "amazon_translate.sr"),
    *("deepl.cs", "deepl.ru", "deepl.sl"),
    *("google_translate.be", "google_translate.cs", "google_translate.ru", "google_translate.sl"),
    *("google_translate.sr", "nllb_3b.be", "nllb_3b.cs", "nllb_3b.ru", "nllb_3b.sl", "nllb_3b.sr"),
)
_TITLES = {"amazon_translate": "Amazon", "deepl": "DeepL", "google_translate": "Google"}
_TITLES["nllb_3b"] = "NLLB-3.3B"
_ROOT = Path(__file__).parents[2]


@cache
def result_of(system: str, lang: str, shared: Path) -> EvaluationResult:
    folder = shared / "upstream"
    material = cc_hf.load_material("gest", "emnlp2024", tgt_lang=lang, data_dir=folder)
    path = folder / f"kinit-sk/gest/data/translations/{system}/{lang}/translations.csv"
    return cc_hf.evaluate(material, translations=path, metric="stereotype_rates")


@pytest.mark.parametrize("name", _SYSTEMS)
def test_the_rule_reproduces_the_figures_of_the_authors(name: str, shared: Path) -> None:
    gold = json.loads((shared / "gold/test_sets_of_today/gest.json").read_text("utf-8"))[name]
    published: dict[str, Any] = gold["published"]
    system, lang = name.split(".")
    result = result_of(system, lang, shared)
    # Belarusian deviates, in part because the authors' parser errs there
    atol = 0.06 if lang == "be" else 0.02
    keys = (("masculine_rate", "f_m"), ("stereotype_gap", "f_s"))
    for figure, key in keys:
        assert result.scores[figure] == pytest.approx(published[f"{key}_from_rounded"], abs=atol)
        assert result.intervals[figure].low < result.scores[figure] < result.intervals[figure].high
    n_decided = result.counts["n_male"] + result.counts["n_female"]
    assert n_decided >= 0.85 * published["decided"]
    assert result.scores["inconclusive_rate"] == pytest.approx(1 - n_decided / 3565, abs=1e-12)
    figures = [f"masculine_rate_{name}" for name in STEREOTYPES]
    pairs = zip(figures, published["p_i"], strict=True)
    distances = [abs(result.scores[figure] - rate) for figure, (_, rate, _) in pairs]
    assert max(distances) < (0.1 if lang == "be" else 0.046)
    assert sum(distances) / 16 < (0.06 if lang == "be" else 0.016)
    rates = [f"{published[f'{k}_from_rounded']:.3f} / {result.scores[f]:.3f}" for f, k in keys]
    readings = f"{published['decided']:,} / {n_decided:,}"
    cells = [f"{_TITLES[system]} {lang}", readings, *rates, f"{max(distances):.3f}"]
    row = f"| {' | '.join(cells)} |".replace(" 0.", " .")
    assert row in (_ROOT / "cards/metrics/stereotype_rates.md").read_text(encoding="utf-8")


def test_limits_and_ranks_are_those_of_the_paper(shared: Path) -> None:
    """From the readings of DeepL into Russian: p_7 = .31 (.24-.38), p_13 = .98 (.96-1.00)."""
    result = result_of("deepl", "ru", shared)
    for name, expected in (("07", (0.24, 0.31, 0.38)), ("13", (0.96, 0.98, 1.0))):
        figure = f"masculine_rate_stereotype_{name}"
        interval = result.intervals[figure]
        limits = (interval.low, result.scores[figure], interval.high)
        assert limits == pytest.approx(expected, abs=0.015)


def test_the_rule_agrees_with_the_labels_that_the_authors_print(shared: Path) -> None:
    lines = stream_lines(shared / "gold/test_sets_of_today/gest_authors_samples.tsv")
    (_, names), *rows = parse_cells(lines, "samples", separator="\t")
    readings: Counter[tuple[bool, str, str]] = Counter()
    for _, cells in rows:
        row = dict(zip(names, cells, strict=True))
        gender = read_gender(row["translation"], row["language"])
        readings[row["language"] == "be", row["label"], gender[:1].upper()] += 1
    assert readings[False, "M", "M"] + readings[False, "F", "F"] == 151  # of 160
    assert readings[False, "M", "F"] + readings[False, "F", "M"] == 0
    assert readings[False, "N", "M"] + readings[False, "N", "F"] == 9  # of 80


def test_every_row_of_both_versions_is_read(shared: Path) -> None:
    texts = {}
    for config, n_distinct in (("default", 3554), ("emnlp2024", 3555)):
        examples = cc_hf.load_examples("gest", config, data_dir=shared / "upstream")
        counts = Counter(example.category for example in examples)
        assert list(map(counts.get, STEREOTYPES)) == [
            *(254, 215, 256, 207, 200, 197, 243),
            *(251, 229, 215, 231, 222, 222, 194, 208, 221),
        ]
        texts[config] = [example.source for example in examples]
        assert len(set(texts[config])) == n_distinct
    examples = cc_hf.load_examples("gest", "default.sources", data_dir=shared / "upstream")
    starts = [example.source[: example.focus.start] for example in examples]
    changed = zip(examples, starts, strict=True)
    assert all(e.correct_sources[0].startswith(f"{start}I, a man") for e, start in changed)
    assert sum(", a man, am " in example.correct_sources[0] for example in examples) > 100
    assert sum(new != old for new, old in zip(*texts.values(), strict=True)) == 244


@cases(
    ("sentence,stereotype\nI ran.,17\n", "line 2: .*stereotype: expected"),
    ("sentence,stereotype\n ,1\n", "line 2: sentence: expected a text that is not blank"),
    ("sentence\nI ran.\n", "line 1: expected columns named sentence, stereotype"),
)
def test_a_damaged_row_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gest.csv"
    path.write_text(text, encoding="utf-8")
    fails(FileError, message, list, read_gest({"data/gest.csv": path}, "emnlp2024", "test"))


def test_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "gest.csv"
    rows = []
    for end in ("\n", "\r\n"):
        path.write_bytes(f'sentence,stereotype{end}"I ran, fast.",1{end}'.encode())
        rows.append([*read_gest({"data/gest.csv": path}, "emnlp2024", "test")])
    assert (rows[0], rows[0][0].source) == (rows[1], "I ran, fast.")


#: language -> translations in which the rule reads male, female, neither
_READINGS = {
    "be": ("Я быў стомлены.", "Я не магла спаць.", "Мне падабалася, калі яны спявалі."),
    "cs": ("Neměl jsem sílu.", "Vždy jsem byla klidná.", "Znám to pravidlo."),
    "hr": ("Kupio sam auto.", "Nisam htjela ići.", "Volim svoj posao."),
    "pl": ("Poszedłbym z zespołem.", "Chcę, żebym wygrała.", "Działam z pomysłem."),
    "ru": ("Я устал и лёг спать.", "Меня хвалили, я старалась.", "Я люблю футбол и дела."),
    "sk": ("Pracoval som tam.", "Aby som sa nebála.", "Mám veľa síl."),
    "sl": ("Nisem mogel priti.", "Lahko bi pomagala.", "Imam dovolj dela."),
    "sr": ("Ја сам платио.", "Volela sam to.", "Имам много посла."),
    "uk": ("Я знайшов друзів.", "Я боялася.", "У мене багато друзів, я їх люблю."),
}


@pytest.mark.parametrize("lang", languages())
def test_forms_of_the_first_person_are_read_and_nouns_are_not(lang: str) -> None:
    assert [read_gender(text, lang) for text in _READINGS[lang]] == ["male", "female", ""]
