"""The samples of a report as compact JSON for the explorer of the page: each text is stored once,
and samples are stored as columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from cc_hf.comparing.people.annotations import Annotation
from cc_hf.comparing.uncertain import WITHIN
from cc_hf.metrics.open_choice import counted_share
from cc_hf.reports.figure_text import category_name, metric_name
from cc_hf.reports.highlights import Attribute
from cc_hf.reports.marks import mark_classes
from cc_hf.reports.report import Report
from cc_hf.reports.samples import Sample
from cc_hf.reports.spans import apart, shade
from cc_hf.schema import (
    INCONCLUSIVE,
    NEITHER,
    VERDICTS,
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Judgement,
)

__all__ = ["StringTable", "explorer_data", "island_json", "utf16_length"]

_OPEN = "open"
#: Verdicts by their number in the page.
_SHOWN = [*VERDICTS, _OPEN, NEITHER]
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def island_json(data: Any) -> Markup:
    r"""Return JSON that is safe inside a <script> element: nothing in it ends the element, begins a
    comment or breaks a line.

    Examples:
        >>> island_json("</script>")
        Markup('"\\u003c/script\\u003e"')
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, code in _UNSAFE.items():
        text = text.replace(character, code)
    # A lone surrogate cannot be encoded as UTF-8, but JSON can hold it as \ud800.
    return Markup(text.encode("utf-8", "backslashreplace").decode("utf-8"))


class StringTable:
    """A table of texts; the number of a text is its position, and -1 stands for no text."""

    def __init__(self) -> None:
        self.table: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """Return the number of a text, which is added if it is new."""
        return -1 if text is None else self.table.setdefault(text, len(self.table))


