"""What a report reads beside judgements: files of results with the names of their systems, the
dataset's examples, figures of quality.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf import signature
from cc_hf.data.custom import is_custom
from cc_hf.data.loading import declaration, load_examples, signature_fields
from cc_hf.data.result_files import read_result_file
from cc_hf.data.translations import read_lines
from cc_hf.errors import CCError, DataError, InputError, UnknownNameError
from cc_hf.files import is_file, parse_json
from cc_hf.reports.report import System
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example

__all__ = ["from_points", "quality_figures", "read_examples", "read_systems"]

_SUFFIXES = (".json", ".tsv")
_HEADER = ["system", "bleu"]  # which `cc-hf leaderboard` needs


def read_systems(
    paths: Sequence[Path],
    names: Sequence[str] | None = None,
    *,
    bleu: Mapping[str, float] | None = None,
) -> tuple[list[System], list[str]]:
    """The systems of files that `cc-hf evaluate --output` wrote, and notes on metrics that were not
    run.

    Args:
        paths: each of one system; several with the same name are of one system, by different
            metrics.
        names: one per path; None: the names of the files.
        bleu: name of a system -> its BLEU in [0, 1].

    Raises:
        InputError: for a file that is not there or holds no result, another number of names, files
            of the same name, or two results of one system by the same metric.
        UnknownNameError: for the BLEU of another system.
    """
    if names and len(names) != len(paths):
        raise InputError(
            f"--name: expected one for each file of results, {len(paths)} in all, got {len(names)}"
        )
    stems = [path.stem for path in paths]
    found: dict[str, dict[str, EvaluationResult]] = {}
    notes = []
    for name, path in zip(names or stems, paths, strict=True):
        if not names and stems.count(path.stem) > 1:
            raise InputError(
                f"{path}: several files are named {path.stem}; name the system of each file with"
                " --name"
            )
        read = read_result_file(path)
        own = found.setdefault(name, {})
        for result in read.results:
            if result.metric in own:
                raise InputError(
                    f"{path}: {name} has two results by {result.metric}; give each system a name of"
                    " its own (--name)"
                )
            own[result.metric] = result
        notes += [
            f"{name}: {metric} was not run: {reason}" for metric, reason in read.not_run.items()
        ]
    for name in bleu or {}:
        if name not in found:
            raise UnknownNameError("system (in --bleu)", name, found)
    if bleu and (without := [name for name in found if name not in bleu]):
        notes.append(f"no BLEU is known of {', '.join(without)}")
    return [System(name, results, (bleu or {}).get(name)) for name, results in found.items()], notes


def read_examples(
    result: EvaluationResult, *, dataset: str | None = None, data_dir: str | Path | None = None
) -> tuple[list[Example] | None, list[str]]:
    """The examples that a result is about, without which a report shows ids and translations only;
    and notes, such as why there are none.

    Args:
        result: names dataset and configuration; its signature names split and revision.
        dataset: another name, or the file of sources and cues where the data were the caller's own.
        data_dir: a local copy of the upstream repositories.

    Raises:
        UnknownNameError, InputError, DataError: for a dataset that was named and cannot be read.

    >>> from cc_hf.results import EvaluationResult
    >>> examples, notes = read_examples(
    ...     EvaluationResult(
    ...         "simplegen",
    ...         "en-de",
    ...         "de",
    ...         "own",
    ...         "own|data:simplegen/en-de@1.0.0",
    ...         1,
    ...         {},
    ...         {},
    ...         (),
    ...         (),
    ...     )
    ... )
    >>> examples[0].source, notes
    ('My husband is a director.', [])
    """
    place, _, revision = signature.parse(result.signature)[1].get("data", "").rpartition("@")
    split = place.removeprefix(f"{result.dataset}/{result.config}").removeprefix("/") or "test"
    name = dataset or result.dataset
    config = None if is_custom(name) else result.config
    # a result names no file of this machine
    if not dataset and (name in ("", "custom") or is_custom(name)):
        return None, [
            "the results are of data of the caller's own: ids and translations are shown without"
            " their sources (--dataset FILE names them)"
        ]
    try:
        examples = load_examples(name, config, split=split, data_dir=data_dir)
        got = signature_fields(
            name, config or declaration(name).default_config, split=split, data_dir=data_dir
        )["data"].rpartition("@")[2]
    except (DataError, InputError) as error:
        if dataset:
            raise
        return None, [
            f"{name} {config} is not at hand: ids and translations are shown without their sources"
            f" ({_reason(error)})"
        ]
    if revision and got != revision:
        return examples, [
            f"the results are of revision {revision} of {name}, the sources shown of {got}"
        ]
    return examples, []


def quality_figures(values: Sequence[str]) -> dict[str, float]:
    """BLEU by system, in [0, 1], from NAME=VALUE or files (.json: one object; .tsv: two columns,
    name and value, headed «system» and «bleu» or by nothing), where it stands in points.

    Raises:
        InputError: for text that is neither, a name that occurs twice, or a value that is no number
            of points from 1 to 100.

    >>> quality_figures(["aws=42.5"])
    {'aws': 0.425}
    """
    found: dict[str, float] = {}
    for text in values:
        for where, name, value in _pairs(text):
            if name in found:
                raise InputError(
                    f"{where}: expected one figure for each system, got several for {name!r}"
                )
            found[name] = from_points(f"{where}: BLEU of {name!r}", value)
    return found


def _pairs(text: str) -> list[tuple[str, str, Any]]:
    name, equals, value = text.rpartition("=")
    if equals and name and not is_file(text):
        return [("--bleu", name, value)]
    path = Path(text)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"--bleu: expected NAME=VALUE, or a file that ends in {' or '.join(_SUFFIXES)}, got"
            f" {text!r}"
        )
    lines = read_lines(path)
    if path.suffix.lower() == ".tsv":
        rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1) if line.strip()]
        if rows and [name.strip().lower() for name in rows[0][1]] == _HEADER:
            rows = rows[1:]
        if wrong := [(number, row) for number, row in rows if len(row) != 2]:
            raise InputError(
                f"{path}: line {wrong[0][0]}: expected 2 columns (system, BLEU), got"
                f" {len(wrong[0][1])}"
            )
        return [(f"{path}: line {number}", name, value) for number, (name, value) in rows]
    try:
        found = parse_json("\n".join(lines))
    except InputError as error:
        raise InputError(
            f"{path}: expected JSON, such as {{'aws': 42.5}} with double quotes: {error}"
        ) from error
    if not isinstance(found, dict):
        raise InputError(
            f"{path}: expected an object of systems and their BLEU, got {type(found).__name__}"
        )
    return [(str(path), name, value) for name, value in found.items()]


def from_points(where: str, value: Any) -> float:
    """BLEU in [0, 1] from a figure in points; `where` begins the message.

    Raises:
        InputError: for what is no number of points, 0 or from 1 to 100: what is below 1 was divided
            by 100.

    >>> from_points("--bleu", "42.5")
    0.425
    """
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (number == 0 or 1 <= number <= 100):
        raise InputError(f"{where}: expected points, 1 to 100, such as 42.5, got {value!r}")
    return number / 100


def _reason(error: CCError) -> str:
    return str(error).rstrip(".")
