"""Write the generated parts of the documents: docs/cli.md, docs/llms.txt, docs/addresses.tsv, the
modules of metrics for `evaluate`, and the blocks between markers in pages and cards. With --check
it only compares.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from pathlib import Path

os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1")

import cc_hf_studies
import typer
from cc_hf_studies.common.published_tables import paper_name
from command_pages import command_index, plain
from myst_parser.slugs import github_slugify

from cc_hf import registry
from cc_hf.citations import CITATIONS, citation, citation_markdown
from cc_hf.comparing.published import PublishedTable, read_published
from cc_hf.evidence import SHIPPED, Evidence, rates, read_evidence
from cc_hf.hub.cards import with_block
from cc_hf.hub.spaces import module_text
from cc_hf.levels import readings_of, trust_by
from cc_hf.plugins.dataset_folders.cards import sizes_table
from cc_hf.plugins.raters.published import PRINTED
from cc_hf.reports.tables.names import metric_row
from cc_hf.signature import parse
from tools.sizes import names_of_the_core

_ROOT = Path(__file__).parent.parent
_JUDGES = _ROOT / "judges/cc_hf_judges"
#: Kind of labels -> whose they are.
_LABELS = {"people": "people", "pairs": "versions by people", "analyser": "a dictionary"}


def llms_text() -> str:
    """Return the list of all pages for language models (llmstxt.org): title and first paragraph."""
    lines = [
        "# cc_hf",
        "",
        "> Which sense, gender and referent does a translation system get right?",
        "",
    ]
    lines += [_llms_line(page) for page in _pages_in_order() if page.stem != "changelog"]
    lines.append(
        "- [Skill for assistants](SKILL.md): one page of commands that judge, compare and report."
    )
    return "\n".join([*lines, ""])


def _pages_in_order() -> list[Path]:
    """Return the pages in the order of docs/index.md, with those of the studies, then the cards."""
    listed = _linked(_ROOT / "docs/index.md")
    studies = next(page for page in listed if page.parent.parent.name == "studies")
    position = listed.index(studies) + 1
    cards = sorted(_ROOT.glob("cards/*/*.md"))
    return [*listed[:position], *_linked(studies), *listed[position:], *cards]


def _linked(index: Path) -> list[Path]:
    """Return the pages that the lists of a page link, in their order."""
    links = re.findall(r"^- \[.+?\]\(([\w/.]+\.md)\)", index.read_text(encoding="utf-8"), re.M)
    return [(index.parent / link).resolve() for link in links]


def _llms_line(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert title is not None, page
    prose = re.sub(r"^#+ .*$", "", text[title.end() :], flags=re.MULTILINE)
    first = next((part for part in prose.split("\n\n") if re.match(r"\s*(?!```)[\w*`]", part)), "")
    # The site has the pages of studies in a folder beside the others.
    name = page.relative_to(_ROOT).as_posix().replace("studies/docs/", "docs/studies/")
    about = re.sub(r"\[([^]]*)\]\([^)]*\)|\*\*", r"\1", first)
    about = textwrap.shorten(about, 200, placeholder=" ...")
    return f"- [{title[1]}]({name.removeprefix('docs/').removesuffix('.md')}.html): {about}"


def addresses() -> str:
    """Return every address that a page or a heading of docs/ has or had, and where it leads now."""
    table = (_ROOT / "docs/addresses.tsv").read_text(encoding="utf-8").splitlines()[1:]
    now = dict(row.split("\t") for row in table)
    for page in _ROOT.glob("docs/*.md"):
        # A heading that goes keeps its row, in which somebody has to say where it leads now; a test
        # fails until then.
        now.setdefault(page.stem, page.stem)
        if page.stem in ("cli", "reproduce", "changelog"):  # their headings are generated
            continue
        text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
        for heading in re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE):
            address = f"{page.stem}#{github_slugify(heading)}"
            now.setdefault(address, address)
    return "".join(f"{old}\t{new}\n" for old, new in [("old", "now"), *sorted(now.items())])


def citation_block(card: str) -> str:
    """Return the citation of the papers that a card's section "Paper" links, in its order."""
    section = card.partition("\n## Paper\n")[2].partition("\n## ")[0]
    declared = [
        key for dataset in registry.load_all("dataset").values() for key in dataset.citation_keys
    ]
    every = {paper.url: paper for paper in map(citation, (*CITATIONS, *declared))}
    papers = [paper for paper in every.values() if f"({paper.url})" in section]
    papers.sort(key=lambda paper: section.index(paper.url))
    return citation_markdown(papers)


