"""Models behind a server: what is sent, and what becomes of servers that fail."""

import json
import logging
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from huggingface_hub import constants

from cc_hf.errors import CCError, EvaluatorError, InputError
from cc_hf.models import servers
from cc_hf.models.servers import KEY_VARIABLE, checked_url
from cc_hf.plugins.asking.chat_server import ServerChat, request_plan
from cc_hf.plugins.asking.conversations import Decoding, Reply
from cc_hf.plugins.asking.local_chat import LocalChat, open_local_chat
from cc_hf.plugins.asking.respondents import open_respondent
from tests.helpers.chat_models import QUESTIONS, asked, save_tiny_chat_model
from tests.helpers.chat_server import ChatServer, Fault, chat_server
from tests.helpers.usual import cases, fails, refuses, typed
from tests.plugins.asking.respondents import SHORT

pytestmark = pytest.mark.enable_socket

_SECRET = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_WAIT", 0.001)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> LocalChat:
    folder = save_tiny_chat_model(tmp_path_factory.mktemp("chat"))
    return open_local_chat(str(folder), decoding=SHORT)


@pytest.fixture(scope="module")
def plain(local: LocalChat) -> list[Reply]:
    """Return the replies to the questions of the model on this machine."""
    return local.reply(QUESTIONS)


@pytest.fixture
def served(local: LocalChat) -> Iterator[ChatServer]:
    with chat_server(local.loaded.model, local.loaded.tokenizer) as server:
        yield server


def asking(served: ChatServer, **options: Any) -> ServerChat:
    given = {"server": served.url, "decoding": SHORT, "concurrency": 1, **options}
    return typed(ServerChat, open_respondent("tiny", **given))


def test_replies_equal_those_of_the_local_model(served: ChatServer, plain: list[Reply]) -> None:
    assert asking(served, concurrency=4).reply(QUESTIONS) == plain
    path, body = served.requests[0]
    expected = {"model": "tiny", "max_tokens": 6, "temperature": 0}
    assert (path, expected.items() <= body.items()) == ("/v1/chat/completions", True)
    assert {len(body["messages"]) for _, body in served.requests} == {1, 3}


def test_equal_conversations_are_planned_and_sent_once(served: ChatServer) -> None:
    plan = request_plan([*QUESTIONS, QUESTIONS[0]], SHORT)
    replies = asking(served).reply([*QUESTIONS, QUESTIONS[0]])
    assert replies[0] == replies[-1] != replies[1]
    sent = [turn["content"] for _, body in served.requests for turn in body["messages"]]
    assert plan.n_requests == len(served.requests) == 5
    assert (plan.n_characters, plan.n_reply_tokens) == (sum(map(len, sent)), 30)
    assert asking(served).reply([]) == []


def busy(when: str, status: int = 429) -> Fault:
    return Fault(status=status, headers={"Retry-After": when})


@cases(
    *(Fault(status=500, body="out of memory"), Fault(status=503), Fault(drops=True)),
    *(Fault(garbled=True), Fault(answer={"choices": []}), Fault(answer=[1]), Fault(seconds=0.8)),
    *(Fault(text="[" * 100_000), Fault(text='{"choices": [' + "9" * 5000 + "]}")),
    *(busy("0"), busy("Wed, 21 Oct 2015 07:28:00 GMT")),
)
def test_no_reply_is_lost_by_failures(fault: Fault, served: ChatServer, plain: list[Reply]) -> None:
    served.faults = [None, fault, fault, None, fault]
    chat = asking(served)
    if fault.seconds:
        chat.server.seconds = 0.5
    assert (chat.reply(QUESTIONS), len(served.requests)) == (plain, len(QUESTIONS) + 3)


def test_several_requests_are_open_at_once_and_no_more(served: ChatServer) -> None:
    served.always = Fault(seconds=0.05)
    asking(served, concurrency=3).reply(QUESTIONS)
    assert served.most_at_once == 3


