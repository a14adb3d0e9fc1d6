"""Tables of models that were judged on both subsets of MT-GenEval, and of their differences from
one of them on the same sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from cc_hf_studies.common.model_comparison import compared_bleu

from cc_hf.reports.figure_text import score_text, with_interval
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Example
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.statistics.paired import PairedDifference, paired_differences
from cc_hf.statistics.score_intervals import wilson_interval

__all__ = ["Judged", "difference_table", "level_table"]

_GENDERS = {"men": "male", "women": "female"}
_Table = list[list[str]]


@dataclass(frozen=True)
class Judged:
    """The results of models on one subset.

    Attributes:
        examples: the rows of the subset, in the order of the judgements.
    """

    examples: Sequence[Example]
    results: Mapping[str, EvaluationResult]

    @property
    def headline(self) -> str:
        """The paper's figure of the subset: of pairs where there are some."""
        has_pairs = "pair_accuracy" in next(iter(self.results.values())).scores
        return "pair_accuracy" if has_pairs else "accuracy"

    @property
    def genders(self) -> list[str]:
        """The gender of the person in each example."""
        return [
            e.extra["gender"] if isinstance(e, ContrastiveTranslationExample) else e.gold
            for e in self.examples
        ]

    @property
    def references(self) -> list[str]:
        """The reference of the right gender of each example."""
        return [
            e.correct_translation
            if isinstance(e, ContrastiveTranslationExample)
            else e.extra["reference"]
            for e in self.examples
        ]

    def translations(self, name: str) -> list[str]:
        """Return the translations of a model."""
        return [judgement.translation for judgement in self.results[name].judgements]

    def correct(self, name: str) -> list[bool]:
        """Return the verdicts on a model."""
        return [judgement.is_correct for judgement in self.results[name].judgements]


def level_table(judged: Judged, *, tgt_lang: str) -> str:
    """Return a Markdown table of the figures of each model, in percent, and below it the signatures
    of BLEU and chrF.
    """
    scores = ("bleu", "chrf")
    rows = [[judged.headline.replace("_", " "), *_GENDERS, "decided", "undecided", "BLEU", "chrF"]]
    rows[0].insert(0, "model")
    signatures: dict[str, str] = {}
    for name, result in judged.results.items():
        cells = [name, score_text(result, judged.headline)]
        for gender in _GENDERS.values():
            verdicts = [
                is_correct
                for is_correct, of in zip(judged.correct(name), judged.genders, strict=True)
                if of == gender
            ]
            n_right, n = sum(verdicts), len(verdicts)
            cells.append(with_interval(n_right / n, wilson_interval(n_right, n)) if n else "-")
        cells += [score_text(result, figure) for figure in ("decided_accuracy", "undecided_rate")]
        for score in scores:
            value, signatures[score] = corpus_score(
                score, judged.translations(name), judged.references, tgt_lang=tgt_lang
            )
            cells.append(f"{100 * value:.1f}")
        rows.append(cells)
    written = "; ".join(f"{score} `{text}`" for score, text in signatures.items())
    return f"{_markdown(rows)}\n\nn = {len(judged.examples):,}; {written}"


def difference_table(sets: Mapping[str, Judged], baseline: str, *, tgt_lang: str) -> str:
    """Return a Markdown table of the differences of all other models from the baseline, in
    percentage points and points of BLEU, with the intervals of paired samples.

    Args:
        sets: name of a subset -> its results, all of which have the baseline.
    """
    rows = [["model, on", "paper's accuracy", *_GENDERS, "BLEU"]]
    for subset, judged in sets.items():
        for name in judged.results:
            if name == baseline:
                continue
            verdicts = np.array([judged.correct(baseline), judged.correct(name)])
            (by_gender,) = paired_differences(verdicts, judged.genders)
            bleu = compared_bleu(
                (judged.translations(baseline), judged.translations(name)),
                judged.references,
                tgt_lang=tgt_lang,
            )
            differences = [
                _headline_difference(judged, verdicts),
                *(by_gender.get(f"accuracy_{gender}") for gender in _GENDERS.values()),
                bleu.difference,
            ]
            cells = [with_interval(d.difference, d.interval) if d else "-" for d in differences]
            rows.append([f"{name}, {subset}", *cells])
    return _markdown(rows)


def _headline_difference(judged: Judged, verdicts: np.ndarray) -> PairedDifference:
    """Return the difference in the paper's figure: of pairs that are right on both sides."""
    if judged.headline == "pair_accuracy":
        pairs: dict[str, list[int]] = {}
        for row, example in enumerate(judged.examples):
            pairs.setdefault(example.extra["pair"], []).append(row)
        verdicts = np.stack([verdicts[:, rows].all(axis=1) for rows in pairs.values()], axis=1)
    return paired_differences(verdicts, ["all"] * verdicts.shape[1])[0]["accuracy"]


def _markdown(rows: _Table) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
