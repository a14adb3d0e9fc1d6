from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import CommitInfo, HfApi
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

from cc_hf.errors import DataError, InputError
from cc_hf.hub.push import Upload, plan, push
from tests.helpers.command_line import invoke


class Recording(HfApi):
    """Records what would be sent to the Hub."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.error = error

    def create_repo(self, *arguments: Any, **options: Any) -> Any:
        if self.error:
            raise self.error
        self.calls.append(("create_repo", {"repo": arguments[0], **options}))

    def create_commit(self, *arguments: Any, **options: Any) -> Any:
        files = {
            operation.path_in_repo: Path(operation.path_or_fileobj).read_bytes()
            for operation in arguments[1]
        }
        self.calls.append(("create_commit", {"repo": arguments[0], "files": files, **options}))
        return CommitInfo(
            commit_url="https://huggingface.co/datasets/o/n/commit/1",
            commit_message="",
            commit_description="",
            oid="1",
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x/en-de").mkdir(parents=True)
    (tmp_path / "x/README.md").write_text("card", encoding="utf-8")
    (tmp_path / "x/en-de/test.parquet").write_bytes(b"12345")
    return tmp_path / "x"


def test_the_plan_lists_every_file_and_refuses_bad_names(folder: Path) -> None:
    upload = plan(folder, "org/name", repo_type="dataset")
    assert upload.files == (("README.md", 4), ("en-de/test.parquet", 5))
    assert upload.url == "https://huggingface.co/datasets/org/name"
    with pytest.raises(InputError, match="expected a folder with files"):
        plan(folder / "no", "org/name", repo_type="dataset")
    for name in ("name", "org/na me", "a/b/c", ""):
        with pytest.raises(InputError, match="expected ORGANISATION/NAME"):
            plan(folder, name, repo_type="dataset")


def test_push_creates_the_repository_and_sends_one_commit(folder: Path) -> None:
    api = Recording()
    address = push(plan(folder, "org/name", repo_type="dataset"), message="m", api=api)
    assert address.endswith("/commit/1")
    files = {"README.md": b"card", "en-de/test.parquet": b"12345"}
    commit = {
        "repo": "org/name",
        "files": files,
        "repo_type": "dataset",
        "commit_message": "m",
        "commit_description": "",
        "create_pr": False,
        "parent_commit": None,
    }
    assert api.calls == [
        (
            "create_repo",
            {
                "repo": "org/name",
                "repo_type": "dataset",
                "private": True,
                "exist_ok": True,
                "space_sdk": None,
            },
        ),
        ("create_commit", commit),
    ]
    api = Recording()
    push(
        plan(folder, "org/name", repo_type="dataset"),
        message="m",
        create_pr=True,
        parent_commit="f" * 40,
        api=api,
    )
    assert api.calls == [
        ("create_commit", {**commit, "create_pr": True, "parent_commit": "f" * 40})
    ]


def test_a_space_is_created_for_gradio(folder: Path) -> None:
    api = Recording()
    push(plan(folder, "org/name", repo_type="space"), message="m", private=False, api=api)
    assert api.calls[0] == (
        "create_repo",
        {
            "repo": "org/name",
            "repo_type": "space",
            "private": False,
            "exist_ok": True,
            "space_sdk": "gradio",
        },
    )


def test_a_missing_token_raises_an_error_with_a_remedy(folder: Path) -> None:
    with pytest.raises(DataError, match="Log in with `hf auth login`"):
        push(
            plan(folder, "org/name", repo_type="dataset"),
            message="m",
            api=Recording(LocalTokenNotFoundError("no token")),
        )


def test_an_unreachable_hub_raises_a_data_error(folder: Path) -> None:
    # an error of the HTTP library of the Hub's client
    unreached = HfHubHTTPError.__mro__[1]("no connection")
    with pytest.raises(DataError, match="the Hub did not accept the files"):
        push(plan(folder, "org/name", repo_type="dataset"), message="m", api=Recording(unreached))


def test_publish_is_a_dry_run_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a dry run sends nothing")

    monkeypatch.setattr("cc_hf.hub.push.push", refuse)
    answer = invoke("publish", "dataset", "simplegen", "en-de", "en-es", "--repo", "org/simplegen")
    assert answer.exit_code == 0, answer.output
    assert "dry run: 5 files" in answer.output
    assert "en-es/test-00000-of-00001.parquet" in answer.output
    assert "https://huggingface.co/datasets/org/simplegen" in answer.output


def test_publish_sends_with_the_option_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def record(upload: Upload, **options: Any) -> str:
        sent.append(upload.repo)
        return upload.url

    monkeypatch.setattr("cc_hf.hub.push.push", record)
    answer = invoke("publish", "dataset", "simplegen", "--repo", "org/simplegen", "--yes")
    assert answer.exit_code == 0, answer.output
    assert sent == ["org/simplegen"]
    assert "sent: 4 files" in answer.output
