"""The evaluator protocol: requests in, per-token sums out.

A family says how to tokenise and how to run one batch, nothing else.

The template method `score` deduplicates, looks up what the cache knows, checks lengths, sorts,
batches, stores and restores the order. No torch here.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cc_hf.errors import EvaluatorError, InputError, TooLongError, shown
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.evaluators.score_cache import CacheSession, ScoreCache, ScoreRow, TokenIds
from cc_hf.schema import ScoringRequest

__all__ = [
    "LOG_SCORES",
    "MODES",
    "SCORES",
    "SCORING_VERSION",
    "Evaluator",
    "ScoreFunction",
    "TokenScores",
    "check_batch_tokens",
    "check_score_name",
    "library_versions",
]

#: Anything that scores translations under sources: (sources, translations) -> one score per pair, 0
#: or more, higher is better.
ScoreFunction = Callable[[Sequence[str], Sequence[str]], Sequence[float]]

#: How an evaluator computes: «exact», by fp32 where its weights are; «bf16» and «int8», products in
#: these; «auto», in bf16 where the machine is good at it, and exactly what a decision needs
#: (`cc_hf.evaluators.contests`).
MODES = ("auto", "exact", "bf16", "int8")

#: Raised whenever `score` can give other numbers for the same model: scores that were stored before
#: are then not taken.
SCORING_VERSION = 3

# How far above 0 the mean log-probability of a translation may come by rounding: products in bf16
# and int8 round the logits themselves
_ROUNDING = 1e-3
_LOW_PRECISION_ROUNDING = 0.5
_LOW_PRECISION = ("bf16", "int8")


@dataclass(frozen=True)
class TokenScores:
    """What teacher forcing keeps of each request; every score definition is a function of it.

    Attributes:
        sum_logprob: (n,) float64, sum of natural-log probabilities of the target tokens, EOS
            included.
        n_tokens: (n,) int64, number of target tokens, EOS included.
        mean_probability: (n,) float64, arithmetic mean of the token probabilities, in [0, 1].
    """

    sum_logprob: npt.NDArray[np.float64]
    n_tokens: npt.NDArray[np.int64]
    mean_probability: npt.NDArray[np.float64]

    @property
    def mean_logprob(self) -> npt.NDArray[np.float64]:
        """(n,) mean natural-log probability per target token."""
        return self.sum_logprob / self.n_tokens

    @classmethod
    def of(cls, logprobs: Sequence[npt.NDArray[np.float64]]) -> TokenScores:
        """From the natural-log probabilities of every token, one array per request.

        >>> TokenScores.of([np.log([0.5, 0.25]), np.log([1.0])]).mean_probability.tolist()
        [0.375, 1.0]
        """
        with np.errstate(all="ignore"):  # what is not finite is refused by `Evaluator.check_scores`
            return cls(
                np.array([row.sum() for row in logprobs], dtype=np.float64),
                np.array([len(row) for row in logprobs], dtype=np.int64),
                np.array(
                    [np.exp(row).mean() if len(row) else np.nan for row in logprobs],
                    dtype=np.float64,
                ),
            )

    @classmethod
    def of_rows(cls, rows: Sequence[ScoreRow]) -> TokenScores:
        """From one row per request, as the cache keeps them; at least one.

        >>> TokenScores.of_rows([(-2.0, 4, 0.5), (-1.0, 1, 0.25)]).mean_logprob.tolist()
        [-0.5, -1.0]
        """
        sums, counts, means = zip(*rows, strict=True)
        return cls(
            np.array(sums, dtype=np.float64),
            np.array(counts, dtype=np.int64),
            np.array(means, dtype=np.float64),
        )

    def __getitem__(self, index: npt.NDArray[np.int64]) -> TokenScores:
        return TokenScores(
            self.sum_logprob[index], self.n_tokens[index], self.mean_probability[index]
        )


#: Score of one pair by name (spec of Vamvas & Sennrich 2021 and its program):
#: arithmetic, the mean token probability of the paper's footnote 2; geometric, exp of the mean
#: log-probability, the default; reference, 2 ** mean natural-log probability, which the paper's
#: program computes.
SCORES: dict[str, Callable[[TokenScores], npt.NDArray[np.float64]]] = {
    "arithmetic": lambda found: found.mean_probability,
    "geometric": lambda found: np.exp(found.mean_logprob),
    "reference": lambda found: np.exp2(found.mean_logprob),
}


#: Scores that are logarithms already, and so not in [0, 1]: logprob, of the whole translation, not
#: normalised by its length (Sennrich 2017).
LOG_SCORES: dict[str, Callable[[TokenScores], npt.NDArray[np.float64]]] = {
    "logprob": lambda found: found.sum_logprob
}


class Evaluator(ABC):
    """A model that gives the probability of a translation under a source.

    Attributes:
        name: as the user named it.
        identity: commit of the Hub, or the first 12 hexadecimal digits of the SHA-256 over the
            model's files.
        dtype: of the arithmetic, such as float32.
        batch_tokens: padded source plus target tokens of a batch.
        max_tokens: longest source or target that the model takes, EOS included.
        on_too_long: «error», or «truncate»: the text is cut and the signature says so.
        src_lang, tgt_lang: languages that a call may leave out, "" for none.
        takes_prompt: whether a family has the option `prompt`.
        n_source_end: how many ids at the end of a source are marks (EOS, in some models a
            language), which truncation keeps.
        device: kind of device, «cpu» or «cuda».
        cache: of scores on disk; None for none. Among several processes the main one has it.
        team: the processes that score together.
        mode: of `MODES`, as it was found to be: «auto» without a faster pass is «exact». Of «auto»
            all scores are exact, and `fast` is the faster pass.
    """

    takes_prompt: ClassVar[bool] = False
    n_source_end: int = 1
    mode: str = "exact"

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
        device: str = "cpu",
        cache: ScoreCache | None = None,
        team: Team = ALONE,
    ) -> None:
        check_batch_tokens(batch_tokens)
        if on_too_long not in ("error", "truncate"):
            raise InputError(
                f"on_too_long: expected 'error' or 'truncate', got {shown(on_too_long)}"
            )
        self.name = name
        self.identity = identity
        self.dtype = dtype
        self.batch_tokens = batch_tokens
        self.max_tokens = max_tokens
        self.on_too_long = on_too_long
        self.src_lang = src_lang
        self.tgt_lang = tgt_lang
        self.device = device
        self.cache = cache
        self.team = team

    @abstractmethod
    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Raise InputError when the model does not translate from `src_lang` to `tgt_lang`."""

    @abstractmethod
    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Token ids of each source as the encoder takes them, EOS included."""

    @abstractmethod
    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Token ids of each translation as the model must produce them, EOS included; a family
        whose first tokens do not count says how many.
        """

    @abstractmethod
    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Per pair of one batch the natural-log probability of every token that counts; all scores
        follow from it.
        """

    def score_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> TokenScores:
        """The scores of one batch."""
        return TokenScores.of(self.logprobs_batch(sources, targets))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}@{self.identity}, {self.dtype})"

    def signature_fields(self) -> dict[str, str]:
        """What the signature says of this evaluator; `dtype` names the faster pass and the exact
        one, where decisions take both.
        """
        fields = {
            "eval": f"{self.name}@{self.identity}",
            "dtype": self.dtype if self.fast is None else f"{self.fast.dtype}/{self.dtype}",
        }
        return {**fields, "toolong": "truncate"} if self.on_too_long == "truncate" else fields

    def cache_identity(self) -> dict[str, str]:
        """All that a score depends on but languages and texts; scores of different identities never
        meet in a cache.

        A family with an option that changes scores and that is not in `signature_fields` adds it
        here. `batch_tokens` is left out: it changes nothing but rounding. Devices and versions of
        the libraries round in their own ways, in low precision visibly, so they are part of it.
        """
        return {
            **self.signature_fields(),
            "dtype": self.dtype,
            "class": f"{type(self).__module__}.{type(self).__qualname__}",
            "device": self.device,
            "max_tokens": str(self.max_tokens),
            "on_too_long": self.on_too_long,
            "scoring": str(SCORING_VERSION),
            **library_versions(),
        }

    @property
    def fast(self) -> Evaluator | None:
        """Of the mode «auto»: an evaluator of nearly the same scores that is faster."""
        return None

    def fast_modes(self) -> tuple[str, ...]:
        """Which of «bf16» and «int8» this evaluator has for its model on this machine."""
        return ()

    def with_mode(self, mode: str) -> Evaluator:
        """The same evaluator in a mode of `MODES`; «auto» where bf16 brings nothing is «exact».

        Raises:
            InputError: for an unknown mode, or one that the evaluator does not have.
        """
        if mode not in MODES:
            raise InputError(f"mode: expected one of {', '.join(MODES)}, got {shown(mode)}")
        if mode in ("bf16", "int8") and mode not in self.fast_modes():
            raise InputError(
                f"mode: {self.name} ({self.dtype}, on {self.device}) is scored without {mode}; it"
                f" has {', '.join(('auto', 'exact', *self.fast_modes()))}"
            )
        found = copy.copy(self)
        found.mode = "exact" if mode == "auto" and not self._gains_by_bf16() else mode
        if mode in ("bf16", "int8"):
            found.dtype = mode
        return found

    def _gains_by_bf16(self) -> bool:
        return False

    def score(
        self,
        requests: Sequence[ScoringRequest],
        *,
        src_lang: str,
        tgt_lang: str,
        progress: bool = False,
    ) -> TokenScores:
        """Score every request; arrays are in the order of the requests.

        Requests of equal token ids are scored once, and those that the cache knows not at all:
        texts that the model cannot tell apart have the very same score. The result does not depend
        on order or batch size beyond rounding.

        Raises:
            InputError: for no requests, or languages that the model does not support.
            TooLongError: when a text is longer than `max_tokens` and `on_too_long` is «error»; the
                message names the row.
            CacheError: when the cache is damaged or of another version.
            EvaluatorError: for a score that is no number (`check_scores`), or when another process
                of the team failed.
        """
        if not requests:
            raise InputError("nothing to score: expected at least one request, got none")
        self.refresh()
        # the canonical order: a shuffled input gives the very same batches
        distinct = sorted(set(requests))
        place = {request: i for i, request in enumerate(distinct)}
        src_lang, tgt_lang = src_lang or self.src_lang, tgt_lang or self.tgt_lang
        self.check_languages(src_lang, tgt_lang)
        pairs = [(request.source, request.translation) for request in distinct]
        table: list[ScoreRow] = [(0.0, 0, 0.0)] * len(distinct)
        self.team.check_alike(self.cache_identity(), src_lang, tgt_lang, pairs)

        def keep(rows: dict[int, ScoreRow]) -> None:
            if rows:
                self.check_scores(
                    TokenScores.of_rows(list(rows.values())), [distinct[i] for i in rows]
                )
            for i, row in rows.items():
                table[i] = row

        with contextlib.ExitStack() as stack:
            with self.team.telling():
                session = stack.enter_context(self._session(src_lang, tgt_lang))
            known = self.team.from_main(lambda: session.find(pairs))
            keep(known)
            missing = [i for i in range(len(distinct)) if i not in known]
            with self.team.telling():
                sources, targets = self._encode([distinct[i] for i in missing], src_lang, tgt_lang)
            alike: dict[TokenIds, list[int]] = {}  # by token ids, the requests that have them
            for i, source, target in zip(missing, sources, targets, strict=True):
                alike.setdefault((tuple(source), tuple(target)), []).append(i)
            ids = list(alike)
            # scored before, as another text
            same = self.team.from_main(lambda: session.find_equal(ids))
            left = [key for k, key in enumerate(ids) if k not in same]
            ready = [([ids[k] for k in same], list(same.values()))] if same else []
            batches = self._score_all(
                [list(source) for source, _ in left], [list(target) for _, target in left]
            )
            scored = (([left[k] for k in batch], rows) for batch, rows in batches)
            quiet = not progress or not self.team.is_main
            with tqdm(
                total=len(distinct),
                initial=len(known),
                desc="scoring",
                unit="pair",
                disable=quiet,
                delay=1,
                leave=False,
            ) as bar:
                for keys, rows in itertools.chain(ready, scored):
                    row_of = {
                        i: row for key, row in zip(keys, rows, strict=True) for i in alike[key]
                    }
                    keep(row_of)
                    # batch by batch, so that a resumed run makes the very batches that were left
                    session.add(
                        [pairs[i] for i in row_of],
                        list(row_of.values()),
                        [key for key in keys for _ in alike[key]],
                    )
                    bar.update(len(row_of))
        return TokenScores.of_rows([table[place[request]] for request in requests])

    def refresh(self) -> None:
        """Forget what was prepared of weights that may have changed since; called before anything
        is scored.
        """
        return

    def check_scores(self, scores: TokenScores, requests: Sequence[ScoringRequest]) -> None:
        """Refuse scores that no intact model gives; every score passes here, whatever made it,
        before it is stored or returned.

        Args:
            scores: one for each request.
            requests: name row, source and translation in the message.

        Raises:
            EvaluatorError: for a score that is NaN or infinite, a translation without tokens, or a
                probability that is not in [0, 1] up to rounding.
        """
        limit = self._rounding
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
                f" {self.dtype}: get it again, or use float32; when the score came from the cache,"
                " clear that (cc-hf cache clear)"
            )

    def check_logprobs(
        self, rows: Sequence[npt.NDArray[np.float64]], requests: Sequence[ScoringRequest]
    ) -> None:
        """As `check_scores`, of the log-probabilities of single tokens; a row may be empty.

        Raises:
            EvaluatorError: as `check_scores`.
        """
        filled = [i for i, row in enumerate(rows) if len(row)]
        self.check_scores(TokenScores.of([rows[i] for i in filled]), [requests[i] for i in filled])

    def check_not_cut_alike(
        self,
        pairs: Sequence[tuple[ScoringRequest, ScoringRequest]],
        *,
        src_lang: str,
        tgt_lang: str,
    ) -> None:
        """Refuse pairs of opponents whose token ids differ, and no longer do once they are cut to
        `max_tokens`: what tells them apart is lost.

        Raises:
            TooLongError: for the first such pair; the message names its row.
        """
        src_lang, tgt_lang = src_lang or self.src_lang, tgt_lang or self.tgt_lang
        requests = sorted({request for pair in pairs for request in pair})
        sources, targets = self._encode_whole(requests, src_lang, tgt_lang)
        whole = dict(zip(requests, zip(sources, targets, strict=True), strict=True))
        for left, right in pairs:
            if whole[left] != whole[right] and self.fit(*whole[left], left) == self.fit(
                *whole[right], right
            ):
                raise TooLongError(
                    f"row {left.row}: two texts that are compared are the same once they are cut to"
                    f" the {self.max_tokens} tokens that {self.name} takes"
                    " (on_too_long='truncate'), so that the cue is lost and every choice is a tie:"
                    f" {left.source[:80]!r}... with {left.translation[:80]!r}. Shorten them, use an"
                    " evaluator that takes longer texts, or leave the row out"
                )

    def token_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> list[npt.NDArray[np.float64]]:
        """Per pair the natural-log probability of every token of the translation, EOS included, as
        a float64 array.

        Raises:
            InputError: as `mean_logprobs`.
        """
        requests = _requests(sources, translations)
        if not requests:
            return []
        return self._logprobs(
            *self._encode(requests, src_lang or self.src_lang, tgt_lang or self.tgt_lang), requests
        )

    def id_logprobs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """As `token_logprobs`, of token ids as `encode_sources` and `encode_targets` give them.

        Raises:
            EvaluatorError: as `check_scores`; the message gives the ids.
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
        """Of token ids, checked; equal ones are computed once, as in `score`.

        `requests` are for messages.
        """
        self.refresh()
        keys = [
            (tuple(source), tuple(target)) for source, target in zip(sources, targets, strict=True)
        ]
        distinct = list(dict.fromkeys(keys))
        found: dict[TokenIds, npt.NDArray[np.float64]] = {}
        for batch in plan_batches(
            [len(s) for s, _ in distinct],
            [len(t) for _, t in distinct],
            batch_tokens=self.batch_tokens,
        ):
            chosen = [distinct[i] for i in batch]
            found.update(
                zip(
                    chosen,
                    self.logprobs_batch([list(s) for s, _ in chosen], [list(t) for _, t in chosen]),
                    strict=True,
                )
            )
        rows = [found[key] for key in keys]
        self.check_logprobs(rows, requests)
        return rows

    def decode_targets(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The text of ids as `encode_targets` gives them, or of the beginning of such, without
        special tokens.

        Raises:
            InputError: when the evaluator cannot say it.
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
        """Per pair the tokens of the translation that count: what each adds to the text, without
        spaces, and its natural-log probability, as `token_logprobs`.

        A token that adds no letter of its own has "": EOS, a part of a character, in most models an
        unknown word.

        Raises:
            InputError: as `mean_logprobs`, or as `decode_targets`.
        """
        requests = _requests(sources, translations)
        if not requests:
            return []
        encoded, targets = self._encode(
            requests, src_lang or self.src_lang, tgt_lang or self.tgt_lang
        )
        pieces = {row: self._pieces(row) for row in dict.fromkeys(map(tuple, targets))}
        found = self._logprobs(encoded, targets, requests)
        return [
            list(zip(pieces[tuple(target)][-len(row) :], row.tolist(), strict=True))
            for target, row in zip(targets, found, strict=True)
        ]

    def _pieces(self, ids: Sequence[int]) -> list[str]:
        """What each id adds to the text of those before it; by text, since tokenizers mark words
        and write parts of characters in many ways.
        """
        texts = [
            "".join(text.split()).rstrip("\ufffd")
            for text in self.decode_targets([ids[: n + 1] for n in range(len(ids))])
        ]
        return [
            text[_n_common(before, text) :]
            for before, text in zip(["", *texts], texts, strict=False)
        ]

    def mean_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> npt.NDArray[np.float64]:
        """(n,) float64: mean natural-log probability per target token (EOS included) of each
        translation under its source.

        Languages may be left out where the model has only one direction, or was loaded with them.

        Raises:
            InputError: when the numbers of sources and translations differ, or as `score` does.
        """
        return self.score(
            _requests(sources, translations), src_lang=src_lang, tgt_lang=tgt_lang
        ).mean_logprob

    def _encode(
        self, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Token ids of sources and translations, lengths checked.

        A text that is too long is never in the cache, so the error is the same with one.
        """
        if not requests:
            return [], []
        self.check_languages(src_lang, tgt_lang)
        sources, targets = self._encode_whole(requests, src_lang, tgt_lang)
        pairs = [
            self.fit(source, target, request)
            for source, target, request in zip(sources, targets, requests, strict=True)
        ]
        return [source for source, _ in pairs], [target for _, target in pairs]

    def _encode_whole(
        self, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Token ids of sources and translations, of any length."""
        sources = self._encode_distinct(
            [r.source for r in requests],
            lambda texts: self.encode_sources(texts, src_lang, tgt_lang),
        )
        targets = self._encode_distinct(
            [r.translation for r in requests],
            lambda texts: self.encode_targets(texts, src_lang, tgt_lang),
        )
        return sources, targets

    @property
    def _rounding(self) -> float:
        return (
            _LOW_PRECISION_ROUNDING
            if any(dtype in self.dtype for dtype in _LOW_PRECISION)
            else _ROUNDING
        )

    def _session(
        self, src_lang: str, tgt_lang: str
    ) -> contextlib.AbstractContextManager[CacheSession]:
        if self.cache is None:
            return contextlib.nullcontext(CacheSession())
        return self.cache.session(
            {**self.cache_identity(), "src_lang": src_lang, "tgt_lang": tgt_lang},
            rounding=self._rounding,
        )

    def _encode_distinct(
        self, texts: Sequence[str], encode: Callable[[Sequence[str]], list[list[int]]]
    ) -> list[list[int]]:
        distinct = sorted(set(texts))
        table = dict(zip(distinct, encode(distinct), strict=True))
        return [table[text] for text in texts]

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Both sides as they are, or cut where that is allowed.

        Raises:
            TooLongError: when a side is longer than `max_tokens` and `on_too_long` is «error».
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
        text = request.source if side == "source" else request.translation
        raise TooLongError(
            f"row {request.row}: the {side} has {len(ids)} tokens, {self.name} takes at most"
            f" {self.max_tokens}: {text[:80]!r}... Shorten it, use an evaluator that takes longer"
            " texts, or pass on_too_long='truncate' (the signature will say so)"
        )

    def _score_all(
        self, sources: list[list[int]], targets: list[list[int]]
    ) -> Iterator[tuple[list[int], list[ScoreRow]]]:
        """Indices and scores, batch by batch."""
        lengths = [len(s) for s in sources], [len(t) for t in targets]
        batches = plan_batches(*lengths, batch_tokens=self.batch_tokens)
        costs = [
            len(batch) * sum(max(side[i] for i in batch) for side in lengths) for batch in batches
        ]

        def score(batch: list[int]) -> list[ScoreRow]:
            found = self.score_batch([sources[i] for i in batch], [targets[i] for i in batch])
            return list(
                zip(
                    found.sum_logprob.tolist(),
                    found.n_tokens.tolist(),
                    found.mean_probability.tolist(),
                    strict=True,
                )
            )

        yield from self.team.run(batches, costs, score)


def check_batch_tokens(batch_tokens: object) -> None:
    """Refuse what is no number of tokens.

    Raises:
        InputError: for anything but an integer of at least 1.

    >>> check_batch_tokens("many")
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: batch_tokens: expected an integer of at least 1, got 'many'
    """
    if (
        isinstance(batch_tokens, bool)
        or not isinstance(batch_tokens, (int, np.integer))
        or batch_tokens < 1
    ):
        raise InputError(
            f"batch_tokens: expected an integer of at least 1, got {shown(batch_tokens)}"
        )


def check_score_name(score: object, known: Collection[str]) -> None:
    """Refuse a definition of scores that is not known, or no name at all.

    Raises:
        InputError: with those that are known.
    """
    if not isinstance(score, str) or score not in known:
        raise InputError(f"score: expected one of {', '.join(known)}, got {shown(score)}")


def _requests(sources: Sequence[str], translations: Sequence[str]) -> list[ScoringRequest]:
    if len(sources) != len(translations):
        raise InputError(
            f"expected as many translations as sources, got {len(sources)} sources and"
            f" {len(translations)} translations"
        )
    return [
        ScoringRequest(source, translation, row)
        for row, (source, translation) in enumerate(zip(sources, translations, strict=True))
    ]


def _n_common(left: str, right: str) -> int:
    """How many characters both begin with."""
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )


def library_versions() -> dict[str, str]:
    """Of the libraries whose versions round in their own ways; "" where one is not installed."""
    return {package: _version(package) for package in ("torch", "transformers")}


@functools.cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
