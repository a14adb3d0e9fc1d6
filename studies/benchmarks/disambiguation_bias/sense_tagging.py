"""How fast pairs of a parallel corpus are tagged with senses and their attractors counted, and how
much memory that needs, in one process and in two.

The corpus is Tatoeba's and Multi30k's English and German sentences, repeated with other names. The
program writes a table of studies/docs/disambiguation_bias.md.

python -m studies.benchmarks.disambiguation_bias.sense_tagging --data-dir DIR \\
    --output studies/docs/disambiguation_bias.md
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import itertools
import os
import random
import re
import resource
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from cc_hf_studies.disambiguation_bias.homographs import read_lexicon
from cc_hf_studies.disambiguation_bias.tagging import PairTagger, TaggingOptions
from cc_hf_studies.disambiguation_bias.tagging_run import tag_corpus
from cc_hf_studies.disambiguation_bias.tagging_summary import count_file

from benchmarks.children import in_child
from benchmarks.command import run_main
from benchmarks.documents import measured_on, write_block
from cc_hf.data.corpora.parallel import file_corpus
from cc_hf.errors import InputError
from cc_hf.plugins.timing.machine import load_average

__all__ = ["Run", "main", "measure", "read_pairs", "table", "write_corpus"]

_TATOEBA = "tatoeba/deu-eng.zip"
_MULTI30K = "multi30k/dataset/data/task1/raw/train.{}.gz"
_BLOCK = "sense-tagging"
_ALL = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_INTERVAL = 0.2  # seconds between two looks at the memory
_NAMES = ("Tom", "Mary")  # the names in most of Tatoeba's sentences
_OTHER_NAMES = ("Ben", "Ida", "Jon", "Eva", "Max", "Lea", "Sam", "Ute", "Leo", "Ann", "Kim", "Pia")


@dataclass(frozen=True)
class Run:
    """One run over a corpus.

    Attributes:
        n_tagged: number of pairs with a known sense.
        tagging: seconds of tagging, with loading of dictionaries.
        counting: seconds of counting attractors.
        processor: seconds of the processor, of all processes.
        memory: largest proportional memory of all processes together, in bytes.
        digest: hash of the tagged pairs and of the table of attractors.
    """

    n_pairs: int
    n_processes: int
    n_tagged: int
    tagging: float
    counting: float
    processor: float
    memory: int
    digest: str


def read_pairs(data_dir: Path) -> list[tuple[str, str]]:
    """Return the English and German sentences of Tatoeba and Multi30k."""
    with zipfile.ZipFile(data_dir / _TATOEBA) as archive:
        lines = io.TextIOWrapper(archive.open("deu.txt"), encoding="utf-8").read().splitlines()
    pairs = [(line.split("\t")[0], line.split("\t")[1]) for line in lines]
    sides = [
        gzip.decompress((data_dir / _MULTI30K.format(lang)).read_bytes()).decode().splitlines()
        for lang in ("en", "de")
    ]
    pairs += zip(*sides, strict=True)
    random.Random(0).shuffle(pairs)  # both sorts of sentences are spread evenly over the corpus
    return pairs


def write_corpus(pairs: Sequence[tuple[str, str]], n_pairs: int, folder: Path) -> list[Path]:
    """Write sources and translations in which the pairs are repeated with other names."""
    paths = [folder / f"{n_pairs}.{lang}" for lang in ("en", "de")]
    with (
        paths[0].open("w", encoding="utf-8", newline="\n") as left,
        paths[1].open("w", encoding="utf-8", newline="\n") as right,
    ):
        for source, reference in itertools.islice(_repeated(pairs), n_pairs):
            left.write(f"{source}\n")
            right.write(f"{reference}\n")
    return paths


def _repeated(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    names: dict[str, str] = {}  # the first copy is unchanged
    for copy in itertools.count():
        for source, reference in pairs:
            yield _renamed(source, names), _renamed(reference, names)
        others = itertools.islice(itertools.cycle(_OTHER_NAMES), 2 * copy, None)
        names = dict(zip(_NAMES, others, strict=False))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


def measure(
    paths: Sequence[Path], data_dir: Path, folder: Path, n_processes: int, block_pairs: int
) -> Run:
    """Tag a corpus and count its attractors: seconds, memory and a hash of the output."""
    lexicon = read_lexicon(data_dir=data_dir)
    output = folder / f"{paths[0].stem}.{n_processes}.jsonl"
    with _peak_memory() as peak:
        start = time.perf_counter()
        corpus = file_corpus(*paths, block_pairs=block_pairs)
        summary = tag_corpus(
            corpus, PairTagger(lexicon, TaggingOptions()), output, n_processes=n_processes
        )
        middle = time.perf_counter()
        counts = count_file(output, lexicon).to_json()
        end = time.perf_counter()
    return Run(
        summary.n_pairs,
        n_processes,
        summary.outcomes["n_tagged"],
        middle - start,
        end - middle,
        sum(sum(resource.getrusage(who)[:2]) for who in _ALL),
        max(peak),
        hashlib.sha256(output.read_bytes() + counts.encode()).hexdigest()[:12],
    )


@contextlib.contextmanager
def _peak_memory() -> Iterator[list[int]]:
    """Yield a list that holds the memory of this process and its children, as often as measured."""
    sizes, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(_INTERVAL):
            sizes.append(sum(map(_proportional_memory, _family(os.getpid()))))
            sizes[:] = [max(sizes)]

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield sizes
    finally:
        sizes.append(sum(map(_proportional_memory, _family(os.getpid()))))
        done.set()
        thread.join()
        sizes[:] = [max(sizes)]


def _family(pid: int) -> Iterator[int]:
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in path.read_text().split():
                yield from _family(int(child))


def _proportional_memory(pid: int) -> int:
    """Return the bytes of a process, where a page of n processes counts 1/n; 0 if it ended."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        if match := re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE):
            return int(match[1]) * 1024
    return 0


