"""A tiny model with random weights for every evaluator family, with a tokenizer of the class of the
family, built here and saved by transformers.
"""

from __future__ import annotations

import io
import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
from transformers import (
    FSMTConfig,
    FSMTForConditionalGeneration,
    FSMTTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    MBartTokenizer,
    MT5Config,
    MT5ForConditionalGeneration,
    NllbTokenizer,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
    UMT5Config,
    UMT5ForConditionalGeneration,
)

from cc_hf.conversion.student import convert_student
from tests.helpers.bergamot_models import save_student
from tests.helpers.contract_cases import study_cases
from tests.helpers.models import N_POSITIONS, SIZES, TEXT, save_tiny_marian, save_tiny_masked_lm

_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")


def save_tiny_m2m100(folder: Path, *, seed: int = 0) -> Path:
    """Save M2M100 with a vocabulary in fairseq's order, followed by the 100 languages."""
    model = _sentencepiece()
    (folder / "spm.model").write_bytes(model.serialized_model_proto())
    vocabulary = {
        piece: i
        for i, piece in enumerate(
            dict.fromkeys([*_FAIRSEQ, *(piece for piece, _ in _pieces(model))])
        )
    }
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer = M2M100Tokenizer(
        str(folder / "vocab.json"), str(folder / "spm.model"), model_max_length=N_POSITIONS
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    M2M100ForConditionalGeneration(
        M2M100Config(**SIZES, vocab_size=len(vocabulary) + 108, init_std=0.25)
    ).save_pretrained(folder)
    return folder


def save_tiny_small100(folder: Path) -> Path:
    """Save the files of M2M100 with the tokenizer class name of SMaLL-100."""
    save_tiny_m2m100(folder, seed=1)
    path = folder / "tokenizer_config.json"
    path.write_text(
        json.dumps(
            {**json.loads(path.read_text(encoding="utf-8")), "tokenizer_class": "SMALL100Tokenizer"}
        ),
        encoding="utf-8",
    )
    return folder


def save_tiny_nllb(folder: Path, *, legacy_behaviour: bool = False) -> Path:
    """Save a model of M2M100's architecture with the languages of FLORES-200."""
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trained.train_from_iterator(
        TEXT.splitlines(),
        tokenizers.trainers.BpeTrainer(
            vocab_size=120, special_tokens=list(_FAIRSEQ), show_progress=False
        ),
    )
    parts = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in parts["merges"]]
    tokenizer = NllbTokenizer(
        vocab=parts["vocab"],
        merges=merges,
        legacy_behaviour=legacy_behaviour,
        model_max_length=N_POSITIONS,
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(2)
    M2M100ForConditionalGeneration(
        M2M100Config(**SIZES, vocab_size=len(tokenizer), init_std=0.25)
    ).save_pretrained(folder)
    return folder


def save_tiny_mbart(folder: Path, *, language_is_first: bool = True) -> Path:
    """Save mBART-50, or mBART-25, which puts the language last."""
    pieces = _pieces(_sentencepiece())
    # this class puts the special tokens first by itself, in place of SentencePiece's three
    if language_is_first:
        tokenizer: Any = MBart50Tokenizer(
            vocab=[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *pieces],
            model_max_length=N_POSITIONS,
        )
    else:
        tokenizer = MBartTokenizer(
            vocab=[*((token, 0.0) for token in _FAIRSEQ), *pieces], model_max_length=N_POSITIONS
        )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    model = MBartForConditionalGeneration(
        MBartConfig(**SIZES, vocab_size=len(tokenizer), init_std=0.25, decoder_start_token_id=2)
    )
    torch.nn.init.normal_(model.final_logits_bias)
    model.save_pretrained(folder)
    return folder


def save_tiny_fsmt(folder: Path, *, separate: bool = True) -> Path:
    """Save a model with BPE merges of both sides; the vocabularies differ, or are one with all
    embeddings tied.
    """
    trained = tokenizers.Tokenizer(
        tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>")
    )
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    # The trainer numbers the characters that end a word in the order of a hash map, which differs
    # between processes; characters that are named before keep their order.
    final = [f"{character}</w>" for character in sorted(set(TEXT) - set(string.whitespace))]
    trained.train_from_iterator(
        TEXT.splitlines(),
        tokenizers.trainers.BpeTrainer(
            vocab_size=110, special_tokens=final, end_of_word_suffix="</w>", show_progress=False
        ),
    )
    parts = json.loads(trained.to_str())["model"]
    (folder / "merges.txt").write_text(
        "".join(f"{' '.join(merge)} 1\n" for merge in parts["merges"]), encoding="utf-8"
    )
    pieces = [piece for piece in parts["vocab"] if piece != "<unk>"]
    for side, own in (("src", pieces), ("tgt", pieces[::-1][:-5] if separate else pieces)):
        (folder / f"vocab-{side}.json").write_text(
            json.dumps({piece: i for i, piece in enumerate([*_FAIRSEQ, *own])}), encoding="utf-8"
        )
    FSMTTokenizer(
        langs=["en", "de"],
        src_vocab_file=str(folder / "vocab-src.json"),
        tgt_vocab_file=str(folder / "vocab-tgt.json"),
        merges_file=str(folder / "merges.txt"),
        model_max_length=N_POSITIONS,
    ).save_pretrained(folder)
    torch.manual_seed(4)
    n_source = len(pieces) + 4
    config = FSMTConfig(
        **SIZES,
        src_vocab_size=n_source,
        tgt_vocab_size=n_source - 5 * separate,
        tie_word_embeddings=not separate,
        init_std=0.25,
    )
    FSMTForConditionalGeneration(config).save_pretrained(folder)
    return folder


def save_tiny_t5(folder: Path, *, family: str = "t5", marks: tuple[str, ...] = ()) -> Path:
    """Save T5; MADLAD has marks such as <2de> in its vocabulary, and separate output weights."""
    configured, built = {
        "t5": (T5Config, T5ForConditionalGeneration),
        "mt5": (MT5Config, MT5ForConditionalGeneration),
        "umt5": (UMT5Config, UMT5ForConditionalGeneration),
    }[family]
    vocabulary = [
        ("<pad>", 0.0),
        ("</s>", 0.0),
        ("<unk>", 0.0),
        *((mark, 0.0) for mark in marks),
        *_pieces(_sentencepiece()),
    ]
    tokenizer = T5Tokenizer(vocab=vocabulary, extra_ids=2, model_max_length=N_POSITIONS)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    sizes = {
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 2,
        "num_heads": 2,
        "vocab_size": len(tokenizer),
        "decoder_start_token_id": 0,
    }
    options: dict[str, Any] = (
        {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False} if marks else {}
    )
    if marks or family == "mt5":  # these do not scale their logits
        options["initializer_factor"] = 0.4
    built(configured(**sizes, **options)).save_pretrained(folder)
    return folder


def save_tiny_causal_lm(
    folder: Path, *, llama: bool = False, n_positions: int = N_POSITIONS
) -> Path:
    """Save GPT-2 with byte-level BPE, or LLaMA with <s> before every text and tokens that begin
    with ▁.
    """
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = (
        tokenizers.pre_tokenizers.Metaspace()
        if llama
        else tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    )
    alphabet = [] if llama else tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>", "<unk>"],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    if llama:
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=n_positions,
    ).save_pretrained(folder)
    torch.manual_seed(6)
    ends: dict[str, Any] = {
        "vocab_size": tokenizer.get_vocab_size(),
        "bos_token_id": 0,
        "eos_token_id": 1,
        "initializer_range": 0.25,
    }
    if llama:
        sizes = {
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "max_position_embeddings": n_positions,
        }
        LlamaForCausalLM(LlamaConfig(**sizes, **ends)).save_pretrained(folder)
    else:
        GPT2LMHeadModel(
            GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=n_positions, **ends)
        ).save_pretrained(folder)
    return folder


