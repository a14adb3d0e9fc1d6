"""From files of tagged pairs and attractors to a file of adversarial samples; `cc-hf study
disambiguation_bias attack build` runs it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.files import file_sha256, resolved, sole_writer
from cc_hf.reading import stream_lines
from cc_hf.signature import build
from cc_hf_studies.common.nouns import DictionaryNouns, NounParser
from cc_hf_studies.disambiguation_bias.attacks.generate import GenerationRules, generate_samples
from cc_hf_studies.disambiguation_bias.attacks.modifiers import count_modifiers
from cc_hf_studies.disambiguation_bias.attacks.outcomes import distinct_texts
from cc_hf_studies.disambiguation_bias.attacks.samples import (
    AdversarialSample,
    read_samples,
    write_rows,
)
from cc_hf_studies.disambiguation_bias.attacks.seeds import SeedRules, fluent_samples, select_seeds
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable, read_table
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, TaggedPair, read_pairs
from cc_hf_studies.disambiguation_bias.tagging_summary import summary_path

__all__ = ["AttackFiles", "Checks", "GenerationReport", "file_digest", "make_attacks"]


@dataclass(frozen=True)
class AttackFiles:
    """What adversarial samples are made from.

    Attributes:
        seeds: tagged pairs that are held out from the corpus.
        training: tagged pairs of the corpus, in which the adjectives of each sense are counted.
        corpus: further source sentences, one per line, for the adjectives of other nouns.
    """

    seeds: Path
    attractors: Path
    training: Path
    corpus: Path | None = None


@dataclass(frozen=True)
class Checks:
    """Language models that check the sense of seeds and the fluency of samples; None for no check.

    Attributes:
        lexicon: the senses that `masked_lm` compares.
        max_ratio: largest ratio of perplexities.
    """

    masked_lm: Evaluator | None = None
    lexicon: HomographLexicon | None = None
    causal_lm: Evaluator | None = None
    max_ratio: float = 1.2

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of a signature."""
        names = [
            "none" if model is None else model.signature_fields()["eval"]
            for model in (self.masked_lm, self.causal_lm)
        ]
        ratio = {} if self.causal_lm is None else {"ratio": f"<={self.max_ratio:g}"}
        return {"mlm": names[0], "lm": names[1], **ratio}


@dataclass(frozen=True)
class GenerationReport:
    """How a file of samples was made.

    Attributes:
        counts: how many pairs and samples each step kept or dropped.
    """

    signature: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class _PairFile:
    """Tagged pairs that can be iterated several times without being held in memory."""

    path: Path

    def __iter__(self) -> Iterator[TaggedPair]:
        return read_pairs(self.path)


def make_attacks(
    files: AttackFiles,
    output: Path,
    *,
    parser: NounParser,
    seed_rules: SeedRules | None = None,
    rules: GenerationRules | None = None,
    checks: Checks | None = None,
    sources: Path | None = None,
) -> GenerationReport:
    """Write adversarial samples, and a summary beside them, row by row.

    Rules that are None are those of the thesis.

    Args:
        sources: file for every distinct text, one per line; None for no file.
    """
    seed_rules, rules, checks = (
        seed_rules or SeedRules(),
        rules or GenerationRules(),
        checks or Checks(),
    )
    with sole_writer(output):
        table, pairs = read_table(files.attractors), _PairFile(files.training)
        if isinstance(parser, DictionaryNouns):
            parser = parser.with_uses(_texts(pairs, files.corpus))
        modifiers = count_modifiers(pairs, parser, sources=_lines(files.corpus))
        counts = Counter[str]()
        chosen = select_seeds(
            _PairFile(files.seeds),
            table,
            rules=seed_rules,
            masked_lm=checks.masked_lm,
            lexicon=checks.lexicon,
            counts=counts,
        )
        samples: Iterator[AdversarialSample] = generate_samples(
            chosen, table, modifiers, parser, rules=rules, counts=counts
        )
        if checks.causal_lm is not None:
            samples = fluent_samples(
                samples,
                checks.causal_lm,
                max_ratio=checks.max_ratio,
                lang=table.src_lang,
                counts=counts,
            )
        part = output.with_name(f".{output.name}.new")
        counts["n_samples"] = write_rows(part, samples)
        if not counts["n_samples"]:
            part.unlink()
            raise InputError(
                f"{files.seeds}: expected at least one sample, got none from {counts['n_seeds']}"
                f" seeds ({counts['n_short']} pairs are too short); use a larger corpus, or other"
                " rules"
            )
        signature = build(
            "attacks",
            {
                **_file_fields(files, table),
                "parser": parser.signature_name,
                "tokens": f">={seed_rules.min_tokens}",
                "dropped": f"{seed_rules.dropped_share:g}",
                **checks.signature_fields(),
                **rules.signature_fields(),
                "n": counts["n_samples"],
            },
        )
        report = GenerationReport(signature, dict(counts))
        os.replace(part, resolved(output))
        summary_path(output).write_text(
            json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8", newline="\n"
        )
        if sources is not None:
            _write_sources(sources, output)
        return report


def _texts(pairs: _PairFile, corpus: Path | None) -> Iterator[str]:
    yield from (pair.source for pair in pairs)
    yield from _lines(corpus)


def _lines(path: Path | None) -> Iterator[str]:
    if path is not None:
        yield from (line for line in stream_lines(path) if line.strip())


def _file_fields(files: AttackFiles, table: AttractorTable) -> dict[str, str]:
    stops = hashlib.sha256("\n".join(table.stop_words).encode()).hexdigest()[:7]
    return {
        "seeds": file_digest(files.seeds),
        "corpus": table.corpus[:7] or "unknown",
        "lexicon": table.lexicon[:7] or "unknown",
        "stops": f"{len(table.stop_words)}.{stops}" if table.stop_words else "none",
        "training": file_digest(files.training),
        **({} if files.corpus is None else {"sources": file_digest(files.corpus)}),
    }


def file_digest(path: Path) -> str:
    """Return the first seven hexadecimal digits of the SHA-256 of a file."""
    return file_sha256(path)[:7]


def _write_sources(path: Path, samples: Path) -> None:
    """Write every distinct text of a file of samples on a line of its own."""
    texts = distinct_texts(read_samples(samples))
    broken = next((text for text in texts if "\n" in text or "\r" in text), None)
    if broken is not None:
        raise InputError(
            f"sources: expected sentences without line breaks, got {broken!r}; correct the pairs"
        )
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8", newline="\n")
