"""From a name to an evaluator: embedded models, local folders, the Hub.

Loaded once per process and options.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.distributed import ALONE, is_launched, join
from cc_hf.evaluators.ensemble import ensemble
from cc_hf.evaluators.options import check_options
from cc_hf.evaluators.score_cache import open_cache
from cc_hf.models.pretrained import (
    SPREAD,
    LoadedModel,
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

__all__ = ["evaluator_of", "load_evaluator"]

_BATCH_TOKENS = {"cpu": 1536, "cuda": 16384}
_UNLIMITED = 10**9  # T5 has no table of positions


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
    if distributed and device == SPREAD and is_launched():
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
    evaluator: Evaluator = loaded.evaluators.get(
        key,
        lambda: _evaluator(loaded, prompt=prompt, batch_tokens=tokens, **options).with_mode(mode),
    )
    return evaluator


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
        name, "in memory", family, model, tokenizer, *own_languages(family, tokenizer)
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
