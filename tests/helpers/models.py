"""Tiny models with random weights, saved the way transformers saves real ones."""

from __future__ import annotations

import io
import json
from pathlib import Path

import sentencepiece
import torch
from transformers import BertConfig, BertModel, MarianConfig, MarianMTModel, MarianTokenizer

_TEXT = """The doctor asked the nurse to help her with the procedure.
Der Arzt bat die Krankenschwester, ihm bei dem Eingriff zu helfen.
The [female] mechanic greeted the receptionist because she was in a good mood.
Die Mechanikerin begrüßte den Rezeptionisten, weil sie gute Laune hatte.
"""


def save_tiny_marian(folder: Path, *, seed: int = 0, max_positions: int = 128) -> Path:
    """A model of two layers on each side with a vocabulary of 70 pieces."""
    model_file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_TEXT.splitlines() * 20), model_writer=model_file, vocab_size=70, eos_id=0, unk_id=1, bos_id=-1, pad_id=-1, minloglevel=2
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model_file.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model_file.getvalue())
    vocabulary = {pieces.id_to_piece(i): i for i in range(pieces.vocab_size())}
    vocabulary["<pad>"] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    pad = vocabulary["<pad>"]
    torch.manual_seed(seed)
    config = MarianConfig(
        vocab_size=pad + 1,
        d_model=16,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=max_positions,
        pad_token_id=pad,
        eos_token_id=0,
        decoder_start_token_id=pad,
        forced_eos_token_id=0,
        init_std=0.5,
    )
    model = MarianMTModel(config)
    torch.nn.init.normal_(model.final_logits_bias)
    model.save_pretrained(folder)
    MarianTokenizer(
        str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json"), source_lang="en", target_lang="de", model_max_length=max_positions
    ).save_pretrained(folder)
    return folder


def save_tiny_bert(folder: Path) -> Path:
    """A model that is not sequence-to-sequence."""
    BertModel(BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)).save_pretrained(folder)
    return folder
