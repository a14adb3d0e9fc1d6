"""The cards agree with the data, the papers and the program."""

import contextlib
import io
import json
import re
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer
from huggingface_hub import DatasetCard, RepoCard

from cc_hf import registry
from cc_hf.citations import CITATIONS
from cc_hf.cli.main import app
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.files.custom import is_custom
from cc_hf.data.loading import declaration as load_declaration
from cc_hf.data.loading import load_examples
from cc_hf.evaluation.material import load_material
from cc_hf.records import write_record
from cc_hf.schema import ContrastiveSourceExample, ProbingExample
from tests.helpers.papers import papers
from tests.helpers.samples import data_of, is_sampled
from tests.helpers.usual import known, write_text

#: examples of all configurations and of the largest, according to its paper, if not declared
PUBLISHED_SIZES = {"mittens": (3632, 3632), "contrawsd": (13_900, 7_200)}
#: the sections of every card of a kind, in their order
SECTIONS = {
    "datasets": (
        "Supported tasks, Languages, Size, Structure, Example, Source data and curation, Limits,"
        " Licence, Paper, Citation, Contact"
    ),
    "metrics": (
        "Description, How it works, Example, Inputs, Options, Output, Limits and bias, Languages"
        " and data, Cost, Licence, Paper, Citation, Contact"
    ),
    "models": (
        "Description, Intended use, Example, Architecture, Training data, Training, Evaluation,"
        " Limits and bias, Languages, Size and cost, Licence, Paper, Citation, Contact"
    ),
}
#: what a data statement must say (Bender & Friedman 2018, section 5.1), without recordings
DATA_STATEMENT = (
    "Curation rationale, Language variety, Speaker demographic, Annotator demographic,"
    " Speech situation, Text characteristics"
)
_ROOT = Path(__file__).parents[3]
ALL_CARDS = [p.relative_to(_ROOT).as_posix() for p in sorted((_ROOT / "cards").glob("*/*.md"))]


def sections(text: str) -> dict[str, str]:
    """Return the sections of a card by their headings, in their order."""
    actual = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(actual[::2], actual[1::2], strict=True))


@pytest.mark.parametrize("card", ALL_CARDS)
def test_every_card_of_a_kind_has_the_same_sections_in_one_order(root: Path, card: str) -> None:
    kind = card.split("/")[1]
    assert RepoCard.load(root / card).data.to_dict()["license"]
    section_titles = sections((root / card).read_text(encoding="utf-8"))
    assert ", ".join(section_titles) == SECTIONS[kind]
    assert all(re.search(r"\w", body) for body in section_titles.values())
    size = section_titles[{"datasets": "Size", "metrics": "Cost", "models": "Size and cost"}[kind]]
    assert re.search(r"\d|\b(one|two|no|each|once|every|seconds?|milliseconds?)\b", size)
    limits = section_titles["Limits" if kind == "datasets" else "Limits and bias"]
    assert len(re.findall("^- ", limits, re.MULTILINE)) >= 2
    assert "```python\n" in section_titles["Example"]
    assert "```bibtex\n@" in section_titles["Citation"]
    if kind == "metrics":
        assert "### Intervals\n" in section_titles["Output"]
        assert "### Signature\n" in section_titles["Output"]
    if kind == "datasets":
        assert "### Fields\n" in section_titles["Structure"]
        assert "### An instance\n" in section_titles["Structure"]
        statement = section_titles["Source data and curation"].partition("### Data statement\n")[2]
        assert ", ".join(re.findall(r"^- \*\*(.+?)\*\*: ", statement, re.M)[:6]) == DATA_STATEMENT
        assert re.search(r"^- \w", section_titles["Limits"].partition("### Biases\n")[2], re.M)
    assert "issue tracker" in section_titles["Contact"]


@pytest.mark.parametrize("card", ALL_CARDS)
def test_every_card_links_its_papers_and_quotes_their_bibtex(root: Path, card: str) -> None:
    section_titles = sections((root / card).read_text(encoding="utf-8"))
    linked = [key for key, paper in papers().items() if f"({paper.url})" in section_titles["Paper"]]
    assert linked
    for key, paper in papers().items():
        assert (paper.bibtex in section_titles["Citation"]) == (key in linked)
    if card.startswith("cards/datasets/"):
        assert set(linked) == set(load_declaration(Path(card).stem).citation_keys)


