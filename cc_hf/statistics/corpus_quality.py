"""BLEU and chrF of translations against references by sacreBLEU (Post 2018), with its signatures
and a paired test.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.languages import base_code
from cc_hf.normalization import is_blank
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.checks import as_floats, as_labels, check_number, check_type
from cc_hf.statistics.randomization import FiguresOfSums, exchange_tests
from cc_hf.text.tokenization import moses_words

__all__ = [
    "PAIRED_TESTS",
    "TOKENIZERS",
    "CorpusQuality",
    "corpus_quality",
    "corpus_score",
    "points",
    "score_of_sums",
    "scores_of_statistics",
    "sentence_statistics",
]

_COMPOUNDS = "t2t-de"
#: Tokenizers of BLEU that need no further package: those of sacreBLEU, and that of the script
#: get_ende_bleu.sh of tensor2tensor, whose BLEU is not smoothed.
TOKENIZERS = ("13a", "intl", "char", "zh", "none", _COMPOUNDS)
#: Approximate randomisation (Riezler & Maxwell 2005), by the name that sacreBLEU gives it. Its
#: bootstrap ("bs") is no choice: in few sentences it finds differences where there are none.
PAIRED_TESTS = ("ar",)
_FEWEST = 2
_HYPHEN = re.compile(r"(\S)-(\S)")


@dataclass(frozen=True)
class CorpusQuality:
    """Quality of the translations of one system.

    Attributes:
        n_blank: number of blank translations, which are scored like any other.
        scores: "bleu" and perhaps "chrf" -> score in [0, 1].
        signatures: the same names -> signature of sacreBLEU.
        p_values: the same names -> p-value of the difference from the first system; empty for the
            first, and without a paired test.
        test: signature of the paired test of BLEU, in the form of sacreBLEU; "" without one.
    """

    system: str
    n: int
    n_blank: int
    scores: Mapping[str, float]
    signatures: Mapping[str, str]
    p_values: Mapping[str, float]
    test: str = ""

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


def corpus_score(
    name: str,
    translations: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str | None = "13a",
    tgt_lang: str = "",
) -> tuple[float, str]:
    """Return BLEU or chrF of a whole set, in [0, 1], and the signature of sacreBLEU.

    Args:
        name: "bleu" or "chrf".
        tokenize: tokenizer of BLEU; None for the one that sacreBLEU uses for the language.
        tgt_lang: language of the translations, ISO 639-1.

    Raises:
        InputError: for another name, or texts that do not belong together.

    Examples:
        >>> score, text = corpus_score("bleu", ["Der Arzt ist da."], ["Der Arzt ist da."])
        >>> round(score, 3), text.split("|")[2:5]
        (1.0, ['eff:no', 'tok:13a', 'smooth:exp'])
    """
    check_choice("name", name, ("bleu", "chrf"))
    _check_texts(translations, references)
    metric = _metrics(tokenize, tgt_lang=tgt_lang)[name]
    score = metric.corpus_score(list(translations), [list(references)]).score
    # Floating-point rounding can give 100.00000000000004.
    return min(1.0, float(score) / 100), str(metric.get_signature())


def points(score: float) -> float:
    """Return BLEU or chrF in [0, 1] as sacreBLEU prints them, in [0, 100], with four digits.

    Raises:
        InputError: for a score that is no number from 0 to 1.

    Examples:
        >>> points(0.28391)
        28.391
    """
    check_number("score", score, low=0, high=1)
    return round(100 * score, 4)


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

    Args:
        systems: name of a system -> one translation per reference.
        tokenize: one of `TOKENIZERS`, for BLEU.
        paired: one of `PAIRED_TESTS`, to compare each system with the first; None for no test.
        bootstrap: seed and number of exchanges of the test; None for the defaults.

    Raises:
        InputError: for no references, a number of translations that differs, an unknown tokenizer
            or test, or a test of one system.

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
        metric = _metrics(tokenize)[name]
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


def sentence_statistics(
    scorer: Any, translations: Sequence[str], references: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return (n, k) counts of each sentence, of whose sums the score of a corpus is a function.

    Args:
        scorer: BLEU or CHRF of sacreBLEU.
        translations, references: n texts each.

    Raises:
        InputError: for texts that do not belong together.
    """
    _check_texts(translations, references)
    # These methods are private, but sacreBLEU has no public ones for chrF, and its own bootstrap
    # and paired tests use them.
    statistics = scorer._extract_corpus_statistics(list(translations), [list(references)])
    return np.array(statistics, dtype=np.float64)


def scores_of_statistics(scorer: Any, sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the scores in [0, 1], (m,), of corpora from the sums of `sentence_statistics`.

    Args:
        scorer: BLEU or CHRF of sacreBLEU.
        sums: sums over the sentences of each corpus, (m, k).

    Raises:
        InputError: for anything but rows of numbers.

    Examples:
        >>> from sacrebleu.metrics.bleu import BLEU
        >>> counts = sentence_statistics(BLEU(), ["Das ist ein Haus ."], ["Das ist ein Haus ."])
        >>> scores_of_statistics(BLEU(), counts).tolist()
        [1.0]
    """
    counts = as_floats("sums", sums, shape=(None, None)).astype(int)
    scores = [scorer._compute_score_from_stats(row).score for row in counts.tolist()]
    # Floating-point rounding can take a perfect score slightly above 100.
    return np.minimum(np.array(scores, dtype=np.float64) / 100, 1.0)


def score_of_sums(name: str, scorer: Any) -> FiguresOfSums:
    """Return `scores_of_statistics` as a figure of sums over sentences, for paired tests.

    Args:
        scorer: BLEU or CHRF of sacreBLEU.
    """
    return lambda parts: {name: scores_of_statistics(scorer, parts["all"])}


def _check_texts(translations: Sequence[str], references: Sequence[str]) -> None:
    n = len(as_labels("references", references, are_texts=True))
    if n == 0:
        raise InputError("references: expected at least one sentence, got none")
    as_labels("translations", translations, n=n, are_texts=True)


def _metrics(tokenize: str | None, *, tgt_lang: str = "") -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if tokenize == _COMPOUNDS:
        bleu = BLEU(tokenize="none", smooth_method="none", force=True)
        bleu.tokenizer = _CompoundTokenizer()
        bleu.tokenizer_signature = bleu.tokenizer.signature()
    else:
        bleu = BLEU(tokenize=tokenize, trg_lang=base_code(tgt_lang))
    return {"bleu": bleu, "chrf": CHRF()}


class _CompoundTokenizer:
    """German tokens of Moses, with compounds split at their hyphens, in the form of sacreBLEU."""

    def signature(self) -> str:
        return f"{_COMPOUNDS}-sacremoses-{version('sacremoses')}"

    def __call__(self, line: str) -> str:
        return _HYPHEN.sub(r"\1 ##AT##-##AT## \2", " ".join(moses_words(line, "de")))
