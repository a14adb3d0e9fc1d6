import json
from pathlib import Path
from typing import Any

import cc_hf
from cc_hf.errors import DataError, FileError
from cc_hf.test_sets.discevalmt import reader as discevalmt
from tests.helpers.usual import cases, fails, hash_scores, write_text

_PAIR = {"correct": ["Avant.", "Ils."], "incorrect": ["Avant.", "Elles."], "type": "m.pl"}


def test_ids_are_distinct_and_translations_differ(shared: Path) -> None:
    examples = cc_hf.load_examples("discevalmt", "anaphora", data_dir=shared / "upstream")
    assert len({example.id for example in examples}) == len(examples)
    assert all(e.correct_translation not in e.contrastive_translations for e in examples)


@cases(("lexical_choice", 100, 100, 100), ("anaphora", 99, 101, 50))
def test_half_needs_context(config: str, low: int, high: int, n_blocks: int, shared: Path) -> None:
    data = cc_hf.load_material("discevalmt", f"{config}.no_context", data_dir=shared / "upstream")
    for seed in ("", "x"):
        scores = lambda s, t, seed=seed: hash_scores([f"{seed}{x}" for x in s], t)  # noqa: E731
        result = cc_hf.evaluate(data, metric="contrastive_translation_scoring", evaluator=scores)
        assert low <= result.counts["n_correct"] <= high
        assert (result.counts["n_blocks"], result.scores["block_accuracy"]) == (n_blocks, 0)


@cases(
    ({"src": ["Before."], "trg": [_PAIR]}, "block 7, pair 1: expected a sentence and the one"),
    ({"src": ["Before.", "They."], "trg": [{"type": "m.pl"}]}, "incorrect"),
    ({"src": ["Before.", 3], "trg": [_PAIR]}, "src: item 2: expected a text that is not blank"),
    ({"src": ["Before.", "They."], "trg": [{**_PAIR, "correct": []}]}, "block 7, pair 1"),
)
def test_a_damaged_block_is_named(item: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / "anaphora.json", json.dumps({"7": item}))
    fails(
        (DataError, FileError),
        message,
        list,
        discevalmt.read_discevalmt({"test-sets/anaphora.json": path}, "anaphora", "test"),
    )
