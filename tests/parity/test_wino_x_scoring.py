"""Accuracy of samples and pairs of the 200 synthetic German preferences equals the printed figures
of the program of Emelin & Sennrich 2021.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cc_hf.reading import read_lines
from tests.helpers.usual import evaluate_dataset, read_json, read_jsonl
from tests.helpers.wino_x_schemas import lay_out

pytestmark = pytest.mark.shared


def test_accuracy_of_samples_and_pairs_is_the_printed_one(shared: Path, tmp_path: Path) -> None:
    folder = shared / "gold/wino_x/bias"
    gold = read_json(folder / "gold_bias.json")["de"]
    rows = read_jsonl(folder / "synthetic.en_de.jsonl")
    perplexities = [float(line) for line in read_lines(folder / "de/scores.txt")]
    rights = [(row["sentence"], row[f"translation{row['answer']}"]) for row in rows]

    def inverse_perplexities(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        """Find the figures by row: some rows hold the same sentences with other figures."""
        assert list(zip(sources[::2], translations[::2], strict=True)) == rights
        numbers = [n for row in rows for n in (row["answer"], 3 - row["answer"])]
        return [1 / perplexities[i - i % 2 + n - 1] for i, n in enumerate(numbers)]

    options: Any = {"data_dir": lay_out(tmp_path, "mt", rows), "evaluator": inverse_perplexities}
    options["metric"] = "contrastive_translation_scoring"
    result = evaluate_dataset("wino_x", "mt_en_de.translations", **options)
    n_right, n_wrong = gold["num_correct_pairs"], gold["num_incorrect_pairs"]
    counts = {"n_correct": gold["num_correct"], "n_pairs_correct": n_right}
    counts["n_pairs"] = n_right + n_wrong
    counts["n_ties"] = gold["n"] - gold["mwu"]["position_model"]["n_x"]
    assert (result.n, {name: result.counts[name] for name in counts}) == (gold["n"], counts)
    for name in ("accuracy", "pair_accuracy"):
        assert result.scores[name] == gold[name]