def _sentencepiece() -> Any:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.splitlines() * 20),
        model_writer=model,
        vocab_size=70,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def _pieces(model: Any) -> list[tuple[str, float]]:
    """Return the vocabulary without special tokens."""
    return [(model.id_to_piece(i), model.get_score(i)) for i in range(3, model.vocab_size())]


def save_tiny_bergamot(folder: Path, *, seed: int = 0) -> Path:
    """A student as `cc-hf convert` writes it, with the file that it was made of."""
    student = save_student(folder / "student", seed=seed)
    convert_student(student, output=folder / "converted")
    for path in (folder / "converted").iterdir():
        path.rename(folder / path.name)
    (folder / "converted").rmdir()
    for path in student.iterdir():
        path.rename(folder / f"marian-{path.name}")
    student.rmdir()
    return folder


#: registered family -> a function that saves a tiny model of it
BUILDERS: dict[str, Callable[[Path], Path]] = {
    "bergamot": save_tiny_bergamot,
    "causal_lm": save_tiny_causal_lm,
    "fsmt": save_tiny_fsmt,
    "m2m_100": save_tiny_m2m100,
    "marian": lambda folder: save_tiny_marian(folder, max_positions=N_POSITIONS),
    "masked_lm": lambda folder: save_tiny_masked_lm(folder, family="bert", max_tokens=260),
    "mbart": save_tiny_mbart,
    "mt5": lambda folder: save_tiny_t5(folder, family="mt5"),
    "nllb": save_tiny_nllb,
    "small100": save_tiny_small100,
    "t5": save_tiny_t5,
    "umt5": lambda folder: save_tiny_t5(folder, family="umt5"),
    **{
        family: case.save
        for cases in study_cases().values()
        for family, case in cases.families.items()
    },
}
