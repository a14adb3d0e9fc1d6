"""The classifier of a lexical probe: which sub-word is at a position, by the state there.

It has one hidden layer of 512 units with ReLU and dropout of 0.5 (Emelin 2023, section 5.3.1). The
thesis does not print how it is trained: here by Adam, until the loss on held-out states stops
falling by a share that matters.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from cc_hf.errors import InputError
from cc_hf.rules import ABOVE_0, PART_OF_ONE, AtLeast, check_fields

__all__ = ["ProbeSettings", "TrainedProbe", "train_probe"]

_Floats = npt.NDArray[np.float32]
_Ints = npt.NDArray[np.int64]

_FLAT = 1e-6  # a smaller deviation of a dimension is rounding
_AT_ONCE = 4096  # states that are classified at a time


@dataclass(frozen=True)
class ProbeSettings:
    """How a classifier is trained.

    Attributes:
        dropout: share of hidden units that are set to zero in training.
        batch_size: number of states in a step.
        least_fall: training ends after an epoch in which the held-out loss falls by less than this
            share of itself, or rises; the weights of the lowest loss are kept.
        seed: seed of weights, batches and dropout, 0 or more.
        is_bf16: whether products in training are computed in bf16, which some processors do twice
            as fast; predictions are computed in fp32.
    """

    hidden: Annotated[int, AtLeast(1)] = 512
    dropout: Annotated[float, PART_OF_ONE] = 0.5
    learning_rate: Annotated[float, ABOVE_0] = 1e-3
    batch_size: Annotated[int, AtLeast(1)] = 256
    least_fall: Annotated[float, PART_OF_ONE] = 0.01
    max_epochs: Annotated[int, AtLeast(1)] = 50
    seed: Annotated[int, AtLeast(0)] = 0
    is_bf16: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class TrainedProbe:
    """A trained classifier.

    Attributes:
        types: the ids that it can name, sorted.
        network: from standardised states to one logit for each of them.
        mean, deviation: mean and standard deviation of each dimension of the states that it has
            learned from.
        held_out_loss: that loss, in nats per sub-word of a known type.
    """

    types: _Ints
    network: nn.Module
    mean: torch.Tensor
    deviation: torch.Tensor
    n_epochs: int
    held_out_loss: float

    def predict(self, states: _Floats) -> _Ints:
        """Return the id that the classifier names for each of n states, (n, width)."""
        with torch.inference_mode():
            best = [
                self.network((part - self.mean) / self.deviation).argmax(-1)
                for part in torch.split(torch.from_numpy(np.array(states)), _AT_ONCE)
            ]
        named: _Ints = self.types[torch.cat(best).numpy()]
        return named


def train_probe(
    states: _Floats,
    ids: _Ints,
    held_out: _Floats,
    held_out_ids: _Ints,
    settings: ProbeSettings | None = None,
) -> TrainedProbe:
    """Train a classifier to name the n sub-words `ids` by the states of one layer, (n, width).

    The held-out loss is over sub-words of the types that are among `ids`.
    """
    settings = settings or ProbeSettings()
    types, labels = np.unique(ids, return_inverse=True)
    known = np.isin(held_out_ids, types)
    if not len(ids) or not known.any():
        raise InputError(
            f"expected states to learn from and held-out ones of the same types, got {len(ids)} and"
            f" {int(known.sum())}; name more sentences"
        )
    inputs, targets = torch.from_numpy(np.array(states)), torch.from_numpy(labels)
    mean, deviation = inputs.mean(0), inputs.std(0, correction=0).clamp_min(_FLAT)
    # The first layer of the classifier could learn this map itself. Done beforehand, the learning
    # rate suits states of any size.
    inputs = (inputs - mean) / deviation
    other_inputs = (torch.from_numpy(held_out[known]) - mean) / deviation
    other_targets = torch.from_numpy(np.searchsorted(types, held_out_ids[known]))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        network = nn.Sequential(
            nn.Linear(inputs.shape[1], settings.hidden),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, len(types)),
        )
        optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)
        best_loss, best_epoch, weights = math.inf, 0, copy.deepcopy(network.state_dict())
        for epoch in range(1, settings.max_epochs + 1):
            _one_epoch(network, optimizer, inputs, targets, settings)
            loss = _loss(network, other_inputs, other_targets)
            has_stopped_falling = loss > (1 - settings.least_fall) * best_loss
            if loss < best_loss:
                best_loss, best_epoch = loss, epoch
                weights = copy.deepcopy(network.state_dict())
            if has_stopped_falling:
                break
    network.load_state_dict(weights)
    network.eval()
    return TrainedProbe(types, network, mean, deviation, best_epoch, best_loss)


def _one_epoch(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    settings: ProbeSettings,
) -> None:
    network.train()
    for batch in torch.split(torch.randperm(len(inputs)), settings.batch_size):
        with torch.autocast("cpu", torch.bfloat16, enabled=settings.is_bf16):
            logits = network(inputs[batch])
        loss = nn.functional.cross_entropy(logits.float(), targets[batch])
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimizer.step()


def _loss(network: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """Return the mean loss in nats."""
    network.eval()
    with torch.inference_mode():
        losses = [
            nn.functional.cross_entropy(network(part), label, reduction="sum").item()
            for part, label in zip(
                torch.split(inputs, _AT_ONCE), torch.split(targets, _AT_ONCE), strict=True
            )
        ]
    return float(sum(losses)) / len(inputs)
