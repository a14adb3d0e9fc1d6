"""Gender-fair German by form: which form names a group of people whose gender is open, a masculine,
feminine, neutral or inclusive one (Lardelli et al. 2024)?
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cc_hf.errors import InputError, shown
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, optional_text, text
from cc_hf.metrics.figure_names import FigureDeclaration
from cc_hf.metrics.figures import Figures
from cc_hf.metrics.open_choice import reading_shares
from cc_hf.normalization import composed
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["READINGS", "GenderFairForms", "reading_of"]

#: What a form shows. A translation with masculine and feminine forms is "both", one without any
#: "inconclusive".
READINGS = ("masculine", "feminine", "neutral", "inclusive")
_FIELDS: Fields = {
    "masculine": text,
    "feminine": text,
    "neutral": optional_text,
    "noun": optional_text,
    "label": optional_text,
    "labelled_translation": optional_text,
}
_SEPARATOR = ";"
_PLURAL = "innen"
#: What stands for the ending of women in an inclusive form: Leser*innen, Leser:in, LeserInnen.
_INCLUSIVE = r"(?:[*:_·/]-?in(?:nen)?|In(?:nen)?)"


def reading_of(translation: str, masculine: str, feminine: str, neutral: str = "") -> str:
    """Return which form a translation uses for people.

    Forms may be the end of a compound. Inclusive forms are those of the feminine stem with a sign
    or a capital before the ending.

    Examples:
        >>> forms = ("Leser", "Leserinnen", "Lesende")
        >>> texts = ("Die Zeitungsleser.", "Leserinnen und Leser.", "Leser*innen.", "Lesende.")
        >>> [reading_of(text, *forms) for text in texts]
        ['masculine', 'both', 'inclusive', 'neutral']
    """
    rest, shows = translation, dict.fromkeys(READINGS, False)
    women = [*_forms(feminine)]
    stems = [form.removesuffix(_PLURAL) for form in women if form.endswith(_PLURAL)]
    singular = [f"{stem}in" for stem in stems]
    # Feminine forms, singular ones as well, are looked for in the rest, and masculine ones, which
    # may end in -n or -s, in what is left.
    for reading, forms, ending, flags in (
        ("inclusive", stems, _INCLUSIVE, 0),
        ("feminine", [*women, *singular], "", re.IGNORECASE),
        ("masculine", [*_forms(masculine)], "[ns]?", re.IGNORECASE),
        ("neutral", [*_forms(neutral)], "", re.IGNORECASE),
    ):
        for form in forms:
            pattern = re.compile(rf"\b\w*?{re.escape(form)}{ending}(?!\w)", flags)
            shows[reading] |= bool(pattern.search(rest))
            rest = pattern.sub(" ", rest)
    if shows["inclusive"]:
        return "inclusive"
    if shows["masculine"] and shows["feminine"]:
        return "both"
    return next((reading for reading in READINGS if shows[reading]), "inconclusive")


def _forms(listed: str) -> Iterator[str]:
    yield from filter(None, map(str.strip, listed.split(_SEPARATOR)))


@dataclass(frozen=True)
class GenderFairForms(Metric):
    """Shares of masculine, feminine, neutral and inclusive forms, where nothing says the gender.

    Gender-fair German (Lardelli et al. 2024): the shares of masculine, feminine, neutral and
    inclusive forms in translations of sources that do not say the gender of people. No form is
    wrong, so there are no verdicts, and nothing is ranked.
    """

    name = "gender_fair_forms"
    title = "gender-fair forms"
    about = (
        "People whose gender is open are named by masculine, feminine, neutral or inclusive forms;"
        " none is wrong."
    )
    help = """
    Args:
        predictions (list of str): German translations by the system under test; a blank one is
            inconclusive.
        references (list of dict): one per translation, with `masculine` and `feminine` (plural
            forms of the noun, separated by ";") and, optionally, `neutral` (likewise), `noun` (rows
            of one noun are not independent), and `label` (masculine, feminine, neutral or
            inclusive: what people read in `labelled_translation`, which counts only where that is
            the translation).
        src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
        tgt_lang (str): de.

    Returns:
        n, n_masculine, n_feminine, n_neutral, n_inclusive, n_both, n_inconclusive, n_blank,
            n_labelled (int): numbers of translations.
        readings (list of str): what is read in each translation, "" for nothing.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/gender_fair_forms")
        >>> reference = {"masculine": "Leser", "feminine": "Leserinnen", "neutral": "Lesende"}
        >>> result = metric.compute(
        ...     predictions=["Alle Leser*innen.", "Alle Lesenden."],
        ...     references=[reference] * 2,
        ...     tgt_lang="de",
        ... )
        >>> result["inclusive_share"], result["inconclusive"]
        (1.0, 0.5)
    """
    papers = ("lardelli-2024",)
    signature_name = "gff"
    version = 1
    reference_fields = _FIELDS
    judges = False
    reads_cues = False
    leaderboard = ()
    key_figures = (*(f"{reading}_share" for reading in READINGS), "inconclusive")
    interval_method = "by Wilson's score, over nouns"
    figure_names = {  # noqa: RUF012
        **{
            f"{reading}_share": FigureDeclaration(
                f"{reading} share",
                "none",
                f"The share of translations with {reading} forms, of those with one reading.",
            )
            for reading in READINGS
        },
        **{
            f"{reading}_by_people": FigureDeclaration(
                f"{reading} (people)",
                "none",
                f"The share of translations that people call {reading}.",
            )
            for reading in READINGS
        },
        "both": FigureDeclaration(
            "both", "none", "The share of translations with masculine and feminine forms."
        ),
        "inconclusive": FigureDeclaration(
            "inconclusive", "low", "The share of translations without a form of the dictionary."
        ),
        "agreement": FigureDeclaration(
            "agreement",
            "high",
            "The share of translations with one reading where it is that of people.",
        ),
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "gender_fair_german":
            return ""
        return (
            "gender_fair_forms needs the German forms of a noun for people, which only"
            f" gender_fair_german has, not {dataset}"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [{key: example.extra[key] for key in _FIELDS} for example in examples]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            if reference["label"] not in (*READINGS, ""):
                raise InputError(
                    f"row {row}: label: expected {', '.join(READINGS)} or nothing, got"
                    f" {reference['label']!r}"
                )

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        if rows.tgt_lang != "de":
            raise InputError(
                "tgt_lang: gender_fair_forms reads German forms; expected de, got"
                f" {shown(rows.tgt_lang)}"
            )
        pairs = list(zip(rows.translations, rows.references, strict=True))
        read = np.array(
            [reading_of(t, r["masculine"], r["feminine"], r["neutral"]) for t, r in pairs]
        )
        labels = np.array(
            [r["label"] * (composed(t) == r["labelled_translation"]) for t, r in pairs]
        )
        has_one, has_label = np.isin(read, READINGS), labels != ""
        everything = np.ones(len(read), dtype=np.bool_)
        nouns = [r["noun"] or str(row) for row, r in enumerate(rows.references)]
        scores, intervals = reading_shares(
            {
                **{f"{reading}_share": (read == reading, has_one) for reading in READINGS},
                **{name: (read == name, everything) for name in ("both", "inconclusive")},
                **{f"{reading}_by_people": (labels == reading, has_label) for reading in READINGS},
                "agreement": ((read == labels) & has_one, has_one & has_label),
            },
            groups=nouns,
        )
        n_of = Counter(read.tolist())
        return Figures(
            scores=scores,
            signature={"langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}"},
            intervals=intervals,
            counts={
                **{f"n_{name}": n_of[name] for name in (*READINGS, "both", "inconclusive")},
                **{"n_blank": rows.n_blank, "n_labelled": int(has_label.sum())},
            },
            readings=rows.plain_readings(read.tolist()),
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        return {}
