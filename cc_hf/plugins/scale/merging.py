"""Taking the scores of parts, and of other machines' caches, into a cache. No torch here.

Everything is checked before anything is stored. What is stored first stays: a score from other
batches differs by rounding and is not stored again. Scores of one plan are the same to the bit, so
that any difference between them is an error.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from cc_hf.errors import CacheError, FileError, InputError
from cc_hf.evaluators.base import SCORING_VERSION, library_versions
from cc_hf.evaluators.cache_session import CacheSession, ScoreRow
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.files import is_file
from cc_hf.plugins.scale.parts import AGAIN, KeyedScore, PartOrigin, part_blocks, read_origin

__all__ = ["Merged", "merge"]

_ROWS_AT_ONCE = 8_192


@dataclass(frozen=True)
class Merged:
    """What a merge did."""

    n_new: int
    n_known: int  # the cache or another file had them, to the bit or up to rounding
    n_rounded: int  # those of them that differ by rounding; the first stays
    # Evaluator -> scores that no file has, for each evaluation of which parts are missing.
    missing: Mapping[str, int]


@dataclass(frozen=True)
class _Source:
    """Scores of one origin in a file, in the order of their keys."""

    path: Path
    origin: PartOrigin
    blocks: Callable[[], Iterator[list[KeyedScore]]]


#: Key, index of the source, and row.
_Numbered = tuple[bytes, int, KeyedScore]


def merge(cache: ScoreCache, paths: Sequence[str | Path]) -> Merged:
    """Take scores into a cache."""
    by_evaluator: dict[str, list[_Source]] = defaultdict(list)
    for path in map(Path, paths):
        if is_file(path) and is_file(cache.path) and path.samefile(cache.path):
            raise InputError(f"{path}: expected files of scores, got the cache itself")
        for source in _sources(path):
            by_evaluator[source.origin.evaluator].append(source)
    cache.check()
    counts: Counter[str] = Counter()
    n_scores: Counter[PartOrigin] = Counter()
    # Everything is read twice, so that an error in the last file leaves the cache as it was.
    for is_checked in (False, True):
        for sources in by_evaluator.values():
            fields = _fields(sources[0].origin)
            with cache.session(fields) as session:
                if is_checked:
                    _store(cache, session, sources)
                else:
                    counts += _compared(cache.path, session, sources, n_scores)
    missing: Counter[str] = Counter()
    for origin, n in n_scores.items():
        if n < origin.n_pairs:
            missing[_fields(origin)["eval"]] += origin.n_pairs - n
    return Merged(counts["new"], counts["known"], counts["rounded"], dict(missing))


def _sources(path: Path) -> Iterator[_Source]:
    """Yield the scores of a file, by their origin."""
    other = ScoreCache(path)
    if not other.is_cache():
        if (origin := read_origin(path)) is not None:
            if not _fields(origin):
                raise FileError(path, "it does not say what made its scores; run its part again")
            if different := _other_versions(origin):
                raise FileError(
                    path,
                    f"expected scores of the versions on this machine, got {', '.join(different)};"
                    " they would never be used here. Install the same versions on all machines,"
                    " and run its part again",
                )
            yield _Source(path, origin, functools.partial(part_blocks, path))
        return
    for identity in other.identities():
        origin = PartOrigin(identity, "", 0)
        # A cache may hold scores of other versions and damaged rows; none of them are used.
        if _fields(origin) and not _other_versions(origin):
            yield _Source(path, origin, functools.partial(_cache_blocks, other, identity))


def _fields(origin: PartOrigin) -> dict[str, str]:
    """Return the identity of an evaluator; {} if it cannot be read."""
    try:
        fields = dict(json.loads(origin.evaluator))
    except (ValueError, TypeError, RecursionError):
        return {}
    is_whole = {"eval", "dtype"} <= fields.keys() and all(
        isinstance(v, str) for v in fields.values()
    )
    return fields if is_whole else {}


def _other_versions(origin: PartOrigin) -> list[str]:
    """Return how the versions differ from those with which this machine would find the scores."""
    here, fields = {"scoring": str(SCORING_VERSION), **library_versions()}, _fields(origin)
    return [
        f"{name} {fields.get(name) or 'none'} (here {version or 'none'})"
        for name, version in here.items()
        if fields.get(name) != version
    ]


def _joined(sources: Sequence[_Source]) -> Iterator[list[list[_Numbered]]]:
    """Yield the scores of many keys at once, with the indices of their sources, in both orders."""
    blocks = [source.blocks() for source in sources]
    waiting: dict[int, list[KeyedScore]] = {number: [] for number in range(len(sources))}
    while waiting:
        for number in [number for number, rows in waiting.items() if not rows]:
            waiting[number] = next(blocks[number], [])
            if not waiting[number]:
                del waiting[number]
        if not waiting:
            return
        # Up to here no source has rows that were not read yet.
        last = min(rows[-1].key for rows in waiting.values())
        ready: list[_Numbered] = []
        for number, rows in waiting.items():
            n = bisect.bisect_right(rows, last, key=itemgetter(0))
            ready += [(row.key, number, row) for row in rows[:n]]
            waiting[number] = rows[n:]
        ready.sort(key=itemgetter(0, 1))
        yield [list(alike) for _, alike in itertools.groupby(ready, key=itemgetter(0))]


def _compared(
    cache: Path, session: CacheSession, sources: Sequence[_Source], n_scores: Counter[PartOrigin]
) -> Counter[str]:
    """Check all scores, and count them."""
    counts: Counter[str] = Counter()
    for keys in _joined(sources):
        stored = session.find_keys({rows[0][0]: i for i, rows in enumerate(keys)})
        counts["new"] += len(keys) - len(stored)
        alone: Counter[int] = Counter()
        for i, rows in enumerate(keys):
            for _, number, row in rows:
                if not session.is_score(row.score):
                    raise FileError(
                        sources[number].path, f"{row.score} is no score that a model gives; {AGAIN}"
                    )
            if len(rows) == 1 and i not in stored:  # nothing to compare, as for most
                alone[rows[0][1]] += 1
                continue
            scores = [(sources[number], row.score) for _, number, row in rows]
            n_scores.update({source.origin for source, _ in scores})
            if i in stored:
                scores = [
                    (_Source(cache, PartOrigin("", "", 0), lambda: iter(())), stored[i]),
                    *scores,
                ]
            for (first, score), (second, other) in itertools.combinations(scores, 2):
                is_one_plan = first.origin.plan == second.origin.plan != ""
                limit = 0.0 if is_one_plan else session.rounding
                if not _is_alike(score, other, limit):
                    raise _conflict(rows[0][0], (first.path, score), (second.path, other), limit)
            counts["known"] += len(scores) - 1
            counts["rounded"] += sum(score != scores[0][1] for _, score in scores)
        for number, n in alone.items():
            n_scores[sources[number].origin] += n
    return counts


def _is_alike(score: ScoreRow, other: ScoreRow, rounding: float) -> bool:
    limits = rounding * score[1], 0, rounding
    return all(abs(a - b) <= limit for a, b, limit in zip(score, other, limits, strict=True))


def _conflict(
    key: bytes, first: tuple[Path, ScoreRow], second: tuple[Path, ScoreRow], rounding: float
) -> FileError:
    reason = (
        "other batches explain no such difference, so that one of them is damaged, or of a changed"
        " model"
        if rounding
        else "both are of the same batches, so that one is damaged, or the machines differ (kind of"
        " processor, number of threads)"
    )
    return FileError(
        second[0],
        f"two different scores of the key {key.hex()}: {second[1]} here, {first[1]} in {first[0]};"
        f" {reason}. Leave out the file that is wrong, and run its part again",
    )


def _store(cache: ScoreCache, session: CacheSession, sources: Sequence[_Source]) -> None:
    """Store the first score of each key."""
    if not session.add_keyed(rows[0][2] for keys in _joined(sources) for rows in keys):
        raise CacheError(
            f"{cache.path}: the scores cannot be stored; free some space, and merge again"
        )


def _cache_blocks(cache: ScoreCache, identity: str) -> Iterator[list[KeyedScore]]:
    """Yield the scores of an identity in a cache, many at once."""
    rows = map(KeyedScore._make, cache.rows(identity))
    while block := list(itertools.islice(rows, _ROWS_AT_ONCE)):
        yield block
