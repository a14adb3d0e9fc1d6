"""Pattern matching of pronouns on Wino-X as a module of the evaluate library; the work is done by
cc_hf.
"""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.wino_x.pattern_matching as core  # From: cc_hf

_DESCRIPTION = """\
Reads the pronoun with which a translation renders an ambiguous "it" (Wino-X). The translation is
correct if the pronoun has the gender of the right referent, incorrect if it has that of the other
one, and inconclusive if there is no such pronoun or several are possible.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test into de, fr or
        ru; a blank one is inconclusive.
    references (list of dict): one per translation, with `source` (English, with "it"),
        `correct_gender` and `incorrect_gender` of the two referents in the target language (male,
        female, neutral, unknown). Optional keys are `category` and `pair`, a name that the twins of
        a schema share.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category> (such as accuracy_female), inconclusive_rate,
        pair_accuracy (float): in [0, 1]; the last one only with pairs.
    n, n_correct, n_inconclusive, n_no_pronoun, n_several_pronouns, n_pairs, n_pairs_correct,
        n_without_twin (int): numbers of translations and pairs.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): the gender of the pronoun, "several", or "" for none.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

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
    """The declaration of the features; `cc_hf.test_sets.wino_x.pattern_matching` judges."""

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
