"""A small corpus and lexicon that several tests use."""

import json
from pathlib import Path

import datasets
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, SenseCluster

from cc_hf.data.corpora.parallel import FileCorpus, file_corpus
from tests.helpers.lines import write_lines

_BAT = {"1": SenseCluster(("Schläger", "Schlägern"), ambiguous=("Keule",))}
_BAT["2"] = SenseCluster(("Fledermaus", "Fledermäuse"))
_SPRING = {"1": SenseCluster(("Frühling",)), "2": SenseCluster(("Feder",), (), ("Springen",))}
LEXICON = HomographLexicon("en", "de", "0123456789abcdef", {"bat": _BAT, "spring": _SPRING})
SENTENCES = [
    ("The bat hit the ball.", "Der Schläger traf den Ball."),
    ("The bat flies at night.", "Die Fledermaus fliegt in der Nacht."),
    ("In spring the bats sleep.", "Im Frühling die Fledermäuse schlafen."),
    ("The house is old.", "Das Haus ist alt."),
    ("A spring broke in the old watch.", "Eine Feder brach in der alten Uhr."),
    ("He swung a bat.", "Er schwang eine Keule."),
    ("He swung a bat.", "Er schwang etwas."),
]


def lexicon_of(**homographs: dict[str, str]) -> HomographLexicon:
    """Return a lexicon from homograph -> cluster -> words of this sense, divided by spaces."""
    clusters: dict[str, dict[str, SenseCluster]] = {}
    for homograph, senses in homographs.items():
        clusters[homograph] = {n: SenseCluster(tuple(words.split())) for n, words in senses.items()}
    return HomographLexicon("en", "de", "a" * 64, clusters)


def write_lexicon(folder: Path) -> Path:
    """Write the senses of LEXICON into a file."""
    known = LEXICON.homographs.items()
    senses = {word: {n: cluster.senses for n, cluster in of.items()} for word, of in known}
    return write_lines(folder / "lexicon.json", [json.dumps(senses)])


def write_corpus(folder: Path, repeats: int = 1, block_pairs: int = 100) -> FileCorpus:
    """Write the sentences to two files; return their corpus."""
    sources, targets = zip(*SENTENCES * repeats, strict=True)
    paths = write_lines(folder / "a.en", sources), write_lines(folder / "a.de", targets)
    return file_corpus(*paths, block_pairs=block_pairs)


def dataset_of(repeats: int = 1) -> datasets.Dataset:
    """Return the sentences as a dataset with a column for each language."""
    return datasets.Dataset.from_list([{"en": a, "de": b} for a, b in SENTENCES * repeats])
