"""The command `build-lexicon` of the study: homographs whose senses have names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.fields import Fields
from cc_hf.writing import json_text
from cc_hf_studies.disambiguation_bias.command_options import LexiconOptions

__all__ = ["build_lexicon"]


def build_lexicon(
    *,
    senses: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write the lexicon to this .json, for --lexicon."),
        OutputFile((".json",)),
    ],
    languages: Annotated[
        LexiconOptions,
        Fields("language_pair", "Lexicon", rare="data_dir", defaults={"language_pair": "en-de"}),
    ],
    senses_of: Annotated[
        str,
        typer.Option(
            help=(
                "Where the senses come from: mucow, for nine language pairs, or emelin-2020, the"
                " published English-German lexicon with names in place of numbers."
            )
        ),
    ] = "mucow",
) -> Outcome:
    """Build a lexicon of homographs whose senses have names, for the other commands.

    The table shows senses as Emelin (2023), Table 3.3, does.

    Example: cc-hf study disambiguation_bias build-lexicon --language-pair de-en --senses german.json
    """  # noqa: E501
    from cc_hf_studies.disambiguation_bias.lexicons import lexicon_json, named_lexicon
    from cc_hf_studies.disambiguation_bias.tables import lexicon_table

    pair = "-".join(languages.languages)
    lexicon = named_lexicon(pair, senses_of=senses_of, data_dir=languages.data_dir)
    n_senses = sum(map(len, lexicon.values()))
    return Outcome(
        {"language_pair": pair, "n_homographs": len(lexicon), "n_senses": n_senses},
        lambda: [lexicon_table(lexicon, title=f"{pair}: homographs and senses of {senses_of}")],
        files=[
            NewFile(
                senses,
                json_text(lexicon_json(lexicon)),
                f" ({len(lexicon)} homographs, {n_senses} senses)",
            )
        ],
    )
