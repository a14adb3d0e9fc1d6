import asyncio
import os
from collections.abc import Iterable, MutableMapping
from typing import Any
from unittest.mock import Mock

import pytest

from cc_hf.hub import request_limits
from cc_hf.hub.metric_page import launch
from cc_hf.hub.request_limits import EVENT_PATHS, UPLOAD_PATH, RequestLimits, launch_options
from tests.helpers.cases import cases

Message = MutableMapping[str, Any]
LIMIT = 100_000
FOREVER = 1e9


class Application:
    """Answers 200, and records the bodies that reach it."""

    def __init__(self) -> None:
        self.bodies, self.others = list[bytes](), list[str]()

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


def scope_of(path: str = "/gradio_api/queue/join", length: Any = None, **changed: Any) -> Message:
    headers = [] if length is None else [(b"Content-Length", length)]
    return {"type": "http", "method": "POST", "path": path, "headers": headers, **changed}


def limits(app: Application, **options: Any) -> RequestLimits:
    limits = {"seconds": FOREVER, "pause": FOREVER, **options}
    return RequestLimits(app, bodies={"queue/join": LIMIT, "upload": 2 * LIMIT}, **limits)


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
    app, body = Application(), (bytes(range(256)) * (size // 256 + 1))[:size]
    sent = parts(body[: size // 3], body[size // 3 :])
    assert asyncio.run(call(limits(app), scope_of(length=str(size).encode()), sent)) == 200
    assert app.bodies == [body]


_API = "/gradio_api/"
_OTHERS = ["/login", "/upload", _API, f"{_API}process_recording", f"{_API}stream/x"]
_UPLOAD, _LARGE, _END = f"{_API}upload", b"x" * (LIMIT + 1), {"type": "http.disconnect"}


_REFUSED: dict[str, tuple[Message, list[Message], int | None]] = {
    "above the limit": (scope_of(length=b"100001"), [], 413),
    "thousands of digits": (scope_of(length=b"9" * 5000), [], 413),
    "negative": (scope_of(length=b"-1"), [], 413),
    "not a number": (scope_of(length=b"x"), [], 413),
    "without a length": (scope_of(), parts(_LARGE[1:], b"x", is_whole=False), 413),
    "longer than its length": (scope_of(length=b"3"), parts(_LARGE), 413),
    "interrupted": (scope_of(_UPLOAD), [*parts(b"x", is_whole=False), _END], None),
    "not in time": (scope_of(), parts(b"x", is_whole=False), 408),
    **{path: (scope_of(path), parts(b"x"), 404) for path in _OTHERS},
}


@pytest.mark.parametrize(("scope", "messages", "status"), _REFUSED.values(), ids=_REFUSED)
def test_refused_bodies_do_not_reach_the_app(scope: Message, messages: Any, status: Any) -> None:
    app = Application()
    page = limits(app, seconds=0.001 if status == 408 else FOREVER)
    assert asyncio.run(call(page, scope, messages)) == status
    assert app.bodies == []


def test_a_kind_of_body_has_a_limit_of_its_own() -> None:
    upload = scope_of(f"/base{_UPLOAD}")
    assert asyncio.run(call(limits(Application()), upload, parts(_LARGE))) == 200


def test_requests_without_a_body_pass() -> None:
    app = Application()
    for scope in (scope_of("/theme.css", method="GET"), {"type": "lifespan"}):
        assert asyncio.run(call(limits(app), scope)) is None
    assert app.others == ["http", "lifespan"]


# it stops, sends nothing, is below the rate, and above the rate
@cases((0.05, 1, 408), (0.05, 0, 408), (5.0, 6, 408), (5.0, 3, 200))
def test_a_body_keeps_a_rate_and_makes_no_long_pause(pause: Any, n_parts: int, status: int) -> None:
    """Each part has 100 bytes and takes a virtual second; 100 bytes a second are enough."""

    async def run() -> int | None:
        loop = asyncio.get_running_loop()
        clock, real = [0.0], loop.time
        loop.time = lambda: real() + clock[0]  # type: ignore[method-assign]
        page = limits(Application(), pause=pause, bytes_per_second=100)
        sent = parts(*[b"x" * (100 if status == 200 else 20)] * n_parts, is_whole=pause > 1)

        def arriving() -> Iterable[Message]:
            for message in sent:
                clock[0] += 1.5 if pause > 1 else 0
                yield message

        try:
            return await call(page, scope_of(), arriving())
        finally:
            loop.time = real  # type: ignore[method-assign]

    assert asyncio.run(run()) == status


FULL = {"n_events": 4, "n_uploads": 2, "n_per_client": 3, "moment": FOREVER}


async def _half_sent(page: RequestLimits, n: int, **scope: Any) -> list[asyncio.Task[int | None]]:
    half = parts(b"x", is_whole=False)
    tasks = [asyncio.create_task(call(page, scope_of(**scope), half)) for _ in range(n)]
    await asyncio.sleep(0.01)  # they have begun
    return tasks


async def _ended(tasks: Iterable[asyncio.Task[int | None]]) -> list[int | None]:
    """The statuses of those that ended; the others are stopped."""
    await asyncio.sleep(0.01)
    actual = [task.result() for task in tasks if task.done()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return actual


def test_half_sent_uploads_leave_the_slots_of_judging_alone() -> None:
    async def run() -> tuple[int | None, list[int | None]]:
        page = limits(Application(), **FULL)
        uploads = await _half_sent(page, 200, path="/gradio_api/upload")
        return await call(page, scope_of(), parts(b"x")), await _ended(uploads)

    status, refused = asyncio.run(run())
    assert (status, refused) == (200, [503] * 198)


@cases(
    (["1.2.3.4"] * 5, "1.2.3.5"),
    ([f"2001:db8::{n}" for n in range(5)], "2001:db8:0:1::1"),  # one network is one client
)
def test_half_sent_bodies_of_one_client_give_way_to_another(clients: list[str], other: str) -> None:
    async def run() -> list[Any]:
        page = limits(Application(), **FULL)
        waiting = [t for c in clients[1:] for t in await _half_sent(page, 1, client=(c, 5))]
        scopes = [scope_of(client=(client, 5)) for client in (clients[0], other)]
        return [*[await call(page, scope, parts(b"x")) for scope in scopes], await _ended(waiting)]

    assert asyncio.run(run()) == [200, 200, [503]]  # the first took the place of the oldest


def test_old_half_sent_bodies_give_way_even_if_clients_cannot_be_told_apart() -> None:
    async def run() -> list[Any]:
        page = limits(Application(), **{**FULL, "moment": 0})
        waiting = await _half_sent(page, 8)
        actual = [await call(page, scope_of(), parts(b"x")) for _ in range(5)]
        return [*actual, sorted(map(str, await _ended(waiting)))]

    # three of the client are left, of which each of the five requests displaced one if it could
    assert asyncio.run(run()) == [200] * 5 + [["503"] * 6]


def test_many_requests_that_begin_at_once_are_all_served() -> None:
    async def run() -> list[int | None]:
        page = limits(Application(), n_per_client=3)
        calls = (call(page, scope_of(), parts(b"x" * 9, b"y" * 9)) for _ in range(50))
        return await asyncio.gather(*calls)

    assert asyncio.run(run()) == [200] * 50


def test_requests_that_are_served_keep_their_slots() -> None:
    async def run() -> list[Any]:
        is_judged = asyncio.Event()

        async def app(scope: Message, receive: Any, send: Any) -> None:
            await is_judged.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        page = limits(app, **FULL)  # type: ignore[arg-type]
        tasks = [asyncio.create_task(call(page, scope_of(), parts(b"x"))) for _ in range(4)]
        await asyncio.sleep(0.01)
        actual = [await call(page, scope_of(), parts(b"x"))]
        is_judged.set()
        return [*actual, await asyncio.gather(*tasks), await call(page, scope_of(), parts(b"x"))]

    assert asyncio.run(run()) == [503, [200] * 4, 200]


@cases(("", "", ""), ("spaces", "", "10.0.0.0/8"), ("spaces", "10.1.1.1", "10.1.1.1"))
def test_spaces_trust_proxies(system: str, allowed: str, expected: str, monkeypatch: Any) -> None:
    for name, value in (("SYSTEM", system), ("FORWARDED_ALLOW_IPS", allowed)):
        monkeypatch.setenv(name, value)  # so that it is restored
        if not value:
            monkeypatch.delenv(name)
    headers = launch_options(Mock(), event_bytes=1)["app_kwargs"]["middleware"][0].kwargs["headers"]
    assert ("X-Frame-Options" in headers) == (not system)  # the Hub shows a Space in a frame
    framed_by = headers["Content-Security-Policy"].partition("frame-ancestors ")[2]
    assert framed_by.startswith("https://huggingface.co" if system else "'none'")
    trusted = os.environ.get("FORWARDED_ALLOW_IPS", "").split(",")
    assert expected in trusted
    assert "*" not in trusted


@cases(
    ("198.51.100.7", "198.51.100.7"),
    ("203.0.113.1, 198.51.100.7", "198.51.100.7"),  # the first is what the visitor wrote
    ("203.0.113.1, 198.51.100.7, 10.9.8.7", "198.51.100.7"),
)
def test_the_address_that_the_outermost_proxy_saw_counts(sent: str, expected: str) -> None:
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    headers = [(b"x-forwarded-for", sent.encode())]
    page: Any = ProxyHeadersMiddleware(app, trusted_hosts=request_limits._PRIVATE)
    for client in (("10.1.2.3", 80), ("192.0.2.1", 80)):  # a proxy, and a visitor without one
        asyncio.run(page(scope_of(client=client, headers=headers, scheme="http"), None, None))
    assert seen == [expected, "192.0.2.1"]


def test_a_metric_page_has_limits_and_time_to_start() -> None:
    page = Mock()
    launch(page)
    given = page.launch.call_args.kwargs
    headers, middleware = given["app_kwargs"]["middleware"]
    assert headers.kwargs["headers"]["X-Frame-Options"] == "DENY"
    assert UPLOAD_PATH not in middleware.kwargs["bodies"]
    # otherwise gradio stops a server that does not answer within three seconds
    assert given["_frontend"] is False


def test_a_page_without_files_accepts_no_uploads() -> None:
    def bodies(**options: int) -> dict[str, int]:
        _, middleware = launch_options(Mock(), **options)["app_kwargs"]["middleware"]
        return dict(middleware.kwargs["bodies"])

    assert bodies(event_bytes=5) == dict.fromkeys(EVENT_PATHS, 5)
    assert bodies(event_bytes=5, upload_bytes=10)[UPLOAD_PATH] > 10
