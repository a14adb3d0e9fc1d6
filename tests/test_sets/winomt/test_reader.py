from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.dataset_folders import examples_of_rows
from cc_hf.errors import DataError
from cc_hf.records import write_record
from cc_hf.schema import ProbingExample
from cc_hf.test_sets.winomt import reader as winomt
from tests.helpers.usual import cases, evaluate_dataset, fails, write_text

ROWS = """female\t1\tThe developer argued, because she did not like it.\tdeveloper\tanti
male\t3\tHe hired the construction worker, he was good.\tconstruction worker\tpro
neutral\t0\tSomeone called.\tsomeone\tnone
male\t0\tSomeone called.\tsomeone\tnone
male\t3\tShe asked the  cook.\tcook\tpro
"""


def read_all(tmp_path: Path, text: str, config: str) -> list[Any]:
    path = write_text(tmp_path / "test.tsv", text)
    return list(winomt.read_winomt({winomt.DECLARATION.files[0].path: path}, config, "test"))


def rows(tmp_path: Path, text: str, config: str = "default") -> list[tuple[str, ...]]:
    examples = read_all(tmp_path, text, config)
    return [(e.id, e.focus.text, *e.correct_sources, *e.incorrect_sources) for e in examples]


def test_the_cue_is_inserted_before_the_occupation(tmp_path: Path) -> None:
    expected = (
        ("0", "developer", "The [{}] developer argued, because she did not like it.", "female"),
        ("1", "construction worker", "He hired the [{}] construction worker, he was good.", "male"),
        ("3", "Someone", "[{}] Someone called.", "male"),
        ("4", "cook", "She asked the  [{}] cook.", "male"),
    )
    other = {"male": "female", "female": "male"}
    assert rows(tmp_path, ROWS) == [
        (number, focus, source.format(gender), source.format(other[gender]))
        for number, focus, source, gender in expected
    ]


def test_configurations_select_or_damage_rows_or_keep_all_without_cues(tmp_path: Path) -> None:
    actual = {row[0]: row[2] for row in rows(tmp_path, ROWS, "emnlp2021")}  # as the program does
    assert actual["1"] == "He hired the [male] construction worker worker, he was good."
    assert actual["3"] == "[male] someone called."
    assert [row[0] for row in rows(tmp_path, ROWS, "pro")] == ["1", "4"]
    assert [row[0] for row in rows(tmp_path, ROWS, "anti")] == ["0"]
    examples = read_all(tmp_path, ROWS, "all")
    assert all(isinstance(e, ProbingExample) for e in examples)
    genders = enumerate(("female", "male", "neutral", "male", "male"))
    assert [(e.id, e.category) for e in examples] == [(str(i), gender) for i, gender in genders]
    assert examples_of_rows(ProbingExample, map(write_record, examples)) == examples


def test_pairs_are_lines_with_the_same_number(tmp_path: Path) -> None:
    female, male = (f"{g}\t1\tA b, as {p} is.\tb\n" for g, p in (("female", "she"), ("male", "he")))
    config = winomt.DECLARATION.config("pairs")

    def read(pro: str, anti: str) -> list[Any]:
        texts = zip(("pro", "anti"), config.files, (pro, anti), strict=True)
        paths = {file.path: write_text(tmp_path / f"{n}.txt", text) for n, file, text in texts}
        return list(winomt.read_winomt(paths, "pairs", "test"))

    examples = read(female + male, male + female)
    assert [e.id for e in examples] == ["0.pro", "0.anti", "1.pro", "1.anti"]
    assert [e.gold for e in examples] == ["female", "male", "male", "female"]
    assert [e.extra["pair"] for e in examples] == ["0", "0", "1", "1"]
    assert examples[1].incorrect_sources == ("A [female] b, as he is.",)
    message = "anti.txt: line 2: expected the other gender .* got male"
    fails(DataError, message, read, female + male, male * 2)
    fails(DataError, "expected 4 columns .* got 3", read, female, "male\t1\tA b.")


@cases(
    ("male\t1\tA b.\tb", "line 1: expected 5 columns .* got 4"),
    ("man\t1\tA b.\tb\tpro", "line 1: gender: expected one of male, female.*got 'man'"),
    ("male\tx\tA b.\tb\tpro", "line 1: index: expected a number"),
    ("male\t7\tA b.\tb\tpro", "line 1: token index: expected 0 to 1, got 7"),
    ("male\t1\tA b.\tb\tyes", "line 1: stereotype"),
    ("male\t1\tA b.\tc\tpro", "line 1: expected the occupation 'c' at token 1, got 'b.'"),
    ("\nmale\t1\tA b.\tb\tpro", "line 1: expected 5 columns"),
)
def test_malformed_rows_are_named_by_line(line: str, message: str, tmp_path: Path) -> None:
    fails(DataError, message, rows, tmp_path, line)


@pytest.mark.parametrize("config", ["default", "emnlp2021", "pro", "anti", "all", "acl2019"])
def test_results_without_neutral_rows_have_a_note(shared: Path, config: str) -> None:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/winomt/data"
    options: dict[str, Any] = {
        "metric": "winomt_pattern_matching",
        "data_dir": shared / "upstream",
        "translations": folder / "aws.de.full.txt",
        "tgt_lang": "de",
    }
    result = evaluate_dataset("winomt", config, **options)
    rounded = tuple(round(100 * result.scores[name], 1) for name in ("accuracy", "delta_g"))
    assert rounded == {"default": (66.0, 14.8), "all": (62.4, 11.9)}.get(config, rounded)
    if config in ("all", "acl2019"):
        assert result.notes == ()
        return
    (note,) = result.notes
    assert "on all" in note
    assert "configuration all" in note
    assert "aws" not in note  # figures of another system read like those of the result
