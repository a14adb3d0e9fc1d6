"""The borders between the core and its slices (test sets, plug-ins, studies): the core runs without
any of them and with a new one, and whatever is about one study lies in folders and files with its
name, and nothing else names them. Tests are collected without the slices that they are not about.
That no room of the core imports a slice is a contract of import-linter.
"""

import ast
import importlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from itertools import compress, product
from pathlib import Path

import pytest

from cc_hf import registry
from cc_hf.verbs import VERBS, Verb
from tests.helpers.forked import Run, fork_server
from tests.helpers.plugins import add_package
from tools.sizes import names_of_the_core

_ROOT = Path(__file__).parents[2]
_PACKAGE = _ROOT / "studies/cc_hf_studies"
_STUDIES = sorted({path.parent.name for path in _PACKAGE.glob("*/*.py")} - {"common"})
_FOLDERS = (
    "benchmarks",
    "cards",
    "cc_hf",
    "docs",
    "examples",
    "metrics",
    "studies",
    "tests",
    "tools",
)
#: Where all studies are listed: by hand, or by `make docs`.
_LISTS = {"studies/docs/index.md", "studies/cc_hf_studies/__init__.py"}
_LISTS |= {f"docs/{name}" for name in ("cli.md", "llms.txt", "reproduce.md")}
#: Pages in studies/docs about what several studies share.
_COMMON_PAGES = ("absent", "from_random_weights", "own_figures", "tables_of_systems")
#: What every study has; without the first, import-linter does not see it.
_OF_STUDIES = (
    *("studies/cc_hf_studies/{}/__init__.py", "studies/docs/{}.md", "studies/tests/{}/__init__.py"),
    *("studies/tests/{}/contract_cases.py", "studies/tests/{}/**/test_*.py"),
)
#: The test sets and plug-ins.
_SLICES = sorted(
    f"{kind}/{path.parent.name}"
    for kind in ("plugins", "test_sets")
    for path in (_ROOT / "cc_hf" / kind).glob("*/__init__.py")
)
#: Tests of the core and of slices. Others compare slices, and a study uses test sets and plug-ins.
_ALONE = ("doors", "helpers", "plugins", "test_sets", "tools", "unit")
#: Loads datasets, metrics and studies, and prints what a command prints. Evaluator families are
#: left out: torch takes seconds, and they have contract tests.
_USE = """
import sys
from pathlib import Path
from typer.testing import CliRunner
import cc_hf
from cc_hf import registry
from cc_hf.cli.main import app

assert Path(cc_hf.__file__).is_relative_to(Path.cwd())
for kind in ("dataset", "metric", "report section", "study"):
    registry.load_all(kind)
for name in registry.names("study"):
    registry.study_part(name, "commands")
for words in (["--help"], ["study"], sys.argv[1:]):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (words, done.output)
print(done.output)
"""


