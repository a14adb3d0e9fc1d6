import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cc_hf.results import ResultSet
from tests.helpers import reported
from tests.helpers.usual import cases, cc_hf, printed_by, write_result, write_text

OUTPUTS = "--html o.html --markdown o.md --latex o.tex --plots p --format svg"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for system, name in enumerate(("a", "b")):
        results = ResultSet(tuple(reported.results(system).values()))
        write_text(tmp_path / f"{name}.json", results.to_json())
    return tmp_path


def test_report_writes_page_tables_and_plots(files: Path) -> None:
    output = cc_hf(
        f"report a.json b.json --name X --name Y --baseline b.json --bleu X=30 {OUTPUTS}",
        cwd=files,
    )
    assert output.stdout == ""
    assert "d c is not available: ids and translations are shown without their" in output.stderr
    assert "note: BLEU is not known for Y" in output.stderr
    assert "| Y (baseline" in (files / "o.md").read_text(encoding="utf-8")
    assert (files / "o.tex").read_text(encoding="utf-8").count(r"\bottomrule") == 1
    assert (files / "o-all.tex").read_text(encoding="utf-8").count(r"\bottomrule") == 7
    page = (files / "o.html").read_text(encoding="utf-8")
    assert "<title>d (c), German: 2 systems</title>" in page
    assert "Dasselbe." in page
    names = "categories.CC categories.words probabilities.CC quality.CC quality.words"
    pictures = [f"{name}.svg" for name in names.replace("CC", "contrastive_conditioning").split()]
    assert sorted(path.name for path in (files / "p").iterdir()) == pictures
    assert cc_hf("report", "a.json", "--html", "p.html", "--quiet", cwd=files).stderr == ""
    (row,) = json.loads(cc_hf("report", "a.json", "b.json", "--json", cwd=files).stdout)
    assert (row["baseline"], len(row["comparisons"])) == ("a", 2)


def test_the_baseline_is_named_by_its_system_or_its_file(tmp_path: Path) -> None:
    for system, name in enumerate(("Amazon 2021", "Bing")):
        (result,) = reported.results(system, metrics=["words"]).values()
        write_result(tmp_path, str(system), replace(result, system=name))
    common = ["report", "0.json", "1.json", "--bleu", "Bing=30"]
    for baseline in ("Bing", "1.json"):
        words = ("--baseline", baseline, "--markdown", "-")
        printed = cc_hf(*common, *words, cwd=tmp_path).stdout
        assert "| Amazon 2021 |" in printed
        assert "| Bing (baseline, not fit to cite) | 30.0 |" in printed


def test_a_report_without_files_is_the_answer_and_with_verbose_all_tables(files: Path) -> None:
    answer, everything = (cc_hf("report", ".", *more, cwd=files).stdout for more in ((), ("-v",)))
    assert len(answer.splitlines()) <= 25
    assert "What to cite" in answer
    assert ("All figures" in answer, "All figures" in everything) == (False, True)


def test_undecodable_names_become_escapes(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files that are not UTF-8 look like this."""
    monkeypatch.chdir(files)
    printed_by(f"report a.json {OUTPUTS} --quiet --name", "X\udcff\x01")
    for name in ("o.html", "o.md", "o.tex"):
        text = (files / name).read_text(encoding="utf-8")
        assert r"X\udcff" in text.replace(r"\textbackslash{}", "\\").replace("\\\\", "\\")
    for path in (files / "p").iterdir():
        ElementTree.parse(path)


@cases(
    ("a.json --html no/o.html", "does not exist; create it first"),
    ("a.json --plots b.json", "plots: expected a folder, b.json is a file"),
    ("a.json --html o.html --baseline c", "unknown baseline 'c'. Known: a"),
    ("a.json --html o.html --bleu a=0.3", "points, 1 to 100, such as 42.5, got '0.3'"),
    ("a.json --html o.html --dataset winmt", "unknown dataset 'winmt'; did you mean 'winomt'"),
    ("a.json --plots p --format eps", "one of png, svg, pdf, got 'eps'"),
    ("a.json --figure accuracy", "figure: expected --latex FILE with it"),
    ("a.json --latex -", "latex: expected a file, beside which a second one"),
    ("a.json --latex o.tex --figure acuracy", "did you mean 'accuracy'"),
    ("missing.json --html o.html", "missing.json: file not found"),
)
def test_bad_arguments_are_refused_at_once(arguments: str, message: str, files: Path) -> None:
    assert message in " ".join(cc_hf(f"report {arguments}", cwd=files, status=2).stderr.split())
    assert not {"o.html", "p"} & {path.name for path in files.iterdir()}
