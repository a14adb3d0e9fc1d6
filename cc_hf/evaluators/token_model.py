"""What the author of an evaluator family writes: languages, encoding, and how one batch is run.

`cc_hf.evaluators.base.Evaluator`, from which families inherit, adds all that wraps it. Torch is not
imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cc_hf.errors import EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.cache_session import rounding_of
from cc_hf.evaluators.distributed import Apply
from cc_hf.evaluators.options import ON_TOO_LONG
from cc_hf.evaluators.scores import TokenScores
from cc_hf.languages import canonical
from cc_hf.rules import AtLeast, OneOf
from cc_hf.schema import ScoringRequest

__all__ = ["IN_MEMORY", "TokenModel"]

#: `TokenModel.identity` of a model that no files tell apart from another.
IN_MEMORY = "in memory"


class TokenModel(ABC):
    """A model that gives the probability of a translation under a source, token by token.

    Attributes:
        name: name of the model as the user gave it.
        identity: commit on the Hub, or the first 12 hexadecimal digits of the SHA-256 over the
            model's files.
        dtype: precision of the arithmetic, such as "float32".
        batch_tokens: largest number of source and target tokens in a batch, padding included.
        max_tokens: length of the longest source or target that the model accepts, EOS included.
        on_too_long: "error"; "truncate", which cuts the text and is named in the signature; or
            "incorrect": a metric counts the translation as incorrect.
        src_lang, tgt_lang: default languages, "" for none.
        takes_prompt: whether the family has the option `prompt`.
        tokenizer_class: beginning of the class name of its tokenizers, "" if any tokenizer fits.
        language_attributes: attributes of its tokenizers that name source and target language of a
            model with one direction; other tokenizers lack them.
        n_source_end: number of special tokens at the end of a source that truncation keeps (EOS, in
            some models also a language).
        device: kind of device, "cpu", "cuda" or "mps"; whoever loads the model sets it.
    """

    takes_prompt: ClassVar[bool] = False
    tokenizer_class: ClassVar[str] = ""
    language_attributes: ClassVar[tuple[str, str]] = ("source_lang", "target_lang")
    n_source_end: int = 1
    device: str = "cpu"

    def __init__(
        self,
        *,
        name: str,
        identity: str,
        dtype: str,
        batch_tokens: int,
        max_tokens: int,
        on_too_long: str,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> None:
        AtLeast(1).check("batch_tokens", batch_tokens)
        OneOf(*ON_TOO_LONG).check("on_too_long", on_too_long)
        self.name = name
        self.identity = identity
        self.dtype = dtype
        self.batch_tokens = batch_tokens
        self.max_tokens = max_tokens
        self.on_too_long = on_too_long
        self.src_lang = canonical(src_lang)
        self.tgt_lang = canonical(tgt_lang)

    @classmethod
    def load_tokenizer(cls, path: str, **options: Any) -> Any:
        """Return the tokenizer of a model; by default what transformers finds in its files."""
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(path, trust_remote_code=False, **options)

    def check_language(self, side: str, lang: str) -> None:
        """Check that the model has a language on one side; by default it has any.

        Raises:
            InputError: for a language that it does not have, or that must be named.
        """
        return

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Check that the model translates between two languages."""
        self.check_language("source", src_lang)
        self.check_language("target", tgt_lang)

    def check_given(self, src_lang: str, tgt_lang: str) -> None:
        """Check the languages that are given, each by itself, as `check_languages` does."""
        for side, lang in (("source", src_lang), ("target", tgt_lang)):
            if lang:
                self.check_language(side, lang)

    @abstractmethod
    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of each source, as the encoder reads them."""

    @abstractmethod
    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of each translation, as the model must produce them.

        A family whose first target tokens do not count defines how many there are.
        """

    @abstractmethod
    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probability of every target token that counts; all scores follow from it.

        Returns:
            One float64 array of natural logarithms per pair.
        """

    @property
    def apply(self) -> Apply:
        """How a function of one batch is applied to many: `map`, or several batches at once."""
        return map

    def fast_modes(self) -> tuple[str, ...]:
        """Return those of "bf16" and "int8" that this evaluator supports on this machine."""
        return ()

    def _gains_by_bf16(self) -> bool:
        """Return whether mode "auto" uses a pass in bf16."""
        return False

    def languages(self, src_lang: str, tgt_lang: str) -> tuple[str, str]:
        """Return languages as `canonical` writes them; those of the evaluator in place of ""."""
        return canonical(src_lang) or self.src_lang, canonical(tgt_lang) or self.tgt_lang

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the model is told, in the form of `canonical`.

        It is another one than was named where the model has the language, but does not tell its
        scripts or regions apart.
        """
        return lang

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}@{self.identity}, {self.dtype})"

    def refresh(self) -> None:
        """Drop what was prepared from weights that may have changed; called before scoring."""
        return

    def check_scores(self, scores: TokenScores, requests: Sequence[ScoringRequest]) -> None:
        """Refuse scores that an intact model cannot give."""
        # Every score passes here, wherever it comes from, before it is stored or returned.
        # A logarithm of a probability exceeds 0 by rounding only; NaN fails every comparison.
        limit = rounding_of(self.dtype)
        sums, counts, means = scores.sum_logprob, scores.n_tokens, scores.mean_probability
        usable = (
            np.isfinite(sums)
            & (counts >= 1)
            & (sums <= limit * counts)
            & (means >= 0)
            & (means <= np.exp(limit))
        )
        bad = np.flatnonzero(~usable)
        if len(bad):
            # Requests need not be in the order of the rows of the user's file.
            first = min(bad.tolist(), key=lambda i: requests[i].row)
            request = requests[first]
            raise EvaluatorError(
                f"row {request.row}: {self.name}@{self.identity} gave a score that cannot be used"
                f" (and {len(bad) - 1} more such): log-probability {sums[first]}, {counts[first]}"
                f" tokens, mean probability {means[first]}; expected finite numbers, at least one"
                f" token, and probabilities from 0 to 1. Source: {request.source[:80]!r},"
                f" translation: {request.translation[:80]!r}. The model is damaged, or overflows in"
                f" {self.dtype}: download it again, or use float32; when the score came from the"
                " cache, clear that (cc-hf cache --clear)"
            )

    def check_logprobs(
        self, rows: Sequence[npt.NDArray[np.float64]], requests: Sequence[ScoringRequest]
    ) -> None:
        """Refuse log-probabilities that an intact model cannot give; a row may have no tokens."""
        filled = [i for i, row in enumerate(rows) if len(row)]
        self.check_scores(TokenScores.of([rows[i] for i in filled]), [requests[i] for i in filled])

    def decode_targets(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of target ids, without special tokens."""
        tokenizer = getattr(self, "_tokenizer", None) or getattr(self, "tokenizer", None)
        if tokenizer is None:
            raise InputError(
                f"{self.name} does not name its tokens; expected an evaluator with a tokenizer of"
                " transformers, or one that has decode_targets"
            )
        return list(tokenizer.batch_decode([list(row) for row in rows], skip_special_tokens=True))

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Return both sides unchanged, or cut if `on_too_long` is "truncate".

        Raises:
            TooLongError: for a side that is too long, and may not be cut.
        """
        return self._fit_side(source, request, "source", self.n_source_end), self._fit_side(
            target, request, "translation", 1
        )

    def _fit_side(
        self, ids: list[int], request: ScoringRequest, side: str, n_end: int
    ) -> list[int]:
        if len(ids) <= self.max_tokens:
            return ids
        if self.on_too_long == "truncate":
            # The end mark stays: the model never saw a text without it.
            return [*ids[: self.max_tokens - n_end], *ids[-n_end:]]
        is_source = side == "source"
        text = request.source if is_source else request.translation
        remedy = "truncate" if is_source else "truncate or incorrect"
        raise TooLongError(
            f"row {request.row}: the {side} has {len(ids)} tokens, {self.name} takes at most"
            f" {self.max_tokens}: {text[:80]!r}... Shorten it, use an evaluator that takes longer"
            f" texts, or give `on_too_long` {remedy} (the signature will say so)",
            translations=() if is_source else (text,),
        )
