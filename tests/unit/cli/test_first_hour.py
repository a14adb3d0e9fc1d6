"""What a new user meets first: sentences to translate, files of translations of any length, first
looks, pipes, JSON, and figures of several systems.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_hf.data.files.translations import read_translations
from cc_hf.data.loading import load_examples
from cc_hf.evaluation.material import load_material
from cc_hf.results import EvaluationResult
from tests.helpers.contract_cases import study_commands
from tests.helpers.usual import invoke, read_jsonl, run_command, write_jsonl, write_lines

_SIMPLEGEN = ("simplegen", "en-de")
_EVALUATE = ("evaluate simplegen en-de --metric simplegen_accuracy --translations",)


def translations(path: Path, n: int, *, blank: Sequence[int] = ()) -> Path:
    return write_lines(path, ("" if i in blank else "Sie ist Ärztin." for i in range(n)))


def test_sources_are_printed_one_a_line() -> None:
    examples = load_examples(*_SIMPLEGEN)
    assert run_command("sources", *_SIMPLEGEN).stdout.splitlines() == [e.source for e in examples]


def test_a_language_pair_is_a_configuration_of_a_set_with_several(shared: Path) -> None:
    pair = run_command("sources", "winomt", "en-de", "--data-dir", shared / "upstream").stdout
    assert pair == run_command("sources", "winomt", "--data-dir", shared / "upstream").stdout != ""


def test_sources_go_to_a_file_with_ids_if_it_is_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "en.jsonl"
    shown = run_command("sources", *_SIMPLEGEN, "--limit", "3", "-o", path).stderr
    assert f"written: {path}, 3 sources" in shown
    rows = read_jsonl(path)
    sources = {e.id: e.source for e in load_examples(*_SIMPLEGEN)}
    assert rows == [{"id": row["id"], "source": sources[row["id"]]} for row in rows]


def test_a_source_of_several_lines_is_refused_in_a_list_of_lines(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "cooks.jsonl", [{"source": "The cook\nleft.", "focus": "cook", "gold": "male"}]
    )
    assert "has more than one line" in run_command("sources", path, status=2).stderr
    run_command("sources", path, "-o", tmp_path / "out.jsonl")


def test_a_first_look_says_so_in_notes_and_signature_and_cannot_be_compared(tmp_path: Path) -> None:
    whole, look = tmp_path / "whole.json", tmp_path / "look.json"
    file = translations(tmp_path / "de.txt", 2664)
    run_command(*_EVALUATE, f"Whole={file}", "-o", whole)
    shown = run_command(*_EVALUATE, file, "-o", look, "--limit", "20")
    assert "only 20 examples were judged" in " ".join(shown.stdout.split())
    result = EvaluationResult.from_json(look.read_text(encoding="utf-8"))
    assert result.n == 20
    assert "data:simplegen/en-de[20 by category]@1.0.0|" in result.signature
    assert "by category" not in whole.read_text(encoding="utf-8")
    assert "[20 by category]" in run_command("compare", whole, look, status=2).stderr
    refused = run_command(f"publish results {look} --repo me/mt --dataset-repo a/b", status=2)
    assert "expected a result on all examples, got a first look at 20" in refused.stderr
    run_command("report", look, "--html", tmp_path / "look.html")


def test_a_limit_beyond_the_examples_changes_nothing() -> None:
    limited = load_material(*_SIMPLEGEN, limit=10_000)
    assert limited.origin == load_material(*_SIMPLEGEN).origin
    assert not limited.limit_notes


def test_standard_input_and_output_serve_for_files(tmp_path: Path) -> None:
    file = translations(tmp_path / "de.txt", 5)
    text = file.read_text(encoding="utf-8")
    piped = run_command(*_EVALUATE, "-", "-o", "-", "--limit", "5", text=text)
    result = EvaluationResult.from_json(piped.stdout)
    assert (result.n, result.system) == (5, "")
    assert "SimpleGEN" in piped.stderr
    named = run_command(*_EVALUATE, f"Ours={file}", "--limit", "5", "--json")
    assert EvaluationResult.from_json(named.stdout).system == "Ours"


def test_several_named_systems_are_judged_at_once(tmp_path: Path) -> None:
    files = [translations(tmp_path / f"{name}.txt", 2664) for name in ("a", "b")]
    folder = tmp_path / "results"
    both = [*_EVALUATE, f"First={files[0]}", "--translations", str(files[1])]
    output = run_command(*both, "-o", folder, "--json")
    assert [row["system"] for row in json.loads(output.stdout)] == ["First", "b"]
    assert sorted(path.name for path in folder.iterdir()) == ["First.json", "b.json"]
    run_command("compare", folder / "First.json", folder / "b.json")
    for name in ("First", "first"):  # of which the files are the same where case is ignored
        refused = run_command(*both, "--translations", f"{name}={files[1]}", status=2)
        assert "expected a name of its own for each system, got First" in refused.stderr
    short = translations(tmp_path / "short.txt", 3)
    refused = run_command(*both, "--translations", short, status=2)
    assert "short.txt: expected one line per example" in refused.stderr


def test_a_result_in_a_folder_has_the_name_of_its_system(tmp_path: Path) -> None:
    for name in ("ours", "beam=5"):  # a path with an equals sign is a path
        file = translations(tmp_path / f"{name}.txt", 5)
        output = run_command(*_EVALUATE, file, "--limit", "5", "-o", tmp_path, "--json")
        assert json.loads(output.stdout)["system"] == name
    assert (tmp_path / "ours.json").is_file()


_LISTS = ("list", "list datasets mucow", "list metrics contrastive_conditioning")


@pytest.mark.parametrize(
    "arguments", [*((line,) for line in _LISTS), *study_commands(lambda cases: cases.tables)]
)
def test_tables_fit_80_columns_and_are_whole_in_a_file(arguments: tuple[str, ...]) -> None:
    piped = run_command(*arguments).stdout
    shown = invoke(*arguments, columns=80).stdout
    assert "…" not in piped + shown
    assert max(map(len, shown.splitlines())) <= 80
    # Heads are folded, and columns are repeated where a wide table is continued below.
    whole, folded = (Counter("".join(text.split()).replace("─", "")) for text in (piped, shown))
    assert not whole - folded
    assert {*re.findall(r" \d+\.\d+ ", piped)} <= {*re.findall(r" \d+\.\d+ ", f"{shown} ")}


@pytest.mark.parametrize("command", [*_LISTS, "list metrics", "cache"])
def test_json_is_printed_in_place_of_tables(command: str) -> None:
    assert json.loads(run_command(command, "--json").stdout)


@pytest.mark.parametrize("command", [(), ("evaluate",), ("score",), ("study",)])
def test_the_short_flag_shows_the_help(command: tuple[str, ...]) -> None:
    assert run_command(*command, "-h").stdout == run_command(*command, "--help").stdout


def test_the_shell_can_complete_commands() -> None:
    words = {"_CC_HF_COMPLETE": "complete_bash", "COMP_WORDS": "cc-hf sou", "COMP_CWORD": "1"}
    program = [sys.executable, "-c", "from cc_hf.cli.main import app; app(prog_name='cc-hf')"]
    completed = subprocess.run(program, capture_output=True, env={**os.environ, **words})
    assert completed.stdout.split() == [b"sources"]


def test_quiet_keeps_warnings_about_the_data_and_drops_notes(tmp_path: Path) -> None:
    sources = [example.source for example in load_examples(*_SIMPLEGEN)]
    file = write_lines(tmp_path / "de.txt", [*sources[:-1], "", ""])
    arguments = (*_EVALUATE, file, "-o", tmp_path / "a.json")
    loud, quiet = run_command(*arguments), run_command(*arguments, "-q")
    assert "written: " in loud.stderr
    assert "written: " not in quiet.stderr
    for actual in (loud, quiet):
        assert "warning: 2,663 of 2,664 translations contain their whole source" in actual.stderr
        assert "warning: 1 of 2,664 translations are blank" in actual.stderr


@pytest.mark.parametrize(("shift", "is_warned"), [(0, False), (500, True)])
def test_other_sentences_are_noticed(tmp_path: Path, shift: int, is_warned: bool) -> None:
    sources = [example.source[1:] for example in load_examples(*_SIMPLEGEN)]
    file = write_lines(tmp_path / "de.txt", [*sources[shift:], *sources[:shift]])
    output = run_command(*_EVALUATE, file, "--quiet")
    assert ("sources hardly go together (r = " in output.stderr) is is_warned


def test_a_blank_translation_is_an_error_or_incorrect(tmp_path: Path) -> None:
    file = translations(tmp_path / "de.txt", 2664, blank=(1, 2663))
    arguments = ("evaluate", *_SIMPLEGEN, "--translations", file, "--limit", "6")
    refused = run_command(*arguments, status=2)
    assert "1 of 6 translations are blank; the first is that of example" in refused.stderr
    assert "`--option` on_blank=incorrect" in refused.stderr
    output = run_command(*arguments, "--option", "on_blank=incorrect", "--json")
    result = EvaluationResult.from_json(output.stdout)
    judgement = result.judgements[1]
    assert (judgement.verdict, judgement.probability_correct) == ("incorrect", 0.0)
    assert judgement.score_correct is None
    assert result.counts["n_blank"] == 1
    assert "|blank:incorrect|" in result.signature


def test_a_translation_that_is_too_long_is_an_error_or_incorrect(tmp_path: Path) -> None:
    lines = ["Sie ist Ärztin. " * (400 if i == 1 else 1) for i in range(4)]
    file = write_lines(tmp_path / "de.txt", lines)
    arguments = ("evaluate", *_SIMPLEGEN, "--translations", file, "--limit", "4")
    refused = run_command(*arguments, status=2)
    assert "row 1: the translation has" in refused.stderr
    assert "2 pairs are too long" in refused.stderr
    output = run_command(*arguments, "--evaluator-option", "on_too_long=incorrect", "--json")
    result = EvaluationResult.from_json(output.stdout)
    assert [j.verdict for j in result.judgements][1] == "incorrect"
    assert result.counts["n_too_long"] == 1
    assert "|toolong:incorrect|" in result.signature
    assert "1 of 4 translations are too long for the evaluator" in output.stderr


@pytest.mark.parametrize("form", ["lines", "sources", "blank"])
def test_files_as_long_as_winomt_are_accepted(tmp_path: Path, shared: Path, form: str) -> None:
    upstream = shared / "upstream"
    whole = load_examples("winomt", "all", data_dir=upstream)
    made = {e.id: f"Satz {e.id}." for e in whole}
    lines = [made[e.id] if form == "lines" else f"{e.source} ||| {made[e.id]}" for e in whole]
    if form == "blank":
        lines.insert(100, "")
    path = write_lines(tmp_path / "de.txt", lines)
    for config in ("default", "pro"):
        material = load_material("winomt", config, tgt_lang="de", data_dir=upstream)
        lengths = material.translated_lines()
        matched = read_translations(path, material.examples, other_lengths=lengths)
        assert matched.translations == tuple(made[e.id] for e in material.examples)
        assert config == "pro" or matched.n_unused == 240


def test_files_of_the_length_of_mucow_are_accepted(tmp_path: Path, shared: Path) -> None:
    path = write_lines(tmp_path / "de.txt", (f"Satz {i}." for i in range(3337)))
    material = load_material("mucow", "en-de", data_dir=shared / "upstream")
    matched = read_translations(path, material.examples, other_lengths=material.translated_lines())
    assert matched.translations == tuple(f"Satz {e.id}." for e in material.examples)
    assert (len(matched.translations), matched.n_unused) == (3334, 3)
