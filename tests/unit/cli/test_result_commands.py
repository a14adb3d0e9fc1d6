from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.data.loading import load_examples
from cc_hf.errors import InputError
from cc_hf.evaluation.material import limited_rows
from cc_hf.results import ResultSet
from tests.helpers import reported
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.printed_beside import cells_beside
from tests.helpers.results import agreement_result, write_result


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
    with pytest.raises(InputError, match="expected one result with probabilities"):
        printed_by("compare", "--by", "sample", path, "--metric", "words", status=2)


@pytest.mark.shared
def test_contexts_are_printed_in_place_of_sources(shared: Path, tmp_path: Path) -> None:
    options = ["sources", "mt_geneval", "contextual_de", "--data-dir", str(shared / "upstream")]
    output = ["--output", str(tmp_path / "c.txt")]
    printed_by(*options, "--contexts", "--limit", 9, *output)
    lines = (tmp_path / "c.txt").read_text(encoding="utf-8").split("\n")[:-1]
    examples = load_examples("mt_geneval", "contextual_de", data_dir=shared / "upstream")
    assert lines == [examples[row].extra["context"] for row in limited_rows(examples, 9)]


def test_contexts_of_data_without_any_are_refused() -> None:
    with pytest.raises(InputError, match="--contexts: expected a dataset with sentences before"):
        printed_by("sources simplegen en-de --contexts")


_LONG = "an-organisation/opus-mt-tc-big-en-de-"


def test_evaluator_agreement_reads_several_results(tmp_path: Path) -> None:
    paths = []
    for evaluator, accuracies in {"a": (0.1, 0.2, 0.3), "b": (0.3, 0.4, 0.2)}.items():
        for system, accuracy in enumerate(accuracies):
            result = agreement_result(f"t{system}", evaluator, accuracy)
            paths.append(write_result(tmp_path, f"{evaluator}{system}", result))
    printed = printed_by(
        "compare", "--by", "evaluator", *paths, "-o", tmp_path / "r.json", "--resamples", "200"
    )
    assert "accuracy of 3 systems by 2 evaluators" in printed
    assert "a and b" in printed
    longer = []
    for path in paths:
        text = path.read_text(encoding="utf-8").replace("eval:", f"eval:{_LONG}")
        longer.append(path.with_name(f"long-{path.name}"))
        longer[-1].write_text(text, encoding="utf-8")
    printed = printed_by("compare", "--by", "evaluator", *longer, "--resamples", "200")
    assert "[1] and [2]" in printed
    assert f"[2]: {_LONG}b\n" in printed
    found = read_json(tmp_path / "r.json")
    assert found["mean_spearman"] == pytest.approx(-0.5)
    beside = cells_beside("distillation", tmp_path / "r.json")
    assert beside == {"section 3.5": {"highest": found["mean_spearman"]}}
    assert found["systems"] == ["a0", "a1", "a2"]
    assert found["pairs"][0]["correlation"]["n_undefined"] > 0
