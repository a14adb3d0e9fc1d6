"""Tables of systems from files of results, and what is known of systems beyond these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cc_hf.errors import InputError
from cc_hf.reading import pairs_of

if TYPE_CHECKING:
    from cc_hf.plugins.seeds.system_rows import SystemRow

__all__ = ["SystemOptions", "read_systems"]

_RESULT = ".json"


@dataclass(frozen=True)
class SystemOptions:
    """What is known of systems beyond their results.

    Attributes:
        names: name of a system with its seed, such as small-seed1, once for each file of results.
            Files of one name, or of names that differ in the part seedN only, are seeds of one
            system. None for the names in the results, else those of the files.
        bleu: BLEU of a system, from 0 to 100, as NAME=POINTS; or a .tsv or .json file with that of
            each system, such as `cc-hf score --output` writes. May be repeated.
        timing: JSON file that `cc-hf compare --by time --output` wrote.
        group: group of a system as NAME=GROUP, such as its teacher; the name is with or without
            seed, or a pattern such as student-*.
        size: size of a system as NAME=SIZE, in words or as a number such as 50.9M. Sizes in words
            are in the order in which the options name them.
        seqkd: system that was trained by sequence-level knowledge distillation.
        metric: metric to use, if a file holds the results of several metrics.
    """

    names: Sequence[str] | None = None
    bleu: Sequence[str] | None = None
    timing: Sequence[Path] | None = None
    group: Sequence[str] | None = None
    size: Sequence[str] | None = None
    seqkd: Sequence[str] | None = None
    metric: str | None = None

    def table(self, paths: Sequence[Path]) -> tuple[list[dict[str, str]], tuple[str, ...]]:
        """Return the rows of a table of systems, or those that files of results give; and notes."""
        from cc_hf.data.files.result_files import result_paths
        from cc_hf.plugins.seeds.system_table import read_system_table
        from cc_hf.plugins.seeds.table import row_columns

        paths = result_paths(paths)
        n_results = sum(path.suffix.lower() == _RESULT for path in paths)
        if n_results == len(paths):
            rows, notes = read_systems(paths, self)
            return row_columns(rows), notes
        if len(paths) > 1:
            raise InputError(
                "expected one table of systems (.csv or .tsv) or files of results (.json), got"
                f" {len(paths) - n_results} and {n_results}"
            )
        if self != SystemOptions(metric=self.metric):
            raise InputError(
                "names, bleu, timing, group, size, seqkd: expected files of results (.json), which"
                f" they complete, got the table {paths[0]}"
            )
        return read_system_table(paths[0]), ()


def read_systems(
    paths: Sequence[Path], options: SystemOptions
) -> tuple[list[SystemRow], tuple[str, ...]]:
    """Read files of results and what the options name."""
    from cc_hf.data.files.quality_scores import read_quality_scores
    from cc_hf.plugins.seeds.system_rows import SystemLabels, system_rows
    from cc_hf.plugins.seeds.timings import read_timings
    from cc_hf.reports.inputs import read_report_systems

    groups, _ = read_report_systems(paths, _names_with_seeds(paths, options.names))
    read = [
        (system.name, result)
        for systems in groups
        for system in systems
        for result in system.results.values()
    ]
    results = [(name, r) for name, r in read if options.metric in (None, r.metric)]
    if not results:
        known = ", ".join(dict.fromkeys(result.metric for _, result in read))
        raise InputError(f"metric: expected one of {known}, got {options.metric}")
    timings = read_timings(options.timing)
    labels = SystemLabels(
        pairs_of(options.group, "group"),
        pairs_of(options.size, "size"),
        options.seqkd or (),
    )
    rows = system_rows(
        results, labels=labels, quality=read_quality_scores(options.bleu), timings=timings
    )
    return rows, tuple(timings.notes)


def _names_with_seeds(paths: Sequence[Path], names: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names with a number for each seed, where files by one metric share a name."""
    from cc_hf.data.files.result_files import read_result_file

    if names is None or len(names) != len(paths) or len(set(names)) == len(names):
        return names
    seen: Counter[tuple[str, ...]] = Counter()
    seeds = []
    for path, name in zip(paths, names, strict=True):
        results = read_result_file(path).results
        keys = [(name, r.dataset, r.config, r.tgt_lang, r.metric) for r in results]
        seen.update(keys)
        seeds.append(max(seen[key] for key in keys))
    repeated = {name for name, seed in zip(names, seeds, strict=True) if seed > 1}
    return [
        f"{name}-seed{seed}" if name in repeated else name
        for name, seed in zip(names, seeds, strict=True)
    ]
