"""Tagging of a corpus, and its benchmark at a small size."""

import contextlib
import gzip
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.common import corpus_blocks
from cc_hf_studies.disambiguation_bias import tagging_summary
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, read_lexicon, read_pairs
from cc_hf_studies.disambiguation_bias.tagging import PairTagger, TaggingOptions
from cc_hf_studies.disambiguation_bias.tagging_run import tag_corpus

from cc_hf.data.corpora.parallel import CorpusBlock, FileCorpus, dataset_corpus, file_corpus
from cc_hf.errors import ResultWarning
from studies.benchmarks.disambiguation_bias import sense_tagging
from studies.tests.disambiguation_bias.corpus import (
    LEXICON,
    SENTENCES,
    dataset_of,
    lexicon_of,
    write_corpus,
    write_lexicon,
)
from tests.helpers.usual import cases, read_json, refuses, write_jsonl, write_lines

TAGGER = PairTagger(LEXICON)


def run(folder: Path, corpus: Any = None, tagger: PairTagger = TAGGER, **options: Any) -> Any:
    return tag_corpus(corpus or write_corpus(folder), tagger, folder / "pairs.jsonl", **options)


def stream(**options: Any) -> Any:
    options = {"name": "d", "src_lang": "en", "tgt_lang": "de", **options}
    return dataset_corpus(dataset_of().to_iterable_dataset(), **options)


def with_sources(folder: Path, lines: Sequence[str]) -> FileCorpus:
    return file_corpus(write_lines(folder / "a.en", lines), folder / "a.de", block_pairs=7)


def test_the_summary_says_what_became_of_every_pair(tmp_path: Path) -> None:
    summary = run(tmp_path)
    assert (summary.n_pairs, summary.outcomes["n_tagged"]) == (7, 5)
    assert summary.clusters == {"bat": {"1": 1, "2": 2}, "spring": {"1": 1, "2": 1}}
    assert len(list(read_pairs(tmp_path / "pairs.jsonl"))) == 5
    assert tagging_summary.read_summary(tmp_path / "pairs.jsonl")["signature"] == summary.signature
    assert summary.signature.startswith(f"tag|corpus:{summary.corpus[:7]}|lexicon:0123456|")
    assert "|align:fast_align.2000000cells.100pairs|held:none|n:7|" in summary.signature
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"a.en", "a.de", "pairs.jsonl", "pairs.summary.json"}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_two_processes_datasets_and_streams_give_the_same_file(tmp_path: Path) -> None:
    table = dataset_of(9)
    options: dict[str, Any] = {"name": "d", "src_lang": "en", "tgt_lang": "de", "block_pairs": 10}
    tagger = PairTagger(LEXICON, TaggingOptions(held_out=0.4, min_tokens=3))
    results = []
    for name, corpus, n in (
        ("one", write_corpus(tmp_path, 9, 10), 1),
        ("two", write_corpus(tmp_path, 9, 10), 2),
        ("dataset", dataset_corpus(table, **options), 1),
        ("stream", dataset_corpus(table.to_iterable_dataset(), **options), 1),
    ):
        pairs, held_out = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.held.jsonl"
        summary = tag_corpus(corpus, tagger, pairs, held_out_pairs=held_out, n_processes=n)
        assert summary.n_held_out == held_out.read_bytes().count(b"\n") > 0
        results.append((summary, pairs.read_bytes(), held_out.read_bytes()))
    assert results[1:] == results[:1] * 3


class InterruptionError(Exception):
    pass


def interrupt(folder: Path, corpus: FileCorpus, patches: pytest.MonkeyPatch, n: int) -> list[int]:
    """Run until `n` blocks are tagged; return the numbers of blocks, which later runs add to."""
    original = PairTagger.tag
    numbers: list[int] = []

    def interrupted(self: PairTagger, block: Any, *more: Any) -> Any:
        if len(numbers) == n:
            raise InterruptionError
        numbers.append(block.number)
        return original(self, block, *more)

    patches.setattr(PairTagger, "tag", interrupted)
    with pytest.raises(InterruptionError):
        run(folder, corpus)
    assert not (folder / "pairs.jsonl").exists()
    numbers.clear()
    return numbers


def test_an_interrupted_run_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_corpus(tmp_path, 4, 7)
    run(tmp_path, corpus)
    expected = (tmp_path / "pairs.jsonl").read_bytes()
    (tmp_path / "pairs.jsonl").unlink()
    numbers = interrupt(tmp_path, corpus, monkeypatch, 2)
    run(tmp_path, corpus)
    assert (numbers, (tmp_path / "pairs.jsonl").read_bytes()) == ([2, 3], expected)