def table(runs: Sequence[Run]) -> str:
    """Return the runs as a Markdown table."""
    names = ("pairs", "processes", "tagged", "tagging, s", "counting, s", "processor, s", "pairs/s")
    lines = [f"| {' | '.join(names)} | peak, GB | output |", f"|{'---:|' * 8}---|"]
    for run in runs:
        rate = run.n_pairs / (run.tagging + run.counting)
        lines.append(
            f"| {run.n_pairs:,} | {run.n_processes} | {run.n_tagged:,} | {run.tagging:.1f} |"
            f" {run.counting:.1f} | {run.processor:.1f} | {rate:,.0f} | {run.memory / 1e9:.2f} |"
            f" `{run.digest}` |"
        )
    return "\n".join(lines)


def main(
    data_dir: Annotated[
        Path, typer.Option(help="Upstream repositories, with tatoeba and multi30k.")
    ],
    sizes: Annotated[
        str, typer.Option(help="Numbers of pairs, separated by commas.")
    ] = "100000,1000000",
    processes: Annotated[
        str, typer.Option(help="Numbers of processes, separated by commas.")
    ] = "1,2",
    block_pairs: Annotated[int, typer.Option(min=1, help="Pairs in a block.")] = 50_000,
    output: Annotated[
        Path | None,
        typer.Option(help="studies/docs/disambiguation_bias.md, whose table is replaced."),
    ] = None,
) -> None:
    """Measure, and print or write the table.

    Raises:
        InputError: if the output depends on the number of processes.
    """
    load, runs = load_average(), []
    with tempfile.TemporaryDirectory() as name:
        folder, pairs = Path(name), read_pairs(data_dir)
        for size in map(int, sizes.split(",")):
            paths = write_corpus(pairs, size, folder)
            for n in map(int, processes.split(",")):
                runs.append(in_child(measure, 1, paths, data_dir, folder, n, block_pairs))
                typer.echo(str(runs[-1]))
    if len({(run.n_pairs, run.digest) for run in runs}) != len({run.n_pairs for run in runs}):
        raise InputError("expected the same output from any number of processes, got others")
    text = f"Measured on {measured_on(1, 'cpu', load=load)}.\n\n{table(runs)}"
    typer.echo(text)
    write_block(output, _BLOCK, text)


if __name__ == "__main__":
    run_main(main)
