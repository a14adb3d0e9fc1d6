"""Agreement of pronouns on Wino-X by their form: has the pronoun that translates «it» the gender of
the right referent, or of the other one?

No evaluator is needed, and no verdict is guessed: where several pronouns could translate «it», the
translation is inconclusive.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from cc_hf import __version__, signature
from cc_hf.cues.referents import ambiguous_it
from cc_hf.errors import InputError, shown
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_languages,
    check_rows,
    check_twins,
    one_of,
    optional_text,
    own_data,
    text,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import flat
from cc_hf.metrics.summary import pair_figures, summarize
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Example, Judgement
from cc_hf.statistics.bootstrap import check_bootstrap, known_intervals, missing_intervals
from cc_hf.text.pronouns import pronoun_gender

__all__ = [
    "DECLARATION",
    "KEYS",
    "METRIC_VERSION",
    "check_input",
    "compute",
    "evaluate",
    "found_gender",
    "judge",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

_LANGUAGES = ("de", "fr", "ru")
_GENDER = one_of(("male", "female", "neutral", "unknown"))
_FIELDS: Fields = {
    "source": text,
    "correct_gender": _GENDER,
    "incorrect_gender": _GENDER,
    "category": optional_text,
    "pair": optional_text,
}
#: of a reference
KEYS = tuple(_FIELDS)
_WORD = re.compile(r"[^\W\d_]+")
#: subjects of the source whose translation is one of the target's pronouns; Russian «they» shows no
#: gender and is not among these
_SUBJECTS = {
    "de": frozenset({"he", "she", "it", "they"}),
    "fr": frozenset({"he", "she", "it", "they"}),
    "ru": frozenset({"he", "she", "it"}),
}
#: pronouns that stand for nothing: «il y a», «il faut», «es gibt»
_IMPERSONAL = {
    "de": re.compile(r"\bes (?:gibt|gab|gäbe)\b|\b(?:gibt|gab|gäbe) es\b", re.IGNORECASE),
    "fr": re.compile(
        r"\bil (?:(?:n['’])?y (?:a|avait|aura|eut|ait)\b|(?:ne"
        r" )?(?:faut|fallait|faudra|faudrait)\b)",
        re.IGNORECASE,
    ),
}
#: within a sentence «Sie» is a polite «you»
_POLITE = re.compile(r"(?<=[\w,;)–-] )Sie\b")


def check_input(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]], *, whole: bool = True
) -> tuple[list[str], list[dict[str, Any]]]:
    """Refuse what cannot be judged, with the row that is wrong.

    Blank translations can. A batch, which is not the `whole`, may hold one half of a pair.

    Returns:
        The rows as plain lists, whatever held them (`cc_hf.metrics.checks.check_rows`).

    Raises:
        InputError: empty lists, different lengths, a translation that is no text, a missing key, a
            source without «it», an unknown gender, more than two rows of a pair.
    """
    translations, rows = check_rows(predictions, references, _FIELDS)
    for row, reference in enumerate(rows):
        try:
            ambiguous_it(reference["source"])
        except InputError as error:
            raise InputError(f"row {row}: source: {error}") from None
    if whole:
        check_twins([reference["pair"] for reference in rows])
    return translations, rows


def found_gender(source: str, translation: str, lang: str) -> str:
    """The gender of the pronoun that translates the ambiguous «it»
    (`cc_hf.cues.referents.ambiguous_it`).

    Of the translation the third-person pronouns in the nominative are read: de er, sie, es; fr
    il(s), elle(s); ru он, она, оно, also in mixed script; not those of «es gibt», «il y a», «il
    faut», nor a «Sie» within a sentence. Where they are as many as he, she, it and they in the
    source, the one in the place of «it» counts; where they are more but show one gender, that one.

    Unicode is composed (NFC) first: an accent typed as a character of its own does not end a word.

    Returns:
        male, female, neutral, «» without a pronoun, or «several» where it cannot be told which one
        counts.

    >>> found_gender(
    ...     "She left the vase because it was small.",
    ...     "Sie ließ die Vase stehen, weil sie klein war.",
    ...     "de",
    ... )
    'female'
    >>> found_gender(
    ...     "He left the vase because it was small.",
    ...     "Er ließ die Vase wegen der Größe stehen.",
    ...     "de",
    ... )
    'several'
    """
    source, translation = (unicodedata.normalize("NFC", text) for text in (source, translation))
    subjects = [
        match.start()
        for match in _WORD.finditer(source)
        if match.group().lower() in _SUBJECTS[lang]
    ]
    spared = [
        match.span()
        for pattern in (_IMPERSONAL.get(lang), _POLITE if lang == "de" else None)
        if pattern
        for match in pattern.finditer(translation)
    ]
    words = [
        match.group()
        for match in _WORD.finditer(translation)
        if not any(start <= match.start() < end for start, end in spared)
    ]
    genders = [
        gender for gender in (pronoun_gender(word, lang) for word in words) if gender != "unknown"
    ]
    if not genders:
        return ""
    if len(genders) == len(subjects):
        return genders[subjects.index(ambiguous_it(source).start)]
    return genders[0] if len(genders) > len(subjects) and len(set(genders)) == 1 else "several"


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    tgt_lang: str,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """The verdict on every translation; each is judged by itself.

    Correct is a pronoun with the gender of the right referent, incorrect one with that of the
    other. Inconclusive is a translation without a pronoun, with several of which any could be the
    one, with the gender of neither, and any of a row whose two genders are the same. `predicted` is
    what `found_gender` says.
    """
    names, found = check_ids(ids, len(predictions)), []
    for name, translation, reference in zip(names, predictions, references, strict=True):
        predicted, gold, other = (
            found_gender(reference["source"], translation, tgt_lang),
            reference["correct_gender"],
            reference["incorrect_gender"],
        )
        verdict = (
            "inconclusive"
            if gold == other
            else {gold: "correct", other: "incorrect"}.get(predicted, "inconclusive")
        )
        found.append(
            Judgement(
                name,
                reference.get("category") or gold,
                verdict == "correct",
                translation,
                verdict,
                predicted=predicted,
                gold=gold,
            )
        )
    return tuple(found)


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
    """Judge translations and sum up.

    Args:
        predictions, references: as in `compute`.
        src_lang: en, or "".
        tgt_lang: de, fr or ru.
        ids, dataset, config: names for the result.
        origin: signature fields of the data.
        seed, n_resamples: of the bootstrap, within categories; of pairs, pairs are drawn whole.
        progress: of no effect; nothing here takes long.

    Raises:
        InputError: as `check_input`, or for another language.
    """
    predictions, references = check_input(predictions, references)
    labels = check_ids(ids, len(predictions))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    if src_lang not in ("", "en"):
        raise InputError(
            "src_lang: wino_x_pattern_matching reads the English «it»; expected en, got"
            f" {shown(src_lang)}"
        )
    if tgt_lang not in _LANGUAGES:
        raise InputError(
            f"tgt_lang: wino_x_pattern_matching knows the pronouns of {', '.join(_LANGUAGES)};"
            f" expected one of these, got {shown(tgt_lang)}"
        )
    judgements = judge(predictions, references, tgt_lang=tgt_lang, ids=labels)
    summary = summarize(judgements, seed=seed, n_resamples=n_resamples)
    of_pairs, pair_intervals, counts = pair_figures(
        judgements,
        [reference.get("pair") or "" for reference in references],
        seed=seed,
        n_resamples=n_resamples,
    )
    intervals = {**summary.intervals, **pair_intervals}
    predicted = [j.predicted for j in judgements]
    fields: dict[str, str | int] = {
        "data": own_data(references),
        **{key: value for key, value in (origin or {}).items() if key != "cues"},  # no cue is read
        "langs": f"{src_lang or '?'}-{tgt_lang}",
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
        metric="wino_x_pattern_matching",
        signature=signature.build("wxpm", fields),
        n=len(judgements),
        scores={
            **summary.scores,
            **of_pairs,
            "inconclusive_rate": summary.counts["n_inconclusive"] / len(judgements),
        },
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=summary.categories,
        judgements=judgements,
        counts={
            **summary.counts,
            **counts,
            "n_no_pronoun": predicted.count(""),
            "n_several_pronouns": predicted.count("several"),
        },
    )


def compute(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    src_lang: str = "en",
    tgt_lang: str = "",
    seed: int = 0,
    n_resamples: int = 1000,
) -> dict[str, Any]:
    """What the `evaluate` module returns: figures in [0, 1] as one flat dict.

    Args:
        predictions: translations; a blank one is inconclusive.
        references: per translation `source` (English, with «it»), `correct_gender` and
            `incorrect_gender` of the two referents in the target language (male, female, neutral,
            unknown), and where there is one `category` and `pair` (a name that the twins of a
            schema share).
        src_lang, tgt_lang, seed, n_resamples: as in `evaluate`.

    Returns:
        accuracy (an inconclusive translation is not correct), min_accuracy, accuracy_<category>,
        inconclusive_rate, pair_accuracy (with pairs); n, n_correct, n_inconclusive, of these
        n_no_pronoun and n_several_pronouns; with pairs n_pairs, n_pairs_correct, n_without_twin;
        verdicts and predicted (lists); intervals (name -> [low, high], 95 %), interval_notes (name
        -> text); signature.

    Raises:
        As `evaluate`.

    >>> reference = {
    ...     "source": "The vase broke because it was old.",
    ...     "correct_gender": "female",
    ...     "incorrect_gender": "male",
    ... }
    >>> compute(
    ...     ["Die Vase zerbrach, weil sie alt war.", "Die Vase zerbrach, weil er alt war."],
    ...     [reference] * 2,
    ...     tgt_lang="de",
    ... )["verdicts"]
    ['correct', 'incorrect']
    """
    return flat(
        evaluate(
            predictions,
            references,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            seed=seed,
            n_resamples=n_resamples,
        )
    )


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    return [
        {
            "source": e.source,
            "category": e.category,
            **{key: e.extra[key] for key in ("correct_gender", "incorrect_gender", "pair")},
        }
        for e in examples
        if isinstance(e, ContrastiveSourceExample)
    ]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    if dataset == "wino_x" and form is ContrastiveSourceExample:
        return ""
    return (
        "wino_x_pattern_matching needs English sentences with an ambiguous «it», as mt_* of wino_x"
        f" have them, not {dataset} {config}"
    )


DECLARATION = MetricDeclaration(
    "wino_x_pattern_matching",
    evaluate,
    _references,
    _fits,
    leaderboard=("accuracy", "pair_accuracy"),
    resampling="within categories; of pairs, over whole pairs",
)
