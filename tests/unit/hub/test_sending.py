"""What a Hub receives, and the errors when it refuses."""

from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import LocalTokenNotFoundError

from cc_hf.errors import DataError
from cc_hf.hub.push import RepoType, plan, push
from tests.helpers.fake_hub import TOKEN, FakeHub, Refusal, run
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import (
    cases,
    fails,
    refuses,
    small_result,
    write_lines,
    write_result,
    write_text,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "x/.eval_results/a.yaml", ["- 1"])
    return write_text(tmp_path / "x/README.md", "card").parent


@pytest.mark.parametrize("repo_type", ["dataset", "space", "model"])
def test_files_arrive_in_their_repository(hub: FakeHub, folder: Path, repo_type: RepoType) -> None:
    upload, repo = plan(folder, "org/name", repo_type=repo_type), f"{repo_type}s/org/name"
    address = push(upload, message="m", description="d", private=False)
    assert hub.repos == {repo: {"README.md": b"card", ".eval_results/a.yaml": b"- 1\n"}}
    (commit,) = hub.commits
    expected = repo, {"summary": "m", "description": "d"}, False
    assert (commit.repo, commit.header, commit.is_pr) == expected
    made = [hub.made[0].get(key) for key in ("name", "organization", "sdk", "visibility")]
    assert made == ["name", "org", "gradio" if repo_type == "space" else None, "public"]
    assert address == f"{hub.url}/{repo.removeprefix('models/')}/commit/{hub.sha(repo)}"
    assert hub.tokens == {TOKEN}
    push(upload, message="m")
    assert len(hub.commits) == 1  # the second push changes nothing


def test_a_pull_request_does_not_change_the_repository(hub: FakeHub, folder: Path) -> None:
    before = {"models/org/name": {"README.md": b"old"}}
    hub.repos |= before
    parent = hub.sha("models/org/name")
    upload = plan(folder, "org/name", repo_type="model")
    address = push(upload, message="m", create_pr=True, parent_commit=parent)
    assert address == f"{hub.url}/org/name/discussions/1"
    assert (hub.repos, hub.made) == (before, [])
    (commit,) = hub.commits
    assert (commit.is_pr, commit.header["parentCommit"]) == (True, parent)


def test_a_folder_without_files_and_bad_names_are_refused(folder: Path) -> None:
    refuses("expected a folder with files", plan, folder / "no", "org/name", repo_type="dataset")
    for name in ("name", "org/na me", "a/b/c", ""):
        refuses("expected ORGANISATION/NAME", plan, folder, name, repo_type="dataset")


_NOTHING, _REPOSITORY = "Nothing was sent", "The repository exists, without the 2 files"
_AGAIN, _LOG_IN = "Run the command again", "Log in with `hf auth login`"
_COMMITS = "see https://huggingface.co/datasets/org/name/commits/main; otherwise run the command"


@cases(
    ("/repos/create", 500, _NOTHING, _AGAIN),
    ("/repos/create", 403, _NOTHING, _LOG_IN),
    ("/repos/create", "drop", _NOTHING, _AGAIN),
    ("/commit/", 500, _REPOSITORY, _AGAIN),
    ("/commit/", 401, _REPOSITORY, _LOG_IN),
    ("/commit/", "drop", _REPOSITORY, f"{_COMMITS} again"),
    ("/validate-yaml", 500, _REPOSITORY, _AGAIN),
)
def test_a_failed_push_can_be_repeated(
    path: str, refusal: Refusal, sent: str, remedy: str, hub: FakeHub, folder: Path
) -> None:
    hub.refusals[path] = refusal
    upload = plan(folder, "org/name", repo_type="dataset")
    with pytest.raises(DataError) as caught:
        push(upload, message="m")
    for words in (f"{upload.url}: the Hub did not accept the files", sent, remedy):
        assert words in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert hub.commits == []
    hub.refusals.clear()
    push(upload, message="m")
    assert set(hub.repos["datasets/org/name"]) == {"README.md", ".eval_results/a.yaml"}


