"""How genders of occupations flow from the training data to a teacher's and a student's
translations: as tables, as a picture (SVG), and as a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from cc_hf.errors import UnknownNameError
from cc_hf.reports.numbers import count, decimal, in_points, percent, signed
from cc_hf.reports.page.drawing import Element, shape_element, text_element
from cc_hf.reports.page.page import small_page
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf.reports.templates import render_piece
from cc_hf_studies.distillation.gender_flows import OUTCOMES, FemaleShares, OccupationCounts

__all__ = ["flows_page", "flows_svg", "flows_tables"]

_PIECES = "cc_hf_studies:distillation/gender_flows.html.jinja"
_HEIGHT, _TOP, _GAP = 250, 52, 26  # of the bars of a column, above them, and between them
_SIDE, _STEP, _BAR = 104, 216, 14  # beside the columns, from one to the next, and width of a bar
_NAME = 26  # longest name of a stage
_SHOWN = 12  # occupations of a table in the terminal
_SHOWN_DAMAGED = 5
_WHY_PRINTED_DIFFER = (
    "The paper does not say which counts its figures are of. All others are sums of the counts that"
    " were released with it."
)


def flows_tables(
    counts: OccupationCounts,
    *,
    title: str,
    women: Sequence[FemaleShares] = (),
    printed: Mapping[str, Mapping[str, float]] | None = None,
) -> list[Piece]:
    """Return shares by stage, changes, flows, the most frequent occupations, and correlations.

    Args:
        printed: what the paper prints of the same, by `printed_shares`; None if it prints nothing.
    """
    in_paper = _printed_cells(printed or {})
    shares: list[tuple[str, ...]] = []
    for stage, name in enumerate(counts.stages):
        spread = counts.share_deviations[stage] if counts.share_deviations else {}
        shares.append((name, *_cells(counts.shares(stage), spread)))
        if name in in_paper:
            shares.append((f"{name}, in the paper", *in_paper[name]))
    for step in range(len(counts.stages) - 1):
        before, after = counts.shares(step), counts.shares(step + 1)
        spread = counts.change_deviations[step] if counts.change_deviations else {}
        changes = {o: after[o] - before[o] for o in OUTCOMES}
        name = f"change to {counts.stages[step + 1]}"
        shares.append((name, *_cells(changes, spread, is_change=True)))
        if name in in_paper:
            shares.append((f"{name}, in the paper", *in_paper[name]))
    parts: list[Piece] = [ReportTable.of(title, ("% of pairs", *OUTCOMES), shares)]
    if in_paper:
        parts.append(_WHY_PRINTED_DIFFER)
    for step, name in enumerate(counts.stages[1:]):
        flow: list[tuple[str, ...]] = [
            (outcome, *(count(numbers[o]) for o in OUTCOMES))
            for outcome, numbers in counts.total_flow(step).items()
        ]
        parts.append(
            ReportTable.of(
                "", (f"{counts.stages[step]} -> {name}", *(f"to {o}" for o in OUTCOMES)), flow
            )
        )
    parts += [*_occupations_table(counts), *_correlations(women)]
    parts += _notes(counts)
    return [*parts, f"signature: {counts.signature}"]


def flows_svg(counts: OccupationCounts, *, title: str, occupation: str | None = None) -> str:
    """Return the flows of one occupation, or of all, as a picture that loads nothing."""
    return f"{_picture(counts, title, occupation, css=_css())}\n"


def flows_page(
    counts: OccupationCounts,
    *,
    title: str,
    occupations: Sequence[str] = (),
    printed: Mapping[str, Mapping[str, float]] | None = None,
    command: str = "",
) -> str:
    """Return a page with the picture of all occupations and of some, and the table of all."""
    names: list[str | None] = [None, *occupations]
    return small_page(
        "cc_hf_studies:distillation/gender_flows_page.html.jinja",
        title=title,
        about="Genders of occupations in the translations of each stage.",
        command=command,
        css=_css(),
        pictures=[
            (name or "All occupations", _picture(counts, f"{title}: {name or 'all'}", name))
            for name in names
        ],
        columns=[
            *(f"{stage}: % female" for stage in counts.stages),
            "change",
            *(f"{stage}: male / female / other" for stage in counts.stages),
        ],
        rows=_occupation_rows(counts),
        notes=[*_printed_notes(_printed_cells(printed or {})), *_notes(counts)],
        signature=counts.signature,
    )


def _css() -> Markup:
    return render_piece(_PIECES, "style")


def _cells(values: dict[str, float], spread: object, *, is_change: bool = False) -> Iterator[str]:
    for outcome in OUTCOMES:
        value = values[outcome]
        text = signed(in_points(value), digits=2) if is_change else percent(value, digits=2)
        deviation = spread.get(outcome) if isinstance(spread, dict) else None
        yield text if deviation is None else f"{text} (sd {percent(deviation, digits=2)})"


def _printed_cells(printed: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Return shares and changes with the paper's one digit; "-" for what it does not print."""
    return {
        name: [
            "-"
            if o not in values
            else signed(in_points(values[o]), digits=1)
            if name.startswith("change")
            else percent(values[o])
            for o in OUTCOMES
        ]
        for name, values in printed.items()
    }


