"""cc-hf prompt: ask a language model in words to choose or to translate."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli import prompt_options as options
from cc_hf.cli.options import (
    AsJson,
    Config,
    DataDir,
    Dataset,
    Device,
    Limit,
    Quiet,
    Resamples,
    Split,
    TgtLang,
)
from cc_hf.cli.output import (
    check_output,
    json_text,
    print_result,
    say_written,
    shows_progress,
    write_atomically,
)
from cc_hf.cli.prompt_output import say_cut, say_failures, write_choices, write_translations
from cc_hf.errors import InputError, check_choice
from cc_hf.evaluators import distributed as sharding

if TYPE_CHECKING:
    from cc_hf.asking.plans import Plan
    from cc_hf.evaluation.material import Material
    from cc_hf.prompting.conversations import Respondent
    from cc_hf.prompting.replies import FileRespondent, KeptReply

__all__ = ["app"]

app = typer.Typer(
    help="Ask a language model in words: to choose between two options, or to translate.",
    no_args_is_help=True,
)

_Seed = Annotated[int, typer.Option(min=0, help="Seed of the demonstrations and the bootstrap.")]
_BothOrders = Annotated[
    bool,
    typer.Option(
        "--both-orders",
        help=(
            "Ask about each sample twice, with its options in both orders, and count a choice only"
            " if it stays the same."
        ),
    ),
]
_Output = Annotated[Path | None, typer.Option("--output", "-o", help="JSON file of the result.")]
_Name = Annotated[
    str | None, typer.Option("--name", help="Name of the model in reports. Default: its own.")
]


@app.command("choose")
def choose(
    dataset: Dataset,
    config: Config = None,
    *,
    model: options.Model = None,
    server: options.Server = None,
    replies: options.Replies = None,
    strategy: options.Strategy = "basic",
    shots: options.Shots = None,
    demonstrations: options.Demonstrations = "auto",
    seed: _Seed = 0,
    both_orders: _BothOrders = False,
    parser: Annotated[
        str,
        typer.Option(
            help=(
                "How replies are read: conclusion (the last option in a concluding phrase, or the"
                " only one that is named), last, or exact."
            )
        ),
    ] = "conclusion",
    answer_logprobs: Annotated[
        bool,
        typer.Option(
            "--answer-logprobs",
            help=(
                "With a model on this machine: also compare the log-probabilities of both answers,"
                " and write a result of these choices beside the other."
            ),
        ),
    ] = False,
    output: _Output = None,
    kept: options.Kept = None,
    name: _Name = None,
    max_new_tokens: options.MaxNewTokens = None,
    temperature: options.Temperature = 0.0,
    batch_size: options.BatchSize = 8,
    concurrency: options.Concurrency = 4,
    max_requests: options.MaxRequests = None,
    dtype: options.Dtype = None,
    device: Device = None,
    split: Split = "test",
    limit: Limit = None,
    data_dir: DataDir = None,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask which of two translations or fillers is right (Wino-X: mt_*.translations, lm_*).

    The strategies are those of Emelin (2023), section 4.6.
    """
    from cc_hf.asking.logprobs import choices_by_logprob
    from cc_hf.asking.runs import choices_of_run
    from cc_hf.evaluation.material import load_material
    from cc_hf.prompting.choices import PARSERS
    from cc_hf.statistics.bootstrap import Bootstrap

    check_output(output)
    check_choice("parser", parser, PARSERS)
    path = options.kept_path(output, kept)
    check_output(path, "kept")
    material = load_material(dataset, config, split=split, data_dir=data_dir, limit=limit)
    plan = _planned(
        "choose", material, strategy, shots, demonstrations, seed, both_orders=both_orders
    )
    opening = options.Opening(
        *(model, server, replies, max_new_tokens, temperature, batch_size, concurrency),
        *(max_requests, dtype, device),
    )
    respondent = opening.open(plan)
    run, kept_replies = _asked("choose", material, plan, respondent, path, quiet=quiet)
    bootstrap = Bootstrap(seed=seed, n_resamples=resamples)
    reading: dict[str, Any] = {"parser": parser, "name": name or "", "bootstrap": bootstrap}
    results = [choices_of_run(run, kept_replies, **reading)]
    if answer_logprobs:
        results.append(choices_by_logprob(run, plan, respondent, **reading))
    sharding.leave()
    if not sharding.is_main_process():
        return
    say_failures(results[0], respondent, quiet=quiet)
    say_cut(kept_replies)
    write_choices(results, output, as_json=as_json)
    say_written(path, f", {len(kept_replies):,} replies")


