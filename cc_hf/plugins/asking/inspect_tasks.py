"""Tasks of inspect-ai, one for each dataset with contrastive translations: `inspect eval
cc_hf/wino_x --model MODEL` asks what `cc-hf ask wino_x` asks, and logs the figures of its metric.

This module is an entry point of inspect_ai, which imports it; nothing else in cc_hf does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import InputError, MissingDependencyError, check_choice
from cc_hf.evaluation.material import load_material
from cc_hf.hub.tasks import benchmark_tasks
from cc_hf.models.chat_templates import Conversation, Message
from cc_hf.plugins.asking.conversations import Reply
from cc_hf.plugins.asking.plans import SWAPPED, Plan, Questions
from cc_hf.plugins.asking.prompted_choice import PromptedChoice, judge_rows
from cc_hf.plugins.asking.prompting.choices import PARSERS
from cc_hf.plugins.asking.prompting.replies import KeptReply
from cc_hf.plugins.asking.runs import choices_of_run, described_run
from cc_hf.results import EvaluationResult

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import EvalLog
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        ModelOutput,
        get_model,
    )
    from inspect_ai.scorer import (
        CORRECT,
        INCORRECT,
        Metric,
        SampleScore,
        Score,
        Scorer,
        Target,
        metric,
        scorer,
    )
    from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
except ImportError as error:
    raise MissingDependencyError("inspect-ai", "harness") from error

__all__ = ["ANSWERS", "TASKS", "result_of_log"]

#: How a choice is made: read from the words of a reply, or the answer that is more probable as the
#: beginning of the reply.
ANSWERS = ("words", "logprobs")
#: Where a log has what was asked.
_RUN = "cc_hf_run"
#: What the figures of a run do not depend on.
_UNNAMED: dict[str, Any] = {
    "task": "choose",
    "origin": {},
    "notes": [],
    "demonstrations": [],
    "left_out": [],
    **dict.fromkeys(("dataset", "config", "src_lang", "tgt_lang"), ""),
    **dict.fromkeys(("prompt", "strategy"), "unnamed"),
    "demonstrations_from": "none",
}
_MESSAGES: dict[str, type[Any]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class _Nobody:
    """Stands for the model, which inspect-ai names only in the log."""

    identity = "inspect"

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """Raise, since inspect-ai asks."""
        raise NotImplementedError


def _choices(
    dataset: str,
    config: str | None = None,
    answers: str = "words",
    *,
    strategy: str = "basic",
    shots: int | None = None,
    demonstrations: str = "auto",
    both_orders: bool = False,
    seed: int = 0,
    parser: str = "conclusion",
    data_dir: str | None = None,
) -> Task:
    """Choose between two translations, as `cc-hf ask DATASET CONFIG` asks.

    Args:
        config: name of a configuration; None for that of the eval.yaml which cc_hf publishes.
        answers: one of `ANSWERS`. For "logprobs" the model must return the log-probabilities of a
            prompt (inspect-ai's `vllm`).
    """
    check_choice("answers", answers, ANSWERS)
    check_choice("parser", parser, PARSERS)
    name = config or benchmark_tasks(registry.resolve("dataset", dataset))[0].config
    material = load_material(dataset, name, data_dir=data_dir)
    questions = Questions("choose", strategy, shots, demonstrations, both_orders, seed)
    _, plan = questions.plan(material)
    run = described_run("choose", material, plan, _Nobody())
    if answers == "logprobs":
        run["prompt"] = f"{run['prompt']}.logprob"
    template = plan.prompt.template
    return Task(
        dataset=MemoryDataset(_samples(plan), name=f"{dataset}/{name}"),
        solver=generate() if answers == "words" else more_probable(template.label),
        scorer=prompted_choice(parser),
        config=GenerateConfig(temperature=0.0, max_tokens=template.max_new_tokens),
        metadata={_RUN: run},
        version=PromptedChoice.version,
    )


def _samples(plan: Plan) -> list[Sample]:
    return [
        Sample(
            id=request.id,
            input=_messages(request.conversation),
            target=request.reference["answer"],
            metadata={"row": row, "reference": dict(request.reference)},
        )
        for row, request in enumerate(plan.requests)
    ]


def _messages(conversation: Sequence[Message]) -> list[ChatMessage]:
    return [_MESSAGES[turn.role](content=turn.content) for turn in conversation]


@solver
def more_probable(label: str) -> Solver:
    """Reply with the answer that is more probable as the beginning of the reply."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model, sums = get_model(), []
        answers = [f"{label} {number}" for number in (1, 2)]
        for answer in answers:
            output = await model.generate(
                [*state.messages, ChatMessageAssistant(content=answer)],
                config=GenerateConfig(max_tokens=1, prompt_logprobs=1),
            )
            logprobs = output.choices[0].prompt_logprobs if output.choices else None
            if logprobs is None or not logprobs.content:
                raise InputError(
                    f"answers: expected a model that returns log-probabilities of its prompt, such"
                    f" as those of inspect-ai's vllm, for logprobs; {model} returns none"
                )
            # Both prompts share the tokens before the answers, so the difference of these sums is
            # that of the answers alone.
            sums.append(sum(token.logprob for token in logprobs.content))
        text = "" if sums[0] == sums[1] else answers[sums[1] > sums[0]]
        state.output = ModelOutput.from_content(str(state.model), text)
        state.messages.append(state.output.message)
        return state

    return solve


@metric
def figures() -> Metric:
    """Compute the figures of `prompted_choice` over all replies."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        replies = [score.score for score in scores]
        # A slow run shows figures of what it has so far: perhaps of swapped options alone.
        has_rows = any(not (r.metadata or {})["id"].endswith(SWAPPED) for r in replies)
        return dict(_result(replies, _UNNAMED).scores) if has_rows else {}

    return compute


@scorer(metrics=[figures()])
def prompted_choice(parser: str) -> Scorer:
    """Read a reply as cc_hf's metric of the same name reads it, and compute its figures."""

    async def score(state: TaskState, target: Target) -> Score:
        reference, reply = state.metadata["reference"], state.output.completion
        (judgement,) = judge_rows([reply], [reference], parser=parser)
        return Score(
            value=CORRECT if judgement.verdict == "correct" else INCORRECT,
            answer=judgement.predicted,
            explanation=reply,
            metadata={
                "row": state.metadata["row"],
                "id": str(state.sample_id),
                "model": str(state.model),
                "reference": reference,
                "parser": parser,
                "verdict": judgement.verdict,
                "is_cut": state.output.stop_reason == "max_tokens",
            },
        )

    return score


def result_of_log(log: EvalLog) -> EvaluationResult:
    """Return the result of a log, as `cc-hf ask` writes it, for `cc-hf report` and `compare`."""
    metadata = log.eval.metadata or {}
    samples = log.samples or []
    scores = [score for sample in samples for score in (sample.scores or {}).values()]
    if _RUN not in metadata or not scores:
        raise InputError(
            f"expected the log of a task of cc_hf with its samples, got {log.eval.task} with"
            f" {len(scores)} samples that have a score"
        )
    n_all = log.eval.dataset.samples
    if n_all is not None and len(samples) < n_all:
        raise InputError(
            f"expected a log of all {n_all} samples, got {len(samples)}, which must not pass for"
            " the whole; run the task without a limit"
        )
    path = str((log.eval.model_args or {}).get("model_path", ""))
    return _result(scores, metadata[_RUN], local=Path(path).name)


def _result(
    scores: Iterable[Score], run: Mapping[str, Any], *, local: str = ""
) -> EvaluationResult:
    rows = [(score.explanation, score.metadata or {}) for score in scores]
    rows.sort(key=lambda row: row[1]["row"])  # a log has them in the order of their ends
    kept = [
        KeptReply(row["id"], row["reference"], Reply(text or "", is_cut=row["is_cut"]))
        for text, row in rows
    ]
    model = "/".join(filter(None, (rows[0][1]["model"], local)))
    described = {**run, "model": f"inspect:{model}"}
    result = choices_of_run(described, kept, parser=rows[0][1]["parser"])
    if run["prompt"].endswith(".logprob"):
        return replace(result, system=f"{result.system}, by log-probability")
    return result


def _named(dataset: str) -> Callable[..., Task]:
    """Return the function that makes the tasks of a dataset, for inspect-ai's list of tasks."""
    choices: Any = functools.partial(_choices, dataset)
    choices.__module__, choices.__name__, choices.__doc__ = __name__, dataset, _choices.__doc__
    return task(name=dataset)(choices)  # type: ignore[no-any-return]


#: Name of a dataset -> what makes its task; inspect-ai calls it cc_hf/NAME.
TASKS: dict[str, Callable[..., Task]] = {
    name: _named(name)
    for name, declared in registry.load_all("dataset").items()
    if any(config.has_choices for config in declared.configs)
}
