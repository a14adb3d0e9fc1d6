"""Error spans: the word of a translation that carries the wrong sense or gender, in the forms of
mt-metrics-eval.

A metric that marks parts of translations says where the error is. Elsewhere it is the word that is
aligned with the word to disambiguate. The position in the text is by characters, and the end is
behind the last.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import CCError
from cc_hf.files import is_file
from cc_hf.normalization import is_blank
from cc_hf.reading import read_text
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement
from cc_hf.text.alignment import Alignment, find_aligner, space_tokens
from cc_hf.writing import write_atomically

__all__ = ["ErrorSpan", "error_lines", "error_spans", "kept_spans", "rating_lines", "score_lines"]

_ALIGNER = "fast_align"
_TOKEN = re.compile(r"[^ \t]+")  # as `space_tokens` splits
_CATEGORIES = {"gender": "Accuracy/Gender mismatch"}
_CATEGORY = "Accuracy/Mistranslation"
_SEVERITY = "major"


@dataclass(frozen=True)
class ErrorSpan:
    """A part of a text that is wrong, with the fields of mt-metrics-eval.

    Attributes:
        start, end: characters [start, end) of the translation, or of the source.
        category, severity: None for those of other metrics that have none.
        score: the probability that it is wrong; None for metrics without probabilities.
        is_source_error: whether it is a part of the source, such as one that was left out.
    """

    start: int
    end: int
    category: str | None
    severity: str | None = _SEVERITY
    score: float | None = None
    is_source_error: bool = False


def error_spans(
    result: EvaluationResult, examples: Sequence[Example]
) -> list[tuple[ErrorSpan, ...] | None]:
    """Return the errors of each judgement.

    Returns:
        () for a right translation; None where nothing is known: without a verdict, and for a wrong
            translation whose error has no place.
    """
    by_id = {example.id: example for example in examples}
    of_rows = [by_id.get(judgement.example_id) for judgement in result.judgements]
    phenomenon = result.declared.phenomenon if result.declared is not None else ""
    category = _CATEGORIES.get(phenomenon, _CATEGORY)
    if any(judgement.spans for judgement in result.judgements):
        links: Sequence[Alignment] = [()] * len(of_rows)
    else:
        links = _links(result.judgements, of_rows)
    spans: list[tuple[ErrorSpan, ...] | None] = []
    for judgement, example, of_row in zip(result.judgements, of_rows, links, strict=True):
        if judgement.verdict != "incorrect":
            spans.append(() if judgement.verdict == "correct" else None)
            continue
        given = [*_given(judgement, category), *_aligned(judgement, example, of_row, category)]
        spans.append(tuple(given) or None)
    return spans


def kept_spans(
    path: Path, inputs: str, result: EvaluationResult, examples: Sequence[Example]
) -> list[tuple[ErrorSpan, ...] | None]:
    """Return what `error_spans` does, from a file if it has them: an alignment takes as long as
    some metrics.

    Args:
        path: the file, which is written if it has others.
        inputs: what the result depends on.
    """
    if is_file(path):
        # A file that was altered is as good as none.
        with contextlib.suppress(CCError, KeyError, TypeError, ValueError):
            stored = json.loads(read_text(path))
            rows = stored["spans"]
            if stored["inputs"] == inputs and len(rows) == len(result.judgements):
                return [None if row is None else tuple(ErrorSpan(**e) for e in row) for row in rows]
    spans = error_spans(result, examples)
    rows = [None if errors is None else [*map(asdict, errors)] for errors in spans]
    write_atomically(path, json.dumps({"inputs": inputs, "spans": rows}))
    return spans


def _links(judgements: Sequence[Judgement], examples: Sequence[Example | None]) -> list[Alignment]:
    """Return the alignments, which are learned from all translations of the system."""
    links: list[Alignment] = [()] * len(judgements)
    rows = [
        row
        for row, (judgement, example) in enumerate(zip(judgements, examples, strict=True))
        if getattr(example, "focus", None) is not None and not is_blank(judgement.translation)
    ]
    if rows and any(judgements[row].verdict == "incorrect" for row in rows):
        sources = [example.source for row in rows if (example := examples[row]) is not None]
        texts = [judgements[row].translation for row in rows]
        aligned = find_aligner(_ALIGNER).align(sources, texts)
        for row, alignment in zip(rows, aligned, strict=True):
            links[row] = alignment
    return links


def _given(judgement: Judgement, category: str) -> Iterator[ErrorSpan]:
    for span in judgement.spans:
        named = f"Accuracy/{span.phenomenon}" if span.phenomenon else category
        is_source = span.side == "source"
        yield ErrorSpan(span.start, span.end, named, is_source_error=is_source)


def _aligned(
    judgement: Judgement, example: Example | None, links: Alignment, category: str
) -> Iterator[ErrorSpan]:
    """Yield the words that are aligned with the focus; neighbours are one span."""
    focus = getattr(example, "focus", None)
    if example is None or focus is None:
        return
    first = len(space_tokens(example.source[: focus.start]))
    # A focus within a token, such as one behind a bracket, begins in the token before.
    first -= focus.start > 0 and example.source[focus.start - 1] not in " \t"
    words = range(first, first + len(space_tokens(focus.text)))
    places = [_inside(match) for match in _TOKEN.finditer(judgement.translation)]
    linked = sorted({target for source, target in links if source in words})
    probability = judgement.probability_correct
    score = None if probability is None else 1 - probability
    for number, target in enumerate(linked):
        if number and linked[number - 1] == target - 1:
            continue
        last = target
        while last + 1 in linked:
            last += 1
        yield ErrorSpan(places[target][0], places[last][1], category, score=score)


def _inside(match: re.Match[str]) -> tuple[int, int]:
    """Return the characters of a token without the punctuation around it."""
    word = re.search(r"\w(.*\w)?", match[0])
    if word is None:
        return match.span()
    return match.start() + word.start(), match.start() + word.end()


def error_lines(
    result: EvaluationResult,
    examples: Sequence[Example],
    spans: Sequence[tuple[ErrorSpan, ...] | None],
    src_lang: str,
    rater: str = "",
) -> Iterator[str]:
    """Yield a JSON object for each wrong translation whose errors have a place, as the standalone
    ratings of mt-metrics-eval.

    Args:
        rater: the metric whose spans these are; "" for that of the result.
    """
    sources = {example.id: example.source for example in examples}
    for number, (judgement, errors) in enumerate(zip(result.judgements, spans, strict=True), 1):
        if errors:
            row: dict[str, Any] = {
                "source": sources.get(judgement.example_id, ""),
                "hypothesis": judgement.translation,
                "errors": [*map(asdict, errors)],
                "document_id": judgement.example_id,
                "segment_id": number,
                "system_id": result.system,
                "rater_id": rater or result.metric,
                "src_lang": src_lang,
                "tgt_lang": result.tgt_lang,
            }
            yield json.dumps(row, ensure_ascii=False)


def rating_lines(
    result: EvaluationResult, spans: Sequence[tuple[ErrorSpan, ...] | None], rater: str = ""
) -> Iterator[str]:
    """Yield system, errors and metric of each segment with tabs between, as in the file
    PAIR.METRIC.seg.rating of mt-metrics-eval; "None" in place of errors that are not known.

    Args:
        rater: as for `error_lines`.
    """
    for errors in spans:
        if errors is None:
            yield f"{_word(result.system)}\tNone"
        else:
            text = json.dumps({"errors": [*map(asdict, errors)]})
            yield f"{_word(result.system)}\t{text}\t{rater or result.metric}"


def score_lines(result: EvaluationResult, pair: str) -> Iterator[str]:
    """Yield metric, pair, test set, system, segment from 1, and score, with tabs between.

    The score is the probability of the correct reading, or 1 and 0 for right and wrong by a metric
    without probabilities; "None" where it has no verdict.
    """
    test_set = "/".join(filter(None, [result.dataset, result.config])) or "custom"
    beginning = f"{result.metric}\t{pair}\t{test_set}\t{_word(result.system)}"
    for number, judgement in enumerate(result.judgements, 1):
        score: float | int | None = judgement.probability_correct
        if score is None and judgement.is_decided:
            score = int(judgement.is_correct)
        yield f"{beginning}\t{number}\t{score}"


def _word(system: str) -> str:
    """Return the name of a system without spaces, at which readers of these files divide lines."""
    return "_".join(system.split())
