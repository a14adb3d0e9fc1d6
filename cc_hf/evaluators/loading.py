"""From a name to an evaluator: embedded models, local folders, the Hub.

Loaded once per process and options.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.distributed import ALONE, is_launched, join
from cc_hf.evaluators.ensemble import ensemble
from cc_hf.evaluators.score_cache import open_cache
from cc_hf.files import is_folder
from cc_hf.languages import two_letter_code
from cc_hf.models.fairseq.tokenizer import FairseqTokenizer
from cc_hf.models.location import check_options, hash_files, locate, model_files, stamp

try:
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForMaskedLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
        M2M100Tokenizer,
    )
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
    from cc_hf.evaluators.teacher_forcing import input_device
    from cc_hf.models.finite_weights import check_finite_weights
    from cc_hf.models.weights import (
        check_tokenizer,
        choose_family,
        load_weights,
        reported_loading,
    )
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = [
    "KEPT_EVALUATORS",
    "KEPT_MODELS",
    "LoadedModel",
    "evaluator_of",
    "load_evaluator",
    "load_model",
    "model_identity",
    "pick_device",
    "reported_loading",
]

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_BATCH_TOKENS = {"cpu": 1536, "cuda": 16384}
_SPREAD = "auto"  # device
_UNLIMITED = 10**9  # T5 has no table of positions
_MODEL_CLASSES = {"masked_lm": AutoModelForMaskedLM, "causal_lm": AutoModelForCausalLM}

#: How many models a process keeps: an ensemble of four and a system under test. When one more is
#: loaded, the least recently used is dropped.
KEPT_MODELS = 5
#: How many evaluators, with different options, it keeps of each model.
KEPT_EVALUATORS = 8

T = TypeVar("T")


class _Recent(Generic[T]):
    """What was made for the last `size` keys that were asked for. functools.lru_cache does not fit:
    what is made of a model must go when the model goes.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._made: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The one for this key; made outside the lock, since loading takes long."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = make()
        with self._lock:
            made = self._made.setdefault(key, made)  # of two threads the first
            while len(self._made) > self._size:
                self._made.popitem(last=False)
        return made


@dataclass(frozen=True)
class LoadedModel:
    """A model with its tokenizer, on its device, in eval mode.

    Attributes:
        name: as the user named it; of a folder the last part.
        identity: commit of the Hub, or hash of the files.
        family: a name of `registry.EVALUATOR_FAMILIES`.
        src_lang, tgt_lang: of a model of one direction, "" where the tokenizer does not say.
        evaluators: that were made of it, by their options; none outlives the model in a table.
    """

    name: str
    identity: str
    family: str
    model: Any
    tokenizer: Any
    src_lang: str
    tgt_lang: str
    evaluators: _Recent[Evaluator] = field(
        default_factory=lambda: _Recent(KEPT_EVALUATORS), repr=False, compare=False
    )

    @property
    def signature_name(self) -> str:
        """Name and identity, as a signature gives them."""
        return f"{self.name}@{self.identity}"


_MODELS: _Recent[LoadedModel] = _Recent(KEPT_MODELS)


