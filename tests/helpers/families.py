"""A tiny model with random weights for every evaluator family, with a tokenizer of the class of the
family, built here and saved by transformers.
"""

import json
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
import transformers

from tests.helpers import models
from tests.helpers.bergamot_models import save_student
from tests.helpers.contract_cases import study_families
from tests.helpers.lines import write_lines
from tests.helpers.models import N_POSITIONS

_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")


def _seq2seq(model_type: str, **settings: Any) -> Any:
    return models.made_model(transformers.AutoModelForSeq2SeqLM, model_type, **settings)


def save_tiny_m2m100(folder: Path, *, seed: int = 0) -> Path:
    """Save M2M100 with a vocabulary in fairseq's order, followed by the 100 languages."""
    folder.mkdir(parents=True, exist_ok=True)
    model = _sentencepiece()
    (folder / "spm.model").write_bytes(model.serialized_model_proto())
    pieces = dict.fromkeys([*_FAIRSEQ, *(piece for piece, _ in _pieces(model))])
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    files = (str(folder / name) for name in ("vocab.json", "spm.model"))
    transformers.M2M100Tokenizer(*files, model_max_length=N_POSITIONS).save_pretrained(folder)
    _seq2seq(
        "m2m_100", seed=seed, **models.SIZES, vocab_size=len(vocabulary) + 108, init_std=0.25
    ).save_pretrained(folder)
    return folder


def save_tiny_small100(folder: Path) -> Path:
    """Save the files of M2M100 with the tokenizer class name of SMaLL-100."""
    save_tiny_m2m100(folder, seed=1)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "SMALL100Tokenizer"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return folder


def save_tiny_nllb(folder: Path, *, legacy_behaviour: bool = False) -> Path:
    """Save a model of M2M100's architecture with the languages of FLORES-200."""
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=120, special_tokens=list(_FAIRSEQ), show_progress=False
    )
    trained.train_from_iterator(models.TEXT.splitlines(), trainer)
    parts = json.loads(trained.to_str())["model"]
    parts = {"vocab": parts["vocab"], "merges": [tuple(merge) for merge in parts["merges"]]}
    tokenizer = transformers.NllbTokenizer(
        **parts, legacy_behaviour=legacy_behaviour, model_max_length=N_POSITIONS
    )
    tokenizer.save_pretrained(folder)
    _seq2seq(
        "m2m_100", seed=2, **models.SIZES, vocab_size=len(tokenizer), init_std=0.25
    ).save_pretrained(folder)
    return folder


def save_tiny_mbart(folder: Path, *, language_is_first: bool = True) -> Path:
    """Save mBART-50, or mBART-25, which puts the language last."""
    pieces = _pieces(_sentencepiece())
    # this class puts the special tokens first by itself, in place of SentencePiece's three
    made = transformers.MBart50Tokenizer if language_is_first else transformers.MBartTokenizer
    special = ("<unk>", "<s>", "</s>") if language_is_first else _FAIRSEQ
    tokenizer: Any = made(
        vocab=[*((token, 0.0) for token in special), *pieces], model_max_length=N_POSITIONS
    )
    tokenizer.save_pretrained(folder)
    model = _seq2seq(
        "mbart",
        seed=3,
        **models.SIZES,
        vocab_size=len(tokenizer),
        init_std=0.25,
        decoder_start_token_id=2,
    )
    torch.nn.init.normal_(model.final_logits_bias)
    languages = [token for token in tokenizer.all_special_ids if token > 3]
    model.final_logits_bias[:, languages] -= 9.0  # or it writes nothing else
    model.save_pretrained(folder)
    return folder


