"""The reproducibility signature that every result carries, as in sacreBLEU: key:value pairs joined
by "|".

cc|data:winomt/default/en-de@b2f1b31|cues:gender_brackets|eval:cc-tiny-en-de@1a2b3c4|dtype:float32|score:geometric|...|m:3|v:0.1.0
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from cc_hf._version import __version__
from cc_hf.errors import InputError

__all__ = [
    "build",
    "chosen",
    "evaluator_key",
    "evaluator_names",
    "identity",
    "is_limited",
    "is_same_evaluator",
    "limited",
    "own_judges",
    "parse",
    "split_and_limit",
    "unparse",
    "whole",
    "with_scores",
    "without_scores",
]

_LIMIT = re.compile(r"\[(?:first (\d+)|(\d+) (?:by category|chosen [0-9a-f]+))\]$")

_IDENTITY = re.compile(r"@([0-9a-f]{4,40})(?=/|$)")  # a commit, or a hash of files
_SCORES = re.compile(r"@scores\.[0-9a-f]{8}$")  # of an evaluator without a revision
_UNNAMED = ("function <", "the model@")
_DECODING = re.compile(r"[./]beam\d+(?:/.*)?$")

_RESERVED = {"|": "%7C", ":": "%3A", "%": "%25", "\n": "%0A"}


def build(metric: str, fields: Mapping[str, str | int]) -> str:
    """Return the signature of something that this version of cc_hf computed.

    Args:
        metric: name or abbreviation of the metric, the comparison or the study.
        fields: key -> value, in the order of the signature; the version of cc_hf follows them.

    Examples:
        >>> build("cc", {"data": "winomt", "n": 3648}).rpartition(":")[0]
        'cc|data:winomt|n:3648|v'
    """
    return unparse(metric, {**fields, "v": __version__})


def unparse(metric: str, fields: Mapping[str, str | int]) -> str:
    """Return a signature of the given fields alone, the inverse of `parse`; "|", ":", "%" and line
    feeds inside values are escaped.

    Raises:
        InputError: for an empty metric or an empty value.

    Examples:
        >>> unparse("cc", {"data": "winomt", "n": 3648})
        'cc|data:winomt|n:3648'
    """
    for key, value in {"metric": metric, **fields}.items():
        if not str(value):
            raise InputError(f"signature: {key!r} is empty; write every option, defaults too")
    return "|".join(
        [
            _escape(metric),
            *(f"{_escape(key)}:{_escape(str(value))}" for key, value in fields.items()),
        ]
    )


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Parse a signature into the metric and its fields.

    Raises:
        InputError: when a part has no ":" or a key occurs twice.

    Examples:
        >>> parse("cc|data:winomt|n:3648")
        ('cc', {'data': 'winomt', 'n': '3648'})
    """
    metric, *parts = text.split("|")
    fields: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        if not colon or _unescape(key) in fields:
            raise InputError(
                f"not a signature: expected key:value once per key, got {part!r} in {text!r}"
            )
        fields[_unescape(key)] = _unescape(value)
    return _unescape(metric), fields


def limited(data: str, limit: int, *, by_category: bool = False) -> str:
    """Return the field `data` of a first look at a dataset.

    Examples:
        >>> limited("winomt/default@b2f1b31", 100)
        'winomt/default[first 100]@b2f1b31'
    """
    name, _, revision = data.rpartition("@")
    which = f"{limit} by category" if by_category else f"first {limit}"
    return f"{name}[{which}]@{revision}"


def chosen(data: str, ids: Collection[str]) -> str:
    """Return the field `data` of chosen examples of a dataset.

    Examples:
        >>> chosen("winomt/default@b2f1b31", ["7", "9"])
        'winomt/default[2 chosen b6ba4afe]@b2f1b31'
    """
    name, _, revision = data.rpartition("@")
    written = json.dumps(sorted(ids))
    digest = hashlib.sha256(written.encode("ascii")).hexdigest()[:8]
    return f"{name}[{len(ids)} chosen {digest}]@{revision}"


def whole(data: str) -> str:
    """Return the field `data` of all examples, of which `limited` or `chosen` made another.

    Examples:
        >>> whole("winomt/default[first 100]@b2f1b31")
        'winomt/default@b2f1b31'
    """
    name, at_sign, revision = data.rpartition("@")
    return f"{_LIMIT.sub('', name)}{at_sign}{revision}" if at_sign else data


def is_limited(data: str) -> bool:
    """Return whether the field `data` is of some examples only."""
    return whole(data) != data


def split_and_limit(text: str, dataset: str, config: str) -> tuple[str, int | None]:
    """Return the split that a signature names, and the number of its judged examples, None for all.

    Examples:
        >>> split_and_limit("cc|data:wino_x/mt_en_de/dev[first 9]@1a", "wino_x", "mt_en_de")
        ('dev', 9)
    """
    data = parse(text)[1].get("data", "").rpartition("@")[0]
    limit = _LIMIT.search(data)
    split = _LIMIT.sub("", data).removeprefix(f"{dataset}/{config}").removeprefix("/")
    return split or "test", None if limit is None else int(limit[1] or limit[2])


