"""WinoMT's pattern matching as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.winomt_pattern_matching as core  # From: cc_hf

_DESCRIPTION = """\
WinoMT measures gender bias in machine translation: sentences with two people, one of whom a pronoun
reveals as male or female. Word alignment finds the words that translate the occupation, and rules
of the target language tell their grammatical gender. Translations are right when it is the gender
of the pronoun. The metric gives accuracy, precision, recall and F1 by gender, and the differences
delta_g (male - female F1) and delta_s (accuracy on pro-stereotypical minus anti-stereotypical
sentences).
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test, all of them at once:
    alignments are learnt from them. references (list of dict): per translation `source` (str),
    `occupation` (str), `occupation_index` (int, 0-based, the first word of the occupation among
        the space-split tokens of the source), `gold_gender` (male, female or neutral) and
        `stereotype` (pro, anti or none).
    tgt_lang (str): ar, de, he, ru or uk; es, fr or it with spaCy and its model for the language.
    aligner (str): "fast_align" (default) or "eflomal", which must be installed; or an object with
    the method align. alignments (str or list of str, optional): a Pharaoh file or its lines,
    instead of an aligner. figures (str): "exact" (default), or "printed", rounded in between as the
    program of the paper does. spacy_model (str, optional): a spaCy model other than the small one.
    seed, n_resamples (int): of the bootstrap.

Returns:
    accuracy, min_accuracy, accuracy_<gender>, precision_<gender>, recall_<gender>, f1_<gender>,
    accuracy_pro, accuracy_anti (float in [0, 1]); delta_g, delta_s (float in [-1, 1]); n,
    n_correct, n_inconclusive, n_blank, n_<gold>_as_<predicted>, n_unknown, n_unknown_<gold> (int);
    predicted and verdicts (list of str); intervals (name -> [low, high], 95 %), interval_notes
    (name -> text); signature (str).

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
    """Declares the features; cc_hf.metrics.winomt_pattern_matching judges."""

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
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("stanovsky-2019").url],
        )
