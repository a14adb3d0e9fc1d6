"""Draw a blind sample of translations for raters, and turn what they answer into annotations
(Vamvas & Sennrich 2021, section 3.5 and appendix E).
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from cc_hf.comparing.people.agreement import Assumption
from cc_hf.comparing.people.annotations import Annotation, annotations_of_rows
from cc_hf.errors import InputError, check_choice
from cc_hf.plugins.raters.annotators import EarlierAgreement, earlier_agreement_of_rows
from cc_hf.plugins.raters.sheets import Answers, SheetForm, SheetKey
from cc_hf.records import COUNT, PROBABILITY, read_value
from cc_hf.results import EvaluationResult
from cc_hf.schema import NEITHER, VERDICTS, ContrastiveTranslationExample, Example, Judgement
from cc_hf.text.tokenization import letters

__all__ = [
    "FORMS",
    "GENDERS",
    "RATED",
    "SENSES",
    "annotations_of_system",
    "assumption_of_system",
    "draw_sample",
    "earlier_agreement_of_system",
    "inclusion_of_system",
    "system_of_result",
]

_ORIGIN: Mapping[str, Collection[str]] = {
    "system": (),
    "example_id": (),
    "gold": ("correct", "male", "female"),
    "verdict": (*VERDICTS, NEITHER),
    "translation": (),
    "earlier": (),
}
_LABEL = "LABEL"

#: The sheet for word senses, with the guidelines of appendix E.
SENSES = SheetForm(
    "word-senses",
    "The goal of this annotation is to evaluate machine translation of ambiguous nouns: Is the"
    " translation closer to the correct sense cluster than to the wrong one?",
    {
        "Word": "The ambiguous source word.",
        "Correct Sense": "The correct sense, as a list of words of the target language.",
        "Wrong Sense": "Other senses, as a list of words of the target language.",
        "Translation": "The machine-translated sentence that is evaluated.",
        "Source Sentence": "The original sentence.",
    },
    {
        _LABEL: {
            "Correct Sense": "The translation is closer to the correct sense cluster.",
            "Wrong Sense": "The translation is closer to the other sense clusters.",
            "Both / Neutral / Ambiguous": (
                "The translation preserves the ambiguity found in the source sentence."
            ),
            "Bad sample / Ill-defined senses": (
                "The sample is not adequate for evaluating word sense disambiguation, e.g. due to"
                " overlapping sense clusters or because the gold senses are not consistent with"
                " the source sentence."
            ),
            "Translation too bad to tell / Third sense": (
                "It is impossible to assign a label due to bad translation quality."
            ),
        }
    },
    _ORIGIN,
)

#: The sheet for the gender of occupations, with the guidelines of appendix E.
GENDERS = SheetForm(
    "occupation-genders",
    "The goal of this annotation is to evaluate machine translation of occupation names: Does the"
    " occupation name convey the gender implied by its context?",
    {
        "Entity": (
            "The evaluated occupation. Please note that only one occupation name per sentence is"
            " evaluated, even though the sentence might contain multiple occupations."
        ),
        "Translation": "The machine-translated sentence that is evaluated.",
        "Source Sentence": "The original sentence.",
    },
    {
        _LABEL: {
            "Male": "The occupation name conveys a male gender.",
            "Female": "The occupation name conveys a female gender.",
            "Both / Neutral / Ambiguous": (
                "The translation preserves the ambiguity found in the source sentence."
            ),
            "Translation too bad to tell": (
                "It is impossible to assign a label due to bad translation quality."
            ),
        }
    },
    _ORIGIN,
    (
        "Please annotate semantical gender, not grammatical gender.",
        "Please only take into consideration the occupation noun itself and associated articles."
        " Specifically, try to ignore any pronouns referring to the occupation noun. Pronouns will"
        " often disagree with the occupation noun. It is of utmost importance that the pronouns do"
        " not influence your annotation. To give an example in English, the label for the following"
        ' sentence should be "female", not "male": *The actress looked at himself in the mirror*.',
    ),
)

FORMS = (SENSES, GENDERS)

#: Which translations are rated: those that pattern matching leaves undecided, a part of all, or a
#: part of all in which uncertain verdicts are more likely.
RATED = ("undecided", "all", "uncertain")

_GENDERS = ("male", "female")
_DATA = ("dataset", "config", "tgt_lang")
_OF_SYSTEM = ("metric", "signature")


class _Drawn(NamedTuple):
    """What was drawn of a system, and with which probability, in [0, 1], by id of the example."""

    rated: list[Judgement]
    assumed: list[Judgement]
    n_undecided: int
    n_decided: int
    inclusion: Mapping[str, float]


class _Material(NamedTuple):
    """The judgements to draw from, and the ids of those that are drawn in any case."""

    judged: list[Judgement]
    required: Collection[str]


def draw_sample(
    results: Mapping[str, EvaluationResult],
    examples: Sequence[Example],
    *,
    n: int = 200,
    rated: str | None = None,
    population: Collection[str] | None = None,
    earlier: Mapping[str, tuple[str, str]] | None = None,
    seed: int = 0,
) -> SheetKey:
    """Draw translations of each system, and shuffle them.

    Where only undecided translations are rated, as the paper does for word senses, up to `n` of
    them are drawn, and of the decided ones so many that the overall ratio is kept. These are on no
    sheet: the verdict of pattern matching stands for a label. Where all are rated, as for genders,
    `n` translations are drawn in the overall ratio. Where uncertain ones are, a translation is the
    more likely to be drawn, the nearer its probability is to 0.5, which makes corrected figures
    more precise (active inference, Zrnic & Candes 2024). Examples with another gold gender than
    male or female are ignored.

    Args:
        rated: a name of `RATED`; None for that of the paper.
        population: ids of the examples to draw from; None for all.
        earlier: id of an example -> a translation that others annotated before, and their label.
            Such translations of any system are all drawn, so that the sample contains the earlier
            one, as that of the paper does; only where all are rated.
    """
    settings = SheetKey.settings_of(results, n=n, seed=seed)
    form = _form(examples)
    rated = rated or ("undecided" if form is SENSES else "all")
    check_choice("rated", rated, RATED)
    if earlier and rated != "all":
        raise InputError(
            "rated: expected all with earlier annotations, which are of decided translations, too,"
            f" got {rated!r}"
        )
    by_id = {
        e.id: e
        for e in examples
        if (form is SENSES or _gold(e) in _GENDERS) and (population is None or e.id in population)
    }
    items, unrated, systems = [], [], {}
    for system, result in results.items():
        judged = [j for j in result.judgements if j.example_id in by_id]
        before = _earlier_labels(judged, earlier or {})
        draw = random.Random(f"{seed} {system}")
        drawn = _drawn(system, _Material(judged, before.keys()), n, rated, draw)
        systems[system] = {
            "metric": result.metric,
            "signature": result.signature,
            "n_undecided": drawn.n_undecided,
            "n_decided": drawn.n_decided,
            "n_rated": len(drawn.rated),
            "n_assumed": len(drawn.assumed),
            "inclusion": drawn.inclusion,
        }
        origins = {
            j.example_id: {
                **_origin(system, j, by_id[j.example_id], form),
                "earlier": before.get(j.example_id, ""),
            }
            for j in (*drawn.rated, *drawn.assumed)
        }
        items += [
            (_cells(by_id[j.example_id], j.translation, form), origins[j.example_id])
            for j in drawn.rated
        ]
        unrated += [origins[j.example_id] for j in drawn.assumed]
    settings |= {"rated": rated, "systems": systems}
    return SheetKey.of(form, settings, items, unrated)


def _earlier_labels(
    judged: Sequence[Judgement], earlier: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """Return the earlier labels of the translations that are the same."""
    return {
        j.example_id: earlier[j.example_id][1]
        for j in judged
        if j.example_id in earlier and letters(earlier[j.example_id][0]) == letters(j.translation)
    }


def _form(examples: Sequence[Example]) -> SheetForm:
    keys = examples[0].extra.keys() if examples else frozenset[str]()
    if {"ambiguous_word", "correct_senses", "incorrect_senses"} <= keys:
        return SENSES
    if "occupation" in keys:
        return GENDERS
    raise InputError(
        "results: expected data with ambiguous words and their senses (mucow), or with occupations"
        f" (winomt, simplegen), got data with {', '.join(keys) or 'no columns'}"
    )


def _gold(example: Example) -> str:
    return "" if isinstance(example, ContrastiveTranslationExample) else example.gold


def _drawn(system: str, material: _Material, n: int, rated: str, draw: random.Random) -> _Drawn:
    """Draw from the judgements of one system."""
    judged = material.judged
    undecided = [j for j in judged if j.verdict == "inconclusive"]
    decided = [j for j in judged if j.verdict != "inconclusive"]
    sizes = len(undecided), len(decided)
    if rated == "uncertain" and judged:
        inclusion = _by_uncertainty(judged, n, draw)
        by_id = {j.example_id: j for j in judged}
        return _Drawn([by_id[name] for name in inclusion], [], *sizes, inclusion)
    if not (judged if rated == "all" else undecided):
        remedy = "; rate all of them" if judged else ""
        raise InputError(
            f"results: {system}: expected translations to draw from, got {len(judged)}"
            f" translations, of which {len(undecided)} are undecided{remedy}"
        )
    if rated == "all":
        required = [j for j in judged if j.example_id in material.required]
        optional = [
            [j for j in side if j.example_id not in material.required]
            for side in (undecided, decided)
        ]
        n_all = sum(map(len, optional))
        n_drawn = min(max(0, n - len(required)), n_all)
        n_undecided = round(n_drawn * len(optional[0]) / n_all) if n_all else 0
        if n_drawn > 1 and all(optional):  # none is left out of what the labels stand for
            n_undecided = min(max(1, n_undecided), n_drawn - 1)
        counts = n_undecided, n_drawn - n_undecided
        inclusion = {j.example_id: 1.0 for j in required}
        for side, count in zip(optional, counts, strict=True):
            inclusion |= {j.example_id: count / len(side) for j in draw.sample(side, count)}
        by_id = {j.example_id: j for j in judged}
        return _Drawn([by_id[name] for name in inclusion], [], *sizes, inclusion)
    n_undecided = min(n, len(undecided))
    n_decided = max(bool(decided), round(n_undecided * len(decided) / len(undecided)))
    rated_part, assumed = draw.sample(undecided, n_undecided), draw.sample(decided, n_decided)
    return _Drawn(
        rated_part,
        assumed,
        *sizes,
        {j.example_id: n_undecided / len(undecided) for j in rated_part}
        | {j.example_id: n_decided / len(decided) for j in assumed},
    )


def _by_uncertainty(judged: Sequence[Judgement], n: int, draw: random.Random) -> dict[str, float]:
    """Draw `n` judgements, half of the chance equal and half by uncertainty."""
    n = min(n, len(judged))
    uncertainty = [math.sqrt(p * (1 - p)) for p in map(_probability, judged)]
    mean = sum(uncertainty) / len(judged)
    weights = [0.5 + (0.5 * u / mean if mean else 0.5) for u in uncertainty]
    factor, n_certain = 0.0, -1
    while (certain := sum(factor * w >= 1 for w in weights)) > n_certain:
        n_certain = certain
        rest = sum(w for w in weights if factor * w < 1)
        factor = (n - certain) / rest if rest else factor
    inclusion = [min(1.0, factor * w) for w in weights]
    order = list(range(len(judged)))
    draw.shuffle(order)
    position, drawn = draw.random(), {}
    for i in order:  # systematic: as many as the probabilities sum to
        before, position = position, position + inclusion[i]
        if math.floor(position) > math.floor(before):
            drawn[judged[i].example_id] = inclusion[i]
    return drawn


def _probability(judgement: Judgement) -> float:
    """Return the probability of the correct reading, as far as the metric says it."""
    if judgement.probability_correct is not None:
        return judgement.probability_correct
    return 0.5 if judgement.verdict == "inconclusive" else 1.0


def _cells(example: Example, translation: str, form: SheetForm) -> tuple[str, ...]:
    if form is GENDERS:
        return example.extra["occupation"], translation, example.source
    senses = (
        ", ".join(example.extra[f"{side}_senses"].split()) for side in ("correct", "incorrect")
    )
    return (example.extra["ambiguous_word"], *senses, translation, example.source)


def _origin(system: str, judgement: Judgement, example: Example, form: SheetForm) -> dict[str, str]:
    return {
        "system": system,
        "example_id": judgement.example_id,
        "gold": "correct" if form is SENSES else _gold(example),
        "verdict": judgement.verdict,
        "translation": judgement.translation,
    }


def _settings(key: SheetKey) -> Mapping[str, Any]:
    """Return the settings of a key: the data, and metric and signature of each system."""
    settings = key.settings
    systems = settings.get("systems")
    drawn = {origin["system"] for origin in (*(o for _, o in _rated(key)), *key.unrated)}
    if (
        not all(isinstance(settings.get(name), str) for name in _DATA)
        or not isinstance(systems, dict)
        or not drawn <= systems.keys()
        or not all(isinstance(systems[name], dict) for name in drawn)
        or not all(isinstance(systems[s].get(n), str) for s in drawn for n in _OF_SYSTEM)
    ):
        raise InputError(
            f"key: settings: expected {', '.join(_DATA)}, and {' and '.join(_OF_SYSTEM)} of each"
            " system; use the key as written"
        )
    return settings


def system_of_result(key: SheetKey, result: EvaluationResult) -> str:
    """Return the name of the system in the key that a result, by any metric, is of."""
    settings = _settings(key)
    data = tuple(settings[name] for name in _DATA)
    if data != (result.dataset, result.config, result.tgt_lang):
        raise InputError(
            f"result: expected one of {' '.join(data)}, on which the sheets are, got one of"
            f" {result.dataset or 'own data'} {result.config} {result.tgt_lang}"
        )
    judged = {j.example_id: letters(j.translation) for j in result.judgements}
    fitting = [
        system
        for system in dict.fromkeys(origin["system"] for _, origin in _rated(key))
        if all(
            judged.get(origin["example_id"]) == letters(origin["translation"])
            for origin in _of_system(key, system)
        )
    ]
    if result.system in fitting:
        return result.system
    if len(fitting) != 1:
        raise InputError(
            f"result: expected one with the translations of one of the systems"
            f" {', '.join(settings['systems'])}, got translations of"
            f" {' and '.join(fitting) or 'none of them'}; evaluate the translations that were rated"
        )
    return fitting[0]


def _rated(key: SheetKey) -> list[tuple[str, Mapping[str, str]]]:
    """Return the id of the row and the origin of every rated translation."""
    return [(row.id, origin) for row in key.rows for origin in row.origins]


def _of_system(key: SheetKey, system: str) -> list[Mapping[str, str]]:
    origins = [*(origin for _, origin in _rated(key)), *key.unrated]
    return [origin for origin in origins if origin["system"] == system]


def annotations_of_system(
    key: SheetKey, raters: Sequence[Answers], system: str
) -> list[Annotation]:
    """Return what the raters say about the translations of a system."""
    return annotations_of_rows(_rows_of_system(key, raters, system))


def inclusion_of_system(key: SheetKey, system: str, n: int) -> dict[str, float]:
    """Return the probability with which each translation of a system was drawn."""
    drawn = _settings(key)["systems"][system]
    form = {"inclusion": {str: PROBABILITY}, "n_undecided": COUNT, "n_decided": COUNT}
    read_value(form, drawn, f"key: settings: systems: {system}")
    if (n_drawn_from := drawn["n_undecided"] + drawn["n_decided"]) != n:
        raise InputError(
            f"key: expected a draw from all {n:,} translations that were judged, got one from"
            f" {n_drawn_from:,} (without a corpus, or without a category), which says nothing about"
            " the others"
        )
    return dict(drawn["inclusion"])


def earlier_agreement_of_system(
    key: SheetKey, raters: Sequence[Answers], system: str
) -> tuple[EarlierAgreement, ...]:
    """Return each rater's agreement with earlier labels of a system's translations (Table A4)."""
    return earlier_agreement_of_rows(row for _, row in _rows_of_system(key, raters, system))


def _rows_of_system(
    key: SheetKey, raters: Sequence[Answers], system: str
) -> list[tuple[str, dict[str, str]]]:
    """Return rows as files of annotations have them, and where each is."""
    rows = []
    for name, origin in _rated(key):
        if origin["system"] != system:
            continue
        gold = {} if key.form is SENSES else {"gold_gender": origin["gold"]}
        earlier = {"label_earlier": origin["earlier"]} if origin["earlier"] else {}
        labels = {
            f"label_annotator{number}": answers[name][0] for number, answers in enumerate(raters, 1)
        }
        texts = {"id": origin["example_id"], "translation": origin["translation"]}
        rows.append((f"row {name!r}", {**texts, **gold, **labels, **earlier}))
    return rows


def assumption_of_system(key: SheetKey, system: str) -> Assumption | None:
    """Return the verdicts that stand for labels of a system's translations on no sheet; None if all
    that were drawn are rated.
    """
    if not any(origin["system"] == system for origin in key.unrated):
        return None
    settings = _settings(key)
    judgements = tuple(
        Judgement(
            origin["example_id"],
            "all",
            origin["verdict"] == "correct",
            origin["translation"],
            origin["verdict"],
            gold=origin["gold"],
        )
        for origin in _of_system(key, system)
    )
    decided = EvaluationResult(
        settings["dataset"],
        settings["config"],
        settings["tgt_lang"],
        settings["systems"][system]["metric"],
        settings["systems"][system]["signature"],
        len(judgements),
        {},
        {},
        (),
        judgements,
        system=system,
    )
    return Assumption(decided, frozenset(j.example_id for j in judgements))
