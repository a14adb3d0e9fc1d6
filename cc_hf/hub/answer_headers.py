"""Headers of every answer of a gradio page: what a browser may load, and who may frame it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["AnswerHeaders", "answer_headers"]

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]

# As on written pages, nothing comes from another server and nothing is sent to one. gradio needs
# more than they do: it sets the base of its page, has scripts and styles in it, and compiles
# templates.
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:;"
    " font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:;"
    " manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors "
)
#: The pages in whose frames the Hub shows a Space.
_HUB = "https://huggingface.co https://*.hf.space"


def answer_headers() -> dict[str, str]:
    """Return the headers. No other page may show this one in a frame; on Spaces, the Hub may."""
    if os.environ.get("SYSTEM") == "spaces":
        return {"Content-Security-Policy": f"{_POLICY}{_HUB}"}  # the other header names no pages
    return {"Content-Security-Policy": f"{_POLICY}'none'", "X-Frame-Options": "DENY"}


class AnswerHeaders:
    """ASGI middleware that adds headers to every answer, unless the application sets them."""

    def __init__(
        self,
        app: Callable[[_Message, _Receive, _Send], Awaitable[None]],
        *,
        headers: dict[str, str],
    ) -> None:
        self._app = app
        self._headers = {
            name.lower().encode("ascii"): value.encode("ascii") for name, value in headers.items()
        }

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Serve one request."""

        async def send_with_headers(message: _Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                added = [pair for pair in self._headers.items() if pair[0] not in names]
                message = {**message, "headers": [*given, *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
