"""Tag a whole corpus block by block, in one process or several, with the same result.

Each block is written to a part file, so that an interrupted run continues with the missing ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cc_hf._version import __version__
from cc_hf.data.corpora.parallel import Corpus, CorpusBlock, LineIndex, StreamCorpus
from cc_hf.errors import FileError, InputError, ResultWarning, check_choice
from cc_hf.files import file_sha256, is_file, resolved, sole_writer
from cc_hf.reading import JSONL
from cc_hf.records import COUNT, read_json
from cc_hf.signature import build
from cc_hf.tables.rows import read_rows
from cc_hf_studies.common.corpus_blocks import DAMAGED, MOST_NAMED, check_processes, map_blocks
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair
from cc_hf_studies.disambiguation_bias.tagging import OUTCOMES, PairTagger
from cc_hf_studies.disambiguation_bias.tagging_summary import (
    TaggingSummary,
    summary_path,
)

__all__ = ["ON_DAMAGED", "tag_corpus"]

#: What happens at a damaged pair: it is named, counted and left out, or an error is raised.
ON_DAMAGED = ("skip", "error")
_SUFFIX = ".jsonl"
#: The first line of a part.
_HEADER = {
    "digest": str,
    "n_pairs": COUNT,
    "n_rows": COUNT,
    "n_held_out": COUNT,
    "outcomes": {str: COUNT},
    "damaged": [DAMAGED],
    "clusters": {str: {str: COUNT}},
}
_MOST_DAMAGED = 0.5  # a larger share is no parallel corpus


def tag_corpus(
    corpus: Corpus | StreamCorpus,
    tagger: PairTagger,
    output: str | Path,
    *,
    held_out_pairs: str | Path | None = None,
    alignments: str | Path | None = None,
    n_processes: int = 1,
    on_damaged: str = "skip",
    progress: bool = False,
) -> TaggingSummary:
    """Write the pairs of a corpus in which the sense of a homograph is known.

    A call with the same arguments continues with the missing blocks; the number of processes may
    differ.

    Args:
        alignments: file in Pharaoh format with one line per pair, between tokens that are split at
            spaces; None to align.
    """
    check_choice("on_damaged", on_damaged, ON_DAMAGED)
    _check_options(corpus, tagger, held_out_pairs, n_processes)
    _check_paths(output, held_out_pairs)
    links = None if alignments is None else LineIndex.of(Path(alignments), corpus.block_pairs)
    if links and not isinstance(corpus, StreamCorpus):
        _check_lines(links, corpus.n_pairs, corpus.name)
    aligned = f"given.{file_sha256(links.path)[:7]}" if links else _own_aligner(tagger, corpus)
    fields = {**tagger.signature_fields(), "align": aligned, "held": _held_out(tagger)}
    output = resolved(output)
    held_out_path = resolved(held_out_pairs, "held_out_pairs") if held_out_pairs else None
    with contextlib.ExitStack() as stack:
        stack.enter_context(sole_writer(output))
        if held_out_path is not None:
            stack.enter_context(sole_writer(held_out_path, "held_out_pairs"))
        parts = _Parts(output.with_name(f"{output.name}.parts"))
        parts.prepare({**fields, "block": corpus.block_pairs, "v": __version__})
        writer = _BlockWriter(parts, tagger, links, on_damaged == "error")
        n_blocks = len(
            map_blocks(corpus, writer, n_processes=n_processes, progress=progress, label="tag")
        )
        summary = parts.summary(n_blocks, fields)
        if links:
            _check_lines(links, summary.n_pairs, corpus.name)
        try:
            _check_summary(summary, corpus.name, tagger)
        except InputError:
            parts.remove()  # the same parts would be refused again
            raise
        if n_damaged := summary.outcomes["n_damaged"]:
            line, reason = summary.damaged[0]
            note = (
                f"{corpus.name}: {n_damaged} of {summary.n_pairs} pairs are damaged and left out;"
                f" the first is line {line}: {reason}. The summary names them"
            )
            warnings.warn(note, ResultWarning, stacklevel=2)
        parts.merge(n_blocks, output, held_out_path)
        _write(summary_path(output), summary.to_json())
        parts.remove()
        return summary


def _check_options(
    corpus: Corpus | StreamCorpus,
    tagger: PairTagger,
    held_out_pairs: str | Path | None,
    n_processes: int,
) -> None:
    check_processes(corpus, n_processes)
    if bool(tagger.options.held_out) != (held_out_pairs is not None):
        raise InputError(
            "held_out: expected a share of pairs together with a file for them, got only one of"
            " both"
        )


def _check_paths(output: str | Path, held_out_pairs: str | Path | None) -> None:
    """Check that the outputs are two files that other commands recognise as pairs."""
    for name, path in (("pairs", output), ("held_out_pairs", held_out_pairs)):
        if path is not None and Path(path).suffix.lower() != _SUFFIX:
            raise InputError(f"{name}: expected a file that ends in {_SUFFIX}, got {path}")
    if held_out_pairs is not None and resolved(output) == resolved(held_out_pairs):
        raise InputError(f"held_out_pairs: expected another file than {output}, got the same")


def _check_lines(links: LineIndex, n_pairs: int, name: str) -> None:
    if links.n_lines != n_pairs:
        raise InputError(
            f"{links.path}: expected one line of alignments per pair of {name}, {n_pairs} in all,"
            f" got {links.n_lines}; a pair without links has a blank line"
        )


def _own_aligner(tagger: PairTagger, corpus: Corpus | StreamCorpus) -> str:
    return f"{tagger.aligner_name}.{corpus.block_pairs}pairs"


def _held_out(tagger: PairTagger) -> str:
    share = tagger.options.held_out
    return f"{share:g}.min{tagger.options.min_tokens}" if share else "none"


@dataclass(frozen=True)
class _Parts:
    """The folder of part files. Each begins with a line that says what the block was."""

    folder: Path

    def prepare(self, identity: Mapping[str, Any]) -> None:
        """Create the folder, or check that it is of the same run."""
        path, text = self.folder / "options.json", json.dumps(identity)
        if is_file(path):
            try:
                other = read_json(path, "JSON")
            except InputError:
                other = None
            if other != identity:
                before = other if isinstance(other, dict) else {}
                differing = [key for key in identity if before.get(key) != identity[key]]
                raise InputError(
                    f"{self.folder}: expected parts of the same run, got one with another"
                    f" {', '.join(differing)}; use the same options to go on with it, or delete the"
                    " folder to start again"
                )
            return
        shutil.rmtree(self.folder, ignore_errors=True)  # parts without options are unknown
        self.folder.mkdir(parents=True)
        _write(path, text)

    def remove(self) -> None:
        """Remove the folder. A process of a killed run may still write a last part into it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.jsonl"

    def header(self, number: int) -> Any:
        """Return the first line of a part."""
        path, remedy = self.path(number), "delete the folder to start again"
        for _, row in read_rows(path, JSONL, _HEADER, remedy=remedy):
            return row
        raise FileError(path, f"expected a part of the run, got an empty file; {remedy}")

    def summary(self, n_blocks: int, fields: Mapping[str, str | int]) -> TaggingSummary:
        """Return the summary of all parts."""
        outcomes = Counter(dict.fromkeys(OUTCOMES, 0))
        clusters: dict[str, Counter[str]] = {}
        damaged: list[tuple[int, str]] = []
        digest, n_pairs, n_held_out = hashlib.sha256(), 0, 0
        for number in range(n_blocks):
            header = self.header(number)
            digest.update(header["digest"].encode())
            n_pairs += header["n_pairs"]
            n_held_out += header["n_held_out"]
            outcomes.update(header["outcomes"])
            damaged += [(line, reason) for line, reason in header["damaged"]]
            del damaged[MOST_NAMED:]
            for homograph, numbers in header["clusters"].items():
                clusters.setdefault(homograph, Counter()).update(numbers)
        corpus = digest.hexdigest()
        signature = build("tag", {"corpus": corpus[:7], **fields, "n": n_pairs})
        return TaggingSummary(
            signature,
            corpus,
            n_pairs,
            dict(outcomes),
            n_held_out,
            tuple(damaged),
            {word: dict(sorted(clusters[word].items())) for word in sorted(clusters)},
        )

    def merge(self, n_blocks: int, output: Path, held_out_pairs: Path | None) -> None:
        """Write the rows of all parts to their files."""
        paths = [path for path in (output, held_out_pairs) if path]
        new = [path.with_name(f".{path.name}.part") for path in paths]
        files = [path.open("w", encoding="utf-8", newline="\n") for path in new]
        try:
            for number in range(n_blocks):
                n_pairs = self.header(number)["n_rows"]
                with self.path(number).open(encoding="utf-8") as part:
                    part.readline()
                    for row, line in enumerate(part):
                        files[row >= n_pairs].write(line)
        finally:
            for file in files:
                file.close()
        for part_path, path in zip(new, paths, strict=True):
            os.replace(part_path, path)


