"""Sizes of the package: `python -m tools.sizes` prints what docs/architecture.md states."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

__all__ = ["functions", "n_body_lines", "n_code_lines", "n_parameters"]

_PACKAGE = Path(__file__).parent.parent / "cc_hf"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _docstring(node: ast.AST) -> ast.expr | None:
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.value if is_text and isinstance(first.value.value, str) else None  # type: ignore[union-attr]


def functions() -> Iterator[tuple[str, str, _Function]]:
    """Yield module, name and node of every function of the package."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, _Function):
                yield path.relative_to(_PACKAGE).as_posix(), node.name, node


def n_parameters(node: _Function) -> int:
    """Return the number of parameters, without self and cls."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def n_body_lines(node: _Function) -> int:
    """Return the number of lines of a body, without its docstring."""
    body = node.body[1:] if _docstring(node) else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def n_code_lines() -> dict[str, int]:
    """Return the number of lines of every module, without docstrings."""
    lines = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        docstrings = [
            docstring for node in ast.walk(ast.parse(text)) if (docstring := _docstring(node))
        ]
        n_docstrings = sum(
            (docstring.end_lineno or 0) - docstring.lineno + 1 for docstring in docstrings
        )
        lines[path.relative_to(_PACKAGE).as_posix()] = len(text.splitlines()) - n_docstrings
    return lines


if __name__ == "__main__":
    lines = n_code_lines()
    print("modules above 400 lines:", [name for name in lines if lines[name] > 400])
    print("bodies above 60 lines:", [f"{m}:{n}" for m, n, f in functions() if n_body_lines(f) > 60])
    many = [f"{m}:{n}" for m, n, f in functions() if n_parameters(f) > 10 and m[:4] != "cli/"]
    print("functions with more than ten parameters outside cli/:", many)
    print("lines without docstrings:", sum(lines.values()))
