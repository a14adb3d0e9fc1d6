"""Sizes of the code: `python -m tools.sizes` prints them beside their limits, and with `--check`
fails beyond one.

Code is counted in statements of Python's syntax tree, which packing lines cannot move. A statement
that is a docstring does not count.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

__all__ = [
    "FEWEST",
    "LIMITS",
    "MOST_BODY_LINES",
    "MOST_CODE_LINES",
    "MOST_PARAMETERS",
    "functions",
    "is_command",
    "n_body_lines",
    "n_code_lines",
    "n_docstring_lines",
    "n_parameters",
    "n_statements",
    "names_of_the_core",
    "sizes",
    "slice_of",
]

MOST_CODE_LINES = 400  # of a module
MOST_BODY_LINES = 60
MOST_PARAMETERS = 11
#: What is counted -> its limit, which is lowered when a step of the plan has landed. A name that
#: ends in a slash is each slice of the folder.
LIMITS = {
    "core": 22_000,
    "plugins/": 1_950,
    "test_sets/": 600,
    "studies": 11_350,
    "tests": 38_800,
    "docstring lines": 18_900,
    "names of the core that slices import": 614,
    "names of the core that studies import": 260,
}
#: What is counted, and must not be fewer.
FEWEST = {"comments per 1,000 lines of the core": 32}

_ROOT = Path(__file__).parent.parent
_PACKAGE, _STUDIES = _ROOT / "cc_hf", _ROOT / "studies/cc_hf_studies"
_SLICES = ("plugins", "studies", "test_sets")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _docstring(node: ast.AST) -> ast.expr | None:
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.value if is_text and isinstance(first.value.value, str) else None  # type: ignore[union-attr]


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _docstring_lines(text: str) -> set[int]:
    docstrings = filter(None, map(_docstring, ast.walk(_parsed(text))))
    return {n for node in docstrings for n in range(node.lineno, (node.end_lineno or 0) + 1)}


@cache
def _code_lines(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        n
        for token in tokens
        if token.type not in _NO_CODE
        for n in range(token.start[0], token.end[0] + 1)
    }
    return lines - _docstring_lines(text)


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")


def _modules(folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield name and text of the modules of a folder; None for cc_hf and the studies."""
    yield from _texts(folder or _PACKAGE)
    if folder is None:
        yield from ((f"studies/{name}", text) for name, text in _texts(_STUDIES))


def functions() -> Iterator[tuple[str, str, _Function]]:
    """Yield module, name and node of every function of the package."""
    for module, text in _modules():
        for node in ast.walk(_parsed(text)):
            if isinstance(node, _Function):
                yield module, node.name, node


def is_command(module: str) -> bool:
    """Return whether the functions of a module are commands, whose parameters are their options."""
    is_of_slice = module.startswith(_SLICES) and module.endswith(("command.py", "commands.py"))
    return module.startswith("cli/") or is_of_slice


def n_parameters(node: _Function) -> int:
    """Return the number of parameters, without self and cls."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def n_body_lines(node: _Function) -> int:
    """Return the number of lines of a body, without its docstring."""
    body = node.body[1:] if _docstring(node) else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def n_code_lines(folder: Path | None = None) -> dict[str, int]:
    """Return the number of lines of code of every module of a folder; None for all."""
    return {module: len(_code_lines(text)) for module, text in _modules(folder)}


def n_docstring_lines(folder: Path | None = None) -> dict[str, int]:
    """Return the number of lines of docstrings of every module of a folder; None for all."""
    return {module: len(_docstring_lines(text)) for module, text in _modules(folder)}


def n_statements(text: str) -> int:
    """Return the number of statements of a program, without docstrings."""
    nodes = ast.walk(_parsed(text))
    return sum(isinstance(node, ast.stmt) and not _is_text(node) for node in nodes)


def _is_text(node: ast.stmt) -> bool:
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)  # type: ignore[attr-defined]


def slice_of(module: str) -> str:
    """Return the slice that a module of the package is of, "core" for none."""
    room, _, rest = module.partition("/")
    if room in ("plugins", "test_sets") and "/" in rest:
        return f"{room}/{rest.partition('/')[0]}"
    return room if room == "studies" else "core"


def names_of_the_core(kinds: Sequence[str] = _SLICES) -> dict[str, list[str]]:
    """Return the names of the core that modules of slices import or use of a module, by module."""
    names: dict[str, set[str]] = {}
    for path, text in _modules():
        if not path.startswith(tuple(kinds)):
            continue
        for node in ast.walk(tree := _parsed(text)):
            if not isinstance(node, ast.ImportFrom) or not _is_of_the_core(node.module or ""):
                continue
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                if (_ROOT / f"{module.replace('.', '/')}.py").is_file():
                    used = _attributes(tree, alias.asname or alias.name)
                    names.setdefault(module, set()).update(used)
                else:
                    names.setdefault(str(node.module), set()).add(alias.name)
    return {module: sorted(of_module) for module, of_module in sorted(names.items())}


def _is_of_the_core(module: str) -> bool:
    package, _, of_package = module.partition(".")
    return package == "cc_hf" and of_package.partition(".")[0] not in _SLICES


def _attributes(tree: ast.Module, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=used), attr=attribute) if used == name:
                yield attribute


def sizes() -> dict[str, int]:
    """Return statements of the core, slices and tests, docstring lines, and imported names."""
    texts = dict(_modules())
    statements: Counter[str] = Counter()
    for module, text in texts.items():
        statements[slice_of(module)] += n_statements(text)
    core = statements.pop("core")
    return {
        "core": core,
        **dict(sorted(statements.items())),
        "tests": sum(
            n_statements(text)
            for folder in ("tests", "studies/tests")
            for _, text in _texts(_ROOT / folder)
        ),
        "docstring lines": sum(n_docstring_lines().values()),
        "comments per 1,000 lines of the core": _comments_of_the_core(texts),
        "names of the core that slices import": _n_names(_SLICES),
        "names of the core that studies import": _n_names(["studies"]),
    }


def _n_names(kinds: Sequence[str]) -> int:
    return sum(map(len, names_of_the_core(kinds).values()))


def _comments_of_the_core(texts: Mapping[str, str]) -> int:
    """Return the number of comments per 1,000 lines that are not blank."""
    of_core = [text for module, text in texts.items() if slice_of(module) == "core"]
    tokens = (t for text in of_core for t in tokenize.generate_tokens(io.StringIO(text).readline))
    n_comments = sum(token.type == tokenize.COMMENT for token in tokens)
    return 1000 * n_comments // sum(bool(line.strip()) for t in of_core for line in t.splitlines())


def main(arguments: list[str]) -> int:
    """Print the sizes, and return the exit status: 1 with `--check` if one is beyond its limit."""
    beyond = []
    for name, n in sizes().items():
        folder, _, slice_name = name.partition("/")
        limit = FEWEST.get(name) or LIMITS[f"{folder}/" if slice_name else name]
        is_beyond, side = (n < limit, "least") if name in FEWEST else (n > limit, "most")
        beyond += [f"{name}: expected at {side} {limit:,}, got {n:,}"] * is_beyond
        print(f"{name:<40}{n:>7,}{limit:>9,}")
    if "--check" not in arguments:
        return 0
    print("\n".join(beyond))
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
