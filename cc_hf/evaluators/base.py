"""The evaluator: scores of requests, with a cache, faster modes and several processes.

The template method `score` deduplicates the requests, looks them up in the cache, checks lengths,
forms batches, stores the new scores and restores the order. This module does not import torch.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, TooLongError, check_choice
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.cache_session import CacheSession, ScoreRow, TokenIds
from cc_hf.evaluators.options import MODES
from cc_hf.evaluators.scores import TokenScores
from cc_hf.evaluators.token_model import TokenModel, numbered_requests
from cc_hf.progress import Progress
from cc_hf.schema import ScoringRequest

__all__ = ["SCORING_VERSION", "Evaluator", "ScoreFunction", "library_versions"]

#: A function that scores translations: (sources, translations) -> one score per pair, at least 0,
#: higher is better.
ScoreFunction = Callable[[Sequence[str], Sequence[str]], Sequence[float]]

#: To be increased whenever `score` can give other numbers for the same model, so that scores that
#: were stored before are no longer used.
SCORING_VERSION = 4


class Evaluator(TokenModel):
    """A model that scores translations, with a cache and faster modes.

    Attributes:
        mode: the resolved mode, one of `cc_hf.evaluators.options.MODES`; "auto" without a faster
            pass is "exact". In "auto" all scores of `score` are exact, and `fast` is the faster
            pass.
    """

    mode: str = "exact"

    def score_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> TokenScores:
        """Score one batch.

        Args:
            sources: token ids of n sources, as `encode_sources` returns them.
            targets: token ids of n translations, as `encode_targets` returns them.
        """
        return TokenScores.of(self.logprobs_batch(sources, targets))

    def signature_fields(self) -> dict[str, str]:
        """Return the fields that describe this evaluator in a signature.

        Where decisions use a faster pass, `dtype` names its precision and the exact one.
        """
        fields = {
            "eval": f"{self.name}@{self.identity}",
            "dtype": self.dtype if self.fast is None else f"{self.fast.dtype}/{self.dtype}",
        }
        return {**fields, "toolong": "truncate"} if self.on_too_long == "truncate" else fields

    def cache_identity(self) -> dict[str, str]:
        """Return everything that a score depends on except languages and texts.

        The cache never mixes scores of different identities. A family with an option that changes
        scores and that is not in `signature_fields` must add it here. `batch_tokens` is left out
        because it changes only rounding. Devices and versions of the libraries are included because
        they round differently, visibly so in low precision.
        """
        return {
            **self.signature_fields(),
            "dtype": self.dtype,
            "class": f"{type(self).__module__}.{type(self).__qualname__}",
            "device": self.device,
            "max_tokens": str(self.max_tokens),
            # A translation that counts as incorrect is not scored, so that no score depends on it.
            "on_too_long": "error" if self.on_too_long == "incorrect" else self.on_too_long,
            "scoring": str(SCORING_VERSION),
            **library_versions(),
        }

    @property
    def fast(self) -> Evaluator | None:
        """In mode "auto", a faster copy with approximate scores; otherwise None."""
        return None

    def fast_modes(self) -> tuple[str, ...]:
        """Return those of "bf16" and "int8" that this evaluator supports on this machine."""
        return ()

    def with_mode(self, mode: str) -> Evaluator:
        """Return a copy of the evaluator in another mode, which shares the model.

        Args:
            mode: one of `MODES`; "auto" becomes "exact" where bf16 is not faster.

        Raises:
            InputError: for an unknown mode, or one that the evaluator does not support.
        """
        check_choice("mode", mode, MODES)
        if mode in ("bf16", "int8") and mode not in self.fast_modes():
            raise InputError(
                f"mode: {self.name} ({self.dtype}, on {self.device}) is scored without {mode}; it"
                f" has {', '.join(('auto', 'exact', *self.fast_modes()))}"
            )
        variant = copy.copy(self)  # shares the model, so that no weights are held twice
        variant.mode = "exact" if mode == "auto" and not self._gains_by_bf16() else mode
        if mode in ("bf16", "int8"):
            variant.dtype = mode
        return variant

    def _gains_by_bf16(self) -> bool:
        """Return whether mode "auto" uses a pass in bf16."""
        return False

    def score(
        self,
        requests: Sequence[ScoringRequest],
        *,
        src_lang: str,
        tgt_lang: str,
        progress: bool = False,
    ) -> TokenScores:
        """Score every request.

        Requests with equal token ids are scored once, so that texts which the model cannot tell
        apart have exactly the same score. Requests that are in the cache are not scored again. The
        result does not depend on order or batch size beyond rounding.

        Args:
            src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.
            progress: whether to show a progress bar, on the main process only.

        Returns:
            Arrays in the order of the requests.

        Raises:
            InputError: for no requests, or languages that the model does not support.
            TooLongError: for a text longer than `max_tokens` if `on_too_long` is "error"; the
                message names the row.
            CacheError: for a cache that is damaged or of another version.
            EvaluatorError: for a score that `check_scores` refuses, or when another process of the
                team failed.
        """
        if not requests:
            raise InputError("nothing to score: expected at least one request, got none")
        self.refresh()
        # Sorting makes the batches, and so the rounding, independent of the order of the input.
        distinct = sorted(set(requests))
        index_of = {request: i for i, request in enumerate(distinct)}
        src_lang, tgt_lang = src_lang or self.src_lang, tgt_lang or self.tgt_lang
        self.check_languages(src_lang, tgt_lang)
        pairs = [(request.source, request.translation) for request in distinct]
        table: list[ScoreRow] = [(0.0, 0, 0.0)] * len(distinct)
        # Processes with other input would wait for each other forever, so they are refused first.
        self.team.check_alike(self.cache_identity(), src_lang, tgt_lang, pairs)

        def keep(rows: dict[int, ScoreRow]) -> None:
            if rows:
                self.check_scores(
                    TokenScores.of_rows(list(rows.values())), [distinct[i] for i in rows]
                )
            for i, row in rows.items():
                table[i] = row

        with contextlib.ExitStack() as stack:
            with self.team.reporting_errors():
                session = stack.enter_context(self._session(src_lang, tgt_lang))
            # Only the main process has the cache; the others get what it holds.
            known = self.team.from_main(lambda: session.find(pairs))
            keep(known)
            missing = [i for i in range(len(distinct)) if i not in known]
            with self.team.reporting_errors():
                sources, targets = self._encode([distinct[i] for i in missing], src_lang, tgt_lang)
            alike: dict[TokenIds, list[int]] = {}  # token ids -> requests that have them
            for i, source, target in zip(missing, sources, targets, strict=True):
                alike.setdefault((tuple(source), tuple(target)), []).append(i)
            ids = list(alike)
            # Another text with the same token ids may have been scored before.
            stored = self.team.from_main(lambda: session.find_equal(ids))
            unscored = [key for k, key in enumerate(ids) if k not in stored]
            ready = [([ids[k] for k in stored], list(stored.values()))] if stored else []
            batches = self._score_all(
                [list(source) for source, _ in unscored], [list(target) for _, target in unscored]
            )
            # This is a generator: each batch is scored when the loop below asks for it.
            scored = (([unscored[k] for k in batch], rows) for batch, rows in batches)
            quiet = not progress or not self.team.is_main
            with Progress(
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
                    # Whole batches are stored, so that a resumed run forms the same batches.
                    session.add(
                        [pairs[i] for i in row_of],
                        list(row_of.values()),
                        [key for key in keys for _ in alike[key]],
                    )
                    bar.update(len(row_of))
        return TokenScores.of_rows([table[index_of[request]] for request in requests])

    def check_not_cut_alike(
        self,
        pairs: Sequence[tuple[ScoringRequest, ScoringRequest]],
        *,
        src_lang: str,
        tgt_lang: str,
    ) -> None:
        """Refuse pairs of texts that differ, but become equal when they are cut to `max_tokens`.

        What distinguishes such texts, the cue, is lost, so that the decision would be a tie.

        Args:
            src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.

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

    def mean_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> npt.NDArray[np.float64]:
        """Return the mean log-probability per target token of each translation under its source.

        Args:
            src_lang, tgt_lang: languages of the texts; "" if the model has one direction or was
                loaded with languages.

        Returns:
            Natural logarithms, (n,) float64; EOS counts as a target token.

        Raises:
            InputError: for different numbers of sources and translations, no pairs, or languages
                that the model does not support.
            TooLongError, CacheError, EvaluatorError: as for `score`.
        """
        return self.score(
            numbered_requests(sources, translations), src_lang=src_lang, tgt_lang=tgt_lang
        ).mean_logprob

    def _session(
        self, src_lang: str, tgt_lang: str
    ) -> contextlib.AbstractContextManager[CacheSession]:
        """Return the open cache for these languages, or a session that stores nothing."""
        if self.cache is None:
            return contextlib.nullcontext(CacheSession())
        return self.cache.session(
            {**self.cache_identity(), "src_lang": src_lang, "tgt_lang": tgt_lang},
            rounding=self._rounding,
        )

    def _score_all(
        self, sources: list[list[int]], targets: list[list[int]]
    ) -> Iterator[tuple[list[int], list[ScoreRow]]]:
        """Yield the indices and scores of one batch after the other."""
        lengths = [len(s) for s in sources], [len(t) for t in targets]
        batches = plan_batches(*lengths, batch_tokens=self.batch_tokens)
        # The padded tokens of a batch: several processes share the batches evenly by them.
        costs = [
            len(batch) * sum(max(side[i] for i in batch) for side in lengths) for batch in batches
        ]

        def score(batch: list[int]) -> list[ScoreRow]:
            scores = self.score_batch([sources[i] for i in batch], [targets[i] for i in batch])
            return list(
                zip(
                    scores.sum_logprob.tolist(),
                    scores.n_tokens.tolist(),
                    scores.mean_probability.tolist(),
                    strict=True,
                )
            )

        yield from self.team.run(batches, costs, score, self.apply)


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that affect rounding, "" where one is not installed.

    Examples:
        >>> list(library_versions())
        ['torch', 'transformers']
    """
    return {package: _version(package) for package in ("torch", "transformers")}


@functools.cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
