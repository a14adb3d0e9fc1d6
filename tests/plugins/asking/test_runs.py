import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from cc_hf.comparing.systems import compare
from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluation.material import Material
from cc_hf.plugins.asking.conversations import Reply
from cc_hf.plugins.asking.plans import Plan, plan_choices, plan_translations
from cc_hf.plugins.asking.prompted_choice import PromptedChoice
from cc_hf.plugins.asking.prompting.replies import FileRespondent
from cc_hf.plugins.asking.runs import ask_plan, choices_of_run, kept_replies, translations_of_run
from cc_hf.plugins.asking.tables import translation_tables
from cc_hf.reports.tables.base import result_table
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import Bootstrap
from tests.helpers.forged import forged_files
from tests.helpers.usual import (
    EN_DE,
    cases,
    evaluate_metric,
    fails,
    printed,
    read_jsonl,
    refuses,
    write_jsonl,
)
from tests.plugins.asking import respondents as by

N = 100


def given(rows: list[Example], task: str = "choose", **options: Any) -> tuple[str, Material, Plan]:
    """Return a task with what is asked, as `ask_plan` takes them."""
    plans: Any = {"choose": plan_choices, "translate": partial(plan_translations, **EN_DE)}
    plan: Plan = plans[task](rows, **options)
    return task, Material("en", "de", rows), plan


def test_a_model_that_always_names_the_first_option_has_its_share(tmp_path: Path) -> None:
    rows = by.schemas()
    plan = plan_choices(rows, n_shots=0)
    scores = by.run_choices(plan, rows, by.always("1"), tmp_path / "a").scores
    assert scores["accuracy"] == scores["valid_accuracy"] == 0.75
    assert scores["first_rate"] == scores["position_gap"] == 1
    assert scores["pair_accuracy"] == 0.5
    both = plan_choices(rows, n_shots=0, both_orders=True)
    result = by.run_choices(both, rows, by.always("1"), tmp_path / "b.jsonl")
    assert result.n == result.counts["n_inconsistent"] == N
    assert result.scores["consistency"] == result.scores["accuracy"] == 0
    assert result.scores["valid_accuracy"] == 0.5
    scores = by.run_choices(both, rows, by.right, tmp_path / "c.jsonl").scores
    assert scores["consistency"] == scores["accuracy"] == 1
    assert scores["position_gap"] == 0


def test_figures_over_answers_leave_out_a_sample_with_one_valid_answer_and_say_so() -> None:
    row, texts = {"answer": "1", "orders": "both"}, ("Translation 2", "I cannot tell.")
    references = [{**row, "swapped_reply": text} for text in texts]
    figures = evaluate_metric("prompted_choice", ["Translation 1"] * 2, references).scores
    names = ("valid_rate", "valid_accuracy", "first_rate")
    assert [figures[name] for name in names] == [0.5, 1, 0.5]
    for name in ("valid_accuracy", "valid_accuracy_*", "first_rate", "position_gap"):
        assert "both" in PromptedChoice.figure_names[name].meaning


def test_a_second_run_on_one_file_is_refused_before_it_asks(tmp_path: Path) -> None:
    rows, path = by.schemas(4), tmp_path / "a.jsonl"
    plan, asked = plan_choices(rows, n_shots=0), []

    def rule(*args: Any) -> Any:
        asked.append(1)
        message = r"no other run is writing, got .*a\.jsonl"
        refuses(message, by.run_choices, plan, rows, lambda *_: asked.append(2), path)
        return by.right(*args)

    assert by.run_choices(plan, rows, rule, path).scores["accuracy"] == 1
    assert asked == [1] * 4
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_refusals_and_failures_are_counted_by_category(tmp_path: Path) -> None:
    rows = by.schemas()
    rule = by.failing_each(20, by.refusing_each(10, by.right_by_hash))
    result = by.run_choices(plan_choices(rows, n_shots=0), rows, rule, tmp_path / "a.jsonl")
    wrong = {i for i in range(N) if hashlib.sha256(str(i).encode()).digest()[0] % 5 == 0}
    failed = set(range(19, N, 20))
    invalid = set(range(9, N, 10)) - failed
    n_right, n_valid = N - len(wrong | failed | invalid), N - len(failed | invalid)
    assert len(failed) == len(invalid) == 5
    assert result.counts["n_failed"] == result.counts["n_invalid"] == 5
    assert result.scores["accuracy"] == n_right / N
    assert result.scores["valid_accuracy"] == pytest.approx(n_right / n_valid)
    for name in ("failed_rate", "invalid_rate"):  # all of them have odd numbers
        assert [result.scores[f"{name}_{gender}"] for gender in ("male", "female")] == [0.1, 0]
    assert EvaluationResult.from_json(result.to_json()) == result


