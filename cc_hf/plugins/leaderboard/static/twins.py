"""Sentences that differ in nothing but who is meant, with what each system writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cc_hf.plugins.leaderboard.static.board import Ranking
from cc_hf.plugins.leaderboard.static.sentences import (
    focus,
    judged,
    probability,
    reading_letters,
    state,
)
from cc_hf.reports.page.island import StringTable
from cc_hf.reports.samples import Sample

__all__ = ["WHO", "twin_part", "twin_sets"]

#: Who is meant, in the order of the columns.
WHO = ("woman", "man", "nobody")
_MOST = 200  # sets in a part


def twin_sets(ranking: Ranking, samples: Sequence[Sample]) -> list[dict[str, Sample]]:
    """Return the sets of twins with a woman and a man, each as who is meant -> sample."""
    find = ranking.first.declared.twins if ranking.first.declared else None
    sets: dict[str, dict[str, Sample]] = {}
    for sample in samples if find else ():
        twin = find(sample.example) if find and sample.example else None
        if twin is not None:
            name, who = twin
            # Of several sentences for the same person, the first is taken.
            sets.setdefault(name, {}).setdefault(who, sample)
    return [of_name for of_name in sets.values() if {"woman", "man"} <= of_name.keys()]


def twin_part(
    ranking: Ranking, samples: Sequence[Sample], sets: Sequence[dict[str, Sample]]
) -> dict[str, Any]:
    """Return the content of the part with twins, of at most 200 sets that are evenly spread.

    It has systems, readings and strings as the sentences of the ranking, language, the number of
    all sets `n`, and `sets`: label, and for each person source, focus, translations, states and p,
    the latter three with one entry for each system.
    """
    strings, letters = StringTable(), reading_letters(samples)
    n_shown = min(len(sets), _MOST)
    shown = [sets[number * len(sets) // n_shown] for number in range(n_shown)]
    systems = range(len(ranking.results))

    def side(sample: Sample) -> dict[str, Any]:
        return {
            "source": strings.number(sample.example.source if sample.example else None),
            "focus": focus(sample.example),
            "translations": [strings.number(text) for text in sample.translations],
            "states": "".join(state(sample, system, letters) for system in systems),
            "p": [probability(judged(sample, system)) for system in systems],
        }

    rows = []
    for of_set in shown:
        sides = {who: side(of_set[who]) for who in WHO if who in of_set}
        rows.append({"label": sides["woman"]["source"], **sides})
    return {
        "systems": list(ranking.results),
        "language": ranking.first.tgt_lang,
        "readings": list(letters),
        "n": len(sets),
        "sets": rows,
        "strings": list(strings.table),
    }
