"""Datasets as users load them by name: rows, splits, streams, caches and folders."""

import inspect
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
from cc_hf.data.dataset_folders import examples_of_rows
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.records import write_record
from tests.helpers.samples import data_of, is_sampled, lay_out_samples
from tests.helpers.usual import fails, typed

EVERY = [(n, c.name) for n in registry.DATASETS for c in registry.resolve("dataset", n).configs]


@pytest.mark.parametrize(("name", "config"), EVERY)
def test_rows_equal_the_examples(name: str, config: str, shared: Path, tmp_path: Path) -> None:
    dataset, data_dir = registry.resolve("dataset", name), data_of(name, config, tmp_path, shared)
    declared, keys = dataset.config(config), dataset.extra_keys_of(config)
    loaded = typed(datasets.DatasetDict, cc_hf.load_dataset(name, config, data_dir=data_dir))
    assert list(loaded) == list(declared.splits)
    for split, n in declared.splits.items():
        examples = cc_hf.load_examples(name, config, split=split, data_dir=data_dir)
        n = len(examples) if is_sampled(name, config) else n
        assert {type(example) for example in examples} == {declared.form}
        assert loaded[split].num_rows == len({e.id for e in examples}) == len(examples) == n > 0
        assert examples_of_rows(declared.form, loaded[split].to_list()) == examples
        assert loaded[split].column_names == list(write_record(examples[0]))
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


def test_neither_major_versions_of_datasets_nor_readers_that_differ_share_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, caches = tmp_path / "reader.py", []
    monkeypatch.setattr(inspect, "getfile", lambda read: str(reader))
    for version, text in (("5.2.0", "1"), ("5.3.1", "1"), ("3.6.0", "1"), ("5.2.0", "2")):
        monkeypatch.setattr(datasets, "__version__", version)
        reader.write_text(text, encoding="utf-8")
        (file,) = cc_hf.load_dataset("simplegen", "en-de", split="test").cache_files
        caches.append(file["filename"])
    assert caches[0] == caches[1]
    assert len(set(caches)) == 3


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
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

    config = registry.resolve("dataset", name).default_config
    data_dir = data_of(name, config, tmp_path / "data", shared)
    loaded = cc_hf.load_dataset(name, config, data_dir=data_dir)
    streamed = typed(
        datasets.IterableDatasetDict,
        cc_hf.load_dataset(name, config, data_dir=data_dir, streaming=True),
    )
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


_LOAD_WINOMT = (
    "import sys, cc_hf; print(len(cc_hf.load_dataset('winomt', data_dir=sys.argv[1])['test']))"
)


def test_two_processes_can_load_a_dataset_concurrently(shared: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    command = [sys.executable, "-c", _LOAD_WINOMT, str(shared / "upstream")]
    load = partial(subprocess.run, capture_output=True, text=True, env=environment)
    with ThreadPoolExecutor(2) as pool:
        for actual in pool.map(load, [command] * 2):
            assert (actual.returncode, actual.stdout.strip()) == (0, "3648"), actual.stderr


#: Prints the peak of memory of the process; `ru_maxrss` would be that of the tests' own process.
_BUILD = """
import re, sys
from cc_hf.plugins.dataset_folders.building import build_dataset_folder
build_dataset_folder(sys.argv[1], [sys.argv[2]], output=sys.argv[3], data_dir=sys.argv[4])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()).group(1))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
def test_building_the_largest_configuration_stays_below_1_gb(shared: Path, tmp_path: Path) -> None:
    files = {key: registry.resolve("dataset", key[0]).files_of(key[1]) for key in EVERY}
    here = {key: of for key, of in files.items() if not is_sampled(*key)}
    name, config = max(here, key=lambda key: sum(file.size for file in here[key]))
    folders = str(tmp_path / "built"), str(shared / "upstream")
    command = [sys.executable, "-c", _BUILD, name, config, *folders]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home")}
    completed = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert completed.returncode == 0, completed.stderr
    assert 50_000 < int(completed.stdout) < 1_000_000  # kB
