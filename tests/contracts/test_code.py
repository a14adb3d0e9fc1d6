import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

import cc_hf
from tests.helpers.cases import cases
from tests.helpers.modules import PACKAGES, ROOT, modules
from tools import sizes


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("cc_hf", cache_dir=None)


def test_no_modules_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    """`prepare` raises a CycleError that names the modules of a circle."""
    imported = graph.find_modules_directly_imported_by
    TopologicalSorter({module: imported(module) for module in graph.modules}).prepare()


def test_no_module_imports_the_package_above_it(graph: grimp.ImportGraph) -> None:
    """`cc_hf/__init__.py` is for users; inside, `cc_hf._version` has the version."""
    assert graph.find_modules_that_directly_import("cc_hf") == set()


_MODULE = '''"""Two lines
of a docstring."""
# A comment.

TEXT = """two lines
of code"""  # with a comment


def total(
    values: list[int],
) -> int:
    """One line."""

    return sum(values)
'''


def test_functions_other_than_commands_have_at_most_ten_parameters() -> None:
    n_of = {(m, name): sizes.n_parameters(f) for m, name, f in sizes.functions()}
    many = {key: n for key, n in n_of.items() if n > sizes.MOST_PARAMETERS}
    assert [name for name in many if not sizes.is_command(name[0])] == []


def test_modules_have_at_most_400_lines_of_code() -> None:
    assert {name: n for name, n in sizes.n_code_lines().items() if n > sizes.MOST_CODE_LINES} == {}


def test_function_bodies_have_at_most_60_lines() -> None:
    n_lines = {(module, name): sizes.n_body_lines(f) for module, name, f in sizes.functions()}
    assert [name for name, n in n_lines.items() if n > sizes.MOST_BODY_LINES] == []


def test_docstrings_comments_and_blank_lines_are_no_code(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(_MODULE, encoding="utf-8")
    assert sizes.n_code_lines(tmp_path) == {"module.py": 6}
    assert sizes.n_docstring_lines(tmp_path) == {"module.py": 3}


def test_the_core_and_the_studies_make_up_the_package() -> None:
    lines = sizes.sizes()
    of_studies = [n for name, n in lines.items() if name.startswith("stud")]
    assert lines["package"] == lines["core"] + sum(of_studies)
    assert 0 < lines["cli"] < lines["core"]


_PACKAGE = Path(cc_hf.__file__).parent
_SENTENCE = "a sentence that a result keeps, or an error, written where it is raised"
_FILE = "a file of BLEU in points, the unit of sacreBLEU"
#: Module -> why it multiplies by 100.
_KNOWN = {
    "cue_building/calibration_file.py": _SENTENCE,
    "data/files/quality_scores.py": _FILE,
    "metrics/homograph_accuracy.py": _SENTENCE,
    "models/location.py": _SENTENCE,
    "statistics/bootstrap.py": _SENTENCE,
    "statistics/corpus_quality.py": _FILE,
    "statistics/gender_figures.py": "rounds as the original program rounds its percentages",
}


def _is_100(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (100, 100.0)


def _makes_percentages(node: ast.AST) -> bool:
    """Return whether a node multiplies by 100, or is a format of percentages."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and (_is_100(node.left) or _is_100(node.right))
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Mult) and _is_100(node.value)
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        return ast.unparse(node.format_spec).rstrip("'\"").endswith("%")
    return False


def test_reports_alone_multiply_by_100_apart_from_knownmodules() -> None:
    names = {
        path.relative_to(_PACKAGE).as_posix()
        for path, module in modules()
        if path.is_relative_to(_PACKAGE) and any(map(_makes_percentages, ast.walk(module)))
    }
    assert {name for name in names if not name.startswith("reports/")} == set(_KNOWN)


_PERCENTAGES = "100 * share", "share * 100.0", "share *= 100", 'f"{share:.1%}"', 'f"{share:{n}%}"'


@cases(*_PERCENTAGES, "100 + n", "n * 1000", 'f"{n:,} %"', 'f"{name} 5 %"')
def test_percentages_are_recognised(code: str) -> None:
    found = any(map(_makes_percentages, ast.walk(ast.parse(code))))
    assert found == (code in _PERCENTAGES)


_ROOMS = "cue_building cues data evaluation evaluators metrics statistics training"
_EMPTY_NAMES = {"found", "own", "one", "at", "place"}
_REPLACED = re.compile(
    r"\bmend(s|ed|ing)?\b|out of account|\bg[ia]ve(s|n)? (it |them )?back\b|be what they were", re.I
)
# Guillemets stay where they are data: punctuation that programs must recognise.
_DATA_WITH_GUILLEMETS = {
    *("cc_hf/data/files/cells.py", "cc_hf/metrics/gender_accuracy.py"),
    *("cc_hf/prompting/choices.py", "cc_hf/prompting/translation_replies.py"),
    *("cc_hf/reports/page/page.js", "cc_hf/reports/samples.py"),
}


def _bound(node: ast.AST) -> object:
    """Return the name that a variable, a parameter or a function gets here."""
    is_read = isinstance(getattr(node, "ctx", None), ast.Load)
    attributes = {ast.Name: "id", ast.arg: "arg", ast.FunctionDef: "name"}
    return None if is_read else getattr(node, attributes.get(type(node), ""), None)


def test_variables_have_names_that_say_what_they_hold() -> None:
    empty = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path, module in modules()
        for node in ast.walk(module)
        if _bound(node) in _EMPTY_NAMES
    ]
    assert empty == []


def _texts() -> Iterator[tuple[str, str]]:
    folders = [*PACKAGES, "cards"]
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    for path in [*paths, *ROOT.glob("*.md"), ROOT / "Makefile"]:
        if path.suffix in (".py", ".md", ".jinja", ".js", ".css", ".svg", "") and path.is_file():
            name = path.relative_to(ROOT).as_posix()
            if "/assets/" not in name:
                yield name, path.read_text(encoding="utf-8")


def test_texts_use_none_of_the_words_that_the_style_replaces() -> None:
    assert {name: m[0] for name, text in _texts() if (m := _REPLACED.search(text))} == {}


def test_guillemets_are_data_only() -> None:
    assert {name for name, text in _texts() if re.search("[«»]", text)} == _DATA_WITH_GUILLEMETS


@pytest.mark.parametrize("room", _ROOMS.split())
def test_at_least_half_of_the_public_functions_have_an_example(room: str) -> None:
    functions = [
        node
        for path, module in modules()
        if path.is_relative_to(ROOT / "cc_hf" / room)
        for node in module.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    with_example = [node for node in functions if ">>>" in (ast.get_docstring(node) or "")]
    assert len(functions) > 3
    assert 2 * len(with_example) >= len(functions), f"{len(with_example)} of {len(functions)}"


def test_examples_stand_in_a_section_of_their_own() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    bare = [
        f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}"
        for path, module in modules()
        for node in ast.walk(module)
        if isinstance(node, kinds)
        and ">>>" in (docstring := ast.get_docstring(node) or "")
        and "Examples:" not in docstring
    ]
    assert bare == []
