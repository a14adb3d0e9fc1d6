"""Tiny models with random weights, saved the way transformers saves real ones."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

N_POSITIONS = 1000
SIZES = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": N_POSITIONS,
}
TEXT = """The doctor asked the nurse to help her with the procedure.
Der Arzt bat die Krankenschwester, ihm bei dem Eingriff zu helfen.
The [female] mechanic greeted the receptionist because she was in a good mood.
Die Mechanikerin begrüßte den Rezeptionisten, weil sie gute Laune hatte.
"""


def save_tiny_marian(folder: Path, *, seed: int = 0, max_positions: int = 128) -> Path:
    """Save a model of two layers on each side with a vocabulary of 70 pieces."""
    model_file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.splitlines() * 20),
        model_writer=model_file,
        vocab_size=70,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=2,
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
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="de",
        model_max_length=max_positions,
    ).save_pretrained(folder)
    return folder


def save_target_vocabulary(folder: Path, *, size: int) -> MarianTokenizer:
    """Save the first pieces as a vocabulary of targets beside a tiny Marian, and return a tokenizer
    with both vocabularies.
    """
    pieces = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    vocabulary = {piece: i for piece, i in pieces.items() if i < size - 1} | {"<pad>": size - 1}
    (folder / "target_vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return MarianTokenizer(
        *(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")),
        target_vocab_file=str(folder / "target_vocab.json"),
        source_lang="en",
        target_lang="de",
        separate_vocabs=True,
    )


def save_tiny_bert(folder: Path) -> Path:
    """Save a model that is not sequence-to-sequence."""
    BertModel(
        BertConfig(
            vocab_size=20,
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
            intermediate_size=8,
        )
    ).save_pretrained(folder)
    return folder


def save_tiny_masked_lm(
    folder: Path,
    texts: Sequence[str] = (TEXT,),
    *,
    family: str = "roberta",
    vocab_size: int = 400,
    max_tokens: int = 96,
    seed: int = 0,
) -> Path:
    """Save a masked language model of two layers with a tokenizer trained on the texts: byte-level
    BPE for roberta, WordPiece for bert, SentencePiece's marks for xlm-roberta.
    """
    special = {"bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]}.get(
        family, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    )
    if family == "bert":
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = tokenizers.decoders.WordPiece()
        trainer: Any = tokenizers.trainers.WordPieceTrainer(
            vocab_size=vocab_size, special_tokens=[*special, "[unused0]"], show_progress=False
        )
        first, last, pad, mask = "[CLS]", "[SEP]", "[PAD]", "[MASK]"
    else:
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
        if family == "roberta":
            tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
            tokenizer.decoder = tokenizers.decoders.ByteLevel()
        else:
            tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
            tokenizer.decoder = tokenizers.decoders.Metaspace()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size, special_tokens=special, show_progress=False
        )
        first, last, pad, mask = "<s>", "</s>", "<pad>", "<mask>"
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=(
            f"{first} $A {last} $B:1 {last}:1"
            if family == "bert"
            else f"{first} $A {last} {last} $B {last}"
        ),
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token=first,
        sep_token=last,
        pad_token=pad,
        unk_token=special[3 if family != "bert" else 1],
        mask_token=tokenizers.AddedToken(mask, lstrip=family != "bert", special=True),
        **({} if family == "bert" else {"bos_token": first, "eos_token": last}),
        model_max_length=max_tokens,
    ).save_pretrained(folder)
    torch.manual_seed(seed)
    sizes = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "initializer_range": 0.5,
    }
    if family == "bert":
        model: Any = BertForMaskedLM(BertConfig(**sizes, max_position_embeddings=max_tokens))
    else:
        configured, built = {
            "roberta": (RobertaConfig, RobertaForMaskedLM),
            "xlm-roberta": (XLMRobertaConfig, XLMRobertaForMaskedLM),
        }[family]
        model = built(
            configured(
                **sizes,
                max_position_embeddings=max_tokens + 2,
                bos_token_id=0,
                pad_token_id=1,
                eos_token_id=2,
            )
        )
    torch.nn.init.normal_(model.get_output_embeddings().bias)
    model.save_pretrained(folder)
    return folder
