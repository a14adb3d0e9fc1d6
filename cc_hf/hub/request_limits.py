"""Limits on what visitors may send to a gradio page, checked before any of it is parsed: an ASGI
middleware, and the options with which gradio uses it.

A client is known by the address that uvicorn reports. It takes that of `X-Forwarded-For` only from
proxies in the environment variable FORWARDED_ALLOW_IPS, which everyone else could forge; by default
from 127.0.0.1, on Spaces from their private network. Behind another proxy, all visitors count as
one client until it is set.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import IO, Any

from cc_hf.hub.answer_headers import AnswerHeaders, answer_headers
from cc_hf.hub.page_theme import page_theme

__all__ = ["EVENT_PATHS", "UPLOAD_PATH", "RequestLimits", "launch_options"]

#: The paths, below gradio's prefix, to which pages and programs send events.
EVENT_PATHS = ("queue/join", "call/", "run/", "api/", "cancel", "reset")
#: The path, below gradio's prefix, to which they send files.
UPLOAD_PATH = "upload"
_PREFIX = "/gradio_api/"
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_IN_MEMORY = 1 << 18  # bytes; a larger body is stored in an unnamed file
_CHUNK = 1 << 16  # bytes
#: Private networks, in which the proxies of Spaces are. An address that a visitor writes into
#: X-Forwarded-For stands before the one that the outermost proxy saw, which is the one that counts.
_PRIVATE = "127.0.0.1,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]


class _RefusedError(Exception):
    """A request that is answered with this status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(eq=False)
class _Body:
    """A body that is arriving or served.

    Attributes:
        is_upload: whether it is a file. Files and events have slots of their own.
        begun: when it began, in seconds of the event loop.
        reading: the task that reads it; None before it is read, and once it has arrived.
        is_served: whether it has arrived and has a slot among those that are served.
        is_displaced: whether a later body took its slot.
    """

    client: str
    is_upload: bool
    begun: float
    reading: asyncio.Future[bool] | None = None
    is_served: bool = False
    is_displaced: bool = False

    def displace(self) -> None:
        """Stop the reading of a body that is arriving."""
        self.is_displaced = True
        if self.reading is not None:
            self.reading.cancel()


