"""The metric listed_words: a correct translation has a word that is listed for the sense."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cc_hf import Judgement
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, text
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["ListedWords"]


@dataclass(frozen=True)
class ListedWords(Metric):
    """Accuracy by lists of words. A translation with words of both senses or of none is
    inconclusive, which counts as incorrect.
    """

    name: ClassVar[str] = "listed_words"
    title: ClassVar[str] = "listed words"
    about: ClassVar[str] = "Looks for words that are listed for the right and the wrong sense."
    signature_name: ClassVar[str] = "listed"
    version: ClassVar[int] = 1
    reads_cues: ClassVar[bool] = False
    reference_fields: ClassVar[Fields] = {
        "category": text,
        "gold": text,
        "correct_words": text,
        "incorrect_words": text,
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" for four_homographs, which has the lists, else the reason."""
        return "" if dataset == "four_homographs" else f"{dataset} {config} has no lists of words"

    @staticmethod
    def references(examples: Sequence[Any]) -> list[dict[str, Any]]:
        """Return category, sense and lists of words of each example."""
        return [{"category": e.category, "gold": e.gold, **e.extra} for e in examples]

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Return a verdict on every translation, and the accuracies."""
        judgements = tuple(
            Judgement(
                example_id,
                reference["category"],
                is_correct=(verdict := _verdict(translation, reference)) == "correct",
                translation=translation,
                verdict=verdict,
                gold=reference["gold"],
            )
            for example_id, translation, reference in zip(
                rows.ids, rows.translations, rows.references, strict=True
            )
        )
        summary = summarize(judgements)
        return Figures(
            scores=summary.scores,
            signature={"langs": f"{rows.src_lang or '?'}-{rows.tgt_lang or '?'}"},
            intervals=summary.intervals,
            categories=summary.categories,
            judgements=judgements,
            counts=summary.counts,
        )


def _verdict(translation: str, reference: Mapping[str, Any]) -> str:
    words = set(re.findall(r"\w+", translation))
    is_correct, is_incorrect = (
        bool(words & set(reference[key].split())) for key in ("correct_words", "incorrect_words")
    )
    if is_correct == is_incorrect:
        return "inconclusive"
    return "correct" if is_correct else "incorrect"
