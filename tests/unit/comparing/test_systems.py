from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.comparing.systems import Comparison, compare, read_results
from cc_hf.errors import InputError
from cc_hf.reports.formats.latex import latex_paper_table, latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import report_tables, summary_table
from cc_hf.reports.samples import System
from cc_hf.reports.tables.comparisons import comparison_tables
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.signature import parse
from tests.helpers.cases import cases_by_message
from tests.helpers.command_line import printed_by
from tests.helpers.fake_evaluator import coarse_scores, hash_scores
from tests.helpers.fake_metric import Words
from tests.helpers.intervals import limits
from tests.helpers.metrics import evaluate_dataset, evaluate_metric
from tests.helpers.results import small_result, write_result
from tests.helpers.terminal import printed

evaluate = functools.partial(evaluate_metric, "contrastive_conditioning")

N = 60
COLUMNS = ("correct_sources", "incorrect_sources", "category")
REFERENCES = [
    dict(zip(COLUMNS, ([f"c{i}"], [f"i{i}"], "male" if i % 3 else "female"), strict=True))
    for i in range(N)
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


def judged(
    system: str, scores: Callable[[Sequence[str], Sequence[str]], list[float]] = hash_scores
) -> EvaluationResult:
    return evaluate(TEXTS[system], REFERENCES, scores, **OPTIONS)


def words(system: str) -> EvaluationResult:
    return evaluate_metric(Words(), TEXTS[system], REFERENCES, **OPTIONS)


def _unnamed(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return hash_scores(sources, translations)


_unnamed.__name__ = "<lambda>"


def _namesake(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return [1 - score / 2 for score in hash_scores(sources, translations)]


_namesake.__name__ = hash_scores.__name__


def shown(found: Comparison, width: int = 80) -> str:
    return printed(comparison_tables(found), width=width)


def test_systems_are_compared_with_the_first() -> None:
    results = {name: judged(name) for name in "abc"}
    found = compare(results)
    metric = "contrastive_conditioning"
    pairs = [(s.metric, s.baseline, s.system, s.n) for s in found.systems]
    assert pairs == [(metric, "a", other, N) for other in "bc"]
    assert found.agreements == ()
    for one in found.systems:
        first, second = results["a"], results[one.system]
        for name, figure in one.differences.items():
            assert (figure.first, figure.second) == (first.scores[name], second.scores[name])
        verdicts = [
            (a.is_correct, b.is_correct)
            for a, b in zip(first.judgements, second.judgements, strict=True)
        ]
        assert one.mcnemar.n_only_first == verdicts.count((True, False))
        assert one.mcnemar.n_only_second == verdicts.count((False, True))
    expected = {"accuracy", "min_accuracy", "weighted_accuracy", "accuracy_male"}
    assert expected <= set(found.systems[0].differences)
    kind, fields = parse(found.signature)
    expected_fields = {"data": "d/c@1", "n": str(N), "boot": "1000", "seed": "0"}
    assert (kind, fields | expected_fields) == ("compare", fields)
    assert found.signatures == {name: result.signature for name, result in results.items()}


def test_the_order_of_judgements_does_not_change_the_comparison() -> None:
    left, right = judged("a"), judged("b")
    turned = replace(right, judgements=right.judgements[::-1])
    assert compare({"a": left, "b": turned}) == compare({"a": left, "b": right})


def test_metrics_without_probabilities_have_no_weighted_differences() -> None:
    (found,) = compare({"a": words("a"), "b": words("b")}).systems
    expected = {"accuracy", "min_accuracy", "accuracy_female", "accuracy_male"}
    assert set(found.differences) == expected


def test_inconclusive_rates_are_compared_beside_accuracies_of_pro_and_anti() -> None:
    rows = [
        {"category": category, "gender": gender, "occupation": "physician", "number": "sg"}
        for category, gender in (("MoMc", "male"), ("MoFc", "female"))
        for _ in range(20)
    ]
    texts = {
        "a": ["El médico"] * 35 + ["Nadie"] * 5,
        "b": ["El médico"] * 18 + ["Nadie"] * 2 + ["La médica"] * 20,
    }
    results = {
        name: evaluate_metric("simplegen_accuracy", lines, rows, tgt_lang="es", n_resamples=10)
        for name, lines in texts.items()
    }
    (found,) = compare(results).systems
    groups = [
        f"{name}_{group}" for name in ("accuracy", "inconclusive_rate") for group in ("pro", "anti")
    ]
    for name in (*groups, "inconclusive_rate", "delta"):
        difference = found.differences[name]
        assert difference.first == pytest.approx(results["a"].scores[name])
        assert difference.second == pytest.approx(results["b"].scores[name])
    assert found.differences["delta"].difference == pytest.approx(-1.1)
    lines = [line.split("  ")[1] for line in shown(compare(results)).splitlines() if "  " in line]
    for group in ("pro", "anti"):
        assert lines[lines.index(group) + 1] == f"inconclusive {group}"
    report = build_report([System(n, {r.metric: r}) for n, r in results.items()], n_resamples=10)
    summary = summary_table(report)
    column = summary.columns.index("inconclusive on anti")
    assert [row.cells[column].value for row in summary.rows] == ["0.0", "25.0"]  # the best first
    assert summary.rows[0].cells[column].difference == "−25.0"


def test_the_gender_gap_of_two_systems_is_compared_by_their_f1() -> None:
    results = {}
    for name, n_right in (("a", 8), ("b", 2)):
        made = small_result((0.5, 1.0), metric="winomt_pattern_matching", system=name)
        judgements = [
            replace(j, gold=j.category, predicted=j.category if i % 10 < n_right else "male")
            for i, j in enumerate(made.judgements)
        ]
        scores = {"f1_male": 0.5, "f1_female": 0.5, "delta_g": 0.0}
        results[name] = replace(made, scores=scores, judgements=tuple(judgements))
    (found,) = compare(results).systems
    f1 = {"a": (20 / 22, 16 / 18), "b": (20 / 28, 4 / 12)}
    gap = found.differences["delta_g"]
    assert (gap.first, gap.second) == pytest.approx([f1[name][0] - f1[name][1] for name in "ab"])
    assert gap.p_value < 0.2
    assert "gender gap ΔG" in shown(compare(results))


def test_metrics_on_the_same_translations_are_compared_by_agreement() -> None:
    found = compare({"cc": judged("a"), "words": words("a")})
    assert found.systems == ()
    (one,) = found.agreements
    pairs = [
        (x.verdict, y.verdict)
        for x, y in zip(judged("a").judgements, words("a").judgements, strict=True)
    ]
    assert one.labels == ("correct", "incorrect", "inconclusive")
    assert one.confusion == tuple(
        tuple(pairs.count((left, right)) for right in one.labels) for left in one.labels
    )
    assert one.verdict_agreement == sum(a == b for a, b in pairs) / N
    assert one.agreement == sum((a == "correct") == (b == "correct") for a, b in pairs) / N
    assert one.agreement > one.verdict_agreement
    for value, interval in ((one.agreement, one.interval), (one.kappa, one.kappa_interval)):
        low, high = limits(interval)
        assert low <= value <= high


def test_variants_of_a_metric_are_compared_by_difference_and_agreement() -> None:
    found = compare({"fine": judged("a"), "coarse": judged("a", coarse_scores)})
    assert (len(found.systems), len(found.agreements)) == (1, 1)
    assert found.agreements[0].labels == ("correct", "incorrect")
    assert found.agreements[0].kappa == found.agreements[0].verdict_kappa


def test_two_systems_by_two_metrics_give_four_comparisons() -> None:
    found = compare(
        {"a:cc": judged("a"), "a:w": words("a"), "b:cc": judged("b"), "b:w": words("b")}
    )
    assert [(s.baseline, s.system) for s in found.systems] == [("a:cc", "b:cc"), ("a:w", "b:w")]
    assert [(a.left, a.right) for a in found.agreements] == [("a:cc", "a:w"), ("b:cc", "b:w")]
    assert found.not_compared == {}


def test_a_metric_without_judgements_is_reported_as_not_compared() -> None:
    signature = "g|data:d/c@1|n:1"
    gap = EvaluationResult("d", "c", "de", "gap", signature, N, {"bleu_gap": -0.1}, {}, (), ())
    found = compare({"a": judged("a"), "gap": gap, "b": judged("b")})
    assert list(found.not_compared) == ["gap"]
    assert "not compared: gap: its metric judges the whole" in shown(found)
    with pytest.raises(InputError, match="no other result has judgements of single translations"):
        compare({"a": judged("a"), "gap": gap})
    with pytest.raises(InputError, match="can be compared to none of the others"):
        compare({"a": gap, "b": gap})


def other_id(result: EvaluationResult) -> EvaluationResult:
    first, *others = result.judgements
    return replace(result, judgements=(replace(first, example_id="strange"), *others))


def both(**changes: Any) -> dict[str, EvaluationResult]:
    """Return results of a, and of b with these changes."""
    return {"a": judged("a"), "b": replace(judged("b"), **changes)}


@cases_by_message(
    ("results", "message"),
    [
        (lambda: {"a": judged("a")}, "at least two results to compare, got 1"),
        (lambda: both(config="x"), r"a is of d c de \(d/c@1\), b of d x de"),
        (lambda: both(signature="cc|data:d/c@2"), r"b of d c de \(d/c@2\)"),
        (
            lambda: {"a": judged("a"), "b": other_id(judged("b"))},
            "a has no judgement of 1 of the 60 examples of b, such as example strange; evaluate both",
        ),
        (lambda: {"a": other_id(judged("a")), "w": words("a")}, "a .*can be compared to none"),
        (lambda: {"a": judged("a"), "w": words("b")}, "same metric, or of the same translations"),
        (
            lambda: {"a": judged("a"), "b": judged("b", coarse_scores)},
            "options: eval is 'function hash_scores@.*' and 'function coarse_scores@.*same options$",
        ),
        (
            lambda: {"a": judged("a", lambda s, t: hash_scores(s, t)), "b": judged("b")},
            r"eval is 'function <lambda>@.*give the function a name \(its attribute `signature_name",
        ),
        (
            lambda: {"a": judged("a", _unnamed), "b": judged("b", _unnamed)},
            r"'function <lambda>@.*' and 'function <lambda>@.*give the function a name",
        ),
        (
            lambda: {"a": judged("a"), "b": judged("b", _namesake)},
            "example id0: a and b have the same translation, with the scores .*functions of one name",
        ),
        (
            lambda: both(judgements=judged("b").judgements[:-1]),
            "b: expected 60 judgements, as the result says, got 59",
        ),
        (lambda: both(judgements=judged("b").judgements[:1] * 2), "b: .*several of example id0"),
        (
            lambda: both(
                judgements=tuple(replace(j, category="x") for j in judged("b").judgements)
            ),
            "example id0: a has the category 'female', b has 'x'",
        ),
    ],
)
def test_results_that_cannot_be_compared_are_refused(
    results: Callable[[], dict[str, EvaluationResult]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compare(results())


def test_functions_of_one_name_are_told_apart_by_their_scores() -> None:
    """The figures of one function are 1.0, of the other 0.0, and both had one signature."""
    right: Callable[[Any, Any], list[float]] = lambda s, t: [float(x[0] == "c") for x in s]  # noqa: E731
    wrong: Callable[[Any, Any], list[float]] = lambda s, t: [float(x[0] == "i") for x in s]  # noqa: E731
    first, second = judged("a", right), judged("a", wrong)
    assert (first.scores["accuracy"], second.scores["accuracy"]) == (1.0, 0.0)
    assert first.signature != second.signature
    assert judged("a", right).signature == first.signature
    assert "eval:function <lambda>@scores.e569976e|" in first.signature  # in every process
    backwards = evaluate(
        TEXTS["a"][::-1], REFERENCES[::-1], right, **OPTIONS | {"ids": OPTIONS["ids"][::-1]}
    )
    assert backwards.signature == first.signature


def test_a_function_that_the_caller_named_judges_several_systems() -> None:
    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return hash_scores(sources, translations)

    named = functools.partial(scores)
    assert "eval:function <partial>@scores." in judged("a", named).signature
    named.signature_name = "my scores"  # type: ignore[attr-defined]
    results = {name: judged(name, named) for name in "ab"}
    assert "eval:function my scores@scores." in results["a"].signature
    assert compare(results).systems


def test_pairs_that_cannot_be_joined_are_reported() -> None:
    found = compare(
        {"a": judged("a"), "b": judged("b"), "w": other_id(words("a")), "x": other_id(words("b"))}
    )
    assert len(found.systems) == 2
    assert set(found.not_compared) == {"a and w", "a and x", "b and w", "b and x"}


def test_the_json_is_strict_and_complete(tmp_path: Path) -> None:
    found = compare({"a": judged("a"), "b": judged("b"), "w": words("b")})
    row = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert row["systems"][0]["differences"]["accuracy"]["interval"]["level"] == 0.95
    assert row["agreements"][0]["confusion"]
    assert row["signature"] == found.signature


def test_results_are_named_after_their_files(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    one, other = (
        write_result(tmp_path, "one", judged("a")),
        write_result(tmp_path, "x/one", judged("b")),
    )
    several = tmp_path / "set.json"
    several.write_text(ResultSet((judged("a"), words("a"))).to_json(), encoding="utf-8")
    expected = {"one", "set:contrastive_conditioning", "set:words"}
    assert set(read_results([one, several])) == expected
    assert set(read_results([one, other])) == {str(one), str(other)}
    found = read_results([several], metric="words")
    assert {name: result.metric for name, result in found.items()} == {"set": "words"}
    with pytest.raises(InputError, match=r"one\.json: expected a.*got contrastive_conditioning"):
        read_results([one], metric="words")
    with pytest.raises(InputError, match="is named twice"):
        read_results([one] * 2)
    with pytest.raises(InputError, match="file not found"):
        read_results([tmp_path / "none.json"])
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.json: expected the JSON of an evaluation result"):
        read_results([tmp_path / "bad.json"])


def test_results_are_named_after_their_systems(tmp_path: Path) -> None:
    aws, bing = (replace(judged(name), system=name) for name in ("a", "b"))
    files = [tmp_path / "1.json", write_result(tmp_path, "2", bing)]
    both = ResultSet((aws, replace(words("a"), system="a")))
    files[0].write_text(both.to_json(), encoding="utf-8")
    assert list(read_results(files)) == ["a:contrastive_conditioning", "a:words", "b"]
    assert list(read_results(files, metric="contrastive_conditioning")) == ["a", "b"]
    # Two results of one system by one metric are told apart by their files.
    write_result(tmp_path, "2", replace(bing, system="a"))
    assert list(read_results(files, metric="contrastive_conditioning")) == ["1", "2"]


def test_one_verdict_of_twenty_is_no_significant_difference_anywhere() -> None:
    rows = [{"category": category} for category in ["female"] * 19 + ["male"]]
    texts = ["Ärztin"] * 11 + ["Arzt"] * 8
    results = {
        name: evaluate_metric(Words(), [*texts, last], rows, **{**OPTIONS, "ids": None})
        for name, last in (("a", "Ärztin"), ("b", "Arzt"))
    }
    found = compare(results)
    assert {one.p_value for one in found.systems[0].differences.values()} == {1.0}
    assert found.systems[0].mcnemar.p_value == 1.0
    text = shown(found, width=200)
    assert re.search(r"male +100\.0 +0\.0 +−100\.0 +1\.000", text)
    assert re.search("difference in .*male.*: no interval: n = 1, .* at least 20", text)
    report = build_report([System(name, {"words": result}) for name, result in results.items()])
    cells = [cell for table in report_tables(report) for row in table.rows for cell in row.cells]
    assert not any(cell.is_significant for cell in cells)
    assert any("no interval: n = 1," in cell.difference_interval for cell in cells)
    assert not re.search(r"\^\{\*\}|\d\}?\*", latex_paper_table(report) + latex_report(report))
    assert not re.search(r"\d\\?\*", markdown_report(report))


def test_the_two_of_a_pair_are_exchanged_together() -> None:
    results = {}
    for name, word in (("a", "Ärztin"), ("b", "Arzt")):
        rows = [
            {"reference": "Ärztin", "contrastive_reference": "Arzt", "category": c, "pair": str(i)}
            for i in range(3)
            for c in ("female", "male")
        ]
        results[name] = evaluate_metric(
            "gender_accuracy", [word] * 6, rows, **{**OPTIONS, "ids": None}
        )
    assert [j.pair for j in results["a"].judgements] == list("001122")
    again = {name: EvaluationResult.from_json(r.to_json()) for name, r in results.items()}
    assert again == results
    (one,) = compare(again).systems
    assert one.differences["accuracy"].p_value == 2 / 2**3
    alone = {
        name: replace(r, judgements=tuple(replace(j, pair="") for j in r.judgements))
        for name, r in results.items()
    }
    assert compare(alone).systems[0].differences["accuracy"].p_value == 2 / 2**6
    older = {"a": alone["a"], "b": results["b"]}
    assert compare(older).systems[0].differences["accuracy"].p_value == 2 / 2**3


@pytest.mark.parametrize(("n_resamples", "bound"), [(1000, "< 0.001"), (100, "< 0.010")])
def test_p_at_the_floor_of_the_resamples_is_a_bound(n_resamples: int, bound: str) -> None:
    verdicts = {"right": (True, "correct", "y"), "wrong": (False, "incorrect", "x")}
    results = {
        name: replace(
            words("a"),
            judgements=tuple(
                replace(j, is_correct=is_correct, verdict=verdict, translation=text)
                for j in words("a").judgements
            ),
        )
        for name, (is_correct, verdict, text) in verdicts.items()
    }
    found = compare(results, n_resamples=n_resamples)
    assert found.systems[0].differences["accuracy"].p_value == 1 / (n_resamples + 1)
    (line,) = [line for line in shown(found).splitlines() if line.strip().startswith("accuracy")]
    assert line.rstrip().endswith(bound)
    systems = [System(name, {"words": result}) for name, result in results.items()]
    report = build_report(systems, n_resamples=n_resamples)
    assert summary_table(report).rows[1].cells[0].p == bound
    assert f"{n_resamples:,} random exchanges" in summary_table(report).caption


def test_the_table_says_where_interval_and_p_come_from() -> None:
    text = " ".join(shown(compare({"a": judged("a"), "b": judged("b")}, n_resamples=50)).split())
    assert "intervals of differences follow from those of both systems" in text
    assert "p comes from paired approximate randomisation (50 random exchanges" in text
    assert "McNemar's p is exact" in text


def test_tables_show_every_figure_in_full() -> None:
    found = compare({"a": judged("a"), "b": judged("b"), "w": words("b")})
    text = shown(found)
    assert "…" not in text
    (one,) = found.systems
    labels = {"accuracy": "accuracy", "min_accuracy": "minimum"}
    labels |= {f"accuracy_{category}": category for category in ("male", "female")}
    weighted = {f"weighted_{name}": f"weighted {label}" for name, label in labels.items()}
    for name, label in (labels | weighted | {"weighted_accuracy": "weighted"}).items():
        figure = one.differences[name]
        values = [100 * figure.first, 100 * figure.second, 100 * figure.difference]
        row = " +".join([label, *(f"{value:.1f}".replace("-", "−") for value in values)])
        assert re.search(rf"^ +{row} \(", text, re.MULTILINE), label
    n_only = f"{one.mcnemar.n_only_first} +{one.mcnemar.n_only_second}"
    assert re.search(f"only this one right +{n_only} +McNemar", text)
    assert f"{found.agreements[0].kappa:.3f} (" in text
    assert "b (rows) and w (columns) on the same translations, n = 60" in " ".join(text.split())
    assert re.search(r"^ +inconclusive +\d+ +\d+ +\d+", text, re.MULTILINE)


def test_the_compare_command_prints_and_writes_json(tmp_path: Path) -> None:

    a, b = (write_result(tmp_path, name, judged(name)) for name in "ab")
    found = printed_by(f"compare {a} {b} --seed 3 --resamples 50 -o {tmp_path}/o.json")
    expected = compare({"a": judged("a"), "b": judged("b")}, n_resamples=50, seed=3)
    assert (tmp_path / "o.json").read_text(encoding="utf-8") == expected.to_json()
    assert expected.signature in found.replace("\n", "")
    assert "b against the baseline a, n = 60" in " ".join(found.split())
    header = next(line for line in found.splitlines() if "difference (95 %)" in line)
    assert header.split() == ["a", "b", "difference", "(95", "%)", "p"]


@pytest.mark.shared
def test_random_scores_of_two_systems_on_winomt_do_not_differ(shared: Path, tmp_path: Path) -> None:
    results = {}
    for system in ("aws", "google"):
        translations = shared / "upstream/gabrielStanovsky/mt_gender/translations"
        lines = (translations / system / "en-de.txt").read_text(encoding="utf-8").split("\n")
        text = "\n".join(filter(None, lines))
        (tmp_path / f"{system}.txt").write_text(text, encoding="utf-8")
        results[system] = evaluate_dataset(
            "winomt",
            tgt_lang="de",
            translations=tmp_path / f"{system}.txt",
            evaluator=hash_scores,
            data_dir=shared / "upstream",
        )
    (one,) = compare(results).systems
    assert one.n == 3648
    test, accuracy = one.mcnemar, one.differences["accuracy"]
    assert test.n_only_second - test.n_only_first == round(accuracy.difference * one.n)
    first, second = (results[system].scores["accuracy"] for system in ("aws", "google"))
    assert accuracy.difference == second - first
    # scores of a hash differ only by chance
    assert accuracy.p_value == pytest.approx(test.p_value, abs=0.05)
    assert accuracy.p_value > 0.05


def test_a_difference_without_an_interval_is_noted_under_its_name() -> None:
    table = comparison_tables(compare({"a": judged("a"), "b": judged("a")}, n_resamples=10))
    assert "b: difference in accuracy, " in printed(table, width=200)


@pytest.mark.parametrize(
    ("shared", "n", "rates"),
    [("answered", 40, (0.25, 0.5)), ("decided", 30, (1 / 3, 2 / 3))],
)
def test_flips_are_counted_among_shared_translations(
    shared: str, n: int, rates: tuple[float, float]
) -> None:
    senses = {"animal": ["Fledermaus"], "stick": ["Keule"]}
    row = {"source": "A bat.", "homograph": "bat", "start": 2, "cluster": "animal"}
    references = [{**row, "senses": senses}] * 42
    texts = {
        "a": [*["Keule"] * 10, *["Fledermaus"] * 20, *["Tier"] * 10, "", "Keule"],
        "b": [*["Keule"] * 20, *["Fledermaus"] * 20, "Keule", " "],
    }
    results = {
        name: evaluate_metric(
            "homograph_accuracy", lines, references, tgt_lang="de", n_resamples=10
        )
        for name, lines in texts.items()
    }
    found = compare(results, shared=shared, n_resamples=10)
    (pair,) = found.systems
    assert (pair.n, found.left_out) == (n, {"a": 42 - n, "b": 42 - n})
    flips = pair.differences["flip_rate"]
    assert (flips.first, flips.second) == pytest.approx(rates)
    assert f"|samples:shared.{shared}|" in found.signature
    assert "flip rate" in shown(found)
