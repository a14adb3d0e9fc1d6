import json
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.data.loading import load_examples
from cc_hf.evaluation.material import limited_rows
from cc_hf.results import ResultSet
from tests.helpers import reported
from tests.helpers.results import agreement_results, write_result
from tests.helpers.usual import cells_beside, printed_by, read_json, refuses, write_text


def test_uncertain_samples_are_listed_with_the_readings_of_other_metrics(tmp_path: Path) -> None:
    results = tuple(replace(r, dataset="", config="") for r in reported.results(0).values())
    path = write_text(tmp_path / "r.json", ResultSet(results).to_json())
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
    actual = read_json(tmp_path / "r.json")
    assert actual["mean_spearman"] == pytest.approx(-0.5)
    beside = cells_beside("distillation", tmp_path / "r.json")
    assert beside == {"section 3.5": {"highest": actual["mean_spearman"]}}
    assert actual["systems"] == ["a.0", "a.1", "a.2"]
    assert actual["pairs"][0]["correlation"]["n_undefined"] > 0
