"""What the names of submitted files say."""

from pathlib import PurePath

from cc_hf.plugins.campaign.file_names import read_name
from tests.helpers.usual import cases, refuses

KNOWN = ("en-de", "en-es", "en-pt")


def named(path: str) -> tuple[str, str, str]:
    """Return pair, system and folder."""
    return read_name(PurePath(path), KNOWN.__contains__, ["suite"])


@cases(
    ("newstest2017.xmu.4910.en-de", "en-de", "xmu", ""),
    ("suite.uedin-nmt.5075.en-de", "en-de", "uedin-nmt", ""),
    ("other.xmu.4910.en-de", "en-de", "xmu", ""),
    ("generaltest2024.en-es.hyp.Claude-3.5.es", "en-es", "Claude-3.5", ""),
    ("wmttest2022.en-de.hyp.Online-A.de.txt", "en-de", "Online-A", ""),
    ("en-de.SYSTEM.txt", "en-de", "SYSTEM", ""),
    ("SYSTEM.en-pt_BR.jsonl", "en-pt", "SYSTEM", ""),
    ("EN-DE.SYSTEM.txt", "en-de", "SYSTEM", ""),
    ("opus-mt-en-de.txt", "en-de", "opus-mt", ""),
    ("nllb_en-es.tsv", "en-es", "nllb", ""),
    ("en-es/GPT-4.txt", "en-es", "GPT-4", ""),
    ("en-es/Claude-3.5.txt", "en-es", "Claude-3.5", ""),
    ("aws/en-de.txt", "en-de", "", "aws"),
    ("translation-en-pt-t5/en-pt.txt", "en-pt", "", "translation-en-pt-t5"),
    ("wmt24_en-es/system.txt", "en-es", "system", "wmt24_en-es"),
    ("en-fi.SYSTEM.txt", "en-fi", "SYSTEM", ""),
    ("README.md", "", "README.md", ""),
)
def test_pair_and_system_are_read(path: str, pair: str, system: str, folder: str) -> None:
    assert named(path) == (pair, system, folder)


@cases(
    ("en-xx.SYSTEM.txt", "got 'en-xx', in which 'xx' is no code of a language"),
    ("en-es/SYSTEM.en-de.txt", "got en-de in the name and en-es in that of the folder"),
    ("newstest2017.en-de.src.en", "got a source or a reference"),
    ("wmttest2022.en-de.refA.de", "got a source or a reference"),
)
def test_names_that_do_not_fit_are_refused(path: str, words: str) -> None:
    refuses(words, named, path)
