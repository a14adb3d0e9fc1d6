from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import InputError
from cc_hf.leaderboard.about_tabs import _checked, described, papers
from cc_hf.leaderboard.html import about_html, citation_html
from cc_hf.leaderboard.live import MAX_UPLOAD
from cc_hf.leaderboard.store import read_folder
from cc_hf.leaderboard.table import LeaderboardRow, leaderboard_rows
from cc_hf.leaderboard.visitor_files import VisitorFiles
from cc_hf.results import ResultSet
from tests.helpers.cases import cases
from tests.helpers.results import small_result, write_result

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def rows(tmp_path: Path) -> list[LeaderboardRow]:
    mucow = {"dataset": "mucow", "config": "en-cs", "metric": "mucow_pattern_matching"}
    for name, fields in (("a", {}), ("b", mucow), ("c", {"dataset": "", "metric": EVIL})):
        write_result(tmp_path, name, small_result((0.4, 0.9), **fields))
    return leaderboard_rows(read_folder(tmp_path))


def test_the_data_and_metrics_of_the_table_are_described(rows: list[LeaderboardRow]) -> None:
    found = described(rows)
    assert {kind: [entry.title for entry in entries] for kind, entries in found.items()} == {
        "datasets": ["MuCoW", "WinoMT"],
        "metrics": ["contrastive conditioning", "MuCoW pattern matching"],
    }
    html = about_html(**found)
    assert 'href="https://aclanthology.org/P19-1164"' in html
    assert "An evaluator model scores the translation under variants" in html
    assert "`" not in html


def test_each_paper_is_cited_once(rows: list[LeaderboardRow]) -> None:
    entries = papers(rows)
    assert entries[0].startswith("@software{cc_hf,")
    keys = [entry.partition(",")[0] for entry in entries]
    assert len(set(keys)) == len(keys) > 3
    assert "@inproceedings{stanovsky-etal-2019-evaluating" in keys
    assert all(entry.count("{") == entry.count("}") for entry in entries)
    assert "stanovsky-etal-2019" in citation_html(entries[1] + entries[2] + entries[3])
    assert papers([]) == entries[:1]


def test_a_submitted_file_is_shown_and_freed_of_translations(tmp_path: Path) -> None:
    path = write_result(tmp_path, "mine", small_result((0.4, 0.9), dataset=EVIL))
    html, text = _checked(path, [])
    assert "mine" in html
    assert "65.0" in html
    assert "<script" not in html
    assert ResultSet.from_json(text).results[0].judgements == ()
    assert "Übersetzung" not in text


@cases(
    ((0.2, 0.3), "", "mine would be 4th of 4 by minimum accuracy"),
    ((0.5, 0.6), "", "mine would be 2nd of 4"),
    ((0.9, 0.9), "|eval:mine", "mine would have no rank, since its figures are not fit to c"),
)
def test_a_submitted_file_is_told_its_rank(
    accuracies: tuple[float, float], fields: str, place: str, tmp_path: Path
) -> None:
    for name, accuracy in (("a", 0.8), ("b", 0.4), ("c", 0.3)):
        write_result(tmp_path, name, small_result((accuracy, 0.9), system=name))
    rows = leaderboard_rows(read_folder(tmp_path))
    made = small_result(accuracies, system="mine", fields=fields)
    html, _ = _checked(write_result(tmp_path, "mine", made), rows)
    assert place in html


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match=r"^x\.json: ") as caught:
        _checked(path, [])
    assert str(tmp_path) not in str(caught.value)
    path.write_bytes(b"0" * (MAX_UPLOAD + 1))
    with pytest.raises(InputError, match=r"^x\.json: expected at most 5 MB"):
        _checked(path, [])


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
