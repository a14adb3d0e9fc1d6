"""DistilLingEval and DiscEvalMT: what is read of the files, and what needs no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.data.readers import discevalmt
from cc_hf.errors import DataError, FileError
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.samples import lay_out_samples

_PAIR = {"correct": ["Avant.", "Ils."], "incorrect": ["Avant.", "Elles."], "type": "m.pl"}


def test_a_line_without_a_source_is_left_out_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    config = "hypercorrect_genitive.human"
    lay_out_samples("distil_lingeval", config, tmp_path, tmp_path)
    (example,) = cc_hf.load_examples("distil_lingeval", config, data_dir=tmp_path)
    assert (example.id, example.category) == ("0", "hypercorrect_genitive")
    folder = tmp_path / "ZurichNLP/distil-lingeval/data/hypercorrect_genitive.human"
    for text, message in (
        ("Er ist hier.\n", r"same number of lines, got 2 in .*src.en, .* 1 in .*tgt.incorrect.de"),
        ("\nNein.\n", r"line 1: expected a translation here and in tgt.incorrect.de"),
    ):
        (folder / "tgt.incorrect.de").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            cc_hf.load_examples("distil_lingeval", config, data_dir=tmp_path)


@pytest.mark.parametrize("name", ["distil_lingeval", "discevalmt"])
def test_ids_are_distinct_and_translations_differ(name: str, shared: Path) -> None:
    config = {"distil_lingeval": "polarity.human", "discevalmt": "anaphora"}[name]
    examples = cc_hf.load_examples(name, config, data_dir=shared / "upstream")
    assert len({example.id for example in examples}) == len(examples)
    assert all(e.correct_translation not in e.contrastive_translations for e in examples)


@pytest.mark.parametrize(
    ("config", "lowest", "highest", "n_blocks"),
    [("lexical_choice", 100, 100, 100), ("anaphora", 99, 101, 50)],
)
def test_without_context_any_scorer_is_right_about_half(
    config: str, lowest: int, highest: int, n_blocks: int, shared: Path
) -> None:
    material = cc_hf.load_material(
        "discevalmt", f"{config}.no_context", data_dir=shared / "upstream"
    )
    for seed in ("", "x"):
        result = cc_hf.evaluate(
            material,
            metric="contrastive_translation_scoring",
            evaluator=lambda s, t, seed=seed: hash_scores([f"{seed}{x}" for x in s], t),
        )
        assert lowest <= result.counts["n_correct"] <= highest
        assert (result.counts["n_blocks"], result.scores["block_accuracy"]) == (n_blocks, 0)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"src": ["Before."], "trg": [_PAIR]}, "block 7, pair 1: expected a sentence and the one"),
        ({"src": ["Before.", "They."], "trg": [{"type": "m.pl"}]}, "incorrect"),
        ({"src": ["Before.", 3], "trg": [_PAIR]}, "src: item 2: expected a text that is not blank"),
        ({"src": ["Before.", "They."], "trg": [{**_PAIR, "correct": []}]}, "block 7, pair 1"),
    ],
)
def test_a_damaged_block_is_named(item: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "anaphora.json"
    path.write_text(json.dumps({"7": item}), encoding="utf-8")
    with pytest.raises((DataError, FileError), match=message):
        list(discevalmt.read({"test-sets/anaphora.json": path}, "anaphora", "test"))
