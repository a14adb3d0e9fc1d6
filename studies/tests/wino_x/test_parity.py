"""Parity with the analyses of Emelin & Sennrich 2021 (thesis, chapter 4), see PROVENANCE.md."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.common.mean_tests import cohen_d, t_test
from cc_hf_studies.common.rank_tests import RankTest
from cc_hf_studies.wino_x import salience
from cc_hf_studies.wino_x.referent_bias import ReferentBias, referent_bias
from cc_hf_studies.wino_x.referent_choices import read_choices

import cc_hf
from cc_hf.reading import read_lines
from tests.helpers.usual import read_json, read_jsonl, write_jsonl
from tests.helpers.wino_x_schemas import lay_out

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def recorded(shared: Path) -> Any:
    return read_json(shared / "gold/wino_x/bias/gold_bias.json")["de"]


@pytest.fixture(scope="module")
def bias(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> ReferentBias:
    """Return the bias computed from the recorded perplexities, one line per translation, through
    the data and a file of preferences.
    """
    folder, gold = tmp_path_factory.mktemp("wino_x"), shared / "gold/wino_x/bias"
    rows = read_jsonl(gold / "synthetic.en_de.jsonl")
    lay_out(folder, "mt", rows)
    scores = [float(line) for line in read_lines(gold / "de/scores.txt")]
    pairs = zip(scores[::2], scores[1::2], strict=True)
    preferred = ["tie" if a == b else 1 if a < b else 2 for a, b in pairs]
    ids = [row["qID"] for row in rows]
    preferences = [{"id": i, "preferred": p} for i, p in zip(ids, preferred, strict=True)]
    path = write_jsonl(folder / "preferences.jsonl", preferences)
    examples = cc_hf.load_examples("wino_x", "mt_en_de.translations", data_dir=folder)
    return referent_bias(read_choices(path, examples))


def check(test: RankTest, gold: dict[str, float]) -> None:
    """Compare with the program's RBC, 1 - 2 U / (n1 n2), which has the opposite sign."""
    assert test.u == gold["U"]
    assert test.p_value == pytest.approx(gold["p"], rel=1e-12)
    assert test.rank_biserial == pytest.approx(-gold["RBC"], abs=1e-12)


def test_accuracies_equal_the_recorded_ones(recorded: Any, bias: ReferentBias) -> None:
    assert (bias.n, bias.n_correct) == (recorded["n"], recorded["num_correct"])
    assert (bias.n_correct_pairs, bias.n_pairs) == (recorded["num_correct_pairs"], 100)
    accuracies = (recorded["accuracy"], recorded["pair_accuracy"])
    assert (bias.accuracy, bias.pair_accuracy) == accuracies


def test_frequencies_by_gender_and_position_are_equal(recorded: Any, bias: ReferentBias) -> None:
    preferred = {name: f.n_preferred for name, f in bias.genders.items()}
    rejected = {name: f.n_offered - f.n_preferred for name, f in bias.genders.items()}
    correct = {name: f.n_correct for name, f in bias.genders.items()}
    genders = {"model_preference": preferred, "model_rejection": rejected}
    counts = recorded["gender_counts"]
    assert {**counts, **genders, "reference_true": correct} == counts
    positions = {name: f.n_preferred for name, f in bias.positions.items()}
    assert positions == recorded["position_counts"]["model_preference"]
    assert (bias.n_open, bias.n_unknown_gender, bias.n_unknown_position) == (6, 0, 0)


def test_bias_tests_equal_the_recorded_ones(recorded: Any, bias: ReferentBias) -> None:
    tests = recorded["mwu"]
    check(bias.test("gender").test, tests["gender_model"])
    check(bias.test("gender").references, tests["gender_references"])
    check(bias.test("gender", "thesis").test, recorded["gender_model_thesis_coding"])
    check(bias.test("position").test, tests["position_model"])
    strength = abs(tests["gender_model"]["RBC"])
    assert bias.test("gender").strength == pytest.approx(strength, abs=1e-9)
    assert bias.test("position").size == "medium"
    assert bias.test("gender", "thesis").size == "large"


