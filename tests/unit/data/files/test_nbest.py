from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.files.nbest import Hypothesis, nbest_text, read_nbest
from cc_hf.errors import CCError
from tests.helpers.cases import cases

_A, _B, _C = Hypothesis("Der Arzt", -1.5), Hypothesis("Die Ärztin", -2.0), Hypothesis("", -3.0)


@cases(
    (
        "0 ||| Der Arzt ||| -1.5\n0 |||\tDie Ärztin\t||| -2\n1 |||  ||| -3\n",
        None,
        [(_A, _B), (_C,)],
    ),
    ("0 ||| Der Arzt ||| lm: -9 tm: 3 ||| -1.5 ||| 0-0 1-1\n", None, [(_A,)]),
    ("0 ||| Der Arzt\n1 ||| Der Arzt\n", None, [(Hypothesis("Der Arzt"),)] * 2),
    ("Der Arzt\n Die Ärztin\r\n\n\n", 2, [(_A[:1], _B[:1]), (("",), ("",))]),
    ('{"index": 0, "text": "Der Arzt", "score": -1.5}\n', None, [(_A,)]),
)
def test_the_forms_of_lists(text: str, n: int | None, expected: list[Any], tmp_path: Path) -> None:
    path = tmp_path / ("lists.jsonl" if text.startswith("{") else "lists.txt")
    path.write_text(text, encoding="utf-8", newline="")
    lists = read_nbest(path, n)
    assert lists == [tuple(Hypothesis(*hypothesis) for hypothesis in row) for row in expected]
    if n is None:
        for suffix in (".jsonl", ".txt"):
            again = tmp_path / f"again{suffix}"
            again.write_text(nbest_text(lists, is_jsonl=suffix == ".jsonl"), encoding="utf-8")
            assert read_nbest(again) == lists


@cases(
    ("", None, "got an empty file"),
    ("1 ||| a\n", None, "line 1: expected hypotheses of the source 0, got those of 1"),
    ("0 ||| a\n1 ||| b\n0 ||| c\n", None, "line 3: expected an index of at least 1, got 0"),
    ("0 ||| a ||| -1\n0 ||| b\n", None, "line 2: expected a score on every line with a text"),
    ("0 ||| a ||| x\n", None, "line 1: expected a number as the score, got 'x'"),
    ("a\nb\n", None, "line 1: expected index ||| hypothesis"),
    ("a\nb\nc\n", 2, "expected 2 lines for each source, got 3"),
    ("a\n", 0, "n: expected a whole number from 1"),
    ('{"index": -1, "text": "a"}', None, "line 1: index: expected a whole number from 0"),
    ('{"index": 0}', None, "line 1: expected the key 'text'"),
)
def test_lists_that_cannot_be_read_are_refused(
    text: str, n: int | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / ("lists.jsonl" if text.startswith("{") else "lists.txt")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CCError) as error:
        read_nbest(path, n)
    assert message in str(error.value)