# A user's own rows, judged by the evaluator that ships: no test set is needed. Its argument is what
# the slices had that were deleted: kind -> names.
_SMOKE = """
import json
import sys
from pathlib import Path
from typer.testing import CliRunner
import cc_hf
from cc_hf import registry
from cc_hf.cli.main import app

def run(words):
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 0, (words, done.output, done.exception)

def refuses(words, message):
    done = CliRunner().invoke(app, words.split())
    assert isinstance(done.exception, (SystemExit, cc_hf.CCError)), (words, done.exception)
    assert message in f"{done.output} {done.exception}", (words, done.output, done.exception)

assert Path(cc_hf.__file__).is_relative_to(Path.cwd())
assert all(hasattr(cc_hf, name) for name in cc_hf.__all__)
for kind in registry.KINDS:
    registry.load_all(kind)
rows = [
    {
        "source": f"The {noun} was late.",
        "correct_sources": [f"The [{gender}] {noun} was late."],
        "incorrect_sources": [f"The [{other}] {noun} was late."],
    }
    for noun in ("doctor", "teacher") for gender, other in (("female", "male"), ("male", "female"))
]
texts = ["Die Ärztin kam spät.", "Der Arzt kam spät.", "Die Lehrerin war da.", "Der Lehrer war da."]
Path("own.jsonl").write_text("".join(json.dumps(row) + chr(10) for row in rows))
for system, lines in (("one", texts), ("two", ["Der Arzt kam spät."] * 2 + texts[2:])):
    Path(f"{system}.txt").write_text(chr(10).join(lines))
    run(f"evaluate own.jsonl -l en-de --translations {system}.txt -o {system}.json --name {system}")
assert json.loads(Path("one.json").read_text())["scores"]["accuracy"] == 1
metric = cc_hf.load_metric("contrastive_conditioning", evaluator="cc-tiny-en-de")
cues = [{key: row[key] for key in ("correct_sources", "incorrect_sources")} for row in rows]
options = {"src_lang": "en", "tgt_lang": "de"}
assert metric.compute(predictions=texts, references=cues, **options)["accuracy"] == 1
for words in ("--help", "list metrics", "list evaluators", "compare one.json two.json"):
    run(words)
run("report one.json two.json --html page.html")
assert "<html" in Path("page.html").read_text()

gone = json.loads(sys.argv[1])

def lacks(words, message):
    name = words.split()[0]
    refuses(words, f"No such command '{name}'" if name in gone["command"] else message)

for words in gone["command"]:
    lacks(f"{words} -o x", repr(words.split()[-1]))
for name in gone["publisher"]:
    refuses(f"publish {name}", f"No such command '{name}'")
for name in gone["metric"]:
    judge = f"evaluate own.jsonl -l en-de --translations one.txt --metric {name}"
    refuses(judge, f"unknown metric '{name}'")
for name in gone["model format"]:
    judge = f"evaluate own.jsonl -l en-de --translations one.txt --evaluator {name}:en-pt"
    refuses(judge, f"unknown evaluator '{name}:en-pt'")
for name in gone["dataset"]:
    refuses(f"sources {name}", f"unknown dataset '{name}'")
for name in gone["public name"]:
    assert not hasattr(cc_hf, name)
    try:
        registry.resolve("public name", name)
    except cc_hf.CCError as error:
        assert "a plug-in that is not installed adds it" in str(error)
    else:
        raise AssertionError(name)
for name in gone["command option"]:
    words, message = {
        "build.lm_eval": ("build own.jsonl -o built --lm-eval x", "No such option: --lm-eval"),
        "cache.files": ("cache x.parquet", "unexpected extra argument"),
        "evaluate.part": ("evaluate own.jsonl --part 1/2", "No such option: --part"),
        "evaluate.witness": ("evaluate own.jsonl --witness x", "No such option: --witness"),
    }[name]
    lacks(words, message)
"""

#: Prints which slices a run of one metric imported, and which metrics once its result is shown.
_ONE_METRIC = """
import sys
import cc_hf
from cc_hf import registry

material = cc_hf.load_material("simplegen", "en-de")
texts = [f"Das ist Satz {i}." for i in range(len(material.examples))]
given = {"translations": texts, "metric": sys.argv[1]}
if sys.argv[1] == "contrastive_conditioning":
    given["evaluator"] = lambda sources, texts: [1 / len(source) for source in sources]
result = cc_hf.evaluate(material, **given)
print(*(name for name in sys.modules if name.startswith(("cc_hf.plugins", "cc_hf.test_sets."))))
from cc_hf.reports.tables.base import result_table
result_table(result)
metrics = registry.METRICS.items()
print(*(name for name, target in metrics if target.partition(":")[0] in sys.modules))
"""


def study_of(path: str) -> str:
    """Return the study that a file is about, "" for the core."""
    match = re.search(r"(?:^|/)studies/(?:\w+/)?(\w+)", path)
    return next((study for study in _STUDIES if match and match[1].startswith(study)), "")


