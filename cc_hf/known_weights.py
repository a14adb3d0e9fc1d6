"""Weights that this package knows or others ship, by their identity: a model in a folder of another
name is the same model, and one of the same name with other weights is not.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cc_hf import registry
from cc_hf.tables.rows import read_rows

__all__ = ["KnownWeights", "is_new_identity", "known_name", "known_weights"]

# What an identity looks like: a commit, or a hash of files.
_IDENTITY = re.compile(r"[0-9a-f]{4,40}")
_TABLE = Path(__file__).parent / "assets" / "known_weights.tsv"


class KnownWeights(NamedTuple):
    """Weights that the package knows.

    Attributes:
        identity: of the files as they are published, as signatures have it after "@".
        name: by which they are loaded.
        family: a name of `registry.EVALUATOR_FAMILIES`.
        weights: hash of tensors and vocabularies, the same in every folder that transformers can
            load (`cc_hf.models.weights_identity.weights_digest`).
    """

    identity: str
    name: str
    family: str
    weights: str


@cache
def known_weights() -> dict[str, KnownWeights]:
    """Return the weights that the package knows, by their identities."""
    return {row["identity"]: KnownWeights(**row) for _, row in read_rows(_TABLE)}


def is_new_identity(text: str) -> bool:
    """Return whether a text is an identity, of weights that the package does not know.

    Examples:
        >>> is_new_identity("0123456789ab"), is_new_identity("d644c6d303e7"), is_new_identity("new")
        (True, False, False)
    """
    return _IDENTITY.fullmatch(text) is not None and text not in known_weights()


def known_name(name: str, identity: str) -> str:
    """Return the name by which the package knows a model, "" for others; `identity` is "" if
    unknown.

    Examples:
        >>> known_name("my-judge", "d644c6d303e7"), known_name("cc-tiny-en-de", "0123456789ab")
        ('cc-tiny-en-de', '')
    """
    if _IDENTITY.fullmatch(identity):
        if (known := known_weights().get(identity)) is not None:
            return known.name
        shipped = registry.load_all("evaluator").items()
        return next((name for name, model in shipped if model.identity == identity), "")
    names = {*registry.names("evaluator"), *(known.name for known in known_weights().values())}
    return name if name in names else ""
