"""Homographs with their sense clusters, and sentence pairs in which the sense is known.

See Emelin et al. 2020; thesis, section 3.2.1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import SourceFile
from cc_hf.data.download import fetch
from cc_hf.errors import FileError, InputError, UnknownNameError, in_file, shown
from cc_hf.files import file_sha256, resolved, sole_writer
from cc_hf.reading import JSONL
from cc_hf.records import COUNT, NonEmpty, read_json, read_value
from cc_hf.rules import Kind
from cc_hf.tables.rows import read_rows
from cc_hf.text.sense_matching import SenseCluster

__all__ = [
    "LEXICON_FILE",
    "HomographLexicon",
    "SenseCluster",
    "TaggedPair",
    "read_lexicon",
    "read_pairs",
    "write_pairs",
    "write_rows",
]

#: The English-German lexicon of Emelin et al. (2020).
LEXICON_FILE = SourceFile(
    "demelin/detecting_wsd_biases_for_nmt",
    "7cf8feb5a55ec010bcb1c03cc5ea8b8fe7854d15",
    "ende_homograph_sense_clusters.json",
    "f500324097d8b4038e4d039aa6a4b60e5fdc7ecfe3473c855ad05571620bf100",
)
_KEYS = {
    "senses": "[SENSES]",
    "ambiguous": "[AMBIGUOUS SENSES]",
    "blacklisted": "[BLACKLISTED SENSES]",
}
_WORD = Kind("a single word", lambda value: isinstance(value, str) and len(value.split()) == 1)
_EXAMPLE = (
    'an object such as {"spring": {"1": {"senses": ["Frühling"]}, "2": {"senses": ["Feder"]}}}'
)


@dataclass(frozen=True)
class HomographLexicon:
    """Homographs of one language with their sense clusters in another.

    Attributes:
        homographs: homograph -> id of a cluster -> cluster.
    """

    src_lang: str
    tgt_lang: str
    sha256: str
    homographs: Mapping[str, Mapping[str, SenseCluster]]

    def clusters(self, homograph: str) -> Mapping[str, SenseCluster]:
        """Return the clusters of a homograph."""
        if homograph not in self.homographs:
            raise UnknownNameError("homograph", homograph, self.homographs)
        return self.homographs[homograph]

    def check(self, homograph: str, cluster: str, where: str) -> None:
        """Check that a homograph and its cluster are in the lexicon."""
        if homograph not in self.homographs:
            raise InputError(
                f"{where}: expected a homograph of the lexicon, got {shown(homograph)}; use the"
                " lexicon with which the pairs were tagged"
            )
        if cluster not in self.homographs[homograph]:
            known = ", ".join(self.homographs[homograph])
            raise InputError(
                f"{where}: expected a cluster of {homograph!r} ({known}), got {shown(cluster)}; use"
                " the lexicon with which the pairs were tagged"
            )


@dataclass(frozen=True, slots=True)
class TaggedPair:
    """A sentence pair in which the sense of a homograph is known.

    Attributes:
        id: name of the pair, such as its 0-based line in the corpus.
        start: 0-based position of the homograph's first character in the source.
        token: 0-based index of its token, as `cc_hf.text.tokenization.word_tokens` splits it.
        target_token: the word of the reference that shows the sense.
    """

    id: str
    source: str
    reference: str
    homograph: str
    start: int
    token: int
    cluster: str
    target_token: str


_PAIR = {
    field.name: COUNT if field.name in ("start", "token") else str for field in fields(TaggedPair)
}


def read_lexicon(
    path: str | Path | None = None,
    *,
    data_dir: str | Path | None = None,
    src_lang: str = "en",
    tgt_lang: str = "de",
) -> HomographLexicon:
    """Return a lexicon of homographs.

    Args:
        path: a JSON file, homograph -> id of a cluster -> cluster. A cluster is a list of words, or
            an object with `senses` and, optionally, `ambiguous`, `blacklisted` and `pos`, or with
            the keys of the published file, such as "[SENSES]". None for the published
            English-German lexicon, pinned by its hash.
    """
    path = fetch(LEXICON_FILE, data_dir) if path is None else Path(path)
    value = read_json(path, _EXAMPLE, NonEmpty({str: NonEmpty({str: None})}))
    homographs = {}
    for homograph, clusters in value.items():
        homographs[homograph.lower()] = {
            name: _cluster(cluster, f"{path}: {homograph!r}: cluster {name!r}")
            for name, cluster in clusters.items()
        }
    if len(homographs) < len(value):
        raise FileError(path, "expected each homograph once, without regard to case")
    return HomographLexicon(src_lang, tgt_lang, file_sha256(path), homographs)


def _cluster(value: Any, where: str) -> SenseCluster:
    if isinstance(value, list):
        value = {"senses": value}
    if not isinstance(value, dict):
        raise FileError(where, f"expected a list of words or an object, got {shown(value)}")
    words: dict[str, Any] = {
        key: value.get(key, value.get(name, [])) for key, name in _KEYS.items()
    }
    with in_file(where):
        read_value({str: [_WORD]}, words)
        if not words["senses"]:
            raise InputError(
                'expected at least one sense, got none; add target words under "senses", or remove'
                " the cluster"
            )
    return SenseCluster(
        **{key: tuple(dict.fromkeys(forms)) for key, forms in words.items()},
        pos=str(value.get("pos", value.get("[POS]", ""))),
    )


def read_pairs(path: str | Path) -> Iterator[TaggedPair]:
    """Yield the pairs of a file that `write_pairs` or `tag` wrote, without loading it whole."""
    remedy = "write the file with `cc-hf study disambiguation_bias tag`"
    for where, row in read_rows(Path(path), JSONL, _PAIR, remedy=remedy):
        pair = TaggedPair(**{key: row[key] for key in _PAIR})
        if pair.start >= len(pair.source):
            raise FileError(
                where,
                f"expected the position of {pair.homograph!r} in the source, got start"
                f" {pair.start}",
            )
        yield pair


def write_pairs(path: str | Path, pairs: Iterable[TaggedPair]) -> int:
    """Write pairs to a JSONL file, completely or not at all."""
    return write_rows(path, map(asdict, pairs))


def write_rows(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a JSONL file, completely or not at all."""
    path = resolved(path)
    part, n = path.with_name(f".{path.name}.{os.getpid()}.part"), 0
    with sole_writer(path):
        try:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                for row in rows:
                    file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
                    n += 1
            os.replace(part, path)
        except OSError as error:
            raise InputError(f"{path} could not be written ({error.strerror})") from error
        finally:
            part.unlink(missing_ok=True)
    return n
