import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cc_hf.comparing.people.labels import with_labels
from cc_hf.comparing.people.sampling import draw_sample, inclusion_of_system
from cc_hf.comparing.people.sheets import key_text, rater_files
from cc_hf.data.loading import load_examples
from cc_hf.evaluation.correction import corrected
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import known_intervals
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json
from tests.helpers.judged import judgement, result_of
from tests.helpers.lines import read_jsonl, write_jsonl
from tests.helpers.refusals import refuses
from tests.helpers.results import write_result
from tests.helpers.sheets import fill

N = 400
_VERDICTS = ("correct", "incorrect", "inconclusive")


def _is_right(i: int) -> bool:
    return i % 10 > 2


def _result(metric: str = "simplegen_accuracy", system: str = "a") -> EvaluationResult:
    """Return a result that is inconclusive on a tenth, and wrong on another one, of the samples."""
    judgements = []
    for i, example in enumerate(load_examples("simplegen", "en-de")[:N]):
        verdict = _VERDICTS[2] if i % 10 == 0 else _VERDICTS[_is_right(i) == (i % 20 == 5)]
        judgements.append(judgement(example.id, verdict, f"{system} {i}", example.category))
    summary, signature = summarize(judgements), f"{metric}|data:simplegen/en-de@1|n:{N}"
    named = {"dataset": "simplegen", "metric": metric, "signature": signature, "system": system}
    figures = {"scores": summary.scores, "intervals": known_intervals(summary.intervals)}
    return result_of(judgements, **named, **figures, categories=summary.categories)


def _labels(result: EvaluationResult, step: int, path: Path, **more: Any) -> Path:
    """Write labels of each so-manieth translation by two people who agree."""
    rows = []
    for i in range(0, N, step):
        judgement, label = result.judgements[i], "correct" if _is_right(i) else "wrong"
        labels = {f"binarized_annotator{n}": label for n in (1, 2)}
        texts = {"id": judgement.example_id, "translation": judgement.translation}
        rows.append({**texts, **labels, **more})
    return write_jsonl(path, rows)


def test_labels_with_their_probability_correct_the_figures(tmp_path: Path) -> None:
    result = _result()
    path = _labels(result, 3, tmp_path / "labels.jsonl", inclusion=1 / 3)
    first, *rows = read_jsonl(path)
    write_jsonl(path, [{**first, "binarized_annotator2": "correct"}, *rows])
    found = with_labels(result, [path])
    interval = found.intervals["corrected_accuracy"]
    assert interval.low < 0.7 < interval.high
    assert (found.counts["n_trusted"], found.judgements[0].trusted) == (134, 0.5)
    assert (found.judgements[3].trusted, found.judgements[3].inclusion) == (1, 1 / 3)
    assert "|trusted:people/n134" in found.signature


def test_where_all_are_labelled_no_probability_is_needed(tmp_path: Path) -> None:
    found = with_labels(_result(), [_labels(_result(), 1, tmp_path / "labels.jsonl")])
    assert found.scores["corrected_accuracy"] == pytest.approx(0.7)


@cases(("all", 200), ("undecided", 20))
def test_filled_sheets_keep_how_they_were_drawn(rated: str, n: int, tmp_path: Path) -> None:
    result, examples = _result(), load_examples("simplegen", "en-de")[:N]
    key = draw_sample({"a": result}, examples, n=n, rated=rated)
    files = [tmp_path / name for name in ("key.json", "rater1.csv", "rater2.csv")]
    files[0].write_text(key_text(key), encoding="utf-8")
    numbers = {example.id: i for i, example in enumerate(examples)}
    at = {row.id: numbers[row.origins[0]["example_id"]] for row in key.rows}

    def answer(row: Mapping[str, str]) -> list[str]:
        gold = examples[at[row["id"]]].gold
        other = {"Male": "Female", "Female": "Male"}[gold.title()]
        return [gold if _is_right(at[row["id"]]) else other]

    for path in files[1:]:
        path.write_text(rater_files(key)[path.name], encoding="utf-8")
        fill(path, answer)
    found = with_labels(result, files)
    assert found.counts["n_trusted"] == 200
    interval = found.intervals["corrected_accuracy"]
    # Verdicts that stand for labels are wrong on a twentieth of the samples.
    assert interval.low < (0.7 if rated == "all" else 0.65) < interval.high
    assert {j.inclusion for j in found.judgements if j.trusted is not None} == {0.5}
    assert ("stand for 180 labels" in found.notes[0]) == (rated == "undecided")
    settings = read_json(files[0])
    settings["settings"]["systems"]["a"]["n_decided"] -= 1
    files[0].write_text(json.dumps(settings), encoding="utf-8")
    refuses("all 400 translations", with_labels, result, files)


