import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.common.system_columns import regress, select_systems
from cc_hf_studies.distillation import case_study

from cc_hf.citations import CITATIONS
from cc_hf.plugins.seeds.system_rows import mean_rows
from cc_hf.plugins.seeds.system_table import read_system_table
from cc_hf.reading import read_lines
from tests.helpers.results import write_result, write_seeds
from tests.helpers.usual import (
    printed_by,
    read_json,
    refuses,
    result_of,
    run_command,
    write_jsonl,
    write_lines,
)


def test_table_3_is_reproduced_and_significant_in_german_and_follows_its_table_in_russian() -> None:
    """For Russian, 1.39 and -2.14, 2.52 and -5.21 are published."""
    russian = {"MuCoW": [1.55, -2.90], "WinoMT": [2.50, -5.15]}
    for block, regression in case_study.case_study_regressions():
        assert regression.n == 30
        assert all(regression.coefficient(name).p_value < 0.05 for name in ("bleu", "seqkd"))
        assert regression.f_p_value < 0.05
        assert bool(block.note) == (block.tgt_lang == "ru")
        coefficients = [round(regression.coefficient(name).value, 2) for name in ("bleu", "seqkd")]
        assert coefficients == (russian[block.task] if block.note else [block.bleu, block.seqkd])


def test_the_dependent_columns_are_minima() -> None:
    for row in read_system_table(case_study.CASE_STUDY):
        assert float(row["mucow_infrequent"]) < float(row["mucow_frequent"])
        assert float(row["winomt_female"]) < float(row["winomt_male"])
        assert (row["seqkd"] == "1") == row["model"].startswith("Student of")
    assert "vamvas-sennrich-2021" in CITATIONS


def test_the_table_is_not_ignored_by_git(root: Path) -> None:
    """Hatch takes all of the folder of the package except what git ignores."""
    path = case_study.CASE_STUDY.relative_to(root)
    assert path.parts[:2] == ("studies", "cc_hf_studies")
    options: Any = {"cwd": root, "capture_output": True, "text": True, "check": False}
    assert subprocess.run(["git", "check-ignore", path], **options).stdout == ""


def test_unknown_columns_and_bad_cells_are_refused(tmp_path: Path) -> None:
    lines = ['name,"b, c",y', "x,1,2", "z,many,3"]
    rows = read_system_table(write_lines(tmp_path / "t.csv", lines))
    assert rows[0] == {"name": "x", "b, c": "1", "y": "2"}
    refuses("column: expected one of name, b, c, y, got 'd'", regress, rows, "d", ["y"])
    refuses("row 2: b, c: expected a number, got 'many'", regress, rows, "y", ["b, c"])
    refuses("independents: expected different columns, got y, y", regress, rows, "y", ["y", "y"])
    refuses("expected a system with name = q, got none among", select_systems, rows, {"name": "q"})


def test_published_means_are_those_of_the_specification() -> None:
    """Vamvas & Sennrich 2021, appendix H: rare senses of big models and their teachers."""
    rows = mean_rows(case_study.case_study_systems())
    means = {(mean.first.system, mean.first.tgt_lang): mean for mean in rows}
    assert len(means) == 20
    shares = {k: mean.figures["mucow:weighted_min_accuracy"].mean for k, mean in means.items()}
    figures = {key: round(100 * share, 1) for key, share in shares.items()}
    teacher, student = "SOTA Teacher big", "Student of SOTA Teacher big"
    assert (figures[teacher, "de"], figures[student, "de"]) == (79.3, 70.9)
    assert (figures[teacher, "ru"], figures[student, "ru"]) == (87.9, 80.9)


def test_the_case_study_table_equals_that_of_the_appendix(shared: Path) -> None:
    lines = read_lines(shared / "papers/contrastive-conditioning-appendix-h.txt")
    printed = [line.strip() for line in lines if "." in line and line.strip()[-1:].isdigit()]
    systems = read_system_table(case_study.CASE_STUDY)
    assert len(systems) == len(printed) == 60
    for line, system in zip(printed, systems, strict=True):
        figures = f"{system['number']} {' '.join([*system.values()][5:])}"
        # model and size are printed once for their numbers
        named = f"{system['model']} {system['size']} {figures}"
        assert line == (named if line[0].isalpha() else figures)
        assert (system["number"] == "1") == line[0].isalpha()


def test_regression_reproduces_the_published_figures(tmp_path: Path) -> None:
    command = "study distillation regression"
    printed = printed_by(f"{command} -o {tmp_path}/r.json")
    figures = "1.78 −6.47 5.00 −7.56 1.55 −2.90 2.50 −5.15 1.39 −2.14"
    assert [figure for figure in figures.split() if f"{figure}*" not in printed] == []
    assert "MuCoW en-ru:" in printed
    assert "do not follow from the printed table" in printed
    rows = read_json(tmp_path / "r.json")["regressions"]
    tasks = ["MuCoW", "MuCoW", "WinoMT", "WinoMT"]
    assert [(row["published"]["task"], row["n"]) for row in rows] == [(t, 30) for t in tasks]
    refuses("with options, got options alone", printed_by, f"{command} --dependent x")


