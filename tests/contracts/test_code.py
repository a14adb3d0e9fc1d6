"""Rules about all code: sizes, names, examples and percentages. The code also runs on systems other
than Linux: what only some systems have is used with a fallback, and files are the same on all of
them. No test here runs on another system.
"""

import ast
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

import grimp
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.files import name_key
from tests.helpers.cases import cases
from tests.helpers.modules import PACKAGES, ROOT, TESTS, modules, parsed
from tests.helpers.other_systems import LACKING, refused_by_windows
from tools import sizes


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("cc_hf", "cc_hf_studies", cache_dir=None)


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


def test_functions_other_than_commands_have_at_most_eleven_parameters() -> None:
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


def test_statements_are_counted_without_docstrings_and_by_slice() -> None:
    assert sizes.n_statements(_MODULE) == 3  # an assignment, a function and what it returns
    packed = _MODULE.replace("    return", "    a = 1; b = 2\n    return")
    assert sizes.n_statements(packed) == 5
    for module, slice_name in (
        ("cli/main.py", "core"),
        ("plugins/__init__.py", "core"),
        ("plugins/reranking/reranking.py", "plugins/reranking"),
        ("studies/toy/make.py", "studies"),
        ("test_sets/gest/stereotype_rates/rates.py", "test_sets/gest"),
    ):
        assert sizes.slice_of(module) == slice_name


def test_a_size_above_its_limit_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = {"core": 9, "plugins/a": 9, "tests": 1}
    monkeypatch.setattr(sizes, "sizes", lambda: counted)
    monkeypatch.setattr(sizes, "LIMITS", {"core": 9, "plugins/": 8, "tests": 1})
    assert (sizes.main([]), sizes.main(["--check"])) == (0, 1)
    assert capsys.readouterr().out.endswith("plugins/a: expected at most 8, got 9\n")


