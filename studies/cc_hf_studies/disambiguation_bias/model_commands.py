"""cc-hf study disambiguation_bias compare-models: Emelin (2023), Tables 5.6 and 5.7: two models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import EvaluatorFields, Resampling
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.systems.system import DEFAULT_BEAMS, System
from cc_hf_studies.common.corpus_options import Lemmatizer
from cc_hf_studies.disambiguation_bias.command_options import (
    LexiconFields,
    LexiconOptions,
    Search,
)

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult
    from cc_hf_studies.common.model_comparison import ComparedFigure

__all__ = ["compare_models"]


@dataclass(frozen=True)
class _Models:
    """Two models and how they are run."""

    paths: tuple[str, str]
    names: tuple[str, str]
    num_beams: int
    loading: LoadingOptions
    lexicon: LexiconOptions
    bootstrap: Bootstrap
    progress: bool


def compare_models(
    models: Annotated[
        list[str],
        typer.Argument(help="Two models: names, folders, or models on the Hub; baseline first."),
    ],
    *,
    source: Annotated[
        Path | None, typer.Option(help="Sentences to translate for BLEU, one per line.")
    ] = None,
    reference: Annotated[Path | None, typer.Option(help="Their references, one per line.")] = None,
    challenge: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET[:SET]",
            help=(
                "Sentences with homographs: a folder of `cc-hf study disambiguation_bias"
                " build-challenge` with the name of a set, such as sets:most_biased, or a file that"
                " homograph_accuracy judges."
            ),
        ),
    ] = None,
    attacks: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Adversarial samples of `cc-hf study disambiguation_bias attack build` or"
                " `build-challenge` (.jsonl)."
            )
        ),
    ] = None,
    wino_x: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="Configuration of wino_x to choose on, such as mt_en_de.translations.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name of a model; repeat it for both. Default: that of its folder."),
    ] = None,
    lexicon: Annotated[LexiconOptions, LexiconFields],
    search: Search = "anywhere",
    lemmatizer: Lemmatizer = "simplemma",
    num_beams: Annotated[
        int, typer.Option(min=1, help="Number of beams of translation.")
    ] = DEFAULT_BEAMS,
    loading: Annotated[
        LoadingOptions, replace(EvaluatorFields, rare="device", settings="batch_tokens")
    ],
    bootstrap: Annotated[Bootstrap, Resampling],
    progress: bool = False,
) -> Outcome:
    """Compare BLEU, errors on homographs, success of attacks and Wino-X choices of two models.

    The figures correspond to Emelin (2023), Tables 5.6 and 5.7; each needs its option.

    Example: cc-hf study disambiguation_bias compare-models my/a my/b --challenge sets:most_biased
    """
    from cc_hf_studies.common.model_tables import model_comparison_tables

    first, second = _two(models, "models")
    named = _two(name, "name") if name else (Path(first).name, Path(second).name)
    if named[0] == named[1]:
        raise InputError(f"name: expected two names, as both models are called {named[0]}")
    if (source is None) != (reference is None):
        raise InputError("source, reference: expected both files for BLEU, got one")
    if not (source or challenge or attacks or wino_x):
        raise InputError(
            "expected something to compare on: --source with --reference, --challenge, --attacks or"
            " --wino-x"
        )
    setting = _Models((first, second), named, num_beams, loading, lexicon, bootstrap, progress)
    figures: list[ComparedFigure] = []
    if source is not None and reference is not None:
        figures.append(_bleu(setting, source, reference))
    if challenge is not None:
        figures.append(_homographs(setting, challenge, search, lemmatizer))
    if attacks is not None:
        figures.append(_attacks(setting, attacks, search, lemmatizer))
    if wino_x is not None:
        figures.append(_wino_x(setting, wino_x))
    return Outcome(
        {"models": named, "figures": [asdict(row) for row in figures]},
        lambda: model_comparison_tables(figures, names=named),
    )


def _two(values: list[str], option: str) -> tuple[str, str]:
    if len(values) != 2:
        raise InputError(f"{option}: expected two, got {len(values)}")
    return values[0], values[1]


def _bleu(setting: _Models, source: Path, reference: Path) -> ComparedFigure:
    from cc_hf.reading import read_lines
    from cc_hf.systems.translate import translate
    from cc_hf_studies.common.model_comparison import compared_bleu

    sources, references = read_lines(source), read_lines(reference)
    if len(sources) != len(references):
        raise InputError(
            f"{source}, {reference}: expected as many lines in both, got {len(sources)} and"
            f" {len(references)}"
        )
    src_lang, tgt_lang = setting.lexicon.languages
    first, second = (
        translate(
            sources,
            path,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            num_beams=setting.num_beams,
            loading=setting.loading,
            progress=setting.progress,
        )
        for path in setting.paths
    )
    return compared_bleu(
        (first, second),
        references,
        tgt_lang=tgt_lang,
        data=source.name,
        bootstrap=setting.bootstrap,
    )


def _homographs(setting: _Models, challenge: str, search: str, lemmatizer: str) -> ComparedFigure:
    from cc_hf.evaluation.material import load_material
    from cc_hf_studies.common.model_comparison import compared_verdicts

    dataset, _, config = challenge.partition(":")
    material = load_material(
        dataset,
        config or None,
        tgt_lang=setting.lexicon.tgt_lang,
        data_dir=setting.lexicon.data_dir,
    )
    results = _results(
        setting,
        lambda path: {
            "material": material,
            "system": System(path, setting.num_beams),
            "metric": "homograph_accuracy",
            "options": {"search": search, "lemmatizer": lemmatizer},
        },
    )
    return compared_verdicts(
        "wsd_errors",
        results,
        lambda verdict: verdict == "incorrect",
        data=challenge,
        bootstrap=setting.bootstrap,
    )


def _attacks(setting: _Models, samples: Path, search: str, lemmatizer: str) -> ComparedFigure:
    from cc_hf_studies.common.model_comparison import compared_rates
    from cc_hf_studies.disambiguation_bias.attacks.judging import judge_attacks, translate_or_read
    from cc_hf_studies.disambiguation_bias.attacks.outcomes import LexiconJudge
    from cc_hf_studies.disambiguation_bias.attacks.samples import read_samples

    judge = LexiconJudge(setting.lexicon.read(), search=search, lemmatizer=lemmatizer)
    rows = list(read_samples(samples))
    flags: list[list[bool | None]] = []
    signatures: list[str] = []
    for path, model in zip(setting.paths, setting.names, strict=True):
        translated = translate_or_read(
            rows,
            path,
            name=model,
            languages=setting.lexicon.languages,
            num_beams=setting.num_beams,
            loading=setting.loading,
            progress=setting.progress,
        )
        judged, report = judge_attacks(
            rows, translated, samples_path=samples, lexicon=judge, bootstrap=setting.bootstrap
        )
        flags.append([judgement.succeeds("lexicon") for judgement in judged])
        signatures.append(report.signature)
    return compared_rates(
        "attack_success",
        (flags[0], flags[1]),
        [row.seed_id for row in rows],
        data=samples.name,
        signatures=(signatures[0], signatures[1]),
        bootstrap=setting.bootstrap,
    )


def _wino_x(setting: _Models, config: str) -> ComparedFigure:
    from cc_hf.evaluation.material import load_material
    from cc_hf_studies.common.model_comparison import compared_verdicts

    material = load_material("wino_x", config, data_dir=setting.lexicon.data_dir)
    results = _results(
        setting,
        lambda path: {
            "material": material,
            "metric": "contrastive_translation_scoring",
            "evaluator": path,
        },
    )
    return compared_verdicts(
        "wino_x_accuracy",
        results,
        lambda verdict: verdict == "correct",
        bootstrap=setting.bootstrap,
    )


def _results(
    setting: _Models, arguments: Callable[[str], dict[str, Any]]
) -> tuple[EvaluationResult, EvaluationResult]:
    """Evaluate both models on what a function returns for each of them."""
    from cc_hf.evaluation.evaluate import evaluate

    first, second = (
        evaluate(
            **arguments(path),
            loading=setting.loading,
            name=model,
            seed=setting.bootstrap.seed,
            progress=setting.progress,
        )
        for path, model in zip(setting.paths, setting.names, strict=True)
    )
    return first, second
