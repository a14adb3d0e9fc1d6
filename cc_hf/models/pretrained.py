"""Load a model of transformers and its tokenizer, once per process and options."""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError, check_choice
from cc_hf.files import is_folder
from cc_hf.languages import canonical
from cc_hf.models.location import locate, model_files, stamp, uses_cache_only
from cc_hf.models.model_format import ModelFormat, format_of, published_format

try:
    import torch

    from cc_hf.models.finite_weights import check_finite_weights
    from cc_hf.models.light_marian import LightMarian, LightMarianTokenizer, light_marian
    from cc_hf.models.weights import (
        check_tokenizer,
        choose_family,
        load_weights,
        reported_loading,
    )
    from cc_hf.models.weights_identity import folder_identity
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

#: name of the device of a model that is spread over all GPUs
SPREAD = "auto"
_LIGHT_FAMILY = "marian"
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
#: Kind of device -> whether this machine has it.
_DEVICES: dict[str, Callable[[], bool]] = {
    "cpu": lambda: True,
    "cuda": lambda: torch.cuda.is_available(),
    "mps": lambda: torch.backends.mps.is_available(),
}
_MODEL_CLASSES = {"masked_lm": "AutoModelForMaskedLM", "causal_lm": "AutoModelForCausalLM"}

#: Number of models that a process keeps: enough for an ensemble of four and a system under test.
#: When one more is loaded, the least recently used is dropped.
KEPT_MODELS = 5
#: Number of evaluators, with different options, that it keeps of each model.
KEPT_EVALUATORS = 8

T = TypeVar("T")


class Recent(Generic[T]):
    """A cache of the objects that were made for the keys used last."""

    def __init__(self, size: int) -> None:
        # `functools.lru_cache` does not fit, because the evaluators of a model must be dropped with
        # the model.
        self._size = size
        self._made: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the object of a key; make it if it is not kept."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        # Outside the lock, since loading takes long.
        value = make()
        with self._lock:
            # If two threads made it, both use the first.
            value = self._made.setdefault(key, value)
            while len(self._made) > self._size:
                self._made.popitem(last=False)
        return value


@dataclass(frozen=True)
class LoadedModel:
    """A model with its tokenizer, on its device, in eval mode.

    Attributes:
        name: name of the model as the user gave it; for a folder its last part.
        identity: commit on the Hub, or hash of the files.
        src_lang, tgt_lang: languages of a model with one direction, "" if the tokenizer does not
            name them.
    """

    name: str
    identity: str
    family: str
    model: Any
    tokenizer: Any
    src_lang: str
    tgt_lang: str
    # The evaluators that were made of the model, by their options, are dropped with the model.
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
    is_light: bool = False,
) -> LoadedModel:
    """Load a model and its tokenizer once per process and options.

    Args:
        name_or_path: a name of `cc-hf list evaluators`, a folder saved by transformers, or a model
            on the Hub.
        kind: a family of `cc-hf list evaluators`; None picks it by the model's configuration and
            tokenizer.
        revision: commit, tag or branch on the Hub; None for folders.
        device: "cpu", "cuda", "cuda:1", "mps" or "auto", see
            `cc_hf.evaluators.options.LoadingOptions`; None for CUDA if available.
        dtype: "float32", "bfloat16" or "float16".
        is_light: whether a model of `cc_hf.models.light_marian` may be returned, which loads
            without transformers and only scores.

    Raises:
        UnknownNameError: for a name that is neither registered nor a folder nor of the form
            "organisation/model", or a kind that is not registered.
        EvaluatorError: when the model cannot be loaded, its weights are incomplete or not finite,
            its files change meanwhile, or no evaluator family fits it.
        InputError: for options out of range, or a kind that does not fit the model.
        MissingDependencyError: for the device "auto" without accelerate.
    """
    check_choice("dtype", dtype, _DTYPES)
    if kind is not None:
        registry.resolve("evaluator family", kind)
    name = str(name_or_path)
    path, languages = locate(name)
    if revision is not None and is_folder(path):
        raise InputError(
            f"revision: {name} is a local model and has none; a revision applies to models of the"
            " Hub only"
        )
    if device == SPREAD and importlib.util.find_spec("accelerate") is None:
        raise MissingDependencyError("accelerate", "models")
    torch_device = pick_device(device)
    before = stamp(model_files(Path(path)))
    # On other devices and in other precisions, the model's own pass computes.
    is_light = (
        is_light
        and (torch_device.type, dtype) == ("cpu", "float32")
        and device != SPREAD
        and kind in (None, _LIGHT_FAMILY)
        and is_folder(path)
    )
    whole = functools.partial(load_model, name_or_path, kind=kind, device=device)

    def load() -> LoadedModel:
        light = _read_light(path, whole, before) if is_light else None
        family, model, tokenizer = light or _read(
            name,
            path,
            kind=kind,
            revision=revision,
            dtype=_DTYPES[dtype],
            spread=device == SPREAD,
        )
        identity = model_identity(model, path)
        # An identity that is not that of the loaded weights would mix scores in the cache.
        if stamp(model_files(Path(path))) != before:
            raise EvaluatorError(
                f"{name}: the files of the model changed while it was loaded; load it again when"
                " they are complete"
            )
        model = model if device == SPREAD else model.to(torch_device)
        src_lang, tgt_lang = languages or own_languages(family, tokenizer)
        return LoadedModel(
            _folder_name(name) if is_folder(name) else name,
            identity,
            family,
            model,
            tokenizer,
            src_lang,
            tgt_lang,
        )

    # The stamp is part of the key, so that a folder is loaded again after its files have changed.
    return _MODELS.get(
        (name, path, kind, revision, str(torch_device), device == SPREAD, dtype, before, is_light),
        load,
    )


