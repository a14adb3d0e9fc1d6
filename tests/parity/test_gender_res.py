"""gender-res, and the form rule for Spanish beside an independent reading of five systems."""

import csv
import importlib
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import DataError
from cc_hf.evaluation.material import Material
from cc_hf.results import EvaluationResult
from cc_hf.test_sets.gender_res import reader as gender_res
from cc_hf.test_sets.gender_res.gender_form import GenderForm, read_persons, reading_of
from tests.helpers.usual import cases, compute_metric, fails, refuses

_ROOT = Path(__file__).parents[2]
_SYSTEMS = ("Claude-3.5", "GPT-4", "Aya23", "Unbabel-Tower70B", "ONLINE-B")
_OUTPUTS = "upstream/wmt-conference/wmt24-news-systems/txt-ts/system-outputs/en-es"
_PRONOUN = re.compile(
    r"\b(te|les?|os|me|se|l[oa]|nos)\s+(soy|estoy|eres|est[áa]s?|están|es|son|tengo|tienes|doy|das|has|he)\b",
    re.IGNORECASE,
)


@cache
def _material(shared: Path) -> Material:
    return cc_hf.load_material("gender_res", "en-es.all", data_dir=shared / "upstream")


@cache
def _result(system: str, shared: Path) -> EvaluationResult:
    return cc_hf.evaluate(_material(shared), translations=shared / _OUTPUTS / f"{system}.txt")


def test_every_line_and_slot_is_read(shared: Path) -> None:
    examples = _material(shared).examples
    rows = {example.extra["row"]: example.extra for example in examples}
    lines_of = {"speech": 910, "to": 1056, "pair": 880, "two": 1920, "one": 960, "not": 960}
    assert Counter(row["template"] for row in rows.values()) == lines_of
    assert Counter(e.category for e in examples) == {"female": 4856, "male": 4856, "open": 8254}
    adverbs = Counter(r["adverb_class"] for r in rows.values() if r["template"] == "speech")
    assert adverbs == {"masculine": 390, "feminine": 390, "": 130}
    assert len({example.focus.text for example in examples}) == 351
    lines = sorted({int(example.extra["line"]) for example in examples})
    assert (lines[0], lines[-1], len(lines)) == (8881, 15566, 6686)
    gold = cc_hf.load_examples("gender_res", data_dir=shared / "upstream")
    assert (len(gold), len({example.extra["cluster"] for example in gold})) == (9712, 884)


