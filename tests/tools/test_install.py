"""The installation of `make demo` is quiet, and shows pip's own words where it fails."""

from pathlib import Path

import pytest

from tools.install import install


def test_a_failed_installation_shows_the_end_of_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "install.log"
    assert install(["--no-index", str(tmp_path / "missing")], log) != 0
    shown = capsys.readouterr().err
    assert "Invalid requirement" in shown or "ERROR" in shown
    assert str(log) in shown
    assert "ERROR" in log.read_text(encoding="utf-8")


def test_a_finished_installation_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install(["--help"], tmp_path / "install.log") == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("installed: ")