def _printed_notes(in_paper: Mapping[str, Sequence[str]]) -> list[str]:
    if not in_paper:
        return []
    figures = "; ".join(f"{name} {' / '.join(cells)}" for name, cells in in_paper.items())
    return [f"The paper prints, in % male / female / other: {figures}. {_WHY_PRINTED_DIFFER}"]


def _occupations_table(counts: OccupationCounts) -> Iterator[Piece]:
    """Yield the most frequent occupations with their female share of gendered forms."""
    names = counts.by_frequency()
    female = [counts.female_shares(stage) for stage in range(len(counts.stages))]
    table: list[tuple[str, ...]] = []
    for name in names[:_SHOWN]:
        cells = (percent(shares[name]) if name in shares else "-" for shares in female)
        table.append((name, count(sum(counts.counts[name][0].values())), *cells))
    yield ReportTable.of("", ("% female of male and female", "pairs", *counts.stages), table)
    if len(names) > _SHOWN:
        yield f"the {_SHOWN} most frequent of {len(names)} occupations"


def _occupation_rows(counts: OccupationCounts) -> list[tuple[str, list[str]]]:
    """Return female share of gendered forms by stage, its change and the counts, by occupation."""
    shares = [counts.female_shares(stage) for stage in range(len(counts.stages))]
    changes = {
        name: shares[-1][name] - share for name, share in shares[0].items() if name in shares[-1]
    }
    rows = []
    # The share that falls most comes first, and occupations without a share last: 2 is above any
    # change.
    for name in sorted(counts.by_frequency(), key=lambda name: changes.get(name, 2.0)):
        cells = [percent(of_stage[name]) if name in of_stage else "-" for of_stage in shares]
        cells.append(signed(in_points(changes[name]), digits=1) if name in changes else "-")
        cells += [" / ".join(count(stage[o]) for o in OUTCOMES) for stage in counts.counts[name]]
        rows.append((name, cells))
    return rows


def _correlations(women: Iterable[FemaleShares]) -> Iterator[str]:
    for shares in women:
        correlation = shares.correlation
        yield (
            f"female share at {shares.stage} and percent of women: r ="
            f" {decimal(correlation.r, correlation.interval)}, n = {correlation.n}"
            + (f"; not counted: {', '.join(shares.missing)}" if shares.missing else "")
        )


