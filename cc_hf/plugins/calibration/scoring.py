"""Choice of the candidates that change the evaluator's scores most: it scores references under
sources with cues.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cc_hf.cues.placement import insert_before
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import pair_scores
from cc_hf.plugins.calibration.cue_set import Sense, SenseCues
from cc_hf.plugins.calibration.mlm_insertions import SenseCandidates
from cc_hf.plugins.calibration.selection import best_cues
from cc_hf.plugins.calibration.senses import SenseData
from cc_hf.progress import Progress
from cc_hf.schema import ScoringRequest

__all__ = ["choose_cues"]

_BLOCK = 2**13  # number of requests in memory at a time


def choose_cues(
    data: SenseData,
    offered: Mapping[Sense, SenseCandidates],
    evaluator: Evaluator,
    *,
    score: str,
    n_cues: int,
    progress: bool,
) -> tuple[tuple[SenseCues, ...], int]:
    """Choose the cues that raise or lower the evaluator's scores of the references most.

    Examples:
        >>> from cc_hf.plugins.calibration.senses import load_senses
        >>> from cc_hf.evaluators.functions import FunctionEvaluator
        >>> from cc_hf.schema import Focus, ProbingExample
        >>> extra = {"ambiguous_word": "bat", "reference": "ein Schläger"}
        >>> focus = Focus("bat", 2)
        >>> example = ProbingExample("0", "en", "de", "a bat", "all", "club", focus, extra)
        >>> data = load_senses([example], None, tgt_lang=None, words=None, data_dir=None)
        >>> offered = {("bat", "club"): SenseCandidates(("baseball", "cricket"), ("fruit",))}
        >>> def shorter_is_better(sources, translations):
        ...     return [1 / len(source) for source in sources]
        >>> evaluator = FunctionEvaluator(shorter_is_better)
        >>> cues, n_requests = choose_cues(
        ...     data, offered, evaluator, score="", n_cues=1, progress=False
        ... )
        >>> cues[0].correct.cues, cues[0].incorrect.cues, n_requests
        (('cricket',), ('fruit',), 3)
    """
    cues: list[SenseCues] = []
    n_requests = sum(
        len(data.rows[sense]) * (len(words.correct) + len(words.incorrect))
        for sense, words in offered.items()
    )
    with Progress(
        total=n_requests, desc="scoring", unit="pair", disable=not progress, delay=1, leave=False
    ) as bar:
        for block in _blocks(data, offered):
            requests = [request for of_sense in block.values() for request in of_sense]
            scores = pair_scores(
                requests, evaluator, src_lang=data.src_lang, tgt_lang=data.tgt_lang, score=score
            )
            bar.update(len(requests))
            start = 0
            for sense, of_sense in block.items():
                words, n = offered[sense], len(data.rows[sense])
                table = scores[start : start + len(of_sense)].reshape(n, -1)
                start += len(of_sense)
                correct = best_cues(
                    words.correct, table[:, : len(words.correct)], correct=True, n=n_cues
                )
                incorrect = best_cues(
                    words.incorrect, table[:, len(words.correct) :], correct=False, n=n_cues
                )
                cues.append(SenseCues(*sense, n, words, correct, incorrect))
    return tuple(cues), n_requests


def _blocks(
    data: SenseData, offered: Mapping[Sense, SenseCandidates]
) -> Iterator[dict[Sense, list[ScoringRequest]]]:
    """Yield the requests of whole senses, about `_BLOCK` at a time, to bound memory."""
    block: dict[Sense, list[ScoringRequest]] = {}
    for sense, words in offered.items():
        block[sense] = [
            # Grouped by example, with the correct candidates first.
            ScoringRequest(
                insert_before(data.examples[row].source, data.examples[row].focus.start, cue),
                data.examples[row].reference,
                row,
            )
            for row in data.rows[sense]
            for cue in (*words.correct, *words.incorrect)
        ]
        if sum(map(len, block.values())) >= _BLOCK:
            yield block
            block = {}
    if block:
        yield block
