"""A small corpus and lexicon that several tests use."""

from __future__ import annotations

from pathlib import Path

from cc_hf.data.corpora.parallel import FileCorpus, file_corpus
from cc_hf.studies.disambiguation_bias.homographs import HomographLexicon, SenseCluster

LEXICON = HomographLexicon(
    "en",
    "de",
    "0123456789abcdef",
    {
        "bat": {
            "1": SenseCluster(("Schläger", "Schlägern"), ambiguous=("Keule",)),
            "2": SenseCluster(("Fledermaus", "Fledermäuse")),
        },
        "spring": {
            "1": SenseCluster(("Frühling",)),
            "2": SenseCluster(("Feder",), blacklisted=("Springen",)),
        },
    },
)
SENTENCES = [
    ("The bat hit the ball.", "Der Schläger traf den Ball."),
    ("The bat flies at night.", "Die Fledermaus fliegt in der Nacht."),
    ("In spring the bats sleep.", "Im Frühling die Fledermäuse schlafen."),
    ("The house is old.", "Das Haus ist alt."),
    ("A spring broke in the old watch.", "Eine Feder brach in der alten Uhr."),
    ("He swung a bat.", "Er schwang eine Keule."),
    ("He swung a bat.", "Er schwang etwas."),
]


def write_corpus(folder: Path, repeats: int = 1, block_pairs: int = 100) -> FileCorpus:
    """Write the sentences to two files; return their corpus."""
    paths = [folder / "a.en", folder / "a.de"]
    for side, path in enumerate(paths):
        lines = [pair[side] for pair in SENTENCES] * repeats
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file_corpus(*paths, block_pairs=block_pairs)
