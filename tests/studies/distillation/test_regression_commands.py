import json
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.comparing.system_table import read_system_table, regress, select_systems
from cc_hf.schema import Judgement
from cc_hf.studies.distillation.case_study import (
    CASE_STUDY,
    case_study_systems,
    published_regressions,
)
from tests.helpers.command_line import printed_by, read_json, run_command
from tests.helpers.judged import result_of
from tests.helpers.lines import write_jsonl, write_lines
from tests.helpers.refusals import refuses
from tests.helpers.results import write_result, write_seeds


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
    expected = [f"{float(row['mucow_infrequent']):g}" for row in read_system_table(CASE_STUDY)]
    assert [row["mucow:weighted_accuracy_infrequent"] for row in rows] == expected


def published_results(folder: Path) -> list[Path]:
    """Write the printed figures of appendix H as files of results, and their BLEU."""
    paths: list[Path] = []
    bleu = []
    for row in case_study_systems():
        name = f"{row.system} {row.tgt_lang}-seed{row.seed}"
        bleu.append({"system": name, "bleu": round(100 * (row.bleu or 0), 10)})
        for dataset in ("mucow", "winomt"):
            start = f"{dataset}:"
            scores = {k.removeprefix(start): v for k, v in row.figures.items() if start in k}
            origin = {"dataset": dataset, "config": "", "tgt_lang": row.tgt_lang, "system": name}
            origin["signature"] = f"cc|data:{dataset}/-@1|n:9"
            judgements = [Judgement(str(len(paths)), "all", True, "t", "correct")]
            metric = "contrastive_conditioning"
            result = result_of(judgements, n=9, metric=metric, scores=scores, **origin)
            paths.append(write_result(folder, f"{name}.{dataset}", result))
    write_jsonl(folder / "bleu.json", [bleu])
    return paths


def test_the_regression_of_results_equals_that_of_the_printed_table(tmp_path: Path) -> None:
    paths = published_results(tmp_path)
    table, bleu = tmp_path / "systems.tsv", tmp_path / "bleu.json"
    seqkd = ("--seqkd", "Student*")
    run_command("compare", "--by", "seed", *paths, *seqkd, "--bleu", bleu, "--table", table)
    printed, made = read_system_table(CASE_STUDY), read_system_table(table)
    for block in published_regressions():
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
    seeds = write_seeds(tmp_path)
    cases: list[tuple[list[str | Path], str]] = [
        ([CASE_STUDY, "--seqkd", "a"], "expected files of results (.json), which they complete"),
        ([CASE_STUDY, *seeds], "expected one table of systems (.csv or .tsv) or files of results"),
        ([*seeds], "row 1: bleu: expected a number, got ''"),
    ]
    command = "study distillation regression --dependent min_accuracy --independent bleu"
    for systems, message in cases:
        assert message in run_command(command, *systems, status=2).stderr
