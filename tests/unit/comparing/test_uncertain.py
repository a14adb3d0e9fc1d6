from dataclasses import replace

from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.reports.tables.comparisons import uncertain_tables
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers import reported
from tests.helpers.results import small_result
from tests.helpers.usual import judgement, printed, refuses


def result(**changes: object) -> EvaluationResult:
    judgements = []
    for name, p in {"a": 0.5, "b": 0.56, "c": 0.46, "d": 0.55, "e": None, "f": 0.1}.items():
        is_right = p is None or p >= 0.5
        verdict = ("incorrect", "correct")[is_right]
        category = "female" if name in "ab" else "male"
        made = Judgement(name, category, is_right, f"Übersetzung {name}", verdict)
        judgements.append(replace(made, probability_correct=p))
    return replace(small_result((0.5, 0.5)), judgements=tuple(judgements), **changes)  # type: ignore[arg-type]


def test_samples_near_the_middle_are_listed_the_least_sure_first() -> None:
    samples = uncertain_samples(result())
    assert [s.example_id for s in samples.samples] == ["a", "c", "d"]
    assert (samples.n, samples.within) == (5, 0.05)
    rows = [tuple(row.values()) for row in samples.to_dict()["categories"]]
    assert rows == [("female", 2, 1), ("male", 3, 2)]

    for within, ids in ((0.06, "acdb"), (0, "a")):
        assert [s.example_id for s in uncertain_samples(result(), within=within).samples] == [*ids]


def test_other_metrics_say_what_they_read_in_the_same_translations() -> None:
    texts = {"a": "Übersetzung a", "c": "eine andere"}
    read = {"predicted": "neutral", "gold": "male"}
    judgements = tuple(judgement(n, "incorrect", t, "male", **read) for n, t in texts.items())
    other = replace(result(metric="winomt_pattern_matching"), judgements=judgements)
    samples = uncertain_samples(result(), others=[other], examples=reported.examples())
    readings = [dict(s.readings)["winomt_pattern_matching"] for s in samples.samples]
    assert readings == ["neutral", "", ""]

    text = printed(uncertain_tables(samples, result(), n_shown=1))
    assert "a: 50.0 %, female, WinoMT pattern matching: neutral" in text
    assert "and 2 more" in text
    assert "Übersetzung c" not in text


def test_results_without_probabilities_and_other_data_are_refused() -> None:
    refuses("expected a result with probabilities", uncertain_samples, small_result((0.5, 0.5)))
    others = [small_result((0.5, 0.5), dataset="mucow")]
    refuses("expected results on the same data", uncertain_samples, result(), others=others)
    refuses(r"within: .* number from 0 to 0\.5, got 5", uncertain_samples, result(), within=5)
