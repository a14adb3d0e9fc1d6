"""What a translation makes of a homograph: the right sense, another sense, an unknown word, or
nothing.

See Emelin et al. 2020; Emelin 2023, section 3.2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.errors import InputError, check_choice, shown
from cc_hf.metrics.alignments import chosen_aligner, corpus_aligner
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.checks import Fields, any_text, check_ids, flag, index, optional_text
from cc_hf.metrics.figure_names import COMMON, FigureDeclaration, shares
from cc_hf.metrics.figures import Figures, summarize
from cc_hf.metrics.verdict_checks import check_reading
from cc_hf.normalization import is_blank
from cc_hf.schema import Example, Judgement, ProbingExample
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.test_sets.mucow.sense_search import ProgramSearch, clusters_of
from cc_hf.text.alignment import Aligner, Alignment, find_aligner
from cc_hf.text.lemmatization import Lemmatizer, check_language, find_lemmatizer
from cc_hf.text.sense_matching import SenseMatcher
from cc_hf.text.tokenization import word_texts, word_tokens

__all__ = [
    "OUTCOMES",
    "SEARCHES",
    "HomographAccuracy",
    "HomographOutcome",
    "aligned_texts",
    "ceiling_note",
    "is_flipped",
    "judge_rows",
    "outcomes",
    "reference_outcomes",
]

#: What can become of a homograph.
OUTCOMES = ("correct", "flipped", "unknown", "deleted")
_UNREAD = OUTCOMES[2:]
#: Where senses are looked for: in the whole translation, in the aligned words, or in the whole
#: translation as the released program does it.
SEARCHES = ("anywhere", "aligned", "sentence")


def _senses(value: Any, where: str) -> str:
    """Return clusters of senses as JSON, which modules of `evaluate` can store."""
    return any_text(senses_text(parse_senses(value, where)), where)


#: Keys of a reference, each with the check of its value.
_FIELDS: Fields = {
    "source": any_text,
    "homograph": any_text,
    "start": index,
    "cluster": any_text,
    "senses": _senses,
    "category": optional_text,
    "reference": optional_text,
}


@dataclass(frozen=True, slots=True)
class HomographOutcome:
    """The outcome of a homograph in one translation.

    Attributes:
        kind: one of `OUTCOMES`.
        clusters: ids of the clusters that the words show, in the order of the words; the right one
            is among them if the outcome is correct.
    """

    kind: str
    clusters: tuple[str, ...] = ()


def aligned_texts(
    sources: Sequence[str], translations: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return texts as aligners read them, with a space between tokens (`word_texts`).

    Examples:
        >>> aligned_texts(["A bat!"], ["Ein Schläger!"])
        (['A bat !'], ['Ein Schläger !'])
    """
    return (
        [" ".join(word_texts(source)) for source in sources],
        [" ".join(word_texts(translation)) for translation in translations],
    )


def outcomes(
    translations: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    alignments: Sequence[Alignment],
    *,
    tgt_lang: str,
    search: str = "anywhere",
    lemmatizer: str | Lemmatizer = "simplemma",
) -> list[HomographOutcome]:
    """Return the outcome of the homograph in each translation.

    A translation with a word of the right sense is correct, ambiguous words of that sense included.
    Otherwise a word of another sense makes it flipped. Without a word of any sense, the homograph
    is unknown if it is aligned with a word, else deleted.

    Args:
        alignments: one per translation, by indices of `cc_hf.text.tokenization.word_tokens`.

    Examples:
        >>> row = {"source": "A bat flies.", "start": 2, "cluster": "animal"}
        >>> row["senses"] = {"animal": ["Fledermaus"], "stick": ["Schläger"]}
        >>> texts = ["Eine Fledermaus fliegt.", "Ein Holzschläger fliegt.", "Ein Tier fliegt."]
        >>> links = [((0, 0), (1, 1), (2, 2))] * 3
        >>> [outcome.kind for outcome in outcomes(texts, [row] * 3, links, tgt_lang="de")]
        ['correct', 'flipped', 'unknown']
    """
    check_choice("search", search, SEARCHES)
    chosen = find_lemmatizer(lemmatizer)
    readers: dict[Any, SenseMatcher | ProgramSearch] = {}  # homographs share their senses
    kinds = []
    for row, (translation, reference, alignment) in enumerate(
        zip(translations, references, alignments, strict=True)
    ):
        senses = reference["senses"]
        key = senses if isinstance(senses, str) else senses_text(parse_senses(senses, "senses"))
        if key not in readers:
            clusters = parse_senses(senses, f"row {row}: senses")
            make = ProgramSearch if search == "sentence" else SenseMatcher
            readers[key] = make(clusters, lang=tgt_lang, lemmatizer=chosen)
        tokens = word_texts(translation)
        position = _token(reference)
        linked = [j for i, j in sorted(alignment) if i == position]
        reader = readers[key]
        senses_shown = (
            reader.clusters(tokens)
            if isinstance(reader, ProgramSearch)
            else clusters_of(reader, [tokens[j] for j in linked] if search == "aligned" else tokens)
        )
        gold = reference["cluster"]
        if gold in senses_shown:
            kind = "correct"
        elif senses_shown:
            kind = "flipped"
        else:
            kind = "unknown" if linked and not is_blank(translation) else "deleted"
        kinds.append(HomographOutcome(kind, senses_shown))
    return kinds


