"""Gender quality gap of MT-GenEval: BLEU and chrF of masculine minus feminine sentences.

The feminine sentences are the counterfactuals of the masculine ones; see Currey et al. 2022, eq. 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.errors import InputError
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    check_spaced_language,
    one_of,
    text,
)
from cc_hf.metrics.figure_names import FigureDeclaration
from cc_hf.metrics.figures import Figures
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import ContrastiveSourceExample, Example
from cc_hf.statistics.bootstrap import (
    Bootstrap,
    percentile_interval,
    resampled_sums,
)
from cc_hf.statistics.corpus_quality import score_of_sums, sentence_statistics

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

__all__ = ["GenderQualityGap", "sacrebleu_signatures"]

_GENDERS = ("male", "female")
_FIELDS: Fields = {"reference": text, "gender": one_of(_GENDERS), "pair": text}


def _side(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]], gender: str
) -> tuple[list[str], list[str]]:
    """Return translations and references of one gender, in the order of the pairs."""
    order = {
        pair: position
        for position, pair in enumerate(
            dict.fromkeys(reference["pair"] for reference in references)
        )
    }
    rows = sorted(
        (row for row, reference in enumerate(references) if reference["gender"] == gender),
        key=lambda row: order[references[row]["pair"]],
    )
    return [predictions[row] for row in rows], [references[row]["reference"] for row in rows]


def _figures(
    scorer: BLEU | CHRF, name: str, sums: npt.NDArray[np.float64]
) -> dict[str, npt.NDArray[np.float64]]:
    """Return both genders' scores and their gap for each row of sums, divided by 100."""
    # The first half of the columns belongs to the male side.
    half = sums.shape[1] // 2
    score = score_of_sums(name, scorer)
    male, female = (score({"all": part})[name] for part in (sums[:, :half], sums[:, half:]))
    return {f"{name}_male": male, f"{name}_female": female, f"{name}_gap": male - female}


def sacrebleu_signatures(text: str) -> dict[str, str]:
    """Return the signatures of BLEU and chrF from that of a result, as sacreBLEU writes them.

    Examples:
        >>> sacrebleu_signatures("gqg|bleu:nrefs=1,tok=13a|chrf:nrefs=1,nc=6")["bleu"]
        'nrefs:1|tok:13a'
    """
    metric, fields = signature.parse(text)
    if metric != "gqg":
        raise InputError(
            f'expected a signature of gender_quality_gap, which begins with "gqg|", got {text!r}'
        )
    return {name: fields[name].replace("=", ":").replace(",", "|") for name in ("bleu", "chrf")}


