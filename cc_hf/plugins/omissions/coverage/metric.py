"""What a translation leaves out or adds: is it more probable without a part of the source, or the
source without a part of it (Vamvas & Sennrich 2022)?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Self

import numpy as np

from cc_hf import signature
from cc_hf.errors import InputError, check_choice, shown
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest, scorer_fields
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.metrics.base import Rows, Scoring, ScoringMetric
from cc_hf.metrics.checks import Fields, check_ids, flag, optional_text, text
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.normalization import is_blank
from cc_hf.plugins.omissions.coverage.loading import options_like
from cc_hf.plugins.omissions.coverage.parsers import PARSERS, load_parser, parts_of
from cc_hf.plugins.omissions.coverage.spans import Span, parsed_spans, table_of, without
from cc_hf.plugins.omissions.source_variants import (
    Variants,
    label_figure_names,
    label_figures,
    n_without_difference,
    share_figure,
    with_error_rate,
)
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement, ScoringRequest, TextSpan
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["SPANS", "Coverage", "judge_rows"]

#: Where the parts come from that may be missing: chunks of the text, the data, or a parser.
SPANS = ("chunks", "given", *PARSERS)
_SIDES = ("omission", "addition")
_TEXTS = dict(zip(_SIDES, ("source", "translation"), strict=True))
#: Row -> parts of its text, each with a difference in nats per token.
Differences = Mapping[int, Sequence[tuple[Span, float]]]
_SPAN_KEYS = ("source_spans", "translation_spans")

_FIELDS: Fields = {
    "source": text,
    **dict.fromkeys((*_SPAN_KEYS, *_SIDES, "category"), optional_text),
}


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    differences: Mapping[str, Differences],
    *,
    ids: Sequence[str] | None = None,
    min_difference: float = 0.0,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation: "incorrect" with an omission or addition.

    Examples:
        >>> row = dict.fromkeys(("category", "omission", "addition"), "") | {"source": "Go now."}
        >>> (judged,) = judge_rows(["Geh."], [row], {"omission": {0: [(Span(3, 6), 0.5)]}})
        >>> judged.verdict, judged.spans[0].text
        ('incorrect', 'now')
    """
    names = check_ids(ids, len(references))
    judgements = []
    for row, reference in enumerate(references):
        texts = {"omission": reference["source"], "addition": predictions[row]}
        spans = tuple(
            TextSpan(_TEXTS[side], *span, texts[side][span.start : span.end], difference)
            for side, of_rows in differences.items()
            for span, difference in of_rows.get(row, ())
            if difference > min_difference
        )
        predicted = [side for side in _SIDES if any(s.side == _TEXTS[side] for s in spans)]
        is_judged = any(row in of_rows for of_rows in differences.values())
        verdict = "inconclusive" if not is_judged else "incorrect" if spans else "correct"
        judgements.append(
            Judgement(
                names[row],
                reference["category"] or "all",
                verdict == "correct",
                predictions[row],
                verdict,
                predicted="+".join(predicted),
                gold="+".join(side for side in _SIDES if reference[side] == "true"),
                spans=spans,
            )
        )
    return tuple(judgements)


