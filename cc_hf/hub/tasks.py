"""The tasks of a benchmark, as the Hub's leaderboards know them: one for each configuration, target
language, split, metric and score.

The ids of both sides come from `task_id`: those in eval.yaml in the repository of the dataset, and
those of the results in the repositories of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml
from huggingface_hub import DatasetCard

from cc_hf import registry
from cc_hf.data.loading import card_path, declaration
from cc_hf.metrics.base import Metric

__all__ = ["FRAMEWORK", "Task", "eval_yaml", "pretty_name", "task_id", "tasks"]

#: The value of evaluation_framework in eval.yaml.
FRAMEWORK = "cc_hf"


@dataclass(frozen=True)
class Task:
    """One column of a leaderboard; values are in [0, 1], and higher is better.

    Attributes:
        id: the id from `task_id`.
        config: the configuration of the dataset.
        tgt_lang: ISO 639-1 code of the target language.
        split: the split of the configuration.
        metric: the name of the metric.
        score: the score of the metric that the column shows.
    """

    id: str
    config: str
    tgt_lang: str
    split: str
    metric: str
    score: str


def task_id(
    dataset: str, config: str, *, tgt_lang: str, metric: str, score: str, split: str = "test"
) -> str:
    """Return the id of a task within its dataset: its distinguishing parts, joined by "--".

    Args:
        dataset: a registered dataset.
        config: a configuration of it.
        tgt_lang: ISO 639-1 code of the target language; part of the id if the configuration has
            several.
        metric: the name of the metric.
        score: the name of the score.
        split: the split; part of the id unless it is "test".

    Raises:
        UnknownNameError: for a dataset or configuration that is not declared.

    Examples:
        >>> task_id(
        ...     "winomt",
        ...     "default",
        ...     tgt_lang="de",
        ...     metric="contrastive_conditioning",
        ...     score="min_accuracy",
        ... )
        'default--de--contrastive_conditioning--min_accuracy'
        >>> names = {"metric": "simplegen_accuracy", "score": "accuracy"}
        >>> task_id("simplegen", "en-de", tgt_lang="de", **names)
        'en-de--simplegen_accuracy--accuracy'
    """
    several = len(declaration(dataset).config(config).tgt_langs) > 1
    return "--".join(
        [
            config,
            *([tgt_lang] if several else []),
            *([split] if split != "test" else []),
            metric,
            score,
        ]
    )


def tasks(dataset: str, configs: Sequence[str] | None = None) -> list[Task]:
    """Return all tasks of a dataset, for the metrics that fit it, in the order of configurations.

    Args:
        dataset: a registered dataset.
        configs: names of configurations; None for all.

    Raises:
        UnknownNameError: for a dataset or configuration that is not declared.

    Examples:
        >>> len({task.id for task in tasks("simplegen")}) == len(tasks("simplegen"))
        True
    """
    declared = declaration(dataset)
    chosen = (
        [declared.config(name) for name in configs] if configs is not None else declared.configs
    )
    metrics: list[type[Metric]] = [
        registry.resolve("metric", name) for name in registry.names("metric")
    ]
    return [
        Task(
            task_id(
                dataset,
                config.name,
                tgt_lang=language,
                metric=metric.name,
                score=score,
                split=split,
            ),
            config.name,
            language,
            split,
            metric.name,
            score,
        )
        for config in chosen
        for language in config.tgt_langs
        for metric in metrics
        if not metric.fits(declared.name, config.name, config.form, config.src_lang, language)
        for split in config.splits
        for score in metric.leaderboard
    ]


def pretty_name(dataset: str) -> str:
    """Return the readable name of a dataset, from its card.

    Args:
        dataset: a registered dataset.

    Examples:
        >>> pretty_name("winomt")
        'WinoMT in contrastive format'
    """
    return str(DatasetCard.load(card_path(dataset)).data.pretty_name)


def eval_yaml(dataset: str, configs: Sequence[str] | None = None) -> str:
    """Return the file eval.yaml, which turns a dataset repository into a benchmark: name,
    description, evaluation_framework and tasks.

    Args:
        dataset: a registered dataset.
        configs: names of configurations; None for all.

    Raises:
        UnknownNameError: for a dataset or configuration that is not declared.

    Examples:
        >>> eval_yaml("simplegen", ["en-es"]).splitlines()[0]
        'name: SimpleGEN in contrastive format'
    """
    content = {
        "name": pretty_name(dataset),
        "description": declaration(dataset).description,
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {"id": task.id, "config": task.config, "split": task.split}
            for task in tasks(dataset, configs)
        ],
    }
    return str(yaml.safe_dump(content, sort_keys=False, width=4096, allow_unicode=True))
