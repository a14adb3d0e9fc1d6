"""Gender quality gap of MT-GenEval as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.gender_quality_gap as core  # From: cc_hf

_DESCRIPTION = """\
The gender quality gap (MT-GenEval) is BLEU, and chrF, of translations of masculine sentences less
that of their feminine counterfactuals, by sacreBLEU, with a bootstrap over pairs.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test; blank ones are judged like
    others. references (list of dict): per translation `reference`, `gender` (male, female) and
    `pair`, a name that a sentence and its counterfactual share (str). src_lang, tgt_lang (str): ISO
    639-1 codes. seed, n_resamples (int): of the bootstrap.

Returns:
    bleu_male, bleu_female, chrf_male, chrf_female (float in [0, 1], sacreBLEU's figures / 100);
    bleu_gap, chrf_gap (float in [-1, 1], male less female); n, n_pairs, n_blank (int); intervals
    (name -> [low, high], 95 %), interval_notes (name -> text); bleu_signature, chrf_signature,
    signature (str).

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
    """Declares the features; cc_hf.metrics.gender_quality_gap judges."""

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
