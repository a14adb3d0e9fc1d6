"""Contrastive translation scoring as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.contrastive_translation_scoring as core  # From: cc_hf

_DESCRIPTION = """\
Contrastive translation scoring judges a model, not its output: the model is right about a sentence
if it finds the correct translation more probable than every contrastive one, which differs in one
error. The score is the perplexity of a translation model, the pseudo-perplexity of a masked
language model, or the probability that a causal language model gives.
"""

_INPUTS = """\
Args:
    references (list of dict): one per row, with `correct_translation` (str) and
        `contrastive_translations` (list of str, which may be empty). Optional keys are `source`
        (without one, language models score the text alone), `category`, `pair` (a name that the
        twins of a schema share), `context` (the sentences before the source), `target_context`
        (their translation), `block` (a name of rows that are right together) and `open_share` (the
        name of the share where nothing says which translation is right). There are no predictions,
        because the evaluator itself is the system under test.
    evaluator (str, list of str, cc_hf.Evaluator or function, optional): name or path of the model
        under test, several for an ensemble, or a function (sources, translations) -> scores, where
        higher is better. By default the evaluator that ships with cc_hf for the language pair.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    score (str): "perplexity" (default; stored as its inverse) or "logprob", that of the whole
        translation.
    context (str): "ignored" (default), "prepended" to the source, or "both": translated contexts
        are prepended to the translations, too.
    separator (str): what stands after a context, such as "<sep>"; "" (default) for a blank.
    target_context (str or list of str, optional): with "both", a file with one translated context
        per row, or these; by default those of the rows.
    ties (str): what a tie is, "incorrect" (default) or "correct".
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.
    kind, prompt, device, batch_tokens, revision, on_too_long, mode, cache, distributed:
        options of `cc_hf.load_evaluator`.

Returns:
    accuracy, min_accuracy, accuracy_<category>, pair_accuracy, block_accuracy (float): in [0, 1];
        the last two only with pairs and blocks. With `open_share` instead the share under that
        name, over all rows and over each category, and mean_probability.
    n, n_correct, n_ties, n_without_contrast, n_pairs, n_pairs_correct, n_without_twin, n_blocks
        (int): numbers of rows, pairs and blocks. A row without contrastive translations is
        correct.
    verdicts (list of str): correct or incorrect, one per row.
    scores (list of list of float): the scores of each row, that of the correct translation first.
    readings (list of str), probability_counted (list of float): with `open_share` in place of these
        lists, the reading of each row and the probability of the one that the share counts.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/contrastive_translation_scoring")
    >>> reference = {
    ...     "source": "The doctor said that she was ill.",
    ...     "correct_translation": "Die Ärztin sagte, sie sei krank.",
    ...     "contrastive_translations": ["Der Arzt sagte, sie sei krank."],
    ... }
    >>> result = metric.compute(
    ...     references=[reference], evaluator="cc-tiny-en-de", src_lang="en", tgt_lang="de"
    ... )
    >>> result["n"], len(result["scores"][0])
    (1, 2)
"""


class ContrastiveTranslationScoring(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.metrics.contrastive_translation_scoring` judges."""

    metric = core.ContrastiveTranslationScoring

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        texts = {
            "correct_translation": text,
            "contrastive_translations": datasets.Sequence(text),
            "source": text,
            "category": text,
            "pair": text,
            "context": text,
            "target_context": text,
            "block": text,
            "open_share": text,
        }
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("sennrich-2017").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features({"references": texts}),
            reference_urls=[
                cc_hf.citations.citation("sennrich-2017").url,
                cc_hf.citations.citation("rios-2017").url,
            ],
        )
