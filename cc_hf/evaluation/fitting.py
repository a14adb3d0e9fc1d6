"""Which metrics fit which material, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cc_hf import registry
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluation.material import Material
from cc_hf.languages import base_code
from cc_hf.lists import listed
from cc_hf.metrics.base import Metric

__all__ = [
    "ALL",
    "all_metrics",
    "check_translations_or_system",
    "chosen_metric",
    "chosen_metrics",
    "classes_of",
    "default_metric",
    "fitting_metrics",
    "make_metric",
    "no_metric",
    "with_options",
]

#: What stands for every metric that fits, among names of metrics.
ALL = "all"
_DEFAULT = "contrastive_conditioning"


def all_metrics() -> list[type[Metric]]:
    """Return every registered metric that can be loaded, sorted by name.

    Examples:
        >>> "coverage" in [metric.name for metric in all_metrics()]
        True
    """
    return list(registry.load_all("metric").values())


def chosen_metrics(
    names: Sequence[str],
    material: Material,
    options: Mapping[str, Any] | None = None,
    *,
    has_evaluator: bool = False,
) -> list[Metric]:
    """Make the metrics of the given names, all of which must fit the material.

    Args:
        options: options of metrics by name; each goes to every metric that has it.
        has_evaluator: whether the caller named an evaluator, which at least one metric must then
            use.

    Raises:
        UnknownNameError: for a metric that is not registered, or an option that none of them has.
        InputError: for no names, a metric that does not fit, or an evaluator that none of them
            uses.

    Examples:
        >>> from cc_hf.evaluation.material import load_material
        >>> material = load_material("winomt", tgt_lang="de")
        >>> [metric] = chosen_metrics(["contrastive_conditioning"], material, {"ties": "incorrect"})
        >>> metric.ties, metric.on_blank
        ('incorrect', 'error')
    """
    if not (names := listed("metrics", names, what="names")):
        raise InputError(
            f"metrics: expected a list with at least one of {', '.join(registry.names('metric'))},"
            " got none"
        )
    classes: list[type[Metric]] = [registry.resolve("metric", name) for name in names]
    metrics = with_options(classes, options, has_evaluator=has_evaluator)
    for metric in classes:
        _check_fits(metric, material)
    return metrics


def classes_of(
    names: Sequence[str], material: Material, *, has_translations: bool
) -> list[type[Metric]]:
    """Return the metrics of names; `ALL` is every one that fits, and any other must fit.

    Examples:
        >>> from cc_hf.evaluation.material import load_material
        >>> material = load_material("simplegen", "en-de")
        >>> names = ["contrastive_conditioning", "gender_reading"]
        >>> [metric.signature_name for metric in classes_of(names, material, has_translations=True)]
        ['cc', 'gr']
    """
    classes = fitting_metrics(material, has_translations=has_translations) if ALL in names else []
    for name in listed("metrics", names, what="names"):
        if name != ALL and (metric := registry.resolve("metric", name)) not in classes:
            _check_fits(metric, material)
            classes.append(metric)
    return classes


def chosen_metric(
    name: str | None,
    material: Material,
    options: Mapping[str, Any] | None = None,
    *,
    has_translations: bool,
    has_evaluator: bool = False,
) -> Metric:
    """Make the metric of a name as `chosen_metrics` does, or `default_metric` for None."""
    if name is None:
        name = default_metric(material, has_translations=has_translations)
    return chosen_metrics([name], material, options, has_evaluator=has_evaluator)[0]


def default_metric(material: Material, *, has_translations: bool) -> str:
    """Return the metric that judges where none is named.

    It is contrastive_conditioning. For material without contrastive sources it is the metric that
    fits, if there is only one.

    Examples:
        >>> from cc_hf.evaluation.material import load_material
        >>> default_metric(load_material("winomt", tgt_lang="de"), has_translations=True)
        'contrastive_conditioning'
    """
    if not material.unfit_reason(registry.resolve("metric", _DEFAULT)):
        return _DEFAULT
    fitting = [
        metric.name
        for metric in all_metrics()
        if not (metric.only_named or material.unfit_reason(metric))
        and metric.takes_translations == has_translations
    ]
    # Of several none is the obvious one; the error of the default names them all.
    return fitting[0] if len(fitting) == 1 else _DEFAULT


def fitting_metrics(material: Material, *, has_translations: bool) -> list[type[Metric]]:
    """Return the metrics that fit."""
    reasons = {
        metric: material.unfit_reason(metric) for metric in all_metrics() if not metric.only_named
    }
    fitting = [metric for metric, reason in reasons.items() if not reason]
    if not has_translations and all(m.takes_translations for m in fitting):
        chosen = fitting
    else:
        chosen = [m for m in fitting if m.takes_translations == has_translations]
    if not chosen:
        other_use = (
            "judges the evaluator itself, not translations of a system; name it as the metric,"
            " without translations"
        )
        unfit = {metric.name: reason or other_use for metric, reason in reasons.items()}
        raise InputError(no_metric(material, unfit))
    return chosen


def with_options(
    metrics: Sequence[type[Metric]],
    options: Mapping[str, Any] | None,
    *,
    has_evaluator: bool = False,
) -> list[Metric]:
    """Make metrics, each with those of the options that it has, or the defaults for None.

    Raises:
        UnknownNameError: for an option that none of the metrics has.
        InputError: for an evaluator that none of the metrics uses.
    """
    known = sorted({name for metric in metrics for name in metric.option_names()})
    for name in options or {}:
        if name not in known:
            raise UnknownNameError(f"option of {_listed(metrics)}", name, known)
    if has_evaluator and not any(metric.takes_evaluator for metric in metrics):
        raise InputError(
            f"evaluator: {_listed(metrics)} judges by the words of the translation and uses none;"
            " leave it out"
        )
    return [
        # Options are those of any metric of the run, so that each gets what it knows.
        metric(**{name: v for name, v in (options or {}).items() if name in metric.option_names()})
        for metric in metrics
    ]


def make_metric(name: str, options: Mapping[str, Any] | None = None) -> Metric:
    """Make a metric from its name and its options.

    Raises:
        UnknownNameError: for a metric that is not registered, or an option that the metric does not
            have.

    Examples:
        >>> make_metric("contrastive_conditioning", {"score": "arithmetic"}).score
        'arithmetic'
    """
    return with_options([registry.resolve("metric", name)], options)[0]


def check_translations_or_system(
    metrics: Sequence[Metric], translations: object, system: object
) -> None:
    """Refuse translations that no metric reads, and metrics without translations to read.

    Examples:
        >>> metric = make_metric("contrastive_conditioning")
        >>> check_translations_or_system([metric], None, None)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: translations, system: expected either translations or a system to translate with, got neither
    """  # noqa: E501
    if not any(metric.takes_translations for metric in metrics):
        names = [
            name
            for name, value in (("translations", translations), ("system", system))
            if value is not None
        ]
        if names:
            raise InputError(
                f"{' and '.join(names)}: {_listed([type(m) for m in metrics])} judges the evaluator"
                " itself, by the translations that the dataset holds; expected none. Leave that"
                " out, and name the model under test with evaluator"
            )
    elif system is not None and any(metric.reads_replies for metric in metrics):
        raise InputError(
            f"system: {_listed([type(m) for m in metrics])} reads replies of a language model that"
            " was asked to choose; expected a file of replies as translations. `cc-hf ask`"
            " asks a model"
        )
    elif (translations is None) == (system is None):
        raise InputError(
            "translations, system: expected either translations or a system to translate with, got "
            + ("neither" if translations is None else "both")
        )


def no_metric(material: Material, not_run: Mapping[str, str]) -> str:
    """Return the message that no metric can judge the material."""
    reasons = "; ".join(f"{name}: {reason}" for name, reason in sorted(not_run.items()))
    return f"no metric can judge {material.name} in {material.tgt_lang}: {reasons}"


def _check_fits(metric: type[Metric], material: Material) -> None:
    """Refuse a metric that does not fit; the message names configurations and metrics that do."""
    reason = material.unfit_reason(metric)
    declared, config = material.declared, material.config
    if not reason or declared is None or config is None:
        return
    tgt_lang = base_code(material.tgt_lang)
    alike = declared.configs_of_pair(config.src_lang, tgt_lang)
    configs = [
        c.name
        for c in alike
        if not metric.fits(declared.name, c.name, c.form, c.src_lang, tgt_lang)
    ]
    pair = f"{config.src_lang}-{material.tgt_lang}"
    hints = [
        f"use the configuration {' or '.join(configs)}"
        if configs
        else f"no configuration of {declared.name} fits for {pair}"
    ]
    if fitting := [
        m.name
        for m in all_metrics()
        if (m.reads_replies or not m.only_named) and not material.unfit_reason(m)
    ]:
        hints.append(f"metrics that fit {material.name}: {', '.join(fitting)}")
    if declared.name == "custom":  # a file has one configuration
        hints.pop(0)
    else:
        hints.append(f"see `cc-hf list datasets {declared.name}`")
    raise InputError("; ".join([reason, *hints]))


def _listed(metrics: Sequence[type[Metric]]) -> str:
    names = ", ".join(metric.name for metric in metrics) or "none"
    return f"the metrics {names}" if len(metrics) > 1 else f"the metric {names}"
