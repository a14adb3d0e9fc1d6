"""Scoring in several processes that torchrun or `accelerate launch` started.

The work is shared evenly, and results and errors reach every process. All processes run the same
program on the same input. They exchange results in rounds of a few seconds: a process that fails
reports it there instead of leaving the others waiting, and the main process stores the results. A
single process needs none of this; accelerate is imported only where there are several.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from cc_hf.errors import EvaluatorError, MissingDependencyError

__all__ = [
    "ALONE",
    "Apply",
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
#: Applies a function to batches and yields the results in their order, as `map` does.
Apply: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


def is_launched() -> bool:
    """Return whether torchrun or `accelerate launch` started this process together with others.

    Examples:
        >>> is_launched()
        False
    """
    return {"MASTER_ADDR", "RANK"} <= os.environ.keys() and int(
        os.environ.get("WORLD_SIZE", "1")
    ) > 1


def is_main_process() -> bool:
    """Return whether this is the process that prints and writes; a single process always is.

    Examples:
        >>> is_main_process()
        True
    """
    return not is_launched() or os.environ["RANK"] == "0"


def process_label() -> str:
    """Return a name such as "process 1 of 4", counted from 0; only where several were launched."""
    return f"process {os.environ['RANK']} of {os.environ['WORLD_SIZE']}"


def even_shares(costs: Sequence[int], n_shares: int) -> list[list[int]]:
    """Distribute batches over processes so that all have about the same work.

    The costliest batch comes first, and each goes to the process with the least work so far.

    Args:
        costs: work of each batch, in any unit.
        n_shares: number of processes.

    Returns:
        Indices of `costs` for each process, the costliest first.

    Examples:
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
        rank: number of this process, counted from 0.
        size: number of processes.
        exchange: sends an object to all processes and returns the objects of all, in the order of
            their ranks. All processes must call it equally often.

    Examples:
        >>> team = Team(0, 1, lambda item: [item])
        >>> list(team.run([[0, 2], [1]], [5, 3], lambda batch: len(batch)))
        [([0, 2], 2), ([1], 1)]
    """

    def __init__(self, rank: int, size: int, exchange: Callable[[Any], list[Any]]) -> None:
        self.rank = rank
        self.size = size
        self._exchange = exchange

    @property
    def is_main(self) -> bool:
        """Whether this process stores scores and shows progress."""
        return self.rank == 0

    def check_alike(self, *task: object) -> None:
        """Check that all processes have the same task.

        Args:
            task: objects whose `repr` must be the same in all processes.

        Raises:
            EvaluatorError: when they differ, or another process failed.
        """
        # A digest is sent instead of the task, which may hold many texts.
        digests = self._gather(
            hashlib.sha256(repr(task).encode("utf-8", "surrogatepass")).hexdigest()
        )
        if different := [rank for rank, digest in enumerate(digests) if digest != digests[0]]:
            raise EvaluatorError(
                f"expected the same evaluator and the same pairs in all {self.size} processes, got"
                f" others in process {', '.join(map(str, different))}; call in all of them with the"
                " same input"
            )

    def from_main(self, make: Callable[[], T]) -> T:
        """Call a function on the main process and return its result on all.

        Args:
            make: the function; its result must be picklable.

        Returns:
            What the function returned on the main process.

        Raises:
            EvaluatorError: on the other processes, when it failed on the main one, where its own
                error is raised.
        """
        result = None
        if self.is_main:
            with self.reporting_errors():
                result = make()
        shared: T = self._gather(result)[0]
        return shared

    @contextlib.contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Report an error in the work of this process to the others.

        The error is raised here; the other processes raise EvaluatorError in their next exchange.
        Without this, they would wait for a process that has ended.
        """
        try:
            yield
        except Exception as error:
            self._gather(None, problem=f"{type(error).__name__}: {error}")
            raise

    def run(
        self,
        batches: Sequence[list[int]],
        costs: Sequence[int],
        score: Callable[[list[int]], T],
        apply: Apply = map,
    ) -> Iterator[tuple[list[int], T]]:
        """Score every batch once in one of the processes and yield all results in all of them.

        The batches are the same as in a single process and are not cut smaller: other batches round
        differently, so that a tie could be decided otherwise.

        Args:
            batches: indices of the pairs in each batch.
            costs: work of each batch, in any unit.
            score: scores one batch.
            apply: applies `score` to the batches of this process, in order, as `map` does.

        Yields:
            Each batch with its result, in any order.

        Raises:
            EvaluatorError: when another process failed.
        """
        # All processes know all costs and compute the same shares, so none has to be sent.
        mine = even_shares(costs, self.size)[self.rank]
        results = zip(mine, apply(score, [batches[number] for number in mine]), strict=True)
        n_left = len(batches)
        while n_left:
            done: list[tuple[int, T]] = []
            deadline = time.monotonic() + _ROUND_SECONDS
            with self.reporting_errors():
                for scored in results:
                    done.append(scored)
                    if time.monotonic() >= deadline:
                        break
            # A process without work left still takes part: `_gather` waits for all processes.
            for number, result in itertools.chain(*self._gather(done)):
                n_left -= 1
                yield batches[number], result

    def _gather(self, item: Any, *, problem: str = "") -> list[Any]:
        """Return the items of all processes, in the order of their ranks.

        Raises:
            EvaluatorError: if another process reports a problem.
        """
        reports = self._exchange((problem, item))
        failed = [
            f"process {rank} of {self.size}: {reason}"
            for rank, (reason, _) in enumerate(reports)
            if reason
        ]
        # The process that failed raises its own error, which says more.
        if failed and not problem:
            raise EvaluatorError(f"scoring failed in {'; '.join(failed)}")
        return [item for _, item in reports]


class _Alone(Team):
    """A single process, which exchanges nothing."""

    def __init__(self) -> None:
        super().__init__(0, 1, lambda item: [item])

    def run(
        self,
        batches: Sequence[list[int]],
        costs: Sequence[int],
        score: Callable[[list[int]], T],
        apply: Apply = map,
    ) -> Iterator[tuple[list[int], T]]:
        """Return an iterator over every batch with its result."""
        return zip(batches, apply(score, batches), strict=True)


ALONE: Team = _Alone()


def join(device: str) -> Team:
    """Return the team of all processes that were launched with this one, or `ALONE`.

    Each process uses a GPU of its own.

    Args:
        device: kind of device that scores, "cpu" or "cuda".

    Returns:
        The team, in which each process has its rank.

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
    # With CUDA this also makes the GPU of this process the current one.
    state = PartialState(cpu=device == "cpu")
    return Team(state.process_index, state.num_processes, lambda item: list(gather_object([item])))


def leave() -> None:
    """Destroy the process group, at the end of a program that called `join`."""
    if is_launched():
        from accelerate import PartialState

        PartialState().destroy_process_group()