def explorer_data(report: Report, attributes: Sequence[Attribute]) -> dict[str, Any]:
    """Return the data that the script of the page reads.

    Returns:
        A dict with these keys; all texts are numbers of entries in `strings`, except for names:
        - strings: every text once.
        - systems, metrics, categories, verdicts: names; metric_keys: registered names of metrics.
          The last verdict, "open", stands for readings where nothing is right or wrong.
        - counted: per metric, the share whose reading the probabilities are of; "" where they are
          of the correct one.
        - within: distance to 0.5 up to which a probability is uncertain.
        - marks: CSS classes of the systems' marks.
        - baseline: index of a system.
        - attributes: names, each with one entry per sample.
        - src_lang, tgt_lang: codes for `lang` attributes.
        - samples: columns with one entry per sample: id; category; source (-1 if unknown); focus
          ([start, length] in UTF-16 units, as browsers count, or 0); correct and incorrect
          (variants of the source, or of the correct translation, each [start, end, text], which
          replaces this span); form (0 for contrastive sources, 1 for contrastive translations);
          gold; extra.
        - translations: per system, one entry per sample.
        - judgements: per metric and system, the columns verdict, p, score_correct, score_incorrect,
          weight, predicted, gold and spans; an empty column is 0. The spans of a judgement are
          [side (0 for the source), start, end (in UTF-16 units), shade (1 to 5), phenomenon,
          replacement (-1 for none)], without those that overlap with a larger difference.
        - labels: per system, index of a sample -> [verdict, labels...].
    """
    strings = StringTable()
    categories = {name: index for index, name in enumerate(report.categories)}
    samples = report.samples
    metrics = [*report.judging, *report.reading]
    languages = next(
        (
            (s.example.src_lang, s.example.tgt_lang or report.first.tgt_lang)
            for s in samples
            if s.example is not None
        ),
        ("", report.first.tgt_lang),
    )
    return {
        "systems": [system.name for system in report.systems],
        "marks": [mark_classes(index) for index in range(len(report.systems))],
        "metrics": [metric_name(metric) for metric in metrics],
        "metric_keys": metrics,
        "counted": [
            next(filter(None, map(counted_share, report.of_metric(metric).values())), "")
            for metric in metrics
        ],
        "baseline": next(
            (i for i, system in enumerate(report.systems) if system.name == report.baseline), 0
        ),
        "categories": list(report.categories),
        "category_names": list(map(category_name, report.categories)),
        "verdicts": _SHOWN,
        "within": WITHIN,
        "src_lang": languages[0],
        "tgt_lang": languages[1],
        "samples": {
            "id": [strings.number(s.id) for s in samples],
            "category": [categories[s.category] for s in samples],
            **_columns([_example(s.example, strings) for s in samples]),
        },
        "translations": [
            [strings.number(s.translations[index]) for s in samples]
            for index in range(len(report.systems))
        ],
        "judgements": [
            [_judgements(samples, system, metric, strings) for system in range(len(report.systems))]
            for metric in range(len(report.judging))
        ]
        + [
            [_readings(samples, system, metric, strings) for system in range(len(report.systems))]
            for metric in range(len(report.reading))
        ],
        "attributes": [
            [a.name, [strings.number(value or None) for value in a.values]] for a in attributes
        ],
        "labels": [_labels(samples, system, strings) for system in range(len(report.systems))],
        "strings": list(strings.table),
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = list(rows[0]) if rows else []
    return {name: [row[name] for row in rows] for name in names}


def _example(example: Example | None, strings: StringTable) -> dict[str, Any]:
    if example is None:
        return {
            "source": -1,
            "focus": 0,
            "correct": [],
            "incorrect": [],
            "form": 0,
            "gold": -1,
            "extra": [],
        }
    extra = [
        [strings.number(name), strings.number(value)]
        for name, value in example.extra.items()
        if value
    ]
    row = {
        "source": strings.number(example.source),
        "focus": 0,
        "correct": [],
        "incorrect": [],
        "form": 0,
        "gold": -1,
        "extra": extra,
    }
    if isinstance(example, ContrastiveTranslationExample):
        correct = example.correct_translation
        return {
            **row,
            "form": 1,
            "correct": [_edit("", correct, strings)],
            "incorrect": [_edit("", text, strings) for text in example.contrastive_translations],
        }
    if example.focus is not None:
        row["focus"] = [
            utf16_length(example.source[: example.focus.start]),
            utf16_length(example.focus.text),
        ]
    row["gold"] = strings.number(example.gold or None)
    if isinstance(example, ContrastiveSourceExample):
        for side in ("correct", "incorrect"):
            row[side] = [
                _edit(example.source, text, strings) for text in getattr(example, f"{side}_sources")
            ]
    return row


def _edit(source: str, variant: str, strings: StringTable) -> list[int]:
    """Return the span of the source that the variant replaces, and the replacement."""
    start = _common(source, variant)
    n_remaining = min(len(source), len(variant)) - start
    n_common_at_end = _common(source[::-1][:n_remaining], variant[::-1][:n_remaining])
    return [
        utf16_length(source[:start]),
        utf16_length(source[: len(source) - n_common_at_end]),
        strings.number(variant[start : len(variant) - n_common_at_end]),
    ]


def _common(left: str, right: str) -> int:
    """Return the length of the common beginning."""
    return next(
        (index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )


def utf16_length(text: str) -> int:
    """Return the length of a text as browsers count it."""
    return len(text) + sum(c > "\uffff" for c in text)


def _judgements(
    samples: Sequence[Sample], system: int, metric: int, strings: StringTable
) -> dict[str, Any] | int:
    judgements = [sample.judgements[system][metric] for sample in samples]
    if not any(judgements):
        return 0
    return {
        "verdict": [-1 if j is None else _SHOWN.index(j.verdict) for j in judgements],
        "p": _numbers([None if j is None else j.probability_correct for j in judgements], 6),
        "score_correct": _numbers([None if j is None else j.score_correct for j in judgements], 4),
        "score_incorrect": _numbers(
            [None if j is None else j.score_incorrect for j in judgements], 4
        ),
        "weight": (
            0
            if all(j is None or j.probability_correct is None for j in judgements)
            else [None if j is None else j.weight for j in judgements]
        ),
        "predicted": _texts(judgements, "predicted", strings),
        "gold": _texts(judgements, "gold", strings),
        "spans": _spans(samples, system, judgements, strings),
    }


def _readings(
    samples: Sequence[Sample], system: int, metric: int, strings: StringTable
) -> dict[str, Any] | int:
    """Return readings in the columns of judgements, with a verdict that says nothing."""
    readings = [sample.readings[system][metric] for sample in samples]
    if not any(readings):
        return 0
    empty = dict.fromkeys(("score_correct", "score_incorrect", "weight", "gold", "spans"), 0)
    return {
        **empty,
        "verdict": [-1 if r is None else _SHOWN.index(_OPEN) for r in readings],
        "p": _numbers([None if r is None else r.probability_counted for r in readings], 6),
        "predicted": [
            strings.number(None if r is None else r.reading or INCONCLUSIVE) for r in readings
        ],
    }


def _spans(
    samples: Sequence[Sample],
    system: int,
    judgements: Sequence[Judgement | None],
    strings: StringTable,
) -> list[list[list[int]]] | int:
    """Return the parts of the texts that led to each verdict; 0 for a metric without."""
    if not any(j is not None and j.spans for j in judgements):
        return 0
    columns = []
    for sample, judgement in zip(samples, judgements, strict=True):
        texts = {
            "source": "" if sample.example is None else sample.example.source,
            "translation": sample.translations[system] or "",
        }
        columns.append(
            [
                [
                    int(span.side != "source"),
                    utf16_length(texts[span.side][: span.start]),
                    utf16_length(texts[span.side][: span.end]),
                    shade(span),
                    strings.number(span.phenomenon),
                    strings.number(span.replacement),
                ]
                for span in apart(() if judgement is None else judgement.spans)
                if span.end <= len(texts[span.side])
            ]
        )
    return columns


def _numbers(values: Sequence[float | None], digits: int) -> list[float | None] | int:
    """Return values rounded to the digits that are shown; 0 for a column without values."""
    return (
        0
        if all(value is None for value in values)
        else [None if value is None else float(f"{value:.{digits}g}") for value in values]
    )


def _texts(
    judgements: Sequence[Judgement | None], name: str, strings: StringTable
) -> list[int] | int:
    values = [None if j is None else getattr(j, name) or None for j in judgements]
    return [strings.number(value) for value in values] if any(values) else 0


def _labels(samples: Sequence[Sample], system: int, strings: StringTable) -> dict[str, list[int]]:
    """Return human verdicts, which are correct if a label is the gold one."""
    labels = {}
    for index, sample in enumerate(samples):
        annotation: Annotation | None = sample.annotations[system]
        if annotation is not None:
            verdicts = [
                VERDICTS.index("correct" if label == annotation.gold else "incorrect")
                for label in annotation.labels
            ]
            # Samples that are to be ignored, or where every reading is allowed, have no verdict,
            # but keep their labels.
            agreed = verdicts[0] if annotation.gold and len(set(verdicts)) == 1 else -1
            labels[str(index)] = [
                agreed,
                *(strings.number(text) for text in annotation.raw or annotation.labels),
            ]
    return labels
