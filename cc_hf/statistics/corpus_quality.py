"""BLEU and chrF of translations against references by sacreBLEU (Post 2018)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.languages import base_code
from cc_hf.statistics.checks import as_floats, as_labels, check_number
from cc_hf.statistics.randomization import FiguresOfSums
from cc_hf.text.tokenization import moses_words

__all__ = [
    "TOKENIZERS",
    "corpus_score",
    "points",
    "score_of_sums",
    "scorers",
    "scores_of_statistics",
    "sentence_statistics",
]

_COMPOUNDS = "t2t-de"
#: Tokenizers of BLEU that need no further package: those of sacreBLEU, and that of the script
#: get_ende_bleu.sh of tensor2tensor, whose BLEU is not smoothed.
TOKENIZERS = ("13a", "intl", "char", "zh", "none", _COMPOUNDS)
_HYPHEN = re.compile(r"(\S)-(\S)")


def corpus_score(
    name: str,
    translations: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str | None = "13a",
    tgt_lang: str = "",
) -> tuple[float, str]:
    """Return BLEU or chrF of a whole set, in [0, 1], and the signature of sacreBLEU.

    Args:
        name: "bleu" or "chrf".
        tokenize: tokenizer of BLEU; None for the one that sacreBLEU uses for the language.

    Examples:
        >>> score, text = corpus_score("bleu", ["Der Arzt ist da."], ["Der Arzt ist da."])
        >>> round(score, 3), text.split("|")[2:5]
        (1.0, ['eff:no', 'tok:13a', 'smooth:exp'])
    """
    check_choice("name", name, ("bleu", "chrf"))
    _check_texts(translations, references)
    metric = scorers(tokenize, tgt_lang=tgt_lang)[name]
    score = metric.corpus_score(list(translations), [list(references)]).score
    # Floating-point rounding can give 100.00000000000004.
    return min(1.0, float(score) / 100), str(metric.get_signature())


def points(score: float) -> float:
    """Return BLEU or chrF in [0, 1] as sacreBLEU prints them, in [0, 100], with four digits.

    Examples:
        >>> points(0.28391)
        28.391
    """
    check_number("score", score, low=0, high=1)
    return round(100 * score, 4)


def sentence_statistics(
    scorer: Any, translations: Sequence[str], references: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return (n, k) counts of each sentence, of whose sums the score of a corpus is a function.

    Args:
        scorer: BLEU or CHRF of sacreBLEU.
        translations, references: n texts each.
    """
    _check_texts(translations, references)
    # These methods are private, but sacreBLEU has no public ones for chrF, and its own bootstrap
    # and paired tests use them.
    statistics = scorer._extract_corpus_statistics(list(translations), [list(references)])
    return np.array(statistics, dtype=np.float64)


def scores_of_statistics(scorer: Any, sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the scores in [0, 1], (m,), of corpora from the sums of `sentence_statistics`.

    Examples:
        >>> from sacrebleu.metrics.bleu import BLEU
        >>> counts = sentence_statistics(BLEU(), ["Das ist ein Haus ."], ["Das ist ein Haus ."])
        >>> scores_of_statistics(BLEU(), counts).tolist()
        [1.0]
    """
    counts = as_floats("sums", sums, shape=(None, None)).astype(int)
    scores = [scorer._compute_score_from_stats(row).score for row in counts.tolist()]
    # Floating-point rounding can take a perfect score slightly above 100.
    return np.minimum(np.array(scores, dtype=np.float64) / 100, 1.0)


def score_of_sums(name: str, scorer: Any) -> FiguresOfSums:
    """Return `scores_of_statistics` of a scorer as a figure of sums over sentences, for paired
    tests.
    """
    return lambda parts: {name: scores_of_statistics(scorer, parts["all"])}


def _check_texts(translations: Sequence[str], references: Sequence[str]) -> None:
    n = len(as_labels("references", references, are_texts=True))
    if n == 0:
        raise InputError("references: expected at least one sentence, got none")
    as_labels("translations", translations, n=n, are_texts=True)


def scorers(tokenize: str | None, *, tgt_lang: str = "") -> dict[str, Any]:
    """Return "bleu" and "chrf" -> the class of sacreBLEU that scores, see `corpus_score`."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if tokenize == _COMPOUNDS:
        bleu = BLEU(tokenize="none", smooth_method="none", force=True)
        bleu.tokenizer = _CompoundTokenizer()
        bleu.tokenizer_signature = bleu.tokenizer.signature()
    else:
        bleu = BLEU(tokenize=tokenize, trg_lang=base_code(tgt_lang))
    return {"bleu": bleu, "chrf": CHRF()}


class _CompoundTokenizer:
    """German tokens of Moses, with compounds split at their hyphens, in the form of sacreBLEU."""

    def signature(self) -> str:
        return f"{_COMPOUNDS}-sacremoses-{version('sacremoses')}"

    def __call__(self, line: str) -> str:
        return _HYPHEN.sub(r"\1 ##AT##-##AT## \2", " ".join(moses_words(line, "de")))