def _notes(counts: OccupationCounts) -> list[str]:
    notes = []
    if counts.n_runs > 1:
        notes.append(f"Numbers are means of {counts.n_runs} runs.")
    if counts.n_damaged:
        notes.append(
            f"{counts.n_damaged:,} of {counts.n_pairs or 0:,} pairs have no text on a side or"
            " cannot be read; they are not counted."
        )
        notes += [f"line {line}: {reason}" for line, reason in counts.damaged[:_SHOWN_DAMAGED]]
    return notes


def _picture(
    counts: OccupationCounts, label: str, occupation: str | None, *, css: str = ""
) -> Markup:
    if occupation is not None and occupation not in counts.counts:
        raise UnknownNameError("occupation", occupation, list(counts.counts))
    names = None if occupation is None else [occupation]
    totals = [counts.total(stage, names) for stage in range(len(counts.stages))]
    n = sum(totals[0].values()) or 1
    scale = _HEIGHT / n
    elements: list[Element] = []
    for step in range(len(counts.stages) - 1):
        flow = counts.total_flow(step, names)
        elements += _ribbons(counts.stages, step, flow, totals, scale)
    for stage, name in enumerate(counts.stages):
        elements += _column(stage, name, totals[stage], n, is_last=stage == len(totals) - 1)
    width = 2 * _SIDE + (len(counts.stages) - 1) * _STEP + _BAR
    return render_piece(
        _PIECES,
        "picture",
        width=width,
        height=_TOP + _HEIGHT + 2 * _GAP + 12,
        label=label,
        elements=elements,
        css=css,
    )


def _x(stage: int) -> float:
    return _SIDE + stage * _STEP


def _tops(total: dict[str, float], scale: float) -> dict[str, float]:
    """Return the upper edge of the bar of each outcome."""
    tops, y = {}, float(_TOP)
    for outcome in OUTCOMES:
        tops[outcome] = y
        y += scale * total[outcome] + _GAP
    return tops


def _column(
    stage: int, name: str, total: dict[str, float], n: float, *, is_last: bool
) -> Iterator[Element]:
    x = _x(stage)
    short = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
    yield text_element(x + _BAR / 2, 18, short, "stage", title=name)
    yield text_element(x + _BAR / 2, 34, f"{count(n)} pairs", "stage soft")
    for outcome, y in _tops(total, _HEIGHT / n).items():
        height = total[outcome] * _HEIGHT / n
        text = f"{outcome} {percent(total[outcome] / n)} %"
        full = f"{name}, {outcome}: {count(total[outcome])} pairs, {percent(total[outcome] / n)} %"
        yield shape_element("rect", outcome, x=x, y=y, width=_BAR, height=max(height, 1))._replace(
            title=full
        )
        middle = y + height / 2 + 4.5
        if stage == 0 and not is_last:
            yield text_element(x - 6, middle, text, "end", title=full)
        else:
            yield text_element(x + _BAR + 6, middle, text, title=full)


def _ribbons(
    stages: Sequence[str],
    step: int,
    flow: dict[str, dict[str, float]],
    totals: Sequence[dict[str, float]],
    scale: float,
) -> Iterator[Element]:
    left, right = _x(step) + _BAR, _x(step + 1)
    middle = (left + right) / 2
    starts, ends = _tops(totals[step], scale), _tops(totals[step + 1], scale)
    for before in OUTCOMES:
        for after in OUTCOMES:
            height = scale * flow[before][after]
            if not height:
                continue
            y, z = starts[before], ends[after]
            starts[before] += height
            ends[after] += height
            path = (
                f"M{left:.1f} {y:.2f}C{middle:.1f} {y:.2f} {middle:.1f} {z:.2f} {right:.1f} {z:.2f}"
                f"V{z + height:.2f}C{middle:.1f} {z + height:.2f} {middle:.1f} {y + height:.2f}"
                f" {left:.1f} {y + height:.2f}Z"
            )
            title = (
                f"{stages[step]} {before} to {stages[step + 1]} {after}:"
                f" {count(flow[before][after])} pairs"
            )
            yield Element("path", {"class": before, "d": path}, title=title)