def test_servers_say_how_long_to_wait(served: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(servers, "_FIRST_WAIT", 1.0)
    chat, clock = asking(served), SimpleNamespace(wait=waits.append, clear=lambda: None)
    monkeypatch.setattr(chat.server, "_stopped", clock)
    served.faults = [busy("7"), *[Fault(drops=True)] * 3, None, busy("3600", 503)]
    assert None not in [reply.text for reply in chat.reply(QUESTIONS[:2])]
    assert waits == [7.0, 2.0, 4.0, 8.0, 3600.0]


@cases(
    ("3601", r"in 3,601 seconds, at 20\d\d-\d\d-\d\d \d\d:\d\d UTC"),
    ("9" * 400, "in more years than there are dates"),
    ("Fri, 31 Dec 9999 23:59:59 -2300", "at 9999-12-31|in more years"),
)
def test_long_waits_end_the_run(asked: str, said: str, served: ChatServer) -> None:
    served.always = busy(asked)
    fails(EvaluatorError, f"429.*{said}.*same command.*continues", asking(served).reply, QUESTIONS)
    assert len(served.requests) == 1


def test_a_time_to_come_back_that_says_nothing_is_ignored(served: ChatServer) -> None:
    texts = ("²", "-5", "1e3", "nan", "0x10", "7 8", "", "soon", "1 1 1 1 1", "," * 500)
    dates = ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Oct 2015", "Mon, 1 Jan 99999999999 00:00:00")
    for n, wait in enumerate((*texts, *dates, "Fri, 01 Jan 2027 00:00:00 +9999999999"), 1):
        served.faults = [busy(wait)]
        assert asking(served).reply(QUESTIONS[:1])[0].text is not None
        assert len(served.requests) == 2 * n, wait


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_is_sent_on_to_addresses_that_nobody_named(served: ChatServer, status: int) -> None:
    models = partial(open_respondent, None, server=served.url, decoding=SHORT)
    replies = partial(asking(served).reply, QUESTIONS)
    with chat_server(served.model, served.tokenizer) as other:
        for path, end, use in (("chat/completions", "$", replies), ("models", ";", models)):
            served.always = Fault(status=status, headers={"Location": f"{other.url}/{path}"})
            message = f"HTTP {status}.*{other.url}/{path}.*name the server {other.url}{end}"
            fails(EvaluatorError, message, use)
        assert not other.requests
    assert len(served.requests) == 2


@cases(
    ("/v1/chat/completions", "redirects to itself"),
    ("/elsewhere", "redirects to http://127.0.0.1:[0-9]+/elsewhere"),
    ("http://[", "name the server"),
    ("file:///etc/passwd", "name the server"),
    (f"http://other/?key={_SECRET}", r"\[key\]"),
)
def test_lost_redirects_fail(location: str, message: str, served: ChatServer, key: str) -> None:
    served.always = Fault(status=308, headers={"Location": location})
    respondent = asking(served)
    with pytest.raises(EvaluatorError, match=message) as refused:
        respondent.reply(QUESTIONS)
    assert key not in str(refused.value)
    assert len(served.requests) == 1


def test_an_interrupt_does_not_wait_until_the_server_may_be_asked_again(served: ChatServer) -> None:
    def interrupt() -> None:
        while not served.requests:
            time.sleep(0.01)
        # Python loses a signal that comes just before its main thread waits.
        while not ended.wait(2):
            os.kill(os.getpid(), signal.SIGINT)

    ended = threading.Event()
    served.always = busy("3000")
    # A shell ignores Ctrl-C for what it runs in the background.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        fails(KeyboardInterrupt, "^$", asking(served, concurrency=2).reply, QUESTIONS)
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGINT, former)
    assert time.monotonic() - start < 1000


def test_a_request_that_always_fails_stops_no_other(served: ChatServer, plain: list[Reply]) -> None:
    served.faults = [None, *[Fault(status=500, body="it crashed")] * 6]
    first, failed, *others = asking(served).reply(QUESTIONS)
    assert failed.text is None
    assert re.fullmatch("HTTP 500: .* after 6 tries", failed.error)
    assert [first, *others] == [*plain[:1], *plain[2:]]


def test_a_refusal_is_quoted_and_not_sent_again(served: ChatServer, plain: list[Reply]) -> None:
    said = "it has 9 tokens"
    known = [{"error": said}, {"error": {"message": said, "code": 3}}, {"detail": said}]
    bodies = [*map(json.dumps, [*known, {"object": "error", "message": said}]), "it has\n9 tokens"]
    for n, body in enumerate(bodies, 1):
        served.faults = [Fault(status=400, body=body)]
        replies = asking(served).reply(QUESTIONS)
        assert replies[0].error == f"HTTP 400: {said}", body
        assert (replies[1:], len(served.requests)) == (plain[1:], n * len(QUESTIONS))


def test_replies_before_the_server_went_away_are_kept(served: ChatServer, local: LocalChat) -> None:
    served.faults = [None, None]
    served.always = Fault(drops=True)
    conversations = [*QUESTIONS, *(asked(f"{i}") for i in range(50))]
    replies = asking(served).reply(conversations)
    assert replies[:2] == local.reply(QUESTIONS[:2])
    assert all("no answer" in reply.error for reply in replies[2:])
    assert replies[-1].error.startswith("not sent, since before: ")
    assert len(served.requests) == 2 + 3 * 6
    # The run goes on when the server is there again.
    served.always = None
    left = [c for c, reply in zip(conversations, replies, strict=True) if reply.text is None]
    assert asking(served).reply(left) == local.reply(left)


