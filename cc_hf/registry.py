"""Registered names, each with a string "module:object", so that nothing heavy is imported and no
import edge arises. `resolve` imports the object.
"""

from __future__ import annotations

import importlib
from typing import Any

from cc_hf.errors import UnknownNameError

__all__ = ["DATASETS", "EVALUATORS", "EVALUATOR_FAMILIES", "METRICS", "find", "names", "resolve"]

#: Dataset -> its declaration, a `cc_hf.data.declaration.DatasetDeclaration`.
DATASETS: dict[str, str] = {
    "contrawsd": "cc_hf.data.readers.contrawsd:DECLARATION",
    "mt_geneval": "cc_hf.data.readers.mt_geneval:DECLARATION",
    "mucow": "cc_hf.data.readers.mucow:DECLARATION",
    "simplegen": "cc_hf.data.readers.simplegen:DECLARATION",
    "wino_x": "cc_hf.data.readers.wino_x:DECLARATION",
    "winomt": "cc_hf.data.readers.winomt:DECLARATION",
}

#: Metric -> its class, a `cc_hf.metrics.base.Metric`.
METRICS: dict[str, str] = {
    "contrastive_conditioning": "cc_hf.metrics.contrastive_conditioning:ContrastiveConditioning",
    "contrastive_translation_scoring": (
        "cc_hf.metrics.contrastive_translation_scoring:ContrastiveTranslationScoring"
    ),
    "gender_accuracy": "cc_hf.metrics.gender_accuracy:GenderAccuracy",
    "gender_quality_gap": "cc_hf.metrics.gender_quality_gap:GenderQualityGap",
    "homograph_accuracy": "cc_hf.metrics.homograph_accuracy:HomographAccuracy",
    "mucow_pattern_matching": "cc_hf.metrics.mucow_pattern_matching:MucowPatternMatching",
    "prompted_choice": "cc_hf.metrics.prompted_choice:PromptedChoice",
    "simplegen_accuracy": "cc_hf.metrics.simplegen_accuracy:SimplegenAccuracy",
    "wino_x_pattern_matching": "cc_hf.metrics.wino_x_pattern_matching:WinoXPatternMatching",
    "winomt_pattern_matching": "cc_hf.metrics.winomt_pattern_matching:WinomtPatternMatching",
}

#: Family -> the evaluator class that scores with it. A family is named after transformers'
#: model_type, or has a name of its own if it shares a model_type or has several.
EVALUATOR_FAMILIES: dict[str, str] = {
    "average_attention": "cc_hf.evaluators.families.marian:MarianEvaluator",
    "bergamot": "cc_hf.evaluators.families.bergamot:BergamotEvaluator",
    "causal_lm": "cc_hf.evaluators.families.causal_lm:CausalLMEvaluator",
    "fairseq": "cc_hf.evaluators.families.fairseq:FairseqEvaluator",
    "fsmt": "cc_hf.evaluators.families.fsmt:FSMTEvaluator",
    "lexical_shortcut": "cc_hf.studies.lexical_shortcuts.family:LexicalShortcutEvaluator",
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

#: Evaluator that ships with the package -> its folder in cc_hf/assets and its direction.
EVALUATORS: dict[str, str] = {
    "cc-tiny-en-de": "cc_hf.models.location:TINY_EN_DE",
}

_TABLES = {
    "dataset": DATASETS,
    "metric": METRICS,
    "evaluator": EVALUATORS,
    "evaluator family": EVALUATOR_FAMILIES,
}


def names(kind: str) -> list[str]:
    """Return the registered names of a kind, sorted.

    Args:
        kind: "dataset", "metric", "evaluator" or "evaluator family".

    Examples:
        >>> names("dataset")
        ['contrawsd', 'mt_geneval', 'mucow', 'simplegen', 'wino_x', 'winomt']
    """
    return sorted(_TABLES[kind])


def resolve(kind: str, name: str) -> Any:
    """Import the object that a name is registered for.

    Args:
        kind: as for `names`.
        name: a registered name.

    Returns:
        The object, see the table of the kind.

    Raises:
        UnknownNameError: for a name that is not registered. The message suggests the nearest.

    Examples:
        >>> resolve("metric", "gender_accuracy").__name__
        'GenderAccuracy'
    """
    table = _TABLES[kind]
    if name not in table:
        raise UnknownNameError(kind, name, table)
    module, _, attribute = table[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def find(kind: str, name: str) -> Any:
    """Import the object that a name is registered for, if there is one.

    Args:
        kind: as for `names`.
        name: any name, such as one that a result holds.

    Returns:
        The object; None for a name that is not registered.
    """
    return resolve(kind, name) if name in names(kind) else None
