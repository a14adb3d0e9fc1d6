"""Coverage errors of translations as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.coverage as core  # From: cc_hf

_DESCRIPTION = """\
Coverage finds what a translation leaves out and what it adds. A part of the source is left out if
the translation is more probable without it under an evaluator model. A part of the translation is
added if the source is more probable without it under a model of the other direction.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test; a blank one is not judged.
    references (list of dict): one per translation, with `source` (str). Optional keys are
        `source_spans` and `translation_spans` (str), JSON lists of [start, end) in characters, of
        the parts that may be missing, for spans="given"; `omission` and `addition` (str), "true" or
        "false", what people found; and `category` (str).
    evaluator: name or path of a translation model, an Evaluator, or a function (sources,
        translations) -> scores; None for the one that ships for the language pair.
    backward_evaluator: the same for the other direction; None (default) finds omissions only.
    spans (str): "chunks" (default), parts of up to three words; "given"; or a parser, "stanza" or
        "spacy", for the subtrees of each word.
    tidy (bool): whether blanks are fixed where a part was cut out; False by default, as in the
        paper's program.
    min_difference (float): nats per token by which a text must be more probable; 0 by default.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    kind, prompt, revision, device, dtype, batch_tokens, on_too_long, mode, cache, distributed: how
        the evaluator is loaded (`cc_hf.evaluators.options.LoadingOptions`).
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category>, error_rate, omission_rate, addition_rate,
        omitted_characters, omission_precision, omission_recall, omission_f1, omission_auc,
        addition_precision, addition_recall, addition_f1, addition_auc (float): in [0, 1]; a figure
        without a sample is absent.
    n, n_correct, n_inconclusive, n_omissions, n_additions, n_skipped, n_skipped_sources,
        n_skipped_translations, n_ties (int): numbers of translations and parts.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): "omission", "addition", "omission+addition" or "".
    omissions, additions (list of list of str): the parts of the source and of the translation.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options, models and versions on which the figures depend.
    notes (list of str): what to know of the figures, if there is something.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/coverage")
    >>> def evaluator(sources, translations):
    ...     return [float("today" not in source) for source in sources]
    >>> metric.compute(
    ...     predictions=["Sie kam."],
    ...     references=[{"source": "She came today."}],
    ...     evaluator=evaluator,
    ...     src_lang="en",
    ...     tgt_lang="de",
    ... )["omissions"]
    [['today']]
"""


class Coverage(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.metrics.coverage` judges."""

    metric = core.Coverage

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("vamvas-sennrich-2022").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.Coverage.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("vamvas-sennrich-2022").url],
        )
