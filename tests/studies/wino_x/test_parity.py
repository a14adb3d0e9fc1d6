"""Parity with the analyses of Emelin & Sennrich 2021 (thesis, chapter 4), see PROVENANCE.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.statistics.mean_tests import cohen_d, t_test
from cc_hf.statistics.rank_tests import RankTest
from cc_hf.studies.wino_x.referent_bias import ReferentBias, referent_bias
from cc_hf.studies.wino_x.referent_choices import read_choices
from cc_hf.studies.wino_x.salience import (
    Salience,
    WordSalience,
    referent_salience,
    shared_words,
    trigger_importance,
)
from tests.helpers.samples import declare_wino_x

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def recorded(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (shared / "gold/wino_x/bias/gold_bias.json").read_text(encoding="utf-8")
    )["de"]
    return found


@pytest.fixture(scope="module")
def found(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> ReferentBias:
    """Return the bias computed from the recorded perplexities, one line per translation, through
    the data and a file of preferences.
    """
    folder = tmp_path_factory.mktemp("wino_x")
    rows = (shared / "gold/wino_x/bias/synthetic.en_de.jsonl").read_text(encoding="utf-8")
    data = folder / "demelin/wino_x/data/mt/en_de_test.jsonl"
    data.parent.mkdir(parents=True)
    data.write_text(rows, encoding="utf-8")
    declare_wino_x(folder)
    scores = [
        float(line)
        for line in (shared / "gold/wino_x/bias/de/scores.txt").read_text(encoding="utf-8").split()
    ]
    preferred = [
        "tie" if first == second else 1 if first < second else 2
        for first, second in zip(scores[::2], scores[1::2], strict=True)
    ]
    path = folder / "preferences.jsonl"
    ids = [json.loads(row)["qID"] for row in rows.splitlines()]
    path.write_text(
        "".join(
            json.dumps({"id": name, "preferred": number}) + "\n"
            for name, number in zip(ids, preferred, strict=True)
        ),
        encoding="utf-8",
    )
    examples = cc_hf.load_examples("wino_x", "mt_en_de.translations", data_dir=folder)
    return referent_bias(read_choices(path, examples))


def check(test: RankTest, gold: dict[str, float]) -> None:
    """Compare with the program's RBC, 1 - 2 U / (n1 n2), which has the opposite sign."""
    assert test.u == gold["U"]
    assert test.p_value == pytest.approx(gold["p"], rel=1e-12)
    assert test.rank_biserial == pytest.approx(-gold["RBC"], abs=1e-12)


def test_accuracies_equal_the_recorded_ones(recorded: dict[str, Any], found: ReferentBias) -> None:
    assert (found.n, found.n_correct, found.accuracy) == (
        recorded["n"],
        recorded["num_correct"],
        recorded["accuracy"],
    )
    assert (found.n_correct_pairs, found.n_pairs, found.pair_accuracy) == (
        recorded["num_correct_pairs"],
        100,
        recorded["pair_accuracy"],
    )


def test_frequencies_by_gender_and_position_equal_the_recorded_ones(
    recorded: dict[str, Any], found: ReferentBias
) -> None:
    genders, positions = recorded["gender_counts"], recorded["position_counts"]
    assert {name: f.n_preferred for name, f in found.genders.items()} == genders["model_preference"]
    assert {name: f.n_offered - f.n_preferred for name, f in found.genders.items()} == genders[
        "model_rejection"
    ]
    assert {name: f.n_correct for name, f in found.genders.items()} == genders["reference_true"]
    assert {name: f.n_preferred for name, f in found.positions.items()} == positions[
        "model_preference"
    ]
    assert (found.n_open, found.n_unknown_gender, found.n_unknown_position) == (6, 0, 0)


def test_bias_tests_equal_the_recorded_ones(recorded: dict[str, Any], found: ReferentBias) -> None:
    check(found.test("gender").test, recorded["mwu"]["gender_model"])
    check(found.test("gender").references, recorded["mwu"]["gender_references"])
    check(found.test("gender", "thesis").test, {**recorded["gender_model_thesis_coding"]})
    check(found.test("position").test, recorded["mwu"]["position_model"])
    assert found.test("gender").strength == pytest.approx(
        abs(recorded["mwu"]["gender_model"]["RBC"]), abs=1e-9
    )
    assert found.test("position").size == "medium"
    assert found.test("gender", "thesis").size == "large"


