from pathlib import Path
from typing import Any

import datasets

from cc_hf.data.corpora import parallel
from tests.helpers.usual import EN_DE, refuses

SOURCES = ["A bat.", "A spring.", "", "The end.", "More."]
REFERENCES = ["Ein Schläger.", "Eine Feder.", "Leer.", " ", "Mehr."]


def opened(folder: Path) -> parallel.FileCorpus:
    return parallel.file_corpus(folder / "a.en", folder / "a.de", block_pairs=2)


def files(tmp_path: Path) -> parallel.FileCorpus:
    for name, lines in (("a.en", SOURCES), ("a.de", REFERENCES)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return opened(tmp_path)


def rows(key: str = "") -> list[dict[str, Any]]:
    pairs = [{"en": a, "de": b} for a, b in zip(SOURCES, REFERENCES, strict=True)]
    return [{key: pair} for pair in pairs] if key else pairs


def corpus_of(dataset: Any, **options: Any) -> parallel.DatasetCorpus | parallel.StreamCorpus:
    return parallel.dataset_corpus(dataset, **{"name": "d", **EN_DE, "block_pairs": 2, **options})


def read_all(corpus: Any) -> list[parallel.CorpusBlock]:
    if isinstance(corpus, parallel.StreamCorpus):
        return list(corpus.blocks())
    return [corpus.read(number) for number in range(-(-corpus.n_pairs // 2))]


def test_files_and_datasets_have_the_same_blocks(tmp_path: Path) -> None:
    blocks = read_all(files(tmp_path))
    assert [block.first for block in blocks] == [0, 2, 4]
    assert [text for block in blocks for text in block.sources] == SOURCES
    assert blocks[1].damaged == {0: "the source is empty", 1: "the reference is empty"}
    digests = [block.digest for block in blocks]
    table = datasets.Dataset.from_list(rows())
    for dataset in (table, datasets.Dataset.from_list(rows("translation"))):
        for form in (dataset, dataset.to_iterable_dataset()):
            others = read_all(corpus_of(form))
            assert [block.digest for block in others] == digests
            assert [block.damaged for block in others] == [block.damaged for block in blocks]


def test_files_may_have_returns_a_mark_and_no_line_feed_at_the_end(tmp_path: Path) -> None:
    expected = [block.digest for block in read_all(files(tmp_path))]
    (tmp_path / "a.en").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(SOURCES).encode())
    (tmp_path / "a.de").write_bytes("\n".join(REFERENCES).encode())
    assert [block.digest for block in read_all(opened(tmp_path))] == expected


def test_a_line_that_is_not_utf8_is_damaged_and_the_others_are_read(tmp_path: Path) -> None:
    files(tmp_path)
    (tmp_path / "a.de").write_bytes(b"Ein \xff.\nEine Feder.\nx\nx\nx")
    block = opened(tmp_path).read(0)
    assert block.damaged == {0: "reference: expected UTF-8, got the byte 0xff"}
    assert list(block.references) == ["", "Eine Feder."]


def test_a_value_that_is_no_text_is_damaged() -> None:
    dataset = datasets.Dataset.from_dict({"source": [1, 2], "target": ["a", None]})
    (block,) = read_all(corpus_of(dataset))
    assert block.damaged == {0: "source: expected text, got 1", 1: "source: expected text, got 2"}
    missing = datasets.Dataset.from_dict({"en": ["a", None], "de": ["b", "c"]})
    assert corpus_of(missing).read(0).damaged == {1: "the source is empty"}  # type: ignore[union-attr]


def test_files_that_cannot_be_read_or_differ_in_length_are_refused(tmp_path: Path) -> None:
    files(tmp_path)
    refuses("file not found", parallel.file_corpus, tmp_path / "a", tmp_path / "b", block_pairs=2)
    refuses("be read: Is a directory", parallel.file_corpus, tmp_path, tmp_path, block_pairs=2)
    (tmp_path / "a.de").write_text("Ein Schläger.\n", encoding="utf-8")
    refuses("expected as many lines in both files, got 5 and 1", opened, tmp_path)
    (tmp_path / "a.de").write_bytes(b"\x1f\x8b\x08\x00")
    refuses(r"expected plain text, got a compressed file; .*gunzip", opened, tmp_path)
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_bytes(b"")
    refuses("expected sentences, one per line, got an empty file", opened, tmp_path)


def test_datasets_without_the_columns_are_refused() -> None:
    dataset = datasets.Dataset.from_dict({"text": ["a"]})
    for other, options, message in (
        (dataset, {}, "columns of two texts, got text; name the columns"),
        (dataset, {"columns": ("a", "b")}, "expected the columns a and b, got text"),
        (datasets.Dataset.from_dict({"en": [], "de": []}), {}, "rows with two texts, got none"),
        (datasets.DatasetDict({"train": dataset}), {}, "one split of a dataset, got DatasetDict"),
    ):
        refuses(message, corpus_of, other, **options)


def test_saved_datasets_and_files_of_rows_are_opened(tmp_path: Path) -> None:
    table = datasets.Dataset.from_list(rows())
    table.save_to_disk(tmp_path / "saved")
    datasets.DatasetDict({"train": table}).save_to_disk(tmp_path / "splits")
    table.to_parquet(tmp_path / "a.parquet")
    for name in ("saved", "splits", "a.parquet"):
        assert parallel.open_dataset(str(tmp_path / name))[0] == rows()[0]
    streamed = parallel.open_dataset(str(tmp_path / "splits"), streaming=True)
    assert isinstance(corpus_of(streamed), parallel.StreamCorpus)
    files(tmp_path)
    for name, message in (
        ("a.en", "got one text file"),
        ("b.parquet", "got a file that does not exist"),
        ("splits", "and the split dev, got none that can be loaded"),
    ):
        refuses(message, parallel.open_dataset, str(tmp_path / name), split="dev")
