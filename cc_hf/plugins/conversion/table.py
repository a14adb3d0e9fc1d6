"""Converted models as JSON and as lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cc_hf.plugins.conversion.convert import Conversion

__all__ = ["conversion_json", "conversion_lines"]


def conversion_json(conversion: Conversion) -> dict[str, Any]:
    """Return the families of the models by their folders, and the deviations of their scores."""
    check = conversion.check
    return {
        "models": {
            str(folder): family
            for folder, family in zip(conversion.folders, conversion.families, strict=True)
        },
        "deviations": None if check is None else dict(check.deviations),
    }


def conversion_lines(conversion: Conversion) -> Iterator[str]:
    """Yield the models, and how their scores and ids compare with those of fairseq."""
    from cc_hf.plugins.conversion.check import TOLERANCE  # which imports torch

    settings, check = conversion.settings, conversion.check
    for folder, family in zip(conversion.folders, conversion.families, strict=True):
        yield f"{folder}  {family}, {settings.source_lang}-{settings.target_lang}"
    if check is None:
        yield "scores were not checked: give scores of fairseq with --check to compare"
        return
    for name, value in check.deviations.items():
        yield (
            f"{name}: largest deviation of {check.n_tokens} log-probabilities {value:.2g} (allowed"
            f" {TOLERANCE:g})"
        )
    yield (
        f"ids equal for all {check.n_texts} texts"
        if check.n_texts
        else "ids were not checked: the file holds no texts"
    )
