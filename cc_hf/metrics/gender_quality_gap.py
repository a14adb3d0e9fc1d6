"""Gender quality gap of MT-GenEval (Currey et al. 2022, eq. 3): BLEU, and chrF, of masculine
sentences less that of their feminine counterfactuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cc_hf import __version__, signature
from cc_hf.errors import InputError
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_languages,
    check_rows,
    check_spaced_language,
    one_of,
    own_data,
    text,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import flat
from cc_hf.results import EvaluationResult, Interval, NoInterval
from cc_hf.schema import ContrastiveSourceExample, Example
from cc_hf.statistics.bootstrap import (
    check_bootstrap,
    figure_intervals,
    known_intervals,
    missing_intervals,
    resampled_sums,
)

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

__all__ = [
    "DECLARATION",
    "KEYS",
    "METRIC_VERSION",
    "check_input",
    "compute",
    "evaluate",
    "sacrebleu_signatures",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

_GENDERS = ("male", "female")
_FIELDS: Fields = {"reference": text, "gender": one_of(_GENDERS), "pair": text}
#: of a reference, all required
KEYS = tuple(_FIELDS)


def check_input(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]], *, whole: bool = True
) -> tuple[list[str], list[dict[str, Any]]]:
    """Refuse what cannot be judged, with the row that is wrong.

    Blank translations can. A batch, which is not the `whole`, may hold one half of a pair.

    Returns:
        The rows as plain lists, whatever held them (`cc_hf.metrics.checks.check_rows`).

    Raises:
        InputError: empty lists, different lengths, a translation that is no text, a missing key, a
            blank reference, another gender than male and female, a pair that is not one row of
            each.
    """
    translations, checked = check_rows(predictions, references, _FIELDS)
    rows: dict[tuple[str, str], int] = {}
    for row, reference in enumerate(checked):
        gender, pair = reference["gender"], reference["pair"]
        if (earlier := rows.setdefault((pair, gender), row)) != row:
            raise InputError(
                f"row {row}: pair {pair!r}: expected one {gender} row, got a second one, after row"
                f" {earlier}; number the pairs apart"
            )
    for (pair, gender), row in rows.items():
        other = _GENDERS[1 - _GENDERS.index(gender)]
        if whole and (pair, other) not in rows:
            raise InputError(
                f"row {row}: pair {pair!r}: expected a {other} row too, got none; leave the pair"
                " out, or add its counterfactual"
            )
    return translations, checked


def evaluate(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
    progress: bool = False,
) -> EvaluationResult:
    """BLEU and chrF of each gender as sacreBLEU has them, divided by 100, and the gaps; with a
    bootstrap over pairs, the same ones for both genders.

    The result has no judgements: the figures are of corpora, not of single translations.

    Args:
        predictions, references: as in `compute`.
        src_lang, tgt_lang: ISO 639-1 codes; "" where unknown.
        ids: checked only. dataset, config: names for the result.
        origin: signature fields of the data.
        seed, n_resamples: of the bootstrap.
        progress: of no effect; nothing here takes long.

    Raises:
        InputError: as `check_input`, for a language without spaces between words, or an option out
            of range.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    predictions, references = check_input(predictions, references)
    check_ids(ids, len(predictions))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    check_spaced_language(tgt_lang, "gender_quality_gap")
    sides = [_side(predictions, references, gender) for gender in _GENDERS]
    scores: dict[str, float] = {}
    intervals: dict[str, Interval | NoInterval] = {}
    used: dict[str, str | int] = {}
    for name, scorer in (("bleu", BLEU(tokenize="13a")), ("chrf", CHRF())):
        per_pair = np.concatenate([_statistics(scorer, *side) for side in sides], axis=1)
        points = _figures(scorer, name, per_pair.sum(axis=0)[None])
        resampled = _figures(
            scorer, name, resampled_sums(per_pair, n_resamples=n_resamples, seed=seed)
        )
        scores.update({key: float(values[0]) for key, values in points.items()})
        intervals.update(figure_intervals(resampled))
        used[name] = str(scorer.get_signature()).replace("|", ",").replace(":", "=")
    fields: dict[str, str | int] = {
        "data": own_data(references),
        **{key: value for key, value in (origin or {}).items() if key != "cues"},  # no cue is read
        "langs": f"{src_lang or '?'}-{tgt_lang or '?'}",
        **used,
        "n": len(predictions),
        "boot": n_resamples,
        "seed": seed,
        "m": METRIC_VERSION,
        "v": __version__,
    }
    return EvaluationResult(
        dataset=dataset,
        config=config,
        tgt_lang=tgt_lang,
        metric="gender_quality_gap",
        signature=signature.build("gqg", fields),
        n=len(predictions),
        scores=scores,
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=(),
        judgements=(),
        counts={
            "n_pairs": len(sides[0][0]),
            "n_blank": sum(not translation.strip() for translation in predictions),
        },
    )


