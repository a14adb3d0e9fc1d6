"""An evaluator without a model: tokens are characters, and scores depend only on the two texts.

Run as a program, it scores slowly and logs what it scores.
"""

import itertools
import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator, Sharing
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.schema import ScoringRequest
from tests.helpers.fake_evaluator import hash_score

Pair = tuple[str, str]
Ids = Sequence[Sequence[int]]
Logprobs = list[npt.NDArray[np.float64]]


class LetterEvaluator(Evaluator):
    """Calls `before` with the pairs of each batch before scoring it; `n_encoded` counts texts."""

    def __init__(
        self,
        before: Callable[[list[Pair]], None] = lambda pairs: None,
        *,
        extra: dict[str, str] | None = None,
        device: str = "cpu",
        cache: ScoreCache | None = None,
        team: Team = ALONE,
        **options: Any,
    ) -> None:
        given = {"name": "letters", "identity": "1", "dtype": "float32", "on_too_long": "error"}
        super().__init__(**{**given, "batch_tokens": 64, "max_tokens": 40, **options})
        self.device, self.sharing = device, Sharing(cache, team)
        self.before = before
        self.extra = extra or {}
        self.n_encoded = 0
        self.own_fast: Evaluator | None = None

    @property
    def fast(self) -> Evaluator | None:
        return self.own_fast

    def signature_fields(self) -> dict[str, str]:
        return {**super().signature_fields(), **self.extra}

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        if src_lang == "xx":
            raise InputError("no xx")

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        self.n_encoded += len(texts)
        return [[*map(ord, text), 0] for text in texts]

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        return self.encode_sources(texts, src_lang, tgt_lang)

    def logprobs_batch(self, sources: Ids, targets: Ids) -> Logprobs:
        texts = [["".join(map(chr, ids[:-1])) for ids in side] for side in (sources, targets)]
        pairs = list(zip(*texts, strict=True))
        self.before(pairs)
        return [np.full(len(t) + 1, np.log(hash_score(s, t))) for s, t in pairs]


class BrokenEvaluator(LetterEvaluator):
    """Gives the same log-probability for every token."""

    def __init__(self, logprob: float, **options: Any) -> None:
        super().__init__(**options)
        self.logprob = logprob

    def logprobs_batch(self, sources: Ids, targets: Ids) -> Logprobs:
        return [np.full(len(target), self.logprob) for target in targets]


def letter_requests(n: int) -> list[ScoringRequest]:
    """Return distinct pairs of different lengths in no order, with a few duplicates."""
    sources = [f"source {7 * i % n}" + "x" * (i % 5) for i in range(n)]
    actual = [ScoringRequest(text, f"translation {i}", i) for i, text in enumerate(sources)]
    return actual + actual[: n // 10]


def main() -> None:
    """Score slowly: CACHE LOG RESULT N SECONDS LAST.

    Append the pairs of each batch to LOG, wait, score, and finally write the scores to RESULT. At
    batch number LAST, wait to be killed; 0 for never.
    """
    cache, log, result = map(Path, sys.argv[1:4])
    n, seconds, last = int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])
    batches = itertools.count(1)

    def before(pairs: list[Pair]) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(pairs) + "\n")
        time.sleep(seconds)
        if next(batches) == last:
            signal.pause()

    evaluator = LetterEvaluator(before, cache=ScoreCache(cache))
    scores = evaluator.score(letter_requests(n), src_lang="en", tgt_lang="de")
    figures = (scores.sum_logprob, scores.n_tokens, scores.mean_probability)
    result.write_text(json.dumps([figure.tolist() for figure in figures]), encoding="utf-8")


class SpelledEvaluator(LetterEvaluator):
    """An evaluator in which each letter is a token with its own probability under each source."""

    def decode_targets(self, rows: Ids) -> list[str]:
        return ["".join(chr(number) for number in row if number) for row in rows]

    def logprobs_batch(self, sources: Ids, targets: Ids) -> Logprobs:
        texts = ["".join(map(chr, source)) for source in sources]
        return [
            np.log(
                [hash_score(text, f"{position}{letter}") for position, letter in enumerate(target)]
            )
            for text, target in zip(texts, targets, strict=True)
        ]


class TextEvaluator(LetterEvaluator):
    """An evaluator whose mean log-probability is a function of the translation."""

    def __init__(self, mean_logprob: Callable[[str], float], **options: Any) -> None:
        super().__init__(max_tokens=400, **options)
        self.mean_logprob = mean_logprob

    def logprobs_batch(self, sources: Ids, targets: Ids) -> Logprobs:
        texts = ["".join(map(chr, ids[:-1])) for ids in targets]
        assert all(len(ids) == 1 for ids in sources), "the source is empty"
        return [np.full(len(t) + 1, self.mean_logprob(t)) for t in texts]
