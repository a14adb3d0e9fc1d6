from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.errors import InputError
from cc_hf.signature import build, parse

_TEXT = st.text(min_size=1, max_size=8)


@given(_TEXT, st.dictionaries(_TEXT, _TEXT, max_size=4))
def test_a_built_signature_parses_to_its_parts(metric: str, fields: dict[str, str]) -> None:
    assert parse(build(metric, fields)) == (metric, fields)


@pytest.mark.parametrize("text", ["cc|a", "cc|a:1|a:2"])
def test_malformed_signatures_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a signature"):
        parse(text)


def test_empty_values_are_refused() -> None:
    with pytest.raises(InputError, match="'eval' is empty"):
        build("cc", {"eval": ""})
