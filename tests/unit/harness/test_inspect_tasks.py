"""Tasks of inspect-ai, run by inspect-ai with its mock model: their figures are those of cc-hf."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai (extra `harness`) is not installed")

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput

from cc_hf import registry
from cc_hf.asking.logprobs import choices_by_logprob
from cc_hf.asking.plans import Plan, Questions
from cc_hf.asking.runs import ask_plan, choices_of_run, described_run
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluation.material import Material, load_material
from cc_hf.harness.inspect_tasks import TASKS, result_of_log
from cc_hf.prompting.conversations import Decoding
from cc_hf.results import EvaluationResult
from cc_hf.systems.local_chat import answer_logprobs, open_local_chat
from tests.helpers.cases import cases
from tests.helpers.chat_models import save_tiny_chat_model
from tests.helpers.inspect_models import mock_model, prompt_output, run_task, text_output, turns
from tests.helpers.refusals import fails, refuses
from tests.helpers.respondents import Rule, Scripted, always, refusing_each, right_by_hash
from tests.helpers.samples import lay_out_samples


def same(logged: EvaluationResult, expected: EvaluationResult) -> None:
    """Check that results differ in nothing but the name of the model."""
    named = [r.signature.partition("|sys:") for r in (logged, expected)]
    data, rest = [], []
    for before, _, after in named:
        data.append(before)
        rest.append(after.partition("|")[2])
    assert (data[0], rest[0]) == (data[1], rest[1])
    alike = {"signature": "", "system": ""}
    assert asdict(replace(logged, **alike)) == asdict(replace(expected, **alike))  # type: ignore[arg-type]


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
def test_a_task_logs_what_ask_gives(
    options: dict[str, Any], rule: Rule, contrawsd: str, tmp_path: Path
) -> None:
    material, plan = planned("contrawsd", "de-en", contrawsd, **options)
    expected = asked(material, plan, rule, tmp_path / "replies.jsonl")
    log = logged(plan, rule, "contrawsd", tmp_path, data_dir=contrawsd, **options)
    same(result_of_log(log), expected)
    assert log.results is not None
    (scored,) = log.results.scores
    assert scored.name == "prompted_choice"
    assert {name: value.value for name, value in scored.metrics.items()} == expected.scores
    same(result_of_log(read_eval_log(log.location)), expected)  # as another process has it
    assert EvaluationResult.from_json(result_of_log(log).to_json()).scores == expected.scores


@cases(
    ("wino_x", "mt_en_de.translations", {"shots": 2}),
    ("wino_x", "mt_en_de.translations", {"shots": 2, "strategy": "cota"}),
    ("wino_x", "lm_en_de", {"shots": 0, "both_orders": True}),
)
def test_pairs_reasons_and_fillers_are_those_of_ask(
    name: str, config: str, options: dict[str, Any], shared: Path, tmp_path: Path
) -> None:
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
    run = described_run("choose", material, plan, local)
    expected = choices_by_logprob(run, plan, local)
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


def test_a_model_without_log_probabilities_of_prompts_says_so(
    contrawsd: str, tmp_path: Path
) -> None:
    task = TASKS["contrawsd"](answers="logprobs", data_dir=contrawsd, shots=0)
    model = mock_model(lambda messages, config: text_output("Translation 1"))
    log = run_task(task, model, tmp_path)
    assert log.status == "error"
    assert "expected a model that returns log-probabilities of its prompt" in str(log.error)
    refuses("expected the log of a task of cc_hf with its samples", result_of_log, log)


def test_a_first_look_gives_no_result(contrawsd: str, tmp_path: Path) -> None:
    model = mock_model(lambda messages, config: text_output("Translation 1"))
    arguments = {"data_dir": contrawsd, "shots": 0}
    log = run_task("cc_hf/contrawsd", model, tmp_path, task_args=arguments, limit=2)
    assert log.status == "success"
    refuses("expected a log of all 3 samples, got 2", result_of_log, log)


def test_a_log_of_another_task_is_refused(contrawsd: str, tmp_path: Path) -> None:
    model = mock_model(lambda messages, config: text_output("Translation 1"))
    task = TASKS["contrawsd"](data_dir=contrawsd, shots=0)
    task.metadata = {}
    refuses("expected the log of a task of cc_hf", result_of_log, run_task(task, model, tmp_path))


def test_every_dataset_with_choices_has_a_task() -> None:
    declared = registry.load_all("dataset")
    assert set(TASKS) == {
        name for name in declared if any(config.has_choices for config in declared[name].configs)
    }
    assert {"contrawsd", "mt_geneval", "wino_x"} <= set(TASKS)


@cases(
    ({"answers": "letters"}, InputError, "answers: expected one of words, logprobs, got 'letters'"),
    ({"parser": "first"}, InputError, "parser: expected"),
    ({"strategy": "none"}, InputError, "strategy: expected"),
    ({"config": "de-eng"}, UnknownNameError, "did you mean 'de-en'"),
)
def test_unknown_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str, contrawsd: str
) -> None:
    make = TASKS["contrawsd"]
    fails(error, message, lambda: make(data_dir=contrawsd, **{"shots": 0, **arguments}))


def test_the_log_says_what_was_asked(contrawsd: str, tmp_path: Path) -> None:
    model = mock_model(lambda messages, config: text_output("Translation 1"))
    task = TASKS["contrawsd"](data_dir=contrawsd, shots=0)
    log = run_task(task, model, tmp_path)
    text = json.dumps(log.eval.metadata)
    assert "Your task is to pick the correct English translation of a German sentence" in text
    assert log.eval.dataset.name == "contrawsd/de-en"
