"""The reader of tables: workbooks that are damaged or hostile, separators, Parquet and JSON."""

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cc_hf.reading import Place
from cc_hf.tables.excel import read_sheet
from cc_hf.tables.rows import read_rows, separator_of
from tests.helpers.usual import cases, refuses, write_text
from tests.helpers.workbooks import write_workbook


def test_empty_cells_and_rows_keep_their_places(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "a.xlsx", ["a", "b", "c"], [], ["", "x", ""], [1, "", "y & z"])
    assert list(read_sheet(path)) == [(1, ["a", "b", "c"]), (3, ["", "x"]), (4, ["1", "", "y & z"])]
    of_names = [(where, row) for where, row in read_rows(path)]
    assert of_names[0] == (Place(path, 3, "row"), {"a": "", "b": "x", "c": ""})
    refuses(
        "row 2: expected 1 cells, one for each",
        list,
        read_rows(write_workbook(tmp_path / "b.xlsx", ["a"], ["1", "2"])),
    )


_SHEET = "xl/worksheets/sheet1.xml"


@cases(
    (_SHEET, "<worksheet", r"cannot be read \(.*no element found|unclosed token"),
    (_SHEET, '<row><c r="ZZZZ1"><v>1</v></c></row>', "'ZZZZ' is no column"),
    (_SHEET, '<row><c r="A1" t="s"><v>9</v></c></row>', "list index out of range"),
    (_SHEET, '<!DOCTYPE a [<!ENTITY b "c">]><row/>', "expected no entity declarations, got 'b'"),
    ("xl/workbook.xml", "<workbook/>", "list index out of range"),
)
def test_damaged_workbooks_are_named(part: str, text: str, message: str, tmp_path: Path) -> None:
    whole = write_workbook(tmp_path / "whole.xlsx", ["a"], ["b"])
    with zipfile.ZipFile(whole) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        for name, content in {**parts, part: text.encode()}.items():
            archive.writestr(name, content)
    refuses(
        f"a.xlsx: expected an Excel file, got one that cannot be read.*(?:{message})",
        list,
        read_rows(tmp_path / "a.xlsx"),
    )


@cases(
    ("a,b;c", ",", (), ","),
    ("a;b;c,d", ",", ("a", "b"), ";"),
    ("a\tb", ",", (), "\t"),
    ("a", "\t", (), "\t"),
    ('"a";"B"', ",", ("b",), ";"),
)
def test_separators_are_those_of_the_names(
    header: str, default: str, columns: tuple[str, ...], expected: str
) -> None:
    assert separator_of(header, default, columns) == expected


def test_columns_that_are_missing_are_named_in_every_format(tmp_path: Path) -> None:
    pq.write_table(pa.table({"b": [1]}), tmp_path / "a.parquet")
    write_workbook(tmp_path / "a.xlsx", ["b"], [1])
    write_text(tmp_path / "a.csv", "b\n1\n")
    for name in ("a.parquet", "a.xlsx", "a.csv"):
        refuses(
            rf"{name}.*: expected columns named a, got \['b'\]",
            list,
            read_rows(tmp_path / name, form={"a": str}),
        )
    write_text(tmp_path / "a.json", '[{"b": 1}]')
    refuses(
        "a.json: item 1: expected the key 'a'",
        list,
        read_rows(tmp_path / "a.json", form={"a": str}),
    )
