import functools
import re
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet
import pytest
import yaml
from huggingface_hub import DatasetCard

import cc_hf
from cc_hf.data.dataset_folders import folder_declaration, is_dataset_folder
from cc_hf.data.files.custom import custom_declaration
from cc_hf.data.loading import declaration, load_examples
from cc_hf.errors import DataError
from cc_hf.hub.tasks import tasks
from cc_hf.plugins.dataset_folders.building import build_dataset_folder
from cc_hf.records import write_record
from cc_hf.reports.formats.markdown import markdown_text
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample
from tests.helpers.lines import write_parquet
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import fails, refuses, write_jsonl, write_lines, write_text


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def front(folder: Path) -> dict[str, Any]:
    return dict(DatasetCard.load(folder / "README.md").data.to_dict())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all configurations of SimpleGEN."""
    folder = tmp_path_factory.mktemp("hub") / "built"
    build_dataset_folder("simplegen", output=folder)
    return folder


def test_a_built_folder_loads_as_the_dataset(built: Path) -> None:
    names = {"README.md", "croissant.json", "simplegen.py", "test-00000-of-00001.parquet"}
    assert {path.name for path in built.rglob("*") if path.is_file()} == names
    assert list(built.parent.iterdir()) == [built]
    folder = str(built)
    assert is_dataset_folder(folder)
    for config in ("en-de", "en-es.paper"):
        loaded = datasets.load_dataset(folder, config)
        expected = cc_hf.load_dataset("simplegen", config)
        assert loaded["test"].features == expected["test"].features
        path = built / config / "test-00000-of-00001.parquet"
        assert datasets.Dataset.from_parquet(str(path)).features == expected["test"].features
        assert pyarrow.parquet.read_schema(path).metadata is None  # read by `datasets` 3 as well
        assert loaded["test"].to_list() == expected["test"].to_list()
        streamed = datasets.load_dataset(folder, config, streaming=True, split="test")
        assert list(streamed) == expected["test"].to_list()
        assert folder_declaration(folder).config(config).form is ContrastiveSourceExample
        assert load_examples(folder, config) == load_examples("simplegen", config)
        assert cc_hf.load_dataset(folder, config)["test"].num_rows == 2664
        assert cc_hf.load_dataset(folder, config, split="test", streaming=True)
        material = cc_hf.load_material(folder, config)
        assert material.origin.fields["data"].startswith(f"custom/{config}@")
        assert material.tgt_lang == config[3:5]


def test_the_card_names_the_configurations_and_the_size_of_all(built: Path, tmp_path: Path) -> None:
    build_dataset_folder("simplegen", ["en-de"], output=tmp_path / "a", repo="org/simplegen")
    files = [{"split": "test", "path": "en-de/test-*"}]
    fields, text = front(tmp_path / "a"), DatasetCard.load(tmp_path / "a/README.md").text
    assert fields["configs"] == [{"config_name": "en-de", "data_files": files, "default": True}]
    assert fields["dataset_info"]["splits"][0]["num_examples"] == 2664
    assert (fields["license"], fields["size_categories"]) == ("cc-by-4.0", ["1K<n<10K"])
    assert "# SimpleGEN in contrastive format" in text
    assert re.findall(r"^\| `([^`]+)`", text, re.MULTILINE) == ["en-de"]
    assert 'datasets.load_dataset("org/simplegen", "en-de")' in text
    assert front(built)["size_categories"] == ["10K<n<100K"]
    text = DatasetCard.load(built / "README.md").text
    assert 'load_dataset("FOLDER"' not in text
    assert 'load_dataset(FOLDER, "en-de")' in text


def test_the_tasks_of_the_benchmark_can_be_named(tmp_path: Path) -> None:
    ids = ["de-fr--prompted_choice--accuracy", "de-en--prompted_choice--accuracy"]
    for config in ("de-en", "de-fr"):
        data = lay_out_samples("contrawsd", config, tmp_path / "data", tmp_path)
    build_dataset_folder("contrawsd", output=tmp_path / "a", data_dir=data, task_ids=ids)
    content = yaml.safe_load((tmp_path / "a/eval.yaml").read_text(encoding="utf-8"))
    made = {task["id"]: task["config"] for task in content["tasks"]}
    assert [*made.items()] == [(ids[0], "de-fr.choices"), (ids[1], "de-en.choices")]
    user_file = write_text(tmp_path / "own.csv", "source,focus,gold\nThe nurse left.,nurse,male\n")
    four = [task.id for task in tasks(declaration("contrawsd"))[:4]]
    for name, configs, bad, message in (
        ("contrawsd", ["de-en"], ids, f"contrawsd has no task '{ids[0]}' that inspect-ai runs"),
        ("contrawsd", None, [ids[0]] * 2, "expected 1 to 3 different ids"),
        ("contrawsd", None, [], "expected 1 to 3 different ids, got none"),
        ("contrawsd", None, four, "expected 1 to 3 different ids"),
        ("simplegen", None, ["en-de--simplegen_accuracy--accuracy"], "the nearest: none"),
        (str(user_file), None, ids, "is no benchmark"),
    ):
        refuses(message, build_dataset_folder, name, configs, output=tmp_path / "b", task_ids=bad)
    assert not (tmp_path / "b").exists()


def test_outputs_that_are_not_an_empty_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    build = functools.partial(build_dataset_folder, "simplegen", ["en-de"])
    refuses("is not an empty folder", build, output=tmp_path / "full")
    refuses("could not be written", build, output=tmp_path / "full/x/a")
    (tmp_path / "empty").mkdir()
    assert build(output=tmp_path / "empty")
    assert build(output=tmp_path / "new/folder")


def test_a_failed_build_leaves_no_files(tmp_path: Path) -> None:
    build = functools.partial(build_dataset_folder, "winomt", output=tmp_path / "a/b")
    fails(cc_hf.CCError, "not found", build, data_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_user_file_gives_a_reproducible_folder(tmp_path: Path) -> None:
    columns = "source,focus,correct_cues,incorrect_cues,tgt_lang"
    row = "The bat was old.,bat,baseball,flying|tiny,de"
    source = write_lines(tmp_path / "bats.csv", [columns, row])
    build_dataset_folder(str(source), output=tmp_path / "a")
    build_dataset_folder(str(source), output=tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    names = {"README.md", "croissant.json", "bats/test-00000-of-00001.parquet"}
    assert set(contents(tmp_path / "a")) == names
    loaded = datasets.load_dataset(str(tmp_path / "a"), "bats", split="test")
    assert loaded[0]["incorrect_sources"] == ["The flying bat was old.", "The tiny bat was old."]
    assert front(tmp_path / "a")["language"] == ["de", "en"]
    assert "made from `bats.csv`" in DatasetCard.load(tmp_path / "a/README.md").text
    rows = [text.rpartition(",")[0] for text in (columns, row)]
    named = declaration(str(write_lines(tmp_path / "any.csv", rows)), tgt_lang="de")
    build_dataset_folder(named, output=tmp_path / "any")
    assert front(tmp_path / "any")["language"] == ["de", "en"]


def test_contrastive_translations_are_also_there_as_the_choices_of_ask(tmp_path: Path) -> None:
    from cc_hf.plugins.asking.plans import plan_choices

    data_dir = lay_out_samples("contrawsd", "de-en", tmp_path / "data", tmp_path)
    build_dataset_folder("contrawsd", ["de-en"], output=tmp_path / "a", data_dir=data_dir)
    info = front(tmp_path / "a")["dataset_info"][0]  # sizes that are not declared are counted
    assert (info["config_name"], info["splits"][0]["num_examples"]) == ("de-en", 3)
    rows = datasets.load_dataset(str(tmp_path / "a"), "de-en.choices", split="test").to_list()
    plan = plan_choices(load_examples("contrawsd", "de-en", data_dir=data_dir), n_shots=0)
    keys = ("answer", "option1", "option2")
    expected = [(r.id, *(r.reference[key] for key in keys)) for r in plan.requests]
    assert [(row["id"], str(row["target"] + 1), *row["choices"]) for row in rows] == expected
    # nothing but the options is missing in the question
    for row, request in zip(rows, plan.requests, strict=True):
        asked = request.conversation[0].content
        for number, option in enumerate(row["choices"], 1):
            asked = asked.replace(f'Translation {number}:\n"{option}"\n', "")
        assert row["question"] == asked
    text = DatasetCard.load(tmp_path / "a/README.md").text
    assert text.count("A configuration that ends in `.choices`") == 1
    # choices are no configuration for cc_hf
    assert [config.name for config in folder_declaration(tmp_path / "a").configs] == ["de-en"]
    build_dataset_folder(str(tmp_path / "a"), output=tmp_path / "b")
    first, second = (contents(tmp_path / name) for name in "ab")
    assert second.keys() == first.keys() - {"eval.yaml", "loading/contrawsd.py"}
    name = "de-en.choices/test-00000-of-00001.parquet"
    assert second[name] == first[name]
    assert second["README.md"].count(b"A configuration that ends in `.choices`") == 1
    (tmp_path / "b/de-en.choices").rename(tmp_path / "b/other.choices")
    fails(DataError, "got the columns id, question", folder_declaration, tmp_path / "b")


def test_open_choices_are_not_made(tmp_path: Path) -> None:
    row = ContrastiveTranslationExample(
        "0", "en", "es", "The nurse.", "La enfermera.", ("El enfermero.",), "x", {"open_share": "f"}
    )
    write_parquet(tmp_path / "a/set/test-0.parquet", write_record(row))
    build_dataset_folder(str(tmp_path / "a"), output=tmp_path / "b")
    assert not (tmp_path / "b/set.choices").exists()


NAMES = ["a: b", "a\nlicense: mit\n---", 'a"b', "{x}", "*", "[a]", "...x", "null", "1", "- a"]
NAMES += ["#c", "`x`", "<b>", "x" * 240, "test"]


@pytest.mark.parametrize("name", NAMES)
def test_user_files_of_any_name_give_a_folder_that_loads(tmp_path: Path, name: str) -> None:
    row = {"source": "The nurse left.", "focus": "nurse", "gold": "male", "category": "a\n# b"}
    path = write_jsonl(tmp_path / f"{name}.jsonl", [row])
    build_dataset_folder(str(path), output=tmp_path / "built")
    fields = front(tmp_path / "built")
    expected = (
        "pretty_name language license task_categories size_categories tags dataset_info configs"
    )
    assert set(fields) == set(expected.split())
    assert fields["license"] == "unknown"
    text = DatasetCard.load(tmp_path / "built/README.md").text
    title = markdown_text(custom_declaration(path).default_config)
    titles = [line for line in text.splitlines() if line.startswith("# ")]
    assert titles == [f"# {title} in contrastive format"]
    loaded = datasets.load_dataset(str(tmp_path / "built"))["test"]
    assert loaded["source"][:] == ["The nurse left."]
