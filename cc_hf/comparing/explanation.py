"""Explain a decision of contrastive conditioning: compare the same translation, token by token,
under the best correct and the best incorrect source.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import check_contests
from cc_hf.evaluators.scores import SCORES, TokenScores
from cc_hf.evaluators.suitability import evaluator_notes
from cc_hf.metrics.contrastive_conditioning import ContrastiveConditioning
from cc_hf.schema import ContrastiveSourceExample, ScoringRequest
from cc_hf.text.pieces import token_spans, word_groups

__all__ = [
    "ExplainedToken",
    "ExplainedWord",
    "Explanation",
    "explain",
    "explain_example",
]

_END = "</s>"


@dataclass(frozen=True, slots=True)
class ExplainedToken:
    """A token of the translation, scored under both sources.

    Attributes:
        text: its part of the translation; "</s>" for the end of the sentence.
        start, end: its characters in the translation. Both are equal for a token that is part of a
            character, and for the end of the sentence.
        logprob_correct, logprob_incorrect: natural-log probability under the best correct and the
            best incorrect source.
        difference: `logprob_correct` - `logprob_incorrect`; above 0, the token supports the correct
            reading.
        contribution: its part of the log-odds of `probability_correct`, in nats. The contributions
            of all tokens sum to the log-odds.
        share: its absolute contribution divided by the sum of all absolute contributions, in [0,
            1]; 0 if all are 0.
    """

    text: str
    start: int
    end: int
    logprob_correct: float
    logprob_incorrect: float
    difference: float
    contribution: float
    share: float


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """Tokens that readers see as one word; its figures are sums over these tokens.

    Attributes:
        start, end: its characters in the translation.
        first_token, n_tokens: the tokens of the explanation that belong to it.
        share: its absolute contribution divided by the sum over all words, in [0, 1].
        decides: whether it belongs to the smallest set of words that makes up at least half of what
            supports the verdict.
    """

    text: str
    start: int
    end: int
    first_token: int
    n_tokens: int
    logprob_correct: float
    logprob_incorrect: float
    difference: float
    contribution: float
    share: float
    decides: bool


@dataclass(frozen=True)
class Explanation:
    """One judgement, broken down by token and word.

    Attributes:
        correct_source, incorrect_source: on each side, the source under which the translation
            scores best.
        score: a name in `SCORES`.
        probability_correct: score_correct / (score_correct + score_incorrect), in [0, 1], as
            `contrastive_conditioning` computes it; 0.5 counts as correct there.
        log_odds: log(score_correct / score_incorrect), the sum of all contributions; 0 if both
            scores are 0.
        tokens, words: in the order of the translation; the end of the sentence comes last if the
            evaluator scores it.
        src_lang, tgt_lang: ISO 639-1 codes; those of the evaluator if none were given.
        evaluator: name and identity of the evaluator.
        notes: warnings about the evaluator.
    """

    translation: str
    correct_source: str
    incorrect_source: str
    score: str
    score_correct: float
    score_incorrect: float
    probability_correct: float
    log_odds: float
    tokens: tuple[ExplainedToken, ...]
    words: tuple[ExplainedWord, ...]
    src_lang: str
    tgt_lang: str
    evaluator: str
    notes: tuple[str, ...] = ()

    @property
    def is_correct(self) -> bool:
        """Whether the correct reading wins; ties count as correct."""
        return self.probability_correct >= 0.5

    def to_json(self) -> str:
        """Return the explanation as strict JSON, with non-ASCII characters unescaped."""
        return (
            json.dumps(
                {**asdict(self), "is_correct": self.is_correct},
                ensure_ascii=False,
                allow_nan=False,
                indent=1,
            )
            + "\n"
        )


def explain(
    evaluator: Evaluator,
    translation: str,
    correct_sources: Sequence[str],
    incorrect_sources: Sequence[str],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    score: str = "geometric",
) -> Explanation:
    """Explain which tokens of a translation decide between the correct and the incorrect sources.

    Let n be the number of tokens and d(t) the difference of the log-probabilities of token t. The
    contribution of t is d(t) / n for the geometric score, and log 2 times that for the reference
    score. For the arithmetic score it is the difference of the probabilities of t, divided by n and
    by the logarithmic mean of both scores, so that contributions sum to the log-odds here, too.

    Args:
        evaluator: a model. A plain scoring function is refused because it has no tokens.
    """
    if not isinstance(evaluator, Evaluator):
        raise InputError(
            "evaluator: expected an Evaluator (cc_hf.load_evaluator), whose tokens can be named,"
            f" got {type(evaluator).__name__}"
        )
    check_choice("score", score, SCORES)
    ContrastiveConditioning.check_input(
        [translation],
        [
            {
                "correct_sources": correct_sources,
                "incorrect_sources": incorrect_sources,
                "category": "all",
            }
        ],
    )
    sources = [*correct_sources, *incorrect_sources]
    languages = evaluator.languages(src_lang, tgt_lang)
    pieces, logprobs = _token_logprobs(
        evaluator, translation, sources, src_lang=src_lang, tgt_lang=tgt_lang
    )
    scores = SCORES[score](TokenScores.of(list(logprobs)))
    n_correct = len(correct_sources)
    # As the metric does: of several sources of a side, the most probable one counts.
    best = int(scores[:n_correct].argmax()), n_correct + int(scores[n_correct:].argmax())
    left, right = float(scores[best[0]]), float(scores[best[1]])
    requests = [ScoringRequest(source, translation, 0) for source in sources]
    contest = range(n_correct), range(n_correct, len(sources))
    check_contests(
        evaluator, requests, [contest], scores, src_lang=src_lang, tgt_lang=tgt_lang, score=score
    )
    contributions = _contributions(logprobs[best[0]], logprobs[best[1]], score)
    probability = left / (left + right) if left + right > 0 else 0.5
    tokens = _tokens(translation, pieces, logprobs[list(best)], contributions)
    return Explanation(
        translation=translation,
        correct_source=sources[best[0]],
        incorrect_source=sources[best[1]],
        score=score,
        score_correct=left,
        score_incorrect=right,
        probability_correct=probability,
        log_odds=math.fsum(contributions),
        tokens=tokens,
        words=_words(translation, tokens, sign=1 if probability >= 0.5 else -1),
        src_lang=languages[0],
        tgt_lang=languages[1],
        evaluator=f"{evaluator.name}@{evaluator.identity}",
        notes=evaluator_notes(
            evaluator,
            [{"correct_sources": correct_sources, "incorrect_sources": incorrect_sources}],
        ),
    )


def explain_example(
    evaluator: Evaluator,
    example: ContrastiveSourceExample,
    translation: str,
    *,
    tgt_lang: str = "",
    score: str = "geometric",
) -> Explanation:
    """Explain a translation of an example, using the sources of the example.

    Args:
        tgt_lang: ISO 639-1 code; "" for the target language of the example.

    Raises:
        InputError: for an example of another class or of an open choice, or input that `explain`
            refuses.
        TooLongError: for a text that the model cannot read.
        EvaluatorError: for log-probabilities that are not numbers, or scores of 0.
    """
    if not isinstance(example, ContrastiveSourceExample):
        raise InputError(
            f"example {example.id!r}: expected one with contrastive sources, got"
            f" {type(example).__name__}; choose a configuration that has them"
        )
    if example.extra.get("open_share"):
        raise InputError(
            f"example {example.id!r}: expected a source with a right reading, got an open choice;"
            " name the sources of both readings yourself, see `cc-hf explain --help`"
        )
    return explain(
        evaluator,
        translation,
        example.correct_sources,
        example.incorrect_sources,
        src_lang=example.src_lang,
        tgt_lang=tgt_lang or example.tgt_lang,
        score=score,
    )


def _token_logprobs(
    evaluator: Evaluator, translation: str, sources: Sequence[str], *, src_lang: str, tgt_lang: str
) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return the text of each token, and the (sources, tokens) log-probabilities."""
    rows = evaluator.named_logprobs(
        sources, [translation] * len(sources), src_lang=src_lang, tgt_lang=tgt_lang
    )
    # Tokens are compared place by place, so that all sources need the same translation.
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or lengths == {0}:
        raise InputError(
            f"{evaluator.name} cuts the translation to different lengths under different sources,"
            f" {sorted(lengths)} tokens; shorten the sources"
        )
    logprobs = np.array([[logprob for _, logprob in row] for row in rows])
    return [text for text, _ in rows[0]], logprobs


