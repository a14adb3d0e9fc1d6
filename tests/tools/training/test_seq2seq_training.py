"""Sizes, vocabulary, model and trainer of `tools.training.seq2seq_training`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from cc_hf.errors import InputError
from tools.training.seq2seq_training import (
    SIZES,
    ModelSizes,
    count_parameters,
    encode_pairs,
    load_pieces,
    make_model,
    make_trainer,
    train_pieces,
    training_arguments,
)

PIECES = 42_024  # of the paper's models, by their number of parameters
TINY = ModelSizes(1, 1, 8, 16, 16, heads=2)
PAIRS = [(f"The doctor {'saw ' * i}me .", f"Der Arzt {'sah ' * i}mich .") for i in range(1, 9)]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocabulary")
    train_pieces([text for pair in PAIRS for text in pair], folder, 23)
    return folder


@pytest.mark.parametrize(("size", "expected"), [("small", 50_941_952), ("mini", 18_130_944)])
def test_sizes_have_the_printed_numbers_of_parameters(size: str, expected: int) -> None:
    assert count_parameters(SIZES[size], PIECES) == expected


def test_the_big_size_has_the_printed_number_with_half_the_inner_width_in_the_decoder() -> None:
    assert round(count_parameters(SIZES["big"], PIECES) / 1e6, 1) == 269.7
    printed = replace(SIZES["big"], decoder_ffn=8192)
    assert round(count_parameters(printed, PIECES) / 1e6, 1) == 320.1


def test_a_model_on_the_meta_device_has_no_values_and_leaves_the_default_device() -> None:
    count_parameters(TINY, 50)
    assert torch.empty(1).device.type == "cpu"


def test_weights_depend_on_the_seed_only() -> None:
    first, same, other = (make_model(TINY, 50, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["model.shared.weight"], other["model.shared.weight"])


def test_layers_and_inner_widths_of_the_sides_may_differ() -> None:
    config = make_model(ModelSizes(3, 1, 8, 16, 24, heads=2), 50).config
    assert (config.encoder_layers, config.decoder_layers) == (3, 1)
    assert (config.encoder_ffn_dim, config.decoder_ffn_dim) == (16, 24)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 3}, "heads: expected a divisor of the width 8, got 3"),
        ({"decoder_layers": 0}, "decoder_layers: expected 1 or more, got 0"),
    ],
)
def test_sizes_that_cannot_work_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(TINY, **changes)


def test_another_attention_is_refused() -> None:
    with pytest.raises(InputError, match="attention: expected one of ordinary, average"):
        make_model(TINY, 50, attention="linear")


def test_a_vocabulary_has_one_model_for_both_sides_and_padding_last(vocabulary: Path) -> None:
    tokenizer = load_pieces(vocabulary, max_pieces=20)
    assert (vocabulary / "source.spm").read_bytes() == (vocabulary / "target.spm").read_bytes()
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (0, 23)
    assert (tokenizer.source_lang, tokenizer.target_lang) == ("en", "de")


def test_a_folder_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no source\.spm; name the folder of a Marian model"):
        load_pieces(tmp_path)


def test_a_vocabulary_with_other_ids_is_refused(vocabulary: Path, tmp_path: Path) -> None:
    for name in ("source.spm", "target.spm"):
        (tmp_path / name).write_bytes((vocabulary / name).read_bytes())
    ids = json.loads((vocabulary / "vocab.json").read_text(encoding="utf-8"))
    turned = {piece: len(ids) - 1 - number for piece, number in ids.items()}
    (tmp_path / "vocab.json").write_text(json.dumps(turned), encoding="utf-8")
    with pytest.raises(InputError, match="expected a vocabulary with </s> as id 0 and <pad> as"):
        load_pieces(tmp_path)


def test_rows_end_with_eos_and_are_cut_at_the_limit(vocabulary: Path) -> None:
    tokenizer = load_pieces(vocabulary, max_pieces=200)
    whole = encode_pairs(PAIRS, tokenizer, max_pieces=200)
    cut = encode_pairs(PAIRS, tokenizer, max_pieces=5)
    assert [row["labels"][-1] for row in whole] == [0] * len(PAIRS)
    assert {len(row[side]) for row in cut for side in row} == {5}
    assert encode_pairs([], tokenizer, max_pieces=5) == []


def test_evaluations_keep_the_order_of_rows_where_training_groups_by_length(
    vocabulary: Path, tmp_path: Path
) -> None:
    tokenizer = load_pieces(vocabulary)
    options: dict[str, Any] = {"steps": 2, "eval_steps": 1, "batch_size": 2, "warmup": 1}
    options |= {"learning_rate": 1e-3, "seed": 1, "cpu": True}
    options |= {"predict_with_generate": True, "generation_max_length": 4}
    options |= {"metric_for_best_model": "bleu", "per_device_eval_batch_size": 3}
    sampling = "group_by_length"
    arguments = training_arguments(tmp_path, **options, train_sampling_strategy=sampling)
    model = make_model(TINY, len(tokenizer.get_vocab()))
    trainer = make_trainer(model, tokenizer, arguments, PAIRS, PAIRS[::-1], max_pieces=200)
    # `make_compute_metrics` refuses rows in another order.
    assert trainer.evaluate()["eval_n"] == len(PAIRS)
    lengths = [len(row["labels"]) for row in trainer.eval_dataset]
    assert lengths == sorted(lengths)
