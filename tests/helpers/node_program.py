"""A program that torchrun or accelerate starts on each of two nodes: it scores letters, and the
node of process 1 may be killed.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from cc_hf.errors import CCError
from cc_hf.evaluators.distributed import join, leave
from cc_hf.evaluators.score_cache import ScoreCache
from tests.helpers.distributed_program import as_lists
from tests.helpers.letter_evaluator import LetterEvaluator, Pair, letter_requests

REQUESTS = letter_requests(600)
_BATCHES = 60  # scored by process 1 before its node is killed: two rounds of scores


def _kill_node() -> None:
    os.kill(os.getppid(), signal.SIGKILL)  # the launcher, which would end the others
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run as each of the processes, with the arguments FOLDER before|during|never."""
    folder, killed = Path(sys.argv[1]), sys.argv[2]
    victim = os.environ["RANK"] == "1" and killed
    if victim == "before":
        _kill_node()
    n_scored = 0

    def before(pairs: list[Pair]) -> None:
        nonlocal n_scored
        n_scored += 1
        if killed == "during":
            time.sleep(0.05)
        if victim == "during" and n_scored == _BATCHES:
            _kill_node()

    actual: dict[str, object] = {}
    try:
        team = join("cpu")
        cache = ScoreCache(folder / "scores.sqlite") if team.is_main else None
        evaluator = LetterEvaluator(before, team=team, cache=cache)
        scores = evaluator.score(REQUESTS, src_lang="en", tgt_lang="de")
        actual = {"scores": as_lists(scores), "n_scored": n_scored}
        leave()
    except CCError as error:
        actual = {"error": f"{type(error).__name__}: {error}"}
    (folder / f"{os.environ['RANK']}.json").write_text(json.dumps(actual), encoding="utf-8")
    # After an end without an error, torchrun waits five minutes for the other node.
    sys.exit("error" in actual)


if __name__ == "__main__":
    main()
