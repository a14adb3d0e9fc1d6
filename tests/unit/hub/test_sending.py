"""What a Hub receives, and the errors when it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from cc_hf.errors import DataError
from cc_hf.hub.push import RepoType, plan, push
from tests.helpers.cases import cases_by_message
from tests.helpers.fake_hub import TOKEN, FakeHub, Refusal, run
from tests.helpers.results import small_result, write_result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x/.eval_results").mkdir(parents=True)
    (tmp_path / "x/README.md").write_text("card", encoding="utf-8")
    (tmp_path / "x/.eval_results/a.yaml").write_bytes(b"- 1\n")
    return tmp_path / "x"


@pytest.mark.parametrize("repo_type", ["dataset", "space", "model"])
def test_files_arrive_in_the_repository_of_their_type(
    hub: FakeHub, folder: Path, repo_type: RepoType
) -> None:
    address = push(
        plan(folder, "org/name", repo_type=repo_type), message="m", description="d", private=False
    )
    place = f"{repo_type}s/org/name"
    assert hub.repos == {place: {"README.md": b"card", ".eval_results/a.yaml": b"- 1\n"}}
    assert [(one.repo, one.header, one.is_pr) for one in hub.commits] == [
        (place, {"summary": "m", "description": "d"}, False)
    ]
    assert (hub.made[0]["name"], hub.made[0]["organization"], hub.made[0].get("sdk")) == (
        "name",
        "org",
        "gradio" if repo_type == "space" else None,
    )
    assert hub.made[0]["visibility"] == "public"
    assert address == f"{hub.url}/{place.removeprefix('models/')}/commit/{hub.sha(place)}"
    assert hub.tokens == {TOKEN}
    push(plan(folder, "org/name", repo_type=repo_type), message="m")
    assert len(hub.commits) == 1  # the second push changes nothing


def test_a_pull_request_does_not_change_the_repository(hub: FakeHub, folder: Path) -> None:
    hub.repos["models/org/name"] = {"README.md": b"old"}
    address = push(
        plan(folder, "org/name", repo_type="model"),
        message="m",
        create_pr=True,
        parent_commit=hub.sha("models/org/name"),
    )
    assert address == f"{hub.url}/org/name/discussions/1"
    assert hub.repos["models/org/name"] == {"README.md": b"old"}
    assert hub.made == []
    assert hub.commits[0].is_pr
    assert hub.commits[0].header["parentCommit"] == hub.sha("models/org/name")


@cases_by_message(
    ("place", "refusal", "words"),
    [
        ("/repos/create", 500, ("Nothing was sent", "Run the command again")),
        ("/repos/create", 403, ("Nothing was sent", "Log in with `hf auth login`")),
        ("/repos/create", "drop", ("Nothing was sent", "Run the command again")),
        ("/commit/", 500, ("The repository exists, without the 2 files", "Run the command again")),
        (
            "/commit/",
            401,
            ("The repository exists, without the 2 files", "Log in with `hf auth login`"),
        ),
        (
            "/commit/",
            "drop",
            (
                "The repository exists, without the 2 files",
                (
                    "see https://huggingface.co/datasets/org/name/commits/main; otherwise run the"
                    " command again"
                ),
            ),
        ),
        (
            "/validate-yaml",
            500,
            ("The repository exists, without the 2 files", "Run the command again"),
        ),
    ],
)
def test_a_failed_push_reports_what_was_sent_and_can_be_repeated(
    hub: FakeHub, folder: Path, place: str, refusal: Refusal, words: tuple[str, ...]
) -> None:
    hub.refusals[place] = refusal
    with pytest.raises(DataError) as caught:
        push(plan(folder, "org/name", repo_type="dataset"), message="m")
    for word in (
        "https://huggingface.co/datasets/org/name: the Hub did not accept the files",
        *words,
    ):
        assert word in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert hub.commits == []
    hub.refusals.clear()
    push(plan(folder, "org/name", repo_type="dataset"), message="m")
    assert set(hub.repos["datasets/org/name"]) == {"README.md", ".eval_results/a.yaml"}


def test_tokens_are_removed_from_errors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfApi

    other = "plain-secret-without-prefix"

    def fail(self: HfApi, *arguments: object, **options: object) -> None:
        raise OSError(f"bad header Authorization: Bearer {other} or {TOKEN}")

    monkeypatch.setattr(HfApi, "create_repo", fail)
    with pytest.raises(DataError) as caught:
        push(plan(folder, "org/name", repo_type="dataset"), message="m", api=HfApi(token=other))
    assert other not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert "Bearer hf_[hidden]" in str(caught.value)


def test_publish_dataset_sends_the_files_after_a_dry_run(hub: FakeHub) -> None:
    command = ("dataset", "simplegen", "en-de", "--repo", "org/simplegen")
    output, _ = run(*command)
    assert "dry run: 4 files" in output
    assert (
        "would be sent to the dataset https://huggingface.co/datasets/org/simplegen; send them with"
        " --yes" in output
    )
    assert hub.paths == []
    output, error = run(*command, "--yes")
    assert error is None
    assert set(hub.repos["datasets/org/simplegen"]) == {
        "README.md",
        "eval.yaml",
        "en-de/test-00000-of-00001.parquet",
        "loading/simplegen.py",
    }
    assert "sent: 4 files" in output
    assert TOKEN not in output


def test_publish_dataset_can_write_the_folder_without_sending(hub: FakeHub, tmp_path: Path) -> None:
    task = "en-es--simplegen_accuracy--accuracy"
    command = ("dataset", "simplegen", "en-es", "--repo", "org/sg", "--task", task)
    _, error = run(*command, "--output", tmp_path / "a", "--yes")
    assert "output, yes: expected one of the two" in str(error)
    output, error = run(*command, "--output", tmp_path / "a")
    assert error is None
    assert "eval.yaml" in output
    assert hub.paths == []
    assert task in (tmp_path / "a/eval.yaml").read_text(encoding="utf-8")
    assert 'load_dataset("org/sg", "en-es")' in (tmp_path / "a/README.md").read_text("utf-8")


def test_publish_metric_sends_the_files_after_a_dry_run(hub: FakeHub) -> None:
    command = ("metric", "gender_accuracy", "--repo", "org/gender_accuracy")
    output, _ = run(*command)
    assert "dry run: 5 files" in output
    assert hub.paths == []
    output, error = run(*command, "--yes", "--public")
    assert error is None
    assert set(hub.repos["spaces/org/gender_accuracy"]) == {
        "README.md",
        "app.py",
        "gender_accuracy.py",
        "requirements.txt",
        "tests.py",
    }
    assert (hub.made[0]["type"], hub.made[0]["sdk"], hub.made[0]["visibility"]) == (
        "space",
        "gradio",
        "public",
    )
    assert TOKEN not in output
    hub.refusals["/commit/"] = 500
    hub.repos["spaces/org/gender_accuracy"].clear()
    output, error = run(*command, "--yes")
    assert "without the 5 files" in str(error)
    assert TOKEN not in output + str(error)


def test_publish_leaderboard_can_be_repeated_after_a_failure(hub: FakeHub, tmp_path: Path) -> None:
    write_result(tmp_path, "aws", small_result((0.4, 0.9)))
    command = ("leaderboard", tmp_path, "--repo", "org/board")
    output, _ = run(*command)
    assert "dry run: 5 files" in output
    assert hub.paths == []
    hub.refusals["/commit/"] = "drop"
    output, error = run(*command, "--yes")
    assert "without the 5 files" in str(error)
    assert TOKEN not in output + str(error)
    hub.refusals.clear()
    output, error = run(*command, "--yes")
    assert error is None
    assert set(hub.repos["spaces/org/board"]) == {
        "README.md",
        "app.py",
        "requirements.txt",
        "results/aws.json",
        "results/dates.tsv",
    }
    assert (hub.made[-1]["type"], hub.made[-1]["sdk"], hub.made[-1]["visibility"]) == (
        "space",
        "gradio",
        "private",
    )
    assert TOKEN not in output + b"".join(hub.repos["spaces/org/board"].values()).decode()
