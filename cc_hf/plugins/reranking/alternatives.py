"""Alternatives: a masculine and a feminine translation of a source that says neither.

Candidates come from the n-best list of a system, from its translations of sources with cues, and
from cue-contrastive decoding, in this order. Contrastive conditioning says which gender each has. A
pair is kept only if it differs in the words that show the gender and nothing else; a source without
such a pair has none, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from cc_hf.cues.english_pronouns import with_pronouns
from cc_hf.cues.wordings import GENDER_WORDINGS, named_wording
from cc_hf.data.files.nbest import Hypothesis
from cc_hf.errors import InputError
from cc_hf.evaluation.calibration_file import shipped_calibrations
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.languages import base_code, named_language
from cc_hf.lists import listed, listed_texts
from cc_hf.normalization import is_blank
from cc_hf.plugins.reranking.alternative_options import AlternativeOptions
from cc_hf.plugins.reranking.gendered_pairs import FUNCTION_WORDS, PairCheck, check_pair
from cc_hf.plugins.reranking.reranking import ChosenHypothesis, rerank
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.systems.system import System
from cc_hf.text.morphology import AnalysedWord, MorphologyReader, open_reader
from cc_hf.text.professions import profession
from cc_hf.text.tokenization import whole_words
from cc_hf.text.transliteration import in_latin_letters

__all__ = ["Alternatives", "alternatives"]

_NOT_OPEN = "the source has a pronoun that says the gender"
_MOST_LOSS = 1.0  # nats per token
_CONTRAST = 0.3
_MOST_PAIRS = 3  # of one source that are scored without a cue


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The translations of a source for either gender.

    Attributes:
        focus: the words that name the person; "" if they were not found.
        masculine, feminine: the translations; both None without a pair.
        first: the plain translation of the system.
        first_reads: the gender that it shows by the evaluator, "female" or "male"; "" if the
            source was not judged.
        check: the checks of the pair, or of the last candidates; None without any.
        how: the member of `METHODS` that gave the pair; None without a pair.
        reason: why there is none; "" otherwise.
    """

    source: str
    focus: str
    first: str
    masculine: str | None = None
    feminine: str | None = None
    first_reads: str = ""
    check: PairCheck | None = None
    how: str | None = None
    reason: str = ""

    def __str__(self) -> str:
        pair = f"{self.masculine} | {self.feminine}" if self.how else f"no pair: {self.reason}"
        return f"{self.source} → {pair}"

    def to_row(self) -> dict[str, Any]:
        """Return the alternatives as plain values."""
        row = asdict(self)
        check = row.pop("check")
        differing = [] if check is None else [list(pair) for pair in check.pop("differing")]
        return {**row, "differing": differing, "checks": check}


@dataclass(frozen=True)
class _Run:
    """What all steps share."""

    system: System
    loaded: Evaluator | None
    evaluator: Evaluator
    languages: Mapping[str, str]
    loading: LoadingOptions | None
    progress: bool
    leaks: frozenset[str] = frozenset()
    reader: MorphologyReader | None = None

    def words(self, lists: Sequence[Sequence[str]]) -> dict[str, tuple[AnalysedWord, ...]]:
        """Return the words of each text as the dictionary reads them; {} without one."""
        if self.reader is None:
            return {}
        texts = [*dict.fromkeys(text for of_row in lists for text in of_row)]
        return dict(zip(texts, self.reader.analyse(texts), strict=True))

    def lists(
        self, sources: Sequence[str], *, n_best: int = 1, **contrast: Any
    ) -> list[tuple[Hypothesis, ...]]:
        """Return hypotheses of sources, with at least as many beams as hypotheses."""
        from cc_hf.systems.nbest import translate_nbest  # with torch

        fixed: dict[str, Any] = {
            "loaded": self.loaded,
            "loading": self.loading,
            "progress": self.progress,
            **self.languages,
        }
        system = replace(self.system, num_beams=max(self.system.num_beams, n_best))
        return translate_nbest(sources, system, n_best=n_best, **fixed, **contrast)

    def judged(
        self, examples: Sequence[ContrastiveSourceExample], lists: Sequence[Sequence[Hypothesis]]
    ) -> tuple[ChosenHypothesis, ...]:
        """Return the verdicts, where "correct" is feminine."""
        material = Material(self.languages["src_lang"], self.languages["tgt_lang"], examples)
        given: Any = {"evaluator": self.evaluator, "progress": self.progress}
        return rerank(material, lists, **given).choices

    def losses(self, sources: Sequence[str], lists: Sequence[Sequence[str]]) -> dict[Any, float]:
        """Return how much less probable texts are than the first one of their source, in nats."""
        pairs = [
            (source, text)
            for source, texts in zip(sources, lists, strict=True)
            for text in texts
            if not is_blank(text)
        ]
        if not pairs:
            return {}
        columns = [list(column) for column in zip(*pairs, strict=True)]
        scores = self.evaluator.mean_logprobs(columns[0], columns[1], **self.languages)
        score_of = dict(zip(pairs, scores.tolist(), strict=True))
        firsts = {s: score_of.get((s, t[0]), 0.0) for s, t in zip(sources, lists, strict=True)}
        return {pair: firsts[pair[0]] - score for pair, score in score_of.items()}


