"""The whole road on one page: a dataset, the translations of a system, a metric, an evaluator
model, and out comes a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cc_hf import registry
from cc_hf.data.loading import (
    check_target_language,
    declaration,
    load_examples,
    signature_fields,
)
from cc_hf.data.translations import read_translations
from cc_hf.errors import InputError, MissingDependencyError, MissingOptionError, UnknownNameError
from cc_hf.evaluators.lazy import open_evaluator
from cc_hf.metrics.checks import listed
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.models.location import default_evaluator
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Example
from cc_hf.statistics.bootstrap import check_bootstrap

if TYPE_CHECKING:
    from cc_hf.data.declaration import DatasetDeclaration
    from cc_hf.evaluators.base import Evaluator, ScoreFunction

    _AnyEvaluator: TypeAlias = str | Path | Sequence[str | Path] | Evaluator | ScoreFunction

__all__ = [
    "evaluate",
    "evaluate_all",
    "judge",
    "named_metrics",
]


def evaluate(
    dataset: str,
    config: str | None = None,
    *,
    translations: str | Path | Sequence[str] | None = None,
    system: str | Path | None = None,
    tgt_lang: str | None = None,
    split: str = "test",
    metric: str = "contrastive_conditioning",
    evaluator: _AnyEvaluator | None = None,
    kind: str | None = None,
    prompt: str | None = None,
    score: str | None = None,
    options: Mapping[str, Any] | None = None,
    data_dir: str | Path | None = None,
    batch_tokens: int | None = None,
    on_too_long: str = "error",
    mode: str = "auto",
    cache: bool | str | Path = False,
    distributed: bool = False,
    device: str | None = None,
    revision: str | Sequence[str | None] | None = None,
    seed: int = 0,
    progress: bool = False,
) -> EvaluationResult:
    """Judge the translations of one system, or, by a metric that takes none
    (contrastive_translation_scoring), the evaluator itself.

    Args:
        dataset, config: names of `cc-hf list datasets`; config None takes the dataset's default.
        translations: a file (see `cc_hf.data.translations.read_translations`) or one translation
            per example, in their order.
        system: instead of translations, a model to make them with. Neither for a metric that judges
            the evaluator itself.
        tgt_lang: ISO 639-1; may be left out where the configuration has one target language.
        split: a split of the dataset.
        metric: a name of `cc-hf list metrics`.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None takes the
            one that ships for the language pair.
        score: of contrastive_conditioning arithmetic, geometric (the default) or reference; of
            contrastive_translation_scoring perplexity (the default) or logprob.
        options: the metric's own, by name (`MetricDeclaration.options`).
        data_dir: a local copy of the upstream repositories, instead of a download.
        kind, prompt, batch_tokens, on_too_long, mode, cache, distributed, device, revision: of the
            evaluator, see `cc_hf.load_evaluator`.
        seed: of the bootstrap.
        progress: bars on anything that takes longer than a second.

    Raises:
        InputError, DataError, EvaluatorError: see `cc_hf.errors`; each names what was expected,
            what came, and where.

    >>> def undecided(sources, translations):
    ...     return [1.0] * len(sources)
    >>> result = evaluate(
    ...     "simplegen", "en-de", translations=["Sie ist Ärztin."] * 2664, evaluator=undecided
    ... )
    >>> result.n, result.counts["n_ties"]
    (2664, 2664)
    """
    found = _evaluate_metrics(
        dataset,
        config,
        metrics=(metric,),
        translations=translations,
        system=system,
        tgt_lang=tgt_lang,
        split=split,
        evaluator=evaluator,
        kind=kind,
        prompt=prompt,
        score=score,
        options=options,
        data_dir=data_dir,
        batch_tokens=batch_tokens,
        on_too_long=on_too_long,
        mode=mode,
        cache=cache,
        distributed=distributed,
        device=device,
        revision=revision,
        seed=seed,
        progress=progress,
    )
    return found.results[0]


def evaluate_all(dataset: str, config: str | None = None, **options: Any) -> ResultSet:
    """Judge the translations of one system by every metric that fits the dataset and the language,
    in one pass; without translations, the evaluator.

    Translations are read, or made, once; an evaluator is loaded once. A metric that does not fit,
    lacks an optional package or an option that it cannot do without, or needs an evaluator that is
    not named and does not ship, is not run, and the answer says why. With translations (or a
    system) those metrics are run that judge them, without those that judge the evaluator itself.

    Args:
        dataset, config: as of `evaluate`.
        options: keywords of `evaluate` but `metric`. An evaluator, a score and the metrics' own
            `options` go to those that take them.

    Raises:
        InputError: when no metric fits, or an option is of none that does; otherwise as `evaluate`.

    >>> found = evaluate_all(
    ...     "simplegen",
    ...     "en-de",
    ...     translations=["Sie ist Ärztin."] * 2664,
    ...     evaluator=lambda sources, translations: [1.0] * len(sources),
    ... )
    >>> [result.metric for result in found.results if result.metric.startswith("contrastive")]
    ['contrastive_conditioning']
    """
    return _evaluate_metrics(dataset, config, metrics=None, **options)


def _evaluate_metrics(
    dataset: str,
    config: str | None,
    *,
    metrics: Sequence[str] | None,
    translations: str | Path | Sequence[str] | None = None,
    system: str | Path | None = None,
    tgt_lang: str | None = None,
    split: str = "test",
    evaluator: _AnyEvaluator | None = None,
    score: str | None = None,
    options: Mapping[str, Any] | None = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
    device: str | None = None,
    progress: bool = False,
    **loading: Any,
) -> ResultSet:
    """The road.

    `metrics` None: all that fit; one that is named must fit, and run. `loading`: further options of
    `load_evaluator`.
    """
    declared = declaration(dataset)
    chosen: list[MetricDeclaration] = [
        registry.resolve("metric", name)
        for name in (registry.names("metric") if metrics is None else metrics)
    ]
    config = declared.config(config).name
    target = check_target_language(dataset, config, tgt_lang)
    not_run: dict[str, str] = {}
    if metrics is None:
        chosen, not_run = _fitting(chosen, declared, config, target)
        if not chosen:
            raise InputError(_no_metric(dataset, config, target, not_run))
        chosen, others = _judging(chosen, translations, system)
        not_run |= others
        if not chosen:
            raise InputError(_no_metric(dataset, config, target, not_run))
    own = _own_options(chosen, options, score, has_evaluator=evaluator is not None)
    for one in chosen:
        _check_fits(one, declared, config, target)
    examples = load_examples(dataset, config, split=split, data_dir=data_dir)
    src_lang = examples[0].src_lang
    _check_given(chosen, translations, system)
    texts: Sequence[str] = ()
    origin: dict[str, str] = {}
    counts: dict[str, int] = {}
    if translations is not None:  # a mismatch shows before any model is loaded
        texts, origin, counts = _given(examples, translations)
    check_bootstrap(seed=seed, n_resamples=1)
    loaded: _AnyEvaluator | None = None
    if any(one.takes_evaluator for one in chosen):
        try:
            loaded = default_evaluator(src_lang, target) if evaluator is None else evaluator
            if isinstance(loaded, (str, Path, list, tuple)):
                loaded = open_evaluator(
                    loaded, languages=(src_lang, target), device=device, **loading
                )
        except (InputError, MissingDependencyError) as error:
            if metrics is not None or (loaded is not None and isinstance(error, InputError)):
                raise
            not_run |= {one.name: str(error) for one in chosen if one.takes_evaluator}
            chosen = [one for one in chosen if not one.takes_evaluator]
    if system is not None and chosen:
        texts, origin, counts = _by_system(
            examples, system, tgt_lang=target, device=device, progress=progress
        )
    results = []
    for one in chosen:
        try:
            result = judge(
                one,
                examples,
                texts,
                evaluator=loaded,
                options=own,
                tgt_lang=target,
                dataset=declared.name,
                config=config,
                origin={
                    **signature_fields(dataset, config, split=split, data_dir=data_dir),
                    **origin,
                },
                seed=seed,
                progress=progress,
            )
        except (MissingDependencyError, MissingOptionError) as error:
            if metrics is not None:
                raise
            not_run[one.name] = str(error)
            continue
        results.append(
            replace(result, counts={**result.counts, **counts})
            if one.takes_translations
            else result
        )
    if not results:
        raise InputError(_no_metric(dataset, config, target, not_run))
    return ResultSet(tuple(results), dict(sorted(not_run.items())))


def named_metrics(
    names: Sequence[str],
    dataset: str,
    config: str,
    *,
    tgt_lang: str,
    options: Mapping[str, Any] | None = None,
    score: str | None = None,
    has_evaluator: bool = False,
) -> tuple[tuple[MetricDeclaration, ...], dict[str, Any]]:
    """The metrics of these names, and their own options, when all fit the configuration and the
    language.

    Raises:
        UnknownNameError: for a metric that is not registered, or an option that none of them takes.
        InputError: for no names, a metric that does not fit, or an evaluator that none of them
            takes.

    >>> metrics, own = named_metrics(
    ...     ["contrastive_conditioning"], "winomt", "default", tgt_lang="de", score="arithmetic"
    ... )
    >>> [metric.name for metric in metrics], own
    (['contrastive_conditioning'], {'score': 'arithmetic'})
    """
    if not names:
        raise InputError(
            f"metrics: expected at least one of {', '.join(registry.names('metric'))}, got none"
        )
    chosen: list[MetricDeclaration] = [registry.resolve("metric", name) for name in names]
    own = _own_options(chosen, options, score, has_evaluator=has_evaluator)
    for metric in chosen:
        _check_fits(metric, declaration(dataset), config, tgt_lang)
    return tuple(chosen), own


def judge(
    metric: MetricDeclaration,
    examples: Sequence[Example],
    translations: Sequence[str],
    *,
    references: Sequence[Mapping[str, Any]] | None = None,
    evaluator: _AnyEvaluator | None = None,
    options: Mapping[str, Any] | None = None,
    src_lang: str = "",
    tgt_lang: str,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: bool = False,
) -> EvaluationResult:
    """Run one metric on translations that are at hand: the last step of every evaluation, and the
    only caller of a metric's core.

    The result has the notes of the metric's core, the remark of the configuration, and, if there
    are notes on the evaluator, the metrics that do without one.

    Args:
        examples, translations: one translation per example, in their order; of no effect on a
            metric that takes none.
        references: what the metric reads, for data without examples (`examples` is then empty);
            None to take it from the examples. Only examples have ids and sources: without them rows
            are named by number, and `n_with_source` is not counted.
        src_lang: of data without examples.
        evaluator: of metrics that take one; of no effect on others.
        options: of this metric and of others (`named_metrics`); each takes its own.
        dataset, config, origin: names and signature fields of the data.
        tgt_lang, seed, progress: as in `evaluate`.

    Raises:
        As `evaluate`.

    >>> from cc_hf.metrics.contrastive_conditioning import DECLARATION
    >>> examples = load_examples("simplegen", "en-de")[:4]
    >>> judge(
    ...     DECLARATION,
    ...     examples,
    ...     ["Sie ist Ärztin."] * 4,
    ...     evaluator=lambda sources, translations: [1.0] * len(sources),
    ...     tgt_lang="de",
    ... ).n
    4
    """
    translations = listed("translations", translations)
    found = metric.evaluate(
        *([translations] if metric.takes_translations else []),
        metric.references(examples) if references is None else references,
        **({"evaluator": evaluator} if metric.takes_evaluator else {}),
        **{name: value for name, value in (options or {}).items() if name in metric.options},
        src_lang=examples[0].src_lang if examples else src_lang,
        tgt_lang=tgt_lang,
        ids=[e.id for e in examples] if examples else None,
        dataset=dataset,
        config=config,
        origin=origin,
        seed=seed,
        progress=progress,
    )
    found = replace(found, notes=(*found.notes, *_data_notes(found)))
    if not metric.takes_translations or not examples:
        return found
    # not translated, or not the right file
    n_with_source = sum(
        bool(e.source) and e.source in text for e, text in zip(examples, translations, strict=True)
    )
    return replace(found, counts={**found.counts, "n_with_source": n_with_source})


def _data_notes(result: EvaluationResult) -> list[str]:
    """What the data add: metrics that would serve where the evaluator does not, and the remark of
    the configuration.
    """
    if result.dataset not in registry.DATASETS:  # data of the caller's own
        return []
    config = declaration(result.dataset).config(result.config)
    notes = [config.remark] if config.remark else []
    every: list[MetricDeclaration] = [
        registry.resolve("metric", name) for name in registry.names("metric")
    ]
    by_words = [
        m.name for m in every if m.judges and m.takes_translations and not m.takes_evaluator
    ]
    fitting = [
        m.name
        for m in every
        if m.name in by_words
        and not m.fits(result.dataset, config.name, config.form, config.src_lang, result.tgt_lang)
    ]
    if result.notes and fitting:
        notes.append(
            f"Without an evaluator, {result.dataset} {result.config} is judged by"
            f" {' and '.join(fitting)}"
        )
    return notes


def _fitting(
    metrics: Sequence[MetricDeclaration], declared: DatasetDeclaration, config: str, tgt_lang: str
) -> tuple[list[MetricDeclaration], dict[str, str]]:
    """Those that fit, and why the others do not."""
    own = declared.config(config)
    reasons = {
        metric.name: metric.fits(declared.name, config, own.form, own.src_lang, tgt_lang)
        for metric in metrics
    }
    return [metric for metric in metrics if not reasons[metric.name]], {
        name: reason for name, reason in reasons.items() if reason
    }


def _judging(
    metrics: Sequence[MetricDeclaration], translations: object, system: object
) -> tuple[list[MetricDeclaration], dict[str, str]]:
    """Of metrics that fit, those that judge what was given: translations, or without any the
    evaluator; and why the others do not.
    """
    given = translations is not None or system is not None
    if not given and all(metric.takes_translations for metric in metrics):
        return list(metrics), {}  # refused for want of translations
    reason = (
        "judges the evaluator itself, not translations of a system; name it with metric (--metric),"
        " without translations"
        if given
        else "needs translations (--translations), or a system (--system) to translate with"
    )
    chosen = [metric for metric in metrics if metric.takes_translations == given]
    return chosen, {metric.name: reason for metric in metrics if metric.takes_translations != given}


def _check_given(
    metrics: Sequence[MetricDeclaration], translations: object, system: object
) -> None:
    if not any(metric.takes_translations for metric in metrics):
        given = [
            name
            for name, value in (
                ("translations (--translations)", translations),
                ("a system (--system)", system),
            )
            if value is not None
        ]
        if given:
            raise InputError(
                f"{_listed(metrics)} judges the evaluator itself, by the translations that the"
                " dataset holds; expected no translations and no system, got"
                f" {' and '.join(given)}. Leave that out, and name the model under test with"
                " evaluator (--evaluator)"
            )
    elif (translations is None) == (system is None):
        raise InputError(
            "expected either translations (--translations) or a system (--system) to translate"
            " with, got " + ("neither" if translations is None else "both")
        )


def _check_fits(
    metric: MetricDeclaration, declared: DatasetDeclaration, config: str, tgt_lang: str
) -> None:
    """Refuse a metric that does not fit, with what does."""
    own = declared.config(config)
    if reason := metric.fits(declared.name, config, own.form, own.src_lang, tgt_lang):
        alike = [
            c for c in declared.configs if c.src_lang == own.src_lang and tgt_lang in c.tgt_langs
        ]
        configs = [
            c.name
            for c in alike
            if not metric.fits(declared.name, c.name, c.form, c.src_lang, tgt_lang)
        ]
        others = (
            f"use {', '.join(configs)}"
            if configs
            else f"no configuration of {declared.name} fits for {own.src_lang}-{tgt_lang}"
        )
        every: list[MetricDeclaration] = [
            registry.resolve("metric", name) for name in registry.names("metric")
        ]
        fitting = [
            one.name
            for one in every
            if not one.fits(declared.name, config, own.form, own.src_lang, tgt_lang)
        ]
        metrics = f", or for {config} the metric {' or '.join(fitting)}" if fitting else ""
        raise InputError(f"{reason}; {others}{metrics} (see `cc-hf list datasets {declared.name}`)")


def _own_options(
    metrics: Sequence[MetricDeclaration],
    options: Mapping[str, Any] | None,
    score: str | None,
    *,
    has_evaluator: bool,
) -> dict[str, Any]:
    """What one of the metrics takes beside that which all take; anything else is refused."""
    own = dict(options or {})
    if score is not None:
        if "score" in own:
            raise InputError(
                f"score: expected one value, got {score!r} and, among the options, {own['score']!r}"
            )
        own["score"] = score
    known = sorted({name for metric in metrics for name in metric.options})
    for name in own:
        if name not in known:
            raise UnknownNameError(f"option of {_listed(metrics)}", name, known)
    if has_evaluator and not any(metric.takes_evaluator for metric in metrics):
        raise InputError(
            f"no evaluator is used by {_listed(metrics)}, which judge by the words of the"
            " translation; leave it out (--evaluator)"
        )
    return own


def _listed(metrics: Sequence[MetricDeclaration]) -> str:
    return (
        f"the metrics {', '.join(metric.name for metric in metrics)}"
        if len(metrics) > 1
        else f"the metric {metrics[0].name}"
    )


def _no_metric(dataset: str, config: str, tgt_lang: str, not_run: Mapping[str, str]) -> str:
    reasons = "; ".join(f"{name}: {reason}" for name, reason in sorted(not_run.items()))
    return f"no metric can judge {dataset} {config} in {tgt_lang}: {reasons}"


# translations, signature fields, counts
_Texts = tuple[Sequence[str], dict[str, str], dict[str, int]]


def _by_system(
    examples: Sequence[Example],
    system: str | Path,
    *,
    tgt_lang: str,
    device: str | None,
    progress: bool,
) -> _Texts:
    from cc_hf.models.pretrained import load_model
    from cc_hf.systems.translate import DEFAULT_BEAMS, translate

    texts = translate(
        [e.source for e in examples],
        system,
        src_lang=examples[0].src_lang,
        tgt_lang=tgt_lang,
        device=device,
        progress=progress,
    )
    return (
        texts,
        {"sys": f"{load_model(system, device=device).signature_name}/beam{DEFAULT_BEAMS}"},
        {},
    )


def _given(examples: Sequence[Example], translations: str | Path | Sequence[str]) -> _Texts:
    if isinstance(translations, (str, Path)):
        matched = read_translations(translations, examples)
        return (
            matched.translations,
            {},
            {"n_lines": matched.n_lines, "n_unused_lines": matched.n_unused},
        )
    texts = listed("translations", translations)
    if len(texts) != len(examples):
        raise InputError(
            f"expected one translation per example, {len(examples)} in all, got {len(texts)}"
        )
    return texts, {}, {}
