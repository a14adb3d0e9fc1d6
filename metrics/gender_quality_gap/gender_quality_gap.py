"""Gender quality gap as a module of the `evaluate` library."""

import evaluate

import cc_hf.evaluation.judging
import cc_hf.test_sets.mt_geneval.gender_quality_gap


class GenderQualityGap(cc_hf.evaluation.judging.MetricModule, evaluate.Metric):
    """What the class of the metric declares."""

    metric = cc_hf.test_sets.mt_geneval.gender_quality_gap.GenderQualityGap
