"""WinoMT's pattern matching: the gender of an occupation's form, found by word alignment.

See Stanovsky et al. 2019.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, UnknownNameError, check_choice, shown
from cc_hf.metrics.alignments import chosen_aligner
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    any_text,
    check_ids,
    index,
    one_of,
    optional_text,
)
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration
from cc_hf.metrics.figures import Figures, summarize, twin_figures
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.normalization import is_blank
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.test_sets.winomt.gender import (
    GENDER_LANGUAGES,
    GENDERS,
    UNKNOWN,
    GenderPredictor,
    Phrase,
    gender_predictor,
)
from cc_hf.test_sets.winomt.gender_figures import (
    count_cells,
    gender_figures,
    gender_intervals,
    printed_figures,
)
from cc_hf.text.alignment import Aligner, Alignment, space_tokens

__all__ = ["WinomtPatternMatching", "judge_rows"]

_READ = (*GENDERS, UNKNOWN)
#: Keys of a reference, each with the check of its value.
_FIELDS: Fields = {
    "source": any_text,
    "occupation": any_text,
    "occupation_index": index,
    "gold_gender": one_of(GENDERS),
    "stereotype": one_of(("pro", "anti", "none")),
    "pair": optional_text,
}
_ARTICLES = ("the", "a", "an")
_FIGURES = ("exact", "printed")


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    alignments: Sequence[Alignment],
    predictor: GenderPredictor,
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation.

    The gender is read in the words that are aligned with the article and the first word of the
    occupation. If no gender can be read, it is `unknown`; the verdict is then inconclusive and
    counts as wrong. Each verdict depends only on its own row; the alignments may depend on all
    rows.

    Args:
        alignments: one per translation, by indices of `space_tokens`.

    Examples:
        >>> from cc_hf.text.alignment import parse_pharaoh
        >>> row = {"source": "The cook left.", "occupation": "cook", "occupation_index": 1}
        >>> verdicts = judge_rows(
        ...     ["Die Köchin ging."],
        ...     [{**row, "gold_gender": "female", "stereotype": "pro"}],
        ...     parse_pharaoh(["0-0 1-1 2-2"]),
        ...     gender_predictor("de"),
        ... )
        >>> verdicts[0].predicted, verdicts[0].verdict
        ('female', 'correct')
    """
    names, judgements = check_ids(ids, len(predictions)), []
    phrases = [*map(_phrase, predictions, references, alignments)]
    genders = predictor.predict_all(phrases)
    for name, translation, reference, gender in zip(
        names, predictions, references, genders, strict=True
    ):
        gold = reference["gold_gender"]
        predicted = UNKNOWN if is_blank(translation) else gender
        verdict = _verdict(predicted, gold)
        judgements.append(
            Judgement(
                name, gold, predicted == gold, translation, verdict, predicted=predicted, gold=gold
            )
        )
    return tuple(judgements)


def _phrase(translation: str, reference: Mapping[str, Any], alignment: Alignment) -> Phrase:
    """Return the words of a translation that are aligned with the occupation and its article."""
    source, target = space_tokens(reference["source"]), space_tokens(translation)
    position = reference["occupation_index"]
    has_article = position > 0 and source[position - 1].lower() in _ARTICLES
    first = position - 1 if has_article else position
    linked = [j for word in range(first, position + 1) for i, j in alignment if i == word]
    return Phrase(
        tuple(target[j] for j in linked),
        min(linked, default=-1),
        translation,
        reference["occupation"],
        _linked(alignment, range(position, position + len(space_tokens(reference["occupation"])))),
        _linked(alignment, range(first, position)),
    )


def _linked(alignment: Alignment, words: range) -> tuple[int, ...]:
    return tuple(sorted({j for i, j in alignment if i in words}))


def _verdict(predicted: str, gold: str) -> str:
    if predicted == UNKNOWN:
        return "inconclusive"
    return "correct" if predicted == gold else "incorrect"


def _counts(judgements: Sequence[Judgement]) -> dict[str, int]:
    """Return the confusion matrix of genders and the number of blank translations."""
    pairs = Counter((j.gold, j.predicted) for j in judgements)
    confusion = {
        f"n_{gold}_as_{predicted}": pairs[gold, predicted]
        for gold in GENDERS
        for predicted in GENDERS
    }
    unknown = {f"n_unknown_{gold}": pairs[gold, UNKNOWN] for gold in GENDERS}
    return {
        "n_blank": sum(is_blank(j.translation) for j in judgements),
        **confusion,
        "n_unknown": sum(unknown.values()),
        **unknown,
    }


