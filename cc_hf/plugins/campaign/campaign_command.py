"""cc-hf campaign: judge a folder of submissions in all language pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import NewFile, Outcome, shown_command
from cc_hf.cli.options import (
    Config,
    DataFields,
    Dataset,
    EvaluatorFields,
    Evaluators,
    MetricOptions,
    Seed,
    one_or_all,
)
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators import distributed as sharding
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import exists, is_folder, sole_writer
from cc_hf.plugins.campaign.file_names import pair_name
from cc_hf.plugins.campaign.other_spans import OtherSpans, span_files
from cc_hf.plugins.campaign.overview import Overview, latex_file, pieces
from cc_hf.plugins.campaign.pair_files import PairFiles, pair_files
from cc_hf.plugins.campaign.run import Judging, Materials, judged, kept_inputs, result_path
from cc_hf.plugins.campaign.spans import ErrorSpan, kept_spans
from cc_hf.plugins.campaign.submissions import Fault, Submission, find_submissions
from cc_hf.reading import pairs_of
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.writing import write_atomically

__all__ = ["campaign"]

_PART = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


def campaign(
    dataset: Dataset,
    config: Config = None,
    *,
    submissions: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help=(
                "Folder of submissions, in any depth: SET.SYSTEM.NUMBER.en-de,"
                " SET.en-de.hyp.SYSTEM.de, en-de.SYSTEM.txt, en-de/SYSTEM.txt, SYSTEM/en-de.txt,"
                " XML and JSONL of WMT, and all that `evaluate --translations` reads. Error spans"
                " of other metrics are in spans/METRIC.json, written by `comet-score --to_json`, or"
                " spans/METRIC.jsonl, of mt-metrics-eval."
            ),
        ),
    ],
    language_pair: Annotated[
        list[str] | None,
        typer.Option(
            "--language-pair",
            "-l",
            metavar="PAIR",
            help=(
                "Language pair to judge, such as en-de. May be repeated. Default: all pairs of the"
                " dataset that have a file."
            ),
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A metric (`cc-hf list metrics`), or all for every metric that fits. May be"
                " repeated. Default: that of `evaluate`."
            )
        ),
    ] = None,
    option: MetricOptions = None,
    evaluator: Evaluators = None,
    loading: Annotated[LoadingOptions, EvaluatorFields],
    data: Annotated[DataOptions, replace(DataFields, names="limit", rare="data_dir split cues")],
    clean: Annotated[
        bool | None,
        typer.Option(
            "--clean/--as-is",
            help="Remove what stands around translations, or judge it, as `evaluate` does.",
            hidden=True,
        ),
    ] = None,
    seed: Seed = 0,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help=(
                "Judge only each N-th submission from the I-th on, on one of N machines that share"
                " the folder; a run without it then writes the tables."
            ),
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="New folder to write. That of an earlier run is continued.",
            rich_help_panel="Output",
        ),
    ],
    progress: bool = False,
) -> Outcome:
    """Judge a folder of submissions in all language pairs.

    Files that do not fit are named with the reason, and the rest is judged. The same command
    continues where it was stopped. The folder gets results/PAIR/SYSTEM.json, index.html with a
    report for each pair, tables.tex, segments.tsv, and error spans for mt-metrics-eval: spans.jsonl
    and spans/PAIR.METRIC.seg.rating.

    Example: cc-hf campaign simplegen --submissions submitted -o campaign
    """
    if sharding.is_launched():
        raise InputError("campaign: expected one process, got several; give each a --part")
    index, n_parts = _part(part)
    pairs = [_checked_pair(text) for text in language_pair or ()]
    materials = Materials(dataset, config, data)
    for pair in pairs:
        materials.of(pair)
    judging = Judging(
        tuple(metric or ()),
        pairs_of(option, "option"),
        one_or_all(evaluator),
        loading,
        clean,
        seed,
    )
    submitted, faults = find_submissions(
        submissions,
        materials.has,
        only=pairs[0] if len(pairs) == 1 else "",
        test_sets=[Path(dataset).stem],
        output=output,
        others=span_files(submissions),
    )
    if pairs:
        submitted = [submission for submission in submitted if submission.pair in pairs]
        faults = [fault for fault in faults if not fault.pair or fault.pair in pairs]
    chosen = submitted[index - 1 :: n_parts]
    _prepare(output)
    with sole_writer(output if part is None else output / f"part-{index}", "output"):
        others = OtherSpans() if part else OtherSpans.of_folder(submissions)
        outcomes = _Outcomes(output, materials, judging, others, progress=progress)
        for pair in dict.fromkeys(submission.pair for submission in chosen):
            of_pair = [submission for submission in chosen if submission.pair == pair]
            outcomes.judge(pair, of_pair, writes=part is None)
        faults = [*faults, *outcomes.faults, *others.faults, *others.unread()]
        overview = Overview(
            materials.title,
            outcomes.pairs,
            _expected(submitted, faults, outcomes.systems, materials.has),
            faults,
            outcomes.n_judged,
            outcomes.n_new,
        )
        files = _written(output, overview) if part is None and overview.pairs else []
    return Outcome(
        lambda: _row(dataset, overview),
        lambda: pieces(overview, is_part=part is not None),
        files=files,
        status=0 if outcomes.n_judged or (submitted and not chosen) else 1,
    )


def _part(text: str | None) -> tuple[int, int]:
    match = _PART.fullmatch("1/1" if text is None else text)
    if match is None or int(match[1]) > int(match[2]):
        raise InputError(f"part: expected a part such as 3/16, from 1/16 to 16/16, got {text}")
    return int(match[1]), int(match[2])


def _checked_pair(text: str) -> str:
    if not (pair := pair_name(text)):
        raise InputError(f"language_pair: expected a pair such as en-de, got {text!r}")
    return pair


def _expected(
    submitted: list[Submission],
    faults: list[Fault],
    systems: Collection[str],
    has: Callable[[str], bool],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all pairs, and the systems of which a file was judged: others are only refused."""
    named = [*((s.pair, s.system) for s in submitted), *((f.pair, f.system) for f in faults)]
    pairs = {pair for pair, system in named if pair and system in systems}
    return tuple(sorted(filter(has, pairs))), tuple(sorted(systems, key=str.casefold))


