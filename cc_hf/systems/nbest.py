"""N-best lists of a system, and translations that keep away from a source with a wrong cue."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from cc_hf.data.files.nbest import Hypothesis
from cc_hf.errors import InputError, ResultWarning
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.loading import load_with
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.lists import listed_texts
from cc_hf.normalization import is_blank
from cc_hf.schema import ContrastiveSourceExample, Example, ScoringRequest
from cc_hf.systems.backends import prepare
from cc_hf.systems.system import System
from cc_hf.systems.translate import Search, cut_note, translate_lists

__all__ = ["cued_sources", "translate_nbest"]


def translate_nbest(
    sources: Sequence[str],
    system: System,
    *,
    n_best: int = 1,
    contrast: float = 0.0,
    others: Sequence[str] | None = None,
    src_lang: str = "",
    tgt_lang: str = "",
    loaded: Evaluator | None = None,
    loading: LoadingOptions | None = None,
    progress: bool = False,
) -> list[tuple[Hypothesis, ...]]:
    """Translate each source into a list of hypotheses, the most probable first.

    A warning (`ResultWarning`) counts sources with a hypothesis that was cut at the limit of
    tokens.

    Args:
        sources: a blank one has a single blank hypothesis.
        n_best: number of hypotheses, at most the beams of the system.
        contrast: weight of the other sources; see
            `cc_hf.plugins.reranking.contrastive_decoding.CueContrast`.
        others: the same sources with another cue; None without contrast.
        src_lang, tgt_lang: ISO 639-1 codes; "" uses those of the model.
        loaded: the model of the system, if it is loaded; None to load it.

    Returns:
        The hypotheses of each source. The score is the sum of the natural logarithms of the
        probabilities of the tokens under the plain system, EOS included; None for a single
        hypothesis, and from a system in int8 or by CTranslate2, which cannot score.

    Raises:
        InputError: for a number out of range, a model that writes no such lists, or as
            `cc_hf.translate` does.
        TooLongError, EvaluatorError: as `cc_hf.translate`.

    Examples:
        >>> lists = translate_nbest(["She is a doctor.", ""], System("cc-tiny-en-de"), n_best=2)
        >>> [[hypothesis.text for hypothesis in hypotheses] for hypotheses in lists]
        [['Sie ist Ärztin.', 'Sie ist eine Ärztin.'], ['']]
    """
    search = Search(system.num_beams, n_best, contrast)
    sources = listed_texts("sources", sources)
    others = None if others is None else listed_texts("others", others)
    if others is not None and len(others) != len(sources):
        raise InputError(f"others: expected {len(sources)} sources, got {len(others)}")
    plain = loaded or load_with(system.model, loading or LoadingOptions())
    model = prepare(plain, precision=system.precision, backend=system.backend)
    rows = [row for row, source in enumerate(sources) if not is_blank(source)]
    lists: list[tuple[Hypothesis, ...]] = [(Hypothesis(""),)] * len(sources)
    if not rows:
        return lists
    texts = [sources[row] for row in rows]
    outputs = translate_lists(
        model,
        texts,
        search=search,
        others=None if others is None else [others[row] for row in rows],
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        progress=progress,
    )
    written = [[system.last_sentence(output.text) for output in of_row] for of_row in outputs]
    cut = [
        row
        for row, of_row in zip(rows, outputs, strict=True)
        if any(output.is_cut for output in of_row)
    ]
    if cut:
        warnings.warn(cut_note(cut, len(rows)), ResultWarning, stacklevel=2)
    has_scores = n_best > 1 and model is plain
    scores = _logprobs(plain, texts, written, src_lang, tgt_lang) if has_scores else {}
    for row, source, of_row in zip(rows, texts, written, strict=True):
        lists[row] = tuple(Hypothesis(text, scores.get((source, text))) for text in of_row)
    return lists


def cued_sources(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    """Return the sources of examples with the correct cue, and with an incorrect one."""
    rows = [e for e in examples if isinstance(e, ContrastiveSourceExample)]
    if len(rows) < len(examples):
        raise InputError("contrast: expected a dataset with contrastive sources, got one without")
    return [e.correct_sources[0] for e in rows], [e.incorrect_sources[0] for e in rows]


def _logprobs(
    model: Evaluator,
    sources: Sequence[str],
    lists: Sequence[Sequence[str]],
    src_lang: str,
    tgt_lang: str,
) -> dict[tuple[str, str], float]:
    """Return the log-probability of each text under its source, by teacher forcing."""
    pairs = [
        (source, text)
        for source, texts in zip(sources, lists, strict=True)
        for text in texts
        if not is_blank(text)
    ]
    if not pairs:
        return {}
    requests = [ScoringRequest(*pair, row) for row, pair in enumerate(pairs)]
    scores = model.score(requests, src_lang=src_lang, tgt_lang=tgt_lang)
    return dict(zip(pairs, scores.sum_logprob.tolist(), strict=True))
