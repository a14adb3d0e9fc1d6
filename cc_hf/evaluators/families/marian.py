"""Marian models of transformers, OPUS-MT and the embedded evaluator among them, and subclasses.

Labels start after <pad>. Models with several target languages expect `>>xx<<` before the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from cc_hf.errors import InputError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.languages import LANGUAGE_CODES, canonical, language_hint, wider_tags
from cc_hf.models.light_marian import LightMarianTokenizer

__all__ = ["MarianEvaluator", "encoded_texts", "target_mark"]


class MarianEvaluator(Seq2SeqEvaluator):
    """A `MarianMTModel`, or a subclass of it, with its `MarianTokenizer`.

    If the tokenizer does not name its languages, all are accepted.
    """

    tokenizer_class: ClassVar[str] = "Marian"

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        own_languages: tuple[str, str] = ("", ""),
        **options: Any,
    ) -> None:
        # With several target languages the name is that of a group, such as "mul" or "ROMANCE".
        own_target = "" if tokenizer.supported_language_codes else own_languages[1]
        super().__init__(model, tokenizer, own_languages=(own_languages[0], own_target), **options)

    def check_language(self, side: str, lang: str) -> None:
        """Check that a language is of the model's direction, or has a token where needed."""
        marks = self._tokenizer.supported_language_codes
        if side == "source" or not marks:
            super().check_language(side, lang)
        elif not lang:
            raise InputError(
                f"{self.name} has several target languages: name one with tgt_lang; known:"
                f" {_listed(marks)}"
            )
        else:
            target_mark(lang, marks, name=self.name)

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language of the token, or of a model with one target language."""
        marks = self._tokenizer.supported_language_codes
        if side == "source" or not marks:
            return super().scored_as(side, lang)
        return canonical(_code_of(target_mark(lang, marks, name=self.name)))

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the sources, with EOS, after the target's token if it has one."""
        if marks := self._tokenizer.supported_language_codes:
            mark = target_mark(tgt_lang, marks, name=self.name)
            texts = [f"{mark} {text}" for text in texts]
        encode = super().encode_sources
        return encoded_texts(
            self._tokenizer, texts, lambda some: encode(some, src_lang, tgt_lang), is_target=False
        )

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the ids of the translations by the target side of the tokenizer, with EOS."""
        encode = super().encode_targets
        return encoded_texts(
            self._tokenizer, texts, lambda some: encode(some, src_lang, tgt_lang), is_target=True
        )

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of ids by the source vocabulary; the sides may have one each."""
        pieces = {number: piece for piece, number in self._tokenizer.encoder.items()}
        return [pieces[number] for number in ids]

    @property
    def mark_ids(self) -> frozenset[int]:
        """The ids of special tokens, with those of target languages."""
        return super().mark_ids | {
            self._tokenizer.encoder[mark]
            for mark in self._tokenizer.supported_language_codes
            if mark in self._tokenizer.encoder
        }


def encoded_texts(
    tokenizer: Any,
    texts: Sequence[str],
    encode: Callable[[Sequence[str]], list[list[int]]],
    *,
    is_target: bool = False,
) -> list[list[int]]:
    """Return what `encode` returns, by one call of SentencePiece for all texts that need no more.

    Args:
        encode: returns the ids of texts, with EOS.
        is_target: whether the texts are in the language of the translations.
    """
    # `MarianTokenizer` looks for its added tokens in one text after the other, in Python, which is
    # slow. Texts that have one, and all texts of another tokenizer, are left to `encode`.
    if not _is_plain(tokenizer):
        return encode(texts)
    spm = tokenizer.spm_target if is_target else tokenizer.spm_source
    # Most Marian models share one vocabulary between both sides.
    has_two = is_target and tokenizer.separate_vocabs
    vocabulary = tokenizer.target_encoder if has_two else tokenizer.encoder
    added, unknown = tokenizer.get_added_vocab(), vocabulary[tokenizer.unk_token]
    ids, eos = {**vocabulary, **added}, tokenizer.eos_token_id
    parts = [_without_mark(text) for text in texts]
    rows = [
        [*(ids.get(piece, unknown) for piece in (*mark, *pieces)), eos]
        for (mark, _), pieces in zip(
            parts, spm.encode([text for _, text in parts], out_type=str), strict=True
        )
    ]
    # A text may spell an added token, such as "</s>": the slow road knows what it becomes.
    others = [i for i, text in enumerate(texts) if any(token in text for token in added)]
    if others:
        for i, row in zip(others, encode([texts[i] for i in others]), strict=True):
            rows[i] = row
    return rows


def _is_plain(tokenizer: Any) -> bool:
    """Return whether this is a `MarianTokenizer` itself or its light form, no subclass."""
    # It is told by its name, so that transformers need not be imported for a light one.
    of_transformers = "transformers.models.marian.tokenization_marian", "MarianTokenizer"
    kind = type(tokenizer)
    return kind is LightMarianTokenizer or (kind.__module__, kind.__qualname__) == of_transformers


def _without_mark(text: str) -> tuple[list[str], str]:
    """Return the mark before a text, none or one, and the rest, as `MarianTokenizer` splits it."""
    end = text.find("<<") if text.startswith(">>") else -1
    return ([], text) if end == -1 else ([text[: end + 2]], text[end + 2 :])


def _code_of(mark: str) -> str:
    return mark.removeprefix(">>").removesuffix("<<")


def target_mark(lang: str, marks: Sequence[str], *, name: str) -> str:
    """Return the token of a target language.

    The model's token for the script and the region comes first, then those of the code with two or
    three letters, of the only variant of these, and of the variant in the language's usual script.

    Examples:
        >>> marks = [">>fra<<", ">>cmn_Hans<<", ">>cmn_Hant<<", ">>por<<", ">>pt_br<<"]
        >>> [target_mark(lang, marks, name="a model") for lang in ("fr", "zh", "pt-BR", "cmn_Hant")]
        ['>>fra<<', '>>cmn_Hans<<', '>>pt_br<<', '>>cmn_Hant<<']
    """
    *varieties, lang = wider_tags(lang)
    by_tag = {canonical(_code_of(mark)): mark for mark in marks} if varieties else {}
    for variety in varieties:
        if variety in by_tag:
            return by_tag[variety]
    row = LANGUAGE_CODES.get(lang)
    # Models name languages by two or by three letters: de or deu, zh or cmn.
    codes = [lang] if row is None else [lang, row.code, *row.others, row.nllb.partition("_")[0]]
    for code in codes:
        if f">>{code}<<" in marks:
            return f">>{code}<<"
    variants = [
        mark
        for mark in marks
        for code in dict.fromkeys(codes)
        if code and mark.startswith(f">>{code}_")
    ]
    # Serbian without a script is in the one that its code of NLLB names.
    usual = [
        mark
        for mark in variants
        if row is not None and mark.endswith(f"_{row.nllb.partition('_')[2]}<<")
    ]
    for candidates in (variants, usual):
        if len(candidates) == 1:
            return candidates[0]
    if variants:
        raise InputError(
            f"{name} has several variants of the target language {lang!r}: name one of"
            f" {_listed(variants)}"
        )
    raise InputError(
        f"{name} does not support the target language {lang!r};"
        f" {language_hint(lang, [_listed(marks)])}"
    )


def _listed(marks: Sequence[str]) -> str:
    return ", ".join(sorted(mark.strip("<>") for mark in marks))