def _read_light(
    path: str, load_whole: Callable[[], LoadedModel], before: object
) -> tuple[str, LightMarian, LightMarianTokenizer] | None:
    """Return family, model and tokenizer that need no transformers, or None."""

    def load() -> tuple[Any, Any]:
        if stamp(model_files(Path(path))) != before:
            raise EvaluatorError(
                f"{path}: the files of the model changed after it was loaded; load it again"
            )
        whole = load_whole()
        return whole.model, whole.tokenizer

    light = light_marian(path, load)
    return None if light is None else (_LIGHT_FAMILY, *light)


def _folder_name(path: str) -> str:
    """Return the last part of the path of a folder, which must not read as a published model."""
    name = Path(path).name
    return name.replace(":", "_") if published_format(name) is not None else name


def own_languages(family: str, tokenizer: Any) -> tuple[str, str]:
    """Return the languages of a model with one direction, "" where they are not known."""
    # The tokenizer of a multilingual model has a current language, which says nothing. It has other
    # attributes than those that the family declares.
    names = registry.resolve("evaluator family", family).language_attributes
    source, target = (canonical(getattr(tokenizer, name, None) or "") for name in names)
    return source, target


def pick_device(device: str | None) -> torch.device:
    """Return the device to compute on.

    Args:
        device: "cpu", "cuda", "cuda:1" or "mps"; None and "auto" for CUDA if available, else the
            CPU.

    Raises:
        InputError: for a name that is no device, or a device that is not available.
    """
    name = (
        device if device not in (None, SPREAD) else ("cuda" if torch.cuda.is_available() else "cpu")
    )
    try:
        chosen = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"device: expected 'cpu', 'cuda', 'cuda:N', 'mps' or 'auto', got {name!r}"
        ) from error
    kinds = [kind for kind, is_available in _DEVICES.items() if is_available()]
    if chosen.type not in kinds:
        raise InputError(
            f"device: {name!r} is not available here; use {' or '.join(map(repr, kinds))}"
        )
    return chosen


def input_device(model: Any) -> torch.device:
    """Return the device that the batches of a model must be on."""
    # A model that is spread over several devices reads them on the first GPU with a part of it.
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
    path: str,
    *,
    kind: str | None,
    revision: str | None,
    dtype: torch.dtype,
    spread: bool,
) -> tuple[str, Any, Any]:
    """Return family, model and tokenizer, which are checked to fit each other."""
    import transformers
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    alternative = f", or use one of: {', '.join(registry.names('evaluator'))}"
    with reported_loading(name, path=path, alternative=alternative):
        if (of_files := format_of(path)) is not None:
            return of_files.name, *_by_format(of_files, name, path, kind=kind, dtype=dtype)
        options: dict[str, Any] = {"revision": revision}
        if uses_cache_only(name, path, revision):
            options["local_files_only"] = True
        config = _configuration(path, **options)
        family = choose_family(name, config, get_tokenizer_config(path, **options), kind)
        model_class = getattr(transformers, _MODEL_CLASSES.get(family, "AutoModelForSeq2SeqLM"))
        spreading = {"device_map": "auto"} if spread else {}
        model = load_weights(
            model_class, name, path, config=config, dtype=dtype, **options, **spreading
        )
        tokenizer = registry.resolve("evaluator family", family).load_tokenizer(path, **options)
        check_tokenizer(name, family, model, tokenizer)
    return family, model, tokenizer


def _configuration(path: str, **options: Any) -> Any:
    """Return the configuration of a model, whose class may be registered by a name of cc_hf."""
    from transformers import AutoConfig, PretrainedConfig

    settings, _ = PretrainedConfig.get_config_dict(path, **options)
    if (model_type := settings.get("model_type")) in registry.names("model type"):
        registry.resolve("model type", model_type)  # its import tells the Auto classes
    return AutoConfig.from_pretrained(path, trust_remote_code=False, **options)


def _by_format(
    of_files: ModelFormat, name: str, path: str, *, kind: str | None, dtype: torch.dtype
) -> tuple[Any, Any]:
    """Return a model of files that transformers does not read, and its tokenizer."""
    if kind not in (None, of_files.name):
        raise InputError(
            f"kind: {name} is a {of_files.noun} of {of_files.project}, which {kind!r} does not fit"
        )
    model, tokenizer = of_files.load(path)
    check_finite_weights(model, name)
    return model.to(dtype), tokenizer


def model_identity(model: Any, path: str) -> str:
    """Return the identity of a model: the commit on the Hub, or a hash of its files.

    Returns:
        Twelve hexadecimal digits, or "unknown" if there is no commit.
    """
    if Path(path).is_dir():
        # A format says what identifies its models, which their conversion keeps
        # (`cc_hf.models.weights_identity`).
        of_files = format_of(path)
        return folder_identity(Path(path)) if of_files is None else of_files.identity(path)
    return str(getattr(model.config, "_commit_hash", None) or "unknown")[:12]