def test_regression_reads_a_table_of_systems(tmp_path: Path) -> None:
    rows = ["pair,bleu,min", "de,1,1", "de,2,2.5", "de,3,2.7", "de,4,4.1", "ru,1,9"]
    table = write_lines(tmp_path / "systems.csv", rows)
    command = f"study distillation regression {table} --dependent min"
    printed = printed_by(f"{command} --independent bleu --where pair=de -o {tmp_path}/r.json")
    assert "min: least squares, n = 4" in printed
    assert read_json(tmp_path / "r.json")["coefficients"][1]["value"] == pytest.approx(0.95)
    refuses("expected --dependent COLUMN", printed_by, command)


def test_published_systems_are_printed_and_drawn(tmp_path: Path) -> None:
    options = f"--plot {tmp_path}/p.svg --each-seed --table {tmp_path}/p.tsv"
    shown = run_command(f"study distillation systems {options}", environment={"COLUMNS": "80"})
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "79.3 ± 0.6" in shown.stdout
    text = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "WinoMT: weighted minimum accuracy, %" in text
    assert "English → Russian" in text
    rows = read_system_table(tmp_path / "p.tsv")
    known_rows = read_system_table(case_study.CASE_STUDY)
    expected = [f"{float(row['mucow_infrequent']):g}" for row in known_rows]
    assert [row["mucow:weighted_accuracy_infrequent"] for row in rows] == expected


def published_results(folder: Path) -> list[Path]:
    """Write the printed figures of appendix H as files of results, and their BLEU."""
    paths: list[Path] = []
    bleu = []
    for row in case_study.case_study_systems():
        name = f"{row.system} {row.tgt_lang}-seed{row.seed}"
        bleu.append({"system": name, "bleu": round(100 * (row.bleu or 0), 10)})
        for dataset in ("mucow", "winomt"):
            start = f"{dataset}:"
            scores = {k.removeprefix(start): v for k, v in row.figures.items() if start in k}
            origin = {"dataset": dataset, "config": "", "tgt_lang": row.tgt_lang, "system": name}
            origin["signature"] = f"cc|data:{dataset}/-@1|n:9"
            metric = "contrastive_conditioning"
            result = result_of((), n=9, metric=metric, scores=scores, **origin)
            paths.append(write_result(folder, f"{name}.{dataset}", result))
    write_jsonl(folder / "bleu.json", [bleu])
    return paths


def test_the_regression_of_results_equals_that_of_the_printed_table(tmp_path: Path) -> None:
    paths = published_results(tmp_path)
    table, bleu = tmp_path / "systems.tsv", tmp_path / "bleu.json"
    seqkd = ("--seqkd", "Student*")
    run_command("compare", "--by", "seed", *paths, *seqkd, "--bleu", bleu, "--table", table)
    printed, made = read_system_table(case_study.CASE_STUDY), read_system_table(table)
    for block in case_study.published_regressions():
        dependent = f"{block.task.lower()}:weighted_min_accuracy"
        where = {"tgt_lang": block.tgt_lang}
        expected = regress(select_systems(printed, where), block.dependent, ["bleu", "seqkd"])
        fit = regress(select_systems(made, where), dependent, ["bleu", "seqkd"])
        assert fit.n == 30
        assert replace(fit, dependent=block.dependent) == expected
    # The last block again, from the files of results in one command.
    russian = [path for path in paths if " ru-seed" in path.name]
    write_jsonl(bleu, [[row for row in read_json(bleu) if " ru-" in row["system"]]])
    columns = f"--independent bleu --independent seqkd --dependent {dependent} --json"
    command = f"study distillation regression --bleu {bleu} {columns}"
    row = json.loads(run_command(command, *seqkd, *russian).stdout)
    values = {c["name"]: c["value"] for c in row["coefficients"]}
    assert values == {c.name: c.value for c in fit.coefficients}


def test_tables_take_no_options_of_results(tmp_path: Path) -> None:
    seeds, table = write_seeds(tmp_path), case_study.CASE_STUDY
    cases: list[tuple[list[str | Path], str]] = [
        ([table, "--seqkd", "a"], "expected files of results (.json), which they complete"),
        ([table, *seeds], "expected one table of systems (.csv or .tsv) or files of results"),
        ([*seeds], "row 1: bleu: expected a number, got ''"),
    ]
    command = "study distillation regression --dependent min_accuracy --independent bleu"
    for systems, message in cases:
        assert message in run_command(command, *systems, status=2).stderr
