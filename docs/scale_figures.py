"""Print the figures of docs/scale.md: python docs/scale_figures.py SHARED [WHAT]

WHAT is `batches`: how many scores differ in batches of other sizes, or one pair at a time, and how
long each size takes; or `second`: how many scores mode "auto" computes again exactly. Both by
default. SHARED holds upstream/. Without instructions for bf16, `second` takes a quarter of an hour.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import typer

import cc_hf
from cc_hf.data.files.translations import read_translations
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest, contest_scores
from cc_hf.schema import ContrastiveSourceExample, ScoringRequest

_EVALUATOR = "cc-tiny-en-de"
_SIZES = (1, 500, 1000, 1536, 2000, 4000, 8000, 16000)  # tokens; 1536 is the default


def requests_of(
    examples: list[ContrastiveSourceExample], translations: list[str]
) -> tuple[list[ScoringRequest], list[Contest]]:
    """Return the pairs of examples, and which of them compete."""
    requests: list[ScoringRequest] = []
    contests: list[Contest] = []
    for row, (example, text) in enumerate(zip(examples, translations, strict=True)):
        sides = []
        for sources in (example.correct_sources, example.incorrect_sources):
            sides.append(list(range(len(requests), len(requests) + len(sources))))
            requests += [ScoringRequest(source, text, row) for source in sources]
        contests.append((sides[0], sides[1]))
    return requests, contests


def compare_batches(requests: list[ScoringRequest]) -> None:
    """Print how scores differ from those of batches of the usual size."""
    evaluator = cc_hf.load_evaluator(_EVALUATOR, mode="exact")

    def sums(batch_tokens: int) -> tuple[np.ndarray, float]:
        evaluator.batch_tokens = batch_tokens
        start = time.perf_counter()
        scores = evaluator.score(requests, src_lang="en", tgt_lang="de")
        return scores.sum_logprob, time.perf_counter() - start

    usual, _ = sums(1536)
    for size in _SIZES:
        other, seconds = sums(size)
        share, largest = (other != usual).mean(), np.abs(other - usual).max()
        typer.echo(f"{size:>6} tokens: {share:.1%} differ, by up to {largest:.1e}; {seconds:.1f} s")


class _Counted:
    """Count the pairs that an evaluator scores."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.n, self._score = 0, evaluator.score

    def __call__(self, requests: list[ScoringRequest], **options: object) -> object:
        """Score the requests."""
        self.n += len(requests)
        return self._score(requests, **options)  # type: ignore[arg-type]


def count_second_look(requests: list[ScoringRequest], contests: list[Contest]) -> None:
    """Print how many scores are computed again exactly."""
    evaluator = cc_hf.load_evaluator(_EVALUATOR, mode="exact").with_mode("exact")
    evaluator.mode = "auto"  # also where bf16 is not faster
    if evaluator.fast is None:  # it is made here, since a copy would count, too
        raise SystemExit(f"{_EVALUATOR} has no pass in bf16 here")
    counted = _Counted(evaluator)
    evaluator.score = counted  # type: ignore[assignment, method-assign]
    contest_scores(evaluator, requests, contests, src_lang="en", tgt_lang="de")
    typer.echo(f"{len(contests)} examples: {counted.n} of {len(requests)} scores exactly")


def main(shared: Path, what: str = typer.Argument("all")) -> None:
    """Print the figures."""
    upstream = shared / "upstream"
    material = cc_hf.load_material("winomt", "en-de", data_dir=upstream)
    file = upstream / "gabrielStanovsky/mt_gender/translations/aws/en-de.txt"
    texts = list(read_translations(file, material.examples).translations)
    if what in ("all", "batches"):
        compare_batches(requests_of(list(material.examples[:400]), texts[:400])[0])
    for n in (400, 1000) if what in ("all", "second") else ():
        rows = slice(0, n * (len(texts) // n), len(texts) // n)
        count_second_look(*requests_of(list(material.examples[rows]), texts[rows]))


if __name__ == "__main__":
    typer.run(main)
