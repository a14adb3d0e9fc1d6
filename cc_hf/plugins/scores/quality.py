"""BLEU and chrF of systems against references, with a paired test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import InputError, check_choice
from cc_hf.normalization import is_blank
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.checks import as_labels, check_type
from cc_hf.statistics.corpus_quality import (
    TOKENIZERS,
    corpus_score,
    points,
    score_of_sums,
    scorers,
    sentence_statistics,
)
from cc_hf.statistics.randomization import exchange_tests

__all__ = ["PAIRED_TESTS", "CorpusQuality", "corpus_quality"]

#: Approximate randomisation (Riezler & Maxwell 2005), by the name that sacreBLEU gives it. Its
#: bootstrap ("bs") is no choice: in few sentences it finds differences where there are none.
PAIRED_TESTS = ("ar",)
_FEWEST = 2


@dataclass(frozen=True)
class CorpusQuality:
    """Quality of the translations of one system, by "bleu" and perhaps "chrf"."""

    system: str
    n: int
    n_blank: int  # scored like any other
    scores: Mapping[str, float]  # in [0, 1]
    signatures: Mapping[str, str]  # of sacreBLEU
    # Of the difference from the first system; empty for it, and without a paired test.
    p_values: Mapping[str, float]
    test: str = ""  # signature of the paired test of BLEU

    def to_row(self) -> dict[str, Any]:
        """Return what `cc_hf.data.files.quality_scores.read_quality_scores` reads, in points."""
        row: dict[str, Any] = {"system": self.system}
        for name, score in self.scores.items():
            row[name] = points(score)
            row["signature" if name == "bleu" else f"{name}_signature"] = self.signatures[name]
            if name in self.p_values:
                row[f"{name}_p_value"] = self.p_values[name]
        if self.test:
            row["paired_test"] = self.test
        return {**row, "n": self.n, "n_blank": self.n_blank}


def corpus_quality(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    *,
    chrf: bool = False,
    tokenize: str = "13a",
    paired: str | None = None,
    bootstrap: Bootstrap | None = None,
) -> tuple[CorpusQuality, ...]:
    """Score the translations of systems against one reference for each sentence.

    `paired` is one of `PAIRED_TESTS`, to compare each system with the first; None for no test.

    Examples:
        >>> (quality,) = corpus_quality({"own": ["Der Arzt."]}, ["Der Arzt."], chrf=True)
        >>> quality.to_row()["chrf"]
        100.0
    """
    check_choice("tokenize", tokenize, TOKENIZERS)
    check_type("systems", systems, Mapping)
    as_labels("references", references, are_texts=True)
    if not references or not systems:
        raise InputError("references: expected at least one sentence and one system, got none")
    for system, translations in systems.items():
        if len(as_labels(system, translations, are_texts=True)) != len(references):
            raise InputError(
                f"{system}: expected {len(references)} translations, one for each reference, got"
                f" {len(translations)}; line N of both files must belong together, blank lines"
                " included"
            )
    names = ("bleu", "chrf") if chrf else ("bleu",)
    p_values, test = _p_values(
        systems, references, names, tokenize, paired, bootstrap or Bootstrap()
    )
    results = []
    for system, translations in systems.items():
        both = {
            name: corpus_score(name, translations, references, tokenize=tokenize) for name in names
        }
        results.append(
            CorpusQuality(
                system,
                len(references),
                sum(map(is_blank, translations)),
                {name: score for name, (score, _) in both.items()},
                {name: signature for name, (_, signature) in both.items()},
                p_values.get(system, {}),
                test,
            )
        )
    return tuple(results)


def _p_values(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    names: Sequence[str],
    tokenize: str,
    paired: str | None,
    bootstrap: Bootstrap,
) -> tuple[dict[str, dict[str, float]], str]:
    """Return system -> name of a score -> p-value, and the signature of the test."""
    if paired is None:
        return {}, ""
    check_choice("paired", paired, PAIRED_TESTS)
    if len(systems) < _FEWEST:
        raise InputError("paired: expected two or more systems to compare, got one")
    p_values: dict[str, dict[str, float]] = {system: {} for system in list(systems)[1:]}
    test, options = "", bootstrap.options
    for name in names:
        metric = scorers(tokenize)[name]
        first, *others = (
            sentence_statistics(metric, texts, references) for texts in systems.values()
        )
        for system, statistics in zip(p_values, others, strict=True):
            tests = exchange_tests(first, statistics, score_of_sums(name, metric), **options)
            p_values[system][name] = tests[name].p_value
        signature = metric.get_signature()
        signature.update("seed", options["seed"])
        signature.update(paired, options["n_resamples"])
        test = test or str(signature)
    return p_values, test
