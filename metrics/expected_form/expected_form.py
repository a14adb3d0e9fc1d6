"""CTXPRO's score as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.ctxpro.expected_form as core  # From: cc_hf

_DESCRIPTION = """\
Translations that depend on context (Wicks & Post 2023): a translation is correct if its last
sentence holds the form that the sentences before decide, in any case and without punctuation.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test.
    references (list of dict): one per translation, with `expected` (words of the target language)
        and, optionally, `category` (the group for figures).
    tgt_lang (str): ISO 639-1 code of the translations.
    src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
    within (str): "last_sentence" (default) or "translation".
    parity (bool): whether to keep the punctuation of the form, as the program of the paper does.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category> (float): in [0, 1].
    n, n_correct, n_inconclusive, n_blank, n_elsewhere (int): numbers of translations; n_elsewhere
        hold the form in another sentence only.
    verdicts (list of str): correct or incorrect, one per translation.
    predicted (list of str): the form where it was found, else "".
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/expected_form")
    >>> result = metric.compute(
    ...     predictions=["Nein. Nein, das glaube ich nicht."],
    ...     references=[{"expected": "glaube", "category": "DO.ELL"}],
    ...     tgt_lang="de",
    ... )
    >>> result["verdicts"]
    ['correct']
"""


class ExpectedForm(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.ctxpro.expected_form` judges."""

    metric = core.ExpectedForm

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("wicks-post-2023").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "expected": datasets.Value("string"),
                        "category": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("wicks-post-2023").url],
        )
