"""Challenge sets: sentences that are likely to be mistranslated because their words go with another
sense of a homograph (Emelin et al. 2020; Emelin 2023, section 3.2.2).

Beside the sentences with most bias there are random ones, and those with the rarest senses.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf import signature
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.files.sense_rows import senses_text
from cc_hf.errors import InputError
from cc_hf.schema import Example, Focus, ProbingExample
from cc_hf.text.tokenization import word_texts, word_tokens
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, TaggedPair
from cc_hf_studies.disambiguation_bias.prediction import FEATURES
from cc_hf_studies.disambiguation_bias.sentences import BiasColumns, scored_rows

__all__ = ["SETS", "ChallengeSets", "challenge_sets"]

#: Name of a set -> what it holds.
SETS: dict[str, str] = {
    "most_biased": "the sentences with the largest bias towards a wrong sense",
    "random": "sentences drawn at random",
    "rarest": "the sentences with the rarest senses of their homographs",
}
_Row = dict[str, Any]


@dataclass(frozen=True)
class ChallengeSets:
    """The sets, chosen from one pool of `n_pool` sentences, without `n_short` shorter ones.

    Attributes:
        sets: name of `SETS` -> examples for `homograph_accuracy`. Their category is "frequent" or
            "rare"; `extra` holds the homograph, its senses, the reference and the values of
            `cc_hf_studies.disambiguation_bias.prediction.FEATURES`.
        signatures: name of `SETS` -> what the choice depends on.
    """

    sets: Mapping[str, tuple[ProbingExample, ...]]
    signatures: Mapping[str, str]
    n_pool: int
    n_short: int

    def overlap(self, first: str, second: str) -> float:
        """Return the share of the first set that is in the second, in [0, 1]."""
        others = {example.id for example in self.sets[second]}
        examples = self.sets[first]
        return sum(example.id in others for example in examples) / len(examples)

    def declaration(self, *, name: str = "challenge sets") -> DatasetDeclaration:
        """Return the sets as a dataset with one configuration each."""

        def read(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
            return iter(self.sets[config])

        configs = tuple(
            ConfigDeclaration(
                config,
                SETS[config],
                tuple(sorted({example.tgt_lang for example in examples})),
                {"test": len(examples)},
                form=ProbingExample,
                src_lang=examples[0].src_lang,
                extra_keys=tuple(examples[0].extra),
            )
            for config, examples in self.sets.items()
        )
        return DatasetDeclaration(
            name="custom",
            description=f"The sentences are chosen from {name}, {self.n_pool:,} in all.",
            licence="unknown",
            homepage="",
            citation_keys=("emelin-2020",),
            revision=hashlib.sha256("\n".join(self.signatures.values()).encode()).hexdigest(),
            cues="own",
            files=(),
            configs=configs,
            default_config=configs[0].name,
            extra_keys=(),
            read=read,
        )


def challenge_sets(
    pairs: Iterable[TaggedPair],
    table: AttractorTable,
    lexicon: HomographLexicon,
    *,
    n: int = 3000,
    by: str = "freq_diff",
    smoothing: float = 0.0,
    log: bool = True,
    seed: int = 0,
    max_per_homograph: int | None = None,
    min_tokens: int = 10,
) -> ChallengeSets:
    """Choose the sentences with most bias, random ones, and those with the rarest senses.

    Ties are broken by length, the longer sentence first, then by the order of the pairs. A sense is
    the rarer, the smaller its share of the pairs of its homograph in the table.

    Args:
        max_per_homograph: largest number of sentences of one homograph in a set; None for any.
        min_tokens: smallest number of tokens of a sentence in the pool.
    """
    _check(n, by, max_per_homograph)
    rows: list[_Row] = []
    n_short = 0
    columns = BiasColumns(table, ("freq", "ppmi"), smoothing, log)
    for row in scored_rows(pairs, columns):
        length = len(word_texts(row["source"]))
        if length < min_tokens:
            n_short += 1
            continue
        lexicon.check(row["homograph"], row["cluster"], f"pair {row['id']}")
        rows.append({**row, "length": length, "order": len(rows)})
    if not rows:
        raise InputError(
            f"pairs: expected at least one sentence of {min_tokens} tokens or more, got none"
            f" ({n_short} shorter ones)"
        )
    shares = {word: _shares(table.n_pairs.get(word, {})) for word in {r["homograph"] for r in rows}}
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    orders = {
        "most_biased": sorted(rows, key=lambda r: (-r[by], -r["length"], r["order"])),
        "random": [rows[i] for i in shuffled],
        "rarest": sorted(
            rows,
            key=lambda r: (
                shares[r["homograph"]].get(r["cluster"], 0.0),
                -r["length"],
                r["order"],
            ),
        ),
    }
    names = _unique_names(rows)
    sets = {
        name: tuple(
            _example(row, names[row["order"]], table, lexicon)
            for row in _first(order, n, max_per_homograph)
        )
        for name, order in orders.items()
    }
    pool = hashlib.sha256(
        "\n".join(json.dumps([r["source"], r["start"], r["cluster"]]) for r in rows).encode()
    ).hexdigest()
    options: dict[str, str | int] = {
        "by": by,
        "n": n,
        "most": max_per_homograph or "none",
        "shortest": min_tokens,
        "seed": seed,
        "pool": f"{len(rows)}.{pool[:7]}",
    }
    origin = table.signature(associations=("freq", "ppmi"), smoothing=smoothing, log=log)
    signatures = {name: _signature(name, options, origin) for name in sets}
    return ChallengeSets(sets, signatures, len(rows), n_short)


def _check(n: int, by: str, max_per_homograph: int | None) -> None:
    if by not in FEATURES:
        raise InputError(f"by: expected one of {', '.join(FEATURES)}, got {by!r}")
    for name, value in {"n": n, "max_per_homograph": max_per_homograph}.items():
        if value is not None and value < 1:
            raise InputError(f"{name}: expected 1 or more, got {value}")


def _signature(name: str, options: Mapping[str, str | int], origin: str) -> str:
    """Return the signature of a set: the choice, and the fields of the signature of the bias."""
    of_choice = {k: v for k, v in options.items() if name == "most_biased" or k != "by"}
    of_bias = signature.parse(origin)[1]
    return signature.unparse(
        "challenge", {"set": name, **of_choice, "pairs": of_bias.pop("n"), **of_bias}
    )


def _shares(numbers: Mapping[str, int]) -> dict[str, float]:
    n = sum(numbers.values())
    return {cluster: number / n for cluster, number in numbers.items()} if n else {}


def _first(rows: Sequence[_Row], n: int, max_per_homograph: int | None) -> list[_Row]:
    seen: Counter[str] = Counter()
    chosen: list[_Row] = []
    for row in rows:
        if len(chosen) == n:
            break
        if max_per_homograph is None or seen[row["homograph"]] < max_per_homograph:
            seen[row["homograph"]] += 1
            chosen.append(row)
    return chosen


def _unique_names(rows: Sequence[_Row]) -> list[str]:
    """Return a name for each row: its id, with homograph and position where ids are not unique."""
    numbers = Counter(row["id"] for row in rows)
    return [
        row["id"] if numbers[row["id"]] == 1 else f"{row['id']}:{row['homograph']}:{row['start']}"
        for row in rows
    ]


def _example(
    row: _Row, name: str, table: AttractorTable, lexicon: HomographLexicon
) -> ProbingExample:
    homograph, cluster, source = row["homograph"], row["cluster"], row["source"]
    token = next((t for t in word_tokens(source) if t.start == row["start"]), None)
    if token is None:
        raise InputError(
            f"pair {row['id']}: start: expected the position of {homograph!r}, got {row['start']}:"
            f" {source!r}"
        )
    numbers = table.n_pairs.get(homograph, {})
    is_frequent = numbers.get(cluster, 0) == max(numbers.values(), default=0)
    return ProbingExample(
        id=name,
        src_lang=lexicon.src_lang,
        tgt_lang=lexicon.tgt_lang,
        source=source,
        category="frequent" if is_frequent else "rare",
        gold=cluster,
        focus=Focus(token.text, token.start),
        extra={
            "homograph": homograph,
            "cluster": cluster,
            "senses": senses_text(lexicon.clusters(homograph)),
            "reference": row["reference"],
            "freq_wrong_cluster": row["freq_wrong_cluster"],
            "ppmi_wrong_cluster": row["ppmi_wrong_cluster"],
            **{feature: repr(row[feature]) for feature in FEATURES},
        },
    )
