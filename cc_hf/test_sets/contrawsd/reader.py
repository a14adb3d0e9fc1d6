"""ContraWSD (Rios et al. 2017): German sentences with an ambiguous word, a reference, and variants
of the reference with translations of its other senses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.files.contrastive_json import EXTRA_KEYS, read_contrastive_json
from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveTranslationExample

__all__ = ["DECLARATION", "frequency_class", "read_contrawsd"]

_REPOSITORY, _COMMIT = "a-rios/ContraWSD", "7b19238642ff55da3f8b0a181789af74c8360c69"
_PATH = "{}.final.json"
_FREQUENCY = {
    "de-en": "frequency of sense/ambig word in wmt16",
    "de-fr": "frequency of sense/ambig word in europarl-v7 and nc11",
}
#: Name and exclusive lower bound of each class in upstream's evaluate.py.
_CLASSES = (
    (">10k", 10_000),
    (">5k", 5_000),
    (">2k", 2_000),
    (">1k", 1_000),
    (">500", 500),
    (">200", 200),
    (">100", 100),
    (">50", 50),
    (">20", 20),
    ("0-20", -1),
)


def read_contrawsd(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[ContrastiveTranslationExample]:
    """Yield all items in file order; ids are 0-based positions in the list."""
    src_lang, _, tgt_lang = config.partition("-")
    yield from read_contrastive_json(
        paths[_PATH.format(config)],
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        category=_FREQUENCY[config],
        to_category=frequency_class,
        more={"frequency": _FREQUENCY[config], "sentence_number": "sentence number"},
    )


def frequency_class(frequency: str) -> str:
    """Return the class of how often a word has a sense in the training data, as evaluate.py names
    it.

    Examples:
        >>> frequency_class("21/345"), frequency_class("20/345"), frequency_class("10001/20000")
        ('>20', '0-20', '>10k')
    """
    counts = re.fullmatch(r"\s*([0-9]+)\s*/\s*[0-9]+\s*", frequency)
    if counts is None:
        raise InputError(f"expected two numbers such as 12/345, got {frequency!r}")
    return next(name for name, bound in _CLASSES if int(counts.group(1)) > bound)


def _config(pair: str, description: str) -> ConfigDeclaration:
    src_lang, _, tgt_lang = pair.partition("-")
    file = SourceFile(_REPOSITORY, _COMMIT, _PATH.format(pair))
    return ConfigDeclaration(
        pair,
        description,
        (tgt_lang,),
        {"test": None},
        (file,),
        ContrastiveTranslationExample,
        src_lang,
    )


DECLARATION = DatasetDeclaration(
    name="contrawsd",
    title="ContraWSD",
    phenomenon="word senses",
    description=(
        "ContraWSD: German sentences with an ambiguous word; does the reference beat the same"
        " sentence with translations of other senses?"
    ),
    licence="unknown",
    homepage="https://github.com/a-rios/ContraWSD",
    citation_keys=("rios-2017",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=(
        _config(
            "de-en",
            "German-English, categories by frequency of the sense in the training data of WMT16",
        ),
        _config(
            "de-fr",
            "German-French, categories by frequency of the sense in Europarl v7 and News"
            " Commentary v11",
        ),
    ),
    default_config="de-en",
    extra_keys=(*EXTRA_KEYS, "frequency", "sentence_number"),
    read=read_contrawsd,
)
