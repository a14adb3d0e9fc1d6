"""T5, mT5, umT5 and MADLAD: the source stands in a prompt, and labels start after <pad>."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from cc_hf.errors import InputError
from cc_hf.evaluators.families.prompt import PromptTemplate
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.languages import LANGUAGE_CODES, base_code, canonical, language_hint, wider_tags

__all__ = ["T5Evaluator"]


class T5Evaluator(Seq2SeqEvaluator):
    """Any model of T5's kind.

    Args:
        prompt: a template (`PromptTemplate`) with the field {source}. None is "<2de> {source}", in
            the target language, if the vocabulary has such tokens (MADLAD), else T5's own
            "translate {src_name} to {tgt_name}: {source}".

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
        self.has_own_prompt = prompt is not None
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
        """Check that the prompt can name a language, or that the vocabulary has its token."""
        self.prompt.check_language(self.name, side, lang)
        if side == "target" and self.uses_marks and self._mark(lang) not in self.marks:
            raise InputError(
                f"{self.name} does not support the target language {lang!r};"
                f" {language_hint(lang, sorted(self.marks))}"
            )
        if (
            side == "source"
            and lang
            and self.uses_marks
            and base_code(lang) not in {base_code(mark) for mark in self.marks}
        ):
            raise InputError(
                f"{self.name} does not support the source language {lang!r};"
                f" {language_hint(lang, sorted(self.marks))}"
            )

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the filled prompts, with EOS."""
        source, target = (
            self._told(side, lang) for side, lang in (("source", src_lang), ("target", tgt_lang))
        )
        return super().encode_sources(
            [self.prompt.fill(text, source, target) for text in texts], src_lang, tgt_lang
        )

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language of the token or of the prompt."""
        return canonical(self._told(side, lang))

    def _told(self, side: str, lang: str) -> str:
        """Return what the prompt has of a language; T5's own names no scripts and regions."""
        if self.uses_marks:
            return self._mark(lang) if side == "target" else base_code(lang)
        return self.prompt.scored_as(side, lang) if self.has_own_prompt else base_code(lang)

    def _mark(self, lang: str) -> str:
        """Return MADLAD's code of a language; some are older or have more than two letters."""
        if lang in self.marks:
            return lang
        *varieties, widest = wider_tags(lang)
        by_tag = {canonical(mark): mark for mark in self.marks} if varieties else {}
        row = LANGUAGE_CODES.get(widest)
        codes = (
            *(by_tag.get(variety, "") for variety in varieties),
            *((row.code, *row.others) if row else ()),
        )
        return next((code for code in codes if code in self.marks), lang)
