"""Result files, as `cc-hf evaluate` writes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf.data.files.proof import proved
from cc_hf.errors import InputError, in_file
from cc_hf.files import is_folder
from cc_hf.reading import read_text
from cc_hf.records import parse_json
from cc_hf.results import RESULT, EvaluationResult, ResultSet, difference_of_data

__all__ = ["read_result_file", "result_paths", "system_names"]


def read_result_file(path: str | Path, content: Any = None) -> ResultSet:
    """Return the results in a file, for one metric or several, whose figures follow from
    judgements.

    Args:
        content: the plain values of its JSON, if the file was read already.

    Raises:
        FileError: for a file that does not exist or holds no result, or a result whose judgements
            deny its figures.
    """
    with in_file(path):
        if content is None:
            content = parse_json(read_text(Path(path)), RESULT)
        read = ResultSet.of_content(content)
        return replace(read, results=tuple(map(proved, read.results)))


def result_paths(paths: Sequence[Path]) -> list[Path]:
    """Return files of results, where a folder stands for its .json files in the order of names.

    Examples:
        >>> [path.name for path in result_paths([Path("b.json"), Path("a.json")])]
        ['b.json', 'a.json']
    """
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.json")) if is_folder(path) else [path]
        if not inside:
            raise InputError(
                f"results: expected a folder with files of `cc-hf evaluate --output`, {path} holds"
                " no .json file"
            )
        files += inside
    return files


def system_names(results: Sequence[tuple[Path, EvaluationResult]]) -> list[str]:
    """Return the name of the system of each result, the same for all metrics.

    It is the name in the result. Where there is none, or where results of different systems have
    the same one, it is the name of the file without its ending.

    Examples:
        >>> results = [
        ...     EvaluationResult("d", "c", "de", "m", "m|n:1", 1, {}, {}, (), (), system=system)
        ...     for system in ("aws", "bing", "bing")
        ... ]
        >>> system_names(list(zip(map(Path, ("a.json", "b.json", "c.json")), results)))
        ['aws', 'b', 'c']
    """
    by_name: dict[str, list[EvaluationResult]] = defaultdict(list)
    for _, result in results:
        by_name[result.system].append(result)
    shared = {
        name for name, of_name in by_name.items() if not name or not _are_of_one_system(of_name)
    }
    return [path.stem if r.system in shared else r.system for path, r in results]


def _are_of_one_system(results: Sequence[EvaluationResult]) -> bool:
    """Return whether results may be of one system: by different metrics or on different data."""
    seen: dict[tuple[str, str, str], list[EvaluationResult]] = defaultdict(list)
    for result in results:
        others = seen[result.dataset, result.config, result.tgt_lang]
        for other in others:
            # Results on the same data must be on the same translations.
            if difference_of_data({"a": other, "b": result}):
                continue
            if other.metric == result.metric or _differ(other, result):
                return False
        others.append(result)
    return True


def _differ(first: EvaluationResult, second: EvaluationResult) -> bool:
    """Return whether two results have judgements of different translations of one example."""
    translations = {j.example_id: j.translation for j in first.judgements}
    return any(
        translations.get(j.example_id, j.translation) != j.translation for j in second.judgements
    )
