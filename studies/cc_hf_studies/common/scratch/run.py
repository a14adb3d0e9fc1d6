"""A whole training from random weights: vocabulary, pairs on disk, training that continues where it
was broken off, the chosen model, and BLEU of test sets.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluation.material import load_material
from cc_hf.evaluators.distributed import Team, join
from cc_hf.evaluators.families.marian import encoded_texts
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import file_sha256, resolved, sole_writer
from cc_hf.folders import new_folder
from cc_hf.plugins.training.callback import ProbingCallback
from cc_hf.reading import opened
from cc_hf.statistics.corpus_quality import corpus_score
from cc_hf.systems.translate import translate  # before torch: its error names the extra
from cc_hf_studies.common.scratch.batches import PairBatches
from cc_hf_studies.common.scratch.model import make_model
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch.pairs import PairFiles, encoded_pairs, load_pairs
from cc_hf_studies.common.scratch.pieces import load_pieces, train_pieces_of_pairs, vocabulary_files
from cc_hf_studies.common.scratch.trainer import Checkpoints, make_trainer, training_arguments

# isort: split
import torch
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    set_seed,
)

__all__ = ["TrainingFiles", "copy_checkpoint", "train"]

_FIGURES, _BEGUN = "figures.json", "options.json"


@dataclass(frozen=True)
class TrainingFiles:
    """Line-aligned UTF-8 files of sources and translations: to learn from, to choose the best
    checkpoint by, and to translate in the end for BLEU.
    """

    train: tuple[Path, Path]
    dev: tuple[Path, Path]
    tests: Sequence[tuple[Path, Path]] = ()


def copy_checkpoint(best: Path, output: Path) -> list[str]:
    """Copy the best checkpoint as the model, without the state of the training."""
    with new_folder(output) as folder:
        state = shutil.ignore_patterns("*.bin", "*.pt", "*.pth", "trainer_state*")
        shutil.copytree(best, folder, ignore=state, dirs_exist_ok=True)
    return [best.name]


def train(
    options: TrainingOptions,
    files: TrainingFiles,
    output: str | Path,
    *,
    make: Callable[[TrainingOptions, Any], Any] | None = None,
    model_folder: str = "best",
    choose: Callable[[Path, Path], list[str]] = copy_checkpoint,
    n_checkpoints: int = 3,
    identity: dict[str, Any] | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Train a translation model, or continue a training that was broken off.

    The same call with the same output continues from the last complete checkpoint, and ends in the
    same weights as an unbroken training. On several threads or a GPU, sums may round differently.
    Processes that torchrun started share each step.

    Args:
        output: folder of the training, with `vocabulary`, `data` (encoded pairs), `training`
            (checkpoints), the model, `translations` of the test sets, and figures.json.
        make: makes the model from the options and the tokenizer; None for Marian.
        choose: writes the model, called with the best checkpoint and the folder of the model. It
            returns the names of the checkpoints that were used.
        n_checkpoints: number of checkpoints that are kept, the best among them; at least 3.
        identity: what else decides the model, by name, such as the options of `make`.

    Returns:
        Counts of pairs, parameters, steps and seconds, the evaluations, the best of them, and BLEU
        of the test sets with their mean, in [0, 1].

    Raises:
        InputError: for files that cannot be read, a folder of another training, options that
            cannot work, or a loss that is not finite.
        EvaluatorError: if another process failed.
    """
    folder = Path(output)
    has_gpu = torch.cuda.is_available() and not options.cpu
    team = join("cuda" if has_gpu else "cpu")
    run = _Run(options, files, folder, team, note if team.is_main else lambda text: None)
    with ExitStack() as stack:
        begun = _begun(options, files, {**(identity or {}), "processes": team.size})
        team.from_main(lambda: stack.enter_context(_writing(folder)))
        team.from_main(lambda: _check_begun(folder / _BEGUN, begun))
        if finished := team.from_main(lambda: _finished(folder / _FIGURES)):
            run.note(f"{folder}: this training has ended before")
            return finished
        figures = {**(identity or {}), **run.trained(make or _marian, n_checkpoints)}
        best = folder / "training" / f"checkpoint-{figures['best_step']}"
        model = folder / model_folder

        def chosen() -> list[str]:
            shutil.rmtree(model, ignore_errors=True)
            return choose(best, model)

        figures["checkpoints"] = team.from_main(chosen)
        figures.update(run.tested(model))

        def finish() -> None:
            _write_json(folder / _FIGURES, figures)
            Checkpoints(folder / "training").drop_states()

        team.from_main(finish)
    return figures


