import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.mean_tests import TTest
from cc_hf_studies.wino_x.bias_tables import bias_tables, trigger_importance_tables
from cc_hf_studies.wino_x.referent_bias import ReferentBias, referent_bias
from cc_hf_studies.wino_x.referent_choices import ReferentChoice, choices_of_result, read_choices
from cc_hf_studies.wino_x.salience import Importance, SubwordImportance, TriggerImportance
from cc_hf_studies.wino_x.tables import curve_tables
from cc_hf_studies.wino_x.trigger_importance import prediction_differences

import cc_hf
from cc_hf.errors import DataError, InputError
from cc_hf.plugins.asking.plans import plan_choices
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Judgement
from tests.helpers.families import save_tiny_m2m100
from tests.helpers.judged import Examples, contrastive, result_of
from tests.helpers.usual import (
    cases,
    cells_beside,
    evaluate_dataset,
    fails,
    hash_scores,
    printed,
    printed_by,
    read_json,
    read_jsonl,
    refuses,
    run_command,
    write_lines,
    write_result,
)
from tests.helpers.wino_x_schemas import ROW, TWIN, lay_out, lm_rows, mt_rows, swapped
from tests.plugins.asking import respondents

# correct gender, incorrect gender, position of the correct one -> is the correct one preferred?
Prefers = Callable[[str, str, str], bool]


def choices(
    prefers: Prefers, genders: tuple[str, ...] = ("male", "female", "neutral"), n: int = 100
) -> list[ReferentChoice]:
    """Return balanced schemas like those of Wino-X: every pronoun is correct in one twin and
    incorrect in the other.
    """
    actual = []
    for i, (a, b), offset in product(range(n), combinations(genders, 2), (0, 1)):
        pair = f"{i}.{a}.{b}.{offset}"
        for twin, (right, wrong) in enumerate(((a, b), (b, a))):
            read = (right, wrong, ("first", "second")[(offset + twin) % 2])
            actual.append(ReferentChoice(f"{pair}-{twin}", pair, *read, prefers(*read)))
    return actual


def always(gender: str, seed: int = 0) -> Prefers:
    """Prefer a gender wherever it is offered, otherwise choose at random."""
    generator = np.random.default_rng(seed)
    return lambda right, wrong, position: (
        right == gender if gender in (right, wrong) else bool(generator.random() < 0.5)
    )


@pytest.mark.parametrize("genders", [("male", "female"), ("male", "female", "neutral")], ids=len)
def test_always_choosing_masculine_has_the_largest_gender_bias(genders: tuple[str, ...]) -> None:
    bias = referent_bias(choices(always("male"), genders))
    assert bias.accuracy == pytest.approx(0.5, abs=0.03)
    assert bias.genders["male"].n_preferred == bias.genders["male"].n_offered
    if len(genders) == 2:  # French
        assert bias.test("gender").strength == bias.test("gender").attainable == 1
        assert bias.test("gender").size == "large"
    else:
        # male against all others does not need an order of three genders
        test = bias.test("gender", "male")
        assert test.strength == pytest.approx(test.attainable) == pytest.approx(2 / 3)
        assert test.size == "large"
        assert bias.test("gender", "thesis").test.rank_biserial < -0.3
        # 2 lies between 1 and 3, so the order of the program does not detect it
        assert bias.test("gender").strength < 0.1
    assert bias.test("position").strength < 0.1


def test_always_choosing_the_first_referent_has_the_largest_positional_bias() -> None:
    bias = referent_bias(choices(lambda right, wrong, position: position == "first"))
    test = bias.test("position")
    assert (test.strength, test.attainable, test.size) == (1, 1, "large")
    assert test.test.rank_biserial == 1
    assert test.test.p_value < 1e-12
    assert bias.positions["first"].n_preferred == bias.n
    codings = ("program", "thesis", "male", "female", "neutral")
    assert all(bias.test("gender", coding).strength < 0.05 for coding in codings)


def test_random_choices_have_no_bias() -> None:
    generator = np.random.default_rng(5)
    rows = choices(lambda right, wrong, position: bool(generator.random() < 0.5), n=300)
    bias = referent_bias(rows)
    assert bias.n == 3600
    for bias_test in bias.tests:
        assert bias_test.strength < 0.06
        assert bias_test.test.p_value > 0.01
        assert (bias_test.size, bias_test.references.rank_biserial) == ("none", 0)


