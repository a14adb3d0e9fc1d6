"""The overview of a campaign: systems by language pairs, as tables and as a page with links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cc_hf.plugins.campaign.pair_files import Figure, PairFiles
from cc_hf.plugins.campaign.submissions import Fault
from cc_hf.reports.figure_text import figure_label, metric_meaning, metric_name
from cc_hf.reports.formats.latex import latex_pieces
from cc_hf.reports.page.page import counted, small_page
from cc_hf.reports.report_parts import Cell, Line, Piece, ReportTable

__all__ = ["Overview", "latex_file", "pieces"]

_MISSING, _REFUSED, _UNFIT = "missing", "refused", "¹"
_MOST_FILES = 6  # that a line of the terminal names for a reason; the page names all
_TEMPLATE = "plugins/campaign/page.html.jinja"


@dataclass(frozen=True)
class Overview:
    """What is known of a campaign.

    Attributes:
        pairs: what each judged pair has, by pair.
        expected: all pairs and all systems of the submissions.
        faults: files that were not judged, and others that could not be.
        n_judged, n_new: numbers of submissions that have a result, and that were judged now.
    """

    title: str
    pairs: Mapping[str, PairFiles]
    expected: tuple[tuple[str, ...], tuple[str, ...]]
    faults: Sequence[Fault]
    n_judged: int
    n_new: int

    @property
    def metrics(self) -> list[str]:
        """The metrics, in the order of the reports."""
        return list(dict.fromkeys(m for of_pair in self.pairs.values() for m in of_pair.figures))

    def figure(self, metric: str, pair: str, system: str) -> Figure | None:
        """Return a figure of the matrix."""
        of_pair = self.pairs.get(pair)
        return None if of_pair is None else of_pair.figures.get(metric, {}).get(system)

    def state(self, pair: str, system: str) -> str:
        """Return why a cell of the matrix is empty."""
        is_refused = any((f.pair, f.system) == (pair, system) for f in self.faults)
        return _REFUSED if is_refused else _MISSING

    @property
    def missing(self) -> dict[str, list[str]]:
        """System -> the pairs into which other systems translate, and of which it has no file."""
        pairs, systems = self.expected
        lacks = {
            system: [
                pair
                for pair in pairs
                if system not in (self.pairs[pair].systems if pair in self.pairs else ())
                and self.state(pair, system) == _MISSING
            ]
            for system in systems
        }
        return {system: of_system for system, of_system in lacks.items() if of_system}

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Reason -> the files that were refused for it: what holds for many is said once."""
        reasons: dict[str, list[str]] = {}
        for fault in self.faults:
            reasons.setdefault(fault.reason, []).append(fault.file)
        return reasons

    def matrix(self, metric: str, *, has_intervals: bool) -> ReportTable:
        """Return the figures by one metric.

        Args:
            has_intervals: whether cells have intervals, and empty ones no reason.
        """
        pairs, systems = self.expected
        rows: list[list[str | Cell]] = []
        names: dict[str, dict[str, None]] = {}
        has_unfit = False
        for system in systems:
            cells: list[str | Cell] = []
            for pair in pairs:
                figure = self.figure(metric, pair, system)
                if figure is None:
                    cells.append(Cell("-" if has_intervals else self.state(pair, system)))
                    continue
                names.setdefault(figure_label(metric, figure.name), {})[pair] = None
                has_unfit = has_unfit or bool(figure.why_unfit)
                value = f"{figure.value}{_UNFIT if figure.why_unfit else ''}"
                interval = figure.interval if has_intervals else ""
                cells.append(Cell(value, interval, is_best=figure.is_best and has_intervals))
            rows.append([system, *cells])
        title = f"{metric_name(metric)}: {next(iter(names), 'no figure')}"
        captions = [f"{', '.join(of)}: {name}" for name, of in [*names.items()][1:]]
        captions = ["figures are in percent", *captions]
        if has_unfit:
            captions.append(f"{_UNFIT} not fit to cite")
        return ReportTable.of(title, ("system", *pairs), rows, "; ".join(captions), n_repeated=0)

    def page(self, command: str) -> str:
        """Return the page: matrices, findings, and a link to the report of each pair."""
        pairs, systems = self.expected
        matrices = [
            (
                metric,
                self.matrix(metric, has_intervals=True),
                metric_meaning(metric),
                [(s, [self.figure(metric, pair, s) for pair in pairs]) for s in systems],
            )
            for metric in self.metrics
        ]
        about = (
            f"{counted(len(systems), 'system')}, {counted(len(pairs), 'language pair')};"
            f" {self.n_judged:,} judged, {counted(len(self.faults), 'file')} refused"
        )
        return small_page(
            _TEMPLATE,
            title=f"{self.title}: {counted(len(systems), 'system')}",
            about=about,
            command=command,
            matrices=matrices,
            pairs=pairs,
            judged=list(self.pairs.values()),
            links=set(self.pairs),
            reasons=list(self.reasons.items()),
            missing=list(self.missing.items()),
            state=self.state,
        )


def pieces(overview: Overview, *, is_part: bool = False) -> Iterator[Piece]:
    """Yield what the command prints: the matrix, refused files with their reasons, what lacks.

    Args:
        is_part: whether others judge the rest, so that nothing is known to be missing.
    """
    pairs, systems = overview.expected
    yield Line(
        f"{overview.title}: {counted(len(systems), 'system')}, {counted(len(pairs), 'pair')},"
        f" {overview.n_judged:,} of {len(pairs) * len(systems):,} judged ({overview.n_new:,} now)",
        "title",
    )
    for metric in overview.metrics:
        yield overview.matrix(metric, has_intervals=False)
    if overview.faults:
        yield Line(f"{counted(len(overview.faults), 'file')} refused:", "heading")
    for reason, files in overview.reasons.items():
        shown = ", ".join(files[:_MOST_FILES])
        others = len(files) - _MOST_FILES
        yield Line(f"{shown}{f' and {others:,} more' * (others > 0)}: {reason}", "item")
    for system, of_system in overview.missing.items() if not is_part else ():
        yield Line.named("missing: ", f"{system} in {', '.join(of_system)}", "alert")


def latex_file(overview: Overview) -> str:
    """Return the matrices, and the table of each pair for a paper."""
    tables = [overview.matrix(metric, has_intervals=True) for metric in overview.metrics]
    about = "the brackets hold intervals; the best value of each pair is bold"
    matrices = [replace(table, caption=f"{table.caption}; {about}") for table in tables]
    return "\n".join([latex_pieces(matrices), *(of.latex for of in overview.pairs.values())])