def load_evaluator(
    name_or_path: str | Path | Sequence[str | Path],
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    kind: str | None = None,
    prompt: str | None = None,
    revision: str | Sequence[str | None] | None = None,
    device: str | None = None,
    dtype: str = "float32",
    batch_tokens: int | None = None,
    on_too_long: str = "error",
    mode: str = "auto",
    cache: bool | str | Path = False,
    distributed: bool = False,
) -> Evaluator:
    """Load an evaluator, or return the one that this process loaded before with the same options.

    The process keeps the `KEPT_MODELS` models that were used last.

    Args:
        name_or_path: a name of `cc-hf list evaluators`, a folder saved by transformers, or a model
            of the Hub; of several an ensemble is made (see `cc_hf.evaluators.ensemble`).
        src_lang, tgt_lang: for calls that name none; ISO 639-1, or codes of the model's own.
        kind: a family of `cc-hf list evaluators`; None picks it by the model's configuration and
            tokenizer.
        prompt: of families that put the source into words (T5 and its kin, language models), a
            template such as «translate {src_name} to {tgt_name}: {source}»; None for the family's
            own. The signature tells it.
        revision: commit, tag or branch of the Hub; of an ensemble one for each member.
        device: «cpu», «cuda», «cuda:1»; None takes CUDA where there is one. «auto» spreads the
            model over all GPUs of the machine, and over its memory where they are too small
            (`device_map="auto"` of transformers); not among several processes, which take a GPU
            each.
        dtype: float32, bfloat16 or float16.
        batch_tokens: padded source plus target tokens of a batch; None for a value that suits the
            device.
        on_too_long: «error», or «truncate» (the signature says so).
        mode: «exact», all in the precision of `dtype`; «bf16» or «int8», products in these; «auto»,
            exact scores, and decisions that are taken in bf16 where the machine is good at it and
            again exactly where they are close (`cc_hf.evaluators.contests`). The signature tells
            it.
        cache: of scores on disk. False, the default: nothing is read or written. True:
            HF_HOME/cc_hf/scores.sqlite. Or a file. The command line takes True unless told
            otherwise.
        distributed: score together with the other processes that torchrun or `accelerate launch`
            started; all must then load and score alike.

    Raises:
        UnknownNameError: for a name that is neither registered nor a folder nor of the form
            «organisation/model», or a kind that is not registered.
        EvaluatorError: when the model cannot be loaded, weights are missing, left over or of
            another shape, or no evaluator family fits it.
        InputError: for options out of range, a kind that does not fit the model, or a language that
            the model does not have; the message lists those that it has.
        CacheError: when the cache is damaged, of another version, or cannot be written where it was
            asked for.

    >>> evaluator = load_evaluator("cc-tiny-en-de")
    >>> right, wrong = evaluator.mean_logprobs(
    ...     ["The [female] doctor left.", "The [male] doctor left."], ["Die Ärztin ging."] * 2
    ... )
    >>> bool(right > wrong)
    True
    """
    shared: dict[str, Any] = {
        "src_lang": src_lang,
        "tgt_lang": tgt_lang,
        "kind": kind,
        "prompt": prompt,
        "device": device,
        "dtype": dtype,
    }
    shared |= {
        "batch_tokens": batch_tokens,
        "on_too_long": on_too_long,
        "mode": mode,
        "cache": cache,
        "distributed": distributed,
    }
    check_options(name_or_path, {**shared, "revision": revision})
    if not isinstance(name_or_path, (str, Path)):
        each = zip(name_or_path, _revisions(revision, len(name_or_path)), strict=True)
        return ensemble([load_evaluator(name, revision=own, **shared) for name, own in each])
    if revision is not None and not isinstance(revision, str):
        raise InputError(f"revision: expected one for one model, got {len(revision)}")
    if distributed and device == _SPREAD and is_launched():
        raise InputError(
            "device: 'auto' spreads one model over all GPUs, and each of several processes takes"
            " one; start one process, or leave out device='auto' (--device auto)"
        )
    team = join(pick_device(device).type) if distributed else ALONE
    store = open_cache(cache) if team.is_main else None
    loaded = load_model(name_or_path, kind=kind, revision=revision, device=device, dtype=dtype)
    tokens = (
        batch_tokens if batch_tokens is not None else _BATCH_TOKENS[input_device(loaded.model).type]
    )
    key = (tokens, on_too_long, src_lang, tgt_lang, prompt, mode, store and store.path, team.size)
    options: dict[str, Any] = {
        "src_lang": src_lang or "",
        "tgt_lang": tgt_lang or "",
        "dtype": dtype,
        "on_too_long": on_too_long,
        "cache": store,
        "team": team,
    }
    return loaded.evaluators.get(
        key,
        lambda: _evaluator(loaded, prompt=prompt, batch_tokens=tokens, **options).with_mode(mode),
    )


