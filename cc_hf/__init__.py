"""Does a translation system understand which sense, gender or referent is meant?

cc_hf provides contrastive conditioning and related metrics for Hugging Face. Names are loaded when
they are first used, so importing cc_hf does not import torch. The import writes the small files by
which `evaluate.load` finds the metrics by name, if they are missing (`cc_hf.evaluate_modules`).
CC_HF_NO_REGISTER=1 turns this off.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from cc_hf import evaluate_modules as _registration
from cc_hf import registry as _registry
from cc_hf._version import __version__ as __version__

if TYPE_CHECKING:
    from cc_hf.data.loading import load_dataset as load_dataset
    from cc_hf.data.loading import load_examples as load_examples
    from cc_hf.errors import CCError as CCError
    from cc_hf.evaluation.evaluate import evaluate as evaluate
    from cc_hf.evaluation.evaluate import evaluate_all as evaluate_all
    from cc_hf.evaluation.judging import load_metric as load_metric
    from cc_hf.evaluation.material import load_material as load_material
    from cc_hf.evaluators.base import Evaluator as Evaluator
    from cc_hf.evaluators.loading import load_evaluator as load_evaluator
    from cc_hf.evaluators.options import LoadingOptions as LoadingOptions
    from cc_hf.results import EvaluationResult as EvaluationResult
    from cc_hf.schema import ContrastiveSourceExample as ContrastiveSourceExample
    from cc_hf.schema import ContrastiveTranslationExample as ContrastiveTranslationExample
    from cc_hf.schema import Judgement as Judgement
    from cc_hf.systems.translate import translate as translate

_LAZY = {
    "CCError": "cc_hf.errors",
    "ContrastiveSourceExample": "cc_hf.schema",
    "ContrastiveTranslationExample": "cc_hf.schema",
    "EvaluationResult": "cc_hf.results",
    "Evaluator": "cc_hf.evaluators.base",
    "Judgement": "cc_hf.schema",
    "LoadingOptions": "cc_hf.evaluators.options",
    "evaluate": "cc_hf.evaluation.evaluate",
    "evaluate_all": "cc_hf.evaluation.evaluate",
    "load_dataset": "cc_hf.data.loading",
    "load_evaluator": "cc_hf.evaluators.loading",
    "load_examples": "cc_hf.data.loading",
    "load_material": "cc_hf.evaluation.material",
    "load_metric": "cc_hf.evaluation.judging",
    "translate": "cc_hf.systems.translate",
}

__all__ = [
    "CCError",
    "ContrastiveSourceExample",
    "ContrastiveTranslationExample",
    "EvaluationResult",
    "Evaluator",
    "Judgement",
    "LoadingOptions",
    "__version__",
    "evaluate",
    "evaluate_all",
    "load_dataset",
    "load_evaluator",
    "load_examples",
    "load_material",
    "load_metric",
    "translate",
]
# Of plug-ins, where they are there.
__all__ += [
    name for name in ("alternatives", "check_judge", "rerank") if name in _registry.PUBLIC_NAMES
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY and name not in _registry.PUBLIC_NAMES:
        raise AttributeError(f"module 'cc_hf' has no attribute {name!r}")
    from cc_hf.errors import MissingDependencyError

    try:
        if name in _registry.PUBLIC_NAMES:
            return _registry.resolve("public name", name)
        return getattr(importlib.import_module(_LAZY[name]), name)
    except MissingDependencyError as error:
        return _missing(name, error)


def _missing(name: str, error: Exception) -> Callable[..., NoReturn]:
    """Return what stands for a function whose package is not installed: it raises when it is
    called.
    """

    # `help(cc_hf)` and `from cc_hf import *` must work without torch.
    def raise_error(*args: Any, **options: Any) -> NoReturn:
        raise error

    raise_error.__name__ = raise_error.__qualname__ = name
    raise_error.__doc__ = str(error)
    return raise_error


def __dir__() -> list[str]:
    return sorted(__all__)


_registration.register_quietly()