@pytest.mark.parametrize("card", ALL_CARDS)
def test_the_commands_of_every_card_exist(root: Path, card: str) -> None:
    text = (root / card).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    commands = re.sub(r" *\\\n *", " ", "".join(blocks)).splitlines()
    inline = re.findall(r"`(cc-hf evaluate \w[^`]+)`", text)
    assert commands or inline
    evaluate = typer.main.get_command(app).commands["evaluate"]  # type: ignore[attr-defined]
    for command in [*(line.removeprefix("$ ") for line in commands), *inline]:
        program, verb, *arguments = shlex.split(command)
        assert (program, verb) == ("cc-hf", "evaluate")
        with evaluate.make_context("evaluate", arguments) as context:  # refuses unknown options
            actual = context.params
        if actual["dataset"] != "challenge" and not is_custom(
            actual["dataset"]
        ):  # the reader's own
            declared: DatasetDeclaration = registry.resolve("dataset", actual["dataset"])
            declared.config(declared.config_of_pair(actual["config"])[0])
        assert {actual["metric"]} <= {*registry.METRICS, "all", None}


@pytest.mark.parametrize("name", [*registry.DATASETS, "cc-tiny-en-de"])
def test_the_example_in_python_runs(
    root: Path, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kind = "datasets" if name in registry.DATASETS else "models"
    if kind == "datasets":
        config = load_declaration(name).default_config
        monkeypatch.setenv("CC_HF_DATA_DIR", str(data_of(name, config, tmp_path, shared)))
    text = (root / f"cards/{kind}/{name}.md").read_text(encoding="utf-8")
    code = known(re.search(r"```python\n(.*?)```", text, re.DOTALL)).group(1)
    monkeypatch.setattr("cc_hf.load_material", partial(load_material, limit=20))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"{name}.md", "exec"), {})
    assert len(printed.getvalue().splitlines()) == code.count("print(")


def test_the_card_of_ones_own_file_has_the_sections_of_every_dataset(tmp_path: Path) -> None:
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

    source = write_text(
        tmp_path / "bats.csv", "source,focus,gold,tgt_lang\nA nurse.,nurse,male,de\n"
    )
    build_dataset_folder(str(source), output=tmp_path / "built")
    section_titles = sections((tmp_path / "built/README.md").read_text(encoding="utf-8"))
    assert ", ".join(section_titles) == SECTIONS["datasets"]
    assert CITATIONS["vamvas-sennrich-2021"].bibtex in section_titles["Citation"]


@pytest.mark.parametrize("name", registry.DATASETS)
def test_cards_agree_with_the_declaration(root: Path, name: str) -> None:
    from cc_hf.plugins.dataset_folders.cards import size_category

    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    card = DatasetCard((root / f"cards/datasets/{name}.md").read_text(encoding="utf-8"))
    fields: dict[str, Any] = vars(card.data)
    assert fields["license"] == declaration.licence
    languages = {c.src_lang for c in declaration.configs}
    for c in declaration.configs:
        is_paired = {*declaration.extra_keys_of(c.name)} & {"reference", "context_tgt"}
        # data for every target language contain no translations
        is_for_all = c.form is ProbingExample and len(c.tgt_langs) != 1
        if (is_paired or c.form is not ContrastiveSourceExample) and not is_for_all:
            languages |= {*c.tgt_langs}
    assert (fields["language"], fields["task_categories"]) == (sorted(languages), ["translation"])
    sizes = [sum(n or 0 for n in c.splits.values()) for c in declaration.configs]
    total, largest = (sum(sizes), max(sizes)) if any(sizes) else PUBLISHED_SIZES[name]
    assert f"{largest:,}" in card.text
    assert fields["size_categories"] == [size_category(total)]
    for config in declaration.configs:
        shown = [f"{n:,}" for n in config.splits.values() if n is not None]
        actual = re.search(
            rf"^\| `{re.escape(config.name)}`[^|]*\| [^|]+ \| ([^|]+) \|", card.text, re.MULTILINE
        )
        assert actual is not None, config.name
        assert all(number in actual.group(1) for number in shown)
        assert ("unknown" in actual.group(1)) == (None in config.splits.values())
        for key in declaration.extra_keys_of(config.name):
            assert f"`{key}`" in card.text, key
    for file in declaration.files_of(None):
        assert file.path in card.text
        assert file.commit[:7] in card.text
        assert ("local copy is not verified" in " ".join(card.text.split())) == (not file.sha256)


@pytest.mark.parametrize("name", registry.DATASETS)
def test_the_example_of_a_card_is_read(root: Path, shared: Path, tmp_path: Path, name: str) -> None:
    """The row is the first of the data or, if the data are absent, one of their samples."""
    text = (root / f"cards/datasets/{name}.md").read_text(encoding="utf-8")
    shown = json.loads(known(re.search(r"```json\n(.*?)```", text, re.DOTALL)).group(1))
    config = load_declaration(name).default_config
    examples = load_examples(name, data_dir=data_of(name, config, tmp_path, shared))
    ids = [example.id for example in examples]
    row = write_record(examples[ids.index(shown["id"]) if is_sampled(name, config) else 0])
    assert shown == {key: row[key] for key in shown}
    assert {"source", "category"} <= set(shown)
    assert {"correct_sources", "correct_translation", "gold"} & set(shown)
