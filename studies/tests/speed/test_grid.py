"""The grid of the study of speed, at toy size: models are trained, judged and timed once, and a
second run does nothing again.
"""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.common.scratch.run import train as run_training
from cc_hf_studies.common.system_columns import select_systems
from cc_hf_studies.speed import points
from cc_hf_studies.speed.points import PUBLISHED

from cc_hf.citations import CITATIONS
from cc_hf.plugins.seeds.system_table import read_system_table
from cc_hf.results import CategoryAccuracy, EvaluationResult
from examples.train_marian import made_pairs
from studies.examples.speed import speed_grid
from studies.examples.speed.speed_grid import GRID, main, read_grid
from tests.helpers.results import seed_files, write_result, write_seeds
from tests.helpers.usual import (
    cases,
    fails,
    printed_by,
    read_json,
    refuses,
    result_of,
    run_command,
    write_jsonl,
    write_lines,
    write_text,
)

_GRID = """name\tlayers\tattention\tprecision\tbeams\tseed
baseline\t1,1\tordinary\tfp32\t2\t1
aan\t2,1\taverage\tfp32\t1\t1
aan.int8\t2,1\taverage\tint8\t1\t1
"""


pytestmark = pytest.mark.usefixtures("same_threads")


def _arguments(folder: Path, *more: str) -> list[str]:
    options = (
        "--output out --grid grid.tsv --pairs train.en train.de --dev dev.en dev.de"
        " --test test.en test.de --pieces 150 --width 16 --ffn 16 --heads 2 --batch-size 8"
        " --rounds 1 --steps 2 --eval-steps 2 --examples 8 --threads 1 --cpu --allow-busy"
    )
    paths = re.sub(r"\b(out|\w+\.\w+)\b", lambda name: str(folder / name[0]), options)
    return [*paths.split(), *more]


def test_points_of_a_grid_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grid.tsv").write_text(_GRID, encoding="utf-8")
    pairs = made_pairs(48, seed=1)
    for name, part in (("train", pairs[:40]), ("dev", pairs[40:44]), ("test", pairs[44:])):
        write_lines(tmp_path / f"{name}.en", [pair.english for pair in part])
        write_lines(tmp_path / f"{name}.de", [pair.target for pair in part])
    trained: list[Path] = []

    def recorded(options: Any, files: Any, output: Path) -> Any:
        trained.append(output)
        return run_training(options, files, output)

    monkeypatch.setattr(speed_grid, "train", recorded)
    folder = main(_arguments(tmp_path))
    assert [path.name for path in trained] == ["1-1.ordinary.seed1", "2-1.average.seed1"]
    systems = ["baseline.seed1", "aan.seed1", "aan.int8.seed1"]
    texts = {path.stem: path.read_text("utf-8") for path in (folder / "results").glob("*.json")}
    results = {name: EvaluationResult.from_json(text) for name, text in texts.items()}
    assert set(results) == set(systems)
    assert all(result.n == 8 and result.system == name for name, result in results.items())
    assert "/beam1/int8 torch|" in results["aan.int8.seed1"].signature
    bleu, timings = read_json(folder / "bleu.json"), read_json(folder / "timings.json")["timings"]
    assert [row["system"] for row in bleu] == [row["system"] for row in timings] == systems
    assert [row["beams"] for row in timings] == [2, 1, 1]
    assert all(row["seconds"] > 0 and row["sentences"] == 4 for row in timings)

    # killed while a model was trained and before the times
    (folder / "timings.json").unlink()
    shutil.rmtree(folder / "models" / "2-1.average.seed1" / "best")
    (folder / "models" / "2-1.average.seed1" / "figures.json").unlink()
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()}
    main(_arguments(tmp_path))
    assert [path.name for path in trained[2:]] == ["2-1.average.seed1"]
    assert {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()} == before
    times = (folder / "timings.json").read_text(encoding="utf-8")
    main(_arguments(tmp_path))
    assert len(trained) == 3
    assert (folder / "timings.json").read_text(encoding="utf-8") == times


@cases(
    (GRID, "4,4 4,1 6,2"),
    (GRID.with_name("paper_grid.tsv"), "6,6 8,4 10,2 11,1 6,4 6,2 6,1"),  # SimpleGEN, section 4
)
def test_a_grid_that_ships_has_all_combinations(path: Path, layers: str) -> None:
    points = read_grid(path)
    models = {(point.layers, point.attention) for point in points}
    assert {shape for shape, _ in models} == set(layers.split())
    assert len(points) == 4 * len(models) == (56 if len(layers.split()) == 7 else 20)
    assert points[0].name == "baseline"
    assert {(point.precision, point.beams) for point in points} == {
        (precision, beams) for precision in ("fp32", "int8") for beams in (5, 1)
    }


