"""cc-hf ask: ask a language model in words to choose or to translate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf import registry
from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Config, DataFields, Resampling
from cc_hf.cli.output import say
from cc_hf.errors import InputError, check_choice
from cc_hf.evaluation.material import DataOptions, Material
from cc_hf.evaluators import distributed as sharding
from cc_hf.files import file_sha256
from cc_hf.metrics.base import Origin
from cc_hf.plugins.asking.plans import Plan, Questions
from cc_hf.plugins.asking.respondents import Asking
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.writing import STANDARD, check_output

if TYPE_CHECKING:
    from cc_hf.plugins.asking.conversations import Respondent
    from cc_hf.plugins.asking.prompting.replies import KeptReply
    from cc_hf.plugins.asking.runs import TranslationRun
    from cc_hf.results import EvaluationResult

__all__ = ["ask"]


def ask(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|REPLIES",
            help=(
                "A dataset, as for `cc-hf evaluate`; a file of rows with correct_translation,"
                " contrastive_translations, source and tgt_lang; sentences that a study wrote, such"
                " as adversarial ones; or replies that this command kept, to read them again"
                " without a model."
            ),
        ),
    ],
    config: Config = None,
    *,
    questions: Annotated[
        Questions, Fields("task strategy shots both_orders", "Questions", rare="demonstrations")
    ],
    show: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Print the prompt of the sample with this id, or first, and ask nothing.",
            rich_help_panel="Questions",
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Write all prompts to this JSONL file, with id and messages, and ask nothing.",
            rich_help_panel="Questions",
            hidden=True,
        ),
        OutputFile(),
    ] = None,
    asking: Annotated[
        Asking,
        Fields(
            "model server replies",
            "Model",
            rare="device",
            settings="max_new_tokens temperature dtype batch_size max_requests",
            flags={"model": "--model"},
        ),
    ],
    parser: Annotated[
        str | None,
        typer.Option(
            help=(
                "How replies are read. Choices: conclusion (the last option in a concluding phrase,"
                " or the only one that is named), last, or exact. Translations: whole, or quoted."
                " Default: conclusion; whole for basic, otherwise quoted."
            ),
            rich_help_panel="Model",
            hidden=True,
        ),
    ] = None,
    answer_logprobs: Annotated[
        bool,
        typer.Option(
            "--answer-logprobs",
            help=(
                "With a model on this machine: also compare the log-probabilities of both answers,"
                " and write a result of these choices beside the other."
            ),
            rich_help_panel="Model",
            hidden=True,
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the model in reports. Default: its own.",
            rich_help_panel="Model",
            hidden=True,
        ),
    ] = None,
    data: Annotated[DataOptions, DataFields],
    bootstrap: Annotated[
        Bootstrap,
        replace(
            Resampling,
            names="",
            rare="seed",
            helps={"seed": "Seed of the bootstrap, and of demonstrations from the data."},
        ),
    ],
    output: Path | None = None,
    progress: bool = False,
) -> Outcome:
    """Ask a language model to choose between options, or to translate.

    A file beside that of --output, ending in .replies.jsonl, keeps every request and reply. A run
    that was stopped continues with it.

    Example: cc-hf ask simplegen en-de --shots 0 --show first
    """
    from cc_hf.plugins.asking.logprobs import choices_by_logprob
    from cc_hf.plugins.asking.prompting.replies import is_run
    from cc_hf.plugins.asking.runs import ask_plan, choices_of_run, translations_of_run

    questions = replace(questions, seed=bootstrap.seed)
    reading: dict[str, Any] = {"parser": parser, "name": name or "", "bootstrap": bootstrap}
    if is_run(Path(dataset)):
        if (config, asking, data, show) != (None, Asking(), DataOptions(), None):
            raise InputError(
                f"{dataset}: expected a file of kept replies with --parser, --name and --seed only"
                ", since nothing is asked"
            )
        return _read_again(Path(dataset), output, **reading)
    material = _material(dataset, config, data)
    task, plan = questions.plan(material)
    if show is not None or prompts is not None:
        return _shown(plan, show, prompts)
    _check_parser(task, parser)
    if (asking.model, asking.server, asking.replies) == (None, None, None):
        raise InputError(
            "model, server, replies: expected who replies, got none; --show prints a prompt and"
            " asks nothing"
        )
    path = _kept_path(output)
    respondent = _opened(asking, plan)
    run, replies = ask_plan(
        task,
        material,
        plan,
        respondent,
        path,
        is_main=sharding.is_main_process(),
        progress=progress,
    )
    if task == "translate":
        outcome = _translations(translations_of_run(run, replies, parser=parser), replies)
    else:
        reading["parser"] = parser or "conclusion"
        results = [choices_of_run(run, replies, **reading)]
        if answer_logprobs:
            results.append(choices_by_logprob(run, plan, respondent, **reading))
        outcome = _choices(results, replies, output, respondent)
    file = NewFile(path, None, f", {len(replies):,} replies")
    return replace(outcome, files=[*outcome.files, file], notes=[*_notes(plan), *outcome.notes])


def _material(dataset: str, config: str | None, data: DataOptions) -> Material:
    """Return the sentences of a file that a study writes, or else a dataset."""
    examples = registry.sentences_of(dataset, data.languages)
    if examples is None:
        return data.load(dataset, config)
    if config is not None or replace(data, language_pair=None, limit=None) != DataOptions():
        raise InputError(
            f"{dataset}: expected a file of sentences with --language-pair and --limit only, got"
            " other options of a dataset"
        )
    src_lang, tgt_lang = data.languages
    fields = {"data": f"{Path(dataset).stem}@{file_sha256(Path(dataset))[:7]}"}
    return Material(
        src_lang or "", tgt_lang or "", examples, limit=data.limit, named=Origin(fields=fields)
    )


def _kept_path(output: Path | None) -> Path:
    """Return the file in which replies are kept; raise an InputError if there can be none."""
    if output is None or output == STANDARD:
        raise InputError(
            "--output: expected a file, beside which the replies are kept, so that a run that is"
            f" stopped continues; got {output or 'none'}"
        )
    path = output.with_name(f"{output.stem}.replies.jsonl")
    check_output(path)
    return path


def _opened(asking: Asking, plan: Plan) -> Respondent:
    """Open who replies, and say how much will be sent if that is a server."""
    longest = plan.prompt.template.max_new_tokens
    respondent = asking.open(longest)
    if asking.server is not None and sharding.is_main_process():
        say(
            "note",
            f"{len(plan.requests):,} requests with {plan.n_characters:,} characters go to"
            f" {asking.server}, less those that were answered before; each reply has at most"
            f" {asking.max_new_tokens or longest:,} tokens",
        )
    return respondent


def _shown(plan: Plan, show: str | None, prompts: Path | None) -> Outcome:
    """Return the prompt of one sample, and the file with those of all."""
    from cc_hf.plugins.asking.plans import message_dataset
    from cc_hf.plugins.asking.tables import conversation_lines

    chosen = [request for request in plan.requests if show == request.id]
    if show in (None, "first"):
        chosen = chosen or list(plan.requests[:1])
    if not chosen:
        is_shown = show in plan.left_out
        where = "is shown as a demonstration" if is_shown else "is not among them"
        raise InputError(
            f"--show: expected first, or the id of one of {len(plan.requests)} samples that are"
            f" asked, such as {', '.join(request.id for request in plan.requests[:3])}, got"
            f" {show!r}, which {where}"
        )
    request = chosen[0]
    rows = [] if prompts is None else message_dataset(plan)
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return Outcome(
        {
            "id": request.id,
            "messages": [asdict(turn) for turn in request.conversation],
            **request.reference,
        },
        lambda: [
            *conversation_lines(request.conversation),
            *_right_answer(request.reference),
            f"sample {request.id}; prompt {plan.prompt.signature_name}; {plan.n_shots}"
            f" demonstrations ({plan.origin}); {len(plan.requests):,} requests with"
            f" {plan.n_characters:,} characters; {len(plan.left_out)} samples left out",
        ],
        files=[NewFile(prompts, lines, f", {len(plan.requests):,} prompts")],
        notes=_notes(plan),
    )


def _right_answer(reference: Mapping[str, str]) -> Iterator[str]:
    """Yield the line that says which option is right, for choices."""
    if answer := reference.get("answer"):
        yield f"right answer: {answer}, {reference[f'option{answer}']}"


def _notes(plan: Plan) -> list[str]:
    return [note.replace("`shots`", "--shots") for note in plan.notes]


def _check_parser(task: str, parser: str | None) -> None:
    from cc_hf.plugins.asking.prompting.choices import PARSERS
    from cc_hf.plugins.asking.prompting.translation_replies import TRANSLATION_PARSERS

    if parser is not None:
        check_choice("parser", parser, PARSERS if task == "choose" else TRANSLATION_PARSERS)


def _read_again(path: Path, output: Path | None, *, parser: str | None, **reading: Any) -> Outcome:
    """Return the outcome of replies that were kept."""
    from cc_hf.plugins.asking.runs import choices_of_run, kept_replies, translations_of_run

    run, replies = kept_replies(path)
    _check_parser(run["task"], parser)
    if run["task"] == "translate":
        return _translations(translations_of_run(run, replies, parser=parser), replies)
    result = choices_of_run(run, replies, parser=parser or "conclusion", **reading)
    return _choices([result], replies, output)


def _choices(
    results: list[EvaluationResult],
    replies: Sequence[KeptReply],
    output: Path | None,
    respondent: Respondent | None = None,
) -> Outcome:
    """Return the results of choices, of which that of log-probabilities has a file of its own."""
    from cc_hf.plugins.asking.prompting.replies import FileRespondent
    from cc_hf.reports.tables.base import result_table

    files, warnings, notes = [], _cut(replies), []
    if len(results) > 1 and output is not None and output != STANDARD:
        beside = output.with_name(f"{output.stem}.logprobs.json")
        files.append(NewFile(beside, results[1].to_json()))
    if respondent is not None and (n_failed := results[0].counts["n_failed"]):
        warnings.append(
            f"{n_failed:,} of {results[0].n:,} samples have no reply; give the same command again"
            " to ask for these only"
        )
    if isinstance(respondent, FileRespondent) and respondent.unused:
        notes.append(
            f"{respondent.path}: {len(respondent.unused):,} replies belong to no sample that was"
            f" asked, such as {min(respondent.unused)!r}"
        )
    return Outcome(
        results[0].to_json,
        lambda: chain.from_iterable(map(result_table, results)),
        files=files,
        warnings=warnings,
        notes=notes,
    )


def _translations(run: TranslationRun, replies: Sequence[KeptReply]) -> Outcome:
    """Return the translations, with blanks for those that are missing, and their counts."""
    from cc_hf.plugins.asking.tables import translation_tables

    counts = {
        name or "all": {**run.counts(name), "cut": run.n_cut(name)}
        for name in (None, *run.categories)
    }
    rows = [json.dumps(asdict(row), ensure_ascii=False) for row in run.rows]
    return Outcome(
        {"counts": counts, "reasons": run.reasons()},
        lambda: translation_tables(run),
        text="".join(f"{row}\n" for row in rows),
        about=f", {run.counts()['valid']:,} translations of {len(run.rows):,} sentences",
        warnings=_cut(replies),
    )


def _cut(replies: Sequence[KeptReply]) -> list[str]:
    """Return a warning of replies that ended at the limit of tokens."""
    n_cut = sum(kept.reply.is_cut for kept in replies)
    if not n_cut:
        return []
    return [
        f"{n_cut:,} of {len(replies):,} replies were cut at the limit of tokens, perhaps before"
        " their conclusion; --model-option max_new_tokens=N raises it, with another --output"
    ]
