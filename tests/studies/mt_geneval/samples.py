"""Examples, results and sheets for the tests of the study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cc_hf.comparing.people.sheets import Answers, SheetKey
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus, Judgement
from cc_hf.studies.mt_geneval.ratings import draw_contextual_sample


def marked_example(gender: str, source: str, reference: str) -> ContrastiveSourceExample:
    plain = [text.replace("<F>", "").replace("</F>", "") for text in (source, reference)]
    return ContrastiveSourceExample(
        f"0.{gender}", "en", "de", plain[0], Focus(plain[0].split()[0], 0), ("c",), ("i",), gender,
        gender, {"pair": "0", "reference": plain[1], "annotated_source": source,
                 "annotated_reference": reference},
    )  # fmt: skip


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
    judgements = tuple(
        Judgement(str(i), "all", verdict == "correct", f"{text} {i}", verdict) for i in range(8)
    )
    made = EvaluationResult(
        "mt_geneval", "contextual_de", "de", "gender_accuracy", "ga|data:mt_geneval@1|n:8", 8, {},
        {}, (), judgements, system=system,
    )  # fmt: skip
    return replace(made, **changes)


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
        ContrastiveSourceExample(
            f"{pair}.{gender}", "en", "de", f"{word} left.", Focus(word, 0), ("c",), ("i",), gender,
            gender, {"pair": str(pair), "reference_raw": REFERENCES[gender]},
        )
        for pair in range(len(TRANSLATIONS))
        for gender, word in (("male", "He"), ("female", "She"))
    ]  # fmt: skip


def gap_result(**changes: Any) -> EvaluationResult:
    judgements = tuple(
        Judgement(f"{pair}.{gender}", gender, True, text, "correct")
        for pair, texts in enumerate(TRANSLATIONS)
        for gender, text in zip(("male", "female"), texts, strict=True)
    )
    made = EvaluationResult(
        "mt_geneval", "counterfactual_de", "de", "gender_accuracy",
        "ga|data:mt_geneval/counterfactual_de@1|langs:en-de|n:8", 8, {}, {}, (), judgements,
    )  # fmt: skip
    return replace(made, **changes)
