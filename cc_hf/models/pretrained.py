"""A model of transformers with its tokenizer, from an embedded folder, a folder, or the Hub.

Loaded once per process and options; what it is used for is decided elsewhere.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError
from cc_hf.files import is_folder
from cc_hf.languages import two_letter_code
from cc_hf.models.fairseq.tokenizer import FairseqTokenizer
from cc_hf.models.location import hash_files, locate, model_files, stamp

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
    "SPREAD",
    "LoadedModel",
    "Recent",
    "input_device",
    "load_model",
    "model_identity",
    "own_languages",
    "pick_device",
]

#: the device of a model that is spread over all GPUs
SPREAD = "auto"
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICES = ("cpu", "cuda")
_MODEL_CLASSES = {"masked_lm": AutoModelForMaskedLM, "causal_lm": AutoModelForCausalLM}

#: How many models a process keeps: an ensemble of four and a system under test. When one more is
#: loaded, the least recently used is dropped.
KEPT_MODELS = 5
#: How many evaluators, with different options, it keeps of each model.
KEPT_EVALUATORS = 8

T = TypeVar("T")


class Recent(Generic[T]):
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
    evaluators: Recent[Any] = field(
        default_factory=lambda: Recent(KEPT_EVALUATORS), repr=False, compare=False
    )

    @property
    def signature_name(self) -> str:
        """Name and identity, as a signature gives them."""
        return f"{self.name}@{self.identity}"


_MODELS: Recent[LoadedModel] = Recent(KEPT_MODELS)


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
    if device == SPREAD and importlib.util.find_spec("accelerate") is None:
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
            spread=device == SPREAD,
        )
        identity = model_identity(model, place)
        if stamp(model_files(Path(place))) != before:
            raise EvaluatorError(
                f"{name}: the files of the model changed while it was loaded; load it again when"
                " they are complete"
            )
        model = model if device == SPREAD else model.to(where)
        src_lang, tgt_lang = languages or own_languages(family, tokenizer)
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
        (name, place, kind, revision, str(where), device == SPREAD, dtype, before), load
    )


def own_languages(family: str, tokenizer: Any) -> tuple[str, str]:
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
        device if device not in (None, SPREAD) else ("cuda" if torch.cuda.is_available() else "cpu")
    )
    try:
        found = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"device: expected 'cpu', 'cuda', 'cuda:N' or 'auto', got {name!r}"
        ) from error
    if found.type not in _DEVICES or (found.type == "cuda" and not torch.cuda.is_available()):
        raise InputError(
            f"device: {name!r} is not available here; use 'cpu'"
            + (" or 'cuda'" if torch.cuda.is_available() else "")
        )
    return found


def input_device(model: Any) -> torch.device:
    """Where the batches of a model go: of one that is spread over several devices, the first GPU
    that has a part of it.
    """
    parts = [
        part
        for part in getattr(model, "hf_device_map", {}).values()
        if str(part) not in ("cpu", "disk")
    ]
    if parts:
        return (
            torch.device("cuda", parts[0]) if isinstance(parts[0], int) else torch.device(parts[0])
        )
    return (
        torch.device("cpu") if getattr(model, "hf_device_map", {}) else torch.device(model.device)
    )


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