def test_a_server_that_is_not_there_is_an_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    chat = ServerChat(url, "m", decoding=SHORT, concurrency=1)
    fails(EvaluatorError, r"no answer .* after 6 tries", chat.reply, [*QUESTIONS])
    fails(EvaluatorError, "no answer", ServerChat, url, None, decoding=SHORT)


def test_the_limit_of_requests_counts_repeated_ones(served: ChatServer, plain: list[Reply]) -> None:
    served.faults = [None, Fault(status=500)]
    chat = asking(served, max_requests=4)
    replies = chat.reply(QUESTIONS)
    assert replies[:3] == plain[:3]
    assert replies[3].error == "not sent: the limit of 4 requests is reached"
    assert all("limit of 4 requests" in reply.error for reply in replies[3:])
    assert len(served.requests) == 4
    fails(EvaluatorError, "limit of 4 requests", chat.reply, QUESTIONS)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(KEY_VARIABLE, _SECRET)
    return _SECRET


def test_the_key_is_secret(served: ChatServer, key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    served.key = key
    chat = asking(served)
    assert chat.reply(QUESTIONS[:1])[0].text
    served.key = "another"
    with pytest.raises(EvaluatorError, match=r"HTTP 401.*\[key\]") as refused:
        chat.reply(QUESTIONS)
    assert len(served.requests) == 2
    seen = [str(refused.value), repr(chat), str(vars(chat)), str(vars(chat.server))]
    assert not [text for text in [*seen, chat.identity, caplog.text] if key in text]


def test_the_hubs_token_is_never_sent(served: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_hub")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    asking(served).reply(QUESTIONS[:1])
    open_respondent(None, server=served.url, decoding=SHORT)
    assert [headers["authorization"] for headers in served.headers] == ["Bearer none"] * 2


@pytest.mark.parametrize("key", ["ключ", "two\nlines", "a b"])
def test_bad_key_is_refused(served: ChatServer, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv(KEY_VARIABLE, key)
    respondent = asking(served)
    with pytest.raises(InputError, match=f"{KEY_VARIABLE}: expected") as refused:
        respondent.reply(QUESTIONS)
    assert key not in str(refused.value)
    assert not served.requests


def test_only_the_only_model_need_not_be_named(served: ChatServer) -> None:
    opened = partial(open_respondent, None, server=f"{served.url}/", decoding=SHORT)
    assert opened().identity == f"server:{served.url}#tiny/greedy/6 tokens"
    named, strange = "expected a name", "list of models"
    wrong: list[tuple[Any, str]] = [({"data": []}, named), ([], strange), ({"data": 3}, strange)]
    wrong += [({"models": []}, strange), ({"data": [{"id": "a"}, {"id": "b"}]}, named)]
    for answer, message in wrong:
        served.faults = [Fault(answer=answer)]
        fails(CCError, message, opened)


@cases(
    *("", "localhost:8000", "ftp://host/v1", "http://", "http://host:99999999/v1"),
    *("http://[/v1", "http://host/v1#m", "http://host/v 1", "http://host/ü"),
    *(f"http://user:{_SECRET}@host/v1", f"https://host/v1?key={_SECRET}"),
)
def test_addresses_that_cannot_be_used_are_refused_without_their_secrets(url: str) -> None:
    with pytest.raises(InputError, match="server: expected an address") as refused:
        checked_url(url)
    assert _SECRET not in str(refused.value)


@cases(
    *({"concurrency": 0}, {"max_requests": 0}, {"decoding": Decoding(0)}),
    {"decoding": Decoding(temperature=float("inf"))},
)
def test_bad_options_are_refused_first(options: dict[str, Any], served: ChatServer) -> None:
    refuses(
        "expected", open_respondent, None, **{"server": served.url, "decoding": SHORT, **options}
    )
    assert not served.requests


@patch.object(servers.Server, "__init__", None)  # a call would be an error
@patch.object(socket.socket, "connect", None)
def test_nothing_is_sent_unless_a_server_is_named(tmp_path: Path) -> None:
    folder = str(save_tiny_chat_model(tmp_path))
    replies = open_respondent(folder, decoding=SHORT).reply(QUESTIONS)
    assert replies == open_local_chat(folder, decoding=SHORT).reply(QUESTIONS)


def _sending(piece: bytes) -> Any:
    """Return an answer that never ends."""
    return SimpleNamespace(read1=lambda _: piece)


def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    fails(TimeoutError, "took too long", servers._body, _sending(b" "), time.monotonic())
    monkeypatch.setattr(servers, "_LONGEST_ANSWER", 100)
    fails(ValueError, "more than 100 bytes", servers._body, _sending(b"x" * 60), float("inf"))


def test_a_length_beyond_any_memory_is_no_error_of_its_own(served: ChatServer) -> None:
    served.faults = [Fault(text="{}", claims="9" * 20)] * 6
    outcome = servers.Server(served.url).post("/models", {}, dict)
    assert outcome.kind == "answered"
