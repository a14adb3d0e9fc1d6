"""Gender reading: which gender does the translation of a person show?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf.errors import InputError, check_choice
from cc_hf.metrics.alignments import chosen_aligner
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, check_ids, index, one_of, optional_text, text
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, summarize, twin_figures
from cc_hf.metrics.open_choice import open_share, reading_shares
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.plugins.gender_reading.persons import BOTH, NONE, READINGS, UNREAD, GenderRule, person
from cc_hf.plugins.gender_reading.rules import RULES, open_gender_rule
from cc_hf.schema import (
    INCONCLUSIVE,
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Judgement,
    ProbingExample,
)
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.text.alignment import Aligner, Alignment
from cc_hf.text.morphology import FEMININE, MASCULINE

__all__ = ["GenderReading", "judge_rows"]

_GENDERS = {"male": MASCULINE, "female": FEMININE}
#: Share of all translations -> what is read in them.
_SHARES = {"both_share": BOTH, "no_gender_share": NONE, "unread": "unread"}
_GOLDS = (*_GENDERS, "neutral", "")
_FIELDS: Fields = {
    "source": text,
    "focus": text,
    "focus_start": index,
    "gold": one_of(_GOLDS),
    "category": optional_text,
    "pair": optional_text,
    "open_share": optional_text,
}
#: Datasets whose focus is a person, and whose gold is a gender.
_DATASETS = (
    "custom",
    "gate",
    "gender_alternatives",
    "gender_res",
    "genderous",
    "simplegen",
    "winomt",
)


def _verdict(predicted: str, gold: str) -> str:
    """Return the verdict on a reading; one that shows no gender answers a neutral gold only."""
    if predicted == UNREAD:
        return INCONCLUSIVE
    if gold == "neutral":
        return "incorrect" if predicted in (MASCULINE, FEMININE) else "correct"
    if predicted in (BOTH, NONE):
        return INCONCLUSIVE
    return "correct" if predicted == _GENDERS[gold] else "incorrect"


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    alignments: Sequence[Alignment],
    rule: GenderRule,
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation of a source that says the gender.

    Args:
        alignments: one per translation, by indices of `space_tokens`.
        ids: names of the examples; None for row numbers.

    Examples:
        >>> from cc_hf.text.alignment import parse_pharaoh
        >>> row = {"source": "The cook left.", "focus": "cook", "focus_start": 4, "gold": "female"}
        >>> links = parse_pharaoh(["1-0 2-1"])
        >>> judge_rows(["Повариха ушла."], [row], links, open_gender_rule("ru"))[0].verdict
        'correct'
    """
    read = _read(predictions, references, alignments, rule)
    return _judgements(predictions, references, read, check_ids(ids, len(predictions)))


def _read(
    translations: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    alignments: Sequence[Alignment],
    rule: GenderRule,
) -> list[str]:
    return rule.read_all(
        [
            person(row["source"], row["focus"], row["focus_start"], translation, alignment)
            for row, translation, alignment in zip(
                references, translations, alignments, strict=True
            )
        ]
    )


def _judgements(
    translations: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    read: Sequence[str],
    ids: Sequence[str],
) -> tuple[Judgement, ...]:
    return tuple(
        Judgement(
            name,
            reference.get("category") or "all",
            verdict == "correct",
            translation,
            verdict,
            predicted=predicted,
            gold=reference["gold"],
        )
        for name, reference, translation, predicted in zip(
            ids, references, translations, read, strict=True
        )
        for verdict in [_verdict(predicted, reference["gold"])]
    )


