"""Made-up rows in the format of the Hub; the real file is not here."""

import json
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset

from cc_hf import registry
from cc_hf.data.loading import SAMPLE_SIZES
from cc_hf.errors import DataError, InputError
from cc_hf.studies.wino_x.winogrande import WINOGRANDE, load_winogrande, same_context
from tests.helpers.cases import cases
from tests.helpers.lines import write_jsonl
from tests.helpers.refusals import fails, refuses
from tests.studies.wino_x.winogrande_rows import schema


def hub_rows() -> list[dict[str, Any]]:
    """Two schemas, whose twins do not stand side by side, and a row without a twin."""
    sizes = ("big", "small")
    text = "The trophy did not fit into the case because the _ was too {}."
    first = schema(text, "trophy", "case", sizes)
    text = "Ann put the cup on the shelf, but _ was too {} for it to stay."
    second = schema(text, "cup", "shelf", sizes)
    alone = {**first[0], "sentence": "He read it all, for the _ was thin."}
    return [first[0], second[0], alone, first[1], second[1]]


def lay_out(folder: Path, rows: list[dict[str, Any]], *, declared: int | None) -> Path:
    name = "allenai/winogrande/winogrande_xl/train-00000-of-00001.parquet"
    path = folder / name
    path.parent.mkdir(parents=True)
    Dataset.from_list(rows).to_parquet(path)
    if declared is not None:
        (folder / SAMPLE_SIZES).write_text(json.dumps({name: declared}), encoding="utf-8")
    return folder


def test_rows_of_the_hub_are_examples_with_their_twins(tmp_path: Path) -> None:
    examples = load_winogrande(data_dir=lay_out(tmp_path, hub_rows(), declared=5))
    assert [e.id for e in examples] == [f"train-{i}" for i in range(5)]
    assert [e.extra["pair"] for e in examples] == [f"train-{i}" for i in (0, 1, 2, 0, 1)]
    first, twin = examples[0], examples[3]
    assert first.correct_translation.endswith("because the trophy was too big.")
    assert first.contrastive_translations[0].endswith("because the case was too big.")
    assert (first.source, first.src_lang, first.tgt_lang) == ("", "en", "en")
    assert (first.category, twin.category) == ("first", "second")
    assert (twin.extra["answer"], twin.extra["correct_filler"]) == ("2", "case")
    assert twin.extra["context"].replace("_", "case") == twin.correct_translation


def test_a_file_of_another_length_than_that_of_the_hub_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected 40398 examples of winogrande train train, got 5"):
        load_winogrande(data_dir=lay_out(tmp_path, hub_rows(), declared=None))


def test_rows_with_an_id_keep_it(tmp_path: Path) -> None:
    rows = [{**row, "qID": f"3A-{row['answer']}"} for row in hub_rows()[::3]]
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    ids = [(e.id, e.extra["pair"]) for e in load_winogrande(path)]
    assert ids == [("3A-1", "3A"), ("3A-2", "3A")]
    with pytest.raises(DataError, match="line 2: expected every qID once, got '3A-1' again"):
        load_winogrande(write_jsonl(path, rows[:1] * 2))


@cases(
    ({"answer": ""}, "line 1: answer: expected 1 or 2, got ''; rows without an answer"),
    ({"answer": True}, "answer: expected 1 or 2, got True"),
    ({"sentence": "No gap."}, 'sentence: expected one gap, "_", got 0'),
    ({"sentence": "_ and _."}, 'sentence: expected one gap, "_", got 2'),
    ({"option2": "Trophy"}, "expected option1 and option2 to differ, got 'trophy' twice"),
    ({"option1": None}, "option1: expected text, got None"),
)
def test_a_damaged_row_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "rows.jsonl", [{**hub_rows()[0], **change}])
    fails(DataError, message, load_winogrande, path)


@cases(
    ("rows.csv", b"", "ends in .jsonl or .parquet, got .csv"),
    ("rows.parquet", b"text", "expected a Parquet file"),
)
def test_other_files_are_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    fails((DataError, InputError), message, load_winogrande, tmp_path / name)


def test_other_splits_are_refused() -> None:
    refuses("split: expected one of train, validation, got 'test'", load_winogrande, split="test")


def test_it_is_pinned_and_is_not_offered_as_a_dataset_to_judge() -> None:
    assert "winogrande" not in registry.DATASETS
    for config in WINOGRANDE.configs:
        (file,) = config.files
        assert (file.host, len(file.commit)) == ("hub", 40)
        assert file.path == f"winogrande_xl/{config.name}-00000-of-00001.parquet"


def test_contexts_with_and_without_the_article_are_the_same() -> None:
    assert same_context("Then The _ fell.") == same_context("then _ fell.")
    assert same_context("The bathe _ fell.") != same_context("The ba_ fell.")
