"""Sizes of the code: `python -m tools.sizes` prints what docs/architecture.md states.

A line of code has a token of the language: docstrings, comments and blank lines do not count.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = [
    "MOST_BODY_LINES",
    "MOST_CODE_LINES",
    "MOST_PARAMETERS",
    "functions",
    "is_command",
    "n_body_lines",
    "n_code_lines",
    "n_docstring_lines",
    "n_parameters",
    "sizes",
]

MOST_CODE_LINES = 400  # of a module
MOST_BODY_LINES = 60
MOST_PARAMETERS = 11

_ROOT = Path(__file__).parent.parent
_PACKAGE = _ROOT / "cc_hf"
_STUDIES = "studies/"
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


def functions() -> Iterator[tuple[str, str, _Function]]:
    """Yield module, name and node of every function of the package."""
    for module, text in _texts(_PACKAGE):
        for node in ast.walk(_parsed(text)):
            if isinstance(node, _Function):
                yield module, node.name, node


def is_command(module: str) -> bool:
    """Return whether the functions of a module are commands, whose parameters are their options.

    Args:
        module: its path in the package.
    """
    is_of_study = module.startswith(_STUDIES) and module.endswith("commands.py")
    return module.startswith("cli/") or is_of_study


def n_parameters(node: _Function) -> int:
    """Return the number of parameters, without self and cls."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def n_body_lines(node: _Function) -> int:
    """Return the number of lines of a body, without its docstring."""
    body = node.body[1:] if _docstring(node) else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def n_code_lines(folder: Path = _PACKAGE) -> dict[str, int]:
    """Return the number of lines of code of every module.

    Args:
        folder: the folder of the modules.
    """
    return {module: len(_code_lines(text)) for module, text in _texts(folder)}


def n_docstring_lines(folder: Path = _PACKAGE) -> dict[str, int]:
    """Return the number of lines of docstrings of every module.

    Args:
        folder: the folder of the modules.
    """
    return {module: len(_docstring_lines(text)) for module, text in _texts(folder)}


def sizes() -> dict[str, int]:
    """Return the number of lines of code of the package and its parts.

    The core is the package without `studies/`, and a study is a folder there.
    """
    package = n_code_lines()
    of_studies: dict[str, int] = {}
    for module, n in package.items():
        if module.startswith(_STUDIES):
            study, is_folder, _ = module.removeprefix(_STUDIES).partition("/")
            name = f"study {study}" if is_folder else "studies, other modules"
            of_studies[name] = of_studies.get(name, 0) + n
    return {
        "package": sum(package.values()),
        "core": sum(package.values()) - sum(of_studies.values()),
        "cli": sum(n for module, n in package.items() if module.startswith("cli/")),
        **dict(sorted(of_studies.items())),
    }


if __name__ == "__main__":
    lines = {
        **sizes(),
        "docstrings": sum(n_docstring_lines().values()),
        "tests": sum(n_code_lines(_ROOT / "tests").values()),
    }
    for name, n in lines.items():
        print(f"{name:<28}{n:>7,}")
    long = [module for module, n in n_code_lines().items() if n > MOST_CODE_LINES]
    print(f"modules above {MOST_CODE_LINES} lines of code:", long)
    long = [f"{m}:{name}" for m, name, f in functions() if n_body_lines(f) > MOST_BODY_LINES]
    print(f"bodies above {MOST_BODY_LINES} lines:", long)
    many = [
        f"{m}:{name}"
        for m, name, f in functions()
        if n_parameters(f) > MOST_PARAMETERS and not is_command(m)
    ]
    print(f"functions with more than {MOST_PARAMETERS} parameters, without commands:", many)
