"""Registered names, each with a string "module:object", so that nothing heavy is imported and no
import edge arises. `resolve` imports the object.

Other packages add to most tables by entry points, which are read when a name of that kind is first
used. cc_hf's own names keep their meaning: a plug-in of the same name is refused with a warning. If
two packages add the same name, neither is used, and asking for it is an error. A plug-in that
cannot be loaded is an error where it is asked for, and is left out with a warning where all are
listed. Each message names the package and its entry point.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cc_hf.errors import (
    MissingDependencyError,
    PluginError,
    PluginWarning,
    UnknownNameError,
    shown,
)
from cc_hf.verbs import VERBS, Verb

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "CATEGORIES",
    "COMMAND_OPTIONS",
    "DATASETS",
    "DERIVED_FIGURES",
    "EVALUATORS",
    "EVALUATOR_FAMILIES",
    "EVALUATOR_SCHEMES",
    "KINDS",
    "LABEL_SETS",
    "METRICS",
    "MODEL_FORMATS",
    "MODEL_TYPES",
    "MORPHOLOGY_READERS",
    "PUBLIC_NAMES",
    "PUBLISHERS",
    "READERS",
    "REPORT_SECTIONS",
    "SENTENCES",
    "SYSTEM_SCHEMES",
    "Study",
    "find",
    "forget_plugins",
    "imported",
    "kind_of_sentences",
    "load_all",
    "names",
    "resolve",
    "sentences_of",
    "study_part",
    "study_parts",
]


Part = Literal["commands", "side_by_side", "sentences"]


# A NamedTuple, because `import cc_hf` reads this file and must not load dataclasses.
class Study(NamedTuple):
    """What can be said of a study without importing its modules.

    Attributes:
        commands: "module:object" of the `typer.Typer` that has its commands.
        papers: the papers that it reproduces or extends: keys of `cc_hf.citations`, or for other
            papers the text to show, such as "Smith 2025".
        side_by_side: "module:object" of a `cc_hf.reports.side_by_side.Hook`, which shows figures of
            the study for several systems; None for no figures.
        sentences: "module:object" of a function that takes the path of a file and its languages,
            and returns its sentences as `ProbingExample`s to translate if the file is one that the
            study writes, else None. None for no such files.
    """

    commands: str
    papers: tuple[str, ...]
    summary: str
    side_by_side: str | None = None
    sentences: str | None = None


#: Dataset -> its declaration, a `cc_hf.data.declaration.DatasetDeclaration`.
DATASETS: dict[str, str] = {
    "contrawsd": "cc_hf.test_sets.contrawsd.reader:DECLARATION",
    "ctxpro": "cc_hf.test_sets.ctxpro.reader:DECLARATION",
    "discevalmt": "cc_hf.test_sets.discevalmt.reader:DECLARATION",
    "distil_lingeval": "cc_hf.test_sets.distil_lingeval.reader:DECLARATION",
    "gate": "cc_hf.test_sets.gate.reader:DECLARATION",
    "gender_alternatives": "cc_hf.test_sets.gender_alternatives.reader:DECLARATION",
    "gender_fair_german": "cc_hf.test_sets.gender_fair_german.reader:DECLARATION",
    "gender_res": "cc_hf.test_sets.gender_res.reader:DECLARATION",
    "genderous": "cc_hf.test_sets.genderous.reader:DECLARATION",
    "gest": "cc_hf.test_sets.gest.reader:DECLARATION",
    "mittens": "cc_hf.test_sets.mittens.reader:DECLARATION",
    "mt_geneval": "cc_hf.test_sets.mt_geneval.reader:DECLARATION",
    "mucow": "cc_hf.test_sets.mucow.reader:DECLARATION",
    "simplegen": "cc_hf.test_sets.simplegen.reader:DECLARATION",
    "wino_x": "cc_hf.test_sets.wino_x.reader:DECLARATION",
    "winomt": "cc_hf.test_sets.winomt.reader:DECLARATION",
}

#: Metric -> its class, a `cc_hf.metrics.base.Metric`.
METRICS: dict[str, str] = {
    "contrastive_conditioning": "cc_hf.metrics.contrastive_conditioning:ContrastiveConditioning",
    "contrastive_translation_scoring": (
        "cc_hf.metrics.contrastive_translation_scoring:ContrastiveTranslationScoring"
    ),
    "coverage": "cc_hf.plugins.omissions.coverage:Coverage",
    "critical_errors": "cc_hf.plugins.omissions.critical_errors:CriticalErrors",
    "expected_form": "cc_hf.test_sets.ctxpro.expected_form:ExpectedForm",
    "gender_accuracy": "cc_hf.test_sets.mt_geneval.gender_accuracy:GenderAccuracy",
    "gender_fair_forms": "cc_hf.test_sets.gender_fair_german.gender_fair_forms:GenderFairForms",
    "gender_reading": "cc_hf.plugins.gender_reading.metric:GenderReading",
    "gender_form": "cc_hf.test_sets.gender_res.gender_form:GenderForm",
    "gender_quality_gap": "cc_hf.test_sets.mt_geneval.gender_quality_gap:GenderQualityGap",
    "gender_words": "cc_hf.test_sets.gate.gender_words:GenderWords",
    "homograph_accuracy": "cc_hf.test_sets.mucow.homograph_accuracy:HomographAccuracy",
    "mucow_pattern_matching": "cc_hf.test_sets.mucow.pattern_matching:MucowPatternMatching",
    "prompted_choice": "cc_hf.plugins.asking.prompted_choice:PromptedChoice",
    "rewriting_score": "cc_hf.test_sets.gate.rewriting_score:RewritingScore",
    "simplegen_accuracy": "cc_hf.test_sets.simplegen.simplegen_accuracy:SimplegenAccuracy",
    "stereotype_rates": "cc_hf.test_sets.gest.stereotype_rates:StereotypeRates",
    "wino_x_pattern_matching": "cc_hf.test_sets.wino_x.pattern_matching:WinoXPatternMatching",
    "winomt_pattern_matching": "cc_hf.test_sets.winomt.pattern_matching:WinomtPatternMatching",
}

#: Figure that reports derive from a result -> a function that returns it for a result: a
#: `cc_hf.reports.derived_figures.DerivedFigure`, a `MissingFigure` if it cannot have it, or None.
DERIVED_FIGURES: dict[str, str] = {
    "stereotype_score": "cc_hf.test_sets.gest.preference:stereotype_score",
}

#: Family -> the evaluator class that scores with it. A family is named after transformers'
#: model_type, or has a name of its own if it shares a model_type or has several.
EVALUATOR_FAMILIES: dict[str, str] = {
    "bergamot": "cc_hf.plugins.bergamot.evaluator:BergamotEvaluator",
    "causal_lm": "cc_hf.evaluators.families.causal_lm:CausalLMEvaluator",
    "fairseq": "cc_hf.plugins.conversion.evaluator:FairseqEvaluator",
    "fsmt": "cc_hf.evaluators.families.fsmt:FSMTEvaluator",
    "m2m_100": "cc_hf.evaluators.families.m2m100:M2M100Evaluator",
    "marian": "cc_hf.evaluators.families.marian:MarianEvaluator",
    "masked_lm": "cc_hf.evaluators.families.masked_lm:MaskedLMEvaluator",
    "mbart": "cc_hf.evaluators.families.mbart:MBartEvaluator",
    "mt5": "cc_hf.evaluators.families.t5:T5Evaluator",
    "nllb": "cc_hf.evaluators.families.m2m100:NLLBEvaluator",
    "small100": "cc_hf.evaluators.families.m2m100:SMaLL100Evaluator",
    "t5": "cc_hf.evaluators.families.t5:T5Evaluator",
    "umt5": "cc_hf.evaluators.families.t5:T5Evaluator",
}

#: model_type that transformers does not have -> its configuration class. Importing the module of
#: the class makes it and its model known to the Auto classes.
MODEL_TYPES: dict[str, str] = {
    "bergamot": "cc_hf.plugins.bergamot.modeling:BergamotConfig",
}

#: Format of models that transformers does not read, by the model_type that they get -> what reads
#: them, a `cc_hf.models.model_format.ModelFormat`.
MODEL_FORMATS: dict[str, str] = {
    "bergamot": "cc_hf.plugins.bergamot.model_format:STUDENTS_OF_BERGAMOT",
}

#: Evaluator that ships with a package -> its folder, card and direction, a
#: `cc_hf.models.location.EmbeddedModel`.
EVALUATORS: dict[str, str] = {
    "cc-tiny-en-de": "cc_hf.models.location:TINY_EN_DE",
}

#: What stands before the colon in the name of a judge that is no model on this machine -> what
#: opens it: a function of the whole name and `cc_hf.evaluators.options.LoadingOptions` that returns
#: an `Evaluator`.
EVALUATOR_SCHEMES: dict[str, str] = {
    "server": "cc_hf.plugins.asking.server_evaluator:open_server_evaluator",
}

#: What stands before the colon in the name of a system that is no model -> what translates: a
#: function of a `cc_hf.systems.system.System`, its sources and, by name, `src_lang`, `tgt_lang` and
#: other options of the command. It returns the translations, and the system as a signature has it.
SYSTEM_SCHEMES: dict[str, str] = {
    "apertium": "cc_hf.plugins.apertium.system:translate_by_apertium",
}

#: Reader of the genders of words -> a function of a language that returns a
#: `cc_hf.text.morphology.MorphologyReader`.
MORPHOLOGY_READERS: dict[str, str] = {
    "apertium": "cc_hf.plugins.apertium.reader:open_apertium",
    "german-nouns": "cc_hf.plugins.gender_reading.german_nouns:open_german_nouns",
    "pymorphy3": "cc_hf.plugins.gender_reading.pymorphy:open_pymorphy",
    "spacy": "cc_hf.plugins.spacy.reader:open_spacy",
}

#: Ending of a file with rows that is no text -> a function that yields its rows, as
#: `cc_hf.tables.rows.read_rows` says.
READERS: dict[str, str] = {
    "parquet": "cc_hf.tables.rows:parquet_rows",
    "xlsx": "cc_hf.tables.rows:sheet_rows",
}

#: Command of `cc-hf publish` that a plug-in adds -> its function.
PUBLISHERS: dict[str, str] = {
    "dataset": "cc_hf.plugins.dataset_folders.publish_command:dataset",
    "leaderboard": "cc_hf.plugins.leaderboard.publish_command:leaderboard",
}

#: Command and the option that a plug-in adds to it -> a function that declares the option and
#: returns what runs, see `cc_hf.cli.command.as_command`.
COMMAND_OPTIONS: dict[str, str] = {
    "build.lm_eval": "cc_hf.plugins.harness.lm_eval_option:lm_eval",
    "cache.files": "cc_hf.plugins.scale.merge_option:merge_files",
    "evaluate.part": "cc_hf.plugins.scale.part_option:evaluate_part",
    "evaluate.witness": "cc_hf.plugins.gender_reading.witness_option:evaluate_witness",
}

#: Labelled translations of a test set, by which judges are checked -> a
#: `cc_hf.data.labelled.LabelSet`.
LABEL_SETS: dict[str, str] = {
    "fine_grained": "cc_hf.test_sets.mt_geneval.labels:FINE_GRAINED",
    "gender_alternatives": "cc_hf.test_sets.gender_alternatives.labels:LABELS",
    "genderous": "cc_hf.test_sets.genderous.labels:LABELS",
    "mt_geneval": "cc_hf.test_sets.mt_geneval.labels:REFERENCES",
    "mucow": "cc_hf.test_sets.mucow.labels:LABELS",
    "winomt": "cc_hf.test_sets.winomt.labels:LABELS",
    "winomt_read": "cc_hf.plugins.gender_reading.labels:LABELS",
}

#: Kind of sentences -> the test sets of it, and the language pairs in which label sets have some.
#: What a judge is worth on a test set holds for others of the kind. Results know both without
#: importing a slice; a test set of another package is a kind of its own.
SENTENCES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "natural": (
        ("gate", "gender_alternatives", "gender_fair_german", "mt_geneval"),
        ("en-ar", "en-de", "en-es", "en-fr", "en-hi", "en-it", "en-pt", "en-ru"),
    ),
    "pronouns": (("discevalmt", "wino_x"), ()),
    "senses": (("contrawsd", "mucow"), ("en-de", "en-ru")),
    "template": (
        ("gender_res", "genderous", "gest", "simplegen", "winomt"),
        ("en-de", "en-el", "en-es", "en-fr", "en-it", "en-nl", "en-ru"),
    ),
}

#: Category whose name is no word -> the names of categories in words, in the order of its paper.
CATEGORIES: dict[str, str] = {
    "MoMc": "cc_hf.test_sets.simplegen.simplegen_accuracy:CATEGORY_NAMES",
    "FoFc": "cc_hf.test_sets.simplegen.simplegen_accuracy:CATEGORY_NAMES",
    "MoFc": "cc_hf.test_sets.simplegen.simplegen_accuracy:CATEGORY_NAMES",
    "FoMc": "cc_hf.test_sets.simplegen.simplegen_accuracy:CATEGORY_NAMES",
}

#: Section of a report -> a `cc_hf.reports.sections.SectionHook`.
REPORT_SECTIONS: dict[str, str] = {
    "changed_words": "cc_hf.plugins.omissions.report_section:SECTION",
    "witness": "cc_hf.plugins.gender_reading.report_section:SECTION",
}

#: Name that a plug-in adds to `cc_hf`, and by which other plug-ins reach it -> the object.
PUBLIC_NAMES: dict[str, str] = {
    "AlternativeOptions": "cc_hf.plugins.reranking.alternative_options:AlternativeOptions",
    "CueContrast": "cc_hf.plugins.reranking.contrastive_decoding:CueContrast",
    "ProbingCallback": "cc_hf.plugins.training.callback:ProbingCallback",
    "SystemOptions": "cc_hf.plugins.training.callback:SystemOptions",
    "alternatives": "cc_hf.plugins.reranking.alternatives:alternatives",
    "check_judge": "cc_hf.plugins.judges.judge_check:check_judge",
    "choice_rows": "cc_hf.plugins.asking.prompting.choice_rows:choice_rows",
    "explain_changes": "cc_hf.plugins.omissions.explaining:explain_changes",
    "labels_of_sheets": "cc_hf.plugins.raters.sheet_labels:labels_of_sheets",
    "open_gender_rule": "cc_hf.plugins.gender_reading.rules:open_gender_rule",
    "make_compute_metrics": "cc_hf.plugins.training.compute_metrics:make_compute_metrics",
    "rerank": "cc_hf.plugins.reranking.reranking:rerank",
    "students_here": "cc_hf.plugins.bergamot.published:students_here",
}

_TABLES: dict[str, Mapping[str, str | Study | Verb]] = {
    "command": VERBS,
    "command option": COMMAND_OPTIONS,
    "dataset": DATASETS,
    "metric": METRICS,
    "derived figure": DERIVED_FIGURES,
    "evaluator": EVALUATORS,
    "evaluator family": EVALUATOR_FAMILIES,
    "evaluator scheme": EVALUATOR_SCHEMES,
    "model type": MODEL_TYPES,
    "model format": MODEL_FORMATS,
    "morphology reader": MORPHOLOGY_READERS,
    # model_type that a checkpoint of fairseq is converted to, beside those of transformers -> how,
    # a `cc_hf.plugins.conversion.architectures.Architecture`.
    "fairseq architecture": {},
    "label set": LABEL_SETS,
    "public name": PUBLIC_NAMES,
    "publisher": PUBLISHERS,
    "reader": READERS,
    "report section": REPORT_SECTIONS,
    "system scheme": SYSTEM_SCHEMES,
    "study": {},  # study -> a `Study`; those of the papers are in the package cc_hf_studies
}
#: What can be added: the kinds of `names`.
KINDS = tuple(_TABLES)
# Kind -> the group of entry points by which other packages add to it.
_GROUPS = {
    "command": "cc_hf.commands",
    "command option": "cc_hf.command_options",
    "dataset": "cc_hf.datasets",
    "metric": "cc_hf.metrics",
    "derived figure": "cc_hf.derived_figures",
    "evaluator": "cc_hf.evaluators",
    "evaluator family": "cc_hf.evaluator_families",
    "evaluator scheme": "cc_hf.evaluator_schemes",
    "model type": "cc_hf.model_types",
    "model format": "cc_hf.model_formats",
    "morphology reader": "cc_hf.morphology_readers",
    "fairseq architecture": "cc_hf.fairseq_architectures",
    "label set": "cc_hf.label_sets",
    "public name": "cc_hf.public_names",
    "publisher": "cc_hf.publishers",
    "reader": "cc_hf.readers",
    "report section": "cc_hf.report_sections",
    "system scheme": "cc_hf.system_schemes",
    "study": "cc_hf.studies",
}
# Kind -> the class that an entry point must name an instance or a subclass of.
_INSTANCES = {
    "public name": "builtins:object",
    "fairseq architecture": "cc_hf.plugins.conversion.architectures:Architecture",
    "command": "cc_hf.verbs:Verb",
    "command option": "collections.abc:Callable",
    "derived figure": "collections.abc:Callable",
    "dataset": "cc_hf.data.declaration:DatasetDeclaration",
    "evaluator": "cc_hf.models.location:EmbeddedModel",
    "evaluator scheme": "collections.abc:Callable",
    "label set": "cc_hf.data.labelled:LabelSet",
    "model format": "cc_hf.models.model_format:ModelFormat",
    "morphology reader": "collections.abc:Callable",
    "publisher": "collections.abc:Callable",
    "reader": "collections.abc:Callable",
    "report section": "cc_hf.reports.sections:SectionHook",
    "system scheme": "collections.abc:Callable",
    "study": "cc_hf.registry:Study",
}
_SUBCLASSES = {
    "metric": "cc_hf.metrics.base:Metric",
    "evaluator family": "cc_hf.evaluators.base:Evaluator",
    "model type": "transformers:PretrainedConfig",
}


class _Plugin(NamedTuple):
    """An entry point of another package: the name of the package, and "module:object"."""

    package: str
    target: str

    def __str__(self) -> str:
        return f"{self.package} ({self.target})"


def names(kind: str) -> list[str]:
    """Return the registered names of a kind, one of `KINDS`, sorted, without refused plug-ins.

    Nothing is imported for it.

    Examples:
        >>> set(names("dataset")) >= {"mucow", "winomt"}
        True
    """
    added = (name for name, plugins in _plugins(kind).items() if len(plugins) == 1)
    return sorted({*_TABLES[kind], *added})


def resolve(kind: str, name: str) -> Any:
    """Import the object that a name of a kind is registered for.

    Raises:
        UnknownNameError: for a name that is not registered. The message suggests the nearest.
        PluginError: for a plug-in that cannot be loaded or is not of its kind, and for a name that
            two packages add.

    Examples:
        >>> resolve("metric", "gender_accuracy").__name__
        'GenderAccuracy'
    """
    plugins = _plugins(kind)
    if name in _TABLES[kind]:
        target = _TABLES[kind][name]
        return imported(target) if isinstance(target, str) else target
    if name not in plugins:
        remedy = "; a plug-in that is not installed adds it" if kind == "public name" else ""
        raise UnknownNameError(kind, name, names(kind), remedy=remedy)
    if len(plugins[name]) > 1:
        raise PluginError(_refusal(kind, name, plugins[name]))
    return _checked(kind, name, plugins[name][0])


def find(kind: str, name: str) -> Any:
    """Import the object that a name is registered for, if there is one.

    Returns:
        The object; None for a name that is not registered, or whose plug-in cannot be loaded, of
        which a `PluginWarning` tells.
    """
    if name not in _TABLES[kind] and len(_plugins(kind).get(name, ())) != 1:
        return None
    try:
        return resolve(kind, name)
    except PluginError as error:
        _warn(str(error))
        return None


def load_all(kind: str) -> dict[str, Any]:
    """Import all objects of a kind: name -> object, sorted by name.

    Plug-ins that cannot be loaded are omitted with a `PluginWarning`.
    """
    objects = {name: find(kind, name) for name in names(kind)}
    return {name: value for name, value in objects.items() if value is not None}


def kind_of_sentences(dataset: str) -> str:
    """Return the kind of the sentences of a test set, a key of `SENTENCES`; "" for others.

    Examples:
        >>> kind_of_sentences("winomt"), kind_of_sentences("")
        ('template', '')
    """
    return next((kind for kind, (datasets, _) in SENTENCES.items() if dataset in datasets), "")


def study_part(name: str, part: Part) -> Any:
    """Import the part of a study that a field of `Study` names; None if it does not have the part.

    Raises:
        UnknownNameError: for a study that is not registered.
        MissingDependencyError: if the part needs a package that is not installed.
        PluginError: if the part cannot be loaded for another reason.
    """
    target = getattr(resolve("study", name), part)
    if target is None:
        return None
    try:
        return _imported_of("study", name, _plugins("study")[name][0]._replace(target=target))
    except PluginError as error:
        if isinstance(error.__cause__, MissingDependencyError):  # it says what to install
            raise error.__cause__ from None
        raise


def study_parts(part: Part) -> Iterator[Any]:
    """Yield a part of all studies that have one, such as what they add to reports.

    Plug-ins that cannot be loaded are omitted with a `PluginWarning`.
    """
    for name in load_all("study"):
        try:
            hook = study_part(name, part)
        except (MissingDependencyError, PluginError) as error:
            _warn(str(error))
            continue
        if hook is not None:
            yield hook


def sentences_of(path: str | Path, languages: tuple[str | None, str | None]) -> list[Any] | None:
    """Return the sentences of a file that a study writes, as examples to translate; None for any
    other file.

    Args:
        languages: ISO 639-1 codes of the sentences and of the translations; None if not known.

    Raises:
        InputError: for a damaged file of a study, or languages that are not known.
    """
    read = (hook(path, languages) for hook in study_parts("sentences"))
    return next((examples for examples in read if examples is not None), None)


def forget_plugins() -> None:
    """Read the entry points again at the next use, such as after a package was installed."""
    _plugins.cache_clear()


@cache
def _plugins(kind: str) -> dict[str, tuple[_Plugin, ...]]:
    """Return the plug-ins of a kind by name, and warn of the names that are refused."""
    from importlib import metadata  # imported here, since `import cc_hf` must stay fast

    plugins: dict[str, tuple[_Plugin, ...]] = {}
    for point in metadata.entry_points().select(group=_GROUPS[kind]) if kind in _GROUPS else ():
        package = "an unknown package" if point.dist is None else point.dist.name
        others = plugins.get(point.name, ())
        plugins[point.name] = (*others, _Plugin(package, point.value))
    for name, added in sorted(plugins.items()):
        if name in _TABLES[kind] or len(added) > 1:
            _warn(_refusal(kind, name, added))
    return plugins


def _refusal(kind: str, name: str, plugins: tuple[_Plugin, ...]) -> str:
    """Return the message that a name is taken, with all of its origins."""
    if name in _TABLES[kind]:
        target = _TABLES[kind][name]
        origin = target if isinstance(target, str) else target[0]
        return (
            f"the {kind} {name!r} of {' and of '.join(map(str, plugins))} is not used: expected a"
            f" name of its own, cc_hf itself has this one ({origin}); ask its authors to rename it"
        )
    return (
        f"the {kind} {name!r} is not used: expected it of one package, got it of"
        f" {' and of '.join(map(str, plugins))}; uninstall all but one"
    )


def _checked(kind: str, name: str, plugin: _Plugin) -> Any:
    """Return the object of a plug-in, after checking its class and its name."""
    loaded = _imported_of(kind, name, plugin)
    base = imported({**_INSTANCES, **_SUBCLASSES}[kind])
    if kind in _INSTANCES:
        is_right = isinstance(loaded, base)
    else:
        is_right = isinstance(loaded, type) and issubclass(loaded, base)
    is_named = kind in ("dataset", "evaluator", "label set", "metric", "model format")
    if not is_right or (is_named and getattr(loaded, "name", None) != name):
        raise PluginError(
            f"the {kind} {name!r} of {plugin} cannot be used: expected"
            f" {'an instance' if kind in _INSTANCES else 'a subclass'} of {base.__name__}"
            f"{f' with the name {name!r}' if is_named else ''}, got {shown(loaded)}; its authors"
            " must correct the entry point"
        )
    if missing := _undeclared(loaded, base):
        raise PluginError(
            f"the {kind} {name!r} of {plugin} cannot be used: expected all that {base.__name__}"
            f" asks for, got none of {', '.join(missing)}; its authors must add this"
        )
    return loaded


def _undeclared(loaded: Any, base: type) -> list[str]:
    """Return the names that a base class asks of its subclasses and that one does not have."""
    annotations = getattr(base, "__annotations__", {})  # `object` has none
    declared = (name for name, kind in annotations.items() if str(kind).startswith("ClassVar"))
    missing = [name for name in declared if not hasattr(loaded, name)]
    return [*missing, *sorted(getattr(loaded, "__abstractmethods__", ()))]


def _imported_of(kind: str, name: str, plugin: _Plugin) -> Any:
    """Return an object of a plug-in; raise a PluginError for anything that its code raises."""
    try:
        return imported(plugin.target)
    # This cannot be narrower: the code of another package may raise anything.
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"the {kind} {name!r} of {plugin} cannot be loaded ({type(error).__name__}: {error});"
            f" update or uninstall {plugin.package}"
        ) from error


def imported(target: str) -> Any:
    """Import the object that "module:object" names.

    Raises:
        ImportError: for a module that cannot be imported.
        AttributeError: for an object that it does not have.
    """
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _warn(message: str) -> None:
    # By one line of this file, so that Python shows each message once.
    warnings.warn(message, PluginWarning, stacklevel=1)
