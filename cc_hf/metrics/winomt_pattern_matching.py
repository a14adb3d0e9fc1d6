"""WinoMT's pattern matching (Stanovsky et al. 2019): the gender that the form of an occupation has
in the translation, found by word alignment.
"""

from __future__ import annotations

import inspect
import unicodedata
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf import __version__, signature
from cc_hf.data.text_files import text_lines
from cc_hf.errors import InputError, UnknownNameError, shown
from cc_hf.metrics.checks import (
    Fields,
    any_text,
    check_ids,
    check_languages,
    check_rows,
    index,
    one_of,
    own_data,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import interval_fields
from cc_hf.metrics.summary import summarize
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement
from cc_hf.statistics.bootstrap import check_bootstrap, known_intervals, missing_intervals
from cc_hf.statistics.gender_figures import (
    count_cells,
    gender_figures,
    gender_intervals,
    printed_figures,
)
from cc_hf.text.alignment import (
    Aligner,
    Alignment,
    GivenAlignments,
    find_aligner,
    parse_pharaoh,
    space_tokens,
)
from cc_hf.text.gender import (
    GENDER_LANGUAGES,
    GENDERS,
    UNKNOWN,
    GenderPredictor,
    Phrase,
    gender_predictor,
)

__all__ = [
    "DECLARATION",
    "METRIC_VERSION",
    "check_input",
    "compute",
    "evaluate",
    "judge",
    "split_options",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

#: of a reference
_FIELDS: Fields = {
    "source": any_text,
    "occupation": any_text,
    "occupation_index": index,
    "gold_gender": one_of(GENDERS),
    "stereotype": one_of(("pro", "anti", "none")),
}
_ARTICLES = ("the", "a", "an")
_FIGURES = ("exact", "printed")


def check_input(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Refuse what cannot be judged, with the row that is wrong.

    A blank translation can: no gender is known of it.

    Returns:
        The rows as plain lists, whatever held them (`cc_hf.metrics.checks.check_rows`).

    Raises:
        InputError: empty lists, different lengths, a translation that is no text, a missing key, a
            value of another type, an unknown gender or stereotype, an index behind the end of the
            source.
    """
    translations, rows = check_rows(predictions, references, _FIELDS)
    for row, reference in enumerate(rows):
        n, at = len(space_tokens(reference["source"])), reference["occupation_index"]
        if not 0 <= at < n:
            raise InputError(
                f"row {row}: occupation_index: expected 0 to {n - 1}, a token of the source split"
                f" at spaces, got {at}: {reference['source']!r}"
            )
    return translations, rows


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    alignments: Sequence[Alignment],
    predictor: GenderPredictor,
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """The verdict on every translation: the gender read in the words linked to the article and the
    first word of the occupation.

    `inconclusive` where no gender could be read: `unknown`, which counts as wrong. Each verdict
    depends on its own row only; the alignments are what may depend on all rows.

    Args:
        predictions, references: as in `evaluate`.
        alignments: one per translation, by indices of `space_tokens`.
        predictor: rules of the target language.
        ids: names of the examples; None for row numbers.
    """
    names, judgements = check_ids(ids, len(predictions)), []
    for name, (translation, reference, alignment) in zip(
        names, zip(predictions, references, alignments, strict=True), strict=True
    ):
        gold = reference["gold_gender"]
        phrase = _phrase(_composed(translation), reference, alignment)
        predicted = predictor.predict(phrase) if translation.strip() else UNKNOWN
        verdict = (
            "inconclusive"
            if predicted == UNKNOWN
            else "correct"
            if predicted == gold
            else "incorrect"
        )
        judgements.append(
            Judgement(
                name, gold, predicted == gold, translation, verdict, predicted=predicted, gold=gold
            )
        )
    return tuple(judgements)


def _composed(text: str) -> str:
    """The text in NFC: the rules know letters, not letters with accents that are typed as
    characters of their own.
    """
    return unicodedata.normalize("NFC", text)


def _phrase(translation: str, reference: Mapping[str, Any], alignment: Alignment) -> Phrase:
    source, target, index = (
        space_tokens(reference["source"]),
        space_tokens(translation),
        reference["occupation_index"],
    )
    has_article = index > 0 and source[index - 1].lower() in _ARTICLES
    linked = [
        j
        for at in ([index - 1, index] if has_article else [index])
        for i, j in alignment
        if i == at
    ]
    return Phrase(
        tuple(target[j] for j in linked),
        min(linked, default=-1),
        translation,
        reference["occupation"],
    )


def evaluate(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    src_lang: str = "en",
    tgt_lang: str = "",
    aligner: str | Aligner = "fast_align",
    alignments: str | Path | Sequence[str] | None = None,
    figures: str = "exact",
    spacy_model: str | None = None,
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
    progress: bool = False,
) -> EvaluationResult:
    """Judge translations and sum up.

    fast_align and eflomal estimate their model on the translations that are judged together, so a
    verdict may depend on other rows: judge all translations of a system at once.

    Args:
        predictions: translations; a blank one is `unknown`, hence wrong, and counted as n_blank.
        references: per translation a mapping with `source`, `occupation` (as the source's list of
            occupations has it), `occupation_index` (0-based, the first word of the occupation among
            the space-split tokens of the source), `gold_gender` (male, female, neutral),
            `stereotype` (pro, anti, none).
        src_lang: en, or "".
        tgt_lang: one of `cc_hf.text.gender.GENDER_LANGUAGES`.
        aligner: fast_align (built in), eflomal, or an Aligner.
        alignments: instead of an aligner, a Pharaoh file or its lines: one per translation.
        figures: exact, or printed: rounded in between as the program of the paper does
            (`cc_hf.statistics.gender_figures.printed_figures`).
        spacy_model: as of `cc_hf.text.gender.gender_predictor`.
        ids, dataset, config: names for the result.
        origin: signature fields of the data, such as {"data": "winomt/all@b2f1b31"}.
        seed, n_resamples: of the bootstrap.
        progress: of no effect, there is nothing to wait for.

    Raises:
        InputError: as `check_input`, or for options that are not as above.
        UnknownNameError: for a language or aligner that is not known.
        DataError: for a line of alignments that is not in Pharaoh format.
        MissingDependencyError: when the language or the aligner needs a package that is not
            installed.
    """
    predictions, references = check_input(predictions, references)
    names = check_ids(ids, len(predictions))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    if src_lang not in ("", "en"):
        raise InputError(f"src_lang: expected en, whose articles are known, got {shown(src_lang)}")
    if figures not in _FIGURES:
        raise InputError(f"figures: expected one of {', '.join(_FIGURES)}, got {shown(figures)}")
    if tgt_lang not in GENDER_LANGUAGES:
        raise UnknownNameError("target language", tgt_lang, GENDER_LANGUAGES)
    predictor = gender_predictor(tgt_lang, spacy_model=spacy_model)
    chosen = _given(alignments, aligner) if alignments is not None else find_aligner(aligner)
    links = chosen.align(
        [_composed(reference["source"]) for reference in references],
        [_composed(translation) for translation in predictions],
    )
    judgements = judge(predictions, references, links, predictor, ids=names)
    _warn_of_genders_never_read(judgements)

    summary = summarize(judgements, seed=seed, n_resamples=n_resamples)
    cells = count_cells(
        [j.gold for j in judgements],
        [r["stereotype"] for r in references],
        [j.predicted for j in judgements],
    )
    own = gender_figures(cells) if figures == "exact" else printed_figures(cells)
    # the same figure
    recall_intervals = {
        f"recall_{c.category}": summary.intervals[f"accuracy_{c.category}"]
        for c in summary.categories
    }
    intervals = {
        **gender_intervals(cells, seed=seed, n_resamples=n_resamples),
        **summary.intervals,
        **recall_intervals,
    }
    fields: dict[str, str | int] = {
        "langs": f"en-{tgt_lang}",
        "align": chosen.signature_name,
        "gender": predictor.signature_name,
        "figures": figures,
        "n": len(judgements),
        "boot": n_resamples,
        "seed": seed,
        "m": METRIC_VERSION,
        "v": __version__,
    }
    return EvaluationResult(
        dataset=dataset,
        config=config,
        tgt_lang=tgt_lang,
        metric="winomt_pattern_matching",
        signature=signature.build(
            "winomt", {"data": own_data(references), **(origin or {}), **fields}
        ),
        n=len(judgements),
        scores={**summary.scores, **own},
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=summary.categories,
        judgements=judgements,
        counts={**summary.counts, **_counts(judgements)},
    )


def _given(alignments: str | Path | Sequence[str], aligner: str | Aligner) -> GivenAlignments:
    if aligner != "fast_align":
        raise InputError("expected either an aligner or alignments, got both; leave one out")
    if not isinstance(alignments, (str, Path)):
        return GivenAlignments(parse_pharaoh(alignments))
    try:
        lines = text_lines(Path(alignments))
    except OSError as error:
        raise InputError(
            f"alignments: {alignments}: expected a Pharaoh file that can be read: {error.strerror}"
        ) from error
    return GivenAlignments(parse_pharaoh(lines, name=str(alignments)), name=str(alignments))


def _counts(judgements: Sequence[Judgement]) -> dict[str, int]:
    """n_blank; the confusion of genders, n_<gold>_as_<predicted>; and the unknown ones,
    n_unknown_<gold>.
    """
    pairs = Counter((j.gold, j.predicted) for j in judgements)
    confusion = {
        f"n_{gold}_as_{predicted}": pairs[gold, predicted]
        for gold in GENDERS
        for predicted in GENDERS
    }
    unknown = {f"n_unknown_{gold}": pairs[gold, UNKNOWN] for gold in GENDERS}
    return {
        "n_blank": sum(not j.translation.strip() for j in judgements),
        **confusion,
        "n_unknown": sum(unknown.values()),
        **unknown,
    }


def _warn_of_genders_never_read(judgements: Sequence[Judgement]) -> None:
    """Not of neutral, which most rules never answer and no delta is made of."""
    never = {j.gold for j in judgements} - {j.predicted for j in judgements}
    if named := [gender for gender in ("male", "female") if gender in never]:
        warnings.warn(
            f"none of {len(judgements)} translations was read as {' or '.join(named)}; precision"
            " and F1 of it are set to 0",
            UserWarning,
            stacklevel=3,
        )


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments of `compute`, and all others, which are the host's.

    >>> split_options({"tgt_lang": "de", "num_process": 1})
    ({'tgt_lang': 'de'}, {'num_process': 1})
    """
    # the host has a seed of its own
    own = inspect.signature(compute).parameters.keys() - {"predictions", "references", "seed"}
    return {k: v for k, v in options.items() if k in own}, {
        k: v for k, v in options.items() if k not in own
    }


def compute(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    src_lang: str = "en",
    tgt_lang: str = "",
    aligner: str | Aligner = "fast_align",
    alignments: str | Path | Sequence[str] | None = None,
    figures: str = "exact",
    spacy_model: str | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
) -> dict[str, Any]:
    """What the `evaluate` module returns: figures as one flat dict.

    Arguments and errors as of `evaluate`.

    Returns:
        In [0, 1]: accuracy, min_accuracy, accuracy_<gender>, precision_<gender>, recall_<gender>,
        f1_<gender>, accuracy_pro, accuracy_anti; in [-1, 1]: delta_g, delta_s; n, n_correct,
        n_inconclusive, n_blank, n_<gold>_as_<predicted>, n_unknown, n_unknown_<gender>; predicted
        and verdicts (lists); intervals (name -> [low, high], 95 %), interval_notes (name -> text);
        signature. A figure without any sample is left out.

    >>> reference = {
    ...     "source": "The cook left.",
    ...     "occupation": "cook",
    ...     "occupation_index": 1,
    ...     "gold_gender": "female",
    ...     "stereotype": "pro",
    ... }
    >>> result = compute(
    ...     ["Die Köchin ging."], [reference], tgt_lang="de", alignments=["0-0 1-1 2-2"]
    ... )
    >>> result["accuracy"], result["predicted"], "delta_g" in result
    (1.0, ['female'], False)
    """
    options: dict[str, Any] = {
        "aligner": aligner,
        "alignments": alignments,
        "figures": figures,
        "spacy_model": spacy_model,
    }
    result = evaluate(
        predictions,
        references,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        **options,
        seed=seed,
        n_resamples=n_resamples,
    )
    return {
        **result.scores,
        "n": result.n,
        **result.counts,
        "predicted": [j.predicted for j in result.judgements],
        "verdicts": [j.verdict for j in result.judgements],
        **interval_fields(result),
        "signature": result.signature,
    }


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    found = []
    for example in examples:
        if isinstance(example, ContrastiveTranslationExample) or example.focus is None:
            raise InputError(f"example {example.id!r}: expected a located occupation, got none")
        index = len(space_tokens(example.source[: example.focus.start]))
        found.append(
            {
                "source": example.source,
                "occupation_index": index,
                "gold_gender": example.gold,
                **{key: example.extra[key] for key in ("occupation", "stereotype")},
            }
        )
    return found


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    if dataset != "winomt":
        return (
            "winomt_pattern_matching reads the occupations and stereotypes of WinoMT, which"
            f" {dataset} does not have"
        )
    if tgt_lang not in GENDER_LANGUAGES:
        return (
            f"winomt_pattern_matching has rules for {', '.join(GENDER_LANGUAGES)}, not for"
            f" {tgt_lang}"
        )
    return ""


DECLARATION = MetricDeclaration(
    name="winomt_pattern_matching",
    evaluate=evaluate,
    references=_references,
    fits=_fits,
    options=("aligner", "alignments", "figures", "spacy_model"),
    resampling="within gold genders",
)