def _contributions(
    correct: npt.NDArray[np.float64], incorrect: npt.NDArray[np.float64], score: str
) -> npt.NDArray[np.float64]:
    """Return the (n,) parts of log(score correct / score incorrect), one per token."""
    if score != "arithmetic":
        return (correct - incorrect) * (math.log(2) if score == "reference" else 1.0) / len(correct)
    parts = np.exp(correct) - np.exp(incorrect)
    left, right = float(np.exp(correct).mean()), float(np.exp(incorrect).mean())
    if left <= 0 or right <= 0:
        return np.zeros(len(parts))
    # With log1p the mean stays exact when both scores are nearly equal.
    relative = (left - right) / right
    mean = right if relative == 0 else (left - right) / math.log1p(relative)  # the logarithmic mean
    return parts / (len(parts) * mean)


def _tokens(
    translation: str,
    pieces: Sequence[str],
    logprobs: npt.NDArray[np.float64],
    contributions: npt.NDArray[np.float64],
) -> tuple[ExplainedToken, ...]:
    total = math.fsum(abs(contributions))
    return tuple(
        ExplainedToken(
            text=translation[start:end] or (_END if token == len(pieces) - 1 else ""),
            start=start,
            end=end,
            logprob_correct=float(logprobs[0, token]),
            logprob_incorrect=float(logprobs[1, token]),
            difference=float(logprobs[0, token] - logprobs[1, token]),
            contribution=float(contributions[token]),
            share=abs(float(contributions[token])) / total if total else 0.0,
        )
        for token, (start, end) in enumerate(token_spans(pieces, translation))
    )


