"""A callback for `transformers.Trainer` that probes the model in training with a dataset.

It puts the figures where the trainer looks for the best model. `Trainer.evaluate` logs its metrics
first. Then it calls `on_evaluate` with the dict that it returns, by which the best model is chosen
(transformers 5.8 to 5.24). So the callback adds the figures to that dict, and logs them
separately.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluation.fitting import chosen_metrics
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material, check_material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.distributed import Team, join

# This import comes before transformers: its error names the extra that installs torch.
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.files import is_folder
from cc_hf.plugins.training.sampling import stratified_sample
from cc_hf.plugins.training.undisturbed import undisturbed
from cc_hf.plugins.training.validation_figures import (
    add_figures,
    check_best_model,
    check_judges_translations,
    flat_figures,
    in_training,
    judgeable,
)
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.systems.translate import translate_with

# isort: split
from transformers import (
    Seq2SeqTrainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

# Both names can be imported from this module in every supported version.
from transformers.trainer_seq2seq import is_deepspeed_zero3_enabled, is_fsdp_managed_module

__all__ = ["ProbingCallback", "SystemOptions"]

# Every set that a trainer evaluates has a figure with this suffix. The text before the suffix is
# the prefix of the set's metrics.
_RUNTIME = "_runtime"


@dataclass(frozen=True)
class SystemOptions:
    """How the model in training translates.

    Attributes:
        num_beams: number of beams; None uses that of the trainer.
        batch_tokens: padded tokens in a batch, as in `cc_hf.translate`; None uses
            `per_device_eval_batch_size`.
        tokenizer: tokenizer of the model; None uses the trainer's `processing_class`.
        kind, prompt: family and prompt of the model, as in `cc_hf.LoadingOptions`.
    """

    num_beams: int | None = None
    batch_tokens: int | None = None
    tokenizer: Any = None
    kind: str | None = None
    prompt: str | None = None


class ProbingCallback(TrainerCallback):  # type: ignore[misc]
    """A callback that probes the model in training, and passes the figures to the trainer.

    It translates a probing set with the model, and judges the translations by metrics.

    With `every="evaluate"`, the figures are added to the metrics of the evaluation, under names
    such as `eval_winomt_min_accuracy`. Then `metric_for_best_model="winomt_min_accuracy"` chooses
    the best model by them (with `greater_is_better=True`; differences, which are best at 0, are
    refused). After `attach`, the trainer logs them for all integrations (TensorBoard and others);
    otherwise they are only in `state.log_history`.

    All figures are in [0, 1], differences in [-1, 1]. Beside the scores of the metrics there are
    their counts, such as `n_ties`; `n`, the number of judgements; and `n_empty`, the number of
    translations without words, which are judged as ".". `n_with_source`, `n_repeated` and
    `n_without_words` count translations that cannot be judged (`cc_hf.text.unusable`): a model that
    has learned nothing can have an accuracy of 1. Where they are half of the set or more, a note
    says so. Notes of the results (`EvaluationResult.notes`) are in `results`; those on unusable
    translations and on the evaluator are also given as warnings (`ResultWarning`).

    The model translates by beam search, never by sampling, in batches of
    `per_device_eval_batch_size`. The number of beams is `generation_num_beams`, else that of the
    generation config. The longest translation is `generation_max_length`, else what
    `generation_config` of the arguments says, else three times the source plus ten tokens. Texts
    and languages are marked as in `cc_hf.translate`, so that a saved checkpoint translates in the
    same way. The exception is a translation that does not end: it is cut by the longest source of
    its batch, unless `batch_tokens=2048` makes the same batches as `cc_hf.translate`.

    Among several processes, each translates and scores its share, and all get the figures of the
    main process. Probing does not affect training: modes of the modules and random states are
    restored.

    An evaluation of several sets (`eval_dataset` is a dict) is probed once, with the first set.
    With a `metric_key_prefix` other than eval (`trainer.evaluate(test, metric_key_prefix="test")`),
    the names start with that prefix.

    Args:
        material: rows to translate and judge by, see `cc_hf.load_material`.
        metrics: names of `cc-hf list metrics`. Figures of the first metric have its score names;
            those of others start with the name of the metric.
        options: options of the metrics, as in `cc_hf.evaluate`.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None uses the
            evaluator that ships for the language pair. It is loaded once, when training begins.
        loading: how the evaluator is loaded, such as `LoadingOptions(mode="exact")`. It uses the
            trainer's device unless `loading` names one. A translation that is too long for the
            evaluator is cut, unless `loading` sets `on_too_long`.
        every: "evaluate", "save" (after every checkpoint), or a number of steps. The best model can
            be chosen by the figures only with "evaluate".
        n_examples: size of a sample with the same share of every category
            (`cc_hf.plugins.training.sampling`); None for all examples.
        prefix: text before the names of the figures; None for the name of the dataset or the
            file. Several callbacks need different prefixes.
        system: how the model in training translates, where it differs from the trainer's settings.
        seed: seed of the sample and of the bootstrap, 0 or more.

    Attributes:
        results: the last result of each metric, with all judgements.
        translations: the last translations, one per example.
        figures: the last figures, named without "eval_".

    Raises:
        InputError: for arguments that do not fit; when training begins, for data or an evaluator
            that cannot be read.
        UnknownNameError: for a metric or an option that does not exist.

    Examples:
        >>> from cc_hf import load_material
        >>> probing = ProbingCallback(load_material("simplegen", "en-de"), n_examples=100)
        >>> probing.prefix, [metric.name for metric in probing.metrics]
        ('simplegen', ['contrastive_conditioning'])
    """

    def __init__(
        self,
        material: Material,
        *,
        metrics: Sequence[str] = ("contrastive_conditioning",),
        options: Mapping[str, Any] | None = None,
        evaluator: AnyEvaluator | None = None,
        loading: LoadingOptions | None = None,
        every: str | int = "evaluate",
        n_examples: int | None = None,
        prefix: str | None = None,
        system: SystemOptions | None = None,
        seed: int = 0,
    ) -> None:
        if isinstance(every, bool) or (
            every < 1 if isinstance(every, int) else every not in ("evaluate", "save")
        ):
            raise InputError(
                f"every: expected 'evaluate', 'save' or a number of steps, got {every!r}"
            )
        check_material(material)
        self.material = material
        self.metrics = chosen_metrics(
            metrics, material, options, has_evaluator=evaluator is not None
        )
        check_judges_translations(self.metrics)
        self.prefix = _name(material) if prefix is None else prefix
        if not re.fullmatch(r"\w+", self.prefix) or self.prefix.startswith("eval_"):
            raise InputError(
                'prefix: expected letters, digits and underscores, without "eval_", which the'
                f" trainer puts before, got {self.prefix!r}"
            )
        self.every = every
        self.n_examples = n_examples
        self.results: tuple[EvaluationResult, ...] = ()
        self.translations: tuple[str, ...] = ()
        self.figures: dict[str, float] = {}
        self._evaluator = evaluator
        self._loading = loading or LoadingOptions()
        self._system = system or SystemOptions()
        self._seed = seed
        self._sampled: Material | None = None
        self._scorer: Evaluator | None = None
        self._evaluated: tuple[int, set[str]] = (-1, set())
        self._trainer: Any = None

    def attach(self, trainer: Any) -> ProbingCallback:
        """Add the callback to a trainer, so that the trainer logs the figures for all integrations.

        If it is only passed to the trainer (`callbacks=[probing]`), it adds its figures to the
        metrics of the evaluation and to `state.log_history`, but TensorBoard and others do not get
        them.
        """
        # A callback does not know its trainer.
        self._trainer = trainer
        trainer.add_callback(self)
        return self

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Read the data and load the evaluator, so that errors in them are raised at once.

        Raises:
            InputError: if the best model is to be chosen by figures that evaluations will not have,
                or against the direction of a figure (`check_best_model`), for a missing tokenizer,
                or for data or an evaluator that cannot be read.
            DataError: for a file that is missing or not as expected.
            EvaluatorError: for an evaluator that cannot be loaded.
        """
        best_by = (args.metric_for_best_model or "").removeprefix("eval_")
        if best_by.startswith(f"{self.prefix}_"):
            if self.every != "evaluate":
                raise InputError(
                    f"metric_for_best_model: {best_by!r} is known at evaluations only with"
                    f" every='evaluate', got every={self.every!r}"
                )
            name = best_by.removeprefix(f"{self.prefix}_")
            greater_is_better = bool(args.greater_is_better)
            check_best_model(name, self.metrics, greater_is_better=greater_is_better)
        if (model := kwargs.get("model")) is not None:
            # Weights that the model does not save are frozen, so that figures are also those of the
            # saved model: transformers 5.24 trains the positions of a Marian model that was loaded.
            unsaved = getattr(model, "_keys_to_ignore_on_save", None) or ()
            for name, weight in model.named_parameters():
                if name in unsaved:
                    weight.requires_grad_(False)
        self._tokenizer(kwargs.get("processing_class"))
        with undisturbed(None):
            self._prepare(args)

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Probe once for each evaluation, and add the figures to its metrics.

        Raises:
            InputError: for a model that is sharded among processes, a missing tokenizer, or a
                figure of the same name.
        """
        if self.every != "evaluate":
            return
        metrics: dict[str, float] = kwargs["metrics"]
        prefix = next(
            (name.removesuffix(_RUNTIME) for name in metrics if name.endswith(_RUNTIME)), "eval"
        )
        step, seen = self._evaluated
        # This is another set of the same evaluation, which was probed with its first set.
        if prefix.startswith("eval_") and step == state.global_step and prefix not in seen:
            seen.add(prefix)
            return
        self._evaluated = (state.global_step, {prefix})
        figures = self._probe(
            args, state, control, prefix="eval" if prefix.startswith("eval_") else prefix, **kwargs
        )
        add_figures(metrics, figures, remedy="give this ProbingCallback another prefix")

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Probe after a checkpoint was saved, if `every` is "save"."""
        if self.every == "save":
            self._probe(args, state, control, **kwargs)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Probe at every multiple of `every` steps, if `every` is a number."""
        if isinstance(self.every, int) and state.global_step % self.every == 0:
            self._probe(args, state, control, **kwargs)

    def _tokenizer(self, of_trainer: Any) -> Any:
        """Return the tokenizer of the model in training."""
        tokenizer = self._system.tokenizer or of_trainer
        if tokenizer is None:
            raise InputError(
                "ProbingCallback: expected the tokenizer of the model; give the trainer"
                " processing_class=tokenizer, or the callback system=SystemOptions(tokenizer=...)"
            )
        return tokenizer

    def _prepare(self, args: TrainingArguments) -> Material:
        """Return the sampled rows; the first call draws the sample and loads the evaluator."""
        if self._sampled is None:
            examples = self.material.examples
            self._sampled = (
                self.material
                if self.n_examples is None
                else replace(
                    self.material,
                    rows=stratified_sample(examples, self.n_examples, seed=self._seed),
                )
            )
            if any(metric.takes_evaluator for metric in self.metrics):
                device = str(args.device) if args.device.type == "cuda" else "cpu"
                self._scorer = resolve_evaluator(
                    self._evaluator,
                    in_training(self._loading, device=device),
                    src_lang=self.material.src_lang,
                    tgt_lang=self.material.tgt_lang,
                )
        return self._sampled

    def _probe(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        *,
        model: Any,
        prefix: str = "eval",
        **kwargs: Any,
    ) -> dict[str, float]:
        """Return the figures of the model, after translating, judging and logging."""
        if is_deepspeed_zero3_enabled() or is_fsdp_managed_module(model):
            raise InputError(
                "ProbingCallback: expected a whole model in every process, got one that is sharded"
                " among them (FSDP, DeepSpeed ZeRO-3); evaluate the checkpoints"
            )
        tokenizer = self._tokenizer(kwargs.get("processing_class"))
        team = join(args.device.type)
        with undisturbed(model):
            material = self._prepare(args)
            system = evaluator_of(
                model,
                tokenizer,
                name="the model in training",
                kind=self._system.kind,
                prompt=self._system.prompt,
            )
            settings = self._generation(args, model)
            texts = translate_with(
                system,
                [example.source for example in material.examples],
                src_lang=material.src_lang,
                tgt_lang=material.tgt_lang,
                **(
                    {"batch_size": args.eval_batch_size}
                    if self._system.batch_tokens is None
                    else {"batch_tokens": self._system.batch_tokens}
                ),
                team=team,
                progress=not args.disable_tqdm,
                **settings,
            )
            self.translations = tuple(texts)
            judged, n_empty = judgeable(texts)
            name = _model_name(model)
            origin = {"sys": f"{name}@training.step{state.global_step}/beam{settings['num_beams']}"}
            if self.n_examples is not None:
                origin["sample"] = f"{self.n_examples}@seed{self._seed}"
            progress = team.is_main and not args.disable_tqdm
            self.results = self._judge(material, judged, origin, team, progress=progress)
        self.figures = {
            f"{self.prefix}_{name}": value
            for name, value in flat_figures(self.results, n_empty=n_empty).items()
        }
        figures = {f"{prefix}_{name}": value for name, value in self.figures.items()}
        self._log(figures, state, control)
        return figures

    def _judge(
        self,
        material: Material,
        texts: Sequence[str],
        origin: Mapping[str, str],
        team: Team,
        *,
        progress: bool,
    ) -> tuple[EvaluationResult, ...]:
        """Return the results of every metric, in all processes those of the main one."""
        shared = self._scorer is not None and self._scorer.sharing.team.size > 1
        # An evaluator shared by the team already reports its errors to all processes.
        with contextlib.nullcontext() if shared else team.reporting_errors():
            results = tuple(
                judge(
                    metric.opened(
                        self._scorer, src_lang=material.src_lang, tgt_lang=material.tgt_lang
                    ),
                    material,
                    texts,
                    evaluator=self._scorer,
                    bootstrap=Bootstrap(seed=self._seed),
                    origin=origin,
                    progress=progress,
                )
                for metric in self.metrics
            )
        return team.from_main(lambda: results)

    def _log(
        self, figures: Mapping[str, float], state: TrainerState, control: TrainerControl
    ) -> None:
        """Log through the trainer; without one, add the figures to the history only."""
        if self._trainer is None:
            state.log_history.append({**figures, "epoch": state.epoch, "step": state.global_step})
            return
        # `log` resets `should_log`, which another callback may have set for this step.
        should_log = control.should_log
        self._trainer.log(dict(figures))
        control.should_log = should_log

    def _generation(self, args: TrainingArguments, model: Any) -> dict[str, Any]:
        """Return the number of beams and the longest translation in tokens."""
        # The model's own `max_length` is ignored: where a model has none, evaluations set it to 20
        # (transformers 5).
        source = getattr(args, "generation_config", None)
        config: Any = None if source is None else Seq2SeqTrainer.load_generation_config(source)
        longest = getattr(args, "generation_max_length", None) or getattr(
            config, "max_length", None
        )
        # `max_length` also counts the token that starts the decoder.
        limit = None if longest is None else int(longest) - 1
        if getattr(args, "generation_max_length", None) is None and getattr(
            config, "max_new_tokens", None
        ):
            limit = int(config.max_new_tokens)
        beams = (
            self._system.num_beams
            or getattr(args, "generation_num_beams", None)
            or getattr(model.generation_config, "num_beams", None)
            or 1
        )
        return {"num_beams": int(beams), "max_new_tokens": limit}


def _model_name(model: Any) -> str:
    """Return the name that the model in training was loaded by, without its folder."""
    # By it, the result says whether its evaluator is the same model.
    name = str(getattr(model, "name_or_path", "") or "")
    return (Path(name).name if is_folder(name) else name) or "model"


def _name(material: Material) -> str:
    """Return the name of the dataset, or that of the file for rows of a user's file."""
    if material.declared is None or material.config is None:
        return "own"
    named_by = material.config if material.declared.name == "custom" else material.declared
    return re.sub(r"\W", "_", named_by.name)
