"""Values of a narrower type, checked."""

from typing import TypeVar

_Kind = TypeVar("_Kind")


def known(value: _Kind | None) -> _Kind:
    """Return a value that must not be None."""
    assert value is not None
    return value


def typed(kind: type[_Kind], value: object) -> _Kind:
    """Return a value that must be of this class."""
    assert isinstance(value, kind), value
    return value
