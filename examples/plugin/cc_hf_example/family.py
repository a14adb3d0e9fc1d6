"""The evaluator family pegasus."""

from __future__ import annotations

from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator

__all__ = ["PegasusEvaluator"]


class PegasusEvaluator(Seq2SeqEvaluator):
    """A `PegasusForConditionalGeneration` that was trained to translate in one direction.

    Source and target share a vocabulary and there are no tokens of languages, so that nothing is
    different from `Seq2SeqEvaluator`. Other families override `encode_sources` and
    `encode_targets`.
    """
