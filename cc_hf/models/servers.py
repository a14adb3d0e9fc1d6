"""Requests to OpenAI-compatible servers: addresses, keys, retries, limits. No torch here.

A request is tried again, after growing waits, when the server is busy, fails, is too slow, drops
the connection or sends something that is not JSON. It is given up when the server refuses it, and
never sent on to an address that nobody named. No key is stored or named: the variable
`KEY_VARIABLE` of the environment is read for each request, and what a message quotes of a server is
searched for it. These servers are not the Hub: its token, session and offline mode are not used.
"""

from __future__ import annotations

import datetime
import email.utils
import http.client
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urljoin, urlsplit

from cc_hf._version import __version__
from cc_hf.errors import EvaluatorError, InputError

__all__ = [
    "KEY_VARIABLE",
    "ServedModel",
    "Server",
    "ServerReply",
    "checked_url",
]

#: The variable of the environment that holds the key of a server, where it needs one.
KEY_VARIABLE = "CC_HF_API_KEY"
_NO_KEY = "none"  # what is sent where there is no key

_PREFIX = "server:"
_TRIES = 6  # of one request
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 120.0  # seconds; each wait is twice the one before
_LONGEST_ASKED = 3600.0  # seconds that a server may ask to wait
_BUSY = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_CLOSED = (401, 402, 403, 404, 405)  # every other request would be refused, too
_FAILED_IN_A_ROW = 3  # requests that were given up, after which no more are sent
_QUOTED = 200  # characters of a server's words in a message
_LONGEST_REFUSAL = 100_000  # bytes that are read of them
#: Bytes of an answer. Log-probabilities of twenty tokens at each of 100,000 positions are less.
_LONGEST_ANSWER = 256 * 2**20
_PIECE = 65_536  # bytes that are read at a time

T = TypeVar("T")


@dataclass(frozen=True)
class ServerReply(Generic[T]):
    """The outcome of a request.

    Attributes:
        value: what the server sent, or None.
        error: why there is no value; "" if there is one.
        kind: "answered"; "refused", when the server may still accept other requests; "failed" after
            several tries; "closed", when it would refuse every other request, too.
    """

    value: T | None
    error: str = ""
    kind: Literal["answered", "refused", "failed", "closed"] = "answered"


@dataclass(frozen=True)
class ServedModel:
    """A model behind a server, as it is named where a model is expected.

    Attributes:
        model: name of the model there; "" for the only one.
        tokenizer: folder, or name on the Hub, of its tokenizer; "" if that is the model's name.
    """

    url: str
    model: str
    tokenizer: str

    @classmethod
    def of(cls, name: str) -> ServedModel:
        """Read "server:URL", "server:URL#MODEL" or "server:URL#MODEL#TOKENIZER".

        Raises:
            InputError: for an address that `checked_url` refuses, or more parts.

        Examples:
            >>> ServedModel.of("server:http://localhost:8000/v1#org/model").model
            'org/model'
        """
        url, *names = name.removeprefix(_PREFIX).split("#")
        if len(names) > 2:
            raise InputError(
                "evaluator: expected server:URL#MODEL#TOKENIZER, of which the last two may be left"
                f" out, got {len(names) + 1} parts"
            )
        model, tokenizer = [*names, "", ""][:2]
        return cls(checked_url(url), model, tokenizer)


