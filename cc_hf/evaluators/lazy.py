"""Evaluators that load no model while the cache has all scores. No torch here.

The cache stores a record of each evaluator by the request that loaded it: the files or the commit
of the model, all options, the versions of the libraries. The same request later returns a
`LazyEvaluator`. It looks scores up as that evaluator would, and loads it when a score is missing or
anything else is needed.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf._version import __version__
from cc_hf.errors import InputError
from cc_hf.evaluators.base import SCORING_VERSION, Evaluator, Sharing, library_versions
from cc_hf.evaluators.batching import checked_requests
from cc_hf.evaluators.distributed import Apply, is_launched
from cc_hf.evaluators.ensemble import SentenceEnsembleEvaluator
from cc_hf.evaluators.options import LoadingOptions, named_members, scheme_of
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.files import is_folder
from cc_hf.models.location import locate, model_files, stamp, uses_cache_only
from cc_hf.records import read_record, write_record
from cc_hf.schema import ScoringRequest

__all__ = ["EvaluatorRecord", "LazyEvaluator", "open_evaluator"]

_MEMBERS = {"members": "each by itself"}  # record of an ensemble without scores of its own
_COMMIT = re.compile("[0-9a-f]{40}")
# The options that decide what is loaded. on_too_long is treated apart, since None means "error".
_DECIDING = sorted(
    {*LoadingOptions.names()} - {"revision", "cache", "distributed", "part", "on_too_long"}
)


@dataclass(frozen=True)
class EvaluatorRecord:
    """What is stored of an evaluator when it is loaded.

    Attributes:
        languages: the language pairs that it accepted.
        fast: the record of its faster, approximate copy, or None.
    """

    options: Mapping[str, Any]
    device: str
    n_source_end: int
    mode: str
    signature: Mapping[str, str]
    identity: Mapping[str, str]
    languages: tuple[tuple[str, str], ...]
    fast: EvaluatorRecord | None = None

    @classmethod
    def of(cls, evaluator: Evaluator, languages: Sequence[tuple[str, str]]) -> EvaluatorRecord:
        """Record a loaded evaluator."""
        names = (
            "name",
            "identity",
            "dtype",
            "batch_tokens",
            "max_tokens",
            "on_too_long",
            "src_lang",
            "tgt_lang",
        )
        fast = evaluator.fast
        return cls(
            {name: getattr(evaluator, name) for name in names},
            evaluator.device,
            evaluator.n_source_end,
            evaluator.mode,
            evaluator.signature_fields(),
            evaluator.cache_identity(),
            tuple(languages),
            None if fast is None else cls.of(fast, languages),
        )


class LazyEvaluator(Evaluator):
    """An evaluator that is not loaded before a score is missing."""

    def __init__(
        self, record: EvaluatorRecord, *, cache: ScoreCache, load: Callable[[], Evaluator]
    ) -> None:
        super().__init__(**record.options)
        self.sharing = Sharing(cache)
        self.device = record.device
        self.n_source_end = record.n_source_end
        self.mode = record.mode
        self._record = record
        self._store = cache
        self._load = load

    @functools.cached_property
    def real(self) -> Evaluator:
        """The evaluator itself, loaded when first asked for."""
        return self._load()

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return "real" in vars(self)

    @functools.cached_property
    def fast(self) -> Evaluator | None:
        """The faster, approximate copy, as lazy as this one."""
        # A cache may come from a machine with native bf16 and be used on one without: there the
        # evaluator itself computes what is missing.
        return (
            None
            if self._record.fast is None
            else LazyEvaluator(
                self._record.fast, cache=self._store, load=lambda: self.real.fast or self.real
            )
        )

    def __getattr__(self, name: str) -> Any:
        """Return what only the evaluator itself has, such as its tokenizer."""
        # Copying and pickling ask for such names, and must not load the model.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.real, name)

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of the evaluator itself."""
        return dict(self.real.signature_fields() if self.is_loaded else self._record.signature)

    def cache_identity(self) -> dict[str, str]:
        """Return the identity of the evaluator itself."""
        return dict(self.real.cache_identity() if self.is_loaded else self._record.identity)

    def score(
        self,
        requests: Sequence[ScoringRequest],
        *,
        src_lang: str,
        tgt_lang: str,
        progress: bool = False,
    ) -> TokenScores:
        """Look the scores up; load the evaluator if one is missing."""
        requests = checked_requests(requests)
        known = (
            None if self.is_loaded else self._known(requests, *self.languages(src_lang, tgt_lang))
        )
        return known or self.real.score(
            requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress
        )

    def _known(
        self, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
    ) -> TokenScores | None:
        """Return the checked scores, or None unless every one is stored."""
        if (src_lang, tgt_lang) not in self._record.languages:
            return None
        index = {request: i for i, request in enumerate(dict.fromkeys(requests))}
        identity = {**self.cache_identity(), "src_lang": src_lang, "tgt_lang": tgt_lang}
        with self.sharing.session(identity) as session:
            rows = session.find([(request.source, request.translation) for request in index])
        if len(rows) < len(index):
            return None
        scores = TokenScores.of_rows([rows[index[request]] for request in requests])
        self.check_scores(scores, requests)
        return scores

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Accept the recorded pairs; ask the evaluator itself about others."""
        if (src_lang, tgt_lang) not in self._record.languages:
            self.real.check_languages(src_lang, tgt_lang)

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the evaluator itself is told."""
        return self.real.scored_as(side, lang)

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the sources, from the evaluator itself."""
        return self.real.encode_sources(texts, src_lang, tgt_lang)

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return the token ids of the translations, from the evaluator itself."""
        return self.real.encode_targets(texts, src_lang, tgt_lang)

    def decode_targets(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of target ids, from the evaluator itself."""
        return self.real.decode_targets(rows)

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """Return the log-probabilities of the target tokens, from the evaluator itself."""
        return self.real.logprobs_batch(sources, targets)

    @property
    def apply(self) -> Apply:
        """How the evaluator itself applies a function to batches."""
        return self.real.apply

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """Return both sides as the evaluator itself fits them."""
        return self.real.fit(source, target, request)

    def fast_modes(self) -> tuple[str, ...]:
        """Return the faster modes of the evaluator itself."""
        return self.real.fast_modes()

    def with_mode(self, mode: str) -> Evaluator:
        """Return the evaluator itself in another mode."""
        return self.real.with_mode(mode)


def open_evaluator(
    name_or_path: str | Path | Sequence[str | Path],
    options: LoadingOptions,
    *,
    languages: tuple[str, str] = ("", ""),
) -> Evaluator:
    """Load an evaluator, or return a lazy one if the cache has its record.

    Args:
        languages: source and target language that will be scored, "" where the evaluator knows it.
    """
    each = named_members(name_or_path, options)

    def load() -> Evaluator:
        # A model that cannot be had is refused before torch is imported, which takes seconds.
        for name, member in each:
            if scheme_of(name) is None:
                revision: Any = member.revision  # one, since this is one model
                uses_cache_only(name, locate(name)[0], revision)
        from cc_hf.evaluators.loading import load_with

        return load_with(name_or_path, options)

    def members() -> list[Evaluator]:
        return [open_evaluator(*member, languages=languages) for member in each]

    # Processes exchange results in step, so that none of them may skip what the others load.
    request = (
        None
        if options.cache is False or (options.distributed and is_launched())
        else _request(each)
    )
    if request is None:
        return load()
    store = ScoreCache(None if isinstance(options.cache, bool) else options.cache)
    # The record answers what a name, a signature and a key need; weights are loaded by need.
    known = store.recall(request)
    if known == _MEMBERS:
        return SentenceEnsembleEvaluator(members())
    record = (
        None if known is None else read_record(EvaluatorRecord, known, "the record of an evaluator")
    )
    if (
        record is not None
        and _resolved(languages, record.options["src_lang"], record.options["tgt_lang"])
        in record.languages
    ):
        return LazyEvaluator(record, cache=store, load=load)
    evaluator = load()
    if isinstance(evaluator, SentenceEnsembleEvaluator):
        members()  # so that each is recorded
        store.remember(request, _MEMBERS)
    else:
        pair = _resolved(languages, evaluator.src_lang, evaluator.tgt_lang)
        with contextlib.suppress(InputError):  # of languages that scoring will refuse as well
            evaluator.check_languages(*pair)
            accepted = [*(record.languages if record else ()), pair]
            store.remember(request, write_record(EvaluatorRecord.of(evaluator, accepted)))
    return evaluator


def _resolved(languages: tuple[str, str], src_lang: str, tgt_lang: str) -> tuple[str, str]:
    """Return languages as `Evaluator.score` completes them."""
    return languages[0] or src_lang, languages[1] or tgt_lang


def _request(members: Sequence[tuple[str, LoadingOptions]]) -> dict[str, Any] | None:
    """Return everything that decides what is loaded; None for a model that can change unnoticed."""
    # Records exist of embedded models, of folders, and of models on the Hub at a full commit.
    models: list[list[Any]] = []
    for name, options in members:
        if scheme_of(name):  # a server, for one, can load another model at any time
            return None
        path, revision = Path(locate(name)[0]), options.revision
        # The files of a branch or a tag on the Hub may change at any time.
        if not is_folder(path) and not (isinstance(revision, str) and _COMMIT.fullmatch(revision)):
            return None
        files = stamp(model_files(path))
        models.append([name, str(path.resolve()) if is_folder(path) else "", revision, files])
    return (
        {
            "models": models,
            "options": {
                **{name: str(getattr(members[0][1], name)) for name in _DECIDING},
                "on_too_long": members[0][1].on_too_long or "error",
            },
            "versions": {"cc_hf": __version__, "scoring": SCORING_VERSION, **library_versions()},
        }
        if models
        else None
    )
