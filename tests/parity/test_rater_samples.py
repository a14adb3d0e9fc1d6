"""Samples for raters on the papers' own translations and data, see PROVENANCE.md."""

from pathlib import Path

import pytest

import cc_hf
from cc_hf.comparing.people.agreement import examples_without_corpora
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.people.sampling import draw_sample
from cc_hf.text.tokenization import letters
from tests.helpers.cases import cases
from tests.helpers.mucow_logs import logged_result

pytestmark = pytest.mark.shared


@cases(("de", 391, 1459, 200, 746), ("ru", 88, 389, 88, 389))
def test_a_sample_is_drawn_from_what_the_paper_annotated_and_keeps_the_ratio(
    lang: str, n_undecided: int, n_decided: int, n_rated: int, n_assumed: int, shared: Path
) -> None:
    data_dir = shared / "upstream"
    result = logged_result(shared, lang)
    population = examples_without_corpora(result, ["opensubs"], data_dir=data_dir)
    examples = cc_hf.load_examples("mucow", result.config, data_dir=data_dir)
    key = draw_sample({"ensemble": result}, examples, population=population)
    counts = key.settings["systems"]["ensemble"]
    assert (counts["n_undecided"], counts["n_decided"]) == (n_undecided, n_decided)
    assert (counts["n_rated"], counts["n_assumed"]) == (n_rated, n_assumed)
    rows = [j for j in result.judgements if j.example_id in population]
    undecided = {letters(j.translation) for j in rows if j.verdict == "inconclusive"}
    path = shared / f"gold/human_validation/mucow_annotations.en-{lang}.jsonl"
    assert {letters(a.translation) for a in read_annotations(path)} <= undecided
