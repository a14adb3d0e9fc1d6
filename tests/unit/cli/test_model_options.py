"""Settings of models, run in this process: starting one costs more than the work."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cc_hf.cli.options import EvaluatorFields
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.results import EvaluationResult
from tests.helpers.families import BUILDERS
from tests.helpers.usual import (
    cases,
    cc_hf,
    evaluate_dataset,
    printed_by,
    refuses,
    write_jsonl,
    write_lines,
)


@pytest.fixture
def bats(tmp_path: Path) -> Path:
    """Write a user dataset, translations, and words with candidates."""
    senses = {"club": ["baseball"], "animal": ["flying"]}
    words = [f"A bat was here.,bat,{sense},Ein {sense} war da.,de" for sense in senses]
    write_lines(
        tmp_path / "bats.csv", ["source,focus,gold,tgt_lang", "The nurse left.,nurse,male,de"]
    )
    write_lines(tmp_path / "t.txt", ["Der Pfleger ging."])
    write_lines(tmp_path / "words.csv", ["source,focus,gold,reference,tgt_lang", *words])
    return write_jsonl(tmp_path / "c.json", [{"bat": senses}]).parent


_JUDGE = "--evaluator-option"
_VERBS = {
    "evaluate": "evaluate {0}/bats.csv --translations {0}/t.txt -q --evaluator",
    "translate": "translate {0}/bats.csv -o {0}/out.txt -q --system",
    "cues build": "cues build {0}/words.csv --candidates {0}/c.json -q --evaluator",
}


def test_the_prompt_reaches_the_language_model(bats: Path) -> None:
    (bats / "lm").mkdir()
    model = BUILDERS["causal_lm"](bats / "lm")
    results = []
    for prompt in ("Translate {source}\n", "{source}\n"):
        options = (_JUDGE, "kind=causal_lm", "-o", bats / "r.json", _JUDGE, f"prompt={prompt}")
        printed_by(_VERBS["evaluate"].format(bats), model, *options)
        results.append(EvaluationResult.from_json((bats / "r.json").read_text(encoding="utf-8")))
        given: Any = {"translations": bats / "t.txt", "evaluator": model, "prompt": prompt}
        assert results[-1] == evaluate_dataset(str(bats / "bats.csv"), **given)
    assert results[0].signature != results[1].signature
    assert "|prompt:" in results[0].signature
    assert results[0].judgements[0].score_correct != results[1].judgements[0].score_correct


def test_unfit_kinds_and_prompts_are_refused(bats: Path, tiny_marian: Path) -> None:
    (bats / "t5").mkdir()
    t5 = BUILDERS["t5"](bats / "t5")
    fields = "expected the fields source, src_lang, tgt_lang, src_name, tgt_name, got 'sauce'"
    cases: list[tuple[Path, str, str]] = [
        (tiny_marian, "kind=marina", "unknown evaluator family 'marina'; did you mean 'mari"),
        (tiny_marian, "kind=t5", "which 't5' does not fit; expected 'marian'"),
        (tiny_marian, "prompt={source}", "is of the family marian, which takes none"),
        (t5, "prompt={sauce}", fields),
    ]
    for verb, (model, setting, message) in product(_VERBS, cases):
        flag = "--system-option" if verb == "translate" else _JUDGE
        if verb == "cues build" and setting.startswith("prompt"):  # it has no prompt of its own
            message = "unknown key of --evaluator-option 'prompt'"
        refuses(message, printed_by, _VERBS[verb].format(bats), model, flag, setting)


@cases(
    ("--evaluator-option batch_tokens=x", "batch_tokens: expected a whole number, got 'x'"),
    ("--evaluator-option batch_tokens=0", "batch_tokens: expected an integer of at least 1"),
    ("--evaluator-option mode", "--evaluator-option: expected KEY=VALUE, got 'mode'"),
    ("--evaluator-option mode=exact --evaluator-option mode=bf16", "mode: expected one value"),
    ("--evaluator-option mood=exact", "unknown key of --evaluator-option 'mood'; did you mean"),
    ("--system-option context=x", "separator: expected `model` with it"),
    ("--mode exact", "--mode: expected --evaluator-option mode=VALUE in its place"),
)
def test_settings_that_do_not_fit_are_refused(options: str, message: str, bats: Path) -> None:
    refuses(message, printed_by, _VERBS["evaluate"].format(bats), "cc-tiny-en-de", *options.split())


#: Fields that are no options of an evaluator on the command line -> what says it there.
_SAID_OTHERWISE = {
    "src_lang": "--language-pair",
    "tgt_lang": "--language-pair",
    "distributed": "torchrun",
    "part": "--part",
}


def test_every_field_of_loading_is_an_option_or_is_said_otherwise() -> None:
    fields = EvaluatorFields
    options = {*f"{fields.names} {fields.rare} {fields.settings}".split()}
    assert options | _SAID_OTHERWISE.keys() == {*LoadingOptions.names()}
    assert options.isdisjoint(_SAID_OTHERWISE)


def test_scores_can_be_computed_in_another_precision(bats: Path, tiny_marian: Path) -> None:
    judged = cc_hf(
        f"evaluate bats.csv --translations t.txt --evaluator {tiny_marian} --json"
        " --evaluator-option dtype=bfloat16 --evaluator-option mode=exact",
        cwd=bats,
    )
    assert "|dtype:bfloat16|" in judged.stdout
