import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cc_hf.plugins.raters import sheets
from tests.helpers.sheets import fill, read_table, write_table
from tests.helpers.usual import cases, refuses, write_text

FORM = sheets.SheetForm(
    "colours",
    "Which colour does the text name?",
    {"Text": "A text.", "Hint": "A hint."},
    {
        "COLOUR": {"Light Red": "It is red.", "Blue": "It is blue."},
        "SURE?": {"Yes": "", "No": ""},
    },
    {"system": (), "verdict": ("right", "wrong")},
    ("Do not hurry.",),
)
TEXTS = ["=1+1", "+2", "-3", "@sum", " =a", "＝wide", 'a "quoted", text', "two\nlines", "é", ""]
Change = Callable[[list[list[str]]], list[list[str]]]


def made(seed: int = 0) -> sheets.SheetKey:
    origin = {"system": "secret", "verdict": "right"}
    items = [((text, f"hint {number}"), origin) for number, text in enumerate(TEXTS)]
    return sheets.SheetKey.of(FORM, {"seed": seed}, items)


def written(folder: Path, **options: Any) -> list[Path]:
    files = sheets.rater_files(made(), **options)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files if name != sheets.GUIDELINES_NAME]


def test_sheets_that_a_program_fills_are_read(tmp_path: Path) -> None:
    key = made()
    (tmp_path / "key.json").write_text(sheets.key_text(key), encoding="utf-8")
    paths = written(tmp_path, n_raters=3)
    for path in paths:
        fill(path, lambda row: [" light  RED" if row["id"] == "3" else "blue", "yes"])

    read = sheets.SheetKey.read(tmp_path / "key.json", [FORM])
    assert read == key
    expected = {row.id: ("Light Red" if row.id == "3" else "Blue", "Yes") for row in key.rows}
    assert read.read_sheets(paths) == [expected] * 3


def test_sheets_have_the_same_rows_in_another_order(tmp_path: Path) -> None:
    first, second = (read_table(path)[1:] for path in written(tmp_path))
    assert first != second
    assert sorted(first) == sorted(second)


def test_sheets_do_not_show_who_made_a_text() -> None:
    for name, text in sheets.rater_files(made()).items():
        assert "secret" not in text, name
        assert "right" not in text, name


def test_the_seed_decides_the_order() -> None:
    assert sheets.rater_files(made()) == sheets.rater_files(made())
    assert sheets.rater_files(made()) != sheets.rater_files(made(1), seed=1)
    assert [row.cells for row in made().rows] != [row.cells for row in made(1).rows]


def test_no_cell_begins_like_a_formula(tmp_path: Path) -> None:
    (path, _) = written(tmp_path)
    cells = [cell for row in read_table(path) for cell in row]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert not [cell for cell in cells if cell.strip().startswith(("=", "+", "-", "@", "＝"))]
    assert "'=1+1" in cells


def test_the_guidelines_hold_goal_columns_labels_and_remarks() -> None:
    text = sheets.rater_files(made())[sheets.GUIDELINES_NAME]
    for part in ("**Hint**: A hint.", "## The column COLOUR", "**Blue**", "Do not hurr", FORM.goal):
        assert part in text


def test_the_same_texts_are_judged_once() -> None:
    first, second = {"system": "a", "verdict": "right"}, {"system": "b", "verdict": "wrong"}
    items = [(("x", ""), first), (("y", ""), first), (("x", ""), second)]
    key = sheets.SheetKey.of(FORM, {"seed": 0}, items)
    assert sorted((row.cells[0], len(row.origins)) for row in key.rows) == [("x", 2), ("y", 1)]


def test_spreadsheets_may_write_semicolons_move_columns_and_change_quotes(tmp_path: Path) -> None:
    (path, _) = written(tmp_path)
    fill(path, lambda row: ["Blue", "No"])
    rows = [[*row[::-1], "a note"] for row in read_table(path)]
    rows[0][-1] = "notes"
    rows = [[cell.replace('"', "“") for cell in row] for row in rows]
    write_table(path, rows, delimiter=";")
    assert set(sheets.read_sheet(path, made()).values()) == {("Blue", "No")}


