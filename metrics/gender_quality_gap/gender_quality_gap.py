"""Gender quality gap of MT-GenEval as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.mt_geneval.gender_quality_gap as core  # From: cc_hf

_DESCRIPTION = """\
The gender quality gap (MT-GenEval) is the BLEU, and the chrF, of translations of masculine
sentences minus that of their feminine counterfactuals, computed by sacreBLEU, with a bootstrap over
pairs.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test;
        a blank one is judged like any other.
    references (list of dict): one per translation, with `reference` (str), `gender` (male, female)
        and `pair` (str), a name that a sentence and its counterfactual share.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    bleu_male, bleu_female, chrf_male, chrf_female (float): figures of sacreBLEU, divided by 100, in
        [0, 1].
    bleu_gap, chrf_gap (float): male minus female, in [-1, 1].
    n, n_pairs, n_blank (int): numbers of translations and pairs.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    bleu_signature, chrf_signature (str): signatures of sacreBLEU.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/gender_quality_gap")
    >>> references = [{"reference": "Er ist jetzt ein Arzt.", "gender": "male", "pair": "0"},
    ...               {"reference": "Sie ist jetzt eine Ärztin.", "gender": "female", "pair": "0"}]
    >>> round(
    ...     metric.compute(
    ...         predictions=["Er ist jetzt ein Arzt."] * 2, references=references, tgt_lang="de"
    ...     )["bleu_gap"],
    ...     2,
    ... )
    0.82
"""


class GenderQualityGap(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.mt_geneval.gender_quality_gap` judges."""

    metric = core.GenderQualityGap

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("currey-2022").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.GenderQualityGap.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("currey-2022").url],
        )