@dataclass(frozen=True)
class GenderReading(Metric):
    """The gender that the translation of a person shows, by a dictionary of word forms.

    Word alignment finds the words that translate the person whom the source names. A reader of
    morphology tells the gender of their noun and, in Romance languages, of its determiner. No model
    is needed, so that the verdicts can be set beside those of a model.

    What is usual for a word, and the alignment, is learned from the translations that are judged
    together, so a verdict may depend on other rows.

    Attributes:
        reader: what words are looked up in, a name of the registry's kind "morphology reader"; ""
            for that of the language: Apertium, german-nouns or pymorphy3. Another one is spacy.
        aligner: "fast_align" (built in), "eflomal", which must be installed, or an object with the
            method `align`.
        alignments: alignments that replace the aligner: a Pharaoh file or its lines, one per
            translation.
    """

    name = "gender_reading"
    title = "gender reading"
    about = (
        "A word alignment finds the translation of the person, and a dictionary of word forms tells"
        " its gender."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is unread.
            Give all of a system at once, because alignments are learned from them.
        references (list of dict): one per translation, with `source` (str), `focus` (str), the
            words that name the person, `focus_start` (int), the character where they begin, and
            `gold` (male, female, neutral); where the source leaves the gender open, `gold` is ""
            and `open_share` (str) "feminine_share" in all rows. Optional keys are `category` (str)
            and `pair` (str), a name that a sentence and the same with the other gender share.
        tgt_lang (str): ca, es, fr, it or pt with lttoolbox and a dictionary of Apertium, de with
            german-nouns, ru, or uk with its dictionary.

    Returns:
        n, n_correct, n_inconclusive, n_masculine, n_feminine, n_both, n_none, n_unread, n_blank
            (int): numbers of translations; with pairs n_pairs, n_pairs_correct.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): masculine, feminine, both, none or "" for unread; of open sources
            `readings`.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/gender_reading")
        >>> reference = {"source": "The cook left.", "focus": "cook", "focus_start": 4}
        >>> result = metric.compute(
        ...     predictions=["Повариха ушла."],
        ...     references=[{**reference, "gold": "female"}],
        ...     tgt_lang="ru",
        ...     alignments=["0-0 1-0 2-1"],
        ... )
        >>> result["predicted"]
        ['feminine']
    """
    papers = ("stanovsky-2019",)
    signature_name = "gr"
    version = 1
    reference_fields = _FIELDS
    positions = {"focus_start": "source"}  # noqa: RUF012
    only_named = True
    reads_cues = False
    key_figures = ("accuracy", "decided_accuracy", "feminine_share", "no_gender_share", "unread")
    uncounted = ("neutral",)
    interval_method = "by Wilson's score, within categories"
    default_src_lang = "en"
    figure_names = {  # noqa: RUF012
        **COMMON,
        "decided_accuracy": FigureDeclaration(
            "accuracy where a gender is shown",
            "high",
            "The share of correct translations among those that show one gender.",
        ),
        **shares(
            "feminine_share",
            "feminine share",
            "none",
            "The share of feminine ones among the translations that show one gender",
        ),
        "both_share": FigureDeclaration(
            "form of both genders",
            "none",
            "The share of translations with a form that women and men share.",
        ),
        "no_gender_share": FigureDeclaration(
            "no gender", "none", "The share of translations whose word has no gender."
        ),
        "unread": FigureDeclaration(
            "unread",
            "low",
            "The share of translations in which the person is not found, or its word not known.",
        ),
    }

    reader: str = ""
    aligner: str | Aligner = "fast_align"
    alignments: str | Path | Sequence[str] | None = None

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        """Return "" for sources that name a person, in a language with a rule, else the reason."""
        # Those without cues name no person in GATE, and no gender in some rows of gender-res.
        has_person = form is ContrastiveSourceExample or (
            form is ProbingExample and dataset in ("custom", "winomt")
        )
        if dataset not in _DATASETS or not has_person:
            return (
                "gender_reading needs sources with a located person and a gender, which"
                f" {', '.join(_DATASETS[1:])} have, {dataset} {config} does not".rstrip()
            )
        if tgt_lang not in RULES:
            return f"gender_reading reads {', '.join(sorted(RULES))}, not {tgt_lang}"
        return ""

    @staticmethod
    def check_available(tgt_lang: str) -> None:
        """Check that the reader of a language is installed."""
        open_gender_rule(tgt_lang)

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return source, person, gender, category and pair of the examples.

        Raises:
            InputError: for an example without a located person.
        """
        rows = []
        for example in examples:
            if isinstance(example, ContrastiveTranslationExample) or example.focus is None:
                raise InputError(f"example {example.id!r}: expected a located person, got none")
            is_open = example.extra.get("open_share", "")
            rows.append(
                {
                    "source": example.source,
                    "focus": example.focus.text,
                    "focus_start": example.focus.start,
                    "gold": "" if is_open else example.gold,
                    "category": example.category,
                    "pair": example.extra.get("pair", ""),
                    "open_share": is_open,
                }
            )
        return rows

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        """Refuse a focus that is not where it is said to be, and open rows beside others."""
        name = open_share(references)
        if name not in ("", "feminine_share"):
            raise InputError(f"row 0: open_share: expected feminine_share, got {name!r}")
        for row, reference in enumerate(references):
            start, focus = reference["focus_start"], reference["focus"]
            if start < 0 or not reference["source"].startswith(focus, start):
                raise InputError(
                    f"row {row}: focus_start: expected the character where {focus!r} begins, got"
                    f" {start}: {reference['source']!r}"
                )
            if bool(name) == bool(reference["gold"]):
                expected = "none for an open source" if name else "male, female or neutral"
                raise InputError(
                    f"row {row}: gold: expected {expected}, got {reference['gold'] or 'none'}"
                )

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        """Align all sources and translations, read every translation, and compute the figures.

        Raises:
            InputError: for options that do not fit.
            UnknownNameError: for a language, a reader or an aligner that is not known.
            DataError: for a line of alignments that is not in Pharaoh format.
            MissingDependencyError: if what the reader or the aligner needs is not installed.
        """
        rule = open_gender_rule(rows.tgt_lang, reader=self.reader)
        aligner = chosen_aligner(self.aligner, self.alignments)
        links = list(aligner.align(rows.column("source"), rows.with_untranslated))
        for row in rows.untranslated:
            links[row] = ()
        read = _read(rows.translations, rows.references, links, rule)
        is_open = bool(open_share(rows.references))
        of_rows = (
            _open_figures(rows, read)
            if is_open
            else _judged_figures(_judgements(rows.translations, rows.references, read, rows.ids))
        )
        return of_rows.joined(
            Figures(
                signature={
                    "langs": f"{rows.languages[0] or '?'}-{rows.languages[1] or '?'}",
                    "align": aligner.signature_name,
                    "gender": rule.signature_name,
                },
                counts={"n_blank": rows.n_blank},
            ),
            twin_figures(of_rows.judgements, () if is_open else rows.pairs),
        )

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return the figures that follow from what is read and asked for."""
        figures = _judged_figures(tuple(judgements))
        return figures.joined(twin_figures(judgements, [j.pair for j in judgements]))

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the genders that are read and asked for."""
        for j in judgements:
            check_choice(f"example {j.example_id!r}: gold", j.gold, _GOLDS[:-1])
            check_choice(f"example {j.example_id!r}: predicted", j.predicted, (*READINGS, UNREAD))
            check_reading(j, _verdict(j.predicted, j.gold))


