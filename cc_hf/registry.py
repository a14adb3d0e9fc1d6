"""Names to «module:object», as strings, so that nothing heavy is imported and no import edge arises.

`resolve` imports the object; `run`, `cli`, `data.loading` and `evaluators.loading` call it, nobody else.
"""

from __future__ import annotations

import importlib
from typing import Any

from cc_hf.errors import UnknownNameError

__all__ = ["DATASETS", "EVALUATORS", "EVALUATOR_FAMILIES", "METRICS", "names", "resolve"]

#: dataset -> its declaration, a cc_hf.data.declaration.DatasetDeclaration
DATASETS: dict[str, str] = {
    "contrawsd": "cc_hf.data.contrawsd:DECLARATION",
    "mt_geneval": "cc_hf.data.mt_geneval:DECLARATION",
    "mucow": "cc_hf.data.mucow:DECLARATION",
    "simplegen": "cc_hf.data.simplegen:DECLARATION",
    "wino_x": "cc_hf.data.wino_x:DECLARATION",
    "winomt": "cc_hf.data.winomt:DECLARATION",
}

#: metric -> its core, a function of translations, references and an evaluator that answers an EvaluationResult
METRICS: dict[str, str] = {
    "contrastive_conditioning": "cc_hf.metrics.contrastive_conditioning:evaluate",
}

#: transformers' model_type, or «fairseq» for what `cc-hf convert-fairseq` wrote -> the evaluator family that scores with it
EVALUATOR_FAMILIES: dict[str, str] = {
    "fairseq": "cc_hf.evaluators.fairseq:FairseqEvaluator",
    "marian": "cc_hf.evaluators.marian:MarianEvaluator",
}

#: evaluators that ship with the package -> their folder in cc_hf/assets and their direction
EVALUATORS: dict[str, str] = {
    "cc-tiny-en-de": "cc_hf.evaluators.loading:TINY_EN_DE",
}

_TABLES = {"dataset": DATASETS, "metric": METRICS, "evaluator": EVALUATORS, "evaluator family": EVALUATOR_FAMILIES}


def names(kind: str) -> list[str]:
    """The registered names of a kind, sorted.

    >>> names("dataset")
    ['contrawsd', 'mt_geneval', 'mucow', 'simplegen', 'wino_x', 'winomt']
    """
    return sorted(_TABLES[kind])


def resolve(kind: str, name: str) -> Any:
    """Import what `name` stands for.

    Raises:
        UnknownNameError: when the name is not registered; the message suggests the nearest.
    """
    table = _TABLES[kind]
    if name not in table:
        raise UnknownNameError(kind, name, table)
    module, _, attribute = table[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
