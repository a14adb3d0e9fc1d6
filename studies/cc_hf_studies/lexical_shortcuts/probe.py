"""Probe every layer of translation models for the sub-words at their positions (Emelin 2023,
section 5.4.1), after Belinkov et al. 2017. It works for any sequence-to-sequence model.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.signature import build, parse, unparse
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval, resampled_sums
from cc_hf.statistics.score_intervals import share_interval
from cc_hf.statistics.shares import quotients
from cc_hf_studies.lexical_shortcuts.classifier import ProbeSettings, train_probe
from cc_hf_studies.lexical_shortcuts.results import (
    SIDES,
    LayerDifference,
    LexicalProbe,
    ProbedLayer,
    ProbedModel,
    ProbedSide,
    group_accuracies,
    layer_difference,
)
from cc_hf_studies.lexical_shortcuts.states import (
    LayerStates,
    checked_model,
    collect_states,
    gate_activations,
    probed_texts,
)
from cc_hf_studies.lexical_shortcuts.subwords import (
    frequency_bins,
    parts_of_speech,
    type_counts,
)

__all__ = ["Pairs", "ProbeTexts", "lexical_probe", "probe_texts"]

#: Number of training sentences whose states the classifiers learn from.
DEFAULT_SENTENCES = 5000
_PARTS = 10  # one of so many parts is held out, and another one tested, unless texts are given
_SMALLEST = 3  # sentences that can be divided


@dataclass(frozen=True)
class Pairs:
    """Sentences and their translations."""

    sources: Sequence[str]
    targets: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.sources) != len(self.targets) or not self.sources:
            raise InputError(
                "expected as many translations as sentences, and at least one, got"
                f" {len(self.sources)} and {len(self.targets)}"
            )
        for row, texts in enumerate(zip(self.sources, self.targets, strict=True)):
            if not all(text.strip() for text in texts):
                raise InputError(f"row {row}: expected two texts, got {texts}; leave the row out")

    def __len__(self) -> int:
        return len(self.sources)

    def chosen(self, rows: Sequence[int]) -> Pairs:
        """Return some of the pairs."""
        return Pairs([self.sources[i] for i in rows], [self.targets[i] for i in rows])

    @property
    def digest(self) -> str:
        """The first seven hexadecimal digits of a hash of all texts."""
        text = "\n".join((*self.sources, "", *self.targets))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:7]


@dataclass(frozen=True)
class ProbeTexts:
    """The texts of a probe.

    Attributes:
        training: the text whose frequencies count.
        learned: the part of it whose states the classifiers learn from.
        held_out: other pairs, which decide when the classifiers have learned enough.
    """

    training: Pairs
    learned: Pairs
    held_out: Pairs
    test: Pairs


@dataclass
class _Probed:
    """A probed model, and what is needed to compare it: each sub-word of the test text."""

    model: ProbedModel
    ids: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    sentences: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    correct: dict[tuple[str, int], npt.NDArray[np.bool_]] = field(default_factory=dict)
    cosines: dict[tuple[str, int], npt.NDArray[np.float64]] = field(default_factory=dict)


def probe_texts(
    training: Pairs,
    *,
    held_out: Pairs | None = None,
    test: Pairs | None = None,
    sentences: int = DEFAULT_SENTENCES,
    seed: int = 0,
) -> ProbeTexts:
    """Divide texts into the parts of a probe; held-out and test pairs are a tenth each, if None."""
    if sentences < 1:
        raise InputError(f"sentences: expected 1 or more, got {sentences}")
    rows = random.Random(seed).sample(range(len(training)), min(sentences, len(training)))
    if len(rows) < _SMALLEST:
        raise InputError(f"training: expected {_SMALLEST} or more pairs, got {len(rows)}")
    size = max(1, len(rows) // _PARTS)
    if test is None:
        test, rows = training.chosen(rows[:size]), rows[size:]
    if held_out is None:
        held_out, rows = training.chosen(rows[:size]), rows[size:]
    return ProbeTexts(training, training.chosen(rows), held_out, test)


def lexical_probe(
    evaluators: Mapping[str, Evaluator],
    texts: ProbeTexts,
    *,
    settings: ProbeSettings | None = None,
    taggers: Mapping[str, Any] | None = None,
    bootstrap: Bootstrap | None = None,
    note: Callable[[str], None] | None = None,
    progress: bool = False,
) -> LexicalProbe:
    """Train a classifier for each layer of each model and side, and test it.

    The states of a layer are the hidden states of transformers: those after the feed-forward part,
    0 being the embeddings as they enter the first layer. The last states may be normalised.
    Accuracies are in [0, 1]; intervals are over sentences.
    """
    settings, bootstrap = settings or ProbeSettings(), bootstrap or Bootstrap()
    models = {name: checked_model(evaluator) for name, evaluator in evaluators.items()}
    if not models:
        raise InputError("evaluators: expected one model or more, got none")
    probed = [
        _probe_model(name, model, texts, settings, taggers or {}, bootstrap, note, progress)
        for name, model in models.items()
    ]
    differences: list[LayerDifference] = []
    not_compared: dict[str, str] = {}
    for other in probed[1:]:
        if reason := _other_subwords(probed[0], other):
            not_compared[other.model.name] = reason
        else:
            differences += _differences(probed[0], other, bootstrap)
    fields: dict[str, str | int] = {
        "model": "+".join(f"{name}@{model.identity}" for name, model in models.items()),
        "train": texts.learned.digest,
        "heldout": texts.held_out.digest,
        "test": texts.test.digest,
        "frequency": texts.training.digest,
        "n": f"{len(texts.learned)}+{len(texts.held_out)}+{len(texts.test)}",
        "probe": f"{settings.hidden}.relu.dropout{settings.dropout:g}.standardised",
        "adam": f"{settings.learning_rate:g}.batch{settings.batch_size}"
        f".fall{settings.least_fall:g}" + (".bf16" if settings.is_bf16 else ""),
        "seed": settings.seed,
        "boot": f"{bootstrap.n_resamples}.seed{bootstrap.seed}",
    }
    signature = build("lexical-probe", fields)
    if taggers:
        from cc_hf.text.spacy_pipelines import pipeline_name

        pipelines = "+".join(pipeline_name(tagger) for tagger in taggers.values())
        signature = unparse("lexical-probe", parse(signature)[1] | {"pos": pipelines})
    return LexicalProbe(
        tuple(row.model for row in probed),
        tuple(differences),
        signature,
        not_compared,
    )


def _probe_model(
    name: str,
    model: Seq2SeqEvaluator,
    texts: ProbeTexts,
    settings: ProbeSettings,
    taggers: Mapping[str, Any],
    bootstrap: Bootstrap,
    note: Callable[[str], None] | None,
    progress: bool,
) -> _Probed:
    counts = {
        side: type_counts(text)
        for side, text in probed_texts(
            model, texts.training.sources, texts.training.targets
        ).items()
    }
    with tempfile.TemporaryDirectory() as folder:
        states: dict[str, dict[str, LayerStates]] = {}
        for part in ("learned", "held_out", "test"):
            pairs: Pairs = getattr(texts, part)
            path = Path(folder, part)
            path.mkdir()
            sides = probed_texts(model, pairs.sources, pairs.targets)
            states[part] = collect_states(model, sides, path, progress=progress)
        gates = gate_activations(model, sides)
        result = _Probed(ProbedModel(name, (), (), gates))
        for side in SIDES:
            parts = {part: states[part][side] for part in states}
            result.model = _with_side(
                result, model, parts, counts[side], settings, taggers.get(side), bootstrap, note
            )
    return result


def _with_side(
    result: _Probed,
    model: Seq2SeqEvaluator,
    parts: Mapping[str, LayerStates],
    counts: Counter[int],
    settings: ProbeSettings,
    tagger: Any,
    bootstrap: Bootstrap,
    note: Callable[[str], None] | None,
) -> ProbedModel:
    """Return the figures with those of one more side; keep those of each sub-word."""
    learned, held_out, test = (parts[name] for name in ("learned", "held_out", "test"))
    side, ids, sentences = test.text.side, test.text.ids, test.text.sentences
    labels, held_out_labels = learned.text.ids, held_out.text.ids
    types = np.unique(labels)
    bins = frequency_bins(counts, ids)
    tags = parts_of_speech(test.text, model, tagger) if tagger is not None else []
    result.ids[side], result.sentences[side] = ids, sentences
    layers = []
    for number, (train, other, states) in enumerate(
        zip(learned.layers, held_out.layers, test.layers, strict=True)
    ):
        probe = train_probe(train, labels, other, held_out_labels, settings)
        correct = probe.predict(states) == ids
        cosines = _cosines(test.layers[0], states)
        result.correct[side, number], result.cosines[side, number] = correct, cosines
        columns = np.stack([cosines, np.ones(len(ids))], axis=1)
        sums = resampled_sums(columns, groups=sentences.tolist(), **bootstrap.options)
        accuracy = float(correct.mean())
        layers.append(
            ProbedLayer(
                side,
                number,
                accuracy,
                share_interval(correct, np.ones(len(ids)), groups=sentences.tolist()),
                float(cosines.mean()),
                percentile_interval(sums[:, 0] / sums[:, 1]),
                group_accuracies(correct, bins, sentences),
                group_accuracies(correct, tags, sentences) if tags else {},
                probe.n_epochs,
                probe.held_out_loss,
            )
        )
        if note is not None:
            note(
                f"{result.model.name}: {side}, layer {number} of {len(learned.layers) - 1}:"
                f" accuracy {accuracy:.4f}, {probe.n_epochs} epochs"
            )
    known = np.isin(ids, types)
    sizes = ProbedSide(side, len(labels), len(types), len(ids), int((~known).sum()))
    return replace(
        result.model,
        sides=(*result.model.sides, sizes),
        layers=(*result.model.layers, *layers),
    )


def _cosines(
    first: npt.NDArray[np.float32], second: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """Return the cosine similarity of each row; 0 for a row of zeros."""
    left, right = first.astype(np.float64), second.astype(np.float64)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = (left * right).sum(axis=1)
    return np.nan_to_num(quotients(products, norms))


def _other_subwords(first: _Probed, other: _Probed) -> str:
    """Return why two models cannot be compared layer by layer, or "" if they can."""
    for side in SIDES:
        if not np.array_equal(first.ids[side], other.ids[side]):
            return f"it has other sub-words in the {side} than {first.model.name}"
        numbers = [len(row.model.layers_of(side)) - 1 for row in (first, other)]
        if numbers[0] != numbers[1]:
            return f"its {side} has {numbers[1]} layers, that of {first.model.name} {numbers[0]}"
    return ""


def _differences(first: _Probed, other: _Probed, bootstrap: Bootstrap) -> list[LayerDifference]:
    rows = []
    for (side, layer), correct in first.correct.items():
        sentences = first.sentences[side]
        accuracy = layer_difference(
            correct.astype(np.float64),
            other.correct[side, layer].astype(np.float64),
            sentences,
            bootstrap,
        )
        cosine = None
        if layer:
            cosine = layer_difference(
                first.cosines[side, layer], other.cosines[side, layer], sentences, bootstrap
            )
        rows.append(LayerDifference(other.model.name, side, layer, accuracy, cosine))
    return rows