def _with(column: int, text: str) -> Change:
    """Return what changes a cell of the first row."""
    return lambda rows: [rows[0], [*rows[1][:column], text, *rows[1][column + 1 :]], *rows[2:]]


@cases(
    (_with(0, "99"), r"line \d: row '99': this id is not in the key"),
    (_with(1, "more"), r"line \d: row '\d+': Text: expected the text of the key, .* do not chan"),
    (_with(3, ""), r"line \d: row '\d+': COLOUR: expected Light Red; Blue, got no label"),
    (_with(4, "maybe"), r"line \d: row '\d+': SURE\?: expected Yes; No, got 'maybe'"),
    (lambda rows: [*rows, rows[1]], r"line 1\d: row '\d+': this id occurs twice"),
    (lambda rows: rows[:-2], r"row '\d+' is missing \(and 1 more\)"),
    (lambda rows: [row[:-1] for row in rows], r"line 1: expected the column 'SURE\?'"),
    (lambda rows: [["nothing"]], r"line 1: expected the column 'id', got nothing"),
    (lambda rows: [], r"line 1: expected the column 'id', got none"),
    (lambda rows: [*rows, ["1", "x"]], r"expected 5 cells"),
)
def test_a_sheet_that_does_not_fit_is_refused(change: Change, message: str, tmp_path: Path) -> None:
    (path, _) = written(tmp_path)
    fill(path, lambda row: ["Blue", "No"])
    write_table(path, change(read_table(path)))
    refuses(message, sheets.read_sheet, path, made())


def test_sheets_of_one_rater_are_refused(tmp_path: Path) -> None:
    paths = written(tmp_path)
    fill(paths[0], lambda row: ["Blue", "No"])
    refuses("expected those of 2 raters or more, got 1", made().read_sheets, paths[:1])
    refuses(r"of each rater, got .*rater1.csv twice", made().read_sheets, paths[:1] * 2)
    for n_raters in (0, 1):
        refuses("expected at least 2", sheets.rater_files, made(), n_raters=n_raters)


@cases(
    (lambda key: key.update(form="flavours"), "form: expected one of colours, got 'fl"),
    (lambda key: key.pop("settings"), "expected the key 'settings'"),
    (lambda key: key.pop("rows"), "expected the key 'rows'"),
    (lambda key: key["rows"].clear(), "rows: expected at least one item, got"),
    (lambda key: key["rows"][1].update(id=1), "rows: item 2: id: expected a text, got 1"),
    (lambda key: key["rows"][1].update(cells=["x"]), "rows: item 2: expected 2 cells, got 1"),
    (lambda key: key["rows"][1].update(origins=[]), "item 2: origins: expected at least one"),
    (lambda key: key["rows"][1].update(id="1"), "rows: item 2: the id '1' occurs twice"),
    (lambda key: key["rows"][0]["origins"][0].clear(), "origins: item 1: expected the key 's"),
    (lambda key: key["rows"][0]["origins"][0].update(verdict="?"), "one of right, wrong, got '?'"),
    (lambda key: key["unrated"].append({}), "unrated: item 1: expected the key 'system'"),
)
def test_a_key_is_checked(change: Any, message: str, tmp_path: Path) -> None:
    key = json.loads(sheets.key_text(made()))
    change(key)
    file = write_text(tmp_path / "key.json", json.dumps(key))
    refuses(message.replace("?", r"\?"), sheets.SheetKey.read, file, [FORM])


def test_a_file_without_a_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    refuses("file not found", sheets.SheetKey.read, path, [FORM])
    refuses("expected the JSON of a key", sheets.SheetKey.read, write_text(path, "{"), [FORM])