@app.command("translate")
def translate(
    dataset: Dataset,
    config: Config = None,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="JSONL file of the translations, with id, source and translation.",
        ),
    ],
    model: options.Model = None,
    server: options.Server = None,
    replies: options.Replies = None,
    strategy: options.Strategy = "basic",
    shots: options.Shots = None,
    demonstrations: options.Demonstrations = "auto",
    seed: _Seed = 0,
    kept: options.Kept = None,
    max_new_tokens: options.MaxNewTokens = None,
    temperature: options.Temperature = 0.0,
    batch_size: options.BatchSize = 8,
    concurrency: options.Concurrency = 4,
    max_requests: options.MaxRequests = None,
    dtype: options.Dtype = None,
    device: Device = None,
    tgt_lang: TgtLang = None,
    split: Split = "test",
    limit: Limit = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask for translations of a dataset's sources, for any metric of `cc-hf evaluate`.

    The prompts are those of Emelin (2023), section 3.5. `cc-hf evaluate --translated-only` judges
    what was translated.
    """
    from cc_hf.asking.runs import translations_of_run
    from cc_hf.evaluation.material import load_material

    check_output(output)
    path = options.kept_path(output, kept)
    check_output(path, "kept")
    material = load_material(
        dataset, config, split=split, tgt_lang=tgt_lang, data_dir=data_dir, limit=limit
    )
    plan = _planned("translate", material, strategy, shots, demonstrations, seed)
    opening = options.Opening(
        *(model, server, replies, max_new_tokens, temperature, batch_size, concurrency),
        *(max_requests, dtype, device),
    )
    respondent = opening.open(plan)
    run, kept_replies = _asked("translate", material, plan, respondent, path, quiet=quiet)
    sharding.leave()
    if not sharding.is_main_process():
        return
    say_cut(kept_replies)
    write_translations(translations_of_run(run, kept_replies), output, as_json=as_json)
    say_written(path, f", {len(kept_replies):,} replies")


@app.command("show")
def show(
    dataset: Dataset,
    config: Config = None,
    *,
    task: Annotated[str, typer.Option(help="What is asked: choose or translate.")] = "choose",
    strategy: options.Strategy = "basic",
    shots: options.Shots = None,
    demonstrations: options.Demonstrations = "auto",
    seed: _Seed = 0,
    sample: Annotated[
        str | None, typer.Option(help="Id of the sample. Default: the first that is asked.")
    ] = None,
    both_orders: _BothOrders = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=(
                "Write the prompts of all samples to this JSONL file, with id and messages, for"
                " other tools; `choose` and `translate` read their replies with --replies."
            ),
        ),
    ] = None,
    tgt_lang: TgtLang = None,
    split: Split = "test",
    limit: Limit = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the prompt of one sample, and ask nothing."""
    from cc_hf.asking.plans import message_dataset
    from cc_hf.evaluation.material import load_material
    from cc_hf.reports.tables.asking import conversation_text

    check_output(output)
    material = load_material(
        dataset, config, split=split, tgt_lang=tgt_lang, data_dir=data_dir, limit=limit
    )
    plan = _planned(task, material, strategy, shots, demonstrations, seed, both_orders=both_orders)
    chosen = [request for request in plan.requests if sample in (None, request.id)]
    if not chosen:
        where = "is shown as a demonstration" if sample in plan.left_out else "is not among them"
        raise InputError(
            f"--sample: expected the id of one of {len(plan.requests)} samples that are asked, got"
            f" {sample!r}, which {where}"
        )
    request = chosen[0]
    if output is not None:
        rows = [json.dumps(row, ensure_ascii=False) for row in message_dataset(plan)]
        write_atomically(output, "".join(f"{row}\n" for row in rows))
    print_result(
        as_json,
        json_text({"id": request.id, "messages": [asdict(t) for t in request.conversation]}),
        lambda: [
            conversation_text(request.conversation),
            Text(
                f"sample {request.id}; prompt {plan.prompt.signature_name}; {plan.n_shots}"
                f" demonstrations ({plan.origin}); {len(plan.requests):,} requests with"
                f" {plan.n_characters:,} characters; {len(plan.left_out)} samples left out"
            ),
        ],
        output=None,
    )
    say_written(output, f", {len(plan.requests):,} prompts")


