from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.data.homographs import HomographLexicon, SenseCluster
from cc_hf.errors import InputError
from cc_hf.results import Interval
from cc_hf.studies.adversarial.sheets import (
    Answer,
    SheetItem,
    key_text,
    rate_sheets,
    read_key,
    read_sheet,
    sheet_items,
    sheet_text,
)
from tests.helpers.attacks import sample_of, tagged, training_pairs

LEXICON = HomographLexicon(
    "en",
    "de",
    "0",
    {
        "spring": {
            "season": SenseCluster(("Frühling", "Lenz", "a", "b", "c", "too many")),
            "water": SenseCluster(("Quelle",)),
        }
    },
)


def made(n: int = 4, seed: int = 0) -> list[SheetItem]:
    samples = [replace(sample_of("hot"), id=str(i)) for i in range(6)]
    return sheet_items(samples, training_pairs(), LEXICON, n=n, seed=seed)


def filled(path: Path, items: list[SheetItem], answers: dict[str, tuple[str, str]]) -> Path:
    rows = list(csv.reader(sheet_text(items).splitlines()))
    for row in rows[1:]:
        row[-2:] = answers.get(row[0], ("1", "4"))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_a_sheet_holds_both_kinds_in_random_order_and_the_key_knows_which() -> None:
    items = made()
    assert sorted(item.kind for item in items) == ["adversarial"] * 4 + ["regular"] * 4
    assert {item.right for item in items} == {"1", "2"}
    for item in items:
        right = item.sense_1 if item.right == "1" else item.sense_2
        is_water = item.kind == "regular" and int(item.origin) > 3
        assert right == ("Quelle" if is_water else "Frühling, Lenz, a, b, c")
        assert item.word == "spring"
    assert made() == items
    assert made(seed=1) != items
    text = sheet_text(items)
    assert "adversarial" not in text
    assert "regular" not in text


def test_a_cell_that_a_spreadsheet_would_compute_is_text() -> None:
    items = [replace(made()[0], sentence="=1+1 spring")]
    assert "'=1+1 spring" in sheet_text(items)


def test_filled_sheets_give_error_rates_and_agreement(tmp_path: Path) -> None:
    items = made()
    (tmp_path / "key.jsonl").write_text(key_text(items), encoding="utf-8")
    key = read_key(tmp_path / "key.jsonl")
    assert key == items
    first = {item.id: (item.right, "5") for item in items}
    second = dict(first)
    adversarial = [item.id for item in items if item.kind == "adversarial"]
    second[adversarial[0]] = ("none", "2")
    second[adversarial[1]] = ("2" if first[adversarial[1]][0] == "1" else "1", "5")
    sheets = [
        read_sheet(filled(tmp_path / f"{number}.csv", items, answers), key)
        for number, answers in enumerate((first, second))
    ]
    assert sheets[1][adversarial[0]] == Answer("NONE", 2)
    figures = rate_sheets(key, *sheets)
    attacked, regular = figures.kinds
    assert (attacked.n, attacked.n_wrong, attacked.n_none, attacked.n_both) == (8, 1, 1, 0)
    assert attacked.error_rate == 0.25
    assert attacked.naturalness == 4.625
    assert regular.error_rate == 0.0
    assert regular.naturalness == 5.0
    assert isinstance(figures.kappa_interval, Interval)
    assert 0 < figures.kappa < 1
    assert figures.naturalness_kappas.keys() == {"linear", "quadratic"}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("3", "4"), "line 2: sense: expected 1, 2, NONE, BOTH, got '3'"),
        (("", "4"), "line 2: sense: expected"),
        (("1", "6"), "line 2: naturalness: expected 1 to 5, got '6'"),
    ],
)
def test_answers_that_were_not_offered_are_refused(
    tmp_path: Path, cells: tuple[str, str], message: str
) -> None:
    items = made()
    with pytest.raises(InputError, match=message):
        read_sheet(filled(tmp_path / "a.csv", items, {items[0].id: cells}), items)


def test_sheets_that_do_not_fit_the_key_are_refused(tmp_path: Path) -> None:
    items = made()
    path = filled(tmp_path / "a.csv", items, {})
    with pytest.raises(InputError, match=r"line 2: the id '1' is not in the key"):
        read_sheet(path, items[1:])
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"each sentence of the key, got none for '8' \(and 0 more"
    ):
        read_sheet(path, items)
    path.write_text("\n".join([*lines, lines[-1]]), encoding="utf-8")
    with pytest.raises(InputError, match="line 10: the id '8' occurs twice"):
        read_sheet(path, items)
    path.write_text("id,sentence\n1,x\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: expected the column 'WHICH SENSE"):
        read_sheet(path, items)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: expected a JSON object"),
        ('{"id": "1"}\n', "line 1: expected texts for id, kind"),
        ("", "expected at least one sentence"),
    ],
)
def test_a_key_is_checked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "key.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_key(path)
    items = made()
    path.write_text(key_text([items[0], items[0]]), encoding="utf-8")
    with pytest.raises(InputError, match="line 2: the id '1' occurs twice"):
        read_key(path)
    path.write_text(key_text([replace(items[0], right="3")]), encoding="utf-8")
    with pytest.raises(InputError, match="1 or 2 as right"):
        read_key(path)


def test_what_cannot_be_offered_is_refused() -> None:
    with pytest.raises(InputError, match="n: expected at least 1"):
        made(0)
    with pytest.raises(InputError, match="samples: expected adversarial samples"):
        sheet_items([], [], LEXICON)
    one_sense = replace(LEXICON, homographs={"spring": {"season": SenseCluster(("Lenz",))}})
    with pytest.raises(InputError, match="sample 'x': expected a cluster of 'spring'"):
        sheet_items([replace(sample_of("hot"), id="x")], [], one_sense)
    class_two = replace(
        one_sense, homographs={**one_sense.homographs, "bat": LEXICON.homographs["spring"]}
    )
    sample = replace(sample_of("hot"), homograph="bat")
    with pytest.raises(InputError, match="pair '7': 'spring' has one sense in the lexicon"):
        sheet_items([sample], [tagged(7, "A spring .", "season")], class_two)
