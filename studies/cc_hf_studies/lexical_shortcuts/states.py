"""The states of every layer of a translation model at its sub-words, written to a folder layer by
layer, so that they need not fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cc_hf.errors import InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.batching import numbered_requests, plan_batches
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.evaluators.teacher_forcing import pad_ids, projection_input
from cc_hf.models.pretrained import input_device
from cc_hf.progress import Progress
from cc_hf_studies.lexical_shortcuts.results import SIDES, GateActivation
from cc_hf_studies.lexical_shortcuts.subwords import ProbedText

__all__ = ["LayerStates", "checked_model", "collect_states", "gate_activations", "probed_texts"]

_Floats = npt.NDArray[np.float32]
#: Attributes of the output of a model with gates, with the side whose positions they have.
_GATES = {
    ("encoder", "key"): "encoder_key_gates",
    ("encoder", "value"): "encoder_value_gates",
    ("decoder", "key"): "decoder_key_gates",
    ("decoder", "value"): "decoder_value_gates",
    ("cross", "key"): "cross_key_gates",
    ("cross", "value"): "cross_value_gates",
}


@dataclass
class LayerStates:
    """The states of one side: a mapped file, (n, width) float32, for each layer."""

    text: ProbedText
    layers: list[_Floats]


@dataclass
class _Moments:
    """Sums over the gates of one layer."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.n

    @property
    def spread(self) -> float:
        return math.sqrt(max(0.0, self.squares / self.n - self.mean**2))

    def add(self, gates: torch.Tensor) -> None:
        self.n += gates.numel()
        values = gates.cpu().double()  # MPS has no float64
        self.total += float(values.sum())
        self.squares += float(values.square().sum())


@dataclass
class _Writer:
    """Files of the layers of one side, which are made when the first batch shows their width."""

    text: ProbedText
    folder: Path
    layers: list[_Floats] = field(default_factory=list)

    def add(self, batch: Sequence[int], states: Sequence[torch.Tensor]) -> None:
        """Write states of some sentences: (n, length, width) of each layer, padded on the right."""
        if not self.layers:
            shape = (len(self.text.ids), int(states[0].shape[-1]))
            self.layers = [
                np.lib.format.open_memmap(
                    self.folder / f"{self.text.side}.{layer}.npy", "w+", np.float32, shape
                )
                for layer in range(len(states))
            ]
        is_probed, starts = self.text.is_probed, self.text.starts
        width = states[0].shape[1]
        mask = torch.tensor([is_probed[i] + [False] * (width - len(is_probed[i])) for i in batch])
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in batch])
        for layer, tensor in zip(self.layers, states, strict=True):
            layer[rows] = tensor[mask.to(tensor.device)].float().cpu().numpy()


def checked_model(evaluator: Evaluator) -> Seq2SeqEvaluator:
    """Return the evaluator if its layers can be probed."""
    if not isinstance(evaluator, Seq2SeqEvaluator):
        raise InputError(
            f"model: expected one sequence-to-sequence model, whose layers are probed, got"
            f" {evaluator!r}"
        )
    return evaluator


def probed_texts(
    model: Seq2SeqEvaluator, sources: Sequence[str], targets: Sequence[str]
) -> dict[str, ProbedText]:
    """Return both sides of sentence pairs as the model reads them."""
    requests = numbered_requests(sources, targets)
    languages = model.src_lang, model.tgt_lang
    model.check_languages(*languages)
    source_ids = model.encode_sources([request.source for request in requests], *languages)
    target_ids = model.encode_targets([request.translation for request in requests], *languages)
    for source, target, request in zip(source_ids, target_ids, requests, strict=True):
        for side, ids in (("source", source), ("target", target)):
            if len(ids) > model.max_tokens:
                raise TooLongError(
                    f"row {request.row}: the {side} has {len(ids)} tokens, {model.name} takes at"
                    f" most {model.max_tokens}; leave the sentence pair out"
                )
    # The decoder reads its start and the translation without EOS: a sub-word is what is fed at a
    # position, and not what is predicted there.
    inputs = [[*model.decoder_start, *target][:-1] for target in target_ids]
    # A start that is also a sub-word, as in Bergamot, is a mark all the same.
    marks = model.mark_ids | set(model.decoder_start)
    return {
        "encoder": ProbedText("encoder", list(sources), source_ids, marks),
        "decoder": ProbedText("decoder", list(targets), inputs, marks),
    }