def test_correct_choices_have_no_bias() -> None:
    bias = referent_bias(choices(lambda right, wrong, position: True))
    assert (bias.accuracy, bias.pair_accuracy) == (1, 1)
    assert all(bias_test.strength == 0 for bias_test in bias.tests)


def test_gender_codings_have_their_documented_ids() -> None:
    bias = referent_bias(choices(always("neutral"), n=3))
    assert bias.test("gender").ids == {"female": 1, "male": 2, "neutral": 3}
    assert bias.test("gender", "thesis").ids == {"male": 1, "female": 2, "neutral": 3}
    assert bias.test("gender", "neutral").ids == {"female": 1, "male": 1, "neutral": 2}
    assert bias.test("gender").test.rank_biserial > 0.5
    refuses(r"expected one of the tests.*got gender \(papers\)", bias.test, "gender", "papers")


def test_excluded_choices_are_counted() -> None:
    rows = [
        ReferentChoice("1", "p", "male", "female", "first", None),
        ReferentChoice("2", "p", "female", "male", "second", True),
        ReferentChoice("3", "q", "unknown", "female", "second", False),
        ReferentChoice("4", "q", "male", "female", "unknown", True),
        ReferentChoice("5", "", "", "", "first", True),
    ]
    bias = referent_bias(rows)
    assert (bias.n, bias.n_open, bias.n_unknown_gender, bias.n_unknown_position) == (5, 1, 2, 1)
    assert (bias.n_pairs, bias.n_correct_pairs) == (2, 0)
    assert (bias.accuracy, bias.pair_accuracy) == (3 / 5, 0)
    assert {name: f.n_offered for name, f in bias.genders.items()} == {"male": 2, "female": 2}
    assert [bias_test.coding for bias_test in bias.tests] == ["program", "thesis", "program"]


def test_choices_without_known_genders_give_no_tests_and_no_nan() -> None:
    bias = referent_bias(
        [ReferentChoice("1", "", "", "", "", True), ReferentChoice("2", "", "", "", "", None)]
    )
    assert (bias.tests, bias.pair_accuracy, bias.genders) == ((), None, {})
    only_ties = referent_bias([ReferentChoice("1", "", "male", "female", "first", None)])
    assert (only_ties.tests, only_ties.accuracy) == ((), 0)


_OPEN = ReferentChoice("1", "p", "", "", "", True)


_THREE = [replace(_OPEN, example_id=str(i)) for i in range(3)]


@cases(
    ([], "at least one choice"),
    ([_OPEN] * 2, "example '1': expected one choice, got several"),
    ([ReferentChoice("1", "", "masc", "female", "first", True)], "gender: expected female, male"),
    ([replace(_OPEN, correct_position="third")], "position: expected second, first"),
    (_THREE, "schema 'p': expected two examples, got 3"),
)
def test_bad_choices_are_refused(rows: list[ReferentChoice], message: str) -> None:
    refuses(message, referent_bias, rows)


def example(name: str, answer: str = "1", *others: str) -> ContrastiveTranslationExample:
    genders = {"correct_gender": "male", "incorrect_gender": "female"}
    extra = {"answer": answer, **genders, "referent_position": "first"}
    return contrastive(name, "it", "er", "sie", *others, **extra)


_FIRST = '{"id": "a-1", "preferred": 1}'

_TABLE = "id,preferred a-1,1 b-1,1 a-2,tie"
_OBJECTS = [{"id": "a-1", "preferred": 1}, {"id": "b-1", "preferred": "1"}]
_OBJECTS.append({"id": "a-2", "preferred": "tie"})


def judged(*verdicts: tuple[str, str, float | None, float | None]) -> EvaluationResult:
    rows = [
        Judgement(name, "male", v == "correct", "er", v, score_correct=a, score_incorrect=b)
        for name, v, a, b in verdicts
    ]
    return result_of(rows, dataset="wino_x", config="mt_en_de.translations")


