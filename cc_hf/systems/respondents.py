"""Opening whoever answers conversations: a model on this machine, a server, or a file of replies.

Nothing is sent to anyone unless a server is named. No torch here.
"""

from __future__ import annotations

from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.prompting.conversations import Decoding, Respondent

__all__ = ["open_respondent"]


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
        dtype, device: of a model on this machine, see `cc_hf.systems.local_chat.open_local_chat`.
        batch_size: number of conversations in a batch of a model on this machine.
        concurrency: number of requests that a server has at a time.
        max_requests: largest number of requests that are sent to a server; None for any.

    Raises:
        InputError: for no backend or several, options out of range or of another backend, a model
            that cannot reply, or a file that is not as expected.
        UnknownNameError, EvaluatorError, MissingDependencyError: for a model that cannot be loaded.

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
        from cc_hf.prompting.replies import FileRespondent

        return FileRespondent(replies)
    if server is not None:
        for name, value in (("dtype", dtype), ("device", device)):
            if value is not None:
                raise InputError(
                    f"{name}: expected none with a server, which decides this itself, got {value!r}"
                )
        from cc_hf.systems.chat_server import ServerChat

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
    from cc_hf.systems.local_chat import open_local_chat

    return open_local_chat(
        model, decoding=decoding, dtype=dtype, device=device, batch_size=batch_size
    )