def alternatives(
    sources: Sequence[str],
    system: System | Evaluator | str,
    *,
    focuses: Sequence[str | Focus | None] | None = None,
    evaluator: AnyEvaluator | None = None,
    src_lang: str = "en",
    tgt_lang: str = "",
    options: AlternativeOptions | None = None,
    loading: LoadingOptions | None = None,
    progress: bool = False,
) -> list[Alternatives]:
    """Return a masculine and a feminine translation of each source.

    Args:
        sources: sentences that leave the gender of a person open.
        system: the system that translates: how, by name, or a model that is loaded.
        focuses: the words that name the person in each sentence, such as "doctor", with their
            position where they occur more than once; None for the first noun for a person.
        evaluator: says which gender a translation has; None for the one that ships for the pair.
            It should be another model than the system.

    Raises:
        InputError: for columns of different lengths, a language without a list of function words,
            an unknown wording, or as `cc_hf.evaluate` does.
        TooLongError, EvaluatorError: as `cc_hf.translate`.

    Examples:
        >>> options = AlternativeOptions(n_best=4)
        >>> (pair,) = alternatives(
        ...     ["The doctor is here."], "cc-tiny-en-de", tgt_lang="de", options=options
        ... )
        >>> pair.masculine, pair.feminine, pair.how
        ('Der Arzt ist hier.', 'Die Ärztin ist hier.', 'nbest')
    """
    options = options or AlternativeOptions()
    sources = listed_texts("sources", sources)
    focuses = [None] * len(sources) if focuses is None else listed("focuses", focuses)
    if len(sources) != len(focuses):
        raise InputError(
            f"focuses: expected one for each of {len(sources)} sources, got {len(focuses)}"
        )
    src_lang, tgt_lang = (
        base_code(named_language(lang, name))
        for name, lang in (("src_lang", src_lang), ("tgt_lang", tgt_lang))
    )
    if tgt_lang not in FUNCTION_WORDS:
        raise InputError(
            f"tgt_lang: expected one of {', '.join(FUNCTION_WORDS)}, got {tgt_lang!r}: pairs are"
            " checked by the articles and pronouns of the language"
        )
    languages = {"src_lang": src_lang, "tgt_lang": tgt_lang}
    reader = None if options.reader is None else open_reader(options.reader, tgt_lang)
    scorer = resolve_evaluator(evaluator, loading or LoadingOptions(), **languages)
    if isinstance(scorer, FunctionEvaluator):
        raise InputError("evaluator: expected a model, got a function")
    loaded = system if isinstance(system, Evaluator) else None
    if not isinstance(system, System):
        system = System(system if isinstance(system, str) else system.name)
    wording = named_wording(options.cues or _calibrated(scorer, languages), src_lang)
    people = [_person(*row) for row in zip(sources, focuses, strict=True)]
    rows = [
        None if person.reason else _example(str(i), source, person.focus, wording.source, languages)
        for i, (source, person) in enumerate(zip(sources, people, strict=True))
    ]
    run = _Run(system, loaded, scorer, languages, loading, progress, reader=reader)
    lists = run.lists(sources, n_best=options.n_best)
    results = [
        Alternatives(source, person.focus.text, hypotheses[0].text, reason=person.reason)
        for source, person, hypotheses in zip(sources, people, lists, strict=True)
    ]
    if options.chosen != ("nbest",):
        run = replace(run, leaks=_leaks(run, wording.cues))
    for method in dict.fromkeys(("nbest", *options.chosen)):
        left = {i: row for i, row in enumerate(rows) if row is not None and not results[i].how}
        if not left:
            break
        given = (
            [lists[i] for i in left]
            if method == "nbest"
            else _cued_lists(run, list(left.values()), method)
        )
        accepts = method in options.chosen  # the plain hypotheses are read in any case
        for i, result in zip(
            left, _paired(run, left, results, given, method if accepts else None), strict=True
        ):
            results[i] = result
    return results


