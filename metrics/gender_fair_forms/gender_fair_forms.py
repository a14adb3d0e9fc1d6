"""Gender-fair forms as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.gender_fair_german.gender_fair_forms as core  # From: cc_hf

_DESCRIPTION = """\
Gender-fair German (Lardelli et al. 2024): the shares of masculine, feminine, neutral and inclusive
forms in translations of sources that do not say the gender of people. No form is wrong.
"""

_INPUTS = """\
Args:
    predictions (list of str): German translations by the system under test.
    references (list of dict): one per translation, with `masculine` and `feminine` (plural forms
        of the noun, separated by ";") and, optionally, `neutral` (likewise), `noun` (rows of one
        noun are not independent), and `label` (masculine, feminine, neutral or inclusive: what
        people read in `labelled_translation`).
    tgt_lang (str): de.
    src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    masculine_share, feminine_share, neutral_share, inclusive_share, both, inconclusive (float): in
        [0, 1]; with labels masculine_by_people, feminine_by_people, neutral_by_people,
        inclusive_by_people and agreement. A figure without a sample is absent.
    n, n_masculine, n_feminine, n_neutral, n_inclusive, n_both, n_inconclusive, n_blank, n_labelled
        (int): numbers of translations.
    readings (list of str): what is read in each translation, "" for nothing.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/gender_fair_forms")
    >>> reference = {"masculine": "Leser", "feminine": "Leserinnen", "neutral": "Lesende"}
    >>> result = metric.compute(
    ...     predictions=["Alle Leser*innen.", "Alle Lesenden."],
    ...     references=[reference] * 2,
    ...     tgt_lang="de",
    ... )
    >>> result["inclusive_share"], result["inconclusive"]
    (1.0, 0.5)
"""


class GenderFairForms(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.gender_fair_german` reads."""

    metric = core.GenderFairForms

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("lardelli-2024").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "masculine": datasets.Value("string"),
                        "feminine": datasets.Value("string"),
                        "neutral": datasets.Value("string"),
                        "noun": datasets.Value("string"),
                        "label": datasets.Value("string"),
                        "labelled_translation": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("lardelli-2024").url],
        )
