"""Examples, results and sheets for the tests of the study."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cc_hf_studies.mt_geneval.ratings import draw_contextual_sample

from cc_hf.plugins.raters.sheets import Answers, SheetKey
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus, Judgement
from tests.helpers.judged import judgement, result_of


def counterfactual(name: str, source: str, **extra: str) -> ContrastiveSourceExample:
    """Return the example "PAIR.GENDER" with this source, whose first word is its focus."""
    pair, _, gender = name.partition(".")
    texts, columns = (source, Focus(source.split()[0], 0), ("c",), ("i",)), {"pair": pair, **extra}
    return ContrastiveSourceExample(name, "en", "de", *texts, gender, gender, columns)


def marked_example(gender: str, source: str, reference: str) -> ContrastiveSourceExample:
    plain, text = (side.replace("<F>", "").replace("</F>", "") for side in (source, reference))
    marked = {"annotated_source": source, "annotated_reference": reference}
    return counterfactual(f"0.{gender}", plain, reference=text, **marked)


CATEGORIES = ("female_stereotyped/female", "neutral/male")


def contextual_examples(n: int = 8) -> list[ContrastiveTranslationExample]:
    return [
        ContrastiveTranslationExample(
            str(i), "en", "de", f"The doctor {i} came.", f"Die Ärztin {i}", (f"Der Arzt {i}",),
            CATEGORIES[i % 2], {"context": f"She is tall {i}."},
        )
        for i in range(n)
    ]  # fmt: skip


def contextual_result(system: str, text: str, verdict: str, **changes: Any) -> EvaluationResult:
    judgements = [judgement(i, verdict, f"{text} {i}") for i in range(8)]
    signature = "ga|data:mt_geneval@1|n:8"
    return _result(judgements, "contextual_de", signature, system=system, **changes)


def _result(judgements: Any, config: str, signature: str, /, **changes: Any) -> EvaluationResult:
    origin = {"dataset": "mt_geneval", "config": config, "metric": "gender_accuracy"}
    return replace(result_of(judgements, **origin, signature=signature), **changes)


def drawn(**options: Any) -> SheetKey:
    results = {
        "good": contextual_result("good", "Die Ärztin", "correct"),
        "bad": contextual_result("bad", "Der Arzt", "incorrect"),
    }
    return draw_contextual_sample(results, contextual_examples(), **{"n": 3, **options})


def answers(key: SheetKey, accepts: Callable[[str, str], bool]) -> Answers:
    """Return the answers of a rater who accepts by category and translation."""
    return {
        row.id: ("Correct" if accepts(row.origins[0]["category"], row.cells[2]) else "Incorrect",)
        for row in key.rows
    }


REFERENCES = {"male": "Er ist Arzt und sehr alt .", "female": "Sie ist Ärztin und sehr alt ."}


#: Translations of the masculine and the feminine sentence of each pair.
TRANSLATIONS = (
    ("Er ist Arzt und sehr alt .", "Sie ist Ärztin und alt ."),
    ("Er ist alt .", "Sie ist Ärztin und sehr alt ."),
    ("Er ist Arzt und sehr alt .", "Sie ist Ärztin und sehr alt ."),
    ("Er ist Arzt und sehr alt .", "Nichts davon"),
)


def gap_examples() -> list[ContrastiveSourceExample]:
    return [
        counterfactual(f"{pair}.{gender}", f"{word} left.", reference_raw=REFERENCES[gender])
        for pair in range(len(TRANSLATIONS))
        for gender, word in (("male", "He"), ("female", "She"))
    ]


def gap_result(**changes: Any) -> EvaluationResult:
    judgements = [
        Judgement(f"{pair}.{gender}", gender, True, text, "correct")
        for pair, texts in enumerate(TRANSLATIONS)
        for gender, text in zip(("male", "female"), texts, strict=True)
    ]
    signature = "ga|data:mt_geneval/counterfactual_de@1|langs:en-de|n:8"
    return _result(judgements, "counterfactual_de", signature, **changes)
