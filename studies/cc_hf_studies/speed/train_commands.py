"""cc-hf study speed train: models with few decoder layers or average attention."""

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
            names=TrainingFields.names.replace("layers", "layers attention"),
            defaults={
                **TrainingFields.defaults,
                "size": "transformer-big",
                "layers": "6,2",
                "segmentation": "bpe",
                "learning_rate": 5e-4,
            },
            helps={"learning_rate": "Learning rate at the end of the warm-up."},
        ),
    ],
    quiet: bool = False,
) -> Outcome:
    """Train a model that decodes fast, from random weights (Renduchintala et al. 2021, section 4).

    The paper's models have 6,6 (the baseline), 8,4, 10,2, 11,1, 6,4, 6,2 or 6,1 layers, each with
    ordinary and with average attention. The model is in the folder `best`.

    Example: cc-hf study speed train --train a.en a.de --dev b.en b.de --layers 6,1 -o fast
    """
    tests = (test_source, test_target)
    return trained(options, train=train, dev=dev, tests=tests, output=output, quiet=quiet)
