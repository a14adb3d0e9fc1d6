"""Commands that make data: sentences in the manner of MT-GenEval, and training pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.options import DataDir, OneMetric

__all__ = ["build", "context_pairs", "self_training"]

_Sources = Annotated[
    Path,
    typer.Option("--sources", metavar="FILE", help="File of sources to write."),
    OutputFile(),
]
_Targets = Annotated[
    Path,
    typer.Option("--targets", metavar="FILE", help="File of their translations to write."),
    OutputFile(),
]


def build(
    text: Annotated[
        Path,
        typer.Argument(
            help="English text, a sentence a line; blank lines separate documents.",
        ),
    ],
    *,
    contextual: Annotated[
        bool,
        typer.Option(
            "--contextual",
            help=(
                "Look for sentences that name a profession and no gender after sentences that show"
                " it, in place of sentences with a counterfactual."
            ),
        ),
    ] = False,
    names: Annotated[
        Path | None,
        typer.Option(
            help=(
                "First names, one per line; sentences with one are left out. Default: sentences"
                " with any capitalised word that could be a name are left out."
            )
        ),
    ] = None,
    professions: Annotated[
        Path | None,
        typer.Option(
            help=(
                "With --contextual: table with the columns profession and stereotype (female, male"
                " or neutral)."
            )
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            min=1,
            help="With --contextual: number of sentences of each sub-category. Default: all.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="With --n: seed of the draw.")] = 0,
) -> Outcome:
    """Make sentences in the manner of MT-GenEval from your own English text.

    The paper (Currey et al. 2022, section 2) has people check and rewrite each sentence. Here rules
    do, so the rows must be read before they are used. `cc-hf evaluate` reads the file of --output.

    Example: cc-hf study mt_geneval build train.en -o rows.jsonl
    """
    from cc_hf.reading import read_lines
    from cc_hf_studies.mt_geneval import construction

    chosen_names = None if names is None else [w for w in read_lines(names) if w]
    texts = list(construction.documents(text))
    if contextual:
        made = construction.contextual_rows(
            texts, construction.professions(professions), names=chosen_names, n=n, seed=seed
        )
    else:
        sentences = [sentence for document in texts for sentence in document]
        made = construction.counterfactual_rows(sentences, names=chosen_names)
    rows = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in made.rows)
    return Outcome(
        dict(made.counts),
        lambda: [
            ", ".join(f"{name.removeprefix('n_')}: {n:,}" for name, n in made.counts.items()),
            "made by rules: read the rows before you use them",
        ],
        text=rows,
    )


def context_pairs(
    source: Annotated[Path, typer.Argument(help="Sentences; blank lines separate documents.")],
    target: Annotated[Path, typer.Argument(help="Their translations, line by line.")],
    *,
    sources: _Sources,
    targets: _Targets,
    separator: Annotated[str, typer.Option(help="What stands between two sentences.")] = "<sep>",
) -> Outcome:
    """Write each sentence pair after the pair before it, to train a system that reads context.

    The format is "2+2" of Currey et al. (2022), section 5.3. Train on the plain pairs as well.

    Example: cc-hf study mt_geneval context-pairs train.en train.de --sources c.en --targets c.de
    """
    from cc_hf_studies.mt_geneval.construction import documents
    from cc_hf_studies.mt_geneval.training_pairs import contextual_pairs

    pairs = list(contextual_pairs(documents(source), documents(target), separator=separator))
    return _written(pairs, sources, targets)


def self_training(
    result: Annotated[Path, typer.Argument(help="Result of `cc-hf evaluate DATA --output`.")],
    *,
    dataset: Annotated[
        str | None, typer.Option(help="What was judged, for results on a file of your own.")
    ] = None,
    sources: _Sources,
    targets: _Targets,
    metric: OneMetric = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Decides which pairs of a frequent gender are left out.")
    ] = 0,
    data_dir: DataDir = None,
) -> Outcome:
    """Keep a system's translations that are judged correct, as many of each gender.

    They are training pairs for gender-filtered self-training (Currey et al. 2022, section 5.3), of
    a judge of your choice in place of the paper's lists of words.

    Example: cc-hf study mt_geneval self-training r.json --sources s.en --targets s.de
    """
    from cc_hf.reports.inputs import read_examples
    from cc_hf_studies.common.one_result import read_result
    from cc_hf_studies.mt_geneval.training_pairs import self_training_pairs

    judged = read_result(result, metric=metric)
    examples, _ = read_examples(judged, dataset=dataset, data_dir=data_dir)
    return _written(self_training_pairs(judged, examples or (), seed=seed), sources, targets)


def _written(pairs: list[tuple[str, str]], sources: Path, targets: Path) -> Outcome:
    files = [
        NewFile(path, "".join(f"{pair[side]}\n" for pair in pairs))
        for side, path in enumerate((sources, targets))
    ]
    return Outcome({"n_pairs": len(pairs)}, lambda: [f"{len(pairs):,} pairs"], files=files)
