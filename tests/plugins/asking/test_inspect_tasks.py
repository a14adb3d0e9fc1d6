"""Tasks of inspect-ai, run by inspect-ai with its mock model, give the figures of cc-hf, and
inspect-ai reads eval.yaml from a repository on the Hub, which here is a folder.
"""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import yaml
from inspect_ai import Task
from inspect_ai._eval.task import hf
from inspect_ai.dataset import hf_dataset
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.scorer import SampleScore
from pydantic import ValidationError

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluation.material import Material, load_material
from cc_hf.hub.tasks import benchmark_tasks
from cc_hf.plugins.asking.conversations import Decoding
from cc_hf.plugins.asking.inspect_tasks import TASKS, figures, result_of_log
from cc_hf.plugins.asking.local_chat import answer_logprobs, open_local_chat
from cc_hf.plugins.asking.logprobs import choices_by_logprob
from cc_hf.plugins.asking.plans import Plan, Questions
from cc_hf.plugins.asking.runs import ask_plan, choices_of_run, described_run
from cc_hf.results import EvaluationResult
from tests.helpers.chat_models import save_tiny_chat_model
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cases, fails, known, refuses
from tests.plugins.asking.inspect_models import (
    mock_model,
    prompt_output,
    run_task,
    text_output,
    turns,
)
from tests.plugins.asking.respondents import Rule, Scripted, always, refusing_each, right_by_hash

pytest.importorskip("inspect_ai", reason="inspect-ai (extra `harness`) is not installed")


_FIRST = mock_model(lambda messages, config: text_output("Translation 1"))


def same(*results: EvaluationResult) -> None:
    """Check that two results differ in nothing but the name of the model."""
    signatures = [re.sub(r"\|sys:[^|]*", "", result.signature) for result in results]
    named = zip(results, signatures, strict=True)
    left, right = (asdict(replace(r, signature=signed, system="")) for r, signed in named)
    assert left == right


@pytest.fixture
def contrawsd(tmp_path: Path) -> str:
    """Return a data_dir with samples."""
    return str(lay_out_samples("contrawsd", "de-en", tmp_path / "data", tmp_path))


def planned(name: str, config: str, data_dir: str, **options: Any) -> tuple[Material, Plan]:
    material = load_material(name, config, data_dir=data_dir)
    return material, Questions("choose", **options).plan(material)[1]


def asked(material: Material, plan: Plan, rule: Rule, path: Path) -> EvaluationResult:
    """Return the result of `cc-hf ask`."""
    return choices_of_run(*ask_plan("choose", material, plan, Scripted(plan, rule), path))


