from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cc_hf.leaderboard.visitor_files import VisitorFiles

EVERYTHING = -3600.0  # seconds: what is younger than an hour from now


@pytest.fixture
def files() -> Iterator[VisitorFiles]:
    found = VisitorFiles()
    found.cache.mkdir()
    yield found
    found.close()
    assert not found.cache.parent.exists()


def left(files: VisitorFiles) -> set[str]:
    return {path.name for path in files.cache.parent.rglob("*")}


def test_old_files_of_any_origin_are_deleted(files: VisitorFiles, tmp_path: Path) -> None:
    Path(files.write("result.json", "{}"))
    for name in ("upload", "\n", "-rf", "*", "ü" * 100, os.fsdecode(b"\xff")):
        (files.cache / name).write_text("x", encoding="utf-8")
    (files.cache / "hash").mkdir()
    (files.cache / "hash" / "a.txt").write_text("x", encoding="utf-8")
    files.sweep(3600)
    assert len(left(files)) == 12
    files.sweep(EVERYTHING)
    assert left(files) == set()
    files.sweep(EVERYTHING)  # works whether the folder still exists or not
    assert Path(files.write("result.json", "{}")).read_text(encoding="utf-8") == "{}"


def test_files_of_the_page_are_kept(files: VisitorFiles) -> None:
    path = Path(files.write("leaderboard.csv", "system\n"))
    files.keep_present()
    Path(files.write("result.json", "{}"))
    files.sweep(EVERYTHING)
    assert left(files) == {"results", path.parent.name, "leaderboard.csv"}


def test_links_are_not_followed(files: VisitorFiles, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "secret.txt").write_text("x", encoding="utf-8")
    (files.cache / "folder").symlink_to(tmp_path / "own")
    (files.cache / "file").symlink_to(tmp_path / "own" / "secret.txt")
    (files.cache / "loop").symlink_to(files.cache / "loop")
    files.sweep(EVERYTHING)
    assert left(files) == set()
    assert (tmp_path / "own" / "secret.txt").is_file()


def test_a_file_that_cannot_be_deleted_does_not_stop_the_sweep(
    files: VisitorFiles, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "stubborn", "z"):
        (files.cache / name).write_text("x", encoding="utf-8")
    unlink = os.unlink

    def refuse(path: str, **options: Any) -> None:
        if Path(path).name == "stubborn":
            raise PermissionError(13, "Permission denied", path)
        unlink(path, **options)

    with monkeypatch.context() as patches, caplog.at_level(logging.WARNING):
        patches.setattr("os.unlink", refuse)
        files.sweep(EVERYTHING)
    assert left(files) == {"gradio", "stubborn"}
    assert "could not be deleted" in caplog.text