def checked_url(url: str) -> str:
    """Return the address of a server without a slash at its end.

    Raises:
        InputError: for anything but http or https, or an address with a user, a password or a
            query, which may hold a key and would be stored with the results; or with characters
            that a request cannot hold.

    Examples:
        >>> checked_url("http://localhost:8000/v1/")
        'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, has_host = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not has_host or not _is_sendable(url):
        raise InputError(
            "server: expected an address such as http://localhost:8000/v1, got"
            f" {url.rpartition('@')[2][:_QUOTED]!r}"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            "server: expected an address without user, password and query, since it is stored with"
            f" the results; put a key into the variable {KEY_VARIABLE}"
        )
    return url.rstrip("/")


def _api_key() -> str:
    """Return the key from the environment, or what is sent without one."""
    key = os.environ.get(KEY_VARIABLE, "").strip() or _NO_KEY
    if not _is_sendable(key):
        raise InputError(
            f"{KEY_VARIABLE}: expected a key of ASCII characters without spaces, got"
            f" {len(key)} characters with others"
        )
    return key


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int, float, type(None)))


def _is_sendable(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


class Server:
    """An OpenAI-compatible server.

    Args:
        max_requests: largest number of requests, repeated ones included; None for any.
        seconds: how long one answer may take.

    Raises:
        InputError: for an address that `checked_url` refuses, or a limit below 1.
    """

    def __init__(
        self, url: str, *, max_requests: int | None = None, seconds: float = 600.0
    ) -> None:
        self.url = checked_url(url)
        if max_requests is not None and (type(max_requests) is not int or max_requests < 1):
            raise InputError(f"max_requests: expected a whole number from 1, got {max_requests!r}")
        self.max_requests = max_requests
        self.seconds = seconds
        self.n_sent = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()  # ends the waits of other threads

    def models(self) -> dict[str, dict[str, Any]]:
        """Return what the server says of its models, by their names, without lists and objects.

        Raises:
            EvaluatorError: if it does not answer, or not with a list of models.
        """
        outcome = self._ask(lambda: self._json("/models"), _BUSY - {500})  # some cannot list them
        listed = outcome.value.get("data") if isinstance(outcome.value, dict) else None
        if not isinstance(listed, list):
            raise EvaluatorError(
                f"{self.url}/models: expected a list of models,"
                f" {outcome.error or 'got something else'}; name the model, which some servers do"
                " not list, or check the address, which often ends in /v1"
            )
        return {
            entry["id"]: {key: value for key, value in entry.items() if _is_plain(value)}
            for entry in listed
            if isinstance(entry, dict) and isinstance(entry.get("id"), str)
        }

    def only_model(self) -> str:
        """Return the name of the model, if the server has one only.

        Raises:
            InputError: if it has none or several; the message names them.
            EvaluatorError: as for `models`.
        """
        names = sorted(self.models())
        if len(names) != 1:
            raise InputError(
                f"model: expected a name, since {self.url} serves"
                f" {', '.join(names[:20]) or 'no model that it names'}"
            )
        return names[0]

    def post(self, path: str, body: dict[str, Any], read: Callable[[Any], T]) -> ServerReply[T]:
        """Send a request with JSON, and read the JSON that comes back.

        Args:
            path: what is added to the address, such as "/completions".
            read: makes a value of what came back; it raises ValueError where that is not as
                expected, and the request is sent again.
        """
        return self._ask(lambda: read(self._json(path, body)))

    def post_all(
        self,
        path: str,
        bodies: Sequence[dict[str, Any]],
        read: Callable[[Any], T],
        *,
        concurrency: int,
    ) -> list[ServerReply[T]]:
        """Send requests, several at a time, and return the outcomes in their order.

        When the server refuses all requests, or several in a row are given up, those that are left
        are not sent; their outcomes say so. Nothing that came back is lost.

        Args:
            concurrency: number of requests that the server has at a time, at least 1.

        Raises:
            EvaluatorError: if the server answered none of the requests, and would not answer
                others.
        """
        ending = _Ending()
        self._stopped.clear()

        def send_unless_ended(body: dict[str, Any]) -> ServerReply[T]:
            if ending.reason:
                return ServerReply(None, f"not sent, since before: {ending.reason}", "closed")
            outcome = self.post(path, body, read)
            ending.note(outcome)
            return outcome

        with ThreadPoolExecutor(max_workers=concurrency) as pool:
            try:
                outcomes = list(pool.map(send_unless_ended, bodies))
            except BaseException:  # Ctrl-C does not wait until the server may be asked again
                self._stopped.set()
                raise
        if ending.reason and all(outcome.error for outcome in outcomes):
            raise EvaluatorError(f"{self.url}: {ending.reason}")
        return outcomes

    def _ask(self, call: Callable[[], T], busy: Collection[int] = _BUSY) -> ServerReply[T]:
        """Make a request, and again while that may help."""
        problem = ""
        wait = _FIRST_WAIT
        for n_tried in range(1, _TRIES + 1):
            if not self._may_send():
                return ServerReply(
                    None,
                    f"not sent: the limit of {self.max_requests} requests is reached",
                    "closed",
                )
            asked_to_wait = 0.0
            try:
                return ServerReply(call())
            except urllib.error.HTTPError as error:
                problem = f"HTTP {error.code}: {_words(error)}"
                if error.code // 100 == 3 and (address := error.headers.get("location", "")):
                    return ServerReply(None, self._redirected(error, address), "closed")
                if error.code not in busy:
                    return ServerReply(
                        None, problem, "closed" if error.code in _CLOSED else "refused"
                    )
                asked_to_wait = _retry_after(error.headers.get("retry-after", ""))
            except (OSError, http.client.HTTPException) as error:
                problem = f"no answer ({_words(error)})"
            except RecursionError:
                problem = "an answer that is not as expected (nested too deeply to be read)"
            except InputError:  # a key that cannot be sent
                raise
            except ValueError as error:
                problem = f"an answer that is not as expected ({_words(error)})"
            if asked_to_wait > _LONGEST_ASKED:
                return ServerReply(
                    None,
                    f"{problem}; the server asks to come back {_later(asked_to_wait)}, which is too"
                    " long to wait. Give the same command again then; it continues with what was"
                    " stored so far",
                    "closed",
                )
            if n_tried < _TRIES:
                if self._stopped.wait(max(wait, asked_to_wait)):
                    break
                wait = min(2 * wait, _LONGEST_WAIT)
        return ServerReply(None, f"{problem}, after {n_tried} tries", "failed")

    def _may_send(self) -> bool:
        """Return whether another request is within the limit, and count it."""
        with self._lock:
            if self.max_requests is not None and self.n_sent >= self.max_requests:
                return False
            self.n_sent += 1
            return True

    def _redirected(self, error: urllib.error.HTTPError, address: str) -> str:
        """Return why a redirect is refused, and what to do."""
        try:
            target = urljoin(error.url, address)
        except ValueError:
            target = address
        if target == error.url:
            return (
                f"HTTP {error.code}: {_without_key(target)} redirects to itself, which never ends;"
                " correct the server or its address"
            )
        server = target.removesuffix(error.url.removeprefix(self.url))
        return (
            f"HTTP {error.code}: it redirects to {_without_key(target)}, which nobody named, so"
            " that nothing was sent there; if that is meant, name the server"
            f" {_without_key(server)}"
        )

    def _json(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return what comes back for one request: a GET, or a POST if there is a body."""
        request = urllib.request.Request(
            f"{self.url}{path}",
            None if body is None else json.dumps(body).encode("ascii"),
            {
                "Authorization": f"Bearer {_api_key()}",
                "Content-Type": "application/json",
                # Some providers refuse the name that Python gives itself.
                "User-Agent": f"cc_hf/{__version__}",
            },
        )
        opener = urllib.request.build_opener(_NoRedirects)
        deadline = time.monotonic() + self.seconds
        with opener.open(request, timeout=self.seconds) as response:
            return json.loads(_body(response, deadline))