def _marian(options: TrainingOptions, tokenizer: Any) -> Any:
    """Return a model of Marian with random weights."""
    return make_model(
        options.sizes,
        len(tokenizer.encoder),
        n_target_pieces=len(tokenizer.target_encoder) if tokenizer.separate_vocabs else None,
        attention=options.attention,
        dropout=options.dropout,
        max_positions=max(256, options.max_tokens + 2),
        seed=options.seed,
    )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Hold a folder that is new, empty, or that of a training."""
    path = resolved(folder)
    if path.exists() and not (path / _BEGUN).is_file() and (path.is_file() or any(path.iterdir())):
        raise InputError(
            f"output: expected a new folder, or that of a training to continue, got {folder}, which"
            f" has no {_BEGUN}; name another"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with sole_writer(path):
        path.mkdir(exist_ok=True)
        yield


def _begun(
    options: TrainingOptions, files: TrainingFiles, identity: dict[str, Any]
) -> dict[str, Any]:
    """Return all that decides a training, by name."""
    named = {"train": files.train, "dev": files.dev}
    named |= {f"test {number}": pair for number, pair in enumerate(files.tests, 1)}
    for path in (path for pair in named.values() for path in pair):
        with opened(path):
            pass
    digests = {name: [file_sha256(path)[:12] for path in pair] for name, pair in named.items()}
    values = {**asdict(options), **identity, **digests}
    return {name: str(v) if isinstance(v, Path) else v for name, v in values.items()}


def _check_begun(path: Path, begun: dict[str, Any]) -> None:
    """Write how a training was begun, or refuse to continue it otherwise."""
    before = begun
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
    different = [name for name in {**before, **begun} if before.get(name) != begun.get(name)]
    if different and any(path.parent.glob("training/checkpoint-*")):
        name = different[0]
        raise InputError(
            f"{name}: expected {before.get(name)}, with which the training in {path.parent} was"
            f" begun, got {begun.get(name)}; continue it with the options and files of then, or"
            " name another output"
        )
    if different:
        shutil.rmtree(path.parent / "vocabulary", ignore_errors=True)
    _write_json(path, begun)


def _finished(path: Path) -> dict[str, Any] | None:
    """Return the figures of a training that has ended."""
    figures: dict[str, Any] | None = None
    if path.is_file():
        figures = json.loads(path.read_text(encoding="utf-8"))
    return figures


def _evaluations(log: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of each evaluation, with those of probing."""
    by_step: dict[int, dict[str, Any]] = {}
    for row in log:
        if any(name.startswith("eval_") for name in row):
            figures = {name.removeprefix("eval_"): value for name, value in row.items()}
            by_step.setdefault(row["step"], {}).update(figures)
    return list(by_step.values())


def _write_json(path: Path, value: Any) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8", newline="\n")
    part.replace(path)


class _Notes(TrainerCallback):  # type: ignore[misc]
    """Tell the figures of each evaluation."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Tell loss and, if there is one, BLEU of the development pairs."""
        figures = others.get("metrics") or {}
        bleu = figures.get("eval_bleu")
        self._note(
            f"step {state.global_step:,} of {state.max_steps:,}: loss {figures['eval_loss']:.4f}"
            + (f", BLEU {bleu:.2f}" if bleu is not None else "")
        )