@cases(
    ("name\t", "model\t", "expected the columns name, layers, attention"),
    ("1,1", "1", "layers: expected those of encoder and decoder, such as \"6,2\", got '1'"),
    ("\t2\t1\n", "\tfive\t1\n", "row 1: beams: expected a number, got 'five'"),
    ("aan.int8", "aan", "row 3: aan occurs twice with this seed"),
)
def test_a_grid_with_errors_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_grid, write_text(tmp_path / "grid.tsv", _GRID.replace(old, new, 1)))


def test_some_files_without_the_others_are_refused(tmp_path: Path) -> None:
    words = f"--output {tmp_path}/out --grid {tmp_path}/grid.tsv --pairs a b"
    (tmp_path / "grid.tsv").write_text(_GRID, encoding="utf-8")
    fails(SystemExit, "expected all of --pairs, --dev and --test", main, words.split())


def test_a_given_model_takes_the_place_of_the_first(tmp_path: Path) -> None:
    text = _GRID.replace("aan.int8\t2,1\taverage", "int8\t1,1\tordinary")
    (tmp_path / "grid.tsv").write_text(text, encoding="utf-8")
    options = speed_grid.parser().parse_args(_arguments(tmp_path, "--model", "cc-tiny-en-de"))
    grid = speed_grid.SpeedGrid(options)
    assert [point.name for point in grid.points] == ["baseline", "int8"]
    assert {grid.best(point) for point in grid.points} == {"cc-tiny-en-de"}


ROWS = read_system_table(points.PUBLISHED)
GROUPS = ("FoFc", "MoFc", "MoMc", "FoMc")


def published(tgt_lang: str, part: str) -> points.SpeedStudy:
    (study,) = [s for s in points.speed_studies(ROWS) if (s.tgt_lang, s.part) == (tgt_lang, part)]
    return study


def test_printed_deltas_follow_from_the_printed_accuracies() -> None:
    for row, point in zip(ROWS, points.speed_points(ROWS), strict=True):
        for name in points.DELTAS:
            assert 100 * point.deltas[name] == pytest.approx(float(row[name]), abs=0.101), row
    assert len(ROWS) == 24
    assert points.CITATION_KEY in CITATIONS


def test_printed_stereotypes_follow_from_the_groups_except_for_two_cells() -> None:
    plain = [{k: v for k, v in row.items() if k not in ("pro", "anti")} for row in ROWS]
    differing = [
        (row["tgt_lang"], row["model"], name, row[name], round(100 * point.accuracies[name], 1))
        for row, point in zip(ROWS, points.speed_points(plain), strict=True)
        for name in ("pro", "anti")
        if abs(100 * point.accuracies[name] - float(row[name])) > 0.101
    ]
    printed = [("SD(10, 2)", "anti", "32.6", 34.4), ("+ SD(10, 2)", "anti", "29.1", 30.9)]
    assert differing == [("de", *cells) for cells in printed]


#: The drops of Table 4 by the rule that fits the printed row; the paper rounds some of them down.
_TO_FASTEST = {
    ("es", "single"): {"seconds": 45.6, "bleu": 1.5, "FoFc": 4.9},
    ("de", "single"): {"seconds": 46.3, "anti": 17.9},
    ("es", "stacked"): {"seconds": 81.4, "bleu": 6.3, "pro": 9.6, "MoMc": 6.7},
    ("de", "stacked"): {
        "seconds": 79.9, "bleu": 9.2, "pro": 9.9, "anti": 41.3,
        "FoFc": 19.5, "MoFc": 53.2, "FoMc": 29.8,
    },
}  # fmt: skip
_LARGEST = {
    ("es", "single"): {"FoMc": 13.5},
    ("de", "single"): {"bleu": 4.0, "MoMc": 5.3},
    ("es", "stacked"): {"anti": 22.3, "FoFc": 17.7, "FoMc": 10.4},
    ("de", "stacked"): {"MoMc": 5.5},
}


@pytest.mark.parametrize("key", _TO_FASTEST, ids=" ".join)
def test_both_drops_give_the_printed_figures_that_they_fit(key: tuple[str, str]) -> None:
    drops = published(*key).drops
    for values, printed in ((drops.to_fastest, _TO_FASTEST), (drops.largest, _LARGEST)):
        assert {name: round(100 * values[name], 1) for name in printed[key]} == printed[key]


def test_time_of_a_drop_to_the_fastest_is_that_of_the_papers_example() -> None:
    study = published("es", "single")
    assert study.drops.fastest == "SSD(6, 2)"
    assert study.drops.to_fastest["seconds"] == pytest.approx((3662.8 - 1993.5) / 3662.8)


def test_trend_lines_of_bleu_and_pro_overlap_in_german_and_anti_is_steeper() -> None:
    """As the paper says of Figure 1, whose 56 systems are not printed."""
    lines = points.trend_lines([s for s in points.speed_studies(ROWS) if s.tgt_lang == "de"])
    slopes = {name: line.coefficient("seconds").value for name, line in lines.items()}
    assert slopes["bleu"] == pytest.approx(slopes["pro"], abs=0.02)
    assert slopes["anti"] > 3 * slopes["pro"]
    assert {line.n for line in lines.values()} == {10}  # baseline and beam 1 are in both parts


