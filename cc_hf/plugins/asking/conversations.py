"""What backends that answer conversations share: replies, how they are decoded, and the text of a
conversation for a model without a chat template. No torch here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cc_hf.errors import InputError
from cc_hf.models.chat_templates import Conversation

__all__ = [
    "PLAIN_STOPS",
    "Decoding",
    "Reply",
    "Respondent",
    "check_counts",
    "check_decoding",
    "check_turns",
    "decoding_name",
    "plain_text",
]

_SPEAKERS = {"system": "System", "user": "User", "assistant": "Assistant"}
#: Where a reply after `plain_text` ends, since the model goes on with the next turn.
PLAIN_STOPS = tuple(f"\n{speaker}:" for speaker in _SPEAKERS.values())


@dataclass(frozen=True)
class Reply:
    """What came back for one conversation."""

    text: str | None  # the model's turn as it came; None if no answer came
    error: str = ""  # why no answer came
    is_cut: bool = False  # known to end at the limit of its length


@dataclass(frozen=True)
class Decoding:
    """How replies are decoded. Temperature 0, the default, is greedy."""

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


def check_turns(conversation: Conversation) -> None:
    """Check that there are turns, and that the last is the user's."""
    if not conversation or conversation[-1].role != "user":
        role = conversation[-1].role if conversation else "nobody"
        raise InputError(
            f"conversation: expected turns of which the last is the user's, got {role}'s"
        )


def plain_text(conversation: Conversation) -> str:
    """Return a conversation as plain lines, for models without a chat template."""
    turns = [f"{_SPEAKERS[turn.role]}: {turn.content}" for turn in conversation]
    return "\n\n".join([*turns, f"{_SPEAKERS['assistant']}:"])


def check_decoding(decoding: Decoding) -> None:
    """Raise an InputError if no model can decode like this."""
    check_counts(max_new_tokens=decoding.max_new_tokens)
    if not (math.isfinite(decoding.temperature) and decoding.temperature >= 0):
        raise InputError(
            f"temperature: expected a number of at least 0, got {decoding.temperature!r}"
        )


def check_counts(**counts: object) -> None:
    """Check that options are whole numbers from 1."""
    for name, value in counts.items():
        if type(value) is not int or value < 1:
            raise InputError(f"{name}: expected a whole number from 1, got {value!r}")


def decoding_name(decoding: Decoding) -> str:
    """Return how replies are decoded, as identities hold it.

    Examples:
        >>> decoding_name(Decoding()), decoding_name(Decoding(temperature=0.7))
        ('greedy/256 tokens', 'temperature 0.7/256 tokens')
    """
    how = f"temperature {decoding.temperature:g}" if decoding.temperature else "greedy"
    return f"{how}/{decoding.max_new_tokens} tokens"
