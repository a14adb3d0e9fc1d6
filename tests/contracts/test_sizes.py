"""Sizes that docs/architecture.md states; `python -m tools.sizes` prints them."""

from __future__ import annotations

from pathlib import Path

from tools import sizes

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
        f"{module}:{name}": sizes.n_parameters(node)
        for module, name, node in sizes.functions()
        if sizes.n_parameters(node) > sizes.MOST_PARAMETERS and not sizes.is_command(module)
    }
    assert many == {}


def test_modules_have_at_most_400_lines_of_code() -> None:
    assert {name: n for name, n in sizes.n_code_lines().items() if n > sizes.MOST_CODE_LINES} == {}


def test_function_bodies_have_at_most_60_lines_except_the_known_ones() -> None:
    n_lines = [(f"{module}:{name}", sizes.n_body_lines(f)) for module, name, f in sizes.functions()]
    assert {name for name, n in n_lines if n > sizes.MOST_BODY_LINES} == _LONG_BODIES


def test_docstrings_comments_and_blank_lines_are_no_code(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(_MODULE, encoding="utf-8")
    assert sizes.n_code_lines(tmp_path) == {"module.py": 6}
    assert sizes.n_docstring_lines(tmp_path) == {"module.py": 3}


def test_the_core_and_the_studies_make_up_the_package() -> None:
    lines = sizes.sizes()
    of_studies = [n for name, n in lines.items() if name.startswith("stud")]
    assert lines["package"] == lines["core"] + sum(of_studies)
    assert 0 < lines["cli"] < lines["core"]