def named_studies(text: str, studies: Sequence[str] = _STUDIES) -> set[str]:
    """Return the studies of which a text names modules, files, pages or lines of commands."""
    any_study = f"({'|'.join(studies)})"
    named = (
        rf"\b(?:cc_hf_)?studies(?:[./]\w+)?(?:[./]| import ){any_study}|\]\({any_study}\w*\.md"
        rf"|^(?:\$ )?cc-hf study {any_study}\b"
    )
    return {name for names in re.findall(named, text, re.MULTILINE) for name in names if name}


def imported(path: Path) -> Iterator[str]:
    """Yield what a module imports when it is imported; what functions import comes later."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.FunctionDef):
            nodes += ast.iter_child_nodes(node)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with fork_server() as run_program:
        yield run_program


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package, with what the wheel carries beside it."""
    for folder in ("cards", "metrics"):
        shutil.copytree(_ROOT / folder, tmp_path / folder)
    return Path(shutil.copytree(_ROOT / "cc_hf", tmp_path / "cc_hf"))


def delete(package: Path, slices: Sequence[str]) -> None:
    """Delete slices of a copy of the package, and their entries in the registry."""
    modules = [f"cc_hf.{name.replace('/', '.')}" for name in slices]
    for name in slices:
        shutil.rmtree(package / name)
    for path in (package / "registry.py", package / "verbs.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in [*ast.walk(tree)][::-1]:  # commands below a command before the command
            if isinstance(node, ast.Dict):
                targets = [ast.unparse(value) for value in node.values]
                kept = [not re.search(rf"({'|'.join(modules)})\b", text) for text in targets]
                node.keys = [*compress(node.keys, kept)]
                node.values = [*compress(node.values, kept)]
        path.write_text(ast.unparse(tree), encoding="utf-8")


def commands(verbs: Mapping[str, Verb], modules: tuple[str, ...]) -> Iterator[str]:
    """Yield the words of the commands that modules have."""
    for words, verb in verbs.items():
        if verb.target.startswith(modules):
            yield words
        yield from (f"{words} {others}" for others in commands(verb.others, modules))


def install(folder: Path, studies: Sequence[str]) -> None:
    """Install a copy of the package of studies with some of them, in place of the usual one."""
    copy = shutil.copytree(_PACKAGE, folder / "cc_hf_studies")
    for study in {*_STUDIES} - {*studies}:
        shutil.rmtree(copy / study)
    entry_points: dict[str, dict[str, str]] = {}
    for point in metadata.distribution("cc_hf_studies").entry_points:
        named = re.match(r"cc_hf_studies\.(\w+)", point.value)
        if (named[1] if named else point.name) in studies:
            entry_points.setdefault(point.group, {})[point.name] = point.value
    add_package(folder, "cc_hf_studies", entry_points, code=None)


@pytest.mark.parametrize("deleted", [*([study] for study in _STUDIES), _STUDIES], ids=" ".join)
def test_the_package_runs_without_studies(run: Run, package: Path, deleted: list[str]) -> None:
    install(package.parent, [study for study in _STUDIES if study not in deleted])
    shown = run(package.parent, _USE, "study")
    assert {study for study in _STUDIES if f" {study} " in shown} == {*_STUDIES} - {*deleted}
    if deleted == _STUDIES:
        assert "pip install cc_hf_studies" in shown


@pytest.mark.parametrize("deleted", [*([name] for name in _SLICES), _SLICES], ids=" ".join)
def test_the_core_runs_without_slices(run: Run, package: Path, deleted: list[str]) -> None:
    modules = [f"cc_hf.{name.replace('/', '.')}." for name in deleted]
    gone = {
        kind: [
            name
            for name, target in table.items()
            if any(module in str(target) for module in modules)
        ]
        for kind, table in registry._TABLES.items()
    }
    gone["command"] = [*commands(VERBS, tuple(modules))]
    delete(package, deleted)
    install(package.parent, [])
    run(package.parent, _SMOKE, json.dumps(gone))


def test_tests_are_collected_without_the_slices_that_they_are_not_about() -> None:
    others = set()
    for path in (path for folder in _ALONE for path in (_ROOT / "tests" / folder).rglob("*.py")):
        name = path.relative_to(_ROOT).as_posix()
        for module in imported(path):
            module = re.sub(r"^(studies\.\w+|cc_hf_studies)\b", "cc_hf.studies", module)
            named = re.match(r"(?:cc_hf|tests)\.((?:plugins|studies|test_sets)\.\w+)", module)
            if named and not name.startswith(f"tests/{named[1].replace('.', '/')}/"):
                others.add((name, module))
    assert others == set()


def test_what_slices_import_of_the_core_is_declared() -> None:
    undeclared = {
        f"{module}:{name}"
        for module, of_module in names_of_the_core().items()
        for name in {*of_module} - {*importlib.import_module(module).__all__}
    }
    assert undeclared == set()


@pytest.mark.parametrize("metric", ["contrastive_conditioning", "simplegen_accuracy"])
def test_a_run_of_one_metric_imports_no_other_metric_and_no_slice_but_its_own(
    run: Run, metric: str
) -> None:
    slices, metrics = run(_ROOT, _ONE_METRIC, metric).splitlines()
    assert {name.split(".")[2] for name in slices.split()} == {"simplegen"}
    # The other is suggested in place of a judge without evidence.
    assert {metric} <= {*metrics.split()} <= {metric, "simplegen_accuracy"}


def test_names_of_studies_are_found() -> None:
    for text in (
        *("import cc_hf_studies.{}.b as c", "def f():\n    from cc_hf_studies.{} import b"),
        *("from studies.tests import {}", "see `studies/tests/{}/test_a.py`", "[a]({}_more.md#b)"),
        *("[a](studies/{}.md), [b](../a.md)", "```console\n$ cc-hf study {} b\n"),
    ):
        assert named_studies(text.format("toy"), ["other", "toy"]) == {"toy"}, text
        assert named_studies(text.format("toy"), ["other"]) == set()


def test_nothing_but_a_study_itself_names_its_modules_files_pages_and_commands() -> None:
    patterns = product(_FOLDERS, ("*.py", "*.md", "*.tsv"))
    paths = {path for folder, pattern in patterns for path in (_ROOT / folder).rglob(pattern)}
    paths -= {*_ROOT.glob("docs/commands/*")}  # `make docs` leaves them there
    others = {}
    for path in [*paths, _ROOT / "README.md", _ROOT / "CONTRIBUTING.md"]:
        # `make docs` leaves copies of the pages of studies in docs/studies
        name = path.relative_to(_ROOT).as_posix().replace("docs/studies/", "studies/docs/")
        named = named_studies(path.read_text(encoding="utf-8")) - {study_of(name)}
        if named and name not in _LISTS:
            others[name] = named
    assert others == {}


def test_every_study_is_registered_and_has_all_its_parts() -> None:
    assert registry.names("study") == _STUDIES, "its pyproject.toml must name every study"
    needed = [part.format(study) for study in _STUDIES for part in _OF_STUDIES]
    assert [path for path in needed if not list(_ROOT.glob(path))] == []


def test_files_about_studies_have_the_name_of_one() -> None:
    """A page or a ledger may have more behind the name, such as wino_x.figures.tsv."""
    for folder in ("tests", "examples", "benchmarks"):
        folders = {path.name for path in (_ROOT / "studies" / folder).iterdir() if path.is_dir()}
        assert folders - {"__pycache__", "common"} <= set(_STUDIES), folder
    pages = {path.name for path in (_ROOT / "studies/docs").iterdir()} - {"index.md"}
    assert not [name for name in pages if not name.startswith((*_STUDIES, *_COMMON_PAGES))]