@app.command("reparse")
def reparse(
    kept: Annotated[
        Path, typer.Argument(help="File of replies that `cc-hf prompt choose|translate` kept.")
    ],
    parser: Annotated[
        str | None,
        typer.Option(
            help=(
                "How replies are read: for choices conclusion, last or exact; for translations"
                " whole or quoted. Default: as when they were asked for."
            )
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="JSON file of the choices, or JSONL file of the translations."
        ),
    ] = None,
    name: _Name = None,
    seed: _Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Read kept replies again, with another parser and without a model."""
    from cc_hf.asking.runs import (
        choices_of_run,
        kept_replies,
        translations_of_run,
    )
    from cc_hf.prompting.choices import PARSERS
    from cc_hf.prompting.translation_replies import TRANSLATION_PARSERS
    from cc_hf.statistics.bootstrap import Bootstrap

    check_output(output)
    run, replies = kept_replies(kept)
    say_cut(replies)
    if run["task"] == "translate":
        check_choice("parser", parser or TRANSLATION_PARSERS[0], TRANSLATION_PARSERS)
        translated = translations_of_run(run, replies, parser=parser)
        write_translations(translated, output, as_json=as_json)
        return
    check_choice("parser", parser or PARSERS[0], PARSERS)
    result = choices_of_run(
        run,
        replies,
        parser=parser or PARSERS[0],
        name=name or "",
        bootstrap=Bootstrap(seed=seed, n_resamples=resamples),
    )
    write_choices([result], output, as_json=as_json)


def _planned(
    task: str,
    material: Material,
    strategy: str,
    shots: int | None,
    demonstrations: str,
    seed: int,
    *,
    both_orders: bool = False,
) -> Plan:
    from cc_hf.asking.plans import plan_choices, plan_translations

    if task == "choose":
        return plan_choices(
            material.examples,
            strategy=strategy,
            n_shots=shots,
            demonstrations=demonstrations,
            seed=seed,
            both_orders=both_orders,
        )
    if both_orders and task == "translate":
        raise InputError("--both-orders: expected none where translations are asked for")
    if task == "translate":
        return plan_translations(
            material.examples,
            src_lang=material.src_lang,
            tgt_lang=material.tgt_lang,
            strategy=strategy,
            n_shots=shots,
            demonstrations=demonstrations,
            seed=seed,
        )
    raise InputError(f"--task: expected choose or translate, got {task!r}")


def _asked(
    task: str,
    material: Material,
    plan: Plan,
    respondent: Respondent | FileRespondent,
    path: Path,
    *,
    quiet: bool,
) -> tuple[dict[str, Any], list[KeptReply]]:
    from cc_hf.asking.runs import ask_plan

    return ask_plan(
        task,
        material,
        plan,
        respondent,
        path,
        is_main=sharding.is_main_process(),
        progress=shows_progress(quiet=quiet),
    )
