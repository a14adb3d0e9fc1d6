"""Commands of the study: sentences with the largest gaps, counts of words, and raters."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup
from cc_hf.cli.options import AsJson, DataDir, FiguresOutput, OneMetric, Split
from cc_hf.cli.output import check_output, json_text, print_result
from cc_hf.errors import InputError
from cc_hf.studies.mt_geneval.rater_commands import gender_ratings, rater_sheets

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Study gaps, gendered words and ratings of MT-GenEval.",
    no_args_is_help=True,
)
app.command("rater-sheets")(rater_sheets)
app.command("gender-ratings")(gender_ratings)


@app.command("sentence-gaps")
def sentence_gaps(
    result: Annotated[
        Path,
        typer.Argument(
            help=(
                "JSON file that `cc-hf evaluate mt_geneval counterfactual_* --output` wrote, by a"
                " metric that judges single translations, such as gender_accuracy."
            )
        ),
    ],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of pairs of each kind.")] = 50,
    score: Annotated[
        str, typer.Option(help="Score of a sentence, by sacreBLEU: bleu or chrf.")
    ] = "bleu",
    metric: OneMetric = None,
    split: Split = "test",
    data_dir: DataDir = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """List the sentences with the largest and the smallest quality gap between genders.

    The figures correspond to Currey et al. (2022), section 5.2, who read 50 of each.
    """
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.data.loading import load_examples
    from cc_hf.reports.figure_text import data_name
    from cc_hf.studies.mt_geneval import sentence_gaps as study
    from cc_hf.studies.mt_geneval.tables import sentence_gap_tables

    check_output(output)
    results = [
        judged
        for judged in read_result_file(result).results
        if judged.judgements and metric in (None, judged.metric)
    ]
    if not results:
        raise InputError(
            f"result: {result}: expected a result with judgements"
            + (f" by {metric}" if metric else ", such as one by gender_accuracy")
            + ", got none"
        )
    judged = results[0]
    if judged.dataset != "mt_geneval":
        raise InputError(
            f"result: expected one on counterfactual_* of mt_geneval, got one on"
            f" {judged.dataset or 'your own data'}"
        )
    examples = load_examples(
        judged.declared or judged.dataset, judged.config, split=split, data_dir=data_dir
    )
    gaps = study.sentence_gaps(judged, examples, n=n, score=score)
    title = ", ".join(name for name in (data_name(judged), judged.system) if name)
    print_result(
        as_json,
        json_text(asdict(gaps)),
        lambda: [sentence_gap_tables(gaps, title=title)],
        output=output,
    )


@app.command("gendered-words")
def gendered_words(
    langs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Target languages as ISO 639-1 codes. Default: those of the paper's table."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of MT-GenEval: dev or test.")] = "dev",
    data_dir: DataDir = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Count distinct words and gendered phrases of MT-GenEval's counterfactual sentences.

    The counts correspond to Currey et al. (2022), Table 12, and are shown beside the printed ones.
    """
    from cc_hf.data.loading import load_examples
    from cc_hf.studies.mt_geneval.counts import PUBLISHED_COUNTS, count_data
    from cc_hf.studies.mt_geneval.tables import counts_json, counts_table

    check_output(output)
    counts = {
        lang: count_data(
            load_examples("mt_geneval", f"counterfactual_{lang}", split=split, data_dir=data_dir)
        )
        for lang in langs or PUBLISHED_COUNTS
    }
    print_result(
        as_json,
        json_text(counts_json(counts, split=split)),
        lambda: [counts_table(counts, split=split)],
        output=output,
    )
