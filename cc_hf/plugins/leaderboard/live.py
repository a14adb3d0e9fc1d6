"""Judgements requested from the page: one sentence, with an explanation or with what is
missing from its translation, or a file of translations.

Models are loaded when first needed, and are used under a lock. gradio is not used here.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.comparing.explanation import Explanation, explain_example
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.download import is_here
from cc_hf.data.files.cells import focus_positions
from cc_hf.data.files.custom_examples import custom_example
from cc_hf.data.files.translations import read_translations
from cc_hf.errors import InputError, MissingDependencyError, MissingOptionError, check_choice
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import load_material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import resolve_evaluator
from cc_hf.languages import named_language, pair_codes
from cc_hf.metrics.base import Metric
from cc_hf.models.location import default_evaluator
from cc_hf.normalization import is_blank
from cc_hf.results import EvaluationResult
from cc_hf.schema import ProbingExample

__all__ = [
    "MAX_CUES",
    "MAX_FILE_LINES",
    "MAX_LINE",
    "MAX_MEAN_CHARACTERS",
    "MAX_PARTS",
    "MAX_PARTS_CHARACTERS",
    "MAX_TEXT_CHARACTERS",
    "MAX_UPLOAD",
    "AvailableData",
    "FileJudge",
    "SentenceJudge",
    "available_data",
    "check_upload",
    "config_metrics",
    "read_occurrence",
]

#: The largest uploaded file, in bytes.
MAX_UPLOAD = 5 * 1024 * 1024
#: The largest number of lines of an uploaded file, several times the size of the largest dataset.
MAX_FILE_LINES = 20_000
#: The longest line of a file, in bytes; it can hold a source and a translation in JSON.
MAX_LINE = 1 << 15
#: The largest mean length of translations, in characters; three times that of the datasets.
MAX_MEAN_CHARACTERS = 300
#: The largest length of a sentence, and of each translation of a file, in characters.
MAX_TEXT_CHARACTERS = 2000
#: The largest number of cues on each side, because each cue makes a source that is scored.
MAX_CUES = 20
#: The largest length of a text from which parts are left out, in characters, and their largest
#: number, because the other text is scored anew for each of them.
MAX_PARTS_CHARACTERS = 400
MAX_PARTS = 120
_MAX_THREADS = 4  # of torch, for one judgement; sentences are short, and more do not help
# A sentence is judged on one thread by a model with at most so many weights, since several threads
# would wait for each other more than they compute. The embedded evaluator has 7 million.
_SMALL_MODEL = 20_000_000
_CUE_SEPARATOR = "|"
_HYPOTHESES = 8  # of the n-best list from which both forms are chosen
_NO_ADDITIONS = "Additions were not looked for: this page has no evaluator of the other direction."
_ELSEWHERE = "judge larger files with cc_hf on your own machine"


@dataclass
class _Model:
    """An evaluator that is loaded once, on the first request, and used by one thread at a time."""

    load: Callable[[], Evaluator]

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self._loaded: Evaluator | None = None

    def get(self) -> Evaluator:
        """Return the evaluator. The caller must hold the lock."""
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded


@contextlib.contextmanager
def _few_threads(most: int) -> Iterator[None]:
    """Let torch use few threads for what the current thread computes in the block."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    # The server answers each request in one of many threads, and torch starts threads for each of
    # them. On a machine with many cores, they would slow each other and the page down.
    before = torch.get_num_threads()
    torch.set_num_threads(min(most, before))
    try:
        yield
    finally:
        # The next request of this server thread may be a file, for which more threads are right.
        torch.set_num_threads(before)


def _sentence_threads(evaluator: Evaluator) -> int:
    """Return on how many threads of torch a sentence is judged at most."""
    model: Any = getattr(evaluator, "scoring_model", None) or getattr(evaluator, "model", None)
    if not hasattr(model, "parameters"):
        return _MAX_THREADS  # not a model of torch, or several
    n_weights = sum(weight.numel() for weight in model.parameters())
    return 1 if n_weights <= _SMALL_MODEL else _MAX_THREADS


