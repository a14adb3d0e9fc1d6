from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cc_hf.comparing.people.labels import with_labels
from cc_hf.comparing.people.sampling import draw_sample, inclusion_of_system
from cc_hf.comparing.people.sheets import key_text, rater_files
from cc_hf.data.loading import load_examples
from cc_hf.errors import InputError
from cc_hf.evaluation.correction import corrected
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from cc_hf.statistics.bootstrap import known_intervals
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
        judgements.append(
            Judgement(example.id, example.category, verdict == "correct", f"{system} {i}", verdict)
        )
    summary = summarize(judgements)
    return EvaluationResult(
        "simplegen", "en-de", "de", metric, f"{metric}|data:simplegen/en-de@1|n:{N}", N,
        summary.scores, known_intervals(summary.intervals), summary.categories, tuple(judgements), system=system,
    )  # fmt: skip


def _rows(result: EvaluationResult, step: int, **more: Any) -> list[dict[str, Any]]:
    """Return labels of each so-manieth translation by two people who agree."""
    rows = []
    for i in range(0, N, step):
        label = "correct" if _is_right(i) else "wrong"
        judgement = result.judgements[i]
        rows.append(
            {"id": judgement.example_id, "translation": judgement.translation}
            | {f"binarized_annotator{n}": label for n in (1, 2)}
            | more
        )
    return rows


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_labels_with_their_probability_correct_the_figures(tmp_path: Path) -> None:
    result = _result()
    rows = _rows(result, 3, inclusion=1 / 3)
    rows[0]["binarized_annotator2"] = "correct"
    found = with_labels(result, [_write(tmp_path / "labels.jsonl", rows)])
    interval = found.intervals["corrected_accuracy"]
    assert interval.low < 0.7 < interval.high
    assert found.counts["n_trusted"] == 134
    assert found.judgements[0].trusted == 0.5
    assert (found.judgements[3].trusted, found.judgements[3].inclusion) == (1, 1 / 3)
    assert "|trusted:people/n134" in found.signature


def test_where_all_are_labelled_no_probability_is_needed(tmp_path: Path) -> None:
    result = _result()
    found = with_labels(result, [_write(tmp_path / "labels.jsonl", _rows(result, 1))])
    assert found.scores["corrected_accuracy"] == pytest.approx(0.7)


@pytest.mark.parametrize(("rated", "n_trusted"), [("all", 200), ("undecided", 200)])
def test_filled_sheets_keep_how_they_were_drawn(rated: str, n_trusted: int, tmp_path: Path) -> None:
    result = _result()
    examples = load_examples("simplegen", "en-de")[:N]
    golds = {e.id: e.gold for e in examples}
    n = 200 if rated == "all" else 20
    key = draw_sample({"a": result}, examples, n=n, rated=rated)
    (tmp_path / "key.json").write_text(key_text(key), encoding="utf-8")
    rows = {row.id: row.origins[0] for row in key.rows}
    numbers = {j.example_id: i for i, j in enumerate(result.judgements)}
    other = {"male": "Female", "female": "Male"}
    for name, text in rater_files(key).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        if name.endswith(".csv"):
            fill(
                tmp_path / name,
                lambda row: [
                    golds[rows[row["id"]]["example_id"]]
                    if _is_right(numbers[rows[row["id"]]["example_id"]])
                    else other[golds[rows[row["id"]]["example_id"]]]
                ],
            )
    files = [tmp_path / name for name in ("key.json", "rater1.csv", "rater2.csv")]
    found = with_labels(result, files)
    assert found.counts["n_trusted"] == n_trusted
    interval = found.intervals["corrected_accuracy"]
    # Verdicts that stand for labels are wrong on a twentieth of the samples.
    assert interval.low < (0.7 if rated == "all" else 0.65) < interval.high
    inclusion = {j.inclusion for j in found.judgements if j.trusted is not None}
    assert inclusion == {0.5}
    assert ("stand for 180 labels" in found.notes[0]) == (rated == "undecided")
    settings = json.loads(files[0].read_text(encoding="utf-8"))
    settings["settings"]["systems"]["a"]["n_decided"] -= 1
    files[0].write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(InputError, match="all 400 translations"):
        with_labels(result, files)