@dataclass(frozen=True)
class _BlockWriter:
    """Tag a block and write its part, unless the part is there."""

    parts: _Parts
    tagger: PairTagger
    links: LineIndex | None
    refuses_damaged: bool

    def __call__(self, block: CorpusBlock) -> str:
        """Return the number of a block, after its part is written."""
        path = self.parts.path(block.number)
        damaged = [(block.first + row + 1, reason) for row, reason in block.damaged.items()]
        if damaged and self.refuses_damaged:
            line, reason = damaged[0]
            raise InputError(
                f"line {line}: {reason} ({len(damaged)} damaged in lines {block.first + 1} to"
                f" {block.first + len(block.sources)}); correct the corpus, or skip damaged pairs,"
                " which are then counted"
            )
        digest = block.digest
        if is_file(path):
            if self.parts.header(block.number)["digest"] != digest:
                raise InputError(
                    f"{path}: expected a part of this corpus, got one of other sentences; delete"
                    f" the folder {self.parts.folder} to start again"
                )
            return str(block.number)
        links, name = None, ""
        if self.links:
            name = str(self.links.path)
            links = self._links(block)
        tagged = self.tagger.tag(block, links, name)
        header = {
            "digest": digest,
            "n_pairs": len(block.sources),
            "n_rows": len(tagged.pairs),
            "n_held_out": len(tagged.held_out),
            "outcomes": dict(tagged.outcomes),
            "damaged": damaged[:MOST_NAMED],
            "clusters": _numbers(tagged.pairs),
        }
        rows = (asdict(pair) for pair in (*tagged.pairs, *tagged.held_out))
        lines = (json.dumps(row, ensure_ascii=False) for row in (header, *rows))
        _write(path, "".join(f"{line}\n" for line in lines))
        return str(block.number)

    def _links(self, block: CorpusBlock) -> Sequence[str]:
        """Return the lines of alignments of a block."""
        if self.links is None or block.number >= len(self.links.offsets) - 1:
            lines: list[str] = []
            broken: dict[int, str] = {}
        else:
            lines, broken = self.links.read(block.number)
        if self.links and broken:
            row, reason = next(iter(broken.items()))
            raise InputError(f"{self.links.path}: line {block.first + row + 1}: {reason}")
        if self.links and len(lines) < len(block.sources):
            raise InputError(
                f"{self.links.path}: expected one line of alignments per pair, got"
                f" {self.links.n_lines} in all; line {block.first + len(lines) + 1} is missing"
            )
        return lines


