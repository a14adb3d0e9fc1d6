"""CTXPRO's score: does the translation hold the form that it must hold (Wicks & Post 2023)?"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError, shown
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, check_ids, flag, optional_text, text
from cc_hf.metrics.figure_names import COMMON
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.schema import Example, Judgement, ProbingExample
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["WITHIN", "ExpectedForm", "holds", "judge_rows", "last_sentence"]

#: Where the form is looked for.
WITHIN = ("last_sentence", "translation")
_FIELDS: Fields = {"expected": text, "category": optional_text}
_WITHOUT_PUNCTUATION = {ord(mark): None for mark in string.punctuation}
_LANGUAGES_AT = "https://pypi.org/project/sentence-splitter"


@cache
def _splitter(lang: str) -> Callable[[str], list[str]]:
    try:
        from sentence_splitter import SentenceSplitter, SentenceSplitterException
    except ImportError:
        raise MissingDependencyError("sentence_splitter", "sentences") from None
    try:
        split: Callable[[str], list[str]] = SentenceSplitter(language=lang).split
    except SentenceSplitterException:
        raise InputError(
            f"tgt_lang: expected a language that sentence_splitter knows ({_LANGUAGES_AT}), got"
            f" {shown(lang)}; or look within the translation (within=translation)"
        ) from None
    return split


def last_sentence(text: str, lang: str) -> str:
    """Return the last sentence, by the rules of Koehn and Schroeder (sentence_splitter)."""
    return (_splitter(lang)(text.strip()) or [text])[-1]


def holds(text: str, form: str, *, parity: bool = False) -> bool:
    """Return whether a text holds a form between blanks, in any case and without punctuation.

    Args:
        parity: keep the punctuation of the form, as the program of the paper does, so that a form
            with a hyphen or an apostrophe is never found.

    Examples:
        >>> holds("S'il te plaît, assieds-toi.", "assieds-toi")
        True
        >>> holds("S'il te plaît, assieds-toi.", "assieds-toi", parity=True)
        False
    """
    searched = text.lower().translate(_WITHOUT_PUNCTUATION)
    form = form.lower() if parity else form.lower().translate(_WITHOUT_PUNCTUATION)
    return f" {form} " in f" {searched} "


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    tgt_lang: str,
    within: str = "last_sentence",
    parity: bool = False,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation: correct if it holds the form, else incorrect.

    `predicted` is the form where it is found, else "".
    """
    names = check_ids(ids, len(predictions))
    judgements = []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        form = reference["expected"]
        searched = (
            last_sentence(translation, tgt_lang) if within == "last_sentence" else translation
        )
        is_correct = holds(searched, form, parity=parity)
        judgements.append(
            Judgement(
                name,
                reference.get("category") or "all",
                is_correct,
                translation,
                "correct" if is_correct else "incorrect",
                predicted=form if is_correct else "",
                gold=form,
            )
        )
    return tuple(judgements)


@dataclass(frozen=True)
class ExpectedForm(Metric):
    """Whether the last sentence of each translation holds a form that only its context decides.

    Translations that depend on context (Wicks & Post 2023): a translation is correct if its last
    sentence holds the form that the sentences before decide, in any case and without punctuation.

    Attributes:
        within: "last_sentence", or "translation" to look for the form in all of it, which needs no
            splitter and is right where sources have no context.
        parity: whether to keep the punctuation of the form, as the program of the paper does.
    """

    name = "expected_form"
    title = "Expected form"
    about = "A translation is right if its last sentence holds the form that the context decides."
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is incorrect.
        references (list of dict): one per translation, with `expected` (words of the target
            language) and, optionally, `category` (the group for figures).
        src_lang (str, optional): ISO 639-1 code of the sources, for the signature.

    Returns:
        n, n_correct, n_inconclusive, n_blank, n_elsewhere (int): numbers of translations;
            n_elsewhere hold the form in another sentence only.
        verdicts (list of str): correct or incorrect, one per translation.
        predicted (list of str): the form where it was found, else "".

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/expected_form")
        >>> result = metric.compute(
        ...     predictions=["Nein. Nein, das glaube ich nicht."],
        ...     references=[{"expected": "glaube", "category": "DO.ELL"}],
        ...     tgt_lang="de",
        ... )
        >>> result["verdicts"]
        ['correct']
    """
    papers = ("wicks-post-2023",)
    signature_name = "form"
    version = 1
    reference_fields = _FIELDS
    reads_cues = False
    figure_names = COMMON

    within: str = "last_sentence"
    parity: bool | str = False

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "ctxpro":
            return ""
        return f"expected_form needs the form that each translation must hold, not {dataset}"

    @staticmethod
    def check_available(tgt_lang: str) -> None:
        _splitter(tgt_lang)

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [
            {"expected": e.gold, "category": e.category}
            for e in examples
            if isinstance(e, ProbingExample)
        ]

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the form that is found."""
        for j in judgements:
            check_reading(j, "correct" if j.predicted == j.gold else "incorrect")

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        exact = flag("parity", self.parity)
        if self.within not in WITHIN:
            raise InputError(f"within: expected {' or '.join(WITHIN)}, got {shown(self.within)}")
        judgements = judge_rows(
            rows.translations,
            rows.references,
            tgt_lang=rows.tgt_lang,
            within=self.within,
            parity=exact,
            ids=rows.ids,
        )
        splitter = f"-{version('sentence_splitter')}" if self.within == "last_sentence" else ""
        figures = Figures(
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}",
                "within": self.within + splitter,
                "rules": "original" if exact else "default",
            },
            judgements=judgements,
            counts={
                "n_blank": rows.n_blank,
                "n_elsewhere": sum(
                    not j.is_correct and holds(j.translation, j.gold, parity=exact)
                    for j in judgements
                ),
            },
        )
        return summarize(judgements).joined(figures)
