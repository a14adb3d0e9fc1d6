"""eval.yaml as inspect-ai reads it from a repository on the Hub, which here is a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("inspect_ai", reason="inspect-ai (extra `harness`) is not installed")

import huggingface_hub
from inspect_ai import Task
from inspect_ai._eval.task import hf
from inspect_ai.dataset import hf_dataset
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from pydantic import ValidationError

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.hub.parquet import build_dataset_folder
from cc_hf.hub.tasks import benchmark_tasks, eval_yaml
from tests.helpers.inspect_models import mock_model, run_task, text_output
from tests.helpers.samples import lay_out_samples

Read = Callable[[], list[Task]]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    data_dir = lay_out_samples("contrawsd", "de-en", tmp_path / "data", tmp_path)
    build_dataset_folder("contrawsd", ["de-en"], output=tmp_path / "built", data_dir=data_dir)
    return tmp_path / "built"


@pytest.fixture
def read(built: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Return a function that makes the tasks of hf/org/ws as inspect-ai makes them."""

    def downloaded(*, filename: str, repo_id: str, repo_type: str, revision: str) -> str:
        assert (repo_id, repo_type, revision) == ("org/ws", "dataset", "main")
        return str(built / filename)

    def loaded(path: str, revision: str, **options: Any) -> Any:
        assert path == "org/ws"
        return hf_dataset(str(built), cached=False, **options)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", downloaded)
    monkeypatch.setattr(hf, "hf_dataset", loaded)
    return lambda: hf.task_create_from_hf("hf/org/ws")


@pytest.mark.parametrize("letter", ["A", "B"])
def test_inspect_runs_the_published_dataset(
    letter: str, read: Read, built: Path, tmp_path: Path
) -> None:
    def reply(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        assert "Which is the better translation?\n\nA) " in messages[-1].text
        return text_output(f"ANSWER: {letter}")

    (task,) = read()
    rows = yaml.safe_load((built / "eval.yaml").read_text(encoding="utf-8"))["tasks"]
    assert [row["id"] for row in rows] == ["de-en--prompted_choice--accuracy"]
    targets = [str(sample.target) for sample in task.dataset]
    assert set(targets) <= {"A", "B"}
    log = run_task(task, mock_model(reply), tmp_path / "log")
    assert log.results is not None
    (scored,) = log.results.scores
    assert scored.metrics["accuracy"].value == targets.count(letter) / len(targets)


@pytest.mark.parametrize("key", ["metrics", "evaluator", "prompt"])
def test_inspect_refuses_a_field_that_it_does_not_know(key: str, read: Read, built: Path) -> None:
    path = built / "eval.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["tasks"][0][key] = "x"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ValidationError, match=key):
        read()


@pytest.mark.parametrize("name", registry.DATASETS)
def test_inspect_accepts_the_tasks_of_every_dataset(name: str) -> None:
    declared = declaration(name)
    content = yaml.safe_load(eval_yaml(declared, benchmark_tasks(declared)))
    for task in content["tasks"]:
        accepted = hf.HFTask.model_validate(task)
        assert accepted.model_dump(exclude_unset=True, exclude={"field_spec"}) == {
            key: value for key, value in task.items() if key != "field_spec"
        }