def logged(plan: Plan, rule: Rule, name: str, folder: Path, **arguments: Any) -> EvalLog:
    """Run a task by its name with a model that replies as `Scripted` does."""
    scripted = Scripted(plan, rule)

    def reply(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        assert (config.temperature, config.max_tokens) == (0, plan.prompt.template.max_new_tokens)
        return text_output(scripted.reply([turns(messages)])[0].text or "")

    return run_task(f"cc_hf/{name}", mock_model(reply), folder, task_args=arguments)


@cases(
    ({"shots": 0}, right_by_hash),
    ({"shots": 0, "both_orders": True}, refusing_each(2, always("1"))),
    ({"shots": 1, "seed": 3}, refusing_each(3, right_by_hash)),
)
def test_tasks_log_what_ask_gives(options: Any, rule: Rule, contrawsd: str, tmp_path: Path) -> None:
    material, plan = planned("contrawsd", "de-en", contrawsd, **options)
    expected = asked(material, plan, rule, tmp_path / "replies.jsonl")
    log = logged(plan, rule, "contrawsd", tmp_path, data_dir=contrawsd, **options)
    same(result_of_log(log), expected)
    assert log.results is not None, log.error
    (scored,) = log.results.scores
    assert scored.name == "prompted_choice"
    assert {name: value.value for name, value in scored.metrics.items()} == expected.scores
    same(result_of_log(read_eval_log(log.location)), expected)  # as another process has it
    assert EvaluationResult.from_json(result_of_log(log).to_json()).scores == expected.scores


def test_figures_while_a_run_goes_on_wait_for_a_row(contrawsd: str, tmp_path: Path) -> None:
    options: Any = {"shots": 0, "both_orders": True}
    _, plan = planned("contrawsd", "de-en", contrawsd, **options)
    log = logged(plan, always("1"), "contrawsd", tmp_path, data_dir=contrawsd, **options)
    scores = [known(sample.scores)["prompted_choice"] for sample in known(log.samples)]
    scores.sort(key=lambda score: known(score.metadata)["row"])
    compute: Any = figures()
    parts: Any = ([], scores[1::2], scores)  # none, the swapped options alone, and all
    actual = [bool(compute([SampleScore(score=score) for score in part])) for part in parts]
    assert actual == [False, False, True]


@cases(
    ("wino_x", "mt_en_de.translations", {"shots": 2}),
    ("wino_x", "mt_en_de.translations", {"shots": 2, "strategy": "cota"}),
    ("wino_x", "lm_en_de", {"shots": 0, "both_orders": True}),
)
def test_asked_pairs(name: str, config: str, options: Any, shared: Path, tmp_path: Path) -> None:
    data_dir = str(lay_out_samples(name, config, tmp_path / "data", shared))
    material, plan = planned(name, config, data_dir, **options)
    expected = asked(material, plan, right_by_hash, tmp_path / "replies.jsonl")
    arguments = {"config": config, "data_dir": data_dir, **options}
    same(result_of_log(logged(plan, right_by_hash, name, tmp_path, **arguments)), expected)


def test_the_more_probable_answer_is_that_of_ask(contrawsd: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    save_tiny_chat_model(tmp_path / "model", n_positions=512)
    local = open_local_chat(str(tmp_path / "model"), decoding=Decoding(), device="cpu")
    material, plan = planned("contrawsd", "de-en", contrawsd, shots=0)
    expected = choices_by_logprob(described_run("choose", material, plan, local), plan, local)
    answers = ["Translation 1", "Translation 2"]

    def reply(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        assert (config.prompt_logprobs, messages[-1].role) == (1, "assistant")
        (logprobs,) = answer_logprobs(local, [turns(messages[:-1])], answers)
        logprob = float(np.asarray(logprobs)[answers.index(messages[-1].text)])
        return prompt_output([-1.25, -0.5, logprob])  # those of the tokens before it are the same

    arguments = {"answers": "logprobs", "data_dir": contrawsd, "shots": 0}
    log = run_task("cc_hf/contrawsd", mock_model(reply), tmp_path / "log", task_args=arguments)
    assert result_of_log(log).system == "model (basic), by log-probability"
    same(result_of_log(log), expected)


def test_equally_probable_answers_are_no_choice(contrawsd: str, tmp_path: Path) -> None:
    arguments = {"answers": "logprobs", "data_dir": contrawsd, "shots": 0}
    model = mock_model(lambda messages, config: prompt_output([-2.0]))
    result = result_of_log(run_task("cc_hf/contrawsd", model, tmp_path, task_args=arguments))
    assert (result.scores["accuracy"], result.scores["invalid_rate"]) == (0, 1)


def test_a_model_without_logprobs_of_prompts_says_so(contrawsd: str, tmp_path: Path) -> None:
    task = TASKS["contrawsd"](answers="logprobs", data_dir=contrawsd, shots=0)
    log = run_task(task, _FIRST, tmp_path)
    assert log.status == "error"
    assert "expected a model that returns log-probabilities of its prompt" in str(log.error)
    refuses("expected the log of a task of cc_hf with its samples", result_of_log, log)


def test_a_first_look_gives_no_result(contrawsd: str, tmp_path: Path) -> None:
    arguments = {"data_dir": contrawsd, "shots": 0}
    log = run_task("cc_hf/contrawsd", _FIRST, tmp_path, task_args=arguments, limit=2)
    assert log.status == "success"
    refuses("expected a log of all 3 samples, got 2", result_of_log, log)


def test_every_dataset_with_choices_has_a_task() -> None:
    declared = registry.load_all("dataset").items()
    assert set(TASKS) == {name for name, of in declared if any(c.has_choices for c in of.configs)}
    assert {"contrawsd", "mt_geneval", "wino_x"} <= set(TASKS)


@cases(
    ({"answers": "letters"}, InputError, "answers: expected one of words, logprobs, got 'letters'"),
    ({"parser": "first"}, InputError, "parser: expected"),
    ({"strategy": "none"}, InputError, "strategy: expected"),
    ({"config": "de-em"}, UnknownNameError, "did you mean 'de-en'"),
)
def test_bad_arguments_fail(arguments: Any, error: Any, message: str, contrawsd: str) -> None:
    make = TASKS["contrawsd"]
    fails(error, message, lambda: make(data_dir=contrawsd, **{"shots": 0, **arguments}))


def test_the_log_says_what_was_asked(contrawsd: str, tmp_path: Path) -> None:
    log = run_task(TASKS["contrawsd"](data_dir=contrawsd, shots=0), _FIRST, tmp_path)
    text = json.dumps(log.eval.metadata)
    assert "Your task is to pick the correct English translation of a German sentence" in text
    assert log.eval.dataset.name == "contrawsd/de-en"
    log.eval.metadata = {}  # as in a log of another task
    refuses("expected the log of a task of cc_hf", result_of_log, log)


pytest.importorskip("inspect_ai", reason="inspect-ai (extra `harness`) is not installed")


Read = Callable[[], list[Task]]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

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
def test_inspect_runs_published_data(letter: str, read: Read, built: Path, tmp_path: Path) -> None:
    def reply(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        assert "Which is the better translation?\n\nA) " in messages[-1].text
        return text_output(f"ANSWER: {letter}")

    (task,) = read()
    rows = yaml.safe_load((built / "eval.yaml").read_text(encoding="utf-8"))["tasks"]
    assert [row["id"] for row in rows] == ["de-en--prompted_choice--accuracy"]
    targets = [str(sample.target) for sample in task.dataset]
    assert set(targets) <= {"A", "B"}
    log = run_task(task, mock_model(reply), tmp_path / "log")
    assert log.results is not None, log.error
    (scored,) = log.results.scores
    assert scored.metrics["accuracy"].value == targets.count(letter) / len(targets)


@pytest.mark.parametrize("key", ["metrics", "evaluator", "prompt"])
def test_inspect_refuses_a_field_that_it_does_not_know(key: str, read: Read, built: Path) -> None:
    path = built / "eval.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["tasks"][0][key] = "x"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    fails(ValidationError, key, read)


@pytest.mark.parametrize("name", registry.DATASETS)
def test_inspect_accepts_the_tasks_of_every_dataset(name: str) -> None:
    from cc_hf.plugins.dataset_folders.benchmark import eval_yaml

    declared = declaration(name)
    content = yaml.safe_load(eval_yaml(declared, benchmark_tasks(declared)))
    for task in content["tasks"]:
        accepted = hf.HFTask.model_validate(task)
        plain = accepted.model_dump(exclude_unset=True, exclude={"field_spec"})
        assert {**plain, "field_spec": task["field_spec"]} == task
