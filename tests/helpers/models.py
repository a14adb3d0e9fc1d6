"""Tiny models with random weights, saved the way transformers saves real ones."""

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
import transformers

N_POSITIONS = 1000
_PART = {"layers": 2, "attention_heads": 2, "ffn_dim": 32}
SIZES = {
    **{f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in _PART.items()},
    **{"d_model": 16, "max_position_embeddings": N_POSITIONS},
}
TEXT = """The doctor asked the nurse to help her with the procedure.
Der Arzt bat die Krankenschwester, ihm bei dem Eingriff zu helfen.
The [female] mechanic greeted the receptionist because she was in a good mood.
Die Mechanikerin begrüßte den Rezeptionisten, weil sie gute Laune hatte.
"""


#: numbers of special pieces as Marian has them
MARIAN_MARKS: dict[str, Any] = {"eos_id": 0, "unk_id": 1, "bos_id": -1}


def trained_pieces(texts: Iterable[str] = TEXT.splitlines() * 20, **options: Any) -> bytes:
    """Return a SentencePiece model of the texts."""
    model_file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model_file, minloglevel=2, **options
    )
    return model_file.getvalue()


def made_model(auto_class: Any, model_type: str, *, seed: int, **settings: Any) -> Any:
    """Return a model with random weights."""
    torch.manual_seed(seed)
    return auto_class.from_config(transformers.AutoConfig.for_model(model_type, **settings))


def save_marian(
    folder: Path, pieces: bytes, *, seed: int, has_bias: bool = False, **sizes: Any
) -> Path:
    """Save a model that has these pieces, trained with `MARIAN_MARKS`, on both sides."""
    folder.mkdir(parents=True, exist_ok=True)
    processor = sentencepiece.SentencePieceProcessor(model_proto=pieces)
    pad = processor.vocab_size()
    vocabulary = {**{processor.id_to_piece(i): i for i in range(pad)}, "<pad>": pad}
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(pieces)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    marks = {
        "pad_token_id": pad,
        "decoder_start_token_id": pad,
        "vocab_size": pad + 1,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
    }
    model = made_model(transformers.AutoModelForSeq2SeqLM, "marian", seed=seed, **marks, **sizes)
    if has_bias:
        torch.nn.init.normal_(model.final_logits_bias)
    model.save_pretrained(folder)
    transformers.MarianTokenizer(
        *(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")),
        source_lang="en",
        target_lang="de",
        model_max_length=sizes["max_position_embeddings"],
    ).save_pretrained(folder)
    return folder


def save_tiny_marian(folder: Path, *, seed: int = 0, max_positions: int = 128) -> Path:
    """Save a model of two layers on each side with a vocabulary of 70 pieces."""
    pieces = trained_pieces(vocab_size=70, **MARIAN_MARKS)
    sizes = {**SIZES, "max_position_embeddings": max_positions, "init_std": 0.5}
    return save_marian(folder, pieces, seed=seed, has_bias=True, **sizes)


def save_target_vocabulary(folder: Path, *, size: int) -> transformers.MarianTokenizer:
    """Save the first pieces as a vocabulary of targets beside a tiny Marian, and return a tokenizer
    with both vocabularies.
    """
    pieces = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    vocabulary = {piece: i for piece, i in pieces.items() if i < size - 1} | {"<pad>": size - 1}
    (folder / "target_vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return transformers.MarianTokenizer(
        *(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")),
        target_vocab_file=str(folder / "target_vocab.json"),
        source_lang="en",
        target_lang="de",
        separate_vocabs=True,
    )


def save_tiny_bert(folder: Path) -> Path:
    """Save a model that is not sequence-to-sequence."""
    model = made_model(
        transformers.AutoModel,
        "bert",
        seed=0,
        vocab_size=20,
        intermediate_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
    )
    model.save_pretrained(folder)
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
        pair=f"{first} $A {last} "
        + (f"$B:1 {last}:1" if family == "bert" else f"{last} $B {last}"),
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
    )
    is_bert = family == "bert"
    marks = {"cls_token": first, "sep_token": last, "pad_token": pad}
    marks |= {} if is_bert else {"bos_token": first, "eos_token": last}
    marks |= {"unk_token": special[1 if is_bert else 3]}
    mask_token = tokenizers.AddedToken(mask, lstrip=not is_bert, special=True)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **marks, mask_token=mask_token, model_max_length=max_tokens
    )
    fast.save_pretrained(folder)
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "vocab_size": tokenizer.get_vocab_size(),
    }
    sizes["max_position_embeddings"] = max_tokens + 2 * (family != "bert")
    auto_class = transformers.AutoModelForMaskedLM
    model = made_model(auto_class, family, seed=seed, **sizes, initializer_range=0.5)
    torch.nn.init.normal_(model.get_output_embeddings().bias)
    model.save_pretrained(folder)
    return folder