_PACKAGE, _STUDIES = Path(cc_hf.__file__).parent, ROOT / "studies/cc_hf_studies"
_SENTENCE = "a sentence that a result keeps, or an error, written where it is raised"
_FILE = "a file of BLEU in points, the unit of sacreBLEU"
#: Module -> why it multiplies by 100.
_KNOWN = {
    "evaluation/calibration_file.py": _SENTENCE,
    "data/files/quality_scores.py": _FILE,
    "plugins/judges/table.py": "the table of a judge, whose rates are in percent",
    "plugins/omissions/explained_changes.py": "widths of bars in HTML, by the widest",
    "test_sets/mucow/homograph_accuracy.py": _SENTENCE,
    "fit_to_cite.py": _SENTENCE,
    "levels.py": _SENTENCE,
    "metrics/contrastive_conditioning.py": _SENTENCE,
    "models/location.py": _SENTENCE,
    "plugins/seeds/chart.py": "a chart of systems, whose axes are in points and percent",
    "plugins/seeds/table.py": "the table of systems, a file in percent that studies read",
    "statistics/bootstrap.py": _SENTENCE,
    "statistics/corpus_quality.py": _FILE,
    "test_sets/winomt/gender_figures.py": "rounds as the original program rounds its percentages",
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


def test_reports_alone_multiply_by_100_apart_from_known_modules() -> None:
    names = {
        path.relative_to(package).as_posix()
        for package in (_PACKAGE, _STUDIES)
        for path, module in modules()
        if path.is_relative_to(package) and any(map(_makes_percentages, ast.walk(module)))
    }
    assert {name for name in names if not name.startswith("reports/")} == set(_KNOWN)


_PERCENTAGES = "100 * share", "share * 100.0", "share *= 100", 'f"{share:.1%}"', 'f"{share:{n}%}"'


@cases(*_PERCENTAGES, "100 + n", "n * 1000", 'f"{n:,} %"', 'f"{name} 5 %"')
def test_percentages_are_recognised(code: str) -> None:
    assert any(map(_makes_percentages, ast.walk(ast.parse(code)))) == (code in _PERCENTAGES)


def _templates() -> list[Path]:
    return [*_PACKAGE.rglob("*.jinja"), *_STUDIES.rglob("*.jinja")]


def test_templates_of_the_page_are_not_ignored_by_git() -> None:
    """Hatch omits files that git ignores."""
    file_names = "page.html.jinja standing_out.html.jinja explorer.html page.css tools.js page.js"
    paths = [ROOT / "cc_hf/reports/page" / name for name in file_names.split()]
    assert all(path.is_file() for path in paths)
    names = [str(p.relative_to(ROOT)) for p in (*paths, *_templates())]
    assert len(names) > len(paths)
    options: Any = {"cwd": ROOT, "capture_output": True, "text": True}
    assert subprocess.run(["git", "check-ignore", *names], **options).stdout == ""


def test_templates_mark_no_value_as_safe() -> None:
    assert len(_templates()) > 3
    for path in _templates():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", text), path


def test_only_package_files_and_json_are_marked_as_html() -> None:
    """Everything else becomes `Markup` by a template."""
    made = {
        path.name
        for path, module in modules()
        if path.is_relative_to(_PACKAGE) or path.is_relative_to(_STUDIES)
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Markup")
    }
    assert made == {"explanations.py", "island.py", "page.py"}


_ROOMS = "cues data evaluation evaluators metrics plugins/calibration plugins/training statistics"
_EMPTY_NAMES = {"found", "own", "one", "at", "place"}
_REPLACED = re.compile(
    r"\bmend(s|ed|ing)?\b|out of account|\bg[ia]ve(s|n)? (it |them )?back\b|be what they were", re.I
)
# Guillemets stay where they are data: punctuation that programs must recognise.
_DATA_WITH_GUILLEMETS = {
    *("cc_hf/data/files/cells.py", "cc_hf/test_sets/mt_geneval/gender_accuracy.py"),
    *(
        "cc_hf/plugins/asking/prompting/choices.py",
        "cc_hf/plugins/asking/prompting/reply_parts.py",
        "cc_hf/plugins/asking/prompting/translation_replies.py",
    ),
    *("cc_hf/reports/page/page.js", "cc_hf/reports/samples.py"),
    "cc_hf/text/replies.py",
}


def _bound(node: ast.AST) -> object:
    """Return the name that a variable, a parameter or a function gets here."""
    is_read = isinstance(getattr(node, "ctx", None), ast.Load)
    attributes = {ast.Name: "id", ast.arg: "arg", ast.FunctionDef: "name"}
    return None if is_read else getattr(node, attributes.get(type(node), ""), None)


def test_variables_have_names_that_say_what_they_hold() -> None:
    empty = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path, module in chain(modules(), parsed(TESTS))
        for node in ast.walk(module)
        if _bound(node) in _EMPTY_NAMES
    ]
    assert empty == []


def _texts() -> Iterator[tuple[str, str]]:
    paths = [path for folder in [*PACKAGES, "cards"] for path in sorted((ROOT / folder).rglob("*"))]
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


_PATH = re.compile(r"/(bin|dev|etc|home|proc|root|sys|tmp|usr|var)(/.*)?|(.*/)?bin/python[\d.]*")
#: They measure with what Linux reports, and are no part of the package.
_ON_LINUX = "benchmarks/", "studies/benchmarks/"