class SentenceJudge:
    """A judge of single sentences, which also explains its judgements.

    `evaluator` None is the one that ships; `backward_evaluator` finds what a translation adds.
    """

    def __init__(
        self,
        evaluator: str | Path | Evaluator | None = None,
        *,
        backward_evaluator: str | Path | Evaluator | None = None,
        src_lang: str = "en",
        tgt_lang: str = "de",
    ) -> None:
        src_lang = named_language(src_lang, "src_lang")
        tgt_lang = named_language(tgt_lang, "tgt_lang")
        self.src_lang, self.tgt_lang = src_lang, tgt_lang
        self.name = str(
            default_evaluator(src_lang, tgt_lang)
            if evaluator is None
            else evaluator.name
            if isinstance(evaluator, Evaluator)
            else evaluator
        )
        self._model = _sentence_model(
            self.name if evaluator is None else evaluator, src_lang, tgt_lang
        )
        self._backward = (
            None
            if backward_evaluator is None
            else _sentence_model(backward_evaluator, tgt_lang, src_lang)
        )

    @property
    def language_pairs(self) -> tuple[str, ...]:
        """The pairs for which `find_missing` has an evaluator, such as ("en-de", "de-en")."""
        pair = f"{self.src_lang}-{self.tgt_lang}"
        return (pair,) if self._backward is None else (pair, f"{self.tgt_lang}-{self.src_lang}")

    def prepare(self) -> None:
        """Load the models and use the first once, so that no visitor has to wait for it."""
        self.judge("The doctor left.", "Ja.", "doctor", gender="female")
        if self._backward is not None:
            with self._backward.lock:
                self._backward.get()

    def judge(
        self,
        source: str,
        translation: str,
        focus: str,
        *,
        occurrence: int | None = None,
        gender: str = "",
        correct_cues: str = "",
        incorrect_cues: str = "",
        placement: str = "before",
    ) -> Explanation:
        """Judge one translation, and explain the judgement; `gender` "" uses the given cues."""
        cues = {"correct cues": correct_cues, "incorrect cues": incorrect_cues}
        for name, text in {
            "source": source,
            "translation": translation,
            "word": focus,
            **cues,
        }.items():
            _check_text(name, text, MAX_TEXT_CHARACTERS, is_blank_allowed=name in cues)
        row: dict[str, Any] = {
            "source": source,
            "focus": focus.strip(),
            "position": _position(source, focus.strip(), occurrence),
            "placement": placement,
        }
        if gender:
            row["gold"] = gender
        else:
            for name, text in cues.items():
                side_cues = [cue.strip() for cue in text.split(_CUE_SEPARATOR) if cue.strip()]
                if not 0 < len(side_cues) <= MAX_CUES:
                    raise InputError(
                        f"{name}: expected at least one cue and at most {MAX_CUES}, separated by"
                        f' "{_CUE_SEPARATOR}", got {len(side_cues) or "none"}'
                    )
                row[name.replace(" ", "_")] = side_cues
        example = custom_example(row, src_lang=self.src_lang)
        with self._model.lock:
            evaluator = self._model.get()
            with _few_threads(_sentence_threads(evaluator)):
                return explain_example(
                    evaluator, example, translation.strip(), tgt_lang=self.tgt_lang
                )

    def find_missing(self, source: str, translation: str, language_pair: str = "") -> Any:
        """Find what a translation leaves out, and adds if both directions have evaluators."""
        language_pair = language_pair or self.language_pairs[0]
        check_choice("language pair", language_pair, self.language_pairs)
        src_lang, tgt_lang = pair_codes(language_pair)
        coverage = registry.resolve("metric", "coverage")
        for name, text, lang in (
            ("source", source, src_lang),
            ("translation", translation, tgt_lang),
        ):
            _check_text(name, text, MAX_PARTS_CHARACTERS)
            if (n_parts := coverage.n_parts(text, lang)) > MAX_PARTS:
                raise InputError(
                    f"{name}: expected at most {MAX_PARTS} parts that could be missing, got"
                    f" {n_parts}; give one sentence"
                )
        example = ProbingExample("your sentence", src_lang, tgt_lang, source.strip(), "all", "?")
        with contextlib.ExitStack() as locks:
            # Always in this order, whatever the direction, so that no two requests wait for each
            # other.
            models = [model for model in (self._model, self._backward) if model is not None]
            for model in models:
                locks.enter_context(model.lock)
            evaluators = [model.get() for model in models]
            if language_pair != self.language_pairs[0]:
                evaluators.reverse()
            evaluator, *backward = evaluators
            locks.enter_context(_few_threads(max(map(_sentence_threads, evaluators))))
            metric = coverage(backward_evaluator=backward[0] if backward else None)
            explain_changes = registry.resolve("public name", "explain_changes")
            explained = explain_changes(metric, evaluator, example, translation.strip())
        return explained if backward else replace(explained, notes=(_NO_ADDITIONS,))

    def both_genders(self, source: str, focus: str = "") -> Any:
        """Translate for a man and for a woman with the evaluator, if it translates.

        `focus` names the person; "" for the first noun for a person.
        """
        _check_text("source", source, MAX_TEXT_CHARACTERS)
        with self._model.lock:
            evaluator = self._model.get()
            with _few_threads(_sentence_threads(evaluator)):
                options = registry.resolve("public name", "AlternativeOptions")
                (made,) = registry.resolve("public name", "alternatives")(
                    [source.strip()],
                    evaluator,
                    focuses=[focus.strip() or None],
                    evaluator=evaluator,
                    src_lang=self.src_lang,
                    tgt_lang=self.tgt_lang,
                    options=options(n_best=_HYPOTHESES),
                )
        return made


