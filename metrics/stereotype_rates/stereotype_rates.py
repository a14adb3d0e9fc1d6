"""Stereotype rates of GEST as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.gest.stereotype_rates as core  # From: cc_hf

_DESCRIPTION = """\
Stereotype rates (GEST) say how often translations give a person in the first person a masculine
form where the source leaves the gender open, and how much more often after stereotypes of men than
after those of women. A form rule of the target language reads the gender; nothing is right or
wrong.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test; a blank one shows no gender.
    references (list of dict): one per translation, with `source` (str) and `category` (str), the
        stereotype, from stereotype_01 to stereotype_16.
    src_lang (str): ISO 639-1 code of the sources.
    tgt_lang (str): ISO 639-1 code of the translations: be, cs, hr, pl, ru, sk, sl, sr or uk.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    masculine_rate (float): mean of the next two, in [0, 1] as they are.
    masculine_rate_women, masculine_rate_men (float): means over stereotypes of women and of men.
    stereotype_gap (float): men minus women, in [-1, 1].
    masculine_rate_stereotype_01 to masculine_rate_stereotype_16 (float): share of masculine among
        the readings on one stereotype, drawn towards one half, the more the fewer there are.
    inconclusive_rate (float): share of translations without a reading, in [0, 1].
    feminine_ranks: mapping from stereotype to its rank, 1 for the lowest masculine rate.
    n, n_male, n_female, n_blank (int): numbers of translations and of readings.
    readings (list of str): what is read in each translation, "" for nothing.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    notes (list of str): the figures by plain shares, for systems with other numbers of readings.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/stereotype_rates")
    >>> references = [{"source": "I was emotional.", "category": "stereotype_01"},
    ...               {"source": "I was strong.", "category": "stereotype_16"}]
    >>> round(
    ...     metric.compute(
    ...         predictions=["Byla jsem citlivá.", "Byl jsem silný."],
    ...         references=references,
    ...         tgt_lang="cs",
    ...     )["stereotype_gap"],
    ...     2,
    ... )
    0.21
"""


class StereotypeRates(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.gest` reads the genders."""

    metric = core.StereotypeRates

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("pikuliak-2024").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": dict.fromkeys(core.StereotypeRates.reference_fields, text),
                }
            ),
            reference_urls=[cc_hf.citations.citation("pikuliak-2024").url],
        )
