"""The whole road on one page: a dataset, the translations of a system, a metric, an evaluator model, and out comes a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cc_hf import registry
from cc_hf.data.loading import declaration, load_examples, signature_fields
from cc_hf.data.translations import read_translations
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import check_bootstrap

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator, ScoreFunction

__all__ = ["check_target_language", "evaluate", "load_metric"]


def evaluate(
    dataset: str,
    config: str | None = None,
    *,
    translations: str | Path | Sequence[str] | None = None,
    system: str | Path | None = None,
    tgt_lang: str | None = None,
    split: str = "test",
    metric: str = "contrastive_conditioning",
    evaluator: str | Path | Sequence[str | Path] | Evaluator | ScoreFunction | None = None,
    score: str | None = None,
    options: Mapping[str, Any] | None = None,
    data_dir: str | Path | None = None,
    batch_tokens: int | None = None,
    on_too_long: str = "error",
    cache: bool | str | Path = False,
    distributed: bool = False,
    device: str | None = None,
    revision: str | Sequence[str | None] | None = None,
    seed: int = 0,
    progress: bool = False,
) -> EvaluationResult:
    """Judge the translations of one system.

    Args:
        dataset, config: names of `cc-hf list datasets`; config None takes the dataset's default.
        translations: a file (see `cc_hf.data.translations.read_translations`) or one translation per example, in their order.
        system: instead of translations, a model to make them with.
        tgt_lang: ISO 639-1; may be left out where the configuration has one target language.
        split: a split of the dataset.
        metric: a name of `cc-hf list metrics`.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None takes the one that ships for the language pair.
        score: arithmetic, geometric (the default of metrics with an evaluator) or reference.
        options: the metric's own, by name (`MetricDeclaration.options`).
        data_dir: a local copy of the upstream repositories, instead of a download.
        batch_tokens, on_too_long, cache, distributed, device, revision: of the evaluator, see `cc_hf.load_evaluator`.
        seed: of the bootstrap.
        progress: bars on anything that takes longer than a second.

    Raises:
        InputError, DataError, EvaluatorError: see `cc_hf.errors`; each names what was expected, what came, and where.

    >>> def undecided(sources, translations):
    ...     return [1.0] * len(sources)
    >>> result = evaluate("simplegen", "en-de", translations=["Sie ist Ärztin."] * 2664, evaluator=undecided)
    >>> result.n, result.counts["n_ties"]
    (2664, 2664)
    """
    declared = declaration(dataset)
    chosen: MetricDeclaration = registry.resolve("metric", metric)
    config = declared.config(config).name
    target = check_target_language(dataset, config, tgt_lang)
    own = _own_options(chosen, options, score, has_evaluator=evaluator is not None)
    _check_fits(chosen, dataset, config, target)
    examples = load_examples(dataset, config, split=split, data_dir=data_dir)
    src_lang = examples[0].src_lang
    if (translations is None) == (system is None):
        raise InputError("expected either translations (--translations) or a system (--system) to translate with, got " + ("neither" if translations is None else "both"))
    if translations is not None:  # a mismatch shows before any model is loaded
        texts, origin, counts = _given(examples, translations)
    check_bootstrap(seed=seed, n_resamples=1)
    if chosen.takes_evaluator and (evaluator is None or isinstance(evaluator, (str, Path, list, tuple))):
        from cc_hf.evaluators.location import default_evaluator
        from cc_hf.evaluators.remembered import open_evaluator

        name = default_evaluator(src_lang, target) if evaluator is None else evaluator
        evaluator = open_evaluator(
            name, languages=(src_lang, target), revision=revision, device=device, batch_tokens=batch_tokens, on_too_long=on_too_long, cache=cache, distributed=distributed
        )
    if system is not None:
        texts, origin, counts = _by_system(examples, system, tgt_lang=target, device=device, progress=progress)
    result = chosen.evaluate(
        texts,
        chosen.references(examples),
        **({"evaluator": evaluator} if chosen.takes_evaluator else {}),
        **own,
        src_lang=src_lang,
        tgt_lang=target,
        ids=[e.id for e in examples],
        dataset=declared.name,
        config=config,
        origin={**signature_fields(dataset, config, split=split, data_dir=data_dir), **origin},
        seed=seed,
        progress=progress,
    )
    n_with_source = sum(bool(e.source) and e.source in text for e, text in zip(examples, texts, strict=True))  # not translated, or not the right file
    return replace(result, counts={**result.counts, **counts, "n_with_source": n_with_source})


def _check_fits(metric: MetricDeclaration, dataset: str, config: str, tgt_lang: str) -> None:
    """Refuse a metric that does not fit, with what does."""
    declared = declaration(dataset)
    own = declared.config(config)
    if reason := metric.fits(declared.name, config, own.form, own.src_lang, tgt_lang):
        pair = f"{own.src_lang}-{tgt_lang}"
        alike = [c for c in declared.configs if c.src_lang == own.src_lang and tgt_lang in c.tgt_langs]
        configs = [c.name for c in alike if not metric.fits(declared.name, c.name, c.form, c.src_lang, tgt_lang)]
        others = f"use {', '.join(configs)}" if configs else f"no configuration of {dataset} fits for {pair}"
        raise InputError(f"{reason}; {others} (see `cc-hf list datasets {dataset}`)")


def _own_options(metric: MetricDeclaration, options: Mapping[str, Any] | None, score: str | None, *, has_evaluator: bool) -> dict[str, Any]:
    """What the metric takes beside that which all take; anything else is refused."""
    own = {**(options or {}), **({} if score is None else {"score": score})}
    for name in own:
        if name not in metric.options:
            raise UnknownNameError(f"option of the metric {metric.name}", name, metric.options)
    if has_evaluator and not metric.takes_evaluator:
        raise InputError(f"{metric.name} judges by the words of the translation alone and takes no evaluator; leave the evaluator out")
    return own


_Texts = tuple[Sequence[str], dict[str, str], dict[str, int]]  # translations, signature fields, counts


def _by_system(examples: Sequence[Example], system: str | Path, *, tgt_lang: str, device: str | None, progress: bool) -> _Texts:
    from cc_hf.evaluators.loading import load_model
    from cc_hf.translation import DEFAULT_BEAMS, translate

    texts = translate([e.source for e in examples], system, src_lang=examples[0].src_lang, tgt_lang=tgt_lang, device=device, progress=progress)
    return texts, {"sys": f"{load_model(system, device=device).signature_name}/beam{DEFAULT_BEAMS}"}, {}


def _given(examples: Sequence[Example], translations: str | Path | Sequence[str]) -> _Texts:
    if isinstance(translations, (str, Path)):
        matched = read_translations(translations, examples)
        return matched.translations, {}, {"n_lines": matched.n_lines, "n_unused_lines": matched.n_unused}
    if not isinstance(translations, (list, tuple)):
        raise InputError(f"translations: expected a file or a list with one translation per example, got {type(translations).__name__}")
    if len(translations) != len(examples):
        raise InputError(f"expected one translation per example, {len(examples)} in all, got {len(translations)}")
    return list(translations), {}, {}


def check_target_language(dataset: str, config: str, tgt_lang: str | None) -> str:
    """The target language of a configuration: the one asked for, or its only one.

    Raises:
        InputError: when the configuration does not have it, or has several and none was asked for.

    >>> check_target_language("simplegen", "en-de", None)
    'de'
    """
    languages: tuple[str, ...] = declaration(dataset).config(config).tgt_langs
    if tgt_lang is None and len(languages) == 1:
        return languages[0]
    if tgt_lang is None:
        raise InputError(f"{dataset} {config} has several target languages; name one with tgt_lang (--tgt-lang): {', '.join(languages)}")
    if tgt_lang not in languages:
        raise InputError(f"{dataset} {config} does not support the target language {tgt_lang!r}; expected one of {', '.join(languages)}")
    return tgt_lang


def load_metric(name: str, **options: Any) -> Any:
    """The `evaluate` module of a metric, loaded from the installed package: no download, no checkout needed.

    Options go to `evaluate.load`.

    Raises:
        UnknownNameError: for a metric that is not registered.

    >>> load_metric("contrastive_conditioning").name
    'contrastive_conditioning'
    """
    import evaluate as host

    registry.resolve("metric", name)
    package = Path(__file__).parent
    folder = next(path for path in (package / "metrics_modules" / name, package.parent / "metrics" / name) if path.is_dir())
    return host.load(str(folder), **options)
