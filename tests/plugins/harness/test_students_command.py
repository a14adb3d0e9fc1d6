"""`cc-hf evaluate students`: which students are found, what is written, and the gate."""

import json
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import registry
from cc_hf.errors import DataError
from cc_hf.plugins.harness import students
from cc_hf.plugins.harness.mozilla import MtGenEval, SimpleGen
from tests.helpers.students import needs_students
from tests.helpers.usual import cases, overriding, read_json, refuses
from tests.helpers.usual import cc_hf as program


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two releases, `old` and `new`, whose students write one sentence each;
    only SimpleGEN is judged.
    """
    judge = cc_hf.evaluate

    def evaluate(material: Any, *, system: Any, **options: Any) -> Any:
        says = Path(system.model) / "says.txt"
        if not says.exists():
            raise DataError(f"{system.model}: no student")
        text = says.read_text(encoding="utf-8")
        return judge(material, translations=[text] * len(material.examples), **options)

    for name, text in (("old", "Mein Mann ist Direktor."), ("new", "Sie ist Direktorin.")):
        folder = tmp_path / name / "ende-1693087644"
        folder.mkdir(parents=True)
        (folder / "says.txt").write_text(text, encoding="utf-8")
    monkeypatch.setattr(students, "evaluate", evaluate)
    monkeypatch.setattr(students, "METRICS", {SimpleGen.name: SimpleGen})
    return tmp_path


def run(folder: Path, release: str, *more: str, status: int = 0) -> Any:
    command = f"evaluate students --models {release} -o out-{release} --json"
    return json.loads(program(*overriding(command, *more), cwd=folder, status=status).stdout)


def test_a_release_is_judged_and_continued(releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = run(releases, "old")
    (judged,) = row["judged"]
    assert (judged["pair"], judged["test_set"], judged["is_new"]) == ("en-de", "simplegen", True)
    out = releases / "out-old"
    assert read_json(out / "results/simplegen.en-de.json")["results"][0]["system"] == "out-old"
    names = sorted(path.name.partition("latest__")[2] for path in (out / "mozilla").iterdir())
    kinds = ("metrics", "scores")
    assert names == [*(f"{SimpleGen.name}.{kind}.json" for kind in kinds), "translations.json"]
    assert "SimpleGEN" in (out / "index.html").read_text(encoding="utf-8")
    monkeypatch.setattr(students, "evaluate", None)
    again = run(releases, "old")
    assert again["judged"] == [{**judged, "is_new": False}]
    shown = program("evaluate", "students", "--models", "old", "-o", "out-old", cwd=releases)
    assert "minimum accuracy" in shown.stdout


def test_the_gate_compares_with_the_release_before(releases: Path) -> None:
    run(releases, "old")
    row = run(releases, "new", "--before", "out-old", "--gate", "5", status=3)
    (decision,) = row["gates"]
    assert (decision["test_set"], decision["pair"]) == ("simplegen", "en-de")
    assert (decision["baseline"], decision["system"]) == ("out-old", "out-new")
    assert decision["verdict"] == "fail"
    for path in (releases / "new").rglob("says.txt"):
        path.write_text("Mein Mann ist Direktor.", encoding="utf-8")
    words = ("--name", "same", "-o", "out-same", "--before", "out-old", "--gate", "5")
    assert run(releases, "new", *words)["gates"][0]["verdict"] == "pass"


def test_a_student_that_fails_is_named_and_the_rest_is_judged(releases: Path) -> None:
    (releases / "old/enes").mkdir()
    words = ("evaluate", "students", "--models", "old", "-o", "out")
    assert program(*words, "-l", "en-es", cwd=releases, status=1)
    row = run(releases, "old")
    assert [judged["pair"] for judged in row["judged"]] == ["en-de"]
    assert row["not_judged"][0]["pair"] == "en-es"


@cases(
    (("--gate", "5"), "expected --before and --gate together"),
    (("--before", "out-old", "--gate", "5"), "expected another name than that of out-old"),
    (("--before", "nothing", "--gate", "5"), "expected the folder of a release with results"),
    (("--name", "x"), "expected results of x, got out-old/results/simplegen.en-de.json"),
    (("-l", "en-fi"), "expected a folder of en-fi in old, got those of en-de"),
    (("-l", "en"), "expected a pair such as en-pt, got 'en'"),
    (("--models", "nowhere"), "expected a folder with a folder for each student"),
    (("-o", "file"), "expected a folder, file is a file"),
)
def test_what_does_not_fit_is_refused(more: tuple[str, ...], message: str, releases: Path) -> None:
    run(releases, "old")
    (releases / "file").touch()
    words = overriding("evaluate students --models old -o out-old", *more)
    assert message in " ".join(program(*words, cwd=releases, status=2).stderr.split())


def test_folders_are_named_as_mozilla_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("enpt-1693087644", "pt-en", "english", "enfr.tiny", "de-nl-old"):
        (tmp_path / name).mkdir()
    (tmp_path / "ende").touch()
    assert [*students.find_students(tmp_path, ())] == ["de-nl", "en-fr", "en-pt", "pt-en"]
    (tmp_path / "enpt").mkdir()
    refuses("expected one folder of en-pt", students.find_students, tmp_path, ())
    here = ["bergamot:en-fi"]
    monkeypatch.setattr(registry, "resolve", lambda *names: lambda: here)
    assert students.find_students(None, ()) == {"en-fi": "bergamot:en-fi"}
    assert students.find_students(None, ["en-et"]) == {"en-et": "bergamot:en-et"}
    here.clear()
    refuses("on this machine; name a pair", students.find_students, None, ())


@pytest.mark.shared
@needs_students
def test_students_of_both_directions_translate(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.students import student_folder

    monkeypatch.setattr(students, "METRICS", {MtGenEval.name: MtGenEval})
    models, data = student_folder().parent, shared / "upstream"
    words = ("evaluate", "students", "--models", str(models), "--data-dir", str(data))
    shown = program(*words, "--limit", "2", "-o", "out", "--json", cwd=tmp_path)
    row = json.loads(shown.stdout)
    assert [judged["pair"] for judged in row["judged"]] == ["en-pt", "pt-en"]
    assert "@b4b85329b5a5/beam5" in row["judged"][0]["signature"]
    assert "@60963104b2b3/beam5" in row["judged"][1]["signature"]
