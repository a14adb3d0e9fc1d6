"""A callback for `transformers.Trainer`: probes the model in training with a dataset, and puts the
figures where the trainer looks for the best model.

`Trainer.evaluate` logs its metrics first, then calls `on_evaluate` with the dict that it returns,
by which the best model is chosen (transformers 4.56 to 5.23). So the figures are put into that
dict, and logged by themselves.
"""

from __future__ import annotations

import contextlib
import inspect
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cc_hf.data.custom import is_custom
from cc_hf.data.loading import check_target_language, declaration, load_examples, signature_fields
from cc_hf.errors import InputError
from cc_hf.evaluation.evaluate import judge, named_metrics
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.distributed import Team, is_launched, join

# first: it says which extra brings torch
from cc_hf.evaluators.loading import evaluator_of, load_evaluator
from cc_hf.models.location import default_evaluator
from cc_hf.models.pretrained import input_device
from cc_hf.results import EvaluationResult
from cc_hf.systems.translate import translate_with
from cc_hf.training.figures import add_figures, check_judges_translations, flat_figures, judgeable
from cc_hf.training.sampling import stratified_sample

# isort: split
import torch
from transformers import (
    Seq2SeqTrainer,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

# from here in every version
from transformers.trainer_seq2seq import is_deepspeed_zero3_enabled, is_fsdp_managed_module

if TYPE_CHECKING:
    from cc_hf.evaluators.base import ScoreFunction

__all__ = ["ProbingCallback"]

# each set that a trainer evaluates has such a figure, and what stands before is the prefix of its
# metrics
_RUNTIME = "_runtime"


class ProbingCallback(TrainerCallback):  # type: ignore[misc]
    """Translates a probing set with the model in training, judges the translations by metrics, and
    gives the figures to the trainer.

    With `every="evaluate"` they are in the metrics of the evaluation, under names such as
    `eval_winomt_min_accuracy`, so that `metric_for_best_model="winomt_min_accuracy"` picks by them
    (`greater_is_better=True`). They are logged by the trainer, once, for all that listen
    (TensorBoard and others). All figures are in [0, 1], differences in [-1, 1]; beside the scores
    of the metrics there are their counts, such as `n_ties`, and `n`, the number of judgements, and
    `n_empty`, the number of translations without words, which are judged as «.». Notes of the
    results (`EvaluationResult.notes`) are in `results`; notes on the evaluator are warned of
    (`ResultWarning`).

    The model translates by beam search, never by sampling, in batches of
    `per_device_eval_batch_size` and with the trainer's settings: `generation_num_beams` (else the
    generation config's beams), `generation_max_length` (else what `generation_config` of the
    arguments says, else three times the source and ten more). Texts and languages are marked as
    `cc_hf.translate` marks them, so that a saved checkpoint translates alike; only a translation
    that does not end is cut by the longest source of its batch, unless `batch_tokens=2048` makes
    the batches of `cc_hf.translate`. Among several processes each translates and scores its share,
    and all have the figures of the main one. Training goes on as if nothing had been: modes of the
    modules and states of the random generators are put back.

    An evaluation of several sets (`eval_dataset` is a dict) is probed once, with the first. With a
    `metric_key_prefix` other than eval (`trainer.evaluate(test, metric_key_prefix="test")`) the
    names begin with that.

    Args:
        dataset, config, tgt_lang, split, data_dir: what to translate, as `cc_hf.evaluate` takes it.
        metrics: names of `cc-hf list metrics`. Figures of the first are named as its scores; those
            of others have the metric's name before.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None for the
            one that ships for the language pair. Loaded once, when training begins, on the
            trainer's device.
        evaluator_options: further options of `cc_hf.load_evaluator`, such as {"mode": "exact"}. A
            translation that is too long for the evaluator is cut, unless `on_too_long` is given
            here.
        every: «evaluate», «save» (behind every checkpoint), or a number of steps; only with
            «evaluate» the best model can be chosen by the figures.
        n_examples: of a sample with the same share of every category (`cc_hf.training.sampling`);
            None for all.
        prefix: begins the names of the figures; None for the name of the dataset, of a file that of
            the file. Several callbacks need different ones.
        num_beams: instead of the trainer's.
        batch_tokens: instead of `per_device_eval_batch_size`, as in `cc_hf.translate`.
        tokenizer: instead of the trainer's `processing_class`.
        kind, prompt: of the model in training, as in `cc_hf.translate`.
        score, options: of the metrics, as in `cc_hf.evaluate`.
        seed: of the sample and of the bootstrap.
        progress: bars on anything that takes longer than a second.

    Attributes:
        results: what each metric found at last, with all judgements.
        translations: the last ones, one per example.
        figures: the last ones, named without «eval_».

    Raises:
        InputError, UnknownNameError: here for what does not fit; when training begins for data or
            an evaluator that cannot be read.

    >>> probing = ProbingCallback("simplegen", "en-de", n_examples=100)
    >>> probing.prefix, [metric.name for metric in probing.metrics]
    ('simplegen', ['contrastive_conditioning'])
    """

    def __init__(
        self,
        dataset: str | Path = "winomt",
        config: str | None = None,
        *,
        metrics: Sequence[str] = ("contrastive_conditioning",),
        evaluator: str | Path | Sequence[str | Path] | Evaluator | ScoreFunction | None = None,
        evaluator_options: Mapping[str, Any] | None = None,
        every: str | int = "evaluate",
        tgt_lang: str | None = None,
        split: str = "test",
        data_dir: str | Path | None = None,
        n_examples: int | None = None,
        prefix: str | None = None,
        num_beams: int | None = None,
        batch_tokens: int | None = None,
        tokenizer: Any = None,
        kind: str | None = None,
        prompt: str | None = None,
        score: str | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        progress: bool = False,
    ) -> None:
        if isinstance(every, bool) or (
            every < 1 if isinstance(every, int) else every not in ("evaluate", "save")
        ):
            raise InputError(
                f"every: expected 'evaluate', 'save' or a number of steps, got {every!r}"
            )
        if isinstance(metrics, str):
            raise InputError(
                f"metrics: expected a list of names, got {metrics!r}; give [{metrics!r}]"
            )
        self.dataset = str(dataset)
        declared = declaration(self.dataset)
        self.config = declared.config(config).name
        self.tgt_lang = check_target_language(self.dataset, self.config, tgt_lang)
        self.metrics, self.options = named_metrics(
            metrics,
            self.dataset,
            self.config,
            tgt_lang=self.tgt_lang,
            options=options,
            score=score,
            has_evaluator=evaluator is not None,
        )
        check_judges_translations(self.metrics)
        self.prefix = (
            re.sub(r"\W", "_", Path(self.dataset).stem)
            if prefix is None and is_custom(self.dataset)
            else declared.name
            if prefix is None
            else prefix
        )
        if not re.fullmatch(r"\w+", self.prefix) or self.prefix.startswith("eval_"):
            raise InputError(
                "prefix: expected letters, digits and underscores, without «eval_», which the"
                f" trainer puts before, got {self.prefix!r}"
            )
        self.every = every
        self.n_examples = n_examples
        self.results: tuple[EvaluationResult, ...] = ()
        self.translations: tuple[str, ...] = ()
        self.figures: dict[str, float] = {}
        self._origin: dict[str, Any] = {"split": split, "data_dir": data_dir}
        self._evaluator = evaluator
        self._evaluator_options = {"on_too_long": "truncate", **(evaluator_options or {})}
        self._num_beams = num_beams
        self._batch_tokens = batch_tokens
        self._tokenizer = tokenizer
        self._model_options = {"kind": kind, "prompt": prompt}
        self._seed = seed
        self._progress = progress
        self._examples: list[Any] = []
        self._evaluated: tuple[int, set[str]] = (-1, set())

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Read the data and load the evaluator, so that what is wrong with them shows at once.

        Raises:
            InputError: when the best model is to be chosen by figures that evaluations will not
                have; otherwise as the class.
        """
        wanted = (args.metric_for_best_model or "").removeprefix("eval_")
        if wanted.startswith(f"{self.prefix}_") and self.every != "evaluate":
            raise InputError(
                f"metric_for_best_model: {wanted!r} is known at evaluations only with"
                f" every='evaluate', got every={self.every!r}"
            )
        with _undisturbed(None):
            self._prepare(args)

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Probe once for each evaluation; put the figures into its metrics."""
        if self.every != "evaluate":
            return
        metrics: dict[str, float] = kwargs["metrics"]
        prefix = next(
            (name.removesuffix(_RUNTIME) for name in metrics if name.endswith(_RUNTIME)), "eval"
        )
        step, seen = self._evaluated
        # a further set of the same evaluation
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
        """Probe what was saved, where asked for."""
        if self.every == "save":
            self._probe(args, state, control, **kwargs)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Probe at every so many steps, where asked for."""
        if isinstance(self.every, int) and state.global_step % self.every == 0:
            self._probe(args, state, control, **kwargs)

    def _prepare(self, args: TrainingArguments) -> None:
        if not self._examples:
            examples = load_examples(self.dataset, self.config, **self._origin)
            self._examples = (
                examples
                if self.n_examples is None
                else stratified_sample(examples, self.n_examples, seed=self._seed)
            )
        if not any(metric.takes_evaluator for metric in self.metrics):
            return
        named = (
            default_evaluator(self._examples[0].src_lang, self.tgt_lang)
            if self._evaluator is None
            else self._evaluator
        )
        if isinstance(named, (str, Path, list, tuple)):
            device = str(args.device) if args.device.type == "cuda" else "cpu"
            named = load_evaluator(
                named, **{"device": device, "distributed": is_launched(), **self._evaluator_options}
            )
        self._evaluator = named

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
        """Translate, judge, log."""
        if is_deepspeed_zero3_enabled() or is_fsdp_managed_module(model):
            raise InputError(
                "ProbingCallback: expected a whole model in every process, got one that is cut up"
                " among them (FSDP, DeepSpeed ZeRO-3); evaluate the checkpoints"
            )
        tokenizer = self._tokenizer or kwargs.get("processing_class")
        if tokenizer is None:
            raise InputError(
                "ProbingCallback: expected the tokenizer of the model; give the trainer"
                " processing_class=tokenizer, or the callback tokenizer=..."
            )
        team = join(args.device.type)
        with _undisturbed(model):
            self._prepare(args)
            system = evaluator_of(
                model, tokenizer, name="the model in training", **self._model_options
            )
            settings = self._generation(args, model)
            texts = translate_with(
                system,
                [example.source for example in self._examples],
                src_lang=self._examples[0].src_lang,
                tgt_lang=self.tgt_lang,
                **(
                    {"batch_size": args.eval_batch_size}
                    if self._batch_tokens is None
                    else {"batch_tokens": self._batch_tokens}
                ),
                team=team,
                progress=self._progress,
                **settings,
            )
            self.translations = tuple(texts)
            judged, n_empty = judgeable(texts)
            self.results = self._judge(
                judged, f"training@step{state.global_step}/beam{settings['num_beams']}", team
            )
        self.figures = {
            f"{self.prefix}_{name}": value
            for name, value in flat_figures(self.results, n_empty=n_empty).items()
        }
        figures = {f"{prefix}_{name}": value for name, value in self.figures.items()}
        _log(figures, state, control)
        return figures

    def _judge(self, texts: Sequence[str], system: str, team: Team) -> tuple[EvaluationResult, ...]:
        """By every metric; what the main process found, in all."""
        origin = {**signature_fields(self.dataset, self.config, **self._origin), "sys": system}
        if self.n_examples is not None:
            origin["sample"] = f"{self.n_examples}@seed{self._seed}"
        shared = isinstance(self._evaluator, Evaluator) and self._evaluator.team.size > 1
        # a team tells its errors itself
        with contextlib.nullcontext() if shared else team.telling():
            found = tuple(
                judge(
                    metric,
                    self._examples,
                    texts,
                    evaluator=self._evaluator,
                    options=self.options,
                    tgt_lang=self.tgt_lang,
                    dataset=declaration(self.dataset).name,
                    config=self.config,
                    origin=origin,
                    seed=self._seed,
                    progress=self._progress and team.is_main,
                )
                for metric in self.metrics
            )
        return team.from_main(lambda: found)

    def _generation(self, args: TrainingArguments, model: Any) -> dict[str, Any]:
        """Beams and the longest translation.

        A model's own `max_length` does not count: where it has none, evaluations set it to 20
        (transformers 5).
        """
        asked = getattr(args, "generation_config", None)
        given: Any = None if asked is None else Seq2SeqTrainer.load_generation_config(asked)
        longest = getattr(args, "generation_max_length", None) or getattr(given, "max_length", None)
        # which counts the token that starts the decoder
        limit = None if longest is None else int(longest) - 1
        if getattr(args, "generation_max_length", None) is None and getattr(
            given, "max_new_tokens", None
        ):
            limit = int(given.max_new_tokens)
        beams = (
            self._num_beams
            or getattr(args, "generation_num_beams", None)
            or getattr(model.generation_config, "num_beams", None)
            or 1
        )
        return {"num_beams": int(beams), "max_new_tokens": limit}


@contextlib.contextmanager
def _undisturbed(model: Any) -> Iterator[None]:
    """Eval mode inside; behind it modes and random states are what they were, and memory of the GPU
    that nobody uses is free.
    """
    modes = [] if model is None else [(module, module.training) for module in model.modules()]
    state, numpy_state = random.getstate(), np.random.get_state()
    gpus = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    try:
        with torch.random.fork_rng(devices=gpus):
            if model is not None:
                model.eval()
            yield
    finally:
        for module, mode in modes:
            module.training = mode
        random.setstate(state)
        np.random.set_state(numpy_state)
        if model is not None and input_device(model).type == "cuda":
            torch.cuda.empty_cache()


def _log(figures: Mapping[str, float], state: TrainerState, control: TrainerControl) -> None:
    """By the trainer, for all that listen.

    Its log clears `should_log`, which another callback may have set for this step.
    """
    trainer = _calling_trainer()
    if trainer is None:
        state.log_history.append({**figures, "epoch": state.epoch, "step": state.global_step})
        return
    should_log = control.should_log
    trainer.log(dict(figures))
    control.should_log = should_log


def _calling_trainer() -> Any:
    """The trainer on whose behalf a callback runs: callbacks are not told, and nothing but its
    `log` reaches the other callbacks.
    """
    frame = inspect.currentframe()
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Trainer):
            return caller
        frame = frame.f_back
    return None
