"""Commands of the study: agreement with people, and data to measure the metric with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.languages import language_pair

if TYPE_CHECKING:
    from cc_hf.reports.report_parts import Piece
    from cc_hf_studies.coverage_errors.human_evaluation import HumanAgreement

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Study omissions and additions: what people say, and data with known errors.",
    no_args_is_help=True,
)
_Predictions = Annotated[
    list[Path],
    typer.Argument(help="Released predictions, .jsonl: rows with predicted spans."),
]
_ANNOTATIONS = "Labels of one annotator for these rows, .jsonl."


def agreement(
    predictions: _Predictions,
    *,
    annotations: Annotated[
        list[Path] | None,
        typer.Option(help=f"{_ANNOTATIONS} May be repeated: labels of all annotators are pooled."),
    ] = None,
    key: Annotated[
        str,
        typer.Option(
            help=(
                "What names a row: pair_and_type, or pair as in the first notebook of the authors,"
                " where the second row of a pair replaces the first."
            )
        ),
    ] = "pair_and_type",
) -> Outcome:
    """Show how many predicted omissions and additions are errors, by people and by MQM.

    With the labels of two annotators, also show how far they agree.

    Example: cc-hf study coverage_errors agreement predicted.jsonl --annotations annotator1.jsonl
    """
    from cc_hf_studies.coverage_errors.human_evaluation import measured, read_judged_rows

    rows = read_judged_rows(predictions, annotated=False)
    labels = {str(path): read_judged_rows([path], annotated=True) for path in annotations or ()}
    result = measured(rows, labels, key=key)
    return Outcome(asdict(result), lambda: _tables(result))


def _tables(result: HumanAgreement) -> Iterable[Piece]:
    from cc_hf.reports.figure_text import with_interval
    from cc_hf.reports.report_parts import ReportTable

    rows = [
        (
            f"{of.split}, {of.side}s, {of.by}",
            f"{of.n:,}",
            f"{of.n_errors:,}",
            with_interval(of.n_errors / of.n, of.interval) if of.n else "",
        )
        for of in result.precisions
    ]
    yield ReportTable.of("", ("errors, by", "n", "errors", "percent (95 %)"), rows)
    for name, (n_labelled, n_used) in result.n_annotated.items():
        yield f"{Path(name).name}: {n_labelled:,} rows with two labels, {n_used:,} used"
    for name, (kappa, interval) in result.kappas.items():
        yield f"{name}: kappa {with_interval(kappa, interval)}, n = {result.n_both:,}"


def build_people(
    predictions: _Predictions,
    *,
    annotations: Annotated[Path, typer.Option(help=_ANNOTATIONS)],
) -> Outcome:
    """Write the rows that a person labelled as data for the metric coverage, with given spans.

    `cc-hf evaluate ROWS --translations ROWS --metric coverage --option spans=given` then measures
    an evaluator against that person.

    Example: cc-hf study coverage_errors build-people predicted.jsonl --annotations annotator1.jsonl
    """
    from cc_hf_studies.coverage_errors.human_evaluation import metric_rows, read_judged_rows

    rows = metric_rows(
        read_judged_rows([annotations], annotated=True),
        read_judged_rows(predictions, annotated=False),
    )
    return _written(rows, {"n_rows": len(rows)})


def build_mqm(
    file: Annotated[
        Path, typer.Argument(help="Marks of MQM, .tsv, of google/wmt-mqm-human-evaluation.")
    ],
    *,
    originals: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Source text of the test set, a segment a line, to leave out segments whose quotes"
                " were doubled."
            )
        ),
    ] = None,
) -> Outcome:
    """Write segments with marks of MQM as data for the metric coverage.

    An omission or addition is one by any rater. What is left out is counted.

    Example: cc-hf study coverage_errors build-mqm mqm.tsv -o rows.jsonl
    """
    from cc_hf_studies.coverage_errors.mqm import mqm_rows

    return _written(*mqm_rows(file, originals=originals))


def build(
    source: Annotated[Path, typer.Argument(help="Sentences, one a line.")],
    *,
    system: Annotated[str, typer.Option(help="Model that translates, by name or path.")],
    languages: Annotated[
        str, typer.Option("--language-pair", "-l", help="Languages, such as en-de.")
    ],
    probability: Annotated[
        float, typer.Option(help="How likely a part of a sentence is to be cut out.")
    ] = 0.15,
    spans: Annotated[
        str, typer.Option(help="Parts that may be cut out: chunks, stanza or spacy.")
    ] = "chunks",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    progress: bool = False,
) -> Outcome:
    """Make translations with known omissions and additions from your own sentences.

    The system translates each sentence and the same one without some parts. Pairs of which one
    translation only lacks words of the other are kept. An evaluator that is tried on them should
    not be the same system, which finds its own errors too easily.

    Example: cc-hf study coverage_errors build train.en --system cc-tiny-en-de -l en-de
    """
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.plugins.omissions.coverage.parsers import parts_of
    from cc_hf.reading import read_lines
    from cc_hf.systems.translate import translate
    from cc_hf_studies.coverage_errors.synthetic import synthetic_rows

    src_lang, tgt_lang = language_pair(languages)

    def translated(texts: Sequence[str]) -> Sequence[str]:
        return translate(
            texts,
            system,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            loading=LoadingOptions(),
            progress=progress,
        )

    sentences = [line for line in read_lines(source) if line.strip()]
    made = synthetic_rows(
        sentences,
        lambda text: parts_of(text, src_lang, spans),
        translated,
        probability=probability,
        seed=seed,
    )
    return _written(made.rows, made.counts)


def _written(rows: Sequence[dict[str, Any]], counts: dict[str, int]) -> Outcome:
    return Outcome(
        counts,
        lambda: [", ".join(f"{name.removeprefix('n_')}: {n:,}" for name, n in counts.items())],
        text="".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows),
        about=f", {len(rows):,} rows",
    )


add_command(app, "agreement", agreement)
add_command(app, "build", build)
add_command(app, "build-mqm", build_mqm)
add_command(app, "build-people", build_people)
