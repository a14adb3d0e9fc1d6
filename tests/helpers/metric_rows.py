"""Rows that every registered metric can judge, right or wrong as a test needs them."""

import random
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from cc_hf.results import EvaluationResult
from tests.helpers.metrics import evaluate_metric, metric_class


def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    pairs = zip(sources, translations, strict=True)
    return [0.9 if ("naïve" in source) == (text == "schön") else 0.1 for source, text in pairs]


def row(metric: str, index: int, *, is_right: bool) -> tuple[str, dict[str, Any]]:
    """Return a translation and its reference, in composed Unicode with letters that matter; rows
    alternate between two categories.
    """
    gender = ("male", "female")[index % 2]
    side = (index + (not is_right)) % 2  # that of the translation
    word = ("Arzt", "Ärztin")[side]
    good, bad = ("schön", "übel") if is_right else ("übel", "schön")
    sides = {"correct_sources": ["naïve"], "incorrect_sources": ["wrong"]}
    translations = {"correct_translation": good, "contrastive_translations": [bad]}
    twin, physician = {"category": gender, "pair": str(index // 2)}, {"occupation": "physician"}
    references = ("Arzt", "Ärztin")[index % 2], ("Ärztin", "Arzt")[index % 2]
    told = dict(zip(("reference", "contrastive_reference"), references, strict=True))
    rows: dict[str, tuple[str, dict[str, Any]]] = {
        "contrastive_conditioning": (good, {**sides, "category": gender}),
        "contrastive_translation_scoring": ("", {"source": "naïve", **translations, **twin}),
        "coverage": (good, {"source": "a naïve plane came", "category": gender}),
        "critical_errors": (good, {"source": "a naïve plane is here", "category": gender}),
        "expected_form": (good, {"expected": "schön", "category": gender}),
        "gender_accuracy": (word, {**told, "gender": gender}),
        "gender_fair_forms": (
            ("Ärzte", "Ärztinnen")[side],
            {"masculine": "Ärzte", "feminine": "Ärztinnen", "noun": str(index)},
        ),
        "gender_form": (
            ("Sí, soy bueno.", "Sí, soy buena.")[side],
            {"persons": "first", "slot": 0, "gender": gender, "groups": "speaker"},
        ),
        "gender_quality_gap": (
            "ä b c d" if is_right else "x",
            {"reference": "ä b c d", "gender": gender, "pair": str(index // 2)},
        ),
        "gender_reading": (
            ("Повар ушёл.", "Повариха ушла.")[side],
            {"source": "The cook left.", "focus": "cook", "focus_start": 4, "gold": gender, **twin},
        ),
        "gender_words": (
            ("Ärztin", "Arzt")[not is_right],
            {"feminine": "Ärztin", "masculine": "Arzt", "category": gender},
        ),
        "homograph_accuracy": (
            "Eine Höhle." if is_right else "Ein Riegel.",
            {
                **{"source": "A castle.", "homograph": "castle", "start": 2, "cluster": "1"},
                "senses": {"1": ["Höhle"], "2": ["Riegel"]},
                "category": ("frequent", "rare")[index % 2],
            },
        ),
        "mucow_pattern_matching": (
            "Höhle" if is_right else "Riegel",
            {
                **{"correct_senses": ["höhle"], "incorrect_senses": ["riegel"]},
                **{"domain": ("in_domain", "out_of_domain")[index % 2], "frequency": ""},
            },
        ),
        "prompted_choice": (
            ("die Tür", "das Tor")[side],
            {"answer": "12"[index % 2], "option1": "die Tür", "option2": "das Tor", **twin},
        ),
        "rewriting_score": (
            "el médico" if is_right else "la médica",
            {"reference": "el médico", "labels": gender},
        ),
        "simplegen_accuracy": (
            word,
            {
                **physician,
                "number": "sg",
                "gender": gender,
                "category": ("MoMc", "MoFc")[index % 2],
            },
        ),
        "stereotype_rates": (
            ("Jsem silný.", "Jsem silná.")[side],
            {
                "source": f"I was at home {index}.",
                "category": f"stereotype_{(1, 16)[index % 2]:02}",
            },
        ),
        "wino_x_pattern_matching": (
            f"Die Schüssel zerbrach, weil {('er', 'sie')[side]} alt war.",
            {
                "source": "The vase broke because it was old.",
                **{"correct_gender": gender, "incorrect_gender": ("female", "male")[index % 2]},
            },
        ),
        "winomt_pattern_matching": (
            f"{('Der', 'Die')[side]} {word} ging.",
            {
                **{"source": "The physician left.", **physician, "occupation_index": 1},
                **{"gold_gender": gender, "stereotype": ("pro", "anti")[index % 2]},
            },
        ),
    }
    if metric not in rows:
        raise LookupError(
            f"{metric}: expected rows to try the metric with, got none; add some to `row`, and to"
            " `_SIDES` where right and wrong can change sides"
        )
    return rows[metric]


#: Metric -> the language of its rows, where it is not German.
LANGUAGES = {"gender_form": "es", "gender_reading": "ru", "stereotype_rates": "cs"}
_OTHER = {"male": "female", "female": "male", "1": "2", "2": "1", "MoMc": "MoFc", "MoFc": "MoMc"}
#: Metric -> the keys that are exchanged, or whose values are, when right and wrong change sides.
#: What it reads of a translation with both is no side, and rows of `row` have none.
_SIDES: dict[str, tuple[str, ...]] = {
    "contrastive_conditioning": ("correct_sources", "incorrect_sources"),
    "contrastive_translation_scoring": ("correct_translation", "contrastive_translations"),
    "gender_form": ("gender",),
    "gender_reading": ("gold",),
    "gender_accuracy": ("reference", "contrastive_reference"),
    "homograph_accuracy": ("cluster",),
    "mucow_pattern_matching": ("correct_senses", "incorrect_senses"),
    "prompted_choice": ("answer",),
    "simplegen_accuracy": ("gender", "category"),
    "wino_x_pattern_matching": ("correct_gender", "incorrect_gender"),
    "winomt_pattern_matching": ("gold_gender",),
}


def swapped(metric: str, reference: dict[str, Any]) -> dict[str, Any] | None:
    """Return a reference in which what was right is wrong; None for a metric without sides."""
    sides = _SIDES.get(metric)
    if sides is None:
        return None
    if metric == "contrastive_translation_scoring":
        (wrong,), right = reference["contrastive_translations"], reference["correct_translation"]
        return {**reference, "correct_translation": wrong, "contrastive_translations": [right]}
    if sides[0] in ("cluster", "answer", "gender", "gold", "gold_gender"):
        return {**reference, **{key: _OTHER[reference[key]] for key in sides}}
    first, second = sides
    return {**reference, first: reference[second], second: reference[first]}


def drawn_rows(
    metric: str, seed: int, n: int, *, start: int = 0
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return rows that are right or wrong at random; those that an evaluator scores differ from
    each other, and some samples have a category of their own.
    """
    draw = random.Random(seed)
    texts, references = [], []
    for index in range(start, start + n):
        text, reference = row(metric, index, is_right=draw.random() < 0.6)
        reference = dict(reference)
        if metric == "contrastive_conditioning":
            text = f"t{index}"
            reference["correct_sources"] = [f"c{index}", f"d{index}"][: draw.choice((1, 2))]
            reference["incorrect_sources"] = [f"i{index}"]
            reference["category"] = draw.choice(("male", "female", "none"))
        if metric == "contrastive_translation_scoring":
            reference |= {
                "correct_translation": f"a{index}",
                "contrastive_translations": [f"b{index}"],
            }
        texts.append(text)
        references.append(reference)
    return texts, references


def drawn_scores(
    seed: int, *, n_levels: int
) -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    """Return an evaluator whose scores have so many levels; few levels make ties."""

    def scored(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        texts = (f"{seed} {s} {t}" for s, t in zip(sources, translations, strict=True))
        return [(1 + zlib.crc32(text.encode()) % n_levels) / (1 + n_levels) for text in texts]

    return scored


def options_of(metric: str, n: int) -> dict[str, Any]:
    """Return the options with which a metric judges n such rows."""
    options: dict[str, Any] = {"src_lang": "en", "tgt_lang": LANGUAGES.get(metric, "de")}
    if metric_class(metric).takes_evaluator:
        options["evaluator"] = scores
    if metric == "winomt_pattern_matching":
        options["alignments"] = ["0-0 1-1 2-2"] * n
    if metric == "gender_reading":
        options["alignments"] = ["1-0 2-1"] * n
    if metric == "homograph_accuracy":
        options["search"] = "anywhere"  # the verdict then depends on its own row only
    return {**options, "n_resamples": 20}


def judged(
    metric: str, translations: Sequence[str], references: Sequence[dict[str, Any]], **options: Any
) -> EvaluationResult:
    """Return the result for such rows, using `scores` if the metric takes an evaluator."""
    given = {**options_of(metric, len(references)), **options}
    texts = list(translations) if metric_class(metric).takes_translations else None
    return evaluate_metric(metric, texts, list(references), **given)