@dataclass(frozen=True)
class _Run:
    """The parts of a training, in one of its processes."""

    options: TrainingOptions
    files: TrainingFiles
    folder: Path
    team: Team
    note: Callable[[str], None]

    def tokenizer(self, pairs: PairFiles) -> Any:
        """Return the tokenizer, whose vocabulary is learned if need be."""
        options = self.options
        folder = options.vocabulary or self.folder / "vocabulary"
        if options.vocabulary is None and not folder.is_dir():
            self.note(f"learning the vocabulary of {len(pairs):,} pairs")
            self.team.from_main(
                lambda: train_pieces_of_pairs(
                    pairs,
                    folder,
                    options.pieces,
                    model_type=options.segmentation,
                    separate=options.separate,
                    threshold=options.threshold,
                )
            )
        return load_pieces(
            folder,
            src_lang=options.src_lang,
            tgt_lang=options.tgt_lang,
            max_pieces=options.max_tokens + 1,
        )

    def batches(self, pairs: PairFiles, tokenizer: Any) -> tuple[PairBatches, dict[str, int]]:
        """Return the batches of the training pairs that pass the filters, and their counts."""
        options = self.options

        def encode(sources: Sequence[str], targets: Sequence[str]) -> tuple[Any, Any]:
            return (
                encoded_texts(tokenizer, sources, lambda some: tokenizer(some)["input_ids"]),
                encoded_texts(
                    tokenizer,
                    targets,
                    lambda some: tokenizer(text_target=some)["input_ids"],
                    is_target=True,
                ),
            )

        folder = self.team.from_main(
            lambda: encoded_pairs(
                pairs,
                encode,
                self.folder / "data",
                vocabulary=vocabulary_files(options.vocabulary or self.folder / "vocabulary"),
                max_tokens=options.max_tokens,
                max_length_ratio=options.max_length_ratio,
            )
        )
        rows, counts = load_pairs(folder)
        self.note(f"{counts['n_kept']:,} of {counts['n_pairs']:,} pairs pass the filters")
        batches = PairBatches(
            rows,
            batch_size=options.batch_size,
            batch_tokens=options.batch_tokens,
            seed=options.seed,
        )
        return batches, counts

    def arguments(self, longest: int, n_checkpoints: int) -> Seq2SeqTrainingArguments:
        """Return the arguments of the trainer."""
        options = self.options
        by_bleu = options.choose_by == "bleu"
        return training_arguments(
            self.folder / "training",
            steps=options.steps,
            eval_steps=options.eval_steps,
            batch_size=1,  # an item is a whole batch
            learning_rate=options.peak_learning_rate,
            warmup=options.warmup_steps,
            seed=options.seed,
            cpu=options.cpu,
            gradient_accumulation_steps=options.accumulation,
            per_device_eval_batch_size=2 * options.batch_size,
            lr_scheduler_type=options.schedule,
            label_smoothing_factor=options.label_smoothing,
            predict_with_generate=by_bleu,
            prediction_loss_only=not by_bleu,
            generation_num_beams=options.beams,
            # A translation ends at twice the longest reference: a model that has learned little
            # repeats itself without end.
            generation_max_length=min(2 * longest, options.max_tokens) + 2,
            metric_for_best_model=options.choose_by,
            greater_is_better=by_bleu,
            save_total_limit=max(3, n_checkpoints),
            restore_callback_states_from_checkpoint=True,
            ddp_find_unused_parameters=False,
            bf16=options.precision == "bf16",
            fp16=options.precision == "fp16",
        )

    def trained(
        self, make: Callable[[TrainingOptions, Any], Any], n_checkpoints: int
    ) -> dict[str, Any]:
        """Train from the last checkpoint on, if there is one, and return the figures."""
        options = self.options
        pairs = PairFiles(*self.files.train, options.n_pairs, options.seed)
        development = PairFiles(*self.files.dev).whole()
        tokenizer = self.tokenizer(pairs)
        batches, counts = self.batches(pairs, tokenizer)
        set_seed(options.seed)
        model = make(options, tokenizer)
        checkpoints = Checkpoints(self.folder / "training")
        callbacks = [_Notes(self.note), checkpoints]
        if options.patience:
            callbacks.append(EarlyStoppingCallback(options.patience))
        longest = max(len(tokenizer(text_target=target)["input_ids"]) for _, target in development)
        trainer = make_trainer(
            model,
            tokenizer,
            self.arguments(longest - 1, n_checkpoints),
            batches,
            development,
            max_pieces=options.max_tokens + 1,
            callbacks=callbacks,
        )
        trainer.remove_callback(PrinterCallback)  # it prints to standard output
        if options.probe:
            ProbingCallback(
                load_material(options.probe, tgt_lang=options.tgt_lang),
                n_examples=options.probe_examples,
                seed=options.seed,
            ).attach(trainer)
        state, seconds = self._continued(trainer, checkpoints)
        evaluations = _evaluations(state["log_history"])
        if not all(math.isfinite(row["loss"]) for row in evaluations):
            raise InputError(
                "learning_rate: expected one with which the loss stays finite, got"
                f" {options.peak_learning_rate:g}; lower it, or raise the warmup"
            )
        return {
            "seed": options.seed,
            "sizes": asdict(options.sizes),
            "decoder_attention": options.attention,
            "n_parameters": sum(w.numel() for w in model.parameters() if w.requires_grad),
            "pairs": counts,
            "n_development": len(development),
            "n_steps": state["global_step"],
            "n_epochs": state["epoch"],
            "seconds": seconds,
            "target_tokens_per_second": batches.n_target_tokens * state["epoch"] / seconds,
            "best_step": state["best_global_step"],
            f"best_{options.choose_by}": state["best_metric"],
            "evaluations": evaluations,
        }

    def _continued(self, trainer: Any, checkpoints: Checkpoints) -> tuple[dict[str, Any], float]:
        """Train until the end, and return the last state and the seconds."""
        state = checkpoints.state
        if checkpoints.last is not None:
            self.note(
                f"continuing the training in {self.folder} at step {state['global_step']:,} of"
                f" {state['max_steps']:,}"
            )
        if checkpoints.is_finished:  # the trainer would train for one more step
            return state, checkpoints.seconds_before
        self.team.from_main(checkpoints.drop_incomplete)
        last = None if checkpoints.last is None else str(checkpoints.last)
        seconds = trainer.train(resume_from_checkpoint=last).metrics["train_runtime"]
        return asdict(trainer.state), checkpoints.seconds_before + seconds

    def tested(self, model: Path) -> dict[str, Any]:
        """Translate the test sets, and return BLEU of each and the mean."""
        tests: list[dict[str, Any]] = []
        device = "cpu" if self.options.cpu else None
        loading = LoadingOptions(distributed=self.team.size > 1, device=device)
        for number, test in enumerate(self.files.tests, 1):
            pairs = PairFiles(*test).whole()
            sources, references = zip(*pairs, strict=True)
            beams = self.options.beams
            translations = translate(sources, model, num_beams=beams, loading=loading)
            if self.team.is_main:
                path = self.folder / "translations" / f"{number}.{test[1].name}"
                path.parent.mkdir(exist_ok=True)
                path.write_text(
                    "".join(f"{line}\n" for line in translations), encoding="utf-8", newline="\n"
                )
            bleu, signature = corpus_score("bleu", translations, references)
            tests.append({"references": test[1].name, "bleu": bleu, "signature": signature})
        if not tests:
            return {}
        mean = sum(test["bleu"] for test in tests) / len(tests)
        return {"tests": tests, "mean_bleu": mean, "beams": self.options.beams}
