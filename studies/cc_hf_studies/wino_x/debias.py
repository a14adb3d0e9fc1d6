"""The debiasing experiment of the thesis on Wino-X, from the name of a model to a learning curve
that can be written as JSON. `cc-hf study wino_x train` runs it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cc_hf.data.loading import declaration, load_examples, signature_fields
from cc_hf.errors import InputError, MissingDependencyError, check_choice
from cc_hf.evaluators.base import Evaluator, library_versions
from cc_hf.evaluators.distributed import is_launched
from cc_hf.evaluators.families.masked_lm import MaskedLMEvaluator
from cc_hf.evaluators.families.mbart import MBartEvaluator
from cc_hf.evaluators.loading import load_with
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import file_sha256
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf_studies.wino_x.choice_accuracy import ChoiceAccuracy
from cc_hf_studies.wino_x.few_shot import CurvePoint, learning_curve, search_learning_rate
from cc_hf_studies.wino_x.fine_tuning import FineTuning, thesis_settings
from cc_hf_studies.wino_x.measures import Measures, measurement
from cc_hf_studies.wino_x.referent_bias import referent_bias
from cc_hf_studies.wino_x.referent_choices import choice_of
from cc_hf_studies.wino_x.splits import (
    SplitPlan,
    WinoXSplits,
    matching_samples,
    split_schemas,
)
from cc_hf_studies.wino_x.winogrande import WINOGRANDE, load_winogrande
from cc_hf_studies.wino_x.winogrande_part import trained_on_winogrande

__all__ = ["OBJECTIVES", "THESIS_PENALTY_WEIGHT", "debias"]

#: "mle" is the cross-entropy of correct translations (or sentences); "pronoun-penalty" adds the
#: penalty, for translation models only.
OBJECTIVES = ("mle", "pronoun-penalty")

THESIS_PENALTY_WEIGHT = 100.0

_DATASET = "wino_x"


def debias(
    model: str | Path,
    config: str = "mt_en_de.translations",
    *,
    objective: str = "mle",
    split: SplitPlan | None = None,
    measures: Measures | None = None,
    settings: Mapping[str, Any] | None = None,
    data_dir: str | Path | None = None,
    output: Path | None = None,
    loading: LoadingOptions | None = None,
    note: Callable[[CurvePoint], None] | None = None,
) -> dict[str, Any]:
    """Fine-tune a model on Wino-X, once per size of the training part, and evaluate it on samples
    of schemas that it has not seen.

    Args:
        split: how to split the samples, and the sizes of the training part; None for the plan of
            the thesis.
        measures: what is measured beside the accuracies on the test part; None for nothing.
        settings: changes to `thesis_settings` by name. A list of learning rates is searched with
            the largest training part. With the penalty, `penalty_weight` is 100 by default.
        output: a folder for the models; None to save none.

    Returns:
        Plain dicts and lists: accuracies in [0, 1], all scores of the test parts, the `bias` of
        each, the figures of `measures`, and everything that the figures depend on.
    """
    check_choice("objective", objective, OBJECTIVES)
    loading = _loading(loading)
    plan, measures = split or SplitPlan(), measures or Measures()
    examples = _examples(plan.dataset, config, data_dir)
    others = {
        name: _examples(plan.dataset, name, data_dir)
        for name in measures.transfer
        if name != config
    }
    evaluator = load_with(model, loading)
    rates, settings = _rates(settings or {})
    tuning = _tuning(evaluator, config, objective, settings)
    splits = split_schemas(examples, n_dev=plan.n_dev, n_test=plan.n_test, seed=plan.seed)
    tests = {
        config: splits.test,
        **{name: matching_samples(splits.test, samples) for name, samples in others.items()},
    }
    measure = measurement(evaluator, measures, splits.test)
    sizes, splits, material = _training_part(plan, splits, data_dir)
    trained, search = {}, {}
    if rates:
        tuning, best, trials = search_learning_rate(evaluator, splits, max(sizes), tuning, rates)
        trained[max(sizes)] = best
        search["learning_rates"] = [asdict(trial) for trial in trials]
    points = learning_curve(
        evaluator,
        splits,
        sizes,
        tuning,
        tests=tests,
        output=output,
        note=note,
        measure=measure,
        trained=trained,
    )
    return {
        **evaluator.signature_fields(),
        "data": signature_fields(plan.dataset, config, data_dir=data_dir)["data"],
        "config": config,
        "objective": objective,
        "settings": asdict(tuning),
        **search,
        "splits": {
            **material,
            "n_train": len(splits.train),
            "n_dev": len(splits.dev),
            "n_test": len(splits.test),
            "seed": splits.seed,
        },
        "points": [_point(point, tests) for point in points],
        "versions": library_versions(),
    }


def _loading(loading: LoadingOptions | None) -> LoadingOptions:
    """Return how the model is loaded, after checks of what would fail after a training."""
    if is_launched():
        raise InputError(
            "expected one process, got several: these models are trained by one; start it without"
            " torchrun and accelerate launch"
        )
    loading = replace(loading or LoadingOptions(), mode="exact")
    if loading.device == "auto":
        raise InputError(
            "device: 'auto' spreads the model over several GPUs, and training takes one; name it,"
            " such as 'cuda:0'"
        )
    if importlib.util.find_spec("scipy") is None:
        raise MissingDependencyError("scipy", "analysis")
    return loading


def _rates(settings: Mapping[str, Any]) -> tuple[Sequence[float], Mapping[str, Any]]:
    """Return the learning rates that are searched, and the settings without them."""
    rates = settings.get("learning_rate")
    if not isinstance(rates, (list, tuple)):
        return (), settings
    return rates, {name: value for name, value in settings.items() if name != "learning_rate"}


def _training_part(
    plan: SplitPlan, splits: WinoXSplits, data_dir: str | Path | None
) -> tuple[Sequence[int], WinoXSplits, dict[str, Any]]:
    """Return the sizes of the training part, the splits with this part, and what it is made of."""
    if plan.train_on == _DATASET:
        return plan.sizes or splits.train_sizes(plan.step), splits, {}
    name, path = (
        (WINOGRANDE.name, None)
        if plan.train_on == WINOGRANDE.name
        else (
            Path(plan.train_on).name,
            plan.train_on,
        )
    )
    sentences = load_winogrande(path, data_dir=data_dir)
    splits, exclusions = trained_on_winogrande(splits, sentences)
    revision = (
        signature_fields(WINOGRANDE, "train", split="train", data_dir=data_dir)["data"]
        if path is None
        else f"{name}@{file_sha256(Path(path))[:7]}"
    )
    material = {"train_on": revision, "winogrande": asdict(exclusions)}
    return plan.sizes or (len(splits.train),), splits, material


def _tuning(
    evaluator: Evaluator, config: str, objective: str, settings: Mapping[str, Any]
) -> FineTuning:
    """Return the settings of the thesis for this kind of model, with the changes in `settings`."""
    is_masked = isinstance(evaluator, MaskedLMEvaluator)
    if is_masked != config.startswith("lm_"):
        expected = "a masked language model" if config.startswith("lm_") else "a translation model"
        raise InputError(
            f"{config}: expected {expected}, {evaluator.name} is a {type(evaluator).__name__}"
        )
    if is_masked and objective != "mle":
        raise InputError("objective: masked language models have the objective mle only")
    chosen = dict(settings)
    if objective == "mle" and chosen.get("penalty_weight"):
        raise InputError(
            "penalty_weight: the objective mle has none; choose the objective pronoun-penalty"
        )
    if (
        objective == "pronoun-penalty"
        and chosen.setdefault("penalty_weight", THESIS_PENALTY_WEIGHT) == 0
    ):
        raise InputError(
            "penalty_weight: expected a number above 0 with the objective pronoun-penalty, got 0;"
            " choose the objective mle"
        )
    return thesis_settings(
        "masked_lm" if is_masked else "mbart" if isinstance(evaluator, MBartEvaluator) else "",
        **chosen,
    )


def _examples(
    dataset: str, config: str, data_dir: str | Path | None
) -> list[ContrastiveTranslationExample]:
    form = declaration(dataset).config(config).form
    if form is not ContrastiveTranslationExample:
        raise InputError(
            f"{config}: expected a configuration with contrastive translations; take"
            f" {config}.translations"
        )
    return load_examples(dataset, config, data_dir=data_dir)


def _point(
    point: CurvePoint, tests: Mapping[str, Sequence[ContrastiveTranslationExample]]
) -> dict[str, Any]:
    tuned = point.tuned
    trained = (
        {}
        if tuned is None
        else {
            "n_train": tuned.n_train,
            "n_epochs": len(tuned.dev_losses),
            "best_epoch": tuned.best_epoch,
            "dev_losses": list(tuned.dev_losses),
        }
    )
    return {
        "size": point.size,
        **trained,
        **(
            {}
            if tuned is None or point.folder is None
            else {"folder": point.folder.name, "identity": tuned.evaluator.identity}
        ),
        "accuracies": {name: asdict(accuracy) for name, accuracy in point.accuracies.items()},
        "bias": {name: _bias(accuracy, tests[name]) for name, accuracy in point.accuracies.items()},
        **point.measured,
    }


def _bias(
    accuracy: ChoiceAccuracy, examples: Sequence[ContrastiveTranslationExample]
) -> dict[str, Any]:
    choices = [
        choice_of(example, choice.is_correct)
        for example, choice in zip(examples, accuracy.choices, strict=True)
    ]
    return asdict(referent_bias(choices))
