"""Candidates for cues: words that a masked language model predicts or that a file names, and the
selection of those that mark a sense.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from cc_hf.errors import DataError, InputError, in_file
from cc_hf.files import file_sha256
from cc_hf.plugins.calibration.cue_set import LeftOut, Sense
from cc_hf.plugins.calibration.mlm_insertions import (
    Candidates,
    SenseCandidates,
    discriminating_words,
    most_probable,
    parse_candidates,
)
from cc_hf.plugins.calibration.senses import SenseData
from cc_hf.progress import Progress
from cc_hf.reading import read_text

if TYPE_CHECKING:
    from cc_hf.plugins.calibration.fill_mask import MaskedLM

__all__ = ["given_candidates", "offered_candidates", "predicted_candidates"]


def predicted_candidates(
    data: SenseData,
    masked_lm: MaskedLM,
    *,
    n_kept: int,
    average: str,
    progress: bool,
) -> tuple[Candidates, int]:
    """Predict the most probable words before the ambiguous word, for each sense.

    Also return the number of sources that were cut since the model cannot read them whole.
    """
    indices = [row for sense in sorted(data.rows) for row in data.rows[sense]]
    masked = masked_lm.mask(
        [data.examples[row].source for row in indices],
        [data.examples[row].focus.start for row in indices],
        rows=indices,
    )
    texts = dict(zip(indices, masked, strict=True))
    candidates: dict[str, dict[str, tuple[str, ...]]] = {}
    with Progress(
        total=len(texts),
        desc="predicting",
        unit="sentence",
        disable=not progress,
        delay=1,
        leave=False,
    ) as bar:
        for word, sense in sorted(data.rows):
            rows = data.rows[word, sense]
            logprobs = (
                logprobs_of_words
                for _, logprobs_of_words in masked_lm.word_logprobs([texts[row] for row in rows])
            )
            candidates.setdefault(word, {})[sense] = most_probable(
                masked_lm.words, logprobs, n=n_kept, average=average
            )
            bar.update(len(rows))
    return candidates, sum(text.is_cut for text in masked)


def given_candidates(candidates: str | Path | Candidates) -> tuple[Candidates, str]:
    """Return candidates from a file, or the given ones unchanged.

    Examples:
        >>> given_candidates({"bat": {"animal": ["fruit"], "club": ["baseball"]}})[1]
        'own'
    """
    if not isinstance(candidates, (str, Path)):
        return candidates, "own"
    path = Path(candidates)
    with in_file(path):
        parsed = parse_candidates(read_text(path))
    return parsed, f"{path.name}@{file_sha256(path)[:12]}"


def offered_candidates(
    data: SenseData, candidates: Candidates, n_candidates: int
) -> tuple[dict[Sense, SenseCandidates], tuple[LeftOut, ...]]:
    """Select for each sense the candidates that mark it, and those that mark other senses.

    Examples:
        >>> rows = {("bat", "animal"): [0], ("bat", "club"): [1], ("ant", "animal"): [2]}
        >>> data = SenseData((), rows, tgt_lang="de", origin={}, n_unlocated=0)
        >>> words = {"bat": {"animal": ["fruit"], "club": ["baseball"]}, "ant": {"animal": ["red"]}}
        >>> offered, left_out = offered_candidates(data, words, 10)
        >>> offered["bat", "club"], left_out[0].reason
        (SenseCandidates(correct=('baseball',), incorrect=('fruit',)), 'only sense')
    """
    offered, left_out = {}, []
    n_senses = Counter(word for word, senses in candidates.items() for _ in senses)
    for word, sense in sorted(data.rows):
        if sense not in candidates.get(word, {}):
            raise DataError(
                f"candidates: expected words for {word!r} in the sense {sense!r}, got"
                f" {'only other senses' if word in candidates else 'nothing for this word'}"
            )
        marking = (
            discriminating_words(candidates[word], ambiguous_word=word, n=n_candidates)[sense]
            if n_senses[word] > 1
            else SenseCandidates((), ())
        )
        if marking.correct and marking.incorrect:
            offered[word, sense] = marking
        else:
            reason = "only sense" if n_senses[word] == 1 else "no candidates"
            left_out.append(LeftOut(word, sense, len(data.rows[word, sense]), reason))
    if not offered:
        raise InputError(
            "expected at least one ambiguous word with two senses that candidates tell apart, got"
            f" none among {len(left_out)} senses"
        )
    return offered, tuple(left_out)
