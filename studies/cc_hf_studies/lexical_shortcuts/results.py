"""Figures of lexical probes, without torch: accuracy of classifiers per layer, similarity to the
embeddings, activations of gates (Emelin 2023, section 5.4.1).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.paired import PairedDifference, figure_differences
from cc_hf.statistics.shares import Share, part_shares

__all__ = [
    "SIDES",
    "GateActivation",
    "LayerDifference",
    "LexicalProbe",
    "ProbedLayer",
    "ProbedModel",
    "ProbedSide",
    "group_accuracies",
    "layer_difference",
]

#: The two stacks of layers.
SIDES = ("encoder", "decoder")

_Bools = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ProbedLayer:
    """What the states of one layer tell of the sub-words at their positions.

    Attributes:
        layer: 0 for the embeddings, which enter the first layer; else the number of the layer.
        accuracy: share of the sub-words of the test text that the classifier names, in [0, 1].
        interval, cosine_interval: bootstrap intervals over sentences.
        cosine: mean cosine similarity of the states to those of layer 0.
        by_frequency: bin of types by their frequency in the training text ("1" holds the rarest)
            -> the sub-words that the classifier names.
        by_pos: part of speech -> the same; empty without a tagger.
        n_epochs: number of passes of the classifier over its training states up to the best one.
        held_out_loss: its loss in nats per sub-word on held-out sentences.
    """

    side: str
    layer: int
    accuracy: float
    interval: Interval | NoInterval
    cosine: float
    cosine_interval: Interval | NoInterval
    by_frequency: Mapping[str, Share]
    by_pos: Mapping[str, Share]
    n_epochs: int
    held_out_loss: float

    def to_dict(self) -> dict[str, Any]:
        """Return the layer as plain dicts and lists, ready for JSON."""
        groups = {
            part: [
                {"name": name, **share.to_row(value="accuracy")}
                for name, share in getattr(self, part).items()
            ]
            for part in ("by_frequency", "by_pos")
        }
        return {**asdict(self), **groups}


@dataclass(frozen=True, slots=True)
class ProbedSide:
    """The sub-words of one side. Marks such as EOS and languages are not among them.

    Attributes:
        n_train: number of sub-words that the classifiers learn from.
        n_types: number of different ones, which the classifiers can name.
        n_test: number of sub-words of the test text.
        n_unknown: number of those whose type no classifier can name. They count as errors.
    """

    side: str
    n_train: int
    n_types: int
    n_test: int
    n_unknown: int


@dataclass(frozen=True, slots=True)
class GateActivation:
    """How far the gates of a layer open to the embeddings.

    Attributes:
        layer: number of the layer, from 1.
        kind: "key" or "value".
        mean: mean of the gates over positions and dimensions, in [0, 1]; 1 takes everything from
            the embeddings, 0 everything from the layer below.
        spread: their standard deviation.
    """

    side: str
    layer: int
    kind: str
    mean: float
    spread: float


@dataclass(frozen=True)
class ProbedModel:
    """All figures of one model.

    Attributes:
        layers: the layers of the encoder, then those of the decoder, each from 0.
    """

    name: str
    sides: tuple[ProbedSide, ...]
    layers: tuple[ProbedLayer, ...]
    gates: tuple[GateActivation, ...]

    def layers_of(self, side: str) -> tuple[ProbedLayer, ...]:
        """Return the layers of one side."""
        return tuple(layer for layer in self.layers if layer.side == side)


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """A layer of a model compared with the same layer of the first model, on the same sub-words.

    Attributes:
        cosine: paired difference of the similarities to layer 0; None for layer 0.
    """

    model: str
    side: str
    layer: int
    accuracy: PairedDifference
    cosine: PairedDifference | None


@dataclass(frozen=True)
class LexicalProbe:
    """The probes of one model or several on the same text.

    Attributes:
        not_compared: name of a model -> why its layers are not compared with those of the first.
    """

    models: tuple[ProbedModel, ...]
    differences: tuple[LayerDifference, ...]
    signature: str
    not_compared: Mapping[str, str]

    def to_json(self) -> str:
        """Return the figures as strict JSON."""
        models = [
            {**asdict(model), "layers": [layer.to_dict() for layer in model.layers]}
            for model in self.models
        ]
        row = {**asdict(self), "models": models}
        return json.dumps(row, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def group_accuracies(
    is_correct: _Bools,
    groups: Sequence[str],
    sentences: npt.NDArray[np.int64],
) -> dict[str, Share]:
    """Return the accuracy of each group of sub-words, with intervals over sentences.

    Args:
        groups: n names of groups; "" for a sub-word of no group.
        sentences: shape (n,), number of the sentence of each sub-word.

    Examples:
        >>> shares = group_accuracies(
        ...     np.array([True, False, True]), ["2", "2", "10"], np.array([0, 0, 1])
        ... )
        >>> [(name, share.n, share.value) for name, share in shares.items()]
        [('2', 2, 0.5), ('10', 1, 1.0)]
    """
    labels = np.asarray(groups)
    names = sorted(set(groups) - {""}, key=lambda name: (len(name) if name.isdigit() else 0, name))
    if not names:
        return {}
    shares = part_shares(
        is_correct,
        [labels == name for name in names],
        groups=sentences.tolist(),
    )
    return dict(zip(names, shares, strict=True))


def layer_difference(
    first: _Floats, second: _Floats, sentences: npt.NDArray[np.int64], bootstrap: Bootstrap
) -> PairedDifference:
    """Return the difference of a mean over the same sub-words of two models, with interval and p of
    `figure_differences` over sentences.

    Examples:
        >>> values = np.array([1.0, 0.0, 1.0, 1.0])
        >>> layer_difference(values, 1 - values, np.arange(4), Bootstrap()).difference
        -0.5
    """
    n_subwords = np.ones(len(first))
    differences = figure_differences(
        np.stack([first, n_subwords], axis=1),
        np.stack([second, n_subwords], axis=1),
        lambda parts: {"mean": parts["all"][:, 0] / parts["all"][:, 1]},
        groups=sentences.tolist(),
        **bootstrap.options,
    )
    return differences["mean"]
