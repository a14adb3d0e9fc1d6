from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf._version import __version__
from cc_hf.errors import InputError
from cc_hf.signature import build, own_judges, parse, unparse
from tests.helpers.cases import cases

_TEXT = st.text(min_size=1, max_size=8)


@given(_TEXT, st.dictionaries(_TEXT, _TEXT, max_size=4))
def test_a_signature_parses_to_its_parts(metric: str, fields: dict[str, str]) -> None:
    assert parse(unparse(metric, fields)) == (metric, fields)


def test_the_version_is_the_last_field() -> None:
    assert build("cc", {"data": "winomt", "n": 2}) == f"cc|data:winomt|n:2|v:{__version__}"


@pytest.mark.parametrize("text", ["cc|a", "cc|a:1|a:2"])
def test_malformed_signatures_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a signature"):
        parse(text)


_TINY, _HASH, _OTHER = "cc-tiny-en-de", "d644c6d303e7", "0123456789ab"
_SERVER = f"server:http://h:1/v1#org/m@{_HASH}"


@cases(
    (f"{_TINY}@{_HASH}", f"{_TINY}@{_HASH}/beam5", [_TINY]),
    (f"{_TINY}@{_HASH}", f"{_TINY}@{_OTHER}/beam5/int8 torch/context <sep>", [_TINY]),
    (f"{_TINY}@{_HASH}", f"a@{_OTHER}/beam5", []),
    (f"org/a@{_HASH}+{_TINY}@{_HASH}", f"{_TINY}@{_HASH}/beam5", ["org/a", _TINY]),
    (f"org/a@{_OTHER}+{_TINY}@{_HASH}", f"org/b@1a2b+{_TINY}@{_HASH}/beam5", [_TINY]),
    ("Helsinki-NLP/opus-mt-en-de@1a2b3c4", "opus-mt-en-de@5d6e7f8/beam5", None),  # a download
    ("google/opus@1a2b3c4", "Helsinki-NLP/opus@5d6e7f8/beam5", []),
    (f"final@{_HASH}", f"final@{_OTHER}/beam5", []),  # folders with other files
    (f"converted@{_HASH}", f"fairseq-model@{_HASH}/beam1", None),  # and with the same
    ("bergamot:en-pt@1a2b3c4", "bergamot:en-pt@5d6e7f8/beam1", None),
    (_SERVER, "server:http://h:2#org/m/greedy/9 tokens", ["org/m"]),
    (_SERVER, "local:org/m@1a2b3c4/float32/greedy/9 tokens", ["org/m"]),
    ("org/opus@1a2b3c4", "opus.beam5", None),  # in attacks
    ("org/opus@1a2b3c4", "opus@training.step500/beam1", None),
    ("opus@1a2b3c4", "opus", None),  # the name of a system
    ("opus@1a2b3c4", "opus (basic)", []),
    ("function f@scores.1a2b3c4d", "f@1a2b3c4d/beam5", []),
    ("opus@1a2b3c4", "scored", []),
    ("", "", []),
    ("", "opus", []),
)
def test_own_judges_are_found(evaluator: str, system: str, names: list[str] | None) -> None:
    expected = [evaluator.partition("@")[0]] if names is None else names
    assert own_judges(evaluator, system) == expected


def test_empty_values_are_refused() -> None:
    with pytest.raises(InputError, match="'eval' is empty"):
        build("cc", {"eval": ""})
