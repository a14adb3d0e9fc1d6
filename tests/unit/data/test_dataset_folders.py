"""Folders with rows of datasets are read."""

from pathlib import Path

import cc_hf
from cc_hf.data.dataset_folders import folder_declaration, is_dataset_folder
from cc_hf.data.loading import load_examples
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.records import write_record
from cc_hf.schema import ProbingExample
from tests.helpers.lines import write_parquet
from tests.helpers.usual import fails, write_text

ROW = write_record(ProbingExample("0", "en", "de", "A bat.", "all", "1", None, {"a": "b"}))


def test_the_revision_is_that_of_the_content(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a/set/test-0.parquet", ROW)
    write_parquet(tmp_path / "b/set/test-0.parquet", ROW)
    write_parquet(tmp_path / "c/set/test-0.parquet", {**ROW, "source": "The bat."})
    first, same, other = (folder_declaration(tmp_path / name).revision for name in "abc")
    assert first == same != other


def test_splits_are_kept(tmp_path: Path) -> None:
    for split in ("dev", "test"):
        write_parquet(tmp_path / f"a/set/{split}-00000-of-00001.parquet", {**ROW, "id": split})
    (example,) = load_examples(str(tmp_path / "a"), "set", split="dev")
    assert example.id == "dev"
    assert set(cc_hf.load_dataset(str(tmp_path / "a"), "set")) == {"dev", "test"}


def test_other_folders_are_no_datasets(tmp_path: Path) -> None:
    assert not is_dataset_folder(tmp_path)
    fails(UnknownNameError, "unknown dataset", load_examples, str(tmp_path))


def test_files_that_do_not_hold_examples_are_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a/set/test-0.parquet", "no parquet")
    fails(DataError, "expected a Parquet file", folder_declaration, tmp_path / "a")
    for rows, message in [
        ([{"text": "a"}], "got the columns text"),
        ([{**ROW, "source": ""}], "row 0: example '0': source is empty"),
        ([ROW, {**ROW, "src_lang": "fr"}], "one source language, got en, fr"),
    ]:
        write_parquet(path, *rows)
        fails(DataError, message, folder_declaration, tmp_path / "a")