def test_tokens_are_removed_from_errors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "plain-secret-without-prefix"
    error = OSError(f"bad header Authorization: Bearer {other} or {TOKEN}")
    monkeypatch.setattr(HfApi, "create_repo", Mock(side_effect=error))
    upload, api = plan(folder, "org/name", repo_type="dataset"), HfApi(token=other)
    with pytest.raises(DataError) as caught:
        push(upload, message="m", api=api)
    assert other not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert "Bearer hf_[hidden]" in str(caught.value)
    monkeypatch.setattr(HfApi, "create_repo", Mock(side_effect=LocalTokenNotFoundError("no token")))
    fails(DataError, _LOG_IN, partial(push, upload, message="m"))


_ROWS = "{}/test-00000-of-00001.parquet"
_DATASET = f"README.md croissant.json loading/simplegen.py {_ROWS} {_ROWS}".format("en-de", "en-es")
_SPACE = "README.md app.py requirements.txt"


@cases(
    ("dataset simplegen en-de en-es", "dataset", _DATASET),
    ("metric gender_accuracy --upload-option public=yes", "space", f"{_SPACE} n.py tests.py"),
    ("leaderboard results", "space", f"{_SPACE} results/aws.json results/dates.tsv"),
)
def test_publish_repeats_after_a_failure(
    command: str, kind: str, files: str, hub: FakeHub, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write_result(tmp_path / "results", "aws", small_result((0.4, 0.9)))
    output, _ = run(f"{command} --repo o/n")
    n = len(files.split())
    assert f"dry run: {n} files" in output
    repo = f"{kind}s/o/n"
    told = f"would be sent to the {kind} https://huggingface.co/{repo}; send them with --yes"
    assert told in output
    assert hub.paths == []
    hub.refusals["/commit/"] = "drop"
    output, error = run(f"{command} --repo o/n --yes")
    assert f"without the {n} files" in str(error)
    assert TOKEN not in output + str(error)
    hub.refusals.clear()
    output, error = run(f"{command} --repo o/n --yes")
    assert error is None
    assert f"sent: {n} files" in output
    assert set(hub.repos[repo]) == set(files.split())
    made = [hub.made[-1].get(key) for key in ("type", "sdk", "visibility")]
    sdk, visibility = "gradio" * (kind == "space"), "public" if "public" in command else "private"
    assert made == [kind, sdk or None, visibility]
    assert TOKEN.encode() not in output.encode() + b"".join(hub.repos[repo].values())


def test_publish_dataset_can_write_the_folder_without_sending(hub: FakeHub, tmp_path: Path) -> None:
    task = "de-fr--prompted_choice--accuracy"
    data = lay_out_samples("contrawsd", "de-fr", tmp_path / "data", tmp_path)
    names = ("dataset", "contrawsd", "de-fr", "--repo", "org/ws")
    command = (*names, "--task", task, "--data-dir", str(data))
    _, error = run(*command, "--output", tmp_path / "a", "--yes")
    assert "output, yes: expected one of the two" in str(error)
    output, error = run(*command, "--output", tmp_path / "a")
    assert error is None
    assert "eval.yaml" in output
    assert "no eval.yaml" not in output
    assert hub.paths == []
    assert task in (tmp_path / "a/eval.yaml").read_text(encoding="utf-8")
    assert 'load_dataset("org/ws", "de-fr")' in (tmp_path / "a/README.md").read_text("utf-8")


@cases(
    ("simplegen", "These configurations have none\n"),
    ("mt_geneval counterfactual_de", "others have some, such as counterfactual_de.translations\n"),
)
def test_data_without_choices_say_so(line: str, told: str, shared: Path, tmp_path: Path) -> None:
    output, error = run(
        f"dataset {line} --repo o/n --data-dir {shared / 'upstream'} --output {tmp_path / 'a'}"
    )
    assert error is None
    assert not (tmp_path / "a/eval.yaml").exists()
    assert "note: no eval.yaml: the Hub takes benchmarks that inspect-ai can run" in output
    assert told in output
