"""Every registered dataset, metric and evaluator has all its parts, and what is published is
complete: every link in a published folder leads to a file of the folder or to a known address.
"""

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
import yaml
from huggingface_hub import RepoCard
from markdown_it import MarkdownIt
from markdown_it.token import Token
from transformers import CONFIG_MAPPING, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING

from cc_hf import registry
from cc_hf.citations import CITATIONS
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import UnknownNameError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.hub.eval_results import today
from cc_hf.hub.model_results import results_folder
from cc_hf.hub.models import build_model_folder
from cc_hf.hub.spaces import build_metric_space
from cc_hf.languages import LANGUAGES
from cc_hf.metrics.base import Metric, ScoringMetric
from cc_hf.plugins.conversion.architectures import Architecture
from cc_hf.plugins.dataset_folders.building import build_dataset_folder
from cc_hf.plugins.leaderboard.space import build_leaderboard_space
from tests.helpers.papers import papers
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cases, fails, small_result, write_lines, write_result

_ROOT = Path(__file__).parents[2]
_CARDS = sorted((_ROOT / "cards").glob("*/*.md"))
#: The prefixes of addresses that no declaration and no citation has.
_OTHER_ADDRESSES = (
    "https://tatoeba.org",
    "https://www.manythings.org/anki",
    "https://github.com/gabrielStanovsky/mt_gender",  # whose sentences WinoMT has from another copy
)


def _known_addresses() -> tuple[str, ...]:
    hosts = {"github": "https://github.com/", "hub": "https://huggingface.co/datasets/"}
    repos = {
        hosts[file.host] + file.repository
        for declaration in registry.load_all("dataset").values()
        for config in declaration.configs
        for file in declaration.files_of(config.name)
    }
    cited = (
        address
        for paper in papers().values()
        for address in (paper.url, f"https://arxiv.org/abs/{paper.arxiv}")
    )
    return (*cited, *_OTHER_ADDRESSES, *repos)


def _tokens(text: str) -> Iterator[Token]:
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        yield block
        yield from block.children or ()


def _links(text: str) -> list[str]:
    """Return the targets of all links and images of a Markdown text."""
    links = [token for token in _tokens(text) if token.type in ("link_open", "image")]
    return [str(token.attrs.get("href", token.attrs.get("src"))) for token in links]


def _dead_links(text: str, folder: Path) -> list[str]:
    """Return the links that lead neither to a file below the folder nor to a known address."""
    lines = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    headings = {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}
    dead = []
    for link in _links(text):
        parts = urlsplit(link)
        if parts.scheme:
            is_alive = parts.scheme == "https" and link.startswith(_known_addresses())
        elif parts.path:
            target = (folder / parts.path).resolve()
            is_alive = target.is_file() and target.is_relative_to(folder.resolve())
        else:
            is_alive = parts.fragment in headings
        dead += [] if is_alive else [link]
    return dead


@pytest.mark.parametrize("path", _CARDS, ids=lambda path: path.stem)
def test_every_link_of_a_card_leads_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert _links(text)
    relative = [link for link in _links(text) if not urlsplit(link).scheme]
    assert [link for link in relative if not (path.parent / link).is_file()] == []
    assert [link for link in _dead_links(text, path.parent) if link not in relative] == []


def _dataset(folder: Path, _: Path) -> None:
    build_dataset_folder("simplegen", ["en-de"], output=folder, repo="org/simplegen")


def _translations(folder: Path, work: Path) -> None:
    data = lay_out_samples("contrawsd", "de-en", work / "data", work)
    build_dataset_folder("contrawsd", ["de-en"], output=folder, data_dir=data, repo="org/ws")
    assert (folder / "eval.yaml").is_file()


def _own_dataset(folder: Path, work: Path) -> None:
    rows = write_lines(work / "own.csv", ["source,focus,gold", "The nurse left.,nurse,male"])
    build_dataset_folder(str(rows), output=folder, repo="org/own")


