import subprocess
import sys
from pathlib import Path

_TESTS = """
import pytest

@pytest.mark.shared
@pytest.mark.parametrize("number", range(3))
def test_data(number, shared):
    pass

def test_tool():
    pytest.importorskip("a_package_that_is_not_there")

def test_machine():
    pytest.skip("this system has no fork")

@pytest.mark.xfail
def test_known():
    assert False
"""


def outcome(folder: Path, root: Path, *arguments: str, **environment: str) -> str:
    folder.joinpath("test_it.py").write_text(_TESTS, encoding="utf-8")
    plugins = ["-p", "tests.fixtures", "-p", "no:cacheprovider", *arguments]
    command = [sys.executable, "-m", "pytest", "-c", str(root / "pyproject.toml"), *plugins]
    places = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root), "CC_HF_SHARED": "/nowhere"}
    completed = subprocess.run(
        [*command, "--rootdir", folder, folder],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**places, **environment},
    )
    return f"{completed.stdout}{completed.stderr}"


def test_the_summary_says_what_was_skipped_and_why(tmp_path: Path, root: Path) -> None:
    text = outcome(tmp_path, root, "-n", "2")
    assert "skipped 3 tests in 1 files: the real data" in text
    assert "skipped 1 tests in 1 files: could not import 'a_package_that_is_not_there'" in text
    assert "skipped 1 tests in 1 files: this system has no fork" in text
    assert text.count("skipped ") == 3
    assert "5 skipped, 1 xfailed" in text


def test_full_runs_skip_only_what_the_machine_lacks(tmp_path: Path, root: Path) -> None:
    text = outcome(tmp_path, root, CC_HF_REQUIRE_ALL="1")
    assert text.count("CC_HF_REQUIRE_ALL is set, and this was skipped") >= 4
    assert "skipped 1 tests in 1 files: this system has no fork" in text
    assert "1 failed, 1 skipped, 1 xfailed, 3 errors" in text
