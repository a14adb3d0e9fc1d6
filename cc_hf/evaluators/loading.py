"""Loading evaluators by name: embedded models, local folders, the Hub.

Each model is loaded once per process and options.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.evaluators.base import Evaluator, Sharing
from cc_hf.evaluators.distributed import ALONE, is_first_of_node, is_launched, join
from cc_hf.evaluators.ensemble import ensemble
from cc_hf.evaluators.options import LoadingOptions, named_members, scheme_of
from cc_hf.evaluators.score_cache import open_cache, unchecked_cache
from cc_hf.evaluators.token_model import IN_MEMORY
from cc_hf.models.pretrained import (
    KEPT_EVALUATORS,
    SPREAD,
    LoadedModel,
    Recent,
    input_device,
    load_model,
    own_languages,
    pick_device,
)

try:
    from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
    from cc_hf.models.finite_weights import check_finite_weights
    from cc_hf.models.weights import check_tokenizer, choose_family, reported_loading
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["evaluator_of", "load_evaluator", "load_with"]

# That of MPS is between the others, and was not measured.
_BATCH_TOKENS = {"cpu": 1536, "cuda": 16384, "mps": 4096}
# Wider models take half as many tokens on a CPU, where each lane has a batch in memory.
_USUAL_WIDTH = 512
_UNLIMITED = 10**9  # for T5, which has no table of positions
_SERVED: Recent[Evaluator] = Recent(KEPT_EVALUATORS)


def load_evaluator(name_or_path: str | Path | Sequence[str | Path], **options: Any) -> Evaluator:
    """Load an evaluator, or return the one that this process loaded before with the same options.

    The process keeps the `KEPT_MODELS` models that were used last.

    Args:
        name_or_path: a name of `cc-hf list evaluators`, a folder saved by transformers, a model on
            the Hub, or "server:URL#MODEL" for one behind a server (see
            `cc_hf.plugins.asking.server_evaluator`); a list of several makes an ensemble (see
            `cc_hf.evaluators.ensemble`).
        options: the options of `cc_hf.evaluators.options.LoadingOptions`, by name.

    Returns:
        The evaluator, in eval mode on its device.

    Raises:
        UnknownNameError: for a name that is neither registered nor a folder nor of the form
            "organisation/model", a kind that is not registered, or an option that does not exist.
        EvaluatorError: when the model cannot be loaded, weights are missing, left over or of
            another shape, or no evaluator family fits it.
        InputError: for options out of range, a kind that does not fit the model, or a language that
            the model does not have; the message lists those that it has.
        CacheError: when the cache is damaged, of another version, or cannot be written where it was
            asked for.
        MissingDependencyError: for `distributed` or the device "auto" without accelerate.

    Examples:
        >>> evaluator = load_evaluator("cc-tiny-en-de", mode="exact")
        >>> right, wrong = evaluator.mean_logprobs(
        ...     ["The [female] doctor left.", "The [male] doctor left."], ["Die Ärztin ging."] * 2
        ... )
        >>> bool(right > wrong)
        True
    """
    return load_with(name_or_path, LoadingOptions.of(options))


def load_with(
    name_or_path: str | Path | Sequence[str | Path], options: LoadingOptions
) -> Evaluator:
    """Load an evaluator as `load_evaluator` does, with all options in one object.

    Raises:
        InputError: for revisions that do not match the models, and as for `load_evaluator`.

    Examples:
        >>> load_with("cc-tiny-en-de", LoadingOptions(mode="exact")).mode
        'exact'
    """
    each = named_members(name_or_path, options)
    alone = replace(options, cache=False, distributed=False, part=None)
    reopen = functools.partial(load_with, name_or_path, alone)
    if not isinstance(name_or_path, (str, Path)):
        joined = ensemble([load_with(*member) for member in each])
        joined.reopen = reopen
        return joined
    if options.distributed and options.device == SPREAD and is_launched():
        raise InputError(
            "device: 'auto' spreads one model over all GPUs, and each of several processes takes"
            " one; start one process, or leave out device='auto'"
        )
    team = join(pick_device(options.device).type) if options.distributed else ALONE
    store = open_cache(options.cache) if team.is_main else None
    node_cache = None if team.is_main or not is_first_of_node() else unchecked_cache(options.cache)
    sharing = Sharing(store, team, node_cache, options.part)
    name = str(name_or_path)
    models: Recent[Evaluator] = _SERVED
    if (scheme := scheme_of(name)) is not None:
        make: Callable[[], Evaluator] = functools.partial(
            registry.resolve("evaluator scheme", scheme), name, options
        )
    else:
        loaded = load_model(
            name,
            kind=options.kind,
            revision=options.revision,  # type: ignore[arg-type]  # one, since this is one model
            device=options.device,
            dtype=options.dtype,
            is_light=True,
        )
        if options.batch_tokens is None:
            device = input_device(loaded.model).type
            options = replace(options, batch_tokens=_batch_tokens(loaded.model.config, device))
        models, make = loaded.evaluators, functools.partial(_evaluator, loaded, options)

    def opened() -> Evaluator:
        evaluator = make()
        evaluator.sharing, evaluator.reopen = sharing, reopen
        return evaluator.with_mode(options.mode)

    # An evaluator holds its cache and its team. The key contains these instead of the options that
    # select them, so that two ways to name the same cache share one evaluator.
    alone = replace(options, cache=False, distributed=False)
    return models.get((name, alone, store and store.path, team.size), opened)


def evaluator_of(
    model: Any,
    tokenizer: Any,
    *,
    name: str = "the model",
    kind: str | None = None,
    prompt: str | None = None,
) -> Evaluator:
    """Make an evaluator from a model that is already loaded, such as one in training.

    Nothing is loaded, copied, moved or kept. The caller must put the model into eval mode. Its
    weights may change between calls; whether they are finite is checked here, and each time that a
    faster pass is prepared from them.

    Args:
        model: a model of transformers, on any device.
        kind: a family of `cc-hf list evaluators`; None picks it by the model's configuration and
            tokenizer.
        prompt: a template for families that put the source into words; None for the family's own.

    Returns:
        An evaluator in mode "exact", without a cache.

    Raises:
        UnknownNameError: for a kind that is not registered.
        EvaluatorError: when no evaluator family fits the model, its tokenizer does not, or its
            weights are not finite, as after training that diverged.
        InputError: for a kind that does not fit the model, or a prompt for a family that has none.

    Examples:
        >>> loaded = load_model("cc-tiny-en-de")
        >>> evaluator_of(loaded.model, loaded.tokenizer).mode
        'exact'
    """
    check_finite_weights(model, name)
    family = choose_family(name, model.config, {"tokenizer_class": type(tokenizer).__name__}, kind)
    with reported_loading(name):
        check_tokenizer(name, family, model, tokenizer)
    loaded = LoadedModel(
        name, IN_MEMORY, family, model, tokenizer, *own_languages(family, tokenizer)
    )
    options = LoadingOptions(
        prompt=prompt,
        batch_tokens=_batch_tokens(model.config, "cpu"),
        dtype=str(model.dtype).rpartition(".")[2],
    )
    evaluator = _evaluator(loaded, options)
    if isinstance(evaluator, Seq2SeqEvaluator):
        evaluator.weights_change = True  # so that packed weights are made again after each step
    return evaluator


def _batch_tokens(config: Any, device: str) -> int:
    is_wide = getattr(config, "hidden_size", 0) > _USUAL_WIDTH
    return _BATCH_TOKENS[device] // (2 if is_wide and device == "cpu" else 1)


def _evaluator(loaded: LoadedModel, options: LoadingOptions) -> Evaluator:
    """Make the evaluator of a model's family; `batch_tokens` must be a number."""
    family = registry.resolve("evaluator family", loaded.family)
    if options.prompt is not None and not family.takes_prompt:
        raise InputError(
            f"prompt: {loaded.name} is of the family {loaded.family}, which takes none; it marks"
            " languages by tokens, or has one direction"
        )
    with reported_loading(loaded.name):  # families call the tokenizer, whose files may be damaged
        evaluator: Evaluator = family(
            loaded.model,
            loaded.tokenizer,
            own_languages=(loaded.src_lang, loaded.tgt_lang),
            name=loaded.name,
            identity=loaded.identity,
            max_tokens=min(
                getattr(loaded.model.config, "max_position_embeddings", _UNLIMITED),
                loaded.tokenizer.model_max_length,
            ),
            src_lang=options.src_lang or "",
            tgt_lang=options.tgt_lang or "",
            dtype=options.dtype,
            batch_tokens=options.batch_tokens,
            on_too_long=options.on_too_long or "error",
            **({} if options.prompt is None else {"prompt": options.prompt}),
        )
    evaluator.device = input_device(loaded.model).type
    return evaluator