def _model(folder: Path, _: Path) -> None:
    build_model_folder("cc-tiny-en-de", "org/tiny", output=folder)


def _results(folder: Path, _: Path) -> None:
    result = small_result((0.4, 0.9))
    results_folder([result], "org/mt", dataset_repos=["org/winomt"], output=folder, date=today())


def _leaderboard(folder: Path, work: Path) -> None:
    write_result(work, "aws", small_result((0.4, 0.9)))
    write_result(work, "own", small_result((0.4, 0.9), dataset=""))
    build_leaderboard_space(work, folder)


def _metric(name: str) -> Callable[[Path, Path], None]:
    def build(folder: Path, _: Path) -> None:
        build_metric_space(name, f"org/{name}", output=folder)

    return build


_KINDS: dict[str, Callable[[Path, Path], None]] = {
    **{"dataset": _dataset, "dataset of translations": _translations},
    **{"dataset of one's own": _own_dataset, "model": _model},
    **{"results": _results, "leaderboard": _leaderboard},
    **{name: _metric(name) for name in registry.METRICS},
}


@pytest.mark.parametrize("kind", _KINDS)
def test_every_published_folder_is_whole(kind: str, tmp_path: Path) -> None:
    folder, work = tmp_path / "published", tmp_path / "work"
    work.mkdir()
    _KINDS[kind](folder, work)
    card = RepoCard.load(folder / "README.md", ignore_metadata_errors=False)
    assert _dead_links(card.text, folder) == []
    metadata: dict[str, Any] = card.data.to_dict()
    if kind != "results":  # whose card is that of a model of somebody else
        assert metadata["license"]
        assert "```bibtex\n@" in card.text
        assert re.search(r"\]\(https://(aclanthology|arxiv)\.org/", card.text)
    if "app_file" in metadata:
        assert (folder / metadata["app_file"]).is_file()
        assert (folder / "requirements.txt").is_file()
    configs = {of["config_name"]: of["data_files"] for of in metadata.get("configs", [])}
    for files in configs.values():
        assert all(list(folder.glob(file["path"])) for file in files)
    if (folder / "eval.yaml").exists():
        for task in yaml.safe_load((folder / "eval.yaml").read_text(encoding="utf-8"))["tasks"]:
            assert task["split"] in {file["split"] for file in configs[task["config"]]}


def test_spaces_carry_the_tags_by_which_the_hub_finds_them(tmp_path: Path) -> None:
    _leaderboard(tmp_path / "published", tmp_path / "work")
    tags = set(RepoCard.load(tmp_path / "published/README.md").data.to_dict()["tags"])
    prefixes = {tag.partition(":")[0] for tag in tags if ":" in tag}
    assert "leaderboard" in tags
    assert prefixes == {"submission", "test", "judge", "modality", "eval", "language"}


