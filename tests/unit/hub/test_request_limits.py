from __future__ import annotations

import asyncio
from collections.abc import Iterable, MutableMapping
from typing import Any

import pytest

from cc_hf.hub.metric_page import launch
from cc_hf.hub.request_limits import EVENT_PATHS, UPLOAD_PATH, RequestLimits, launch_options

Message = MutableMapping[str, Any]
LIMIT = 100_000
FOREVER = 1e9


class Application:
    """Answers 200, and records the bodies that reach it."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.others: list[str] = []

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] == "GET":
            self.others.append(scope["type"])
            return
        body, is_done = b"", False
        while not is_done:
            message = await receive()
            assert message["type"] == "http.request"
            body, is_done = body + message["body"], not message["more_body"]
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})


def scope_of(
    path: str = "/gradio_api/queue/join", *, length: bytes | None = None, **changed: Any
) -> Message:
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [] if length is None else [(b"Content-Length", length)],
        **changed,
    }


def limits(app: Application, **options: Any) -> RequestLimits:
    return RequestLimits(
        app, bodies={"queue/join": LIMIT, "upload": 2 * LIMIT}, **{"seconds": FOREVER, **options}
    )


async def call(page: RequestLimits, scope: Message, messages: Iterable[Message] = ()) -> int | None:
    """The status of the answer; None for none. Nothing more comes when the messages are used up."""
    left, statuses = iter(messages), []

    async def receive() -> Message:
        message = next(left, None)
        if message is None:
            await asyncio.Event().wait()
            raise AssertionError
        return message

    async def send(message: Message) -> None:
        statuses.append(message.get("status"))

    await page(scope, receive, send)
    return statuses[0] if statuses else None


def parts(*texts: bytes, is_whole: bool = True) -> list[Message]:
    return [
        {"type": "http.request", "body": text, "more_body": not is_whole or number < len(texts)}
        for number, text in enumerate(texts, 1)
    ]


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 16) + 1, LIMIT])
def test_a_body_within_the_limit_arrives_unchanged(size: int) -> None:
    app = Application()
    body = bytes(range(256)) * (size // 256 + 1)
    assert (
        asyncio.run(
            call(
                limits(app),
                scope_of(length=str(size).encode()),
                parts(body[: size // 3], body[size // 3 : size]),
            )
        )
        == 200
    )
    assert app.bodies == [body[:size]]


@pytest.mark.parametrize(
    "length",
    [b"100001", b"9" * 5000, b"-1", b"x"],
    ids=["above the limit", "thousands of digits", "negative", "not a number"],
)
def test_a_body_with_a_bad_or_too_large_length_is_not_read(length: bytes) -> None:
    app = Application()
    assert asyncio.run(call(limits(app), scope_of(length=length))) == 413  # nothing is received
    assert app.bodies == []


def test_a_body_without_a_length_is_read_up_to_the_limit() -> None:
    app = Application()
    assert (
        asyncio.run(call(limits(app), scope_of(), parts(b"x" * LIMIT, b"x", is_whole=False))) == 413
    )
    assert asyncio.run(call(limits(app), scope_of(length=b"3"), parts(b"x" * (LIMIT + 1)))) == 413
    assert app.bodies == []
    assert (
        asyncio.run(
            call(limits(app), scope_of("/base/gradio_api/upload"), parts(b"x" * (LIMIT + 1)))
        )
        == 200
    )


def test_an_interrupted_body_does_not_reach_the_application() -> None:
    app = Application()
    assert (
        asyncio.run(
            call(
                limits(app),
                scope_of("/gradio_api/upload"),
                [*parts(b"x" * 5, is_whole=False), {"type": "http.disconnect"}],
            )
        )
        is None
    )
    assert app.bodies == []


def test_a_body_that_does_not_arrive_in_time_is_refused() -> None:
    app = Application()
    assert (
        asyncio.run(call(limits(app, seconds=0.001), scope_of(), parts(b"x", is_whole=False)))
        == 408
    )
    assert app.bodies == []


@pytest.mark.parametrize(
    "path",
    ["/gradio_api/process_recording", "/login", "/upload", "/gradio_api/", "/gradio_api/stream/x"],
)
def test_bodies_for_other_paths_are_refused(path: str) -> None:
    app = Application()
    assert asyncio.run(call(limits(app), scope_of(path), parts(b"x"))) == 404
    assert app.bodies == []


def test_requests_without_a_body_pass() -> None:
    app = Application()
    for scope in (scope_of("/theme.css", method="GET"), {"type": "lifespan"}):
        assert asyncio.run(call(limits(app), scope)) is None
    assert app.others == ["http", "lifespan"]


def test_concurrent_bodies_are_limited_until_one_is_done() -> None:
    app = Application()

    async def calls() -> list[int | None]:
        page = limits(app, n_bodies=2)
        waiting = [
            asyncio.create_task(call(page, scope_of(), parts(b"x", is_whole=False)))
            for _ in range(2)
        ]
        await asyncio.sleep(0)  # both requests have begun
        found = [await call(page, scope_of(), parts(b"x"))]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for _ in range(3):
            found.append(await call(page, scope_of(), parts(b"x" * (LIMIT + 1))))
        return [*found, await call(page, scope_of(), parts(b"x"))]

    assert asyncio.run(calls()) == [503, 413, 413, 413, 200]


def test_a_metric_page_has_limits_and_time_to_start() -> None:
    given: dict[str, Any] = {}

    class Page:
        def launch(self, **options: Any) -> None:
            given.update(options)

    launch(Page())
    (middleware,) = given["app_kwargs"]["middleware"]
    assert UPLOAD_PATH not in middleware.kwargs["bodies"]
    # otherwise gradio stops a server that does not answer within three seconds
    assert given["_frontend"] is False


def test_a_page_without_files_accepts_no_uploads() -> None:
    def bodies(**options: int) -> dict[str, int]:
        (middleware,) = launch_options(**options)["app_kwargs"]["middleware"]
        found: dict[str, int] = middleware.kwargs["bodies"]
        return found

    assert bodies(event_bytes=5) == dict.fromkeys(EVENT_PATHS, 5)
    assert bodies(event_bytes=5, upload_bytes=10)[UPLOAD_PATH] > 10
