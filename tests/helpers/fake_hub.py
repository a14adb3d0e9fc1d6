"""A Hub on localhost: it accepts repositories and commits like the real one, keeps what it
received, and refuses on request.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from cc_hf.errors import CCError
from tests.helpers.command_line import invoke
from tests.helpers.local_server import Handler, serving

#: what a request gets: a status, or "drop" for a connection that ends without an answer
Refusal = int | Literal["drop"]


@dataclass
class Commit:
    """The content of one commit."""

    repo: str
    header: dict[str, Any]
    files: dict[str, bytes]
    is_pr: bool


@dataclass
class FakeHub:
    """A fake Hub. `repos`: "spaces/org/name" -> files. `refusals`: part of a path -> the answer."""

    url: str = ""
    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    made: list[dict[str, Any]] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)

    def sha(self, repo: str) -> str:
        """Return the current commit of a repository."""
        files = sorted((path, content.hex()) for path, content in self.repos[repo].items())
        return hashlib.sha1(json.dumps(files).encode()).hexdigest()


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    """Serve until the block ends; sockets must be allowed."""
    hub = FakeHub()
    with serving(_Handler, hub=hub) as hub.url:
        yield hub


_RESOLVED = r"/((?:spaces/|datasets/)?[^/]+/[^/]+)/resolve/([^/]+)/(.+)"


class _Handler(Handler):
    hub: FakeHub

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, query = self._arrived()
        if self._refused(path):
            return
        if path == "/api/validate-yaml":
            self._answer({"errors": [], "warnings": []})
        elif path == "/api/repos/create":
            self._create(json.loads(body))
        elif actual := re.fullmatch(r"/api/(\w+/[^/]+/[^/]+)/preupload/.+", path):
            self._preupload(actual.group(1), json.loads(body))
        elif actual := re.fullmatch(r"/api/(\w+/[^/]+/[^/]+)/commit/.+", path):
            self._commit(actual.group(1), body, is_pr="create_pr" in query)
        else:
            self._answer({"error": f"unknown {path}"}, 404)

    def do_GET(self) -> None:  # noqa: N802
        path, _ = self._arrived()
        if self._refused(path):
            return
        if actual := re.fullmatch(r"/api/(\w+/[^/]+/[^/]+)(/revision/.+)?", path):
            self._info(actual.group(1))
        elif actual := re.fullmatch(_RESOLVED, path):
            repo = (
                actual.group(1) if actual.group(1).count("/") == 2 else f"models/{actual.group(1)}"
            )
            self._file(repo, actual.group(2), actual.group(3))
        else:
            self._answer({"error": f"unknown {path}"}, 404)

    do_HEAD = do_GET  # noqa: N815

    def _arrived(self) -> tuple[str, dict[str, list[str]]]:
        parts = urlsplit(self.path)
        self.hub.paths.append(f"{self.command} {self.path}")
        if authorization := self.headers.get("Authorization"):
            self.hub.tokens.add(authorization.removeprefix("Bearer "))
        return parts.path, parse_qs(parts.query)

    def _refused(self, path: str) -> bool:
        for part, refusal in self.hub.refusals.items():
            if part in path:
                if refusal == "drop":
                    self.close_connection = True
                    self.connection.close()
                else:
                    self._answer({"error": "refused"}, refusal)
                return True
        return False

    def _create(self, wanted: dict[str, Any]) -> None:
        self.hub.made.append(wanted)
        repo = f"{wanted.get('type', 'model')}s/{wanted['organization']}/{wanted['name']}"
        if repo in self.hub.repos:
            self._answer(
                {"error": "You already created this repo", "url": f"{self.hub.url}/{repo}"}, 409
            )
            return
        self.hub.repos[repo] = {}
        self._answer({"url": f"{self.hub.url}/{repo.removeprefix('models/')}"})

    def _preupload(self, repo: str, wanted: dict[str, Any]) -> None:
        if repo not in self.hub.repos:
            self._answer({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
            return
        have, how = self.hub.repos[repo], {"uploadMode": "regular", "shouldIgnore": False}
        paths = [file["path"] for file in wanted["files"]]
        self._answer({"files": [{"path": p, "oid": _oid(have.get(p)), **how} for p in paths]})

    def _commit(self, repo: str, body: bytes, *, is_pr: bool) -> None:
        lines = [json.loads(line) for line in body.splitlines()]
        files = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"])
            for line in lines
            if line["key"] == "file"
        }
        self.hub.commits.append(Commit(repo, lines[0]["value"], files, is_pr))
        if not is_pr:
            self.hub.repos[repo].update(files)
        url = f"{self.hub.url}/{repo.removeprefix('models/')}"
        more = {"pullRequestUrl": f"{url}/discussions/1"} if is_pr else {}
        sha = self.hub.sha(repo)
        made = {"commitOid": sha, "commitUrl": f"{url}/commit/{sha}", "hookOutput": ""}
        self._answer({"success": True, **made, **more})

    def _info(self, repo: str) -> None:
        if repo not in self.hub.repos:
            self._answer({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
            return
        files = [{"rfilename": path} for path in self.hub.repos[repo]]
        self._answer({"id": repo.partition("/")[2], "sha": self.hub.sha(repo), "siblings": files})

    def _file(self, repo: str, revision: str, path: str) -> None:
        files = self.hub.repos.get(repo, {})
        if path not in files or revision not in {"main", self.hub.sha(repo)}:
            self._answer({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound"})
            return
        content = files[path]
        self.send(200, content, {"ETag": f'"{_oid(content)}"', "X-Repo-Commit": self.hub.sha(repo)})

    def _answer(
        self, content: Any, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        kinds = {"Content-Type": "application/json", **(headers or {})}
        self.send(status, json.dumps(content).encode(), kinds)


def _oid(content: bytes | None) -> str | None:
    """Return git's hash of a file with this content."""
    return (
        None if content is None else hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    )


TOKEN = "hf_SecretSecretSecretSecret"


def run(line: str, *arguments: str | Path) -> tuple[str, CCError | None]:
    """Return the output of a command, and the error of cc_hf that it raised."""
    answer = invoke(f"publish {line}", *arguments)
    error = answer.exception
    assert error is None or isinstance(error, (CCError, SystemExit)), error
    return answer.output, error if isinstance(error, CCError) else None
