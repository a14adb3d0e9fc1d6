import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cc_hf.comparing.system_table import read_system_table
from cc_hf.data.loading import load_examples
from cc_hf.evaluation.material import limited_rows
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Judgement
from tests.helpers import reported
from tests.helpers.results import agreement_results, seed_files, write_result, write_seeds
from tests.helpers.usual import (
    cc_hf,
    cells_beside,
    printed_by,
    read_json,
    refuses,
    run_command,
    write_jsonl,
    write_text,
)


def test_uncertain_samples_are_listed_with_the_readings_of_other_metrics(tmp_path: Path) -> None:
    results = tuple(replace(r, dataset="", config="") for r in reported.results(0).values())
    path = tmp_path / "r.json"
    path.write_text(ResultSet(results).to_json(), encoding="utf-8")
    text = printed_by("compare", "--by", "sample", path, "--within", "10", "--show", "1")
    assert "uncertain: a probability of the correct reading from 40.0 to 60.0 %" in text
    rows = json.loads(printed_by("compare", "--by", "sample", path, "--within", "10", "--json"))
    p = [j.probability_correct for j in results[0].judgements if j.probability_correct is not None]
    assert sum(abs(value - 0.5) <= 0.1 for value in p) == len(rows["samples"]) > 0
    assert set(rows["samples"][0]["readings"]) == {"words"}
    words = ("compare", "--by", "sample", path, "--metric", "words")
    refuses("expected one result with probabilities", printed_by, *words)


def test_contexts_are_printed_in_place_of_sources(shared: Path, tmp_path: Path) -> None:
    options = ["sources", "mt_geneval", "contextual_de", "--data-dir", str(shared / "upstream")]
    printed_by(*options, "--contexts", "--limit", 9, "--output", tmp_path / "c.txt")
    lines = (tmp_path / "c.txt").read_text(encoding="utf-8").split("\n")[:-1]
    examples = load_examples("mt_geneval", "contextual_de", data_dir=shared / "upstream")
    assert lines == [examples[row].extra["context"] for row in limited_rows(examples, 9)]
    refuses(
        "--contexts: expected a dataset with sentences before",
        printed_by,
        "sources simplegen en-de --contexts",
    )


_LONG = "an-organisation/opus-mt-tc-big-en-de-"


def test_evaluator_agreement_reads_several_results(tmp_path: Path) -> None:
    results = agreement_results(a=(0.1, 0.2, 0.3), b=(0.3, 0.4, 0.2))
    paths = [write_result(tmp_path, name, result) for name, result in results.items()]
    printed = printed_by(
        "compare --by evaluator --resamples 200", "-o", tmp_path / "r.json", *paths
    )
    assert "accuracy of 3 systems by 2 evaluators" in printed
    assert "a and b" in printed
    texts = {p: p.read_text("utf-8").replace("eval:", f"eval:{_LONG}") for p in paths}
    longer = [write_text(p.with_name(f"long-{p.name}"), text) for p, text in texts.items()]
    printed = printed_by("compare", "--by", "evaluator", *longer, "--resamples", "200")
    assert f"{_LONG}b" in printed
    found = read_json(tmp_path / "r.json")
    assert found["mean_spearman"] == pytest.approx(-0.5)
    beside = cells_beside("distillation", tmp_path / "r.json")
    assert beside == {"section 3.5": {"highest": found["mean_spearman"]}}
    assert found["systems"] == ["a.0", "a.1", "a.2"]
    assert found["pairs"][0]["correlation"]["n_undefined"] > 0


def result(dataset: str, metric: str, *verdicts: str) -> EvaluationResult:
    rows = [(str(i), "all", v == "correct", f"t{i}", v) for i, v in enumerate(verdicts)]
    rest: Any = len(rows), {}, {}, (), tuple(Judgement(*row) for row in rows)
    return EvaluationResult(dataset, "", "de", metric, f"{metric}|lemma:some|n:3", *rest)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write results of two metrics for three translations, of which the third was annotated."""
    first = result("mucow", "mucow_pattern_matching", "correct", "incorrect", "inconclusive")
    second = result("mucow", "contrastive_conditioning", "correct", "correct", "correct")
    write_result(tmp_path, "one", first)
    write_text(tmp_path / "all.json", ResultSet((first, second)).to_json())
    labels = {"label_annotator1": "Correct Sense", "label_annotator2": "Wrong Sense"}
    return write_jsonl(
        tmp_path / "labels.jsonl", [{"id": "2", "translation": "t2", **labels}]
    ).parent


def test_own_agreement_is_shown_beside_the_published_one(files: Path) -> None:
    output = files / "out.json"
    shown = cc_hf(
        "compare --by rater all.json --labels labels.jsonl --assume one.json --output out.json",
        cwd=files,
        environment={"COLUMNS": "80"},
    )
    kappa = "kappa of the annotators: 0.0000 on 1 raw labels"
    # the name of the paper is broken in a narrow terminal
    for text in ("vamvas-sennrich-2", "83.8", "88.0", kappa, "Table A3: 0.38, 0.92"):
        assert text in " ".join(shown.stdout.split())
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert [row["metric"] for row in rows] == ["mucow_pattern_matching", "contrastive_conditioning"]
    assert rows[0]["agreement"] == pytest.approx(2 / 3 + 1 / 3 * 1 / 2)
    assert rows[1]["agreement"] == pytest.approx(1 / 3 + 1 / 3 * 1 / 2)
    assert (rows[0]["n_inconclusive"], rows[0]["weighted_agreement"]) == (2, None)
    assert rows[1]["published"]["weighted_agreement"] == 0.88
    beside = cells_beside("distillation", output)
    assert beside["Table 2"] == {"mucow de": rows[0]["agreement"]}
    assert beside["Table A3"] == {"mucow de": 0}


def test_annotations_can_be_shared_by_results_or_given_per_result(files: Path) -> None:
    labels = "--labels labels.jsonl"
    for given in (labels, f"{labels} {labels}"):
        shown = cc_hf(f"compare --by rater one.json all.json {given}", cwd=files).stdout
        assert shown.count("signature:") == 3
    wrong = cc_hf(f"compare --by rater one.json {labels} {labels}", cwd=files, status=2).stderr
    assert "--labels: expected one file, or one per file of results (1), or filled" in wrong


def test_options_that_do_not_fit_together_are_refused(files: Path) -> None:
    write_result(files, "decided", result("mucow", "m", "correct", "correct", "correct"))
    for options, message in (
        ("--without-corpus opensubs", "--without-corpus: expected `--assume` with it"),
        ("--assume decided.json", "expected a file with one result that has inconclusive verdicts"),
        ("--inconclusive perhaps", "inconclusive: expected correct or incorrect, got 'perhaps'"),
    ):
        command = f"compare --by rater one.json --labels labels.jsonl {options}"
        assert message in cc_hf(command, cwd=files, status=2).stderr


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
    found = [(m["n_seeds"], m["min_accuracy"], m["bleu_sd"]) for m in means]
    assert found == [("2", "60", "0.7071067812"), ("2", "30", "0.7071067812")]
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
