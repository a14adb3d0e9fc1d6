"""What the commands that ask language models write and say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cc_hf.cli.output import (
    STANDARD,
    json_text,
    print_result,
    say,
    say_written,
    write_atomically,
)

if TYPE_CHECKING:
    from cc_hf.asking.runs import TranslationRun
    from cc_hf.prompting.conversations import Respondent
    from cc_hf.prompting.replies import FileRespondent, KeptReply
    from cc_hf.results import EvaluationResult

__all__ = ["say_cut", "say_failures", "write_choices", "write_translations"]


def say_failures(
    result: EvaluationResult, respondent: Respondent | FileRespondent, *, quiet: bool
) -> None:
    """Say what a reader must know of the requests, and which replies of a file were not used."""
    from cc_hf.prompting.replies import FileRespondent

    n_failed = result.counts["n_failed"]
    if n_failed:
        say(
            "warning",
            f"{n_failed:,} of {result.n:,} samples have no reply; give the same command again to"
            " ask for these only",
        )
    if isinstance(respondent, FileRespondent) and respondent.unused and not quiet:
        say(
            "note",
            f"{respondent.path}: {len(respondent.unused):,} replies belong to no sample that was"
            f" asked, such as {min(respondent.unused)!r}",
        )


def say_cut(replies: Sequence[KeptReply]) -> None:
    """Warn of replies that ended at the limit of tokens."""
    n_cut = sum(kept.reply.is_cut for kept in replies)
    if n_cut:
        say(
            "warning",
            f"{n_cut:,} of {len(replies):,} replies were cut at the limit of tokens, perhaps before"
            " their conclusion; --max-new-tokens raises it, with another --output",
        )


def write_choices(results: list[EvaluationResult], output: Path | None, *, as_json: bool) -> None:
    """Write one file per result, that of log-probabilities beside the other, and print tables."""
    from cc_hf.reports.tables.asking import choice_tables

    beside = None
    if len(results) > 1 and output is not None and output != STANDARD:
        beside = output.with_name(f"{output.stem}.logprobs.json")
        write_atomically(beside, results[1].to_json())
    print_result(
        as_json,
        results[0].to_json(),
        lambda: choice_tables(results),
        output=output,
    )
    say_written(output)
    say_written(beside)


def write_translations(run: TranslationRun, output: Path | None, *, as_json: bool) -> None:
    """Write the translations, with blanks for those that are missing, and print the outcome."""
    from cc_hf.reports.tables.asking import translation_tables

    if output is not None:
        lines = [json.dumps(asdict(row), ensure_ascii=False) for row in run.rows]
        write_atomically(output, "".join(f"{line}\n" for line in lines))
    counts = {
        name or "all": {**run.counts(name), "cut": run.n_cut(name)}
        for name in (None, *run.categories)
    }
    print_result(
        as_json and output != STANDARD,
        json_text({"counts": counts, "reasons": run.reasons()}),
        lambda: translation_tables(run),
        output=None,
    )
    say_written(output, f", {run.counts()['valid']:,} translations of {len(run.rows):,} sentences")
