"""Speed of systems from files of results, equal to that of the printed table."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_hf.comparing.system_table import read_system_table, select_systems
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.studies.speed.points import PUBLISHED
from tests.helpers.command_line import run_command
from tests.helpers.judged import result_of
from tests.helpers.lines import write_jsonl
from tests.helpers.results import seed_files, write_result, write_seeds

GROUPS = ("FoFc", "MoFc", "MoMc", "FoMc")


def simplegen_result(accuracies: Sequence[float], system: str) -> EvaluationResult:
    """Return a result with these accuracies of the groups."""
    by_group = dict(zip(GROUPS, accuracies, strict=True))
    scores = {
        **{f"accuracy_{name}": value for name, value in by_group.items()},
        "accuracy_pro": (814 * by_group["MoMc"] + 518 * by_group["FoFc"]) / 1332,
        "accuracy_anti": (814 * by_group["MoFc"] + 518 * by_group["FoMc"]) / 1332,
        **{"accuracy": 0.5, "inconclusive_rate_pro": 0.1, "inconclusive_rate_anti": 0.2},
    }
    origin = {"dataset": "simplegen", "config": "en-de", "metric": "simplegen_accuracy"}
    origin["signature"] = f"sg|data:simplegen/en-de@1|sys:{system}|n:2664"
    groups = tuple(CategoryAccuracy(name, 10, 5, 0.5) for name in GROUPS)
    figures = {"n": 2664, "scores": scores, "categories": groups, "counts": {"n_no_form": 7}}
    return result_of([], **origin, **figures)


def speed_files(folder: Path) -> list[str | Path]:
    """Write the systems of one part of the published table as results, with BLEU and times."""
    rows = select_systems(read_system_table(PUBLISHED), {"tgt_lang": "de", "part": "single"})
    paths: list[str | Path] = []
    bleu, times = [], []
    decoding = {"beams": 5, "precision": "fp32", "backend": "torch"}
    for number, row in enumerate(rows):
        name = f"r{number}"
        accuracies = [float(row[group]) / 100 for group in GROUPS]
        paths.append(write_result(folder, name, simplegen_result(accuracies, row["model"])))
        bleu.append({"system": name, "bleu": float(row["bleu"])})
        times.append({"system": name, "seconds": float(row["seconds"]), **decoding})
    write_jsonl(folder / "bleu.json", [bleu])
    write_jsonl(folder / "times.json", [{"timings": times}])
    return paths


def test_speed_of_results_equals_that_of_the_printed_table(tmp_path: Path) -> None:
    paths = speed_files(tmp_path)
    table = tmp_path / "systems.tsv"
    run_command("compare", "--by", "seed", *paths, *seed_files(tmp_path), "--table", table)
    published = json.loads(run_command("study", "speed", "drops", "--json").stdout)
    by_part = {(study["tgt_lang"], study["part"]): study for study in published["studies"]}
    expected = by_part["de", "single"]
    for systems in ([*paths, *seed_files(tmp_path)], [table]):
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


def test_other_metrics_than_that_of_simplegen_are_not_compared(tmp_path: Path) -> None:
    seeds = write_seeds(tmp_path)
    shown = run_command("study", "speed", "drops", *seeds, *seed_files(tmp_path), status=2)
    message = "--metric: expected one of contrastive_conditioning, got simplegen_accuracy"
    assert message in shown.stderr
