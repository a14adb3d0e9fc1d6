"""cc-hf study distillation train: teachers, students and baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from cc_hf.cli.command import Outcome
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch_command import (
    DevPairs,
    TestSources,
    TestTargets,
    TrainingFields,
    TrainingFolder,
    TrainPairs,
    trained,
)

__all__ = ["train"]


def train(
    *,
    train: TrainPairs,
    dev: DevPairs,
    test_source: TestSources = None,
    test_target: TestTargets = None,
    output: TrainingFolder,
    options: Annotated[
        TrainingOptions,
        replace(
            TrainingFields,
            defaults={**TrainingFields.defaults, "learning_rate": 5e-4, "max_length_ratio": 1.5},
            helps={
                "learning_rate": "Learning rate at the end of the warm-up.",
                "max_length_ratio": "Largest ratio of the numbers of pieces of a pair.",
            },
        ),
    ],
    quiet: bool = False,
) -> Outcome:
    """Train a teacher, a student or a baseline from random weights (Vamvas & Sennrich 2021, 4.2).

    A student learns from the translations of its teacher (see `cc-hf translate`), best with the
    vocabulary of the teacher. The model is in the folder `best`, and figures.json beside it.

    Example: cc-hf study distillation train --train a.en a.de --dev b.en b.de -o teacher
    """
    tests = (test_source, test_target)
    return trained(options, train=train, dev=dev, tests=tests, output=output, quiet=quiet)
