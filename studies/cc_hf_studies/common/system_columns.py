"""Systems that are selected from a table, numbers in its columns, and regressions over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cc_hf.errors import InputError
from cc_hf.reading import finite_number
from cc_hf.statistics.regression import Regression, least_squares

__all__ = ["Systems", "column_numbers", "regress", "select_systems"]

#: Rows of a table: column -> cell, as text.
Systems = Sequence[Mapping[str, str]]


def select_systems(systems: Systems, where: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Return the systems that have the given values in the given columns."""
    for name in where:
        _check_name(systems, name)
    matches = [row for row in systems if all(row[name] == value for name, value in where.items())]
    if not matches:
        raise InputError(
            "expected a system with"
            f" {', '.join(f'{name} = {value}' for name, value in where.items())}, got none among"
            f" {len(systems)}"
        )
    return matches


def regress(
    systems: Systems, dependent: str, independents: Sequence[str], *, level: float = 0.95
) -> Regression:
    """Regress one column on others by least squares."""
    if len(set(independents)) < len(independents):
        raise InputError(f"independents: expected different columns, got {', '.join(independents)}")
    return least_squares(
        (dependent, column_numbers(systems, dependent)),
        {name: column_numbers(systems, name) for name in independents},
        level=level,
    )


def _check_name(systems: Systems, name: str) -> None:
    if not systems or name not in systems[0]:
        raise InputError(
            f"column: expected one of {', '.join(systems[0]) if systems else '(no systems)'}, got"
            f" {name!r}"
        )


def column_numbers(systems: Systems, name: str) -> list[float]:
    """Return the numbers in a column of a table.

    Examples:
        >>> column_numbers([{"bleu": "27.5"}, {"bleu": "30"}], "bleu")
        [27.5, 30.0]
    """
    _check_name(systems, name)
    numbers = []
    for number, row in enumerate(systems, 1):
        value = finite_number(row[name])
        if value is None:
            raise InputError(
                f"row {number}: {name}: expected a number, got {row[name]!r}; select rows, or write"
                " 1 and 0 for yes and no"
            )
        numbers.append(value)
    return numbers