@pytest.mark.parametrize("name", registry.DATASETS)
def test_every_dataset_has_its_declaration_script_reader_and_card(root: Path, name: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    assert declaration.name == name
    assert (root / f"datasets_scripts/{name}/{name}.py").is_file()
    assert (root / f"cards/datasets/{name}.md").is_file()
    assert (root / f"cc_hf/test_sets/{name}/reader.py").is_file()
    assert declaration.config(None).name == declaration.default_config
    assert len({c.name for c in declaration.configs}) == len(declaration.configs)
    for config in declaration.configs:
        assert declaration.extra_keys_of(config.name), f"{config.name}: Parquet needs a key"
    assert all(lang in LANGUAGES for config in declaration.configs for lang in config.tgt_langs)
    files = {file for config in declaration.configs for file in declaration.files_of(config.name)}
    assert all(len(file.commit) == 40 for file in files)
    assert all((len(file.sha256), file.size > 0) in ((64, True), (0, False)) for file in files)


@pytest.mark.parametrize("name", registry.METRICS)
def test_every_metric_has_its_declaration_module_and_card(root: Path, name: str) -> None:
    declaration: type[Metric] = registry.resolve("metric", name)
    assert declaration.name == name
    assert issubclass(declaration, ScoringMetric) == declaration.takes_evaluator
    assert re.search(r"Args:\n.*\n    Returns:\n.*\n    Example:\n", declaration.help, re.DOTALL)
    assert not {*declaration.option_names()} & {*LoadingOptions.names(), "seed", "n_resamples"}
    others = {registry.resolve("metric", other) for other in registry.METRICS} - {declaration}
    assert declaration.signature_name not in {other.signature_name for other in others}
    core = importlib.import_module(registry.METRICS[name].partition(":")[0])
    assert {declaration.__name__, *(["judge_rows"] if declaration.judges else [])} <= set(
        core.__all__
    )
    assert (root / f"metrics/{name}/{name}.py").is_file()
    assert (root / f"cards/metrics/{name}.md").is_file()


def test_every_folder_of_a_metric_or_dataset_module_is_registered(root: Path) -> None:
    for folder, names in (("metrics", registry.METRICS), ("datasets_scripts", registry.DATASETS)):
        assert {p.name for p in (root / folder).iterdir() if p.is_dir()} == {*names}


def test_every_study_has_commands_known_papers_and_a_summary() -> None:
    for name, study in registry.load_all("study").items():
        # A thesis is named in words, with its year.
        papers = [paper for paper in study.papers if paper not in CITATIONS]
        assert all(re.search(r" \d{4}", paper) for paper in papers), name
        assert study.summary.endswith("."), name
        assert isinstance(registry.study_part(name, "commands"), typer.Typer), name


def test_every_model_type_is_known_to_the_auto_classes_once_it_is_resolved() -> None:
    for name, config_class in registry.load_all("model type").items():
        assert config_class.model_type == name
        assert CONFIG_MAPPING[name] is config_class
        assert config_class in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING
        assert name in registry.names("evaluator family")


def test_every_architecture_of_fairseq_is_converted_to_the_model_type_of_its_name() -> None:
    architectures: dict[str, Architecture] = registry.load_all("fairseq architecture")
    for name, architecture in architectures.items():
        assert architecture.config_class is registry.resolve("model type", name)
        assert architecture.model_class.config_class is architecture.config_class


@pytest.mark.parametrize("kind", [kind for kind in registry._TABLES if registry.names(kind)])
def test_unknown_names_are_refused_with_the_nearest_known_one(kind: str) -> None:
    near = registry.names(kind)[0]
    fails(
        UnknownNameError,
        f"unknown {kind} .*did you mean '{near}'",
        registry.resolve,
        kind,
        near + "x",
    )


def test_citations_are_balanced_bibtex_with_their_url() -> None:
    for key, actual in papers().items():
        assert actual.bibtex.startswith("@"), key
        assert actual.bibtex.count("{") == actual.bibtex.count("}"), key
        assert actual.url in actual.bibtex
        assert re.fullmatch(r"(\d{4}\.\d{4,5})?", actual.arxiv), key


_MODULES = [
    *(("metrics", name) for name in registry.METRICS),
    *(("datasets_scripts", name) for name in registry.DATASETS),
]


@cases(*_MODULES)
def test_host_modules_declare_and_delegate(folder: str, name: str, root: Path) -> None:
    text = (root / folder / name / f"{name}.py").read_text(encoding="utf-8")
    assert text.count("\n") <= 120
    tree = ast.parse(text)
    assert not [n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While, ast.BinOp))]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    imported = {alias.name.partition(".")[0] for node in imports for alias in node.names}
    assert imported <= {"cc_hf", "evaluate", "datasets", "typing"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


def test_the_package_never_loads_pickles_or_remote_code(root: Path) -> None:
    for path in (*(root / "cc_hf").rglob("*.py"), *(root / "studies/cc_hf_studies").rglob("*.py")):
        unsafe = "trust_remote_code=True|import pickle|weights_only=False"
        assert not re.search(unsafe, path.read_text(encoding="utf-8")), path
