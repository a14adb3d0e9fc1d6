"""mBART, whose languages are tokens.

mBART-50 puts them first on both sides, mBART-25 last in the source and at the decoder's start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from cc_hf.evaluators.families.multilingual import MultilingualEvaluator
from cc_hf.languages import LANGUAGE_CODES

__all__ = ["MBartEvaluator"]


class MBartEvaluator(MultilingualEvaluator):
    """An mBART model; the class of the tokenizer distinguishes mBART-50 and mBART-25.

    In mBART-50 the source is language, text, EOS, and the target is language (forced), text, EOS
    after a decoder start of EOS. In mBART-25 the source is text, EOS, language, and the target has
    no decoder start.
    """

    tokenizer_class: ClassVar[str] = "MBart"

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.language_is_first = "MBart50" in type(tokenizer).__name__
        if not self.language_is_first:
            self.decoder_start = ()
            self.n_source_end = 2

    def language_marks(self) -> dict[str, int]:
        """Return the ids of all tokens of the form xx_XX."""
        return {
            token: number
            for token, number in self.tokenizer.get_vocab().items()
            if re.fullmatch("[a-z]{2}_[A-Z]{2}", token)
        }

    def language_codes(self) -> Mapping[str, str]:
        """Return codes such as de_DE by cc_hf's codes."""
        return {code: row.mbart50 for code, row in LANGUAGE_CODES.items()}

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """Return the tokens before and after the source: its language, and EOS."""
        (language,), end = super().source_marks(src_lang, tgt_lang)
        return ([language], end) if self.language_is_first else ([], [*end, language])
