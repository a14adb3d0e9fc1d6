from __future__ import annotations

from pathlib import Path

import datasets
import pytest

import cc_hf
from cc_hf.data.dataset_folders import folder_declaration, is_dataset_folder
from cc_hf.data.loading import load_examples
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.hub.parquet import build_dataset_folder
from cc_hf.schema import ContrastiveSourceExample, ProbingExample


def write_rows(path: Path, *rows: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    datasets.Dataset.from_list(list(rows)).to_parquet(path)


ROW = ProbingExample("0", "en", "de", "A bat.", "all", "1", None, {"a": "b"}).to_row()


@pytest.mark.parametrize("config", ["en-de", "en-es.paper"])
def test_a_built_folder_is_a_dataset_with_the_same_examples(tmp_path: Path, config: str) -> None:
    build_dataset_folder("simplegen", ["en-de", "en-es.paper"], output=tmp_path / "a")
    folder = str(tmp_path / "a")
    assert is_dataset_folder(folder)
    declared = folder_declaration(folder)
    assert declared.config(config).form is ContrastiveSourceExample
    assert load_examples(folder, config) == load_examples("simplegen", config)
    assert cc_hf.load_dataset(folder, config)["test"].num_rows == 2664
    assert cc_hf.load_dataset(folder, config, split="test", streaming=True)
    material = cc_hf.load_material(folder, config)
    assert material.origin.fields["data"].startswith(f"custom/{config}@")
    assert material.tgt_lang == config[3:5]


def test_the_revision_is_that_of_the_content(tmp_path: Path) -> None:
    write_rows(tmp_path / "a/set/test-0.parquet", ROW)
    write_rows(tmp_path / "b/set/test-0.parquet", ROW)
    write_rows(tmp_path / "c/set/test-0.parquet", {**ROW, "source": "The bat."})
    first, same, other = (folder_declaration(tmp_path / name).revision for name in "abc")
    assert first == same != other


def test_splits_are_kept(tmp_path: Path) -> None:
    for split in ("dev", "test"):
        write_rows(tmp_path / f"a/set/{split}-00000-of-00001.parquet", {**ROW, "id": split})
    (example,) = load_examples(str(tmp_path / "a"), "set", split="dev")
    assert example.id == "dev"
    assert set(cc_hf.load_dataset(str(tmp_path / "a"), "set")) == {"dev", "test"}


def test_other_folders_are_no_datasets(tmp_path: Path) -> None:
    assert not is_dataset_folder(tmp_path)
    with pytest.raises(UnknownNameError, match="unknown dataset"):
        load_examples(str(tmp_path))


def test_files_that_do_not_hold_examples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a/set/test-0.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no parquet")
    with pytest.raises(DataError, match="expected a Parquet file"):
        folder_declaration(tmp_path / "a")
    wrong: list[tuple[list[dict[str, object]], str]] = [
        ([{"text": "a"}], "got the columns text"),
        ([{**ROW, "source": ""}], "row 0: example '0': source is empty"),
        ([ROW, {**ROW, "src_lang": "fr"}], "one source language, got en, fr"),
    ]
    for rows, message in wrong:
        write_rows(path, *rows)
        with pytest.raises(DataError, match=message):
            folder_declaration(tmp_path / "a")
