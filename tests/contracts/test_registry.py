"""Every registered dataset, metric and evaluator has all its parts."""

import ast
import importlib
import re
from pathlib import Path

import pytest
import typer
from transformers import CONFIG_MAPPING, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING

from cc_hf import registry
from cc_hf.citations import CITATIONS, citation
from cc_hf.conversion.architectures import Architecture
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import UnknownNameError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.languages import LANGUAGES
from cc_hf.metrics.base import Metric, ScoringMetric
from tests.helpers.cases import cases


@pytest.mark.parametrize("name", registry.DATASETS)
def test_every_dataset_has_its_declaration_script_reader_and_card(root: Path, name: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    assert declaration.name == name
    assert (root / f"datasets_scripts/{name}/{name}.py").is_file()
    assert (root / f"cards/datasets/{name}.md").is_file()
    assert (root / f"cc_hf/data/readers/{name}.py").is_file()
    assert declaration.config(None).name == declaration.default_config
    assert len({c.name for c in declaration.configs}) == len(declaration.configs)
    for config in declaration.configs:
        assert declaration.extra_keys_of(config.name), f"{config.name}: Parquet needs a key"
    assert all(lang in LANGUAGES for config in declaration.configs for lang in config.tgt_langs)
    files = {file for config in declaration.configs for file in declaration.files_of(config.name)}
    assert all(len(file.commit) == 40 for file in files)
    assert all((len(file.sha256), file.size > 0) in ((64, True), (0, False)) for file in files)
    for key in declaration.citation_keys:
        assert citation(key).bibtex.startswith("@")


@pytest.mark.parametrize("name", registry.METRICS)
def test_every_metric_has_its_declaration_module_and_card(root: Path, name: str) -> None:
    declaration: type[Metric] = registry.resolve("metric", name)
    assert declaration.name == name
    assert issubclass(declaration, ScoringMetric) == declaration.takes_evaluator
    for part in ("Figures", "Counts", "References"):
        assert part in (declaration.__doc__ or ""), f"the docstring must say: {part}"
    assert not {*declaration.option_names()} & {*LoadingOptions.names(), "seed", "n_resamples"}
    others = {registry.resolve("metric", other) for other in registry.METRICS} - {declaration}
    assert declaration.signature_name not in {other.signature_name for other in others}
    core = importlib.import_module(f"cc_hf.metrics.{name}")
    assert {declaration.__name__, *(["judge"] if declaration.judges else [])} <= set(core.__all__)
    assert (root / f"metrics/{name}/{name}.py").is_file()
    assert (root / f"cards/metrics/{name}.md").is_file()


@pytest.mark.parametrize("name", registry.EVALUATORS)
def test_every_embedded_evaluator_has_its_weights_and_card(root: Path, name: str) -> None:
    embedded = registry.resolve("evaluator", name)
    assert embedded.name == name
    assert (embedded.path / "model.safetensors").is_file()
    assert (root / f"cards/models/{name}.md").is_file()
    assert sum(path.stat().st_size for path in embedded.path.iterdir()) <= 20_000_000


def test_every_folder_of_a_metric_or_dataset_module_is_registered(root: Path) -> None:
    assert {p.name for p in (root / "metrics").iterdir() if p.is_dir()} == set(registry.METRICS)
    folders = {p.name for p in (root / "datasets_scripts").iterdir() if p.is_dir()}
    assert folders == set(registry.DATASETS)


def test_every_study_has_commands_known_papers_and_a_summary() -> None:
    for name, study in registry.STUDIES.items():
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
        assert name in registry.EVALUATOR_FAMILIES


def test_every_architecture_of_fairseq_is_converted_to_the_model_type_of_its_name() -> None:
    architectures: dict[str, Architecture] = registry.load_all("fairseq architecture")
    for name, architecture in architectures.items():
        assert architecture.config_class is registry.resolve("model type", name)
        assert architecture.model_class.config_class is architecture.config_class


@pytest.mark.parametrize("kind", [kind for kind in registry._TABLES if registry.names(kind)])
def test_unknown_names_are_refused_with_the_nearest_known_one(kind: str) -> None:
    near = registry.names(kind)[0]
    with pytest.raises(UnknownNameError, match=f"unknown {kind} .*did you mean '{near}'"):
        registry.resolve(kind, near + "x")


def test_citations_are_balanced_bibtex_with_their_url() -> None:
    for key, found in CITATIONS.items():
        assert found.bibtex.count("{") == found.bibtex.count("}"), key
        assert found.url in found.bibtex


_MODULES = [*(("metrics", name) for name in registry.METRICS)]
_MODULES += [("datasets_scripts", name) for name in registry.DATASETS]


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
    for path in (root / "cc_hf").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "trust_remote_code=True" not in text, path
        assert "import pickle" not in text, path
        assert "weights_only=False" not in text, path