@dataclass(frozen=True)
class GenderQualityGap(Metric):
    """BLEU and chrF of each gender, and the gaps between the genders.

    The gender quality gap (MT-GenEval) is the BLEU, and the chrF, of translations of masculine
    sentences minus that of their feminine counterfactuals, computed by sacreBLEU and divided by
    100, with a bootstrap that draws pairs, the same ones for both genders. The result has no
    judgements, because the figures describe corpora, not single translations.
    """

    name = "gender_quality_gap"
    title = "gender quality gap"
    about = (
        "BLEU and chrF of translations about men and about women, from references of each gender."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is judged like
            any other.
        references (list of dict): one per translation, with `reference` (str), `gender` (male,
            female) of the source and `pair` (str), a name that a sentence and its counterfactual
            share.

    Returns:
        n, n_pairs, n_blank (int): numbers of translations and pairs.
        bleu_signature, chrf_signature (str): signatures of sacreBLEU.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/gender_quality_gap")
        >>> references = [
        ...     {"reference": "Er ist jetzt ein Arzt.", "gender": "male", "pair": "0"},
        ...     {"reference": "Sie ist jetzt eine Ärztin.", "gender": "female", "pair": "0"},
        ... ]
        >>> texts = ["Er ist jetzt ein Arzt."] * 2
        >>> result = metric.compute(predictions=texts, references=references, tgt_lang="de")
        >>> round(result["bleu_gap"], 2)
        0.82
    """
    papers = ("currey-2022",)
    signature_name = "gqg"
    version = 3
    reference_fields = _FIELDS
    judges = False
    reads_cues = False
    leaderboard = ("bleu_male", "bleu_female", "chrf_male", "chrf_female")
    key_figures = ("bleu_gap", "chrf_gap", *leaderboard)
    interval_method = "by bootstrap over pairs of a sentence and its counterfactual"
    figure_names = {  # noqa: RUF012
        **{
            f"{score}_{gender}": FigureDeclaration(
                f"{name} on {gender}", "high", f"{name} of the translations about {people}."
            )
            for score, name in (("bleu", "BLEU"), ("chrf", "chrF"))
            for gender, people in (("male", "men"), ("female", "women"))
        },
        **{
            f"{score}_gap": FigureDeclaration(
                f"{name} gap, 0 is best",
                "zero",
                f"{name} on male minus {name} on female. Above 0, men are translated better.",
                (f"{score}_male", f"{score}_female"),
            )
            for score, name in (("bleu", "BLEU"), ("chrf", "chrF"))
        },
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset != "mt_geneval":
            return (
                "gender_quality_gap needs pairs of counterfactual sentences with references, which"
                f" only mt_geneval has, not {dataset}"
            )
        if form is not ContrastiveSourceExample or config.startswith("contextual_"):
            missing = (
                "has no counterfactual sources"
                if config.startswith("contextual_")
                else "leaves out the pairs with one reference for both"
            )
            return (
                "gender_quality_gap needs all pairs of counterfactual sentences;"
                f" {config} {missing}"
            )
        return ""

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        # The published figures are computed on the raw upstream lines, with their CSV quotes.
        return [
            {"reference": e.extra["reference_raw"], "gender": e.gold, "pair": e.extra["pair"]}
            for e in examples
            if isinstance(e, ContrastiveSourceExample)
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        rows: dict[tuple[str, str], int] = {}
        for row, reference in enumerate(references):
            gender, pair = reference["gender"], reference["pair"]
            if (earlier := rows.setdefault((pair, gender), row)) != row:
                raise InputError(
                    f"row {row}: pair {pair!r}: expected one {gender} row, got a second one, after"
                    f" row {earlier}; number the pairs apart"
                )
        for (pair, gender), row in rows.items():
            other = _GENDERS[1 - _GENDERS.index(gender)]
            if whole and (pair, other) not in rows:
                raise InputError(
                    f"row {row}: pair {pair!r}: expected a {other} row too, got none; leave the"
                    " pair out, or add its counterfactual"
                )

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF

        check_spaced_language(rows.tgt_lang, self.name)
        sides = [_side(rows.translations, rows.references, gender) for gender in _GENDERS]
        values: dict[str, float] = {}
        intervals: dict[str, Interval | NoInterval] = {}
        used: dict[str, str | int] = {
            "langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}"
        }
        for name, scorer in (("bleu", BLEU(tokenize="13a")), ("chrf", CHRF())):
            per_pair = np.concatenate(
                [sentence_statistics(scorer, *side) for side in sides], axis=1
            )
            points = _figures(scorer, name, per_pair.sum(axis=0)[None])
            resampled = _figures(scorer, name, resampled_sums(per_pair, **bootstrap.options))
            values |= {key: float(points[key][0]) for key in points}
            intervals |= {key: percentile_interval(drawn) for key, drawn in resampled.items()}
            used[name] = str(scorer.get_signature()).replace("|", ",").replace(":", "=")
        return Figures(
            scores=values,
            signature=used,
            intervals=intervals,
            counts={"n_pairs": len(sides[0][0]), "n_blank": rows.n_blank},
        )

    @staticmethod
    def row_values(result: EvaluationResult) -> dict[str, Any]:
        """Return the signatures of sacreBLEU; there are no values per row."""
        return {
            f"{name}_signature": text
            for name, text in sacrebleu_signatures(result.signature).items()
        }
