"""Commands of the study: disambiguation bias of words and sentences, challenge sets, attacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import CommandGroup, NewFile, Outcome, OutputFile, add_command
from cc_hf.errors import InputError
from cc_hf_studies.common.published_command import add_published
from cc_hf_studies.disambiguation_bias.attacks.commands import app as attacks
from cc_hf_studies.disambiguation_bias.challenge_commands import build_challenge, correlate
from cc_hf_studies.disambiguation_bias.command_options import (
    AttractorFile,
    LexiconFields,
    LexiconOptions,
    Log,
    Smoothing,
)
from cc_hf_studies.disambiguation_bias.lexicon_commands import build_lexicon
from cc_hf_studies.disambiguation_bias.model_commands import compare_models
from cc_hf_studies.disambiguation_bias.tag_commands import count_corpus, tag

if TYPE_CHECKING:
    from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
    from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Measure which words pull a homograph towards which sense.",
    no_args_is_help=True,
)


def attractors(
    pairs: Annotated[
        Path,
        typer.Argument(
            help=(
                "Pairs that `cc-hf study disambiguation_bias tag` wrote (.jsonl), or a table that"
                " this command wrote (.json)."
            )
        ),
    ],
    *,
    lexicon: Annotated[LexiconOptions, LexiconFields],
    stop_words: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Words that are not counted: a file with one per line, or a JSON list; or snowball,"
                " the list of the Snowball project for the language of the homographs. Default:"
                " none."
            ),
        ),
    ] = None,
    homographs: Annotated[
        list[str] | None,
        typer.Option("--homograph", help="Homograph to show. May be repeated. Default: all."),
    ] = None,
    association: Annotated[
        str, typer.Option(help="Strength by which attractors are ranked: freq, ppmi or pmi.")
    ] = "freq",
    smoothing: Smoothing = 0.0,
    log: Log = True,
    top: Annotated[int, typer.Option(min=1, help="Number of attractors of each sense.")] = 3,
    min_count: Annotated[
        int, typer.Option(min=1, help="Show only attractors that occur so often with the sense.")
    ] = 1,
    table: Annotated[
        Path | None,
        typer.Option(help="Write the table of all counts to this .json, for other commands."),
        OutputFile((".json",)),
    ] = None,
) -> Outcome:
    """Count the words that go with each sense, and show the strongest.

    With --stop-words snowball the figures correspond to Emelin (2023), Table 3.4; FREQ and PPMI to
    equations 3.1 and 3.2. The released program smooths by 100, which makes PPMI of a small corpus
    nearly 0.

    Example: cc-hf study disambiguation_bias attractors pairs.jsonl --table table.json
    """
    from cc_hf_studies.disambiguation_bias.tables import attractors_table

    senses = lexicon.read()
    counts = _table(pairs, senses, stop_words)
    names = homographs or [
        homograph for homograph, numbers in counts.n_pairs.items() if any(numbers.values())
    ]
    strongest = {
        homograph: {
            cluster: words
            for cluster, words in counts.strongest(
                homograph,
                n=top,
                association=association,
                smoothing=smoothing,
                log=log,
                min_count=min_count,
            ).items()
            if homographs or counts.n_pairs[homograph].get(cluster)
        }
        for homograph in names
    }
    signature = counts.signature(associations=(association,), smoothing=smoothing, log=log)
    words = {
        homograph: {cluster: entry.senses for cluster, entry in clusters.items()}
        for homograph, clusters in senses.homographs.items()
    }
    return Outcome(
        {
            "signature": signature,
            "n_pairs": {homograph: counts.n_pairs[homograph] for homograph in names},
            "strongest": strongest,
        },
        lambda: [
            attractors_table(
                counts, strongest, senses=words, title=f"attractors by {association}: {pairs}"
            ),
            f"signature: {signature}",
        ],
        files=[NewFile(table, counts.to_json())],
    )


def _table(path: Path, lexicon: HomographLexicon, stop_words: str | None) -> AttractorTable:
    """Return the table in a file, or count the attractors of the pairs in it."""
    from cc_hf_studies.disambiguation_bias.attractors import (
        published_stop_words,
        read_stop_words,
        read_table,
    )
    from cc_hf_studies.disambiguation_bias.tagging_summary import count_file

    if path.suffix.lower() != ".json":
        if stop_words == "snowball":
            stops = published_stop_words(lexicon.src_lang)
        else:
            stops = read_stop_words(stop_words) if stop_words else ()
        return count_file(path, lexicon, stop_words=stops)
    if stop_words is not None:
        raise InputError(
            f"stop_words: expected pairs (.jsonl) with stop words, got the table {path}, whose"
            " words are counted already"
        )
    return read_table(path)


def score(
    table: AttractorFile,
    pairs: Annotated[
        Path,
        typer.Argument(
            help="Pairs to score: a .jsonl file as `cc-hf study disambiguation_bias tag` writes it."
        ),
    ],
    *,
    association: Annotated[
        list[str] | None,
        typer.Option(
            help="Association: freq, ppmi or pmi. May be repeated. Default: freq and ppmi."
        ),
    ] = None,
    smoothing: Smoothing = 0.0,
    log: Log = True,
    top: Annotated[int, typer.Option(min=0, help="Number of sentences to show.")] = 5,
    rows: Annotated[
        Path | None,
        typer.Option(help="Write each pair with its bias to this .jsonl file."),
        OutputFile(),
    ] = None,
) -> Outcome:
    """Compute the bias of sentences towards the right and the strongest wrong sense.

    The figures correspond to Emelin (2023), equation 3.3.

    Example: cc-hf study disambiguation_bias score table.json pairs.jsonl
    """
    from cc_hf_studies.disambiguation_bias.attractors import read_table
    from cc_hf_studies.disambiguation_bias.sentences import BiasColumns, score_file
    from cc_hf_studies.disambiguation_bias.tables import bias_table

    associations = tuple(dict.fromkeys(association or ("freq", "ppmi")))
    counts = read_table(table)
    means, strongest = score_file(
        pairs, BiasColumns(counts, associations, smoothing, log), output=rows, top=top
    )
    signature = counts.signature(associations=associations, smoothing=smoothing, log=log)
    return Outcome(
        {"signature": signature, "means": means, "largest": strongest},
        lambda: [
            *bias_table(means, strongest, title=f"bias of sentences: {pairs}"),
            f"signature: {signature}",
        ],
        files=[NewFile(rows, None)],
    )


add_command(app, "build-lexicon", build_lexicon)
add_command(app, "count-corpus", count_corpus)
add_command(app, "tag", tag)
add_command(app, "attractors", attractors)
add_command(app, "score", score)
add_command(app, "correlate", correlate)
add_command(app, "build-challenge", build_challenge)
add_command(app, "compare-models", compare_models)
add_published(app, "disambiguation_bias", "--table 3.7", Path(__file__).parent)
app.add_typer(attacks, name="attack")
