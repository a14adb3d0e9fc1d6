"""Tables of the study on a terminal of 80 columns: no cell is cut, and no line is wider."""

from __future__ import annotations

from cc_hf.statistics.mean_tests import TTest
from cc_hf.studies.wino_x.bias_tables import bias_tables, trigger_importance_tables
from cc_hf.studies.wino_x.salience import Importance, SubwordImportance, TriggerImportance
from cc_hf.studies.wino_x.tables import curve_tables
from tests.helpers.terminal import printed


def test_learning_curves_fit() -> None:
    row = {"n": 12345, "accuracy": 0.98765, "pair_accuracy": 0.5, "n_ties": 1234}
    accuracies = {"mt_en_de.dev": row, "test": {**row, "pair_accuracy": None}}
    sizes = {"n_train": 100000, "n_epochs": 100, "best_epoch": 99}
    curve = {"eval": "m", "data": "d", "objective": "o", "splits": {}}
    shown = printed(*curve_tables({**curve, "points": [{**sizes, "accuracies": accuracies}]}))
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
