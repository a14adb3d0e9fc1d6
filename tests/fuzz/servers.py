"""What comes over the network: answers of chat servers, and requests to the live page."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from cc_hf.errors import CCError
from cc_hf.hub.request_limits import RequestLimits
from cc_hf.models import servers
from tests.fuzz.commands import BASES, run_command

_LIMIT = 300
_STATUSES = {None, 200, 404, 408, 413, 503}
_GOOD = {"choices": [{"message": {"content": "Translation 1"}, "finish_reason": "stop"}]}
_MODELS = {"data": [{"id": "m"}]}
#: A question of choices.jsonl, which always gets a good answer.
_WELL_ANSWERED = b"slept"


def run_server_case(case: dict[str, Any], folder: Path, *_: object) -> None:
    """Ask a server that answers badly, then again when it answers well: every reply that was kept
    is still there, and the run is complete.
    """
    (folder / "choices.jsonl").write_text(BASES["choices.jsonl"], encoding="utf-8")
    kept = folder / "out.replies.jsonl"
    asked = [
        "ask",
        str(folder / "choices.jsonl"),
        "--shots",
        "0",
        "--output",
        str(folder / "out.json"),
        "--server",
    ]
    model = ["--model", "m"] * case["is_named"]
    answers = [_message(answer) for answer in case["answers"]]
    limits: dict[str, Any] = {
        "_FIRST_WAIT": 0.001,
        "_LONGEST_WAIT": 0.002,
        "_LONGEST_ANSWER": 1 << 18,
    }
    failed, before = None, b""
    with patch.multiple(servers, **limits), _serving(answers) as url:
        try:
            printed = run_command(*asked, url, *model)
        except CCError as error:
            failed, printed = error, ""
        if kept.is_file():
            before = kept.read_bytes()
        if "\x1b" in printed or b"\x1b" in before:
            raise AssertionError(f"a control character of the server is shown: {printed!r}")
        answers.clear()
        try:
            run_command(*asked, url, *model)
        except CCError as error:
            raise AssertionError("the run cannot be continued") from error
    if not kept.read_bytes().startswith(before):
        raise AssertionError("replies that were kept are lost")
    if failed is not None:
        raise failed


@contextmanager
def _serving(answers: list[bytes]) -> Iterator[str]:
    """Yield the address of a server that sends these bytes, one after the other and the last one
    again, and good answers when the list is empty.
    """
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                request = _request(connection)
                if not answers or _WELL_ANSWERED in request:
                    good = _MODELS if request.startswith(b"GET") else _GOOD
                    message = _message({"body": json.dumps(good)})
                else:
                    message = answers.pop(0) if len(answers) > 1 else answers[0]
                try:
                    connection.sendall(message)
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(1)  # until the client has read it, or has enough
                except OSError:
                    continue

    thread = Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    n_bytes = int(lengths[0].partition(b":")[2]) if lengths else 0
    while len(body) < n_bytes:
        body += connection.recv(65536)
    return head + body


def _message(answer: dict[str, Any]) -> bytes:
    """Return the bytes of an answer."""
    body = (answer["body"] * answer.get("times", 1)).encode("utf-8", "surrogatepass")
    lines = [answer.get("status", "HTTP/1.1 200 OK"), *answer.get("headers", [])]
    if answer.get("has_length", True):
        lines.append(f"Content-Length: {len(body)}")
    message = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body
    cut: bytes = message[: answer.get("cut") or len(message)]
    return cut


_statuses = st.sampled_from(
    [
        *(*["HTTP/1.1 200 OK"] * 8, "HTTP/1.1 100 Continue", "HTTP/1.1 204 x", "HTTP/1.1 302 x"),
        *("HTTP/1.1 307 x", "HTTP/1.1 304 x", "HTTP/1.1 400 x", "HTTP/1.1 401 x", "HTTP/1.1 404 x"),
        *("HTTP/1.1 429 x", "HTTP/1.1 500 x", "HTTP/1.1 503 x", "HTTP/1.1 999 x", "HTTP/1.1 0 x"),
        *("HTTP/1.1 -1 x", "HTTP/9.9 200", "", "\x00", "x" * 70_000, "HTTP/1.1 200 \x1b[31mred"),
    ]
)
_headers = st.sampled_from(
    [
        *("Content-Length: 0", "Content-Length: -1", "Content-Length: 10", "Content-Length: x"),
        *(f"Content-Length: {'9' * 5000}", f"Content-Length: {10**18}", "Retry-After: -1"),
        *(f"Retry-After: {'9' * 5000}", "Retry-After: soon", "Retry-After: Fri, 99 Foo 1 99"),
        *("Retry-After: Fri, 01 Jan 9999 00:00:00 GMT", "Transfer-Encoding: chunked"),
        *("Location: ", "Location: http://[", "Location: file:///etc/passwd", "Location: /\x1b[1m"),
        *("Content-Encoding: gzip", "Content-Type: text/\x85", "x", " : y", "a:b\r\n" * 200),
    ]
)
_contents: list[Any] = [
    *("Translation 1", "", " ", "\ud800", "\x1b[31mTranslation 2", "\x00", "x" * 5000, "2\n" * 50),
    *(None, 1, True, [], ["Translation 1"], {}, {"text": "2"}, 10**400, float("nan")),
]
_odd_bodies: list[Any] = [
    *(None, 0, "", "x", [], {}, {"choices": None}, {"choices": []}, {"choices": [None]}),
    *({"choices": "abc"}, {"choices": {"0": {}}}, {"choices": [{}]}, {"choices": [{"message": 1}]}),
    *({"data": []}, {"data": [1, {"id": 2}, {"id": "a"}, {"id": "\ud800"}]}, {"data": {"id": "m"}}),
    *({"error": {"message": "\x1b[31m\x00"}}, {"error": [[]]}, {"detail": {"error": None}}),
]
_REASONS: list[Any] = ["stop", "length", None, 1, [], {}, "\ud800"]
_texts = ["", " ", "NaN", "-Infinity", "{", '{"choices": [', "9" * 5000, "[" * 50_000, "\ufeff{}"]
_texts += ["<html>", "\ud800", "5\r\nx", "0\r\n\r\n", "zz\r\n", "-1\r\nx", "f" * 5000 + "\r\n"]


@st.composite
def _bodies(draw: st.DrawFn) -> str:
    match draw(st.sampled_from(["reply", "reply", "odd", "text"])):
        case "reply":
            message = {"role": "assistant", "content": draw(st.sampled_from(_contents))}
            reason: Any = draw(st.sampled_from(_REASONS))
            choices = [{"index": 0, "message": message, "finish_reason": reason}]
            return json.dumps({"choices": choices * draw(st.integers(1, 2))})
        case "odd":
            return json.dumps(draw(st.sampled_from(_odd_bodies)))
        case _:
            return draw(st.sampled_from(_texts))


@st.composite
def server_cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what a server answers; blanks and others may be more than is read."""
    answers = [
        {
            "status": draw(_statuses),
            "headers": draw(st.lists(_headers, max_size=2)),
            "has_length": draw(st.booleans()),
            "body": draw(_bodies()),
            "times": draw(st.sampled_from([*[1] * 8, 2, 300_000 // 50])),
            "cut": draw(st.none() | st.none() | st.integers(1, 200)),
        }
        for _ in range(draw(st.integers(1, 3)))
    ]
    return {"door": "server", "answers": answers, "is_named": draw(st.integers(0, 3)) > 0}


def run_requests_case(case: dict[str, Any], *_: object) -> None:
    """Send requests to the page's middleware at once: those that arrive whole are served or
    refused, and nothing of them stays.
    """
    served: list[bytes] = []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        body, is_done = b"", scope["type"] != "http" or scope["method"] != "POST"
        while not is_done:
            message = await receive()
            body, is_done = body + message["body"], not message["more_body"]
        served.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    limits = RequestLimits(
        page,
        bodies={"queue/join": _LIMIT, "upload": 2 * _LIMIT},
        n_events=2,
        n_uploads=1,
        n_per_client=1,
        seconds=0.02,
        pause=0.01,
        moment=0,
    )

    async def all_statuses() -> list[Any]:
        return await asyncio.gather(*(_status(limits, request) for request in case["requests"]))

    statuses = asyncio.run(all_statuses())
    whole = {b"".join(_parts(request)) for request in case["requests"]} | {b""}
    if not {*statuses} <= _STATUSES or not {*served} <= whole:
        raise AssertionError(f"answers {statuses}, served {served}")
    if limits._open:
        raise AssertionError(f"{len(limits._open)} requests hold a slot")


async def _status(limits: RequestLimits, request: dict[str, Any]) -> Any:
    headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in request["headers"]]
    scope = {**request["scope"], "headers": headers}
    parts = _parts(request)
    messages: list[Any] = [
        {"type": "http.request", "body": part, "more_body": n < len(parts)}
        for n, part in enumerate(parts, 1)
    ]
    messages = messages[: request["n_sent"]]
    if request["ends"]:
        messages.append({"type": "http.disconnect"})
    statuses = []

    async def receive() -> Any:
        await asyncio.sleep(0)
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await limits(scope, receive, send)
    return statuses[0] if statuses else None


def _parts(request: dict[str, Any]) -> list[bytes]:
    return [part.encode("latin-1") for part in request["parts"]]


_lengths = st.sampled_from(["0", "5", "-1", "", " ", "x", "9" * 5000, "1e3", "\xb2", "+5", "5, 5"])
_scopes = st.fixed_dictionaries(
    {
        "type": st.sampled_from([*["http"] * 9, "websocket", "lifespan"]),
        "method": st.sampled_from([*["POST"] * 6, "GET", "HEAD", "PUT", "", "post"]),
        "path": st.sampled_from(
            [
                *["/gradio_api/queue/join"] * 4,
                *("/gradio_api/upload", "/gradio_api/", "/", "", "/a/gradio_api/upload/\x00"),
                *("/gradio_api/queue/join/../../x", "/gradio_api/gradio_api/upload", "\ud800"),
            ]
        ),
        "client": st.sampled_from(
            [
                *(None, [], ["127.0.0.1", 1], ["::1", 1], ["fe80::1%eth0", 1], ["", 0]),
                *(
                    ["x\x00", 1],
                    ["٣.1.1.1", 1],
                    ["1" * 5000, 1],
                    [None, None],
                    ["::ffff:1.2.3.4", 1],
                ),
            ]
        ),
    }
)


@st.composite
def request_cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw requests that come at once; some are sent in part, or end before they are whole."""
    parts = st.sampled_from(["", "{", "x" * 10, "x" * _LIMIT, "x" * 3 * _LIMIT, "\xff\x00"])
    requests = [
        {
            "scope": draw(_scopes),
            "headers": [
                [draw(st.sampled_from(["content-length", "Content-Length", "\xff"])), length]
                for length in draw(st.lists(_lengths, max_size=2))
            ],
            "parts": draw(st.lists(parts, max_size=4)),
            "n_sent": draw(st.integers(0, 5)),
            "ends": draw(st.booleans()),
        }
        for _ in range(draw(st.integers(1, 5)))
    ]
    return {"door": "requests", "requests": requests}
