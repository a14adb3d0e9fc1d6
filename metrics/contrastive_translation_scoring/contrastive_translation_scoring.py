"""Contrastive translation scoring as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.contrastive_translation_scoring as core  # From: cc_hf

_DESCRIPTION = """\
Contrastive translation scoring judges a model, not its output: it is right about a sentence when it
finds the correct translation more probable than every contrastive one, which differs in one error.
Scored by the perplexity of a translation model, the pseudo-perplexity of a masked language model,
or the probability that a causal one gives.
"""

_INPUTS = """\
Args:
    references (list of dict): per row `correct_translation` (str), `contrastive_translations` (list
    of str, also empty), and where there is one `source`
        (none: language models score the text alone), `category`, `pair` (a name that the twins of a
        schema share), `context` (what stands before the source). There are no predictions: the
        evaluator is the system under test.
    evaluator (str, list of str, cc_hf.Evaluator or function, optional): name or path of the model
    under test, several for an ensemble, or a function
        (sources, translations) -> scores, higher is better. Without it, the evaluator that ships
        with cc_hf for the language pair.
    src_lang, tgt_lang (str): ISO 639-1 codes.
    score (str): "perplexity" (default; kept as its inverse) or "logprob" (of the whole
    translation). context (str): "ignored" (default) or "prepended" to the source. seed, n_resamples
    (int): of the bootstrap. kind, prompt, device, batch_tokens, revision, on_too_long, mode, cache,
    distributed: see cc_hf.load_evaluator.

Returns:
    accuracy, min_accuracy, accuracy_<category>, pair_accuracy (float in [0, 1]; the last only with
    pairs); n, n_correct, n_ties (incorrect), n_without_contrast (correct), n_pairs,
    n_pairs_correct, n_without_twin (int); verdicts (list of str); scores (per row a list of float,
    the correct translation's first); intervals (name -> [low, high], 95 %), interval_notes (name ->
    text); signature (str).

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
    """Declares the features; cc_hf.metrics.contrastive_translation_scoring judges."""

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
