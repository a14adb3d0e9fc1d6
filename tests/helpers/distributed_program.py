"""The program that torchrun starts in tests of several processes: it scores few pairs of uneven
lengths with a model, and raises errors in one process.

Arguments: MODEL, FOLDER. Each process writes its results to FOLDER/RANK.json.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import cc_hf
from cc_hf.errors import CCError
from cc_hf.evaluators.distributed import leave
from cc_hf.evaluators.scores import TokenScores
from cc_hf.schema import ScoringRequest
from tests.helpers.letter_evaluator import letter_requests

FEW = [ScoringRequest("b", "c"), ScoringRequest("a", "b"), ScoringRequest("b", "c")]
UNEVEN = [ScoringRequest("the doctor " * 4 * (not i % 7), "x" * (1 + i % 50), i) for i in range(90)]


def as_lists(scores: TokenScores) -> list[list[float]]:
    return [scores.sum_logprob.tolist(), scores.n_tokens.tolist(), scores.mean_probability.tolist()]


def main() -> None:
    """Run as each of the processes."""
    rank = os.environ["RANK"]
    evaluator = cc_hf.load_evaluator(
        sys.argv[1], device="cpu", distributed=True, cache=Path(sys.argv[2]) / "scores.sqlite"
    )
    actual: dict[str, Any] = {
        "size": evaluator.sharing.team.size,
        "has_cache": evaluator.sharing.cache is not None,
    }
    for name, requests in (("few", FEW), ("uneven", UNEVEN), ("again", [*UNEVEN, *FEW])):
        actual[name] = as_lists(evaluator.score(requests, src_lang="en", tgt_lang="de"))
    try:
        evaluator.score(letter_requests(5 + int(rank)), src_lang="en", tgt_lang="de")
    except CCError as error:
        actual["other input"] = f"{type(error).__name__}: {error}"
    if rank == "1":
        evaluator.max_tokens, evaluator.cache_identity = 3, lambda: {"same": "everywhere"}  # type: ignore[method-assign]
    else:
        evaluator.cache_identity = lambda: {"same": "everywhere"}  # type: ignore[method-assign]
    try:
        evaluator.score(UNEVEN, src_lang="en", tgt_lang="de")
    except CCError as error:
        actual["error of one"] = f"{type(error).__name__}: {error}"
    (Path(sys.argv[2]) / f"{rank}.json").write_text(json.dumps(actual), encoding="utf-8")
    leave()


if __name__ == "__main__":
    main()