def test_two_systems_have_no_trend_line() -> None:
    (study,) = points.speed_studies(ROWS[:2])
    assert points.trend_lines([study]) == {}


def rows(**changes: str) -> list[dict[str, str]]:
    row = {"model": "baseline", "seconds": "2", "bleu": "30"} | dict.fromkeys(GROUPS, "50")
    return [row, {**row, "model": "fast", "seconds": "1"} | changes]


SMALL = {**rows()[1], "model": "small", "seconds": "0.5", "bleu": "27", "MoFc": "20"}


def write_table(path: Path, systems: list[dict[str, str]]) -> Path:
    lines = [",".join(cells) for cells in (systems[0], *(row.values() for row in systems))]
    return write_lines(path, lines)


@cases(
    (rows(seconds="0"), "row 2: seconds: expected a time above 0, got 0"),
    (rows(FoFc="101"), "row 2: FoFc: expected percent, got 101"),
    (rows(bleu="2_5"), "row 2: bleu: expected a number, got '2_5'"),
    (rows(bleu="-"), "row 2: bleu: expected a number, got '-'"),
    (rows(model=" "), "row 2: model: expected the name of a system"),
    (rows(model="baseline"), "each of its seeds, got 'baseline' twice with no seed"),
    (rows()[1:], "baseline: expected one of fast, the models of the table, got 'baseline'"),
    ([{"model": "a"}], "column: expected one of model, got 'seconds'"),
)
def test_tables_without_drops_are_refused(systems: list[dict[str, str]], message: str) -> None:
    refuses(message, points.speed_studies, systems)


def test_seeds_are_averaged_before_deltas_and_drops() -> None:
    base = {**rows()[0], "seed": "1"}
    names, cells = ("seed", "seconds", "FoFc"), (("1", "1.5", "20"), ("2", "0.5", "40"))
    fast = [{**base, "model": "fast", **dict(zip(names, c, strict=True))} for c in cells]
    (study,) = points.speed_studies([base, *fast])
    _, point = study.points
    assert (point.n_seeds, point.seconds, study.points[0].n_seeds) == (2, 1.0, 1)
    assert point.deltas["delta_fc"] == pytest.approx(-0.2)
    assert point.deviations["delta_fc"] == pytest.approx(0.2 / 2**0.5)
    assert study.drop(point, "FoFc") == pytest.approx(0.4)
    refuses("'fast' twice with seed 2", points.speed_studies, [base, *fast, fast[1]])
    other = [{**row, "beams": beams} for row, beams in zip([base, *fast], "515", strict=True)]
    refuses("fast: expected seeds that are decoded in one way", points.speed_studies, other)


def test_columns_may_be_named_as_in_results() -> None:
    named = {group: f"simplegen:accuracy_{group}" for group in GROUPS}
    named["model"] = "system"
    systems = [{named.get(key, key): cell for key, cell in row.items()} for row in rows()]
    assert [p.model for p in points.speed_points(systems)] == ["baseline", "fast"]
    systems = [{**row, "other:accuracy_FoFc": "1"} for row in systems]
    refuses("expected one for accuracy_FoFc, got simplegen:", points.speed_points, systems)


def test_a_figure_that_is_0_for_the_baseline_has_no_drop_and_others_have(tmp_path: Path) -> None:
    base, fast = rows()
    table = write_table(tmp_path / "systems.csv", [{**base, "FoMc": "0"}, fast, SMALL])
    shown = run_command(f"study speed drops {table} --plot {tmp_path}/p.svg")
    assert "no drop from a baseline of 0: FoMc" in shown.stdout
    assert ">FoMc<" not in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_drops_from_a_figure_of_0_are_refused() -> None:
    (study,) = points.speed_studies([{**row, "bleu": str(n)} for n, row in enumerate(rows())])
    refuses("a baseline whose bleu is above 0", study.drop, study.points[1], "bleu")


def test_the_command_prints_published_figures_and_draws_them(tmp_path: Path) -> None:
    lines = printed_by(f"study speed drops --plot {tmp_path}/p.svg").splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[:1] for line in lines].count(["AAN"]) == 4
    picture = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "English → Spanish" in picture
    assert "relative drop of decoding time, %" in picture


def test_the_command_reads_a_table_of_ones_own(tmp_path: Path) -> None:
    table = write_table(tmp_path / "systems.csv", [*rows(), SMALL])
    command = f"study speed drops {table}"
    refused = run_command(f"{command} --baseline slow", status=2)
    assert "--baseline: expected one of baseline, fast, small" in refused.stderr
    shown = run_command(f"{command} --output {tmp_path}/o.json")
    assert "drop to fastest, small, %" in shown.stdout
    assert f"written: {tmp_path / 'o.json'}" in shown.stderr
    assert set(points.FIGURES) > set(GROUPS)


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
