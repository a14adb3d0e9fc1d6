"""Opening whoever answers conversations: a model on this machine, a server, or a file of replies.

Nothing is sent to anyone unless a server is named. No torch here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cc_hf.errors import InputError
from cc_hf.plugins.asking.conversations import Decoding, Respondent
from cc_hf.rules import AtLeast, check_fields

__all__ = ["Asking", "open_respondent"]


@dataclass(frozen=True)
class Asking:
    """Who replies, and how: a language model on this machine or behind a server, or a file.

    Attributes:
        model: language model: a folder, or a model on the Hub; with a server, its name there.
        server: address of an OpenAI-compatible server; nothing is sent without it. A key is read
            from the environment only.
        replies: JSONL file of replies of other tools, with id and text (or error).
        max_new_tokens: longest reply, in tokens of the model; None for 256, or 512 with reasons.
        temperature: temperature of sampling; 0 decodes greedily.
        dtype: precision of a model on this machine, such as bfloat16; None for its own.
        device: device of a model on this machine: cpu, cuda or mps; None for CUDA if available.
        batch_size: conversations in a batch of a model on this machine, or requests to a server
            that are open at a time; None for 8 and 4.
        max_requests: refuse to send more requests than this to a server.
    """

    model: str | None = None
    server: str | None = None
    replies: Path | None = None
    max_new_tokens: Annotated[int | None, AtLeast(1)] = None
    temperature: Annotated[float, AtLeast(0.0)] = 0.0
    dtype: str | None = None
    device: str | None = None
    batch_size: Annotated[int | None, AtLeast(1)] = None
    max_requests: Annotated[int | None, AtLeast(1)] = None

    def __post_init__(self) -> None:
        check_fields(self)

    def open(self, longest: int) -> Respondent:
        """Open the backend; `longest` replies, in tokens, where `max_new_tokens` is None."""
        return open_respondent(
            self.model,
            server=self.server,
            replies=self.replies,
            decoding=Decoding(self.max_new_tokens or longest, self.temperature),
            dtype=self.dtype,
            device=self.device,
            batch_size=self.batch_size or 8,
            concurrency=self.batch_size or 4,
            max_requests=self.max_requests,
        )


def open_respondent(
    model: str | None,
    *,
    server: str | None = None,
    replies: Path | None = None,
    decoding: Decoding,
    dtype: str | None = None,
    device: str | None = None,
    batch_size: int = 8,
    concurrency: int = 4,
    max_requests: int | None = None,
) -> Respondent:
    """Open a backend that answers conversations.

    Args:
        model: without a server, a folder saved by transformers or a model on the Hub; with one, the
            model's name there, or None for the only model that it serves; None with a file.
        server: address of an OpenAI-compatible server, such as "http://localhost:8000/v1"; None to
            send nothing.
        replies: JSONL file of replies that were collected otherwise; None for a model.
        dtype, device: of a model on this machine, see `local_chat.open_local_chat`.
        max_requests: largest number of requests that are sent to a server; None for any.

    Examples:
        >>> open_respondent(None, decoding=Decoding())
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: expected a model, a server or a file of replies, got none of them
    """
    if replies is not None:
        if model is not None or server is not None:
            raise InputError(
                "replies: expected a file of replies, or a model or a server that replies, got both"
            )
        from cc_hf.plugins.asking.prompting.replies import FileRespondent

        return FileRespondent(replies)
    if server is not None:
        for name, value in (("dtype", dtype), ("device", device)):
            if value is not None:
                raise InputError(
                    f"{name}: expected none with a server, which decides this itself, got {value!r}"
                )
        from cc_hf.plugins.asking.chat_server import ServerChat

        return ServerChat(
            server,
            model,
            decoding=decoding,
            concurrency=concurrency,
            max_requests=max_requests,
        )
    if model is None:
        raise InputError("expected a model, a server or a file of replies, got none of them")
    if max_requests is not None:
        raise InputError(
            "max_requests: expected none without a server, since nothing is sent, got"
            f" {max_requests}"
        )
    from cc_hf.plugins.asking.local_chat import open_local_chat

    return open_local_chat(
        model, decoding=decoding, dtype=dtype, device=device, batch_size=batch_size
    )
