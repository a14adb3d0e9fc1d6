"""Train the embedded evaluator: one SentencePiece vocabulary for both languages, a small Marian
model, bf16 weights on disk.

Training is deterministic on one machine for one seed and one number of threads.
"""

from __future__ import annotations

import contextlib
import json
import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece
import torch
from cc_hf_studies.common.scratch.model import make_model
from cc_hf_studies.common.scratch.options import ModelSizes
from cc_hf_studies.common.scratch.pieces import EOS, load_pieces, train_pieces
from transformers import MarianMTModel

from tools.evaluator_recipe.corpus import split_development
from tools.evaluator_recipe.kept_out import KeptOut
from tools.evaluator_recipe.sentences import Pair, SentenceStream

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the model, except the machine.

    `contrast_weight`: in the last pass the loss has this share of the mean of -log sigmoid(d) over
    pairs with a cue, where d is how much more probable the target is under it than under the other.
    """

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
    contrast_weight: float = 0.25
    average_decay: float = 0.99
    average_every: int = 8


@dataclass(frozen=True)
class Language:
    """What the recipe asks of a target language.

    Attributes:
        code: ISO 639-1 code.
        pairs: all natural pairs.
        maker: makes the generated sentences of a seed.
        cued_copies: returns copies of natural pairs in which a cue stands before a noun whose
            gender the target shows.
        with_person: returns a natural pair with its name replaced by an occupation, or None.
    """

    code: str
    pairs: Sequence[Pair]
    maker: Callable[[int, bool], SentenceStream]
    cued_copies: Callable[[Sequence[Pair]], Iterable[Pair]]
    with_person: Callable[[Pair, Any, bool], Pair | None]


@dataclass(frozen=True)
class Material:
    """Natural pairs, split into training and development, and the cued copies of both."""

    training: list[Pair]
    development: list[Pair]
    copies: list[Pair]
    development_copies: list[Pair]


def read_material(
    language: Language, *, seed: int, kept_out: KeptOut, n_development: int = 6000
) -> Material:
    """Return the natural pairs without the English sentences of test sets."""
    pairs = [pair for pair in language.pairs if not kept_out(pair.english)]
    training, development = split_development(pairs, n=n_development, seed=seed)
    copies = [[*language.cued_copies(of_part)] for of_part in (training, development)]
    return Material(training, development, *copies)


def one_pass(
    language: Language, material: Material, recipe: Recipe, *, number: int, kept_out: KeptOut
) -> list[Pair]:
    """Return the pairs of one pass in random order: natural ones (some names replaced by
    occupations), cued copies, and generated sentences. As many have one cue as the other.
    """
    draw = random.Random(recipe.seed * 1000 + number)
    maker = language.maker(recipe.seed * 1000 + number, False)
    pairs = []
    for pair in material.training:
        pairs.append(
            (draw.random() < 0.6 and language.with_person(pair, maker, draw.random() < 0.75))
            or pair
        )
    pairs += material.copies * recipe.copies_per_pass
    pairs += _more_of_rarer_cue(pairs, draw)
    generated = (pair for pair in maker if not kept_out(pair.english))
    pairs += islice(generated, recipe.sentences_per_pass)
    draw.shuffle(pairs)
    return pairs


def _more_of_rarer_cue(pairs: Sequence[Pair], draw: random.Random) -> list[Pair]:
    """Return random pairs of the cue that fewer have, as many as it lacks: natural text is more
    about men.
    """
    female, male = (
        [p for p in pairs if p.contrast and is_longer == (len(p.english) > len(p.contrast))]
        for is_longer in (True, False)
    )
    rarer, more = sorted((female, male), key=len)
    return draw.choices(rarer, k=len(more) - len(rarer)) if rarer else []


class Batch(NamedTuple):
    """Ids of sources and of targets, (batch, longest); `contrasts` holds the sources with the other
    cue of the rows `contrasted`.
    """

    source: torch.Tensor
    target: torch.Tensor
    contrasts: torch.Tensor
    contrasted: torch.Tensor


class Encoder:
    """An encoder of pairs, as ids with EOS and as padded batches of similar length."""

    def __init__(self, folder: Path, max_pieces: int) -> None:
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
        self._max = max_pieces
        self.pad = self._pieces.vocab_size()

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, EOS included."""
        return [[*ids, EOS] for ids in self._pieces.encode(list(texts), out_type=int)]

    def batches(self, pairs: Sequence[Pair], *, batch_tokens: int, seed: int) -> Iterator[Batch]:
        """Yield the batches in random order.

        A batch has about `batch_tokens` padded target tokens. Longer pairs are dropped.
        """
        source, target = self.ids([p.english for p in pairs]), self.ids([p.target for p in pairs])
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
            contrasted = [row for row, i in enumerate(group) if pairs[i].contrast]
            contrasts = self.ids([pairs[group[row]].contrast for row in contrasted])
            yield Batch(
                self._tensor([source[i] for i in group]),
                self._tensor([target[i] for i in group]),
                self._tensor(contrasts),
                torch.tensor(contrasted),
            )

    def _tensor(self, rows: list[list[int]]) -> torch.Tensor:
        width = max(map(len, rows), default=0)
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


