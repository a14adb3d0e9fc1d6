"""Rewriting score as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.gate.rewriting_score as core  # From: cc_hf

_DESCRIPTION = """\
The rewriting score (GATE) judges a rewriter, which makes a translation with the other gender. An
output is right if it is the reference. A blank output lowers recall only.
"""

_INPUTS = """\
Args:
    predictions (list of str): outputs of the rewriter; a blank one stands for no suggestion.
    references (list of dict): one per output, with `reference` (str) and, optionally, `labels`
        (str), names with ";" between them.
    src_lang, tgt_lang (str): ISO 639-1 code of the sentences.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    precision, recall, f_half, precision_<label>, recall_<label>, f_half_<label> (float): in [0, 1];
        a precision without an output is absent.
    n, n_right, n_without_output (int): numbers of sentences.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/rewriting_score")
    >>> references = [{"reference": "El jefe vino."}, {"reference": "El actor vino."}]
    >>> result = metric.compute(
    ...     predictions=["El jefe vino.", ""], references=references, tgt_lang="es"
    ... )
    >>> result["precision"], result["recall"]
    (1.0, 0.5)
"""


class RewritingScore(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.gate.rewriting_score` judges."""

    metric = core.RewritingScore

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("rarrick-2023").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.RewritingScore.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("rarrick-2023").url],
        )
