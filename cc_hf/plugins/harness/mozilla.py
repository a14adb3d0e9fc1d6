"""Metrics and files for the evaluation of Firefox Translations: mozilla/translations, the folder
pipeline/eval, metrics.py at commit 140ba4d and final_eval.py at commit e69e1a8.

A metric is a class that their runner can call in place of one of its own, and `score_folder` reads
the translations that it saved and writes the metrics beside them. Nothing of their code is needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from cc_hf import registry
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.errors import FileError, InputError, MissingOptionError, in_file
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import Material, load_material
from cc_hf.evaluators.resolve import AnyEvaluator
from cc_hf.languages import base_code
from cc_hf.lists import listed_texts
from cc_hf.metrics.base import Metric
from cc_hf.metrics.headline import headline
from cc_hf.records import read_json
from cc_hf.results import EvaluationResult

__all__ = [
    "METRICS",
    "ContrastiveMetric",
    "MetricResults",
    "MtGenEval",
    "MuCoW",
    "Run",
    "SimpleGen",
    "WinoMt",
    "metric_results",
    "read_translations",
    "save_metric",
    "save_translations",
    "score_folder",
]

_SEPARATOR, _LATEST = "__", "latest"
_TRANSLATIONS = "translations.json"
_NAME = re.compile(r"([a-z]+)-([a-z]+)__(.+?)__(.+?)__(.+)__\w+__translations\.json")
_FORM = [{"src": str | None, "trg": str}]
_DIGITS = 4  # their files are rounded so


@dataclass
class MetricResults:
    """The result of a metric, with the names of their class.

    Attributes:
        segment_scores: one per translation: the probability of the right reading for metrics with
            probabilities, else 1 for a correct and 0 for an incorrect one; None for one that the
            metric cannot decide.
        corpus_score: the figure by which systems are ranked, in [0, 1].
        details: which figure it is, all others with their limits, counts, signature and notes.
    """

    name: str
    segment_scores: list[float | None]
    corpus_score: float
    details: dict[str, Any]


class ContrastiveMetric:
    """A metric on a test set of cc_hf, which needs no references.

    Its sources are those of the test set (`sources`), in their order.

    Attributes:
        name: its name in their files and options.
        test_set: the name of the test set in their files.
        dataset, metric: their names in cc_hf.
        config: the configuration; "" for the first that has the languages and fits the metric.

    Examples:
        >>> metric = SimpleGen()
        >>> SimpleGen.supports_lang("en", "de"), SimpleGen.supports_lang("en", "fi")
        (True, False)
        >>> sources = metric.sources("en", "de")
        >>> results = metric.score_qe("en", "de", sources, ["Mein Mann."] * len(sources))
        >>> results.name, len(results.segment_scores), results.segment_scores[0]
        ('simplegen-accuracy', 2664, None)
    """

    name: ClassVar[str]
    test_set: ClassVar[str]
    dataset: ClassVar[str]
    metric: ClassVar[str]
    config: ClassVar[str] = ""

    def __init__(
        self, *, evaluator: AnyEvaluator | None = None, data_dir: str | Path | None = None
    ) -> None:
        self._evaluator = evaluator
        self._data_dir = data_dir

    @classmethod
    def supports_lang(cls, src_lang: str, trg_lang: str) -> bool:
        """Return whether the test set has this language pair, and the metric can judge it."""
        return cls._configuration(src_lang, trg_lang) is not None

    def sources(self, src_lang: str, trg_lang: str) -> list[str]:
        """Return what has to be translated."""
        return [example.source for example in self.material(src_lang, trg_lang).examples]

    def score_qe(
        self,
        src_lang: str,
        trg_lang: str,
        source_texts: Sequence[str],
        translated_texts: Sequence[str],
    ) -> MetricResults:
        """Judge the translations of the test set."""
        material = self.material(src_lang, trg_lang)
        source_texts = listed_texts("source_texts", source_texts)
        _check_sources(self.test_set, [e.source for e in material.examples], source_texts)
        result = evaluate(
            material,
            translations=listed_texts("translated_texts", translated_texts),
            metric=self.metric,
            evaluator=self._evaluator,
        )
        return metric_results(self.name, result)

    def score(
        self,
        src_lang: str,
        trg_lang: str,
        source_texts: Sequence[str],
        translated_texts: Sequence[str],
        reference_texts: Sequence[str],
    ) -> MetricResults:
        """Judge as `score_qe`, whatever the references: their runner calls all metrics so."""
        return self.score_qe(src_lang, trg_lang, source_texts, translated_texts)

    @classmethod
    def _configuration(cls, src_lang: str, trg_lang: str) -> ConfigDeclaration | None:
        declared: DatasetDeclaration = registry.resolve("dataset", cls.dataset)
        metric: type[Metric] = registry.resolve("metric", cls.metric)
        src_lang, trg_lang = base_code(src_lang), base_code(trg_lang)
        for config in declared.configs_of_pair(src_lang, trg_lang):
            if cls.config in ("", config.name) and not metric.fits(
                declared.name, config.name, config.form, src_lang, trg_lang
            ):
                try:
                    metric.check_available(trg_lang)
                except MissingOptionError:  # such as a dictionary of this language
                    return None
                return config
        return None

    def material(self, src_lang: str, trg_lang: str, *, limit: int | None = None) -> Material:
        """Return the sentences of a language pair, the first ones alone with a limit."""
        config = self._configuration(src_lang, trg_lang)
        if config is None:
            raise InputError(
                f"{self.name}: expected a language pair that {self.test_set} has and"
                f" {self.metric} reads, got {src_lang}-{trg_lang}"
            )
        return load_material(
            self.dataset, config.name, tgt_lang=trg_lang, data_dir=self._data_dir, limit=limit
        )


class WinoMt(ContrastiveMetric):
    """Gender of occupations in WinoMT, by words, without the rows of neutral gender: the lowest
    accuracy of three categories would be that of the neutral ones, which systems hardly ever have.
    """

    name, test_set = "winomt-pattern-matching", "winomt"
    dataset, config, metric = "winomt", "default", "winomt_pattern_matching"


class MtGenEval(ContrastiveMetric):
    """Gender accuracy on the counterfactual test set of MT-GenEval, also into English."""

    name, test_set = "mt-geneval-gender-accuracy", "mt-geneval"
    dataset, metric = "mt_geneval", "gender_accuracy"


class MuCoW(ContrastiveMetric):
    """Word senses in MuCoW, by words."""

    name, test_set = "mucow-pattern-matching", "mucow"
    dataset, metric = "mucow", "mucow_pattern_matching"


class SimpleGen(ContrastiveMetric):
    """Gender of occupations in SimpleGEN, by words."""

    name, test_set = "simplegen-accuracy", "simplegen"
    dataset, metric = "simplegen", "simplegen_accuracy"


#: The metrics by their names.
METRICS: Mapping[str, type[ContrastiveMetric]] = {
    metric.name: metric for metric in (WinoMt, MtGenEval, MuCoW, SimpleGen)
}


class Run(NamedTuple):
    """What one file of theirs is about; its parts are those of the file's name.

    Examples:
        >>> Run("en", "pt", "winomt", "bergamot", "base").file_name("translations.json")
        'en-pt__winomt__bergamot__base__latest__translations.json'
    """

    src: str
    trg: str
    dataset: str
    translator: str
    model_name: str

    def file_name(self, name: str, timestamp: str = _LATEST) -> str:
        """Return the name of a file; `timestamp` is such as 20260501T120000."""
        pair = f"{self.src}-{self.trg}"
        parts = (pair, self.dataset, self.translator, self.model_name, timestamp, name)
        return _SEPARATOR.join(parts)


def save_translations(
    folder: str | Path, run: Run, sources: Sequence[str], translations: Sequence[str]
) -> Path:
    """Write translations as their runner does, and return the path."""
    sources = listed_texts("sources", sources)
    translations = listed_texts("translations", translations)
    if len(sources) != len(translations):
        raise InputError(f"expected {len(sources)} translations, got {len(translations)}")
    rows = [
        {"src": source, "trg": translation, "ref": None}
        for source, translation in zip(sources, translations, strict=True)
    ]
    return _write(Path(folder) / run.file_name(_TRANSLATIONS), rows)


def save_metric(folder: str | Path, run: Run, results: MetricResults) -> list[Path]:
    """Write the two files of a metric, NAME.metrics.json and NAME.scores.json, and return them."""
    scores = [None if s is None else round(s, _DIGITS) for s in results.segment_scores]
    figures = {"score": round(results.corpus_score, _DIGITS), "details": results.details}
    return [
        _write(Path(folder) / run.file_name(f"{results.name}.{kind}.json"), content)
        for kind, content in (("metrics", figures), ("scores", scores))
    ]


def read_translations(path: str | Path) -> tuple[Run, list[str | None], list[str]]:
    """Read a file of translations that their runner saved: what it is about, sources, translations.

    Sources are None where the licence of the data forbids them.
    """
    path = Path(path)
    match = _NAME.fullmatch(path.name)
    if match is None:
        example = Run("en", "pt", "winomt", "bergamot", "base").file_name(_TRANSLATIONS)
        raise FileError(path, f"expected a name such as {example}")
    rows = read_json(path, "translations of Firefox Translations", _FORM)
    return Run(*match.groups()), [row["src"] for row in rows], [row["trg"] for row in rows]


def score_folder(
    folder: str | Path, metrics: Sequence[ContrastiveMetric] | None = None
) -> list[Path]:
    """Judge the latest translations in a folder of theirs, and write the metrics beside them.

    Args:
        folder: a folder with files as their runner saves them. Translations of other test sets and
            pairs are left alone.
        metrics: what to judge by; None for one of each of `METRICS`.
    Raises:
        FileError: for translations that cannot be read, or are not of the sources of the test set.
        DataError: for data that is missing or not as declared.
        EvaluatorError: for an evaluator that fails.
    """
    chosen = [metric() for metric in METRICS.values()] if metrics is None else metrics
    written = []
    for path in sorted(Path(folder).glob(f"*{_SEPARATOR}{_LATEST}{_SEPARATOR}{_TRANSLATIONS}")):
        run, sources, translations = read_translations(path)
        for metric in chosen:
            if metric.test_set == run.dataset and metric.supports_lang(run.src, run.trg):
                known = metric.sources(run.src, run.trg)
                given = list(_filled(sources, known))
                with in_file(path):
                    results = metric.score_qe(run.src, run.trg, given, translations)
                written += save_metric(folder, run, results)
    return written


def _filled(sources: Sequence[str | None], known: Sequence[str]) -> Iterator[str]:
    """Yield the sources, those of the test set where a file has none."""
    for number, source in enumerate(sources):
        yield source if source is not None else "".join(known[number : number + 1])


def _check_sources(test_set: str, expected: Sequence[str], sources: Sequence[str]) -> None:
    if len(sources) != len(expected):
        raise InputError(
            f"expected the {len(expected)} sources of {test_set}, got {len(sources)}; translate"
            " what `sources` returns"
        )
    for number, (right, source) in enumerate(zip(expected, sources, strict=True)):
        if source.strip() != right.strip():
            raise InputError(
                f"row {number}: expected the source {right!r} of {test_set}, got {source!r};"
                " translate what `sources` returns, in its order"
            )


def metric_results(name: str, result: EvaluationResult) -> MetricResults:
    """Return what their files say of a result."""
    figure = headline(result).main
    limits = {key: [interval.low, interval.high] for key, interval in result.intervals.items()}
    details = {
        "figure": figure,
        "metric": result.metric,
        "dataset": result.dataset,
        "config": result.config,
        "n": result.n,
        "scores": dict(result.scores),
        "intervals": limits,
        "counts": dict(result.counts),
        "signature": result.signature,
        "notes": list(result.notes),
    }
    scores: list[float | None] = [
        None
        if not judgement.is_decided
        else float(judgement.is_correct)
        if judgement.probability_correct is None
        else judgement.probability_correct
        for judgement in result.judgements
    ]
    return MetricResults(name, scores, result.scores[figure], details)


def _write(path: Path, content: Any) -> Path:
    try:
        text = json.dumps(content, ensure_ascii=False, indent=2)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise FileError(path, f"cannot be written ({error.strerror or error})") from error
    return path
