"""Homograph accuracy as a module of the `evaluate` library."""

import evaluate

import cc_hf.evaluation.judging
import cc_hf.test_sets.mucow.homograph_accuracy


class HomographAccuracy(cc_hf.evaluation.judging.MetricModule, evaluate.Metric):
    """What the class of the metric declares."""

    metric = cc_hf.test_sets.mucow.homograph_accuracy.HomographAccuracy