def reproduction() -> str:
    """Return commands, printed figures and gaps of each table, for docs/reproduce.md."""
    root = Path(cc_hf_studies.__path__[0])
    folders = {
        name: [root / name]
        for name in registry.names("study")
        if (root / name / "published.tsv").is_file()  # one without has no printed figures
    }
    folders["distillation"].append(PRINTED)
    by_paper: dict[str, list[tuple[str, PublishedTable]]] = {}
    for study, of_study in folders.items():
        for table in read_published(*of_study).values():
            by_paper.setdefault(paper_name(table.paper), []).append((study, table))
    return "\n\n".join(
        part
        for paper, tables in sorted(by_paper.items())
        for part in (
            f"## {paper}",
            *(_table_text(*pair) for pair in sorted(tables, key=lambda pair: _order(pair[1]))),
        )
    )


def _order(table: PublishedTable) -> tuple[list[int], str]:
    """Return the key by which tables are sorted: the section, and appendices last."""
    section = table.section.partition(",")[0]
    return [int(part) for part in re.findall(r"\d+", section)] or [99], section


def _table_text(study: str, table: PublishedTable) -> str:
    lines = [f"### {table.name}: {table.title}"]
    shown = f"cc-hf study {study} published"
    output = re.search(r"-o (\S+\.json)", table.command)
    if not table.name.startswith(("section", "appendix")):
        where = (
            table.section if table.section.startswith("appendix") else f"section {table.section}"
        )
        lines.append(f"- {where}")
    if table.command:
        lines.append(f"- make: `{table.command}`")
    if table.results and output:
        lines.append(f"- show: `{shown} {output[1]} --table {table.number}`")
    elif table.rows:
        lines.append(f"- show: `{shown} --table {table.number}`")
    if table.note:
        lines.append(f"- note: {plain(table.note)}")
    if table.rows:
        lines += ["", f"| | {' | '.join(table.columns)} |", "|---" * (len(table.columns) + 1) + "|"]
        lines += [
            f"| {' | '.join([row, *(cells.get(name, '') for name in table.columns)])} |"
            for row, cells in table.rows.items()
        ]
    return "\n".join([lines[0], "", *lines[1:]])


def names_for_slices() -> str:
    """Return the names of the core that slices import, a line for each module."""
    return "\n".join(
        f"- `{module}`: {', '.join(f'`{name}`' for name in of_module)}"
        for module, of_module in names_of_the_core().items()
    )


