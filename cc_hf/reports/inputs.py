"""Read the inputs of a report: results with the names of their systems, examples and BLEU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cc_hf import signature
from cc_hf.cues.wordings import Wording, reworded
from cc_hf.data.files.custom import is_custom
from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.data.files.result_files import read_result_file, system_names
from cc_hf.data.loading import declaration, load_examples, signature_fields
from cc_hf.errors import CCError, DataError, InputError, UnknownNameError
from cc_hf.records import read_record
from cc_hf.reports.figure_text import source_language
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Example

__all__ = ["read_examples", "read_report_systems"]


def read_report_systems(
    paths: Sequence[Path],
    names: Sequence[str] | None = None,
    *,
    quality: QualityScores | None = None,
) -> tuple[list[list[ReportedSystem]], list[str]]:
    """Read systems from files of results that `cc-hf evaluate` wrote.

    Args:
        paths: files of one system each. Files with the same name belong to one system, judged by
            different metrics.
        names: one name per path; None for the names in the results
            (`cc_hf.data.files.result_files.system_names`).

    Returns:
        The systems of each dataset, configuration and target language, in order of appearance; and
        notes on systems without BLEU.

    Raises:
        InputError: for a file that does not exist or holds no result, a number of names that
            differs from the number of files, several files with the same name if neither names are
            given nor the results have some, or two results of one system by the same metric.
        UnknownNameError: for a BLEU of a system that is not among the results.
    """
    if names and len(names) != len(paths):
        raise InputError(
            f"names: expected one for each file of results, {len(paths)} in all, got {len(names)}"
        )
    read = [
        (number, path, result)
        for number, path in enumerate(paths)
        for result in read_result_file(path).results
    ]
    own_names = system_names([(path, result) for _, path, result in read])
    stems = Counter(path.stem for path in paths)
    by_data: dict[tuple[str, str, str], dict[str, dict[str, EvaluationResult]]] = {}
    files: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for (number, path, result), own_name in zip(read, own_names, strict=True):
        name = names[number] if names else own_name
        if not names and name != result.system and stems[path.stem] > 1:
            raise InputError(
                f"{path}: several files are named {path.stem}; give names, one for the system of"
                " each file"
            )
        data = (result.dataset, result.config, result.tgt_lang)
        metric_results = by_data.setdefault(data, {}).setdefault(name, {})
        if result.metric in metric_results:
            raise InputError(
                f"{path}: {name} has two results by {result.metric}; give names, one of its own"
                " for each system"
            )
        metric_results[result.metric] = result
        files.setdefault(data, {}).setdefault(name, []).append(str(path))
    quality = quality or QualityScores()
    known = list(dict.fromkeys(name for systems in by_data.values() for name in systems))
    for name in quality.systems:
        if name not in known:
            raise UnknownNameError("system (of a BLEU)", name, known)
    groups = [
        [
            ReportedSystem(
                name,
                results,
                quality.of(name, data[0], data[2]),
                tuple(dict.fromkeys(files[data][name])),
            )
            for name, results in systems.items()
        ]
        for data, systems in by_data.items()
    ]
    without = dict.fromkeys(s.name for systems in groups for s in systems if s.bleu is None)
    notes = [f"BLEU is not known for {', '.join(without)}"] if quality.systems and without else []
    return groups, notes


def read_examples(
    result: EvaluationResult, *, dataset: str | None = None, data_dir: str | Path | None = None
) -> tuple[list[Example] | None, list[str]]:
    """Read the examples of a result. Without them a report shows only ids and translations.

    Args:
        dataset: another dataset name, or the file of sources and cues if the results are on the
            user's data.
        data_dir: a local copy of the upstream repositories.

    Returns:
        The examples, or None if they are not available; and notes, such as why there are none.

    Raises:
        UnknownNameError: for an unknown `dataset`.
        InputError: for a `dataset` that cannot be read.
        DataError: for a `dataset` that cannot be downloaded or is not as declared.
    """
    revision = signature.parse(result.signature)[1].get("data", "").rpartition("@")[2]
    split, _ = signature.split_and_limit(result.signature, result.dataset, result.config)
    name = dataset or result.dataset
    config = None if is_custom(name) else result.config
    # A result does not say which file of this machine its data came from.
    if not dataset and (name in ("", "custom") or is_custom(name)):
        return None, [
            "sources are not shown, because the results are on data of your own; to show them,"
            " name the file with the data (`--dataset FILE`, in Python `dataset`)"
        ]
    try:
        languages = {"src_lang": source_language(result), "tgt_lang": result.tgt_lang}
        declared = declaration(dataset or result.declared or name, **languages)
        examples = load_examples(declared, config, split=split, data_dir=data_dir)
        if result.wording is not None:
            wording = read_record(Wording, result.wording, "a wording of cues")
            examples = [
                reworded(e, wording) if isinstance(e, ContrastiveSourceExample) else e
                for e in examples
            ]
        local_revision = signature_fields(
            declared, config or declared.default_config, split=split, data_dir=data_dir
        )["data"].rpartition("@")[2]
    except (DataError, InputError) as error:
        if dataset:
            raise
        return None, [
            f"{name} {config} is not available: ids and translations are shown without their"
            " sources"
            f" ({_reason(error)})"
        ]
    if revision and local_revision != revision:
        return examples, [
            f"the results are on revision {revision} of {name}, but the sources shown are from"
            f" revision {local_revision}"
        ]
    return examples, []


def _reason(error: CCError) -> str:
    return str(error).rstrip(".")
