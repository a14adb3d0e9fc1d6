"""Scoring in several processes, which torchrun or `accelerate launch` started: even shares, results
on every process, errors on all.

All processes run the same program on the same input. They meet in rounds of a few seconds: whoever
has an error says so there instead of leaving the others waiting, and the main process stores what
came. One process needs none of this; accelerate is imported only where there are several.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from cc_hf.errors import EvaluatorError, MissingDependencyError

__all__ = [
    "ALONE",
    "Team",
    "even_shares",
    "is_launched",
    "is_main_process",
    "join",
    "leave",
    "process_label",
]

_ROUND_SECONDS = 2.0

T = TypeVar("T")


def is_launched() -> bool:
    """Whether torchrun or `accelerate launch` started this process together with others."""
    return {"MASTER_ADDR", "RANK"} <= os.environ.keys() and int(
        os.environ.get("WORLD_SIZE", "1")
    ) > 1


def is_main_process() -> bool:
    """Whether this is the process that prints and writes; always, where it is the only one."""
    return not is_launched() or os.environ["RANK"] == "0"


def process_label() -> str:
    """Such as «process 1 of 4», counted from 0, where several were launched."""
    return f"process {os.environ['RANK']} of {os.environ['WORLD_SIZE']}"


def even_shares(costs: Sequence[int], n_shares: int) -> list[list[int]]:
    """Indices for each of the shares, the costliest first, each to whoever has least: loads differ
    by one index at most.

    >>> even_shares([5, 4, 3, 3], 2)
    [[0, 3], [1, 2]]
    """
    shares: list[list[int]] = [[] for _ in range(n_shares)]
    loads = [(0, share) for share in range(n_shares)]
    for index in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        load, share = heapq.heappop(loads)
        shares[share].append(index)
        heapq.heappush(loads, (load + costs[index], share))
    return shares


class Team:
    """The processes that score together.

    Args:
        rank, size: of this process, and how many there are.
        exchange: gives what it is given to all, and answers what all gave, in the order of their
            ranks; all must call it equally often.
    """

    def __init__(self, rank: int, size: int, exchange: Callable[[Any], list[Any]]) -> None:
        self.rank = rank
        self.size = size
        self._exchange = exchange

    @property
    def is_main(self) -> bool:
        """Whether this process stores scores and shows progress."""
        return self.rank == 0

    def check_alike(self, *what: object) -> None:
        """Make sure that all processes have the same task.

        Raises:
            EvaluatorError: when they do not, or one of them failed.
        """
        digests = self._gather(
            hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).hexdigest()
        )
        if different := [rank for rank, digest in enumerate(digests) if digest != digests[0]]:
            raise EvaluatorError(
                f"expected the same evaluator and the same pairs in all {self.size} processes, got"
                f" others in process {', '.join(map(str, different))}; call in all of them with the"
                " same input"
            )

    def from_main(self, make: Callable[[], T]) -> T:
        """What the main process makes, on all.

        Raises:
            EvaluatorError: when it failed there.
        """
        made = None
        if self.is_main:
            with self.telling():
                made = make()
        found: T = self._gather(made)[0]
        return found

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Around work of this process alone: an error in it is raised here, and told to the others,
        who raise at their next meeting.
        """
        try:
            yield
        except Exception as error:
            self._gather(None, problem=f"{type(error).__name__}: {error}")
            raise

    def run(
        self, batches: Sequence[list[int]], costs: Sequence[int], score: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Every batch with what `score` makes of it, on all processes, each scored by one; costs
        say how much work a batch is.

        The batches are those of one process, never cut smaller: other batches round otherwise, and
        a tie could fall the other way.

        Raises:
            EvaluatorError: when another process failed.
        """
        mine = iter(even_shares(costs, self.size)[self.rank])
        n_left = len(batches)
        while n_left:
            done: list[tuple[int, T]] = []
            until = time.monotonic() + _ROUND_SECONDS
            with self.telling():
                for number in mine:
                    done.append((number, score(batches[number])))
                    if time.monotonic() >= until:
                        break
            for number, found in itertools.chain(*self._gather(done)):
                n_left -= 1
                yield batches[number], found

    def _gather(self, item: Any, *, problem: str = "") -> list[Any]:
        found = self._exchange((problem, item))
        failed = [
            f"process {rank} of {self.size}: {told}" for rank, (told, _) in enumerate(found) if told
        ]
        if failed and not problem:
            raise EvaluatorError(f"scoring failed in {'; '.join(failed)}")
        return [item for _, item in found]


class _Alone(Team):
    """One process: no rounds, no meetings."""

    def __init__(self) -> None:
        super().__init__(0, 1, lambda item: [item])

    def run(
        self, batches: Sequence[list[int]], costs: Sequence[int], score: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Every batch in its order, as soon as it is scored."""
        return zip(batches, map(score, batches), strict=True)


ALONE: Team = _Alone()


def join(device: str) -> Team:
    """The team of all processes that were launched with this one; `ALONE` where there are none.

    On GPUs each takes its own.

    Args:
        device: kind of device that scores, «cpu» or «cuda».

    Raises:
        MissingDependencyError: without accelerate.
    """
    if not is_launched():
        return ALONE
    try:
        from accelerate import PartialState
        from accelerate.utils import gather_object
    except ModuleNotFoundError as error:
        raise MissingDependencyError(str(error.name), "models") from error
    # with CUDA it also makes the GPU of this process the current one
    state = PartialState(cpu=device == "cpu")
    return Team(state.process_index, state.num_processes, lambda item: list(gather_object([item])))


def leave() -> None:
    """At the end of a program that joined."""
    if is_launched():
        from accelerate import PartialState

        PartialState().destroy_process_group()