def judge_levels(judge: str = "") -> str:
    """Return the levels of the judges, or of one, on which there is evidence, as a table."""
    parts: dict[tuple[str, ...], list[Evidence]] = {}
    for row in [*read_evidence(SHIPPED), *read_evidence(_JUDGES / "evidence.jsonl")]:
        name = row.evaluator.partition("@")[0]
        if judge in ("", name):
            cues = parse(row.signature)[1].get("cues", "")
            cues = f"`{cues}`" + f", neither below {row.threshold}" * bool(row.threshold)
            parts.setdefault((name, row.languages, row.dataset, cues), []).append(row)
    heads = (
        "judge | pair | sentences | cues | labels | right found right | wrong found wrong | level"
    )
    lines = [
        f"| {heads} |",
        "|---|---|---|---|--:|---|---|---|",
    ]
    for (name, pair, dataset, cues), rows in sorted(parts.items()):
        trust = trust_by(rows, {})
        title = registry.resolve("dataset", dataset).title
        of_readings = [rates(rows, reading) for reading in readings_of(rows)]
        whose = _LABELS[rows[0].labels]
        of = " (of its ensemble)" if rows[0].of else ""
        n = sum(row.n for row in rows)
        cells = (
            f"`{name}`{of}",
            pair,
            f"{title} ({rows[0].kind})",
            cues,
            f"{n:,}, {whose}",
            ", ".join(f"{100 * r.right.value:.1f}" for r in of_readings),
            ", ".join(f"{100 * r.wrong.value:.1f}" for r in of_readings),
            f"**{trust.level}**",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def training_table(judge: str) -> str:
    """Return what a judge of cc_hf_judges had learned by each step, as its recipe logged it."""
    log = (_JUDGES / f"{judge}.training.jsonl").read_text(encoding="utf-8").splitlines()
    recipe = json.loads((_JUDGES / f"{judge}.recipe.json").read_text(encoding="utf-8"))
    last = {**recipe, "step": recipe["steps"], "tokens": recipe["target_tokens"]}
    lines = ["| step | target tokens | own | natural | loss |", "|---|---|---|---|---|"]
    for row in (*map(json.loads, log), last):
        lines.append(
            f"| {row['step']:,}{' (shipped)' * (row is last)} | {row['tokens'] / 1e6:.1f} M"
            f" | {100 * row['accuracy_own']:.1f} % | {100 * row['accuracy_natural']:.1f} %"
            f" | {row['loss_development']:.2f} |"
        )
    return "\n".join(lines)


def metric_table() -> str:
    """Return the table of metrics: how each judges, by which papers, and which data it fits."""
    lines = ["| metric | how it judges | paper | data |", "|---|---|---|---|"]
    for name, metric in registry.load_all("metric").items():
        fits = metric_row(name, metric, {})["fits"]
        papers = ", ".join(citation(key).short_name for key in metric.papers)
        named = "; it runs where it is named" * metric.only_named
        data = ", ".join(f"`{dataset}`" for dataset in fits) or "files of your own"
        if len(fits) == 1:
            data = f"{data}: {plain(*fits.values())}"
        link = f"[`{name}`](../cards/metrics/{name}.md)"
        lines.append(f"| {link} | {plain(metric.about)} | {papers} | {data}{named} |")
    return "\n".join(lines)


def documents() -> dict[Path, str]:
    """Return the text that every document with generated parts should have, by path."""
    texts = {
        _ROOT / "docs" / "cli.md": command_index(),
        _ROOT / "docs" / "llms.txt": llms_text(),
        _ROOT / "docs" / "addresses.tsv": addresses(),
        **{_ROOT / "metrics" / name / f"{name}.py": module_text(name) for name in registry.METRICS},
    }
    blocks = {
        "reproduce": ("tables", reproduction()),
        "api": ("names", names_for_slices()),
        "evaluators": ("levels", judge_levels()),
        "metrics": ("metrics", metric_table()),
    }
    for name, block in blocks.items():
        page = _ROOT / "docs" / f"{name}.md"
        texts[page] = with_block(page.read_text(encoding="utf-8"), *block)
    for path in [*sorted((_ROOT / "cards").glob("*/*.md")), *sorted(_JUDGES.glob("*.md"))]:
        card = path.read_text(encoding="utf-8")
        card = with_block(card, "citation", citation_block(card))
        if path.stem.startswith("cc-tiny-"):
            card = with_block(card, "levels", judge_levels(path.stem))
        if path.parent == _JUDGES:
            card = with_block(card, "training", training_table(path.stem))
        if path.parent.name == "datasets":
            sizes = sizes_table(registry.resolve("dataset", path.stem))
            card = with_block(card, "sizes", sizes)
        texts[path] = card
    return texts


def main() -> None:
    """Write the documents that differ, or with --check compare them only."""
    check = "--check" in sys.argv[1:]
    stale = [
        path
        for path, text in documents().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if check and stale:
        raise SystemExit(
            "out of date, run `make docs`: "
            + ", ".join(path.relative_to(_ROOT).as_posix() for path in stale)
        )
    for path in stale:
        path.write_text(documents()[path], encoding="utf-8", newline="\n")
    typer.echo(f"{len(documents())} documents, {0 if check else len(stale)} written")


if __name__ == "__main__":
    main()