class RequestLimits:
    """ASGI middleware that reads each body, within limits, before the application sees the request.

    The application thus never meets a body that is too large, too slow or incomplete, and has
    nothing to clean up after one. A body is either in memory or in an unnamed file, never in both.

    Bodies that are arriving have slots of their own, apart from those that are served. Where all of
    them are taken, a new body displaces the oldest one of the client that has most. Bodies that are
    sent in part therefore keep nobody out, even where clients cannot be told apart.

    Args:
        bodies: path below gradio's prefix, or the beginning of one -> the largest body in bytes.
            Other paths accept only GET, HEAD and OPTIONS.
        n_uploads: the same for files, so that these leave the slots of judging alone.
        n_per_client: number of events, and of files, that may arrive from one client at once. One
            more displaces its oldest, if that has had `moment` seconds to arrive.
        seconds: how long one body may take to arrive.
        pause: how long no part of a body may arrive, in seconds, and how long the rate is not
            looked at.
        moment: how long a body is safe from later ones of its client, in seconds.
        bytes_per_second: the rate at which a body must arrive at least.
    """

    def __init__(
        self,
        app: Callable[[_Message, _Receive, _Send], Awaitable[None]],
        *,
        bodies: Mapping[str, int],
        n_events: int = 64,
        n_uploads: int = 16,
        n_per_client: int = 8,
        seconds: float = 120,
        pause: float = 10,
        moment: float = 1,
        bytes_per_second: float = 1 << 14,
    ) -> None:
        self._app = app
        self._bodies = dict(bodies)
        self._slots = {False: n_events, True: n_uploads}
        self._n_per_client = n_per_client
        self._seconds, self._pause, self._moment = seconds, pause, moment
        self._rate = bytes_per_second
        self._open: list[_Body] = []  # the oldest first

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Serve one request, or refuse it with status 404, 408, 413 or 503."""
        if scope["type"] != "http" or scope["method"] in _WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        try:
            start, limit = self._limit(scope)
            now = asyncio.get_running_loop().time()
            body = _Body(_client(scope), start == UPLOAD_PATH, now)
            self._make_room(body)
            self._open.append(body)
            try:
                with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
                    if await self._arrives(body, receive, file, limit):
                        self._begin_serving(body)
                        file.seek(0)
                        await self._app(scope, _replay(file, receive), send)
            finally:
                self._open.remove(body)
        except _RefusedError as error:
            await _answer(send, error.status, str(error))

    async def _arrives(self, body: _Body, receive: _Receive, file: IO[bytes], limit: int) -> bool:
        """Return whether a body arrived completely, after copying it to a file."""
        body.reading = asyncio.ensure_future(self._read(receive, file, limit))
        try:
            return await body.reading
        except asyncio.CancelledError:
            if not body.is_displaced:
                raise
            raise _RefusedError(503, "expected fewer requests at once; send it again") from None
        finally:
            body.reading.cancel()
            body.reading = None

    def _make_room(self, body: _Body) -> None:
        """Displace a body that is arriving if there is no slot, or if its client has too many."""
        arriving = [
            other
            for other in self._open
            if other.is_upload == body.is_upload
            if not other.is_served and not other.is_displaced
        ]
        n_of = Counter(other.client for other in arriving)
        if len(arriving) >= self._slots[body.is_upload]:
            max(arriving, key=lambda other: n_of[other.client]).displace()
        elif n_of[body.client] >= self._n_per_client:
            oldest = next(other for other in arriving if other.client == body.client)
            # Of many requests that begin at once, all arrive within moments.
            if body.begun - oldest.begun > self._moment:
                oldest.displace()

    def _begin_serving(self, body: _Body) -> None:
        """Give a body that has arrived a slot among those that are served, or refuse it."""
        n_served = sum(o.is_served and o.is_upload == body.is_upload for o in self._open)
        if n_served >= self._slots[body.is_upload]:
            raise _RefusedError(503, "expected fewer requests at once; try again in a moment")
        body.is_served = True

    def _limit(self, scope: _Message) -> tuple[str, int]:
        """Return a request's path, as `bodies` names it, and its largest body, or refuse it."""
        path = str(scope["path"]).partition(_PREFIX)[2]
        start = next((start for start in self._bodies if path.startswith(start)), None)
        if start is None:
            raise _RefusedError(404, "expected one of the page's own paths")
        limit = self._bodies[start]
        declared = next(
            (value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0"
        )
        digits = declared.strip().lstrip(b"0") or b"0"
        if not digits.isdigit() or len(digits) > 18 or int(digits) > limit:
            raise _RefusedError(413, _too_large(limit))
        return start, limit

    async def _read(self, receive: _Receive, file: IO[bytes], limit: int) -> bool:
        """Return whether the body of a request arrived completely, after copying it to a file."""
        now = asyncio.get_running_loop().time
        start = now()
        while True:
            longest = min(self._seconds, self._pause + file.tell() / self._rate)
            left = min(self._pause, start + longest - now())
            try:
                message = await asyncio.wait_for(receive(), left)
            except asyncio.TimeoutError:  # in Python 3.10 this is not the built-in TimeoutError
                raise _RefusedError(
                    408,
                    f"expected the request within {self._seconds:g} seconds, at"
                    f" {self._rate:,.0f} bytes per second at least; send it again",
                ) from None
            if message["type"] != "http.request":
                return False
            file.write(message.get("body", b""))
            if file.tell() > limit:
                raise _RefusedError(413, _too_large(limit))
            if not message.get("more_body", False):
                return True


def _client(scope: _Message) -> str:
    """Return what tells clients apart: the address, of IPv6 the network that one customer has."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return host
    return str(ipaddress.ip_network((host, 64), strict=False))


def _replay(body: IO[bytes], receive: _Receive) -> _Receive:
    """Return a function that delivers the stored body, and then later messages."""
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


def launch_options(gr: Any, *, event_bytes: int, upload_bytes: int | None = None) -> dict[str, Any]:
    """Return options for gradio's `launch`: theme, limits on requests, and headers of answers.

    Args:
        event_bytes: the largest body of an event, which is JSON.
        upload_bytes: the largest file; None for a page that accepts no files.
    """
    from starlette.middleware import Middleware

    if os.environ.get("SYSTEM") == "spaces":
        os.environ.setdefault("FORWARDED_ALLOW_IPS", _PRIVATE)  # uvicorn reads it
    bodies = dict.fromkeys(EVENT_PATHS, event_bytes)
    if upload_bytes is not None:
        bodies[UPLOAD_PATH] = upload_bytes + _CHUNK  # what a form puts around a file
    middleware = [
        Middleware(AnswerHeaders, headers=answer_headers()),  # the first sees refusals as well
        Middleware(RequestLimits, bodies=bodies),
    ]
    return {
        "theme": page_theme(gr),
        "app_kwargs": {"middleware": middleware},
        # Otherwise `launch` stops the server if the page takes more than three seconds to respond,
        # as happens on a busy machine.
        "_frontend": False,
    }
