"""Every figure of the documents has a source, and the sources exist."""

import re
from pathlib import Path

import pytest

from tests.helpers.cases import cases
from tools.figures import KINDS, Entry, all_passages, ledger, passages, problems

_ROOT = Path(__file__).parents[2]
#: Papers whose text is at hand, by what the ledger calls them.
_PAPERS = {
    "Currey et al. 2022": "mt-geneval",
    "Emelin 2023": "lexical-understanding-thesis",
    "Renduchintala et al. 2021": "simplegen",
    "Vamvas & Sennrich 2021": "contrastive-conditioning",
}
_TESTS = [
    path.read_text("utf-8")
    for folder in ("tests", "studies/tests")
    for path in (_ROOT / folder).rglob("test_*.py")
]
_SOURCES = sorted({source for entry in ledger() for source in entry.sources})


def test_every_figure_has_a_source_and_every_source_a_figure() -> None:
    assert problems(all_passages(), ledger()) == []


@pytest.mark.parametrize("source", _SOURCES)
def test_every_source_exists(source: str) -> None:
    kind, _, name = source.partition(" ")
    assert kind in KINDS
    assert name
    if kind == "test":
        file, _, function = name.partition("::")
        assert f"\ndef {function}(" in (_ROOT / file).read_text(encoding="utf-8")
    if kind == "paper":
        assert re.search(r", (Tables?|Figures?|section|page) \d", name)
    if module := re.match(r"command python -m ([\w.]+)", source):
        assert (_ROOT / f"{module[1].replace('.', '/')}.py").is_file()
        name = module[1].rpartition(".")[2]
        assert any(name in text for text in _TESTS), "no test runs it"
    if target := re.match(r"command make (\w+)", source):
        makefile = (_ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{target[1]}:", makefile, re.MULTILINE)


def test_every_row_of_a_ledger_says_what_it_is_compared_with() -> None:
    rows = [
        re.split(r"(?<!\\)\|", row)
        for page in [_ROOT / "docs/parity.md", *(_ROOT / "studies/docs").glob("*.md")]
        for table in re.findall(
            r"^\| what \|.* \| test \|\n\|.*\n((?:\|.*\n)+)", page.read_text("utf-8"), re.M
        )
        for row in table.splitlines()
    ]
    assert len(rows) > 90
    assert {row[2].strip() for row in rows} == {"printed", "recorded", "own"}


@cases(
    ("# T\nOf all 3,648, 783 (21.5 %) are.\n", ["3,648", "21.5 %"]),
    ("| a | -4.5 (−5.8 – .2) |\n", ["-4.5", "−5.8", ".2"]),
    ("`0.5` and [0.5](a/0.5.html), 0.4\n", ["0.5", "0.4"]),
    (
        "```sh\nx 0.5\n```\n"
        "Python 3.10, Tables 4.7, 4.8 and 4.10, Apache-2.0, gpt-3.5, 17.5 MB\n",
        [],
    ),
    ("<!-- a-b: generated -->\n0.5\n<!-- end -->\nhttps://a.b/0.5 v0.1.0, 95 %, 2026-01-31\n", []),
)  # fmt: skip
def test_figures_are_found_outside_generated_blocks_and_code(text: str, figures: list[str]) -> None:
    assert [figure for passage in passages("p.md", text) for figure in passage.figures] == figures


def test_a_figure_without_a_source_and_a_source_without_a_figure_are_told() -> None:
    actual = list(passages("p.md", "# T\n## One\nAll 99.5 % are.\n\nNone.\n## Two\nOnly 0.5 is.\n"))
    entries = [Entry("p.md", "One", "*", ("arithmetic",)), Entry("p.md", "Three", "*", ("a",))]
    told = [problem.partition("\t")[0] for problem in problems(actual, entries)]
    assert told == ["no source: p.md", "fits no figure: p.md"]


def test_figures_that_are_cited_are_printed_in_the_paper(shared: Path) -> None:
    printed: dict[str, set[float]] = {}
    for name, stem in _PAPERS.items():
        texts = [p.read_text(encoding="utf-8") for p in (shared / "papers").glob(f"{stem}*.txt")]
        numbers = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+", " ".join(texts))
        printed[name] = set(map(_value, numbers))
    n_checked = 0
    for passage in all_passages():
        entry = next(entry for entry in ledger() if entry.fits(passage))
        papers = {source.removeprefix("paper ").partition(",")[0] for source in entry.sources}
        if len(entry.sources) == 1 and papers <= printed.keys():
            values = printed[min(papers)]
            shares = {f: {_value(f), round(_value(f) / 100, 4)} for f in passage.figures}
            assert not [f for f, either in shares.items() if not either & values], passage
            n_checked += len(passage.figures)
    assert n_checked > 100


def _value(figure: str) -> float:
    digits = re.sub(r"[^\d.]", "", figure)
    return float(digits) if digits.count(".") < 2 else -1.0
