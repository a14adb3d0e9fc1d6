"""Sizes, options, vocabularies, model and trainer of a training from random weights."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from cc_hf.errors import InputError
from cc_hf.training.scratch.model import count_parameters, make_model
from cc_hf.training.scratch.options import SIZES, ModelSizes, TrainingOptions
from cc_hf.training.scratch.pairs import PairFiles
from cc_hf.training.scratch.pieces import load_pieces, train_pieces, train_pieces_of_pairs
from cc_hf.training.scratch.trainer import encode_pairs, make_trainer, training_arguments
from tests.helpers.cases import cases
from tests.helpers.lines import write_lines
from tests.helpers.refusals import refuses

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


@cases(
    ({"heads": 3}, "heads: expected a divisor of the width 8, got 3"),
    ({"decoder_layers": 0}, "decoder_layers: expected an integer of at least 1, got 0"),
)
def test_sizes_that_cannot_work_are_refused(changes: dict[str, int], message: str) -> None:
    refuses(message, replace, TINY, **changes)


@cases(
    ({"heads": 3}, "heads: expected a divisor of the width 512, got 3"),
    ({"layers": "6+2"}, "layers: expected a number, or those of encoder and decoder, such as"),
    ({"size": "large"}, "size: expected one of big, small, mini"),
    ({"batch_tokens": 100}, "batch_tokens: expected at least 502, both sides of the longest"),
    ({"steps": 10}, "eval_steps: expected at most steps=10, since"),
    ({"vocabulary": Path("x"), "threshold": 50}, "threshold: expected no value with vocab"),
    ({"max_length_ratio": 0.9}, "max_length_ratio: expected a number of at least 1, got 0.9"),
)
def test_options_that_cannot_work_are_refused(changes: dict[str, Any], message: str) -> None:
    refuses(message, TrainingOptions, **changes)


def test_parts_of_a_size_can_be_replaced() -> None:
    options = TrainingOptions(layers="8,4", ffn="64")
    assert options.sizes == ModelSizes(8, 4, 512, 64, 64, heads=4)
    assert options.peak_learning_rate == pytest.approx((512 * 4000) ** -0.5)


def test_another_attention_is_refused() -> None:
    with pytest.raises(InputError, match="attention: expected one of ordinary, average"):
        make_model(TINY, 50, attention="linear")


def test_a_vocabulary_has_one_model_for_both_sides_and_padding_last(vocabulary: Path) -> None:
    tokenizer = load_pieces(vocabulary, max_pieces=20)
    assert (vocabulary / "source.spm").read_bytes() == (vocabulary / "target.spm").read_bytes()
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (0, 23)
    assert (tokenizer.source_lang, tokenizer.target_lang) == ("en", "de")


_WORDS = ["low", "lower", "lowest", "new", "newer", "newest", "wide", "wider", "widest"]


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("separate", [False, True])
def test_rare_pieces_are_cut_without_loss(tmp_path: Path, model_type: str, separate: bool) -> None:
    pairs = [(" ".join(_WORDS[: 5 + i % 7]), " ".join(_WORDS[i % 9 :])) for i in range(60)]
    sources, targets = zip(*pairs, strict=True)
    files = PairFiles(write_lines(tmp_path / "a", sources), write_lines(tmp_path / "b", targets))
    options: dict[str, Any] = {"model_type": model_type, "separate": separate}
    sizes = {}
    for threshold in (1, 40):
        folder = tmp_path / str(threshold)
        train_pieces_of_pairs(files, folder, 18, threshold=threshold, **options)
        tokenizer = load_pieces(folder)
        assert tokenizer.separate_vocabs == separate
        assert tokenizer.eos_token_id == 0
        decoder = tokenizer.target_encoder if separate else tokenizer.encoder
        assert tokenizer.encoder["<pad>"] == decoder["<pad>"] == tokenizer.pad_token_id
        counts: Counter[str] = Counter()
        for target in targets:
            ids = tokenizer(text_target=target)["input_ids"]
            assert tokenizer.decode(ids, skip_special_tokens=True) == target
            counts.update(tokenizer.spm_target.encode(target, out_type=str))
        assert set(counts) <= set(decoder)
        sizes[threshold] = len(decoder)
    assert all(n >= 40 or len(piece) == 1 for piece, n in counts.items())
    assert sizes[40] + (model_type == "bpe") <= sizes[1]


def test_a_number_of_pieces_that_cannot_be_learned_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pieces: expected a number that these texts have pieces"):
        train_pieces(["a b"], tmp_path / "new", 900)


def test_sides_with_a_vocabulary_each_have_embeddings_each() -> None:
    config = make_model(TINY, 50, n_target_pieces=40).config
    assert (config.vocab_size, config.decoder_vocab_size, config.pad_token_id) == (50, 40, 2)
    assert not config.share_encoder_decoder_embeddings


def test_a_folder_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    refuses(r"has no source\.spm; name the folder of a Marian model", load_pieces, tmp_path)


def test_a_vocabulary_with_other_ids_is_refused(vocabulary: Path, tmp_path: Path) -> None:
    for name in ("source.spm", "target.spm"):
        (tmp_path / name).write_bytes((vocabulary / name).read_bytes())
    ids = json.loads((vocabulary / "vocab.json").read_text(encoding="utf-8"))
    turned = {piece: len(ids) - 1 - number for piece, number in ids.items()}
    (tmp_path / "vocab.json").write_text(json.dumps(turned), encoding="utf-8")
    refuses("expected a vocabulary with </s> as id 0 and <pad> as", load_pieces, tmp_path)


def test_rows_end_with_eos_and_are_cut_at_the_limit(vocabulary: Path) -> None:
    tokenizer = load_pieces(vocabulary, max_pieces=200)
    whole = encode_pairs(PAIRS, tokenizer, max_pieces=200)
    cut = encode_pairs(PAIRS, tokenizer, max_pieces=5)
    assert [row["labels"][-1] for row in whole] == [0] * len(PAIRS)
    assert {len(row[side]) for row in cut for side in row} == {5}
    assert encode_pairs([], tokenizer, max_pieces=5) == []


def test_evaluations_are_in_the_order_of_lengths(vocabulary: Path, tmp_path: Path) -> None:
    tokenizer = load_pieces(vocabulary)
    options: dict[str, Any] = {"steps": 2, "eval_steps": 1, "batch_size": 2, "warmup": 1}
    options |= {"learning_rate": 1e-3, "seed": 1, "cpu": True}
    options |= {"predict_with_generate": True, "generation_max_length": 4}
    options |= {"metric_for_best_model": "bleu", "per_device_eval_batch_size": 3}
    arguments = training_arguments(tmp_path, **options)
    model = make_model(TINY, len(tokenizer.get_vocab()))
    trainer = make_trainer(model, tokenizer, arguments, PAIRS, PAIRS[::-1], max_pieces=200)
    # `make_compute_metrics` refuses rows in another order.
    assert trainer.evaluate()["eval_n"] == len(PAIRS)
    lengths = [len(row["labels"]) for row in trainer.eval_dataset]
    assert lengths == sorted(lengths)
