"""M2M100, SMaLL-100 and NLLB, which share one architecture.

`decoder_start` is EOS; then the target language's token is forced, except in SMaLL-100.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from cc_hf.evaluators.families.multilingual import MultilingualEvaluator
from cc_hf.languages import LANGUAGE_CODES

__all__ = ["M2M100Evaluator", "NLLBEvaluator", "SMaLL100Evaluator"]


class M2M100Evaluator(MultilingualEvaluator):
    """An M2M100 model.

    The source is language, text, EOS; the target is language (forced), text, EOS.
    """

    tokenizer_class: ClassVar[str] = "M2M100"

    def language_marks(self) -> dict[str, int]:
        """Return the ids of the tokenizer's `__de__` and so on, by language code."""
        return dict(self.tokenizer.lang_code_to_id)

    def language_codes(self) -> Mapping[str, str]:
        """Return M2M100's codes, mostly of two letters, by cc_hf's codes."""
        return {code: row.m2m100 for code, row in LANGUAGE_CODES.items()}


class SMaLL100Evaluator(M2M100Evaluator):
    """A SMaLL-100 model (Mohammadshahi et al. 2022).

    The target language is the only mark, and stands before the source; nothing is forced.
    """

    n_forced = 0

    @classmethod
    def load_tokenizer(cls, path: str, **options: Any) -> Any:
        """Return the tokenizer of M2M100, which reads the same files."""
        # SMaLL-100's own tokenizer is code in its repository, which is not run. This class adds the
        # language tokens.
        from transformers import M2M100Tokenizer

        return M2M100Tokenizer.from_pretrained(path, trust_remote_code=False, **options)

    def check_language(self, side: str, lang: str) -> None:
        """Check that a language is known; the source language may be "", since it is not marked."""
        if side == "target" or lang:
            super().check_language(side, lang)

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """Return the target language's token before the source, and EOS after it."""
        return super().source_marks(tgt_lang, tgt_lang)

    def forced_tokens(self, tgt_lang: str) -> list[int]:
        """Return no tokens."""
        return []


class NLLBEvaluator(MultilingualEvaluator):
    """An NLLB model, with codes such as deu_Latn.

    The source is language, text, EOS, or with the tokenizer's `legacy_behaviour` text, EOS,
    language. The target is as in M2M100.
    """

    tokenizer_class: ClassVar[str] = "Nllb"

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.n_source_end = 2 if tokenizer.legacy_behaviour else 1

    def language_marks(self) -> dict[str, int]:
        """Return the ids of all tokens of the form xxx_Xxxx."""
        return {
            token: number
            for token, number in self.tokenizer.get_vocab().items()
            if re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", token)
        }

    def language_codes(self) -> Mapping[str, str]:
        """Return the codes of FLORES-200 by cc_hf's codes."""
        return {code: row.nllb for code, row in LANGUAGE_CODES.items()}

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """Return the tokens before and after the source, as the checkpoint expects them."""
        (language,), end = super().source_marks(src_lang, tgt_lang)
        # The first release of NLLB put the language last.
        return ([], [*end, language]) if self.tokenizer.legacy_behaviour else ([language], end)
