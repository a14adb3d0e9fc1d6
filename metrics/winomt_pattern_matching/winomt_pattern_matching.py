"""WinoMT's pattern matching as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.winomt.pattern_matching as core  # From: cc_hf

_DESCRIPTION = """\
WinoMT measures gender bias in machine translation with sentences about two people, one of whom a
pronoun reveals as male or female. Word alignment finds the words that translate the occupation, and
rules of the target language tell their grammatical gender. A translation is correct if that is the
gender of the pronoun. The figures are accuracy, precision, recall and F1 by gender, and the
differences delta_g (male minus female F1) and delta_s (accuracy on pro-stereotypical minus
anti-stereotypical sentences).
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test;
        give all of a system at once, because alignments are learned from them.
    references (list of dict): one per translation, with `source` (str), `occupation` (str),
        `occupation_index` (int, 0-based, the first word of the occupation among the space-split
        tokens of the source), `gold_gender` (male, female, neutral) and `stereotype` (pro, anti,
        none). An optional key is `pair` (str), a name that a sentence and the same with the other
        gender share.
    tgt_lang (str): ar, de, he, pt, ru or uk; es, fr or it with spaCy and its model for the
        language.
    aligner (str or Aligner): "fast_align" (default), "eflomal", which must be installed, or an
        object with the method `align`.
    alignments (str or list of str, optional): a Pharaoh file or its lines, which replace the
        aligner.
    figures (str): "exact" (default), or "printed", which rounds intermediate values as the program
        of the paper does.
    spacy_model (str, optional): a spaCy model other than the small one.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<gender>, precision_<gender>, recall_<gender>, f1_<gender>,
        accuracy_pro, accuracy_anti; with pairs pair_accuracy (float): in [0, 1].
    delta_g, delta_s (float): in [-1, 1].
    n, n_correct, n_inconclusive, n_blank, n_<gold>_as_<predicted>, n_unknown, n_unknown_<gold>
        (int): numbers of translations; with pairs n_pairs, n_pairs_correct.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): male, female, neutral or unknown, one per translation.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/winomt_pattern_matching")
    >>> reference = {
    ...     "source": "The cook left.",
    ...     "occupation": "cook",
    ...     "occupation_index": 1,
    ...     "gold_gender": "female",
    ...     "stereotype": "pro",
    ... }
    >>> result = metric.compute(
    ...     predictions=["Die Köchin ging."],
    ...     references=[reference],
    ...     tgt_lang="de",
    ...     alignments=["0-0 1-1 2-2"],
    ... )
    >>> result["predicted"]
    ['female']
"""


class WinomtPatternMatching(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.winomt.pattern_matching` judges."""

    metric = core.WinomtPatternMatching

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("stanovsky-2019").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "source": datasets.Value("string"),
                        "occupation": datasets.Value("string"),
                        "occupation_index": datasets.Value("int64"),
                        "gold_gender": datasets.Value("string"),
                        "stereotype": datasets.Value("string"),
                        "pair": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("stanovsky-2019").url],
        )
