"""Rows that every registered metric can judge, right or wrong as a test needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cc_hf.results import EvaluationResult
from tests.helpers.metrics import evaluate_metric, metric_class


def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return [
        0.9 if ("right" in source) == (translation == "good") else 0.1
        for source, translation in zip(sources, translations, strict=True)
    ]


def row(metric: str, at: int, *, is_right: bool) -> tuple[str, dict[str, Any]]:
    """Return a translation and its reference; rows alternate between two categories."""
    gender = ("male", "female")[at % 2]
    word = ("Arzt", "Ärztin")[(at + (not is_right)) % 2]
    rows: dict[str, tuple[str, dict[str, Any]]] = {
        "contrastive_conditioning": (
            "good" if is_right else "bad",
            {"correct_sources": ["right"], "incorrect_sources": ["wrong"], "category": gender},
        ),
        "contrastive_translation_scoring": (
            "",
            {
                "source": "right",
                "correct_translation": "good" if is_right else "bad",
                "contrastive_translations": ["bad" if is_right else "good"],
                "category": gender,
                "pair": str(at // 2),
            },
        ),
        "gender_accuracy": (
            word,
            {
                "reference": ("Arzt", "Ärztin")[at % 2],
                "contrastive_reference": ("Ärztin", "Arzt")[at % 2],
                "gender": gender,
            },
        ),
        "gender_quality_gap": (
            "a b c d" if is_right else "x",
            {"reference": "a b c d", "gender": gender, "pair": str(at // 2)},
        ),
        "homograph_accuracy": (
            "Ein Schloss." if is_right else "Ein Riegel.",
            {
                "source": "A castle.",
                "homograph": "castle",
                "start": 2,
                "cluster": "1",
                "senses": {"1": ["Schloss"], "2": ["Riegel"]},
                "category": ("frequent", "rare")[at % 2],
            },
        ),
        "mucow_pattern_matching": (
            "Schloss" if is_right else "Riegel",
            {
                "correct_senses": ["schloss"],
                "incorrect_senses": ["riegel"],
                "domain": ("in_domain", "out_of_domain")[at % 2],
                "frequency": "",
            },
        ),
        "prompted_choice": (
            f"Translation {(1, 2)[(at + (not is_right)) % 2]}",
            {"answer": "12"[at % 2], "category": gender, "pair": str(at // 2)},
        ),
        "simplegen_accuracy": (
            word,
            {
                "occupation": "physician",
                "number": "sg",
                "gender": gender,
                "category": ("MoMc", "MoFc")[at % 2],
            },
        ),
        "wino_x_pattern_matching": (
            f"Die Vase zerbrach, weil {('er', 'sie')[(at + (not is_right)) % 2]} alt war.",
            {
                "source": "The vase broke because it was old.",
                "correct_gender": gender,
                "incorrect_gender": ("female", "male")[at % 2],
            },
        ),
        "winomt_pattern_matching": (
            f"{('Der', 'Die')[(at + (not is_right)) % 2]} {word} ging.",
            {
                "source": "The physician left.",
                "occupation": "physician",
                "occupation_index": 1,
                "gold_gender": gender,
                "stereotype": ("pro", "anti")[at % 2],
            },
        ),
    }
    return rows[metric]


def judged(
    metric: str,
    translations: Sequence[str],
    references: Sequence[dict[str, Any]],
    **options: Any,
) -> EvaluationResult:
    """Return the result for such rows, using `scores` if the metric takes an evaluator."""
    given: dict[str, Any] = {"src_lang": "en", "tgt_lang": "de", "n_resamples": 20, **options}
    if metric_class(metric).takes_evaluator:
        given.setdefault("evaluator", scores)
    if metric == "winomt_pattern_matching":
        given.setdefault("alignments", ["0-0 1-1 2-2"] * len(translations))
    if metric == "homograph_accuracy":
        given.setdefault("search", "anywhere")  # the verdict then depends on its own row only
    texts = list(translations) if metric_class(metric).takes_translations else None
    return evaluate_metric(metric, texts, list(references), **given)
