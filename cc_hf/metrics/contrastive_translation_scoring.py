"""Contrastive translation scoring: is the correct translation more probable than all others?

See Sennrich 2017 and Rios et al. 2017.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.evaluators.contests import Contest
from cc_hf.metrics.base import Rows, Scoring, ScoringMetric
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_twins,
    optional_text,
    optional_texts,
    own_data,
    text,
)
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, block_figures, pair_figures, summarize, twin_figures
from cc_hf.metrics.open_choice import MEAN_PROBABILITY, open_figures, open_share
from cc_hf.metrics.verdict_checks import check_probability, check_verdict
from cc_hf.reading import read_lines
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement, ScoringRequest
from cc_hf.statistics.accuracy import share
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.systems.system import with_context

__all__ = ["CONTEXTS", "ContrastiveTranslationScoring", "contests", "judge_rows", "requests"]

#: A mapping from the metric's names of scores to those of `cc_hf.evaluators.base`. Perplexity is
#: stored as its inverse, so that higher is better.
_SCORES = {"perplexity": "geometric", "logprob": "logprob"}
#: What the metric does with the sentences before a source.
CONTEXTS = ("ignored", "prepended", "both")
_OPTIONAL = ("source", "category", "pair", "context", "target_context", "block", "open_share")
_LATER_KEYS = ("target_context", "block", "open_share")
_TIES = ("incorrect", "correct")
#: Keys of a reference, each with the check of its value.
_FIELDS: Fields = {
    "correct_translation": text,
    "contrastive_translations": optional_texts,
    **dict.fromkeys(_OPTIONAL, optional_text),
}


def requests(
    references: Sequence[Mapping[str, Any]], *, context: str = "ignored", separator: str = ""
) -> list[ScoringRequest]:
    """Return one request per translation.

    Args:
        separator: what stands between a context and what follows, such as "<sep>"; "" for a blank
            only.

    Examples:
        >>> row = {"correct_translation": "Sie.", "contrastive_translations": ["Er."]}
        >>> row |= {"source": "It.", "context": "A vase."}
        >>> [(r.source, r.translation) for r in requests([row], context="prepended")]
        [('A vase. It.', 'Sie.'), ('A vase. It.', 'Er.')]
    """
    scoring_requests = []
    for row, reference in enumerate(references):
        before, target_before = (
            (reference.get(key) or "") if context in kinds else ""
            for key, kinds in (("context", CONTEXTS[1:]), ("target_context", CONTEXTS[2:]))
        )
        source = with_context(reference.get("source") or "", before, separator).strip()
        scoring_requests += [
            ScoringRequest(source, with_context(text, target_before, separator), row)
            for text in (reference["correct_translation"], *reference["contrastive_translations"])
        ]
    return scoring_requests


def contests(references: Sequence[Mapping[str, Any]]) -> list[Contest]:
    """Return the positions of both sides in `requests`, for rows with contrastive translations."""
    return [
        (range(start, start + 1), range(start + 1, end))
        for start, end in _spans(references)
        if end - start > 1
    ]


def _spans(references: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    ends = np.cumsum(
        [1 + len(reference["contrastive_translations"]) for reference in references]
    ).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def judge_rows(
    references: Sequence[Mapping[str, Any]],
    scores: npt.NDArray[np.float64],
    *,
    ids: Sequence[str] | None = None,
    is_log: bool = False,
    ties: str = "incorrect",
) -> tuple[Judgement, ...]:
    """Return the verdict on every row.

    A row is correct if the correct translation beats every contrastive one. A tie is incorrect,
    even one of two scores of 0, unless `ties` is "correct". A row without contrastive translations
    is correct, as in MuCoW's scoring suite, and has no `probability_correct`.

    Args:
        scores: shape (number of requests,), in the order of `requests`; higher is better.
        is_log: whether scores are logarithms of probabilities.

    Examples:
        >>> rows = [{"correct_translation": "a", "contrastive_translations": ["b", "c"]}]
        >>> [
        ...     judge_rows(rows, np.array(scores))[0].verdict
        ...     for scores in ([0.5, 0.25, 0.4], [0.5, 0.5, 0.4], [0.0, 0.0, 0.0])
        ... ]
        ['correct', 'incorrect', 'incorrect']
    """
    names, judgements = check_ids(ids, len(references)), []
    for name, reference, (start, end) in zip(names, references, _spans(references), strict=True):
        row_scores: list[float] = scores[start:end].tolist()
        best = max(row_scores[1:], default=None)
        is_correct = (
            best is None or row_scores[0] > best or (row_scores[0] == best and ties == "correct")
        )
        judgements.append(
            Judgement(
                name,
                reference.get("category") or "all",
                is_correct,
                reference["correct_translation"],
                "correct" if is_correct else "incorrect",
                probability_correct=(
                    None if best is None else _probability(row_scores[0], best, is_log=is_log)
                ),
                score_correct=row_scores[0],
                score_incorrect=best,
                scores=tuple(row_scores),
            )
        )
    return tuple(judgements)


def _probability(correct: float, incorrect: float, *, is_log: bool) -> float:
    """Return the share of the correct score; the larger logarithm is first shifted to 0."""
    if is_log:
        correct, incorrect = (
            math.exp(value - max(correct, incorrect)) for value in (correct, incorrect)
        )
    return share(correct, incorrect)


def _check_context(references: Sequence[Mapping[str, Any]], context: str) -> None:
    check_choice("context", context, CONTEXTS)
    if context == "ignored":
        return
    if not any(reference.get("context") for reference in references):
        raise InputError(
            "context: expected sources with sentences before them (contextual_* of mt_geneval), got"
            " none to prepend; leave the option out"
        )
    for row, reference in enumerate(references if context == "both" else ()):
        texts = (reference.get("context"), reference.get("target_context"))
        if bool(texts[0]) != bool(texts[1]):
            raise InputError(
                f"row {row}: target_context: expected a translation of the sentences before the"
                f" source if there are any, got {texts[1] or 'none'!r} for"
                f" {texts[0] or 'no sentence'!r}; give a file with one line for each row, blank"
                " where nothing stands before the source"
            )


def _target_contexts(option: str | Path | Sequence[str], n: int) -> list[str]:
    """Return the translated contexts of a file, or of a sequence."""
    if isinstance(option, (str, Path)):
        lines, origin = read_lines(Path(option), keeps_end=True), f" in {option}"
    else:
        lines, origin = list(option), ""
    if len(lines) != n:
        raise InputError(
            f"target_context: expected one line for each row, {n} in all, got {len(lines)}{origin}"
        )
    return [line.strip() for line in lines]


def _figures(judgements: Sequence[Judgement]) -> Figures:
    """Return the figures without those of pairs and blocks."""
    summary = summarize(judgements)
    ties = [j.score_correct == j.score_incorrect for j in judgements]
    return Figures(
        scores=summary.scores,
        signature={},
        intervals=summary.intervals,
        categories=tuple(_with_ties(c, judgements, ties) for c in summary.categories),
        counts={
            "n_correct": summary.counts["n_correct"],
            "n_ties": sum(ties),
            "n_without_contrast": sum(j.score_incorrect is None for j in judgements),
        },
    )


def _with_ties(
    category: CategoryAccuracy, judgements: Sequence[Judgement], ties: Sequence[bool]
) -> CategoryAccuracy:
    """Add the number of ties to the figures of a category."""
    return replace(
        category,
        n_ties=sum(
            tie for j, tie in zip(judgements, ties, strict=True) if j.category == category.category
        ),
    )


@dataclass(frozen=True)
class ContrastiveTranslationScoring(ScoringMetric):
    """Accuracy of the evaluator itself, the system under test, by its preferred translations.

    Contrastive translation scoring judges a model, not its output: the model is right about a
    sentence if it finds the correct translation more probable than every contrastive one, which
    differs in one error. The score is the perplexity of a translation model, the pseudo-perplexity
    of a masked language model, or the probability that a causal language model gives.

    Attributes:
        score: "perplexity" or "logprob"; ignored for a function. "perplexity" is exp(-mean log p)
            of the tokens, stored as its inverse, in [0, 1], so that higher is better (Emelin 2023,
            eq. 4.1); for a masked language model it is the pseudo-perplexity (Salazar et al. 2020).
            "logprob" is that of the whole translation, the sum of log p, 0 or less, not normalised
            by length (Sennrich 2017). Logarithms are natural, and EOS is included if the model has
            one.
        context: "ignored"; "prepended" to the source; or "both", for systems that are trained on
            pairs of two sentences (Currey et al. 2022, section 5.3): its translation is prepended
            to every translation, too. The score is then that of the whole text. The prefix is the
            same in all translations of a row, but "perplexity" divides by its tokens, too.
        separator: what stands between a context and what follows, as the system was trained with
            it, such as "<sep>"; "" for a blank only.
        target_context: with "both", the translated contexts: a file with one line for each row
            (blank where the row has no context), or the lines; None for those of the rows.
        ties: what a tie is, "incorrect", or "correct" as in DistilLingEval's program.
    """

    name = "contrastive_translation_scoring"
    title = "contrastive translation scoring"
    about = (
        "The evaluated model itself prefers the correct translation to others with another reading."
    )
    help = """
    Args:
        references (list of dict): one per row, with `correct_translation` (str) and
            `contrastive_translations` (list of str, which may be empty). Optional keys are `source`
            (without one, language models score the text alone), `category`, `pair` (a name that the
            twins of a schema share), `context` (the sentences before the source), `target_context`
            (their translation), `block` (a name of rows that are right only together) and
            `open_share` (the name of the share that prefers the translation that stands as correct,
            where nothing says which is right). There are no predictions, because the evaluator
            itself is the system under test.
        evaluator (str, list of str, cc_hf.Evaluator or function, optional): name or path of the
            model under test, several for an ensemble, or a function (sources, translations) ->
            scores, where higher is better. By default the evaluator that ships with cc_hf for the
            language pair.

    Returns:
        n, n_correct (int): numbers of rows; n_ties (int): those whose correct translation has the
            same score as the best contrastive one; n_without_contrast (int): those without
            contrastive translations, which are correct; n_pairs, n_pairs_correct, n_without_twin
            (int): with pairs; n_blocks (int): with blocks.
        verdicts (list of str): correct or incorrect, one per row.
        scores (list of list of float): the scores of each row, that of the correct translation
            first.
        readings (list of str), probability_counted (list of float): with `open_share` in place of
            accuracies and these lists, the reading of each row and the probability of the one that
            the share counts (`cc_hf.metrics.open_choice`); the share is under its own name, over
            all rows and over each category.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/contrastive_translation_scoring")
        >>> reference = {
        ...     "source": "The doctor said that she was ill.",
        ...     "correct_translation": "Die Ärztin sagte, sie sei krank.",
        ...     "contrastive_translations": ["Der Arzt sagte, sie sei krank."],
        ... }
        >>> result = metric.compute(
        ...     references=[reference], evaluator="cc-tiny-en-de", src_lang="en", tgt_lang="de"
        ... )
        >>> result["n"], len(result["scores"][0])
        (1, 2)
    """
    papers = ("sennrich-2017", "rios-2017")
    signature_name = "cts"
    version = 4
    reference_fields = _FIELDS
    takes_translations = False
    interval_method = "by Wilson's score, within categories; of pairs, over whole pairs"
    leaderboard = ("accuracy", "min_accuracy", "pair_accuracy")
    figure_names = {  # noqa: RUF012
        **shares(
            "accuracy",
            "accuracy",
            "high",
            "The share of rows whose correct translation has a better score than all others",
        ),
        "min_accuracy": COMMON["min_accuracy"],
        "pair_accuracy": COMMON["pair_accuracy"],
        "block_accuracy": FigureDeclaration(
            "block accuracy", "high", "The share of blocks of which all rows are correct."
        ),
        **shares(
            "feminine_preference",
            "feminine preference",
            "none",
            "The share of rows whose feminine translation has a better score than the masculine"
            " one, where nothing says which is right",
        ),
        **shares(
            "masculine_preference",
            "masculine preference",
            "none",
            "The share of rows whose masculine translation has a better score than the feminine"
            " one, where nothing says which is right",
        ),
        "mean_probability": MEAN_PROBABILITY,
    }

    score: str = "perplexity"
    context: str = "ignored"
    separator: str = ""
    target_context: str | Path | Sequence[str] | None = None
    ties: str = "incorrect"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, _TIES)

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" for every configuration with contrastive translations, else the reason."""
        return (
            ""
            if form is ContrastiveTranslationExample
            else (
                f"{dataset} {config} has no contrastive translations;"
                " contrastive_translation_scoring needs them"
            )
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return source, translations, category, pair and context of the examples."""
        return [
            {
                "source": e.source,
                "correct_translation": e.correct_translation,
                "contrastive_translations": e.contrastive_translations,
                "category": e.category,
                "pair": e.extra.get("pair", ""),
                # Without "source_with_context", the column "context" means something else.
                "context": e.extra["context"] if "source_with_context" in e.extra else "",
                "target_context": e.extra.get("target_context", ""),
                "block": e.extra.get("block", ""),
                "open_share": e.extra.get("open_share", ""),
            }
            for e in examples
            if isinstance(e, ContrastiveTranslationExample)
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse a correct translation that is also contrastive, pairs of more than two rows, and
        open rows beside others.
        """
        open_share(references)
        for row, reference in enumerate(references):
            correct = reference["correct_translation"]
            if correct in reference["contrastive_translations"]:
                raise InputError(
                    f"row {row}: the correct translation is also a contrastive one, which would be"
                    f" a tie: {correct!r}. Expected translations that differ"
                )
        if whole:
            check_twins([reference["pair"] for reference in references])

    def requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return one request per translation, the correct one of a row first."""
        check_choice("score", self.score, _SCORES)
        references = self._with_target_contexts(rows.references)
        _check_context(references, self.context)
        return requests(references, context=self.context, separator=self.separator.strip())

    def _with_target_contexts(
        self, references: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """Return the rows with the translated contexts of the option."""
        if self.separator and self.context == "ignored":
            raise InputError(
                "separator: expected context prepended or both with it, since it stands after a"
                f" context, got {self.separator!r} alone"
            )
        if self.target_context is None:
            return references
        if self.context != "both":
            raise InputError(f"target_context: expected context both with it, got {self.context}")
        contexts = _target_contexts(self.target_context, len(references))
        return [
            {**reference, "target_context": text}
            for reference, text in zip(references, contexts, strict=True)
        ]

    def _context_fields(self, rows: Rows) -> dict[str, str]:
        """Return the signature fields of contexts; {} if no row has one."""
        if not any(rows.column("context")):
            return {}
        fields = {"context": f"{self.context} {self.separator.strip()}".strip()}
        if self.target_context is not None:
            contexts = _target_contexts(self.target_context, len(rows.references))
            fields["tgtcontext"] = own_data([{"target_context": text} for text in contexts])
        return fields

    def contests(self, rows: Rows) -> list[Contest]:
        """Return the indices of both sides, for every row with contrastive translations."""
        return contests(rows.references)

    @property
    def evaluator_score(self) -> str:
        """The evaluators' name of the score."""
        return _SCORES[self.score]

    def data_fields(
        self, references: Sequence[Mapping[str, Any]], origin: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the signature fields of the data, and of whose translations are judged."""
        # A key that no row fills is left out, so that digests of earlier versions stay the same.
        filled = [
            {key: value for key, value in reference.items() if key not in _LATER_KEYS or value}
            for reference in references
        ]
        return {"data": own_data(filled), **origin, "sys": "scored"}

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every row by its scores and compute the figures."""
        scoring = self.scored(scoring)
        model = self.model_fields(rows, scoring, self.score)
        judgements = judge_rows(
            rows.references,
            scoring.scores,
            ids=rows.ids,
            is_log=model["score"] == "logprob",
            ties=self.ties,
        )
        pairs = pair_figures(judgements, rows.column("pair"))
        blocks = block_figures(judgements, rows.column("block"))
        figures = replace(
            _figures(judgements).joined(pairs).joined(blocks),
            signature={
                **model,
                **self._context_fields(rows),
                "tie": self.ties,
            },
            judgements=judgements,
        )
        return open_figures(figures, open_share(rows.references))

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return accuracies, the numbers of ties and of rows without contrast, and whole pairs."""
        pairs = twin_figures(judgements, [j.pair for j in judgements])
        # Judgements do not name blocks, nor the pair of a row without its twin.
        return _figures(judgements).joined(pairs)

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse scores, probabilities and verdicts that do not follow from those of the
        translations.
        """
        is_log = signed.get("score") == "logprob"
        for j in judgements:
            best = max(j.scores[1:], default=None)
            sides = (j.scores[0] if j.scores else None, best)
            if (j.score_correct, j.score_incorrect) != sides:
                raise InputError(
                    f"example {j.example_id!r}: score_correct, score_incorrect: its scores give"
                    f" {sides}, the file says {(j.score_correct, j.score_incorrect)}; evaluate the"
                    " translations again"
                )
            correct, incorrect = sides
            if correct is None or incorrect is None:
                check_probability(j, None)
                check_verdict(j, 1.0, ties="")
                continue
            check_probability(j, _probability(correct, incorrect, is_log=is_log))
            # Scores decide, since those that differ little can have a probability of one half.
            sign = (correct > incorrect) - (correct < incorrect)
            check_verdict(j, (1 + sign) / 2, ties=signed.get("tie", ""))

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return the verdict and the scores of every row, the correct translation's first."""
        return {
            "verdicts": [j.verdict for j in result.judgements],
            "scores": [list(j.scores) for j in result.judgements],
        }
