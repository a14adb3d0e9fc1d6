from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluation.alternative_options import AlternativeOptions
from cc_hf.evaluation.alternatives import alternatives
from cc_hf.schema import Focus
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json, run_command
from tests.helpers.lines import write_lines

_SOURCES = ["The doctor is here.", "She is a cook.", " ", "It rained.", "The nurse met the nurse."]
_FOCUSES: list[Any] = ["doctor", "cook", "x", None, "nurse"]


@pytest.mark.parametrize(("method", "n_best"), [("nbest", 4), ("cue", 1), ("contrast", 1)])
def test_each_method_gives_both_forms_of_open_sources(method: str, n_best: int) -> None:
    options = AlternativeOptions(n_best=n_best, methods=(method,))
    given: dict[str, Any] = {"focuses": _FOCUSES, "options": options, "tgt_lang": "de"}
    rows = alternatives(_SOURCES, "cc-tiny-en-de", **given)
    assert (rows[0].how, rows[0].first_reads, rows[0].reason) == (method, "male", "")
    assert (rows[0].masculine, rows[0].feminine) == ("Der Arzt ist hier.", "Die Ärztin ist hier.")
    row = rows[0].to_row()
    assert row["differing"] == [["Der Arzt", "Die Ärztin"]]
    assert set(row["checks"].values()) == {True}
    words = ("a pronoun", "blank", "no noun for a person", "'nurse' occurs 2 times")
    for result, reason in zip(rows[1:], words, strict=True):
        assert reason in result.reason
        assert (result.masculine, result.feminine, result.how, result.check) == (None,) * 4
    assert [result.first for result in rows[1:3]] == ["Sie ist Köchin.", ""]


def test_candidates_that_fail_are_named() -> None:
    given: dict[str, Any] = {"focuses": [Focus("person", 4)], "tgt_lang": "de"}
    options = AlternativeOptions(n_best=2, methods=("nbest", "cue"))
    (row,) = alternatives(["The person left."], "cc-tiny-en-de", options=options, **given)
    assert (row.how, row.masculine) == (None, None)
    assert row.check is not None
    assert row.reason == f"candidates by cue fail: {', '.join(row.check.failed)}"


@cases(
    ({"focuses": ["a"]}, "expected one for each of 2 sources, got 1"),
    ({"tgt_lang": "ru"}, "expected one of de, es, fr, it, pt, got 'ru'"),
    ({"evaluator": lambda sources, texts: [1.0]}, "expected a model, got a function"),
)
def test_input_that_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        alternatives(["A.", "B."], "cc-tiny-en-de", **{"tgt_lang": "de", **options})
    assert message in str(error.value)


def test_the_command_reads_sentences_and_datasets(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="methods: expected some of nbest, cue, contrast"):
        AlternativeOptions(methods=("beam",))
    write_lines(tmp_path / "open.txt", ["The doctor is here.", "He is a cook."])
    own = "alternatives open.txt -l en-de --n-best 4 --system cc-tiny-en-de -o own.json"
    assert "The doctor is here. →" in run_command(own, cwd=tmp_path).stdout
    assert [row["how"] for row in read_json(tmp_path / "own.json")] == ["nbest", None]
    data = "alternatives simplegen en-de --limit 2 --n-best 2 --methods nbest"
    run_command(f"{data} --system cc-tiny-en-de -o data.json", cwd=tmp_path)
    examples = cc_hf.load_examples("simplegen", "en-de")
    known = {example.source: example.focus.text for example in examples}
    rows = read_json(tmp_path / "data.json")
    assert [row["focus"] for row in rows] == [known[row["source"]] for row in rows]
    assert "--system" in run_command("alternatives open.txt", cwd=tmp_path, status=2).stderr
