"""The package in examples/plugin: installed into a folder of its own, it adds to cc_hf what its
entry points name.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.data.card_sections import evaluator_caution
from cc_hf.errors import UnknownNameError
from cc_hf.evaluators.base import Evaluator
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import ScoringRequest
from tests.helpers.command_line import cc_hf as command
from tests.helpers.fairseq_models import options
from tests.helpers.lines import write_text
from tests.helpers.refusals import fails, refuses

N = 8
ABOUT = "Looks for words that are listed for the right and the wrong sense."


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the package is installed into."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(root / "examples/plugin", folder / "source")
    target = folder / "target"
    options = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *options, "--target", target, source],
        check=True,
    )
    return target


@pytest.fixture
def package(installed: Path, site: Path) -> Path:
    """Return the folder of the package, which this process finds."""
    shutil.copytree(installed, site, dirs_exist_ok=True)
    registry.forget_plugins()
    return site / "cc_hf_example"


@pytest.fixture
def translations(installed: Path, tmp_path: Path) -> Path:
    """Write translations: one word of the right sense, but two of the wrong one and one of none."""
    with (installed / "cc_hf_example" / "sentences.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    sides = ["correct_words"] * 5 + ["incorrect_words"] * 2 + ["sense"]
    words = [row[side].split()[0] for row, side in zip(rows, sides, strict=True)]
    pairs = zip((row["source"] for row in rows), words, strict=True)
    units = (f"<tu><seg>{source}</seg><seg>{word} war da.</seg></tu>" for source, word in pairs)
    return write_text(tmp_path / "t.tmx", f"<tmx>{''.join(units)}</tmx>")


def test_an_installed_package_is_found_by_the_command_line(
    installed: Path, translations: Path, root: Path, tmp_path: Path
) -> None:
    result, log = tmp_path / "r.json", tmp_path / "log.txt"
    words = ("evaluate", "four_homographs", "--translations", str(translations), "-o", str(result))
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(installed)])}
    program = (sys.executable, "-m", "cc_hf.cli")
    options = ("--metric", "listed_words", "--log", str(log))
    subprocess.run([*program, *words, *options], env=variables, check=True)
    judged = EvaluationResult.from_json(result.read_text(encoding="utf-8"))
    assert judged.signature.startswith("listed|data:four_homographs/en-de@1.0.0|langs:en-de|")
    assert judged.scores["accuracy"] == 5 / N
    assert log.read_text(encoding="utf-8") == "four_homographs listed_words\n"
    assert [j.verdict for j in judged.judgements][-3:] == ["incorrect"] * 2 + ["inconclusive"]
    # a group of commands is made once in a process
    sending = [*program, "publish", "sentences", "--repo", "a/b"]
    sent = subprocess.run(sending, env=variables, check=True, capture_output=True, text=True)
    assert "would be sent to the dataset https://huggingface.co/datasets/a/b" in sent.stdout


@pytest.mark.usefixtures("package")
def test_dataset_metric_and_study_are_listed() -> None:
    listed = json.loads(command("list", "--json").stdout)
    assert "four_homographs" in {row["name"] for row in listed["datasets"]}
    assert {"name": "listed_words", "about": "The metric listed_words: a correct translation has a"
            " word that is listed for the sense."} in listed["metrics"]  # fmt: skip
    datasets = command("list", "datasets", "four_homographs").stdout
    assert "listed_words: every configuration" in datasets
    papers = {row["name"]: row["papers"] for row in json.loads(command("study", "--json").stdout)}
    assert papers["sense_counts"][0] == "Raganato et al. 2019"
    assert papers["sense_counts"][1].startswith("The authors of the")
    counts = command("study", "sense-counts", "count").stdout.splitlines()
    assert counts[:2] == ["crane (bird): 1", "crane (machine): 1"]
    assert "--limit" in command("study", "sense_counts", "count", "--help").stdout
    assert "Print the words that show a sense" in command("--help").stdout
    assert command("words", "machine").stdout == "Kran Kräne\n"
    assert registry.resolve("public name", "words_of_sense")("bird") == ["Kranich", "Kraniche"]


@pytest.mark.usefixtures("package")
def test_dataset_and_metric_work_beside_those_of_cc_hf(translations: Path, tmp_path: Path) -> None:
    command(
        "evaluate four_homographs --metric all -o all.json --translations",
        translations,
        cwd=tmp_path,
    )
    results = ResultSet.from_json((tmp_path / "all.json").read_text(encoding="utf-8")).results
    assert [r.metric for r in results] == ["contrastive_conditioning", "listed_words"]
    command("report", "all.json", "--html", "r.html", "--markdown", "r.md", cwd=tmp_path)
    page = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert page.startswith("# Four homographs, English → German")
    assert f"listed words: {ABOUT}" in page
    assert "Listed words\n" in page
    assert "silence" in page
    assert "Four homographs" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("package")
def test_a_judge_is_opened_by_what_stands_before_the_colon() -> None:
    judge: Any = cc_hf.load_evaluator("lengths:words")
    request = ScoringRequest("The crane left.", "Der Kran fuhr ab.")
    assert judge.text_scores([request]).tolist() == [3 / 4]
    refuses(
        "expected lengths:characters or lengths:words, got le",
        cc_hf.load_evaluator,
        "lengths:pages",
    )


@pytest.mark.usefixtures("package")
def test_the_dataset_loads_as_a_table_and_is_written_as_a_folder(tmp_path: Path) -> None:
    table = cc_hf.load_dataset("four_homographs")["test"]
    assert table.num_rows == N
    assert "@misc{four-homographs" in table.info.citation
    streamed = cc_hf.load_dataset("four_homographs", split="test", streaming=True)
    assert next(iter(streamed))["id"] == "0"
    told = command("build", "four_homographs", "-o", "built", cwd=tmp_path).stderr
    assert "no eval.yaml: the Hub takes benchmarks that inspect-ai can run" in told
    card = (tmp_path / "built/README.md").read_text(encoding="utf-8")
    assert "# Four homographs\n" in card
    assert "@misc{four-homographs" in card
    assert "license: cc0-1.0\n" in card
    assert not (tmp_path / "built/eval.yaml").exists()
    assert not (tmp_path / "built/loading").exists()
    (tmp_path / "four_homographs/en-de").mkdir(parents=True)  # a folder does not hide the name
    built = tmp_path / "built/en-de/test-00000-of-00001.parquet"
    shutil.copy(built, tmp_path / "four_homographs/en-de")
    output = command("sources", "four_homographs", cwd=tmp_path).stdout.splitlines()
    assert output[0] == "The crane came back in spring."


@pytest.mark.usefixtures("package")
def test_the_leaderboard_describes_dataset_and_metric(translations: Path, tmp_path: Path) -> None:
    from cc_hf.plugins.leaderboard.about_tabs import described, papers
    from cc_hf.plugins.leaderboard.live import available_data
    from cc_hf.plugins.leaderboard.store import read_folder
    from cc_hf.plugins.leaderboard.table import leaderboard_rows

    (tmp_path / "results").mkdir()
    command("evaluate", "four_homographs", "--translations", translations, "--metric",
            "listed_words", "--name", "A", "-o", "results/r.json", cwd=tmp_path)  # fmt: skip
    rows = leaderboard_rows(read_folder(tmp_path / "results"))
    about = described(rows)
    (dataset,), (metric,) = about["datasets"], about["metrics"]
    assert dataset.title == "Four homographs"
    assert dataset.links == ("https://example.org/four_homographs",)
    assert metric.text == ABOUT
    assert "@misc{four-homographs" in papers(rows)[1]
    assert "listed_words" in available_data()["four_homographs"].configs["en-de"]["de"]
    command("publish leaderboard results --repo a/b --output space", cwd=tmp_path)
    page = (tmp_path / "space/README.md").read_text(encoding="utf-8")
    assert f"**listed words**: {ABOUT}\n" in page


@pytest.mark.usefixtures("package")
def test_a_metric_without_a_module_of_evaluate_says_what_to_use() -> None:
    fails(UnknownNameError, r"`evaluate`: use cc_hf\.evaluate", cc_hf.load_metric, "listed_words")
    refused = command("publish", "metric", "listed_words", "--repo", "a/b", status=2).stderr
    assert "no module for `evaluate`: use cc_hf.evaluate" in refused


@pytest.mark.usefixtures("package")
def test_an_evaluator_ships_with_files_card_direction_and_model_type(tmp_path: Path) -> None:
    from cc_hf.models.location import default_evaluator
    from cc_hf.plugins.conversion.architectures import target_class
    from cc_hf.plugins.conversion.checkpoint import FairseqCheckpoint

    name = default_evaluator("de", "en")
    evaluator: Evaluator = cc_hf.load_evaluator(name)
    assert type(evaluator).__name__ == "PegasusEvaluator"
    texts = ["Der Kranich kam."] * 2, ["The crane came.", "A bird."]
    assert len(set(evaluator.mean_logprobs(*texts))) == 2
    assert evaluator.identity == registry.resolve("evaluator", name).identity
    assert f"  {name}\n" in command("list", "evaluators").stdout
    assert "its verdicts mean nothing" in evaluator_caution(f"a-copy@{evaluator.identity}")
    command("publish", "model", name, "--repo", "a/b", "--output", "copy", cwd=tmp_path)
    assert "random" in (tmp_path / "copy/README.md").read_text(encoding="utf-8")
    assert cc_hf.load_evaluator(tmp_path / "copy").identity == evaluator.identity
    checkpoint = FairseqCheckpoint(tmp_path / "a.pt", options(arch="robin"), {})
    assert target_class(checkpoint) == "robin"
