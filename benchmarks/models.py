"""Models of real size with random weights, each with a tokenizer of its family's own class and a
vocabulary of real size, saved by transformers.

Speed does not depend on the weights, except in mode "auto". The pieces that occur in texts are
spread over the whole vocabulary; all others are never used.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
from sacremoses import MosesTokenizer
from transformers import (
    FSMTConfig,
    FSMTForConditionalGeneration,
    FSMTTokenizer,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    NllbTokenizer,
)

from cc_hf.models.location import TINY_EN_DE

__all__ = ["FOLDER", "SIZES", "ModelSize", "make_model"]

#: Where models are kept unless an option names another folder.
FOLDER = Path(__file__).parent.parent / "out" / "benchmark"
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
_N_MARKS = 205  # ids after NLLB's pieces: languages, the mask token, and two that are not used
_N_PIECES = 8000  # pieces of BPE that are trained; as many as the embedded evaluator has
_READY = "ready"  # file that is written last, so that a folder with it is complete


@dataclass(frozen=True)
class ModelSize:
    """The size of a model, the same for encoder and decoder.

    Attributes:
        name, title: names in options and in tables.
        family: a name of `registry.EVALUATOR_FAMILIES`.
        n_pairs: default number of pairs in a round, which takes seconds for the fast ways of
            scoring, and a minute or two for the slow ones.
        is_trained: whether it is the embedded evaluator, which ships with the package.
    """

    name: str
    title: str
    family: str
    d_model: int
    n_layers: int
    n_heads: int
    ffn: int
    vocabulary: int
    n_positions: int
    n_pairs: int
    is_trained: bool = False

    def path(self, folder: Path) -> Path:
        """Return the folder of the model in the folder of all."""
        return TINY_EN_DE.path if self.is_trained else folder / self.name


_EMBEDDED = (
    "cc-tiny-en-de (the embedded evaluator, whose weights are trained; Marian, d 256, 4+2 layers,"
    " ffn 1,024, vocabulary 8,001)"
)
#: Sizes by name. The last is too small to measure speed, but its deviations and flips are those of
#: a trained model.
SIZES = {
    size.name: size
    for size in (
        ModelSize(
            "opus-mt",
            "OPUS-MT (Marian, d 512, 6+6 layers, ffn 2,048, vocabulary 58,101)",
            "marian",
            512,
            6,
            8,
            2048,
            58_101,
            512,
            1024,
        ),
        ModelSize(
            "wmt19",
            "wmt19 (FSMT, d 1,024, 6+6 layers, ffn 8,192, vocabulary 42,024)",
            "fsmt",
            1024,
            6,
            16,
            8192,
            42_024,
            1024,
            384,
        ),
        ModelSize(
            "nllb",
            "NLLB-600M (M2M100, d 1,024, 12+12 layers, ffn 4,096, vocabulary 256,206)",
            "nllb",
            1024,
            12,
            16,
            4096,
            256_206,
            1024,
            256,
        ),
        ModelSize(
            "cc-tiny-en-de", _EMBEDDED, "marian", 256, 4, 8, 1024, 8_001, 256, 2048, is_trained=True
        ),
    )
}


def make_model(size: ModelSize, folder: Path, texts: Iterable[str]) -> Path:
    """Make a model if it does not exist yet, and return its folder.

    Args:
        texts: texts on which the pieces of BPE are trained, if the family has BPE.
    """
    path = size.path(folder)
    if size.is_trained or (path / _READY).is_file():
        return path
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    tokenizer, model = _BUILDERS[size.family]
    tokenizer(size, path, texts)
    torch.manual_seed(0)
    model(size).save_pretrained(path)
    (path / _READY).touch()
    return path


def _sizes(size: ModelSize) -> dict[str, Any]:
    """Return the settings of a configuration that all families share."""
    sides = {
        f"{side}_{what}": value
        for side in ("encoder", "decoder")
        for what, value in (
            ("layers", size.n_layers),
            ("attention_heads", size.n_heads),
            ("ffn_dim", size.ffn),
        )
    }
    return {
        **sides,
        "d_model": size.d_model,
        "max_position_embeddings": size.n_positions,
        # As fairseq's embeddings, so that states keep their scale from layer to layer.
        "init_std": size.d_model**-0.5,
    }


def _marian(size: ModelSize) -> Any:
    pad = size.vocabulary - 1
    ends = {
        "pad_token_id": pad,
        "decoder_start_token_id": pad,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
        "bos_token_id": None,
    }
    return MarianMTModel(
        MarianConfig(
            **_sizes(size),
            **ends,
            vocab_size=size.vocabulary,
            activation_function="swish",
            scale_embedding=True,
        )
    )


def _fsmt(size: ModelSize) -> Any:
    config = FSMTConfig(
        **_sizes(size),
        src_vocab_size=size.vocabulary,
        tgt_vocab_size=size.vocabulary,
        tie_word_embeddings=True,
        scale_embedding=True,
    )
    return FSMTForConditionalGeneration(config)


def _nllb(size: ModelSize) -> Any:
    return M2M100ForConditionalGeneration(
        M2M100Config(**_sizes(size), vocab_size=size.vocabulary, scale_embedding=True)
    )


def _marian_tokenizer(size: ModelSize, folder: Path, _texts: Iterable[str]) -> None:
    """Save a tokenizer with the pieces of the embedded evaluator."""
    for name in ("source.spm", "target.spm"):
        shutil.copyfile(TINY_EN_DE.path / name, folder / name)
    pieces = json.loads((TINY_EN_DE.path / "vocab.json").read_text(encoding="utf-8"))
    ordinary = [
        piece
        for piece in sorted(pieces, key=lambda piece: int(pieces[piece]))
        if piece not in ("</s>", "<unk>", "<pad>")
    ]
    vocabulary = {
        **_spread(("</s>", "<unk>"), ordinary, size.vocabulary - 1),
        "<pad>": size.vocabulary - 1,
    }
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8", newline="\n")
    paths = (str(folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    MarianTokenizer(
        *paths, source_lang="en", target_lang="de", model_max_length=size.n_positions
    ).save_pretrained(folder)


def _fsmt_tokenizer(size: ModelSize, folder: Path, texts: Iterable[str]) -> None:
    trained = tokenizers.Tokenizer(
        tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>")
    )
    trained.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    moses = MosesTokenizer(lang="en")  # FSMTTokenizer's own step before BPE
    split = [moses.tokenize(text, aggressive_dash_splits=True, return_str=True) for text in texts]
    # The trainer would number these in the order of a hash map, differently in every process.
    final = sorted({f"{word[-1]}</w>" for text in split for word in text.split()})
    pieces, merges = _train(trained, split, ["<unk>"], size, first=final, end_of_word_suffix="</w>")
    (folder / "merges.txt").write_text(
        "".join(f"{' '.join(merge)} 1\n" for merge in merges), encoding="utf-8", newline="\n"
    )
    for side in ("src", "tgt"):
        (folder / f"vocab-{side}.json").write_text(
            json.dumps(_spread(_FAIRSEQ, pieces, size.vocabulary)), encoding="utf-8", newline="\n"
        )
    paths = {
        "src_vocab_file": folder / "vocab-src.json",
        "tgt_vocab_file": folder / "vocab-tgt.json",
        "merges_file": folder / "merges.txt",
    }
    FSMTTokenizer(
        langs=["en", "de"],
        model_max_length=size.n_positions,
        **{name: str(path) for name, path in paths.items()},
    ).save_pretrained(folder)


def _nllb_tokenizer(size: ModelSize, folder: Path, texts: Iterable[str]) -> None:
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    pieces, merges = _train(trained, texts, list(_FAIRSEQ), size)
    vocabulary = _spread(_FAIRSEQ, pieces, size.vocabulary - _N_MARKS)
    NllbTokenizer(
        vocab=vocabulary,
        merges=merges,
        src_lang="eng_Latn",
        tgt_lang="deu_Latn",
        model_max_length=size.n_positions,
    ).save_pretrained(folder)


def _train(
    trained: Any,
    texts: Iterable[str],
    special: list[str],
    size: ModelSize,
    *,
    first: Sequence[str] = (),
    **options: Any,
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return trained pieces without the special ones, and merges; `first` get the first ids."""
    n_pieces = min(_N_PIECES, size.vocabulary - _N_MARKS - len(_FAIRSEQ))
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=n_pieces, special_tokens=[*special, *first], show_progress=False, **options
    )
    trained.train_from_iterator(texts, trainer)
    model = json.loads(trained.to_str())["model"]
    return [piece for piece in model["vocab"] if piece not in special], [
        (left, right) for left, right in model["merges"]
    ]


def _spread(first: Sequence[str], pieces: Sequence[str], n: int) -> Mapping[str, int]:
    """Return ids from 0 to n - 1: those of the first tokens, then those of the pieces at even
    distances between unused ones.
    """
    ids = [len(first) + i * (n - len(first)) // len(pieces) for i in range(len(pieces))]
    by_id = dict(zip((*range(len(first)), *ids), (*first, *pieces), strict=True))
    return {by_id.get(i, f"unused{i}"): i for i in range(n)}


_BUILDERS: dict[
    str, tuple[Callable[[ModelSize, Path, Iterable[str]], None], Callable[[ModelSize], Any]]
] = {
    "marian": (_marian_tokenizer, _marian),
    "fsmt": (_fsmt_tokenizer, _fsmt),
    "nllb": (_nllb_tokenizer, _nllb),
}
