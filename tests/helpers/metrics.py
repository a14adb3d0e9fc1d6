"""Run metrics by name on rows that a test defines."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cc_hf
from cc_hf import registry
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge, module_figures
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.metrics.base import Metric, Origin
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.statistics.bootstrap import Bootstrap


def metric_class(name: str) -> type[Metric]:
    actual: type[Metric] = registry.resolve("metric", name)
    return actual


@dataclass(frozen=True)
class NamedRows(Material):
    """Rows of a test, under the name of a dataset."""

    named: Origin = dataclasses.field(default_factory=Origin)

    @property
    def origin(self) -> Origin:
        return self.named


def evaluate_metric(
    name: str | Metric,
    predictions: Any,
    references: Any,
    evaluator: Any = None,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
    **options: Any,
) -> EvaluationResult:
    """Return the result of a metric for rows of a test."""
    named = Origin(dataset, config, origin or {})
    return judge(
        make_metric(name, options) if isinstance(name, str) else name,
        NamedRows(src_lang, tgt_lang, references, ids=ids, named=named),
        predictions,
        evaluator=None if evaluator is None else resolve_evaluator(evaluator),
        bootstrap=Bootstrap(seed=seed, n_resamples=n_resamples),
    )


def compute_metric(name: str, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    """Return what the `evaluate` module of a metric returns."""
    return module_figures(metric_class(name), predictions, references, options)


def evaluate_dataset(dataset: Any, config: str | None = None, **options: Any) -> EvaluationResult:
    """Call `cc_hf.evaluate` with the keywords of material, loading and metric side by side."""
    return cc_hf.evaluate(*_arguments(dataset, config, options), **options)


def evaluate_dataset_by_all(dataset: Any, config: str | None = None, **options: Any) -> ResultSet:
    """Call `cc_hf.evaluate_all` with the keywords side by side."""
    return cc_hf.evaluate_all(*_arguments(dataset, config, options), **options)


def _arguments(dataset: Any, config: str | None, options: dict[str, Any]) -> list[Material]:
    where = {key: options.pop(key) for key in ("split", "tgt_lang", "data_dir") if key in options}
    loading = {key: options.pop(key) for key in LoadingOptions.names() if key in options}
    if "score" in options:
        options["options"] = {**options.get("options", {}), "score": options.pop("score")}
    if loading:
        options["loading"] = LoadingOptions(**loading)
    return [cc_hf.load_material(dataset, config, **where)]


_GENDERS = {"MoMc": "male", "FoFc": "female", "MoFc": "female", "FoMc": "male"}
ROWS = [
    {"category": category, "gender": gender, "occupation": "physician", "number": "sg"}
    for category, gender in _GENDERS.items()
    for _ in range(10)
]


def simplegen(n_right: tuple[int, int, int, int], **options: Any) -> EvaluationResult:
    """Return the result of a system with so many right translations in each category; one of the
    others is inconclusive.
    """
    male, female = ("El médico", "La médica"), ("La médica", "El médico")
    texts = [
        text
        for (right, wrong), n in zip((male, female, female, male), n_right, strict=True)
        for text in [right] * n + [wrong] * (9 - n) + ["Alguien"]
    ]
    return evaluate_metric(
        "simplegen_accuracy", texts, ROWS, tgt_lang="es", n_resamples=20, **options
    )
