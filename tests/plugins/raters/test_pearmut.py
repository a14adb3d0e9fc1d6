"""Sheets as a campaign of Pearmut, and its answers. Answers are written as version 1.1.6 writes
them; `pearmut add` itself checks the campaign where the program is installed.
"""

import html
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cc_hf.plugins.raters import sheets
from cc_hf.plugins.raters.pearmut_campaign import campaign_text
from tests.helpers.usual import cases, printed_by, refuses, write_jsonl, write_text
from tests.plugins.raters.test_sheets import FORM, TEXTS, made
from tests.plugins.raters.test_sheets_command import draw, folder, truth

__all__ = ["folder"]

Log = list[dict[str, Any]]


def campaign() -> Any:
    return json.loads(campaign_text(made(), "colours"))


def answered(written: Any, answer: Callable[[str, str], Any]) -> Log:
    """Return what Pearmut keeps if a program answers each question of each row."""
    log: Log = [
        {"annotation": [None], "item": page, "user_id": user, "item_i": f"welcome_{number}"}
        for user in written["info"]["users"]
        for number, page in enumerate(written["data_welcome"])
    ]
    for user, task in zip(written["info"]["users"], written["data"], strict=True):
        for number, items in enumerate(task):
            answers = [
                None if item["form"] is None else answer(item["item_id"], item["column"])
                for item in items
            ]
            assert all(
                html.escape(reply) in item["choices"]
                for item, reply in zip(items, answers, strict=True)
                if reply is not None
            )
            actions = [{"time": 1.5, "action": "load"}]
            row = {"annotation": answers, "actions": actions, "item": items}
            log.append({**row, "user_id": user, "item_i": number})
    return log


def colours(name: str, question: str) -> str:
    return "Yes" if question == "SURE?" else "Light Red" if name == "3" else "Blue"


def read(path: Path) -> list[sheets.Answers]:
    return made().read_sheets([path])


def as_download(path: Path, log: Log) -> Path:
    return write_text(path, json.dumps({"colours": log}))


def test_a_campaign_shows_rows_and_guidelines_and_names_no_system() -> None:
    written = campaign()
    assert written["info"]["users"] == ["rater1", "rater2"]
    first, second = written["data"]
    assert len(first) == len(second) == len(TEXTS)
    assert first != second
    (((guidelines),),) = written["data_welcome"]
    for part in ("Which colour", "<b>Hint</b>: A hint.", "<b>Light Red</b>: It is red.", "hurry"):
        assert part in guidelines["text"]
    assert "secret" not in json.dumps(written)
    texts = [item["text"] for document in first for item in document]
    assert "<b>Text</b>: a &quot;quoted&quot;, text" in texts
    assert "<b>Text</b>: two<br>lines" in texts


@cases(("annotations.json", as_download), ("colours.jsonl", write_jsonl))
def test_answers_are_read(name: str, write: Callable[[Path, Log], Path], tmp_path: Path) -> None:
    expected = {row.id: (colours(row.id, "COLOUR"), "Yes") for row in made().rows}
    assert read(write(tmp_path / name, answered(campaign(), colours))) == [expected] * 2


def test_the_last_answer_counts_and_none_that_was_reset(tmp_path: Path) -> None:
    right = answered(campaign(), colours)
    wrong = answered(campaign(), lambda name, question: "No" if question == "SURE?" else "Blue")
    reset = [{"user_id": user, "annotation": "__RESET__"} for user in ("rater1", "other")]
    stranger = {**wrong[-1], "user_id": "other"}
    log = [*wrong, stranger, *reset, *right]
    assert read(as_download(tmp_path / "a.json", log)) == read(
        as_download(tmp_path / "b.json", right)
    )


def _changed(**values: Any) -> Callable[[Log], object]:
    """Return what changes the last answer."""
    return lambda log: log[-1].update(values)


