"""The file eval.yaml, by which the repository of a dataset is a benchmark of the Hub."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from cc_hf import registry
from cc_hf.data.dataset_folders import CHOICES
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.hub.tasks import Task, benchmark_tasks, pretty_name

__all__ = ["FRAMEWORK", "eval_yaml", "no_benchmark"]

#: The value of evaluation_framework in eval.yaml, one of a list that Hugging Face keeps
#: (packages/tasks/src/eval.ts of huggingface.js).
FRAMEWORK = "inspect-ai"


def no_benchmark(name: str) -> list[str]:
    """Return the note on a folder without eval.yaml; none for a file of one's own.

    Examples:
        >>> no_benchmark("simplegen")[0][:13], no_benchmark("own.jsonl")
        ('no eval.yaml:', [])
    """
    if name not in registry.names("dataset"):
        return []
    others = sorted({task.config for task in benchmark_tasks(registry.resolve("dataset", name))})
    return [
        "no eval.yaml: the Hub takes benchmarks that inspect-ai can run, which are choices between"
        " contrastive translations. These configurations have none"
        + f"; others have some, such as {''.join(others)}"
        * bool(others)
    ]


def eval_yaml(dataset: DatasetDeclaration, chosen: Sequence[Task]) -> str:
    """Return the file eval.yaml, which turns a dataset repository into a benchmark: name,
    description, evaluation_framework and tasks. Each task reads the configuration NAME.choices.
    """
    content = {
        "name": pretty_name(dataset),
        "description": dataset.description,
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {
                "id": task.id,
                "config": f"{task.config}{CHOICES}",
                "split": task.split,
                "field_spec": {"input": "question", "target": "target", "choices": "choices"},
                "solvers": [{"name": "multiple_choice"}],
                "scorers": [{"name": "choice"}],
            }
            for task in chosen
        ],
    }
    return str(yaml.safe_dump(content, sort_keys=False, width=4096, allow_unicode=True))
