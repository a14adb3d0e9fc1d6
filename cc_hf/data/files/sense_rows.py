"""The senses of a homograph as rows of a dataset hold them, because `extra` holds strings only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from cc_hf.errors import InputError, shown
from cc_hf.records import parse_json
from cc_hf.text.sense_matching import SenseCluster

__all__ = ["SENSE_KEYS", "parse_senses", "senses_text"]

#: Keys of a cluster, as the fields of `SenseCluster` of the same names; all but the first may be
#: absent.
SENSE_KEYS = ("senses", "ambiguous", "blacklisted")


def parse_senses(value: Any, where: str) -> dict[str, SenseCluster]:
    """Read the clusters of a homograph, each with the words of the target language that show it.

    Args:
        value: a mapping from cluster to words, or to a mapping with the keys of `SENSE_KEYS`; or
            the JSON of one.
        where: the row and key, for the message.

    Raises:
        InputError: for anything else, no cluster, a cluster without senses, or a word that is a
            sense of two clusters.

    Examples:
        >>> senses = '{"animal": ["Fledermaus"], "stick": {"senses": ["Keule"]}}'
        >>> parse_senses(senses, "row 0")["stick"].senses
        ('Keule',)
    """
    if isinstance(value, str):
        with suppress(InputError):  # raised below, with the row
            return dict(_of_text(value))
        try:
            value = parse_json(value)
        except InputError as error:
            raise InputError(f"{where}: expected the JSON of clusters of senses: {error}") from None
    if not isinstance(value, Mapping) or not value:
        raise InputError(
            f'{where}: expected clusters of senses, such as {{"animal": ["Fledermaus"], "stick":'
            f' ["Schläger", "Keule"]}}, got {shown(value)}'
        )
    clusters = {
        _name(name, where): _cluster(words, f"{where}: cluster {name!r}")
        for name, words in value.items()
    }
    owners: dict[str, str] = {}
    for name, cluster in clusters.items():
        for word in cluster.senses:
            if owners.setdefault(word, name) != name:
                raise InputError(
                    f"{where}: {word!r} is a sense of the clusters {owners[word]!r} and {name!r};"
                    ' list it as "ambiguous" in both'
                )
    return clusters


@lru_cache(maxsize=4096)
def _of_text(text: str) -> dict[str, SenseCluster]:
    """Return the clusters of JSON, which is the same in all rows of a homograph."""
    value = parse_json(text)
    if isinstance(value, str):  # the JSON of a text that is JSON
        raise InputError(f"expected clusters of senses, got {shown(value)}")
    return parse_senses(value, "")


def _name(name: Any, where: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: expected texts as names of clusters, got {shown(name)}")
    return name


def _cluster(value: Any, where: str) -> SenseCluster:
    if isinstance(value, SenseCluster):
        return value
    words = value if isinstance(value, Mapping) else {"senses": value}
    if unknown := sorted(set(words) - set(SENSE_KEYS), key=str):
        raise InputError(
            f"{where}: expected the keys {' and '.join(SENSE_KEYS)}, got {shown(unknown[0])}"
        )
    senses, ambiguous, blacklisted = (
        _words(words.get(key, ()), f"{where}: {key}") for key in SENSE_KEYS
    )
    cluster = SenseCluster(senses, ambiguous, blacklisted)
    if not cluster.senses:
        raise InputError(f"{where}: expected at least one sense, got none")
    return cluster


def _words(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(word, str) and word.strip() for word in value
    ):
        raise InputError(f"{where}: expected a list of words, got {shown(value)}")
    return tuple(value)


def senses_text(clusters: Mapping[str, SenseCluster]) -> str:
    """Return clusters as the JSON that `extra` holds; the inverse of `parse_senses`.

    Examples:
        >>> senses_text(parse_senses({"stick": ["Keule"]}, "row 0"))
        '{"stick": {"senses": ["Keule"], "ambiguous": []}}'
    """
    rows = {
        name: {
            key: list(words)
            for key in SENSE_KEYS
            if (words := getattr(cluster, key)) or key != "blacklisted"
        }
        for name, cluster in clusters.items()
    }
    return json.dumps(rows, ensure_ascii=False)
