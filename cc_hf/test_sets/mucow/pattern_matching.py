"""MuCoW's pattern matching: does the translation hold words of the correct sense, and of no other?

See Raganato et al. 2019, section 5.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cc_hf.errors import DataError, InputError
from cc_hf.lists import listed
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    flag,
    one_of,
    texts,
)
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.reading import text_lines
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.test_sets.mucow.decisions import decision_intervals, decision_scores
from cc_hf.text.lemmatization import Lemmatizer, check_language, find_lemmatizer
from cc_hf.text.tokenization import moses_words
from cc_hf.text.transliteration import in_latin_letters

__all__ = ["MucowPatternMatching", "judge_rows"]

_SENSES = ("correct_senses", "incorrect_senses")
_GROUPS = {
    "domain": ("in_domain", "out_of_domain", ""),
    "frequency": ("frequent", "infrequent", ""),
}
_LABELS = {
    "coverage": "coverage",
    "precision": "precision",
    "recall_a": "recall (a)",
    "recall_b": "recall (b)",
    "f1_a": "F1 (a)",
    "f1_b": "F1 (b)",
}
_SPLIT_AT_HYPHENS = {"de"}  # compounds such as "Golf-Schläger"


def _words(value: Any, where: str) -> list[str]:
    """Return a list of single words as plain texts."""
    members = texts(value, where)
    if phrases := [word for word in members if len(word.split()) != 1]:
        raise InputError(f"{where}: expected single words, got {phrases[0]!r}")
    return members


#: Keys of a reference, each with the check of its value.
_FIELDS: Fields = {
    **dict.fromkeys(_SENSES, _words),
    **{key: one_of(known) for key, known in _GROUPS.items()},
}


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    tgt_lang: str,
    lemmatizer: str | Lemmatizer = "simplemma",
    lemmatized: Sequence[str] | None = None,
    parity: bool = False,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation, each judged on its own.

    Lower-cased tokens are searched first. Lemmas are searched only if no token belongs to any
    sense. A translation with a word of another sense is incorrect; one with words of only the
    correct sense is correct; one with neither is inconclusive. `predicted` holds the words that
    were found, `gold` the correct ones.

    Args:
        tgt_lang: ISO 639-1 code of the translations; German tokens are split at hyphens.
        lemmatized: lemmas of each translation, joined by spaces, which replace those of the
            lemmatizer; None to lemmatize.

    Examples:
        >>> row = {"correct_senses": ["Schläger"], "incorrect_senses": ["Fledermaus"]}
        >>> row |= {"domain": "", "frequency": ""}
        >>> translations = ["Der Golf-Schläger fiel.", "Die Fledermäuse schlafen.", "Er fiel."]
        >>> [j.verdict for j in judge_rows(translations, [row] * 3, tgt_lang="de")]
        ['correct', 'incorrect', 'inconclusive']
    """
    chosen = find_lemmatizer(lemmatizer)
    form = (lambda word: in_latin_letters(_plain(word))) if parity else _plain
    names, judgements = check_ids(ids, len(predictions)), []
    for row, (translation, reference) in enumerate(zip(predictions, references, strict=True)):
        senses = [
            {form(word) for word in reference[key] if parity or any(c.isalnum() for c in word)}
            for key in _SENSES
        ]
        tokens = moses_words(
            translation,
            tgt_lang,
            split_hyphens=tgt_lang in _SPLIT_AT_HYPHENS,
        )
        correct, incorrect = _present(tokens, senses, form)
        if not (correct or incorrect):
            lemmas = (
                chosen.lemmas(tokens, tgt_lang) if lemmatized is None else lemmatized[row].split()
            )
            correct, incorrect = _present(lemmas, senses, form)
        verdict = "incorrect" if incorrect else "correct" if correct else "inconclusive"
        judgements.append(
            Judgement(
                example_id=names[row],
                category=reference["domain"] or reference["frequency"] or "all",
                is_correct=verdict == "correct",
                translation=translation,
                verdict=verdict,
                predicted=" ".join(sorted(correct | incorrect)),
                gold=" ".join(reference[_SENSES[0]]),
            )
        )
    return tuple(judgements)


