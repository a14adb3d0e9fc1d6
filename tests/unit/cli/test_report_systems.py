"""Tables of systems from files of results, and what reads them: chart, regression, speed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cc_hf.comparing.system_table import read_system_table, regress, select_systems
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.studies.distillation.case_study import (
    CASE_STUDY,
    PUBLISHED_REGRESSIONS,
    case_study_systems,
)
from cc_hf.studies.speed.points import PUBLISHED
from tests.helpers.command_line import run_command
from tests.helpers.results import small_result, write_result

GROUPS = ("FoFc", "MoFc", "MoMc", "FoMc")


@pytest.fixture
def seeds(tmp_path: Path) -> list[Path]:
    """Write results of two sizes and two seeds, with their BLEU and times."""
    systems = {
        "base-seed1": (0.5, 0.9, 20.5, 3.0),
        "base-seed2": (0.7, 0.9, 21.5, 3.5),
        "fast-seed1": (0.2, 0.9, 18.0, 1.0),
        "fast-seed2": (0.4, 0.9, 19.0, 1.5),
    }
    bleu = [{"system": name, "bleu": values[2]} for name, values in systems.items()]
    times = [{"system": name, "seconds": v[3], "beams": 5} for name, v in systems.items()]
    (tmp_path / "bleu.json").write_text(json.dumps(bleu), encoding="utf-8")
    (tmp_path / "times.json").write_text(json.dumps({"timings": times}), encoding="utf-8")
    return [
        write_result(tmp_path, name, small_result(values[:2], system=name[:4]))
        for name, values in systems.items()
    ]


def files(folder: Path) -> list[str | Path]:
    return ["--bleu", folder / "bleu.json", "--timing", folder / "times.json"]


def test_a_table_is_made_of_results_bleu_times_and_labels(
    seeds: list[Path], tmp_path: Path
) -> None:
    labels = ["--group", "*=ours", "--size", "base=6M", "--size", "fast=2M", "--seqkd", "fast"]
    shown = run_command(
        "report",
        "systems",
        *seeds,
        *files(tmp_path),
        *labels,
        "--output",
        tmp_path / "systems.tsv",
        "--means",
        tmp_path / "means.csv",
        "--plot",
        tmp_path / "chart.svg",
    )
    rows = read_system_table(tmp_path / "systems.tsv")
    assert [row["system"] for row in rows] == ["base", "base", "fast", "fast"]
    assert ",".join(rows[0]).startswith("system,group,size,seed,seqkd,tgt_lang,bleu,seconds,")
    first = rows[0]
    assert (first["seed"], first["bleu"], first["seconds"]) == ("1", "20.5", "3")
    assert (first["beams"], first["n_female"], first["accuracy_female"]) == ("5", "10", "50")
    means = read_system_table(tmp_path / "means.csv")
    assert [(m["n_seeds"], m["min_accuracy"], m["bleu_sd"]) for m in means] == [
        ("2", "60", "0.7071067812"),
        ("2", "30", "0.7071067812"),
    ]
    assert "60.0 ± 14.1" in shown.stdout
    assert "3.2 ± 0.4" in shown.stdout
    text = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    for word in ("English → German", "minimum accuracy, %", "ours", "6M", "SeqKD"):
        assert word in text
    assert shown.stderr.count("written:") == 3


def test_json_has_seeds_and_means(seeds: list[Path], tmp_path: Path) -> None:
    shown = run_command("report", "systems", *seeds, *files(tmp_path), "--json")
    content = json.loads(shown.stdout)
    assert content["systems"][0]["figures"]["min_accuracy"] == 0.5
    assert content["systems"][0]["intervals"]["accuracy"] == pytest.approx([0.6, 0.8])
    assert content["means"][1]["seconds"] == {
        "mean": 1.25,
        "sd": pytest.approx(0.5 / 2**0.5),
        "values": [1.0, 1.5],
    }
    refused = run_command("report", "systems", *seeds, "--json", "-o", "-", status=2)
    assert "--output: expected a file beside --json" in refused.stderr
    shown = run_command("report", "systems", *seeds, "-o", "-")
    assert shown.stdout.startswith("system\tgroup\t")
    assert "min_accuracy" in shown.stderr


def test_charts_have_a_line_for_each_group_or_seed(seeds: list[Path], tmp_path: Path) -> None:
    labels = ["--group", "*=ours", "--size", "base=6M", "--size", "fast=2M"]
    n_lines = {}
    for kind, more in {"means": [], "seeds": ["--by-seed"]}.items():
        path = tmp_path / f"{kind}.svg"
        run_command("report", "systems", *seeds, *files(tmp_path), *labels, "--plot", path, *more)
        text = path.read_text(encoding="utf-8")
        dashes = re.findall(r'<path d="([^"]*)" [^>]*stroke-dasharray', text)
        n_lines[kind] = len([path for path in dashes if path.count("\n") > 1 or "L" in path])
    assert n_lines == {"means": 2, "seeds": 3}  # one is the line of the legend


def test_systems_without_bleu_are_named_and_not_drawn(seeds: list[Path], tmp_path: Path) -> None:
    plot = tmp_path / "chart.png"
    refused = run_command("report", "systems", *seeds, "--plot", plot, status=2)
    assert "--plot: expected systems with BLEU and the figure to draw, got none" in refused.stderr
    known = ["--bleu", "base-seed1=20", "--bleu", "base-seed2=21"]
    shown = run_command("report", "systems", *seeds, *known, "--plot", plot)
    assert "note: BLEU is not known for fast, not drawn in" in shown.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_published_systems_are_printed_and_drawn(tmp_path: Path) -> None:
    shown = run_command(
        "study",
        "distillation",
        "systems",
        "--plot",
        tmp_path / "p.svg",
        "--by-seed",
        "-o",
        tmp_path / "p.tsv",
        environment={"COLUMNS": "80"},
    )
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "79.3 ± 0.6" in shown.stdout
    text = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "WinoMT: weighted minimum accuracy, %" in text
    assert "English → Russian" in text
    rows = read_system_table(tmp_path / "p.tsv")
    printed = read_system_table(CASE_STUDY)
    assert [row["mucow:weighted_accuracy_infrequent"] for row in rows] == [
        f"{float(row['mucow_infrequent']):g}" for row in printed
    ]


def test_wrong_options_are_refused(seeds: list[Path], tmp_path: Path) -> None:
    cases: list[tuple[list[str | Path], str]] = [
        ([], "expected files of results or --published, got both or neither"),
        ([*seeds, "--published"], "expected files of results or --published"),
        (["--published", "--seqkd", "a"], "--published: expected no --name, --bleu"),
        ([*seeds, "--figure", "min"], "unknown figure 'min'"),
        ([*seeds, "--weighted"], "--weighted: expected results with weighted accuracies"),
        ([*seeds, "--group", "base"], "--group: expected key=value, got 'base'"),
        ([*seeds, "--metric", "own"], "expected results of the metric own, got none"),
        ([*seeds, "--plot", tmp_path / "a.txt"], "--plot: expected a file that ends in"),
    ]
    for arguments, message in cases:
        shown = run_command("report", "systems", *arguments, status=2)
        assert message in shown.stderr


def test_the_report_of_files_is_as_before(seeds: list[Path], tmp_path: Path) -> None:
    shown = run_command("report", *seeds[:1])
    assert "base-seed1" in shown.stdout
    refused = run_command("report", seeds[0], "--html", tmp_path / "no/x.html", status=2)
    assert refused.stderr.startswith("error: --html: the folder")


def published_results(folder: Path) -> list[Path]:
    """Write the printed figures of appendix H as files of results, and their BLEU."""
    paths: list[Path] = []
    bleu = []
    for row in case_study_systems():
        name = f"{row.system} {row.tgt_lang}-seed{row.seed}"
        bleu.append({"system": name, "bleu": round(100 * (row.bleu or 0), 10)})
        for dataset in ("mucow", "winomt"):
            scores = {
                figure.partition(":")[2]: value
                for figure, value in row.figures.items()
                if figure.startswith(dataset)
            }
            result = EvaluationResult(
                dataset, "", row.tgt_lang, "contrastive_conditioning", f"cc|data:{dataset}/-@1|n:9",
                9, scores, {}, (), (Judgement(str(len(paths)), "all", True, "t", "correct"),),
                system=name,
            )  # fmt: skip
            paths.append(write_result(folder, f"{name}.{dataset}", result))
    (folder / "bleu.json").write_text(json.dumps(bleu), encoding="utf-8")
    return paths


def test_the_regression_of_results_equals_that_of_the_printed_table(tmp_path: Path) -> None:
    paths = published_results(tmp_path)
    table = tmp_path / "systems.tsv"
    common: list[str | Path] = ["--bleu", tmp_path / "bleu.json", "--seqkd", "Student*"]
    run_command("report", "systems", *paths, *common, "-o", table)
    printed, made = read_system_table(CASE_STUDY), read_system_table(table)
    for block in PUBLISHED_REGRESSIONS:
        dependent = f"{block.task.lower()}:weighted_min_accuracy"
        where = {"tgt_lang": block.tgt_lang}
        expected = regress(select_systems(printed, where), block.dependent, ["bleu", "seqkd"])
        fit = regress(select_systems(made, where), dependent, ["bleu", "seqkd"])
        assert fit.n == 30
        assert replace(fit, dependent=block.dependent) == expected
    # The last block again, from the files of results in one command.
    russian = [path for path in paths if " ru-seed" in path.name]
    known = [r for r in json.loads((tmp_path / "bleu.json").read_text()) if " ru-" in r["system"]]
    (tmp_path / "ru.json").write_text(json.dumps(known), encoding="utf-8")
    columns = ["--independent", "bleu", "--independent", "seqkd", "--dependent", dependent]
    more: list[str | Path] = ["--bleu", tmp_path / "ru.json", "--seqkd", "Student*"]
    shown = run_command("study", "distillation", "regression", *russian, *more, *columns, "--json")
    values = {c["name"]: c["value"] for c in json.loads(shown.stdout)["coefficients"]}
    assert values == {c.name: c.value for c in fit.coefficients}


def test_tables_take_no_options_of_results(seeds: list[Path], tmp_path: Path) -> None:
    common = ["--dependent", "min_accuracy", "--independent", "bleu"]
    cases: list[tuple[list[str | Path], str]] = [
        ([CASE_STUDY, "--seqkd", "a"], "expected files of results (.json), which they complete"),
        ([CASE_STUDY, *seeds], "expected one table of systems (.csv or .tsv) or files of results"),
        ([*seeds, "--published"], "--published: expected neither files nor columns"),
    ]
    for systems, message in cases:
        shown = run_command("study", "distillation", "regression", *systems, *common, status=2)
        assert message in shown.stderr
    shown = run_command("study", "distillation", "regression", *seeds, *common, status=2)
    assert "row 1: bleu: expected a number, got ''" in shown.stderr


def simplegen_result(accuracies: Sequence[float], system: str) -> EvaluationResult:
    """Return a result with these accuracies of the groups."""
    by_group = dict(zip(GROUPS, accuracies, strict=True))
    scores = {
        **{f"accuracy_{name}": value for name, value in by_group.items()},
        "accuracy_pro": (814 * by_group["MoMc"] + 518 * by_group["FoFc"]) / 1332,
        "accuracy_anti": (814 * by_group["MoFc"] + 518 * by_group["FoMc"]) / 1332,
        "accuracy": 0.5,
        "inconclusive_rate_pro": 0.1,
        "inconclusive_rate_anti": 0.2,
    }
    return EvaluationResult(
        "simplegen", "en-de", "de", "simplegen_accuracy",
        f"sg|data:simplegen/en-de@1|sys:{system}|n:2664", 2664, scores, {},
        tuple(CategoryAccuracy(name, 10, 5, 0.5) for name in GROUPS), (), {"n_no_form": 7},
    )  # fmt: skip


def speed_files(folder: Path) -> list[str | Path]:
    """Write the systems of one part of the published table as results, with BLEU and times."""
    rows = select_systems(read_system_table(PUBLISHED), {"tgt_lang": "de", "part": "single"})
    paths: list[str | Path] = []
    bleu, times = [], []
    for row in rows:
        name = row["model"]
        accuracies = [float(row[group]) / 100 for group in GROUPS]
        paths.append(write_result(folder, f"r{len(paths)}", simplegen_result(accuracies, name)))
        system = f"r{len(paths) - 1}"
        bleu.append({"system": system, "bleu": float(row["bleu"])})
        entry = {"system": system, "seconds": float(row["seconds"]), "beams": 5}
        times.append({**entry, "precision": "fp32", "backend": "torch"})
    (folder / "bleu.json").write_text(json.dumps(bleu), encoding="utf-8")
    (folder / "times.json").write_text(json.dumps({"timings": times}), encoding="utf-8")
    return paths


def test_speed_of_results_equals_that_of_the_printed_table(tmp_path: Path) -> None:
    paths = speed_files(tmp_path)
    table = tmp_path / "systems.tsv"
    run_command("report", "systems", *paths, *files(tmp_path), "-o", table)
    published = json.loads(run_command("study", "speed", "drops", "--published", "--json").stdout)
    (expected,) = [
        s for s in published["studies"] if (s["tgt_lang"], s["part"]) == ("de", "single")
    ]
    for systems in ([*paths, *files(tmp_path)], [table]):
        shown = run_command("study", "speed", "drops", *systems, "--baseline", "r0", "--json")
        (study,) = json.loads(shown.stdout)["studies"]
        for point, printed in zip(study["systems"], expected["systems"], strict=True):
            assert point["seconds"] == printed["seconds"]
            for group in GROUPS:
                assert point["accuracies"][group] == pytest.approx(printed["accuracies"][group])
            assert point["undecided"]["n_no_form"] == 7
            assert point["decoding"] == "fp32, torch, beam 5"
        for name in ("seconds", "bleu", "FoFc"):
            drop = study["drops"]["to_fastest"][name]
            assert drop == pytest.approx(expected["drops"]["to_fastest"][name])
    shown = run_command("study", "speed", "drops", table, "--baseline", "r0")
    assert "translations without a decision" in shown.stdout


def test_other_metrics_than_that_of_simplegen_are_not_compared(
    seeds: list[Path], tmp_path: Path
) -> None:
    shown = run_command("study", "speed", "drops", *seeds, *files(tmp_path), status=2)
    assert "expected results of the metric simplegen_accuracy, got none" in shown.stderr
