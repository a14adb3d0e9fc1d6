import logging
import os
import re
import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest
from huggingface_hub import SpaceCard

from cc_hf import __version__
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.errors import InputError
from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.hub.eval_results import evaluator_notes
from cc_hf.hub.spaces import SPACE_LOOKS
from cc_hf.plugins.leaderboard.about_tabs import _checked, described, papers
from cc_hf.plugins.leaderboard.html import about_html, citation_html
from cc_hf.plugins.leaderboard.live import MAX_UPLOAD
from cc_hf.plugins.leaderboard.space import build_leaderboard_space
from cc_hf.plugins.leaderboard.static.page import write_static_board
from cc_hf.plugins.leaderboard.store import DATES, read_folder, without_translations
from cc_hf.plugins.leaderboard.table import LeaderboardRow, leaderboard_rows
from cc_hf.plugins.leaderboard.visitor_files import VisitorFiles
from cc_hf.results import ResultSet
from cc_hf.schema import Reading
from tests.helpers.evidence import supported
from tests.helpers.results import write_judged
from tests.helpers.usual import cases, refuses, small_result, write_lines, write_result, write_text


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    write_result(folder, "aws", small_result((0.4, 0.9)))
    write_result(folder, "google", small_result((0.5, 0.7)))
    (folder / "broken.json").write_text("{", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    return folder


def test_the_folder_holds_program_card_and_results(results: Path, tmp_path: Path) -> None:
    quality = write_lines(tmp_path / "q.tsv", ["system\tbleu", "aws\t30"])
    output, title = tmp_path / "space", 'A "board": of <systems>'
    store = build_leaderboard_space(results, output, title=title, quality=quality)
    assert {str(path.relative_to(output)) for path in output.rglob("*") if path.is_file()} == {
        *["README.md", "app.py", "bleu.json", "requirements.txt"],
        *(f"results/{n}" for n in ("aws.json", "dates.tsv", "google.json")),
    }
    assert list(store.broken) == ["broken.json"]
    card: dict[str, Any] = vars(SpaceCard((output / "README.md").read_text(encoding="utf-8")).data)
    assert (card["title"], card["sdk"], card["app_file"]) == (title, "gradio", "app.py")
    assert {"leaderboard", "test:public", "judge:function", "language:german"} <= set(card["tags"])
    assert len(card["short_description"]) <= 60  # the Hub refuses longer ones
    assert card["sdk_version"].split(".")[0] >= "6"
    requirements = (output / "requirements.txt").read_text(encoding="utf-8")
    assert requirements == f"cc_hf[leaderboard,models]>={__version__},<1\n"
    assert [entry.system for entry in read_folder(output / "results").entries] == ["aws", "google"]
    assert read_folder(output / "results").entries == read_folder(results).entries
    assert "Übersetzung" in (results / "aws.json").read_text(encoding="utf-8")
    assert "Übersetzung" not in (output / "results/aws.json").read_text(encoding="utf-8")


@patch("cc_hf.plugins.leaderboard.app.serve")
def test_the_program_serves_its_folder_publicly(serve: Mock, results: Path, tmp_path: Path) -> None:
    program, quality = tmp_path / "space/app.py", tmp_path / "space/bleu.json"
    build_leaderboard_space(results, tmp_path / "space", quality=["aws=30"])
    runpy.run_path(str(program))
    serve.assert_not_called()
    runpy.run_path(str(program), run_name="__main__")
    options = {"quality": quality, "host": "0.0.0.0", "port": 7860}
    serve.assert_called_once_with(tmp_path / "space/results", **options)
    assert read_quality_scores([quality]).of("aws", "winomt", "de") == 0.3


def test_quality_scores_are_given_as_for_reports(results: Path, tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("system\tbleu\tdataset\naws\t30\twinomt\n", encoding="utf-8")
    quality = ["google=31.2", str(tmp_path / "q.tsv")]
    build_leaderboard_space(results, tmp_path / "space", quality=quality)
    assert read_quality_scores(tmp_path / "space/bleu.json") == read_quality_scores(quality)
    build_leaderboard_space(results, tmp_path / "without")
    assert "quality=None" in (tmp_path / "without/app.py").read_text(encoding="utf-8")


def test_bad_outputs_requirements_and_titles_are_refused(results: Path, tmp_path: Path) -> None:
    refuses("exists and is not an empty folder", build_leaderboard_space, results, results)
    empty, broken = tmp_path / "empty", write_lines(tmp_path / "broken/x.json", ["{"]).parent
    empty.mkdir()
    lines = ("a\nb", "a\rb", " ", "--index-url https://example.org")
    refused: list[tuple[Path, dict[str, Any], str]] = [
        *((results, {"requirement": line}, "requirement: expected one line") for line in lines),
        (results, {"title": " "}, "title: expected a text"),
        (results, {"quality": tmp_path / "no.tsv"}, "file not found"),
        (empty, {}, "at least one result"),
        (broken, {}, r"1 cannot be shown, the first: .*x\.json"),
    ]
    for folder, options, message in refused:
        refuses(message, build_leaderboard_space, folder, tmp_path / "space", **options)
    assert not (tmp_path / "space").exists()


@cases('q".json', 'q.json")+open("x', "q.jso{n}", "q.json\nimport os", "q.JSON", "q.x'y")
def test_a_name_of_a_file_cannot_inject_code(name: str, results: Path, tmp_path: Path) -> None:
    text = '{"aws": 30}' if Path(name).suffix.lower() == ".json" else "system\tbleu\naws\t30\n"
    (tmp_path / name).write_text(text, encoding="utf-8")
    build_leaderboard_space(results, tmp_path / "space", quality=tmp_path / name)
    program = (tmp_path / "space/app.py").read_text(encoding="utf-8")
    assert 'quality=here / "bleu.json", host' in program
    assert read_quality_scores(tmp_path / "space/bleu.json").of("aws", "", "") == 0.3


@cases("a: b\n---\nx: 1", '"; import os', "{title}", "😀 <b>", "\u2028x", "a\0b", "---", "\\")
def test_a_title_cannot_inject_fields(title: str, results: Path, tmp_path: Path) -> None:
    build_leaderboard_space(results, tmp_path / "space", title=title)
    card = SpaceCard((tmp_path / "space/README.md").read_text(encoding="utf-8"))
    data = {key: value for key, value in vars(card.data).items() if value is not None}
    assert data["title"] == " ".join(title.split())
    expected = "title sdk app_file license tags short_description"
    assert set(data) == {*expected.split(), *SPACE_LOOKS}


def test_results_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    write_result(tmp_path, "b", small_result((0.4, 0.9)))
    write_result(tmp_path, "a", small_result((0.4, 0.8), system="opus/beam5"))
    both = (small_result((0.5, 0.7)), small_result((0.2, 0.3), metric="winomt_pattern_matching"))
    several = ResultSet(both, {"gender_accuracy": "does not fit"})
    (tmp_path / "c.json").write_text(several.to_json(), encoding="utf-8")
    write_result(tmp_path / "within", "d", small_result((0.1, 0.1)))
    (tmp_path / "notes.txt").write_text("not a result", encoding="utf-8")
    store = read_folder(tmp_path)
    expected = [("opus/beam5", "a.json"), ("b", "b.json"), ("c", "c.json"), ("c", "c.json")]
    assert [(e.system, e.file) for e in store.entries] == expected
    metrics = ["contrastive_conditioning"] * 3 + ["winomt_pattern_matching"]
    assert [e.result.metric for e in store.entries] == metrics
    assert store.broken == {}
    assert store.entries[0].result.n == 40
    assert store.entries[0].result.judgements == ()


def test_a_result_has_the_day_of_its_file_or_of_the_list(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        os.utime(write_result(tmp_path, name, small_result((0.4, 0.9))), (86_400, 86_400))
    (tmp_path / DATES).write_text("a.json\t2026-01-31\nb.json\tyesterday\n", encoding="utf-8")
    days = [entry.date for entry in read_folder(tmp_path).entries]
    assert days == ["2026-01-31", "1970-01-02", "1970-01-02"]


def test_results_without_translations_keep_every_figure(tmp_path: Path) -> None:
    whole = small_result((0.4, 0.9))
    bare = without_translations(whole)
    text = ResultSet((bare,)).to_json()
    assert "Übersetzung" not in text
    assert ResultSet.from_json(text) == ResultSet((bare,))
    judgements = tuple(replace(j, translation="") for j in whole.judgements)
    assert bare == replace(whole, judgements=judgements)
    readings = (Reading("0", "all", "Übersetzung", "neutral"),)
    assert without_translations(replace(whole, judgements=(), readings=readings)).readings == ()
    write_result(tmp_path, "bare", bare)
    write_static_board(tmp_path, tmp_path / "page")
    assert [*(tmp_path / "page/sentences").iterdir()] == []  # there are none to read


def test_an_empty_folder_is_accepted_and_a_missing_one_refused(tmp_path: Path) -> None:
    assert read_folder(tmp_path).entries == ()
    refuses("is not a folder", read_folder, tmp_path / "no")


_WHOLE = small_result((0.4, 0.9)).to_json()
_BROKEN: dict[str, bytes] = {
    "text": b"no JSON",
    "undecodable": b"{\xff\xfe}",
    "other": b'{"systems": []}',
    "deep": b"[" * 100_000,
    "count": _WHOLE.replace('"n_ties": 0\n }', '"n_ties": "<b>"\n }').encode(),
    "outside": _WHOLE.replace('"accuracy": 0.65', '"accuracy": 65').encode(),
    "interval_text": _WHOLE.replace('"level": 0.95', '"level": "<b>"').encode(),
    "signature": _WHOLE.replace('"cc|data', '"cc|x|data').encode(),
    "denied": small_result((0.4, 0.9), fields="|m:5").to_json().encode(),  # without its scores
}


@pytest.mark.parametrize("name", _BROKEN)
def test_a_broken_file_is_told(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_result(tmp_path, "whole", small_result((0.4, 0.9)))
    (tmp_path / f"{name}.json").write_bytes(_BROKEN[name])
    with caplog.at_level(logging.WARNING):
        store = read_folder(tmp_path)
    assert [entry.file for entry in store.entries] == ["whole.json"]
    assert list(store.broken) == [f"{name}.json"]
    assert str(tmp_path) not in store.broken[f"{name}.json"]
    assert f"{name}.json is not shown" in caplog.text


EVIL = "<script>alert(1)</script>"


@pytest.fixture
def rows(tmp_path: Path) -> list[LeaderboardRow]:
    mucow = {"dataset": "mucow", "config": "en-cs", "metric": "mucow_pattern_matching"}
    for name, fields in (("a", {}), ("b", mucow), ("c", {"dataset": "", "metric": EVIL})):
        write_result(tmp_path, name, small_result((0.4, 0.9), **fields))
    return leaderboard_rows(read_folder(tmp_path))


def test_the_data_and_metrics_of_the_table_are_described(rows: list[LeaderboardRow]) -> None:
    actual = described(rows)
    titles = {kind: [entry.title for entry in entries] for kind, entries in actual.items()}
    metrics = ["contrastive conditioning", "MuCoW pattern matching"]
    assert titles == {"datasets": ["MuCoW", "WinoMT"], "metrics": metrics}
    html = about_html(**actual)
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
    made = supported(small_result((0.4, 0.9), dataset=EVIL, fields="|eval:org/a@2"))
    html, text = _checked(write_result(tmp_path, "mine", made), [])
    assert ResultSet.from_json(text).results[0].evidence == ()  # a stranger's is none
    assert [text for text in ("mine", "65.0", "<script") if text in html] == ["mine", "65.0"]
    assert len(ResultSet.from_json(text).results[0].judgements) == 40  # they prove the figures
    assert "Übersetzung" not in text


@cases(
    ((0.2, 0.3), "", "mine would be listed 4th of 4 by minimum accuracy; its band"),
    ((0.5, 0.6), "", "mine would be listed 2nd of 4"),
    ((0.9, 0.9), "|eval:mine", "mine would have no rank, since its figures are not fit to c"),
    ((0.9, 0.9), "|m:99", "mine would have no rank, .*: not proved: the file is by version 99"),
)
def test_submissions_have_ranks(accuracies: Any, fields: str, message: str, tmp_path: Path) -> None:
    for name, accuracy in (("a", 0.8), ("b", 0.4), ("c", 0.3)):
        write_result(tmp_path, name, small_result((accuracy, 0.9), system=name))
    rows = leaderboard_rows(read_folder(tmp_path))
    made = small_result(accuracies, system="mine", fields=fields)
    html, _ = _checked(write_result(tmp_path, "mine", made), rows)
    assert re.search(message, html)


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.json", "[" * 100_000)
    with pytest.raises(InputError, match=r"^x\.json: ") as caught:
        _checked(path, [])
    assert str(tmp_path) not in str(caught.value)
    path.write_bytes(b"0" * (MAX_UPLOAD + 1))
    refuses(r"^x\.json: expected at most 5 MB", _checked, path, [])


EVERYTHING = -3600.0  # seconds: what is younger than an hour from now


@pytest.fixture
def files() -> Iterator[VisitorFiles]:
    actual = VisitorFiles()
    actual.cache.mkdir()
    yield actual
    actual.close()
    assert not actual.cache.parent.exists()


def left(files: VisitorFiles) -> set[str]:
    return {path.name for path in files.cache.parent.rglob("*")}


def test_old_files_of_any_origin_are_deleted(files: VisitorFiles, tmp_path: Path) -> None:
    Path(files.write("result.json", "{}"))
    for name in ("upload", "\n", "-rf", "*", "ü" * 100, os.fsdecode(b"\xff")):
        (files.cache / name).write_text("x", encoding="utf-8")
    write_text(files.cache / "hash/a.txt", "x")
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
    secret = write_text(tmp_path / "own/secret.txt", "x")
    (files.cache / "folder").symlink_to(secret.parent)
    (files.cache / "file").symlink_to(secret)
    (files.cache / "loop").symlink_to(files.cache / "loop")
    files.sweep(EVERYTHING)
    assert left(files) == set()
    assert secret.is_file()


def test_stubborn_files_are_left(files: VisitorFiles, monkeypatch: Any, caplog: Any) -> None:
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


def test_a_leaderboard_shows_what_its_judges_prefer(tmp_path: Path) -> None:
    markup = "<b>It is *sure*</b>"
    card = JudgeCard("org/large@1a2b", "en-de", markup, ("It is wrong.",), "https://a.b", "x|n:1")
    folder = write_judged(tmp_path, "cc-tiny-en-de@d644c6d303e7", card)
    store = read_folder(folder)
    assert "prefers masc" in "".join(evaluator_notes(e.result for e in store.entries))
    assert (store.broken, store.judge_cards) == ({}, (card,))
    rows = leaderboard_rows(store)
    notes: dict[str, Any] = {row.system: row.notes[0] for row in rows}
    assert notes["a"].startswith("cc-tiny-en-de: It prefers masculine translations")
    assert notes["b"] == card.text
    build_leaderboard_space(folder, folder / "space")
    assert read_folder(folder / "space/results").judge_cards == (card,)
    assert "It is wrong." in (folder / "space/README.md").read_text(encoding="utf-8")
    write_static_board(folder, folder / "board")
    html = (folder / "board/index.html").read_text(encoding="utf-8")
    assert ("It prefers masculine" in html, markup in html) == (True, False)
