from __future__ import annotations

import json
import re
from pathlib import Path

import datasets
import pytest
import yaml
from huggingface_hub import DatasetCard

import cc_hf
from cc_hf.data.files.custom import custom_declaration
from cc_hf.data.loading import declaration
from cc_hf.errors import InputError
from cc_hf.hub.parquet import build_dataset_folder
from cc_hf.hub.tasks import tasks
from cc_hf.reports.formats.markdown import markdown_text
from tests.helpers.samples import lay_out_samples


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_folder_loads_and_is_reproducible(tmp_path: Path) -> None:
    files = build_dataset_folder("simplegen", output=tmp_path / "a")
    build_dataset_folder("simplegen", output=tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert {path.name for path in files} == {
        "README.md",
        "eval.yaml",
        "simplegen.py",
        "test-00000-of-00001.parquet",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    for config in ("en-de", "en-es.paper"):
        loaded = datasets.load_dataset(str(tmp_path / "a"), config)
        expected = cc_hf.load_dataset("simplegen", config)
        assert loaded["test"].features == expected["test"].features
        assert loaded["test"].to_list() == expected["test"].to_list()
        streamed = datasets.load_dataset(str(tmp_path / "a"), config, streaming=True, split="test")
        assert list(streamed) == expected["test"].to_list()


def test_the_card_yaml_names_every_configuration(tmp_path: Path) -> None:
    build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "a", repo="org/simplegen")
    card = DatasetCard.load(tmp_path / "a/README.md")
    front = card.data.to_dict()
    assert front["configs"] == [
        {
            "config_name": "en-de",
            "data_files": [{"split": "test", "path": "en-de/test-*"}],
            "default": True,
        }
    ]
    assert front["dataset_info"]["splits"][0]["num_examples"] == 2664
    assert front["license"] == "cc-by-4.0"
    assert "# SimpleGEN in contrastive format" in card.text
    assert re.findall(r"^\| `([^`]+)`", card.text, re.MULTILINE) == ["en-de"]
    assert 'datasets.load_dataset("org/simplegen", "en-de")' in card.text


def test_the_size_category_is_that_of_all_rows(tmp_path: Path) -> None:
    for configs, category in ((["en-de"], "1K<n<10K"), (None, "10K<n<100K")):
        build_dataset_folder("simplegen", configs, output=tmp_path / category)
        card = DatasetCard.load(tmp_path / category / "README.md")
        assert card.data.to_dict()["size_categories"] == [category]
        assert 'load_dataset("FOLDER"' not in card.text
        assert 'load_dataset(FOLDER, "en-de")' in card.text


def test_the_tasks_of_the_benchmark_can_be_named(tmp_path: Path) -> None:
    ids = ["en-es--contrastive_conditioning--min_accuracy", "en-de--simplegen_accuracy--accuracy"]
    build_dataset_folder("simplegen", output=tmp_path / "a", task_ids=ids)
    content = yaml.safe_load((tmp_path / "a/eval.yaml").read_text(encoding="utf-8"))
    assert [task["id"] for task in content["tasks"]] == ids
    for configs, bad, message in (
        (["en-de"], ids, "simplegen has no task 'en-es--contrastive_conditioning--min_accuracy'"),
        (None, [ids[0]] * 2, "expected 1 to 3 different ids"),
        (None, [], "expected 1 to 3 different ids, got none"),
        (
            None,
            [task.id for task in tasks(declaration("simplegen"))[:4]],
            "expected 1 to 3 different ids",
        ),
    ):
        with pytest.raises(InputError, match=message):
            build_dataset_folder("simplegen", configs, output=tmp_path / "b", task_ids=bad)
    own = tmp_path / "own.csv"
    own.write_text("source,focus,gold\nThe nurse left.,nurse,male\n", encoding="utf-8")
    with pytest.raises(InputError, match="is no benchmark"):
        build_dataset_folder(str(own), output=tmp_path / "b", task_ids=ids)
    assert not (tmp_path / "b").exists()


def test_outputs_that_are_not_an_empty_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    with pytest.raises(InputError, match="is not an empty folder"):
        build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "full")
    with pytest.raises(InputError, match="does not exist; create it first"):
        build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "no/a")
    (tmp_path / "empty").mkdir()
    assert build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "empty")


@pytest.mark.shared
def test_a_failed_build_leaves_no_files(tmp_path: Path) -> None:
    with pytest.raises(cc_hf.CCError):
        build_dataset_folder("winomt", output=tmp_path / "a", data_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_user_file_gives_a_reproducible_folder(tmp_path: Path) -> None:
    source = tmp_path / "bats.csv"
    source.write_text(
        "source,focus,correct_cues,incorrect_cues,tgt_lang\nThe bat was"
        " old.,bat,baseball,flying|tiny,de\n",
        encoding="utf-8",
    )
    build_dataset_folder(str(source), output=tmp_path / "a")
    build_dataset_folder(str(source), output=tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert set(contents(tmp_path / "a")) == {"README.md", "bats/test-00000-of-00001.parquet"}
    loaded = datasets.load_dataset(str(tmp_path / "a"), "bats", split="test")
    assert loaded[0]["incorrect_sources"] == ["The flying bat was old.", "The tiny bat was old."]
    card = DatasetCard.load(tmp_path / "a/README.md")
    assert card.data.to_dict()["language"] == ["de", "en"]
    assert "made from `bats.csv`" in card.text


def test_undeclared_split_sizes_are_counted(tmp_path: Path) -> None:
    data_dir = lay_out_samples("contrawsd", "de-en", tmp_path / "data", tmp_path)
    build_dataset_folder("contrawsd", ["de-en"], output=tmp_path / "a", data_dir=data_dir)
    front = DatasetCard.load(tmp_path / "a/README.md").data.to_dict()
    assert front["dataset_info"]["splits"][0]["num_examples"] == 3
    loaded = datasets.load_dataset(str(tmp_path / "a"), "de-en", split="test")
    assert (
        loaded.to_list()
        == cc_hf.load_dataset("contrawsd", "de-en", split="test", data_dir=data_dir).to_list()
    )


NAMES = [
    "a: b",
    "a\nlicense: mit\n---",
    'a"b',
    "{x}",
    "*",
    "[a]",
    "...x",
    "null",
    "1",
    "- a",
    "#c",
    "`x`",
    "<b>",
    "x" * 240,
    "test",
]


@pytest.mark.parametrize("name", NAMES)
def test_user_files_of_any_name_give_a_folder_that_loads(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.jsonl"
    path.write_text(
        json.dumps(
            {"source": "The nurse left.", "focus": "nurse", "gold": "male", "category": "a\n# b"}
        )
        + "\n",
        encoding="utf-8",
    )
    build_dataset_folder(str(path), output=tmp_path / "built")
    card = DatasetCard.load(tmp_path / "built/README.md")
    assert set(card.data.to_dict()) == {
        "pretty_name",
        "language",
        "license",
        "task_categories",
        "size_categories",
        "tags",
        "dataset_info",
        "configs",
    }
    assert card.data.license == "unknown"
    assert [line for line in card.text.splitlines() if line.startswith("# ")] == [
        f"# {markdown_text(custom_declaration(path).default_config)} in contrastive format"
    ]
    assert datasets.load_dataset(str(tmp_path / "built"))["test"]["source"][:] == [
        "The nurse left."
    ]
