"""Several systems in one command: the comparison first, on one screen."""

from pathlib import Path

from tests.helpers.usual import cc_hf, read_json, write_lines


def test_two_files_are_compared_at_once(tmp_path: Path) -> None:
    women = write_lines(tmp_path / "a.txt", ["Sie ist Ärztin."] * 2664)
    half = write_lines(tmp_path / "b.txt", ["Er ist Arzt.", "Sie ist Ärztin."] * 1332)
    words = ("evaluate", "simplegen", "en-de", "--metric", "simplegen_accuracy", "--quiet")
    files = (f"--translations=ours={women}", f"--translations=theirs={half}")
    outputs = ("--output", tmp_path / "results", "--html", tmp_path / "page.html")
    shown = cc_hf(*words, *files, *outputs).stdout
    lines = shown.splitlines()
    assert len(lines) <= 25
    assert "p: " in shown
    assert "against ours" in shown
    assert any(line.startswith("signature: sg|") for line in lines)
    assert [read_json(tmp_path / f"results/{name}.json")["system"] for name in ("ours", "theirs")]
    assert "theirs" in (tmp_path / "page.html").read_text(encoding="utf-8")
    compared = cc_hf("compare", tmp_path / "results").stdout
    assert len(compared.splitlines()) <= 25
    assert "p: " in compared
    figures = cc_hf(*words, *files, "--figure-only").stdout.split()
    assert [float(figure) for figure in figures] == [0.0, 0.0]
    whole = cc_hf(*words, *files, "--verbose").stdout
    assert whole.startswith(shown)
    assert whole.count("What to cite") == 3
