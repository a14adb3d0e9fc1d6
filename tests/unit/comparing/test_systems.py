"""Systems compared by one metric, or one system by several."""

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cc_hf.comparing.gate import gate
from cc_hf.comparing.systems import Comparison, compare, read_results
from cc_hf.evidence import Evidence
from cc_hf.reports.figure_text import difference_p
from cc_hf.reports.formats.latex import latex_paper_table, latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import report_tables, summary_table
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.comparisons import comparison_tables
from cc_hf.results import EvaluationResult, NoInterval, ResultSet
from cc_hf.signature import parse
from cc_hf.statistics.paired import PairedDifference
from tests.helpers.fake_metric import Words
from tests.helpers.four_systems import four_systems
from tests.helpers.metrics import ROWS, evaluate_metric
from tests.helpers.usual import (
    cases,
    coarse_scores,
    hash_scores,
    limits,
    printed,
    printed_by,
    refuses,
    small_result,
    write_result,
)

evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

N = 60
REFERENCES = [
    {"correct_sources": [f"c{i}"], "incorrect_sources": [f"i{i}"], "category": category}
    for i, category in enumerate(["female", "male", "male"] * (N // 3))
]
TEXTS = {
    system: [f"{'Ärztin' if i % k else 'Arzt?' if i % 4 else 'Arzt'} {i}" for i in range(N)]
    for system, k in (("a", 2), ("b", 3), ("c", 5))
}
OPTIONS: dict[str, Any] = {
    "ids": [f"id{i}" for i in range(N)],
    "dataset": "d",
    "config": "c",
    "tgt_lang": "de",
    "n_resamples": 10,
    "origin": {"data": "d/c@1"},
}


Scores = Callable[[Sequence[str], Sequence[str]], list[float]]


def judged(system: str, scores: Scores = hash_scores) -> EvaluationResult:
    return evaluate(TEXTS[system], REFERENCES, scores, **OPTIONS)


def words(system: str) -> EvaluationResult:
    return evaluate_metric(Words(), TEXTS[system], REFERENCES, **OPTIONS)


def by_metric(metric: Any, texts: Any, rows: Any, **options: Any) -> dict[str, EvaluationResult]:
    return {s: evaluate_metric(metric, lines, rows, **options) for s, lines in texts.items()}


def _named(name: str, change: Callable[[float], float] = lambda score: score) -> Scores:
    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [change(score) for score in hash_scores(sources, translations)]

    scores.__name__ = name
    return scores


def shown(comparison: Comparison, width: int = 80) -> str:
    return printed(comparison_tables(comparison), width=width)


def test_systems_are_compared_with_the_first() -> None:
    results = {name: judged(name) for name in "abc"}
    comparison = compare(results)
    pairs = [(s.metric, s.baseline, s.system, s.n) for s in comparison.systems]
    assert pairs == [("contrastive_conditioning", "a", other, N) for other in "bc"]
    assert comparison.agreements == ()
    for compared in comparison.systems:
        first, second = results["a"], results[compared.system]
        for name, figure in compared.differences.items():
            assert (figure.first, figure.second) == (first.scores[name], second.scores[name])
        both = zip(first.judgements, second.judgements, strict=True)
        verdicts = [(a.is_correct, b.is_correct) for a, b in both]
        assert compared.mcnemar.n_only_first == verdicts.count((True, False))
        assert compared.mcnemar.n_only_second == verdicts.count((False, True))
    expected = {"accuracy", "min_accuracy", "weighted_accuracy", "accuracy_male"}
    assert expected <= set(comparison.systems[0].differences)
    kind, fields = parse(comparison.signature)
    expected_fields = {"data": "d/c@1", "n": str(N), "boot": "1000", "seed": "0"}
    assert (kind, fields | expected_fields) == ("compare", fields)
    assert comparison.signatures == {name: result.signature for name, result in results.items()}


def test_metrics_without_probabilities_have_no_weighted_differences() -> None:
    (actual,) = compare({"a": words("a"), "b": words("b")}).systems
    names = {"accuracy", "min_accuracy", "accuracy_female", "accuracy_male"}
    assert actual.differences.keys() == names


@cases("a", "b")
def test_weighted_figures_that_one_result_lacks_are_not_compared(older: str) -> None:
    results = {name: judged(name) for name in "ab"}
    plain = {n: v for n, v in results[older].scores.items() if not n.startswith("weighted")}
    (actual,) = compare({**results, older: replace(results[older], scores=plain)}).systems
    assert {"accuracy"} <= actual.differences.keys() <= plain.keys()


def test_inconclusive_rates_are_compared_beside_accuracies_of_pro_and_anti() -> None:
    rows = [row for row in ROWS for _ in range(2) if row["category"] in ("MoMc", "MoFc")]
    right, no, wrong = ["El médico"], ["Nadie"], ["La médica"]
    texts = {"a": right * 35 + no * 5, "b": right * 18 + no * 2 + wrong * 20}
    results = by_metric("simplegen_accuracy", texts, rows, tgt_lang="es", n_resamples=10)
    compared = compare(results)
    (actual,) = compared.systems
    groups = [
        f"{name}_{of}" for name in ("accuracy", "inconclusive_rate") for of in ("pro", "anti")
    ]
    for name in (*groups, "inconclusive_rate", "delta"):
        values = actual.differences[name].first, actual.differences[name].second
        assert values == pytest.approx([results[system].scores[name] for system in "ab"])
    assert actual.differences["delta"].difference == pytest.approx(-1.1)
    lines = [line.split("  ")[1] for line in shown(compared, 120).splitlines() if "  " in line]
    for group in ("pro", "anti"):
        words = f"{group}-stereotypical"
        assert lines[lines.index(words) + 1] == f"inconclusive {words}"
    report = build_report(
        [ReportedSystem(n, {r.metric: r}) for n, r in results.items()], n_resamples=10
    )
    summary = summary_table(report)
    cells = [
        row.cells[summary.columns.index("inconclusive on anti-stereotypical")]
        for row in summary.rows
    ]
    assert [cell.value for cell in cells] == ["0.0", "25.0"]  # the best first
    assert cells[0].difference == "−25.0"


def read_genders(**n_right: int) -> dict[str, EvaluationResult]:
    """Return results of systems of whose ten rows so many are read right, and others as male."""
    results = {}
    for name, n in n_right.items():
        made = small_result((0.5, 1.0), metric="winomt_pattern_matching", system=name)
        read = [j.category if i % 10 < n else "male" for i, j in enumerate(made.judgements)]
        both = zip(made.judgements, read, strict=True)
        judgements = [replace(j, gold=j.category, predicted=gender) for j, gender in both]
        scores = {"f1_male": 0.5, "f1_female": 0.5, "delta_g": 0.0}
        results[name] = replace(made, scores=scores, judgements=tuple(judgements))
    return results


def test_the_gender_gap_of_two_systems_is_compared_by_their_f1() -> None:
    results = read_genders(a=8, b=2)
    (actual,) = compare(results).systems
    f1 = {"a": (20 / 22, 16 / 18), "b": (20 / 28, 4 / 12)}
    gap = actual.differences["delta_g"]
    assert (gap.first, gap.second) == pytest.approx([f1[name][0] - f1[name][1] for name in "ab"])
    assert gap.p_value < 0.2
    assert "gender gap ΔG" in shown(compare(results))


@cases((1, 12), (2, 6))
def test_f1_are_exchanged_by_pairs(n_together: int, n_exchanged: int) -> None:
    results = {
        name: replace(
            r,
            judgements=tuple(
                replace(j, pair=str(i // n_together)) for i, j in enumerate(r.judgements)
            ),
        )
        for name, r in read_genders(a=8, b=2).items()
    }
    (actual,) = compare(results).systems
    assert actual.differences["f1_female"].p_value == 2 / 2**n_exchanged


def test_metrics_on_the_same_translations_are_compared_by_agreement() -> None:
    comparison = compare({"cc": judged("a"), "words": words("a")})
    assert comparison.systems == ()
    (agreement,) = comparison.agreements
    both = zip(judged("a").judgements, words("a").judgements, strict=True)
    pairs = [(x.verdict, y.verdict) for x, y in both]
    assert agreement.labels == ("correct", "incorrect", "inconclusive")
    counts = [
        tuple(pairs.count((left, right)) for right in agreement.labels) for left in agreement.labels
    ]
    assert agreement.confusion == tuple(counts)
    assert agreement.verdict_agreement == sum(a == b for a, b in pairs) / N
    assert agreement.agreement == sum((a == "correct") == (b == "correct") for a, b in pairs) / N
    assert agreement.agreement > agreement.verdict_agreement
    for value, interval in (
        (agreement.agreement, agreement.interval),
        (agreement.kappa, agreement.kappa_interval),
    ):
        low, high = limits(interval)
        assert low <= value <= high


def test_variants_of_a_metric_are_compared_by_difference_and_agreement() -> None:
    comparison = compare({"fine": judged("a"), "coarse": judged("a", coarse_scores)})
    assert (len(comparison.systems), len(comparison.agreements)) == (1, 1)
    assert comparison.agreements[0].labels == ("correct", "incorrect")
    assert comparison.agreements[0].kappa == comparison.agreements[0].verdict_kappa


def test_two_systems_by_two_metrics_give_four_comparisons() -> None:
    results = {"a:cc": judged("a"), "a:w": words("a"), "b:cc": judged("b"), "b:w": words("b")}
    comparison = compare(results)
    assert [(s.baseline, s.system) for s in comparison.systems] == [
        ("a:cc", "b:cc"),
        ("a:w", "b:w"),
    ]
    assert [(a.left, a.right) for a in comparison.agreements] == [("a:cc", "a:w"), ("b:cc", "b:w")]
    assert comparison.not_compared == {}
    # A pair that cannot be joined is reported.
    comparison = compare(results | {name: other_id(results[name]) for name in ("a:w", "b:w")})
    assert len(comparison.systems) == 2
    pairs = {frozenset(name.split(" and ")) for name in comparison.not_compared}
    assert pairs == {frozenset(pair) for pair in product(("a:cc", "b:cc"), ("a:w", "b:w"))}


def test_a_metric_without_judgements_is_reported_as_not_compared() -> None:
    gap = EvaluationResult(
        "d", "c", "de", "gap", "g|data:d/c@1|n:1", N, {"bleu_gap": -0.1}, {}, (), ()
    )
    comparison = compare({"a": judged("a"), "gap": gap, "b": judged("b")})
    assert list(comparison.not_compared) == ["gap"]
    assert "not compared: gap: its metric judges the whole" in shown(comparison)
    for results, message in (
        ({"a": judged("a"), "gap": gap}, "no other result has judgements of single translations"),
        ({"a": gap, "b": gap}, "can be compared to none of the others"),
        ({"a": judged("a")}, "at least two results to compare, got 1"),
    ):
        refuses(message, compare, results)


def other_id(result: EvaluationResult) -> EvaluationResult:
    first, *others = result.judgements
    return replace(result, judgements=(replace(first, example_id="strange"), *others))


A, B = judged("a"), judged("b")
_NAMESAKE = judged("b", _named("hash_scores", lambda p: 1 - p / 2))
_OTHER_CATEGORIES = replace(B, judgements=tuple(replace(j, category="x") for j in B.judgements))


@cases(
    (A, replace(B, config="x"), r"a is of d c de \(d/c@1\), b of d x de"),
    (A, other_id(B), "1 of the 60 examples of b, such as example strange; evaluate both"),
    (other_id(A), words("a"), "a .*can be compared to none"),
    (A, words("b"), "same metric, or of the same translations"),
    (A, judged("b", coarse_scores), "eval is '.*hash_scores@.*' and '.*coarse_scores@.*options$"),
    (
        *(judged(s, _named("<lambda>")) for s in "ab"),
        r"'.*<lambda>@.* and '.*<lambda>.*\(its attri",
    ),
    (A, _NAMESAKE, "example id0: a and b have the same translation, with .*functions of one name"),
    (A, _OTHER_CATEGORIES, "example id0: a has the category 'female', b has 'x'"),
)
def test_incomparable_results_are_refused(first: Any, second: Any, message: str) -> None:
    refuses(message, compare, {"a": first, "b": second})


def test_functions_of_one_name_are_told_apart_by_their_scores() -> None:
    """The figures of one function are 1.0, of the other 0.0, and both had one signature."""
    right: Scores = lambda s, t: [float(x[0] == "c") for x in s]  # noqa: E731
    wrong: Scores = lambda s, t: [float(x[0] == "i") for x in s]  # noqa: E731
    first, second = judged("a", right), judged("a", wrong)
    assert (first.scores["accuracy"], second.scores["accuracy"]) == (1.0, 0.0)
    assert first.signature != second.signature
    assert judged("a", right).signature == first.signature
    assert "eval:function <lambda>@scores.e569976e|" in first.signature  # in every process
    options = OPTIONS | {"ids": OPTIONS["ids"][::-1]}
    backwards = evaluate(TEXTS["a"][::-1], REFERENCES[::-1], right, **options)
    assert backwards.signature == first.signature


def test_a_function_that_the_caller_named_judges_several_systems() -> None:
    named = functools.partial(hash_scores)
    assert "eval:function <partial>@scores." in judged("a", named).signature
    named.signature_name = "my scores"  # type: ignore[attr-defined]
    results = {name: judged(name, named) for name in "ab"}
    assert "eval:function my scores@scores." in results["a"].signature
    assert compare(results).systems


@cases((40, False), (32, True), (25, False))
def test_a_difference_within_the_mistakes_of_its_judge_is_remarked(
    n_found: int, is_remarked: bool
) -> None:
    """A judge that finds 80 % of the right ones right supports rankings only; one that finds 62.5 %
    is a screen, of which everything is remarked elsewhere.
    """
    results = {}
    for name, accuracies in {"a": (0.6, 0.6), "b": (0.2, 0.6)}.items():
        result = small_result(accuracies, fields="|eval:org/judge@1a2b3c")
        row = Evidence(
            *("org/judge@1a2b3c", "en-de", "template", "winomt", "female", "people", 1, "x"),
            result.signature,
            n_right=40,
            n_right_found=n_found,
            n_wrong=400,
            n_wrong_found=400,
        )
        results[name] = replace(result, evidence=(row,))
    notes = compare(results).notes
    remark = "The difference to a in minimum accuracy and in accuracy on female is within what the"
    assert any(note.startswith(remark) for note in notes["b"]) == is_remarked
    assert [note[:10] for note in notes["a"]] == ["Ranks only"] * (n_found > 25)


def test_the_json_is_strict_and_complete(tmp_path: Path) -> None:
    comparison = compare({"a": judged("a"), "b": judged("b"), "w": words("b")})
    row = json.loads(comparison.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert row["systems"][0]["differences"]["accuracy"]["interval"]["level"] == 0.95
    assert row["agreements"][0]["confusion"]
    assert row["signature"] == comparison.signature


def test_results_are_named_after_their_files(tmp_path: Path) -> None:
    path = write_result(tmp_path, "one", judged("a"))
    other_path = write_result(tmp_path, "x/one", judged("b"))
    several, bad = tmp_path / "set.json", tmp_path / "bad.json"
    several.write_text(ResultSet((judged("a"), words("a"))).to_json(), encoding="utf-8")
    names = {"one", "set:contrastive_conditioning", "set:words"}
    assert set(read_results([path, several])) == names
    assert set(read_results([path, other_path])) == {str(path), str(other_path)}
    actual = read_results([several], metric="words")
    assert {name: result.metric for name, result in actual.items()} == {"set": "words"}
    bad.write_text("{}", encoding="utf-8")
    for paths, metric, message in (
        ([path], "words", r"one\.json: expected a.*got contrastive_conditioning"),
        ([path] * 2, None, "is named twice"),
        ([tmp_path / "none.json"], None, "file not found"),
        ([bad], None, r"bad\.json: expected the JSON of an evaluation result"),
    ):
        refuses(message, read_results, paths, metric=metric)


def test_results_are_named_after_their_systems(tmp_path: Path) -> None:
    aws, bing = (replace(judged(name), system=name) for name in "ab")
    files = [tmp_path / "1.json", write_result(tmp_path, "2", bing)]
    both = ResultSet((aws, replace(words("a"), system="a")))
    files[0].write_text(both.to_json(), encoding="utf-8")
    assert list(read_results(files)) == ["a:contrastive_conditioning", "a:words", "b"]
    assert list(read_results(files, metric=aws.metric)) == ["a", "b"]
    # Two results of one system by one metric are told apart by their files.
    write_result(tmp_path, "2", replace(bing, system="a"))
    assert list(read_results(files, metric=aws.metric)) == ["1", "2"]


def test_one_verdict_of_twenty_is_no_significant_difference_anywhere() -> None:
    rows = [{"category": category} for category in ["female"] * 19 + ["male"]]
    texts = ["Ärztin"] * 11 + ["Arzt"] * 8
    results = by_metric(
        Words(), {"a": [*texts, "Ärztin"], "b": [*texts, "Arzt"]}, rows, **OPTIONS | {"ids": None}
    )
    comparison = compare(results)
    (compared,) = comparison.systems
    assert {difference.p_value for difference in compared.differences.values()} == {1.0}
    assert compared.mcnemar.p_value == 1.0
    text = shown(comparison, width=200)
    assert re.search(r"male +100\.0 +0\.0 +−100\.0 +1\.000", text)
    assert re.search("difference in .*male.*: no interval: n = 1, .* at least 30", text)
    report = build_report(
        [ReportedSystem(name, {"words": result}) for name, result in results.items()]
    )
    cells = [cell for table in report_tables(report) for row in table.rows for cell in row.cells]
    assert not any(cell.is_significant for cell in cells)
    assert any("no interval: n = 1," in cell.difference_interval for cell in cells)
    assert not re.search(r"\^\{\*\}|\d\}?\*", latex_paper_table(report) + latex_report(report))
    assert not re.search(r"\d\\?\*", markdown_report(report))


def test_both_samples_of_a_pair_are_exchanged_together() -> None:
    texts = {"reference": "Ärztin", "contrastive_reference": "Arzt"}
    rows = [{**texts, "category": c, "pair": i} for i in "012" for c in ("female", "male")]
    results = by_metric(
        "gender_accuracy", {"a": ["Ärztin"] * 6, "b": ["Arzt"] * 6}, rows, **OPTIONS | {"ids": None}
    )
    assert [j.pair for j in results["a"].judgements] == list("001122")
    again = {name: EvaluationResult.from_json(r.to_json()) for name, r in results.items()}
    assert again == results
    alone = {
        name: replace(r, judgements=tuple(replace(j, pair="") for j in r.judgements))
        for name, r in results.items()
    }
    older = {"a": alone["a"], "b": results["b"]}
    for results_by_system, n_exchanged in ((again, 3), (alone, 6), (older, 3)):
        (compared,) = compare(results_by_system).systems
        assert compared.differences["accuracy"].p_value == 2 / 2**n_exchanged


def test_accuracy_has_the_p_value_of_mcnemar() -> None:
    comparison = compare({"a": judged("a"), "b": judged("b"), "c": judged("c")}, n_resamples=50)
    for compared in comparison.systems:
        accuracy = compared.differences["accuracy"]
        assert (accuracy.p_value, accuracy.is_exact) == (compared.mcnemar.p_value, True)
        assert not compared.differences["weighted_accuracy"].is_exact


@cases((1000, "< 0.001"), (100, "< 0.010"))
def test_p_at_the_floor_of_the_resamples_is_a_bound(n_resamples: int, bound: str) -> None:
    results = by_metric(
        Words(), {"right": ["Ärztin"] * N, "wrong": ["Arzt"] * N}, REFERENCES, **OPTIONS
    )
    difference = PairedDifference(1.0, 0.0, -1.0, NoInterval("-"), 1 / (n_resamples + 1))
    assert difference_p(difference, n_resamples) == bound
    comparison = compare(results, n_resamples=n_resamples)
    assert comparison.systems[0].differences["accuracy"].p_value < 1 / (n_resamples + 1)
    (line,) = [
        line for line in shown(comparison).splitlines() if line.strip().startswith("accuracy")
    ]
    assert line.rstrip().endswith("< 0.001")


def test_the_table_says_where_interval_and_p_come_from() -> None:
    text = " ".join(shown(compare({"a": judged("a"), "b": judged("b")}, n_resamples=50)).split())
    assert "intervals of differences follow from those of both systems" in text
    assert "p comes from paired randomisation (all exchanges" in text
    assert "else 50 random ones" in text
    assert "McNemar's p is exact" in text


def test_tables_show_every_figure_in_full() -> None:
    comparison = compare({"a": judged("a"), "b": judged("b"), "w": words("b")})
    text = shown(comparison)
    (compared,) = comparison.systems
    labels = {
        "accuracy": "accuracy",
        "min_accuracy": "minimum",
        **{f"accuracy_{category}": category for category in ("male", "female")},
    }
    weighted = {f"weighted_{name}": f"weighted {label}" for name, label in labels.items()}
    for name, label in (labels | weighted | {"weighted_accuracy": "weighted"}).items():
        figure = compared.differences[name]
        values = [100 * figure.first, 100 * figure.second, 100 * figure.difference]
        row = r" +\+?".join([label, *(f"{value:.1f}".replace("-", "−") for value in values)])
        limits = "" if isinstance(figure.interval, NoInterval) else r" \("
        assert re.search(rf"^ +{row}{limits}", text, re.MULTILINE), label
    counts = f"{compared.mcnemar.n_only_first} +{compared.mcnemar.n_only_second}"
    assert re.search(f"only this one right +{counts} +McNemar", text)
    assert f"{comparison.agreements[0].kappa:.3f} (" in text
    assert "b (rows) and w (columns) on the same translations, n = 60" in " ".join(text.split())
    assert re.search(r"^ +inconclusive +\d+ +\d+ +\d+", text, re.MULTILINE)


def test_the_compare_command_prints_and_writes_json(tmp_path: Path) -> None:

    a, b = (write_result(tmp_path, name, judged(name)) for name in "ab")
    printed = printed_by(f"compare {a} {b} --seed 3 --resamples 50 -v -o {tmp_path}/o.json")
    expected = compare({"a": judged("a"), "b": judged("b")}, n_resamples=50, seed=3)
    assert (tmp_path / "o.json").read_text(encoding="utf-8") == expected.to_json()
    assert expected.signature in printed.replace("\n", "")
    assert "b against the baseline a, n = 60" in " ".join(printed.split())
    header = next(line for line in printed.splitlines() if "difference (95 %)" in line)
    assert header.split() == ["a", "b", "difference", "(95", "%)", "p"]


def test_random_scores_of_two_systems_on_winomt_do_not_differ(shared: Path, tmp_path: Path) -> None:
    systems = {system.name: system.results for system in four_systems(shared, tmp_path)}
    results = {name: systems[name]["contrastive_conditioning"] for name in ("aws", "google")}
    (compared,) = compare(results).systems
    assert compared.n == 3648
    test, accuracy = compared.mcnemar, compared.differences["accuracy"]
    assert test.n_only_second - test.n_only_first == round(accuracy.difference * compared.n)
    first, second = (result.scores["accuracy"] for result in results.values())
    assert accuracy.difference == second - first
    # scores of a hash differ only by chance
    assert accuracy.p_value == pytest.approx(test.p_value, abs=0.05)
    assert accuracy.p_value > 0.05


def test_a_difference_without_an_interval_is_noted_under_its_name() -> None:
    table = comparison_tables(compare({"a": judged("a"), "b": judged("a")}, n_resamples=10))
    assert "b: difference in accuracy, " in printed(table, width=200)


@cases(("answered", 40, (0.25, 0.5)), ("decided", 30, (1 / 3, 2 / 3)))
def test_flips_are_counted_among_shared_rows(shared: str, n: int, rates: Any) -> None:
    row = {"source": "A bat.", "homograph": "bat", "start": 2, "cluster": "animal"}
    references = [{**row, "senses": {"animal": ["Fledermaus"], "stick": ["Keule"]}}] * 42
    stick, bat, other = ["Keule"], ["Fledermaus"], ["Tier"]
    texts = {"a": [*stick * 10, *bat * 20, *other * 10, "", *stick]}
    texts["b"] = [*stick * 20, *bat * 20, *stick, " "]
    results = by_metric("homograph_accuracy", texts, references, tgt_lang="de", n_resamples=10)
    comparison = compare(results, shared=shared, n_resamples=10)
    (pair,) = comparison.systems
    assert (pair.n, comparison.left_out) == (n, {"a": 42 - n, "b": 42 - n})
    flips = pair.differences["flip_rate"]
    assert (flips.first, flips.second) == pytest.approx(rates)
    assert f"|samples:shared.{shared}|" in comparison.signature
    assert "flip rate" in shown(comparison)


def test_a_gate_is_decided_by_the_total_and_the_worst_of_other_categories() -> None:
    rows = [row | {"category": f"sense {row['category']}"} for row in REFERENCES]
    many = by_metric(Words(), {s: TEXTS[s] for s in "ab"}, rows, **OPTIONS)
    of_many = gate(many, margin=0.02).figures
    worst = min(of_many[1:], key=lambda figure: figure.baseline)
    assert [f.figure for f in of_many if f.decides] == ["accuracy", worst.figure]
