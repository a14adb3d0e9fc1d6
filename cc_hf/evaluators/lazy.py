"""Evaluators known from before: where all scores are in the cache, no model is loaded.

No torch here.

The cache keeps, by the complete request that loaded an evaluator, what the evaluator said of
itself. The same request then gives a `RememberedEvaluator`, which looks scores up as that evaluator
would, and loads it as soon as anything else is asked of it.
"""

from __future__ import annotations

import functools
import glob
import itertools
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf import __version__
from cc_hf.errors import EvaluatorError, InputError
from cc_hf.evaluators.base import Evaluator, TokenScores, library_versions
from cc_hf.evaluators.distributed import is_launched
from cc_hf.evaluators.ensemble import SentenceEnsembleEvaluator
from cc_hf.evaluators.options import check_options
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.files import is_folder
from cc_hf.models.location import locate, model_files, stamp
from cc_hf.schema import ScoringRequest

__all__ = ["EvaluatorRecord", "RememberedEvaluator", "open_evaluator"]

_MEMBERS = {"members": "each by itself"}  # of an ensemble that has no scores of its own
_COMMIT = re.compile("[0-9a-f]{40}")
_PACKAGE = Path(__file__).parent.parent
# what decides which device an evaluator takes, and what it finds its machine good at
_ACCELERATORS = ("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/kfd", "C:/Windows/System32/nvcuda.dll")
_SETTINGS = ("ATEN_", "CUDA_", "DNNL_", "HIP_", "NVIDIA_", "ONEDNN_", "ROCR_", "TORCH_")
_PROCESSOR = ("model name", "flags", "Features", "CPU implementer", "CPU part")