def _logprobs(logits: torch.Tensor, target: torch.Tensor, pad: int) -> torch.Tensor:
    """Return the log-probability of each target, in nats, (batch,)."""
    chosen = -torch.nn.functional.cross_entropy(
        logits.float().transpose(1, 2), target, ignore_index=pad, reduction="none"
    )
    return chosen.sum(1)


def _logits(
    model: MarianMTModel, source: torch.Tensor, target: torch.Tensor, pad: int
) -> torch.Tensor:
    start = torch.full((len(target), 1), pad, device=target.device)
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
        target = encoder._tensor(encoder.ids([p.target for p in chunk])).to(model.device)
        scores = []
        for sources in ([p.english for p in chunk], [p.contrast for p in chunk]):
            source = encoder._tensor(encoder.ids(sources)).to(model.device)
            logits = _logits(model, source, target, encoder.pad)
            scores.append(_logprobs(logits, target, encoder.pad))
        correct += int((scores[0] > scores[1]).sum())
    model.train()
    return correct / len(pairs)


@torch.inference_mode()
def development_loss(model: MarianMTModel, encoder: Encoder, pairs: Sequence[Pair]) -> float:
    """Return the loss in nats per target token."""
    model.eval()
    total = count = 0.0
    for batch in encoder.batches(pairs, batch_tokens=4000, seed=0):
        source, target = (tensor.to(model.device) for tensor in batch[:2])
        loss = torch.nn.functional.cross_entropy(
            _logits(model, source, target, encoder.pad).float().flatten(0, 1),
            target.flatten(),
            ignore_index=encoder.pad,
            reduction="sum",
        )
        total, count = total + loss.item(), count + int((target != encoder.pad).sum())
    model.train()
    return total / count


