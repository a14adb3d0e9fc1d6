"""The entry points of an evaluation: from material, translations of a system, a metric and an
evaluator model to a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cc_hf import registry
from cc_hf.data.files.translations import LineCountError, name_of_file, read_translations
from cc_hf.errors import InputError, MissingDependencyError, MissingOptionError, shown
from cc_hf.evaluation.fitting import (
    ALL,
    all_metrics,
    check_translations_or_system,
    chosen_metric,
    classes_of,
    no_metric,
    with_options,
)
from cc_hf.evaluation.inspection import check_wrapped, known_texts
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material, check_material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions, scheme_of
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.lists import listed
from cc_hf.models.location import default_evaluator
from cc_hf.normalization import is_blank
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.systems.system import System

if TYPE_CHECKING:
    from cc_hf.metrics.base import Metric

__all__ = ["evaluate", "evaluate_all"]


def evaluate(
    material: Material,
    *,
    translations: str | Path | Sequence[str] | None = None,
    system: str | Path | System | None = None,
    metric: str | None = None,
    options: Mapping[str, Any] | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    name: str | None = None,
    clean: bool | None = None,
    seed: int = 0,
    progress: bool = False,
) -> EvaluationResult:
    """Judge the translations of one system by one metric.

    A metric that reads no translations (contrastive_translation_scoring) judges the evaluator
    itself.

    Args:
        material: rows to judge by, see `cc_hf.load_material`.
        translations: a file (see `cc_hf.data.files.translations.read_translations`), or one
            translation per example, in their order. None if `system` is given, or if the metric
            judges the evaluator itself.
        system: model that makes the translations, instead of `translations`; a
            `cc_hf.systems.system.System` says how it translates, with how many beams and which
            context.
        metric: a name of `cc-hf list metrics`; None for contrastive_conditioning, or where it does
            not fit the material for the only metric that does.
        options: the metric's options by name, such as {"score": "arithmetic"}; its card lists them.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None uses the
            evaluator that ships for the language pair.
        loading: how the evaluator is loaded, such as `LoadingOptions(cache=True)`.
        name: name of the system in reports, a text of one line. None for the default: the model
            that translated, the file of translations
            (`cc_hf.data.files.translations.name_of_file`), or the evaluator if it is judged itself.
        clean: whether to remove what stands around translations and is sure to be none of them,
            such as code fences, prefaces, markup and thinking; the signature says so. False judges
            everything as it is. None refuses files in which nearly every translation is wrapped,
            and judges refusals ("I can't help with that") and placeholders ("N/A") as incorrect.
        seed: seed of the bootstrap, 0 or more.

    Returns:
        Scores in [0, 1] with their intervals, counts, every judgement, and the signature.

    Raises:
        InputError: for arguments, translations or rows that do not fit the metric.
        UnknownNameError: for a metric or an option that does not exist.
        DataError: for a file that is missing or not as expected.
        EvaluatorError: for an evaluator that fails.
        MissingDependencyError: for a package that is not installed.

    Examples:
        >>> from cc_hf import load_material
        >>> def undecided(sources, translations):
        ...     return [1.0] * len(sources)
        >>> result = evaluate(
        ...     load_material("simplegen", "en-de"),
        ...     translations=["Sie ist Ärztin."] * 2664,
        ...     evaluator=undecided,
        ... )
        >>> result.n, result.counts["n_ties"]
        (2664, 2664)
    """
    check_material(material)
    has_translations = translations is not None or system is not None
    metrics = [
        chosen_metric(
            metric,
            material,
            options,
            has_translations=has_translations,
            has_evaluator=evaluator is not None,
        )
    ]
    # Translations are read first, so that a mismatch is found before any model is loaded.
    texts, bootstrap = _checked(
        material, metrics, translations, system, name=name, clean=clean, seed=seed
    )
    loading = loading or LoadingOptions()
    if metrics[0].takes_evaluator and evaluator is None:
        _check_embedded(material)
    scorer = _scorer(material, evaluator, loading) if metrics[0].takes_evaluator else None
    if system is not None:
        texts = _translated(material, system, device=loading.device, progress=progress)
    return _judged(
        metrics[0], material, texts.named(name), scorer, bootstrap, clean=clean, progress=progress
    )


def evaluate_all(
    material: Material,
    *,
    translations: str | Path | Sequence[str] | None = None,
    system: str | Path | System | None = None,
    metrics: Sequence[str] = (ALL,),
    options: Mapping[str, Any] | None = None,
    evaluator: AnyEvaluator | None = None,
    loading: LoadingOptions | None = None,
    name: str | None = None,
    clean: bool | None = None,
    seed: int = 0,
    progress: bool = False,
) -> ResultSet:
    """Judge the translations of one system by every metric that fits the material, or by several.

    Translations are read or made once, and the evaluator is loaded once. With translations or a
    system, only metrics that judge translations run; without, only metrics that judge the evaluator
    itself.

    A metric does not run if it does not fit. Neither does one that lacks an optional package or a
    required option, or that needs an evaluator when none is named or ships for the pair; the result
    says why. A metric that is named runs, or the error says why not.

    Args:
        material: rows to judge by, see `cc_hf.load_material`.
        translations: a file or one translation per example, in their order.
        system: model that makes the translations, instead of `translations`; a
            `cc_hf.systems.system.System` says how it translates, with how many beams and which
            context.
        metrics: names of metrics, among which "all" stands for every one that fits.
        options: options of metrics by name; each goes to every metric that has it.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None uses the
            evaluator that ships for the language pair.
        loading: how the evaluator is loaded.
        name: name of the system in reports; None for the default, see `evaluate`.
        clean: True removes what stands around translations, such as code fences; False judges it,
            too; None refuses files in which nearly every translation is wrapped. See `evaluate`.
        seed: seed of the bootstrap, 0 or more.

    Returns:
        The results of the metrics that ran, and why others that fit did not.

    Raises:
        InputError: if no metric fits, or for arguments, translations or rows that do not fit.
        UnknownNameError: for an option that no fitting metric has.
        DataError: for a file that is missing or not as expected.
        EvaluatorError: for an evaluator that fails.
        MissingDependencyError: for a package that the named evaluator or the system needs.

    Examples:
        >>> from cc_hf import load_material
        >>> judged = evaluate_all(
        ...     load_material("simplegen", "en-de"),
        ...     translations=["Sie ist Ärztin."] * 2664,
        ...     evaluator=lambda sources, translations: [1.0] * len(sources),
        ... )
        >>> [result.metric for result in judged.results if result.metric.startswith("contrastive")]
        ['contrastive_conditioning']
    """
    check_material(material)
    has_translations = translations is not None or system is not None
    classes = classes_of(metrics, material, has_translations=has_translations)
    not_run: dict[str, str] = {}
    chosen = with_options(classes, options, has_evaluator=evaluator is not None)
    texts, bootstrap = _checked(
        material, chosen, translations, system, name=name, clean=clean, seed=seed
    )
    loading = loading or LoadingOptions()
    scorer = None
    if any(metric.takes_evaluator for metric in chosen):
        # If none ships for the pair, or a package is missing, metrics without evaluator still run.
        try:
            scorer = _scorer(material, evaluator, loading)
        except (InputError, MissingDependencyError) as error:
            lacking = {metric.name: str(error) for metric in chosen if metric.takes_evaluator}
            if (evaluator is not None and isinstance(error, InputError)) or {*metrics} & {*lacking}:
                raise
            not_run |= lacking
            chosen = [metric for metric in chosen if not metric.takes_evaluator]
    if system is not None and chosen:
        texts = _translated(material, system, device=loading.device, progress=progress)
    texts, results = texts.named(name), []
    for metric in chosen:
        try:
            results.append(
                _judged(metric, material, texts, scorer, bootstrap, clean=clean, progress=progress)
            )
        # What one metric lacks does not cost the figures of the others.
        except (MissingDependencyError, MissingOptionError) as error:
            if metric.name in metrics:
                raise
            not_run[metric.name] = str(error)
    if not results:
        raise InputError(no_metric(material, not_run))
    return ResultSet(tuple(results), dict(sorted(not_run.items())))


class _Texts(NamedTuple):
    translations: Sequence[str] = ()
    origin: Mapping[str, str] = {}
    counts: Mapping[str, int] = {}
    system: str = ""
    notes: tuple[str, ...] = ()

    def named(self, name: str | None) -> _Texts:
        """Return the same texts under the name that the user gave, if any."""
        return self if name is None else self._replace(system=name.strip())


def _judged(
    metric: Metric,
    material: Material,
    texts: _Texts,
    scorer: Evaluator | None,
    bootstrap: Bootstrap,
    *,
    clean: bool | None,
    progress: bool,
) -> EvaluationResult:
    """Return the result of one metric, with the name of the system and the numbers of lines."""
    result = judge(
        metric.opened(scorer, src_lang=material.src_lang, tgt_lang=material.tgt_lang),
        material,
        texts.translations,
        evaluator=scorer,
        bootstrap=bootstrap,
        origin=texts.origin,
        clean=clean,
        progress=progress,
    )
    if not metric.takes_translations:
        return replace(result, system=texts.system or _evaluator_name(scorer))
    return replace(
        result,
        system=texts.system,
        counts={**result.counts, **texts.counts},
        notes=(*texts.notes, *result.notes),
    )


def _check_name(name: object) -> None:
    if name is not None and not (isinstance(name, str) and name.strip() and name.isprintable()):
        raise InputError(f"name: expected the name of a system in one line, got {shown(name)}")


def _evaluator_name(scorer: Evaluator | None) -> str:
    """Return the name of an evaluator that is judged itself, without its version."""
    if scorer is None or isinstance(scorer, FunctionEvaluator):
        return "" if scorer is None else scorer.name
    # Without commits: the name is for people, and the signature has both.
    members = scorer.signature_fields()["eval"].split("+")
    return " + ".join(member.rpartition("@")[0] for member in members)


def _scorer(
    material: Material, evaluator: AnyEvaluator | None, loading: LoadingOptions
) -> Evaluator:
    return resolve_evaluator(
        evaluator, loading, src_lang=material.src_lang, tgt_lang=material.tgt_lang
    )


def _check_embedded(material: Material) -> None:
    """Refuse material for which no evaluator is embedded; name the metrics that need none."""
    try:
        default_evaluator(material.src_lang, material.tgt_lang)
    except InputError as error:
        lacks = {
            metric.name: _lack(metric, material)
            for metric in all_metrics()
            if material.declared
            and not metric.takes_evaluator
            and not metric.only_named
            and not material.unfit_reason(metric)
        }
        if not lacks:
            raise
        ready = [name for name, lack in lacks.items() if not lack]
        name, lack = next(iter(lacks.items()))
        advice = (
            f"{' or '.join(ready)} needs no evaluator"
            if ready
            else f"{name} needs no evaluator, but: {lack}"
        )
        raise InputError(f"{error}; the metric {advice}") from None


def _lack(metric: type[Metric], material: Material) -> str:
    """Return what a metric lacks on this machine; "" if nothing is missing."""
    try:
        metric.check_available(material.tgt_lang)
    except (MissingDependencyError, MissingOptionError) as error:
        return str(error)
    return ""


def _configurations_with(n: int, material: Material) -> str:
    """Return a hint at the configurations of the dataset that have `n` examples, or ""."""
    configs = material.declared.configs if material.declared is not None else ()
    names = [
        config.name
        for config in configs
        if config.splits.get(material.split) == n and config.has_target(material.tgt_lang)
    ]
    return (
        f". {n} is the number of examples of the configuration {' or '.join(names)}"
        if names
        else ""
    )


def _translated(
    material: Material, system: str | Path | System, *, device: str | None, progress: bool
) -> _Texts:
    system = system if isinstance(system, System) else System(system)
    if (scheme := scheme_of(str(system.model), "system scheme")) is not None:
        written, name = registry.resolve("system scheme", scheme)(
            system,
            system.sources(material.examples),
            src_lang=material.src_lang,
            tgt_lang=material.tgt_lang,
        )
        return _Texts(written, {"sys": name}, system=str(system.model))
    from cc_hf.evaluators.loading import load_with
    from cc_hf.models.pretrained import load_model
    from cc_hf.systems.backends import prepare
    from cc_hf.systems.translate import cut_note, translate_rows

    written, cut = translate_rows(
        prepare(
            load_with(system.model, LoadingOptions(device=device)),
            precision=system.precision,
            backend=system.backend,
        ),
        system.sources(material.examples),
        src_lang=material.src_lang,
        tgt_lang=material.tgt_lang,
        num_beams=system.num_beams,
        progress=progress,
    )
    names = system.model if isinstance(system.model, tuple) else (system.model,)
    models = [load_model(name, device=device) for name in names]
    counts = (
        {}
        if system.separator is None
        else {"n_without_separator": sum(system.separator not in text for text in written)}
    )
    return _Texts(
        [system.last_sentence(text) for text in written],
        {"sys": system.signature("+".join(model.signature_name for model in models))},
        counts,
        system="+".join(model.name for model in models),
        notes=(cut_note(cut, len(written)),) if cut else (),
    )


def _checked(
    material: Material,
    metrics: Sequence[Metric],
    translations: str | Path | Sequence[str] | None,
    system: str | Path | System | None,
    *,
    name: object,
    clean: bool | None,
    seed: int,
) -> tuple[_Texts, Bootstrap]:
    """Check what an evaluation is asked for before anything is loaded.

    Returns:
        The translations of a file or of a list, none for None; and the bootstrap.
    """
    check_translations_or_system(metrics, translations, system)
    _check_name(name)
    bootstrap = Bootstrap(seed=seed)
    texts = _read(material, translations, metrics)
    written = [text if isinstance(text, str) else "" for text in texts.translations]
    # What is no translation is looked for before a model is loaded, too.
    known = known_texts(material.examples, ())
    for metric in metrics if written else ():
        check_wrapped(type(metric), written, known, clean=clean)
    return texts, bootstrap


def _read(
    material: Material,
    translations: str | Path | Sequence[str] | None,
    metrics: Sequence[Metric],
) -> _Texts:
    # Examples are read even without translations, so that errors in the data are raised first.
    examples = material.examples
    if translations is None:
        return _Texts()
    if isinstance(translations, (str, Path)):
        try:
            matched = read_translations(
                translations, examples, other_lengths=material.translated_lines()
            )
        except LineCountError as error:
            raise InputError(f"{error}{_configurations_with(error.n_lines, material)}") from None
        blank = [
            example
            for example, text in zip(examples, matched.translations, strict=True)
            if is_blank(text)
        ]
        if blank and not all(metric.counts_blank for metric in metrics):
            raise InputError(
                f"{translations}: {len(blank)} of {len(examples)} translations are blank; the first"
                f" is that of example {blank[0].id}, {blank[0].source[:80]!r}. Fix the system's"
                " output, or give `option` on_blank=incorrect, so that they count so"
            )
        return _Texts(
            matched.translations,
            counts={"n_lines": matched.n_lines, "n_unused_lines": matched.n_unused},
            system=name_of_file(translations, material.src_lang, material.tgt_lang),
        )
    texts = listed("translations", translations)
    if len(texts) != len(examples):
        raise InputError(
            f"expected one translation per example, {len(examples)} in all, got {len(texts)}"
            f"{_configurations_with(len(texts), material)}"
        )
    return _Texts(texts)
