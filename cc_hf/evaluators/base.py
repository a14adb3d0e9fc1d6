"""What wraps the model of a family: identity, faster modes, cache, processes and parts.

`Evaluator.score` takes scores from a cache, several processes or parts (`Sharing`);
log-probabilities of single tokens are always computed. This module does not import torch.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, TooLongError, check_choice
from cc_hf.evaluators.batching import (
    checked_requests,
    encoded,
    encoded_whole,
    numbered_requests,
    plan_batches,
)
from cc_hf.evaluators.cache_session import CacheSession, Pair, ScoreRow, TokenIds
from cc_hf.evaluators.distributed import ALONE, Team
from cc_hf.evaluators.options import MODES, PartialScores
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.evaluators.token_model import TokenModel
from cc_hf.languages import base_code, language_name
from cc_hf.progress import Progress
from cc_hf.schema import ScoringRequest

__all__ = ["SCORING_VERSION", "Evaluator", "Sharing", "library_versions"]

#: To be increased whenever `score` can give other numbers for the same model, so that scores that
#: were stored before are no longer used.
SCORING_VERSION = 4


@dataclass(frozen=True)
class Sharing:
    """Where scores are looked up and kept, and who computes those that are missing.

    Attributes:
        cache: scores on disk; among several processes only the main one has it.
        node_cache: scores on disk of another machine than that of the main process; only read.
        part: the part of the scores that is computed; None for all of them.
    """

    cache: ScoreCache | None = None
    team: Team = ALONE
    node_cache: ScoreCache | None = None
    part: PartialScores | None = None

    def session(
        self, identity: Mapping[str, str]
    ) -> contextlib.AbstractContextManager[CacheSession]:
        """Return the open cache for an identity, or a session that stores nothing."""
        if self.cache is None:
            return contextlib.nullcontext(CacheSession(identity=identity))
        return self.cache.session(identity)

    def score(
        self,
        model: Evaluator,
        requests: Sequence[ScoringRequest],
        identity: Mapping[str, str],
        *,
        progress: bool,
    ) -> TokenScores:
        """Return the scores of requests: those that are known, and the others from the model."""
        # Sorting makes the batches, and so the rounding, independent of the order of the input.
        distinct = sorted(set(requests))
        pairs = [(request.source, request.translation) for request in distinct]
        table: dict[ScoringRequest, ScoreRow] = {}
        # Processes with other input would wait for each other forever, so they are refused first.
        self.team.check_alike(dict(identity), pairs)

        def keep(rows: dict[int, ScoreRow]) -> None:
            if rows:
                model.check_scores(
                    TokenScores.of_rows(list(rows.values())), [distinct[i] for i in rows]
                )
            table.update((distinct[i], row) for i, row in rows.items())

        with contextlib.ExitStack() as stack:
            with self.team.reporting_errors():
                session = stack.enter_context(self.session(identity))
            # Only the main process writes its cache; the others get what it holds.
            known = self.team.from_main(lambda: session.find(pairs))
            known |= self._of_other_nodes(session, pairs, known)
            keep(known)
            if len(known) < len(distinct):
                with self.team.reporting_errors():
                    alike = _alike(model, distinct, identity)
                show = self._progress(len(distinct), progress)
                if self.part is not None:
                    self.part.compute(model, session, distinct, alike, show)
                for keys, rows in self._missing(model, session, alike, known, show):
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
        return TokenScores.of_rows([table[request] for request in requests])

    def _of_other_nodes(
        self, session: CacheSession, pairs: Sequence[Pair], known: Mapping[int, ScoreRow]
    ) -> dict[int, ScoreRow]:
        """Return scores that another machine has and the main process lacks, and store them."""
        if self.team.size == 1 or len(known) == len(pairs):
            return {}
        shared_file = self.team.from_main(lambda: self.cache.number if self.cache else 0)
        missing = [i for i in range(len(pairs)) if i not in known]
        rows: dict[int, ScoreRow] = {}
        with self.team.reporting_errors():
            # A file that the machines share is opened by the main process only, so that nothing
            # depends on the locks of a network file system.
            if self.node_cache is not None and self.node_cache.number not in (0, shared_file):
                with self.node_cache.session(dict(json.loads(session.identity))) as other:
                    by_number = other.find([pairs[i] for i in missing])
                rows = {missing[k]: row for k, row in by_number.items()}
        for of_process in reversed(self.team.from_all(rows)):
            rows |= of_process
        session.add([pairs[i] for i in rows], list(rows.values()))
        return rows

    def _missing(
        self,
        model: Evaluator,
        session: CacheSession,
        alike: Mapping[TokenIds, Sequence[int]],
        known: Mapping[int, ScoreRow],
        show: Callable[[int], Progress],
    ) -> Iterator[tuple[list[TokenIds], list[ScoreRow]]]:
        """Yield the scores of requests that are not known, batch by batch."""
        # Another text with the same token ids may have been scored before.
        ready = {
            key: next(known[i] for i in members if i in known)
            for key, members in alike.items()
            if any(i in known for i in members) and not all(i in known for i in members)
        }
        ids = [key for key, members in alike.items() if not any(i in known for i in members)]
        stored = self.team.from_main(lambda: session.find_equal(ids))
        ready |= {ids[k]: row for k, row in stored.items()}
        unscored = {key for k, key in enumerate(ids) if k not in stored}
        whole: list[list[TokenIds]] = []
        rest: set[TokenIds] = set()
        # Batches are planned for all requests, so that a run that was stopped anywhere, and merged
        # parts, leave batches of the same plan. Where another evaluation has scored some pairs of a
        # batch, the others are planned anew, together with those of all such batches.
        for batch in self.plan(model, list(alike)):
            left = [key for key in batch if key in unscored]
            if len(left) == len(batch):
                whole.append(batch)
            else:
                rest.update(left)
        with show(len(known)) as bar:
            if ready:
                yield list(ready), list(ready.values())
                bar.update(sum(len(alike[key]) for key in ready))
            for keys, rows in self.score_batches(
                model, [*whole, *self.plan(model, [key for key in alike if key in rest])]
            ):
                yield keys, rows
                bar.update(sum(len(alike[key]) for key in keys))

    def _progress(self, n: int, progress: bool) -> Callable[[int], Progress]:
        """Return what makes a progress bar of `n` pairs, from the number that are known."""
        return lambda n_known: Progress(
            total=n,
            initial=n_known,
            desc="scoring",
            unit="pair",
            disable=not progress or not self.team.is_main,
            delay=1,
            leave=False,
        )

    @staticmethod
    def plan(model: Evaluator, ids: Sequence[TokenIds]) -> list[list[TokenIds]]:
        """Return the batches of distinct token ids."""
        lengths = [len(source) for source, _ in ids], [len(target) for _, target in ids]
        batches = plan_batches(*lengths, batch_tokens=model.batch_tokens)
        return [[ids[i] for i in batch] for batch in batches]

    @staticmethod
    def costs(batches: Sequence[Sequence[TokenIds]]) -> list[int]:
        """Return the padded tokens of batches; processes and parts share these evenly."""
        return [
            len(batch) * sum(max(len(ids[side]) for ids in batch) for side in (0, 1))
            for batch in batches
        ]

    def score_batches(
        self, model: Evaluator, batches: Sequence[list[TokenIds]]
    ) -> Iterator[tuple[list[TokenIds], list[ScoreRow]]]:
        """Yield the scores of one batch after the other."""

        def score(batch: list[TokenIds]) -> list[ScoreRow]:
            scores = model.score_batch([list(s) for s, _ in batch], [list(t) for _, t in batch])
            return scores.rows()

        yield from self.team.run(batches, self.costs(batches), score, model.apply)


class Evaluator(TokenModel):
    """A model that scores translations, with a cache and faster modes.

    Attributes:
        sharing: the cache, the processes, and the part of the scores that is computed.
        mode: the resolved mode, one of `cc_hf.evaluators.options.MODES`; "auto" without a faster
            pass is "exact". In "auto" all scores of `score` are exact, and `fast` is the faster
            pass.
        reopen: opens the same evaluator in another process, without cache, team and part; None for
            an evaluator that was not loaded by name.
    """

    mode: str = "exact"
    sharing: Sharing = Sharing()
    reopen: Callable[[], Evaluator] | None = None

    def score_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> TokenScores:
        """Score one batch of token ids, as `encode_sources` and `encode_targets` return them."""
        return TokenScores.of(self.logprobs_batch(sources, targets))

    def signature_fields(self) -> dict[str, str]:
        """Return the fields that describe this evaluator in a signature."""
        fields = {
            "eval": f"{self.name}@{self.identity}",
            # Where a faster pass decides, both precisions are named: its own and the exact one.
            "dtype": self.dtype if self.fast is None else f"{self.fast.dtype}/{self.dtype}",
        }
        return {**fields, "toolong": "truncate"} if self.on_too_long == "truncate" else fields

    def cache_identity(self) -> dict[str, str]:
        """Return everything that a score depends on except languages and texts.

        The cache never mixes scores of different identities. A family with an option that changes
        scores and that is not in `signature_fields` must add it here.
        """
        # `batch_tokens` changes only rounding, so it is left out. Devices and versions of the
        # libraries also round differently, but visibly so in low precision.
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
            requests: as `cc_hf.evaluators.batching.numbered_requests` makes them of texts.
            src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.
            progress: whether to show a progress bar, on the main process only.

        Returns:
            Arrays in the order of the requests.

        Raises:
            InputError: for no requests, anything else than a list of requests, a text with a lone
                surrogate, or languages that the model does not support.
            TooLongError: for a text longer than `max_tokens` if `on_too_long` is "error"; the
                message names the row.
            CacheError: for a cache that is damaged or of another version.
            EvaluatorError: for a score that `check_scores` refuses, or when another process of the
                team failed.
        """
        requests = checked_requests(requests)
        self.refresh()
        src_lang, tgt_lang = self.languages(src_lang, tgt_lang)
        self.check_languages(src_lang, tgt_lang)
        identity = {**self.cache_identity(), "src_lang": src_lang, "tgt_lang": tgt_lang}
        return self.sharing.score(self, requests, identity, progress=progress)

    def check_not_cut_alike(
        self,
        pairs: Sequence[tuple[ScoringRequest, ScoringRequest]],
        *,
        src_lang: str,
        tgt_lang: str,
    ) -> None:
        """Refuse pairs of texts that differ, but become equal when they are cut to `max_tokens`.

        What distinguishes such texts, the cue, is lost, so that the decision would be a tie.

        Raises:
            TooLongError: for the first such pair; the message names its row.
        """
        src_lang, tgt_lang = self.languages(src_lang, tgt_lang)
        requests = sorted({request for pair in pairs for request in pair})
        sources, targets = encoded_whole(self, requests, src_lang, tgt_lang)
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
        return self._logprobs(
            *encoded(self, requests, *self.languages(src_lang, tgt_lang)), requests
        )

    def id_logprobs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probability of every target token of pairs that are already encoded.

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
        """Return checked log-probabilities; pairs with equal token ids are computed once."""
        self.refresh()
        keys = [
            (tuple(source), tuple(target)) for source, target in zip(sources, targets, strict=True)
        ]
        distinct = list(dict.fromkeys(keys))
        logprobs_of: dict[TokenIds, npt.NDArray[np.float64]] = {}
        batches = self.sharing.plan(self, distinct)

        def compute(batch: list[TokenIds]) -> list[npt.NDArray[np.float64]]:
            return self.logprobs_batch([list(s) for s, _ in batch], [list(t) for _, t in batch])

        for batch, rows_of_batch in zip(batches, self.apply(compute, batches), strict=True):
            logprobs_of.update(zip(batch, rows_of_batch, strict=True))
        rows = [logprobs_of[key] for key in keys]
        self.check_logprobs(rows, requests)
        return rows

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
        source_ids, targets = encoded(self, requests, *self.languages(src_lang, tgt_lang))
        pieces = {row: self._pieces(row) for row in dict.fromkeys(map(tuple, targets))}
        logprobs = self._logprobs(source_ids, targets, requests)
        return [
            list(zip(pieces[tuple(target)][-len(row) :], row.tolist(), strict=True))
            # The first tokens of a target may be forced; they have a text but no probability.
            for target, row in zip(targets, logprobs, strict=True)
        ]

    def _pieces(self, ids: Sequence[int]) -> list[str]:
        """Return what each id adds to the text of the ids before it."""
        # Decoded prefixes are compared because tokenizers mark words and write parts of characters
        # in many ways.
        texts = [
            "".join(text.split()).rstrip("\ufffd")
            for text in self.decode_targets([ids[: n + 1] for n in range(len(ids))])
        ]
        return [
            text[_n_common(before, text) :]
            for before, text in zip(["", *texts], texts, strict=False)
        ]

    def variety_notes(self, src_lang: str, tgt_lang: str) -> tuple[str, ...]:
        """Return a note for each language whose script or region the model does not know."""
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


def _n_common(left: str, right: str) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )


def _alike(
    model: TokenModel, requests: Sequence[ScoringRequest], identity: Mapping[str, str]
) -> dict[TokenIds, list[int]]:
    """Return the token ids of requests, with the indices of the requests that have them."""
    alike: dict[TokenIds, list[int]] = {}
    sides = encoded(model, requests, identity["src_lang"], identity["tgt_lang"])
    for i, (source, target) in enumerate(zip(*sides, strict=True)):
        alike.setdefault((tuple(source), tuple(target)), []).append(i)
    return alike
