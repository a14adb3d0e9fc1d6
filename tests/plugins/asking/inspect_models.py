"""inspect-ai's mock model, with replies by a rule, and runs of tasks that log into a folder."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)

from cc_hf.models.chat_templates import Conversation, Message


def mock_model(reply: Callable[[list[ChatMessage], GenerateConfig], ModelOutput]) -> Model:
    """Return the mock model; it counts no tokens, for which it would download a tokenizer."""

    def outputs(messages: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        output = reply(messages, config)
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def text_output(text: str) -> ModelOutput:
    return ModelOutput.from_content("mockllm/model", text)


def prompt_output(logprobs: list[float]) -> ModelOutput:
    """Return an output with the log-probabilities of the tokens of a prompt."""
    output = text_output("")
    tokens = [Logprob(token="x", logprob=logprob) for logprob in logprobs]
    output.choices[0].prompt_logprobs = Logprobs(content=tokens)
    return output


def turns(messages: list[ChatMessage]) -> Conversation:
    """Return messages of inspect-ai as turns of cc_hf."""
    roles: Any = [message.role for message in messages]
    return tuple(Message(role, message.text) for role, message in zip(roles, messages, strict=True))


def run_task(task: Any, model: Model, folder: Path, **options: Any) -> EvalLog:
    """Return the log of a task."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of inspect-ai itself
        (log,) = inspect_eval(
            task, model=model, log_dir=str(folder), display="none", log_format="json", **options
        )
    return log
