"""Scoring in several processes that torchrun or `accelerate launch` started.

The work is shared evenly, and results and errors reach every process. All processes run the same
program on the same input. They exchange results in rounds of a few seconds: a process that fails
reports it there instead of leaving the others waiting, and the main process stores the results. A
process that was killed is noticed in the next exchange, one that hangs after a time limit. A single
process needs none of this; torch and accelerate are imported only where there are several.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import heapq
import itertools
import math
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError, shown

__all__ = [
    "ALONE",
    "TIMEOUT_VARIABLE",
    "Apply",
    "Team",
    "even_shares",
    "is_first_of_node",
    "is_launched",
    "is_main_process",
    "join",
    "leave",
    "process_label",
    "report_failure",
]

#: The variable of the environment with the seconds that processes wait for each other.
TIMEOUT_VARIABLE = "CC_HF_DISTRIBUTED_TIMEOUT"
# As torch's own limit. One process may load a model for many minutes while the others wait.
_LIMIT = 1800.0
_LONGEST = 30 * 86400.0  # seconds; `timedelta` overflows for infinity and some long numbers
# Whoever stops loses the scores of one round, and an error is heard of after one at the latest.
_ROUND_SECONDS = 2.0
_NOTE_SECONDS = 2.0  # how long a process looks for the reason when the main one went away
_POLL_SECONDS = 0.05
_CONTINUE = (
    "the scores so far are in the cache of process 0, with which the same command continues; where"
    " process 0 will be on another machine, copy that file there first (cc-hf cache FILE)"
)

T = TypeVar("T")
Batch = TypeVar("Batch")
#: Applies a function to batches and yields the results in their order, as `map` does.
Apply: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


def is_launched() -> bool:
    """Return whether torchrun or `accelerate launch` started this process together with others."""
    return {"MASTER_ADDR", "RANK"} <= os.environ.keys() and int(
        os.environ.get("WORLD_SIZE", "1")
    ) > 1


def is_main_process() -> bool:
    """Return whether this is the process that prints and writes; a single process always is."""
    return not is_launched() or os.environ["RANK"] == "0"


def is_first_of_node() -> bool:
    """Return whether this is the first of the processes that were launched on this machine."""
    return not is_launched() or os.environ.get("LOCAL_RANK", "0") == "0"


def process_label() -> str:
    """Return a name such as "process 1 of 4", counted from 0; only where several were launched."""
    return f"process {os.environ['RANK']} of {os.environ['WORLD_SIZE']}"


def even_shares(costs: Sequence[int], n_shares: int) -> list[list[int]]:
    """Distribute batches over processes so that all have about the same work.

    Args:
        costs: work of each batch, in any unit.

    Returns:
        Indices of `costs` for each process, the costliest first.

    Examples:
        >>> even_shares([5, 4, 3, 3], 2)
        [[0, 3], [1, 2]]
    """
    # The costliest first: cheap ones at the end level what the others leave uneven.
    shares: list[list[int]] = [[] for _ in range(n_shares)]
    loads = [(0, share) for share in range(n_shares)]
    for index in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        load, share = heapq.heappop(loads)
        shares[share].append(index)
        heapq.heappush(loads, (load + costs[index], share))
    return shares


class Team:
    """The processes that score together.

    A method that exchanges something raises EvaluatorError when another process failed.

    Args:
        exchange: sends an object to all processes and returns the objects of all, in the order of
            their ranks. All processes must call it equally often.
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
        """Check that all processes have the same task, by the `repr` of its parts.

        Raises:
            EvaluatorError: when they differ.
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
        """Call a function on the main process and return its picklable result on all.

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

    def from_all(self, item: T) -> list[T]:
        """Return the picklable items of all processes, in the order of their ranks."""
        items: list[T] = self._gather(item)
        return items

    @contextlib.contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Report an error in the work of this process to the others.

        The error is raised here; the other processes raise EvaluatorError in their next exchange.
        """
        try:
            yield
        # KeyboardInterrupt is not reported: a terminal sends it to all processes, and an exchange
        # would wait for them.
        except Exception as error:
            # Without a report, the others would wait for a process that has ended.
            self._gather(None, problem=f"{type(error).__name__}: {error}")
            raise

    def run(
        self,
        batches: Sequence[Batch],
        costs: Sequence[int],
        score: Callable[[Batch], T],
        apply: Apply = map,
    ) -> Iterator[tuple[Batch, T]]:
        """Score every batch once in one of the processes; yield the results, in any order, in all.

        Args:
            costs: work of each batch, in any unit.
            apply: applies `score` to the batches of this process, in order, as `map` does.
        """
        # All processes know all costs and compute the same shares, so none has to be sent.
        # Batches are not cut smaller than in a single process: other batches round differently, so
        # that a tie could be decided otherwise.
        mine = even_shares(costs, self.size)[self.rank]
        results = zip(mine, apply(score, [batches[number] for number in mine]), strict=True)
        n_left = len(batches)
        while n_left:
            done: list[tuple[int, T]] = []
            deadline = time.monotonic() + _ROUND_SECONDS
            with self.reporting_errors():
                # The next round continues this iterator where `break` left it.
                for scored in results:
                    done.append(scored)
                    if time.monotonic() >= deadline:
                        break
            # A process without work left still takes part: `_gather` waits for all processes.
            for number, result in itertools.chain(*self._gather(done)):
                n_left -= 1
                yield batches[number], result

    def _gather(self, item: Any, *, problem: str = "") -> list[Any]:
        """Return the items of all processes, in the order of their ranks."""
        reports = self._exchange((problem, item))
        problems = {rank: reason for rank, (reason, _) in enumerate(reports) if reason}
        # The process that failed raises its own error, which says more.
        if problems and not problem:
            raise EvaluatorError(_failed(problems, self.size))
        return [item for _, item in reports]


class _Alone(Team):
    """A single process, which exchanges nothing."""

    def __init__(self) -> None:
        super().__init__(0, 1, lambda item: [item])

    def run(
        self,
        batches: Sequence[Batch],
        costs: Sequence[int],
        score: Callable[[Batch], T],
        apply: Apply = map,
    ) -> Iterator[tuple[Batch, T]]:
        """Return an iterator over every batch with its result."""
        # No rounds: nobody waits for this process, and each result is stored as it comes.
        return zip(batches, apply(score, batches), strict=True)


ALONE: Team = _Alone()


@dataclass(frozen=True)
class _Link:
    """The connection of this process to the others.

    Attributes:
        store: torch's store, in which processes leave their errors.
        group: process group of torch that carries the exchange, on the CPU.
        limit: seconds to wait for a process.
    """

    rank: int
    hosts: tuple[str, ...]
    store: Any
    group: Any
    limit: float

    def exchange(self, item: Any) -> list[Any]:
        """Return the reports of all processes; that of a lost process says what became of it."""
        # All talk to the main process only. It therefore knows which one went away, and tells the
        # others.
        size = len(self.hosts)
        if self.rank:
            try:
                self._send(item, 0)
                received: list[Any] = self._receive(0)
            except RuntimeError:  # of gloo
                notes = _notes(self.store, size, wait=_NOTE_SECONDS) or {0: self._gone(0)}
                return [(notes.get(rank, ""), None) for rank in range(size)]
            return received
        reports = [item]
        for rank in range(1, size):
            start = time.monotonic()
            try:
                reports.append(self._receive(rank))
            except RuntimeError:
                # gloo has one error for a limit and for a lost connection; the time tells which.
                hangs = time.monotonic() - start >= self.limit
                reason = _notes(self.store, size).get(rank) or (
                    f"its machine {self.hosts[rank]} sent nothing for {self.limit:,g} seconds"
                    f" ({TIMEOUT_VARIABLE} sets this limit); {_CONTINUE}"
                    if hangs
                    else self._gone(rank)
                )
                reports.append((reason, None))
                if hangs:  # then gloo closes all connections, and only the store is left
                    with contextlib.suppress(RuntimeError):
                        _leave_note(self.store, rank, reason)
                    return [*reports, *[("", None)] * (size - len(reports))]
        for rank in range(1, size):
            # Whoever is gone has its reason in the reports, which the others must still get.
            with contextlib.suppress(RuntimeError):
                self._send(reports, rank)
        return reports

    def _gone(self, rank: int) -> str:
        return (
            f"it ended, or its machine {self.hosts[rank]} cannot be reached any more; its own"
            f" output may say why; {_CONTINUE}"
        )

    def _send(self, item: Any, rank: int) -> None:
        from torch.distributed import send_object_list

        send_object_list([item], rank, group=self.group)

    def _receive(self, rank: int) -> Any:
        from torch.distributed import recv_object_list

        box = [None]
        recv_object_list(box, rank, group=self.group)
        return box[0]


def join(device: str) -> Team:
    """Return the team of all processes that were launched with this one, or `ALONE`.

    Each process uses a GPU of its own, and waits for the others for 30 minutes, or as many seconds
    as the variable `TIMEOUT_VARIABLE` of the environment says.

    Args:
        device: kind of device that scores, "cpu", "cuda" or "mps".

    Raises:
        EvaluatorError: when a process does not come within the limit, or failed before.
        InputError: for a limit that is no positive number.
        MissingDependencyError: without accelerate.
    """
    if not is_launched():
        return ALONE
    link = _linked(device != "cuda")
    return Team(link.rank, len(link.hosts), link.exchange) if link else ALONE


# Each member of an ensemble joins, and a process has one process group.
@functools.cache
def _linked(is_cpu: bool) -> _Link | None:
    """Connect all processes once they have come; None if accelerate is told that each is alone."""
    limit = _limit()
    try:
        from accelerate import PartialState
        from torch.distributed import is_initialized, new_group
    except ModuleNotFoundError as error:
        raise MissingDependencyError(str(error.name), "models") from error
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    try:
        store = _store(limit)
        hosts = _all_hosts(store, rank, size, limit)
        # With CUDA this also makes the GPU of this process the current one.
        PartialState(cpu=is_cpu, timeout=timedelta(seconds=limit))
        if not is_initialized():
            return None
        # The main process notices first what is missing, and the others hear it from that.
        patience = timedelta(seconds=2 * limit if rank else limit)
        # With CUDA the default group is NCCL's, which sends from GPUs only.
        group = new_group(backend="gloo", timeout=patience)
    except EvaluatorError:  # it is a RuntimeError, too, and already says which process is missing
        raise
    except RuntimeError as error:  # of torch's store, or of gloo
        # chr(10), since Python before 3.12 takes no backslash within braces of an f-string.
        address = f"{os.environ['MASTER_ADDR']}:{os.environ.get('MASTER_PORT', '')}"
        raise EvaluatorError(
            f"expected {size} processes that reach each other within {limit:,g} seconds, got no"
            f" connection of {process_label()} (process 0 is at {address}):"
            f" {str(error).partition(chr(10))[0]} Start all of them, and let them reach each other;"
            f" {TIMEOUT_VARIABLE} sets the limit; {_CONTINUE}"
        ) from error
    return _Link(rank, hosts, store, group, limit)


def _all_hosts(store: Any, rank: int, size: int, limit: float) -> tuple[str, ...]:
    """Return the names of the machines of all processes, once all have come."""
    store.set(f"host/{rank}", socket.gethostname())
    deadline = time.monotonic() + limit
    while missing := [r for r in range(size) if not store.check([f"host/{r}"])]:
        # The notes end the others, too, which may have begun to wait later than this one.
        if time.monotonic() >= deadline:
            for r in missing:
                _leave_note(
                    store,
                    r,
                    f"it did not come within {limit:,g} seconds ({TIMEOUT_VARIABLE} sets this"
                    f" limit); {_CONTINUE}",
                )
        if notes := _notes(store, size):
            raise EvaluatorError(_failed(notes, size))
        time.sleep(_POLL_SECONDS)
    return tuple(store.get(f"host/{r}").decode() for r in range(size))


def report_failure(error: BaseException) -> None:
    """Leave an error that ends this process for the others, which then end, too."""
    if not is_launched():
        return
    # The error itself matters more than whether the others hear of it.
    with contextlib.suppress(ImportError, RuntimeError, ValueError):
        store = _store(_NOTE_SECONDS)
        # The first error is the cause; those of the other processes follow from it.
        if not _notes(store, int(os.environ["WORLD_SIZE"])):
            _leave_note(store, int(os.environ["RANK"]), f"{type(error).__name__}: {error}")


def _store(limit: float) -> Any:
    """Return torch's store, a table of bytes that all processes share."""
    from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]

    # torch.distributed.rendezvous would wait for all processes without saying which are missing.
    # Who holds the store is decided as there: the agent of torchrun, else process 0, which shares
    # the address with the store that accelerate opens later (`multi_tenant`).
    store = TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ.get("MASTER_PORT", "29500")),
        is_master=is_main_process() and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True",
        timeout=timedelta(seconds=limit),
        wait_for_workers=False,
        multi_tenant=True,
    )
    # An attempt that torchrun starts anew must not end by the notes of the one before.
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return PrefixStore(f"cc_hf/{attempt}", store)


