"""Rules for the values of dataclass fields, which the library and the command line share.

A rule stands in the type of the field, as in `seed: Annotated[int, AtLeast(0)]`. The dataclass
calls `check_fields` in its `__post_init__`. A command makes the object of its options, and so has
the same check.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from functools import cache
from typing import Annotated, Any, Protocol, get_args, get_origin, get_type_hints

from cc_hf.errors import InputError, check_choice, shown

__all__ = ["Above", "AtLeast", "OneOf", "PartOfOne", "Rule", "check_fields"]


class Rule(Protocol):
    """A condition on the value of a field."""

    def check(self, name: str, value: object) -> None:
        """Raise an InputError that begins with the name of the field if a value breaks the rule."""


@dataclasses.dataclass(frozen=True)
class AtLeast:
    """A finite number from a minimum to a maximum; an integer if the minimum is one.

    Examples:
        >>> AtLeast(1).check("rounds", 0)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: rounds: expected an integer of at least 1, got 0
    """

    minimum: float
    maximum: float = math.inf

    def check(self, name: str, value: Any) -> None:
        """Raise an InputError for a number out of range or of another type."""
        kind: Any = numbers.Integral if self._is_integer else numbers.Real
        if (
            isinstance(value, bool)
            or not isinstance(value, kind)
            or not self.minimum <= value <= self.maximum
            or math.isinf(value)
        ):
            raise InputError(f"{name}: expected {self}, got {shown(value)}")

    @property
    def _is_integer(self) -> bool:
        return isinstance(self.minimum, int)

    def __str__(self) -> str:
        if self.minimum == -math.inf:
            return "a finite number"
        kind = "an integer" if self._is_integer else "a number"
        if self.maximum == math.inf:
            return f"{kind} of at least {self.minimum:g}"
        largest = f"{self.maximum:,}" if self.maximum < 2**63 else f"{self.maximum:.2g}"
        return f"{kind} from {self.minimum:g} to {largest}"


@dataclasses.dataclass(frozen=True)
class Above:
    """A finite number above a limit, which is not allowed itself.

    Examples:
        >>> Above(0).check("learning_rate", 0.0)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: learning_rate: expected a number above 0, got 0.0
    """

    limit: float

    def check(self, name: str, value: Any) -> None:
        """Raise an InputError for a number out of range or of another type."""
        AtLeast(-math.inf).check(name, value)
        if value <= self.limit:
            raise InputError(f"{name}: expected a number above {self.limit:g}, got {shown(value)}")


@dataclasses.dataclass(frozen=True)
class PartOfOne:
    """A share of at least 0 and below 1.

    Examples:
        >>> PartOfOne().check("dropout", 1.0)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: dropout: expected a number of at least 0 and below 1, got 1.0
    """

    def check(self, name: str, value: Any) -> None:
        """Raise an InputError for a number out of range or of another type."""
        AtLeast(-math.inf).check(name, value)
        if not 0 <= value < 1:
            raise InputError(
                f"{name}: expected a number of at least 0 and below 1, got {shown(value)}"
            )


@dataclasses.dataclass(frozen=True)
class OneOf:
    """One of several texts.

    Examples:
        >>> OneOf("fp32", "int8").check("precision", "fp16")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: precision: expected one of fp32, int8, got 'fp16'
    """

    values: tuple[str, ...]

    def __init__(self, *values: str) -> None:
        object.__setattr__(self, "values", values)

    def check(self, name: str, value: object) -> None:
        """Raise an InputError for any other value."""
        check_choice(name, value, self.values)


@cache
def _field_rules(cls: Any) -> dict[str, tuple[Rule, ...]]:
    """Return the rules of the fields of a dataclass that have some, by name."""
    rules = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        of_field = tuple(
            extra
            for part in (hint, *get_args(hint))
            if get_origin(part) is Annotated
            for extra in get_args(part)[1:]
            if hasattr(extra, "check")
        )
        if of_field:
            rules[name] = of_field
    return rules


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass by their rules. None is allowed where it is the default.

    Raises:
        InputError: for the first field that breaks a rule.

    Examples:
        >>> @dataclasses.dataclass
        ... class Options:
        ...     rounds: Annotated[int | None, AtLeast(1)] = None
        >>> check_fields(Options()), check_fields(Options(3))
        (None, None)
    """
    defaults = {field.name: field.default for field in dataclasses.fields(instance)}
    cls: Any = type(instance)
    for name, rules in _field_rules(cls).items():
        value = getattr(instance, name)
        if value is None and defaults[name] is None:
            continue
        for rule in rules:
            rule.check(name, value)
