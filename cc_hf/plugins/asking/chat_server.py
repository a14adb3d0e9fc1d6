"""A language model behind an OpenAI-compatible server that answers conversations. No torch here.

Such as vLLM, SGLang, TGI, llama.cpp, `transformers serve`, inference providers, OpenAI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.evaluators.distributed import join
from cc_hf.models.chat_templates import Conversation
from cc_hf.models.servers import Server
from cc_hf.plugins.asking.conversations import (
    Decoding,
    Reply,
    check_counts,
    check_decoding,
    decoding_name,
)

__all__ = ["RequestPlan", "ServerChat", "request_plan"]


@dataclass(frozen=True)
class RequestPlan:
    """What would be sent to a server, to be shown before it is."""

    n_requests: int  # without repeated ones
    n_characters: int  # of all prompts
    n_reply_tokens: int  # the most that all replies together can have


def request_plan(conversations: Sequence[Conversation], decoding: Decoding) -> RequestPlan:
    """Return what would be sent; equal conversations are sent once."""
    distinct = set(conversations)
    return RequestPlan(
        len(distinct),
        sum(len(turn.content) for conversation in distinct for turn in conversation),
        len(distinct) * decoding.max_new_tokens,
    )


class ServerChat:
    """A server that answers conversations.

    The key is read from the environment (`cc_hf.models.servers.KEY_VARIABLE`). The server's own
    settings of sampling, such as a penalty of repetition, apply.

    Args:
        model: name of the model there; None for the only one.
        max_requests: largest number of requests, repeated ones included; None for any.
    """

    def __init__(
        self,
        url: str,
        model: str | None,
        *,
        decoding: Decoding,
        concurrency: int = 4,
        max_requests: int | None = None,
    ) -> None:
        check_decoding(decoding)
        check_counts(concurrency=concurrency)
        self.server = Server(url, max_requests=max_requests)
        self.team = join("cpu")
        self.model: str = model or self.team.from_main(self.server.only_model)
        self.decoding = decoding
        self.concurrency = concurrency

    @property
    def identity(self) -> str:
        """Address and name of the model, and decoding."""
        # Servers name no commit or hash, so other weights under the same name have the same
        # identity.
        return f"server:{self.server.url}#{self.model}/{decoding_name(self.decoding)}"

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """Return one reply per conversation, in their order.

        A conversation without an answer has a reply that says why: the server refused it or failed,
        it was not sent after such failures, or the limit is reached.
        """
        # Equal conversations are sent once. Of several processes, only the main one sends.
        distinct = list(dict.fromkeys(conversations))
        outcomes = self.team.from_main(
            lambda: self.server.post_all(
                "/chat/completions",
                list(map(self._request, distinct)),
                _read_reply,
                concurrency=self.concurrency,
            )
        )
        reply_of = {
            conversation: outcome.value or Reply(None, outcome.error)
            for conversation, outcome in zip(distinct, outcomes, strict=True)
        }
        return [reply_of[conversation] for conversation in conversations]

    def _request(self, conversation: Conversation) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in conversation],
            "max_tokens": self.decoding.max_new_tokens,
            "temperature": self.decoding.temperature,
            "stream": False,
        }


def _read_reply(answer: Any) -> Reply:
    """Return the reply in an answer of a server."""
    try:
        choice = answer["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
    # What is parsed need not have the shape of an answer.
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if not isinstance(content, str):
        raise ValueError("a message without text")
    return Reply(content.strip(), is_cut=reason == "length")
