"""Train the embedded evaluator: one SentencePiece vocabulary for both languages, a small Marian
model, bf16 weights on disk.

Training is deterministic on one machine for one seed and one number of threads.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import sentencepiece
import torch
from cc_hf_studies.common.scratch.model import make_model
from cc_hf_studies.common.scratch.options import ModelSizes
from cc_hf_studies.common.scratch.pieces import EOS, load_pieces, train_pieces
from transformers import MarianMTModel

from tools.evaluator_recipe.corpus import (
    cued_copies,
    read_tatoeba,
    split_development,
    with_person,
)
from tools.evaluator_recipe.sentences import Pair, SentenceMaker

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the model, except the machine."""

    seed: int = 1
    passes: int = 6
    n_pieces: int = 8000
    d_model: int = 256
    encoder_layers: int = 4
    decoder_layers: int = 2
    ffn_dim: int = 1024
    heads: int = 8
    dropout: float = 0.1
    label_smoothing: float = 0.05
    learning_rate: float = 1e-3
    warmup_steps: int = 1500
    batch_tokens: int = 4000
    sentences_per_pass: int = 150_000
    copies_per_pass: int = 3
    max_pieces: int = 80
    average_decay: float = 0.99
    average_every: int = 8


@dataclass(frozen=True)
class Material:
    """Tatoeba, split into training and development, and the cued copies of both."""

    training: list[Pair]
    development: list[Pair]
    copies: list[Pair]
    development_copies: list[Pair]


def read_material(
    tatoeba: Path, *, seed: int, n_development: int = 6000, excluded: Iterable[str] = ()
) -> Material:
    """Return Tatoeba without the `excluded` English sentences, which are those of test sets."""
    banned = {_key(text) for text in excluded}
    pairs = [pair for pair in read_tatoeba(tatoeba) if _key(pair.english) not in banned]
    training, development = split_development(pairs, n=n_development, seed=seed)
    return Material(
        training, development, list(cued_copies(training)), list(cued_copies(development))
    )


def one_pass(
    material: Material, recipe: Recipe, *, number: int, excluded: Iterable[str] = ()
) -> list[Pair]:
    """Return the pairs of one pass in random order: Tatoeba (some names replaced by occupations),
    cued copies, and generated sentences.
    """
    banned = {_key(text) for text in excluded}
    draw = random.Random(recipe.seed * 1000 + number)
    maker = SentenceMaker(recipe.seed * 1000 + number)
    pairs = []
    for pair in material.training:
        pairs.append(
            (draw.random() < 0.6 and with_person(pair, maker, cued=draw.random() < 0.75)) or pair
        )
    pairs += material.copies * recipe.copies_per_pass
    generated = (pair for pair in maker if _key(pair.english) not in banned)
    pairs += islice(generated, recipe.sentences_per_pass)
    draw.shuffle(pairs)
    return pairs


