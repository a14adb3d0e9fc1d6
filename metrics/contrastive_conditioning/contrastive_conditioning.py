"""Contrastive conditioning as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.contrastive_conditioning as core  # From: cc_hf

_DESCRIPTION = """\
Contrastive conditioning finds disambiguation errors in any translation without references: an
evaluator model scores the translation under variants of the source that carry a correct or an
incorrect disambiguation cue ("the [female] doctor" / "the [male] doctor"). The translation is
judged correct when it is more probable under a correct cue.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test.
    references (list of dict): one per translation, with `correct_sources` and `incorrect_sources`
        (lists of sources) and, optionally, `category` (str), `pair` (str), a name that two rows
        share, such as a sentence and the same with the other gender, and `open_share` (str), the
        name of the share where nothing says which reading is right.
    evaluator (str, list of str, cc_hf.Evaluator or function, optional): name or path of the
        evaluator model, several for an ensemble, or a function (sources, translations) -> scores.
        By default the evaluator that ships with cc_hf for the language pair.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    score (str): "geometric" (default), "arithmetic" or "reference".
    on_blank (str): "error" (default), or "incorrect": a blank translation counts as incorrect.
    ties (str): "correct" (default, as in the paper's program), or "incorrect" as in its text.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.
    device, batch_tokens, revision, on_too_long, mode, cache, distributed: options of
        `cc_hf.load_evaluator`.

Returns:
    accuracy, weighted_accuracy, min_accuracy, weighted_min_accuracy, mean_confidence,
        accuracy_<category>, weighted_accuracy_<category>; with pairs pair_accuracy (float): in
        [0, 1]. With `open_share` instead the share under that name, over all translations and over
        each category, and mean_probability.
    n, n_correct, n_ties (int): numbers of translations; n_pairs, n_pairs_correct (int): with pairs;
        n_blank, n_too_long (int): those that were not scored and count as incorrect, if there are
        any.
    probability_correct (list of float): one per translation, in [0, 1].
    readings (list of str), probability_counted (list of float): with `open_share` in place of these
        lists, the reading of each row and the probability of the one that the share counts.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/contrastive_conditioning")
    >>> reference = {
    ...     "correct_sources": ["The assistant asked the [female] doctor if she needs any help."],
    ...     "incorrect_sources": ["The assistant asked the [male] doctor if she needs any help."],
    ...     "category": "female",
    ... }
    >>> result = metric.compute(
    ...     predictions=["Der Assistent fragte die Ärztin, ob sie Hilfe brauche."],
    ...     references=[reference],
    ...     src_lang="en",
    ...     tgt_lang="de",
    ... )
    >>> result["accuracy"]
    1.0
"""


class ContrastiveConditioning(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.metrics.contrastive_conditioning` judges."""

    metric = core.ContrastiveConditioning

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("vamvas-sennrich-2021").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "correct_sources": datasets.Sequence(datasets.Value("string")),
                        "incorrect_sources": datasets.Sequence(datasets.Value("string")),
                        "category": datasets.Value("string"),
                        "open_share": datasets.Value("string"),
                        "pair": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("vamvas-sennrich-2021").url],
        )
