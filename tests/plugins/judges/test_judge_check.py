"""Checking a judge on labelled translations."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import cc_hf as package
from cc_hf.errors import DataError, InputError
from cc_hf.evidence import SHIPPED, read_evidence, users_file
from cc_hf.plugins.judges.judge_check import check_judge
from cc_hf.statistics.score_intervals import wilson_interval
from tests.helpers.usual import cc_hf, fails

_EXACT = package.LoadingOptions(mode="exact")


def _shipped(dataset: str, cues: str) -> list[tuple[int, ...]]:
    return [
        (row.n_right_found, row.n_right, row.n_wrong_found, row.n_wrong)
        for row in read_evidence(SHIPPED)
        if row.dataset == dataset
        and not row.threshold
        and row.evaluator.startswith("cc-tiny-en-de@")
        if f"|cues:{cues}|" in row.signature
    ]


def test_a_check_counts_what_ships_and_later_results_find_it(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    checked = check_judge(
        "cc-tiny-en-de", "winomt", language_pair="en-de", loading=_EXACT,
        data_dir=shared / "upstream",
    )  # fmt: skip
    shipped = [r for r in read_evidence(SHIPPED) if r.dataset == "winomt" and not r.of]
    assert [replace(row, signature="") for row in checked.evidence] == [
        replace(row, signature="") for row in shipped
    ]
    assert read_evidence(users_file()) == list(checked.evidence)
    assert checked.by_dataset()["winomt"].level == "ranks only"
    # As in the trial: right ones found right, wrong ones found wrong, where people agree.
    rows = [row for row in checked.evidence if not row.threshold]
    right = [(r.n_right_found + r.n_neither_right, r.n_right + r.n_neither) for r in rows]
    assert tuple(map(sum, zip(*right, strict=True))) == (115, 126)
    assert sum(r.n_wrong_found for r in rows) == sum(r.n_wrong for r in rows) == 71
    assert rows[0].people_kappa == pytest.approx(0.953, abs=5e-4)
    # With a threshold for neither, hardly a mistake is left where a reading is found.
    three = [row for row in checked.evidence if row.threshold == "0.0414"]
    assert [(row.right, row.wrong) for row in three] == [((20, 20), (61, 61)), ((82, 82), (8, 8))]
    assert sum(row.n_neither_found for row in three) == 17
    assert checked.by_dataset()["winomt, neither below 0.0414"].level == "ranks only"


def test_what_ships_is_what_was_measured() -> None:
    before, phrase = "gender_brackets", "gender_brackets_phrase"
    # 409, 449 found; and 452, 481
    assert _shipped("genderous", before) == [(96, 109, 313, 344), (64, 68, 385, 413)]
    assert _shipped("genderous", phrase) == [(109, 109, 343, 344), (68, 68, 413, 413)]
    of_both = [
        _shipped("gender_alternatives", cues) for cues in ("gender_brackets+appositions", phrase)
    ]
    assert of_both == [[(1373, 1685, 1265, 1685)], [(1398, 1685, 1282, 1685)]]
    low, high = 0.768, 0.832  # of the trial on 600 texts
    for ((women, n_women, men, n_men),) in of_both:
        assert low < (women + men) / (n_women + n_men) < high
        assert wilson_interval(women + men, n_women + n_men).high < high


def test_a_judge_that_always_finds_a_woman_is_a_screen(shared: Path) -> None:
    def yes(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [float("[female]" in source) for source in sources]

    checked = check_judge(yes, "winomt", language_pair="en-de", data_dir=shared / "upstream")
    assert checked.file is None  # another function may have its name
    women, men = checked.evidence
    assert (women.n_right_found, women.n_wrong_found) == (women.n_right, 0)
    assert (men.n_right_found, men.n_wrong_found) == (0, men.n_wrong)
    assert checked.by_dataset()["winomt"].level == "screen"


def test_scores_of_0_give_thresholds_that_are_numbers(shared: Path) -> None:
    def by_length(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        pairs = zip(sources, translations, strict=True)
        return [float("[female]" in s or len(t) % 3 == 0) for s, t in pairs]

    checked = check_judge(by_length, "winomt", language_pair="en-de", data_dir=shared / "upstream")
    assert all(float(row.threshold or 1) < 1e3 for row in checked.evidence)


def test_pairs_without_labels_and_sets_that_cannot_be_had_are_named(tmp_path: Path) -> None:
    message = "expected a test set and a language pair with labelled translations, got winomt en-fi"
    fails(InputError, message, check_judge, "cc-tiny-en-de", "winomt", language_pair="en-fi")
    fails(
        DataError, "file not found", check_judge, "cc-tiny-en-de", "winomt",
        language_pair="en-de", data_dir=tmp_path,
    )  # fmt: skip


def test_the_command_prints_levels_and_writes_json(shared: Path, tmp_path: Path) -> None:
    words = ("judge", "check", "cc-tiny-en-de", "winomt", "-l", "en-de", "--data-dir")
    run = cc_hf(*words, shared / "upstream", "--quiet")
    assert "winomt: ranks only" in run.stdout
    assert "24 of 30, 80.0 %" in run.stdout
    assert "20 translations show neither; it finds 17 of them, and 6 of the 177 others" in (
        run.stdout
    )
    assert "missing for supported" in run.stdout
