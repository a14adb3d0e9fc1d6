from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.errors import InputError
from cc_hf.leaderboard.store import DATES, read_folder, without_translations
from cc_hf.results import ResultSet
from tests.helpers.results import small_result, write_result


def test_results_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    write_result(tmp_path, "b", small_result((0.4, 0.9)))
    write_result(tmp_path, "a", small_result((0.4, 0.8), system="opus/beam5"))
    both = (small_result((0.5, 0.7)), small_result((0.2, 0.3), metric="winomt_pattern_matching"))
    several = ResultSet(both, {"gender_accuracy": "does not fit"})
    (tmp_path / "c.json").write_text(several.to_json(), encoding="utf-8")
    (tmp_path / "within").mkdir()
    write_result(tmp_path / "within", "d", small_result((0.1, 0.1)))
    (tmp_path / "notes.txt").write_text("not a result", encoding="utf-8")
    store = read_folder(tmp_path)
    assert [(e.system, e.file, e.result.metric) for e in store.entries] == [
        ("opus/beam5", "a.json", "contrastive_conditioning"),
        ("b", "b.json", "contrastive_conditioning"),
        ("c", "c.json", "contrastive_conditioning"),
        ("c", "c.json", "winomt_pattern_matching"),
    ]
    assert store.broken == {}
    assert store.entries[0].result.n == 20
    assert store.entries[0].result.judgements == ()


def test_a_result_has_the_day_of_its_file_or_of_the_list(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        path = write_result(tmp_path, name, small_result((0.4, 0.9)))
        os.utime(path, (86_400, 86_400))
    (tmp_path / DATES).write_text("a.json\t2026-01-31\nb.json\tyesterday\n", encoding="utf-8")
    days = [entry.date for entry in read_folder(tmp_path).entries]
    assert days == ["2026-01-31", "1970-01-02", "1970-01-02"]


def test_results_without_translations_keep_every_figure(tmp_path: Path) -> None:
    whole = ResultSet((small_result((0.4, 0.9)),))
    bare = without_translations(whole)
    assert "Übersetzung" not in bare.to_json()
    assert bare == ResultSet.from_json(bare.to_json())
    assert bare.results[0] == replace(whole.results[0], judgements=())


def test_an_empty_folder_is_accepted_and_a_missing_one_refused(tmp_path: Path) -> None:
    assert read_folder(tmp_path).entries == ()
    with pytest.raises(InputError, match="is not a folder"):
        read_folder(tmp_path / "no")


_WHOLE = small_result((0.4, 0.9)).to_json()
_BROKEN: dict[str, bytes] = {
    "text": b"no JSON",
    "undecodable": b"{\xff\xfe}",
    "other": b'{"systems": []}',
    "deep": b"[" * 100_000,
    "count": _WHOLE.replace('"n_ties": 0\n }', '"n_ties": "<b>"\n }').encode(),
    "outside": _WHOLE.replace('"accuracy": 0.65', '"accuracy": 65').encode(),
    "interval_text": _WHOLE.replace('"level": 0.95', '"level": "<b>"').encode(),
    "signature": _WHOLE.replace('"cc|data', '"cc|x|data').encode(),
}


@pytest.mark.parametrize("name", _BROKEN)
def test_a_broken_file_is_reported_and_the_others_are_read(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_result(tmp_path, "whole", small_result((0.4, 0.9)))
    (tmp_path / f"{name}.json").write_bytes(_BROKEN[name])
    with caplog.at_level(logging.WARNING):
        store = read_folder(tmp_path)
    assert [entry.file for entry in store.entries] == ["whole.json"]
    assert list(store.broken) == [f"{name}.json"]
    assert str(tmp_path) not in store.broken[f"{name}.json"]
    assert f"{name}.json is not shown" in caplog.text