def _item(number: int, **values: Any) -> Callable[[Log], object]:
    return lambda log: log[-1]["item"][number].update(values)


def _without_rater(log: Log) -> None:
    log[:] = [entry for entry in log if entry["user_id"] == "rater1"]


@cases(
    (
        _changed(annotation=[None, None, "Blue", None]),
        r"22 \(rater2\): row '\d+': SURE\?: .* no la",
    ),
    (_changed(annotation=[None, None, 1, "Yes"]), r"row '\d+': COLOUR: expected Light Red; Blue"),
    (_changed(annotation=["Blue"]), r"json: answer 22: expected 4 answers, got 1; use the answers"),
    (_changed(annotation={}), "answer 22: annotation: expected a list, got"),
    (_changed(user_id=7), "answer 22: user_id: expected a text, got 7"),
    (_changed(item=[{}, {}, {}, {}]), "item_id: expected the id of a row, .* got None"),
    (_item(0, cell="more"), r"rater2\): row '\d+': Text: expected the text of the key, .*'more'"),
    (_item(0, item_id="99"), r"rater2\): row '99': this id is not in the key"),
    (lambda log: log.pop(), r"json: rater2: expected every row of the key, row '\d+' is missing"),
    (_without_rater, "expected those of 2 raters or more, got 1"),
)
def test_answers_that_do_not_fit_are_refused(
    change: Callable[[Log], object], message: str, tmp_path: Path
) -> None:
    log = answered(campaign(), colours)
    change(log)
    refuses(message, read, as_download(tmp_path / "annotations.json", log))


@cases(
    ({"a": [], "b": []}, "expected the answers to one campaign, got a, b"),
    ({}, "expected the answers to one campaign, got none"),
    ({"a": [1]}, "a: item 1: expected an object, got 1"),
)
def test_a_file_of_another_form_is_refused(value: Any, message: str, tmp_path: Path) -> None:
    refuses(message, read, write_text(tmp_path / "a.json", json.dumps(value)))


def test_from_results_over_a_campaign_to_agreement(folder: Path) -> None:
    path = folder / "campaign.json"
    printed = " ".join(draw(folder, "-o", path).output.split())
    assert "when annotations.json is downloaded from Pearmut: cc-hf compare --by rater" in printed
    origins = truth(folder)
    labels = {"male": "Male", "female": "Female"}
    log = answered(
        json.loads(path.read_text(encoding="utf-8")),
        lambda name, question: labels[origins[name]["gold"]],
    )
    answers = as_download(folder / "annotations.json", log)
    options = ("--labels", answers, "--labels", folder / "key.json", "--json")
    rows = json.loads(printed_by("compare", "--by", "rater", folder / "b.json", *options))
    assert rows[0]["n_labels"] == 20
    assert rows[0]["annotators"]["kappa_raw"] == 1.0
    refuses("may be a campaign that people work on; choose another", draw, folder, "-o", path)


def test_the_file_of_a_campaign_is_not_that_of_its_key(folder: Path) -> None:
    refuses("expected another file than that of `key`", draw, folder, "-o", folder / "key.json")


def test_pearmut_accepts_a_campaign(tmp_path: Path) -> None:
    program = shutil.which("pearmut")
    if program is None:
        pytest.skip("this machine has no pearmut, which needs Python 3.12 (pip install pearmut)")
    path = write_text(tmp_path / "colours.json", campaign_text(made(), "colours", n_raters=3))
    run = subprocess.run(
        [program, "add", str(path)],
        env={**os.environ, "PEARMUT_ROOT": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Warning" not in run.stdout
    kept = json.loads((tmp_path / "data/campaigns/colours.json").read_text(encoding="utf-8"))
    assert list(kept["data"]) == ["rater1", "rater2", "rater3"]
    assert kept["data"]["rater1"] == json.loads(path.read_text(encoding="utf-8"))["data"][0]
    assert FORM.goal in kept["info"]["instructions"]
