"""Datasets as users of `datasets` load them."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import datasets
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.hub.parquet import build_dataset_folder
from tests.helpers.cases import cases
from tests.helpers.refusals import fails
from tests.helpers.samples import data_of, is_sampled, lay_out_samples

EVERY = [(n, c.name) for n in registry.DATASETS for c in registry.resolve("dataset", n).configs]


@cases(*EVERY)
def test_rows_equal_the_examples(name: str, config: str, shared: Path, tmp_path: Path) -> None:
    dataset, data_dir = registry.resolve("dataset", name), data_of(name, config, tmp_path, shared)
    declared, keys = dataset.config(config), dataset.extra_keys_of(config)
    loaded = cc_hf.load_dataset(name, config, data_dir=data_dir)
    assert isinstance(loaded, datasets.DatasetDict)
    assert list(loaded) == list(declared.splits)
    for split, n in declared.splits.items():
        examples = cc_hf.load_examples(name, config, split=split, data_dir=data_dir)
        n = len(examples) if is_sampled(name, config) else n
        assert {type(example) for example in examples} == {declared.form}
        assert loaded[split].num_rows == len({e.id for e in examples}) == len(examples) == n > 0
        assert [declared.form.from_row(row) for row in loaded[split].to_list()] == examples
        assert loaded[split].column_names == list(examples[0].to_row())
        languages = (declared.src_lang, declared.tgt_langs[0])
        assert {(e.src_lang, e.tgt_lang or languages[1]) for e in examples} == {languages}
        assert {tuple(e.extra) for e in examples} == {keys}
    if is_sampled(name, config):
        streamed = cc_hf.load_dataset(name, config, data_dir=data_dir, streaming=True)["test"]
        assert list(streamed) == loaded["test"].to_list()


def test_a_split_loads_alone_and_unknown_names_are_refused() -> None:
    assert isinstance(cc_hf.load_dataset("simplegen", "en-de", split="test"), datasets.Dataset)
    fails(UnknownNameError, "dataset 'winmt'; did you mean 'winomt'", cc_hf.load_dataset, "winmt")
    fails(UnknownNameError, r"'en-ed'; did you .*'en-de'", cc_hf.load_dataset, "simplegen", "en-ed")


def test_changed_data_is_refused_and_not_cached(shared: Path, tmp_path: Path) -> None:
    relative = "ZurichNLP/contrastive-conditioning/tasks/data/winomt/test.tsv"
    copy = tmp_path / relative
    copy.parent.mkdir(parents=True)
    shutil.copyfile(shared / "upstream" / relative, copy)
    assert cc_hf.load_dataset("winomt", data_dir=tmp_path)["test"].num_rows == 3648
    copy.write_text("altered", encoding="utf-8")
    fails(DataError, "expected sha256", cc_hf.load_dataset, "winomt", data_dir=tmp_path)


def test_the_builder_names_a_malformed_row(tmp_path: Path) -> None:
    lay_out_samples("contrawsd", "de-fr", tmp_path, tmp_path)
    path = tmp_path / "a-rios/ContraWSD/de-fr.final.json"
    good = path.read_text(encoding="utf-8")
    path.write_text("[{}]", encoding="utf-8")
    load = partial(cc_hf.load_dataset, "contrawsd", "de-fr", data_dir=tmp_path)
    for streaming in (False, True):
        with pytest.raises(DataError, match=r"l\.json: item 0: expected the key 'errors', got {}"):
            list(load(split="test", streaming=streaming))
    path.write_text(good, encoding="utf-8")
    assert load()["test"].num_rows == 1


@pytest.mark.parametrize("name", registry.DATASETS)
def test_every_dataset_streams_and_builds_the_same(shared: Path, tmp_path: Path, name: str) -> None:
    config = registry.resolve("dataset", name).default_config
    data_dir = data_of(name, config, tmp_path / "data", shared)
    loaded = cc_hf.load_dataset(name, config, data_dir=data_dir)
    streamed = cc_hf.load_dataset(name, config, data_dir=data_dir, streaming=True)
    assert isinstance(streamed, datasets.IterableDatasetDict)
    for split, rows in streamed.items():
        assert list(rows) == loaded[split].to_list()
    contents = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        paths = build_dataset_folder(name, [config], output=folder, data_dir=data_dir)
        contents.append([(path.relative_to(folder), path.read_bytes()) for path in paths])
    assert contents[0] == contents[1]
    built = datasets.load_dataset(str(tmp_path / "a"), config)
    assert built.keys() == loaded.keys()
    assert all(built[split].to_list() == loaded[split].to_list() for split in built)


_LOAD = "import sys, cc_hf; print(len(cc_hf.load_dataset('winomt', data_dir=sys.argv[1])['test']))"


def test_two_processes_can_load_a_dataset_concurrently(shared: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    command = [sys.executable, "-c", _LOAD, str(shared / "upstream")]
    load = partial(subprocess.run, capture_output=True, text=True, env=environment)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(load, [command] * 2):
            assert (found.returncode, found.stdout.strip()) == (0, "3648"), found.stderr


_BUILD = """
import re, sys
from cc_hf.hub.parquet import build_dataset_folder
build_dataset_folder(sys.argv[1], [sys.argv[2]], output=sys.argv[3], data_dir=sys.argv[4])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()).group(1))  # ru_maxrss would be that of the tests' own process
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
def test_building_the_largest_configuration_stays_below_1_gb(shared: Path, tmp_path: Path) -> None:
    files = {key: registry.resolve("dataset", key[0]).files_of(key[1]) for key in EVERY}
    here = {key: of for key, of in files.items() if not is_sampled(*key)}
    name, config = max(here, key=lambda key: sum(file.size for file in here[key]))
    folders = str(tmp_path / "built"), str(shared / "upstream")
    command = [sys.executable, "-c", _BUILD, name, config, *folders]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home")}
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr
    assert 50_000 < int(found.stdout) < 1_000_000  # kB
