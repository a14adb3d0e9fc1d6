"""Gender by form: which gender do adjectives of a translation give to the persons of a dialogue?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, shown
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, index, optional_text, text
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.results import NoInterval
from cc_hf.schema import VERDICTS, Example, Judgement, Reading
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import Estimate, difference, estimate_share, lowest
from cc_hf.test_sets.gender_res.gender_form.spanish import read_persons

__all__ = ["GenderForm", "judge_rows", "reading_of"]

_RULES: dict[str, Callable[[str], list[tuple[str, str]]]] = {"es": read_persons}
_GENDERS = ("female", "male")
_FIELDS: Fields = {
    "persons": text,
    "slot": index,
    "gender": optional_text,
    "groups": optional_text,
    "cluster": optional_text,
    "row": optional_text,
}
_ONE_CLUSTER = "all samples are in one group"
_MOST_UNALIGNED = 0.1  # of the rows, from which no figure is given
#: Group of slots with a gender -> what it is.
_GROUPS = {
    "male": "of men",
    "female": "of women",
    "speaker": "of the person who speaks",
    "listener": "of the person who is spoken to",
    "speaker_male": "of a man who speaks",
    "speaker_female": "of a woman who speaks",
    "listener_male": "of a man who is spoken to",
    "listener_female": "of a woman who is spoken to",
    "same": "of two persons of one gender",
    "opposite": "of a man and a woman",
    "with_I": "beside a person without a gender",
}
#: Group of slots without a gender -> what it is.
_OPEN_GROUPS = {
    "no_adverb": "without an adverb",
    "masculine_adverb": "with an adverb such as suavely",
    "feminine_adverb": "with an adverb such as saucily",
    "masculine_character": "of a person with an adjective such as grizzled",
    "feminine_character": "of a person with an adjective such as lovely",
    "beside_man": "of a person who speaks with a man",
    "beside_woman": "of a person who speaks with a woman",
}
_EFFECTS = {
    "adverb_effect": ("feminine_adverb", "masculine_adverb"),
    "character_effect": ("feminine_character", "masculine_character"),
    "opposite_effect": ("beside_man", "beside_woman"),
}


@lru_cache(maxsize=1 << 14)
def _read(translation: str, lang: str) -> tuple[tuple[str, str], ...]:
    return tuple(_RULES[lang](translation))


def reading_of(translation: str, reference: Mapping[str, Any], lang: str) -> str | None:
    """Return the gender of a slot, "" for none; None if the persons are not those of the source."""
    predicates, slot = _read(translation, lang), int(reference["slot"])
    if [person for person, _ in predicates] != reference["persons"].split():
        return None
    return predicates[slot][1]


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    tgt_lang: str,
    ids: Sequence[str],
) -> tuple[Judgement, ...]:
    """Return the verdict on every slot that has a gender.

    It is correct with the form of that gender and incorrect with the other one. It is inconclusive
    if the form shows none, or if the persons of the translation are not those of the source.
    `predicted` is the gender that is read, "" for none.
    """
    judgements = []
    for name, translation, reference in zip(ids, predictions, references, strict=True):
        if gold := reference["gender"]:
            predicted = reading_of(translation, reference, tgt_lang) or ""
            verdict = _verdict(gold, predicted)
            judgements.append(
                Judgement(
                    name,
                    gold,
                    verdict == "correct",
                    translation,
                    verdict,
                    predicted=predicted,
                    gold=gold,
                    # Slots of a cluster are one unit in comparisons of systems.
                    pair=reference.get("cluster", ""),
                )
            )
    return tuple(judgements)


@dataclass(frozen=True)
class GenderForm(Metric):
    """Whether adjectives have the gender of their person, read by a form rule.

    Gender of adjectives about the persons of a dialogue (Dawkins, Nejadgholi & Lo 2024), read by a
    form rule for Spanish: an adjective is correct with the form of its person's gender, incorrect
    with the other one, and inconclusive if its form shows none. Where the gender is open, the share
    of feminine forms is given. If the persons of more than a tenth of the rows are not those of
    their sources, there is no figure but the rates of inconclusive slots.
    """

    name = "gender_form"
    title = "gender by form"
    about = "An adjective is right if its form has the gender of the person that it is about."
    help = """
    Args:
        predictions (list of str): translations by the system under test, one for each slot.
        references (list of dict): one per translation, with `persons` ("first" or "second" for each
            predicate of the source, with blanks between them), `slot` (the 0-based predicate that
            is judged), `gender` (male or female, the categories of accuracy_male and
            accuracy_female, or "" where it is open) and, optionally, `groups` (names of groups that
            have figures, with blanks between them), `cluster` (slots of the same adjectives share
            it) and `row` (slots of one translation share it).
        src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
        tgt_lang (str): es.

    Returns:
        n, n_correct, n_incorrect, n_inconclusive, n_open, n_rows (int): numbers of slots and rows;
            n_rows_not_aligned (int): those whose persons are not those of the source.
        verdicts (list of str): correct, incorrect or inconclusive, one per slot; none with open
            slots.
        predicted (list of str): male, female or "", likewise; readings (list of str) with open
            slots.

    Example:
        >>> import evaluate
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
    papers = ("dawkins-2024",)
    signature_name = "gf"
    version = 2
    reference_fields = _FIELDS
    reads_cues = False
    leaderboard = ("accuracy_decided", "accuracy")
    key_figures = ("accuracy_decided", "accuracy", "inconclusive_rate")
    interval_method = "by Wilson's score, over sets of adjectives"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "accuracy_decided": FigureDeclaration(
            "decided accuracy",
            "high",
            "The share of correct slots of those with a reading.",
            is_of_read=True,
        ),
        **{
            f"accuracy_decided_{group}": FigureDeclaration(
                f"decided accuracy, {group.replace('_', ' ')}",
                "high",
                f"The share of correct slots {what}, of those with a reading.",
            )
            for group, what in _GROUPS.items()
        },
        "inconclusive_rate": FigureDeclaration(
            "inconclusive", "low", "The share of slots whose form shows no gender."
        ),
        "inconclusive_open": FigureDeclaration(
            "inconclusive, open", "low", "The share of open slots whose form shows no gender."
        ),
        "feminine_share": FigureDeclaration(
            "feminine share",
            "none",
            "The share of feminine forms where the source leaves the gender open, of those with a"
            " reading.",
        ),
        **{
            f"feminine_share_{group}": FigureDeclaration(
                f"feminine share {group.replace('_', ' ')}",
                "none",
                f"The share of feminine forms {what}, of open slots with a reading.",
            )
            for group, what in _OPEN_GROUPS.items()
        },
        **{
            name: FigureDeclaration(
                name.replace("_", " "),
                "zero",
                f"The share of feminine forms {_OPEN_GROUPS[first]}, minus that"
                f" {_OPEN_GROUPS[second]}.",
                difference_of=(f"feminine_share_{first}", f"feminine_share_{second}"),
            )
            for name, (first, second) in _EFFECTS.items()
        },
    }

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "gender_res":
            return ""
        return (
            "gender_form needs the persons of a dialogue and their genders, which only gender_res"
            f" has, not {dataset}"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        return [
            {
                "persons": e.extra["persons"],
                "slot": int(e.id.partition(".")[2]) - 1,
                "gender": e.category if e.category in _GENDERS else "",
                "groups": " ".join(_groups(e.extra, e.category)),
                "cluster": e.extra["cluster"],
                "row": e.extra["row"],
            }
            for e in examples
        ]

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            persons = reference["persons"].split()
            if wrong := set(persons) - {"first", "second"}:
                raise InputError(
                    f"row {row}: persons: expected first or second for each, got {min(wrong)!r}"
                )
            if reference["slot"] >= len(persons):
                raise InputError(
                    f"row {row}: slot: expected 0 to {len(persons) - 1}, one of its persons, got"
                    f" {reference['slot']}"
                )
            if reference["gender"] not in (*_GENDERS, ""):
                raise InputError(
                    f"row {row}: gender: expected male, female or nothing, got"
                    f" {reference['gender']!r}"
                )
            known = _GROUPS if reference["gender"] else _OPEN_GROUPS
            if wrong := set(reference["groups"].split()) - known.keys():
                raise InputError(
                    f"row {row}: groups: expected some of {', '.join(known)}, got {min(wrong)!r}"
                )

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return accuracies without intervals, which are of clusters that only the data name."""
        return replace(super().proof(judgements, signed), intervals={})

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the genders that are read and asked for."""
        for j in judgements:
            check_reading(j, _verdict(j.gold, j.predicted))

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        lang = rows.tgt_lang
        if lang not in _RULES:
            raise InputError(
                f"tgt_lang: gender_form has a rule for {', '.join(_RULES)}; expected one of these,"
                f" got {shown(lang)}"
            )
        readings = [
            reading_of(translation, reference, lang)
            for translation, reference in zip(rows.translations, rows.references, strict=True)
        ]
        read = [reading or "" for reading in readings]
        names = [r["row"] or f"{number}" for number, r in enumerate(rows.references)]
        n_rows = len({*names})
        n_lost = len({name for name, r in zip(names, readings, strict=True) if r is None})
        estimates = _estimates(rows.references, readings)
        n_clusters = len(set(_clusters(rows.references)))
        judgements = judge_rows(rows.translations, rows.references, tgt_lang=lang, ids=rows.ids)
        notes: tuple[str, ...] = ()
        without_verdict: tuple[Reading, ...] = ()
        if n_lost > _MOST_UNALIGNED * n_rows:
            estimates = {n: e for n, e in estimates.items() if n.startswith("inconclusive")}
            judgements = ()
            notes = (
                f"no figure: {n_lost} of {n_rows} rows are blank or have other persons than the"
                " source",
            )
        elif len(judgements) < len(readings):  # open slots have no verdict
            genders = [r["gender"] or "open" for r in rows.references]
            judgements, without_verdict = (), rows.plain_readings(read, categories=genders)
        verdicts = Counter(
            _verdict(r["gender"], reading) for r, reading in zip(rows.references, read, strict=True)
        )
        return Figures(
            scores={name: estimate.value for name, estimate in estimates.items()},
            signature={"langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}", "rule": lang},
            intervals={
                name: estimate.interval if n_clusters > 1 else NoInterval(_ONE_CLUSTER)
                for name, estimate in estimates.items()
            },
            categories=summarize(judgements).categories if judgements else (),
            judgements=judgements,
            counts={
                **{f"n_{verdict}": verdicts[verdict] for verdict in (*VERDICTS, "open")},
                **{"n_rows": n_rows, "n_rows_not_aligned": n_lost},
            },
            notes=notes,
            readings=without_verdict,
        )


def _verdict(gender: str, reading: str) -> str:
    """Return the verdict on a slot, "open" for one without a gender."""
    if not gender:
        return "open"
    if not reading:
        return "inconclusive"
    return "correct" if reading == gender else "incorrect"


def _clusters(references: Sequence[Mapping[str, Any]]) -> list[str]:
    return [r["cluster"] or str(number) for number, r in enumerate(references)]


def _estimates(
    references: Sequence[Mapping[str, Any]], readings: Sequence[str | None]
) -> dict[str, Estimate]:
    """Return all figures of slots; those of no slots are left out."""
    read = np.array([reading or "" for reading in readings])
    gender = np.array([reference["gender"] for reference in references])
    groups = [set(reference["groups"].split()) for reference in references]
    clusters = _clusters(references)
    has_gender, is_read, is_right = gender != "", read != "", read == gender

    def inside(group: str) -> npt.NDArray[np.bool_]:
        return np.array([group in of_slot for of_slot in groups])

    is_open, is_female = ~has_gender, read == "female"
    parts = {
        "accuracy": (is_right, has_gender),
        **{f"accuracy_{g}": (is_right, gender == g) for g in _GENDERS},
        "accuracy_decided": (is_right, has_gender & is_read),
        **{f"accuracy_decided_{g}": (is_right, has_gender & is_read & inside(g)) for g in _GROUPS},
        "inconclusive_rate": (~is_read, has_gender),
        "feminine_share": (is_female, is_open & is_read),
        **{f"feminine_share_{g}": (is_female, is_open & is_read & inside(g)) for g in _OPEN_GROUPS},
        "inconclusive_open": (~is_read, is_open),
    }
    estimates = {
        name: estimate_share(part & whole, whole, groups=clusters)
        for name, (part, whole) in parts.items()
        if whole.any()
    }
    if by_gender := [e for g in _GENDERS if (e := estimates.get(f"accuracy_{g}"))]:
        estimates["min_accuracy"] = lowest(by_gender)
    for name, (first, second) in GenderForm.differences().items():
        if first in estimates and second in estimates:
            estimates[name] = difference(estimates[first], estimates[second])
    return estimates


def _groups(extra: Mapping[str, str], category: str) -> Iterator[str]:
    role, other = extra["role"], extra["other"]
    if category in _GENDERS:
        yield from (category, role, f"{role}_{category}")
        if extra["template"] != "to":
            yield {category: "same", "I": "with_I"}.get(other, "opposite")
        return
    if extra["template"] == "speech":
        yield f"{extra['adverb_class'] or 'no'}_adverb"
    elif extra["gender"] == "they" or other == "they":
        yield f"{extra['character_class']}_character"
    elif extra["gender"] == "I" and other in _GENDERS:
        yield {"male": "beside_man", "female": "beside_woman"}[other]
