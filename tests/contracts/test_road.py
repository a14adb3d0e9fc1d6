"""The number of files between an entry point and the model, and the number of registry lookups."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cc_hf
from cc_hf import registry
from cc_hf.cli.main import app
from cc_hf.evaluators.fast.packed import PackedModel

SOURCES = "source,focus,correct_cues,incorrect_cues,category,tgt_lang\n"
ROW = "The bat was old.,bat,baseball,flying,bat,de\n"


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record, each time that a model runs, the files of cc_hf on the stack, the innermost first."""
    package, found = Path(cc_hf.__file__).parent, list[list[str]]()
    run = PackedModel.logprobs

    def recorded(self: PackedModel, *sides: Any, **options: Any) -> Any:
        frame, files = sys._getframe(1), dict[str, None]()
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(package):
                files[str(path.relative_to(package))] = None
            frame = frame.f_back  # type: ignore[assignment]
        found.append(list(files))
        return run(self, *sides, **options)

    monkeypatch.setattr(PackedModel, "logprobs", recorded)
    return found


def test_the_command_line_reaches_the_model_through_few_files(
    tmp_path: Path, tiny_marian: Path, stacks: list[list[str]]
) -> None:
    (tmp_path / "bats.csv").write_text(SOURCES + ROW, encoding="utf-8")
    (tmp_path / "t.txt").write_text("Der Schläger war alt.\n", encoding="utf-8")
    result = CliRunner().invoke(
        app,
        [
            "evaluate",
            str(tmp_path / "bats.csv"),
            *("--translations", str(tmp_path / "t.txt")),
            *("--evaluator", str(tiny_marian)),
            *("--mode", "exact", "--no-cache", "--quiet"),
        ],
        catch_exceptions=False,
    )
    assert result.exit_code == 0
    below = [file for file in stacks[0] if file not in ("cli/main.py", "cli/__main__.py")]
    assert below == [
        "evaluators/families/seq2seq.py",
        "evaluators/base.py",
        "evaluators/contests.py",
        "evaluation/judging.py",
        "evaluation/evaluate.py",
        "cli/evaluate.py",
    ]


def test_the_evaluate_module_reaches_the_model_through_few_files(
    tiny_marian: Path, stacks: list[list[str]]
) -> None:
    reference = {
        "correct_sources": ["The baseball bat was old."],
        "incorrect_sources": ["The flying bat was old."],
        "category": "bat",
    }
    cc_hf.load_metric("contrastive_conditioning").compute(
        predictions=["Der Schläger war alt."],
        references=[reference],
        evaluator=str(tiny_marian),
        mode="exact",
        src_lang="en",
        tgt_lang="de",
    )
    assert stacks[0] == [
        "evaluators/families/seq2seq.py",
        "evaluators/base.py",
        "evaluators/contests.py",
        "evaluation/judging.py",
    ]


def test_one_evaluation_looks_up_the_dataset_declaration_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lookups, resolve = list[str](), registry.resolve

    def counted(kind: str, name: str) -> Any:
        if kind == "dataset":
            lookups.append(name)
        return resolve(kind, name)

    monkeypatch.setattr(registry, "resolve", counted)
    cc_hf.evaluate_all(
        cc_hf.load_material("simplegen", "en-de"),
        translations=["Sie ist Ärztin."] * 2664,
        evaluator=lambda sources, translations: [1.0] * len(sources),
    )
    assert lookups == ["simplegen"]
