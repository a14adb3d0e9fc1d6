"""The study sense_counts. cc_hf reads STUDY to list it, and imports `commands` to run it."""

from __future__ import annotations

from cc_hf.registry import Study

__all__ = ["STUDY"]

STUDY = Study(
    commands="cc_hf_example.commands:app",
    papers=("raganato-2019", "The authors of the example 2026"),
    summary="Counts the sentences of each sense.",
)