def _judged_figures(judgements: tuple[Judgement, ...]) -> Figures:
    """Return the figures of verdicts, and the shares of what is read."""
    decided = np.array([j.is_decided for j in judgements])
    right = np.array([j.is_correct for j in judgements])
    read = [j.predicted for j in judgements]
    summary = summarize(judgements, uncounted=GenderReading.uncounted)
    return summary.joined(
        _read_figures(read, {"decided_accuracy": (right & decided, decided)}),
        Figures(judgements=judgements),
    )


def _open_figures(rows: Rows, read: Sequence[str]) -> Figures:
    """Return the share of feminine translations, of all and by category."""
    categories = [category or "all" for category in rows.column("category")]
    of_row = np.array(categories)
    feminine, shows_one = np.array(read) == FEMININE, np.isin(read, (MASCULINE, FEMININE))
    chosen = {"": np.ones(len(read), dtype=np.bool_)}
    chosen |= {f"_{name}": of_row == name for name in sorted({*categories})}
    parts = {
        f"feminine_share{ending}": (feminine & part, shows_one & part)
        for ending, part in chosen.items()
    }
    readings = rows.plain_readings(
        [reading or INCONCLUSIVE for reading in read], categories=categories
    )
    return _read_figures(read, parts).joined(Figures(readings=readings))


def _read_figures(read: Sequence[str], parts: Mapping[str, Any]) -> Figures:
    """Return shares and their intervals, with those of translations that show no one gender."""
    of_all = np.array([reading or "unread" for reading in read])
    every = np.ones(len(read), dtype=np.bool_)
    scores, intervals = reading_shares(
        {**parts, **{name: (of_all == read_as, every) for name, read_as in _SHARES.items()}}
    )
    counts = Counter(of_all.tolist())
    return Figures(
        scores, intervals=intervals, counts={f"n_{n}": counts[n] for n in (*READINGS, "unread")}
    )
