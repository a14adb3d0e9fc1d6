"""Commands of the study: disambiguation bias of words and sentences, challenge sets, attacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.command import CommandGroup
from cc_hf.cli.options import AsJson, DataDir, FiguresOutput
from cc_hf.cli.output import check_output, json_text, print_result, say_written, write_atomically
from cc_hf.errors import InputError
from cc_hf.studies.disambiguation_bias.attacks.commands import app as attacks
from cc_hf.studies.disambiguation_bias.challenge_commands import challenge, correlate
from cc_hf.studies.disambiguation_bias.model_commands import compare_models
from cc_hf.studies.disambiguation_bias.tag_commands import (
    Homographs,
    Lexicon,
    LexiconTgtLang,
    SrcLang,
    tag,
)

if TYPE_CHECKING:
    from cc_hf.studies.disambiguation_bias.attractors import AttractorTable
    from cc_hf.studies.disambiguation_bias.homographs import HomographLexicon

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Measure which words pull a homograph towards which sense.",
    no_args_is_help=True,
)
app.command("tag")(tag)

_Smoothing = Annotated[
    float,
    typer.Option(
        min=0,
        help=(
            "Added to every count before PPMI is computed. The released program adds 100, which"
            " makes PPMI of a small corpus nearly 0."
        ),
    ),
]
_Log = Annotated[
    bool,
    typer.Option(
        "--log/--no-log",
        help="PPMI with the logarithm to base 2, or the ratio without it as the thesis prints it.",
    ),
]
_StopWords = Annotated[
    Path | None,
    typer.Option(
        help="File of words that are not counted: one per line, or a JSON list. Default: none."
    ),
]


@app.command("attractors")
def attractors(
    pairs: Annotated[
        Path,
        typer.Argument(
            help=(
                "Pairs that `cc-hf study disambiguation_bias tag` wrote (.jsonl), or a table that"
                " this command wrote"
                " (.json)."
            )
        ),
    ],
    lexicon: Lexicon = None,
    src_lang: SrcLang = "en",
    tgt_lang: LexiconTgtLang = "de",
    stop_words: _StopWords = None,
    homographs: Homographs = None,
    association: Annotated[
        str, typer.Option(help="Strength by which attractors are ranked: freq, ppmi or pmi.")
    ] = "freq",
    smoothing: _Smoothing = 0.0,
    log: _Log = True,
    top: Annotated[int, typer.Option(min=1, help="Number of attractors of each sense.")] = 3,
    min_count: Annotated[
        int, typer.Option(min=1, help="Show only attractors that occur so often with the sense.")
    ] = 1,
    data_dir: DataDir = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table of all counts to this JSON file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the words that go with each sense, and show the strongest.

    The table corresponds to Emelin (2023), Table 3.4; FREQ and PPMI to equations 3.1 and 3.2.
    """
    from cc_hf.studies.disambiguation_bias.homographs import read_lexicon
    from cc_hf.studies.disambiguation_bias.tables import attractors_table

    check_output(output)
    senses = read_lexicon(lexicon, data_dir=data_dir, src_lang=src_lang, tgt_lang=tgt_lang)
    table = _table(pairs, senses, stop_words)
    if output is not None:
        write_atomically(output, table.to_json())
    names = homographs or [
        homograph for homograph, numbers in table.n_pairs.items() if any(numbers.values())
    ]
    strongest = {
        homograph: {
            cluster: words
            for cluster, words in table.strongest(
                homograph,
                n=top,
                association=association,
                smoothing=smoothing,
                log=log,
                min_count=min_count,
            ).items()
            if homographs or table.n_pairs[homograph].get(cluster)
        }
        for homograph in names
    }
    signature = table.signature(associations=(association,), smoothing=smoothing, log=log)
    figures = {
        "signature": signature,
        "n_pairs": {homograph: table.n_pairs[homograph] for homograph in names},
        "strongest": strongest,
    }
    words = {
        homograph: {cluster: entry.senses for cluster, entry in clusters.items()}
        for homograph, clusters in senses.homographs.items()
    }
    print_result(
        as_json,
        json_text(figures),
        lambda: [
            attractors_table(
                table, strongest, senses=words, title=f"attractors by {association}: {pairs}"
            ),
            Text(f"signature: {signature}"),
        ],
        output=None,
    )
    say_written(output)


def _table(path: Path, lexicon: HomographLexicon, stop_words: Path | None) -> AttractorTable:
    """Return the table in a file, or count the attractors of the pairs in it."""
    from cc_hf.studies.disambiguation_bias.attractors import read_stop_words, read_table
    from cc_hf.studies.disambiguation_bias.tagging_summary import count_file

    if path.suffix.lower() != ".json":
        stops = read_stop_words(stop_words) if stop_words else ()
        return count_file(path, lexicon, stop_words=stops)
    if stop_words is not None:
        raise InputError(
            f"stop_words: expected pairs (.jsonl) with stop words, got the table {path}, whose"
            " words are counted already"
        )
    return read_table(path)


@app.command("score")
def score(
    table: Annotated[
        Path,
        typer.Argument(
            help="Table that `cc-hf study disambiguation_bias attractors --output` wrote."
        ),
    ],
    pairs: Annotated[
        Path,
        typer.Argument(
            help="Pairs to score: a .jsonl file as `cc-hf study disambiguation_bias tag` writes it."
        ),
    ],
    association: Annotated[
        list[str] | None,
        typer.Option(
            help="Association: freq, ppmi or pmi. May be repeated. Default: freq and ppmi."
        ),
    ] = None,
    smoothing: _Smoothing = 0.0,
    log: _Log = True,
    top: Annotated[int, typer.Option(min=0, help="Number of sentences to show.")] = 5,
    rows: Annotated[
        Path | None,
        typer.Option(help="Write each pair with its bias to this .jsonl file."),
    ] = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
) -> None:
    """Compute the bias of sentences towards the right and the strongest wrong sense.

    The figures correspond to Emelin (2023), equation 3.3.
    """
    from cc_hf.studies.disambiguation_bias.attractors import read_table
    from cc_hf.studies.disambiguation_bias.sentences import BiasColumns, score_file
    from cc_hf.studies.disambiguation_bias.tables import bias_table

    for name, path in {"output": output, "rows": rows}.items():
        check_output(path, name)
    associations = tuple(dict.fromkeys(association or ("freq", "ppmi")))
    counts = read_table(table)
    means, strongest = score_file(
        pairs, BiasColumns(counts, associations, smoothing, log), output=rows, top=top
    )
    signature = counts.signature(associations=associations, smoothing=smoothing, log=log)
    print_result(
        as_json,
        json_text({"signature": signature, "means": means, "largest": strongest}),
        lambda: [
            bias_table(means, strongest, title=f"bias of sentences: {pairs}"),
            Text(f"signature: {signature}"),
        ],
        output=output,
    )
    say_written(rows)


app.command("correlate")(correlate)
app.command("challenge")(challenge)
app.command("compare-models")(compare_models)
app.add_typer(attacks, name="attack")
