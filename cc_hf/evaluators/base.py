"""The evaluator: requests in, per-token sums out.

The template method `score` deduplicates, looks up what the cache knows, checks lengths, sorts,
batches, stores and restores the order. No torch here.
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
from tqdm import tqdm

from cc_hf.errors import InputError, TooLongError, shown
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.options import MODES
from cc_hf.evaluators.score_cache import CacheSession, ScoreRow, TokenIds
from cc_hf.evaluators.scores import TokenScores
from cc_hf.evaluators.token_model import TokenModel, numbered_requests
from cc_hf.schema import ScoringRequest

__all__ = ["SCORING_VERSION", "Evaluator", "ScoreFunction", "library_versions"]

#: Anything that scores translations under sources: (sources, translations) -> one score per pair, 0
#: or more, higher is better.
ScoreFunction = Callable[[Sequence[str], Sequence[str]], Sequence[float]]

#: Raised whenever `score` can give other numbers for the same model: scores that were stored before
#: are then not taken.
SCORING_VERSION = 3


class Evaluator(TokenModel):
    """A model that scores translations, with a cache and faster modes.

    Attributes:
        mode: of `cc_hf.evaluators.options.MODES`, as it was found to be: "auto" without a faster
            pass is "exact". In "auto" all scores are exact, and `fast` is the faster pass.
    """

    mode: str = "exact"

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
            numbered_requests(sources, translations), src_lang=src_lang, tgt_lang=tgt_lang
        ).mean_logprob

    def _session(
        self, src_lang: str, tgt_lang: str
    ) -> contextlib.AbstractContextManager[CacheSession]:
        if self.cache is None:
            return contextlib.nullcontext(CacheSession())
        return self.cache.session(
            {**self.cache_identity(), "src_lang": src_lang, "tgt_lang": tgt_lang},
            rounding=self._rounding,
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


def library_versions() -> dict[str, str]:
    """Of the libraries whose versions round in their own ways; "" where one is not installed."""
    return {package: _version(package) for package in ("torch", "transformers")}


@functools.cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
