"""Scores computed by Ray Data, on the processes and machines of a cluster. No torch here.

The plan of all batches is written as Parquet. Actors with an evaluator each score whole batches,
and write them into files of `cc_hf.plugins.scale.parts` whose names follow from their keys: a task
that Ray repeats writes the same file. `Dataset.write_parquet` would leave half a file where a
process is killed. A run that was stopped continues with the batches whose scores are not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cc_hf.errors import (
    CCError,
    EvaluatorError,
    FileError,
    InputError,
    MissingDependencyError,
)
from cc_hf.evaluators.distributed import even_shares
from cc_hf.evaluators.options import PartialScores
from cc_hf.plugins.scale.parts import (
    KeyedScore,
    PartDone,
    PartOrigin,
    Work,
    part_rows,
    read_origin,
    write_scores,
)
from cc_hf.rules import ABOVE_0, AtLeast, check_fields
from cc_hf.schema import ScoringRequest

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator
    from cc_hf.evaluators.cache_session import TokenIds

__all__ = ["RayParts"]

#: CPUs that no actor takes: without them Ray has none to read with, and waits forever.
_SPARE_CPUS = 1
_FILES_PER_ACTOR = 16
_MOST_FILES = 4096


@dataclass(frozen=True)
class RayParts(PartialScores):
    """All scores of an evaluation, computed by actors of Ray Data.

    A cluster that this process has joined, or that RAY_ADDRESS names, is used; otherwise Ray starts
    on this machine and ends with the scores. Actors load the evaluator by its name, which must be
    found on all machines, and `folder` must be shared by them.

    Attributes:
        folder: folder for the files of scores, which `cc-hf cache` takes.
        n_actors: number of evaluators that score at the same time.
        cpus: number of CPUs for each of them; torch then uses as many threads.
        gpus: number of GPUs for each of them, which may be a part of one.

    Raises:
        InputError: for a number out of range.

    Examples:
        >>> RayParts("scores", n_actors=0)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: n_actors: expected an integer of at least 1, got 0
    """

    folder: str | Path
    n_actors: Annotated[int, AtLeast(1)] = 1
    cpus: Annotated[float, ABOVE_0] = 1
    gpus: Annotated[float, AtLeast(0.0)] = 0.0

    def __post_init__(self) -> None:
        check_fields(self)

    def compute(self, *planned: Any) -> NoReturn:
        """Compute all scores that the folder lacks.

        Raise PartDone when they are computed, and InputError, FileError, EvaluatorError or
        MissingDependencyError if they cannot be.
        """
        work = Work(*planned)
        try:
            import ray
        except ImportError:
            raise MissingDependencyError("ray", "ray") from None
        if work.evaluator.reopen is None or work.evaluator.sharing.team.size > 1:
            raise InputError(
                "part: Ray needs an evaluator that its workers can load by name, and a single"
                " process that is not started by torchrun or `accelerate launch`"
            )
        folder = Path(self.folder).absolute()  # workers may run elsewhere
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"folder: {folder} cannot be made ({error.strerror})") from error
        done = _known(folder, work.origin)
        left = work.missing(range(len(work.batches)), done)
        if left:
            with tempfile.TemporaryDirectory(dir=folder, prefix=".plan-") as plan:
                _write_plan(Path(plan), work, left, self.n_actors)
                with _cluster(ray, self):
                    _run(ray, self, Path(plan), work, len(done))
        if n_lost := len({*work.keys} - _known(folder, work.origin)):
            raise EvaluatorError(
                f"{folder}: {n_lost:,} of {len(work.keys):,} scores are missing after Ray ended;"
                " run the same command again, which continues"
            )
        n_new = len(work.keys_of(left))
        raise PartDone("1/1", len(work.keys), n_new, len(work.keys))


class _Scorer:
    """An evaluator in an actor of Ray."""

    def __init__(self, reopen: Callable[[], Evaluator], origin: PartOrigin, folder: Path) -> None:
        self.reopen, self.origin, self.folder = reopen, origin, folder
        self.evaluator: Evaluator | None = None

    def __call__(self, plan: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Write the scores of planned batches into a file."""
        import pyarrow.parquet

        batches = pyarrow.parquet.read_table(plan["path"][0]).column("pairs").to_pylist()
        try:
            if self.evaluator is None:
                self.evaluator = _same(self.reopen(), self.origin)
            scores = [score for batch in batches for score in _scored(self.evaluator, batch)]
            digest = hashlib.sha256(b"".join(sorted(score.key for score in scores)))
            write_scores(self.folder / f"{digest.hexdigest()[:16]}.parquet", scores, self.origin)
        except CCError as error:
            return {"n_scores": [0], "error": [str(error)]}
        return {"n_scores": [len(scores)], "error": [""]}


def _same(evaluator: Evaluator, origin: PartOrigin) -> Evaluator:
    """Return the evaluator, or its faster pass, that scores have as their origin."""
    wanted = dict(json.loads(origin.evaluator))
    languages = {name: wanted[name] for name in ("src_lang", "tgt_lang")}
    given = {**evaluator.cache_identity(), **languages}
    if given == wanted:
        return evaluator
    if evaluator.fast is not None and {**evaluator.fast.cache_identity(), **languages} == wanted:
        return evaluator.fast
    different = [
        f"{name} {given.get(name)} (not {value})"
        for name, value in wanted.items()
        if given.get(name) != value
    ]
    raise EvaluatorError(
        f"{evaluator.name} is another evaluator on a worker of Ray: {', '.join(different)}; all"
        " machines need the same model, libraries and kind of device"
    )


