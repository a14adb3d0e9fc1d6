"""Sizes that docs/architecture.md states; `python -m tools.sizes` prints them."""

from __future__ import annotations

from pathlib import Path

from tools.sizes import (
    MOST_BODY_LINES,
    MOST_CODE_LINES,
    MOST_PARAMETERS,
    functions,
    is_command,
    n_body_lines,
    n_code_lines,
    n_docstring_lines,
    n_parameters,
    sizes,
)

#: bodies that are longer for the reason that docs/architecture.md gives
_LONG_BODIES = {"evaluators/base.py:score"}
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
    many = {
        f"{module}:{name}": n_parameters(node)
        for module, name, node in functions()
        if n_parameters(node) > MOST_PARAMETERS and not is_command(module)
    }
    assert many == {}


def test_modules_have_at_most_400_lines_of_code() -> None:
    assert {name: n for name, n in n_code_lines().items() if n > MOST_CODE_LINES} == {}


def test_function_bodies_have_at_most_60_lines_except_the_known_ones() -> None:
    long = {
        f"{module}:{name}"
        for module, name, node in functions()
        if n_body_lines(node) > MOST_BODY_LINES
    }
    assert long == _LONG_BODIES


def test_docstrings_comments_and_blank_lines_are_no_code(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(_MODULE, encoding="utf-8")
    assert n_code_lines(tmp_path) == {"module.py": 6}
    assert n_docstring_lines(tmp_path) == {"module.py": 3}


def test_the_core_and_the_studies_make_up_the_package() -> None:
    lines = sizes()
    of_studies = [n for name, n in lines.items() if name.startswith("stud")]
    assert lines["package"] == lines["core"] + sum(of_studies)
    assert 0 < lines["cli"] < lines["core"]
