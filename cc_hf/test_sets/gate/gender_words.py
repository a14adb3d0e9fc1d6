"""Gender by words: which gender do the words of a translation show, where nothing says which?

The rule is that of MT-GenEval (Currey et al. 2022, section 3.1), read in both directions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cc_hf.errors import InputError
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, check_spaced_language, optional_text, text
from cc_hf.metrics.figure_names import FigureDeclaration, shares
from cc_hf.metrics.figures import Figures
from cc_hf.metrics.open_choice import reading_shares
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.test_sets.gate.words import only_words
from cc_hf.text.tokenization import whole_words

__all__ = ["READINGS", "GenderWords", "list_shares", "readings"]

#: (whether a translation has feminine words, masculine ones) -> what is read in it
_BY_WORDS = {
    (True, False): "feminine",
    (False, True): "masculine",
    (True, True): "mixed",
    (False, False): "inconclusive",
}
READINGS = tuple(_BY_WORDS.values())
_FIELDS: Fields = {"feminine": text, "masculine": text, "category": optional_text}


def readings(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return the gender that the words of each translation show.

    A translation is feminine if it has a word that only the feminine reference has, and none that
    only the masculine one has; masculine in the reverse case; mixed with words of both kinds, and
    inconclusive without any.

    Examples:
        >>> row = {"feminine": "La jefa vino.", "masculine": "El jefe vino."}
        >>> readings(["Vino la jefa.", "El jefe.", "La jefe.", "Vino."], [row] * 4)
        ('feminine', 'masculine', 'mixed', 'inconclusive')
    """
    return tuple(
        _reading(translation, reference["feminine"], reference["masculine"])
        for translation, reference in zip(predictions, references, strict=True)
    )


def list_shares(
    lists: Sequence[Sequence[str]], references: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, float], dict[str, Interval | NoInterval]]:
    """Return what n-best lists hold where nothing says the gender: scores in [0, 1] and their
    intervals by Wilson's score.

    `both_genders` is the share of lists with a feminine and a masculine translation;
    `feminine_first`, that of feminine ones among the first translations that show one gender.
    """
    if not lists or len(lists) != len(references) or not all(lists):
        raise InputError(
            f"lists: expected at least one translation for each of {len(references)} references,"
            f" got {len(lists)} lists of {min(map(len, lists), default=0)} or more"
        )
    read = [readings(of, [row] * len(of)) for of, row in zip(lists, references, strict=True)]
    first = np.array([of_list[0] for of_list in read])
    both = np.array([{"feminine", "masculine"} <= set(of_list) for of_list in read])
    return reading_shares(
        {
            "both_genders": (both, np.ones(len(read), dtype=np.bool_)),
            "feminine_first": (first == "feminine", np.isin(first, READINGS[:2])),
        }
    )


def _reading(translation: str, feminine: str, masculine: str) -> str:
    present = frozenset(whole_words(translation.lower()))
    women, men = only_words(feminine, masculine)
    return _BY_WORDS[not present.isdisjoint(women), not present.isdisjoint(men)]


@dataclass(frozen=True)
class GenderWords(Metric):
    """Shares of feminine, mixed and inconclusive translations, where nothing says the gender.

    Gender by words compares a translation with a feminine and a masculine reference, where nothing
    says which gender people have. A translation is feminine if it has a word that only the feminine
    reference has and none that only the masculine one has. Neither gender is wrong: the figure is a
    share, not an accuracy, so there are no verdicts, and nothing is ranked.
    """

    name = "gender_words"
    title = "gender by words"
    about = (
        "A translation is feminine if it holds words of the feminine reference only, and masculine"
        " in the reverse case; where nothing says the gender, neither is wrong."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is
            inconclusive.
        references (list of dict): one per translation, with `feminine` and `masculine` (str), the
            same translation with all people of one gender, each with a word that the other does not
            have, and, optionally, `category` (str).

    Returns:
        n, n_feminine, n_masculine, n_mixed, n_inconclusive, n_blank (int): numbers of translations.
        readings (list of str): what is read in each translation, "" for nothing.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/gender_words")
        >>> reference = {"feminine": "La jefa vino.", "masculine": "El jefe vino."}
        >>> metric.compute(
        ...     predictions=["Vino la jefa.", "El jefe."], references=[reference] * 2, tgt_lang="es"
        ... )["feminine_share"]
        0.5
    """
    papers = ("rarrick-2023", "currey-2022")
    signature_name = "gw"
    version = 1
    reference_fields = _FIELDS
    judges = False
    reads_cues = False
    leaderboard = ()
    key_figures = ("feminine_share", "mixed", "inconclusive")
    interval_method = "by Wilson's score"
    figure_names = {  # noqa: RUF012
        **shares(
            "feminine_share",
            "feminine share",
            "none",
            "The share of feminine ones among the translations whose words show one gender",
        ),
        "mixed": FigureDeclaration(
            "mixed", "none", "The share of translations with words of both genders."
        ),
        "inconclusive": FigureDeclaration(
            "inconclusive", "low", "The share of translations whose words show no gender."
        ),
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "gate" and config.endswith(".all"):
            return ""
        return (
            "gender_words needs a translation of each gender for a source that says none, which"
            f" es.all, fr.all and it.all of gate have, {dataset} {config} does not"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [
            {
                "feminine": example.extra["feminine"],
                "masculine": example.extra["masculine"],
                "category": example.category,
            }
            for example in examples
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            sides = ("feminine", "masculine")
            only = only_words(*(reference[key] for key in sides))
            for key, words in zip(sides, only, strict=True):
                if not words:
                    raise InputError(
                        f"row {row}: {key}: expected a word that the other reference does not have,"
                        f" got {reference[key]!r}; leave the row out"
                    )

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        check_spaced_language(rows.tgt_lang, self.name)
        read = np.array(readings(rows.translations, rows.references))
        feminine, shows_one = read == "feminine", np.isin(read, READINGS[:2])
        categories = np.array([category or "all" for category in rows.column("category")])
        groups = {f"_{name}": categories == name for name in sorted(set(categories.tolist()))}
        everything = np.ones(len(read), dtype=np.bool_)
        parts = {
            f"feminine_share{ending}": (feminine & chosen, shows_one & chosen)
            for ending, chosen in {"": everything, **groups}.items()
        }
        parts |= {name: (read == name, everything) for name in READINGS[2:]}
        scores, intervals = reading_shares(parts)
        n_of = Counter(read.tolist())
        return Figures(
            scores=scores,
            signature={"langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}"},
            intervals=intervals,
            counts={**{f"n_{name}": n_of[name] for name in READINGS}, "n_blank": rows.n_blank},
            readings=rows.plain_readings(read.tolist(), categories=categories.tolist()),
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        return {}