def evaluator_of(
    model: Any,
    tokenizer: Any,
    *,
    name: str = "the model",
    kind: str | None = None,
    prompt: str | None = None,
) -> Evaluator:
    """An evaluator on a model that is in memory already, such as one in training; nothing is
    loaded, copied, moved or kept.

    Whoever uses it sees to it that the model is in eval mode. Its weights may change between calls;
    that they are finite is checked here, and each time that a faster pass is made of them.

    Args:
        model, tokenizer: of transformers; the model may be on any device.
        name: for messages.
        kind, prompt: as `load_evaluator`.

    Raises:
        UnknownNameError: for a kind that is not registered.
        EvaluatorError: when no evaluator family fits the model, its tokenizer does not, or its
            weights are not finite, as after training that diverged.
        InputError: for a kind that does not fit the model, or a prompt to a family that takes none.

    >>> loaded = load_model("cc-tiny-en-de")
    >>> evaluator_of(loaded.model, loaded.tokenizer).encode_sources(
    ...     ["Yes."], "en", "de"
    ... ) == load_evaluator("cc-tiny-en-de").encode_sources(["Yes."], "en", "de")
    True
    """
    check_finite_weights(model, name)
    family = choose_family(name, model.config, {"tokenizer_class": type(tokenizer).__name__}, kind)
    with reported_loading(name):
        check_tokenizer(name, family, model, tokenizer)
    loaded = LoadedModel(
        name, "in memory", family, model, tokenizer, *_own_languages(family, tokenizer)
    )
    made = _evaluator(
        loaded,
        prompt=prompt,
        batch_tokens=_BATCH_TOKENS["cpu"],
        dtype=str(model.dtype).rpartition(".")[2],
        on_too_long="error",
    )
    if isinstance(made, Seq2SeqEvaluator):
        made.weights_change = True
    return made


def _evaluator(loaded: LoadedModel, *, prompt: str | None, **options: Any) -> Evaluator:
    family = registry.resolve("evaluator family", loaded.family)
    if prompt is not None and not family.takes_prompt:
        raise InputError(
            f"prompt: {loaded.name} is of the family {loaded.family}, which takes none; it marks"
            " languages by tokens, or has one direction"
        )
    with reported_loading(loaded.name):  # families ask tokenizers that may be damaged
        made: Evaluator = family(
            loaded.model,
            loaded.tokenizer,
            own_languages=(loaded.src_lang, loaded.tgt_lang),
            name=loaded.name,
            identity=loaded.identity,
            max_tokens=min(
                getattr(loaded.model.config, "max_position_embeddings", _UNLIMITED),
                loaded.tokenizer.model_max_length,
            ),
            device=input_device(loaded.model).type,
            **({} if prompt is None else {"prompt": prompt}),
            **options,
        )
    return made


def _revisions(revision: str | Sequence[str | None] | None, n: int) -> Sequence[str | None]:
    if revision is None:
        return [None] * n
    if isinstance(revision, str) or len(revision) != n:
        raise InputError(
            f"revision: expected one for each of the {n} members of the ensemble, got {revision!r}"
        )
    return revision


