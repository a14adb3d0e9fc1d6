"""Conversations with a language model, in the chat template of its tokenizer. No torch here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from cc_hf.errors import InputError

__all__ = ["Conversation", "Message", "chat_text"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; demonstrations are earlier turns of user and assistant."""

    role: Literal["system", "user", "assistant"]
    content: str


#: Turns in order; the last is the user's.
Conversation = tuple[Message, ...]


def chat_text(tokenizer: Any, conversation: Conversation, *, name: str) -> str:
    """Return a conversation in the chat template of a tokenizer.

    Templates differ in what they accept. Of several forms of the turns, the first is used that the
    template renders with every text.

    Args:
        conversation: the last turn is the user's.

    Returns:
        A text that ends where the reply begins, special tokens included.

    Raises:
        InputError: for a template that renders none of the forms.
    """
    import jinja2  # not above, since prompts and replies need only the types

    problems: list[str] = []
    for turns in _forms(conversation):
        try:
            text: str = tokenizer.apply_chat_template(
                [{"role": turn.role, "content": turn.content} for turn in turns],
                add_generation_prompt=True,
                tokenize=False,
            )
        except jinja2.TemplateError as error:
            problems.append(str(error) or type(error).__name__)
            continue
        # Templates trim their turns.
        missing = [turn for turn in turns if turn.content.strip() not in text]
        if not missing:
            return text
        problems.append(f"it leaves out a turn of the {missing[0].role}")
    raise InputError(
        f"{name}: its chat template cannot render this conversation of {len(conversation)} turns:"
        f" {'; '.join(dict.fromkeys(problems))}. Use another model, or correct the template"
    )


def _forms(conversation: Conversation) -> Iterator[Conversation]:
    """Yield the conversation, and the forms of it that other templates accept."""
    yield conversation
    # Some templates refuse two turns of the same role, some leave out the turn of a system, and
    # others want one, if only an empty one.
    joined = _joined(conversation)
    if joined != conversation:
        yield joined
    within = _joined(tuple(Message("user", t.content) if t.role == "system" else t for t in joined))
    if within != joined:
        yield within
    yield (Message("system", ""), *within)


def _joined(conversation: Conversation) -> Conversation:
    """Return the turns with those of the same role joined by an empty line."""
    return tuple(
        Message(role, "\n\n".join(turn.content for turn in turns))
        for role, turns in itertools.groupby(conversation, key=lambda turn: turn.role)
    )