def own_judges(evaluator: str, system: str) -> list[str]:
    """Return the members of an evaluator that are the system under test, or a member of it.

    A model of another revision counts as the same. Folders, of which only the last part of the path
    is known, are the same model if their files are the same, or if one side names no files.

    Args:
        evaluator: the field `eval` of a signature; "" for none.

    Examples:
        >>> own_judges("cc-tiny-en-de@d644c6d303e7", "cc-tiny-en-de@d644c6d303e7/beam5")
        ['cc-tiny-en-de']
        >>> own_judges("org/a@1a2b3c4+org/b@5d6e7f8", "org/b@9a0b1c2/beam1")
        ['org/b']
    """
    translators = [_Model.of(part) for part in system.split("+")]
    judges = [_Model.of(part) for part in evaluator.split("+")]
    return [
        judge.name
        for judge in judges
        if judge.name and any(judge.is_same(translator) for translator in translators)
    ]


def with_scores(evaluator: str, digest: str) -> str:
    """Return the field `eval` of a function, with eight hexadecimal digits of a digest of its
    scores.

    Examples:
        >>> with_scores("function by_length", "1a2b3c4d")
        'function by_length@scores.1a2b3c4d'
    """
    return f"{evaluator}@scores.{digest}"


def evaluator_key(evaluator: str) -> str | None:
    """Return the field `eval` without the digest of scores, equal for results of one evaluator on
    different translations; None for a function without a name.

    Examples:
        >>> evaluator_key("function by_length@scores.1a2b3c4d"), evaluator_key("org/model@1a2b3c4")
        ('function by_length', 'org/model@1a2b3c4')
    """
    return None if evaluator.startswith(_UNNAMED) else without_scores(evaluator)


def evaluator_names(evaluator: str) -> list[str]:
    """Return the names of the members of an evaluator, by which they are loaded again.

    Examples:
        >>> evaluator_names("org/a@1a2b3c4+org/b@5d6e7f8"), evaluator_names("")
        (['org/a', 'org/b'], [])
    """
    members = evaluator.split("+") if evaluator else []
    return [member.rpartition("@")[0] for member in members]


def without_scores(evaluator: str) -> str:
    """Return the field `eval` without the digest of scores that `with_scores` may have added."""
    return _SCORES.sub("", evaluator)


def identity(evaluator: str) -> str:
    """Return the commit, or the hash of the files, of a member of an evaluator; "" if it has none.

    Examples:
        >>> identity("org/a@1a2b3c4"), identity("function f@scores.1a2b3c4d"), identity("a")
        ('1a2b3c4', '', '')
    """
    return _Model.of(evaluator).identity


def is_same_evaluator(left: str, right: str) -> bool:
    """Return whether two fields `eval` name the same evaluator: by the identities of its members,
    or by name where they have none.

    Examples:
        >>> is_same_evaluator("student@b4b85329b5a5", "bergamot:en-pt@b4b85329b5a5")
        True
        >>> is_same_evaluator("org/a@1a2b3c4", "org/a@5d6e7f8")
        False
    """
    name = evaluator_key(left)
    if name is not None and name == evaluator_key(right):
        return True
    identities = [[identity(part) for part in text.split("+")] for text in (left, right)]
    return all(identities[0]) and identities[0] == identities[1]


class _Model(NamedTuple):
    """A model as a signature names it; its identity is "" if unknown."""

    name: str
    identity: str

    @classmethod
    def of(cls, text: str) -> _Model:
        text = text.strip().removeprefix("local:")
        if text.startswith("server:"):
            # The identity of a served model is not that of its files. The decoding has two parts.
            name = text.partition("#")[2]
            is_evaluator = _IDENTITY.search(name) is not None
            return cls(name.rpartition("@")[0] if is_evaluator else name.rsplit("/", 2)[0], "")
        identity = _IDENTITY.search(text)
        return cls(_DECODING.sub("", text).partition("@")[0], identity[1] if identity else "")

    def is_same(self, other: _Model) -> bool:
        if self.identity and self.identity == other.identity:
            return True
        owner, _, name = self.name.casefold().rpartition("/")
        other_owner, _, other_name = other.name.casefold().rpartition("/")
        if name != other_name or (owner and other_owner and owner != other_owner):
            return False
        # Two folders of the name "final", or of that of a model of the package, hold different
        # models, unless their files are not known.
        is_folder = not owner and not other_owner and ":" not in name
        return not (is_folder and self.identity and other.identity)


def _escape(text: str) -> str:
    return "".join(_RESERVED.get(c, c) for c in text)


def _unescape(text: str) -> str:
    for plain, code in _RESERVED.items():
        if plain != "%":
            text = text.replace(code, plain)
    return text.replace("%25", "%")
