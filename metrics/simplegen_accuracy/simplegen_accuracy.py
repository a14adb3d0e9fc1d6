"""SimpleGEN's accuracy as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.simplegen.simplegen_accuracy as core  # From: cc_hf

_DESCRIPTION = """\
SimpleGEN's accuracy looks the occupation up in a dictionary: a translation is correct if it has a
form of the gender that the context proves, incorrect if it has one of the other gender, and
inconclusive otherwise. Figures are given for sentences with and against the stereotype of the
occupation.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test;
        a blank one is inconclusive.
    references (list of dict): one per translation, with `occupation` (English, singular), `number`
        (sg, pl), `gender` of the context (male, female) and `category` (MoMc, FoFc, MoFc, FoMc: the
        stereotype of the occupation and the gender of the context).
    dictionary (str): "default" or "paper" (table A8 as printed), both for de and es, or a TSV file
        with the columns occupation, number, male, female.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, incorrect_rate, inconclusive_rate (float): in [0, 1], each also with _pro, _anti,
        _MoMc, _FoFc, _MoFc, _FoMc; and min_accuracy.
    delta, delta_fc, delta_mc (float): in [-1, 1]. A figure without a sample is absent.
    n, n_correct, n_incorrect, n_inconclusive, n_both_genders, n_no_form, n_blank (int): numbers of
        translations.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): male, female, both, or "" for neither.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/simplegen_accuracy")
    >>> reference = {
    ...     "occupation": "physician",
    ...     "number": "sg",
    ...     "gender": "female",
    ...     "category": "MoFc",
    ... }
    >>> metric.compute(
    ...     predictions=["¡Esa médica es una mujer feliz!"], references=[reference], tgt_lang="es"
    ... )["accuracy_anti"]
    1.0
"""


class SimplegenAccuracy(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.simplegen.simplegen_accuracy` judges."""

    metric = core.SimplegenAccuracy

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("renduchintala-2021").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.SimplegenAccuracy.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("renduchintala-2021").url],
        )
