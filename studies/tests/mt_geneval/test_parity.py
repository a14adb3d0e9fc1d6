"""The counts of MT-GenEval's Table 12 and the samples for raters, on the released data, see
tests/parity/PROVENANCE.md.
"""

from collections import Counter
from pathlib import Path

import pytest
from cc_hf_studies.mt_geneval.counts import count_data, count_winomt
from cc_hf_studies.mt_geneval.published import printed_counts, printed_winomt
from cc_hf_studies.mt_geneval.ratings import draw_contextual_sample

import cc_hf
from cc_hf.schema import Judgement
from studies.tests.mt_geneval.samples import contextual_result

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("lang", ["ar", "de", "fr", "ru"])
def test_counts_of_the_development_set_are_near_the_printed_ones(shared: Path, lang: str) -> None:
    config, folder = f"counterfactual_{lang}", shared / "upstream"
    examples = cc_hf.load_examples("mt_geneval", config, split="dev", data_dir=folder)
    counts, printed = count_data(examples), printed_counts()[lang]
    assert counts.n_instances == printed.n_instances
    assert abs(counts.n_source_words - printed.n_source_words) <= 2
    assert counts.n_target_words == pytest.approx(printed.n_target_words, rel=0.0025)
    assert counts.n_source_phrases == pytest.approx(printed.n_source_phrases, rel=0.06)
    assert counts.n_target_phrases == pytest.approx(printed.n_target_phrases, rel=0.03)


def test_counts_of_winomt_are_the_printed_ones(shared: Path) -> None:
    examples = cc_hf.load_examples("winomt", "all", data_dir=shared / "upstream")
    assert count_winomt(examples) == printed_winomt()


def test_the_contextual_sample_has_a_hundred_sources_of_each_sub_category(shared: Path) -> None:
    examples = cc_hf.load_examples("mt_geneval", "contextual_de", data_dir=shared / "upstream")
    judgements = tuple(Judgement(e.id, e.category, True, f"x {e.id}", "correct") for e in examples)
    result = contextual_result("a", "", "correct", judgements=judgements, n=len(judgements))
    key = draw_contextual_sample({"a": result}, examples)
    origins = [origin for row in key.rows for origin in row.origins]
    stereotypes = ("female_stereotyped", "male_stereotyped", "neutral")
    expected = {f"{of}/{gender}": 100 for of in stereotypes for gender in ("female", "male")}
    assert Counter(o["category"] for o in origins if o["system"] == "a") == expected
    assert len(origins) == 1200