def _plain(word: str) -> str:
    return unicodedata.normalize("NFC", word.lower())


def _present(
    words: Collection[str], senses: Sequence[set[str]], form: Callable[[str], str]
) -> tuple[set[str], set[str]]:
    """Return the correct and the incorrect sense words that occur among `words`."""
    present = {form(word) for word in words}
    return present & senses[0], present & senses[1]


def _lemmas(lemmatized: str | Path | Sequence[str] | None, n: int) -> Sequence[str] | None:
    """Return the given lemmas of n translations, from a file or a list; None if none are given."""
    if lemmatized is None:
        return None
    if isinstance(lemmatized, (str, Path)):
        try:
            lemmatized = text_lines(Path(lemmatized))
        except DataError as error:
            raise InputError(f"lemmatized: {error}") from error
    lemmatized = listed("lemmatized", lemmatized)
    if any(not isinstance(line, str) for line in lemmatized):
        raise InputError(
            "lemmatized: expected a file or a list of strings, the lemmas of each translation"
            " joined by spaces, got something else"
        )
    if len(lemmatized) != n:
        raise InputError(
            f"lemmatized: expected one line per translation, {n} in all, got {len(lemmatized)}"
        )
    return lemmatized


@dataclass(frozen=True)
class MucowPatternMatching(Metric):
    """Words of the correct and of other senses in the translation, as MuCoW counts them.

    Word senses in translations, recognised by their words (Raganato et al. 2019): a translation is
    correct if a word of the correct sense, and none of another sense, is among its tokens, or
    otherwise among its lemmas. It is incorrect if a word of another sense is there, and
    inconclusive otherwise. Figures by group are those of a domain or a frequency
    (precision_in_domain, precision_frequent).

    Attributes:
        lemmatizer: "simplemma", "none", or an object with the protocol of
            `cc_hf.text.lemmatization.Lemmatizer`.
        lemmatized: lemmas that replace those of the lemmatizer: a file with one line per
            translation, or a list of strings, with lemmas joined by spaces.
        parity: whether to search as the original programs do (see the card); the
            command line may say "true".
    """

    name = "mucow_pattern_matching"
    title = "MuCoW pattern matching"
    about = (
        "A translation is right if it holds a word of the correct sense and none of another sense."
    )
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is
            inconclusive.
        references (list of dict): one per translation, with `correct_senses` and `incorrect_senses`
            (lists of single words of the target language), `domain` ("in_domain", "out_of_domain"
            or "") and `frequency` ("frequent", "infrequent" or "").
        src_lang (str, optional): ISO 639-1 code of the sources, for the signature.

    Returns:
        n, n_correct, n_incorrect, n_inconclusive, n_blank (int): numbers of translations.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): the words of senses that each translation has.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/mucow_pattern_matching")
        >>> reference = {
        ...     "correct_senses": ["schloss", "burg"],
        ...     "incorrect_senses": ["verschluss"],
        ...     "domain": "in_domain",
        ...     "frequency": "",
        ... }
        >>> result = metric.compute(
        ...     predictions=["Viele Schlösser sind alt."], references=[reference], tgt_lang="de"
        ... )
        >>> result["verdicts"]
        ['correct']
    """
    papers = ("raganato-2019",)
    signature_name = "mucow-pm"
    version = 3
    reference_fields = _FIELDS
    leaderboard = ("precision", "recall_a", "f1_a", "coverage")
    interval_method = "by Wilson's score, within domains and frequencies"
    figure_names = {  # noqa: RUF012
        **COMMON,
        **shares(
            "coverage", "coverage", "high", "The share of translations that hold a word of a sense"
        ),
        **shares(
            "precision",
            "precision",
            "high",
            "The share of correct translations among the decided",
            is_of_read=True,
        ),
        **shares(
            "recall_a", "recall (a)", "high", "Correct translations, by correct and undecided ones"
        ),
        **shares("recall_b", "recall (b)", "high", "Correct translations, by all translations"),
        **shares("f1_a", "F1 (a)", "high", "The harmonic mean of precision and recall (a)"),
        **shares("f1_b", "F1 (b)", "high", "The harmonic mean of precision and recall (b)"),
        **{
            f"min_{figure}_{groups}": FigureDeclaration(
                f"minimum {label} by {groups}", "high", f"The smallest {label} of any {groups}."
            )
            for figure, label in _LABELS.items()
            for groups in _GROUPS
        },
    }

    lemmatizer: str | Lemmatizer = "simplemma"
    lemmatized: str | Path | Sequence[str] | None = None
    parity: bool | str = False

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset != "mucow":
            return (
                "mucow_pattern_matching needs the translations of each sense of a word, which only"
                f" mucow lists, not {dataset}"
            )
        if form is ContrastiveTranslationExample:
            return (
                f"mucow {config} scores given translations, and mucow_pattern_matching judges those"
                " of a system"
            )
        return ""

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        """Return the senses and groups of the examples."""
        rows = []
        for example in examples:
            extra = example.extra
            groups = {"domain": "", "frequency": extra.get("frequency", "")}
            # The category of the suite's examples is the domain, that of those with cues the
            # frequency.
            groups["frequency" if example.category in _GROUPS["frequency"] else "domain"] = (
                example.category
            )
            rows.append({key: extra[key].split() for key in _SENSES} | groups)
        return rows

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            if shared := {_plain(word) for word in reference[_SENSES[0]]} & {
                _plain(word) for word in reference[_SENSES[1]]
            }:
                raise InputError(
                    f"row {row}: {min(shared)!r} is both a correct and an incorrect sense; leave it"
                    " out of one of them, or out of both"
                )

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict where no word of a sense is found, and none where one is."""
        for j in judgements:
            check_reading(j, *(("correct", "incorrect") if j.predicted else ("inconclusive",)))

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        exact = flag("parity", self.parity)
        chosen = find_lemmatizer(self.lemmatizer)
        lemmas = _lemmas(self.lemmatized, len(rows.translations))
        check_language(
            rows.tgt_lang,
            None if lemmas is not None else chosen,
            remedy="give lemmas (lemmatized), another lemmatizer, or lemmatizer none",
        )
        judgements = judge_rows(
            rows.translations,
            rows.references,
            tgt_lang=rows.tgt_lang,
            lemmatizer=chosen,
            lemmatized=lemmas,
            parity=exact,
            ids=rows.ids,
        )
        verdicts = [j.verdict for j in judgements]
        groupings = {name: rows.column(name) for name in _GROUPS}
        hyphens = "+hyphens" if rows.tgt_lang in _SPLIT_AT_HYPHENS else ""
        figures = Figures(
            scores=decision_scores(verdicts, groupings),
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}",
                "tok": f"moses-{version('sacremoses')}{hyphens}",
                "lemma": chosen.name if lemmas is None else "given",
                "rules": "original" if exact else "default",
            },
            intervals=decision_intervals(verdicts, groupings),
            judgements=judgements,
            counts={
                "n_incorrect": verdicts.count("incorrect"),
                "n_blank": rows.n_blank,
            },
        )
        return summarize(judgements).joined(figures)

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return the figures that are not of a domain or a frequency, which judgements lack."""
        figures = super().proof(judgements, signed)
        verdicts = [j.verdict for j in judgements]
        return replace(
            figures,
            scores={**figures.scores, **decision_scores(verdicts, {})},
            counts={**figures.counts, "n_incorrect": verdicts.count("incorrect")},
        )
