"""A metric that reads words: correct if the translation contains a word, inconclusive if it
contains a question mark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import MissingDependencyError, MissingOptionError
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import text
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.schema import Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap


@dataclass(frozen=True)
class Words(Metric):
    name = "words"
    signature_name = "w"
    version = 1
    reference_fields = {"category": text}  # noqa: RUF012

    word: str = "Ärztin"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        is_known = dataset in ("simplegen", "custom")
        return "" if is_known else f"words knows simplegen only, not {dataset}"

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [{"category": example.category} for example in examples]

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        if self.word == "uninstalled":
            raise MissingDependencyError("spacy", "morphology")
        if self.word == "":
            raise MissingOptionError("words: expected a word for the language; name one with word")
        verdicts = [
            "inconclusive" if "?" in t else "correct" if self.word in t else "incorrect"
            for t in rows.translations
        ]
        categories = [reference["category"] for reference in rows.references]
        judged = zip(rows.ids, categories, rows.translations, verdicts, strict=True)
        judgements = tuple(
            Judgement(name, of, v == "correct", text, v, self.word * (v == "correct"), self.word)
            for name, of, text, v in judged
        )
        summary = summarize(judgements)
        return Figures(
            scores={**summary.scores, "delta_words": -0.25},
            signature={"word": self.word},
            judgements=judgements,
            **{name: getattr(summary, name) for name in ("intervals", "categories", "counts")},
        )
