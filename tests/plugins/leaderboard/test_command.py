import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from huggingface_hub import SpaceCard

from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.errors import MissingDependencyError
from cc_hf.plugins.leaderboard.app import build_page, serve
from tests.helpers.usual import (
    cases,
    fails,
    invoke,
    printed_by,
    refuses,
    run_command,
    small_result,
    write_result,
    write_text,
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_result(tmp_path / "results", "aws", small_result((0.4, 0.9)))
    return write_text(tmp_path / "results/broken.json", "{").parent


def test_publishing_without_yes_sends_nothing(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push = Mock(return_value="https://huggingface.co/commit/1")
    monkeypatch.setattr("cc_hf.hub.push.push", push)
    told = invoke(f"publish leaderboard --repo org/board {results}").output
    push.assert_not_called()
    for part in (
        *("dry run: 5 files", "https://huggingface.co/spaces/org/board", "broken.json is ignored"),
        *("cc_hf, which is on no package index yet", "--requirement", "results/aws.json"),
    ):
        assert part in told
    requirement = ("--requirement", "cc_hf @ git+https://example.org/cc_hf")
    told = invoke(f"publish leaderboard --repo o/b {results}", *requirement).output
    assert "package index" not in told
    shown = printed_by(
        f"publish leaderboard --repo org/board {results} --yes --upload-option public=yes --title T"
    )
    assert "sent: 5 files" in shown
    ((upload,), given) = push.call_args
    where = (upload.repo, upload.repo_type, given["private"], given["create_pr"])
    assert where == ("org/board", "space", False, False)
    sent_files = "README.md app.py requirements.txt results/aws.json results/dates.tsv"
    assert sorted(path for path, _ in upload.files) == sent_files.split()


def test_publish_can_write_the_folder_without_uploading(results: Path, tmp_path: Path) -> None:
    publish = f"publish leaderboard {results} --repo"
    assert "app.py" in printed_by(f"{publish} org/board --output {tmp_path}/space --bleu aws=31.2")
    assert read_quality_scores(tmp_path / "space/bleu.json").of("aws", "winomt", "de") == 0.312
    assert (tmp_path / "space/results/aws.json").is_file()
    refuses("got both", printed_by, f"{publish} org/board --output {tmp_path}/other --yes")
    refuses("expected ORGANISATION/NAME", printed_by, f"{publish} board")


def test_a_page_without_a_server_is_written_or_published(results: Path, tmp_path: Path) -> None:
    told = invoke(f"leaderboard {results} --static {tmp_path}/page").output
    assert ("broken.json is not shown" in told, "written: " in told) == (True, True)
    assert (tmp_path / "page/index.html").is_file()
    publish = f"publish leaderboard {results} --repo org/board --static"
    space = tmp_path / "space"
    told = invoke(f"{publish} --output {space} --title Board --bleu aws=31.2").output
    parts = ("their licences", "broken.json is ignored", "package index")
    assert [part in told for part in parts] == [True, True, False]
    names = {path.name for path in space.rglob("*") if path.is_file()}
    sentences = "winomt-default-en-de-contrastive-conditioning"
    wanted = {
        "README.md",
        "board.csv",
        "board.json",
        "index.html",
        f"{sentences}.js",
        f"{sentences}_0.js",
    }
    assert names == wanted
    card = vars(SpaceCard((space / "README.md").read_text(encoding="utf-8")).data)
    assert (card["title"], card["sdk"], card["app_file"]) == ("Board", "static", "index.html")
    assert '"bleu": 0.312' in (space / "board.json").read_text(encoding="utf-8")
    refuses("installs nothing", printed_by, f"{publish} --requirement cc_hf")


@cases(
    ("no", "is not a folder"),
    ("results --static page --evaluator a", "--static, --evaluator: expected one of"),
    ("results --static page --port 80", "--static, --port: expected one of"),
    ("results --static results", "exists and is not an empty folder"),
    ("results --bleu no.tsv", "file not found"),
    ("results --bleu aws", "bleu: expected NAME=POINTS, or a file that ends in"),
    ("results --evaluator a --evaluator b --evaluator c", "at most two, .* got 3"),
    ("results --language-pair en-fr", "none ships with the package for en-fr"),
)
def test_bad_leaderboard_arguments_are_refused(words: str, message: str, results: Path) -> None:
    refused = run_command(f"leaderboard {words}", cwd=results.parent, status=2).stderr
    assert re.search(message, " ".join(refused.split()))


@pytest.mark.usefixtures("socket_enabled")
def test_an_occupied_port_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        # gradio leaves event loops open, so it runs in another process
        words = f"-m cc_hf.cli leaderboard {tmp_path} --port {port}".split()
        completed = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    message = f"port: 127.0.0.1:{port} cannot be served on.*choose another"
    assert completed.returncode == 2
    assert re.search(message, completed.stderr, re.DOTALL)


def test_missing_gradio_is_an_error(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    fails(MissingDependencyError, r"pip install 'cc_hf\[leaderboard\]'", build_page, results)


@patch.dict(os.environ, GRADIO_ANALYTICS_ENABLED="False")  # which `serve` sets
def test_the_leaderboard_decides_before_it_makes_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def building(*_: object, **__: object) -> None:
        raise InterruptedError(os.environ["GOMP_SPINCOUNT"])

    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"):
        os.environ.pop(name, None)
    monkeypatch.setattr("cc_hf.plugins.leaderboard.app.build_page", building)
    fails(InterruptedError, "10000", serve, "results")
