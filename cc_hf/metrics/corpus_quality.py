"""BLEU and chrF of whole corpora, by sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["corpus_quality"]


def corpus_quality(
    name: str, translations: Sequence[str], references: Sequence[str], tgt_lang: str
) -> tuple[float, str]:
    """Return the score of a corpus in [0, 1], and sacreBLEU's signature.

    Args:
        name: "bleu" or "chrf".
        translations: translations, at least one.
        references: their references, in the same order.
        tgt_lang: language of both, ISO 639-1, by which sacreBLEU chooses a tokenizer for BLEU.

    Examples:
        >>> corpus_quality("bleu", ["Er schnitt es ab."], ["Er schnitt es ab."], "de")[0]
        1.0
    """
    # imported here because it takes a while
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    scorer: Any = BLEU(trg_lang=tgt_lang) if name == "bleu" else CHRF()
    score = float(scorer.corpus_score(list(translations), [list(references)]).score)
    # Floating-point rounding can give 100.00000000000004.
    return min(1.0, score / 100), str(scorer.get_signature())
