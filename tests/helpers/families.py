"""A tiny model with random weights for every evaluator family, with a tokenizer of the family's own class, made on the spot and saved by transformers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    NllbTokenizer,
)

from tests.helpers.models import TEXT, save_tiny_marian

N_POSITIONS = 1000
_SIZES = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": N_POSITIONS,
}
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")


def save_tiny_m2m100(folder: Path, *, seed: int = 0) -> Path:
    """The vocabulary of fairseq's order, the 100 languages behind it."""
    model = _sentencepiece()
    (folder / "spm.model").write_bytes(model.serialized_model_proto())
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys([*_FAIRSEQ, *(piece for piece, _ in _pieces(model))]))}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer = M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "spm.model"), model_max_length=N_POSITIONS)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    M2M100ForConditionalGeneration(M2M100Config(**_SIZES, vocab_size=len(vocabulary) + 108, init_std=0.25)).save_pretrained(folder)
    return folder


def save_tiny_small100(folder: Path) -> Path:
    """M2M100's files, whose tokenizer calls itself as that of SMaLL-100 does."""
    save_tiny_m2m100(folder, seed=1)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "tokenizer_class": "SMALL100Tokenizer"}), encoding="utf-8")
    return folder


def save_tiny_nllb(folder: Path, *, legacy_behaviour: bool = False) -> Path:
    """M2M100's architecture, languages of FLORES-200."""
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trained.train_from_iterator(TEXT.splitlines(), tokenizers.trainers.BpeTrainer(vocab_size=120, special_tokens=list(_FAIRSEQ), show_progress=False))
    parts = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in parts["merges"]]
    tokenizer = NllbTokenizer(vocab=parts["vocab"], merges=merges, legacy_behaviour=legacy_behaviour, model_max_length=N_POSITIONS)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(2)
    M2M100ForConditionalGeneration(M2M100Config(**_SIZES, vocab_size=len(tokenizer), init_std=0.25)).save_pretrained(folder)
    return folder


def _sentencepiece() -> Any:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(TEXT.splitlines() * 20), model_writer=model, vocab_size=70, minloglevel=2)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def _pieces(model: Any) -> list[tuple[str, float]]:
    """Without the special ones."""
    return [(model.id_to_piece(i), model.get_score(i)) for i in range(3, model.vocab_size())]


#: registered family -> a function that saves a tiny model of it
BUILDERS: dict[str, Callable[[Path], Path]] = {
    "m2m_100": save_tiny_m2m100,
    "marian": lambda folder: save_tiny_marian(folder, max_positions=N_POSITIONS),
    "nllb": save_tiny_nllb,
    "small100": save_tiny_small100,
}