def _words(
    translation: str, tokens: Sequence[ExplainedToken], *, sign: int
) -> tuple[ExplainedWord, ...]:
    groups = word_groups(translation, [(token.start, token.end) for token in tokens])
    totals = [math.fsum(tokens[i].contribution for i in group) for group in groups]
    deciding = _deciding(totals, sign)
    all_parts = math.fsum(map(abs, totals))
    return tuple(
        _word(translation, tokens, group, total, all_parts, decides=number in deciding)
        for number, (group, total) in enumerate(zip(groups, totals, strict=True))
    )


def _word(
    translation: str,
    tokens: Sequence[ExplainedToken],
    group: Sequence[int],
    total: float,
    all_parts: float,
    *,
    decides: bool,
) -> ExplainedWord:
    members = [tokens[i] for i in group]
    visible = [token for token in members if token.text]
    start, end = visible[0].start, visible[-1].end
    return ExplainedWord(
        text=translation[start:end] or visible[0].text,
        start=start,
        end=end,
        first_token=group[0],
        n_tokens=len(group),
        logprob_correct=math.fsum(token.logprob_correct for token in members),
        logprob_incorrect=math.fsum(token.logprob_incorrect for token in members),
        difference=math.fsum(token.difference for token in members),
        contribution=total,
        share=abs(total) / all_parts if all_parts else 0.0,
        decides=decides,
    )


def _deciding(totals: Sequence[float], sign: int) -> set[int]:
    """Return the smallest set of words that makes up at least half of what supports the verdict."""
    order = sorted(
        (i for i, total in enumerate(totals) if sign * total > 0), key=lambda i: -sign * totals[i]
    )
    # The fewest words that carry half of the evidence; words against it count for nothing.
    half = math.fsum(sign * totals[i] for i in order) / 2
    chosen: set[int] = set()
    reached = 0.0
    for i in order:
        if reached >= half:
            break
        chosen.add(i)
        reached += sign * totals[i]
    return chosen
