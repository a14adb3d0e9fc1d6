"""A release of students of Firefox Translations, judged on every test set that has their pair.

A result is written as soon as it is there, with the files of their runner beside it, so that a run
continues where another one stopped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cc_hf import registry
from cc_hf.comparing.gate import Gate, gate
from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import CCError, InputError
from cc_hf.evaluation.evaluate import evaluate
from cc_hf.evaluation.material import DataOptions
from cc_hf.files import is_file, is_folder
from cc_hf.languages import base_code
from cc_hf.plugins.harness.mozilla import (
    METRICS,
    ContrastiveMetric,
    Run,
    metric_results,
    save_metric,
    save_translations,
)
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.systems.system import DEFAULT_BEAMS, System
from cc_hf.writing import write_atomically

__all__ = ["Judged", "Release", "find_students", "gates", "results_of"]

#: Folders of students are named as Mozilla names them, enpt-1693087644, or en-pt.
_FOLDER = re.compile(r"([a-z]{2,3})-([a-z]{2,3})(?![a-z]).*|([a-z]{2})([a-z]{2})(?![a-z]).*")
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
_RESULTS, _FILES = "results", "mozilla"
_TRANSLATOR = "bergamot"


class Judged(NamedTuple):
    """What is known of a student on a test set.

    Attributes:
        result: None where it could not be judged.
        why_not: the reason; "" for a result.
        is_new: whether it was judged now.
    """

    test_set: str
    pair: str
    result: EvaluationResult | None
    why_not: str = ""
    is_new: bool = False


def find_students(models: Path | None, pairs: Collection[str]) -> dict[str, str]:
    """Return language pair -> the student, as a folder or as the name of a published one.

    Args:
        models: a folder with a folder for each student; None for the published ones that need no
            download.
        pairs: the pairs to judge, such as en-pt, whose published students may be downloaded; all
            that are found if there are none.

    Raises:
        InputError: if nothing is found, or two folders are of one pair.
    """
    for pair in pairs:
        if not _PAIR.fullmatch(pair):
            raise InputError(f"language_pair: expected a pair such as en-pt, got {pair!r}")
    if models is None:
        here: list[str] = registry.resolve("public name", "students_here")()
        known = {name.partition(":")[2]: name for name in here}
        known |= {pair: f"{_TRANSLATOR}:{pair}" for pair in pairs}
    else:
        known = _in_folder(models)
    if missing := [pair for pair in pairs if pair not in known]:
        raise InputError(
            f"models: expected a folder of {missing[0]} in {models}, got those of"
            f" {', '.join(known) or 'no pair'}"
        )
    if not known:
        where = f"in {models}" if models else "on this machine; name a pair to download its student"
        raise InputError(f"models: expected a student, such as enpt or en-pt, got none {where}")
    return {pair: known[pair] for pair in pairs or sorted(known)}


def _in_folder(models: Path) -> dict[str, str]:
    if not is_folder(models):
        raise InputError(f"models: expected a folder with a folder for each student, got {models}")
    students: dict[str, str] = {}
    for path in sorted(models.iterdir()):
        match = _FOLDER.fullmatch(path.name) if path.is_dir() else None
        if match is None:
            continue
        pair = "-".join(filter(None, match.groups()))
        if pair in students:
            raise InputError(f"models: expected one folder of {pair}, got {students[pair]}, {path}")
        students[pair] = str(path)
    return students


@dataclass(frozen=True)
class Release:
    """How the students of a release are judged.

    Attributes:
        folder: the folder that is written, of one release.
        name: the name of the release, which is that of the system in its results.
        num_beams: beams of the translation.
    """

    folder: Path
    name: str
    data: DataOptions
    num_beams: int = DEFAULT_BEAMS

    def judge(self, students: Mapping[str, str], *, progress: bool) -> Iterator[Judged]:
        """Judge each student on each test set that has its pair.

        Raises:
            InputError: for a folder with results of another release.
        """
        for pair, student in students.items():
            source, _, target = pair.partition("-")
            for kind in METRICS.values():
                if not kind.supports_lang(source, target):
                    continue
                path = self.folder / _RESULTS / f"{kind.test_set}.{pair}.json"
                if is_file(path):
                    yield Judged(kind.test_set, pair, self._kept(path))
                    continue
                try:
                    result = self._judged(kind, pair, student, progress=progress)
                except CCError as error:
                    yield Judged(kind.test_set, pair, None, str(error))
                    continue
                # Last, since it says that the files of the runner are there.
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, ResultSet((result,)).to_json())
                yield Judged(kind.test_set, pair, result, is_new=True)

    def _kept(self, path: Path) -> EvaluationResult:
        result = _only(path)
        if result.system != self.name:
            raise InputError(
                f"output: expected results of {self.name}, got {path} of {result.system}; give each"
                " release a folder of its own"
            )
        return result

    def _judged(
        self, kind: type[ContrastiveMetric], pair: str, student: str, *, progress: bool
    ) -> EvaluationResult:
        """Translate and judge, and write the files of the runner."""
        source, _, target = pair.partition("-")
        material = kind(data_dir=self.data.data_dir).material(source, target, limit=self.data.limit)
        result = evaluate(
            material,
            system=System(student, num_beams=self.num_beams),
            metric=kind.metric,
            name=self.name,
            progress=progress,
        )
        files = self.folder / _FILES
        files.mkdir(parents=True, exist_ok=True)
        run = Run(base_code(source), base_code(target), kind.test_set, _TRANSLATOR, self.name)
        sources = [example.source for example in material.examples]
        save_translations(files, run, sources, [j.translation for j in result.judgements])
        save_metric(files, run, metric_results(kind.name, result))
        return result


def _only(path: Path) -> EvaluationResult:
    return read_result_file(path).results[0]


def results_of(folder: Path) -> dict[tuple[str, str], EvaluationResult]:
    """Return test set and pair -> the result of a release that was judged before."""
    paths = sorted((folder / _RESULTS).glob("*.json")) if is_folder(folder) else []
    if not paths:
        raise InputError(f"before: expected the folder of a release with results, got {folder}")
    named = ((path.stem.rpartition("."), _only(path)) for path in paths)
    return {(test_set, pair): result for (test_set, _, pair), result in named}


def gates(
    before: Mapping[tuple[str, str], EvaluationResult], judged: Collection[Judged], margin: float
) -> Iterator[tuple[Judged, Gate]]:
    """Yield the decision on each result that the earlier release has, too.

    Args:
        margin: the drop that is tolerated, in [0, 1].
    """
    for now in judged:
        earlier = before.get((now.test_set, now.pair))
        if now.result is not None and earlier is not None:
            results = {earlier.system: earlier, now.result.system: now.result}
            yield now, gate(results, margin=margin)