def reference_outcomes(
    references: Sequence[Mapping[str, Any]],
    aligner: Aligner,
    *,
    tgt_lang: str,
    search: str,
    lemmatizer: Lemmatizer,
) -> list[HomographOutcome]:
    """Return the outcomes of the homographs in the reference translations of the rows."""
    # These translations are right, so the share of correct ones is the ceiling of the accuracy.
    rows = [row for row in references if not is_blank(row.get("reference", ""))]
    texts = [row["reference"] for row in rows]
    links: Sequence[Alignment] = [()] * len(rows)
    if search == "aligned":
        links = aligner.align(*aligned_texts([row["source"] for row in rows], texts))
    return outcomes(texts, rows, links, tgt_lang=tgt_lang, search=search, lemmatizer=lemmatizer)


def ceiling_note(outcomes: Sequence[HomographOutcome], search: str) -> str:
    """Return what is known of the ceiling of the accuracy, as a sentence for readers.

    Examples:
        >>> ceiling_note([HomographOutcome("correct"), HomographOutcome("unknown")], "aligned")
        'The ceiling is 50.0 %: search=aligned finds the right sense in 1 of 2 reference translations'
        >>> ceiling_note([], "anywhere")
        'The ceiling is unknown: without reference translations nobody knows how many right translations search=anywhere misses'
    """  # noqa: E501
    if not outcomes:
        return (
            "The ceiling is unknown: without reference translations nobody knows how many right"
            f" translations search={search} misses"
        )
    n_right = sum(outcome.kind == "correct" for outcome in outcomes)
    return (
        f"The ceiling is {100 * (n_right / len(outcomes)):.1f} %: search={search} finds the right"
        f" sense in {n_right:,} of {len(outcomes):,} reference translations"
    )


def _token(reference: Mapping[str, Any]) -> int:
    """Return the index of the homograph's token; -1 if there is none at its position."""
    for number, token in enumerate(word_tokens(reference["source"])):
        if token.start <= reference["start"] < token.start + len(token.text):
            return number
    return -1


