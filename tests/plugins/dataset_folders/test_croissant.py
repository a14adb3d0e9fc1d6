import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import datasets
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.data.loading import load_examples
from cc_hf.plugins.dataset_folders.building import build_dataset_folder
from tests.helpers.samples import data_of
from tests.helpers.usual import cases, fails, write_jsonl, write_text

mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed; install it by [dev]")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

#: the one thing that nobody knows before an upload
_UNKNOWN = re.compile(r".*datePublished\" is recommended, but does not exist\.")


def described(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    return content


def read(file: Path) -> Any:
    """Return what mlcroissant reads, without an error and with the one warning."""
    dataset = mlc.Dataset(file)
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert [warning for warning in issues.warnings if not _UNKNOWN.match(warning)] == []
    return dataset


def plain(value: Any) -> Any:
    """Return a value of mlcroissant as that of `datasets`: text for bytes, names for ids."""
    if isinstance(value, dict):
        return {unquote(key.rsplit("/", 1)[1]): plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.decode()
    return [plain(item) for item in value] if isinstance(value, list) else value


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of `datasets` as mlcroissant shows it: a struct without a value has its keys."""
    is_empty = "focus" in row and row["focus"] is None
    return {**row, "focus": {"text": None, "start": None}} if is_empty else row


def terms(value: Any) -> set[str]:
    """Return the names of all properties of a description."""
    if isinstance(value, list):
        return {term for item in value for term in terms(item)}
    if not isinstance(value, dict):
        return set()
    return {*value} | {term for item in value.values() for term in terms(item)}


@pytest.mark.parametrize("name", registry.DATASETS)
def test_mlcroissant_reads_every_dataset(name: str, tmp_path: Path, shared: Path) -> None:
    config = registry.resolve("dataset", name).default_config
    data_dir = data_of(name, config, tmp_path / "data", shared)
    build_dataset_folder(name, [config], output=tmp_path / "a", data_dir=data_dir)
    content = described(tmp_path / "a")
    dataset = read(tmp_path / "a/croissant.json")
    # A property that mlcroissant does not know is missing in what it writes again.
    written = dataset.metadata.to_json()
    assert set(content) == set(written)
    assert terms({**content, "@context": 0}) <= terms({**written, "@context": 0})
    names = ("dataCollection", "dataBiases", "dataLimitations", "dataUseCases")
    for key in [f"rai:{name}" for name in names]:
        assert written[key] in (content[key], content[key][0])  # a list of one becomes its item
    assert all(person["name"].replace(" ", "").isprintable() for person in content["creator"])
    for records in content["recordSet"]:
        of_config, _, split = records["@id"].partition("/")  # the second one repeats it as choices
        loaded = datasets.load_dataset(str(tmp_path / "a"), of_config)[split or "test"]
        rows = [plain(row) for row, _ in zip(dataset.records(records["@id"]), range(50))]
        assert rows == [shown(row) for row in loaded.to_list()[:50]]


def test_the_fields_come_from_the_card_and_the_files(tmp_path: Path) -> None:
    build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "a", repo="org/simplegen")
    content = described(tmp_path / "a")
    assert content["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    assert content["url"] == "https://huggingface.co/datasets/org/simplegen"
    assert content["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert content["creator"][0] == {"@type": "sc:Person", "name": "Adithya Renduchintala"}
    assert content["citeAs"].startswith("@inproceedings{renduchintala-etal-2021-gender,")
    assert any("U.S." not in text and "two genders" in text for text in content["rai:dataBiases"])
    assert not any("### " in text or "- " in text[:2] for text in content["rai:dataLimitations"])
    (file,) = content["distribution"]
    path = "en-de/test-00000-of-00001.parquet"
    assert file["contentUrl"] == f"{content['url']}/resolve/main/{path}"
    # what the Hub would give lies here
    mapping = {file["@id"]: tmp_path / "a" / path}
    dataset = mlc.Dataset(tmp_path / "a/croissant.json", mapping=mapping)
    rows = [plain(row) for row in dataset.records("en-de")]
    assert rows == cc_hf.load_dataset("simplegen", "en-de")["test"].to_list()


@pytest.mark.parametrize("name", ["a: b", "{x}", "#c", "..x", 'a"b', "Ä b", "test"])
def test_user_files_of_any_name_are_described(tmp_path: Path, name: str) -> None:
    row = {"source": "The nurse left.", "focus": "nurse", "gold": "male", "the hour": "9"}
    path = write_jsonl(tmp_path / f"{name}.jsonl", [row])
    build_dataset_folder(str(path), output=tmp_path / "built")
    dataset = read(tmp_path / "built/croissant.json")
    content = described(tmp_path / "built")
    assert not {"creator", "rai:dataBiases", "rai:dataLimitations"} & set(content)
    assert not any("author has to add" in str(content[key]) for key in content if "rai" in key)
    (record,) = dataset.records(content["recordSet"][0]["@id"])
    (example,) = load_examples(str(path))
    assert plain(record)["source"] == example.source
    assert plain(record)["extra"] == {"line": "1", "the hour": "9"}


@cases(
    ('"dataType": "sc:Text"', '"dataType": "sc:Nothing"'),
    ('"sha256"', '"sha"'),
    ('{"fileObject": {"@id": "', '{"fileObject": {"@id": "other'),
)
def test_mlcroissant_refuses_wrong_fields(part: str, other: str, tmp_path: Path) -> None:
    build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "a")
    text = json.dumps(described(tmp_path / "a"))
    assert part in text
    path = write_text(tmp_path / "a/croissant.json", text.replace(part, other, 1))
    fails(mlc.ValidationError, ".", read, path)