def load_model(
    name_or_path: str | Path,
    *,
    kind: str | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
) -> LoadedModel:
    """Load a model and its tokenizer once per process and options; for evaluators and systems under
    test alike.

    Raises:
        UnknownNameError, EvaluatorError, InputError: as `load_evaluator`; EvaluatorError also for
            weights that are not finite.
        MissingDependencyError: for the device «auto» without accelerate.
    """
    if dtype not in _DTYPES:
        raise InputError(f"dtype: expected one of {', '.join(_DTYPES)}, got {dtype!r}")
    if kind is not None:
        registry.resolve("evaluator family", kind)
    name = str(name_or_path)
    place, languages = locate(name)
    if revision is not None and is_folder(place):
        raise InputError(
            f"revision: {name} is a local model and has none; a revision applies to models of the"
            " Hub only"
        )
    if device == _SPREAD and importlib.util.find_spec("accelerate") is None:
        raise MissingDependencyError("accelerate", "models")
    where = pick_device(device)
    before = stamp(model_files(Path(place)))

    def load() -> LoadedModel:
        family, model, tokenizer = _read(
            name,
            place,
            kind=kind,
            revision=revision,
            dtype=_DTYPES[dtype],
            spread=device == _SPREAD,
        )
        identity = model_identity(model, place)
        if stamp(model_files(Path(place))) != before:
            raise EvaluatorError(
                f"{name}: the files of the model changed while it was loaded; load it again when"
                " they are complete"
            )
        model = model if device == _SPREAD else model.to(where)
        src_lang, tgt_lang = languages or _own_languages(family, tokenizer)
        return LoadedModel(
            Path(name).name if is_folder(name) else name,
            identity,
            family,
            model,
            tokenizer,
            src_lang,
            tgt_lang,
        )

    return _MODELS.get(
        (name, place, kind, revision, str(where), device == _SPREAD, dtype, before), load
    )


def _own_languages(family: str, tokenizer: Any) -> tuple[str, str]:
    """Of a model of one direction; tokenizers of multilingual ones have a current language, which
    says nothing.
    """
    names = {
        "fairseq": ("source_lang", "target_lang"),
        "marian": ("source_lang", "target_lang"),
        "fsmt": ("src_lang", "tgt_lang"),
    }.get(family, ("", ""))
    source, target = (two_letter_code(getattr(tokenizer, name, None) or "") for name in names)
    return source, target


def pick_device(device: str | None) -> torch.device:
    """The device of that name; None: CUDA where there is one; «auto», of a model that is spread:
    likewise.

    Raises:
        InputError: for a name that is none, or a device that is not here.
    """
    name = (
        device
        if device not in (None, _SPREAD)
        else ("cuda" if torch.cuda.is_available() else "cpu")
    )
    try:
        found = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"device: expected 'cpu', 'cuda', 'cuda:N' or 'auto', got {name!r}"
        ) from error
    if found.type not in _BATCH_TOKENS or (found.type == "cuda" and not torch.cuda.is_available()):
        raise InputError(
            f"device: {name!r} is not available here; use 'cpu'"
            + (" or 'cuda'" if torch.cuda.is_available() else "")
        )
    return found


def _read(
    name: str,
    place: str,
    *,
    kind: str | None,
    revision: str | None,
    dtype: torch.dtype,
    spread: bool,
) -> tuple[str, Any, Any]:
    alternative = f", or use one of: {', '.join(registry.EVALUATORS)}"
    with reported_loading(name, place=place, alternative=alternative):
        config = AutoConfig.from_pretrained(place, revision=revision, trust_remote_code=False)
        family = choose_family(name, config, get_tokenizer_config(place, revision=revision), kind)
        model_class = _MODEL_CLASSES.get(family, AutoModelForSeq2SeqLM)
        spreading = {"device_map": "auto"} if spread else {}
        model = load_weights(
            model_class, name, place, config=config, revision=revision, dtype=dtype, **spreading
        )
        # SMaLL-100's own tokenizer is code of its repository; that of M2M100 has the same files and
        # is told the marks by the family
        tokenizer_class = {"fairseq": FairseqTokenizer, "small100": M2M100Tokenizer}.get(
            family, AutoTokenizer
        )
        code = {} if family == "fairseq" else {"trust_remote_code": False}
        tokenizer = tokenizer_class.from_pretrained(place, revision=revision, **code)
        check_tokenizer(name, family, model, tokenizer)
    return family, model, tokenizer


def model_identity(model: Any, place: str) -> str:
    """The commit of the Hub, or of a folder the first 12 hexadecimal digits of the SHA-256 over its
    files (`hash_files`).
    """
    if Path(place).is_dir():
        return hash_files(Path(place))
    return str(getattr(model.config, "_commit_hash", None) or "unknown")[:12]
