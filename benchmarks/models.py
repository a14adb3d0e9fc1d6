"""Models of real size with random weights, each with a tokenizer of its family's own class and a
vocabulary of real size, saved by transformers.

Speed does not depend on the weights, but for `auto`. The pieces that texts are made of lie spread
over the whole vocabulary; all others are padding of it.
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

__all__ = ["SIZES", "ModelSize", "make_model"]

_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
_N_MARKS = 205  # places behind NLLB's pieces: languages, the mask, two of no use
_N_PIECES = 8000  # pieces of BPE that are trained; as many as the embedded evaluator has
_READY = "ready"  # written last: a folder with it is complete


@dataclass(frozen=True)
class ModelSize:
    """Measures of a model, encoder and decoder alike.

    Attributes:
        name, title: in options and in tables.
        family: as in `registry.EVALUATOR_FAMILIES`.
        n_pairs: of a round, where none are asked for: seconds for the fast ways of scoring, a
            minute or two for the slow ones.
        is_trained: the embedded evaluator, which is there already.
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

    def place(self, folder: Path) -> Path:
        """Where the model is, in the folder of all."""
        return TINY_EN_DE.path if self.is_trained else folder / self.name


_EMBEDDED = (
    "cc-tiny-en-de (the embedded evaluator, whose weights are trained; Marian, d 256, 4+2 layers,"
    " ffn 1,024, vocabulary 8,001)"
)
#: the last is too small for a measure of speed, but its deviations and flips are those of a model
#: that knows something
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
    """Where such a model is; made where it is not there yet.

    Args:
        size: what to make.
        folder: of all models of the benchmark.
        texts: what the pieces of BPE are trained on, where a family has BPE.
    """
    place = size.place(folder)
    if size.is_trained or (place / _READY).is_file():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    tokenizer, model = _BUILDERS[size.family]
    tokenizer(size, place, texts)
    torch.manual_seed(0)
    model(size).save_pretrained(place)
    (place / _READY).touch()
    return place


def _sizes(size: ModelSize) -> dict[str, Any]:
    """All matrices have the deviation that fairseq gives to embeddings, so that states keep their
    scale from layer to layer.
    """
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
    """The pieces of the embedded evaluator."""
    for name in ("source.spm", "target.spm"):
        shutil.copyfile(TINY_EN_DE.path / name, folder / name)
    pieces = json.loads((TINY_EN_DE.path / "vocab.json").read_text(encoding="utf-8"))
    own = [
        piece
        for piece in sorted(pieces, key=lambda piece: int(pieces[piece]))
        if piece not in ("</s>", "<unk>", "<pad>")
    ]
    vocabulary = {
        **_spread(("</s>", "<unk>"), own, size.vocabulary - 1),
        "<pad>": size.vocabulary - 1,
    }
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
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
    # the trainer would number them in the order of a hash map, anew in every process
    final = sorted({f"{word[-1]}</w>" for text in split for word in text.split()})
    pieces, merges = _train(trained, split, ["<unk>"], size, first=final, end_of_word_suffix="</w>")
    (folder / "merges.txt").write_text(
        "".join(f"{' '.join(merge)} 1\n" for merge in merges), encoding="utf-8"
    )
    for side in ("src", "tgt"):
        (folder / f"vocab-{side}.json").write_text(
            json.dumps(_spread(_FAIRSEQ, pieces, size.vocabulary)), encoding="utf-8"
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
    """Pieces, without the special ones, and merges; the pieces named first get the first
    numbers.
    """
    n_pieces = min(_N_PIECES, size.vocabulary - _N_MARKS - len(_FAIRSEQ))
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=n_pieces, special_tokens=[*special, *first], show_progress=False, **options
    )
    trained.train_from_iterator(texts, trainer)
    found = json.loads(trained.to_str())["model"]
    return [piece for piece in found["vocab"] if piece not in special], [
        (left, right) for left, right in found["merges"]
    ]


def _spread(first: Sequence[str], pieces: Sequence[str], n: int) -> Mapping[str, int]:
    """Ids 0 to n - 1: the first tokens, and behind them the pieces at even distances between unused
    ones.
    """
    places = [len(first) + i * (n - len(first)) // len(pieces) for i in range(len(pieces))]
    by_id = dict(zip((*range(len(first)), *places), (*first, *pieces), strict=True))
    return {by_id.get(i, f"unused{i}"): i for i in range(n)}


_BUILDERS: dict[
    str, tuple[Callable[[ModelSize, Path, Iterable[str]], None], Callable[[ModelSize], Any]]
] = {
    "marian": (_marian_tokenizer, _marian),
    "fsmt": (_fsmt_tokenizer, _fsmt),
    "nllb": (_nllb_tokenizer, _nllb),
}