def _key(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


class Encoder:
    """An encoder of pairs, as ids with EOS and as padded batches of similar length."""

    def __init__(self, folder: Path, max_pieces: int) -> None:
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
        self._max = max_pieces
        self.pad = self._pieces.vocab_size()

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, EOS included."""
        return [[*ids, EOS] for ids in self._pieces.encode(list(texts), out_type=int)]

    def batches(
        self, pairs: Sequence[Pair], *, batch_tokens: int, seed: int
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield ids of sources and of targets, (batch, longest), in random order.

        A batch has about `batch_tokens` padded target tokens. Longer pairs are dropped.
        """
        source, target = self.ids([p.english for p in pairs]), self.ids([p.german for p in pairs])
        usable = [
            i
            for i in range(len(pairs))
            if len(source[i]) <= self._max and len(target[i]) <= self._max
        ]
        draw = random.Random(seed)
        draw.shuffle(usable)
        usable.sort(key=lambda i: (len(target[i]), len(source[i])))
        groups: list[list[int]] = [[]]
        for i in usable:
            if (
                groups[-1]
                and (len(groups[-1]) + 1) * max(len(target[i]), len(source[i])) > batch_tokens
            ):
                groups.append([])
            groups[-1].append(i)
        draw.shuffle(groups)
        for group in groups:
            yield self._tensor([source[i] for i in group]), self._tensor([target[i] for i in group])

    def _tensor(self, rows: list[list[int]]) -> torch.Tensor:
        width = max(map(len, rows))
        return torch.tensor([row + [self.pad] * (width - len(row)) for row in rows])


def build_model(recipe: Recipe, n_pieces: int) -> MarianMTModel:
    """Return a Marian model with random weights and tied embeddings."""
    return make_model(
        ModelSizes(
            recipe.encoder_layers,
            recipe.decoder_layers,
            recipe.d_model,
            recipe.ffn_dim,
            recipe.ffn_dim,
            recipe.heads,
        ),
        n_pieces,
        dropout=recipe.dropout,
        seed=recipe.seed,
    )


def _logits(
    model: MarianMTModel, source: torch.Tensor, target: torch.Tensor, pad: int
) -> torch.Tensor:
    start = torch.full((len(target), 1), pad)
    output = model(
        input_ids=source,
        attention_mask=(source != pad).long(),
        decoder_input_ids=torch.cat([start, target[:, :-1]], dim=1),
        use_cache=False,
    )
    logits: torch.Tensor = output.logits
    return logits


@torch.inference_mode()
def contrast_accuracy(model: MarianMTModel, encoder: Encoder, pairs: Sequence[Pair]) -> float:
    """Return the share of pairs whose German is more probable under the right cue than under the
    other one, in [0, 1].
    """
    model.eval()
    correct = 0
    for start in range(0, len(pairs), 64):
        chunk = pairs[start : start + 64]
        target = encoder._tensor(encoder.ids([p.german for p in chunk]))
        scores = []
        for sources in ([p.english for p in chunk], [p.contrast for p in chunk]):
            logprobs = (
                _logits(model, encoder._tensor(encoder.ids(sources)), target, encoder.pad)
                .float()
                .log_softmax(-1)
            )
            chosen = logprobs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
            scores.append(chosen.masked_fill(target == encoder.pad, 0).sum(1))
        correct += int((scores[0] > scores[1]).sum())
    model.train()
    return correct / len(pairs)


@torch.inference_mode()
def development_loss(model: MarianMTModel, encoder: Encoder, pairs: Sequence[Pair]) -> float:
    """Return the loss in nats per target token."""
    model.eval()
    total = count = 0.0
    for source, target in encoder.batches(pairs, batch_tokens=4000, seed=0):
        loss = torch.nn.functional.cross_entropy(
            _logits(model, source, target, encoder.pad).float().flatten(0, 1),
            target.flatten(),
            ignore_index=encoder.pad,
            reduction="sum",
        )
        total, count = total + loss.item(), count + int((target != encoder.pad).sum())
    model.train()
    return total / count


def train(
    tatoeba: Path,
    output: Path,
    recipe: Recipe,
    *,
    excluded: Sequence[str] = (),
    n_development: int = 6000,
    threads: int = 2,
) -> dict[str, float]:
    """Train a model, save it with tokenizer, recipe and log in `output`, and return its figures."""
    torch.set_num_threads(threads)
    material = read_material(
        tatoeba, seed=recipe.seed, n_development=n_development, excluded=excluded
    )
    first = one_pass(material, recipe, number=0, excluded=excluded)
    train_pieces(
        (text for pair in first for text in (pair.english, pair.german)), output, recipe.n_pieces
    )
    encoder = Encoder(output, recipe.max_pieces)
    n_steps = recipe.passes * sum(
        1 for _ in encoder.batches(first, batch_tokens=recipe.batch_tokens, seed=0)
    )
    model = build_model(recipe, encoder.pad + 1)
    logger.info(
        "%d parameters, about %d steps, %d pairs a pass",
        sum(p.numel() for p in model.parameters()),
        n_steps,
        len(first),
    )
    development = {
        "own": list(islice(SentenceMaker(recipe.seed + 77, development=True), 1000)),
        "natural": material.development_copies,
    }
    parameters = [p for p in model.parameters() if p.requires_grad]
    average = [p.detach().clone() for p in parameters]
    optimizer = torch.optim.AdamW(
        parameters,
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
        eps=1e-9,
        weight_decay=0.0,
        fused=True,
    )
    scale = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda s: min(
            (s + 1) / recipe.warmup_steps,
            max(n_steps - s, 1) / max(n_steps - recipe.warmup_steps, 1),
        ),
    )
    step, started, tokens = 0, time.monotonic(), 0
    figures: dict[str, float] = {}
    with (output / "training_log.jsonl").open("w", encoding="utf-8", newline="\n") as log:
        for number in range(recipe.passes):
            pairs = (
                first
                if number == 0
                else one_pass(material, recipe, number=number, excluded=excluded)
            )
            for source, target in encoder.batches(
                pairs, batch_tokens=recipe.batch_tokens, seed=number
            ):
                with torch.autocast("cpu", torch.bfloat16):
                    logits = _logits(model, source, target, encoder.pad)
                loss = torch.nn.functional.cross_entropy(
                    logits.float().flatten(0, 1),
                    target.flatten(),
                    ignore_index=encoder.pad,
                    label_smoothing=recipe.label_smoothing,
                )
                torch.autograd.backward(loss)
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                scale.step()
                step, tokens = step + 1, tokens + int((target != encoder.pad).sum())
                if step % recipe.average_every == 0:
                    torch._foreach_lerp_(
                        average, [p.detach() for p in parameters], 1 - recipe.average_decay
                    )
                if step % 100 == 0:
                    logger.info(
                        "step %d of %d, loss %.3f, %.0f tokens/s",
                        step,
                        n_steps,
                        loss.item(),
                        tokens / (time.monotonic() - started),
                    )
                if step % 500 == 0:
                    figures = _measure(model, parameters, average, encoder, material, development)
                    row = {
                        "step": step,
                        "tokens": tokens,
                        "seconds": round(time.monotonic() - started),
                        "loss": round(loss.item(), 4),
                        **figures,
                    }
                    log.write(json.dumps(row) + "\n")
                    log.flush()
                    logger.info("%s", row)
                    _save(model, parameters, average, output)
    figures = _measure(model, parameters, average, encoder, material, development)
    _save(model, parameters, average, output)
    (output / "recipe.json").write_text(
        json.dumps({**asdict(recipe), "steps": step, "target_tokens": tokens, **figures}, indent=1)
        + "\n",
        encoding="utf-8",
        newline="\n",
    )
    return figures


def _measure(
    model: MarianMTModel,
    parameters: list[torch.nn.Parameter],
    average: list[torch.Tensor],
    encoder: Encoder,
    material: Material,
    development: dict[str, list[Pair]],
) -> dict[str, float]:
    trained = [p.detach().clone() for p in parameters]
    with torch.no_grad():
        torch._foreach_copy_(list[torch.Tensor](parameters), average)
        figures = {
            f"accuracy_{name}": contrast_accuracy(model, encoder, pairs)
            for name, pairs in development.items()
        }
        figures["loss_development"] = round(
            development_loss(model, encoder, material.development[:2000]), 4
        )
        torch._foreach_copy_(list[torch.Tensor](parameters), trained)
    return figures


def _save(
    model: MarianMTModel,
    parameters: list[torch.nn.Parameter],
    average: list[torch.Tensor],
    output: Path,
) -> None:
    trained = [p.detach().clone() for p in parameters]
    with torch.no_grad():
        torch._foreach_copy_(list[torch.Tensor](parameters), average)
        model.to(torch.bfloat16).save_pretrained(output)
        model.to(torch.float32)
        torch._foreach_copy_(list[torch.Tensor](parameters), trained)
    load_pieces(output).save_pretrained(output)
