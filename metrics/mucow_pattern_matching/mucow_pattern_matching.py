"""MuCoW's pattern matching as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.mucow.pattern_matching as core  # From: cc_hf

_DESCRIPTION = """\
Word senses in translations, recognised by their words (Raganato et al. 2019): a translation is
correct if a word of the correct sense, and none of another sense, is among its tokens, or otherwise
among its lemmas. It is incorrect if a word of another sense is there, and inconclusive otherwise.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test.
    references (list of dict): one per translation, with `correct_senses` and `incorrect_senses`
        (lists of single words of the target language), `domain` ("in_domain", "out_of_domain" or
        "") and `frequency` ("frequent", "infrequent" or "").
    tgt_lang (str): ISO 639-1 code of the translations.
    src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
    lemmatizer (str or Lemmatizer): "simplemma" (default), "none", or an object with the protocol
        of `cc_hf.text.lemmatization.Lemmatizer`.
    lemmatized (path or list of str, optional): lemmas that replace those of the lemmatizer, one
        line per translation, joined by spaces.
    parity (bool): whether to search as the original programs do; see the card.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category>, coverage, precision, recall_a, recall_b, f1_a, f1_b
        (float): in [0, 1]. The last six also by group (precision_in_domain, precision_frequent)
        and as the smallest value of the groups (min_precision_domain, min_precision_frequency). An
        undefined figure is absent.
    n, n_correct, n_incorrect, n_inconclusive, n_blank (int): numbers of translations.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): the words of senses that each translation has.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/mucow_pattern_matching")
    >>> reference = {
    ...     "correct_senses": ["schloss", "burg"],
    ...     "incorrect_senses": ["verschluss"],
    ...     "domain": "in_domain",
    ...     "frequency": "",
    ... }
    >>> result = metric.compute(
    ...     predictions=["Viele Schlösser sind alt."], references=[reference], tgt_lang="de"
    ... )
    >>> result["verdicts"]
    ['correct']
"""


class MucowPatternMatching(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.mucow.pattern_matching` judges."""

    metric = core.MucowPatternMatching

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("raganato-2019").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "correct_senses": datasets.Sequence(datasets.Value("string")),
                        "incorrect_senses": datasets.Sequence(datasets.Value("string")),
                        "domain": datasets.Value("string"),
                        "frequency": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("raganato-2019").url],
        )
