"""Critical errors as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.critical_errors as core  # From: cc_hf

_DESCRIPTION = """\
Critical errors reverse or falsify a sentence: a lost negation, another number, names exchanged.
Rules rewrite the source so that it says the wrong thing. A translation that is more probable under
a rewriting than under its source, by an evaluator model, has the error.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test; a blank one is not judged.
    references (list of dict): one per translation, with `source` (str). Optional keys are `errors`
        (str), the phenomena that people found, joined by "+", or "none"; and `category` (str).
    evaluator: name or path of a translation model, an Evaluator, or a function (sources,
        translations) -> scores; None for the one that ships for the language pair.
    phenomena (str): which to look for, separated by commas: negation, added_negation, number, date,
        unit, name, comparison, order, modality. All by default.
    min_difference (float or str): nats per token by which a translation must be more probable; one
        number (0 by default), or one for each phenomenon ("negation=0.02,number=0.1").
    src_lang (str): ISO 639-1 code of the sources, "de" or "en".
    tgt_lang (str): ISO 639-1 code of the translations.
    kind, prompt, revision, device, dtype, batch_tokens, on_too_long, mode, cache, distributed: how
        the evaluator is loaded (`cc_hf.evaluators.options.LoadingOptions`).
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category>, error_rate, error_rate_<phenomenon>,
        precision_<phenomenon>, recall_<phenomenon>, f1_<phenomenon>, auc_<phenomenon>,
        balanced_accuracy_<phenomenon> (float): in [0, 1]; a figure without a sample is absent.
    n, n_correct, n_inconclusive, n_skipped, n_ties (int): numbers of translations.
    n_negation, n_added_negation, n_number, n_date, n_unit, n_name, n_comparison, n_order,
        n_modality (int): numbers of translations whose source has a place for a rule.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): phenomena of the errors, joined by "+", or "".
    rewritings (list of list of str): the changes under which a translation is more probable.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options, models and versions on which the figures depend.
    notes (list of str): what to know of the figures, if there is something.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/critical_errors")
    >>> def evaluator(sources, translations):
    ...     return [0.9 if "not" not in source else 0.1 for source in sources]
    >>> metric.compute(
    ...     predictions=["Sie kam heute."],
    ...     references=[{"source": "She did not come today."}],
    ...     evaluator=evaluator,
    ...     src_lang="en",
    ...     tgt_lang="de",
    ... )["rewritings"]
    [['negation:  not → ∅']]
"""


class CriticalErrors(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.metrics.critical_errors` judges."""

    metric = core.CriticalErrors

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("vamvas-sennrich-2021").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.CriticalErrors.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("vamvas-sennrich-2021").url],
        )
