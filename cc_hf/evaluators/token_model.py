"""A model that gives the log-probability of every target token, with batching and checks.

A family defines how to tokenise and how to run one batch. Nothing is cached here, and torch is not
imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cc_hf.errors import EvaluatorError, InputError, TooLongError, shown
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.cache_session import TokenIds, rounding_of
from cc_hf.evaluators.distributed import ALONE, Apply, Team
from cc_hf.evaluators.options import ON_TOO_LONG, PartialScores
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.languages import base_code, canonical, language_name
from cc_hf.lists import check_text, listed, listed_texts
from cc_hf.rules import AtLeast, OneOf
from cc_hf.schema import ScoringRequest

__all__ = ["IN_MEMORY", "TokenModel", "checked_requests", "numbered_requests"]

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
        cache: scores on disk, or None. Among several processes only the main one has it.
        team: the processes that score together.
        node_cache: scores on disk that another machine than that of the main process has; they are
            read, and the main process stores them in its own cache.
        part: the part of the scores that `score` computes, or None for all of them.

    Raises:
        InputError: for `batch_tokens` or `on_too_long` out of range.
    """

    takes_prompt: ClassVar[bool] = False
    tokenizer_class: ClassVar[str] = ""
    language_attributes: ClassVar[tuple[str, str]] = ("source_lang", "target_lang")
    n_source_end: int = 1
    device: str = "cpu"
    node_cache: ScoreCache | None = None
    part: PartialScores | None = None

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
        cache: ScoreCache | None = None,
        team: Team = ALONE,
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
        self.cache = cache
        self.team = team

    @abstractmethod
    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Check that the model translates between two languages.

        Args:
            src_lang, tgt_lang: language codes, or "".

        Raises:
            InputError: for languages that the model does not support, or that must be named.
        """

    @abstractmethod
    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of each source, as the encoder reads them.

        Args:
            src_lang: language code, or "".
            tgt_lang: language code, or ""; some models mark it in the source.

        Returns:
            One list of ids per source, EOS included if the model has one there.
        """

    @abstractmethod
    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of each translation, as the model must produce them.

        A family whose first target tokens do not count defines how many there are.

        Args:
            src_lang, tgt_lang: language codes, or "".

        Returns:
            One list of ids per translation, EOS included if the model scores one.
        """

    @abstractmethod
    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probability of every target token that counts; all scores follow from it.

        Args:
            sources: token ids of n sources, as `encode_sources` returns them.
            targets: token ids of n translations, as `encode_targets` returns them.

        Returns:
            One float64 array of natural logarithms per pair.
        """

    @property
    def apply(self) -> Apply:
        """How a function of one batch is applied to many: `map`, or several batches at once."""
        return map

    def languages(self, src_lang: str, tgt_lang: str) -> tuple[str, str]:
        """Return languages as `cc_hf.languages.canonical` writes them.

        Args:
            src_lang, tgt_lang: languages as users name them; "" for those of the evaluator.
        """
        return canonical(src_lang) or self.src_lang, canonical(tgt_lang) or self.tgt_lang

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the model is told, in the form of `canonical`.

        It is another one than was named where the model has the language, but does not tell its
        scripts or regions apart.

        Args:
            side: "source" or "target".
            lang: a language that the model supports, as `languages` returns it.
        """
        return lang

    def variety_notes(self, src_lang: str, tgt_lang: str) -> tuple[str, ...]:
        """Return a note for each language whose script or region the model does not know.

        Args:
            src_lang, tgt_lang: as for `languages`.
        """
        notes = []
        sides = zip(("source", "target"), self.languages(src_lang, tgt_lang), strict=True)
        for side, lang in sides:
            # Without a script or a region there is nothing to tell apart, and no model is loaded.
            if lang == base_code(lang) or (known := self.scored_as(side, lang)) == lang:
                continue
            notes.append(
                f"{self.name} does not tell {lang} from other {language_name(base_code(lang))}: it"
                f" takes the {side} for {known}"
            )
        return tuple(notes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}@{self.identity}, {self.dtype})"

    def refresh(self) -> None:
        """Drop what was prepared from weights that may have changed; called before scoring."""
        return

    def check_scores(self, scores: TokenScores, requests: Sequence[ScoringRequest]) -> None:
        """Refuse scores that an intact model cannot give.

        Every score passes this check, wherever it comes from, before it is stored or returned.

        Args:
            requests: the scored pairs; the message quotes row, source and translation.

        Raises:
            EvaluatorError: for a score that is NaN or infinite, a translation without tokens, or a
                probability that is outside [0, 1] by more than rounding.
        """
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
        """Refuse log-probabilities of single tokens that an intact model cannot give.

        Args:
            rows: natural logarithms, one array per request; an array may be empty.

        Raises:
            EvaluatorError: as for `check_scores`.
        """
        filled = [i for i, row in enumerate(rows) if len(row)]
        self.check_scores(TokenScores.of([rows[i] for i in filled]), [requests[i] for i in filled])

    def token_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probability of every token of each translation under its source.

        Args:
            src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.

        Returns:
            One float64 array of natural logarithms per pair, EOS included.

        Raises:
            InputError: for different numbers of sources and translations, or languages that the
                model does not support.
            TooLongError: for a text longer than `max_tokens` if `on_too_long` is "error".
            EvaluatorError: as for `check_scores`.
        """
        requests = numbered_requests(sources, translations)
        if not requests:
            return []
        return self._logprobs(
            *self._encode(requests, *self.languages(src_lang, tgt_lang)), requests
        )

    def id_logprobs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probability of every target token of pairs that are already encoded.

        Args:
            sources: token ids of n sources, as `encode_sources` returns them.
            targets: token ids of n translations, as `encode_targets` returns them.

        Returns:
            One float64 array of natural logarithms per pair, EOS included.

        Raises:
            EvaluatorError: as for `check_scores`; the message quotes the ids.
        """
        return self._logprobs(
            sources,
            targets,
            [
                ScoringRequest(str(list(s)), str(list(t)), row)
                for row, (s, t) in enumerate(zip(sources, targets, strict=True))
            ],
        )

    def _logprobs(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        requests: Sequence[ScoringRequest],
    ) -> list[npt.NDArray[np.float64]]:
        """Return checked log-probabilities; pairs with equal token ids are computed once.

        The requests are quoted in messages.
        """
        self.refresh()
        keys = [
            (tuple(source), tuple(target)) for source, target in zip(sources, targets, strict=True)
        ]
        distinct = list(dict.fromkeys(keys))
        logprobs_of: dict[TokenIds, npt.NDArray[np.float64]] = {}
        batches = [
            [distinct[i] for i in batch]
            for batch in plan_batches(
                [len(s) for s, _ in distinct],
                [len(t) for _, t in distinct],
                batch_tokens=self.batch_tokens,
            )
        ]

        def compute(batch: list[TokenIds]) -> list[npt.NDArray[np.float64]]:
            return self.logprobs_batch([list(s) for s, _ in batch], [list(t) for _, t in batch])

        for batch, rows_of_batch in zip(batches, self.apply(compute, batches), strict=True):
            logprobs_of.update(zip(batch, rows_of_batch, strict=True))
        rows = [logprobs_of[key] for key in keys]
        self.check_logprobs(rows, requests)
        return rows

    def decode_targets(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of target ids, without special tokens.

        Args:
            rows: ids as `encode_targets` returns them, or the beginnings of such rows.

        Raises:
            InputError: if the evaluator has no tokenizer to decode with.
        """
        tokenizer = getattr(self, "tokenizer", None)
        if tokenizer is None:
            raise InputError(
                f"{self.name} does not name its tokens; expected an evaluator with a tokenizer of"
                " transformers, or one that has decode_targets"
            )
        return list(tokenizer.batch_decode([list(row) for row in rows], skip_special_tokens=True))

    def named_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> list[list[tuple[str, float]]]:
        """Return the text and the log-probability of every target token that counts.

        Args:
            src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.

        Returns:
            Per pair a list of (text that the token adds, without spaces; natural logarithm as in
            `token_logprobs`). The text is "" for a token that adds no character: EOS, a part of a
            character, and in most models an unknown word.

        Raises:
            InputError: as for `token_logprobs`, or if the evaluator cannot decode its tokens.
            TooLongError, EvaluatorError: as for `token_logprobs`.
        """
        requests = numbered_requests(sources, translations)
        if not requests:
            return []
        encoded, targets = self._encode(requests, *self.languages(src_lang, tgt_lang))
        pieces = {row: self._pieces(row) for row in dict.fromkeys(map(tuple, targets))}
        logprobs = self._logprobs(encoded, targets, requests)
        return [
            list(zip(pieces[tuple(target)][-len(row) :], row.tolist(), strict=True))
            # The first tokens of a target may be forced; they have a text but no probability.
            for target, row in zip(targets, logprobs, strict=True)
        ]

    def _pieces(self, ids: Sequence[int]) -> list[str]:
        """Return what each id adds to the text of the ids before it.

        Decoded prefixes are compared because tokenizers mark words and write parts of characters in
        many ways.
        """
        texts = [
            "".join(text.split()).rstrip("\ufffd")
            for text in self.decode_targets([ids[: n + 1] for n in range(len(ids))])
        ]
        return [
            text[_n_common(before, text) :]
            for before, text in zip(["", *texts], texts, strict=False)
        ]

    def _encode(
        self, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Return the token ids of sources and translations, with their lengths checked.

        A text that is too long is never in the cache, so that the error is the same with a cache.

        Raises:
            TooLongError: for all texts that are too long; the message quotes the first.
        """
        if not requests:
            return [], []
        self.check_languages(src_lang, tgt_lang)
        sources, targets = self._encode_whole(requests, src_lang, tgt_lang)
        pairs: list[tuple[list[int], list[int]]] = []
        errors: list[TooLongError] = []
        for source, target, request in zip(sources, targets, requests, strict=True):
            try:
                pairs.append(self.fit(source, target, request))
            except TooLongError as error:
                errors.append(error)
        if errors:
            more = f"; {len(errors)} pairs are too long" * (len(errors) > 1)
            only_translations = all(error.translations for error in errors)
            texts = [text for error in errors for text in error.translations]
            raise TooLongError(
                f"{errors[0]}{more}", translations=texts if only_translations else ()
            )
        return [source for source, _ in pairs], [target for _, target in pairs]

    def _encode_whole(
        self, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
    ) -> tuple[list[list[int]], list[list[int]]]:
        sources = self._encode_distinct(
            [r.source for r in requests],
            lambda texts: self.encode_sources(texts, src_lang, tgt_lang),
        )
        targets = self._encode_distinct(
            [r.translation for r in requests],
            lambda texts: self.encode_targets(texts, src_lang, tgt_lang),
        )
        return sources, targets

    def _encode_distinct(
        self, texts: Sequence[str], encode: Callable[[Sequence[str]], list[list[int]]]
    ) -> list[list[int]]:
        # A source occurs once per translation, and tokenizing is slow.
        distinct = sorted(set(texts))
        table = dict(zip(distinct, encode(distinct), strict=True))
        return [table[text] for text in texts]

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Return both sides unchanged, or cut if `on_too_long` is "truncate".

        Args:
            request: the pair, for messages.

        Raises:
            TooLongError: for a side longer than `max_tokens` if `on_too_long` is "error".
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


def numbered_requests(sources: Sequence[str], translations: Sequence[str]) -> list[ScoringRequest]:
    """Pair sources with translations and number the pairs from 0.

    Returns:
        n requests, whose `row` is their number.

    Raises:
        InputError: for different numbers of sources and translations, or for anything else than
            lists of texts.

    Examples:
        >>> numbered_requests(["Yes.", "No."], ["Ja.", "Nein."])[1]
        ScoringRequest(source='No.', translation='Nein.', row=1)
    """
    sources = listed_texts("sources", sources)
    translations = listed_texts("translations", translations)
    if len(sources) != len(translations):
        raise InputError(
            f"expected as many translations as sources, got {len(sources)} sources and"
            f" {len(translations)} translations"
        )
    return [
        ScoringRequest(source, translation, row)
        for row, (source, translation) in enumerate(zip(sources, translations, strict=True))
    ]


def checked_requests(requests: Sequence[ScoringRequest]) -> list[ScoringRequest]:
    """Return requests that a caller passed, in a list.

    Raises:
        InputError: for none, anything else than a list of requests, or a text with a lone
            surrogate, which no tokenizer reads; the message names its row.

    Examples:
        >>> checked_requests(["Hallo"])  # type: ignore[list-item]
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: requests: row 0: expected a ScoringRequest, got 'Hallo'; `mean_logprobs` takes texts
    """  # noqa: E501
    checked = listed("requests", requests, what="ScoringRequests")
    for row, request in enumerate(checked):
        if not isinstance(request, ScoringRequest):
            raise InputError(
                f"requests: row {row}: expected a ScoringRequest, got {shown(request)};"
                " `mean_logprobs` takes texts"
            )
        check_text(request.source, f"requests: row {row}: source")
        check_text(request.translation, f"requests: row {row}: translation")
    if not checked:
        raise InputError("nothing to score: expected at least one request, got none")
    return checked


def _n_common(left: str, right: str) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
