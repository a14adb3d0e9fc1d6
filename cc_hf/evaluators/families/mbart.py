"""mBART with its languages as tokens: mBART-50 puts them first on both sides, mBART-25 last in the
source and at the start of the decoder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cc_hf.evaluators.families.multilingual import MultilingualEvaluator
from cc_hf.languages import LANGUAGE_CODES

__all__ = ["MBartEvaluator"]


class MBartEvaluator(MultilingualEvaluator):
    """Source: language, text, EOS (mBART-25: text, EOS, language); target: language (forced), text,
    EOS, behind EOS (mBART-25: behind nothing).

    Which of both it is, the class of the tokenizer tells.
    """

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.language_is_first = "MBart50" in type(tokenizer).__name__
        if not self.language_is_first:
            self.decoder_start = ()
            self.n_source_end = 2

    def language_marks(self) -> dict[str, int]:
        """Tokens of the form xx_XX."""
        return {
            token: number
            for token, number in self.tokenizer.get_vocab().items()
            if re.fullmatch("[a-z]{2}_[A-Z]{2}", token)
        }

    def language_codes(self) -> Mapping[str, str]:
        """Codes such as de_DE."""
        return {code: row.mbart50 for code, row in LANGUAGE_CODES.items()}

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """The source's language, and EOS."""
        (language,), end = super().source_marks(src_lang, tgt_lang)
        return ([language], end) if self.language_is_first else ([], [*end, language])
