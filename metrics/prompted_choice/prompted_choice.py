"""Choices of prompted language models as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.plugins.asking.prompted_choice as core  # From: cc_hf

_DESCRIPTION = """\
Reads which of two options, translations or fillers of a gap, a language model chose that was asked
in words. A reply is valid if it chooses one option, invalid if it chooses none, and failed if there
is none. The figures are the accuracy of valid answers and of all, and what became of the requests.
"""

_INPUTS = """\
Args:
    predictions (list of str): replies, as the model wrote them; a blank one is invalid.
    references (list of dict): one per reply, with `answer`, the number of the right option as it
        was shown ("1" or "2"). Optional keys are `category`; `pair`, a name that the twins of a
        schema share; `option1` and `option2`, the texts of the options; `error`, why there is no
        reply; `cut`, "yes" for a reply that ended at the limit of its length; `orders`, "both" for
        a sample that was also asked with its options swapped, and then `swapped_reply` or
        `swapped_error`.
    parser (str): how replies are read: conclusion (default: the last option that a concluding
        phrase names, or the only number), last (the last option that is named) or exact (a reply
        must be the name of an option only).
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    valid_accuracy, valid_accuracy_<category> (float): in [0, 1], over valid answers.
    accuracy, min_accuracy, accuracy_<category>, valid_rate, invalid_rate, failed_rate, cut_rate
        (with categories), first_rate, pair_accuracy, consistency (float): in [0, 1].
    position_gap (float): in [-1, 1].
    n, n_correct, n_inconclusive, n_valid, n_invalid, n_failed, n_inconsistent, n_cut, n_pairs,
        n_pairs_correct, n_without_twin (int): numbers of samples and pairs.
    verdicts (list of str): correct, incorrect or inconclusive, one per sample.
    predicted (list of str): 1, 2, invalid, failed or inconsistent.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/prompted_choice")
    >>> replies = ["Translation 2", "Both are fine."]
    >>> metric.compute(predictions=replies, references=[{"answer": "2"}] * 2)["valid_accuracy"]
    1.0
"""


class PromptedChoice(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.plugins.asking.prompted_choice` parses and counts."""

    metric = core.PromptedChoice

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("emelin-sennrich-2021").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.PromptedChoice.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("emelin-sennrich-2021").url],
        )