def _warn_of_genders_never_read(judgements: Sequence[Judgement]) -> None:
    """Warn if male or female is never predicted."""
    never = {j.gold for j in judgements} - {j.predicted for j in judgements}
    # Neutral is ignored: most rules never predict it, and no delta depends on it.
    if unread := [gender for gender in ("male", "female") if gender in never]:
        warnings.warn(
            f"none of {len(judgements)} translations was read as {' or '.join(unread)}; precision"
            " and F1 of it are set to 0",
            UserWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class WinomtPatternMatching(Metric):
    """Accuracy, F1 by gender, delta G and delta S of WinoMT, by the form of the occupation.

    WinoMT measures gender bias in machine translation with sentences about two people, one of whom
    a pronoun reveals as male or female. Word alignment finds the words that translate the
    occupation, and rules of the target language tell their grammatical gender. A translation is
    correct if that is the gender of the pronoun. The figures are accuracy, precision, recall and F1
    by gender, and the differences delta_g (male minus female F1) and delta_s (accuracy on
    pro-stereotypical minus anti-stereotypical sentences).

    fast_align and eflomal estimate their model on the translations that are judged together, so a
    verdict may depend on other rows; by the rule "context" it does, too.

    Attributes:
        aligner: "fast_align" (built in), "eflomal", which must be installed, or an object with the
            method `align`.
        alignments: alignments that replace the aligner: a Pharaoh file or its lines, one per
            translation.
        figures: "exact", or "printed", which rounds intermediate values as the paper's program does
            (`cc_hf.test_sets.winomt.gender_figures.printed_figures`).
        spacy_model: a spaCy pipeline other than the small one, for Spanish, French or Italian, see
            `cc_hf.test_sets.winomt.gender.gender_predictor`.
        rule: how a gender is read: "published", in the words that are aligned with the article and
            the first word of the occupation; or "context", in Spanish, French and Italian: in the
            head noun and its determiner, which adjectives and complements do not mislead.
    """

    name = "winomt_pattern_matching"
    title = "WinoMT pattern matching"
    about = (
        "A word alignment finds the occupation in the translation, and rules of the language tell"
        " its gender."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is unknown,
            hence wrong. Give all of a system at once, because alignments are learned from them.
        references (list of dict): one per translation, with `source` (str), `occupation` (str, as
            in the source's list of occupations), `occupation_index` (int, 0-based, the first word
            of the occupation among the space-split tokens of the source), `gold_gender` (male,
            female, neutral) and `stereotype` (pro, anti, none). An optional key is `pair` (str), a
            name that a sentence and the same with the other gender share.
        tgt_lang (str): ar, de, he, pt, ru or uk; es, fr or it with spaCy and its model for the
            language, or with lttoolbox and a dictionary of Apertium.

    Returns:
        n, n_correct, n_inconclusive, n_blank, n_<gold>_as_<predicted>, n_unknown, n_unknown_<gold>
            (int): numbers of translations; with pairs n_pairs, n_pairs_correct.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): male, female, neutral or unknown, one per translation.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/winomt_pattern_matching")
        >>> reference = {
        ...     "source": "The cook left.",
        ...     "occupation": "cook",
        ...     "occupation_index": 1,
        ...     "gold_gender": "female",
        ...     "stereotype": "pro",
        ... }
        >>> result = metric.compute(
        ...     predictions=["Die Köchin ging."],
        ...     references=[reference],
        ...     tgt_lang="de",
        ...     alignments=["0-0 1-1 2-2"],
        ... )
        >>> result["predicted"]
        ['female']
    """
    papers = ("stanovsky-2019",)
    signature_name = "winomt"
    version = 6
    reference_fields = _FIELDS
    # Most rules have no neutral form, so that a minimum over these rows says nothing of a system.
    uncounted = ("neutral",)
    interval_method = "by Wilson's score, within gold genders"
    default_src_lang = "en"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "accuracy_pro": FigureDeclaration(
            "accuracy on pro-stereotypical",
            "high",
            "The share of correct translations where the gender agrees with the stereotype of the"
            " occupation.",
        ),
        "accuracy_anti": FigureDeclaration(
            "accuracy on anti-stereotypical",
            "high",
            "The share of correct translations where the gender is contrary to the stereotype of"
            " the occupation.",
        ),
        "precision_*": FigureDeclaration(
            "precision on {}",
            "high",
            "The share of truly {} occupations among those translated as {}.",
        ),
        "recall_*": FigureDeclaration(
            "recall on {}", "high", "The share of {} occupations that are translated as {}."
        ),
        "f1_*": FigureDeclaration(
            "F1 on {}", "high", "The harmonic mean of precision and recall on {}."
        ),
        "delta_g": FigureDeclaration(
            "gender gap ΔG, 0 is best",
            "zero",
            "F1 on male minus F1 on female. Above 0, men are translated better than women.",
            ("f1_male", "f1_female"),
        ),
        "delta_s": FigureDeclaration(
            "stereotype gap ΔS, 0 is best",
            "zero",
            "Accuracy on pro-stereotypical minus accuracy on anti-stereotypical samples. Above 0,"
            " the system follows stereotypes.",
            ("accuracy_pro", "accuracy_anti"),
        ),
    }

    aligner: str | Aligner = "fast_align"
    alignments: str | Path | Sequence[str] | None = None
    figures: str = "exact"
    spacy_model: str | None = None
    rule: str = "published"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
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

    @staticmethod
    def check_available(tgt_lang: str) -> None:
        gender_predictor(tgt_lang)

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        rows = []
        for example in examples:
            if isinstance(example, ContrastiveTranslationExample) or example.focus is None:
                raise InputError(f"example {example.id!r}: expected a located occupation, got none")
            rows.append(
                {
                    "source": example.source,
                    "occupation_index": len(space_tokens(example.source[: example.focus.start])),
                    "gold_gender": example.gold,
                    **{key: example.extra[key] for key in ("occupation", "stereotype")},
                    "pair": example.extra.get("pair", ""),
                }
            )
        return rows

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            n, position = len(space_tokens(reference["source"])), reference["occupation_index"]
            if not 0 <= position < n:
                raise InputError(
                    f"row {row}: occupation_index: expected 0 to {n - 1}, a token of the source"
                    f" split at spaces, got {position}: {reference['source']!r}"
                )

    def data_fields(
        self, references: Sequence[Mapping[str, Any]], origin: Mapping[str, str]
    ) -> dict[str, str]:
        # A name that no row has is left out, so that digests of earlier versions stay the same.
        filled = [{k: v for k, v in row.items() if k != "pair" or v} for row in references]
        return super().data_fields(filled, origin)

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        if rows.src_lang != "en":
            raise InputError(
                f"src_lang: expected en, whose articles are known, got {shown(rows.src_lang)}"
            )
        check_choice("figures", self.figures, _FIGURES)
        if rows.tgt_lang not in GENDER_LANGUAGES:
            raise UnknownNameError("target language", rows.tgt_lang, GENDER_LANGUAGES)
        predictor = gender_predictor(rows.tgt_lang, spacy_model=self.spacy_model, rule=self.rule)
        aligner = chosen_aligner(self.aligner, self.alignments)
        links = list(aligner.align(rows.column("source"), rows.with_untranslated))
        for row in rows.untranslated:
            links[row] = ()
        judgements = judge_rows(rows.translations, rows.references, links, predictor, ids=rows.ids)
        _warn_of_genders_never_read(judgements)
        summary = summarize(judgements, uncounted=self.uncounted)
        cells = count_cells(
            [j.gold for j in judgements],
            rows.column("stereotype"),
            [j.predicted for j in judgements],
        )
        figures = gender_figures(cells) if self.figures == "exact" else printed_figures(cells)
        # The recall of a gender is its category accuracy.
        recall_intervals = {
            f"recall_{c.category}": summary.intervals[f"accuracy_{c.category}"]
            for c in summary.categories
        }
        return Figures(
            scores={**summary.scores, **figures},
            signature={
                "langs": f"en-{rows.languages[1]}",
                "align": aligner.signature_name,
                "gender": predictor.signature_name,
                "figures": self.figures,
            },
            intervals={
                **gender_intervals(cells),
                **summary.intervals,
                **recall_intervals,
            },
            categories=summary.categories,
            judgements=judgements,
            counts={**summary.counts, **_counts(judgements)},
        ).joined(twin_figures(judgements, rows.pairs))

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return the figures and the counts of genders that are asked for and read."""
        figures = super().proof(judgements, signed)
        # Files of the first versions have no genders, so that only accuracies follow.
        if not all(j.gold in GENDERS and j.predicted in _READ for j in judgements):
            return figures
        pairs = twin_figures(judgements, [j.pair for j in judgements])
        counts = {name: n for name, n in _counts(judgements).items() if name != "n_blank"}
        cells = count_cells(
            [j.gold for j in judgements],
            # Judgements do not say which occupations are stereotypical.
            ["none"] * len(judgements),
            [j.predicted for j in judgements],
        )
        is_exact = signed.get("figures", "exact") == "exact"
        of_genders = gender_figures(cells) if is_exact else printed_figures(cells)
        figures = replace(
            figures,
            scores={**figures.scores, **of_genders},
            intervals={**gender_intervals(cells), **figures.intervals},
            counts={**figures.counts, **counts},
        )
        return figures.joined(pairs)

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the genders that are read and asked for."""
        for j in judgements:
            check_choice(f"example {j.example_id!r}: gold", j.gold, GENDERS)
            check_choice(f"example {j.example_id!r}: predicted", j.predicted, _READ)
            check_reading(j, _verdict(j.predicted, j.gold))