def _calibrated(evaluator: Evaluator, languages: Mapping[str, str]) -> str:
    """Return the wording that a shipped calibration chose for an evaluator, or the brackets."""
    chosen = (
        calibration.chosen
        for calibration in shipped_calibrations()
        if calibration.is_for(evaluator, **languages)
    )
    return next(chosen, "gender_brackets")


class _Person(NamedTuple):
    """The words that name the person, or why a source has no alternatives."""

    focus: Focus
    reason: str = ""


def _person(source: str, focus: str | Focus | None) -> _Person:
    """Return where the person stands in a source, and why it has no alternatives, if so."""
    nowhere = Focus("", 0)
    if is_blank(source):
        return _Person(nowhere, "the source is blank")
    if focus is None and (focus := profession(source)) is None:
        return _Person(nowhere, "no noun for a person was found in the source")
    if isinstance(focus, str):
        pattern = rf"(?<!\w){re.escape(focus)}(?!\w)"
        starts = [match.start() for match in re.finditer(pattern, source)] if focus else []
        if len(starts) != 1:
            return _Person(nowhere, f"{focus!r} occurs {len(starts)} times in the source")
        focus = Focus(focus, starts[0])
    is_gendered = any(with_pronouns(source, gender) != source for gender in ("female", "male"))
    return _Person(focus, _NOT_OPEN if is_gendered else "")


def _example(
    name: str,
    source: str,
    person: Focus,
    cued: Callable[[str, Focus, str], str],
    languages: Mapping[str, str],
) -> ContrastiveSourceExample:
    """Return the source with cues, where "correct" stands for feminine."""
    female, male = ((cued(source, person, gender),) for gender in ("female", "male"))
    src_lang, tgt_lang = languages["src_lang"], languages["tgt_lang"]
    return ContrastiveSourceExample(
        name, src_lang, tgt_lang, source, person, female, male, "female", "female"
    )


def _leaks(run: _Run, cues: Mapping[str, str]) -> frozenset[str]:
    """Return what the system makes of the cues alone, and the words of the language for them."""
    texts = [re.sub(r"\{\w+\}|[^\w ]", " ", cue).strip() for cue in cues.values()]
    words = [hypotheses[0].text for hypotheses in run.lists([text for text in texts if text])]
    for of_kind in GENDER_WORDINGS.values():
        if wording := of_kind.get(run.languages["tgt_lang"]):
            words += wording.cues.values()
    keys = {in_latin_letters(word) for text in words for word in whole_words(text.lower())}
    no_cues = map(in_latin_letters, FUNCTION_WORDS[run.languages["tgt_lang"]])
    return frozenset(keys - {*no_cues, "focus"})


def _cued_lists(
    run: _Run, rows: Sequence[ContrastiveSourceExample], method: str
) -> list[tuple[Hypothesis, ...]]:
    """Return the masculine and the feminine translation of sources with cues."""
    female, male = [r.correct_sources[0] for r in rows], [r.incorrect_sources[0] for r in rows]
    has_contrast = method == "contrast"
    sides = [
        run.lists(cued, contrast=_CONTRAST, others=others) if has_contrast else run.lists(cued)
        for cued, others in ((male, female), (female, male))
    ]
    return [(of_man[0], of_woman[0]) for of_man, of_woman in zip(*sides, strict=True)]