@pytest.mark.parametrize("options", [{}, {"held_out_pairs": "pairs.jsonl"}], ids=["pairs", "held"])
def test_a_second_run_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any) -> None:
    corpus, original = write_corpus(tmp_path, 2, 7), PairTagger.tag
    tagger = PairTagger(LEXICON, TaggingOptions(held_out=0.4, min_tokens=3)) if options else TAGGER
    more: Any = {name: tmp_path / path for name, path in options.items()}
    output = tmp_path / ("others.jsonl" if options else "pairs.jsonl")

    def tag(self: PairTagger, *args: Any) -> Any:
        refuses(r"run is writing, got .*pairs\.jsonl", tag_corpus, corpus, tagger, output, **more)
        return original(self, *args)

    monkeypatch.setattr(PairTagger, "tag", tag)
    run(tmp_path, corpus)
    assert not list(tmp_path.glob(".*"))


def test_a_killed_program_goes_on_and_writes_the_same_file(tmp_path: Path) -> None:
    write_corpus(tmp_path, 3000)
    write_lexicon(tmp_path)
    command = (
        f"{sys.executable} -m cc_hf.cli study disambiguation_bias tag a.en a.de --lexicon"
        " lexicon.json --block-pairs 500 --processes 2 --pairs"
    ).split()
    options: dict[str, Any] = {"cwd": tmp_path, "start_new_session": True}
    options["env"] = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}

    def start(output: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, output], **options)

    killed = start("killed.jsonl")
    while killed.poll() is None and not list(tmp_path.glob("killed.jsonl.parts/0*.jsonl")):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for output in ("killed.jsonl", "whole.jsonl"):
        assert start(output).wait() == 0
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(killed.pid, signal.SIGKILL)  # its workers, which wait for more blocks


def test_a_process_stops_with_its_main_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []

    def note(block: CorpusBlock) -> str:
        numbers.append(block.number)
        return ""

    reader = corpus_blocks._BlockReader(write_corpus(tmp_path, 2, 7), note, main_process=-1)
    reader({"block": [0]})
    monkeypatch.setattr(os, "getppid", lambda: 1)
    refuses("the main process ended; give the same command again", reader, {"block": [1]})
    assert numbers == [0]


def test_parts_without_options_are_not_used(tmp_path: Path) -> None:
    write_lines(tmp_path / "pairs.jsonl.parts/000000.jsonl", ["{}"])
    assert run(tmp_path).n_pairs == 7


def test_parts_of_another_run_are_refused(tmp_path: Path) -> None:
    write_corpus(tmp_path, 2)
    lines = [a for a, _ in SENTENCES] * 2
    lines[10] = ""
    damaged = with_sources(tmp_path, lines)
    refuses("line 11: the source is empty", run, tmp_path, damaged, on_damaged="error")
    refuses(
        "expected parts of the same run, got one with another wi",
        run,
        tmp_path,
        damaged,
        PairTagger(LEXICON, TaggingOptions(window=2)),
    )
    corpus = with_sources(tmp_path, ["Another bat.", *lines[1:]])
    refuses(r"000000.jsonl: expected a part of this corpus, got one", run, tmp_path, corpus)
    write_lines(tmp_path / "pairs.jsonl.parts/options.json", ["{"])
    refuses("expected parts of the same run", run, tmp_path, corpus)


def test_damaged_pairs_are_named_and_counted_and_the_others_are_tagged(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path)
    (tmp_path / "a.en").write_bytes(b"\xff bat\n" + "\n".join(a for a, _ in SENTENCES[1:]).encode())
    with pytest.warns(ResultWarning, match="1 of 7 pairs are damaged and left out"):
        summary = run(tmp_path, corpus)
    damaged = (1, "source: expected UTF-8, got the byte 0xff")
    assert summary.damaged == (damaged,)
    assert (summary.outcomes["n_damaged"], summary.outcomes["n_tagged"]) == (1, 4)
    assert read_json(tmp_path / "pairs.summary.json")["damaged"] == [list(damaged)]
    refuses(
        r"line 1: source: expected UTF-8.*\(1 damaged in lines 1",
        run,
        tmp_path,
        corpus,
        on_damaged="error",
    )


def test_a_corpus_of_empty_lines_is_refused(tmp_path: Path) -> None:
    paths = [write_lines(tmp_path / name, ["", "", "", "A bat."]) for name in ("a.en", "a.de")]
    refuses(
        "got 3 damaged pairs of 4; the first is line 1",
        run,
        tmp_path,
        file_corpus(*paths, block_pairs=2),
    )
    assert not (tmp_path / "pairs.jsonl.parts").exists()


@cases(
    ("moose", "expected en sentences with a homograph of the lexicon.*got none in 7"),
    ("ball", r"expected homographs whose de translation is a sense .*none for 1 homographs"),
)
def test_a_corpus_without_senses_is_refused(word: str, message: str, tmp_path: Path) -> None:
    lexicon = lexicon_of(**{word: {"1": "Elch", "2": "Orden"}})
    refuses(message, run, tmp_path, tagger=PairTagger(lexicon))


@cases(
    ({"n_processes": 0}, "n_processes: expected 1 or more, got 0"),
    ({"corpus": stream(block_pairs=1), "n_processes": 2}, "1 for the streamed dataset d, got 2"),
    ({"held_out_pairs": "held.jsonl"}, "held_out: expected a share"),
    ({"on_damaged": "x"}, "on_damaged: expected one of skip, error"),
)
def test_options_that_do_not_fit_each_other_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refuses(message, run, tmp_path, **options)


