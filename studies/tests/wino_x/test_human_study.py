"""The study with people: sheets, and what two raters agree on."""

import json
from pathlib import Path

from cc_hf_studies.wino_x.human_study import FORM, draw_samples, rate_samples

from cc_hf.errors import CCError
from cc_hf.plugins.raters.sheets import SheetKey
from cc_hf.results import Interval
from tests.helpers.judged import Examples
from tests.helpers.usual import cases, contrastive, fails, fill, printed_by, refuses


def test_two_people_are_compared_with_data(schemas: Examples) -> None:
    key = draw_samples(schemas, n=40)
    by_id = {example.id: example for example in schemas}
    for row in key.rows:
        sentence, *translations = row.cells
        example, right = by_id[row.origins[0]["id"]], row.origins[0]["right"]
        assert (sentence, right) == (example.source, example.extra["answer"])
        assert translations[int(right) - 1] == example.correct_translation
    first = {row.id: (row.origins[0]["right"],) for row in key.rows}
    names = list(first)
    other = {"1": "2", "2": "1"}[first[names[0]][0]]
    second = {**first, names[0]: (other,), names[1]: ("BOTH",), names[2]: ("BAD SAMPLE",)}
    figures = rate_samples(key, first, second)
    assert [rater.accuracy for rater in figures.raters] == [1, 37 / 40]
    rater = figures.raters[1]
    assert (rater.n_wrong, rater.n_both, rater.n_bad) == (1, 1, 1)
    assert figures.accuracy == 77 / 80
    assert figures.interval.low < 77 / 80 < figures.interval.high
    assert figures.choice_accuracy == 77 / 78
    assert isinstance(figures.kappa_interval, Interval)
    assert 0.5 < figures.kappa < 1
    assert draw_samples(schemas, n=40) == key != draw_samples(schemas, n=40, seed=1)
    undecided = dict.fromkeys(names, ("BOTH",))
    assert rate_samples(key, undecided, undecided).choice_accuracy is None


def test_sheets_are_written_filled_and_read(data_dir: Path, tmp_path: Path) -> None:
    folder, key = tmp_path / "sheets", tmp_path / "key.json"
    printed_by(f"study wino_x build-sheets -o {folder} --key {key} --n 20 --data-dir {data_dir}")
    assert "BAD SAMPLE" in (folder / "guidelines.md").read_text(encoding="utf-8")
    right = {row.cells: row.origins[0]["right"] for row in SheetKey.read(key, [FORM]).rows}
    sheets = [folder / "rater1.csv", folder / "rater2.csv"]
    names = ("SENTENCE", "TRANSLATION_1", "TRANSLATION_2")
    for sheet in sheets:
        fill(sheet, lambda row: [right[tuple(row[name] for name in names)]])
    command = f"study wino_x rate {key} {sheets[0]} {sheets[1]} --resamples 20"
    figures = json.loads(printed_by(f"{command} --json"))
    assert (figures["n"], figures["accuracy"], figures["kappa"]) == (20, 1, 1)
    printed = printed_by(command)
    assert "thesis, en-de" in printed
    assert "thesis: 0.69" in printed
    fails(CCError, "those of 2 raters, got 1", printed_by, f"study wino_x rate {key} {sheets[0]}")


@cases(
    (0, [None], "n: expected at least 1, got 0"),
    (1, [], "expected samples of MT-Wino-X, got none"),
    (1, [contrastive("a", "", "Ja.", "Nein.")], "'a': expected a source with two translations"),
)
def test_what_cannot_be_asked_is_refused(n: int, examples: Examples, message: str) -> None:
    refuses(message, draw_samples, examples, n=n)