def _sentence_model(evaluator: str | Path | Evaluator, src_lang: str, tgt_lang: str) -> _Model:
    return _Model(
        lambda: (
            evaluator
            if isinstance(evaluator, Evaluator)
            else _opened(evaluator, (src_lang, tgt_lang), mode="exact")
        )
    )


def _check_text(name: str, text: str, most: int, *, is_blank_allowed: bool = False) -> None:
    if is_blank(text) and not is_blank_allowed:
        raise InputError(f"{name}: expected a text, got none")
    if len(text) > most:
        raise InputError(f"{name}: expected at most {most} characters, got {len(text)}")


def read_occurrence(text: str) -> int | None:
    """Return the number of an occurrence that a visitor wrote; None for a blank text."""
    text = text.strip()
    if text and not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise InputError(f"which occurrence: expected a number from 1, got {text[:80]!r}")
    return int(text) if text else None


def _opened(name: str | Path | None, languages: tuple[str, str], **options: Any) -> Evaluator:
    return resolve_evaluator(
        name, LoadingOptions(**options), src_lang=languages[0], tgt_lang=languages[1]
    )


def _position(source: str, focus: str, occurrence: int | None) -> int:
    positions = focus_positions(focus, source)
    if not positions:
        raise InputError(
            f"word: {focus!r} does not occur as a whole word in {source!r}; write it as it appears"
            " in the source"
        )
    if occurrence is None:
        if len(positions) > 1:
            raise InputError(
                f"word: {focus!r} occurs {len(positions)} times in {source!r}; say which"
                f" occurrence, 1 to {len(positions)}"
            )
        return positions[0]
    if not 1 <= occurrence <= len(positions):
        raise InputError(
            f"which occurrence: expected 1 to {len(positions)}, because {focus!r} occurs"
            f" {len(positions)} times, got {occurrence}"
        )
    return positions[occurrence - 1]


@dataclass(frozen=True)
class AvailableData:
    """What can be judged of one dataset: metrics by configuration and target language."""

    declared: DatasetDeclaration
    configs: dict[str, dict[str, list[str]]]


def available_data(
    data_dir: str | Path | None = None, evaluator_langs: tuple[str, str] | None = None
) -> dict[str, AvailableData]:
    """Return what files of translations can be judged here: data that can be read without the
    network, with the metrics for which nothing is missing.

    `evaluator_langs` are those of the page's evaluator; None if it uses those that ship.
    Examples:
        >>> available_data()["simplegen"].configs["en-de"]["de"]
        ['contrastive_conditioning', 'simplegen_accuracy']
    """
    available: dict[str, AvailableData] = {}
    for name, declared in registry.load_all("dataset").items():
        configs: dict[str, dict[str, list[str]]] = {}
        for config in declared.configs:
            if "test" not in config.splits or not all(
                is_here(file, data_dir) for file in declared.files_of(config.name)
            ):
                continue
            metrics = {
                lang: config_metrics(name, config, lang, evaluator_langs)
                for lang in config.tgt_langs
            }
            if metrics := {lang: names for lang, names in metrics.items() if names}:
                configs[config.name] = metrics
        if configs:
            available[name] = AvailableData(declared, configs)
    return available


def config_metrics(
    dataset: str,
    config: ConfigDeclaration,
    tgt_lang: str,
    evaluator_langs: tuple[str, str] | None = None,
) -> list[str]:
    """Return the metrics that can judge translations of a configuration here."""
    metrics: list[type[Metric]] = list(registry.load_all("metric").values())
    pair = config.src_lang, tgt_lang
    return [
        metric.name
        for metric in metrics
        if metric.takes_translations
        and not metric.only_named
        and not metric.fits(dataset, config.name, config.form, *pair)
        and _is_available(metric, tgt_lang)
        and (not metric.takes_evaluator or _has_evaluator(pair, evaluator_langs))
    ]


