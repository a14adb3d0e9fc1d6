"""Ask, and keep every question with its reply, so that a run that was stopped goes on, and another
parser can read the replies without asking again.

The file has one JSON object per line: first the run, then a request with its reply each.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import EvaluatorError, FileError, InputError, in_file
from cc_hf.files import exists, file_sha256, is_file, sole_writer
from cc_hf.models.chat_templates import Conversation
from cc_hf.plugins.asking.conversations import Reply, Respondent
from cc_hf.reading import JSONL, Place, decoded, opened
from cc_hf.records import WORD, parse_objects, read_value
from cc_hf.tables.rows import read_rows

__all__ = [
    "FileRespondent",
    "KeptReply",
    "KeptRun",
    "Request",
    "ask",
    "is_run",
    "read_run",
    "request_key",
]


_FIRST = b'{"run": {'

_REPLY = {"id": WORD, "text?": str | None, "error?": str, "is_cut?": bool}


@dataclass(frozen=True)
class Request:
    """One thing to ask."""

    id: str  # unique within a run
    conversation: Conversation
    reference: Mapping[str, str]  # what is needed to read the reply


@dataclass(frozen=True)
class KeptReply:
    """A request of a kept run with its reply."""

    id: str
    reference: Mapping[str, str]
    reply: Reply


@dataclass(frozen=True)
class KeptRun:
    """A run that was kept."""

    run: Mapping[str, Any]
    replies: Mapping[str, KeptReply]  # by id, in the order of the file


class FileRespondent:
    """Replies that were collected elsewhere, found by the id of the request.

    Each line of the file is an object with `id` and `text`. A reply that failed has the reason as
    `error`, and `text` is null or absent. `is_cut` may be true for one that ended at the limit of
    its length. The swapped request of a sample has the id of the sample
    followed by "/swapped". A file that `cc-hf ask` kept can be read, too.
    `unused` are the ids that no request had so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._replies: dict[str, Reply] = {}
        rows = _Once()
        for where, row in read_rows(path, JSONL):
            if "run" in row and "id" not in row:
                continue
            name, reply = _kept(row, where)
            rows.check(name, reply, where)
            self._replies[name] = reply
        if not self._replies:
            raise FileError(path, "expected objects with id and text, got an empty file")
        self.unused = set(self._replies)

    @property
    def identity(self) -> str:
        """The name of the file with a hash over what it holds."""
        return f"replies/{self.path.name}@{file_sha256(self.path)[:7]}"

    def reply(self, conversations: Sequence[Conversation]) -> list[Reply]:
        """Raise InputError always, since a file only knows ids; `reply_by_id` answers."""
        raise InputError(
            f"{self.path}: expected ids, by which the replies of a file are found, got"
            f" {len(conversations)} conversations"
        )

    def reply_by_id(self, ids: Sequence[str]) -> list[Reply]:
        """Return the replies of requests."""
        if missing := [name for name in ids if name not in self._replies]:
            raise InputError(
                f"{self.path}: expected a reply to each of {len(ids)} requests, got none to"
                f" {len(missing)} of them, such as {missing[0]!r}. A request that failed has a line"
                " with its id and error"
            )
        self.unused.difference_update(ids)
        return [self._replies[name] for name in ids]


