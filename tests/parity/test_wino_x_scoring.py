"""Accuracy of samples and pairs of the 200 synthetic German preferences equals the printed figures
of the program of Emelin & Sennrich 2021.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers.metrics import evaluate_dataset
from tests.helpers.samples import declare_wino_x

pytestmark = pytest.mark.shared


def test_accuracy_of_samples_and_pairs_equals_the_printed_figures(
    shared: Path, tmp_path: Path
) -> None:
    gold_folder = shared / "gold/wino_x/bias"
    gold = json.loads((gold_folder / "gold_bias.json").read_text(encoding="utf-8"))["de"]
    rows = [
        json.loads(line)
        for line in (gold_folder / "synthetic.en_de.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    perplexities = [
        float(line) for line in (gold_folder / "de/scores.txt").read_text(encoding="utf-8").split()
    ]
    path = tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes((gold_folder / "synthetic.en_de.jsonl").read_bytes())
    declare_wino_x(tmp_path)
    rights = [(row["sentence"], row[f"translation{row['answer']}"]) for row in rows]

    def inverse_perplexities(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        """Find the figures by row: some rows hold the same sentences with other figures."""
        assert list(zip(sources[::2], translations[::2], strict=True)) == rights
        return [
            1 / perplexities[2 * at + number - 1]
            for at, row in enumerate(rows)
            for number in (row["answer"], 3 - row["answer"])
        ]

    found = evaluate_dataset(
        "wino_x",
        "mt_en_de.translations",
        metric="contrastive_translation_scoring",
        data_dir=tmp_path,
        evaluator=inverse_perplexities,
    )
    assert (found.n, found.counts["n_correct"], found.counts["n_pairs_correct"]) == (
        gold["n"],
        gold["num_correct"],
        gold["num_correct_pairs"],
    )
    assert found.counts["n_pairs"] == gold["num_correct_pairs"] + gold["num_incorrect_pairs"]
    assert (found.scores["accuracy"], found.scores["pair_accuracy"]) == (
        gold["accuracy"],
        gold["pair_accuracy"],
    )
    assert found.counts["n_ties"] == gold["n"] - gold["mwu"]["position_model"]["n_x"]
