"""Whether the figures of a result are fit to be cited. One rule for tables, pages, leaderboards and
files: what it refuses is marked, and neither ranked nor put first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from cc_hf import registry, signature
from cc_hf.evidence import Evidence
from cc_hf.figure_keys import category_name
from cc_hf.gender_marking import gender_marking
from cc_hf.known_weights import known_name
from cc_hf.languages import pair_codes
from cc_hf.levels import RANKS_ONLY, SCREEN, Trust, trust_of
from cc_hf.schema import dataset_in_words

if TYPE_CHECKING:
    from cc_hf.models.location import EmbeddedModel

__all__ = [
    "FEWEST_JUDGEMENTS",
    "FEWEST_SAMPLES",
    "GENDERS",
    "MANY_WRAPPED",
    "OF_A_FIRST_LOOK",
    "OF_THE_JUDGE",
    "asks_of_gender",
    "false_alarms",
    "judge_trust",
    "reasons_not_to_cite",
    "why_untrusted",
]

#: Categories with fewer samples say little about a system.
FEWEST_SAMPLES = 10
#: Fewer judgements in all are a first look.
FEWEST_JUDGEMENTS = 21
#: The genders of people, in the order in which their figures are told.
GENDERS = ("female", "male")

#: Kinds of reasons that make a first look of a result, and nothing worse.
OF_A_FIRST_LOOK = frozenset({"evaluator", "bias", "few"})
#: Kinds of reasons against a figure that are none against a ranking, or against a difference.
OF_A_FIGURE = frozenset({"bias"})
#: Share of wrapped translations above which figures are not fit to be cited.
MANY_WRAPPED = 0.05
#: Kinds of reasons that do not concern figures that include the judge's mistakes.
OF_THE_JUDGE = frozenset({"itself", "evaluator", "bias", "ties", "inconclusive", "unresponsive"})
_MANY_TIES = 0.05
# Count -> share above which translations say nothing. Weak systems repeat themselves.
_UNUSABLE = {"n_with_source": 0.1, "n_repeated": 0.5, "n_without_words": 0.1, "n_blank": 0.1}
# Definition of a score -> mean confidence below which an evaluator does not react to cues of
# gender. Models of random weights have .0003 to .016 by geometric means, .0004 to .022 by
# arithmetic ones. cc-tiny-en-de has .165 and .046 on WinoMT, .070 and .046 on MT-GenEval.
_FAINT = {"geometric": 0.03, "reference": 0.02, "arithmetic": 0.025}
# Senses stand in longer sentences: cc-tiny-en-de has .039 and .017 on MuCoW.
_FAINT_OF_OTHERS = 1 / 3
# A judge that is hardly surer is at chance in every category of so many samples.
_FEWEST_AT_CHANCE, _AT_CHANCE = 50, 0.05


def reasons_not_to_cite(
    signed: Mapping[str, str],
    counts: Mapping[str, int],
    n: int,
    *,
    dataset: str = "",
    system: str = "",
    categories: Mapping[str, tuple[int, int]] = MappingProxyType({}),
    scores: Mapping[str, float] = MappingProxyType({}),
    trust: Trust | None = None,
) -> dict[str, str]:
    """Return why figures are not fit to be cited.

    Args:
        signed: the fields of their signature.
        counts: the counts of the result, such as n_ties.
        n: number of judgements.
        dataset: name of the dataset; "" for the user's own data.
        system: name of the system, for a signature that names none.
        categories: category -> number of samples, and of those without a verdict.
        scores: the figures; {} for what has none, which is not checked for a faint evaluator or few
            judgements.
        trust: how far evidence lets trust in the judge; None to look for it.

    Returns:
        Kind of reason -> the reason as a phrase; {} if the figures are fit to be cited. The kinds
        are "unmarked" (the target language does not show the gender that is asked for, or most
        translations do not), "itself" (the system is its own evaluator), "evaluator" (no evidence
        shows that its verdicts are right often enough), "bias" (they are right often enough for a
        ranking, not for a figure), "ties" (more than 5 %), "unresponsive" (the evaluator does not
        react to the cues), "inconclusive" (more than half, of all or of a category), "few"
        (judgements in all, or samples of a gender), "translations" (many that cannot be judged),
        "wrapped" (more than 5 % of the translations stand in prefaces, fences, markup or the like)
        and "limit" (some examples only).

    Examples:
        >>> reasons_not_to_cite({"eval": "org/t5-tiny-random@1"}, {"n_ties": 1}, 100)
        {'evaluator': 'no labels show how far org/t5-tiny-random can be trusted here'}
    """
    judges = (signed.get(key, "") for key in ("eval", "back"))  # forward, and backward if any
    evaluator, translator = "+".join(filter(None, judges)), signed.get("sys", system)
    is_of_gender = asks_of_gender(categories, scores)
    reasons = {}
    if translator != "scored" and {"eval", "cues"} <= signed.keys():
        if nothing := _why_nothing_is_marked(signed, is_of_gender=is_of_gender):
            return {"unmarked": nothing}
        if 2 * counts.get("n_marked", n) < n:
            reasons["unmarked"] = (
                f"only {counts['n_marked']:,} of {n:,} translations have a pronoun that shows"
                " gender"
            )
    if names := signature.own_judges(evaluator, translator):
        role = "the evaluator" if len(names) > evaluator.count("+") else "a part of the evaluator"
        reasons["itself"] = (
            f"judged by itself: {' and '.join(dict.fromkeys(names))} is the system and {role},"
            " which overlooks the errors that it makes itself"
        )
    if (n_ties := counts.get("n_ties", 0)) > _MANY_TIES * n:
        counted = f", which count as {signed['tie']}" if "tie" in signed else ""
        reasons["ties"] = f"{n_ties:,} of {n:,} judgements are ties{counted}"
    elif translator != "scored" and (
        faint := _why_unresponsive(signed, categories, scores, is_of_gender=is_of_gender)
    ):
        reasons["unresponsive"] = faint
    # Where no translations are judged, the evaluator is the system under test; and whatever is
    # known of a judge, it is none that does not react to the cues.
    if evaluator and translator != "scored" and "unresponsive" not in reasons:
        trust = trust or judge_trust(signed, scores, dataset=dataset, categories=categories)
        reasons |= why_untrusted(trust, evaluator, dataset)
    n_unread = counts.get("n_inconclusive", 0) + counts.get("n_neither", 0)
    if n_unread > n / 2:
        lacking = "show no reading, or have" if "n_neither" in counts else "have"
        reasons["inconclusive"] = f"{n_unread:,} of {n:,} translations {lacking} no verdict"
    elif unread := [
        f"{n_unread:,} of {n_of:,} translations of {category_name(category)} have no verdict"
        for category, (n_of, n_unread) in categories.items()
        if n_unread > n_of / 2 and n_of >= FEWEST_SAMPLES
    ]:
        reasons["inconclusive"] = " and ".join(unread)
    is_limited = signature.is_limited(signed.get("data", ""))
    if scores and 0 < n < FEWEST_JUDGEMENTS and not is_limited:
        reasons["few"] = f"only {n:,} judgement{'s' if n != 1 else ''}"
    elif {*GENDERS} <= categories.keys():
        fewest = min(GENDERS, key=lambda gender: categories[gender][0])
        if (n_fewest := categories[fewest][0]) < FEWEST_SAMPLES:
            reasons["few"] = f"only {n_fewest} samples of {fewest}"
    unusable = [counts[k] for k, share in _UNUSABLE.items() if counts.get(k, 0) > share * n]
    if unusable:
        reasons["translations"] = (
            f"{max(unusable):,} of {n:,} translations repeat their source or one another, or are no"
            " text of the target language"
        )
    if (n_wrapped := counts.get("n_wrapped", 0)) > MANY_WRAPPED * n:
        reasons["wrapped"] = (
            f"{n_wrapped:,} of {n:,} translations stand in text that is no translation"
        )
    if is_limited:
        reasons["limit"] = f"only {n:,} examples were judged"
    return reasons


def judge_trust(
    signed: Mapping[str, str],
    scores: Mapping[str, float],
    *,
    metric: str = "",
    dataset: str = "",
    categories: Iterable[str] = (),
    rows: Iterable[Evidence] = (),
) -> Trust | None:
    """Return how far evidence lets trust in the figures of a result; None for figures that no
    evaluator made, or that are of the evaluator itself.
    """
    figures = {}
    for category in categories:
        if (name := f"accuracy_{category}") in scores:
            gender = category.rpartition("/")[2]
            figures[name] = (gender if gender in GENDERS else "", scores[name])
    if figures and "min_accuracy" in scores:
        lowest = min(figures, key=lambda name: figures[name][1])
        figures["min_accuracy"] = (figures[lowest][0], scores["min_accuracy"])
    for gender, share in (("female", "feminine_share"), ("male", "masculine_share")):
        names = (name for name in scores if name == share or name.startswith(f"{share}_"))
        figures |= {name: (gender, scores[name]) for name in names}
    if "accuracy" in scores and not figures:
        figures["accuracy"] = ("", scores["accuracy"])
    return trust_of(signed, metric, figures, dataset=dataset, rows=rows)


def why_untrusted(trust: Trust | None, evaluator: str, dataset: str) -> dict[str, str]:
    """Return why figures of a judge may not be cited, by its level."""
    names = " and ".join(dict.fromkeys(signature.evaluator_names(evaluator))) or evaluator
    if trust is None or (trust.level == SCREEN and not trust.rows):
        where = f"on {dataset_in_words(dataset)}" if dataset else "here"
        return {"evaluator": f"no labels show how far {names} can be trusted {where}"}
    if trust.level == SCREEN and trust.has_few_labels:
        return {
            "evaluator": f"too few labels show how far {names} can be trusted: {trust.labels}, of"
            " both readings together"
        }
    if trust.level == SCREEN:
        return {
            "evaluator": f"{names} is wrong too often to rank systems by it: its mistakes may move"
            f" {trust.moved}, by {trust.labels}"
        }
    if trust.level == RANKS_ONLY:
        return {
            "bias": f"{names} supports rankings only: its mistakes may move"
            f" {trust.moved}, by {trust.labels}"
        }
    return {}


def asks_of_gender(categories: Iterable[str], figures: Iterable[str]) -> bool:
    """Return whether figures are of the gender of people.

    Examples:
        >>> asks_of_gender(["frequent", "neutral/female"], []), asks_of_gender(["frequent"], [])
        (True, False)
    """
    return any(category.rpartition("/")[2] in GENDERS for category in categories) or any(
        name in ("feminine_share", "masculine_share") for name in figures
    )


def _why_nothing_is_marked(signed: Mapping[str, str], *, is_of_gender: bool) -> str:
    """Return why translations of both readings are the same; "" if they differ, or nobody knows."""
    if not (is_of_gender or signed["cues"].startswith("gender_")):
        return ""
    same = "both readings have the same translations"
    if "marks" in signed:
        return f"these translations mark no gender: {same}" if signed["marks"] == "no" else ""
    known = gender_marking(pair_codes(signed.get("langs", ""))[1])
    if known is None or not known[1].is_nothing:
        return ""
    language, marking = known
    if marking.nouns == "few":
        return f"{language} marks gender in a few nouns only: most {same.removeprefix('both ')}"
    return f"{language} marks no gender: {same}"


def _why_unresponsive(
    signed: Mapping[str, str],
    categories: Mapping[str, tuple[int, int]],
    scores: Mapping[str, float],
    *,
    is_of_gender: bool,
) -> str:
    """Return that an evaluator does not react to the cues; "" if it does."""
    confidence = scores.get("mean_confidence")
    least = _FAINT.get(signed.get("score", ""), 0) * (1 if is_of_gender else _FAINT_OF_OTHERS)
    if confidence is None or confidence >= 2 * least:
        return ""
    figure = f"mean confidence is {100 * confidence:.1f}"
    if confidence < least:
        return f"the evaluator does not react to the cues: its {figure}"
    many = [name for name, (n, _) in categories.items() if n >= _FEWEST_AT_CHANCE]
    differences = [abs(scores.get(f"accuracy_{name}", 1.0) - 0.5) for name in many]
    if not many or max(differences) > _AT_CHANCE:
        return ""
    return f"the evaluator hardly reacts to the cues: its {figure}, and it is right at chance"


def false_alarms(evaluator: str, metric: str) -> str:
    """Return how often a metric finds an error in right translations by an evaluator, as a
    sentence; "" if it was not measured.

    Examples:
        >>> false_alarms("cc-tiny-en-de@d644c6d303e7", "coverage")[:44]
        'Weak evidence: by cc-tiny-en-de, the metric '
    """
    for part in filter(None, evaluator.split("+")):
        model = _embedded(_known(part))
        if model is not None and metric in model.false_alarms:
            return (
                f"Weak evidence: by {model.name}, the metric also finds an error in"
                f" {model.false_alarms[metric]}."
            )
    return ""


def _known(part: str) -> str:
    """Return the name by which the package knows a member of an evaluator; "" for others."""
    name = part.partition("/")[0].partition("@")[0]
    return known_name(name, signature.identity(part))


def _embedded(name: str) -> EmbeddedModel | None:
    model: EmbeddedModel | None = registry.find("evaluator", name)
    return model