def test_replies_that_were_cut_are_counted_and_kept(tmp_path: Path) -> None:
    rows, path = by.schemas(), tmp_path / "a.jsonl"
    plan = plan_choices(rows, n_shots=0)
    whole = by.run_choices(plan, rows, by.right, tmp_path / "whole.jsonl")
    assert "n_cut" not in whole.counts
    assert not any(name.startswith("cut_rate") for name in whole.scores)
    result = by.run_choices(plan, rows, by.cutting_each(10, by.right), path)
    assert (result.counts["n_cut"], result.scores["accuracy"]) == (10, 1)
    names = ("cut_rate", "cut_rate_male", "cut_rate_female")
    assert [result.scores[name] for name in names] == [0.1, 0.2, 0]  # all have odd numbers
    assert "The replies to 10 of 100 samples were cut" in result.notes[0]
    assert choices_of_run(*kept_replies(path)) == result
    both = plan_choices(rows, n_shots=0, both_orders=True)
    result = by.run_choices(both, rows, by.cutting_each(4, by.right), tmp_path / "b.jsonl")
    assert result.counts["n_cut"] == 50  # of each second sample, the swapped reply
    asked = given(rows, "translate", n_shots=0)
    rule = by.cutting_each(10, lambda row, answer: Reply(f"Satz {row}"))
    replies = ask_plan(*asked, by.Scripted(asked[2], rule), tmp_path / "t.jsonl")
    translated = translations_of_run(*replies)
    assert (translated.n_cut(), translated.n_cut("male")) == (10, 10)
    assert translated.rows[9].is_cut


def test_a_run_that_is_killed_goes_on_and_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    rows, path = by.schemas(), tmp_path / "killed.jsonl"
    _, _, plan = asked = given(rows, n_shots=4)
    whole = by.run_choices(plan, rows, by.right_by_hash, tmp_path / "whole.jsonl", block_size=7)
    killed = by.Scripted(plan, by.right_by_hash, 40)
    fails(EvaluatorError, "was killed", ask_plan, *asked, killed, path, block_size=7)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": "s3')  # the process died while it wrote
    refuses("expected replies to all 96 requests, got 35", kept_replies, path)
    for n_asked in (96 - 35, 0):
        respondent = by.Scripted(plan, by.right_by_hash)
        assert choices_of_run(*ask_plan(*asked, respondent, path, block_size=7)) == whole
        assert len(respondent.asked) == n_asked
        assert choices_of_run(*kept_replies(path)) == whole


def test_failed_requests_are_asked_again_and_others_are_not(tmp_path: Path) -> None:
    rows, path = by.schemas(40), tmp_path / "a.jsonl"
    _, _, plan = asked = given(rows, n_shots=0)
    assert by.run_choices(plan, rows, by.failing_each(20, by.right), path).counts["n_failed"] == 2
    again = by.Scripted(plan, by.right)
    result = choices_of_run(*ask_plan(*asked, again, path))
    assert len(again.asked) == 2
    assert result.scores["accuracy"] == 1
    assert choices_of_run(*kept_replies(path)) == result
    other = plan_choices(rows, n_shots=2)
    refuses(r"got some with another .*demonstrations", by.run_choices, other, rows, by.right, path)


