import pytest

from cc_hf.comparing.alignment import AlignedJudgements, check_same_data
from cc_hf.results import EvaluationResult
from tests.helpers.usual import cases, judgement, refuses, result_of


def result(ids: str, *, text: str = "t", **changes: object) -> EvaluationResult:
    """Return a result with a judgement for each letter; capital letters are judged correct."""
    letters = [(name.lower(), ("incorrect", "correct")[name.isupper()]) for name in ids]
    judgements = [judgement(i, verdict, f"{text} {i}") for i, verdict in letters]
    return result_of(
        judgements, **{"dataset": "d", "config": "c", "signature": "m|data:d/c@1", **changes}
    )


#: Examples of two results -> those that both have, in the order of the first; why they differ.
ORDERS = {
    ("abc", "abc"): ("abc", ""),
    ("abc", "cba"): ("abc", ""),
    ("cab", "abc"): ("cab", ""),
    ("abc", "b"): ("b", "b has no judgement of 2 of the 3 examples of a, such as example a"),
    ("b", "abc"): ("b", "a has no judgement of 2 of the 3 examples of b, such as example a"),
    ("ab", "bc"): ("b", "a has no judgement of 1 of the 2 examples of b, such as example c"),
    ("ab", "cd"): ("", "a has no judgement of 2 of the 2 examples of b, such as example c"),
    ("ab", ""): ("", "b has no judgement of 2 of the 2 examples of a, such as example a"),
}


@pytest.mark.parametrize(("left", "right"), ORDERS, ids=map("-".join, ORDERS))
def test_judgements_are_aligned_by_example(left: str, right: str) -> None:
    shared, reason = ORDERS[left, right]
    aligned = AlignedJudgements.of({"a": result(left), "b": result(right.upper())})
    pairs = list(aligned.pairs("a", "b"))
    assert "".join(j.example_id for j, _ in pairs) == shared
    assert all(j.example_id == other.example_id for j, other in pairs)
    assert not any(j.is_correct for j, _ in pairs)
    assert all(other.is_correct for _, other in pairs)
    assert aligned.why_examples_differ("a", "b") == reason
    assert aligned.why_translations_differ("a", "b") == ""
    if right:
        assert aligned.shared("ab").table == [[j for j, _ in pairs], [other for _, other in pairs]]


def test_rows_hold_the_examples_that_all_of_the_named_results_have() -> None:
    aligned = AlignedJudgements.of({"a": result("abcd"), "b": result("dcb"), "c": result("bad")})
    join = lambda row: "".join(j.example_id for j in row)  # noqa: E731
    ids = {names: [*map(join, aligned.shared(names).table)] for names in ("abc", "ca", "b")}
    assert ids == {"abc": ["bd"] * 3, "ca": ["bad"] * 2, "b": ["dcb"]}


def test_the_first_translation_that_differs_is_named() -> None:
    aligned = AlignedJudgements.of({"a": result("abc"), "b": result("xcb", text="other")})
    expected = "example b: a judged 't b', b judged 'other b'"
    assert aligned.why_translations_differ("a", "b") == expected


@cases(
    (result("ab", config="x"), r"expected results on the same data: a is of d c de \(d/c@1\)"),
    (result("ab", tgt_lang="fr"), r"b of d c fr \(d/c@1\)"),
    (result("ab", signature="m|data:d/c@2"), r"b of d c de \(d/c@2\)"),
    (result("ab", signature="m|data:d/c[first 2]@1"), r"b of d c de \(d/c\[first 2\]@1\)"),
    (result("ab", dataset="", signature="m|data:own@1"), r"b of own data c de \(own@1\)"),
    (result("abab"), "b: expected one judgement of each example, got several of example a"),
    (result("ab", n=3), "b: expected 3 judgements, as the result says, got 2; the file may"),
)
def test_results_that_cannot_be_aligned_are_refused(other: EvaluationResult, message: str) -> None:
    refuses(message, AlignedJudgements.of, {"a": result("ab"), "b": other})


def test_a_result_without_judgements_has_no_row() -> None:
    aligned = AlignedJudgements.of({"a": result("ab"), "b": result("", n=2)})
    assert aligned.judgements["b"] == {}
    refuses(r"b: expected a result with judgements .* one of m", aligned.shared, "ab")


def test_a_caller_says_what_it_expects_of_the_data() -> None:
    results = {"a": result("a"), "b": result("a", config="x")}
    refuses(r"^seeds of one data: a is of d c de", check_same_data, results, "seeds of one data")
    check_same_data({"a": results["a"]})
