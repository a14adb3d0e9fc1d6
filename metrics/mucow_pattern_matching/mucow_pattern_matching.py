"""MuCoW's pattern matching as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.mucow_pattern_matching as core  # From: cc_hf

_DESCRIPTION = """\
Word senses in translations, found by their words (Raganato et al. 2019): a translation is correct
when a word of the correct sense is among its tokens, or else among its lemmas, and none of another
sense; incorrect when one of another sense is there; inconclusive otherwise.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test.
    references (list of dict): per translation `correct_senses` and `incorrect_senses` (lists of
    single words of the target language), `domain`
        ("in_domain", "out_of_domain" or "") and `frequency` ("frequent", "infrequent" or "").
    tgt_lang (str): ISO 639-1 code of the translations' language; src_lang (str, optional) is for
    the signature. lemmatizer (str or Lemmatizer): "simplemma" (default), "none", or an object with
    the protocol of cc_hf.text.lemmatization.Lemmatizer. lemmatized (path or list of str, optional):
    instead, the lemmas of each translation, joined by spaces. parity (bool): as the original
    programs, see the card. seed, n_resamples: of the bootstrap.

Returns:
    accuracy, min_accuracy, accuracy_<category>; coverage, precision, recall_a, recall_b, f1_a,
    f1_b, each also by group (precision_in_domain, precision_frequent) and as the smallest of the
    groups (min_precision_domain, min_precision_frequency): float in [0, 1], left out where
    undefined; n, n_correct, n_incorrect, n_inconclusive, n_blank (int); verdicts, predicted
    (lists); intervals (name -> [low, high], 95 %), interval_notes (name -> text); signature (str).

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
    """Declares the features; cc_hf.metrics.mucow_pattern_matching judges."""

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
