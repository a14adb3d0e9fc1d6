"""Parity on excerpts that are part of the repository, so that every clone checks it.

Where the recorded outputs are present, test_winomt.py checks all of them.
"""

from pathlib import Path

import pytest

from tests.helpers.usual import evaluate_metric, hash_scores, read_jsonl

_FOLDER = Path(__file__).parent / "excerpts"


@pytest.mark.parametrize("name", ["aws.de", "google.ru"])
def test_winomt_genders_equal_those_of_the_original_program(name: str) -> None:
    rows = read_jsonl(_FOLDER / f"winomt_pattern_matching.{name}.jsonl")
    names = {"source": "sentence", "occupation": "entity", "gold_gender": "gold"}
    names["occupation_index"] = "src_index"
    references = [{to: row[key] for to, key in names.items()} for row in rows]
    references = [{**reference, "stereotype": "none"} for reference in references]
    texts, links = ([row[key] for row in rows] for key in ("translation", "alignment"))
    result = evaluate_metric(
        "winomt_pattern_matching",
        texts,
        references,
        tgt_lang=name.partition(".")[2],
        alignments=links,
    )
    assert len(rows) == 41
    assert [j.predicted for j in result.judgements] == [row["pred"] for row in rows]


def test_winomt_probabilities_equal_those_of_the_original_program() -> None:
    rows = read_jsonl(_FOLDER / "contrastive_conditioning.winomt.jsonl")
    kinds = ("correct", "incorrect")
    sources = [{f"{kind}_sources": [row[f"source_{kind}"]] for kind in kinds} for row in rows]
    references = [{**s, "category": row["category"]} for s, row in zip(sources, rows, strict=True)]
    texts = [row["translation"] for row in rows]
    result = evaluate_metric("contrastive_conditioning", texts, references, hash_scores)
    assert len(rows) == 38
    expected = [(row["probability_correct"], row["is_correct"]) for row in rows]
    assert [(j.probability_correct, j.is_correct) for j in result.judgements] == expected
