"""cc-hf compare --by rater: results beside labels that people gave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import Results
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.comparing.people.agreement import Assumption
    from cc_hf.comparing.people.annotations import Annotation, EarlierAgreement
    from cc_hf.results import EvaluationResult

__all__ = ["raters"]

_ASSUMED = "Verdicts that stand for labels"


def raters(
    results: Results,
    *,
    labels: Annotated[
        list[Path],
        typer.Option(
            help=(
                "JSONL file of human labels, with the keys id, index or testset_line; translation;"
                " gold_gender; and label_annotator1 and 2 or binarized_annotator1 and 2, or more;"
                " or NAME.annotator1.jsonl as Vamvas & Sennrich published it, with that of the"
                " other annotator beside it. Give it once for all results, or once for each. Or the"
                " filled sheets of `cc-hf build sheets` and their key, one option each."
            )
        ),
    ],
    inconclusive: Annotated[
        str | None,
        typer.Option(
            help=(
                "How an inconclusive verdict counts: correct or incorrect. Default: as in the"
                " paper."
            )
        ),
    ] = None,
    skip_others: Annotated[
        bool,
        typer.Option(
            "--skip-others", help="Ignore labelled translations that differ from the judged ones."
        ),
    ] = False,
    assume: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Result whose decided verdicts count as labels of the translations that nobody"
                " labelled. For MuCoW, only those without a decided verdict were labelled."
            ),
            rich_help_panel=_ASSUMED,
        ),
    ] = None,
    without_corpus: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "With --assume: corpus from which no labelled sentence was drawn (opensubs in the"
                " paper). May be repeated."
            ),
            rich_help_panel=_ASSUMED,
        ),
    ] = None,
) -> Outcome:
    """Compare results with human labels.

    The figures are shown beside those of Vamvas & Sennrich (2021), Table 2.

    Example: cc-hf compare --by rater tiny.json --labels labels.jsonl
    """
    from cc_hf.comparing.people.agreement import (
        Assumption,
        agreement_with_labels,
        examples_without_corpora,
    )
    from cc_hf.comparing.people.annotations import annotator_agreement
    from cc_hf.reports.tables.human_agreement import (
        AgreementRow,
        agreement_json,
        agreement_notes,
        human_agreement_table,
    )

    if assume is None and without_corpus:
        raise InputError(
            "without_corpus: expected --assume RESULT with it, whose verdicts it leaves out"
        )
    labels_of = _labels(results, labels)
    assumption = None
    if assume is not None:
        decided = _with_inconclusive(assume)
        population = examples_without_corpora(decided, without_corpus) if without_corpus else None
        assumption = Assumption(decided, population)
    rows = []
    for number, path in enumerate(results):
        for judged in _read_results(path):
            given, earlier, assumed = labels_of(number, judged)
            agreement = agreement_with_labels(
                judged,
                given,
                skip_others=skip_others,
                inconclusive=inconclusive,
                assumption=assumption or assumed,
            )
            rows.append(AgreementRow(judged, agreement, annotator_agreement(given), earlier))
    return Outcome(
        agreement_json(rows),
        lambda: [human_agreement_table(rows), *map(Text, agreement_notes(rows))],
    )


def _labels(
    results: list[Path], files: list[Path]
) -> Callable[
    [int, EvaluationResult],
    tuple[list[Annotation], tuple[EarlierAgreement, ...], Assumption | None],
]:
    """Return a function of the number of a file and a result: its labels, the agreement with
    earlier ones, and the verdicts that stand for labels.
    """
    from cc_hf.comparing.people.annotations import earlier_agreement, read_annotations
    from cc_hf.comparing.people.sampling import (
        FORMS,
        annotations_of_system,
        assumption_of_system,
        earlier_agreement_of_system,
        system_of_result,
    )
    from cc_hf.comparing.people.sheets import read_key, read_sheets

    if keys := [file for file in files if file.suffix.lower() == ".json"]:
        sheet_key = read_key(keys[0], FORMS)
        raters = read_sheets([file for file in files if file != keys[0]], sheet_key)

        def of_sheets(
            number: int, judged: EvaluationResult
        ) -> tuple[list[Annotation], tuple[EarlierAgreement, ...], Assumption | None]:
            system = system_of_result(sheet_key, judged)
            return (
                annotations_of_system(sheet_key, raters, system),
                earlier_agreement_of_system(sheet_key, raters, system),
                assumption_of_system(sheet_key, system),
            )

        return of_sheets
    if len(files) not in (1, len(results)):
        raise InputError(
            f"--labels: expected the option once, or once per file of results"
            f" ({len(results)}), got it {len(files)} times"
        )
    read = [(read_annotations(file), earlier_agreement(file)) for file in files]
    return lambda number, judged: (*read[number % len(read)], None)


def _read_results(path: Path) -> tuple[EvaluationResult, ...]:
    from cc_hf.data.files.result_files import read_result_file

    return read_result_file(path).results


def _with_inconclusive(path: Path) -> EvaluationResult:
    """Return the one result of a file that has inconclusive verdicts."""
    results = [
        result
        for result in _read_results(path)
        if any(j.verdict == "inconclusive" for j in result.judgements)
    ]
    if len(results) != 1:
        raise InputError(
            "--assume: expected a file with one result that has inconclusive verdicts, such as one"
            f" by mucow_pattern_matching, got {len(results)} such results in {path}"
        )
    return results[0]
