"""Rules for the values of dataclass fields, which the library, the command line and the reader of
JSON share.

A rule stands in the type of the field, as in `seed: Annotated[int, AtLeast(0)]`. The dataclass
calls `check_fields` in its `__post_init__`. A command makes the object of its options, and so has
the same check; `cc_hf.records` checks what it reads.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from cc_hf.errors import InputError, shown

__all__ = [
    "ABOVE_0",
    "PART_OF_ONE",
    "AtLeast",
    "Count",
    "Form",
    "Kind",
    "OneOf",
    "Rule",
    "Share",
    "check_fields",
    "form_of_type",
    "types_of",
]


class Rule:
    """A condition on the value of a field; its text says which values fit.

    A rule for numbers is of a range: numbers between two that fit also fit.
    """

    def fits(self, value: Any) -> bool:
        """Return whether a value, of any type, fulfils the condition."""
        raise NotImplementedError

    def check(self, name: str, value: object) -> None:
        """Raise an InputError that begins with the name of the field if a value breaks the rule."""
        if not self.fits(value):
            raise InputError(f"{name}: expected {self}, got {shown(value)}")


@dataclasses.dataclass(frozen=True)
class AtLeast(Rule):
    """A finite number from a minimum to a maximum; an integer if the minimum is one.

    Examples:
        >>> AtLeast(1).check("rounds", 0)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: rounds: expected an integer of at least 1, got 0
    """

    minimum: float
    maximum: float = math.inf

    def fits(self, value: Any) -> bool:
        """Return whether a value is a number of the type and in the range."""
        kind: Any = numbers.Integral if self._is_integer else numbers.Real
        return (
            isinstance(value, kind)
            and not isinstance(value, bool)
            and bool(self.minimum <= value <= self.maximum)
            and abs(value) != math.inf  # `isinf` fails for large integers
        )

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
        return f"{kind} from {self.minimum:g} to {largest.removesuffix('.0')}"


@dataclasses.dataclass(frozen=True)
class Kind(Rule):
    """Values for which a function is true, with what messages call them."""

    name: str
    is_of_kind: Callable[[Any], bool]

    def fits(self, value: Any) -> bool:
        """Return whether the function is true."""
        return self.is_of_kind(value)

    def __str__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class OneOf(Rule):
    """One of several texts."""

    values: tuple[str, ...]

    def __init__(self, *values: str) -> None:
        object.__setattr__(self, "values", values)

    def fits(self, value: Any) -> bool:
        """Return whether a value is one of the texts."""
        return isinstance(value, str) and value in self.values

    def __str__(self) -> str:
        return f"one of {', '.join(self.values)}"


ABOVE_0 = Kind("a number above 0", lambda value: AtLeast(0.0).fits(value) and value != 0)
PART_OF_ONE = Kind(
    "a number of at least 0 and below 1",
    lambda value: AtLeast(0.0, 1.0).fits(value) and value != 1,
)
#: A number of things, small enough for sums of many.
Count: TypeAlias = Annotated[int, AtLeast(0, 10**9)]
#: A number in [0, 1].
Share: TypeAlias = Annotated[float, AtLeast(0.0, 1.0)]


class Form(NamedTuple):
    """A type without `Annotated` and null: its class, its arguments, and its rules."""

    base: Any
    arguments: tuple[Any, ...] = ()
    rules: tuple[Rule, ...] = ()
    has_null: bool = False


@cache
def form_of_type(hint: Any) -> Form:
    """Return the form of a type."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        inner = form_of_type(arguments[0])
        rules = (extra for extra in arguments[1:] if isinstance(extra, Rule))
        return inner._replace(rules=(*inner.rules, *rules))
    given = [argument for argument in arguments if argument is not NoneType]
    if len(given) == 1 < len(arguments):
        return form_of_type(given[0])._replace(has_null=True)
    return Form(get_origin(hint) or hint or Any, arguments)


@cache
def types_of(cls: Any) -> Mapping[str, Any]:
    """Return the types of the fields of a dataclass, with their rules."""
    return get_type_hints(cls, include_extras=True)


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass by their rules; raise an InputError for the first that breaks
    one.

    None is allowed where it is the default.

    Examples:
        >>> @dataclasses.dataclass
        ... class Options:
        ...     rounds: Annotated[int | None, AtLeast(1)] = None
        >>> check_fields(Options()), check_fields(Options(3))
        (None, None)
    """
    types = types_of(instance.__class__)
    for field in dataclasses.fields(instance):
        value = getattr(instance, field.name)
        if value is not None or field.default is not None:
            for rule in form_of_type(types[field.name]).rules:
                rule.check(field.name, value)
