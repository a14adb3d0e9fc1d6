"""Judge the submissions of a campaign, and keep each result as soon as it is there, so that a run
continues where another one stopped.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cc_hf._version import __version__
from cc_hf.data.files.custom import is_custom
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.loading import declaration
from cc_hf.errors import CCError, InputError, ResultWarning, UnknownNameError
from cc_hf.evaluation.evaluate import evaluate_all
from cc_hf.evaluation.fitting import default_metric
from cc_hf.evaluation.material import DataOptions, Material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import file_sha256, file_slug, is_file, is_folder
from cc_hf.languages import base_code
from cc_hf.metrics.base import registered_metric
from cc_hf.plugins.campaign.submissions import Fault, Submission, reason_of
from cc_hf.reading import read_text
from cc_hf.results import ResultSet
from cc_hf.writing import write_atomically

__all__ = ["Judging", "Materials", "judged", "kept_inputs", "result_path"]

_RESULTS, _INPUTS = "results", ".inputs"


@dataclass(frozen=True)
class Materials:
    """The material of each language pair, found once.

    Attributes:
        config: the configuration, in which "{src}" and "{tgt}" stand for the languages; None for
            that of the pair.
    """

    dataset: str
    config: str | None
    data: DataOptions
    # A message stands for a pair that is not there, so that it, too, is asked for once.
    _known: dict[str, Material | str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of the test set in words; that of the file for the user's own."""
        return (
            Path(self.dataset).stem if is_custom(self.dataset) else declaration(self.dataset).title
        )

    def of(self, pair: str) -> Material:
        """Return the material of a pair.

        Raises:
            InputError: for a pair that the dataset does not have.
        """
        if pair not in self._known:
            self._known[pair] = self._load(pair)
        material = self._known[pair]
        if isinstance(material, str):
            raise InputError(material)
        return material

    def has(self, pair: str) -> bool:
        """Return whether the dataset has a pair."""
        try:
            self.of(pair)
        except InputError:
            return False
        return True

    def _load(self, pair: str) -> Material | str:
        source, _, target = pair.partition("-")
        data = replace(self.data, language_pair=pair)
        config = self.config and self.config.replace("{src}", source).replace("{tgt}", target)
        try:
            return data.load(self.dataset, config or pair)
        except UnknownNameError as error:
            alike = None if config else self._like_default(target)
            if alike is not None:
                return data.load(self.dataset, alike)
            known = "" if is_custom(self.dataset) else _last(str(error))
            return f"expected a language pair of {Path(self.dataset).stem}, got {pair}{known}"
        except InputError as error:
            return str(error)

    def _like_default(self, target: str) -> str | None:
        """Return the configuration that is named as the default one, but for its language."""
        declared = declaration(self.dataset)
        name = declared.default_config
        default = base_code(declared.config(name).tgt_langs[0])
        other = re.sub(rf"(?<![a-z]){default}(?![a-z])", target, name)
        return other if other != name and other in {c.name for c in declared.configs} else None


def _last(message: str) -> str:
    """Return the end of a message on a pair: the pairs that there are."""
    _, mark, end = message.partition(". It has no ")
    return f"; it has {end.partition(', but ')[2]}" if mark else ""


@dataclass(frozen=True)
class Judging:
    """How translations are judged, as `evaluate` takes it.

    Attributes:
        metrics: names; () for the default one, "all" for every metric that fits.
    """

    metrics: tuple[str, ...]
    options: Mapping[str, Any]
    evaluator: Any
    loading: LoadingOptions
    clean: bool | None
    seed: int
    # A model is hashed once, not for each submission.
    _known: dict[str, Any] = field(default_factory=dict)

    def judge(self, material: Material, submission: Submission, *, progress: bool) -> ResultSet:
        """Return the results of a submission.

        Raises:
            CCError: as `evaluate` does.
        """
        arguments: dict[str, Any] = {
            "translations": submission.translations(material),
            "name": submission.system,
            "options": self.options,
            "evaluator": self.evaluator,
            "loading": self.loading,
            "clean": self.clean,
            "seed": self.seed,
            "progress": progress,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResultWarning)  # reports have the notes
            return evaluate_all(material, metrics=self.names(material), **arguments)

    def names(self, material: Material) -> tuple[str, ...]:
        """Return the names of the metrics for a material."""
        return self.metrics or (default_metric(material, has_translations=True),)

    def inputs(self, material: Material, submission: Submission) -> str:
        """Return what a result depends on, in one line: one that differs is computed anew."""
        names = self.names(material)
        # "all" has no version.
        versions = [getattr(registered_metric(name), "version", name) for name in names]
        facts = {
            "file": submission.digest,
            "system": submission.system,
            "data": [material.split, material.limit, material.tgt_lang],
            "origin": dict(material.origin.fields),
            "metrics": [*zip(names, versions, strict=True)],
            "options": {key: self._content(value) for key, value in self.options.items()},
            "evaluator": self._content(self.evaluator),
            # A cache changes no score.
            "loading": {k: v for k, v in vars(self.loading).items() if k != "cache"},
            "clean": self.clean,
            "seed": self.seed,
            "version": __version__,
        }
        text = json.dumps(facts, sort_keys=True, default=str)
        return f"{hashlib.sha256(text.encode()).hexdigest()}\n"

    def _content(self, value: Any) -> Any:
        """Return a hash of the file or the model that a value names; else the value."""
        if not isinstance(value, str):
            return value
        if value not in self._known:
            paths = sorted(Path(value).rglob("*")) if is_folder(value) else [Path(value)]
            hashed = [[str(path), file_sha256(path)] for path in paths if is_file(path)]
            self._known[value] = hashed or value
        return self._known[value]


def result_path(folder: Path, submission: Submission) -> Path:
    """Return the file of the result of a submission."""
    return folder / _RESULTS / submission.pair / f"{file_slug(submission.system)}.json"


def kept_inputs(path: Path) -> str:
    """Return what the result in a file depends on, as it was written beside it."""
    return read_text(path.with_suffix(_INPUTS))


def judged(
    folder: Path,
    material: Material,
    submissions: Sequence[Submission],
    judging: Judging,
    *,
    progress: bool,
) -> Iterator[tuple[Submission, ResultSet | Fault, bool]]:
    """Yield the result of each submission, or why it has none, and whether it was judged now.

    A result is written before the next one is begun, and what it depends on after it: whoever is
    stopped in between judges this one again.

    Args:
        folder: the folder of the campaign.
    """
    for submission in submissions:
        path = result_path(folder, submission)
        record = path.with_suffix(_INPUTS)
        try:
            inputs = judging.inputs(material, submission)
            known = _stored(path, record, inputs)
            if known is not None:
                yield submission, known, False
                continue
            result = judging.judge(material, submission, progress=progress)
        except CCError as error:
            reason = reason_of(error, submission.path)
            fault = Fault(submission.file, reason, submission.pair, submission.system)
            yield submission, fault, False
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, result.to_json())
        write_atomically(record, inputs)
        yield submission, result, True


def _stored(path: Path, record: Path, inputs: str) -> ResultSet | None:
    """Return the result of an earlier run on the same inputs; None for none, or a damaged one."""
    if not (is_file(path) and is_file(record)):
        return None
    try:
        return read_result_file(path) if kept_inputs(path) == inputs else None
    except CCError:
        return None