@pytest.mark.parametrize("seed", range(3))
def test_no_schema_of_a_demonstration_is_asked(seed: int) -> None:
    rows = by.schemas(20)
    plan = plan_choices(rows, n_shots=6, seed=seed)
    assert (len(plan.requests), len(plan.left_out)) == (14, 6)
    shown = {question for question, _ in plan.prompt.demonstrations}
    assert not shown & {request.conversation[-1].content for request in plan.requests}
    left = {name.partition("-")[0] for name in plan.left_out}
    assert len(left) == 3
    assert not left & {request.reference["pair"] for request in plan.requests}
    assert plan_choices(rows, n_shots=6, seed=seed) == plan
    refuses("shots: expected fewer", plan_choices, rows, n_shots=20)
    refuses("shots: expected an even number", plan_choices, rows, n_shots=3)


def test_strategies_are_compared_on_samples_that_are_valid_in_both(tmp_path: Path) -> None:
    rows, rule = by.schemas(), by.refusing_each(10, by.always("1"))
    plan = plan_choices(rows, n_shots=4)
    basic = by.run_choices(plan, rows, by.right_by_hash, tmp_path / "a.jsonl")
    other = by.run_choices(plan_choices(rows, strategy="cot"), rows, rule, tmp_path / "b.jsonl")
    assert (basic.n, other.n) == (96, 100)
    results = {"basic": basic, "cot": other}
    refuses("has no judgement of 4", compare, results, n_resamples=20)
    compared = compare(results, n_resamples=20, shared="decided", lists_right_alone=True)
    valid = [[j for j in r.judgements if j.verdict != "inconclusive"] for r in results.values()]
    first, second = ({j.example_id: j.is_correct for j in judged} for judged in valid)
    shared = first.keys() & second.keys()
    (pair,) = compared.systems
    assert pair.n == len(shared) < 91
    assert compared.left_out == {"basic": 96 - pair.n, "cot": 100 - pair.n}
    shares = [sum(table[name] for name in shared) / len(shared) for table in (first, second)]
    assert pair.differences["accuracy"].difference == pytest.approx(shares[1] - shares[0])
    alone = {name for name in shared if second[name] and not first[name]}
    assert set(compared.right_alone["cot"]) == alone
    assert pair.mcnemar.n_only_second == len(alone)


def test_a_file_of_replies_answers_by_id(tmp_path: Path) -> None:
    _, _, plan = asked = given(by.schemas(6), n_shots=0)
    kept = [{"id": r.id, "text": f"Translation {r.reference['answer']}"} for r in plan.requests]
    kept[1] = {"id": plan.requests[1].id, "error": "timed out"}
    kept.append({"id": "other", "text": "Translation 1"})
    path = write_jsonl(tmp_path / "replies.jsonl", kept)
    respondent = FileRespondent(path)
    result = choices_of_run(*ask_plan(*asked, respondent, tmp_path / "kept.jsonl"))
    assert (result.counts["n_correct"], result.counts["n_failed"]) == (5, 1)
    assert respondent.unused == {"other"}
    write_jsonl(path, kept[2:])
    run = *asked, FileRespondent(path), tmp_path / "again.jsonl"
    refuses("got none to 2 of them, such as 's0-1'", ask_plan, *run)
    good: dict[str, Any] = {"id": "a", "text": "b"}
    several = "line 3: id 'a': expected one reply, got another than on line 2"
    for lines, message in (
        ([{"id": "a"}], "line 1: expected a text, or an error"),
        ([good | {"is_cut": "no"}], "1: is_cut: expected true or false, got 'no'"),
        ([good | {"id": "c"}, good, good | {"text": "d"}], several),
    ):
        refuses(message, FileRespondent, write_jsonl(path, lines))
    described, first, *_ = read_jsonl(tmp_path / "kept.jsonl")
    write_jsonl(path, [described, first, first | {"text": "another"}])
    refuses("got another than on line 2", kept_replies, path)