def test_outputs_must_be_two_files_of_pairs(tmp_path: Path) -> None:
    corpus, tagger = write_corpus(tmp_path), PairTagger(LEXICON, TaggingOptions(held_out=0.5))
    for output, held_out, message in (
        ("pairs.json", "held.jsonl", r"^pairs: expected a file that ends in .jsonl, got pairs.js"),
        ("a.jsonl", "-", r"^held_out_pairs: expected a file that ends in .jsonl, got -"),
        ("a.jsonl", "./a.jsonl", r"^held_out_pairs: expected another file than a.jsonl"),
    ):
        refuses(message, tag_corpus, corpus, tagger, output, held_out_pairs=held_out)


def test_alignments_are_read_block_by_block_and_must_have_all_lines(tmp_path: Path) -> None:
    links = write_lines(tmp_path / "links.txt", ["1-1", "1-1", "1-1 3-3", "", "1-1", "", ""])
    corpus = write_corpus(tmp_path, block_pairs=3)
    summary = run(tmp_path, corpus, alignments=links)
    ids = [pair.id for pair in read_pairs(tmp_path / "pairs.jsonl")]
    assert ids == ["0.bat", "1.bat", "2.spring", "2.bat", "4.spring"]
    assert "|align:given." in summary.signature
    for content, message in (
        (b"1-1\n", r"links.txt: expected one line of alignments per pair of"),
        (b"1-1\n\xff\n" + b"\n" * 5, r"links.txt: line 2: expected UTF-8"),
    ):
        links.write_bytes(content)
        refuses(message, run, tmp_path, corpus, alignments=links)


@cases((2, "line 3 is missing"), (3, "line 4 is missing"), (9, "7 in all, got 9"))
def test_alignments_of_a_stream_are_whole(n_lines: int, message: str, tmp_path: Path) -> None:
    links = write_lines(tmp_path / "links.txt", ["1-1"] * n_lines)
    refuses(message, run, tmp_path, stream(block_pairs=3), alignments=links)


def test_attractors_are_counted_with_the_lexicon_of_the_pairs(tmp_path: Path) -> None:
    summary, pairs = run(tmp_path), tmp_path / "pairs.jsonl"
    table = tagging_summary.count_file(pairs, LEXICON, stop_words=("the",))
    assert table.counts["bat"]["1"] == {"hit": 1, "ball": 1}
    assert (table.corpus, table.tagging) == (summary.corpus, summary.signature)
    other = HomographLexicon("en", "de", "f" * 64, LEXICON.homographs)
    message = r"expected the lexicon .*, 0123456, got fffffff; name it"
    refuses(message, tagging_summary.count_file, pairs, other)
    (tmp_path / "pairs.summary.json").unlink()
    table = tagging_summary.count_file(pairs, LEXICON)
    assert (len(table.corpus), table.tagging) == (7, "")
    for text in ("[]", "{"):
        write_lines(tmp_path / "pairs.summary.json", [text])
        refuses("expected the summary of tagged pairs", tagging_summary.count_file, pairs, LEXICON)


@pytest.mark.parametrize("line", ["", "[]", '{"digest": 1}', '{"n_rows": "x"}'])
def test_a_forged_part_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    corpus = write_corpus(tmp_path, 2, 7)
    with monkeypatch.context() as patches:
        interrupt(tmp_path, corpus, patches, 1)
    (tmp_path / "pairs.jsonl.parts/000000.jsonl").write_text(line, encoding="utf-8")
    refuses(r"000000\.jsonl: .*expected .*delete the folder", run, tmp_path, corpus)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_give_the_same_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tatoeba").mkdir()
    with zipfile.ZipFile(tmp_path / "tatoeba/deu-eng.zip", "w") as archive:
        archive.writestr("deu.txt", "Tom has a bat.\tTom hat einen Schläger.\tCC-BY\n")
    for side, lang in enumerate(("en", "de")):
        path = tmp_path / f"multi30k/dataset/data/task1/raw/train.{lang}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(pair[side] for pair in SENTENCES).encode()))
    pairs = sense_tagging.read_pairs(tmp_path)
    assert sorted(pairs) == sorted([("Tom has a bat.", "Tom hat einen Schläger."), *SENTENCES])
    paths = sense_tagging.write_corpus(pairs, 20, tmp_path)
    lines = paths[1].read_text(encoding="utf-8").splitlines()
    assert len(lines) == 20
    assert "Ben hat einen Schläger." in lines
    path = write_jsonl(tmp_path / "lexicon.json", [{"bat": {"1": ["Schläger"]}}])
    monkeypatch.setattr(sense_tagging, "read_lexicon", lambda **_: read_lexicon(path))
    runs = [sense_tagging.measure(paths, tmp_path, tmp_path, n, 7) for n in (1, 2)]
    assert runs[0].digest == runs[1].digest
    assert runs[0].memory > 10**7
    assert runs[0].processor > 0
    assert [line.count("|") for line in sense_tagging.table(runs).splitlines()] == [10] * 4