def collect_states(
    model: Seq2SeqEvaluator, texts: dict[str, ProbedText], folder: Path, *, progress: bool = False
) -> dict[str, LayerStates]:
    """Run the model over sentence pairs and keep the states of every layer."""
    writers = {side: _Writer(text, folder) for side, text in texts.items()}
    for batch, output in _outputs(model, texts, progress=progress):
        for side, writer in writers.items():
            writer.add(batch, output[side])
    return {side: LayerStates(writer.text, writer.layers) for side, writer in writers.items()}


def gate_activations(
    model: Seq2SeqEvaluator, texts: dict[str, ProbedText]
) -> tuple[GateActivation, ...]:
    """Return mean and spread of the gates of each layer, over sub-words and dimensions."""
    if getattr(model.model.config, "shortcut", "none") == "none":
        return ()
    moments: dict[tuple[str, int, str], _Moments] = {}
    for batch, inputs in _batches(model, texts):
        output = model.model(**inputs, use_cache=False, output_gates=True)
        for (side, kind), name in _GATES.items():
            # Gates of attention over the source have the sub-words of the source.
            text = texts["decoder" if side == "decoder" else "encoder"]
            is_probed = text.is_probed
            for layer, gates in enumerate(getattr(output, name, None) or (), 1):
                width = gates.shape[1]
                mask = [is_probed[i] + [False] * (width - len(is_probed[i])) for i in batch]
                chosen = gates[torch.tensor(mask).to(gates.device)]
                moments.setdefault((side, layer, kind), _Moments()).add(chosen)
    return tuple(
        GateActivation(side, layer, kind, sums.mean, sums.spread)
        for (side, layer, kind), sums in sorted(moments.items())
    )


def _batches(
    model: Seq2SeqEvaluator, texts: dict[str, ProbedText], *, progress: bool = False
) -> Iterator[tuple[list[int], dict[str, torch.Tensor]]]:
    """Yield the numbers of the pairs of each batch, and the arguments of the model."""
    sources, inputs = (texts[side].rows for side in SIDES)
    pad, device = model.model.config.pad_token_id, input_device(model.model)
    batches = plan_batches(
        list(map(len, sources)), list(map(len, inputs)), batch_tokens=model.batch_tokens
    )
    with torch.inference_mode():
        for batch in Progress(
            batches, desc="states", unit="batch", disable=not progress, delay=1, leave=False
        ):
            source_ids, mask = pad_ids([sources[i] for i in batch], pad=pad, device=device)
            decoder_ids, _ = pad_ids([inputs[i] for i in batch], pad=pad, device=device)
            yield (
                batch,
                {
                    "input_ids": source_ids,
                    "attention_mask": mask,
                    "decoder_input_ids": decoder_ids,
                },
            )


def _outputs(
    model: Seq2SeqEvaluator, texts: dict[str, ProbedText], *, progress: bool
) -> Iterator[tuple[list[int], dict[str, Sequence[torch.Tensor]]]]:
    """Yield numbers of pairs, and side -> states (n, length, width) for each layer from 0."""
    for batch, inputs in _batches(model, texts, progress=progress):
        with (
            projection_input(model.projection, lambda hidden: hidden[:, :0]),
            _read_layers(model.model) as read,
        ):
            output = model.model(**inputs, use_cache=False, output_hidden_states=True)
        states = {
            # Models that do not return their states are read at their layers.
            side: getattr(output, f"{side}_hidden_states", None) or read[side]
            for side in SIDES
        }
        for side, name in (("encoder", "input_ids"), ("decoder", "decoder_input_ids")):
            shapes = {tuple(state.shape[:2]) for state in states[side]}
            if len(states[side]) < 2 or shapes != {tuple(inputs[name].shape)}:
                raise InputError(
                    f"model: {model.name} does not show the states of the layers of its {side}:"
                    " expected output_hidden_states as in transformers"
                )
        yield batch, states


@contextmanager
def _read_layers(model: Any) -> Iterator[dict[str, list[torch.Tensor]]]:
    """Yield lists that fill with the states of the layers while the model runs."""
    read: dict[str, list[torch.Tensor]] = {side: [] for side in SIDES}
    with ExitStack() as stack:
        for side, part in (("encoder", model.get_encoder()), ("decoder", model.get_decoder())):
            layers = getattr(part, "layers", None)
            for number, layer in enumerate(layers if layers is not None else ()):
                if number == 0:
                    stack.callback(
                        layer.register_forward_pre_hook(
                            lambda _layer, arguments, states=read[side]: states.append(arguments[0])
                        ).remove
                    )
                stack.callback(
                    layer.register_forward_hook(
                        lambda _layer, _arguments, output, states=read[side]: states.append(
                            output if isinstance(output, torch.Tensor) else output[0]
                        )
                    ).remove
                )
        yield read
