"""Language models asked in words as judges: planted biases, and choices by position."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from cc_hf.asking.plans import plan_choices
from cc_hf.data.files.custom import read_custom
from cc_hf.results import EvaluationResult, Interval
from cc_hf.studies.metric_bias.audit import audit_of_choices
from cc_hf.studies.metric_bias.choices import Choices, questions
from cc_hf.studies.metric_bias.sets import Pair, Sets
from tests.helpers.command_line import run_command
from tests.helpers.lines import write_jsonl
from tests.helpers.refusals import refuses
from tests.helpers.respondents import Rule, always, failing_each, right, run_choices

_TEXTS = [(str(i), f"Er, {i}", f"Sie, {i}") for i in range(200)]
_OPEN = [Pair(*row, {"": f"They, {row[0]}"}, "male" * (i % 2)) for i, row in enumerate(_TEXTS)]
_KNOWN = [Pair(*row, {"male": f"He, {row[0]}", "female": f"She, {row[0]}"}) for row in _TEXTS]
_SETS = Sets({"own": _OPEN}, {"known": _KNOWN}, {}, ())


def _asked(folder: Path, *rules: Rule, both: bool = True) -> list[EvaluationResult]:
    rows = list(questions(_SETS, src_lang="en", tgt_lang="de"))
    examples = list(read_custom(write_jsonl(folder / "asked.jsonl", rows)))
    plan = plan_choices(examples, n_shots=0, both_orders=both)
    return [
        run_choices(plan, examples, rule, folder / f"{i}.{both}.jsonl")
        for i, rule in enumerate(rules)
    ]


def test_planted_biases_are_measured(tmp_path: Path) -> None:
    def rule(seed: int) -> Rule:
        # The masculine is chosen in 70 % of open pairs, and women are misread in 20 %.
        shares = np.repeat((0.7, 1.0, 0.8), 200)
        flags = np.random.default_rng(seed).random(600) < shares
        return lambda row, answer: always(answer if flags[row // 2] else f"{3 - int(answer)}")(
            0, ""
        )

    hits = 0
    for result in _asked(tmp_path, *map(rule, range(20))):
        made = audit_of_choices(result)
        lean, wrong = made.open_sets["own"], made.known_sets["known"]
        assert (lean.n_ties, wrong.masculine.value, made.calibration) == (0, 0.0, {})
        assert (lean.probability, lean.ratio, wrong.by_source) == (None, None, {})
        for measured, expected in ((lean.masculine, 0.7), (wrong.feminine, 0.2)):
            assert isinstance(measured.interval, Interval)
            hits += measured.interval.low <= expected <= measured.interval.high
    assert hits >= 35  # of 40; 38 are expected


def test_a_choice_by_position_is_no_preference(tmp_path: Path) -> None:
    both = audit_of_choices(_asked(tmp_path, always("1"))[0])
    assert both.choices == Choices(600, 0, 600, 1.0)
    assert both.open_sets["own"].n_ties == 200
    assert both.known_sets["known"].total == 1.0  # a tie is an error
    (result,) = _asked(tmp_path, always("1"), both=False)
    given = audit_of_choices(result)
    assert given.choices == Choices(600, 0, None, 1.0)
    lean = given.open_sets["own"]
    assert {lean.masculine.value, lean.by_referent["male"].value} == {0.5}
    assert given.known_sets["known"].total == 0.5
    (tmp_path / "c.json").write_text(result.to_json(), encoding="utf-8")
    shown = run_command("study metric_bias audit --scores c.json", cwd=tmp_path)
    assert "asked in one order of the options" in shown.stderr
    assert "first option is named by 100.0 of 100 valid" in shown.stdout


def test_missing_answers_are_ties_and_other_results_are_refused(tmp_path: Path) -> None:
    (result,) = _asked(tmp_path, failing_each(4, right), both=False)
    made = audit_of_choices(result)
    assert made.choices is not None
    assert (made.choices.n_invalid, made.open_sets["own"].n_ties) == (150, 50)
    first, *others = result.judgements
    for message, changed in {
        "choices of prompted_choice, got own": {"metric": "own"},
        "pair 0: expected both sources, got female": {"judgements": others[200:]},
        "'7': expected an id of a set": {"judgements": [replace(first, example_id="7")]},
        "no demonstrations from": {"signature": "choice|shots:6|demos:data.0"},
    }.items():
        refuses(message, audit_of_choices, replace(result, **changed))  # type: ignore[arg-type]
