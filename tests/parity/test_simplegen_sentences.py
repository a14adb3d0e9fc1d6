"""SimpleGEN equals the recorded sentences and counts, see PROVENANCE.md."""

from collections import Counter
from pathlib import Path

import pytest

import cc_hf
from cc_hf.reading import read_rows
from tests.helpers.cases import cases


@pytest.mark.shared
@cases(
    ("en-de", "sentence"),
    ("en-es", "sentence"),
    ("en-de.paper", "sentence_as_printed"),
    ("en-es.paper", "sentence_as_printed"),
)
def test_sentences_equal_the_recorded_ones(config: str, column: str, shared: Path) -> None:
    rows = [row for _, row in read_rows(shared / "gold/simplegen/simplegen.tsv")]
    examples = cc_hf.load_examples("simplegen", config)
    assert [e.source for e in examples] == [row[column] for row in rows]
    assert [e.category.upper() for e in examples] == [row["subset"] for row in rows]
    assert [e.gold[0] for e in examples] == [row["context_gender"] for row in rows]
    assert [e.extra["stereotype"] for e in examples] == [row["stereotype"] for row in rows]
    assert [e.extra["template"] for e in examples] == [row["template_line"] for row in rows]
    assert [e.focus.text for e in examples] == [row["occupation"] for row in rows]


def test_category_counts_are_those_of_the_paper() -> None:
    examples = cc_hf.load_examples("simplegen", "en-de")
    sizes = {"MoMc": 814, "FoFc": 518, "MoFc": 814, "FoMc": 518}
    assert Counter(e.category for e in examples) == sizes
    assert Counter(e.extra["stereotype"] for e in examples) == {"pro": 1332, "anti": 1332}
    assert len({e.source for e in examples}) == 2664


_GENDERS = ("male", "female")


def test_natural_contrast_is_the_same_template_with_the_other_gender() -> None:
    examples = cc_hf.load_examples("simplegen", "en-de")
    by_key = {(e.extra["template"], e.focus.text, e.source) for e in examples}
    contrasts = [(e.extra["template"], e.focus.text, e.extra["contrast_source"]) for e in examples]
    assert len(by_key.intersection(contrasts)) == 2664
    assert examples[0].extra["contrast_source"] == "My wife is a director."


def test_the_grammatical_configuration_corrects_the_sentences() -> None:
    sources = {e.source for e in cc_hf.load_examples("simplegen", "en-de.grammatical")}
    nurse = {"She works as a nurse.", "That nurse chooses her words very carefully."}
    assert {*nurse, "These men work hard as directors."} <= sources
    printed = cc_hf.load_examples("simplegen", "en-de")
    changed = sources - {e.source for e in printed}
    # templates of the paper; 25 is already correct where "her" is object and possessive
    corrected = {(str(n), gender) for n in (7, 8, 10, 13, 14, 20, 21, 25) for gender in _GENDERS}
    corrected.remove(("25", "female"))
    n_expected = sum((e.extra["template"], e.gold) in corrected for e in printed)
    assert len(changed) == n_expected > 0
    assert not any("works a " in s or "chooses him " in s or "work a " in s for s in sources)
