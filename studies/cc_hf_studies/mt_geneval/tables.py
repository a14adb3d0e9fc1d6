"""Studies of MT-GenEval as tables and as JSON: ratings, gaps of single sentences,
and counts beside the printed ones. Shares are in percent in tables, in [0, 1] in JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cc_hf.reports.figure_text import data_title, language_pair, with_interval
from cc_hf.reports.numbers import count, decimal, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf_studies.mt_geneval.counts import DataCounts
from cc_hf_studies.mt_geneval.published import (
    CITATION_KEY,
    printed_counts,
    printed_must_she,
    printed_ratings,
    printed_winomt,
)
from cc_hf_studies.mt_geneval.ratings import REFERENCE, GenderRatings
from cc_hf_studies.mt_geneval.sentence_gaps import SentenceGap, SentenceGaps

__all__ = [
    "NO_TARGET",
    "counts_json",
    "counts_table",
    "ratings_json",
    "ratings_tables",
    "sentence_gap_tables",
]

#: Target language of WinoMT, which has no translations.
NO_TARGET = ""


def ratings_tables(ratings: GenderRatings) -> list[Piece]:
    """Return accuracies by people with F-scores of the metric (Tables 5 and 7), and agreement."""
    dataset, config, lang = ratings.data
    table: list[tuple[str, ...]] = []
    for system in ratings.systems:
        scores = system.f_scores or {}
        table.append(
            (
                system.name,
                count(system.n),
                with_interval(system.accuracy, system.interval),
                " ".join(percent(accuracy) for accuracy in system.accuracies),
                *(_f_score(scores.get(label)) for label in ratings.f_scores),
            )
        )
    categories: list[tuple[str, ...]] = []
    for category in ratings.systems[0].by_category:
        cells = []
        for system in ratings.systems:
            n, accepted = system.by_category.get(category, (0, 0))
            cells.append(f"{percent(accepted / n)} of {n}" if n else "")
        categories.append((category, *cells))
    means = ", ".join(f"{label} {_f_score(f)}" for label, f in ratings.f_scores.items())
    n_references = ", ".join(count(n) for n in ratings.n_accepted)
    return [
        ReportTable.of(
            "gender accuracy by people:"
            f" {data_title(dataset, config, (lang,))}, {language_pair('en', lang)}",
            ("system", "n", "accuracy (95 %)", "by rater", "F correct", "F incorrect"),
            table,
        ),
        (
            f"accuracy: by the preferred rater, {ratings.preferred}, who accepts most references"
            f" ({n_references} of {ratings.systems[-1].n:,})"
        ),
        f"F: of the metric's verdicts against the preferred rater; mean over systems: {means}",
        ReportTable.of(
            "", ("sub-category", *(system.name for system in ratings.systems)), categories
        ),
        (
            f"Krippendorff's alpha of the raters: {decimal(ratings.alpha)} on systems,"
            f" {decimal(ratings.alpha_reference)} on references"
        ),
        *_published(lang),
    ]


def _published(lang: str) -> list[Line]:
    printed = printed_ratings().get(lang)
    if printed is None:
        return []
    accuracies = ", ".join(percent(accuracy) for accuracy in printed["accuracies"])
    return [
        Line(
            f"{CITATION_KEY}, Tables 5 and 7: systems {accuracies}, references"
            f" {percent(printed['accuracy_reference'])}; alpha {decimal(printed['alpha'])},"
            f" {decimal(printed['alpha_reference'])}; F {decimal(printed['f_score'])}",
            "about",
        )
    ]


def _f_score(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else decimal(value)


def _f_scores_json(scores: Mapping[str, float]) -> dict[str, float | None]:
    return {label: None if math.isnan(score) else score for label, score in scores.items()}


def ratings_json(ratings: GenderRatings) -> dict[str, Any]:
    """Return the ratings as plain dicts with values in [0, 1]."""
    systems = []
    for system in ratings.systems:
        row = {
            **asdict(system),
            "f_scores": None if system.f_scores is None else _f_scores_json(system.f_scores),
            "by_category": {
                name: {"n": n, "n_accepted": accepted}
                for name, (n, accepted) in system.by_category.items()
            },
        }
        systems.append({**row, "is_reference": system.name == REFERENCE})
    lang = ratings.data[2]
    printed = printed_ratings().get(lang)
    published = None if printed is None else {**printed, "citation": CITATION_KEY}
    return {
        **dict(zip(("dataset", "config", "tgt_lang"), ratings.data, strict=True)),
        "preferred": ratings.preferred,
        "n_accepted": list(ratings.n_accepted),
        "alpha": ratings.alpha,
        "alpha_reference": ratings.alpha_reference,
        "f_scores": _f_scores_json(ratings.f_scores),
        "systems": systems,
        "published": published,
    }


def sentence_gap_tables(gaps: SentenceGaps, *, title: str) -> list[Piece]:
    """Return the pairs with the largest and the smallest gaps, with their texts."""
    name = {"bleu": "BLEU", "chrf": "chrF"}[gaps.score]
    parts: list[Piece] = [
        Line(
            f"{title}: {gaps.n_male:,} of {gaps.n_pairs:,} pairs are translated better about men,"
            f" {gaps.n_female:,} about women; mean gap {with_interval(gaps.mean_gap, None)}",
            "heading",
        )
    ]
    for label, members in (
        (f"{name} of men higher", gaps.largest),
        (f"{name} of women higher", gaps.smallest),
    ):
        parts.append(_gap_table(f"{label}: {len(members):,} pairs", members))
    return [*parts, f"signature: {gaps.signature}"]


def _gap_table(title: str, members: Sequence[SentenceGap]) -> ReportTable:
    texts = "source and translation, about men, then about women"
    rows: list[Sequence[str]] = []
    for gap in members:
        sides = zip(gap.sources, gap.translations, strict=True)
        row = (
            gap.pair,
            with_interval(gap.gap, None),
            "\n".join(percent(score) for score in gap.scores),
            "\n".join(f"{source}\n→ {translation}" for source, translation in sides),
        )
        rows += [(), row]
    return ReportTable.of(title, ("pair", "gap", "score", texts), rows, words=(texts,))


def counts_table(counts: Mapping[str, DataCounts], *, split: str) -> list[Piece]:
    """Return the counts of each target language, beside those that the paper prints of dev."""
    table: list[tuple[str, ...]] = []
    in_paper = _in_paper(split)
    for lang, of_lang in counts.items():
        name = lang or "WinoMT"
        table.append((name, *_cells(of_lang)))
        if printed := in_paper.get(lang):
            table.append((f"{name}, Table 12", *_cells(printed)))
    return [
        ReportTable.of(
            f"MT-GenEval, counterfactual, {split}: distinct words and gendered phrases",
            ("English →", "instances", "words", "phrases", "target words", "target phrases"),
            table,
        ),
        (
            "words: Moses tokens of lower-cased texts of both genders. Table 12 is that of"
            f" {CITATION_KEY}, which does not say what it counts"
        ),
    ]


def _in_paper(split: str) -> dict[str, DataCounts]:
    """Return the printed counts, of MT-GenEval for its development set only."""
    others = {NO_TARGET: printed_winomt(), "MuST-SHE fr": printed_must_she()}
    return {**others, **(printed_counts() if split == "dev" else {})}


def _cells(counts: DataCounts) -> tuple[str, ...]:
    numbers = (
        counts.n_instances,
        counts.n_source_words,
        counts.n_source_phrases,
        counts.n_target_words,
        counts.n_target_phrases,
    )
    return tuple("-" if number is None else count(number) for number in numbers)


def counts_json(counts: Mapping[str, DataCounts], *, split: str) -> list[dict[str, Any]]:
    """Return the counts as plain dicts, including the published ones."""
    in_paper = _in_paper(split)
    return [
        {
            "tgt_lang": lang.rpartition(" ")[2],
            "split": "test" if lang == NO_TARGET or lang.startswith("MuST-SHE") else split,
            **asdict(of_lang),
            "published": (
                {**asdict(printed), "citation": CITATION_KEY}
                if (printed := in_paper.get(lang))
                else None
            ),
        }
        for lang, of_lang in counts.items()
    ]
