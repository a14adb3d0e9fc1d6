import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from cc_hf.asking.plans import plan_choices
from cc_hf.errors import DataError, InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Judgement
from cc_hf.studies.wino_x.referent_bias import referent_bias
from cc_hf.studies.wino_x.referent_choices import Choice, choices_of_result, read_choices
from tests.helpers import respondents
from tests.helpers.cases import cases
from tests.helpers.judged import Examples, contrastive, result_of
from tests.helpers.lines import write_lines
from tests.helpers.refusals import refuses

# correct gender, incorrect gender, position of the correct one -> is the correct one preferred?
Prefers = Callable[[str, str, str], bool]


def choices(
    prefers: Prefers, genders: tuple[str, ...] = ("male", "female", "neutral"), n: int = 100
) -> list[Choice]:
    """Return balanced schemas like those of Wino-X: every pronoun is correct in one twin and
    incorrect in the other.
    """
    found = []
    for i, (a, b), place in product(range(n), combinations(genders, 2), (0, 1)):
        pair = f"{i}.{a}.{b}.{place}"
        for twin, (right, wrong) in enumerate(((a, b), (b, a))):
            read = (right, wrong, ("first", "second")[(place + twin) % 2])
            found.append(Choice(f"{pair}-{twin}", pair, *read, prefers(*read)))
    return found


def always(gender: str, seed: int = 0) -> Prefers:
    """Prefer a gender wherever it is offered, otherwise choose at random."""
    generator = np.random.default_rng(seed)
    return lambda right, wrong, position: (
        right == gender if gender in (right, wrong) else bool(generator.random() < 0.5)
    )


@pytest.mark.parametrize("genders", [("male", "female"), ("male", "female", "neutral")], ids=len)
def test_always_choosing_masculine_has_the_largest_gender_bias(genders: tuple[str, ...]) -> None:
    found = referent_bias(choices(always("male"), genders))
    assert found.accuracy == pytest.approx(0.5, abs=0.03)
    assert found.genders["male"].n_preferred == found.genders["male"].n_offered
    if len(genders) == 2:  # French
        assert found.test("gender").strength == found.test("gender").attainable == 1
        assert found.test("gender").size == "large"
    else:
        # male against all others does not need an order of three genders
        one = found.test("gender", "male")
        assert one.strength == pytest.approx(one.attainable) == pytest.approx(2 / 3)
        assert one.size == "large"
        assert found.test("gender", "thesis").test.rank_biserial < -0.3
        # 2 lies between 1 and 3, so the order of the program does not detect it
        assert found.test("gender").strength < 0.1
    assert found.test("position").strength < 0.1


def test_always_choosing_the_first_referent_has_the_largest_positional_bias() -> None:
    found = referent_bias(choices(lambda right, wrong, position: position == "first"))
    one = found.test("position")
    assert (one.strength, one.attainable, one.size, one.test.rank_biserial) == (1, 1, "large", 1)
    assert one.test.p_value < 1e-12
    assert found.positions["first"].n_preferred == found.n
    codings = ("program", "thesis", "male", "female", "neutral")
    assert all(found.test("gender", coding).strength < 0.05 for coding in codings)


def test_random_choices_have_no_bias() -> None:
    generator = np.random.default_rng(5)
    rows = choices(lambda right, wrong, position: bool(generator.random() < 0.5), n=300)
    found = referent_bias(rows)
    assert found.n == 3600
    for one in found.tests:
        assert one.strength < 0.06
        assert one.test.p_value > 0.01
        assert (one.size, one.references.rank_biserial) == ("none", 0)


def test_correct_choices_have_no_bias() -> None:
    found = referent_bias(choices(lambda right, wrong, position: True))
    assert (found.accuracy, found.pair_accuracy) == (1, 1)
    assert all(one.strength == 0 for one in found.tests)


def test_gender_codings_have_their_documented_ids() -> None:
    found = referent_bias(choices(always("neutral"), n=3))
    assert found.test("gender").ids == {"female": 1, "male": 2, "neutral": 3}
    assert found.test("gender", "thesis").ids == {"male": 1, "female": 2, "neutral": 3}
    assert found.test("gender", "neutral").ids == {"female": 1, "male": 1, "neutral": 2}
    assert found.test("gender").test.rank_biserial > 0.5
    refuses(r"expected one of the tests.*got gender \(papers\)", found.test, "gender", "papers")


def test_excluded_choices_are_counted() -> None:
    rows = [
        Choice("1", "p", "male", "female", "first", None),
        Choice("2", "p", "female", "male", "second", True),
        Choice("3", "q", "unknown", "female", "second", False),
        Choice("4", "q", "male", "female", "unknown", True),
        Choice("5", "", "", "", "first", True),
    ]
    found = referent_bias(rows)
    assert (found.n, found.n_open, found.n_unknown_gender, found.n_unknown_position) == (5, 1, 2, 1)
    assert (found.n_pairs, found.n_correct_pairs) == (2, 0)
    assert (found.accuracy, found.pair_accuracy) == (3 / 5, 0)
    assert {name: f.n_offered for name, f in found.genders.items()} == {"male": 2, "female": 2}
    assert [one.coding for one in found.tests] == ["program", "thesis", "program"]


def test_choices_without_known_genders_give_no_tests_and_no_nan() -> None:
    found = referent_bias([Choice("1", "", "", "", "", True), Choice("2", "", "", "", "", None)])
    assert (found.tests, found.pair_accuracy, found.genders) == ((), None, {})
    only_ties = referent_bias([Choice("1", "", "male", "female", "first", None)])
    assert (only_ties.tests, only_ties.accuracy) == ((), 0)


_OPEN = Choice("1", "p", "", "", "", True)


_THREE = [replace(_OPEN, example_id=str(i)) for i in range(3)]


@cases(
    ([], "at least one choice"),
    ([_OPEN] * 2, "example '1': expected one choice, got several"),
    ([Choice("1", "", "masc", "female", "first", True)], "gender: expected female, male"),
    ([replace(_OPEN, correct_position="third")], "position: expected second, first"),
    (_THREE, "schema 'p': expected two examples, got 3"),
)
def test_bad_choices_are_refused(rows: list[Choice], message: str) -> None:
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
    found = choices_of_result(result, [example(row.example_id) for row in result.judgements])
    assert [choice.is_correct for choice in found] == [True, False, None, None, True]
    assert found[0] == Choice("a-1", "a", "male", "female", "first", True)


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
    found = read_choices(write_lines(tmp_path / name, lines), examples)
    verdicts = [(choice.example_id, choice.is_correct) for choice in found]
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
    with pytest.raises((InputError, DataError), match=message):
        read_choices(path, [example(name) for name in names.split()])


def test_preferences_need_the_number_of_the_correct_translation(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [_FIRST])
    with pytest.raises(InputError, match=r"expected the number of the correct translation.*got ''"):
        read_choices(path, [example("a-1", "")])


def test_referent_bias_reads_choices_without_those_of_demonstrations(tmp_path: Path) -> None:
    rows = respondents.schemas()
    rule, plan = respondents.refusing_each(10, respondents.right), plan_choices(rows, n_shots=4)
    result = respondents.run_choices(plan, rows, rule, tmp_path / "a.jsonl")
    bias = referent_bias(choices_of_result(result, rows))  # type: ignore[arg-type]
    assert (bias.n, bias.n_open) == (96, 9)
    with pytest.raises(InputError, match="was not judged"):
        choices_of_result(result, respondents.schemas(102))  # type: ignore[arg-type]