def _scored(evaluator: Evaluator, batch: Sequence[Mapping[str, Any]]) -> Iterator[KeyedScore]:
    """Yield the scores of a planned batch."""
    sums = evaluator.score_batch(*([pair[side] for pair in batch] for side in ("source", "target")))
    evaluator.check_scores(
        sums,
        [
            ScoringRequest(json.loads(pair["text"]), json.loads(pair["translation"]), pair["row"])
            for pair in batch
        ],
    )
    for pair, row in zip(batch, sums.rows(), strict=True):
        for key in pair["keys"]:
            yield KeyedScore(key, pair["token_ids"], row)


def _known(folder: Path, origin: PartOrigin) -> set[bytes]:
    """Return the keys of all scores in a folder."""
    keys: set[bytes] = set()
    for path in sorted(folder.glob("[!.]*.parquet")):
        if (read_origin(path) or origin) != origin:
            raise FileError(
                path,
                "expected scores of this evaluation, got others (other pairs, evaluator, options or"
                " libraries); choose another folder, or delete it once it is merged",
            )
        keys.update(row.key for row in part_rows(path))
    return keys


def _write_plan(folder: Path, work: Work, numbers: Sequence[int], n_actors: int) -> None:
    """Write batches as Parquet, a row for each, in files of about the same work."""
    import pyarrow
    import pyarrow.parquet

    n_files = min(_FILES_PER_ACTOR * n_actors, len(numbers), _MOST_FILES)
    shares = even_shares([work.costs[number] for number in numbers], n_files)
    for number, share in enumerate(shares):
        batches = [work.batches[numbers[i]] for i in share]
        rows = [{"pairs": [_planned(work, ids) for ids in batch]} for batch in batches]
        table = pyarrow.Table.from_pylist(rows, schema=_plan_schema())
        pyarrow.parquet.write_table(table, folder / f"{number:05}.parquet")


def _planned(work: Work, ids: TokenIds) -> dict[str, Any]:
    pairs = work.alike[ids]
    request = work.requests[pairs[0]]
    return {
        **dict(zip(("source", "target"), ids, strict=True)),
        "token_ids": work.session.ids_key(ids),
        "keys": [work.keys[i] for i in pairs],
        # as JSON, which holds lone surrogates
        "text": json.dumps(request.source),
        "translation": json.dumps(request.translation),
        "row": request.row,
    }


def _plan_schema() -> Any:
    import pyarrow

    ids, key = pyarrow.list_(pyarrow.int64()), pyarrow.binary()
    pair = {
        **{"source": ids, "target": ids, "token_ids": key, "keys": pyarrow.list_(key)},
        **{"text": pyarrow.string(), "translation": pyarrow.string(), "row": pyarrow.int64()},
    }
    return pyarrow.schema({"pairs": pyarrow.list_(pyarrow.struct(list(pair.items())))}.items())


@contextlib.contextmanager
def _cluster(ray: Any, parts: RayParts) -> Iterator[None]:
    """Join or start Ray. What was started here is ended, and what was set here is restored."""
    is_joined = ray.is_initialized()
    wanted = {"CPU": parts.n_actors * parts.cpus + _SPARE_CPUS, "GPU": parts.n_actors * parts.gpus}
    if not is_joined:
        address = os.environ.get("RAY_ADDRESS")
        # More CPUs than there are is no harm: Ray counts them, and does not measure.
        alone = {"num_cpus": math.ceil(wanted["CPU"]), "include_dashboard": False}
        ray.init(
            log_to_driver=False,
            logging_level=logging.WARNING,
            **({"address": address} if address else alone),
        )
    context = ray.data.DataContext.get_current()
    ours = {"max_errored_blocks": 0, "enable_progress_bars": False}
    theirs = {name: getattr(context, name) for name in ours}
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        for name, value in ours.items():
            setattr(context, name, value)
        resources = ray.cluster_resources()
        for name, n in wanted.items():
            if resources.get(name, 0) < n:
                raise InputError(
                    f"n_actors: {parts.n_actors} of {parts.cpus:g} CPUs and {parts.gpus:g} GPUs"
                    f" need a cluster with {n:g} {name}s (one more CPU than they take, to read"
                    f" with), got {resources.get(name, 0):g}; take fewer"
                )
        yield
    finally:
        logger.setLevel(level)
        for name, value in theirs.items():
            setattr(context, name, value)
        if not is_joined:
            ray.shutdown()


def _run(ray: Any, parts: RayParts, plan: Path, work: Work, n_known: int) -> None:
    """Score all planned batches."""
    files = [{"path": str(path)} for path in sorted(plan.glob("*.parquet"))]
    # A file is a task. `read_parquet` would join small files into one.
    counts = ray.data.from_items(files, override_num_blocks=len(files)).map_batches(
        _Scorer,
        fn_constructor_args=(work.evaluator.reopen, work.origin, plan.parent),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=parts.n_actors),
        num_cpus=parts.cpus,
        num_gpus=parts.gpus,
    )
    with work.show(n_known) as bar:
        try:
            for row in counts.iter_rows():
                if row["error"]:
                    raise EvaluatorError(row["error"])
                bar.update(row["n_scores"])
        except ray.exceptions.RayError as error:
            reason = " ".join(str(error).split())
            raise EvaluatorError(
                f"Ray failed ({type(error).__name__}: {reason}); run it again, which continues"
            ) from error
