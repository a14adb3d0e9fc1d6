"""M2M100, SMaLL-100 and NLLB, which are one architecture: `decoder_start` is EOS, then the target
language's token is forced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cc_hf.evaluators.families.multilingual import MultilingualEvaluator
from cc_hf.languages import LANGUAGE_CODES

__all__ = ["M2M100Evaluator", "NLLBEvaluator", "SMaLL100Evaluator"]


class M2M100Evaluator(MultilingualEvaluator):
    """Source: language, text, EOS; target: language (forced), text, EOS."""

    def language_marks(self) -> dict[str, int]:
        """The tokenizer's `__de__`, ..."""
        return dict(self.tokenizer.lang_code_to_id)

    def language_codes(self) -> Mapping[str, str]:
        """Two letters, mostly."""
        return {code: row.m2m100 for code, row in LANGUAGE_CODES.items()}


class SMaLL100Evaluator(M2M100Evaluator):
    """The target's language is the only mark, and stands before the source (Mohammadshahi et al.
    2022); nothing is forced.
    """

    n_forced = 0

    def check_language(self, side: str, lang: str) -> None:
        """The model is not told the source language, so that it may be left out."""
        if side == "target" or lang:
            super().check_language(side, lang)

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """The target's language, and EOS."""
        return super().source_marks(tgt_lang, tgt_lang)

    def forced_tokens(self, tgt_lang: str) -> list[int]:
        """None."""
        return []


class NLLBEvaluator(MultilingualEvaluator):
    """As M2M100, with codes such as deu_Latn; with the tokenizer's `legacy_behaviour` the source is
    text, EOS, language.
    """

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.n_source_end = 2 if tokenizer.legacy_behaviour else 1

    def language_marks(self) -> dict[str, int]:
        """Tokens of the form xxx_Xxxx."""
        return {
            token: number
            for token, number in self.tokenizer.get_vocab().items()
            if re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", token)
        }

    def language_codes(self) -> Mapping[str, str]:
        """Codes of FLORES-200."""
        return {code: row.nllb for code, row in LANGUAGE_CODES.items()}

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """Of the checkpoint's time: the first release of NLLB put the language last."""
        (language,), end = super().source_marks(src_lang, tgt_lang)
        return ([], [*end, language]) if self.tokenizer.legacy_behaviour else ([language], end)
