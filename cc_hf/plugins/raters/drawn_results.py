"""What a sample for raters is drawn from, and how many translations of each result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from cc_hf.comparing.people.annotations import rows_of_both
from cc_hf.data.files.result_files import read_result_file, system_names
from cc_hf.data.loading import load_examples
from cc_hf.errors import FileError, InputError, shown
from cc_hf.reading import finite_number, whole_number
from cc_hf.results import EvaluationResult
from cc_hf.statistics.correction import labels_needed
from cc_hf.statistics.score_intervals import FEWEST

__all__ = [
    "examples_without_corpora",
    "labels_for_width",
    "n_of_systems",
    "read_earlier",
    "results_by_system",
]

#: Number of translations of each system in the paper.
_N_TRANSLATIONS = 200
_ID_KEYS = ("id", "index", "testset_line")  # as annotations name them


def n_of_systems(n: str | None, judged: Mapping[str, EvaluationResult]) -> tuple[int, list[str]]:
    """Return how many translations of each system are drawn, and notes on what they are for.

    `n` may be a width such as "10%", which the interval of the corrected accuracy of every category
    shall have; None for as many as in the paper.
    """
    if n is None:
        return _N_TRANSLATIONS, []
    text = n.strip()
    width = text.removesuffix("%")
    if number := whole_number(text):
        return number, []
    percent = finite_number(width)
    if width == text or percent is None or percent < 0:
        raise InputError(f"n: expected a whole number from 1, or a width such as 10%, got {n!r}")
    number, notes = 1, []
    for system, result in judged.items():
        needed = labels_for_width(result, percent / 100)
        sizes = Counter(j.category for j in result.judgements)
        number = max(number, *(math.ceil(k * result.n / sizes[c]) for c, k in needed.items()))
        listed = ", ".join(f"{k:,} of {category}" for category, k in needed.items())
        notes.append(f"{system}: intervals of {text} need {listed}")
    return number, notes


def results_by_system(
    paths: Sequence[Path], metric: str | None, *, usual: Sequence[str] = ()
) -> dict[str, EvaluationResult]:
    """Return the result of each file by one metric, by name of the system.

    `metric` None is the only one of the usual ones that a file has.
    """
    chosen = []
    for path in paths:
        results = read_result_file(path).results
        fitting = [
            result
            for result in results
            if result.metric == metric or (metric is None and _is_usual(result.metric, usual))
        ]
        if len(fitting) != 1:
            raise InputError(
                f"metric: {path}: expected one result by {metric or 'pattern matching'}, got"
                f" {', '.join(r.metric for r in fitting) or 'none'} among"
                f" {', '.join(r.metric for r in results)}; name a metric"
            )
        if not fitting[0].dataset:
            raise InputError(
                "results: expected those on a dataset of cc_hf, got one on your own data"
            )
        chosen.append((path, fitting[0]))
    names = system_names(chosen)
    if len(set(names)) < len(names):
        raise InputError(
            f"results: expected those of different systems, got {', '.join(names)}; give one file"
            " for each, with a name of its own"
        )
    return {name: result for name, (_, result) in zip(names, chosen, strict=True)}


def _is_usual(metric: str, usual: Sequence[str]) -> bool:
    if usual:
        return metric in usual
    return metric.endswith("_pattern_matching") or metric == "simplegen_accuracy"


def examples_without_corpora(
    result: EvaluationResult, corpora: Collection[str], *, data_dir: str | Path | None = None
) -> frozenset[str]:
    """Return the ids of the examples of a result's dataset that are from none of these corpora."""
    if not result.dataset:
        raise InputError(
            "the result is on your own data, whose corpora are not known; do not exclude any"
        )
    # The paper annotated none of MuCoW's subtitles (corpus "opensubs").
    corpus_of = {
        e.id: e.extra.get("corpus", "")
        for e in load_examples(result.declared or result.dataset, result.config, data_dir=data_dir)
    }
    known = sorted(set(corpus_of.values()) - {""})
    if unknown := sorted(set(corpora) - set(known)):
        raise InputError(
            f"{result.dataset} {result.config} has no corpus {unknown[0]!r}; expected one of"
            f" {', '.join(known) or 'none: its examples name no corpora'}"
        )
    return frozenset(name for name, corpus in corpus_of.items() if corpus not in corpora)


def labels_for_width(result: EvaluationResult, width: float) -> dict[str, int]:
    """Return by category how many labels give its corrected accuracy an interval of a width, from
    1e-6 to 1, if further ones are like those so far.
    """
    needed = {}
    for category in sorted({j.category for j in result.judgements}):
        judgements = [j for j in result.judgements if j.category == category]
        trusted, inclusion = (
            np.array([getattr(j, name) for j in judgements], dtype=np.float64)  # NaN for None
            for name in ("trusted", "inclusion")
        )
        if (n := int((~np.isnan(trusted)).sum())) < FEWEST:
            raise InputError(
                f"width: expected at least {FEWEST} trusted verdicts in each category to say how"
                f" many more are needed, got {n} in {category}; label some first"
            )
        needed[category] = labels_needed(
            np.array([float(j.is_correct) for j in judgements]),
            trusted,
            width,
            inclusion=None if np.isnan(inclusion).all() else np.nan_to_num(inclusion, nan=1.0),
        )
    return needed


def read_earlier(path: Path) -> dict[str, tuple[str, str]]:
    """Read earlier annotations: by id of the example, the translation and its `label_earlier`."""
    labels: dict[str, tuple[str, str]] = {}
    for where, row in rows_of_both(path):
        label = row.get("label_earlier")
        if not label:
            continue
        name = next((str(row[key]) for key in _ID_KEYS if row.get(key) is not None), "")
        if not name or name in labels or not isinstance(label, str):
            problem = f"{name!r} a second time" if name in labels else shown(row)
            raise FileError(
                where,
                "expected the id of an example that occurs once, a translation and a"
                f" label_earlier, got {problem}",
            )
        if not isinstance(translation := row.get("translation"), str):
            raise FileError(where, f"translation: expected text, got {translation!r}")
        labels[name] = translation, label
    if not labels:
        raise FileError(path, "expected rows with id, translation and label_earlier, got none")
    return labels
