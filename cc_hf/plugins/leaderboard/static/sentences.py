"""The sentences behind the figures of a ranking, in files that the page loads when they are asked
for. A page that was opened from disk may load scripts only, so that each file is the call of a
function of the page with JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cc_hf.plugins.leaderboard.static.board import Ranking
from cc_hf.reports.page.island import StringTable, island_json, utf16_length
from cc_hf.reports.samples import ReportedSystem, Sample, build_samples
from cc_hf.schema import NEITHER, Example, Judgement, Reading

__all__ = [
    "PART_SIZE",
    "focus",
    "judged",
    "part_text",
    "probability",
    "ranking_samples",
    "reading_letters",
    "sentence_parts",
    "state",
]

#: Samples of a part.
PART_SIZE = 500
#: States of samples; readings without verdicts have capital letters, in the order of `readings`.
_OPEN, _MISSING = "-", "."
_VERDICTS = {"correct": "c", "incorrect": "i", NEITHER: "n"}


def part_text(name: str, content: Any) -> str:
    r"""Return the text of a file that the page loads.

    Examples:
        >>> part_text("a/0", ["</script>"])
        'ccPart("a/0",["\\u003c/script\\u003e"]);\n'
    """
    return f"ccPart({json.dumps(name)},{island_json(content)});\n"


def ranking_samples(ranking: Ranking, examples: Sequence[Example] | None) -> list[Sample]:
    """Return the samples of a ranking, with one judgement or reading of each system at most."""
    metric = ranking.first.metric
    systems = [ReportedSystem(name, {metric: result}) for name, result in ranking.results.items()]
    return build_samples(systems, [metric], examples, (), [metric])[0]


def sentence_parts(ranking: Ranking, samples: Sequence[Sample]) -> Iterator[tuple[str, Any]]:
    """Yield the names and contents of the parts of a ranking, none if there are no samples.

    The first, under the name of the ranking, has for every sample what the judge says:

    - systems: names; states: for each, a text with a character for each sample: c correct, i
      incorrect, n neither, - inconclusive, . not judged, or for readings A, B, ...; readings: the
      names of these readings.
    - category: for each sample, the index of its category in `categories`.
    - size: the number of samples of a part; parts: how many there are.

    Part k, under the name of the ranking with "/k", has the sentences. Texts are numbers of entries
    in `strings`: id, source (-1 if unknown), focus ([start, length] in UTF-16 units, or 0),
    translations for each system, predicted for each system (-1 for none), and p for each system,
    the probability of the correct reading (null for none).
    """
    if not samples:
        return
    letters = reading_letters(samples)
    categories = {name: i for i, name in enumerate(dict.fromkeys(s.category for s in samples))}
    n_parts = -(-len(samples) // PART_SIZE)
    n_systems = range(len(ranking.results))
    yield (
        ranking.name,
        {
            "systems": list(ranking.results),
            "states": ["".join(state(s, system, letters) for s in samples) for system in n_systems],
            "readings": list(letters),
            "categories": list(categories),
            "category": [categories[s.category] for s in samples],
            "size": PART_SIZE,
            "parts": n_parts,
        },
    )
    for number in range(n_parts):
        part = samples[PART_SIZE * number : PART_SIZE * (number + 1)]
        yield f"{ranking.name}/{number}", _sentences(part, n_systems)


def reading_letters(samples: Sequence[Sample]) -> dict[str, str]:
    """Return the readings without verdicts that occur, each with the letter of its state."""
    readings = {
        reading.reading
        for sample in samples
        for (reading,) in sample.readings
        if reading is not None and reading.reading
    }
    return {name: chr(ord("A") + number) for number, name in enumerate(sorted(readings))}


def state(sample: Sample, system: int, letters: Mapping[str, str]) -> str:
    """Return what the judge says of a system's translation, as a character (`sentence_parts`)."""
    judgement, reading = sample.judgements[system][0], sample.readings[system][0]
    if judgement is not None:
        return _VERDICTS.get(judgement.verdict, _OPEN)
    if reading is not None:
        return letters.get(reading.reading, _OPEN)
    return _MISSING


def _sentences(part: Sequence[Sample], systems: range) -> dict[str, Any]:
    strings = StringTable()
    rows = [[judged(sample, system) for sample in part] for system in systems]
    return {
        "id": [strings.number(sample.id) for sample in part],
        "source": [strings.number(s.example.source if s.example else None) for s in part],
        "focus": [focus(sample.example) for sample in part],
        "translations": [
            [strings.number(sample.translations[system]) for sample in part] for system in systems
        ],
        "predicted": [
            [strings.number(j.predicted or None if isinstance(j, Judgement) else None) for j in row]
            for row in rows
        ],
        "p": [[probability(j) for j in row] for row in rows],
        "strings": list(strings.table),
    }


def judged(sample: Sample, system: int) -> Judgement | Reading | None:
    """Return the judgement or the reading of a system's translation; None if there is none."""
    return sample.judgements[system][0] or sample.readings[system][0]


def probability(judgement: Judgement | Reading | None) -> float | None:
    """Return the probability of the correct reading; None where the judge gives none."""
    p = judgement.probability_correct if isinstance(judgement, Judgement) else None
    return None if p is None else round(p, 4)


def focus(example: Example | None) -> list[int] | int:
    """Return start and length of the focus in UTF-16 units; 0 for none."""
    words = getattr(example, "focus", None)
    if example is None or words is None:
        return 0
    return [utf16_length(example.source[: words.start]), utf16_length(words.text)]
