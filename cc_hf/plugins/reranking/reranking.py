"""Reranking: of the hypotheses that a system gives for a source, choose one with the right reading.

A metric judges every hypothesis as if it were the translation. Contrastive conditioning needs
neither alignment nor morphology for this; `winomt_pattern_matching` chooses as Saunders, Sallis &
Byrne (2022) do, by the form of the word. The choice agrees with its own judge by construction, so
that another metric or evaluator must say how good it is.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from cc_hf import signature
from cc_hf.cues.english_pronouns import with_pronouns
from cc_hf.data.files.nbest import Hypothesis, nbest_text
from cc_hf.displayed import Displayed, frame
from cc_hf.errors import InputError
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.fitting import chosen_metric
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator
from cc_hf.languages import named_language
from cc_hf.lists import listed, listed_texts
from cc_hf.metrics.base import Origin
from cc_hf.normalization import is_blank
from cc_hf.plugins.reranking.rerank_options import RerankOptions
from cc_hf.results import EvaluationResult
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Focus,
    Judgement,
    ProbingExample,
)
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.writing import json_text

__all__ = ["ChosenHypothesis", "Reranking", "chosen_hypothesis", "rerank"]

_OTHER = {"female": "male", "male": "female"}


@dataclass(frozen=True, slots=True)
class ChosenHypothesis:
    """The choice for one source.

    Attributes:
        chosen: 0-based position of the hypothesis in its list.
        judgements: the verdict on each hypothesis, None for a blank one; empty for a source without
            a wanted reading, whose first hypothesis is kept.
    """

    id: str
    source: str
    hypotheses: tuple[Hypothesis, ...]
    chosen: int
    judgements: tuple[Judgement | None, ...]

    @property
    def translation(self) -> str:
        """The text that was chosen."""
        return self.hypotheses[self.chosen].text

    def is_correct(self, position: int) -> bool:
        """Return whether the hypothesis at a 0-based position has the wanted reading."""
        judgement = self.judgements[position] if self.judgements else None
        return judgement is not None and judgement.is_correct

    def to_row(self) -> dict[str, Any]:
        """Return the choice as plain values, with everything that was rejected."""
        rows = []
        for position, (text, score) in enumerate(self.hypotheses):
            judgement = self.judgements[position] if self.judgements else None
            verdict = asdict(judgement) if judgement is not None else {}
            names = ("verdict", "predicted", "probability_correct", "score_correct")
            values = {name: verdict.get(name) for name in (*names, "score_incorrect")}
            rows.append({"translation": text, "score": score, **values})
        return {
            "id": self.id,
            "source": self.source,
            "translation": self.translation,
            "chosen": self.chosen,
            "hypotheses": rows,
        }


@dataclass(frozen=True)
class Reranking(Displayed):
    """The choices for all sources. `print` and notebooks show what reranking changed.

    Attributes:
        choices: one for each source, in their order.
        metric: name of the metric that judged the hypotheses.
        notes: notes of the metric on its evaluator.
    """

    displayed_by = "cc_hf.plugins.reranking.reranking_table:reranking_table"

    choices: tuple[ChosenHypothesis, ...] = field(repr=False)
    metric: str
    signature: str
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def translations(self) -> list[str]:
        """The chosen translations."""
        return [choice.translation for choice in self.choices]

    def figures(self) -> dict[str, float | int | None]:
        """Return what reranking changed.

        Returns:
            `n`, the number of sources; `n_judged`, those with a wanted reading; `n_with_correct`,
            those with such a hypothesis; `n_both`, those with hypotheses of either reading;
            `n_changed`; `mean_chosen`, the mean 0-based position of the choices; `agreement_before`
            and `agreement`, the shares in [0, 1] of first and of chosen hypotheses that the
            choosing metric finds right, which is no accuracy; `score_gap`, the mean of what the
            choices lose of the system's score, None without scores; `chrf_first`, chrF in [0, 1]
            of the choices against the first hypotheses.
        """
        judged = [choice for choice in self.choices if choice.judgements]
        right = [[c.is_correct(i) for i in range(len(c.hypotheses))] for c in judged]
        firsts = [choice.hypotheses[0] for choice in self.choices]
        chosen = [choice.hypotheses[choice.chosen] for choice in self.choices]
        lost = [
            before.score - after.score
            for before, after in zip(firsts, chosen, strict=True)
            if before.score is not None and after.score is not None
        ]
        texts = [h.text for h in chosen], [h.text for h in firsts]
        return {
            "n": len(self.choices),
            "n_judged": len(judged),
            "n_with_correct": sum(map(any, right)),
            "n_both": sum(any(row) and not all(row) for row in right),
            "n_changed": sum(a != b for a, b in zip(*texts, strict=True)),
            "mean_chosen": float(np.mean([choice.chosen for choice in self.choices])),
            "agreement_before": _share([row[0] for row in right]),
            "agreement": _share([c.is_correct(c.chosen) for c in judged]),
            "score_gap": float(np.mean(lost)) if lost else None,
            "chrf_first": corpus_score("chrf", *texts)[0],
        }

    def to_row(self) -> dict[str, Any]:
        """Return figures, signature and choices as plain values."""
        return {
            "metric": self.metric,
            **self.figures(),
            "signature": self.signature,
            "notes": list(self.notes),
            "choices": [choice.to_row() for choice in self.choices],
        }

    def to_json(self) -> str:
        """Return `to_row` as strict JSON."""
        return json_text(self.to_row())

    def to_frame(self) -> Any:
        """Return the choices as a `pandas.DataFrame`: id, source, translation, `chosen`, the
        0-based position of the hypothesis, and a list of all hypotheses with their verdicts.
        """
        return frame(choice.to_row() for choice in self.choices)


def rerank(
    sources: Material | Sequence[str],
    hypotheses: Sequence[Sequence[Hypothesis | str]],
    *,
    select: RerankOptions | None = None,
    metric: str | None = None,
    options: Mapping[str, Any] | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    progress: bool = False,
) -> Reranking:
    """Choose one hypothesis of each n-best list.

    A source without a wanted reading keeps its first hypothesis, and so does one whose hypotheses
    are all blank. A blank hypothesis is never right.

    Args:
        sources: material, see `cc_hf.load_material`; or English sentences, if the pronouns are the
            reading that is wanted, in the languages of `loading`.
        hypotheses: at least one for each source, in the order of preference, with or without
            scores; `cc_hf.plugins.reranking.nbest_files.read_nbest` reads
            them.
        metric: a metric that judges single translations; None for contrastive_conditioning, or
            where it does not fit for the only one that does.
        evaluator: name, path, several of these, Evaluator or function; None uses the evaluator
            that ships for the language pair.
        loading: how the evaluator is loaded. In mode "auto", a choice by scores uses exact ones.

    Raises:
        InputError: for lists that do not fit the sources, a metric that judges no single
            translations or gives no scores where the choice needs them, a reading that the sources
            do not have, or as `cc_hf.evaluate` does.
        UnknownNameError, DataError, EvaluatorError, MissingDependencyError: as `cc_hf.evaluate`.

    Examples:
        >>> reranking = rerank(
        ...     ["She is a doctor.", "Good!"],
        ...     [["Er ist Arzt.", "Sie ist Ärztin."], ["Gut!"]],
        ...     select=RerankOptions("pronouns"),
        ...     loading=LoadingOptions(src_lang="en", tgt_lang="de"),
        ... )
        >>> reranking.translations, reranking.figures()["n_judged"]
        (['Sie ist Ärztin.', 'Gut!'], 1)
    """
    select, loading = select or RerankOptions(), loading or LoadingOptions()
    tasks = _tasks(sources, select.reading, loading)
    lists = _lists(hypotheses, len(tasks), sources)
    judged = Material("en", "")  # what the metric must fit
    if isinstance(sources, Material) and select.reading != "pronouns":
        judged = sources
    metric = chosen_metric(
        metric or None,
        judged,
        options,
        has_translations=True,
        has_evaluator=evaluator is not None,
    ).name
    rows = [
        (row, position)
        for row, task in enumerate(tasks)
        if task.wanted is not None
        for position, hypothesis in enumerate(lists[row])
        if not is_blank(hypothesis.text)
    ]
    judgements: dict[tuple[int, int], Judgement] = {}
    result = None
    if rows:
        if select.needs_scores:
            evaluator, loading = _exact(evaluator, loading)
        result = evaluate(
            _judged_material(sources, select.reading, [(tasks[r].wanted, p) for r, p in rows]),
            translations=[lists[row][position].text for row, position in rows],
            metric=metric,
            options=options,
            evaluator=evaluator,
            loading=loading,
            progress=progress,
        )
        _check_judgements(result, select)
        judgements = dict(zip(rows, result.judgements, strict=True))
    choices = []
    for row, (task, of_source) in enumerate(zip(tasks, lists, strict=True)):
        known = tuple(judgements.get((row, i)) for i in range(len(of_source)))
        known = known if any(known) else ()
        position = chosen_hypothesis(of_source, known, select) if known else 0
        choices.append(ChosenHypothesis(task.id, task.source, of_source, position, known))
    data = sources.origin.fields.get("data", "own") if isinstance(sources, Material) else "own"
    return Reranking(
        tuple(choices),
        metric,
        _signature(result, data, lists, select),
        () if result is None else result.notes,
    )


class _Task(NamedTuple):
    """A source, and the example with the reading that is wanted; None where there is none."""

    id: str
    source: str
    wanted: Example | None


def _tasks(sources: Material | Sequence[str], reading: str, loading: LoadingOptions) -> list[_Task]:
    """Return the tasks."""
    if isinstance(sources, Material):
        examples = sources.examples
        if not examples or isinstance(examples[0], ContrastiveTranslationExample):
            raise InputError(
                "sources: expected material with sources of which a system makes translations, got"
                f" {'translations' if examples else 'mappings'}"
            )
        languages = sources.src_lang, sources.tgt_lang
        if reading == "pronouns":
            tasks = [_by_pronouns(e.id, e.source, languages) for e in examples]
        else:
            tasks = [
                _Task(e.id, e.source, e if reading == "gold" else _turned(e, reading))
                for e in examples
            ]
    elif reading != "pronouns":
        raise InputError(
            "sources: expected what cc_hf.load_material returns, or a list of English sentences"
            f" with the reading pronouns, got {type(sources).__name__} with the reading {reading}"
        )
    else:
        languages = (
            named_language(loading.src_lang or "en", "src_lang"),
            named_language(loading.tgt_lang or "", "tgt_lang"),
        )
        tasks = [
            _by_pronouns(str(i), text, languages)
            for i, text in enumerate(listed_texts("sources", sources))
        ]
    if not any(task.wanted for task in tasks):
        what = "pronouns of one gender" if reading == "pronouns" else "the gender female or male"
        language = "English " * (reading == "pronouns")
        raise InputError(f"reading: expected {language}sources with {what}, got none")
    return tasks


def _turned(example: Example, reading: str) -> Example | None:
    """Return an example in whose translation a person has the given gender."""
    if isinstance(example, ContrastiveTranslationExample) or example.gold not in _OTHER:
        return None
    if example.gold == reading:
        return example
    category = reading if example.category == example.gold else example.category
    if isinstance(example, ProbingExample):
        return replace(example, gold=reading, category=category)
    sides = example.incorrect_sources, example.correct_sources
    return replace(
        example,
        gold=reading,
        category=category,
        correct_sources=sides[0],
        incorrect_sources=sides[1],
    )


def _by_pronouns(name: str, source: str, languages: tuple[str, str]) -> _Task:
    """Return the task whose incorrect source has the pronouns of the other gender."""
    changed = {gender: with_pronouns(source, other) for gender, other in _OTHER.items()}
    genders = [gender for gender, text in changed.items() if text != source]
    # A source that has pronouns of both genders, or none, says nothing about one person.
    if languages[0] != "en" or len(genders) != 1:
        return _Task(name, source, None)
    (gender,) = genders
    focus, incorrect = Focus("", 0), (changed[gender],)
    example = ContrastiveSourceExample(
        name, *languages, source, focus, (source,), incorrect, gender, gender
    )
    return _Task(name, source, example)


def _lists(
    hypotheses: Sequence[Sequence[Hypothesis | str]], n: int, sources: Material | Sequence[str]
) -> list[tuple[Hypothesis, ...]]:
    """Return the list of each source, checked."""
    lists = []
    for row, given in enumerate(listed("hypotheses", hypotheses, what="lists")):
        where = f"hypotheses: row {row}"
        members = listed(where, given, what="texts")
        listed_texts(where, [h.text if isinstance(h, Hypothesis) else h for h in members])
        lists.append(tuple(h if isinstance(h, Hypothesis) else Hypothesis(h) for h in members))
    others = sources.translated_lines() if isinstance(sources, Material) else {}
    if len(lists) != n:
        if len(lists) not in others:
            raise InputError(
                f"hypotheses: expected {n:,} lists, one for each source, got {len(lists):,}; those"
                " of a first look need the same `limit`"
            )
        lists = [lists[row] for row in others[len(lists)]]
    for row, of_source in enumerate(lists):
        if not of_source:
            raise InputError(f"hypotheses: row {row}: expected at least one hypothesis, got none")
    return lists


def _exact(
    evaluator: AnyEvaluator | None, loading: LoadingOptions
) -> tuple[AnyEvaluator | None, LoadingOptions]:
    """Return evaluator and options in mode "exact" in place of "auto"."""
    # Scores of mode "auto" are exact only where a decision is close.
    if isinstance(evaluator, Evaluator) and evaluator.mode == "auto":
        return evaluator.with_mode("exact"), loading
    return evaluator, replace(loading, mode="exact") if loading.mode == "auto" else loading


def _judged_material(
    sources: Material | Sequence[str], reading: str, rows: Sequence[tuple[Example | None, int]]
) -> Material:
    """Return material with one example for each hypothesis, in the order of the rows."""
    examples = [
        replace(
            example,
            id=f"{example.id}#{position}",
            # The hypotheses of a source are neither a pair nor an open choice.
            extra={k: v for k, v in example.extra.items() if k not in ("open_share", "pair")},
        )
        for example, position in rows
        if example is not None
    ]
    named = sources.origin if isinstance(sources, Material) and reading == "gold" else Origin()
    languages = examples[0].src_lang, examples[0].tgt_lang
    if isinstance(sources, Material):
        languages = sources.src_lang, sources.tgt_lang
    return Material(*languages, examples, named=named if named.dataset else None)


def _check_judgements(result: EvaluationResult, select: RerankOptions) -> None:
    if not result.judgements:
        raise InputError(
            f"metric: expected one that judges each translation, got {result.metric}, which has no"
            " verdicts"
        )
    if select.needs_scores and all(j.probability_correct is None for j in result.judgements):
        raise InputError(
            f"select: {select.name}: expected a metric with probabilities, got {result.metric},"
            " which has verdicts only; use first_correct with the fallback first"
        )


def _difference(judgement: Judgement | None) -> float:
    """Return the difference between the log scores under both readings."""
    probability = None if judgement is None else judgement.probability_correct
    if not probability:
        return -math.inf
    return math.inf if probability == 1 else math.log(probability) - math.log1p(-probability)


def chosen_hypothesis(
    hypotheses: Sequence[Hypothesis],
    judgements: Sequence[Judgement | None],
    select: RerankOptions,
) -> int:
    """Return the position of the hypothesis to choose, the earlier of equal ones.

    Examples:
        >>> verdicts = [
        ...     Judgement("0", "all", share > 0.5, "", verdict, probability_correct=share)
        ...     for share, verdict in ((0.4, "incorrect"), (0.6, "correct"), (0.9, "correct"))
        ... ]
        >>> hypotheses = [Hypothesis("Der Arzt"), Hypothesis("Die Ärztin"), Hypothesis("Ärztin")]
        >>> [
        ...     chosen_hypothesis(hypotheses, verdicts, RerankOptions(select=name))
        ...     for name in ("first_correct", "p_correct")
        ... ]
        [1, 2]
    """
    if select.select == "first_correct":
        correct = [i for i, j in enumerate(judgements) if j is not None and j.is_correct]
        if correct or select.fallback == "first":
            return correct[0] if correct else 0
    values = list(_values(hypotheses, judgements, select))
    return max(range(len(values)), key=lambda i: (values[i], -i))


def _values(
    hypotheses: Sequence[Hypothesis],
    judgements: Sequence[Judgement | None],
    select: RerankOptions,
) -> Iterator[float]:
    """Yield the value of each hypothesis, of which the largest is chosen."""
    for (text, score), judgement in zip(hypotheses, judgements, strict=True):
        if select.select == "score":
            best = None if judgement is None else judgement.score_correct
            yield -math.inf if best is None else best
        elif select.select == "interpolate" and not is_blank(text):
            if score is None:
                raise InputError(
                    "select: interpolate: expected lists with scores, got some without"
                )
            yield score / max(1, len(text.split())) + select.alpha * _difference(judgement)
        else:
            yield _difference(judgement)


def _share(values: Sequence[bool]) -> float | None:
    return float(np.mean(values)) if values else None


def _signature(
    result: EvaluationResult | None,
    data: str,
    lists: Sequence[Sequence[Hypothesis]],
    select: RerankOptions,
) -> str:
    """Return the signature: the lists, how one is chosen, and the metric with its evaluator."""
    fields: dict[str, str | int] = {}
    name = "none"
    if result is not None:
        name, of_metric = signature.parse(result.signature)
        fields = {k: v for k, v in of_metric.items() if k not in ("data", "n", "boot", "seed", "v")}
    return signature.build(
        "rerank",
        {
            "data": data,
            "nbest": hashlib.sha256(nbest_text(lists).encode("utf-8", "surrogatepass")).hexdigest()[
                :7
            ],
            "reading": select.reading,
            "select": select.name,
            "metric": name,
            **fields,
            "n": len(lists),
        },
    )
