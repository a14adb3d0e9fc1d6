"""SimpleGEN's accuracy as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.simplegen_accuracy as core  # From: cc_hf

_DESCRIPTION = """\
SimpleGEN's accuracy looks the occupation up in a dictionary: a translation is correct with a word
of the gender that the context proves, incorrect with one of the other gender, else inconclusive.
Figures are of sentences with and against the stereotype of the occupation.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test; a blank one is inconclusive.
    references (list of dict): per translation `occupation` (English, singular), `number` (sg, pl),
    `gender` of the context (male, female), `category` (MoMc,
        FoFc, MoFc, FoMc: the stereotype of the occupation and the gender of the context).
    dictionary (str): "default", "paper" (table A8 as printed), both for de and es, or a TSV file
    with the columns occupation, number, male, female. src_lang, tgt_lang (str): ISO 639-1 codes.
    seed, n_resamples (int): of the bootstrap.

Returns:
    accuracy, incorrect_rate, inconclusive_rate, each also with _pro, _anti, _MoMc, _FoFc, _MoFc,
    _FoMc, and min_accuracy (float in [0, 1]); delta, delta_fc, delta_mc (float in [-1, 1]); all
    left out where there is no sample; n, n_correct, n_incorrect, n_inconclusive, n_both_genders,
    n_no_form, n_blank (int); verdicts, predicted (list of str); intervals (name -> [low, high], 95
    %), interval_notes (name -> text); signature (str).

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
    """Declares the features; cc_hf.metrics.simplegen_accuracy judges."""

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
