"""cc-hf analyze: studies over results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli import study_commands
from cc_hf.cli.options import DataDir
from cc_hf.cli.output import Console, check_output, write_atomically
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.results import EvaluationResult

__all__ = ["app"]

app = typer.Typer(help="Studies over results.", no_args_is_help=True)
app.command("referent-bias")(study_commands.referent_bias)
app.command("trigger-importance")(study_commands.trigger_importance)
app.command("regression")(study_commands.regression)
app.command("evaluator-agreement")(study_commands.evaluator_agreement)


@app.callback()
def _main() -> None:
    pass


@app.command("human-agreement")
def human_agreement(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="JSON files that `cc-hf evaluate --output` wrote, of any metrics.",
            metavar="RESULT...",
        ),
    ],
    annotations: Annotated[
        list[Path],
        typer.Option(
            help=(
                "JSONL with id, index or testset_line, translation, gold_gender, label_ or"
                " binarized_annotator1 and 2; once, or once per file of results."
            )
        ),
    ],
    assume: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Result whose decided verdicts stand for labels where nobody annotated, as on"
                " MuCoW, where only undecidable ones were."
            )
        ),
    ] = None,
    without_corpus: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "With --assume: corpora that no annotated sentence was drawn from (paper:"
                " opensubs)."
            )
        ),
    ] = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="With --assume: count labels as the paper's notebook does."
        ),
    ] = False,
    inconclusive: Annotated[
        str | None,
        typer.Option(
            help=(
                "What an inconclusive verdict stands for: correct or incorrect; default: as in the"
                " paper."
            )
        ),
    ] = None,
    skip_others: Annotated[
        bool,
        typer.Option(
            "--skip-others", help="Leave out annotated translations that are not those judged."
        ),
    ] = False,
    data_dir: DataDir = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the figures to this JSON file.")
    ] = None,
) -> None:
    """Compare results with human labels, beside the figures of Vamvas & Sennrich 2021, Table 2."""
    import json

    from cc_hf.reports.studies.human_agreement import (
        AgreementRow,
        agreement_json,
        agreement_notes,
        human_agreement_table,
    )
    from cc_hf.studies.human_agreement.agreement import (
        Assumption,
        agreement_with_labels,
        examples_without_corpora,
    )
    from cc_hf.studies.human_agreement.annotations import annotator_agreement, read_annotations

    if len(annotations) not in (1, len(results)):
        raise InputError(
            f"--annotations: expected it once, or once per file of results, {len(results)} in all,"
            f" got it {len(annotations)} times"
        )
    if assume is None and (without_corpus or as_published):
        raise InputError(
            "--without-corpus and --as-published say how assumed verdicts count; give them with"
            " --assume RESULT, or leave them out"
        )
    check_output(output)
    assumption = None
    if assume is not None:
        decided = _with_inconclusive(assume)
        population = (
            examples_without_corpora(decided, without_corpus, data_dir=data_dir)
            if without_corpus
            else None
        )
        assumption = Assumption(decided, population, as_published)
    rows = []
    for number, path in enumerate(results):
        labels = read_annotations(annotations[number % len(annotations)])
        people = annotator_agreement(labels)
        for judged in _read_results(path):
            found = agreement_with_labels(
                judged,
                labels,
                skip_others=skip_others,
                inconclusive=inconclusive,
                assumption=assumption,
            )
            rows.append(AgreementRow(judged, found, people))
    if output is not None:
        write_atomically(
            output,
            json.dumps(agreement_json(rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        )
    console = Console()
    console.print(human_agreement_table(rows))
    for note in agreement_notes(rows):
        console.print(note, soft_wrap=True, highlight=False, markup=False)


def _read_results(path: Path) -> tuple[EvaluationResult, ...]:
    from cc_hf.data.result_files import read_result_file

    return read_result_file(path).results


def _with_inconclusive(path: Path) -> EvaluationResult:
    """Return the one result of a file that has inconclusive verdicts."""
    found = [
        result
        for result in _read_results(path)
        if any(j.verdict == "inconclusive" for j in result.judgements)
    ]
    if len(found) != 1:
        raise InputError(
            "--assume: expected a file with one result that has inconclusive verdicts, such as of"
            f" mucow_pattern_matching, got {len(found)} such in {path}"
        )
    return found[0]
