"""The tasks of a benchmark, as the Hub's leaderboards know them: one for each configuration, target
language, split, metric and score.

The ids of both sides come from `task_id`: those in eval.yaml in the repository of the dataset, and
those of the results in the repositories of models. The Hub takes an eval.yaml of frameworks that it
knows, of which inspect-ai runs choices between translations.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from huggingface_hub import DatasetCard

from cc_hf import registry
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.loading import card_path
from cc_hf.errors import InputError
from cc_hf.metrics.base import Metric
from cc_hf.models.location import EmbeddedModel

__all__ = [
    "MAX_TASKS",
    "Task",
    "benchmark_tasks",
    "pretty_name",
    "task_id",
    "tasks",
]

#: The metric and its score that inspect-ai's scorer `choice` computes, too.
_CHOICE = ("prompted_choice", "accuracy")
#: The Hub shows a leaderboard for each task, and people read only a few.
MAX_TASKS = 3


@dataclass(frozen=True)
class Task:
    """One column of a leaderboard; values are in [0, 1], and higher is better."""

    id: str
    config: str
    tgt_lang: str
    split: str
    metric: str
    score: str


def task_id(
    config: ConfigDeclaration, *, tgt_lang: str, metric: str, score: str, split: str = "test"
) -> str:
    """Return the id of a task within its dataset: its distinguishing parts, joined by "--"."""
    several = len(config.tgt_langs) > 1
    return "--".join(
        [
            config.name,
            *([tgt_lang] if several else []),
            *([split] if split != "test" else []),
            metric,
            score,
        ]
    )


def tasks(dataset: DatasetDeclaration, configs: Sequence[str] | None = None) -> list[Task]:
    """Return all tasks of a dataset, for the metrics that fit it, in the order of configurations.

    A configuration whose choices are open has none, since no share is better than another. Replies
    of language models are tasks wherever there are contrastive translations to ask about. Without
    `configs`, the tasks are those of all configurations.
    """
    chosen = [dataset.config(name) for name in configs] if configs is not None else dataset.configs
    metrics: list[type[Metric]] = list(registry.load_all("metric").values())
    return [
        Task(
            task_id(config, tgt_lang=language, metric=metric.name, score=score, split=split),
            config.name,
            language,
            split,
            metric.name,
            score,
        )
        for config in chosen
        if not config.is_open
        for language in config.tgt_langs
        for metric in metrics
        if _fits(metric, dataset, config, language)
        for split in config.splits
        for score in metric.leaderboard
    ]


def _fits(
    metric: type[Metric], dataset: DatasetDeclaration, config: ConfigDeclaration, language: str
) -> bool:
    """Return whether there are results of a metric."""
    # `cc-hf ask` also puts questions about data of which `prompted_choice` cannot read by itself
    # which option is the right one.
    if metric.reads_replies:
        return config.has_choices
    return not metric.fits(dataset.name, config.name, config.form, config.src_lang, language)


def benchmark_tasks(
    dataset: DatasetDeclaration,
    configs: Sequence[str] | None = None,
    *,
    ids: Sequence[str] | None = None,
) -> list[Task]:
    """Return the tasks of the leaderboards of a dataset's repository, at most `MAX_TASKS`: choices
    of language models between contrastive translations, which inspect-ai runs.

    Args:
        configs: names of the configurations in the repository; None for all.
        ids: the ids of the tasks. None for one task: of the default configuration, one made from it
            (such as NAME.translations) or the first, in its split "test". A configuration of a
            language pair for which an evaluator ships goes before others.

    Raises:
        UnknownNameError: for a configuration that is not declared.
        InputError: for ids that are too many, repeated, or not tasks of these configurations.

    Examples:
        >>> [task.id for task in benchmark_tasks(registry.resolve("dataset", "wino_x"))]
        ['mt_en_de.translations--prompted_choice--accuracy']
    """
    known = {
        task.id: task for task in tasks(dataset, configs) if (task.metric, task.score) == _CHOICE
    }
    if ids is not None:
        if not 0 < len(set(ids)) == len(ids) <= MAX_TASKS:
            raise InputError(
                f"tasks: expected 1 to {MAX_TASKS} different ids, got {', '.join(ids) or 'none'}"
            )
        for name in ids:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=3, cutoff=0)
                raise InputError(
                    f"tasks: {dataset.name} has no task {name!r} that inspect-ai runs in these"
                    f" configurations; the nearest: {', '.join(near) or 'none'}"
                )
        return [known[name] for name in ids]
    models: dict[str, EmbeddedModel] = registry.load_all("evaluator")
    pairs = {(model.src_lang, model.tgt_lang) for model in models.values()}
    ranked = sorted(
        known.values(),
        key=lambda task: (
            task.config.split(".")[0] != dataset.default_config.split(".")[0],
            (dataset.config(task.config).src_lang, task.tgt_lang) not in pairs,
            task.split != "test",
        ),
    )
    return ranked[:1]


def pretty_name(dataset: DatasetDeclaration) -> str:
    """Return the readable name of a dataset: of its card, or its declaration in another package."""
    if dataset.name not in registry.DATASETS:
        return dataset.title or dataset.name
    return str(DatasetCard.load(card_path(dataset.name)).data.pretty_name)
