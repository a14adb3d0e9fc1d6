"""Build disambiguation cues for a dataset of word senses (Vamvas & Sennrich 2021, appendix D).

The steps are: predict words before the ambiguous word, keep those that mark a sense, and choose
those that change the evaluator's scores most.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cc_hf import signature
from cc_hf.errors import InputError, ResultWarning
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import scorer_fields
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.evaluators.suitability import evaluator_notes
from cc_hf.plugins.calibration.candidates import (
    given_candidates,
    offered_candidates,
    predicted_candidates,
)
from cc_hf.plugins.calibration.cue_set import CueSet
from cc_hf.plugins.calibration.mlm_insertions import AVERAGES, N_CANDIDATES, N_KEPT, Candidates
from cc_hf.plugins.calibration.scoring import choose_cues
from cc_hf.plugins.calibration.selection import N_CUES
from cc_hf.plugins.calibration.senses import SenseData, SenseSource, load_senses
from cc_hf.rules import AtLeast, OneOf, check_fields

if TYPE_CHECKING:
    from cc_hf.plugins.calibration.fill_mask import MaskedLM

__all__ = ["CueChoice", "build_cues"]

_VERSION = 1  # increased whenever a change can lead to other cues


@dataclass(frozen=True)
class CueChoice:
    """Which words get cues, how many, and how these are chosen.

    Attributes:
        words: use only examples of this ambiguous word; None for all words.
        n_kept: number of the most probable words of a sense that are compared with those of other
            senses.
        n_candidates: number of candidates per sense and side (correct or incorrect).
        n_cues: number of cues per sense and side (correct or incorrect).
        average: how the predictions for the sentences of a sense are averaged: geometric or
            arithmetic mean.
        score: score of a text: geometric, arithmetic or reference; ignored if the evaluator is a
            function.
        cc_hf.errors.InputError: n_cues: expected an integer of at least 1, got 0
    """

    words: Sequence[str] | None = None
    n_kept: Annotated[int, AtLeast(1)] = N_KEPT
    n_candidates: Annotated[int, AtLeast(1)] = N_CANDIDATES
    n_cues: Annotated[int, AtLeast(1)] = N_CUES
    average: Annotated[str, OneOf(*AVERAGES)] = "geometric"
    score: Annotated[str, OneOf(*SCORES)] = "geometric"

    def __post_init__(self) -> None:
        check_fields(self)


def build_cues(
    dataset: SenseSource,
    config: str | None = None,
    *,
    masked_lm: str | Path | MaskedLM | None = None,
    candidates: str | Path | Candidates | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    tgt_lang: str | None = None,
    choice: CueChoice | None = None,
    data_dir: str | Path | None = None,
    progress: bool = False,
) -> CueSet:
    """Find disambiguation cues for every sense of a dataset.

    The rows must say which word is ambiguous (`ambiguous_word` in `extra`, the sense in `gold`) and
    have a reference. Cues are inserted before the focus. Examples whose word is not located are
    counted, and senses without other senses or candidates are listed in `left_out`.

    About 2 * n_candidates pairs are scored per example. An evaluator that ships with the package
    was made for other cues, so it causes a `ResultWarning`.

    Examples:
        >>> from cc_hf.schema import Focus, ProbingExample
        >>> rows = [
        ...     ("a bat flies", "animal", "ein Flattertier fliegt"),
        ...     ("a bat breaks", "club", "ein Schläger bricht"),
        ... ]
        >>> examples = [
        ...     ProbingExample(
        ...         str(i),
        ...         "en",
        ...         "de",
        ...         source,
        ...         "all",
        ...         sense,
        ...         Focus("bat", 2),
        ...         {"ambiguous_word": "bat", "reference": reference},
        ...     )
        ...     for i, (source, sense, reference) in enumerate(rows)
        ... ]
        >>> def same_letters(sources, translations):
        ...     return [len(set(s) & set(t)) for s, t in zip(sources, translations)]
        >>> senses = {
        ...     "animal": ["fruit", "big", "vampire"],
        ...     "club": ["baseball", "big", "cricket"],
        ... }
        >>> cues = build_cues(
        ...     examples,
        ...     candidates={"bat": senses},
        ...     evaluator=same_letters,
        ...     choice=CueChoice(n_cues=1),
        ... )
        >>> [(row["gold"], row["correct_cues"], row["incorrect_cues"]) for row in cues.rows()]
        [('animal', ['fruit'], ['baseball']), ('club', ['cricket'], ['fruit'])]
    """
    if (masked_lm is None) == (candidates is None):
        raise InputError(
            "masked_lm, candidates: expected one of the two, got"
            f" {'neither' if candidates is None else 'both'}"
        )
    choice, loading = choice or CueChoice(), loading or LoadingOptions()
    data = load_senses(dataset, config, tgt_lang=tgt_lang, words=choice.words, data_dir=data_dir)
    evaluator = resolve_evaluator(
        evaluator, loading, src_lang=data.src_lang, tgt_lang=data.tgt_lang
    )
    # Predictions can take an hour, so problems of the evaluator must show before them.
    _check_evaluator(evaluator, data, str(dataset) if isinstance(dataset, (str, Path)) else "")
    n_cut = 0
    made_by: dict[str, str | int]
    if candidates is not None:
        sense_words, name = given_candidates(candidates)
        made_by = {"list": name}
    elif masked_lm is not None:
        model = _masked_lm(masked_lm, loading.device)
        sense_words, n_cut = predicted_candidates(
            data, model, n_kept=choice.n_kept, average=choice.average, progress=progress
        )
        made_by = {"mlm": model.signature_name, "avg": choice.average, "kept": choice.n_kept}
    offered, left_out = offered_candidates(data, sense_words, choice.n_candidates)
    senses, n_requests = choose_cues(
        data, offered, evaluator, score=choice.score, n_cues=choice.n_cues, progress=progress
    )
    with_cues = tuple(example for example in data.examples if example.sense in offered)
    fields = {
        **data.origin,
        "langs": f"{data.src_lang}-{data.tgt_lang}",
        **made_by,
        "candidates": choice.n_candidates,
        "cues": choice.n_cues,
        **scorer_fields(evaluator, choice.score),
        "senses": len(senses),
        "n": len(with_cues),
        "m": _VERSION,
    }
    return CueSet(
        senses=senses,
        left_out=left_out,
        examples=with_cues,
        candidates=sense_words,
        tgt_lang=data.tgt_lang,
        signature=signature.build("cues", fields),
        counts={
            "n_examples": len(with_cues),
            "n_left_out": sum(s.n_examples for s in left_out),
            "n_unlocated": data.n_unlocated,
            "n_short": sum(
                min(len(s.correct.cues), len(s.incorrect.cues)) < choice.n_cues for s in senses
            ),
            "n_requests": n_requests,
            "n_cut": n_cut,
        },
    )


def _check_evaluator(evaluator: Evaluator, data: SenseData, dataset: str) -> None:
    """Check that the evaluator accepts the languages, and warn if it was made for other data."""
    evaluator.check_languages(data.src_lang, data.tgt_lang)
    # The notes depend on the cues, and these sources have no gender brackets.
    rows = [{"correct_sources": [e.source], "incorrect_sources": []} for e in data.examples]
    for note in evaluator_notes(evaluator, rows, dataset=dataset):
        warnings.warn(note, ResultWarning, stacklevel=3)


def _masked_lm(model: str | Path | MaskedLM, device: str | None) -> MaskedLM:
    from cc_hf.plugins.calibration.fill_mask import load_masked_lm

    return load_masked_lm(model, device=device) if isinstance(model, (str, Path)) else model
