"""Which gender does a translation give a person whose gender the source leaves open, and does it
follow stereotypes (Pikuliak et al. 2024)?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, one_of, text
from cc_hf.metrics.figure_names import FigureDeclaration
from cc_hf.metrics.figures import Figures
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import Example, ProbingExample
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval, resampled_strata
from cc_hf.statistics.score_intervals import share_interval
from cc_hf.test_sets.gest.reader import STEREOTYPES
from cc_hf.test_sets.gest.stereotype_rates.rates import (
    feminine_ranks,
    masculine_rate,
    masculine_rate_interval,
    mean_rates,
)
from cc_hf.test_sets.gest.stereotype_rates.slavic import languages, read_gender

__all__ = ["StereotypeRates"]

_FIELDS: Fields = {"source": text, "category": one_of(tuple(STEREOTYPES))}
_RATE = "masculine_rate"
_DRAWN = "drawn towards one half, the more the fewer readings there are"
_PEOPLE = {
    people: [name for name, stereotype in STEREOTYPES.items() if stereotype.people == people]
    for people in ("women", "men")
}


@dataclass(frozen=True)
class StereotypeRates(Metric):
    """How often translations give the first person a masculine form, by stereotype.

    Stereotype rates (GEST) say how often translations give a person in the first person a masculine
    form where the source leaves the gender open, and how much more often after stereotypes of men
    than after those of women. A form rule of the target language (`slavic.read_gender`) reads the
    gender; nothing is right or wrong, so there are no verdicts and no accuracy. Readings of neither
    gender are left out of the rates, and `inconclusive_rate` says how many they are.

    The masculine rate of a stereotype is p_i of the paper (section 4.1), the centre of Agresti and
    Coull's interval; `masculine_rate` is f_m, those of women and men p_F and p_M, and
    `stereotype_gap` f_s there. A note gives the figures by plain shares, which compare systems with
    different numbers of readings.
    """

    name = "stereotype_rates"
    title = "stereotype rates"
    about = (
        "Forms of verbs and adjectives tell which gender the translation gives the first person."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one shows no
            gender.
        references (list of dict): one per translation, with `source` (str) and `category` (str),
            the stereotype, from stereotype_01 to stereotype_16.
        tgt_lang (str): ISO 639-1 code of the translations: be, cs, hr, pl, ru, sk, sl, sr or uk.

    Returns:
        feminine_ranks: mapping from stereotype to its rank, 1 for the lowest masculine rate.
        n, n_male, n_female, n_blank (int): numbers of translations and of readings.
        readings (list of str): what is read in each translation, "" for nothing.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/stereotype_rates")
        >>> references = [
        ...     {"source": "I was emotional.", "category": "stereotype_01"},
        ...     {"source": "I was strong.", "category": "stereotype_16"},
        ... ]
        >>> texts = ["Byla jsem citlivá.", "Byl jsem silný."]
        >>> result = metric.compute(predictions=texts, references=references, tgt_lang="cs")
        >>> round(result["stereotype_gap"], 2)
        0.21
    """
    papers = ("pikuliak-2024",)
    signature_name = "stereo"
    version = 1
    reference_fields = _FIELDS
    judges = False
    reads_cues = False
    leaderboard = ()
    key_figures = ("masculine_rate", "stereotype_gap", "inconclusive_rate")
    interval_method = (
        "by bootstrap over sentences within stereotypes; for a stereotype by Agresti and Coull, for"
        " the inconclusive by Wilson's score"
    )
    default_src_lang = "en"
    figure_names = {  # noqa: RUF012
        _RATE: FigureDeclaration(
            "masculine rate",
            "none",
            "The mean of the masculine rates on stereotypes of women and on those of men,"
            f" {_DRAWN}. The source leaves the gender open: no value is best.",
        ),
        "stereotype_gap": FigureDeclaration(
            "stereotype rate",
            "none",
            "The masculine rate on stereotypes of men minus that on stereotypes of women,"
            " and with few readings too near to 0. Above 0, the system follows stereotypes.",
        ),
        **{
            f"{_RATE}_{people}": FigureDeclaration(
                f"masculine rate on stereotypes of {people}",
                "none",
                f"The mean of the masculine rates of the stereotypes of {people}, {_DRAWN}.",
            )
            for people in _PEOPLE
        },
        **{
            f"{_RATE}_{name}": FigureDeclaration(
                f"masculine rate on {stereotype.name}",
                "none",
                f"The share of masculine among the readings on the stereotype {stereotype.name} (of"
                f" {stereotype.people}), {_DRAWN}.",
            )
            for name, stereotype in STEREOTYPES.items()
        },
        "inconclusive_rate": FigureDeclaration(
            "inconclusive",
            "low",
            "The share of translations in which the form rule reads neither gender.",
        ),
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset != "gest" or form is not ProbingExample:
            return f"stereotype_rates needs the stereotypes of gest, not {dataset} {config}"
        if tgt_lang and tgt_lang not in languages():
            return (
                "expected translations in a language that has a form rule"
                f" ({', '.join(languages())}), got {tgt_lang!r}"
            )
        return ""

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [{"source": e.source, "category": e.category} for e in examples]

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        genders = np.array([read_gender(text, rows.tgt_lang) for text in rows.translations])
        is_gender = np.stack([genders == "male", genders == "female"], axis=1)
        categories = rows.column("category")
        sentences = [*zip(categories, rows.column("source"), strict=True)]
        resampled = {
            name: sums
            for name, sums in resampled_strata(
                is_gender, categories, groups=sentences, **bootstrap.options
            ).items()
            if is_gender[np.array(categories) == name].any()
        }
        counts = {
            name: is_gender[np.array(categories) == name].sum(axis=0).astype(float)
            for name in resampled
        }
        rates = {name: masculine_rate(*count) for name, count in counts.items()}
        samples = {name: masculine_rate(*sums.T) for name, sums in resampled.items()}
        means = mean_rates(rates, _PEOPLE)
        is_open = ~(is_gender[:, 0] | is_gender[:, 1])
        intervals: dict[str, Interval | NoInterval] = {
            **{name: percentile_interval(v) for name, v in mean_rates(samples, _PEOPLE).items()},
            **{f"{_RATE}_{n}": masculine_rate_interval(*map(int, c)) for n, c in counts.items()},
            "inconclusive_rate": share_interval(
                is_open, np.ones(len(is_open)), strata=categories, groups=sentences
            ),
        }
        return Figures(
            scores={
                **{name: float(value) for name, value in means.items()},
                **{f"{_RATE}_{name}": float(rate) for name, rate in rates.items()},
                "inconclusive_rate": float(is_open.mean()),
            },
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}",
                "rule": rows.tgt_lang,
            },
            intervals=intervals,
            counts={
                "n_male": int(is_gender[:, 0].sum()),
                "n_female": int(is_gender[:, 1].sum()),
                "n_blank": rows.n_blank,
            },
            notes=_plain_notes(counts),
            readings=rows.plain_readings(genders.tolist(), categories=categories),
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return the paper's feminine rank of each stereotype."""
        rates = {
            name: result.scores[f"{_RATE}_{name}"]
            for name in STEREOTYPES
            if f"{_RATE}_{name}" in result.scores
        }
        return {"feminine_ranks": feminine_ranks(rates)}


def _plain_notes(counts: Mapping[str, npt.NDArray[np.float64]]) -> tuple[str, ...]:
    """Return the figures by plain shares, which do not depend on the number of readings."""
    if not counts:
        return ()
    plain = mean_rates({name: c[0] / c.sum() for name, c in counts.items()}, _PEOPLE)
    sizes = [int(c.sum()) for c in counts.values()]
    figures = ", ".join(f"{name} {value:.3f}" for name, value in plain.items())
    return (
        f"Masculine rates are {_DRAWN} ({min(sizes):,} to {max(sizes):,} on a stereotype). Plain"
        f" shares give {figures}; compare systems with other numbers of readings by these",
    )
