"""Compare the judges that need no download, and dictionaries alone, and write the table of
judges/README.md: python docs/judge_comparison.py SHARED

SHARED holds upstream/. The dictionaries of Apertium must be installed. Scores are exact, so that
every machine gives the same figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import typer
from reader_figures import shown_gender

import cc_hf
from benchmarks.judges import judges
from cc_hf import registry
from cc_hf.data.download import fetch
from cc_hf.data.labelled import LabelSet
from cc_hf.errors import DataError
from cc_hf.hub.cards import with_block
from cc_hf.plugins.gender_reading.rules import RULES
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count
from cc_hf.schema import Example
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.statistics.separation import auc, auc_interval
from cc_hf.text.morphology import FEMININE, MASCULINE

_ROOT = Path(__file__).parent.parent
_PAGE = _ROOT / "judges/README.md"
_OPTIONS = cc_hf.LoadingOptions(mode="exact", cache=True)
#: Label sets by people. What a dictionary read cannot say how well it reads.
_SETS = ("gender_alternatives", "genderous", "mt_geneval")
_READ = ("gender_alternatives", "genderous")  # those that `gender_reading` fits
_GENDERS = ("female", "male")


class Verdicts(NamedTuple):
    """What a judge says of labelled translations.

    Attributes:
        sources: source sentence of each.
        is_female: whether it shows a woman by the labels.
        probabilities: of the female reading, in [0, 1]; NaN where the judge says none.
    """

    sources: list[str]
    is_female: list[bool]
    probabilities: list[float]


def labelled(
    labels: LabelSet, pair: str, examples: Mapping[str, Example], upstream: Path
) -> Iterator[dict[str, tuple[str, str]]]:
    """Yield (translation, gender that it shows) by example, one translation of each at a time."""
    paths = {file.path: fetch(file, upstream) for file in labels.files.get(pair, ())}
    runs: dict[tuple[str, int], dict[str, tuple[str, str]]] = defaultdict(dict)
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for row in labels.read(paths, pair, [*examples.values()]):
        shows = shown_gender(row, examples[row.example_id])
        if shows in _GENDERS:
            key = row.system, row.example_id
            runs[row.system, seen[key]][row.example_id] = (row.translation, shows)
            seen[key] += 1
    yield from runs.values()


def verdicts(
    labels: LabelSet, pair: str, upstream: Path, *, metric: str, evaluator: Path | None
) -> Verdicts:
    """Judge all translations of a label set."""
    material = cc_hf.load_material(
        labels.dataset, labels.configs[pair], tgt_lang=pair.partition("-")[2], data_dir=upstream
    )
    examples = {example.id: example for example in material.examples}
    done = Verdicts([], [], [])
    for run in labelled(labels, pair, examples, upstream):
        part = replace(material, chosen=frozenset(run))
        result = cc_hf.evaluate(
            part,
            translations=[run[example.id][0] for example in part.examples],
            metric=metric,
            evaluator=evaluator,
            loading=_OPTIONS if evaluator else None,
        )
        of_female = dict(_of_female(result, examples))
        for name, (_, shows) in run.items():
            done.sources.append(examples[name].source)
            done.is_female.append(shows == "female")
            done.probabilities.append(of_female.get(name, np.nan))
    return done


def _of_female(
    result: cc_hf.EvaluationResult, examples: Mapping[str, Example]
) -> Iterator[tuple[str, float]]:
    """Yield the probability of the female reading of each example that is decided."""
    for judgement in result.judgements:
        if judgement.is_decided:
            right = judgement.probability_correct
            right = float(judgement.is_correct) if right is None else right
            is_female = getattr(examples[judgement.example_id], "gold", "") == "female"
            yield judgement.example_id, right if is_female else 1 - right
    for reading in result.readings:
        if reading.probability_counted is not None:
            yield reading.example_id, reading.probability_counted
        elif reading.reading in {MASCULINE, FEMININE}:  # of a dictionary
            yield reading.example_id, float(reading.reading == FEMININE)


def rows(upstream: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| judge | pair | labels | n | women right, % | men right, % | AUC |"
    yield "|---|---|---|--:|---|---|---|"
    for name, pair, folder in judges():
        ways: dict[str, tuple[str, Path | None]] = {
            f"`{name}`": ("contrastive_conditioning", folder)
        }
        if pair.partition("-")[2] in RULES:
            ways["dictionary alone"] = ("gender_reading", None)
        for title in _SETS:
            labels: LabelSet = registry.resolve("label set", title)
            for way, (metric, evaluator) in ways.items() if pair in labels.configs else ():
                if evaluator is None and title not in _READ:
                    continue
                try:
                    judged = verdicts(labels, pair, upstream, metric=metric, evaluator=evaluator)
                except DataError as error:  # a file that SHARED lacks
                    typer.echo(f"{title} {pair}: {error}", err=True)
                    continue
                yield f"| {way} | {pair} | {title} | {' | '.join(_cells(judged))} |"


def _cells(judged: Verdicts) -> Iterator[str]:
    probabilities, is_female = np.array(judged.probabilities), np.array(judged.is_female)
    yield count(len(is_female))
    says_female = np.where(np.isnan(probabilities), ~is_female, probabilities > 0.5)
    for gender in (True, False):
        chosen = is_female == gender
        n, k = int(chosen.sum()), int((says_female[chosen] == gender).sum())
        yield with_interval(k / n, wilson_interval(k, n))
    values = np.nan_to_num(probabilities, nan=0.5)
    interval = auc_interval(values, is_female, judged.sources)
    yield with_interval(auc(values, is_female), interval)


def main(shared: Path) -> None:
    """Write the table."""
    text = _PAGE.read_text(encoding="utf-8")
    text = with_block(text, "comparison", "\n".join(rows(shared / "upstream")))
    _PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    typer.run(main)