def test_uncertain_translations_are_drawn_more_often_and_weigh_less() -> None:
    examples = load_examples("simplegen", "en-de")[:N]
    random = np.random.default_rng(0)
    probabilities = random.beta(1.5, 0.5, size=N).tolist()
    changes = [{"is_correct": p >= 0.5, "probability_correct": p} for p in probabilities]
    pairs = zip(_result().judgements, changes, strict=True)
    judgements = tuple(replace(j, verdict=_VERDICTS[not c["is_correct"]], **c) for j, c in pairs)
    result = replace(_result("contrastive_conditioning"), judgements=judgements)

    def drawn(n: int, rated: str = "uncertain", seed: int = 0) -> Mapping[str, float]:
        key = draw_sample({"a": result}, examples, n=n, rated=rated, seed=seed)
        return inclusion_of_system(key, "a", N)

    truth = random.random(N) < probabilities
    true_accuracy, hits, widths = truth.mean(), 0, {"all": 0.0, "uncertain": 0.0}
    by_id = {j.example_id: float(t) for j, t in zip(judgements, truth, strict=True)}
    for seed in range(40):
        for rated in widths:
            inclusion = drawn(100, rated, seed=seed)
            assert len(inclusion) == 100
            trusted = {name: by_id[name] for name in by_id if name in inclusion}
            found = corrected(result, trusted, by="people", about="labels", inclusion=inclusion)
            interval = found.intervals["corrected_accuracy"]
            widths[rated] += interval.high - interval.low
            hits += rated == "uncertain" and interval.low <= true_accuracy <= interval.high
    assert min(drawn(100).values()) >= 0.12
    assert set(drawn(N).values()) == {1.0}
    assert (len(drawn(350)), max(drawn(350).values())) == (350, 1.0)
    assert hits >= 37
    assert widths["uncertain"] < 0.97 * widths["all"]


def test_a_corrected_result_of_another_system_transfers(tmp_path: Path) -> None:
    other = _result(system="b")
    labelled = with_labels(other, [_labels(other, 2, tmp_path / "l.jsonl", inclusion=0.5)])
    found = with_labels(_result(), [write_result(tmp_path, "b", labelled)])
    assert "transferred_accuracy" in found.scores
    assert "corrected_accuracy" not in found.scores
    for result, source, message in (
        (_result(), other, "without"),
        (_result("gender_accuracy"), other, r"c\.json: expected a result by gender_accuracy"),
        (_result(), _signed(labelled, "cues:other"), "another 'cues'"),
        (_result(), _signed(labelled, "langs:en-fr"), "another 'langs'"),
    ):
        refuses(message, with_labels, result, [write_result(tmp_path, "c", source)])


def _signed(result: EvaluationResult, option: str) -> EvaluationResult:
    return replace(result, signature=result.signature.replace("|n:", f"|{option}|n:"))


@cases(
    (["l.jsonl"], {}, r"l\.jsonl: example .*: expected the key inclusion"),
    (["l.jsonl"], {"inclusion": 0}, r"l\.jsonl: line 1: inclusion: expected a probability"),
    (["l.jsonl"], {"translation": "other", "inclusion": 0.5}, "other"),
    (["l.jsonl", "m.jsonl"], {}, "2 files without a key"),
    (["a.json", "b.json"], {}, "2 keys"),
)
def test_labels_that_bias_are_refused(names: Any, more: Any, message: str, tmp_path: Path) -> None:
    files = [_labels(_result(), 2, tmp_path / name, **more) for name in names]
    refuses(message, with_labels, _result(), files)
