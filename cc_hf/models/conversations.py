"""Conversations with a language model and its replies: the data between prompts and backends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["Conversation", "Decoding", "Message", "Reply", "Respondent"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: who speaks; demonstrations are earlier turns of user and assistant.
    """

    role: Literal["system", "user", "assistant"]
    content: str


#: Turns in order; the last is the user's.
Conversation = tuple[Message, ...]


@dataclass(frozen=True)
class Reply:
    """What came back for one conversation.

    Attributes:
        text: the model's turn as it came; None if no answer came.
        error: why no answer came; empty if there is one.
        is_cut: whether the answer is known to end at the limit of its length, and not where the
            model would have ended it.
    """

    text: str | None
    error: str = ""
    is_cut: bool = False


@dataclass(frozen=True)
class Decoding:
    """How replies are decoded. The default is greedy.

    Attributes:
        max_new_tokens: the longest reply, in tokens of the model.
        temperature: 0 for greedy decoding.
    """

    max_new_tokens: int = 256
    temperature: float = 0.0


class Respondent(Protocol):
    """A backend that answers conversations."""

    @property
    def identity(self) -> str:
        """Backend, model with commit or hash, and decoding, for signatures and keys of the store.

        It never holds a key or a password.
        """

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """Return one reply per conversation, in their order. Failures are replies with an error."""
