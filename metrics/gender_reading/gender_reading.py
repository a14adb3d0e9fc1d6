"""Gender reading as a module of the `evaluate` library."""

import evaluate

import cc_hf.evaluation.judging
import cc_hf.plugins.gender_reading.metric


class GenderReading(cc_hf.evaluation.judging.MetricModule, evaluate.Metric):
    """What the class of the metric declares."""

    metric = cc_hf.plugins.gender_reading.metric.GenderReading