def _prepare(output: Path) -> None:
    if exists(output) and not is_folder(output):
        raise InputError(f"output: expected a folder, {output} is a file")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"output: {output} cannot be made ({error.strerror})") from error


class _Outcomes:
    """The outcomes of all pairs, of which only what the overview needs is kept."""

    def __init__(
        self,
        output: Path,
        materials: Materials,
        judging: Judging,
        others: OtherSpans,
        *,
        progress: bool,
    ) -> None:
        self._output, self._materials, self._judging = output, materials, judging
        self._others, self._progress = others, progress
        self.pairs: dict[str, PairFiles] = {}
        self.faults: list[Fault] = []
        self.systems: set[str] = set()
        self.n_new = self.n_judged = 0

    def judge(self, pair: str, submissions: list[Submission], *, writes: bool) -> None:
        """Judge the submissions of a pair, and write what it has of its own."""
        try:
            material = self._materials.of(pair)
        except InputError as error:
            self.faults += [Fault(of.file, str(error), pair, of.system) for of in submissions]
            return
        results: dict[str, ResultSet] = {}
        for submission, outcome, is_new in judged(
            self._output, material, submissions, self._judging, progress=self._progress
        ):
            self.n_new += is_new
            if isinstance(outcome, Fault):
                self.faults.append(outcome)
            else:
                results[submission.system] = outcome
        self.n_judged += len(results)
        self.systems.update(results)
        if writes and results:
            paths = {of.system: result_path(self._output, of) for of in submissions}
            examples = material.examples

            def spans_of(result: EvaluationResult) -> list[tuple[ErrorSpan, ...] | None]:
                path = paths[result.system]
                kept = path.with_name(f"{path.stem}.{result.metric}.spans")
                return kept_spans(kept, kept_inputs(path), result, examples)

            files = pair_files(pair, material, results, spans_of, self._others)
            (self._output / "reports").mkdir(exist_ok=True)
            write_atomically(self._output / "reports" / f"{pair}.html", files.page)
            self.pairs[pair] = replace(files, page="")


def _written(output: Path, overview: Overview) -> list[NewFile]:
    """Write the files of all pairs, and return those to name."""
    (output / "spans").mkdir(exist_ok=True)
    of_pairs = overview.pairs.values()
    for of_pair in of_pairs:
        for metric, lines in of_pair.ratings.items():
            path = output / "spans" / f"{of_pair.pair}.{metric}.seg.rating"
            write_atomically(path, _lines(lines))
    texts = {
        "index.html": overview.page(shown_command()),
        "tables.tex": latex_file(overview),
        "segments.tsv": _lines(line for of_pair in of_pairs for line in of_pair.scores),
        "spans.jsonl": _lines(line for of_pair in of_pairs for line in of_pair.errors),
    }
    for name, text in texts.items():
        write_atomically(output / name, text)
    return [NewFile(output / name, None) for name in texts]


def _lines(lines: Any) -> str:
    return "".join(f"{line}\n" for line in lines)


def _row(dataset: str, overview: Overview) -> Mapping[str, Any]:
    """Return what `--json` prints."""
    return {
        "dataset": Path(dataset).stem,
        "n_judged": overview.n_judged,
        "n_new": overview.n_new,
        "figures": [
            {"metric": metric, "pair": pair, "system": system, **figure._asdict()}
            for pair, of_pair in overview.pairs.items()
            for metric, of_metric in of_pair.figures.items()
            for system, figure in of_metric.items()
        ],
        "spans": [
            {"pair": pair, **counts._asdict()}
            for pair, of_pair in overview.pairs.items()
            for counts in of_pair.beside
        ],
        "refused": [fault._asdict() for fault in overview.faults],
        "missing": overview.missing,
    }
