"""A training from random weights: its files of pairs are read line by line, filtered, encoded once
and put into batches; its sizes, options, vocabularies, model and trainer.
"""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.ipc
import pytest
import torch
from cc_hf_studies.common.scratch.batches import EpochOrder, PairBatches, batch_starts
from cc_hf_studies.common.scratch.model import count_parameters, make_model
from cc_hf_studies.common.scratch.options import SIZES, ModelSizes, TrainingOptions
from cc_hf_studies.common.scratch.pairs import PairFiles, drop_reason, encoded_pairs, load_pairs
from cc_hf_studies.common.scratch.pieces import load_pieces, train_pieces, train_pieces_of_pairs
from cc_hf_studies.common.scratch.trainer import encode_pairs, make_trainer, training_arguments
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.usual import cases, read_json, refuses, write_lines

_ROWS = [("a b", "c d e"), ("a b", "c d e f"), ("a " * 251, "b " * 251), ("", "b"), ("a", " ")]


def _files(folder: Path, rows: Sequence[tuple[str, str]] = _ROWS, **options: Any) -> PairFiles:
    sides = zip(("en", "de"), zip(*rows, strict=True), strict=True)
    source, target = (write_lines(folder / f"a.{side}", texts) for side, texts in sides)
    return PairFiles(source, target, **options)


def _encode(sources: Sequence[str], targets: Sequence[str]) -> tuple[Any, Any]:
    sides = [[[*map(len, text.split()), 0] for text in texts] for texts in (sources, targets)]
    return sides[0], sides[1]


@cases(
    ("a b", "c d e", {}, None),  # a ratio of 1.5 is allowed
    ("a b", "c d e f", {}, "n_length_ratio"),
    ("a b", "c d e f", {"max_length_ratio": None}, None),
    ("a " * 250, "b " * 250, {}, None),
    ("a " * 251, "b " * 251, {}, "n_too_long"),
    ("a " * 251, "b " * 251, {"max_tokens": None}, None),
    ("", "b", {}, "n_blank"),
    ("a", "\u200b", {}, "n_blank"),
)
def test_a_pair_has_one_reason(source: str, target: str, limits: Any, expected: Any) -> None:
    lengths = (len(source.split()), len(target.split()))
    assert drop_reason(source, target, lengths, **limits) == expected


def test_pairs_are_encoded_once_for_the_same_files_vocabulary_and_filters(tmp_path: Path) -> None:
    files, vocabulary = _files(tmp_path), write_lines(tmp_path / "vocabulary", ["a"])
    encoded: list[int] = []

    def encode(sources: Sequence[str], targets: Sequence[str]) -> Any:
        encoded.append(len(sources))
        return _encode(sources, targets)

    def folder(limit: int = 250) -> Path:
        given: Any = {"vocabulary": [vocabulary], "max_tokens": limit, "max_length_ratio": 1.5}
        return encoded_pairs(files, encode, tmp_path / "data", **given)

    first = folder()
    rows, counts = load_pairs(first)
    (data,) = first.glob("*.arrow")
    assert pyarrow.ipc.open_stream(data).schema.metadata is None  # read by any `datasets`
    assert rows[:] == {"input_ids": [[1, 1, 0]], "labels": [[1, 1, 1, 0]]}
    assert counts == {"n_pairs": 5, "n_kept": 1, "n_blank": 2, "n_too_long": 1, "n_length_ratio": 1}
    assert folder() == first
    assert encoded == [5]
    assert folder(300) != first
    write_lines(vocabulary, ["b"])
    assert folder() != first
    assert encoded == [5, 5, 5]


def test_files_without_a_pair_that_passes_are_refused(tmp_path: Path) -> None:
    files = _files(tmp_path, _ROWS[1:])
    given: Any = {"vocabulary": [], "max_tokens": 250, "max_length_ratio": 1.5}
    message, data = "expected pairs that pass the filters, got none", tmp_path / "data"
    refuses(message, encoded_pairs, files, _encode, data, **given)
    assert not data.exists()


def test_a_random_subset_keeps_the_order_and_depends_on_the_seed(tmp_path: Path) -> None:
    rows = [(f"s{i}", f"t{i}") for i in range(100)]
    first, same, other = (list(_files(tmp_path, rows, n_pairs=9, seed=s)) for s in (1, 1, 2))
    assert first == same != other
    assert len(first) == len(_files(tmp_path, rows, n_pairs=9)) == 9
    assert first == sorted({*first}, key=rows.index)


def test_lines_end_at_line_feeds_only_and_blank_pairs_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes("A\u2028b.\r\n\n".encode())
    write_lines(tmp_path / "a.de", ["Eins.", "Zwei."])
    files = PairFiles(tmp_path / "a.en", tmp_path / "a.de")
    assert list(files) == [("A\u2028b.", "Eins."), ("", "Zwei.")]
    assert files.whole() == [("A\u2028b.", "Eins.")]


@cases(
    (["A.", "B."], {}, "expected as many lines in both files, got 2 and 1; line N"),
    (["A."], {"n_pairs": 2}, "n_pairs: expected at most the 1 pairs of .*, got 2"),
)
def test_unfit_files_are_refused(lines: Any, options: Any, message: str, tmp_path: Path) -> None:
    paths = write_lines(tmp_path / "a.en", lines), write_lines(tmp_path / "a.de", ["A."])
    refuses(message, list, PairFiles(*paths, **options))


_LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)


@given(_LENGTHS, st.integers(60, 200))
def test_a_batch_is_as_large_as_allowed(pairs: list[tuple[int, int]], batch_tokens: int) -> None:
    lengths = np.array(sorted(pairs, key=sum))
    starts = batch_starts(lengths, batch_size=1, batch_tokens=batch_tokens)
    assert (starts[0], starts[-1]) == (0, len(pairs))

    def cost(first: int, end: int) -> int:
        return int((end - first) * lengths[first:end].max(axis=0).sum())

    for first, end in pairwise(starts):
        assert end > first
        assert cost(first, end) <= batch_tokens
        assert end == len(pairs) or cost(first, end + 1) > batch_tokens


@pytest.mark.parametrize("batch_tokens", [None, 40])
def test_batches_hold_every_pair_once_beside_similar_ones(batch_tokens: int | None) -> None:
    rng = np.random.default_rng(0)
    sides = ("input_ids", "labels")
    rows = [{side: [i] * rng.integers(1, 9) for side in sides} for i in range(50)]
    batches = PairBatches(Dataset.from_list(rows), batch_size=8, batch_tokens=batch_tokens)
    pairs = [row for batch in map(batches.__getitem__, range(len(batches))) for row in batch]
    assert sorted(pairs, key=str) == sorted(rows, key=str)
    sums = [len(row["input_ids"]) + len(row["labels"]) for row in pairs]
    assert sums == sorted(sums)
    assert batches.n_target_tokens == sum(len(row["labels"]) for row in rows)
    if batch_tokens is None:
        assert Counter(map(len, map(batches.__getitem__, range(7)))) == {8: 6, 2: 1}


def test_seed_and_epoch_decide_the_order() -> None:
    def order(seed: int, epoch: float) -> list[int]:
        sampler: Any = EpochOrder(20, seed)
        sampler.on_epoch_begin(None, SimpleNamespace(epoch=epoch), None)
        return list(sampler)

    orders = [order(1, 0), order(1, 1), order(2, 0)]
    assert order(1, 1.7) == orders[1]  # a training that continues within the epoch
    assert len(set(map(tuple, orders))) == 3
    assert {tuple(sorted(numbers)) for numbers in orders} == {tuple(range(20))}


PIECES = 42_024  # of the paper's models, by their number of parameters
TINY = ModelSizes(1, 1, 8, 16, 16, heads=2)
PAIRS = [(f"The doctor {'saw ' * i}me .", f"Der Arzt {'sah ' * i}mich .") for i in range(1, 9)]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocabulary")
    train_pieces([text for pair in PAIRS for text in pair], folder, 23)
    return folder


def test_sizes_have_the_printed_numbers_of_parameters() -> None:
    """The big one has it with half the inner width in the decoder."""
    assert count_parameters(SIZES["small"], PIECES) == 50_941_952
    assert count_parameters(SIZES["mini"], PIECES) == 18_130_944
    assert round(count_parameters(SIZES["big"], PIECES) / 1e6, 1) == 269.7
    printed = replace(SIZES["big"], decoder_ffn=8192)
    assert round(count_parameters(printed, PIECES) / 1e6, 1) == 320.1
    assert torch.empty(1).device.type == "cpu"  # and not the device without values


def test_weights_depend_on_the_seed_only() -> None:
    first, same, other = (make_model(TINY, 50, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["model.shared.weight"], other["model.shared.weight"])


def test_layers_inner_widths_and_vocabularies_of_the_sides_may_differ() -> None:
    config = make_model(ModelSizes(3, 1, 8, 16, 24, heads=2), 50, n_target_pieces=40).config
    assert (config.encoder_layers, config.decoder_layers) == (3, 1)
    assert (config.encoder_ffn_dim, config.decoder_ffn_dim) == (16, 24)
    assert (config.vocab_size, config.decoder_vocab_size, config.pad_token_id) == (50, 40, 2)
    assert not config.share_encoder_decoder_embeddings


def test_sizes_that_cannot_work_are_refused() -> None:
    refuses("heads: expected a divisor of the width 8, got 3", replace, TINY, heads=3)
    message = "decoder_layers: expected an integer of at least 1, got 0"
    refuses(message, replace, TINY, decoder_layers=0)
    message = "attention: expected one of ordinary, average"
    refuses(message, make_model, TINY, 50, attention="linear")


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
        assert (tokenizer.separate_vocabs, tokenizer.eos_token_id) == (separate, 0)
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
    refuses("pieces: expected a number that", train_pieces, ["a b"], tmp_path / "new", 900)


def test_no_vocabulary_and_one_with_other_ids_are_refused(vocabulary: Path, tmp_path: Path) -> None:
    refuses(r"has no source\.spm; name the folder of a Marian model", load_pieces, tmp_path)
    shutil.copytree(vocabulary, tmp_path, dirs_exist_ok=True)
    ids = read_json(tmp_path / "vocab.json")
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