def judge_rows(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    outcomes: Sequence[HomographOutcome],
    *,
    wide: bool = False,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Return the verdict on every translation.

    `predicted` holds the first cluster that is shown, or the outcome where none is.
    """
    judgements = []
    for name, translation, reference, outcome in zip(
        check_ids(ids, len(predictions)), predictions, references, outcomes, strict=True
    ):
        gold, is_correct = reference["cluster"], outcome.kind == "correct"
        is_error = outcome.kind == "flipped" or (wide and not is_correct)
        judgements.append(
            Judgement(
                example_id=name,
                category=reference.get("category") or "all",
                is_correct=is_correct,
                translation=translation,
                verdict="correct" if is_correct else "incorrect" if is_error else "inconclusive",
                predicted=gold if is_correct else next(iter(outcome.clusters), outcome.kind),
                gold=gold,
            )
        )
    return tuple(judgements)


_RATES = {
    "flip_rate": ("flipped",),
    "unknown_rate": ("unknown",),
    "deleted_rate": ("deleted",),
    "wide_error_rate": ("flipped", "unknown", "deleted"),
}


def _rates(kinds: Sequence[str], categories: Sequence[str]) -> Figures:
    rates = Figures()
    for rate, members in _RATES.items():
        # The share of an outcome is the accuracy of judgements that count it as correct.
        judged = [
            Judgement("", category, kind in members, "")
            for category, kind in zip(categories, kinds, strict=True)
        ]
        rates = rates.joined(summarize(judged).named(rate))
    return rates


def _kind(judgement: Judgement) -> str:
    if judgement.is_correct:
        return "correct"
    return judgement.predicted if judgement.predicted in _UNREAD else "flipped"


def is_flipped(judgement: Judgement) -> bool:
    return _kind(judgement) == "flipped"


@dataclass(frozen=True)
class HomographAccuracy(Metric):
    """Word sense disambiguation of homographs, by the words of each sense.

    Word sense disambiguation in machine translation (Emelin et al. 2020): a list of senses tells
    which sense of a homograph the words of a translation show. A translation is correct with a word
    of the right sense, flipped with a word of another sense, unknown with a word of no sense, and
    deleted without a word that is aligned with the homograph. Only flips are errors, unless `wide`
    is set.

    fast_align and eflomal estimate their model on the translations that are judged together, so
    these outcomes may depend on other rows.

    A note says in how many reference translations the search finds the right sense: no system can
    be expected to have a higher accuracy. Few translations lower it with "aligned", whose model of
    alignment is then poor; `align_with` makes it better.

    Attributes:
        search: "anywhere", which searches the whole translation, "aligned", which searches the
            words aligned with the homograph, or "sentence", which searches the whole translation in
            the way of the paper's program.
        wide: whether unknown and deleted homographs are errors; otherwise they are inconclusive.
            The command line may say "true".
        aligner: "fast_align" (built in), "eflomal", which must be installed, or an object with the
            method `align`.
        alignments: alignments that replace the aligner: a Pharaoh file or its lines, one per
            translation, by indices of `cc_hf.text.tokenization.word_tokens`.
        align_with: two line-aligned files of sentences and their translations, such as a part of
            the system's training corpus, from which the aligner learns, too; as one text with a
            comma between them. See `cc_hf.metrics.alignments.corpus_aligner`.
        lemmatizer: "simplemma", "none", or an object with the protocol of
            `cc_hf.text.lemmatization.Lemmatizer`.
    """

    name = "homograph_accuracy"
    title = "Homograph accuracy"
    about = "A list of senses tells which sense of the homograph the words of the translation show."
    help = """
    Args:
        predictions (list of str): translations by the system under test; a blank one is deleted.
            Give all of a system at once, because alignments are learned from them.
        references (list of dict): one per translation, with `source` (str), `homograph` (str),
            `start` (int, 0-based, the homograph's first character in the source), `cluster` (str,
            the right sense), `senses` (a mapping from cluster to a list of words, or to a mapping
            with `senses` and `ambiguous`; or the JSON of one) and, optionally, `category` (such as
            frequent and rare) and `reference` (a right translation, for the ceiling).
        src_lang (str, optional): ISO 639-1 code of the sources, for the signature.

    Returns:
        n, n_correct, n_inconclusive, n_flipped, n_unknown, n_deleted, n_blank, n_references (int):
            numbers of translations; n_references_correct: those whose right sense is found.
        verdicts (list of str): correct, incorrect or inconclusive, one per translation.
        predicted (list of str): the cluster that each translation shows, else unknown or deleted.

    Example:
        >>> import evaluate
        >>> metric = evaluate.load("metrics/homograph_accuracy")
        >>> reference = {"source": "A bat flies.", "homograph": "bat", "start": 2}
        >>> reference |= {"cluster": "animal", "category": "frequent"}
        >>> reference["senses"] = {"animal": ["Fledermaus"], "stick": ["Schläger", "Keule"]}
        >>> given = {"predictions": ["Eine Keule fliegt."], "alignments": ["0-0 1-1 2-2"]}
        >>> result = metric.compute(**given, references=[reference], tgt_lang="de")
        >>> result["predicted"], result["flip_rate"]
        (['stick'], 1.0)
    """
    papers = ("emelin-2020",)
    signature_name = "homograph"
    version = 3
    reference_fields = _FIELDS
    positions = {"start": "source"}  # noqa: RUF012
    key_figures = ("accuracy", "min_accuracy", "flip_rate")
    figure_names = {  # noqa: RUF012
        **COMMON,
        **shares(
            "flip_rate",
            "flip rate",
            "low",
            "The share of translations with another sense of the homograph",
            counts=is_flipped,
        ),
        **shares(
            "unknown_rate",
            "unknown",
            "low",
            "The share of translations with a word for the homograph that no sense lists",
        ),
        **shares(
            "deleted_rate",
            "deleted",
            "low",
            "The share of translations without a word for the homograph",
        ),
        **shares(
            "wide_error_rate",
            "all errors",
            "low",
            "The share of translations with another sense, an unknown word or no word for the"
            " homograph",
        ),
        "n_inconclusive": FigureDeclaration(
            "unknown or deleted",
            "low",
            "The share of translations without a word of any sense for the homograph. They are"
            " not correct.",
        ),
    }

    search: str = "anywhere"
    wide: bool | str = False
    aligner: str | Aligner = "fast_align"
    alignments: str | Path | Sequence[str] | None = None
    align_with: str | Sequence[str | Path] | None = None
    lemmatizer: str | Lemmatizer = "simplemma"

    @staticmethod
    def fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
        if dataset == "custom" and form is ProbingExample:
            return ""
        return (
            "homograph_accuracy needs a homograph with the words of each sense, as challenge sets"
            " of `cc-hf study disambiguation_bias build-challenge` and files with the columns"
            f" cluster and senses have them; {dataset} {config} does not have them"
        )

    @staticmethod
    def references(examples: Sequence[Example]) -> list[dict[str, Any]]:
        rows = []
        for example in examples:
            if (
                not isinstance(example, ProbingExample)
                or example.focus is None
                or "senses" not in example.extra
            ):
                raise InputError(
                    f"example {example.id!r}: expected a located homograph with senses, got none"
                )
            rows.append(
                {
                    "source": example.source,
                    "homograph": example.extra.get("homograph") or example.focus.text,
                    "start": example.focus.start,
                    "cluster": example.gold,
                    "senses": example.extra["senses"],
                    "category": example.category,
                    "reference": example.extra.get("reference", ""),
                }
            )
        return rows

    @classmethod
    def check_values(cls, references: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
        for row, reference in enumerate(references):
            clusters = parse_senses(reference["senses"], f"row {row}: senses")
            if reference["cluster"] not in clusters:
                raise InputError(
                    f"row {row}: cluster: expected one of the clusters in senses,"
                    f" {', '.join(clusters)}, got {reference['cluster']!r}"
                )
            if _token(reference) < 0:
                raise InputError(
                    f"row {row}: start: expected the position of a word's first character in"
                    f" {shown(reference['source'])}, got {reference['start']}"
                )

    @classmethod
    def proof(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> Figures:
        """Return the figures and the numbers of outcomes. Judgements do not hold references."""
        figures = super().proof(judgements, signed)
        kinds = [_kind(j) for j in judgements]
        rates = _rates(kinds, [j.category for j in judgements])
        counts = Figures(counts={f"n_{kind}": kinds.count(kind) for kind in OUTCOMES[1:]})
        return figures.joined(rates, counts)

    @classmethod
    def check_verdicts(cls, judgements: Sequence[Judgement], signed: Mapping[str, str]) -> None:
        """Refuse a verdict that does not follow from the sense that is found."""
        for j in judgements:
            if j.predicted == j.gold:
                check_reading(j, "correct")
            else:
                is_error = signed.get("errors") == "wide" or j.predicted not in _UNREAD
                check_reading(j, "incorrect" if is_error else "inconclusive")

    def measure(self, rows: Rows, bootstrap: Bootstrap, scoring: Scoring | None = None) -> Figures:
        check_choice("search", self.search, SEARCHES)
        wide = flag("wide", self.wide)
        lemmatizer = find_lemmatizer(self.lemmatizer)
        check_language(rows.tgt_lang, lemmatizer)
        learner = self.aligner if self.align_with is None else self._learner(rows, lemmatizer)
        aligner = chosen_aligner(learner, self.alignments)
        links = list(aligner.align(*aligned_texts(rows.column("source"), rows.with_untranslated)))
        for row in rows.untranslated:
            links[row] = ()
        row_outcomes = outcomes(
            rows.translations,
            rows.references,
            links,
            tgt_lang=rows.tgt_lang,
            search=self.search,
            lemmatizer=lemmatizer,
        )
        judgements = judge_rows(
            rows.translations, rows.references, row_outcomes, wide=wide, ids=rows.ids
        )
        kinds = [outcome.kind for outcome in row_outcomes]
        # Given alignments are those of the translations, so the references get the default's.
        of_references = reference_outcomes(
            rows.references,
            find_aligner(learner),
            tgt_lang=rows.tgt_lang,
            search=self.search,
            lemmatizer=lemmatizer,
        )
        n_references_correct = sum(outcome.kind == "correct" for outcome in of_references)
        rates = _rates(kinds, [j.category for j in judgements])
        figures = Figures(
            signature={
                "langs": f"{rows.languages[0] or '?'}-{rows.languages[1]}",
                "align": aligner.signature_name,
                "search": self.search,
                "lemma": lemmatizer.name,
                "errors": "wide" if wide else "flips",
            },
            judgements=judgements,
            counts={
                **{f"n_{kind}": kinds.count(kind) for kind in OUTCOMES[1:]},
                "n_blank": rows.n_blank,
                **(
                    {
                        "n_references": len(of_references),
                        "n_references_correct": n_references_correct,
                    }
                    if of_references
                    else {}
                ),
            },
            notes=(ceiling_note(of_references, self.search),),
        )
        return summarize(judgements).joined(rates, figures)

    def _learner(self, rows: Rows, lemmatizer: Lemmatizer) -> Aligner:
        """Return the aligner that learns from the sentences of `align_with`, too."""
        return corpus_aligner(
            self.aligner,
            self.align_with or "",
            words={homograph.lower() for homograph in rows.column("homograph")},
            languages=(rows.src_lang, rows.tgt_lang),
            lemmatizer=lemmatizer,
        )
