"""Gender accuracy of MT-GenEval as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.mt_geneval.gender_accuracy as core  # From: cc_hf

_DESCRIPTION = """\
Gender accuracy (MT-GenEval) compares a translation with two references that differ only in the
gender of a person. A translation is incorrect if it has a word that only the reference of the wrong
gender has. Sentences that come in pairs with their counterfactual are also judged as pairs.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test;
        a blank one is judged like any other.
    references (list of dict): one per translation, with `reference` and `contrastive_reference`
        (str). Optional keys are `category` (str), `gender` (male, female) and `pair` (str), a name
        that a sentence and its counterfactual share.
    undecided (str): the verdict on a translation with no word of only one reference: "correct"
        (default, as in the program of the paper) or "inconclusive".
    tokens (str): how texts are split: "mt_geneval" (default, as in the program of the paper), or
        "split", at spaces only, as in the verdicts that Zaranis et al. 2025 released.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category>, pair_accuracy, decided_accuracy,
        decided_pair_accuracy, decided_accuracy_<category>, undecided_rate (float): in [0, 1]; a
        figure without a sample is absent.
    n, n_correct, n_inconclusive, n_undecided, n_blank, n_pairs, n_pairs_correct (int): numbers of
        translations and pairs.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): the gender whose words the translation has, "both", or "" for neither;
        "reference" or "contrastive" for rows without `gender`.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

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
    """The declaration of the features; `cc_hf.test_sets.mt_geneval.gender_accuracy` judges."""

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