def _constants(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _is_path(node: ast.AST) -> bool:
    return any(map(_PATH.fullmatch, _constants(node)))


def _named_paths(module: ast.Module) -> dict[str, ast.Assign]:
    """Return the variables of a module that are such a path; what counts are their uses."""
    return {
        target.id: node
        for node in module.body
        if isinstance(node, ast.Assign) and _is_path(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_call(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names


def _guards(node: ast.AST) -> set[str]:
    """Return what a statement guards against: errors that it handles, names that it looks up."""
    handled: list[ast.AST] = []
    if isinstance(node, ast.Try):
        handled = [handler.type for handler in node.handlers if handler.type]
    if isinstance(node, ast.With):
        calls = [i.context_expr for i in node.items if _is_call(i.context_expr, "suppress")]
        handled = [error for call in calls for error in getattr(call, "args", ())]
    if isinstance(node, (ast.If, ast.IfExp)):
        tests = [call for call in ast.walk(node.test) if _is_call(call, "hasattr")]
        return {name for call in tests for name in _constants(call)}
    return {part.id for error in handled for part in ast.walk(error) if isinstance(part, ast.Name)}


def _needed_guards(node: ast.AST) -> set[str]:
    """Return guards of which one is needed where a node uses what not every system has."""
    if isinstance(node, ast.Import) and LACKING[""] & {alias.name for alias in node.names}:
        return {"ImportError", "ModuleNotFoundError"}
    if isinstance(node, ast.ImportFrom) and (
        node.module in LACKING[""]
        or LACKING.get(node.module or "", frozenset()) & {alias.name for alias in node.names}
    ):
        return {"ImportError", "ModuleNotFoundError"}
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in LACKING.get(node.value.id, frozenset())
    ):
        return {node.attr, "AttributeError"}
    if _is_call(node, "get_context", "set_start_method") and (
        methods := LACKING["multiprocessing"].intersection(_constants(node))
    ):
        return {*methods, "ValueError"}
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_path(node):
        return {"OSError", "FileNotFoundError"}
    return set()


def _without_fallback(module: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that need something which not every system has, and fail without it."""
    paths = _named_paths(module)

    def visit(node: ast.AST, guards: set[str]) -> Iterator[ast.AST]:
        if node in paths.values() or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)  # a docstring
        ):
            return
        is_named = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        needed = _needed_guards(node)
        if is_named and getattr(node, "id", "") in paths:
            needed = {"OSError", "FileNotFoundError"}
        if needed and not needed & guards:
            yield node
        handlers = getattr(node, "handlers", [])
        for child in ast.iter_child_nodes(node):
            yield from visit(child, guards if child in handlers else guards | _guards(node))

    yield from visit(module, set())


def _relative_texts(module: ast.Module) -> Iterator[ast.AST]:
    """Yield relative paths that are made into text with the separators of the system."""
    for node in ast.walk(module):
        values = getattr(node, "args", [getattr(node, "value", None)])
        is_text = _is_call(node, "str") or isinstance(node, ast.FormattedValue)
        if is_text and any(_is_call(value, "relative_to") for value in values if value):
            yield node


def _mode(call: ast.Call) -> str:
    """Return the mode of a call that opens a file: a text such as "wb", "" if it names none."""
    modes = [word.value for word in call.keywords if word.arg == "mode"] or call.args
    texts = [str(mode.value) for mode in modes if isinstance(mode, ast.Constant)]
    return next((text for text in texts if re.fullmatch("[rwaxbt+]{1,3}", text)), "")


def _other_line_ends(module: ast.Module) -> Iterator[ast.AST]:
    """Yield the calls that write text without naming its line ends, which Windows would change."""
    openers = "fdopen", "open", "NamedTemporaryFile", "TemporaryFile"
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or any(word.arg == "newline" for word in node.keywords):
            continue
        is_writing = _is_call(node, *openers) and re.fullmatch("[^b]*[wax+][^b]*", _mode(node))
        is_help = ast.unparse(node.func) == "formatter.write_text"  # of click, to the terminal
        if is_writing or (_is_call(node, "write_text") and not is_help):
            yield node


def _places(rule: Callable[[ast.Module], Iterator[ast.AST]]) -> dict[str, list[int]]:
    """Return the lines that break a rule, by module."""
    lines = {path: [getattr(n, "lineno", 0) for n in rule(module)] for path, module in modules()}
    return {p.relative_to(ROOT).as_posix(): numbers for p, numbers in lines.items() if numbers}


def test_what_only_some_systems_have_is_used_with_a_fallback() -> None:
    places = _places(_without_fallback)
    assert {name: places[name] for name in places if not name.startswith(_ON_LINUX)} == {}


_BREAKING = (
    (_without_fallback, "import fcntl"),
    (_without_fallback, "from os import fork"),
    (_without_fallback, "def f():\n    import resource"),
    (_without_fallback, "if os.fork(): pass"),
    (_without_fallback, "try:\n    os.getuid()\nexcept OSError:\n    pass"),
    (_without_fallback, "try:\n    pass\nexcept AttributeError:\n    os.sysconf('SC_CLK_TCK')"),
    (_without_fallback, "os.getuid() if hasattr(os, 'getgid') else 0"),
    (_without_fallback, "os.kill(process, signal.SIGKILL)"),
    (_without_fallback, "multiprocessing.get_context('fork')"),
    (_without_fallback, "Path('/tmp') / name"),
    (_without_fallback, "open(f'/proc/{pid}/stat')"),
    (_without_fallback, "_FULL = Path('/dev/full')\n_FULL.write_bytes(b'')"),
    (_without_fallback, "run([folder / 'bin/python3'])"),
    (_relative_texts, "str(path.relative_to(folder))"),
    (_relative_texts, "f'{path.relative_to(folder)}'"),
    (_other_line_ends, "path.write_text(text)"),
    (_other_line_ends, "path.write_text(text, encoding='utf-8')"),
    (_other_line_ends, "path.open('a', encoding='utf-8')"),
    (_other_line_ends, "open(path, 'w', encoding='utf-8')"),
    (_other_line_ends, "open(path, mode='r+')"),
    (_other_line_ends, "tempfile.NamedTemporaryFile('w', suffix='.txt')"),
)


@cases(
    *_BREAKING,
    (_without_fallback, "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None"),
    (_without_fallback, "os.getloadavg()[0] if hasattr(os, 'getloadavg') else 0.0"),
    (_without_fallback, "if hasattr(os, 'sched_getaffinity'):\n    os.sched_getaffinity(0)"),
    (_without_fallback, "try:\n    os.sync()\nexcept (AttributeError, ValueError):\n    pass"),
    (_without_fallback, "with contextlib.suppress(AttributeError):\n    os.sync()"),
    (_without_fallback, "_X = Path('/dev/x')\ntry:\n    _X.read_text()\nexcept OSError:\n    pass"),
    (_without_fallback, "signal.signal(signal.SIGTERM, stop)"),
    (_without_fallback, "multiprocessing.get_context('spawn')"),
    (_without_fallback, "'''Written to /tmp.'''"),
    (_without_fallback, "'/tmpl/a', 'https://a.org/dev/x'"),
    (_relative_texts, "path.relative_to(folder).as_posix()"),
    (_other_line_ends, "path.write_text(text, newline='\\n')"),
    (_other_line_ends, "path.open('wb')"),
    (_other_line_ends, "path.open(encoding='utf-8')"),
    (_other_line_ends, "open(path, 'w', newline='')"),
    (_other_line_ends, "tempfile.NamedTemporaryFile(suffix='.txt')"),
)
def test_what_breaks_a_rule_is_recognised(rule: Any, code: str) -> None:
    assert bool([*rule(ast.parse(code))]) == ((rule, code) in _BREAKING)


def test_relative_paths_have_slashes_and_files_the_same_line_ends_on_all_systems() -> None:
    assert (_places(_relative_texts), _places(_other_line_ends)) == ({}, {})


def _files() -> list[str]:
    """Return the paths of the project: those that git knows, or all in a copy without git."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", "core.quotePath=false", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        return listed.decode().split("\0")[:-1]
    return [p.relative_to(ROOT).as_posix() for name in PACKAGES for p in (ROOT / name).rglob("*")]


def test_all_systems_accept_the_names_of_the_files() -> None:
    paths = _files()
    assert len(paths) > 500
    assert [path for path in paths if any(map(refused_by_windows, path.split("/")))] == []
    longest = 260 - len("C:/Users/somebody/Documents/GitHub/cc_hf/")  # of Windows, by default
    assert [path for path in paths if len(path) > longest or not path.isascii()] == []


def test_no_files_differ_in_case_only() -> None:
    paths = {parent for path in map(PurePosixPath, _files()) for parent in (path, *path.parents)}
    keys = Counter(name_key(path.as_posix()) for path in paths)
    assert [key for key, n in keys.items() if n > 1] == []


def test_all_systems_accept_the_names_of_registered_things_in_files() -> None:
    """Names of metrics, datasets and configurations become parts of the names of files."""
    names = [name for kind in ("metric", "dataset", "study") for name in registry.names(kind)]
    names += [c.name for data in registry.load_all("dataset").values() for c in data.configs]
    assert [name for name in names if refused_by_windows(name) or not name.islower()] == []


@cases("a:b", "nul.txt", "COM1", "a.", "a ", "a?", "a\\b", "")
def test_names_that_windows_refuses_are_recognised(name: str) -> None:
    assert refused_by_windows(name)
    assert not refused_by_windows(f"x{name.strip(':. ?')[:1]}y")