def _side(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]], gender: str
) -> tuple[list[str], list[str]]:
    """Translations and references of one gender, in the order in which the pairs first occur."""
    order = {
        pair: at
        for at, pair in enumerate(dict.fromkeys(reference["pair"] for reference in references))
    }
    rows = sorted(
        (row for row, reference in enumerate(references) if reference["gender"] == gender),
        key=lambda row: order[references[row]["pair"]],
    )
    return [predictions[row] for row in rows], [references[row]["reference"] for row in rows]


def _statistics(
    scorer: BLEU | CHRF, translations: Sequence[str], references: Sequence[str]
) -> npt.NDArray[np.float64]:
    """(pairs, k) counts of n-grams and lengths, of which the corpus figure is a function of the
    sums.
    """
    # sacreBLEU's own bootstrap and paired tests are built upon these methods; there are no public
    # ones for chrF
    return np.array(scorer._extract_corpus_statistics(translations, [references]), dtype=np.float64)


def _figures(
    scorer: BLEU | CHRF, name: str, sums: npt.NDArray[np.float64]
) -> dict[str, npt.NDArray[np.float64]]:
    """Figure of each gender and gap for each row of sums, male statistics first; divided by 100."""
    half = sums.shape[1] // 2
    male, female = (
        np.array([scorer._compute_score_from_stats(row).score for row in part.astype(int).tolist()])
        / 100
        for part in (sums[:, :half], sums[:, half:])
    )
    # rounding takes a perfect score a little beyond 1
    return {
        f"{name}_male": np.minimum(male, 1.0),
        f"{name}_female": np.minimum(female, 1.0),
        f"{name}_gap": np.clip(male - female, -1.0, 1.0),
    }


def sacrebleu_signatures(text: str) -> dict[str, str]:
    """The signatures of BLEU and chrF as sacreBLEU writes them, from that of a result.

    Raises:
        InputError: for a signature of another metric.

    >>> sacrebleu_signatures("gqg|bleu:nrefs=1,tok=13a|chrf:nrefs=1,nc=6")["bleu"]
    'nrefs:1|tok:13a'
    """
    metric, fields = signature.parse(text)
    if metric != "gqg":
        raise InputError(
            f"expected a signature of gender_quality_gap, which begins with «gqg|», got {text!r}"
        )
    return {name: fields[name].replace("=", ":").replace(",", "|") for name in ("bleu", "chrf")}


def compute(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    seed: int = 0,
    n_resamples: int = 1000,
) -> dict[str, Any]:
    """What the `evaluate` module returns, as one flat dict; BLEU and chrF are divided by 100.

    Args:
        predictions: translations; a blank one is judged like any other.
        references: per translation `reference`, `gender` (male, female) of the source, and `pair`,
            a name that it shares with its counterfactual.
        src_lang, tgt_lang, seed, n_resamples: as in `evaluate`.

    Returns:
        bleu_male, bleu_female, chrf_male, chrf_female in [0, 1]; bleu_gap, chrf_gap (male less
        female) in [-1, 1]; n, n_pairs, n_blank; intervals (name -> [low, high], 95 %),
        interval_notes (name -> text); bleu_signature, chrf_signature (sacreBLEU's); signature.

    Raises:
        As `evaluate`.

    >>> references = [
    ...     {"reference": "Er ist jetzt ein Arzt.", "gender": "male", "pair": "0"},
    ...     {"reference": "Sie ist jetzt eine Ärztin.", "gender": "female", "pair": "0"},
    ... ]
    >>> result = compute(
    ...     ["Er ist jetzt ein Arzt.", "Er ist jetzt ein Arzt."], references, tgt_lang="de"
    ... )
    >>> round(result["bleu_male"], 3), round(result["bleu_gap"], 3)
    (1.0, 0.82)
    """
    result = evaluate(
        predictions,
        references,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        seed=seed,
        n_resamples=n_resamples,
    )
    return {
        **flat(result),
        **{
            f"{name}_signature": text
            for name, text in sacrebleu_signatures(result.signature).items()
        },
    }


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    # the lines as upstream has them, CSV quotes included: on these are the published figures
    return [
        {"reference": e.extra["reference_raw"], "gender": e.gold, "pair": e.extra["pair"]}
        for e in examples
        if isinstance(e, ContrastiveSourceExample)
    ]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    if dataset != "mt_geneval":
        return (
            "gender_quality_gap needs pairs of counterfactual sentences with references, which"
            f" only mt_geneval has, not {dataset}"
        )
    if form is not ContrastiveSourceExample:
        missing = (
            "has no counterfactual sources"
            if config.startswith("contextual_")
            else "leaves out the pairs with one reference for both"
        )
        return f"gender_quality_gap needs all pairs of counterfactual sentences; {config} {missing}"
    return ""


DECLARATION = MetricDeclaration(
    name="gender_quality_gap",
    evaluate=evaluate,
    references=_references,
    fits=_fits,
    judges=False,
    leaderboard=("bleu_male", "bleu_female", "chrf_male", "chrf_female"),
    resampling="over pairs of a sentence and its counterfactual",
)