def request_key(identity: str, conversation: Conversation) -> str:
    """Return the key of a reply: a hash over the model with its decoding, and over every turn."""
    turns = [[message.role, message.content] for message in conversation]
    written = json.dumps([identity, turns], ensure_ascii=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def ask(
    requests: Sequence[Request],
    respondent: Respondent | FileRespondent,
    path: Path,
    run: Mapping[str, Any],
    *,
    block_size: int = 64,
    is_main: bool = True,
    advance: Callable[[int], object] = lambda n: None,
) -> dict[str, Reply]:
    """Ask what was not answered before, and keep every reply.

    Replies are stored block by block. A call with the same arguments goes on behind the last block
    that was stored, and asks again what failed. Requests with the same turns are asked once.

    Returns:
        Id -> reply, in the order of the requests.
    """
    keys = {
        request.id: request_key(respondent.identity, request.conversation) for request in requests
    }
    with sole_writer(path) if is_main else contextlib.nullcontext():
        known = _prepared(path, run, is_main=is_main)
        waiting: dict[str, list[Request]] = {}
        for request in requests:
            if (reply := known.get(keys[request.id])) is None or reply.text is None:
                waiting.setdefault(keys[request.id], []).append(request)
        advance(len(requests) - sum(map(len, waiting.values())))
        if isinstance(respondent, FileRespondent):
            # Two samples with the same words may have two replies in a file.
            waiting = {request.id: [request] for of_key in waiting.values() for request in of_key}
        pending = list(waiting.values())
        replies: dict[str, Reply] = {}
        for start in range(0, len(pending), block_size):
            block = pending[start : start + block_size]
            answered = _answers([members[0] for members in block], respondent)
            rows = []
            for members, reply in zip(block, answered, strict=True):
                for request in members:
                    replies[request.id] = reply
                    rows.append(_row(request, keys[request.id], reply))
            if is_main:
                _append(path, rows)
            advance(len(rows))
        return {
            request.id: replies[request.id] if request.id in replies else known[keys[request.id]]
            for request in requests
        }


def is_run(path: Path) -> bool:
    """Return whether a file begins as those that `ask` writes."""
    if not is_file(path):
        return False
    with path.open("rb") as file:
        return file.read(len(_FIRST)) == _FIRST


def read_run(path: Path) -> KeptRun:
    """Read what `ask` kept, with the last reply to each request."""
    with opened(path) as file:
        data = file.read()
    # A process that was killed may have left an incomplete line at the end.
    rows = _rows(path, data[: data.rfind(b"\n") + 1])
    if not rows or not isinstance(rows[0][1].get("run"), dict):
        raise FileError(
            path,
            "expected a file of replies that `cc-hf ask` kept, whose first line says what was"
            " asked; got another file",
        )
    replies, once = {}, _Once()
    for where, row in rows[1:]:
        name, reply = _kept(row, where)
        once.check(name, reply, where)
        with in_file(where):
            read_value({"reference": {str: str}}, row)
        replies[name] = KeptReply(name, row["reference"], reply)
    return KeptRun(rows[0][1]["run"], replies)


def _rows(path: Path, data: bytes) -> list[tuple[Place, dict[str, Any]]]:
    return list(parse_objects(decoded(data, path).split("\n"), path))


def _answers(requests: Sequence[Request], respondent: Respondent | FileRespondent) -> list[Reply]:
    if isinstance(respondent, FileRespondent):
        return respondent.reply_by_id([request.id for request in requests])
    replies = respondent.reply([request.conversation for request in requests])
    if len(replies) != len(requests):
        raise EvaluatorError(
            f"{respondent.identity}: expected a reply to each of {len(requests)} conversations, got"
            f" {len(replies)}"
        )
    return [_writable(reply) for reply in replies]


def _writable(reply: Reply) -> Reply:
    """Return a reply without halves of characters, which no file can hold."""
    if reply.text is None:
        return Reply(None, reply.error or "no reply")
    return replace(reply, text=reply.text.encode("utf-8", "replace").decode("utf-8"), error="")


def _row(request: Request, key: str, reply: Reply) -> dict[str, Any]:
    row: dict[str, Any] = {"id": request.id, "key": key, "text": reply.text}
    if reply.error:
        row["error"] = reply.error
    if reply.is_cut:
        row["is_cut"] = True
    question = request.conversation[-1].content
    return {**row, "question": question, "reference": dict(request.reference)}


def _prepared(path: Path, run: Mapping[str, Any], *, is_main: bool) -> dict[str, Reply]:
    """Return the stored replies by key, after cutting off an incomplete last line."""
    written = json.loads(json.dumps(run))
    if not exists(path) or os.path.getsize(path) == 0:
        if is_main:
            _append(path, [{"run": written}])
        return {}
    if not is_file(path):
        raise FileError(path, "expected a file of replies, got a folder")
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data) and is_main:
        os.truncate(path, whole)
    rows = _rows(path, data[:whole])
    before = rows[0][1].get("run") if rows else None
    if not rows and is_main:
        _append(path, [{"run": written}])
    elif rows and before != written:
        differing = (
            [key for key in {**before, **written} if before.get(key) != written.get(key)]
            if isinstance(before, dict)
            else ["content"]
        )
        raise InputError(
            f"{path}: expected replies of the same run, got some with another"
            f" {', '.join(differing)}; use the same options to go on with it, or choose another"
            " output"
        )
    return {str(row.get("key", "")): _kept(row, where)[1] for where, row in rows[1:]}


def _append(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with path.open("ab") as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())


class _Once:
    """Checks that no id has two replies, but for one that failed first and was asked again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Reply, Place]] = {}

    def check(self, name: str, reply: Reply, where: Place) -> None:
        """Remember a reply."""
        before, first = self._known.setdefault(name, (reply, where))
        if before != reply and before.text is not None:
            raise FileError(
                where, f"id {name!r}: expected one reply, got another than on line {first.line}"
            )
        self._known[name] = reply, where


def _kept(row: Mapping[str, Any], where: Place) -> tuple[str, Reply]:
    with in_file(where):
        read_value(_REPLY, row)
        reply = Reply(row.get("text"), row.get("error", ""), row.get("is_cut", False))
        if reply.text is None and not reply.error:
            raise InputError("expected a text, or an error that says why there is none")
    return row["id"], reply