def test_choices_are_read_from_judgements() -> None:
    result = judged(
        ("a-1", "correct", 0.4, 0.3),
        ("a-2", "incorrect", 0.1, 0.2),
        ("b-1", "incorrect", 0.2, 0.2),
        ("b-2", "inconclusive", None, None),
        ("c-1", "correct", None, None),
    )
    actual = choices_of_result(result, [example(row.example_id) for row in result.judgements])
    assert [choice.is_correct for choice in actual] == [True, False, None, None, True]
    assert actual[0] == ReferentChoice("a-1", "a", "male", "female", "first", True)


_TWO = [example("a-1"), example("a-2")]


@cases(
    (_TWO, "a-2 was not judged; load the configuration and split"),
    (_TWO[1:], "a-1 is not among the examples"),
    ([example("a-1", "1", "es")], r"expected one contrastive translation, so that.*got 2"),
)
def test_others_are_refused(examples: Examples, message: str) -> None:
    refuses(message, choices_of_result, judged(("a-1", "correct", 0.4, 0.3)), examples)


@cases(
    ("p.jsonl", [json.dumps(row) for row in _OBJECTS]),
    ("p.csv", _TABLE.split()),
    ("p.tsv", _TABLE.replace(",", "\t").split(" ")),
)
def test_preferences_are_read_from_all_formats(name: str, lines: list[str], tmp_path: Path) -> None:
    examples = [example("a-1", "1"), example("a-2", "2"), example("b-1", "2")]
    actual = read_choices(write_lines(tmp_path / name, lines), examples)
    verdicts = [(choice.example_id, choice.is_correct) for choice in actual]
    assert verdicts == [("a-1", True), ("b-1", False), ("a-2", None)]


@cases(
    ('{"id": "a-1"}', "a-1", "line 1: expected the key 'preferred', got .*'id'"),
    (_FIRST.replace("a-1", "x"), "a-1", "line 1: id: expected each of the 1 examples.*got 'x'"),
    (f"{_FIRST}\n{_FIRST}", "a-1", "line 2: .* got 'a-1' again"),
    (_FIRST.replace("1}", "3}"), "a-1", "line 1: preferred: expected 1, 2 or tie, got '3'"),
    ("[]", "a-1", "line 1: expected a JSON object"),
    (_FIRST, "a-1 a-2", "a preference for each of 2 examples, got 1"),
)
def test_wrong_preferences_are_refused(text: str, names: str, message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [text])
    fails(
        (InputError, DataError),
        message,
        read_choices,
        path,
        [example(name) for name in names.split()],
    )


def test_preferences_need_the_number_of_the_correct_translation(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [_FIRST])
    refuses(r"number of the correct translation.*got ''", read_choices, path, [example("a-1", "")])


