"""The labels of filled sheets, by which `cc-hf evaluate --labels` corrects figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cc_hf.comparing.people.agreement import Assumption
from cc_hf.comparing.people.annotations import Annotation
from cc_hf.plugins.raters.sampling import (
    FORMS,
    annotations_of_system,
    assumption_of_system,
    inclusion_of_system,
    system_of_result,
)
from cc_hf.plugins.raters.sheets import read_key_and_sheets
from cc_hf.results import EvaluationResult

__all__ = ["labels_of_sheets"]


def labels_of_sheets(
    result: EvaluationResult, files: Sequence[Path]
) -> tuple[list[Annotation], dict[str, float], Assumption | None]:
    """Return what filled sheets say about the translations of a result.

    Args:
        result: a result with judgements of the translations that were rated.
        files: the filled sheets of `cc-hf build sheets`, with their key, in any order.

    Returns:
        The labels; id of an example -> the probability, in [0, 1], with which its translation was
        drawn; and the verdicts that stand for labels, None where all that was drawn is rated.

    Raises:
        InputError: for files that are not as expected, sheets of another result, or a draw that
            left some translations out.
    """
    sheet_key, raters = read_key_and_sheets(files, FORMS)
    system = system_of_result(sheet_key, result)
    inclusion = inclusion_of_system(sheet_key, system, result.n)
    annotations = annotations_of_system(sheet_key, raters, system)
    return annotations, inclusion, assumption_of_system(sheet_key, system)