def saliences(folder: Path) -> list[salience.Salience]:
    """Return the saliences of the program's table: sub-words with @@, "it" and the referents of the
    samples.
    """
    inputs = read_json(folder / "gold.json")["inputs"]
    actual = []
    for row, sample in zip(inputs, read_jsonl(folder / "samples.jsonl"), strict=True):
        assert row["qID"] == sample["qID"]
        *scores, end = row["saliency_scores"]
        words: list[list[tuple[str, float]]] = []
        ambiguous = -1
        for position, (piece, value) in enumerate(scores):
            if not words or not words[-1][-1][0].endswith("@@"):
                words.append([])
            words[-1].append((piece, value))
            if position == row["src_prn_id"]:
                ambiguous = len(words) - 1
        whole = []
        for word in words:
            text = "".join(piece.removesuffix("@@") for piece, _ in word)
            mean = sum(value for _, value in word) / len(word)
            whole.append(salience.WordSalience(text, -1, mean, tuple(word)))
        name, order = sample["qID"], (1, 2) if sample["answer"] == 1 else (2, 1)
        first, second = (sample[f"referent{i}_en"] for i in order)
        marked = (tuple(whole), ambiguous, (tuple(end),), (first, second))
        actual.append(salience.Salience(name, name[:-2], sample["sentence"], "p", 0.5, *marked))
    return actual


def test_words_triggers_and_referents_equal_those_of_the_program(shared: Path) -> None:
    folder = shared / "gold/wino_x/saliency"
    table, actual = read_json(folder / "saliency_table_prediction_diff.json"), saliences(folder)
    recorded = [
        table[sentence.pair.removeprefix("SAL-")][sentence.example_id[-1]] for sentence in actual
    ]
    for sentence, expected in zip(actual, recorded, strict=True):
        words = [*((word.text, word.salience) for word in sentence.words), *sentence.marks]
        assert [text for text, _ in words] == [text for text, _ in expected["word_saliency_scores"]]
        values = [_single(value) for _, value in expected["word_saliency_scores"]]
        assert [value for _, value in words] == pytest.approx(values, abs=1e-12)
        referents = (expected["true_ref_score"], expected["false_ref_score"])
        assert salience.referent_salience(sentence) == pytest.approx(referents, abs=1e-12)
    pieces = [
        [*(p for word in sentence.words for p in word.subwords), *sentence.marks]
        for sentence in actual
    ]
    for start in range(0, len(actual), 2):
        left, right = ([text for text, _ in pieces[i]] for i in (start, start + 1))
        for side in (0, 1):
            common = {pair[side] for pair in salience.shared_words(left, right)}
            triggers = [list(p) for i, p in enumerate(pieces[start + side]) if i not in common]
            assert triggers == recorded[start + side]["trigger_saliency_scores"]


def _single(value: float | Sequence[float]) -> float:
    # the program leaves the last word as a list
    return value if isinstance(value, float) else value[0]


def test_trigger_importance_equals_the_recorded_one(shared: Path) -> None:
    folder = shared / "gold/wino_x/saliency"
    gold, rows = read_json(folder / "gold.json"), saliences(folder)
    actual = salience.trigger_importance(rows)
    assert actual.as_program is not None
    assert actual.referents is not None
    triggers, referents = gold["ttest_triggers"], gold["ttest_referents"]
    test = actual.as_program.test
    assert actual.as_program.effect == pytest.approx(triggers["cohen-d"], abs=1e-12)
    assert (test.t, test.p_value) == pytest.approx((triggers["T"], triggers["p-val"]), abs=1e-12)
    assert test.degrees_of_freedom == pytest.approx(triggers["dof"], abs=1e-9)
    # triggers matter less, which the program hides by an absolute value
    assert actual.triggers.effect < 0
    assert abs(actual.referents.effect) == pytest.approx(referents["cohen-d"], abs=1e-12)
    correct, incorrect = zip(*filter(None, map(salience.referent_salience, rows)), strict=True)
    student = t_test(correct, incorrect, equal_variances=True)
    recorded = [referents[name] for name in ("T", "dof", "p-val")]
    computed = [student.t, student.degrees_of_freedom, student.p_value]
    assert computed == pytest.approx(recorded, abs=1e-12)
    assert cohen_d(correct, incorrect) == actual.referents.effect
