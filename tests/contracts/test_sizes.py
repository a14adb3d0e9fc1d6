"""Sizes that docs/architecture.md states; `python -m tools.sizes` prints them."""

from __future__ import annotations

from tools.sizes import functions, n_body_lines, n_code_lines, n_parameters

#: bodies that are longer for the reason that docs/architecture.md gives
_LONG_BODIES = {"evaluators/base.py:score"}


def test_functions_outside_the_command_line_have_at_most_ten_parameters() -> None:
    many = {
        f"{module}:{name}": n_parameters(node)
        for module, name, node in functions()
        if n_parameters(node) > 10 and not module.startswith("cli/")
    }
    assert many == {}


def test_modules_have_at_most_400_lines_without_docstrings() -> None:
    assert {name: n for name, n in n_code_lines().items() if n > 400} == {}


def test_function_bodies_have_at_most_60_lines_except_the_known_ones() -> None:
    long = {f"{module}:{name}" for module, name, node in functions() if n_body_lines(node) > 60}
    assert long == _LONG_BODIES
