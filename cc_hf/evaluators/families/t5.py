"""T5, mT5, umT5 and MADLAD: the source stands in a prompt, and labels start after <pad>."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from cc_hf.errors import InputError
from cc_hf.evaluators.families.prompt import PromptTemplate
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.languages import LANGUAGE_CODES, two_letter_code

__all__ = ["T5Evaluator"]


class T5Evaluator(Seq2SeqEvaluator):
    """Any model of T5's kind.

    Args:
        prompt: a template (`PromptTemplate`) with the field {source}. None is "<2de> {source}", in
            the target language, if the vocabulary has such tokens (MADLAD), else T5's own
            "translate {src_name} to {tgt_name}: {source}".
        options: further arguments of `Seq2SeqEvaluator`.

    Raises:
        InputError: for a template that does not fit, or a language that the model does not support.
    """

    takes_prompt: ClassVar[bool] = True

    def __init__(
        self, model: Any, tokenizer: Any, *, prompt: str | None = None, **options: Any
    ) -> None:
        self.marks = {
            token[2:-1] for token in tokenizer.get_vocab() if re.fullmatch("<2[A-Za-z_]+>", token)
        }
        self.uses_marks = bool(self.marks) and prompt is None
        default = (
            "<2{tgt_lang}> {source}"
            if self.uses_marks
            else "translate {src_name} to {tgt_name}: {source}"
        )
        self.prompt = PromptTemplate(default if prompt is None else prompt)
        if "source" not in self.prompt.fields:
            raise InputError(f"prompt: expected the field {{source}}, got {self.prompt.text!r}")
        super().__init__(model, tokenizer, **options)

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of `Evaluator.signature_fields` and the prompt."""
        return {**super().signature_fields(), "prompt": self.prompt.text}

    def check_language(self, side: str, lang: str) -> None:
        """Check that the prompt can name a language, and that the vocabulary has its token if one
        is used.

        Raises:
            InputError: for a language that is missing or unknown.
        """
        self.prompt.check_language(self.name, side, lang)
        if side == "target" and self.uses_marks and self._mark(lang) not in self.marks:
            raise InputError(
                f"{self.name} does not support the target language {lang!r}; known:"
                f" {', '.join(sorted(self.marks))}"
            )
        if (
            side == "source"
            and lang
            and self.uses_marks
            and two_letter_code(lang) not in {two_letter_code(mark) for mark in self.marks}
        ):
            raise InputError(
                f"{self.name} does not support the source language {lang!r}; known:"
                f" {', '.join(sorted(self.marks))}"
            )

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the filled prompts, with EOS."""
        target = self._mark(tgt_lang) if self.uses_marks else tgt_lang
        return super().encode_sources(
            [self.prompt.fill(text, src_lang, target) for text in texts], src_lang, tgt_lang
        )

    def _mark(self, lang: str) -> str:
        """Return MADLAD's code of a language; some are older or have more than two letters."""
        row = LANGUAGE_CODES.get(two_letter_code(lang))
        return next(
            (
                code
                for code in (lang, *((row.code, *row.others) if row else ()))
                if code in self.marks
            ),
            lang,
        )
