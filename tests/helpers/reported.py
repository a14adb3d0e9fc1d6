"""Results of two systems by two metrics, with texts that pages, tables and formulas could misread,
and of one system by one metric.
"""

from collections.abc import Sequence
from typing import Any

from cc_hf.comparing.people.annotations import Annotation
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.evidence import supported
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.fake_metric import Words
from tests.helpers.metrics import evaluate_metric

N = 90
ATTACK = (
    "Der Koch <script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    " ging."
)
HOSTILE_NAME = "</script><b>b|c</b> $x_1$ & 100%"
OCCUPATIONS = ("baker", "clerk", "cook", "guard", "nurse", "tailor", "<b>x</b> & 1", "writer")
CATEGORIES = ("male", "female", "a|<i>b</i>")


def examples() -> list[ContrastiveSourceExample]:
    """Return the examples: sentence i has category i modulo 3; 𝄞 takes two of a browser's
    characters and precedes the focus.
    """
    made = []
    for i in range(N):
        text = f"𝄞 The cook number {i} left."
        right, wrong = (text.replace("The", f"The [{gender}]") for gender in ("male", "female"))
        columns = {"note": f"<u>{i}</u>", "occupation": OCCUPATIONS[i % len(OCCUPATIONS)]}
        columns["stereotype"] = "pro" if i % 5 < 2 else "anti" if i % 5 < 4 else "none"
        sources = (text, Focus("cook", 6), (right,), (wrong,))
        made.append(
            ContrastiveSourceExample(
                f"id{i}", "en", "de", *sources, CATEGORIES[i % 3], "male", columns
            )
        )
    return made


def translations(system: int) -> list[str]:
    """Return the translations. Number 4 of each system is an attack; number 7 is equal in both."""
    texts = [
        f"{'Ärztin' if i % (2 + system) else 'Arzt?' if i % 4 else 'Koch'} {i} von {system}."
        for i in range(N)
    ]
    return [ATTACK if i == 4 else "Dasselbe." if i == 7 else text for i, text in enumerate(texts)]


def results(
    system: int, *, metrics: Sequence[str] = ("contrastive_conditioning", "words")
) -> dict[str, EvaluationResult]:
    """Return the results by metric."""
    sides = ("correct_sources", "incorrect_sources")
    cues = [{side: list(getattr(e, side)) for side in sides} for e in examples()]
    rows = [{**c, "category": e.category} for c, e in zip(cues, examples(), strict=True)]
    options: dict[str, Any] = {
        **{"ids": [e.id for e in examples()], "dataset": "d", "config": "c", "tgt_lang": "de"},
        "origin": {"data": "d/c@1"},
    }
    texts = translations(system)
    judged = evaluate_metric(
        "contrastive_conditioning", texts, rows, hash_scores, n_resamples=50, **options
    )
    words = evaluate_metric(Words(), texts, rows, n_resamples=100, **options)
    both = (supported(judged), words)
    return {result.metric: result for result in both if result.metric in metrics}


def systems() -> list[ReportedSystem]:
    """Return two systems; the name of the second is hostile to HTML, Markdown and LaTeX."""
    return [
        ReportedSystem("first", results(0), 0.312),
        ReportedSystem(HOSTILE_NAME, results(1), 0.335),
    ]


def labels() -> list[Annotation]:
    """Return annotations of translations 0, 1 (annotators differ) and 2 of the first system, and of
    a translation that no system made.
    """
    kinds = ("male", "female")
    texts = translations(0)
    return [
        Annotation("id0", texts[0], "male", ("male", "male"), kinds, ("Male", "Male")),
        Annotation("id1", texts[1], "male", ("male", "female"), kinds),
        Annotation("id2", texts[2], "male", ("female", "female"), kinds),
        Annotation("id3", "nobody made this", "male", ("female", "female"), kinds),
    ]


def report(*, with_examples: bool = True, with_labels: bool = True) -> Report:
    """Return a report on all of these."""
    return build_report(
        systems(),
        examples=examples() if with_examples else None,
        annotations=labels() if with_labels else (),
        notes=["<em>a note</em>"],
        n_resamples=50,
    )
