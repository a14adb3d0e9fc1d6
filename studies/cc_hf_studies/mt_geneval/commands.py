"""Commands of the study: sentences with the largest gaps, counts of words, and raters."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.cli.options import DataFields, OneMetric
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf_studies.common.published_command import add_published
from cc_hf_studies.mt_geneval.construction_commands import build, context_pairs, self_training
from cc_hf_studies.mt_geneval.rater_commands import build_sheets, gender_ratings

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Study gaps, gendered words and ratings of MT-GenEval.",
    no_args_is_help=True,
)
_DATA = replace(DataFields, names="data_dir", rare="split")


def sentence_gaps(
    result: Annotated[
        Path,
        typer.Argument(
            help=(
                "Result of `cc-hf evaluate mt_geneval counterfactual_* --output`, by a metric that"
                " judges single translations, such as gender_accuracy."
            )
        ),
    ],
    *,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of pairs of each kind.")] = 50,
    score: Annotated[
        str, typer.Option(help="Score of a sentence, by sacreBLEU: bleu or chrf.")
    ] = "bleu",
    metric: OneMetric = None,
    data: Annotated[DataOptions, _DATA],
) -> Outcome:
    """List the sentences with the largest and the smallest quality gap between genders.

    The figures correspond to Currey et al. (2022), section 5.2, who read 50 of each.

    Example: cc-hf study mt_geneval sentence-gaps result.json
    """
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.data.loading import load_examples
    from cc_hf.reports.figure_text import data_name
    from cc_hf_studies.mt_geneval import sentence_gaps as study
    from cc_hf_studies.mt_geneval.tables import sentence_gap_tables

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
        judged.declared or judged.dataset,
        judged.config,
        split=data.split,
        data_dir=data.data_dir,
    )
    gaps = study.sentence_gaps(judged, examples, n=n, score=score)
    title = ", ".join(name for name in (data_name(judged), judged.system) if name)
    return Outcome(asdict(gaps), lambda: sentence_gap_tables(gaps, title=title))


def gendered_words(
    langs: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                "Target languages as ISO 639-1 codes, or MuST-SHE's files (.tsv) of your own."
                " Default: the languages of the paper's table."
            )
        ),
    ] = None,
    *,
    data: Annotated[
        DataOptions, replace(DataFields, names="data_dir split", rare="", defaults={"split": "dev"})
    ],
) -> Outcome:
    """Count distinct words and gendered phrases of MT-GenEval's counterfactual sentences.

    The counts correspond to Currey et al. (2022), Table 12, and are shown beside the printed ones.
    Without languages, WinoMT is counted, too.

    Example: cc-hf study mt_geneval gendered-words de
    """
    from cc_hf.data.loading import load_examples
    from cc_hf_studies.mt_geneval.counts import (
        DataCounts,
        count_data,
        count_must_she,
        count_winomt,
    )
    from cc_hf_studies.mt_geneval.published import printed_counts
    from cc_hf_studies.mt_geneval.tables import NO_TARGET, counts_json, counts_table

    counts: dict[str, DataCounts] = {}
    for lang in langs or printed_counts():
        if lang.endswith(".tsv"):
            counts |= count_must_she(Path(lang))
            continue
        config = f"counterfactual_{lang}"
        counts[lang] = count_data(
            load_examples("mt_geneval", config, split=data.split, data_dir=data.data_dir)
        )
    if not langs:
        counts[NO_TARGET] = count_winomt(load_examples("winomt", "all", data_dir=data.data_dir))
    return Outcome(
        counts_json(counts, split=data.split), lambda: counts_table(counts, split=data.split)
    )


add_command(app, "build", build)
add_command(app, "context-pairs", context_pairs)
add_command(app, "self-training", self_training)
add_command(app, "build-sheets", build_sheets)
add_command(app, "gender-ratings", gender_ratings)
add_command(app, "sentence-gaps", sentence_gaps)
add_command(app, "gendered-words", gendered_words)
add_published(app, "mt_geneval", "--table 8", Path(__file__).parent)
