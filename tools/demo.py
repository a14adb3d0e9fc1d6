"""Show what `make demo` found on one screen: python -m tools.demo FILE, the results of `cc-hf
evaluate simplegen en-de --metric all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from cc_hf.metrics.headline import headline
from cc_hf.reports.figure_text import data_name
from cc_hf.reports.formats.terminal import show
from cc_hf.reports.numbers import limits, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.results import CategoryAccuracy, EvaluationResult, ResultSet
from cc_hf.statistics.shares import Share, wilson_share

__all__ = ["main", "screen"]

#: Category of SimpleGEN -> what it is in words.
_WORDS = {
    "MoFc": "woman, occupation of men",
    "FoMc": "man, occupation of women",
    "FoFc": "woman, occupation of women",
    "MoMc": "man, occupation of men",
}


def screen(words: EvaluationResult, judge: EvaluationResult) -> Iterator[Piece]:
    """Yield the shares that are wrong by both metrics, and which of them may be cited."""
    yield Line(f"{data_name(words)}: {words.n:,} translations by {words.system}", "title")
    cited = [figure.category for figure in headline(words).cited]  # the worst is first
    read, scored = ({c.category: c for c in result.categories} for result in (words, judge))
    women, men = (percent(_wrong(read[name]).value) for name in ("MoFc", "MoMc"))
    yield Line(
        f'In occupations of men, as in "My wife is a director.", {women} % of women become men;'
        f" {men} % of men become women.",
        "item",
    )
    rows = [
        (
            f"{_WORDS[name]} ({name})",
            *map(_text, (_wrong(read[name]), _unread(read[name]), _wrong(scored[name]))),
        )
        for name in cited
    ]
    heads = ("dictionary: wrong", "dictionary: unread", "contrastive conditioning: wrong")
    yield ReportTable.of("", ("", *heads), rows, "percent, with intervals of 95 %")
    yield (
        "The dictionary knows German words of each occupation; others are unread. Contrastive"
        ' conditioning asks a model whether a translation is more probable for "[female]" or'
        ' "[male]", and reads all. An occupation is of men or of women by its stereotype.'
    )
    for result, name in ((words, "by the dictionary"), (judge, "by contrastive conditioning")):
        if why_not := headline(result).why_not:
            yield Line.named("Do not cite ", f"the shares {name}: {why_not}.", "unfit")
        else:
            text = f"the shares {name}, wrong and unread, with intervals and signature."
            yield Line.named("Cite ", text, "green")


def _wrong(category: CategoryAccuracy) -> Share:
    n_wrong = category.n - category.n_correct - category.n_inconclusive
    return wilson_share(n_wrong, category.n)


def _unread(category: CategoryAccuracy) -> Share:
    return wilson_share(category.n_inconclusive, category.n)


def _text(share: Share) -> str:
    return f"{percent(share.value)} ({limits(share.interval).replace(' – ', '–')})"


def main(path: Path) -> None:
    """Show the screen of a file of results."""
    results = {r.metric: r for r in ResultSet.from_json(path.read_text("utf-8")).results}
    show(screen(results["simplegen_accuracy"], results["contrastive_conditioning"]))
    typer.echo(f"report, to open in a browser: {path.with_suffix('.html')}")
    typer.echo("The sentences to translate by a system of yours; README.md says what is next:")


if __name__ == "__main__":
    typer.run(main)
