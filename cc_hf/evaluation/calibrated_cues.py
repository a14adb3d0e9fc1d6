"""The cues where nobody names any: the wording that was calibrated best for the judge."""

from __future__ import annotations

from dataclasses import replace

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.wordings import reworded
from cc_hf.evaluation.calibration_file import Calibration, shipped_calibrations
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator
from cc_hf.metrics.base import Metric
from cc_hf.schema import ContrastiveSourceExample

__all__ = ["calibrated_example", "gets_brackets", "with_calibrated_cues"]

# Cues that the package makes itself, so that another wording asks the same question.
_BRACKETS = "gender_brackets"


def _better_calibration(
    evaluator: Evaluator | None, src_lang: str, tgt_lang: str
) -> Calibration | None:
    """Return the shipped calibration of an evaluator that chose other cues than brackets."""
    fitting = (
        known
        for known in shipped_calibrations()
        if evaluator is not None
        and known.is_for(evaluator, src_lang, tgt_lang)
        and known.chosen != _BRACKETS
    )
    return next(fitting, None)


def gets_brackets(material: Material) -> bool:
    """Return whether the package makes the cues by gender brackets, and nobody has named others.

    Examples:
        >>> from cc_hf.evaluation.material import load_material
        >>> gets_brackets(load_material("simplegen", "en-de"))
        True
    """
    declared, config = material.declared, material.config
    if declared is None or config is None or material.wording or material.calibration:
        return False
    is_form = config.form is ContrastiveSourceExample and not config.is_open
    return is_form and declared.cues_of(config.name) == _BRACKETS


def with_calibrated_cues(
    metric: Metric, material: Material, evaluator: Evaluator | None
) -> tuple[Material, Calibration | None]:
    """Return the material in the wording that was calibrated best for the evaluator, and its
    calibration; the same material and None where the cues stay.

    Only cues that the package makes by gender brackets are replaced, and only where the caller has
    named none. Cues that define their dataset, and those of the user's own rows, stay.
    """
    if not gets_brackets(material) or "correct_sources" not in metric.reference_fields:
        return material, None
    calibration = _better_calibration(evaluator, material.src_lang, material.tgt_lang)
    if calibration is None or calibration.choice.wording is None:
        return material, None
    if not all(map(_has_plain_brackets, material.examples)):  # as in winomt emnlp2021
        return material, None
    return replace(material, wording=calibration.choice.wording), calibration


def _has_plain_brackets(example: ContrastiveSourceExample) -> bool:
    """Return whether the cues stand at the focus, as a wording would put them."""
    sides = example.correct_sources, example.incorrect_sources
    gold, lang = example.gold, example.src_lang
    made = gender_bracket_sources(example.source, example.focus, gold, src_lang=lang)
    return sides == made


def calibrated_example(
    example: ContrastiveSourceExample, evaluator: Evaluator, tgt_lang: str
) -> ContrastiveSourceExample:
    """Return an example in the wording that was calibrated best, as `with_calibrated_cues` does."""
    if not _has_plain_brackets(example):
        return example
    target = tgt_lang or example.tgt_lang or evaluator.tgt_lang
    calibration = _better_calibration(evaluator, example.src_lang, target)
    if calibration is None or calibration.choice.wording is None:
        return example
    return reworded(example, calibration.choice.wording)
