"""Sequence-to-sequence models whose languages are tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

from cc_hf.errors import InputError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.languages import canonical, language_hint, wider_tags

__all__ = ["MultilingualEvaluator"]


class MultilingualEvaluator(Seq2SeqEvaluator):
    """A model whose languages are tokens, named by cc_hf's codes or by the model's own."""

    n_forced = 1

    @cached_property
    def marks(self) -> dict[str, int]:
        """The ids of language tokens by the model's codes."""
        return self.language_marks()

    @cached_property
    def codes(self) -> dict[str, str]:
        """The model's codes by cc_hf's, for the languages that both know."""
        return {
            code: model_code
            for code, model_code in self.language_codes().items()
            if model_code in self.marks
        }

    @property
    def mark_ids(self) -> frozenset[int]:
        """The ids of special tokens, with those of languages."""
        return super().mark_ids | set(self.marks.values())

    @abstractmethod
    def language_marks(self) -> dict[str, int]:
        """Return the id of every language token of the tokenizer, by the model's codes."""

    @abstractmethod
    def language_codes(self) -> Mapping[str, str]:
        """Return the family's language codes by cc_hf's codes, "" for languages that it lacks."""

    def check_language(self, side: str, lang: str) -> None:
        """Check that a language is named and known."""
        if not lang:
            raise InputError(
                f"{self.name} is multilingual: name the {side} language with"
                f" {'src' if side == 'source' else 'tgt'}_lang; known: {self._known()}"
            )
        if self.own_code(lang) not in self.marks:
            raise InputError(
                f"{self.name} does not support the {side} language {lang!r};"
                f" {language_hint(lang, [self._known()])}"
            )

    def own_code(self, lang: str) -> str:
        """Return the model's code of a language; unknown codes are returned as they are."""
        if lang in self.marks:
            return lang
        *varieties, widest = wider_tags(lang)
        by_tag = self._marks_by_tag if varieties else {}
        variety = next((by_tag[tag] for tag in varieties if tag in by_tag), None)
        return variety or self.codes.get(widest, lang)

    @cached_property
    def _marks_by_tag(self) -> dict[str, str]:
        """The model's codes by the form in which cc_hf writes them."""
        return {canonical(mark): mark for mark in self.marks}

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language of the token that the model has for a language."""
        return canonical(self.own_code(lang))

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the sources, with the marks of the source side and EOS."""
        before, after = self.source_marks(src_lang, tgt_lang)
        return [[*before, *ids, *after] for ids in self.plain_ids(texts)]

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the forced tokens and the token ids of the translations, with EOS."""
        forced = self.forced_tokens(tgt_lang)
        return [[*forced, *ids, self.model.config.eos_token_id] for ids in self.plain_ids(texts)]

    def plain_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of texts without marks."""
        # The tokenizer would have to be told the language by changing its state, so that this class
        # adds the marks.
        return list(
            self.tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)[
                "input_ids"
            ]
        )

    def source_marks(self, src_lang: str, tgt_lang: str) -> tuple[list[int], list[int]]:
        """Return the tokens before and after the source: its language, and EOS."""
        return [self.marks[self.own_code(src_lang)]], [self.model.config.eos_token_id]

    def forced_tokens(self, tgt_lang: str) -> list[int]:
        """Return the token of the target language."""
        return [self.marks[self.own_code(tgt_lang)]]

    def _known(self) -> str:
        return ", ".join(sorted(self.codes)) + (
            f" (or the model's own codes, such as {sorted(self.marks)[0]})"
            if self.marks.keys() - self.codes.keys()
            else ""
        )