def save_tiny_fsmt(folder: Path, *, separate: bool = True) -> Path:
    """Save a model with BPE merges of both sides; the vocabularies differ, or are one with all
    embeddings tied.
    """
    bpe = tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>")
    trained = tokenizers.Tokenizer(bpe)
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    # The trainer numbers the characters that end a word in the order of a hash map, which differs
    # between processes; characters that are named before keep their order.
    final = [f"{character}</w>" for character in sorted(set(models.TEXT) - set(string.whitespace))]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=110, special_tokens=final, end_of_word_suffix="</w>", show_progress=False
    )
    trained.train_from_iterator(models.TEXT.splitlines(), trainer)
    parts = json.loads(trained.to_str())["model"]
    write_lines(folder / "merges.txt", (f"{' '.join(merge)} 1" for merge in parts["merges"]))
    pieces = [piece for piece in parts["vocab"] if piece != "<unk>"]
    for side, side_pieces in (("src", pieces), ("tgt", pieces[::-1][:-5] if separate else pieces)):
        numbers = {piece: i for i, piece in enumerate([*_FAIRSEQ, *side_pieces])}
        (folder / f"vocab-{side}.json").write_text(json.dumps(numbers), encoding="utf-8")
    files = {f"{side}_vocab_file": str(folder / f"vocab-{side}.json") for side in ("src", "tgt")}
    files["merges_file"] = str(folder / "merges.txt")
    tokenizer = transformers.FSMTTokenizer(
        langs=["en", "de"], **files, model_max_length=N_POSITIONS
    )
    tokenizer.save_pretrained(folder)
    n_source = len(pieces) + 4
    model = _seq2seq(
        "fsmt",
        seed=4,
        **models.SIZES,
        src_vocab_size=n_source,
        tgt_vocab_size=n_source - 5 * separate,
        tie_word_embeddings=not separate,
        init_std=0.25,
    )
    model.save_pretrained(folder)
    return folder


def save_tiny_t5(folder: Path, *, family: str = "t5", marks: tuple[str, ...] = ()) -> Path:
    """Save T5; MADLAD has marks such as <2de> in its vocabulary, and separate output weights."""
    special = ((mark, 0.0) for mark in ("<pad>", "</s>", "<unk>", *marks))
    tokenizer = transformers.T5Tokenizer(
        vocab=[*special, *_pieces(_sentencepiece())], extra_ids=2, model_max_length=N_POSITIONS
    )
    tokenizer.save_pretrained(folder)
    options: dict[str, Any] = {"vocab_size": len(tokenizer), "decoder_start_token_id": 0}
    if marks:
        options |= {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    if marks or family == "mt5":  # these do not scale their logits
        options["initializer_factor"] = 0.4
    _seq2seq(
        family, seed=5, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, **options
    ).save_pretrained(folder)
    return folder


def save_tiny_causal_lm(
    folder: Path, *, llama: bool = False, n_positions: int = N_POSITIONS
) -> Path:
    """Save GPT-2 with byte-level BPE, or LLaMA with <s> before every text and tokens that begin
    with ▁.
    """
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    split = tokenizers.pre_tokenizers
    tokenizer.pre_tokenizer = (
        split.Metaspace() if llama else split.ByteLevel(add_prefix_space=False)
    )
    alphabet = [] if llama else split.ByteLevel.alphabet()
    marks = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[*marks.values()],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator([models.TEXT], trainer)
    if llama:
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    fast = transformers.PreTrainedTokenizerFast
    fast(tokenizer_object=tokenizer, **marks, model_max_length=n_positions).save_pretrained(folder)
    ends: Any = {"vocab_size": tokenizer.get_vocab_size(), "bos_token_id": 0, "eos_token_id": 1}
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": n_positions}
    if llama:
        sizes = {
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "max_position_embeddings": n_positions,
        }
    ends |= {**sizes, "initializer_range": 0.25}
    kind = "llama" if llama else "gpt2"
    model = models.made_model(transformers.AutoModelForCausalLM, kind, seed=6, **ends)
    model.save_pretrained(folder)
    return folder


def _sentencepiece() -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=models.trained_pieces(vocab_size=70))


def _pieces(model: Any) -> list[tuple[str, float]]:
    """Return the vocabulary without special tokens."""
    return [(model.id_to_piece(i), model.get_score(i)) for i in range(3, model.vocab_size())]


def save_tiny_bergamot(folder: Path, *, seed: int = 0) -> Path:
    """A student as `cc-hf convert` writes it, with the file that it was made of."""
    from cc_hf.plugins.bergamot.conversion import convert_student

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
    **{"bergamot": save_tiny_bergamot, "causal_lm": save_tiny_causal_lm, "fsmt": save_tiny_fsmt},
    **{"m2m_100": save_tiny_m2m100, "mbart": save_tiny_mbart, "nllb": save_tiny_nllb},
    **{"small100": save_tiny_small100, "t5": save_tiny_t5},
    **{name: partial(save_tiny_t5, family=name) for name in ("mt5", "umt5")},
    "marian": partial(models.save_tiny_marian, max_positions=N_POSITIONS),
    "masked_lm": partial(models.save_tiny_masked_lm, family="bert", max_tokens=260),
    **{name: case.save for name, case in study_families().items()},
}
