"""Limits on what visitors may send to a gradio page, checked before any of it is parsed: an ASGI
middleware, and the options with which gradio uses it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import IO, Any

__all__ = ["EVENT_PATHS", "UPLOAD_PATH", "RequestLimits", "launch_options"]

#: The paths, below gradio's prefix, to which pages and programs send events.
EVENT_PATHS = ("queue/join", "call/", "run/", "api/", "cancel", "reset")
#: The path, below gradio's prefix, to which they send files.
UPLOAD_PATH = "upload"
_PREFIX = "/gradio_api/"
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_IN_MEMORY = 1 << 18  # bytes; a larger body is stored in an unnamed file
_CHUNK = 1 << 16  # bytes

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]


class _RefusedError(Exception):
    """A request that is answered with this status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class RequestLimits:
    """ASGI middleware that reads each body completely, within limits, before the application sees
    the request.

    The application thus never meets a body that is too large, too slow or incomplete, and has
    nothing to clean up after one. A body is either in memory or in an unnamed file, never in both.

    Args:
        app: the application.
        bodies: path below gradio's prefix, or the beginning of one -> the largest body in bytes.
            Other paths accept only GET, HEAD and OPTIONS.
        n_bodies: number of requests with a body that are served at once.
        seconds: how long one body may take to arrive.
    """

    def __init__(
        self,
        app: Callable[[_Message, _Receive, _Send], Awaitable[None]],
        *,
        bodies: Mapping[str, int],
        n_bodies: int = 64,
        seconds: float = 120,
    ) -> None:
        self._app = app
        self._bodies = dict(bodies)
        self._n_bodies = n_bodies
        self._seconds = seconds
        self._n_open = 0

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Serve one request, or refuse it with status 404, 408, 413 or 503.

        Args:
            scope: as ASGI defines them.
            receive: as for `scope`.
            send: as for `scope`.
        """
        if scope["type"] != "http" or scope["method"] in _WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        try:
            limit = self._limit(scope)
            self._n_open += 1
            try:
                with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as body:
                    if await self._arrives(receive, body, limit):
                        body.seek(0)
                        await self._app(scope, _replay(body, receive), send)
            finally:
                self._n_open -= 1
        except _RefusedError as error:
            await _answer(send, error.status, str(error))

    async def _arrives(self, receive: _Receive, body: IO[bytes], limit: int) -> bool:
        try:
            return await asyncio.wait_for(_read(receive, body, limit), self._seconds)
        except asyncio.TimeoutError:  # in Python 3.10 this is not the built-in TimeoutError
            raise _RefusedError(
                408, f"expected the request within {self._seconds} seconds"
            ) from None

    def _limit(self, scope: _Message) -> int:
        """Return the largest body that this request may have, or raise if it may not be read at
        all.

        Raises:
            _RefusedError: for a path that the page does not have, a body that is too large, or too
                many open requests.
        """
        path = str(scope["path"]).partition(_PREFIX)[2]
        limit = next((size for start, size in self._bodies.items() if path.startswith(start)), None)
        if limit is None:
            raise _RefusedError(404, "expected one of the page's own paths")
        declared = next(
            (value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0"
        )
        digits = declared.strip().lstrip(b"0") or b"0"
        if not digits.isdigit() or len(digits) > 18 or int(digits) > limit:
            raise _RefusedError(413, _too_large(limit))
        if self._n_open >= self._n_bodies:
            raise _RefusedError(503, "expected fewer requests at once; try again in a moment")
        return limit


async def _read(receive: _Receive, body: IO[bytes], limit: int) -> bool:
    """Return whether the body of a request arrived completely, after copying it to a file.

    Raises:
        _RefusedError: for a body that is larger than `limit`.
    """
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return False
        body.write(message.get("body", b""))
        if body.tell() > limit:
            raise _RefusedError(413, _too_large(limit))
        if not message.get("more_body", False):
            return True


def _replay(body: IO[bytes], receive: _Receive) -> _Receive:
    """Return a function that delivers the stored body, and then later messages, such as the end of
    the connection.
    """
    is_done = False

    async def replayed() -> _Message:
        nonlocal is_done
        if is_done:
            return await receive()
        chunk = body.read(_CHUNK)
        is_done = len(chunk) < _CHUNK
        return {"type": "http.request", "body": chunk, "more_body": not is_done}

    return replayed


def _too_large(limit: int) -> str:
    return f"expected a request of at most {limit:,} bytes, got more"


async def _answer(send: _Send, status: int, text: str) -> None:
    """Send an answer and close the connection, on which the rest of the body may still arrive."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


def launch_options(*, event_bytes: int, upload_bytes: int | None = None) -> dict[str, Any]:
    """Return options for gradio's `launch`: limits on what visitors may send, and tolerance for a
    slow start.

    With `_frontend=False`, `launch` does not stop the server if the page takes more than three
    seconds to respond, as happens on a busy machine.

    Args:
        event_bytes: the largest body of an event, which is JSON.
        upload_bytes: the largest file; None for a page that accepts no files.
    """
    from starlette.middleware import Middleware

    bodies = dict.fromkeys(EVENT_PATHS, event_bytes)
    if upload_bytes is not None:
        bodies[UPLOAD_PATH] = upload_bytes + _CHUNK  # what a form puts around a file
    return {
        "app_kwargs": {"middleware": [Middleware(RequestLimits, bodies=bodies)]},
        "_frontend": False,
    }