def test_referent_bias_reads_choices_without_those_of_demonstrations(tmp_path: Path) -> None:
    rows = respondents.schemas()
    rule, plan = respondents.refusing_each(10, respondents.right), plan_choices(rows, n_shots=4)
    result = respondents.run_choices(plan, rows, rule, tmp_path / "a.jsonl")
    bias = referent_bias(choices_of_result(result, rows))  # type: ignore[arg-type]
    assert (bias.n, bias.n_open) == (96, 9)
    refuses("was not judged", choices_of_result, result, respondents.schemas(102))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write two schemas in which the correct referent of "sie" comes first and second."""
    other = [{**row, "referent1_en": "table", "referent2_en": "book"} for row in (ROW, TWIN)]
    for row in other:
        row["qID"] = str(row["qID"]).replace("1-", "2-")
        row["sentence"] = str(row["sentence"]).replace("bag", "book")
    return lay_out(tmp_path, "mt", [ROW, TWIN, *other])


def test_referent_bias_reads_a_result(data: Path) -> None:
    examples = cc_hf.load_examples("wino_x", "mt_en_de.translations", data_dir=data)
    verdicts = {"female": (True, "t", "correct"), "male": (False, "t", "incorrect")}
    judgements = [Judgement(e.id, e.category, *verdicts[e.category]) for e in examples]
    origin = {"dataset": "wino_x", "config": "mt_en_de.translations", "signature": "cts|n:4"}
    write_result(data, "r", result_of(judgements, **origin))
    options = f"{data}/r.json --data-dir {data} -o {data}/out.json"

    printed = printed_by(f"study wino_x referent-bias {options}")
    assert "50.0 % right (2 of 4); both of a pair right 0.0 % (0 of 2)" in " ".join(printed.split())
    assert "female 1, male 2, neutral 3" in printed

    # preferred, % of all, correct in % of all, offered, % of these
    assert re.search(r"female +4 +100\.0 +50\.0 +4 +100\.0 *\n", printed)
    assert re.search(r"first +2 +50\.0 +50\.0 +4 +50\.0 *\n", printed)
    assert "of: cts|n:4" in printed

    shown = printed_by(f"compare {data}/out.json")
    assert re.search(r"bias by gender \(thesis\), \|RBC\|\n.*\n +r *\n.*\n +mt_en_de.*1\.00", shown)
    output = read_json(data / "out.json")
    assert output["genders"]["female"] == {"n_offered": 4, "n_preferred": 4, "n_correct": 2}
    tests = [f"{test['feature']} {test['coding']} {test['strength']:g}" for test in output["tests"]]
    assert tests == ["gender program 1", "gender thesis 1", "position program 0"]
    assert output["positions"]["first"] == {"n_offered": 4, "n_preferred": 2, "n_correct": 2}
    assert output["tests"][0]["test"]["rank_biserial"] == -1

    beside = cells_beside("wino_x", data / "out.json")
    assert beside["Table 4.8, gender"] == {"en-de": 1}
    assert beside["Table 4.8, position"] == {"en-de": 0}
    assert beside["Table 4.9, en-de"]["female"] == 4


def test_referent_bias_reads_a_file_of_preferences(data: Path) -> None:
    path = write_lines(data / "p.csv", ["id,preferred", "Q1-1,1", "Q1-2,tie", "Q2-1,1", "Q2-2,2"])
    printed = printed_by(f"study wino_x referent-bias --preferences {path} --data-dir {data}")
    shown = "75.0 % right (3 of 4); both of a pair right 50.0 % (1 of 2)"
    assert shown in " ".join(printed.split())
    assert "ignored in the bias: 1 ties or undecided" in printed
    refuses("a file of results or.*got neither", printed_by, "study wino_x referent-bias")
    refuses("got both", printed_by, f"study wino_x referent-bias {path} --preferences {path}")


def test_referent_bias_refuses_other_data(tmp_path: Path) -> None:
    path = write_result(tmp_path, "r", result_of([Judgement("0", "a", True, "t", "correct")]))
    shown = run_command("study wino_x referent-bias", path, status=2).stderr
    assert "expected a result on wino_x, whose examples name pronouns and ref" in shown
    assert "got one on winomt" in shown


def test_trigger_importance_writes_figures_page_and_picture(data: Path) -> None:
    command = f"study wino_x trigger-importance --data-dir {data} -q"
    files = f"-o {data}/out.json --html {data}/out.html --png {data}/out.png"
    printed = printed_by(f"{command} --evaluator cc-tiny-en-de --maps 1 {files}")
    assert 'salience for the translation of "it", 4 sentences' in " ".join(printed.split())
    assert "prediction-difference|data:wino_x/mt_en_de.translations@local." in printed
    output = read_json(data / "out.json")
    ids = [salience["example_id"] for salience in output["saliences"]]
    assert ids == ["Q1-1", "Q1-2", "Q2-1", "Q2-2"]
    assert (output["n_sentences"], output["skipped"]) == (4, {})
    assert output["referents"] is not None
    triggers = output["triggers"]
    assert triggers["n_first"] == 2 * 3
    beside = cells_beside("wino_x", data / "out.json")
    assert beside == {"Table 4.10": {"en-de": triggers["effect"]}}
    assert (data / "out.png").read_bytes().startswith(b"\x89PNG")

    page = (data / "out.html").read_text(encoding="utf-8")
    assert page.count('class="name"') == 2 + 2  # sentences; command and signature
    assert f"<code>cc-hf {command} --evaluator cc-tiny-en-de" in page
    assert len(re.findall(r'class="word (?:more|less) trigger', page)) == 3

    printed_by(f"{command} --pairs 1 -o {data}/few.json")  # judged by the embedded evaluator
    few = read_json(data / "few.json")["saliences"]
    assert [salience["example_id"] for salience in few] == ["Q1-1", "Q1-2"]
    refuses(
        r"--evaluator: expected one sequence-to-sequence.*got a",
        printed_by,
        f"{command} --evaluator a --evaluator b",
    )


def test_learning_curves_fit() -> None:
    row = {"n": 12345, "accuracy": 0.98765, "pair_accuracy": 0.5, "n_ties": 1234}
    accuracies = {"mt_en_de.dev": row, "test": {**row, "pair_accuracy": None}}
    sizes = {"n_train": 100000, "n_epochs": 100, "best_epoch": 99}
    curve = {"eval": "m", "data": "d", "objective": "o", "splits": {}}
    shown = printed(curve_tables({**curve, "points": [{**sizes, "accuracies": accuracies}]}))
    for text in ("100,000", "98.8", "mt_en_de.dev"):
        assert text in shown


def test_biases_fit() -> None:
    test = {"feature": "gender", "strength": 0.123}
    tests = [{**test, "coding": coding} for coding in ("program", "thesis")]
    genders = {key: {"n_preferred": 12345} for key in ("male", "female", "neutral")}
    row = ("wino_x.mt_en_de", 100000, {"tests": tests, "genders": genders})
    assert "33.3" in printed(bias_tables([row], title="bias"))


def test_trigger_importance_fits() -> None:
    test = TTest(-123.456, 0.00001, 12345.6)
    importance = Importance(12345, 12345, -0.12345, 0.5, -12.345, test, test)
    program = SubwordImportance(12345, 12345, 12.345, test)
    figures = (importance, program, importance, 1234, {"an example": "a reason"})
    whole = TriggerImportance(12345, 12345, *figures)
    shown = printed(trigger_importance_tables(whole, title="wino_x mt_en_de.translations"))
    assert "correct against incorrect referents" in shown


MT = "mt_en_de.translations"
Rows = list[dict[str, Any]]


def examples_of(rows: Rows, folder: Path, config: str = MT) -> Examples:
    lay_out(folder, config[:2], rows)
    examples: Examples = cc_hf.load_examples("wino_x", config, data_dir=folder)
    return examples


def bias_of(score: Any, rows: Rows, folder: Path, config: str = MT) -> ReferentBias:
    examples = examples_of(rows, folder, config)
    options: dict[str, Any] = {"data_dir": folder, "evaluator": score}
    result = evaluate_dataset("wino_x", config, metric="contrastive_translation_scoring", **options)
    return referent_bias(choices_of_result(result, examples))


@pytest.mark.parametrize("config", [MT, "lm_en_de", "lm_en_de.english"])
def test_swapping_translations_keeps_the_bias(shared: Path, tmp_path: Path, config: str) -> None:
    rows = lm_rows(90)
    if config.startswith("mt"):
        rows = read_jsonl(shared / "gold/wino_x/bias/synthetic.en_de.jsonl")
    plain = bias_of(hash_scores, rows, tmp_path / "plain", config)
    assert plain == bias_of(hash_scores, swapped(rows), tmp_path / "swapped", config)


def test_swapping_translations_keeps_saliences_of_a_model(shared: Path, tmp_path: Path) -> None:
    rows = read_jsonl(shared / "gold/wino_x/mt_wino_x_en_de.thesis.jsonl")
    model: Any = cc_hf.load_evaluator(save_tiny_m2m100(tmp_path / "model"))

    plain = prediction_differences(model, examples_of(rows, tmp_path / "plain"))
    other = prediction_differences(model, examples_of(swapped(rows), tmp_path / "swapped"))
    assert plain == other


def test_a_model_that_prefers_masculine_pronouns_has_gender_bias(tmp_path: Path) -> None:
    draw = random.Random(0)

    def score(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [1.0 if ", weil er " in text else draw.random() for text in translations]

    actual = bias_of(score, mt_rows(96), tmp_path)
    assert actual.genders["male"].n_preferred == actual.genders["male"].n_offered == 128
    test = actual.test("gender", "male")
    assert test.strength == test.attainable == pytest.approx(2 / 3)
    assert test.test.p_value < 1e-12
    assert actual.test("position").size == "none"
