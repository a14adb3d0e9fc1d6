"""Results in the older format, the `model-index` in the metadata of a model's card. Other metadata
of the card are kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResult
from huggingface_hub.repocard import REGEX_YAML_BLOCK, metadata_load, metadata_save
from huggingface_hub.repocard_data import eval_results_to_model_index

from cc_hf.errors import InputError
from cc_hf.hub.eval_results import Published
from cc_hf.hub.tasks import pretty_name
from cc_hf.reading import parse_yaml

__all__ = ["eval_results", "with_model_index"]

_KEY = "model-index"


def eval_results(
    results: Sequence[Published], *, source_url: str | None = None, source_name: str | None = None
) -> list[EvalResult]:
    """Convert results to huggingface_hub's `EvalResult`, one per task, with values in [0, 1]."""
    return [
        EvalResult(
            task_type="translation",
            task_name="Translation",
            dataset_type=published.dataset_repo,
            dataset_name=pretty_name(published.declared),
            dataset_config=task.config,
            dataset_split=task.split,
            dataset_revision=published.revision or None,
            metric_type=task.metric,
            metric_name=(
                f"{task.metric} {task.score}"
                f" {published.declared.config(task.config).src_lang}-{task.tgt_lang}"
            ),
            metric_value=value,
            metric_args={
                "signature": published.result.signature,
                **({"notes": notes} if (notes := _notes(published, task.score)) else {}),
            },
            source_url=source_url,
            source_name=source_name,
        )
        for published in results
        for task, value in published.values
    ]


def _notes(published: Published, score: str) -> list[str]:
    return [*published.remarks(score), *published.notes]


def with_model_index(card: str | None, model: str, results: Sequence[EvalResult]) -> str:
    """Return the text of a model's card, a new one for None, with the results in its metadata.

    Older values of the same metrics on the same data are replaced; everything else is kept.
    """
    name = model.rpartition("/")[2]
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "README.md"
        path.write_text(f"# {name}\n" if card is None else card, encoding="utf-8", newline="")
        try:
            if block := REGEX_YAML_BLOCK.search(card or ""):
                parse_yaml(block[2])
            metadata = metadata_load(path) or {}
        except (ValueError, yaml.YAMLError) as error:
            raise InputError(
                f"the metadata of the card of {model} cannot be read ({error}); fix them, or leave"
                " the card alone (model_index=False)"
            ) from error
        metadata_save(
            path,
            {
                **metadata,
                _KEY: _merged(
                    metadata.get(_KEY), eval_results_to_model_index(name, list(results)), model
                ),
            },
        )
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()


def _merged(old: Any, new: list[dict[str, Any]], model: str) -> list[dict[str, Any]]:
    """Return the merged entries as dicts."""
    # `EvalResult` would allow only one name and one source for all metrics on the same data.
    if not old:
        return new
    if not isinstance(old, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("results", []), list) for entry in old
    ):
        raise InputError(
            f"the {_KEY} of the card of {model} is not a list of models with results; fix it, or"
            " leave the card alone (model_index=False)"
        )
    replaced = {key for entry in new[0]["results"] for key in _keys(entry)}
    kept = []
    for entry in old[0].get("results", []):
        metrics = [
            metric for metric in entry.get("metrics") or [] if _key(entry, metric) not in replaced
        ]
        if metrics or not entry.get("metrics"):
            kept.append({**entry, **({"metrics": metrics} if metrics else {})})
    return [{"name": new[0]["name"], **old[0], "results": kept + new[0]["results"]}, *old[1:]]


def _keys(entry: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [_key(entry, metric) for metric in entry["metrics"]]


def _key(entry: dict[str, Any], metric: dict[str, Any]) -> tuple[Any, ...]:
    """Return what identifies a value: task, dataset and metric."""
    task, dataset = entry.get("task") or {}, entry.get("dataset") or {}
    return (
        task.get("type"),
        dataset.get("type"),
        dataset.get("config"),
        dataset.get("split"),
        metric.get("type"),
        metric.get("name"),
    )