def saliences(shared: Path) -> list[Salience]:
    """Return the saliences of the program's table: sub-words with @@, "it" and the referents of the
    samples.
    """
    folder = shared / "gold/wino_x/saliency"
    inputs = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["inputs"]
    samples = [
        json.loads(line)
        for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    found = []
    for row, sample in zip(inputs, samples, strict=True):
        assert row["qID"] == sample["qID"]
        *scores, end = row["saliency_scores"]
        words: list[list[tuple[str, float]]] = []
        ambiguous = -1
        for at, (piece, value) in enumerate(scores):
            if not words or not words[-1][-1][0].endswith("@@"):
                words.append([])
            words[-1].append((piece, value))
            if at == row["src_prn_id"]:
                ambiguous = len(words) - 1
        whole = tuple(
            WordSalience(
                "".join(p.removesuffix("@@") for p, _ in word),
                -1,
                sum(v for _, v in word) / len(word),
                tuple(word),
            )
            for word in words
        )
        referents = sample["referent1_en"], sample["referent2_en"]
        found.append(
            Salience(
                sample["qID"],
                sample["qID"][:-2],
                sample["sentence"],
                "p",
                0.5,
                whole,
                ambiguous,
                (tuple(end),),
                referents if sample["answer"] == 1 else referents[::-1],
            )
        )
    return found


def test_words_triggers_and_referents_equal_those_of_the_program(shared: Path) -> None:
    table = json.loads(
        (shared / "gold/wino_x/saliency/saliency_table_prediction_diff.json").read_text(
            encoding="utf-8"
        )
    )
    found = saliences(shared)
    for one in found:
        own = table[one.pair.removeprefix("SAL-")][one.example_id[-1]]
        words = [*((word.text, word.salience) for word in one.words), *one.marks]
        assert [text for text, _ in words] == [text for text, _ in own["word_saliency_scores"]]
        assert [value for _, value in words] == pytest.approx(
            [_single(value) for _, value in own["word_saliency_scores"]], abs=1e-12
        )
        assert referent_salience(one) == pytest.approx(
            (own["true_ref_score"], own["false_ref_score"]), abs=1e-12
        )
    for left, right in zip(found[::2], found[1::2], strict=True):
        pieces = [
            [*(piece for word in one.words for piece in word.subwords), *one.marks]
            for one in (left, right)
        ]
        shared_ones = shared_words([text for text, _ in pieces[0]], [text for text, _ in pieces[1]])
        for side, one in enumerate((left, right)):
            common = {pair[side] for pair in shared_ones}
            own = table[one.pair.removeprefix("SAL-")][one.example_id[-1]]
            assert [
                list(piece) for at, piece in enumerate(pieces[side]) if at not in common
            ] == own["trigger_saliency_scores"]


def _single(value: float | Sequence[float]) -> float:
    # the program leaves the last word as a list
    return value if isinstance(value, float) else value[0]


def test_trigger_importance_equals_the_recorded_one(shared: Path) -> None:
    gold = json.loads((shared / "gold/wino_x/saliency/gold.json").read_text(encoding="utf-8"))
    found = trigger_importance(saliences(shared))
    assert found.as_program is not None
    assert found.referents is not None
    triggers, referents = gold["ttest_triggers"], gold["ttest_referents"]
    assert found.as_program.effect == pytest.approx(triggers["cohen-d"], abs=1e-12)
    assert found.as_program.test.t == pytest.approx(triggers["T"], abs=1e-12)
    assert found.as_program.test.degrees_of_freedom == pytest.approx(triggers["dof"], abs=1e-9)
    assert found.as_program.test.p_value == pytest.approx(triggers["p-val"], abs=1e-12)
    # triggers matter less, which the program hides by an absolute value
    assert found.triggers.effect < 0
    assert abs(found.referents.effect) == pytest.approx(referents["cohen-d"], abs=1e-12)
    pairs = [pair for one in saliences(shared) if (pair := referent_salience(one))]
    student = t_test([a for a, _ in pairs], [b for _, b in pairs], equal_variances=True)
    assert (student.t, student.degrees_of_freedom, student.p_value) == pytest.approx(
        (referents["T"], referents["dof"], referents["p-val"]), abs=1e-12
    )
    assert cohen_d([a for a, _ in pairs], [b for _, b in pairs]) == found.referents.effect
