"""Requests to OpenAI-compatible servers: addresses, keys, retries, limits. No torch here.

A request is tried again, after growing waits, when the server is busy, fails, is too slow, drops
the connection or sends something that is not JSON. It is given up when the server refuses it. No
key is stored or named: the variable `KEY_VARIABLE` of the environment is read for each request, and
what a message quotes of a server is searched for it. The token of the Hub is never sent.
"""

from __future__ import annotations

import datetime
import email.utils
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from cc_hf.errors import EvaluatorError, InputError

__all__ = [
    "KEY_VARIABLE",
    "Outcome",
    "ServedModel",
    "Server",
    "api_key",
    "checked_url",
    "is_server",
]

#: The variable of the environment that holds the key of a server, where it needs one.
KEY_VARIABLE = "CC_HF_API_KEY"
# What is sent where there is no key. InferenceClient replaces none by the token of the Hub.
_NO_KEY = "none"

_PREFIX = "server:"
_TRIES = 6  # of one request
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 120.0  # seconds; each wait is twice the one before
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
_CLOSED = (401, 402, 403, 404, 405)  # every other request would be refused, too
_FAILED_IN_A_ROW = 3  # requests that were given up, after which no more are sent
_QUOTED = 200  # characters of a server's words in a message

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of a request.

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
        url: address of the server.
        model: name of the model there; "" for the only one.
        tokenizer: folder, or name on the Hub, of its tokenizer; "" if that is the model's name.
    """

    url: str
    model: str
    tokenizer: str

    @classmethod
    def of(cls, name: str) -> ServedModel:
        """Read "server:URL", "server:URL#MODEL" or "server:URL#MODEL#TOKENIZER".

        Args:
            name: a name that `is_server` recognises.

        Returns:
            Its parts.

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


def is_server(name: str) -> bool:
    """Return whether a name is that of a model behind a server.

    Args:
        name: name of a model.

    Examples:
        >>> is_server("server:http://localhost:8000/v1"), is_server("org/model")
        (True, False)
    """
    return name.startswith(_PREFIX)


