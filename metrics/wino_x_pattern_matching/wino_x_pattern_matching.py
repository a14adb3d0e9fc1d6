"""Pattern matching of pronouns on Wino-X as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.metrics.wino_x_pattern_matching as core  # From: cc_hf

_DESCRIPTION = """\
Reads the pronoun by which a translation renders an ambiguous "it" (Wino-X): correct with the gender
of the right referent, incorrect with that of the other one, inconclusive where there is no such
pronoun or it cannot be told which one it is.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test into de, fr or ru; a blank one
    is inconclusive. references (list of dict): per translation `source` (English, with "it"),
    `correct_gender`, `incorrect_gender` (male, female, neutral, unknown: of the
        two referents in the target language), and where there is one `category` and `pair` (a name
        that the twins of a schema share).
    src_lang, tgt_lang (str): ISO 639-1 codes. seed, n_resamples (int): of the bootstrap.

Returns:
    accuracy, min_accuracy, accuracy_<category> (such as accuracy_female), inconclusive_rate,
    pair_accuracy (float in [0, 1]; the last only with pairs); n, n_correct, n_inconclusive,
    n_no_pronoun, n_several_pronouns, n_pairs, n_pairs_correct, n_without_twin (int); verdicts,
    predicted (list of str); intervals (name -> [low, high], 95 %), interval_notes (name -> text);
    signature (str).

Example:
    >>> metric = evaluate.load("metrics/wino_x_pattern_matching")
    >>> reference = {
    ...     "source": "The vase broke because it was old.",
    ...     "correct_gender": "female",
    ...     "incorrect_gender": "male",
    ... }
    >>> metric.compute(
    ...     predictions=["Die Vase zerbrach, weil sie alt war."],
    ...     references=[reference],
    ...     tgt_lang="de",
    ... )["accuracy"]
    1.0
"""


class WinoXPatternMatching(judging.MetricModule, evaluate.Metric):
    """Declares the features; cc_hf.metrics.wino_x_pattern_matching judges."""

    metric = core.WinoXPatternMatching

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("emelin-sennrich-2021").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.WinoXPatternMatching.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("emelin-sennrich-2021").url],
        )
