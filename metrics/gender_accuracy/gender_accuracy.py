"""Gender accuracy of MT-GenEval as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.gender_accuracy as core  # From: cc_hf

_DESCRIPTION = """\
Gender accuracy (MT-GenEval) compares a translation with two references that differ in the gender of
a person only: it is incorrect when it holds a word that only the reference of the wrong gender has.
Sentences that come in pairs, with their counterfactual, are also judged as pairs.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test; blank ones are judged like
    others. references (list of dict): per translation `reference` and `contrastive_reference`
    (str); if wanted `category` (str), `gender` (male, female) and
        `pair` (str), a name that a sentence and its counterfactual share.
    undecided (str): "correct" (default, as the paper's program) or "inconclusive", the verdict on
    translations with no word of only one reference. src_lang, tgt_lang (str): ISO 639-1 codes.
    seed, n_resamples (int): of the bootstrap.

Returns:
    accuracy, min_accuracy, accuracy_<category>, pair_accuracy, decided_accuracy,
    decided_pair_accuracy, decided_accuracy_<category>, undecided_rate (float in [0, 1], left out
    where there is no sample); n, n_correct, n_inconclusive, n_undecided, n_blank, n_pairs,
    n_pairs_correct (int); verdicts, predicted (list of str); intervals (name -> [low, high], 95 %),
    interval_notes (name -> text); signature (str).

Example:
    >>> metric = evaluate.load("metrics/gender_accuracy")
    >>> reference = {
    ...     "reference": "Sie ist eine gute Ärztin.",
    ...     "contrastive_reference": "Er ist ein guter Arzt.",
    ... }
    >>> metric.compute(predictions=["Die Ärztin ist gut."], references=[reference], tgt_lang="de")[
    ...     "accuracy"
    ... ]
    1.0
"""


class GenderAccuracy(judging.MetricModule, evaluate.Metric):
    """Declares the features; cc_hf.metrics.gender_accuracy judges."""

    metric = core.GenderAccuracy

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("currey-2022").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.GenderAccuracy.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("currey-2022").url],
        )
