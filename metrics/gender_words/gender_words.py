"""Gender by words as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.gate.gender_words as core  # From: cc_hf

_DESCRIPTION = """\
Gender by words compares a translation with a feminine and a masculine reference, where nothing says
which gender people have. A translation is feminine if it has a word that only the feminine
reference has and none that only the masculine one has. Neither gender is wrong: the figure is a
share, not an accuracy.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test;
        a blank one is inconclusive.
    references (list of dict): one per translation, with `feminine` and `masculine` (str) and,
        optionally, `category` (str).
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    feminine_share, feminine_share_<category> (float): feminine ones of the translations that show
        one gender, in [0, 1]; absent if there are none.
    mixed, inconclusive (float): shares of all translations, in [0, 1].
    n, n_feminine, n_masculine, n_mixed, n_inconclusive, n_blank (int): numbers of translations.
    readings (list of str): what is read in each translation, "" for nothing.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/gender_words")
    >>> reference = {"feminine": "La jefa vino.", "masculine": "El jefe vino."}
    >>> metric.compute(
    ...     predictions=["Vino la jefa.", "El jefe."], references=[reference] * 2, tgt_lang="es"
    ... )["feminine_share"]
    0.5
"""


class GenderWords(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.gate.gender_words` judges."""

    metric = core.GenderWords

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("rarrick-2023").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.GenderWords.reference_fields, text),
                }
            ),
            reference_urls=[
                cc_hf.citations.citation("rarrick-2023").url,
                cc_hf.citations.citation("currey-2022").url,
            ],
        )