@pytest.mark.parametrize("system", _SYSTEMS)
def test_readings_and_figures_agree_with_the_independent_ones(system: str, shared: Path) -> None:
    folder = shared / "gold/test_sets_of_today"
    expected = json.loads((folder / "gender_res.json").read_text("utf-8"))[system]
    material, result = _material(shared), _result(system, shared)
    counts, scores = result.counts, result.scores
    for name, key, tolerance in (
        ("accuracy_decided", "accuracy_decided", 0.01),
        ("inconclusive_rate", "inconclusive_share", 0.025),
        ("accuracy", "strict_accuracy", 0.01),
    ):
        assert scores[name] == pytest.approx(expected[key] / 100, abs=tolerance)
    for group, percent in expected["decided"].items():
        if (name := f"accuracy_decided_{group.replace('.', '_')}") in scores:
            assert scores[name] == pytest.approx(percent / 100, abs=0.01), name
    interval = result.intervals["accuracy_decided"]
    limits = [limit / 100 for limit in expected["interval_decided"]]
    assert (interval.low, interval.high) == pytest.approx(limits, abs=0.005)
    path = shared / _OUTPUTS / f"{system}.txt"
    lengths = material.translated_lines()
    texts = read_translations(path, material.examples, other_lengths=lengths).translations
    rows = GenderForm.references(material.examples)
    with (folder / "gender_res_readings.tsv").open(encoding="utf-8") as file:
        gold = [row[system] for row in csv.DictReader(file, delimiter="\t")]
    pairs = [
        (reading_of(text, row, "es") or "-", gold[int(e.extra["row"])][row["slot"]])
        for text, row, e in zip(texts, rows, material.examples, strict=True)
    ]
    letters = [(read[0], letter.replace("?", "-")) for read, letter in pairs]
    assert sum(a == b for a, b in letters) >= 0.995 * len(letters)
    assert sum({a, b} == {"m", "f"} for a, b in letters) <= 0.003 * len(letters)
    percent = [f"{100 * scores[name]:.1f}" for name in ("accuracy", "accuracy_decided")]
    percent.append(f"{100 * scores['accuracy_decided_listener_female']:.1f}")
    effects = ("adverb_effect", "character_effect", "opposite_effect")
    percent += [f"{100 * scores[name]:.1f}" for name in effects]
    verdicts = " / ".join(f"{counts[f'n_{v}']:,}" for v in ("correct", "incorrect", "inconclusive"))
    cells = [system, str(counts["n_rows_not_aligned"]), verdicts, *percent]
    card = (_ROOT / "cards/metrics/gender_form.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(cells)} |" in card


def test_the_slots_that_all_systems_decide(shared: Path) -> None:
    """The card has their numbers, and how many an independent reading of five systems leaves."""
    material = _material(shared)
    rows = GenderForm.references(material.examples)
    readings = (shared / "gold/test_sets_of_today/gender_res_readings.tsv").read_text("utf-8")
    gold = [*csv.DictReader(readings.splitlines(), delimiter="\t")]
    common = {slot for slot, row in enumerate(rows) if row["gender"]}
    left, with_pronoun = common, set[int]()
    for path in sorted((shared / _OUTPUTS).glob("*.txt")):
        lengths = material.translated_lines()
        texts = read_translations(path, material.examples, other_lengths=lengths).translations
        read = {s for s in common | left if reading_of(texts[s], rows[s], "es")}
        common = common & read
        if path.stem in _SYSTEMS:
            letters = {s: gold[int(rows[s]["row"])][path.stem][rows[s]["slot"]] for s in left}
            read = {s for s in left if letters[s] in "mf"}
        else:
            with_pronoun |= {s for s in left if _PRONOUN.search(texts[s])}
        left = left & read
    n_of = Counter(rows[slot]["gender"] for slot in common)
    clusters = {rows[slot]["cluster"] for slot in common}
    card = " ".join((_ROOT / "cards/metrics/gender_form.md").read_text("utf-8").split())
    for words in (
        f"decide {len(common):,} slots with a gender in common ({n_of['male']:,} of men,"
        f" {n_of['female']:,} of women, in {len(clusters)} clusters)",
        f"above, {len(left):,} slots are left: {len(common - left)} are missing and"
        f" {len(left - common)} are added",
        f"{len(left & with_pronoun)} of the {len(left):,} slots are in such rows",
    ):
        assert words in card
    page = (_ROOT / "docs/archive.md").read_text("utf-8")
    assert f"| {len(common):,} slots that all decide |" in page


def test_the_page_on_archives_has_the_figures_of_the_results(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two systems, in both tables; and their leaderboard."""
    monkeypatch.syspath_prepend(str(_ROOT / "docs"))
    texts, script = map(importlib.import_module, ("archive_text", "leaderboard_figures"))
    monkeypatch.setattr(script, "_OUT", tmp_path)
    page = (_ROOT / "docs/archive.md").read_text("utf-8")
    material = cc_hf.load_material("gender_res", "en-es", data_dir=shared / "upstream")
    results, systems = [], ("Claude-3.5", "ONLINE-B")
    for system in systems:
        path = shared / _OUTPUTS / f"{system}.txt"
        result = cc_hf.evaluate(material, translations=path, metric="gender_form", name=system)
        results.append(result)
        women, men, gap = texts.system_cells(result)
        row = rf"^\| {system} \| \d \| [^|]* \| {re.escape(f'{women} | {men} | {gap}')} \|$"
        assert re.search(row, page, re.M)
        shares = [result.scores[f"accuracy_decided_{gender}"] for gender in ("female", "male")]
        figures = [f"{100 * value:.1f}" for value in (*shares, shares[1] - shares[0])]
        assert [cell.partition(" ")[0] for cell in (women, men, gap)] == figures
        of_open = texts.open_cells(_result(system, shared))
        assert f"| {' | '.join([system, *of_open])} |" in page
        assert f"{100 * _result(system, shared).scores['feminine_share']:.1f} (" in of_open[0]
    origins = [line for line in script._WMT24.origins(shared) if line.startswith(systems)]
    assert all(gender_res.DECLARATION.revision in line for line in origins)
    board = script.write_board("two", "Two systems", results, origins, shared / "upstream")
    assert "Two systems" in (tmp_path / "two/page/index.html").read_text("utf-8")
    assert [*board.rankings[0].results] == [*systems]


def test_files_of_the_suite_and_of_all_suites_give_the_same(shared: Path, tmp_path: Path) -> None:
    material = _material(shared)
    lines = (shared / _OUTPUTS / "GPT-4.txt").read_text(encoding="utf-8").split("\n")[8881:15567]
    sources = {example.extra["row"]: example.source for example in material.examples}
    texts = {
        "suite.txt": lines,
        "pairs.txt": [f"{s} ||| {t}" for s, t in zip(sources.values(), lines, strict=True)],
    }
    expected = _result("GPT-4", shared).scores
    for name, text in texts.items():
        (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")
        assert cc_hf.evaluate(material, translations=tmp_path / name).scores == expected
    (tmp_path / "blank.txt").write_text("\n".join(["", *lines[700:]]) + "\n" * 700, "utf-8")
    blank = cc_hf.evaluate(material, translations=tmp_path / "blank.txt")
    assert blank.scores.keys() == {"inconclusive_rate", "inconclusive_open"}
    assert any("no figure: " in note for note in blank.notes)


@cases(
    ("«Creo que soy guapa», dije.", "f"),
    ("&quot;Estoy cansado y tú eres lista&quot;.", "mf"),
    ("Usted está muy contenta.", "f"),
    ("Tengo miedo.", "-"),
    ("He sido tonta.", "f"),
    ("Soy una persona honesta.", "-"),
    ("Soy inteligente y egoísta.", "-"),
    ("Soy un egoísta.", "m"),
    ("No eres rápida, pero sí fuerte.", "f-"),
    ("Me siento perezosa con él.", "f"),
    ("Eres tú el hablador.", "m"),
    ("Creo que soy ordenada y tú pesas.", "f"),
    ("Ella se rió.", ""),
)
def test_forms_of_both_persons_are_read(text: str, read: str) -> None:
    assert "".join(gender[:1] or "-" for _, gender in read_persons(text)) == read


@cases(
    ({"persons": "first third"}, "row 0: persons: expected first or second .* got 'third'"),
    ({"slot": 2}, "row 0: slot: expected 0 to 1, .* got 2"),
    ({"gender": "open"}, "row 0: gender: expected male, female or nothing, got 'open'"),
    ({"groups": "beside_man"}, "row 0: groups: expected some of male, .* got 'beside_man'"),
)
def test_damaged_references_are_named(change: dict[str, Any], message: str) -> None:
    row = {"persons": "first second", "slot": 0, "gender": "male"}
    refuses(
        message, compute_metric, "gender_form", ["Soy bueno."], [{**row, **change}], tgt_lang="es"
    )
    refuses(
        r"tgt_lang: gender_form has a rule for es; .* got 'fr'",
        compute_metric,
        "gender_form",
        ["Soy bueno."],
        [row],
        tgt_lang="fr",
    )


@cases(
    ("He smiled.", "x\ttsuite_en-es_gender-res_0001", "line 1: expected a line of gender-res"),
    ("He smiled.", "x\tother", r"expected documents named \*gender-res_\*, got none"),
)
def test_damaged_lines_are_named(source: str, document: str, message: str, tmp_path: Path) -> None:
    paths = {}
    for name, text in (("sources/en-es.txt", source), ("documents/en-es.docs", document)):
        paths[f"txt-ts/{name}"] = tmp_path / name.replace("/", "-")
        paths[f"txt-ts/{name}"].write_text(text + "\r\n", encoding="utf-8", newline="")
    fails(DataError, message, list, gender_res.read_gender_res(paths, "en-es.all", "test"))