def _leave_note(store: Any, rank: int, reason: str) -> None:
    store.set(f"problem/{rank}", reason.encode("utf-8", "replace"))


def _notes(store: Any, size: int, *, wait: float = 0.0) -> dict[int, str]:
    """Return the known problems of processes, by rank; {} also if the store is gone."""
    deadline = time.monotonic() + wait
    with contextlib.suppress(RuntimeError):
        while True:
            names = {rank: f"problem/{rank}" for rank in range(size)}
            notes = {r: store.get(n).decode() for r, n in names.items() if store.check([n])}
            if notes or time.monotonic() >= deadline:
                return notes
            time.sleep(_POLL_SECONDS)
    return {}


def _failed(problems: dict[int, str], size: int) -> str:
    reasons = [f"process {rank} of {size}: {problem}" for rank, problem in problems.items()]
    return f"scoring failed in {'; '.join(reasons)}"


def _limit() -> float:
    """Return the seconds that processes wait for each other."""
    text = os.environ.get(TIMEOUT_VARIABLE, "").strip()
    try:
        limit = float(text or _LIMIT)
    except ValueError:
        limit = math.nan
    if not 0 < limit <= _LONGEST:
        raise InputError(
            f"{TIMEOUT_VARIABLE}: expected a number of seconds above 0 and up to"
            f" {_LONGEST:,.0f}, got {shown(text)}"
        )
    return limit


def leave() -> None:
    """Destroy the process group, at the end of a program that called `join`."""
    if is_launched():
        from accelerate import PartialState

        # `join` must connect anew after this, since the group of the link is destroyed.
        _linked.cache_clear()
        PartialState().destroy_process_group()
