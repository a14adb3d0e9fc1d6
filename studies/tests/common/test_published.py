"""Printed figures: their files, that they are those of the papers, and results beside them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cc_hf_studies
import pytest
from cc_hf_studies.common.own_results import own_rows, read_own
from cc_hf_studies.common.published_tables import published_table

from cc_hf import citations
from cc_hf.comparing.published import PublishedTable, read_published
from cc_hf.plugins import raters
from tests.helpers.results import result_of_twenty
from tests.helpers.usual import (
    cases,
    printed,
    printed_by,
    read_json,
    refuses,
    write_lines,
)

RESULT = result_of_twenty((0.5, 0.8))
_FOLDERS = sorted(path.parent for path in Path(cc_hf_studies.__path__[0]).glob("*/published.tsv"))
_ALL = [*_FOLDERS, Path(raters.__path__[0])]
_TABLES = {(f.name, name): table for f in _ALL for name, table in read_published(f).items()}
#: Paper -> the file of its text.
_TEXTS = {"currey-2022": "mt-geneval", "vamvas-sennrich-2021": "contrastive-conditioning*"}
_TEXTS |= {"Emelin 2023": "lexical-understanding-thesis", "renduchintala-2021": "simplegen"}
#: Not printed, see tests/parity/test_human_agreement.py.
_OF_NOTEBOOKS = {("raters", "Table 2, unweighted")}
_WHERE = ("Table 1, a", "currey-2022", "appendix A", "x", "percent", "")
_PATHS = {"de": ("config=c scores/a", "scores/b"), "fr": ("data~x rows/name=n/v",)}
_ROWS = {"A": {"de": "1.5*", "fr": "-2,000"}, "B": {"fr": "7"}}
_TABLE = PublishedTable(*_WHERE, _PATHS, "", _ROWS)
_LIMITS = {"low": 0.412, "high": 0.6}


@pytest.mark.parametrize("name", _TABLES, ids="-".join)
def test_every_table_has_a_paper_and_says_how_it_is_made_or_why_not(name: tuple[str, str]) -> None:
    table = _TABLES[name]
    assert table.paper in citations.CITATIONS or table.paper.startswith("Emelin 2023")
    assert table.section
    assert table.unit in {"percent", "points", "share", "count", "text"}
    assert table.command or table.note
    assert table.rows or table.note
    assert not [pattern for pattern in table.results if not table.columns]


@pytest.mark.parametrize("name", sorted(_TABLES.keys() - _OF_NOTEBOOKS), ids="-".join)
def test_figures_are_printed_in_the_paper(name: tuple[str, str], shared: Path) -> None:
    table = _TABLES[name]
    paths = sorted((shared / "papers").glob(f"{_TEXTS[table.paper]}.txt"))
    known = _numbers("\n".join(path.read_text(encoding="utf-8") for path in paths))
    for row, cells in table.rows.items():
        assert _numbers(" ".join(cells.values())) <= known, row


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in re.findall(r"[\d.,]*\d", text)}


def test_means_and_sums_of_printed_rows_are_those_that_are_printed() -> None:
    newstests = _TABLES["lexical_shortcuts", "Table 5.2"]
    for row in newstests.rows:
        values = [newstests.value(row, f"nt{year}") for year in range(2014, 2019)]
        assert sum(values) / 5 == pytest.approx(newstests.value(row, "mean"), abs=0.051)
    for lang, n in (("de", 3774), ("fr", 2988)):
        pronouns = _TABLES["wino_x", f"Table 4.9, en-{lang}"]
        row = "preferred by BASE"
        assert sum(pronouns.value(row, gender) for gender in pronouns.rows[row]) == n
    conditioned = _TABLES["distillation", "Table 1"]
    for column in list(conditioned.columns)[:5]:
        correct, incorrect, score = (conditioned.value(row, column) for row in conditioned.rows)
        assert correct / (correct + incorrect) == pytest.approx(score, abs=6e-4)
    gaps = _TABLES["mt_geneval", "Table 8"]
    others = [lang for lang in gaps.columns if lang != "ar"]
    mean = sum(gaps.value(row, lang) for row in gaps.rows for lang in others) / 21
    assert mean == pytest.approx(0.1092, abs=0.001)


def test_cells_are_numbers_in_their_unit() -> None:
    assert (_TABLE.value("A", "de"), _TABLE.value("A", "fr")) == (0.015, -20)
    assert replace(_TABLE, unit="count").value("A", "fr") == -2000
    assert (_TABLE.columns, _TABLE.number) == (("de", "fr"), "1")


def test_results_fill_the_columns_that_their_conditions_and_paths_find() -> None:
    first = {"config": "c", "scores": {"a": 0.5}}
    second = {"data": "axb", "rows": [{"name": "m", "v": 1}, {"name": "n", "v": 0.25}]}
    third = {"config": "d", "scores": {"a": 0.1, "b": 0.75}}
    rows = own_rows(_TABLE, [("x", first), ("x", second), ("x", third), ("y", {"scores": []})])
    assert [row[:2] for row in rows] == [("x", {"de": 0.5, "fr": 0.25}), ("x", {"de": 0.75})]
    text = printed(published_table(_TABLE, rows))
    assert text.index("50.0") < text.index("1.5*")
    assert "Currey et al. 2022, appendix A" in text


@cases(
    ("scores/a", {"scores": {"a": 0.5}, "intervals": {"a": _LIMITS}}, "50.0 (41.2 – 60.0)"),
    ("kappa", {"kappa": 0.5, "kappa_interval": _LIMITS}, "50.0 (41.2 – 60.0)"),
    ("rows/0/r", {"rows": [{"r": 0.5, "interval": _LIMITS}]}, "50.0 (41.2 – 60.0)"),
    ("d/second", {"d": {"second": 0.5, "interval": _LIMITS}}, "50.0"),  # of the difference
    ("r", {"r": 0.5, "interval": {"reason": "too few"}}, "50.0"),
)
def test_intervals_stand_beside_figures(path: str, result: dict[str, Any], shown: str) -> None:
    table = replace(_TABLE, results={"de": (path,)})
    lines = printed(published_table(table, own_rows(table, [("mine", result)]))).splitlines()
    assert [" ".join(line.split()) for line in lines if "mine" in line] == [f"mine {shown}"]


def test_results_are_read_alone_in_lists_and_in_sets(tmp_path: Path) -> None:
    rows = [{"system": "a"}, {"b": 1}]
    values = {"one": rows[0], "list": rows, "set": {"results": rows}}
    files = [write_lines(tmp_path / f"{n}.json", [json.dumps(v)]) for n, v in values.items()]
    assert [name for name, _ in read_own(files)] == ["a", "a", "list", "a", "set"]


def test_printed_figures_stand_alone_or_below_those_of_results(tmp_path: Path) -> None:
    scores = {"dataset": "newstest2014", "tgt_lang": "de", "bleu": 26.4}
    result = write_lines(tmp_path / "ours.json", [json.dumps([scores])])
    command = "study lexical_shortcuts published"
    alone = printed_by(f"{command} --table 5.2")
    assert "26.8" in alone
    assert "ours" not in alone
    beside = printed_by(f"{command} {result} -o {tmp_path}/o.json")
    assert beside.index("26.4") < beside.index("25.8")
    (table,) = read_json(tmp_path / "o.json")
    assert (table["table"], table["unit"]) == ("Table 5.2", "points")
    assert table["results"] == [{"name": "ours", "cells": {"nt2014": 26.4}}]
    assert table["printed"]["BIG"]["mean"] == "32.1"


@cases(
    ("--table 5.22", "unknown table '5.22'; did you mean '5.2'"),
    ("--table 5.2 {}", "expected a result with figures of 5.2, got empty"),
    ("nowhere.json", "file not found"),
)
def test_what_no_table_has_is_refused(options: str, message: str, tmp_path: Path) -> None:
    result = write_lines(tmp_path / "empty.json", ["{}"])
    refuses(message, printed_by, f"study lexical_shortcuts published {options.format(result)}")