def _body(response: Any, deadline: float) -> bytes:
    """Return the body of an answer, whose size and time are limited."""
    # The timeout of a socket starts again with every byte, and a server may send for ever.
    body = bytearray()
    while piece := response.read1(_PIECE):
        body += piece
        if len(body) > _LONGEST_ANSWER:
            raise ValueError(f"more than {_LONGEST_ANSWER:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError("the answer took too long")
    return bytes(body)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes an error of every redirect: the text would go where nobody sent it."""

    def http_error_302(self, *_: Any) -> None:
        """Follow none."""

    http_error_301 = http_error_303 = http_error_302  # type: ignore[assignment]
    http_error_307 = http_error_308 = http_error_302  # type: ignore[assignment]


class _Ending:
    """Decides when no more requests are sent."""

    def __init__(self) -> None:
        self.reason = ""
        self._n_failed = 0
        self._lock = threading.Lock()

    def note(self, outcome: ServerReply[Any]) -> None:
        """Take an outcome into account."""
        with self._lock:
            # A single failure may be due to the request, such as one that makes the server crash.
            self._n_failed = self._n_failed + 1 if outcome.kind == "failed" else 0
            if outcome.kind == "closed" or self._n_failed >= _FAILED_IN_A_ROW:
                self.reason = self.reason or outcome.error


def _words(error: BaseException) -> str:
    """Return what an error says, in one line and without the key."""
    said = _said(error) if isinstance(error, urllib.error.HTTPError) else ""
    return _without_key(said or str(error) or type(error).__name__)


def _without_key(text: str) -> str:
    line = " ".join(text.split())
    key = _api_key()
    return (line if key == _NO_KEY else line.replace(key, "[key]"))[:_QUOTED]


def _said(error: urllib.error.HTTPError) -> str:
    """Return what a refusing server said: the message in its JSON, or its text."""
    try:
        with error:
            text = error.read(_LONGEST_REFUSAL).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return ""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    # Servers put it under "error", as text or with a "message", or under "detail" or "message".
    for key in ("error", "detail", "message"):
        if isinstance(said, dict) and said.get(key):
            said = said[key]
    return said if isinstance(said, str) else text


def _retry_after(text: str) -> float:
    """Return the seconds that the header Retry-After asks to wait: a number, or a date.

    Examples:
        >>> _retry_after("7"), _retry_after("soon"), _retry_after("")
        (7.0, 0.0, 0.0)
    """
    if re.fullmatch(r"\s*[0-9]+\s*", text):
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (IndexError, OverflowError, TypeError, ValueError):
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.timezone.utc)
    return max(0.0, (date - datetime.datetime.now(datetime.timezone.utc)).total_seconds())


def _later(seconds: float) -> str:
    """Return when a number of seconds is over, and the number."""
    try:
        then = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return "in more years than there are dates"
    return f"in {seconds:,.0f} seconds, at {then:%Y-%m-%d %H:%M} UTC"
