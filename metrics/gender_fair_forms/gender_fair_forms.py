"""Gender-fair forms as a module of the `evaluate` library."""

import evaluate

import cc_hf.evaluation.judging
import cc_hf.test_sets.gender_fair_german.gender_fair_forms


class GenderFairForms(cc_hf.evaluation.judging.MetricModule, evaluate.Metric):
    """What the class of the metric declares."""

    metric = cc_hf.test_sets.gender_fair_german.gender_fair_forms.GenderFairForms
