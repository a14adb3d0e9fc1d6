"""Datasets through the door that users of `datasets` know."""

from __future__ import annotations

import shutil
from pathlib import Path

import datasets
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.errors import DataError, UnknownNameError

ALL = [(name, config.name) for name in registry.DATASETS for config in registry.resolve("dataset", name).configs if all(file.sha256 for file in config.files)]


@pytest.mark.shared
@pytest.mark.parametrize(("name", "config"), ALL)
def test_rows_equal_the_examples(shared: Path, name: str, config: str) -> None:
    declared = registry.resolve("dataset", name).config(config)
    loaded = cc_hf.load_dataset(name, config, data_dir=shared / "upstream")
    assert isinstance(loaded, datasets.DatasetDict)
    assert list(loaded) == list(declared.splits)
    for split, n in declared.splits.items():
        examples = cc_hf.load_examples(name, config, split=split, data_dir=shared / "upstream")
        assert {type(example) for example in examples} == {declared.form}
        assert loaded[split].num_rows == len(examples) == n
        assert len({example.id for example in examples}) == n
        assert [declared.form.from_row(row) for row in loaded[split]] == examples
        assert loaded[split].column_names == list(examples[0].to_row())
        assert {(e.src_lang, e.tgt_lang or declared.tgt_langs[0]) for e in examples} == {(declared.src_lang, declared.tgt_langs[0])}


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
