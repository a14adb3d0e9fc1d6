"""Comparison of the original program's scores with those of converted models: the log-probability
of each token, and the ids of each text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import EvaluatorError, InputError, in_file
from cc_hf.models.weights import load_weights
from cc_hf.plugins.conversion.evaluator import FairseqEvaluator
from cc_hf.plugins.conversion.tokenizer import FairseqTokenizer
from cc_hf.reading import AS_WRITTEN
from cc_hf.records import COUNT, NonEmpty, read_json, read_value

# isort: split
import torch
from transformers import AutoModelForSeq2SeqLM

__all__ = [
    "ENSEMBLE",
    "TOLERANCE",
    "ConversionCheck",
    "RecordedScores",
    "ensemble_logprobs",
    "read_check",
]

ENSEMBLE = "ensemble"
TOLERANCE = 1e-4
_BATCH_TOKENS = 2048
_PAIR = {
    "source_ids": NonEmpty([COUNT]),
    "target_ids": NonEmpty([COUNT]),
    "source?": str,
    "target?": str,
    "scores": NonEmpty({str: {"positional_log_probs": [float]}}),
}


@dataclass(frozen=True)
class ConversionCheck:
    """The outcome of a comparison."""

    # Model, or "ensemble" -> largest absolute difference of a token's log-probability (natural
    # logarithm).
    deviations: Mapping[str, float]
    n_tokens: int  # compared, for each of these
    n_texts: int  # with equal ids; 0 if the file holds no texts


@dataclass(frozen=True)
class RecordedScores:
    """Scores of the original program, see `read_check`."""

    path: Path
    pairs: Sequence[Mapping[str, Any]]

    def compare(self, folders: Sequence[Path], *, tolerance: float = TOLERANCE) -> ConversionCheck:
        """Compare converted models with the recorded scores, each under the name of its folder."""
        # The ensemble is compared too if the file has scores of exactly these models and of it.
        names = [folder.name for folder in folders]
        recorded = set(self.pairs[0]["scores"])
        if missing := [name for name in names if name not in recorded]:
            raise InputError(
                f"{self.path}: no scores of {', '.join(missing)}; it has scores of"
                f" {', '.join(sorted(recorded))}"
            )
        n_texts = self._compare_ids(FairseqTokenizer.from_pretrained(folders[0]))
        sources, targets = (
            [pair["source_ids"] for pair in self.pairs],
            [pair["target_ids"] for pair in self.pairs],
        )
        members: list[list[npt.NDArray[np.float64]]] = []
        deviations: dict[str, float] = {}
        for folder in folders:
            members.append(_evaluator(folder).id_logprobs(sources, targets))
            deviations[folder.name] = self._deviation(folder.name, members[-1], tolerance)
        if ENSEMBLE in recorded and recorded == {*names, ENSEMBLE}:
            deviations[ENSEMBLE] = self._deviation(ENSEMBLE, ensemble_logprobs(members), tolerance)
        return ConversionCheck(deviations, sum(map(len, targets)), n_texts)

    def _deviation(
        self, name: str, scored: Sequence[npt.NDArray[np.float64]], tolerance: float
    ) -> float:
        largest = 0.0
        for row, (pair, logprobs) in enumerate(zip(self.pairs, scored, strict=True)):
            expected = np.asarray(pair["scores"][name]["positional_log_probs"], dtype=np.float64)
            if len(expected) != len(logprobs):
                raise InputError(
                    f"{self.path}: pair {row} has {len(expected)} log-probabilities of {name} for"
                    f" {len(logprobs)} target ids"
                )
            deviation = float(np.abs(expected - logprobs).max())
            if not deviation <= tolerance:
                raise EvaluatorError(
                    f"the converted {name} does not score as the original: a log-probability of"
                    f" pair {row} deviates by {deviation:.2g}, allowed is {tolerance:g}. Check that"
                    f" {self.path.name} belongs to these checkpoints. Nothing was written"
                )
            largest = max(largest, deviation)
        return largest

    def _compare_ids(self, tokenizer: FairseqTokenizer) -> int:
        n = 0
        for row, pair in enumerate(self.pairs):
            for side, encode in (
                ("source", tokenizer.encode_sources),
                ("target", tokenizer.encode_targets),
            ):
                if side not in pair:
                    continue
                ids = encode([pair[side]])[0]
                if ids != pair[f"{side}_ids"]:
                    raise EvaluatorError(
                        f"the {side} of pair {row} of {self.path.name} gets other ids than in the"
                        f" original: expected {pair[f'{side}_ids']}, got {ids}. Check the"
                        " dictionaries and BPE codes of both sides, and the tokenizer. Nothing was"
                        " written"
                    )
                n += 1
        return n


def read_check(path: str | Path) -> RecordedScores:
    """Read scores of fairseq from a JSON object of this form; further keys are ignored.

    {"pairs": [{"source": "A dog.", "target": "Ein Hund.",
                "source_ids": [7, 21, 4, 2], "target_ids": [8, 20, 4, 2],
                "scores": {"model1": {"positional_log_probs": [-0.1, -0.2, -0.3, -0.1]},
                           "ensemble": {...}}}, ...]}

    `source` and `target` are the raw texts. They are optional; without them, ids are not checked.
    Scores are named after the checkpoints (model1 for model1.pt); "ensemble" is the score of all of
    them. Logarithms are natural, and EOS is included.
    """
    file = Path(path)
    what = 'a JSON object with "pairs", see `read_check`'
    pairs = read_json(file, what, {"pairs": NonEmpty([None])}, remedy=AS_WRITTEN)["pairs"]
    for row, pair in enumerate(pairs):
        with in_file(f"{file}: pair {row}"):
            read_value(_PAIR, pair)
            if pair["scores"].keys() != pairs[0]["scores"].keys():
                raise InputError("expected scores of the same models as pair 0 has")
    return RecordedScores(file, pairs)


def ensemble_logprobs(
    members: Sequence[Sequence[npt.NDArray[np.float64]]],
) -> list[npt.NDArray[np.float64]]:
    """Return the logs of the averaged probabilities of an ensemble, as fairseq does.

    `members` has for each model one array per text, of natural log-probabilities.
    """
    return [
        np.logaddexp.reduce(list(logprobs), axis=0) - np.log(len(members))
        for logprobs in zip(*members, strict=True)
    ]


def _evaluator(folder: Path) -> FairseqEvaluator:
    """Return an evaluator without `load_evaluator`, which would keep every member in memory."""
    model = load_weights(AutoModelForSeq2SeqLM, folder.name, str(folder), dtype=torch.float32)
    tokenizer = FairseqTokenizer.from_pretrained(folder)
    options = {
        "name": folder.name,
        "identity": "check",
        "dtype": "float32",
        "batch_tokens": _BATCH_TOKENS,
        "max_tokens": tokenizer.model_max_length,
    }
    return FairseqEvaluator(
        model,
        tokenizer,
        own_languages=(tokenizer.source_lang, tokenizer.target_lang),
        on_too_long="error",
        **options,
    )
