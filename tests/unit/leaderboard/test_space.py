from __future__ import annotations

import logging
import os
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from huggingface_hub import SpaceCard

from cc_hf import __version__
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.errors import InputError
from cc_hf.hub.spaces import SPACE_LOOKS
from cc_hf.leaderboard.space import build_leaderboard_space
from cc_hf.leaderboard.store import DATES, read_folder, without_translations
from cc_hf.results import ResultSet
from tests.helpers.lines import write_lines
from tests.helpers.results import small_result, write_result


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    write_result(folder, "aws", small_result((0.4, 0.9)))
    write_result(folder, "google", small_result((0.5, 0.7)))
    (folder / "broken.json").write_text("{", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    return folder


def test_the_folder_holds_program_card_and_results(results: Path, tmp_path: Path) -> None:
    quality = write_lines(tmp_path / "q.tsv", ["system\tbleu", "aws\t30"])
    output, title = tmp_path / "space", 'A "board": of <systems>'
    store = build_leaderboard_space(results, output, title=title, quality=quality)
    files = {str(path.relative_to(output)) for path in output.rglob("*") if path.is_file()}
    own = "README.md app.py bleu.json requirements.txt"
    assert files == {
        *own.split(),
        *(f"results/{n}" for n in ("aws.json", "dates.tsv", "google.json")),
    }
    assert list(store.broken) == ["broken.json"]
    card: dict[str, Any] = vars(SpaceCard((output / "README.md").read_text(encoding="utf-8")).data)
    assert (card["title"], card["sdk"], card["app_file"]) == (title, "gradio", "app.py")
    assert {"leaderboard", "test:public", "judge:function", "language:german"} <= set(card["tags"])
    assert len(card["short_description"]) <= 60  # the Hub refuses longer ones
    assert card["sdk_version"].split(".")[0] >= "6"
    requirements = (output / "requirements.txt").read_text(encoding="utf-8")
    assert requirements == f"cc_hf[leaderboard,models]>={__version__}\n"
    assert [entry.system for entry in read_folder(output / "results").entries] == ["aws", "google"]
    assert read_folder(output / "results").entries == read_folder(results).entries
    assert "Übersetzung" in (results / "aws.json").read_text(encoding="utf-8")
    assert "Übersetzung" not in (output / "results/aws.json").read_text(encoding="utf-8")


def test_the_program_serves_its_folder_publicly(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve = Mock()
    monkeypatch.setattr("cc_hf.leaderboard.app.serve", serve)
    program, quality = tmp_path / "space/app.py", tmp_path / "space/bleu.json"
    build_leaderboard_space(results, tmp_path / "space", quality=["aws=30"])
    runpy.run_path(str(program))
    serve.assert_not_called()
    runpy.run_path(str(program), run_name="__main__")
    serve.assert_called_once_with(
        tmp_path / "space/results", quality=quality, host="0.0.0.0", port=7860
    )
    assert read_quality_scores([quality]).of("aws", "winomt", "de") == 0.3


def test_quality_scores_are_given_as_for_reports(results: Path, tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("system\tbleu\tdataset\naws\t30\twinomt\n", encoding="utf-8")
    quality = ["google=31.2", str(tmp_path / "q.tsv")]
    build_leaderboard_space(results, tmp_path / "space", quality=quality)
    assert read_quality_scores(tmp_path / "space/bleu.json") == read_quality_scores(quality)


def test_the_program_can_be_built_without_quality_scores(results: Path, tmp_path: Path) -> None:
    build_leaderboard_space(results, tmp_path / "space")
    assert "quality=None" in (tmp_path / "space/app.py").read_text(encoding="utf-8")


def test_bad_outputs_requirements_and_titles_are_refused(results: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists and is not an empty folder"):
        build_leaderboard_space(results, results)
    empty, broken = tmp_path / "empty", write_lines(tmp_path / "broken/x.json", ["{"]).parent
    empty.mkdir()
    lines = ("a\nb", "a\rb", " ", "--index-url https://example.org")
    cases: list[tuple[Path, dict[str, Any], str]] = [
        *((results, {"requirement": line}, "requirement: expected one line") for line in lines),
        (results, {"title": " "}, "title: expected a text"),
        (results, {"quality": tmp_path / "no.tsv"}, "file not found"),
        (empty, {}, "at least one result"),
        (broken, {}, r"1 could not be read, the first: .*x\.json"),
    ]
    for folder, options, message in cases:
        with pytest.raises(InputError, match=message):
            build_leaderboard_space(folder, tmp_path / "space", **options)
    assert not (tmp_path / "space").exists()


@pytest.mark.parametrize(
    "name",
    ['q".json', 'q.json")+open("x', "q.jso{n}", "q.json\nimport os", "q.JSON", "q.x'y"],
    ids=["quote", "call", "braces", "line break", "capitals", "apostrophe"],
)
def test_a_name_of_a_file_cannot_inject_code(results: Path, tmp_path: Path, name: str) -> None:
    is_json = Path(name).suffix.lower() == ".json"
    text = '{"aws": 30}' if is_json else "system\tbleu\naws\t30\n"
    (tmp_path / name).write_text(text, encoding="utf-8")
    build_leaderboard_space(results, tmp_path / "space", quality=tmp_path / name)
    program = (tmp_path / "space/app.py").read_text(encoding="utf-8")
    assert 'quality=here / "bleu.json", host' in program
    assert read_quality_scores(tmp_path / "space/bleu.json").of("aws", "", "") == 0.3


TITLES = {
    **{"yaml": "a: b\n---\nx: 1", "code": '"; import os', "template": "{title}", "html": "😀 <b>"},
    **{"line separator": "\u2028x", "null character": "a\0b", "document": "---", "backslash": "\\"},
}


@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_a_title_cannot_inject_fields(results: Path, tmp_path: Path, title: str) -> None:
    build_leaderboard_space(results, tmp_path / "space", title=title)
    card = SpaceCard((tmp_path / "space/README.md").read_text(encoding="utf-8"))
    data = {key: value for key, value in vars(card.data).items() if value is not None}
    assert data["title"] == " ".join(title.split())
    own = "title sdk sdk_version app_file license tags short_description"
    assert set(data) == {*own.split(), *SPACE_LOOKS}


def test_results_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    write_result(tmp_path, "b", small_result((0.4, 0.9)))
    write_result(tmp_path, "a", small_result((0.4, 0.8), system="opus/beam5"))
    both = (small_result((0.5, 0.7)), small_result((0.2, 0.3), metric="winomt_pattern_matching"))
    several = ResultSet(both, {"gender_accuracy": "does not fit"})
    (tmp_path / "c.json").write_text(several.to_json(), encoding="utf-8")
    (tmp_path / "within").mkdir()
    write_result(tmp_path / "within", "d", small_result((0.1, 0.1)))
    (tmp_path / "notes.txt").write_text("not a result", encoding="utf-8")
    store = read_folder(tmp_path)
    assert [(e.system, e.file, e.result.metric) for e in store.entries] == [
        ("opus/beam5", "a.json", "contrastive_conditioning"),
        ("b", "b.json", "contrastive_conditioning"),
        ("c", "c.json", "contrastive_conditioning"),
        ("c", "c.json", "winomt_pattern_matching"),
    ]
    assert store.broken == {}
    assert store.entries[0].result.n == 20
    assert store.entries[0].result.judgements == ()


def test_a_result_has_the_day_of_its_file_or_of_the_list(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        path = write_result(tmp_path, name, small_result((0.4, 0.9)))
        os.utime(path, (86_400, 86_400))
    (tmp_path / DATES).write_text("a.json\t2026-01-31\nb.json\tyesterday\n", encoding="utf-8")
    days = [entry.date for entry in read_folder(tmp_path).entries]
    assert days == ["2026-01-31", "1970-01-02", "1970-01-02"]


def test_results_without_translations_keep_every_figure(tmp_path: Path) -> None:
    whole = ResultSet((small_result((0.4, 0.9)),))
    bare = without_translations(whole)
    assert "Übersetzung" not in bare.to_json()
    assert bare == ResultSet.from_json(bare.to_json())
    assert bare.results[0] == replace(whole.results[0], judgements=())


def test_an_empty_folder_is_accepted_and_a_missing_one_refused(tmp_path: Path) -> None:
    assert read_folder(tmp_path).entries == ()
    with pytest.raises(InputError, match="is not a folder"):
        read_folder(tmp_path / "no")


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
}


@pytest.mark.parametrize("name", _BROKEN)
def test_a_broken_file_is_reported_and_the_others_are_read(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_result(tmp_path, "whole", small_result((0.4, 0.9)))
    (tmp_path / f"{name}.json").write_bytes(_BROKEN[name])
    with caplog.at_level(logging.WARNING):
        store = read_folder(tmp_path)
    assert [entry.file for entry in store.entries] == ["whole.json"]
    assert list(store.broken) == [f"{name}.json"]
    assert str(tmp_path) not in store.broken[f"{name}.json"]
    assert f"{name}.json is not shown" in caplog.text