@cases("translate", "choose")
def test_a_blank_source_is_refused_by_its_row(task: str) -> None:
    rows = by.schemas(8)
    rows[3] = replace(rows[3], source=" \u200b")
    refuses(f"example {rows[3].id}: source: expected a text .* got a blank", given, rows, task)


def test_translations_are_taken_out_and_the_others_counted(tmp_path: Path) -> None:
    _, _, plan = asked = given(by.schemas(20), "translate", n_shots=2)
    assert (plan.n_shots, len(plan.requests), len(plan.left_out)) == (2, 18, 2)
    rule = by.failing_each(9, by.refusing_each(5, lambda row, answer: Reply(f'"Satz {row}."')))
    replies = ask_plan(*asked, by.Scripted(plan, rule), tmp_path / "a.jsonl")
    translated = translations_of_run(*replies)
    assert translated.counts() == {"valid": 13, "invalid": 3, "failed": 2}
    assert translated.rows[0].translation == "Satz 0."
    assert translated.reasons() == {"the reply is a refusal or an explanation": 3, "timed out": 2}
    refuses("expected a run of choices", choices_of_run, *replies)


@cases(("choose", {"both_orders": True}), ("translate", {}))
@patch("os.fsync", lambda _: None)
def test_forged_replies_are_refused_or_read(task: str, options: Any, tmp_path: Path) -> None:
    _, _, plan = asked = given(by.schemas(8), task, n_shots=2, **options)
    kept, forged = tmp_path / "kept.jsonl", tmp_path / "forged.jsonl"
    _, replies = ask_plan(*asked, by.Scripted(plan, by.right), kept)
    bootstrap = Bootstrap(n_resamples=5)

    def reparse() -> None:
        if task == "choose":
            result = choices_of_run(*kept_replies(forged), bootstrap=bootstrap)
            assert printed(result_table(result), is_whole=True)
            assert EvaluationResult.from_json(result.to_json()) == result
        else:
            translated = translations_of_run(*kept_replies(forged))
            assert printed(translation_tables(translated), is_whole=True)
            assert len(translated.rows) == len(replies)

    def answer() -> None:
        FileRespondent(forged).reply_by_id([request.id for request in plan.requests])

    def go_on() -> None:
        ask_plan(*asked, by.Scripted(plan, by.right), forged)

    def outcome(use: Callable[[], None]) -> str:
        try:
            use()
        except InputError as error:
            return "refused" if str(forged) in str(error) else str(error)
        except Exception as error:  # noqa: BLE001 - it is what the test looks for
            return repr(error)
        return "read"

    counts = Counter()  # type: Counter[tuple[str, str]]
    for name, content in forged_files(kept.read_bytes(), lines=(0, 1)):
        for use in (reparse, answer, go_on):
            forged.write_bytes(content)
            counts[use.__name__, actual := outcome(use)] += 1
            assert actual in ("read", "refused"), f"{use.__name__} of a file with {name}"
    assert min(counts.values()) > 50


@pytest.mark.parametrize("lang", ["de", "fr", "ru"])
def test_swapped_samples_give_the_same_accuracy(shared: Path, tmp_path: Path, lang: str) -> None:
    from cc_hf.test_sets.wino_x.reader import examples_of

    results = []
    for kind in ("thesis", "swapped"):
        recorded = read_jsonl(shared / f"gold/wino_x/mt_wino_x_en_{lang}.{kind}.jsonl")
        numbered = ((str(i), row) for i, row in enumerate(recorded))
        rows = list(examples_of(numbered, f"mt_en_{lang}.translations"))
        plan = plan_choices(rows, n_shots=0)
        results.append(by.run_choices(plan, rows, by.right_by_hash, tmp_path / f"{kind}.jsonl"))
    first, second = results
    assert first.scores["accuracy"] == second.scores["accuracy"]
    assert [j.verdict for j in first.judgements] == [j.verdict for j in second.judgements]