def checked_url(url: str) -> str:
    """Return the address of a server without a slash at its end.

    Args:
        url: address that paths such as /chat/completions are added to.

    Raises:
        InputError: for anything but http or https, or an address with a user, a password or a
            query, which may hold a key and would be stored with the results.

    Examples:
        >>> checked_url("http://localhost:8000/v1/")
        'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, has_host = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not has_host:
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


def api_key() -> str:
    """Return the key from the environment, or what is sent where there is none."""
    return os.environ.get(KEY_VARIABLE, "").strip() or _NO_KEY


class Server:
    """An OpenAI-compatible server.

    Args:
        url: its address, as for `checked_url`.
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

    def models(self) -> dict[str, dict[str, Any]]:
        """Return what the server says of its models, by their names.

        Raises:
            EvaluatorError: if it does not answer, or not with a list of models.
        """
        outcome = self.ask(lambda: self._json("get", "/models"))
        listed = outcome.value.get("data") if isinstance(outcome.value, dict) else None
        if not isinstance(listed, list):
            raise EvaluatorError(
                f"{self.url}/models: expected a list of models,"
                f" {outcome.error or 'got something else'}; check the address, which often ends in"
                " /v1"
            )
        return {
            entry["id"]: entry
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

    def post(self, path: str, body: dict[str, Any], read: Callable[[Any], T]) -> Outcome[T]:
        """Send a request with JSON, and read the JSON that comes back.

        Args:
            path: what is added to the address, such as "/completions".
            body: the request.
            read: makes a value of what came back; it raises ValueError where that is not as
                expected, and the request is sent again.

        Returns:
            The outcome, with the value.
        """
        return self.ask(lambda: read(self._json("post", path, body)))

    def ask_all(self, calls: Sequence[Callable[[], T]], *, concurrency: int) -> list[Outcome[T]]:
        """Make requests, several at a time.

        When the server refuses all requests, or several in a row are given up, those that are left
        are not sent; their outcomes say so. Nothing that came back is lost.

        Args:
            calls: functions that send one request each.
            concurrency: number of requests that the server has at a time, at least 1.

        Returns:
            The outcomes, in the order of the calls.

        Raises:
            EvaluatorError: if the server answered none of the requests, and would not answer
                others.
        """
        ending = _Ending()

        def send_unless_ended(call: Callable[[], T]) -> Outcome[T]:
            if ending.reason:
                return Outcome(None, f"not sent, since before: {ending.reason}", "closed")
            outcome = self.ask(call)
            ending.note(outcome)
            return outcome

        with ThreadPoolExecutor(max_workers=concurrency) as pool:
            outcomes = list(pool.map(send_unless_ended, calls))
        if ending.reason and all(outcome.error for outcome in outcomes):
            raise EvaluatorError(f"{self.url}: {ending.reason}")
        return outcomes

    def ask(self, call: Callable[[], T]) -> Outcome[T]:
        """Make a request, and again while that may help.

        Args:
            call: sends one request; it raises the errors of huggingface_hub, or ValueError for an
                answer that is not as expected.

        Returns:
            What it returned, or why it was given up.
        """
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        problem = ""
        wait = _FIRST_WAIT
        for n_tried in range(1, _TRIES + 1):
            if not self._may_send():
                return Outcome(
                    None,
                    f"not sent: the limit of {self.max_requests} requests is reached",
                    "closed",
                )
            asked_to_wait = 0.0
            try:
                return Outcome(call())
            except OfflineModeIsEnabled:
                return Outcome(
                    None,
                    "HF_HUB_OFFLINE is set, so that huggingface_hub sends nothing, to this server"
                    " neither; unset it",
                    "closed",
                )
            except HfHubHTTPError as error:
                status = error.response.status_code
                problem = f"HTTP {status}: {_words(error)}"
                if status not in _BUSY:
                    return Outcome(None, problem, "closed" if status in _CLOSED else "refused")
                asked_to_wait = _retry_after(error.response.headers.get("retry-after", ""))
            # A session of huggingface_hub raises the errors of requests or of httpx, by version;
            # its own error derives from theirs.
            except (*HfHubHTTPError.__bases__, OSError) as error:  # type: ignore[misc]
                problem = f"no answer ({_words(error)})"
            except ValueError as error:
                problem = f"an answer that is not as expected ({_words(error)})"
            if asked_to_wait > _LONGEST_WAIT:
                problem += f"; it asks to wait {asked_to_wait:,.0f} seconds"
                break
            if n_tried < _TRIES:
                time.sleep(max(wait, asked_to_wait))
                wait = min(2 * wait, _LONGEST_WAIT)
        return Outcome(None, f"{problem}, after {n_tried} tries", "failed")

    def _may_send(self) -> bool:
        """Return whether another request is within the limit, and count it."""
        with self._lock:
            if self.max_requests is not None and self.n_sent >= self.max_requests:
                return False
            self.n_sent += 1
            return True

    def _json(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return what comes back for one request with the session of huggingface_hub.

        Raises:
            ValueError: for an answer that is not JSON.
        """
        from huggingface_hub.utils import (  # type: ignore[attr-defined]
            get_session,
            hf_raise_for_status,
        )

        options = {} if body is None else {"json": body}
        response = getattr(get_session(), method)(
            f"{self.url}{path}",
            headers={"authorization": f"Bearer {api_key()}"},
            timeout=self.seconds,
            **options,
        )
        hf_raise_for_status(response)
        return response.json()


class _Ending:
    """Decides when no more requests are sent."""

    def __init__(self) -> None:
        self.reason = ""
        self._n_failed = 0
        self._lock = threading.Lock()

    def note(self, outcome: Outcome[Any]) -> None:
        """Take an outcome into account."""
        with self._lock:
            # A single failure may be due to the request, such as one that makes the server crash.
            self._n_failed = self._n_failed + 1 if outcome.kind == "failed" else 0
            if outcome.kind == "closed" or self._n_failed >= _FAILED_IN_A_ROW:
                self.reason = self.reason or outcome.error


def _words(error: BaseException) -> str:
    """Return what an error says, in one line and without the key."""
    said = _said(getattr(error, "response", None)) or str(error) or type(error).__name__
    line = " ".join(said.split())
    key = api_key()
    return (line if key == _NO_KEY else line.replace(key, "[key]"))[:_QUOTED]


def _said(response: Any) -> str:
    """Return what a refusing server said: the message in its JSON, or its text.

    Servers put it under "error", as text or with a "message", or under "detail" or "message".
    """
    try:
        text: str = getattr(response, "text", "")
    except RuntimeError:  # the session did not read it
        return ""
    try:
        said = json.loads(text)
    except ValueError:
        return text
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
    if text.strip().isdigit():
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.timezone.utc)
    return max(0.0, (date - datetime.datetime.now(datetime.timezone.utc)).total_seconds())
