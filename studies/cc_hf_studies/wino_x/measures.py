"""What is measured before and after each training beside the accuracy (thesis, section 4.3.4): BLEU
and pronouns of a test set, and the importance of triggers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.reading import text_lines
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.systems.system import DEFAULT_BEAMS
from cc_hf.systems.translate import translate_with
from cc_hf_studies.wino_x.pronoun_counts import pronoun_counts
from cc_hf_studies.wino_x.pronoun_forms import PRONOUN_FORMS
from cc_hf_studies.wino_x.salience import trigger_importance
from cc_hf_studies.wino_x.trigger_importance import prediction_differences

__all__ = ["Measures", "TestSet", "measurement", "quality", "read_test_set"]


@dataclass(frozen=True)
class TestSet:
    """English sentences and their translations by humans; `identity` is a hash of all texts."""

    __test__ = False  # pytest would take the class for one of tests

    sources: tuple[str, ...]
    references: tuple[str, ...]
    identity: str


@dataclass(frozen=True)
class Measures:
    """What is measured before and after each training.

    Attributes:
        transfer: further configurations in which the test part is evaluated.
        test_set: two files with one sentence per line, sources and references, whose translations
            give BLEU and numbers of pronouns; None for neither.
        num_beams: number of beams of these translations.
        trigger_importance: whether the importance of triggers is measured on the test part, which
            takes a forward pass per source token.
    """

    transfer: Sequence[str] = ()
    test_set: tuple[str | Path, str | Path] | None = None
    num_beams: int = DEFAULT_BEAMS
    trigger_importance: bool = False


def read_test_set(source: str | Path, reference: str | Path) -> TestSet:
    """Return the sentences of two line-aligned files."""
    paths = Path(source), Path(reference)
    sides = [tuple(text_lines(path)) for path in paths]
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"test_set: expected as many lines in both files, got {len(sides[0])} in {source} and"
            f" {len(sides[1])} in {reference}; line N of the second must translate line N of the"
            " first"
        )
    for path, lines in zip(paths, sides, strict=True):
        for number, line in enumerate(lines, 1):
            if not line.strip():
                raise InputError(
                    f"test_set: {path}: line {number}: expected a sentence, got a blank line;"
                    " remove the line from both files"
                )
    text = "\n".join((*sides[0], "", *sides[1]))
    return TestSet(sides[0], sides[1], hashlib.sha256(text.encode()).hexdigest())


def quality(
    evaluator: Evaluator, test: TestSet, *, tgt_lang: str, num_beams: int
) -> dict[str, Any]:
    """Return BLEU of a model, in [0, 1], and pronouns of its translations and of the references."""
    translations = translate_with(
        evaluator, test.sources, src_lang="en", tgt_lang=tgt_lang, num_beams=num_beams
    )
    bleu, signature = corpus_score(
        "bleu", translations, test.references, tokenize=None, tgt_lang=tgt_lang
    )
    pronouns = (
        {
            "pronouns": pronoun_counts(translations, tgt_lang),
            "reference_pronouns": pronoun_counts(test.references, tgt_lang),
        }
        if tgt_lang in PRONOUN_FORMS
        else {}
    )
    return {
        "n": len(test.sources),
        "bleu": bleu,
        "signature": signature,
        "num_beams": num_beams,
        "test_set": test.identity,
        **pronouns,
    }


def measurement(
    evaluator: Evaluator, measures: Measures, examples: Sequence[ContrastiveTranslationExample]
) -> Callable[[Evaluator], Mapping[str, Any]] | None:
    """Return the function that measures a model, or None if nothing is measured."""
    if measures.test_set is None and not measures.trigger_importance:
        return None
    if not isinstance(evaluator, Seq2SeqEvaluator):
        raise InputError(
            "test_set and trigger_importance: expected a translation model, which masked language"
            f" models are not; {evaluator.name} is a {type(evaluator).__name__}"
        )
    if measures.num_beams < 1:
        raise InputError(f"num_beams: expected at least 1, got {measures.num_beams}")
    # Files are read and the kind of model is checked now, not after a training.
    test = read_test_set(*measures.test_set) if measures.test_set else None

    def measure(model: Evaluator) -> Mapping[str, Any]:
        figures: dict[str, Any] = {}
        if test is not None:
            tgt_lang = examples[0].tgt_lang
            figures["quality"] = quality(
                model, test, tgt_lang=tgt_lang, num_beams=measures.num_beams
            )
        if measures.trigger_importance:
            saliences, skipped = prediction_differences(model, examples)
            importance = trigger_importance(saliences, skipped=skipped)
            figures["trigger_importance"] = asdict(importance)
        return figures

    return measure
