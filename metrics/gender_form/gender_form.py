"""Gender by form as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.gender_res.gender_form as core  # From: cc_hf

_DESCRIPTION = """\
Gender of adjectives about the persons of a dialogue (Dawkins, Nejadgholi & Lo 2024), read by a form
rule for Spanish: an adjective is correct with the form of its person's gender, incorrect with the
other one, and inconclusive if its form shows none. Where the gender is open, the share of feminine
forms is given.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test, one for each slot.
    references (list of dict): one per translation, with `persons` ("first" or "second" for each
        predicate of the source, with blanks between them), `slot` (the 0-based predicate that is
        judged), `gender` (male or female, or "" where it is open) and, optionally, `groups` (names
        of groups that have figures), `cluster` (slots of the same adjectives share it) and `row`
        (slots of one translation share it).
    tgt_lang (str): es.
    src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_male, accuracy_female, inconclusive_rate, accuracy_decided,
        accuracy_decided_male, accuracy_decided_female, accuracy_decided_speaker,
        accuracy_decided_speaker_male, accuracy_decided_speaker_female, accuracy_decided_listener,
        accuracy_decided_listener_male, accuracy_decided_listener_female, accuracy_decided_same,
        accuracy_decided_opposite, accuracy_decided_with_I (float): in [0, 1], of slots with a
        gender. A figure without a sample is absent.
    feminine_share, feminine_share_no_adverb, feminine_share_masculine_adverb,
        feminine_share_feminine_adverb, feminine_share_masculine_character,
        feminine_share_feminine_character, feminine_share_beside_man, feminine_share_beside_woman,
        inconclusive_open (float): in [0, 1], of open slots; adverb_effect, character_effect,
        opposite_effect (float): in [-1, 1].
    n, n_correct, n_incorrect, n_inconclusive, n_open, n_rows, n_rows_not_aligned (int): numbers of
        slots and rows.
    verdicts (list of str): correct, incorrect or inconclusive, one per slot; none with open slots.
    predicted (list of str): male, female or "", likewise; readings (list of str) with open slots.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.

Example:
    >>> metric = evaluate.load("metrics/gender_form")
    >>> reference = {"persons": "first second", "slot": 1, "gender": "female"}
    >>> result = metric.compute(
    ...     predictions=["Creo que soy fuerte y tú eres guapa."],
    ...     references=[reference],
    ...     tgt_lang="es",
    ... )
    >>> result["verdicts"]
    ['correct']
"""


class GenderForm(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.gender_res.gender_form` judges."""

    metric = core.GenderForm

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("dawkins-2024").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "persons": datasets.Value("string"),
                        "slot": datasets.Value("int64"),
                        "gender": datasets.Value("string"),
                        "groups": datasets.Value("string"),
                        "cluster": datasets.Value("string"),
                        "row": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("dawkins-2024").url],
        )
