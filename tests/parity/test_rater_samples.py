"""Samples for raters on the papers' own translations and data, see PROVENANCE.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cc_hf
from cc_hf.comparing.people.agreement import examples_without_corpora
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.people.sampling import draw_sample
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.text.tokenization import letters

pytestmark = pytest.mark.shared


def _logged(shared: Path, lang: str) -> EvaluationResult:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data"
    log = folder / f"mucow_pattern_matching.results.en-{lang}.ensemble.log"
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    judgements = tuple(
        Judgement(str(i), "all", verdict == "correct", row["translation"], verdict)
        for i, row in enumerate(rows)
        for verdict in [
            "inconclusive" if row["is_unknown"] else "correct" if row["is_correct"] else "incorrect"
        ]
    )
    config = f"en-{lang}.probing"
    return EvaluationResult(
        "mucow", config, lang, "mucow_pattern_matching", "recorded|n:1", len(judgements), {}, {},
        (), judgements, system="ensemble",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lang", "n_undecided", "n_decided", "n_rated", "n_assumed"),
    [("de", 391, 1459, 200, 746), ("ru", 88, 389, 88, 389)],
)
def test_a_sample_is_drawn_from_what_the_paper_annotated_and_keeps_the_ratio(
    shared: Path, lang: str, n_undecided: int, n_decided: int, n_rated: int, n_assumed: int
) -> None:
    data_dir = shared / "upstream"
    result = _logged(shared, lang)
    population = examples_without_corpora(result, ["opensubs"], data_dir=data_dir)
    examples = cc_hf.load_examples("mucow", result.config, data_dir=data_dir)
    key = draw_sample({"ensemble": result}, examples, population=population)
    counts = key.settings["systems"]["ensemble"]
    assert (counts["n_undecided"], counts["n_decided"]) == (n_undecided, n_decided)
    assert (counts["n_rated"], counts["n_assumed"]) == (n_rated, n_assumed)
    undecided = {
        letters(j.translation)
        for j in result.judgements
        if j.verdict == "inconclusive" and j.example_id in population
    }
    annotations = read_annotations(
        shared / f"gold/human_validation/mucow_annotations.en-{lang}.jsonl"
    )
    assert {letters(a.translation) for a in annotations} <= undecided
