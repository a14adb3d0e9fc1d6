"""What the commands of studies that train translation models share: files, options and outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.fields import Fields
from cc_hf.cli.output import say
from cc_hf.errors import InputError
from cc_hf_studies.common.scratch.options import TrainingOptions

__all__ = [
    "DevPairs",
    "TestSources",
    "TestTargets",
    "TrainPairs",
    "TrainingFields",
    "TrainingFolder",
    "trained",
]

_METAVAR = "SOURCES TARGETS"
TrainPairs = Annotated[
    tuple[Path, Path],
    typer.Option(
        "--train",
        metavar=_METAVAR,
        help="Two line-aligned files to learn from. They are read line by line.",
    ),
]
DevPairs = Annotated[
    tuple[Path, Path],
    typer.Option(
        "--dev", metavar=_METAVAR, help="Two line-aligned files to choose the best checkpoint by."
    ),
]
TestSources = Annotated[
    list[Path] | None,
    typer.Option(
        "--test-source",
        metavar="FILE",
        help="Sentences to translate in the end, for BLEU, one per line. May be repeated.",
    ),
]
TestTargets = Annotated[
    list[Path] | None,
    typer.Option(
        "--test-target",
        metavar="FILE",
        help="Their references, one per line. May be repeated, once for each --test-source.",
    ),
]
TrainingFolder = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="New folder to write. The same command continues a training that was broken off.",
        rich_help_panel="Output",
    ),
]
#: Fields of `TrainingOptions`.
TrainingFields = Fields(
    "size layers language_pair steps batch_size batch_tokens accumulation seed",
    "Training",
    rare=(
        "ffn width heads vocabulary pieces segmentation separate threshold n_pairs max_tokens"
        " max_length_ratio dropout label_smoothing learning_rate warmup schedule eval_steps"
        " patience choose_by beams precision probe probe_examples cpu"
    ),
    defaults={"language_pair": "en-de"},
    flags={
        "attention": "--decoder-attention",
        "segmentation": "--vocabulary-type",
        "separate": "--separate-vocabularies",
        "threshold": "--vocabulary-threshold",
        "beams": "--num-beams",
    },
)


def trained(
    options: TrainingOptions,
    *,
    train: tuple[Path, Path],
    dev: tuple[Path, Path],
    tests: tuple[Sequence[Path] | None, Sequence[Path] | None],
    output: Path,
    quiet: bool,
    run: Callable[..., dict[str, Any]] | None = None,
    model_folder: str = "best",
) -> Outcome:
    """Train a model, and say what came out.

    Args:
        tests: files of sources, and of their references.
        run: trains; None for `cc_hf_studies.common.scratch.run.train`.
    """
    from cc_hf_studies.common.scratch.run import TrainingFiles
    from cc_hf_studies.common.scratch.run import train as run_training

    sources, references = (list(files or ()) for files in tests)
    if len(sources) != len(references):
        raise InputError(
            "expected --test-source and --test-target equally often, got"
            f" {len(sources)} and {len(references)} files; name the references of each file"
        )
    files = TrainingFiles(train, dev, list(zip(sources, references, strict=True)))
    notes: dict[str, Any] = {} if quiet else {"note": lambda text: say("note", text)}
    figures = (run or run_training)(options, files, output, **notes)
    return Outcome(
        figures,
        lambda: _lines(figures, output / model_folder),
        files=[NewFile(output, None)],
    )


def _lines(figures: dict[str, Any], model: Path) -> list[str]:
    from cc_hf.reports.numbers import decimal, percent

    name, best = next(
        (name, figures[f"best_{name}"]) for name in ("bleu", "loss") if f"best_{name}" in figures
    )
    shown = f"BLEU {percent(best)}" if name == "bleu" else f"loss {decimal(best, digits=3)}"
    tests = [
        f"{test['references']}: BLEU {percent(test['bleu'])}  {test['signature']}"
        for test in figures.get("tests", ())
    ]
    if len(tests) > 1:
        tests.append(f"mean: BLEU {percent(figures['mean_bleu'])}")
    return [
        f"{figures['n_parameters']:,} parameters, {figures['pairs']['n_kept']:,} of"
        f" {figures['pairs']['n_pairs']:,} pairs, {figures['n_steps']:,} steps; best {shown} at"
        f" step {figures['best_step']}; the model is in {model}",
        *tests,
    ]
