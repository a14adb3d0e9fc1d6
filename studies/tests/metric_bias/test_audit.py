"""What a judge prefers: planted biases, the figures of the spec, files and refusals."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from cc_hf_studies.metric_bias import sets as audited
from cc_hf_studies.metric_bias.audit import audit, audit_of_choices, audit_of_scores
from cc_hf_studies.metric_bias.card import judge_card
from cc_hf_studies.metric_bias.choices import Choices, questions
from cc_hf_studies.metric_bias.preference import PairShare, errors, preference
from cc_hf_studies.metric_bias.sets import Pair, Sets, published_sets, read_pairs

from benchmarks.students import student_folder
from cc_hf import signature
from cc_hf.data.files.custom import read_custom
from cc_hf.data.loading import load_examples
from cc_hf.errors import FileError, InputError
from cc_hf.evaluation.material import Material, load_material
from cc_hf.evaluators.judge_cards import judge_cards, separate_cards
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.plugins.asking.plans import plan_choices
from cc_hf.results import EvaluationResult, Interval
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.statistics.bootstrap import Bootstrap
from studies.tests.metric_bias.contract_cases import RATED, ROW
from tests.helpers.students import needs_students
from tests.helpers.usual import cases, fails, known, run_command, write_jsonl
from tests.plugins.asking.respondents import Rule, always, failing_each, right, run_choices


@cases((0.02,), (0.05,), (0.1,), (-0.05,))
def test_planted_biases_are_measured(points: float) -> None:
    leans, gaps = [], []
    for seed in range(100):
        draw = np.random.default_rng(seed)
        is_masculine = draw.random(1000) < 0.5 + points
        sizes = draw.exponential(0.1, 1000)
        scores = np.stack([np.where(is_masculine, 0, -sizes), np.where(is_masculine, -sizes, 0)], 1)
        lean = preference(scores, probabilities=np.full(1000, 0.5), bootstrap=Bootstrap(10))
        leans.append(lean.masculine.interval)

        wrong = draw.random((1000, 2)) < (0.1, 0.1 + points)  # on men, on women
        sign = np.where(wrong, -1.0, 1.0) * (1, -1)  # the masculine score minus the feminine one
        gaps.append(errors(np.stack([sign, np.zeros_like(sign)], axis=2)).gap_interval)

    for planted, intervals in ((0.5 + points, leans), (points, gaps)):
        hits = [i.low <= planted <= i.high for i in intervals if isinstance(i, Interval)]
        assert sum(hits) >= 90  # 95 are expected


def test_exchanged_genders_exchange_the_figures() -> None:
    scores = np.random.default_rng(0).random((50, 2, 2))
    original, exchanged = errors(scores), errors(scores[:, ::-1, ::-1])
    assert (original.feminine, original.masculine) == (exchanged.masculine, exchanged.feminine)
    assert original.prior_shift == pytest.approx(-exchanged.prior_shift)
    male, female = (exchanged.shift_free[gender] for gender in ("male", "female"))
    assert original.shift_free == {"male": female, "female": male}


@cases(
    pytest.param(
        "en-pt", (0.877, 0.557, 0.918, 0.812), (0.186, 0.238, 0.049, 0.133), (0.190, 0.057),
        {"copy": 50, "next": 0, "language": 0, "stop": 0}, marks=needs_students,
    ),
    # The spec left out one row of German, so that its sample of every third row is another one.
    ("en-de", None, (None, None, 0.033, 0.034), (0.273, 0.113), {"copy": 0, "next": 15, "stop": 1}),
)  # fmt: skip
def test_the_judges_at_hand_have_the_figures_of_the_spec(
    pair: str, shares: Any, shifts: Any, wrong: Any, n_passed: dict[str, int], shared: Path
) -> None:
    judge: Any = student_folder("enpt") if pair == "en-pt" else "cc-tiny-en-de"
    src_lang, tgt_lang = pair.split("-")
    sets = published_sets(src_lang, tgt_lang, shared / "upstream")
    sample = {name: pairs[::3][:300] for name, pairs in sets.open_sets.items()}
    loading = LoadingOptions(src_lang=src_lang, tgt_lang=tgt_lang, mode="exact")
    evaluator = resolve_evaluator(judge, loading)
    sets = replace(sets, open_sets=sample if shares else {})
    made = audit(evaluator, sets, src_lang=src_lang, tgt_lang=tgt_lang)

    (shipped,) = judge_cards(signature.parse(made.signature)[1]["eval"], tgt_lang)
    known = made.known_sets["MT-GenEval"]
    if shares:
        # the card in the package has the same errors; its open set is whole
        assert judge_card(made).lines[1:] == shipped.lines[1:]
        lean = made.open_sets["MT-GenEval, contexts cut off"]
        by_referent = [lean.by_referent[gender].value for gender in ("male", "female")]
        values = [lean.masculine.value, lean.probability, *by_referent]
        assert values == pytest.approx(shares, abs=0.01)
        assert (lean.median_shift, lean.mean_shift) == pytest.approx(shifts[:2], abs=0.005)

    assert (known.prior_shift, known.mean_prior_shift) == pytest.approx(shifts[2:], abs=0.005)
    assert (known.feminine.value, known.masculine.value) == pytest.approx(wrong, abs=0.01)
    assert {kind: made.guards[kind].n_passed for kind in n_passed} == n_passed

    # A preference for one gender cancels between sources, which contrastive conditioning compares.
    assert known.by_source["female"].value < known.feminine.value
    assert made.calibration["by source"].accuracy > made.calibration["by translation"].accuracy


def test_pairs_of_ones_own_are_judged_by_a_command(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "own.jsonl", [ROW, {**ROW, "id": "b", "referent": "female"}])
    words = f"study metric_bias audit cc-tiny-en-de --pairs {path}"
    assert "own.jsonl" in run_command(f"{words} -o {tmp_path / 'a.json'}").stdout

    made = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert made["open_sets"]["own.jsonl"]["masculine"]["n"] == 2
    assert list(made["open_sets"]["own.jsonl"]["by_referent"]) == ["female"]
    assert "data:own.jsonl|langs:en-de|eval:cc-tiny-en-de@" in made["signature"]

    run_command(f"{words} --card {tmp_path / 'card.json'} -q")
    _, (card,) = separate_cards([tmp_path / "card.json"])
    assert (card.languages, card.caution) == ("en-de", "")
    assert "it prefers the masculine in" in card.lines[0]
    assert "Made for the gender of people" in card.lines[-1]


def test_published_sets_are_judged_by_a_command(shared: Path) -> None:
    words = f"study metric_bias audit cc-tiny-en-de -l en-de --data-dir {shared / 'upstream'}"
    few = partial(load_material, limit=60)
    with patch("cc_hf_studies.metric_bias.sets.load_material", few):
        printed = run_command(words).stdout
    assert "MT-GenEval, contexts cut off" in printed


def test_a_judge_that_prefers_a_gender_gets_a_caution() -> None:
    masculine = [Pair(str(i), "Er", "Sie, da", {"": "They"}) for i in range(40)]
    mixed = [*masculine, *(Pair(f"{i}'", "Er, da", "Sie", {"": "They"}) for i in range(40))]
    for pairs, word in ((masculine, "masculine"), (mixed, "")):
        by_length = lambda _, texts: [1 / len(text) for text in texts]  # noqa: E731
        made = audit(by_length, Sets({"own": pairs}, {}, {}, ()), src_lang="en", tgt_lang="de")
        fails(InputError, "expected the audit of an evaluator", judge_card, made)
        named = replace(made, signature="metric_bias|eval:a@1|n:1")
        caution = judge_card(named).caution
        assert word in caution
        assert bool(word) == bool(caution)
    fails(InputError, "leaves the gender open, got none", judge_card, replace(named, open_sets={}))


def test_scores_of_any_metric_are_audited(tmp_path: Path) -> None:
    scored = {"male": 0.9, "female": 0.4}.items()
    known = [{**RATED, "setting": gender, "score_masculine": score} for gender, score in scored]
    path = write_jsonl(tmp_path / "s.jsonl", [{**RATED, "referent": "male"}, *known])
    made = audit_of_scores(path)
    lean = made.open_sets["scores"]
    assert [lean.masculine.value, lean.ratio, lean.probability] == pytest.approx([1, 0.8, 5 / 9])

    wrong = made.known_sets["scores"]
    assert (wrong.feminine.value, wrong.masculine.value) == (1.0, 0.0)  # a tie is an error
    run_command(f"study metric_bias audit --scores {path} cc-tiny-en-de", status=2)


@cases(
    (read_pairs, [{**ROW, "feminine": ROW["masculine"]}], "line 1: .*differ, got the same twice"),
    (read_pairs, [{**ROW, "referent": "x"}], "line 1: referent: expected .*male.* got 'x'"),
    (read_pairs, [{"source": "A"}], "line 1: expected the key 'masculine'"),
    (read_pairs, [], "at least one pair"),
    (audit_of_scores, [RATED, RATED], "line 2: .*'0', 'open'.* again"),
    (audit_of_scores, [{**RATED, "setting": "male"}], "id 0: expected both male and .* got male"),
    (audit_of_scores, [{**RATED, "setting": "both"}], "line 1: setting: .* female, got 'both'"),
    (audit_of_scores, [], "at least one row"),
)
def test_damaged_files_are_refused(read: Any, rows: Any, message: str, tmp_path: Path) -> None:
    fails(FileError, message, read, write_jsonl(tmp_path / "rows.jsonl", rows))


def test_sets_without_pairs_of_open_gender_are_refused() -> None:
    plain = ContrastiveTranslationExample("7", "en", "de", "A", "B", ("C",), "all", {})
    twin = replace(plain, category="male", extra={"pair": "1"})
    for call, example, message in (
        (audited.open_pairs, plain, "example 7: .*leaves the gender open"),
        (audited.open_pairs, load_examples("simplegen", "en-de")[0], "example 0: .*gender open"),
        (audited.known_pairs, plain, "example 7: .*in pairs"),
        (audited.known_pairs, twin, "pair 1: expected a male and a female row, got male"),
    ):
        fails(InputError, message, call, Material("en", "de", [example]))
    none = Sets({}, {}, {}, ())
    fails(InputError, "at least one pair", audit, len, none, src_lang="en", tgt_lang="de")
    for pair in (("en", "fi"), ("fr", "de")):
        fails(InputError, f"of your own .* for {'-'.join(pair)}", published_sets, *pair)
    sets = Sets({"own": [Pair("0", "Er.", "Sie.", {"": "A."})]}, {}, {}, ())
    made = audit(lambda s, t: [0.0] * len(s), sets, src_lang="en", tgt_lang="de").open_sets["own"]
    assert (made.probability, made.masculine) == (0.5, PairShare.of(np.array([0.5])))


_TEXTS = [(str(i), f"Er, {i}", f"Sie, {i}") for i in range(200)]
_OPEN = [Pair(*row, {"": f"They, {row[0]}"}, "male" * (i % 2)) for i, row in enumerate(_TEXTS)]
_KNOWN = [Pair(*row, {"male": f"He, {row[0]}", "female": f"She, {row[0]}"}) for row in _TEXTS]
_SETS = Sets({"own": _OPEN}, {"known": _KNOWN}, {}, ())


def _asked(folder: Path, *rules: Rule, both: bool = True) -> list[EvaluationResult]:
    rows = list(questions(_SETS, src_lang="en", tgt_lang="de"))
    examples = list(read_custom(write_jsonl(folder / "asked.jsonl", rows)))
    plan = plan_choices(examples, n_shots=0, both_orders=both)
    return [run_choices(plan, examples, r, folder / f"{i}{both}") for i, r in enumerate(rules)]


def test_planted_biases_of_language_models_are_measured(tmp_path: Path) -> None:
    def rule(seed: int) -> Rule:
        # The masculine is chosen in 70 % of open pairs, and women are misread in 20 %.
        flags = np.random.default_rng(seed).random(600) < np.repeat((0.7, 1.0, 0.8), 200)
        return lambda row, answer: right(0, answer if flags[row // 2] else f"{3 - int(answer)}")

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
    # a tie is an error
    assert (both.open_sets["own"].n_ties, both.known_sets["known"].total) == (200, 1.0)

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
    assert (known(made.choices).n_invalid, made.open_sets["own"].n_ties) == (150, 50)

    first, *others = result.judgements
    for message, changed in {
        "choices of prompted_choice, got own": {"metric": "own"},
        "pair 0: expected both sources, got female": {"judgements": others[200:]},
        "'7': expected an id of a set": {"judgements": [replace(first, example_id="7")]},
        "no demonstrations from": {"signature": "choice|shots:6|demos:data.0"},
    }.items():
        fails(InputError, message, audit_of_choices, replace(result, **changed))  # type: ignore[arg-type]
