"""The table for a paper and all tables as LaTeX: complete, escaped, and not wider than the text."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cc_hf.reports.formats.latex import latex_paper_table, latex_report, latex_text
from cc_hf.reports.formats.latex_layout import layout, parts_of
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_parts import Cell, ReportTable, TableRow
from cc_hf.reports.samples import ReportedSystem
from tests.helpers import reported
from tests.helpers.four_systems import four_systems
from tests.helpers.latex import overfull_boxes, without_latex
from tests.helpers.refusals import refuses

compiles = pytest.mark.skipif(bool(without_latex()), reason=without_latex())

LONG_NAMES = [f"opus-mt-tc-big-en-de-finetune-on-the-same-data-with-seed-{i:03}" for i in range(12)]
ODD_NAMES = [reported.HOSTILE_NAME, "\\input{x} ~^#%&_{}", "a--b ''c'' \"d\" ?`e", "Süß Œuvre ΔG →"]
ODD_NAMES.append("x" * 60)


@pytest.fixture(scope="module")
def twelve() -> Report:
    """A report on twelve systems with long names, by two metrics, with BLEU."""
    results = reported.results(0), reported.results(1)
    systems = [
        ReportedSystem(name, results[i % 2], 0.3 + i / 100) for i, name in enumerate(LONG_NAMES)
    ]
    return build_report(systems, n_resamples=20)


def unbroken(text: str) -> str:
    """Return LaTeX without the places where a line can end."""
    return text.replace(r"\allowbreak{}", "").replace(r"\hspace{0pt}", "")


def cells(text: str, name: str) -> list[str]:
    """Return the cells of a system in the first table that has it."""
    (row, *_) = [line for line in unbroken(text).splitlines() if line.startswith(unbroken(name))]
    return row.removesuffix(r" \\").split(" & ")


def test_the_paper_table_marks_the_best_and_what_is_significant() -> None:
    report = reported.report()
    text = latex_paper_table(report, ["min_accuracy", "bleu"], details="x-all.tex")
    assert "% all figures: x-all.tex" in text
    assert text.count(r"\begin{table}") == text.count(r"\caption{") == 1
    assert r"\label{tab:d-c-de}" in text
    first = cells(text, "first (baseline)")
    second = cells(text, latex_text(reported.HOSTILE_NAME))
    assert len(first) == len(second) == 4
    assert (first[1], second[1]) == ("31.2", r"\textbf{33.5}")
    for column, metric in ((2, "contrastive_conditioning"), (3, "words")):
        scores = [system.results[metric].scores["min_accuracy"] for system in report.systems]
        is_bold = [r"\textbf" in row[column] for row in (first, second)]
        # words read nothing in more than half of a category of the second system
        is_fit = metric == "contrastive_conditioning"
        assert is_bold == [is_fit and round(s, 3) == round(max(scores), 3) for s in scores]
        compared = report.comparisons[metric, reported.HOSTILE_NAME].differences["min_accuracy"]
        assert ("^{*}" in second[column]) == (compared.p_value < 0.05)
        assert "^{*}" not in first[column]
    assert "marks a difference to first with p" in text
    assert "Not tested: BLEU." in text


def test_figures_are_chosen_by_metric_and_name() -> None:
    report = reported.report()
    text = latex_paper_table(report, ["words:delta_words", "words:accuracy"])
    assert r"\hspace{0pt}system & \hspace{0pt}delta words & \hspace{0pt}accuracy \\" in text
    assert r"\cmidrule" not in text  # a single metric is named in the caption
    text = latex_paper_table(report, ["ratio_male_female"])
    assert "ratio M:F, 1 is best" in text
    assert r"\textbf{×" in text
    many = "accuracy min_accuracy weighted_accuracy accuracy_male accuracy_female"
    for figures, message in (
        ("min_acuracy", r"unknown figure 'min_acuracy'.*min_accuracy"),
        ("words:weighted_accuracy", "unknown figure 'words:weighted_accuracy'"),
        (many, "expected at most 6, which fit on the width of a page"),
    ):
        refuses(message, latex_paper_table, report, figures.split())


def test_cautions_and_what_is_not_fit_to_cite_are_comments() -> None:
    results = reported.results(0)
    notes, counts = ("made for 100% of\n<b>others</b>",), {"n_ties": 9}
    noted = {m: replace(r, notes=notes, counts=counts) for m, r in results.items()}
    text = latex_paper_table(build_report([ReportedSystem("a", noted)], n_resamples=1))
    assert "\n% note: made for 100% of <b>others</b>\n" in text
    assert re.search(r"\n% not fit to cite: .*9 of 90 judgements are ties", text)


def test_long_words_can_break_and_lose_no_character() -> None:
    assert latex_text("short-name") == "short-name"
    for name in (*LONG_NAMES, "x" * 60):
        shown = latex_text(name)
        assert shown.replace(r"\allowbreak{}", "") == name
        assert max(map(len, shown.split(r"\allowbreak{}"))) <= 16
    assert len({latex_text(name) for name in LONG_NAMES}) == 12
    assert latex_text("a\x01\udcff") == r"a\textbackslash{}x01\textbackslash{}udcff"


def test_one_system_has_no_best_value_and_names_beyond_pdflatex_are_announced() -> None:
    report = build_report([replace(reported.systems()[0], name="模型")], n_resamples=1)
    first, *others = latex_paper_table(report).splitlines()
    assert first.endswith("; lualatex for the characters 型 模")
    assert not re.search(r"\\textbf|baseline|bold", "\n".join(others))


@compiles
def test_twelve_long_names_compile_and_are_told_apart(twelve: Report, tmp_path: Path) -> None:
    texts = [latex_paper_table(twelve), latex_report(twelve)]
    assert max(overfull_boxes(tmp_path, texts), default=0) <= 5
    for name in LONG_NAMES:
        assert all(unbroken(text).count(name) >= 2 for text in texts)
    if reader := shutil.which("pdftotext"):
        command = [reader, "-f", "1", "-l", "1", "paper.pdf", "-"]
        read = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
        page = re.sub(r"\s", "", read.stdout)
        # Hyphens at the ends of lines are dropped by some readers.
        assert all(name.replace("-", "") in page.replace("-", "") for name in LONG_NAMES)


@compiles
def test_names_with_special_characters_compile(tmp_path: Path) -> None:
    systems = [ReportedSystem(name, reported.results(0)) for name in ODD_NAMES]
    report = build_report(systems, notes=["_a_ https://example.org/" + 20 * "a/b_c%"])
    texts = [latex_paper_table(report), latex_report(report)]
    assert max(overfull_boxes(tmp_path, texts), default=0) <= 5


@compiles
def test_four_systems_on_winomt_compile_within_the_text(shared: Path, tmp_path: Path) -> None:
    report = build_report(four_systems(shared, tmp_path), n_resamples=20)
    texts = [latex_paper_table(report), latex_report(report)]
    assert max(overfull_boxes(tmp_path / "latex", texts), default=0) <= 5
    assert r"\label{tab:winomt-default-de}" in texts[0]


def table(n: int, *, name: str = "a", groups: int = 0) -> ReportTable:
    """Return a table of one row with n columns, in groups of a size."""
    columns = tuple(f"accuracy {i}" for i in range(n))
    row = TableRow(name, (Cell("15.0", "10.0 – 20.0"),) * n)
    sizes = tuple((f"g{i}", groups) for i in range(n // groups)) if groups else ()
    return ReportTable("t", "system", columns, (row,), sizes, "caption")


@pytest.mark.parametrize("n", [1, 3, 6, 9])
@pytest.mark.parametrize("name", ["a", "x" * 60, "a b " * 30])
def test_no_table_is_wider_than_the_text(n: int, name: str) -> None:
    shape = layout(table(n, name=name))
    assert sum(shape.widths) + 2 * shape.separation * (n + 1) <= 1
    assert len(shape.widths) == n + 1
    assert min(shape.widths) > 0.05


def test_intervals_stand_below_figures_where_there_is_no_room() -> None:
    assert not layout(table(3)).is_stacked
    assert layout(table(6)).is_stacked
    assert layout(table(4, name="x" * 60)).is_stacked


def test_parts_hold_every_column_once_and_keep_groups_together() -> None:
    whole = table(24, groups=4)
    parts = list(parts_of(whole))
    assert len(parts) > 1
    assert sum((part.columns for part in parts), ()) == whole.columns
    assert sum((part.groups for part in parts), ()) == whole.groups
    assert all(len(part.rows[0].cells) == len(part.columns) for part in parts)
    assert [part.caption for part in parts] == ["caption", *[""] * (len(parts) - 1)]
    assert list(parts_of(table(2))) == [table(2)]
    # A group that is too wide by itself is a part of its own.
    assert [len(part.columns) for part in parts_of(table(24, groups=12))] == [12, 12]
