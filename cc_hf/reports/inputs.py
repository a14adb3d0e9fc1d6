"""What a report reads beside judgements: files of results with the names of their systems, the
dataset's examples, figures of quality.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cc_hf import signature
from cc_hf.data.custom import is_custom
from cc_hf.data.loading import declaration, load_examples, signature_fields
from cc_hf.data.quality_scores import QualityScores
from cc_hf.data.result_files import read_result_file
from cc_hf.errors import CCError, DataError, InputError, UnknownNameError
from cc_hf.reports.samples import System
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example

__all__ = ["read_examples", "read_systems"]


def read_systems(
    paths: Sequence[Path],
    names: Sequence[str] | None = None,
    *,
    quality: QualityScores | None = None,
) -> tuple[list[System], list[str]]:
    """Read the systems of results that `cc-hf evaluate` wrote, and notes on metrics that were not
    run.

    Args:
        paths: each of one system; several with the same name are of one system, by different
            metrics.
        names: one per path; None: the names of the files.
        quality: BLEU of the systems.

    Raises:
        InputError: for a file that is not there or holds no result, another number of names, files
            of the same name, or two results of one system by the same metric.
        UnknownNameError: for the BLEU of another system.
    """
    if names and len(names) != len(paths):
        raise InputError(
            f"names: expected one for each file of results, {len(paths)} in all, got {len(names)}"
        )
    stems = [path.stem for path in paths]
    found: dict[str, dict[str, EvaluationResult]] = {}
    notes = []
    for name, path in zip(names or stems, paths, strict=True):
        if not names and stems.count(path.stem) > 1:
            raise InputError(
                f"{path}: several files are named {path.stem}; give names, one for the system of"
                " each file"
            )
        read = read_result_file(path)
        own = found.setdefault(name, {})
        for result in read.results:
            if result.metric in own:
                raise InputError(
                    f"{path}: {name} has two results by {result.metric}; give names, one of its own"
                    " for each system"
                )
            own[result.metric] = result
        notes += [
            f"{name}: {metric} was not run: {reason}" for metric, reason in read.not_run.items()
        ]
    quality = quality or QualityScores()
    for name in quality.systems:
        if name not in found:
            raise UnknownNameError("system (of a BLEU)", name, found)
    systems = []
    for name, results in found.items():
        first = next(iter(results.values()))
        systems.append(System(name, results, quality.of(name, first.dataset, first.tgt_lang)))
    if quality.systems and (without := [one.name for one in systems if one.bleu is None]):
        notes.append(f"no BLEU is known of {', '.join(without)}")
    return systems, notes


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
            " their sources (give the file of the data as the dataset to show them)"
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


def _reason(error: CCError) -> str:
    return str(error).rstrip(".")
