"""How far systems fall for the same attacks (thesis, section 3.3.4)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

from cc_hf.errors import InputError
from cc_hf_studies.disambiguation_bias.attacks.samples import AttackJudgement

__all__ = ["Transfer", "jaccard", "transferability"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Attacks that succeed on several systems: on all of them, and on at least one.

    Attributes:
        n: number of samples whose seed all of them translate correctly.
        jaccard: n_all / n_any, in [0, 1]; None if no attack succeeds.
    """

    systems: tuple[str, ...]
    n: int
    n_all: int
    n_any: int
    jaccard: float | None


def jaccard(sets: Iterable[AbstractSet[Hashable]]) -> float | None:
    """Return the number of members of all sets divided by that of any; None if all are empty."""
    members = list(sets)
    if len(members) < 2:
        raise InputError(f"sets: expected two or more, got {len(members)}")
    # Where there are three sets, the released program divides by another number than this union.
    union = set().union(*members)
    return len(set(members[0]).intersection(*members[1:])) / len(union) if union else None


def transferability(
    judgements: Mapping[str, Iterable[AttackJudgement]], *, judge: str = "lexicon"
) -> list[Transfer]:
    """Compare the successful attacks of each two systems, and of all, on seeds all get right."""
    if len(judgements) < 2:
        raise InputError(f"expected the judgements of two systems or more, got {len(judgements)}")
    samples: dict[str, set[str]] = {}
    correct: dict[str, set[str]] = {}
    successful: dict[str, set[str]] = {}
    for system, rows in judgements.items():
        for row in rows:
            verdict = row.succeeds(judge)
            samples.setdefault(system, set()).add(row.sample.id)
            correct.setdefault(system, set()).update([row.sample.id] if verdict is not None else [])
            successful.setdefault(system, set()).update([row.sample.id] if verdict else [])
    names = list(judgements)
    for name in names:
        if missing := sorted(samples.get(names[0], set()) ^ samples.get(name, set())):
            raise InputError(
                f"expected judgements of the same samples, got {missing[0]!r} in only one of"
                f" {names[0]} and {name} (and {len(missing) - 1} more such); judge both on one file"
            )
    groups: list[tuple[str, ...]] = list(combinations(names, 2))
    if len(names) > 2:
        groups.append(tuple(names))
    return [_transfer(group, correct, successful) for group in groups]


def _transfer(
    systems: tuple[str, ...], correct: Mapping[str, set[str]], successful: Mapping[str, set[str]]
) -> Transfer:
    right = set.intersection(*(correct[name] for name in systems))
    sets = [successful[name] & right for name in systems]
    return Transfer(
        systems,
        len(right),
        len(set.intersection(*sets)),
        len(set.union(*sets)),
        jaccard(sets),
    )