def _paired(
    run: _Run,
    rows: Mapping[int, ContrastiveSourceExample],
    results: Sequence[Alternatives],
    lists: Sequence[Sequence[Hypothesis]],
    method: str | None,
) -> Iterator[Alternatives]:
    """Yield the result of each row with the best pair of its candidates, if one passes.

    `method` says how the candidates were made; None reads the first of them only.
    """
    choices = run.judged(list(rows.values()), lists)
    readings = [_feminine(choice) for choice in choices]
    texts = [[h.text for h in hypotheses] for hypotheses in lists]
    read = [_with_reading(results[i], reading) for i, reading in zip(rows, readings, strict=True)]
    if method is None:
        yield from read
        return
    words = run.words(texts)
    pairs = [
        _pairs(result, of_row, reading, run, method, words)
        for result, of_row, reading in zip(read, texts, readings, strict=True)
    ]
    # Only pairs that may be kept are scored without a cue.
    kept = [
        [result.first, *{text for pair in of_row if not pair.check.failed for text in pair[:2]}]
        for result, of_row in zip(read, pairs, strict=True)
    ]
    losses = run.losses([row.source for row in rows.values()], kept)
    for result, of_row in zip(read, pairs, strict=True):
        yield _with_pair(result, of_row, losses, method)


class _Pair(NamedTuple):
    """A masculine and a feminine candidate."""

    masculine: str
    feminine: str
    check: PairCheck


def _feminine(choice: ChosenHypothesis) -> list[float | None]:
    """Return the probability of each hypothesis under the feminine cue; None for a blank one."""
    return [None if j is None else j.probability_correct for j in choice.judgements]


def _with_reading(result: Alternatives, reading: Sequence[float | None]) -> Alternatives:
    """Return the result with the gender of the plain translation, the first that is read."""
    if result.first_reads or not reading or reading[0] is None:
        return result
    return replace(result, first_reads="female" if reading[0] > 0.5 else "male")


def _pairs(
    result: Alternatives,
    texts: Sequence[str],
    reading: Sequence[float | None],
    run: _Run,
    method: str,
    words: Mapping[str, Sequence[AnalysedWord]],
) -> list[_Pair]:
    """Return the best pairs of candidates, in the order of the sum of both ranks."""
    known = [(i, p) for i, p in enumerate(reading) if p is not None]
    women, men = ([i for i, p in known if p > 0.5], [i for i, p in known if p < 0.5])
    if method != "nbest":  # candidates for either side, whatever they read
        women, men = [1], [0]
    # Only the first that pass all checks so far are kept, or the one that fails the fewest.
    order = sorted(product(men, women), key=lambda pair: (sum(pair), pair))
    pairs = [
        _Pair(
            texts[man],
            texts[woman],
            check_pair(
                texts[man],
                texts[woman],
                run.languages["tgt_lang"],
                first=result.first,
                leaks=frozenset() if method == "nbest" else run.leaks,
                direction=_is_between(reading, man, woman),
                words=(words[texts[man]], words[texts[woman]]) if words else None,
            ),
        )
        for man, woman in order
    ]
    passing = [pair for pair in pairs if not pair.check.failed]
    return passing[:_MOST_PAIRS] or sorted(pairs, key=lambda pair: len(pair.check.failed))[:1]


def _is_between(reading: Sequence[float | None], man: int, woman: int) -> bool:
    """Return whether two candidates are on the right sides."""
    of_man, of_woman = reading[man], reading[woman]
    return of_man is not None and of_woman is not None and of_man < 0.5 < of_woman


def _with_pair(
    result: Alternatives,
    pairs: Sequence[_Pair],
    losses: Mapping[tuple[str, str], float],
    method: str,
) -> Alternatives:
    """Return the result with the first pair that passes all checks, or with the reason."""
    for masculine, feminine, check in pairs:
        if check.failed:
            break
        lost = max(losses[result.source, text] for text in (masculine, feminine))
        if lost <= _MOST_LOSS:
            return replace(
                result, masculine=masculine, feminine=feminine, check=check, how=method, reason=""
            )
    if not pairs:
        return replace(
            result, reason=result.reason or f"no hypotheses of either gender by {method}"
        )
    check = pairs[0].check
    if not check.failed:
        check = replace(check, adequate=False)
    return replace(
        result, check=check, reason=f"candidates by {method} fail: {', '.join(check.failed)}"
    )