def _numbers(pairs: Sequence[TaggedPair]) -> dict[str, dict[str, int]]:
    numbers: dict[str, Counter[str]] = {}
    for pair in pairs:
        numbers.setdefault(pair.homograph, Counter())[pair.cluster] += 1
    return {homograph: dict(clusters) for homograph, clusters in numbers.items()}


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)


def _check_summary(summary: TaggingSummary, name: str, tagger: PairTagger) -> None:
    """Refuse a corpus whose pairs are mostly damaged, or in which no sense is known."""
    n_damaged = summary.outcomes["n_damaged"]
    if n_damaged > _MOST_DAMAGED * summary.n_pairs:
        line, reason = summary.damaged[0]
        raise InputError(
            f"{name}: expected sentences and their translations, got {n_damaged} damaged pairs of"
            f" {summary.n_pairs}; the first is line {line}: {reason}"
        )
    src_lang, tgt_lang = tagger.lexicon.src_lang, tagger.lexicon.tgt_lang
    words = list(tagger.options.homographs or tagger.lexicon.homographs)
    if not summary.outcomes["n_homographs"]:
        raise InputError(
            f"{name}: expected {src_lang} sentences with a homograph of the lexicon"
            f" ({', '.join(words[:5])}{', ...' if len(words) > 5 else ''}), got none in"
            f" {summary.n_pairs} pairs; check which side is which, or use another lexicon"
        )
    if not summary.outcomes["n_tagged"]:
        raise InputError(
            f"{name}: expected homographs whose {tgt_lang} translation is a sense of the lexicon,"
            f" got none for {summary.outcomes['n_homographs']} homographs in {summary.n_pairs}"
            " pairs; check that the lines belong together and that the lexicon is for these"
            " languages"
        )