def test_uncertain_translations_are_drawn_more_often_and_weigh_less() -> None:
    examples = load_examples("simplegen", "en-de")[:N]
    random = np.random.default_rng(0)
    probabilities = random.beta(1.5, 0.5, size=N)
    judgements = tuple(
        replace(
            j,
            verdict=("incorrect", "correct")[p >= 0.5],
            is_correct=bool(p >= 0.5),
            probability_correct=p,
        )
        for j, p in zip(_result().judgements, map(float, probabilities), strict=True)
    )
    result = replace(_result("contrastive_conditioning"), judgements=judgements)
    truth = random.random(N) < probabilities
    true_accuracy, hits, widths = truth.mean(), 0, {"all": 0.0, "uncertain": 0.0}
    for seed in range(40):
        for rated in widths:
            key = draw_sample({"a": result}, examples, n=100, rated=rated, seed=seed)
            inclusion = inclusion_of_system(key, "a", N)
            assert len(inclusion) == 100
            trusted = {
                j.example_id: float(t)
                for j, t in zip(judgements, truth, strict=True)
                if j.example_id in inclusion
            }
            found = corrected(result, trusted, by="people", about="labels", inclusion=inclusion)
            interval = found.intervals["corrected_accuracy"]
            widths[rated] += interval.high - interval.low
            hits += rated == "uncertain" and interval.low <= true_accuracy <= interval.high
    assert (
        min(
            inclusion_of_system(
                draw_sample({"a": result}, examples, n=100, rated="uncertain"), "a", N
            ).values()
        )
        >= 0.12
    )
    everything = draw_sample({"a": result}, examples, n=N, rated="uncertain")
    assert set(inclusion_of_system(everything, "a", N).values()) == {1.0}
    most = inclusion_of_system(
        draw_sample({"a": result}, examples, n=350, rated="uncertain"), "a", N
    )
    assert (len(most), max(most.values())) == (350, 1.0)
    assert hits >= 37
    assert widths["uncertain"] < 0.97 * widths["all"]


def test_a_corrected_result_of_another_system_transfers(tmp_path: Path) -> None:
    other = _result(system="b")
    labelled = with_labels(other, [_write(tmp_path / "l.jsonl", _rows(other, 2, inclusion=0.5))])
    (tmp_path / "b.json").write_text(labelled.to_json(), encoding="utf-8")
    found = with_labels(_result(), [tmp_path / "b.json"])
    assert "transferred_accuracy" in found.scores
    assert "corrected_accuracy" not in found.scores
    (tmp_path / "c.json").write_text(other.to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="without"):
        with_labels(_result(), [tmp_path / "c.json"])
    with pytest.raises(InputError, match=r"c\.json: expected a result by gender_accuracy"):
        with_labels(_result("gender_accuracy"), [tmp_path / "c.json"])
    for option in ("cues:other", "langs:en-fr"):
        signature = labelled.signature.replace("|n:", f"|{option}|n:")
        (tmp_path / "d.json").write_text(replace(labelled, signature=signature).to_json(), "utf-8")
        with pytest.raises(InputError, match=rf"another '{option.partition(':')[0]}'"):
            with_labels(_result(), [tmp_path / "d.json"])


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (["l.jsonl"], {}, r"l\.jsonl: example .*: expected the key inclusion"),
        (["l.jsonl"], {"inclusion": 0}, r"l\.jsonl: line 1: inclusion: expected a probability"),
        (["l.jsonl"], {"translation": "other", "inclusion": 0.5}, "other"),
        (["l.jsonl", "m.jsonl"], {}, "2 files without a key"),
        (["a.json", "b.json"], {}, "2 keys"),
    ],
)
def test_labels_that_would_bias_are_refused(
    names: list[str], more: dict[str, Any], message: str, tmp_path: Path
) -> None:
    result = _result()
    files = [_write(tmp_path / name, _rows(result, 2, **more)) for name in names]
    with pytest.raises(InputError, match=message):
        with_labels(result, files)
