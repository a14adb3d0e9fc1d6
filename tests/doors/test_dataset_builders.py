"""Datasets through the door that users of `datasets` know."""

from __future__ import annotations

import shutil
from pathlib import Path

import datasets
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import DataError, UnknownNameError

ALL = [(name, config.name) for name in registry.DATASETS for config in registry.resolve("dataset", name).configs]


@pytest.mark.shared
@pytest.mark.parametrize(("name", "config"), ALL)
def test_rows_equal_the_examples(shared: Path, name: str, config: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    loaded = cc_hf.load_dataset(name, config, data_dir=shared / "upstream")
    assert isinstance(loaded, datasets.DatasetDict)
    assert list(loaded) == ["test"]
    examples = cc_hf.load_examples(name, config, data_dir=shared / "upstream")
    assert loaded["test"].num_rows == len(examples) == declaration.config(config).n_examples
    assert [cc_hf.ContrastiveSourceExample.from_row(row) for row in loaded["test"]] == examples
    assert loaded["test"].column_names == list(examples[0].to_row())


def test_split_and_unknown_names() -> None:
    loaded = cc_hf.load_dataset("simplegen", "en-de", split="test")
    assert isinstance(loaded, datasets.Dataset)
    with pytest.raises(UnknownNameError, match="unknown dataset 'winmt'; did you mean 'winomt'"):
        cc_hf.load_dataset("winmt")
    with pytest.raises(UnknownNameError, match=r"unknown configuration of simplegen 'en-ed'; did you mean .*'en-de'"):
        cc_hf.load_dataset("simplegen", "en-ed")


def test_streaming_equals_loading() -> None:
    streamed = cc_hf.load_dataset("simplegen", "en-es", streaming=True)
    assert isinstance(streamed, datasets.IterableDatasetDict)
    assert list(streamed["test"]) == cc_hf.load_dataset("simplegen", "en-es")["test"].to_list()


@pytest.mark.shared
def test_changed_data_is_never_served_from_the_cache(shared: Path, tmp_path: Path) -> None:
    relative = "ZurichNLP/contrastive-conditioning/tasks/data/winomt/test.tsv"
    copy = tmp_path / relative
    copy.parent.mkdir(parents=True)
    shutil.copyfile(shared / "upstream" / relative, copy)
    assert cc_hf.load_dataset("winomt", data_dir=tmp_path)["test"].num_rows == 3648
    copy.write_text("altered", encoding="utf-8")
    with pytest.raises(DataError, match="expected sha256"):
        cc_hf.load_dataset("winomt", data_dir=tmp_path)
