"""How the evaluator of the other direction is loaded: as the first one was."""

from __future__ import annotations

from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions

__all__ = ["options_like"]


def options_like(evaluator: Evaluator) -> LoadingOptions:
    """Return the options by which another model is loaded as an evaluator was."""
    if isinstance(evaluator, FunctionEvaluator):
        return LoadingOptions()
    return LoadingOptions(
        mode=evaluator.mode if evaluator.fast is None else "auto",
        device=evaluator.device,
        cache=False if evaluator.sharing.cache is None else evaluator.sharing.cache.path,
        on_too_long=evaluator.on_too_long,
        distributed=evaluator.sharing.team.size > 1,
    )
