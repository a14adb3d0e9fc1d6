import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cc_hf.plugins.seeds.system_table import read_system_table
from tests.helpers.results import seed_files, write_seeds
from tests.helpers.usual import run_command

BY_SEED = ("compare", "--by", "seed")


@pytest.fixture
def seeds(tmp_path: Path) -> list[Path]:
    return write_seeds(tmp_path)


def test_a_table_has_results_bleu_times_and_labels(seeds: list[Path], tmp_path: Path) -> None:
    labels = ["--group", "*=ours", "--size", "base=6M", "--size", "fast=2M", "--seqkd", "fast"]
    outputs = ["--table", "systems.tsv", "--means", "means.csv", "--plot", "chart.svg"]
    shown = run_command(*BY_SEED, *seeds, *seed_files(tmp_path), *labels, *outputs, cwd=tmp_path)
    rows = read_system_table(tmp_path / "systems.tsv")
    assert [row["system"] for row in rows] == ["base", "base", "fast", "fast"]
    assert ",".join(rows[0]).startswith("system,group,size,seed,seqkd,tgt_lang,bleu,seconds,")
    first = rows[0]
    assert (first["seed"], first["bleu"], first["seconds"]) == ("1", "20.5", "3")
    assert (first["beams"], first["n_female"], first["accuracy_female"]) == ("5", "20", "50")
    means = read_system_table(tmp_path / "means.csv")
    actual = [(m["n_seeds"], m["min_accuracy"], m["bleu_sd"]) for m in means]
    assert actual == [("2", "60", "0.7071067812"), ("2", "30", "0.7071067812")]
    assert "60.0 ± 14.1" in shown.stdout
    assert "3.2 ± 0.4" in shown.stdout
    text = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    for word in ("English → German", "minimum accuracy, %", "ours", "6M", "SeqKD"):
        assert word in text
    assert shown.stderr.count("written:") == 3


def test_json_has_seeds_and_means(seeds: list[Path], tmp_path: Path) -> None:
    shown = run_command(*BY_SEED, *seeds, *seed_files(tmp_path), "--json")
    content = json.loads(shown.stdout)
    assert content["systems"][0]["figures"]["min_accuracy"] == 0.5
    assert content["systems"][0]["intervals"]["accuracy"] == pytest.approx(
        [0.556, 0.813], abs=0.0005
    )
    expected = {"mean": 1.25, "sd": pytest.approx(0.5 / 2**0.5), "values": [1.0, 1.5]}
    assert content["means"][1]["seconds"] == expected
    shown = run_command(*BY_SEED, *seeds, "-o", "-")
    assert json.loads(shown.stdout)["means"][0]["n_seeds"] == 2
    assert "min_accuracy" in shown.stderr


def test_files_of_one_name_are_seeds(seeds: list[Path]) -> None:
    names = [part for name in "aaba" for part in ("--name", name)]
    means = json.loads(run_command(*BY_SEED, *seeds, *names, "--json").stdout)["means"]
    assert [(m["system"], m["seeds"]) for m in means] == [("a", ["1", "2", "3"]), ("b", [""])]
    assert means[0]["figures"]["accuracy_female"]["values"] == [0.5, 0.7, 0.4]


def test_a_folder_stands_for_its_files_and_has_ratios(seeds: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for path in seeds:
        path.rename(folder / path.name)
    figures = ("--figure", "ratio_male_female", "--figure", "delta_x", "--means", "m.tsv")
    shown = run_command(*BY_SEED, folder, *figures, cwd=tmp_path)
    assert "×1.50 ± ×0.36" in shown.stdout  # .9 / .6; 1.8 and 1.29
    means = read_system_table(tmp_path / "m.tsv")
    assert [row["ratio_male_female"] for row in means] == ["1.5", "3"]
    (tmp_path / "empty").mkdir()
    assert "holds no .json file" in run_command(*BY_SEED, tmp_path / "empty", status=2).stderr


def test_charts_have_a_line_for_each_group(seeds: list[Path], tmp_path: Path) -> None:
    labels = ["--group", "*=ours", "--size", "base=6M", "--size", "fast=2M"]
    path = tmp_path / "means.svg"
    run_command(*BY_SEED, *seeds, *seed_files(tmp_path), *labels, "--plot", path)
    text = path.read_text(encoding="utf-8")
    dashes = re.findall(r'<path d="([^"]*)" [^>]*stroke-dasharray', text)
    assert len([dash for dash in dashes if "L" in dash]) == 2  # one is the line of the legend


def test_systems_without_bleu_are_named_and_not_drawn(seeds: list[Path], tmp_path: Path) -> None:
    plot = tmp_path / "chart.png"
    refused = run_command(*BY_SEED, *seeds, "--plot", plot, status=2)
    assert "--plot: expected systems with BLEU and the figure to draw, got none" in refused.stderr
    shown = run_command(
        *BY_SEED, *seeds, "--bleu", "base-seed1=20", "--bleu", "base-seed2=21", "--plot", plot
    )
    assert "note: BLEU is not known for fast, not drawn in" in shown.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_wrong_options_are_refused(seeds: list[Path], tmp_path: Path) -> None:
    for option, value, message in (
        ("figure", "min", "unknown figure 'min'"),
        ("group", "base", "--group: expected key=value, got 'base'"),
        ("metric", "own", "--metric: expected one of contrastive_conditioning, got own"),
        ("name", "a", "--name: expected one for each file of results, 4 in all"),
        ("table", "t.txt", "--table: expected a file that ends in .tsv or .csv"),
        ("plot", tmp_path / "a.txt", "--plot: expected a file that ends in"),
    ):
        assert message in run_command(*BY_SEED, *seeds, f"--{option}", value, status=2).stderr
