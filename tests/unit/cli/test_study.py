"""Flags in messages, and cc-hf study: it lists studies without importing them, and runs their
commands.
"""

import json
from pathlib import Path

import pytest
import typer

from cc_hf.cli.main import with_flags
from cc_hf.errors import InputError
from tests.helpers.plugins import add_package
from tests.helpers.usual import cases, cc_hf, run_command

toys = typer.Typer()


@toys.command()
def count(tgt_lang: str = "de", n: int = typer.Option(3, help="How many.")) -> None:
    """Count toys."""
    if n < 0:
        raise InputError(f"n: expected at least 0, got {n}; see `tgt_lang`")
    typer.echo(f"{n} toys in {tgt_lang}")


_TOYS = f"""
from cc_hf.registry import Study
TOYS = Study("{__name__}:toys", ("emelin-2020", "Smith 2025"), "Counts toys.")
ABSENT = Study("no_such_module:app", (), "Is listed only.")
"""


@pytest.fixture(autouse=True)
def _studies(site: Path) -> None:
    add_package(
        site, "toys", {"cc_hf.studies": {"toy_count": "toys:TOYS", "absent": "toys:ABSENT"}}, _TOYS
    )


def test_studies_are_listed_with_papers_without_being_imported() -> None:
    wide = run_command("study", environment={"COLUMNS": "200"}).stdout
    (line,) = [row for row in wide.splitlines() if "toy_count" in row]
    assert " ".join(line.split()) == "toy_count Emelin et al. 2020; Smith 2025 Counts toys."
    rows = {row.pop("name"): row for row in json.loads(cc_hf("study", "--json").stdout)}
    papers = ["Emelin et al. 2020", "Smith 2025"]
    assert rows["toy_count"] == {"about": "Counts toys.", "papers": papers}
    assert rows["absent"]["papers"] == []
    assert "Is listed only." in cc_hf("study", "--help").stdout
    assert "expected `cc-hf study --json` alone" in cc_hf("study --json absent", status=2).stderr


@pytest.mark.parametrize("name", ["toy_count", "toy-count"])
def test_a_study_shows_its_commands_and_runs_one(name: str) -> None:
    assert "Count toys." in cc_hf("study", name, "--help").stdout
    assert "Counts toys." in cc_hf("study", name, "-h").stdout
    shown = cc_hf("study", name, status=2)
    assert "Count toys." in shown.stdout + shown.stderr
    assert cc_hf("study", name, "count", "--n", "5").stdout == "5 toys in de\n"
    assert "How many." in cc_hf("study", name, "count", "--help").stdout
    assert "'count'" in cc_hf("study", name, "counts", status=2).stderr


@pytest.mark.parametrize("name", ["toy_count", "toy-count"])
def test_messages_name_the_flags_of_a_study_command(name: str) -> None:
    output = cc_hf("study", name, "count", "--n", "-1", status=2).stderr
    assert output == "error: --n: expected at least 0, got -1; see `--tgt-lang`\n"
    assert with_flags("tgt_lang: no", ["study", name, "count"]) == "--tgt-lang: no"


def test_an_unknown_study_is_refused_with_the_nearest_known_one() -> None:
    output = cc_hf("study", "toy-cont", "count", status=2).stderr
    assert "unknown study 'toy-cont'; did you mean 'toy_count'?" in output


def test_a_broken_study_of_another_package_does_not_hide_the_others(site: Path) -> None:
    group = "cc_hf.studies"
    add_package(site, "broken-toy", {group: {"broken": "broken_toy:STUDY"}}, "1 / 0")
    code = "from cc_hf.registry import Study\nSTUDY = Study('{}', (), 'Nothing.')\napp = 1\n"
    add_package(site, "half-toy", {group: {"half": "half_toy:STUDY"}}, code.format("half_toy:app"))
    add_package(site, "bad-toy", {group: {"bad": "bad_toy:STUDY"}}, code.format("bad_toy:absent"))
    output = cc_hf("study")
    names = ("toy_count", "half", "broken")
    assert [name for name in names if name in output.stdout] == ["toy_count", "half"]
    (line,) = output.stderr.splitlines()
    assert line == (
        "warning: the study 'broken' of broken-toy (broken_toy:STUDY) "
        "cannot be loaded (ZeroDivisionError: division by zero); update or uninstall broken-toy"
    )
    for name, reason in {  # the error is the only line, without a warning of another study
        "broken": "ZeroDivisionError: division by zero",
        "half": "expected a typer.Typer with its commands, got 1",
        "bad": "bad-toy (bad_toy:absent) cannot be loaded",
    }.items():
        refused = cc_hf("study", name, "run", status=2).stderr
        assert refused.startswith(f"error: the study '{name}'")
        assert reason in refused
        assert refused.count("\n") == 1
    assert cc_hf("study", "toy_count", "count").stderr == ""


@cases(
    ("evaluate winomt", "tgt_lang: expected de", "--language-pair: expected de"),
    ("evaluate -l xx winomt", "output: no folder a: b", "--output: no folder a: b"),
    ("evaluate winomt", "f: no; pass `data_dir`", "f: no; pass `--data-dir`"),
    ("evaluate winomt", "translations, system: got none", "--translations, --system: got none"),
    ("cues build mucow", "words: got 'x'", "--word: got 'x'"),
    ("explain --source x", "gold: expected male", "--gender: expected male"),
    ("compare --by seed a.json", "names: got x", "--name: got x"),
    ("cues build x", "masked_lm, candidates: got both", "--masked-lm, --candidates: got both"),
    # unchanged
    ("evaluate winomt", "dataset: expected a name", ""),  # an argument has no flag
    ("compare a.json b.json", "tgt_lang: expected de", ""),  # this command has no such option
    ("cues build mucow", "candidates, dataset: got both", ""),
    ("evaluate f.csv", "f.csv: line 2: tgt_lang: expected de", ""),
    ("evaluate winomt", "output", ""),
    ("compare a.json --by seeds", "data_dir: none", ""),  # no such command
    ("compare a.json b.json", "file not found; pass `data_dir` or `-v`", ""),
    ("", "output: x", ""),
)
def test_parameters_in_messages_are_shown_as_flags(command: str, message: str, shown: str) -> None:
    assert with_flags(message, command.split()) == (shown or message)
