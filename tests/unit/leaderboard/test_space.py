from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import SpaceCard

from cc_hf import __version__
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.errors import InputError
from cc_hf.hub.spaces import SPACE_LOOKS
from cc_hf.leaderboard.space import build_leaderboard_space
from cc_hf.leaderboard.store import read_folder
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
    (tmp_path / "q.tsv").write_text("system\tbleu\naws\t30\n", encoding="utf-8")
    output = tmp_path / "space"
    store = build_leaderboard_space(
        results, output, title='A "board": of <systems>', quality=tmp_path / "q.tsv"
    )
    files = sorted(
        path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()
    )
    assert files == [
        "README.md",
        "app.py",
        "bleu.json",
        "requirements.txt",
        "results/aws.json",
        "results/dates.tsv",
        "results/google.json",
    ]
    assert list(store.broken) == ["broken.json"]
    card: dict[str, Any] = vars(SpaceCard((output / "README.md").read_text(encoding="utf-8")).data)
    assert (card["title"], card["sdk"], card["app_file"]) == (
        'A "board": of <systems>',
        "gradio",
        "app.py",
    )
    assert {"leaderboard", "test:public", "judge:function", "language:german"} <= set(card["tags"])
    assert len(card["short_description"]) <= 60  # the Hub refuses longer ones
    assert card["sdk_version"].split(".")[0] >= "6"
    assert (output / "requirements.txt").read_text(
        encoding="utf-8"
    ) == f"cc_hf[leaderboard,models]>={__version__}\n"
    program = (output / "app.py").read_text(encoding="utf-8")
    ast.parse(program)
    assert 'quality=here / "bleu.json"' in program
    assert [entry.system for entry in read_folder(output / "results").entries] == ["aws", "google"]
    assert read_folder(output / "results").entries == read_folder(results).entries
    assert "Übersetzung" in (results / "aws.json").read_text(encoding="utf-8")
    assert "Übersetzung" not in (output / "results/aws.json").read_text(encoding="utf-8")


def test_the_program_serves_its_folder_publicly(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Path, dict[str, Any]]] = []
    monkeypatch.setattr(
        "cc_hf.leaderboard.app.serve", lambda folder, **options: calls.append((folder, options))
    )
    (tmp_path / "q.json").write_text('{"aws": 30}', encoding="utf-8")
    build_leaderboard_space(results, tmp_path / "space", quality=tmp_path / "q.json")
    runpy.run_path(str(tmp_path / "space/app.py"))
    assert calls == []
    runpy.run_path(str(tmp_path / "space/app.py"), run_name="__main__")
    ((folder, options),) = calls
    assert [entry.system for entry in read_folder(folder).entries] == ["aws", "google"]
    assert options == {"quality": tmp_path / "space/bleu.json", "host": "0.0.0.0", "port": 7860}
    assert read_quality_scores([Path(options["quality"])]).of("aws", "winomt", "de") == 0.3


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
    for line in ("a\nb", "a\rb", " ", "--index-url https://example.org"):
        with pytest.raises(InputError, match="requirement: expected one line"):
            build_leaderboard_space(results, tmp_path / "space", requirement=line)
    with pytest.raises(InputError, match="title: expected a text"):
        build_leaderboard_space(results, tmp_path / "space", title=" ")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="at least one result"):
        build_leaderboard_space(empty, tmp_path / "space")
    (empty / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"1 could not be read, the first: .*x\.json"):
        build_leaderboard_space(empty, tmp_path / "space")
    with pytest.raises(InputError, match="file not found"):
        build_leaderboard_space(results, tmp_path / "space", quality=tmp_path / "no.tsv")
    assert not (tmp_path / "space").exists()


@pytest.mark.parametrize(
    "name",
    ['q".json', 'q.json")+open("x', "q.jso{n}", "q.json\nimport os", "q.JSON", "q.x'y"],
    ids=["quote", "call", "braces", "line break", "capitals", "apostrophe"],
)
def test_the_name_of_the_quality_file_cannot_inject_code(
    results: Path, tmp_path: Path, name: str
) -> None:
    is_json = Path(name).suffix.lower() == ".json"
    (tmp_path / name).write_text(
        '{"aws": 30}' if is_json else "system\tbleu\naws\t30\n", encoding="utf-8"
    )
    build_leaderboard_space(results, tmp_path / "space", quality=tmp_path / name)
    assert 'quality=here / "bleu.json", host' in (tmp_path / "space/app.py").read_text(
        encoding="utf-8"
    )
    assert read_quality_scores(tmp_path / "space/bleu.json").of("aws", "", "") == 0.3


@pytest.mark.parametrize(
    "title",
    ["a: b\n---\nx: 1", '"; import os', "{title}", "\u2028x", "a\0b", "---", "😀 <b>", "\\"],
    ids=[
        "yaml",
        "code",
        "template",
        "line separator",
        "null character",
        "yaml document",
        "html",
        "backslash",
    ],
)
def test_the_title_cannot_inject_fields_into_the_card(
    results: Path, tmp_path: Path, title: str
) -> None:
    build_leaderboard_space(results, tmp_path / "space", title=title)
    card = SpaceCard((tmp_path / "space/README.md").read_text(encoding="utf-8"))
    data: dict[str, Any] = vars(card.data)
    assert data["title"] == " ".join(title.split())
    assert {key for key, value in data.items() if value is not None} == {
        "title",
        "sdk",
        "sdk_version",
        "app_file",
        "license",
        "tags",
        "short_description",
        *SPACE_LOOKS,
    }