@dataclass(frozen=True)
class EvaluatorRecord:
    """What an evaluator said of itself when it was loaded.

    Attributes:
        options: of `Evaluator`, by name.
        n_source_end, mode, signature, identity: as `Evaluator` has or answers them
            (`signature_fields`, `cache_identity`).
        languages: pairs that it did not refuse.
        fast: of its faster, approximate copy, where it has one.
    """

    options: Mapping[str, Any]
    n_source_end: int
    mode: str
    signature: Mapping[str, str]
    identity: Mapping[str, str]
    languages: tuple[tuple[str, str], ...]
    fast: EvaluatorRecord | None = None

    @classmethod
    def of(cls, evaluator: Evaluator, languages: Sequence[tuple[str, str]]) -> EvaluatorRecord:
        """What there is to know of a loaded one."""
        names = (
            "name",
            "identity",
            "dtype",
            "batch_tokens",
            "max_tokens",
            "on_too_long",
            "src_lang",
            "tgt_lang",
            "device",
        )
        fast = evaluator.fast
        return cls(
            {name: getattr(evaluator, name) for name in names},
            evaluator.n_source_end,
            evaluator.mode,
            evaluator.signature_fields(),
            evaluator.cache_identity(),
            tuple(languages),
            None if fast is None else cls.of(fast, languages),
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> EvaluatorRecord:
        """What `to_json` made of one."""
        fast = found["fast"]
        return cls(
            **{
                **found,
                "languages": tuple((source, target) for source, target in found["languages"]),
                "fast": None if fast is None else cls.from_json(fast),
            }
        )


class RememberedEvaluator(Evaluator):
    """Stands for an evaluator that is not loaded yet.

    Args:
        record: what it said of itself.
        cache: with its scores.
        load: gives the evaluator itself.
    """

    def __init__(
        self, record: EvaluatorRecord, *, cache: ScoreCache, load: Callable[[], Evaluator]
    ) -> None:
        super().__init__(**record.options, cache=cache)
        self.n_source_end = record.n_source_end
        self._record = record
        self._load = load
        self.mode = record.mode
        self._fast: Evaluator | None = (
            None
            if record.fast is None
            else RememberedEvaluator(record.fast, cache=cache, load=self._load_fast)
        )

    @functools.cached_property
    def real(self) -> Evaluator:
        """The evaluator itself, loaded when first asked for."""
        return self._load()

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return "real" in vars(self)

    @property
    def fast(self) -> Evaluator | None:
        """Its faster, approximate copy, remembered likewise."""
        return self._fast

    def with_mode(self, mode: str) -> Evaluator:
        """By the evaluator itself."""
        return self.real.with_mode(mode)

    def fast_modes(self) -> tuple[str, ...]:
        """Of the evaluator itself."""
        return self.real.fast_modes()

    def _load_fast(self) -> Evaluator:
        found = self.real.fast
        if found is None:
            raise EvaluatorError(
                f"{self.name}: expected the faster pass that it had when it was remembered, got"
                " none; clear the cache: cc-hf cache clear"
            )
        return found

    def __getattr__(self, name: str) -> Any:
        """What only the evaluator itself has, such as its tokenizer."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.real, name)

    def signature_fields(self) -> dict[str, str]:
        """As it answered when it was loaded."""
        return dict(self.real.signature_fields() if self.is_loaded else self._record.signature)

    def cache_identity(self) -> dict[str, str]:
        """As it answered when it was loaded."""
        return dict(self.real.cache_identity() if self.is_loaded else self._record.identity)

    def score(
        self,
        requests: Sequence[ScoringRequest],
        *,
        src_lang: str,
        tgt_lang: str,
        progress: bool = False,
    ) -> TokenScores:
        """From the cache where all is known, checked as `Evaluator.score` does, else by the
        evaluator itself.
        """
        found = (
            None
            if self.is_loaded
            else self._known(requests, src_lang or self.src_lang, tgt_lang or self.tgt_lang)
        )
        return found or self.real.score(
            requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress
        )

    def _known(
        self, requests: Sequence[ScoringRequest], src_lang: str, tgt_lang: str
    ) -> TokenScores | None:
        """None unless every score is known."""
        if not requests or (src_lang, tgt_lang) not in self._record.languages:
            return None
        place = {request: i for i, request in enumerate(dict.fromkeys(requests))}
        with self._session(src_lang, tgt_lang) as session:
            found = session.find([(request.source, request.translation) for request in place])
        if len(found) < len(place):
            return None
        scores = TokenScores.of_rows([found[place[request]] for request in requests])
        self.check_scores(scores, requests)
        return scores

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Pairs that it took before pass."""
        if (src_lang, tgt_lang) not in self._record.languages:
            self.real.check_languages(src_lang, tgt_lang)

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the evaluator itself."""
        return self.real.encode_sources(texts, src_lang, tgt_lang)

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the evaluator itself."""
        return self.real.encode_targets(texts, src_lang, tgt_lang)

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """By the evaluator itself."""
        return self.real.logprobs_batch(sources, targets)

    def score_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> TokenScores:
        """By the evaluator itself."""
        return self.real.score_batch(sources, targets)

    def token_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> list[npt.NDArray[np.float64]]:
        """By the evaluator itself."""
        return self.real.token_logprobs(sources, translations, src_lang=src_lang, tgt_lang=tgt_lang)

    def decode_targets(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """By the evaluator itself."""
        return self.real.decode_targets(rows)

    def named_logprobs(
        self,
        sources: Sequence[str],
        translations: Sequence[str],
        *,
        src_lang: str = "",
        tgt_lang: str = "",
    ) -> list[list[tuple[str, float]]]:
        """By the evaluator itself."""
        return self.real.named_logprobs(sources, translations, src_lang=src_lang, tgt_lang=tgt_lang)

    def id_logprobs(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        """By the evaluator itself."""
        return self.real.id_logprobs(sources, targets)

    def check_not_cut_alike(
        self,
        pairs: Sequence[tuple[ScoringRequest, ScoringRequest]],
        *,
        src_lang: str,
        tgt_lang: str,
    ) -> None:
        """By the evaluator itself."""
        self.real.check_not_cut_alike(pairs, src_lang=src_lang, tgt_lang=tgt_lang)

    def fit(
        self, source: list[int], target: list[int], request: ScoringRequest
    ) -> tuple[list[int], list[int]]:
        """By the evaluator itself."""
        return self.real.fit(source, target, request)


def open_evaluator(
    name_or_path: str | Path | Sequence[str | Path],
    *,
    languages: tuple[str, str] = ("", ""),
    cache: bool | str | Path = False,
    distributed: bool = False,
    **options: Any,
) -> Evaluator:
    """As `cc_hf.load_evaluator`, but an evaluator that the cache remembers is not loaded before it
    has something to score.

    Remembered are embedded models, folders, and models of the Hub at a full commit, each with all
    options, for this machine and these versions; never among several processes.

    Args:
        name_or_path, cache, distributed, options: as `cc_hf.load_evaluator`.
        languages: source and target language that will be scored, "" where the evaluator knows it.

    Raises:
        As `cc_hf.load_evaluator`, here or when something is scored.
    """
    options = {name: value for name, value in options.items() if value is not None}
    check_options(name_or_path, {**options, "cache": cache})

    def load() -> Evaluator:
        from cc_hf.evaluators.loading import load_evaluator

        return load_evaluator(name_or_path, cache=cache, distributed=distributed, **options)

    def members() -> list[Evaluator]:
        return [
            open_evaluator(name, languages=languages, cache=cache, **own)
            for name, own in _models(name_or_path, options)
        ]

    request = (
        None
        if cache is False or (distributed and is_launched())
        else _request(name_or_path, options)
    )
    if request is None:
        return load()
    store = ScoreCache(None if isinstance(cache, bool) else cache)
    known = store.recall(request)
    if known == _MEMBERS:
        return SentenceEnsembleEvaluator(members())
    record = None if known is None else EvaluatorRecord.from_json(known)
    if (
        record is not None
        and _resolved(languages, record.options["src_lang"], record.options["tgt_lang"])
        in record.languages
    ):
        return RememberedEvaluator(record, cache=store, load=load)
    evaluator = load()
    if request != _request(name_or_path, options):
        return evaluator  # its files changed meanwhile
    if isinstance(evaluator, SentenceEnsembleEvaluator):
        members()  # which are loaded, so that they are only remembered
        store.remember(request, _MEMBERS)
    elif (pair := _resolved(languages, evaluator.src_lang, evaluator.tgt_lang)) and _takes(
        evaluator, pair
    ):
        store.remember(
            request,
            EvaluatorRecord.of(evaluator, [*(record.languages if record else ()), pair]).to_json(),
        )
    return evaluator


def _takes(evaluator: Evaluator, languages: tuple[str, str]) -> bool:
    """Whether it does not refuse them; if it does, scoring will say so."""
    try:
        evaluator.check_languages(*languages)
    except InputError:
        return False
    return True


def _resolved(languages: tuple[str, str], src_lang: str, tgt_lang: str) -> tuple[str, str]:
    """As `Evaluator.score` fills them in."""
    return languages[0] or src_lang, languages[1] or tgt_lang


def _models(
    name_or_path: str | Path | Sequence[str | Path], options: Mapping[str, Any]
) -> list[tuple[str, dict[str, Any]]]:
    """Names and options of the members of an ensemble, or of the one model; none where names and
    revisions do not match.
    """
    names = [name_or_path] if isinstance(name_or_path, (str, Path)) else list(name_or_path)
    revisions = options.get("revision")
    if not isinstance(revisions, (list, tuple)):
        revisions = [revisions] * (len(names) if revisions is None else 1)
    if len(names) != len(revisions):
        return []
    return [
        (str(name), {**options, "revision": revision})
        for name, revision in zip(names, revisions, strict=True)
    ]


def _request(
    name_or_path: str | Path | Sequence[str | Path], options: Mapping[str, Any]
) -> dict[str, Any] | None:
    """All that decides what is loaded; None for a model that can change without notice."""
    models = []
    for name, own in _models(name_or_path, options):
        place, revision = Path(locate(name)[0]), own["revision"]
        if not is_folder(place) and not (isinstance(revision, str) and _COMMIT.fullmatch(revision)):
            return None
        models.append(
            [
                name,
                str(place.resolve()) if is_folder(place) else "",
                revision,
                stamp(model_files(place)),
            ]
        )
    given = {name: str(value) for name, value in options.items() if name != "revision"}
    return (
        {
            "models": models,
            "options": given,
            "versions": {"cc_hf": __version__, **library_versions()},
            "code": _code(),
            "machine": _machine(),
        }
        if models
        else None
    )


@functools.cache
def _code() -> list[tuple[str, int, int, int]]:
    """Of this package: an evaluator that is changed in place may say other things of itself."""
    return list(
        stamp(
            [
                (path.relative_to(_PACKAGE).as_posix(), path)
                for path in sorted(_PACKAGE.rglob("*.py"))
            ]
        )
    )


@functools.cache
def _machine() -> list[str]:
    """What is in it, as far as evaluators ask, found without torch."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            first = itertools.takewhile(str.strip, file)
            processor = "".join(
                line for line in first if line.partition(":")[0].strip() in _PROCESSOR
            )
    except OSError:
        processor = f"{platform.node()} {platform.processor()}"
    accelerators = [path for pattern in _ACCELERATORS for path in sorted(glob.glob(pattern))]
    return [
        platform.machine(),
        processor,
        *accelerators,
        *(
            f"{name}={value}"
            for name, value in sorted(os.environ.items())
            if name.startswith(_SETTINGS)
        ),
    ]
