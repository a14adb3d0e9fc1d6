"""How much faster pseudo-perplexity is than a loop that masks one token at a time.

Both run in turn, on models with random weights.

python -m benchmarks.pseudo_perplexity --data-dir DIR --size tiny --size small
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tokenizers
import torch
import typer
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from benchmarks.command import run_main
from benchmarks.texts import read_decisions
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.schema import ScoringRequest

__all__ = ["SIZES", "Size", "Speed", "compare", "main", "masked_in_a_loop", "save_masked_lm"]

_N_PIECES = 8000
_MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


@dataclass(frozen=True)
class Size:
    """The size of a RoBERTa; logits of the vocabulary without a piece are never used."""

    hidden: int
    layers: int
    heads: int
    vocabulary: int


SIZES = {
    "tiny": Size(64, 2, 2, 8_000),
    "small": Size(384, 6, 12, 50_265),  # as distilled models
    "base": Size(768, 12, 12, 50_265),  # as roberta-base
    "xlm-r": Size(768, 12, 12, 250_002),  # as xlm-roberta-base
}
Name = Enum("Name", {name: name for name in SIZES}, type=str)  # type: ignore[misc]


@dataclass(frozen=True)
class Speed:
    """The seconds that the loop and cc_hf need for the same sentences, as medians over rounds.

    Attributes:
        n_masks: number of tokens that are masked in them.
        deviation: largest difference of a mean log-probability.
    """

    n_sentences: int
    n_masks: int
    loop: float
    ours: float
    deviation: float

    @property
    def ratio(self) -> float:
        """How many times as fast cc_hf is."""
        return self.loop / self.ours


def save_masked_lm(folder: Path, size: Size, texts: Sequence[str]) -> Path:
    """Save a model with random weights, and a tokenizer trained on texts, and return the folder."""
    trained = tokenizers.Tokenizer(tokenizers.models.BPE())
    trained.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trained.train_from_iterator(
        texts,
        tokenizers.trainers.BpeTrainer(
            vocab_size=_N_PIECES,
            special_tokens=list(_MARKS),
            initial_alphabet=alphabet,
            show_progress=False,
        ),
    )
    trained.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = dict(
        zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), _MARKS, strict=True)
    )
    PreTrainedTokenizerFast(
        tokenizer_object=trained, cls_token="<s>", sep_token="</s>", model_max_length=512, **names
    ).save_pretrained(folder)
    torch.manual_seed(0)
    widths = {
        "hidden_size": size.hidden,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "intermediate_size": 4 * size.hidden,
    }
    config = RobertaConfig(
        **widths,
        vocab_size=size.vocabulary,
        max_position_embeddings=514,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    RobertaForMaskedLM(config).save_pretrained(folder)
    return folder


@torch.inference_mode()
def masked_in_a_loop(model: Any, tokenizer: Any, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the mean natural log-probability of the tokens of each of n texts, (n,), one mask and
    one pass at a time (Salazar et al. 2020, eq. 1).
    """
    means = []
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        logprobs = []
        for i in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, i] = tokenizer.mask_token_id
            logits = model(masked).logits[0, i]
            logprobs.append(torch.log_softmax(logits, dim=-1)[ids[0, i]].item())
        means.append(sum(logprobs) / len(logprobs))
    return np.array(means)


def compare(folder: Path, texts: Sequence[str], *, rounds: int) -> Speed:
    """Measure both ways in turn, without loading and a first pass over a few sentences."""
    model, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    evaluator = load_evaluator(folder, device="cpu")
    ways: dict[str, Callable[[Sequence[str]], Any]] = {
        "loop": lambda batch: masked_in_a_loop(model, tokenizer, batch),
        "ours": (
            lambda batch: (
                evaluator.score(
                    [ScoringRequest("", text) for text in batch], src_lang="", tgt_lang=""
                ).mean_logprob
            )
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    scores: dict[str, npt.NDArray[np.float64]] = {}
    for way in ways.values():
        way(texts[:5])
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            scores[name] = way(texts)
            seconds[name].append(time.perf_counter() - start)
    n_masks = sum(len(row) for row in tokenizer(list(texts), add_special_tokens=False)["input_ids"])
    deviation = float(np.abs(scores["loop"] - scores["ours"]).max())
    return Speed(len(texts), n_masks, median(seconds["loop"]), median(seconds["ours"]), deviation)


def main(
    size: Annotated[
        list[Name] | None, typer.Option(help="Size of the model; may be repeated.")
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=1, help="German references of MuCoW, at even distances.")
    ] = 100,
    rounds: Annotated[
        int, typer.Option(min=1, help="Each way runs once per round; figures are medians.")
    ] = 3,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the CPU.")] = os.cpu_count() or 1,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Upstream repositories, DIR/owner/repository/path. Else CC_HF_DATA_DIR."),
    ] = None,
) -> None:
    """Measure, and print one line per model."""
    torch.set_num_threads(threads)
    every = sorted(set(read_decisions("mucow", data_dir).translations))
    texts = [every[i * len(every) // sentences] for i in range(sentences)]
    for name in size or [Name.tiny]:  # type: ignore[attr-defined]
        with tempfile.TemporaryDirectory() as folder:
            speed = compare(
                save_masked_lm(Path(folder), SIZES[name.value], every), texts, rounds=rounds
            )
        typer.echo(
            f"{name.value}: {speed.n_sentences} sentences, {speed.n_masks} masks, {threads}"
            f" threads: loop {speed.loop:.2f} s, cc_hf {speed.ours:.2f} s, {speed.ratio:.1f} times"
            f" as fast; largest deviation of a mean log-probability {speed.deviation:.1e}"
        )


if __name__ == "__main__":
    run_main(main)
