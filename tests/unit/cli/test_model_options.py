"""The options --kind and --prompt, run in this process: starting one costs more than the work."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cc_hf.cli.main import app
from cc_hf.errors import CCError, InputError, UnknownNameError
from cc_hf.results import EvaluationResult
from tests.helpers.families import BUILDERS
from tests.helpers.metrics import compute_metric, evaluate_dataset


def invoke(*arguments: str | Path, error: type[Exception] | None = None) -> Result:
    found = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "100"})
    assert type(found.exception) is (error or type(None)), found.output
    return found


@pytest.fixture
def bats(tmp_path: Path) -> Path:
    """Write a user dataset, translations, and words with candidates."""
    (tmp_path / "bats.csv").write_text(
        "source,focus,correct_cues,incorrect_cues,tgt_lang\nThe bat was"
        " old.,bat,baseball,flying,de\n",
        encoding="utf-8",
    )
    (tmp_path / "t.txt").write_text("Der Schläger war alt.\n", encoding="utf-8")
    words = [
        f"A bat was {what}.,bat,{sense},Ein {sense} war da.,de"
        for what, sense in (("old", "club"), ("alive", "animal"))
    ]
    (tmp_path / "words.csv").write_text(
        "\n".join(["source,focus,gold,reference,tgt_lang", *words]) + "\n", encoding="utf-8"
    )
    (tmp_path / "c.json").write_text(
        json.dumps({"bat": {"club": ["baseball"], "animal": ["flying"]}}), encoding="utf-8"
    )
    return tmp_path


def verbs(folder: Path, model: Path | str) -> dict[str, tuple[str | Path, ...]]:
    return {
        "evaluate": (
            "evaluate",
            folder / "bats.csv",
            "--translations",
            folder / "t.txt",
            "--evaluator",
            model,
            "-q",
        ),
        "translate": (
            "translate",
            folder / "bats.csv",
            "--system",
            model,
            "-o",
            folder / "out.txt",
            "-q",
        ),
        "cues build": (
            "cues",
            "build",
            folder / "words.csv",
            "--candidates",
            folder / "c.json",
            "--evaluator",
            model,
            "-q",
        ),
    }


def test_the_prompt_reaches_the_language_model(bats: Path) -> None:
    (bats / "lm").mkdir()
    model = BUILDERS["causal_lm"](bats / "lm")
    results = []
    for prompt in ("Translate {source}\n", "{source}\n"):
        invoke(
            *verbs(bats, model)["evaluate"],
            "--prompt",
            prompt,
            *f"--kind causal_lm -o {bats}/r.json".split(),
        )
        results.append(EvaluationResult.from_json((bats / "r.json").read_text(encoding="utf-8")))
        assert results[-1] == evaluate_dataset(
            str(bats / "bats.csv"), translations=bats / "t.txt", evaluator=model, prompt=prompt
        )
    assert results[0].signature != results[1].signature
    assert "|prompt:" in results[0].signature
    assert results[0].judgements[0].score_correct != results[1].judgements[0].score_correct


@pytest.mark.parametrize("verb", ["evaluate", "translate", "cues build"])
def test_unfit_kinds_and_prompts_are_refused(
    bats: Path, tiny_marian: Path, tmp_path_factory: pytest.TempPathFactory, verb: str
) -> None:
    found = invoke(*verbs(bats, tiny_marian)[verb], "--kind", "marina", error=UnknownNameError)
    assert "unknown evaluator family 'marina'; did you mean 'marian'" in str(found.exception)
    found = invoke(*verbs(bats, tiny_marian)[verb], "--kind", "t5", error=InputError)
    assert "which 't5' does not fit; expected 'marian'" in str(found.exception)
    if verb == "cues build":  # without a prompt of its own
        return
    found = invoke(*verbs(bats, tiny_marian)[verb], "--prompt", "{source}", error=InputError)
    assert "is of the family marian, which takes none" in str(found.exception)
    t5 = BUILDERS["t5"](tmp_path_factory.mktemp("t5"))
    found = invoke(*verbs(bats, t5)[verb], "--prompt", "{sauce}", error=InputError)
    assert "expected the fields source, src_lang, tgt_lang, src_name, tgt_name, got 'sauce'" in str(
        found.exception
    )


def test_the_metric_takes_kind_and_prompt(bats: Path, tiny_marian: Path) -> None:
    compute = functools.partial(compute_metric, "contrastive_conditioning")

    reference = {
        "correct_sources": ["The baseball bat."],
        "incorrect_sources": ["The flying bat."],
        "category": "bat",
    }
    wrong: tuple[dict[str, Any], ...] = ({"kind": "marina"}, {"prompt": "{source}"})
    for options in wrong:
        with pytest.raises(CCError, match=r"unknown evaluator family|which takes none"):
            compute(["Der Schläger."], [reference], evaluator=tiny_marian, **options)
