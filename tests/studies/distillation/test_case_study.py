import subprocess
from pathlib import Path
from typing import Any

import pytest

from cc_hf.citations import CITATIONS
from cc_hf.comparing.system_rows import mean_rows
from cc_hf.comparing.system_table import read_system_table, regress, select_systems
from cc_hf.errors import InputError
from cc_hf.reading import read_lines
from cc_hf.studies.distillation import case_study
from tests.helpers.cases import cases
from tests.helpers.lines import write_lines
from tests.helpers.refusals import refuses


def test_table_3_is_reproduced_and_significant_in_german_and_follows_its_table_in_russian() -> None:
    """For Russian, 1.39 and -2.14, 2.52 and -5.21 are published."""
    russian = {"MuCoW": [1.55, -2.90], "WinoMT": [2.50, -5.15]}
    for block, own in case_study.case_study_regressions():
        assert own.n == 30
        assert all(own.coefficient(name).p_value < 0.05 for name in ("bleu", "seqkd"))
        assert own.f_p_value < 0.05
        assert bool(block.note) == (block.tgt_lang == "ru")
        coefficients = [round(own.coefficient(name).value, 2) for name in ("bleu", "seqkd")]
        assert coefficients == (russian[block.task] if block.note else [block.bleu, block.seqkd])


def test_the_dependent_columns_are_minima() -> None:
    for row in read_system_table(case_study.CASE_STUDY):
        assert float(row["mucow_infrequent"]) < float(row["mucow_frequent"])
        assert float(row["winomt_female"]) < float(row["winomt_male"])
        assert (row["seqkd"] == "1") == row["model"].startswith("Student of")
    assert "vamvas-sennrich-2021" in CITATIONS


def test_the_table_is_not_ignored_by_git(root: Path) -> None:
    """Hatch takes all of the folder cc_hf except what git ignores."""
    path = case_study.CASE_STUDY.relative_to(root)
    assert path.parts[0] == "cc_hf"
    options: Any = {"cwd": root, "capture_output": True, "text": True, "check": False}
    assert subprocess.run(["git", "check-ignore", path], **options).stdout == ""


@cases(
    ([], "a line of names and at least one row, got"),
    (["a,b"], "a line of names and at least one row, got names only"),
    (["a,a", "1,2"], "different names"),
    (["a,b", "1"], "line 2: expected 2 cells, one for each name, got 1"),
)
def test_malformed_tables_are_refused(lines: list[str], message: str, tmp_path: Path) -> None:
    refuses(message, read_system_table, write_lines(tmp_path / "t.csv", lines))


def test_unknown_columns_and_bad_cells_are_refused(tmp_path: Path) -> None:
    lines = ['name,"b, c",y', "x,1,2", "z,many,3"]
    rows = read_system_table(write_lines(tmp_path / "t.csv", lines))
    assert rows[0] == {"name": "x", "b, c": "1", "y": "2"}
    refuses("column: expected one of name, b, c, y, got 'd'", regress, rows, "d", ["y"])
    refuses("row 2: b, c: expected a number, got 'many'", regress, rows, "y", ["b, c"])
    refuses("independents: expected different columns, got y, y", regress, rows, "y", ["y", "y"])
    with pytest.raises(InputError, match="expected a system with name = q, got none among 2"):
        select_systems(rows, {"name": "q"})


def test_published_means_are_those_of_the_specification() -> None:
    """Vamvas & Sennrich 2021, appendix H: rare senses of big models and their teachers."""
    means = {
        (m.first.system, m.first.tgt_lang): m for m in mean_rows(case_study.case_study_systems())
    }
    assert len(means) == 20
    shares = {k: mean.figures["mucow:weighted_min_accuracy"].mean for k, mean in means.items()}
    figures = {key: round(100 * share, 1) for key, share in shares.items()}
    teacher, student = "SOTA Teacher big", "Student of SOTA Teacher big"
    assert (figures[teacher, "de"], figures[student, "de"]) == (79.3, 70.9)
    assert (figures[teacher, "ru"], figures[student, "ru"]) == (87.9, 80.9)


@pytest.mark.shared
def test_the_case_study_table_equals_that_of_the_appendix(shared: Path) -> None:
    lines = read_lines(shared / "papers/contrastive-conditioning-appendix-h.txt")
    printed = [line.strip() for line in lines if "." in line and line.strip()[-1:].isdigit()]
    systems = read_system_table(case_study.CASE_STUDY)
    assert len(systems) == len(printed) == 60
    for line, system in zip(printed, systems, strict=True):
        own = f"{system['number']} {' '.join([*system.values()][5:])}"
        # model and size are printed once for their numbers
        assert line == (f"{system['model']} {system['size']} {own}" if line[0].isalpha() else own)
        assert (system["number"] == "1") == line[0].isalpha()