@dataclass(frozen=True)
class Coverage(ScoringMetric):
    """Omissions and additions, by the evaluator and by one of the other direction.

    Coverage finds what a translation leaves out and what it adds. A part of the source is left out
    if the translation is more probable without it under an evaluator model (omission,
    undertranslation). A part of the translation is added if the source is more probable without it
    under a model of the other direction (addition, overtranslation). A translation with neither is
    correct. One that is blank, equals its source, or has no part that could be missing is
    inconclusive. One where only one text has such parts is judged by that side, and a note says how
    many these are.

    Attributes:
        backward_evaluator: name, path, Evaluator or function that scores sources given
            translations; None judges omissions only.
        spans: "chunks" of up to three words (by
            `cc_hf.plugins.omissions.coverage.spans`); "given", those of the references; or "stanza"
            (as in the paper's program) and "spacy", the subtrees of each word by a parser (by
            `cc_hf.plugins.omissions.coverage.parsers`). With a parser, a text of several sentences
            has no parts.
        tidy: whether blanks are fixed where a part was cut out; the paper's program does not.
        min_difference: nats per token by which a text must be more probable without the part.
    """

    name = "coverage"
    title = "coverage"
    about = (
        "An evaluator model says whether the translation is more probable without a part of the"
        " source: that part is then left out. A model of the other direction says what is added."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is not judged.
        references (list of dict): one per translation, with `source` (str). Optional keys are
            `source_spans` and `translation_spans` (str), JSON lists of [start, end) in characters,
            of the parts that may be missing, for spans="given"; `omission` and `addition` (str),
            "true" or "false", what people found; and `category` (str).

    Returns:
        n, n_correct, n_inconclusive, n_omissions, n_additions, n_skipped (int): numbers of
            translations and parts; n_skipped_sources, n_skipped_translations (int): those whose
            text has no part that could be missing; n_ties (int): those where the best part makes no
            difference, which is no error.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): "omission", "addition", "omission+addition" or "".
        omissions, additions (list of list of str): the parts of the source and of the translation.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/coverage")
        >>> def evaluator(sources, translations):
        ...     return [float("today" not in source) for source in sources]
        >>> metric.compute(
        ...     predictions=["Sie kam."],
        ...     references=[{"source": "She came today."}],
        ...     evaluator=evaluator,
        ...     src_lang="en",
        ...     tgt_lang="de",
        ... )["omissions"]
        [['today']]
    """
    papers = ("vamvas-sennrich-2022",)
    signature_name = "cov"
    version = 1
    reference_fields = _FIELDS
    is_blank_allowed = True
    reads_cues = False
    only_named = True
    leaderboard = ("accuracy",)
    key_figures = ("accuracy", "omission_rate", "addition_rate")
    interval_method = "by Wilson's score, within categories; AUC by bootstrap over sources"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "accuracy": FigureDeclaration(
            "accuracy", "high", "The share of translations in which nothing is missing or added."
        ),
        "error_rate": FigureDeclaration(
            "error rate", "low", "The share of judged translations with an omission or addition."
        ),
        "omission_rate": FigureDeclaration(
            "omission rate", "low", "The share of judged translations that leave something out."
        ),
        "addition_rate": FigureDeclaration(
            "addition rate", "low", "The share of judged translations that add something."
        ),
        "omitted_characters": FigureDeclaration(
            "omitted characters",
            "low",
            "The share of the source's characters that is in omissions, on average.",
        ),
        **label_figure_names("omission_{}", "omission"),
        **label_figure_names("addition_{}", "addition"),
    }

    backward_evaluator: AnyEvaluator | None = None
    spans: str = "chunks"
    tidy: bool | str = False
    min_difference: float | str = 0.0

    def __post_init__(self) -> None:
        check_choice("spans", self.spans, SPANS)
        object.__setattr__(self, "tidy", flag("tidy", self.tidy))
        try:
            least = float(self.min_difference)
        except ValueError:
            least = -1.0
        if not 0 <= least < np.inf:
            raise InputError(
                f"min_difference: expected a number from 0, got {shown(self.min_difference)}"
            )
        object.__setattr__(self, "min_difference", least)

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "": every source can be judged. Rows without one are refused."""
        return ""

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return source, category, and what the examples hold of the other keys."""
        return [
            {
                **{key: example.extra.get(key) for key in _FIELDS},
                "source": example.source,
                "category": example.category,
            }
            for example in examples
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse labels and spans of another form."""
        for row, reference in enumerate(references):
            for key in _SIDES:
                if reference[key] not in ("", "true", "false"):
                    raise InputError(
                        f'row {row}: {key}: expected "true", "false" or nothing, got'
                        f" {reference[key]!r}"
                    )
            for key in _SPAN_KEYS:
                parsed_spans(reference[key], f"row {row}: {key}")

    @property
    def evaluator_score(self) -> str:
        """The score: exp of the mean log-probability per token."""
        return "geometric"

    def requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return the translation under the source and under the rest, for each part."""
        return self._side(rows, "omission").requests

    def contests(self, rows: Rows) -> list[Contest]:
        """Return the indices of both requests of each part."""
        return self._side(rows, "omission").contests

    def opened(self, evaluator: Evaluator | None, *, src_lang: str, tgt_lang: str) -> Self:
        """Return the metric with its backward evaluator opened like `evaluator`."""
        if self.backward_evaluator is None or evaluator is None:
            return self
        like, languages = options_like(evaluator), {"src_lang": tgt_lang, "tgt_lang": src_lang}
        backward = resolve_evaluator(self.backward_evaluator, like, **languages)
        return replace(self, backward_evaluator=backward)

    @property
    def backward(self) -> Evaluator | None:
        """The evaluator for additions."""
        if not isinstance(self.backward_evaluator, (Evaluator, type(None))):
            raise InputError(
                "backward_evaluator: expected an Evaluator, got"
                f" {type(self.backward_evaluator).__name__}; `Coverage.opened` returns the metric"
                " with that of a name or a function"
            )
        return self.backward_evaluator

    def backward_requests(self, rows: Rows) -> list[ScoringRequest]:
        """Return the source under the translation and under the rest, for each part."""
        return self._side(rows, "addition").requests

    def backward_contests(self, rows: Rows) -> list[Contest]:
        """Return the indices of both requests of each part."""
        return self._side(rows, "addition").contests

    def _side(self, rows: Rows, side: str) -> Variants[Span]:
        """Return the parts of the texts of one side, with their requests."""
        sources, key = rows.column("source"), "source_spans"
        texts, others, lang = sources, rows.translations, rows.src_lang
        if side == "addition":
            texts, others, lang, key = others, sources, rows.tgt_lang, "translation_spans"
        variants: Variants[Span] = Variants()
        for row, (whole, other) in enumerate(zip(texts, others, strict=True)):
            if is_blank(whole) or is_blank(other) or whole.strip() == other.strip():
                continue
            for span in self._spans_of(whole, rows.references[row], lang, key, row):
                rest = without(whole, span, tidy=bool(self.tidy))
                if rest:
                    variants.add(row, span, whole, rest, other)
        return variants

    @staticmethod
    def n_parts(text: str, lang: str) -> int:
        """Return the number of chunks of a text, of which each is scored."""
        return len(parts_of(text, lang, "chunks"))

    def _spans_of(
        self, whole: str, reference: Mapping[str, str], lang: str, key: str, row: int
    ) -> list[Span]:
        if self.spans != "given":
            return parts_of(whole, lang, self.spans, keeps_names=key == _SPAN_KEYS[1])
        where = f"row {row}: {key}"
        spans = parsed_spans(reference[key], where)
        if outside := [span for span in spans if span.end > len(whole)]:
            raise InputError(
                f"{where}: expected spans within the {len(whole)} characters of the text, got"
                f" {list(outside[0])}"
            )
        return spans

    def _spans_field(self, rows: Rows, *, has_backward: bool) -> str:
        """Return where the parts come from, as signatures hold it."""
        langs = (rows.src_lang, rows.tgt_lang)
        if self.spans == "chunks":
            return f"chunks-{'/'.join(map(table_of, langs))}"
        if self.spans not in PARSERS:
            return self.spans
        used = langs if has_backward else langs[:1]
        return "/".join(dict.fromkeys(load_parser(self.spans, lang).name for lang in used))

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return verdicts and the parts that are missing or added for every row."""
        return {
            **ScoringMetric.row_values(result),
            **{
                name: [[s.text for s in j.spans if s.side == side] for j in result.judgements]
                for name, side in (("omissions", "source"), ("additions", "translation"))
            },
        }

    @classmethod
    def of_signature(cls, fields: Mapping[str, str]) -> Coverage:
        """Return the metric with the options that a signature names."""
        return cls(
            backward_evaluator=signature.evaluator_names(fields.get("back", "")) or None,
            spans=fields["spans"].partition("-")[0],
            tidy="tidy" in fields,
            min_difference=fields["mind"],
        )

    def changes(
        self, rows: Rows, scoring: Scoring, *, only_errors: bool
    ) -> list[tuple[TextSpan, ...]]:
        """Return the parts that could be missing, with their differences."""
        judgements = judge_rows(
            rows.translations,
            rows.references,
            self._differences(rows, scoring),
            min_difference=float(self.min_difference) if only_errors else -np.inf,
        )
        return [judgement.spans for judgement in judgements]

    def change_notes(self) -> tuple[str, ...]:
        """Return that additions were not looked for, without an evaluator for them."""
        if self.backward_evaluator is not None:
            return ()
        return (
            "Additions were not looked for; they need an evaluator of the other direction"
            " (--option backward_evaluator=MODEL)",
        )

    def _differences(self, rows: Rows, scoring: Scoring) -> dict[str, Differences]:
        sides = {"omission": self._side(rows, "omission").differences(scoring.scores)}
        if (back := scoring.backward) is not None:
            sides["addition"] = self._side(rows, "addition").differences(back.scores)
        return dict(sides)

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return accuracies and the rate of errors. Rates of one kind need more than verdicts."""
        return with_error_rate(super().proof(judgements, signed), judgements)

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the errors that are named."""
        for j in judgements:
            check_reading(j, *(["incorrect"] if j.predicted else ["correct", "inconclusive"]))

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Judge every translation and compute the figures."""
        scoring = self.scored(scoring)
        sides = self._differences(rows, scoring)
        backward_fields: dict[str, str] = {}
        if (back := scoring.backward) is not None:
            requests = self.backward_requests(rows)
            fields = scorer_fields(back.evaluator, self.evaluator_score, requests, back.scores)
            backward_fields = {"back": fields["eval"]}
            forward_fields = scorer_fields(scoring.evaluator, self.evaluator_score)
            if students := [f["students"] for f in (forward_fields, fields) if "students" in f]:
                backward_fields["students"] = "+".join(dict.fromkeys(students))
        judgements = judge_rows(
            rows.translations,
            rows.references,
            sides,
            ids=rows.ids,
            min_difference=float(self.min_difference),
        )
        rates = _rates(rows, judgements, sides, float(self.min_difference), bootstrap)
        n_judged = sum(j.verdict != "inconclusive" for j in judgements)
        n_omitted = sum(any(s.side == "source" for s in j.spans) for j in judgements)
        figures = Figures(
            signature={
                **self.model_fields(rows, scoring, "geometric"),
                **backward_fields,
                "spans": self._spans_field(rows, has_backward=bool(backward_fields)),
                "mind": f"{self.min_difference:g}",
                "tie": "correct",
                **({"tidy": "yes"} if self.tidy else {}),
            },
            judgements=judgements,
            counts={
                "n_omissions": sum(s.side == "source" for j in judgements for s in j.spans),
                "n_additions": sum(s.side != "source" for j in judgements for s in j.spans),
                "n_skipped": len(judgements) - n_judged,
                **{f"n_skipped_{_TEXTS[s]}s": len(judgements) - len(sides[s]) for s in sides},
                "n_ties": n_without_difference(sides.values()),
            },
            notes=(
                *self.change_notes(),
                *_one_sided(sides, len(judgements)),
                *_notes(n_omitted, n_judged),
            ),
        )
        return summarize(judgements).joined(rates, figures)


def _one_sided(sides: Mapping[str, Differences], n: int) -> Iterator[str]:
    """Yield how many of n verdicts are by one side alone, where both were to be judged."""
    for side, other in permutations(sides, 2):
        if n_alone := len(sides[side].keys() - sides[other].keys()):
            yield (
                f"{n_alone:,} of {n:,} translations are judged by {side}s alone: no part of their"
                f" {_TEXTS[other]} could be missing, so that {other}s were not looked for"
            )


def _notes(n_omitted: int, n_judged: int) -> tuple[str, ...]:
    if 2 * n_omitted <= n_judged:
        return ()
    return (
        f"{n_omitted:,} of {n_judged:,} translations have an omission: the evaluator may be too"
        " small for these texts, or the translations are of other sources",
    )


def _rates(
    rows: Rows,
    judgements: Sequence[Judgement],
    sides: Mapping[str, Differences],
    least: float,
    bootstrap: Bootstrap,
) -> Figures:
    """Return the shares of judged translations with errors, and agreement with labels."""
    judged = [j for j in judgements if j.verdict != "inconclusive"]
    parts = [share_figure("error_rate", [not j.is_correct for j in judged], np.ones(len(judged)))]
    for side, differences in sides.items():
        largest = np.array([max(d for _, d in parts) for parts in differences.values()])
        parts.append(share_figure(f"{side}_rate", largest > least, np.ones(len(largest))))
        labels = [rows.references[row][side] for row in differences]
        known = np.array([label != "" for label in labels], dtype=bool)
        gold = np.array([label == "true" for label in labels], dtype=bool)[known]
        of_labels = label_figures(
            f"{side}_{{}}",
            largest[known],
            gold,
            [rows.references[row]["source"] for row in np.array([*differences])[known]],
            min_difference=least,
            bootstrap=bootstrap,
        )
        parts.append(of_labels)
    omitted = [
        _n_characters(judgements[row]) / len(rows.references[row]["source"])
        for row in sides["omission"]
    ]
    parts.append(share_figure("omitted_characters", omitted, np.ones(len(omitted))))
    return Figures().joined(*parts)


def _n_characters(judgement: Judgement) -> int:
    """Return the number of characters of the source that are in omissions."""
    spans = [range(span.start, span.end) for span in judgement.spans if span.side == "source"]
    return len(set().union(*spans))