@dataclass
class _State:
    """What a training step changes; it is what a checkpoint holds."""

    model: MarianMTModel
    optimizer: torch.optim.Optimizer
    average: list[torch.Tensor]
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def save(self, path: Path) -> None:
        """Write the checkpoint, whole or not at all."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average,
            **{name: getattr(self, name) for name in ("step", "tokens", "seconds")},
        }
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    def load(self, path: Path) -> None:
        """Go on where a run stopped, if it left a checkpoint."""
        if not path.is_file():
            return
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch._foreach_copy_(self.average, state["average"])
        self.step, self.tokens, self.seconds = (state[k] for k in ("step", "tokens", "seconds"))
        logger.info("continued after step %d", self.step)


def train(
    language: Language,
    output: Path,
    recipe: Recipe,
    *,
    kept_out: KeptOut,
    n_development: int = 6000,
    threads: int = 2,
    device: str = "cpu",
    checkpoint_every: int = 500,
) -> dict[str, float]:
    """Train a model, save it with tokenizer, recipe and log in `output`, and return its figures.

    A run that was stopped goes on after its last checkpoint, with the same batches.
    """
    torch.set_num_threads(threads)
    output.mkdir(parents=True, exist_ok=True)
    material = read_material(
        language, seed=recipe.seed, kept_out=kept_out, n_development=n_development
    )
    first = one_pass(language, material, recipe, number=0, kept_out=kept_out)
    if not (output / "source.spm").is_file():
        train_pieces(
            (text for pair in first for text in (pair.english, pair.target)),
            output,
            recipe.n_pieces,
        )
    encoder = Encoder(output, recipe.max_pieces)
    steps_of_pass = sum(1 for _ in encoder.batches(first, batch_tokens=recipe.batch_tokens, seed=0))
    n_steps = recipe.passes * steps_of_pass
    model = build_model(recipe, encoder.pad + 1).to(device)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        parameters,
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
        eps=1e-9,
        weight_decay=0.0,
        fused=True,
    )
    state = _State(model, optimizer, [p.detach().clone() for p in parameters])
    state.load(output / "checkpoint.pt")
    logger.info(
        "%d parameters, about %d steps, %d pairs a pass (%d natural, %d cued copies)",
        sum(p.numel() for p in model.parameters()),
        n_steps,
        len(first),
        len(material.training),
        len(material.copies),
    )
    development = {
        "own": list(islice(language.maker(recipe.seed + 77, True), 1000)),
        "natural": material.development_copies,
    }
    step = 0
    for number in range(recipe.passes):
        pairs = (
            first
            if number == 0
            else one_pass(language, material, recipe, number=number, kept_out=kept_out)
        )
        for batch in encoder.batches(pairs, batch_tokens=recipe.batch_tokens, seed=number):
            step += 1
            if step <= state.step:  # a run before this one took it
                continue
            weight = recipe.contrast_weight if number == recipe.passes - 1 else 0.0
            loss = _one_step(
                state, parameters, batch, encoder.pad, recipe, n_steps, contrast_weight=weight
            )
            if step % 100 == 0:
                logger.info(
                    "step %d of %d, loss %.3f, %.0f tokens/s",
                    step,
                    n_steps,
                    loss,
                    state.tokens / state.seconds,
                )
            if step % checkpoint_every == 0:
                figures = _measure(state, parameters, encoder, material, development)
                _log(output, {"loss": round(loss, 4), **figures}, state)
                _save(state, parameters, output, language.code)
                state.save(output / "checkpoint.pt")
    figures = _measure(state, parameters, encoder, material, development)
    _save(state, parameters, output, language.code)
    made = {**asdict(recipe), "steps": state.step, "target_tokens": state.tokens, **figures}
    made["kept_out"] = dict(kept_out.counts)
    (output / "recipe.json").write_text(
        json.dumps(made, indent=1) + "\n", encoding="utf-8", newline="\n"
    )
    return figures


def _one_step(
    state: _State,
    parameters: list[torch.nn.Parameter],
    batch: Batch,
    pad: int,
    recipe: Recipe,
    n_steps: int,
    *,
    contrast_weight: float,
) -> float:
    """Take one step, and return its loss."""
    started = time.monotonic()
    device = parameters[0].device
    source, target, contrasts, contrasted = (tensor.to(device) for tensor in batch)
    done, warmup = state.step, recipe.warmup_steps
    # Linear up, then linear down to the last step.
    scale = min((done + 1) / warmup, max(n_steps - done, 1) / max(n_steps - warmup, 1))
    for group in state.optimizer.param_groups:
        group["lr"] = recipe.learning_rate * scale
    with torch.autocast(device.type, torch.bfloat16):
        logits = _logits(state.model, source, target, pad)
    loss = torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1),
        target.flatten(),
        ignore_index=pad,
        label_smoothing=recipe.label_smoothing,
    )
    if contrast_weight and len(contrasted):
        of_cue = _logprobs(logits[contrasted], target[contrasted], pad)
        with torch.autocast(device.type, torch.bfloat16):
            other = _logits(state.model, contrasts, target[contrasted], pad)
        margin = of_cue - _logprobs(other, target[contrasted], pad)
        loss = loss - contrast_weight * torch.nn.functional.logsigmoid(margin).mean()
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    state.optimizer.step()
    state.optimizer.zero_grad(set_to_none=True)
    state.step, state.tokens = done + 1, state.tokens + int((target != pad).sum())
    if state.step % recipe.average_every == 0:
        torch._foreach_lerp_(
            state.average, [p.detach() for p in parameters], 1 - recipe.average_decay
        )
    state.seconds += time.monotonic() - started
    return float(loss.item())


def _log(output: Path, figures: dict[str, float], state: _State) -> None:
    row = {"step": state.step, "tokens": state.tokens, "seconds": round(state.seconds), **figures}
    with (output / "training_log.jsonl").open("a", encoding="utf-8", newline="\n") as log:
        log.write(json.dumps(row) + "\n")
    logger.info("%s", row)


@contextlib.contextmanager
def _averaged(state: _State, parameters: list[torch.nn.Parameter]) -> Iterator[None]:
    """Give the model the average of its weights for a while."""
    trained = [p.detach().clone() for p in parameters]
    with torch.no_grad():
        torch._foreach_copy_(list[torch.Tensor](parameters), state.average)
        try:
            yield
        finally:
            torch._foreach_copy_(list[torch.Tensor](parameters), trained)


def _measure(
    state: _State,
    parameters: list[torch.nn.Parameter],
    encoder: Encoder,
    material: Material,
    development: dict[str, list[Pair]],
) -> dict[str, float]:
    with _averaged(state, parameters):
        figures = {
            f"accuracy_{name}": contrast_accuracy(state.model, encoder, pairs)
            for name, pairs in development.items()
        }
        figures["loss_development"] = round(
            development_loss(state.model, encoder, material.development[:2000]), 4
        )
    return figures


def _save(state: _State, parameters: list[torch.nn.Parameter], output: Path, lang: str) -> None:
    with _averaged(state, parameters):
        state.model.to(torch.bfloat16).save_pretrained(output)
        state.model.to(torch.float32)
    load_pieces(output, tgt_lang=lang).save_pretrained(output)