@cache
def _is_available(metric: type[Metric], tgt_lang: str) -> bool:
    try:
        metric.check_available(tgt_lang)
    except (MissingDependencyError, MissingOptionError):
        return False
    return True


def _has_evaluator(pair: tuple[str, str], evaluator_langs: tuple[str, str] | None) -> bool:
    if evaluator_langs is not None:
        return pair == evaluator_langs
    try:
        default_evaluator(*pair)
    except InputError:
        return False
    return True


class FileJudge:
    """A judge of files of translations, which handles one file at a time."""

    def __init__(
        self, data_dir: str | Path | None = None, evaluator: str | Path | Evaluator | None = None
    ) -> None:
        self._data_dir = data_dir
        self._evaluator = evaluator
        self._lock = threading.Lock()
        self._models: dict[tuple[str, str], Evaluator] = {}

    def judge(
        self, path: str | Path, dataset: str, config: str, tgt_lang: str, metric: str
    ) -> EvaluationResult:
        """Judge a file by a metric."""
        path = Path(path)
        check_upload(path)
        # Only registered names are allowed: otherwise a visitor could name a file of this machine.
        declared = registry.resolve("dataset", dataset)
        material = load_material(declared, config, tgt_lang=tgt_lang, data_dir=self._data_dir)
        takes_evaluator = registry.resolve("metric", metric).takes_evaluator
        try:
            with self._lock:
                # The lengths are checked before any model is loaded.
                _check_lengths(
                    path,
                    read_translations(
                        path, material.examples, other_lengths=material.translated_lines()
                    ).translations,
                )
                evaluator = self._model(material.src_lang, tgt_lang) if takes_evaluator else None
                with _few_threads(_MAX_THREADS):
                    return evaluate(material, translations=path, metric=metric, evaluator=evaluator)
        except InputError as error:
            raise InputError(str(error).replace(str(path), path.name)) from error

    def prepare(self, src_lang: str, tgt_lang: str) -> None:
        """Load the model of a language pair, so that the first visitor does not have to wait."""
        with self._lock:
            self._model(src_lang, tgt_lang)

    def _model(self, src_lang: str, tgt_lang: str) -> Evaluator:
        if isinstance(self._evaluator, Evaluator):
            return self._evaluator
        pair = src_lang, tgt_lang
        if pair not in self._models:
            self._models[pair] = _opened(self._evaluator, pair)
        return self._models[pair]


def check_upload(path: Path) -> None:
    """Check that a file is text and neither too large nor empty, without reading it into memory."""
    n_lines, is_blank = 0, True
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_UPLOAD:
                raise InputError(
                    f"{path.name}: expected at most {MAX_UPLOAD // 1024 // 1024} MB, got"
                    f" {size / 1024 / 1024:.1f} MB"
                )
            while line := file.readline(MAX_LINE + 1):
                n_lines += 1
                if b"\x00" in line:
                    raise InputError(
                        f"{path.name}: expected a text in UTF-8 with one translation per line, got"
                        " a binary file"
                    )
                if n_lines > MAX_FILE_LINES:
                    raise InputError(
                        f"{path.name}: expected at most {MAX_FILE_LINES:,} lines here, got more;"
                        f" {_ELSEWHERE}"
                    )
                if len(line) > MAX_LINE:
                    raise InputError(
                        f"{path.name}: line {n_lines}: expected at most {MAX_LINE:,} bytes here,"
                        f" got more; {_ELSEWHERE}"
                    )
                is_blank = is_blank and not line.strip()
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read: {error.strerror}") from error
    if is_blank:
        raise InputError(f"{path.name}: expected translations, got an empty file")


def _check_lengths(path: Path, translations: Sequence[str]) -> None:
    """Refuse translations that would take too long to align and to score."""
    for number, translation in enumerate(translations, 1):
        if len(translation) > MAX_TEXT_CHARACTERS:
            raise InputError(
                f"{path.name}: the translation of example {number}: expected at most"
                f" {MAX_TEXT_CHARACTERS} characters here, got {len(translation)}; {_ELSEWHERE}"
            )
    n_characters = sum(map(len, translations))
    if n_characters > MAX_MEAN_CHARACTERS * len(translations):
        raise InputError(
            f"{path.name}: expected at most {MAX_MEAN_CHARACTERS} characters per translation on"
            f" average here, got {n_characters / len(translations):.0f}; {_ELSEWHERE}"
        )
