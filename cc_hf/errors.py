"""The errors that cc_hf raises.

Each message says what was expected, what was received, where, and what to do.

CCError
├── InputError (also ValueError): arguments and translations that do not fit
│   ├── UnknownNameError (also KeyError): a dataset, metric, evaluator or option that does not exist
│   ├── MissingOptionError: an option that only the caller can supply, such as a dictionary
│   └── TooLongError: a text that is longer than the evaluator accepts
├── DataError (also ValueError): a file of a dataset that is missing, altered or malformed
│   └── FileError (also InputError): a file that cannot be read, or does not hold what it should
├── EvaluatorError (also RuntimeError): a model that cannot be loaded, or unusable scores
├── CacheError (also RuntimeError): a cache of scores that is damaged or of another version
├── PluginError (also RuntimeError): a name that another package adds, and that cannot be used
└── MissingDependencyError (also ImportError): a package that is not installed

CacheWarning (a UserWarning): scores are not stored, and the evaluation goes on.
PluginWarning (a UserWarning): something that another package adds is left out.
ResultWarning (a UserWarning): figures that do not mean what they seem to mean. The result's `notes`
say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "CCError",
    "CacheError",
    "CacheWarning",
    "DataError",
    "EvaluatorError",
    "FileError",
    "InputError",
    "MissingDependencyError",
    "MissingOptionError",
    "PluginError",
    "PluginWarning",
    "ResultWarning",
    "TooLongError",
    "UnknownNameError",
    "check_choice",
    "in_file",
    "shown",
]

_LONGEST = 200  # maximum number of characters of a value in a message


class CCError(Exception):
    """The root of the tree. Catching it catches everything that cc_hf raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Processes send errors pickled; by default the message would be the first argument of the
        # class, which takes others in some of the tree.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[CCError], arguments: tuple[Any, ...]) -> CCError:
    error = kind.__new__(kind)
    error.args = arguments
    return error


class InputError(CCError, ValueError):
    """Arguments or translations that do not fit."""


class UnknownNameError(InputError, KeyError):
    """A name that is not registered.

    Examples:
        >>> raise UnknownNameError("dataset", "winmt", ["winomt", "simplegen"])
        Traceback (most recent call last):
            ...
        cc_hf.errors.UnknownNameError: unknown dataset 'winmt'; did you mean 'winomt'? Known: simplegen, winomt
    """  # noqa: E501

    def __init__(self, kind: str, name: object, known: Iterable[str], *, remedy: str = "") -> None:
        import difflib  # imported here, since `import cc_hf` reads this file and must stay fast

        names = sorted(known)
        near = difflib.get_close_matches(str(name), names, n=2, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        super().__init__(
            f"unknown {kind} {name!r}{hint} Known: {', '.join(names) or 'none'}{remedy}"
        )

    def __str__(self) -> str:  # KeyError prints the repr of the message
        return str(self.args[0])


class MissingOptionError(InputError):
    """An option without a default for the given data, such as the dictionary of a language for
    which none is built in.
    """


class TooLongError(InputError):
    """A text that is longer than the evaluator accepts.

    Attributes:
        translations: every translation that is too long, if nothing else is; else empty.
    """

    def __init__(self, message: str, *, translations: Collection[str] = ()) -> None:
        super().__init__(message)
        self.translations = frozenset(translations)


class DataError(CCError, ValueError):
    """A file of a dataset that is missing, altered or malformed."""


class FileError(InputError, DataError):
    """A file that cannot be read, or does not hold what it should.

    The message begins with the file, and the line where there is one. A user may have named the
    file, or a dataset: the error is both an `InputError` and a `DataError`.
    """

    def __init__(self, where: object, message: object) -> None:
        super().__init__(f"{where}: {message}")


class EvaluatorError(CCError, RuntimeError):
    """A model that cannot be loaded, or scores that cannot be used."""


class CacheError(CCError, RuntimeError):
    """A cache of scores that is damaged, is of another version, or cannot be written."""


class CacheWarning(UserWarning):
    """The cache of scores cannot be used, and the evaluation goes on without it."""


class PluginError(CCError, RuntimeError):
    """A dataset, metric, evaluator family or study of another package that cannot be used.

    It cannot be loaded, is not of its kind, or has a name that is taken.
    """


class PluginWarning(UserWarning):
    """Something that another package adds is left out; the message is that of a `PluginError`."""


class ResultWarning(UserWarning):
    """Figures that do not mean what they seem to mean, such as those of an evaluator on data that
    it was not made for.
    """


class MissingDependencyError(CCError, ImportError):
    """A package that is not installed. The message holds the line that installs it or its extra.

    Examples:
        >>> str(MissingDependencyError("torch", "models"))
        "this needs the package 'torch', which is not installed. Install it with: pip install 'cc_hf[models]'"
        >>> str(MissingDependencyError("eflomal", install="pip install eflomal"))
        "this needs the package 'eflomal', which is not installed. Install it with: pip install eflomal"
    """  # noqa: E501

    def __init__(self, package: str, extra: str = "", *, install: str = "") -> None:
        self.package = package
        self.install = install or f"pip install '{_installed_from()}[{extra}]'"
        super().__init__(
            f"this needs the package {package!r}, which is not installed. Install it with:"
            f" {self.install}"
        )


def _installed_from() -> str:
    """Return what pip installs with an extra."""
    # Imported here, since `import cc_hf` reads this file.
    from importlib import metadata
    from pathlib import Path

    try:
        metadata.version("cc_hf")
    except metadata.PackageNotFoundError:
        return str(Path(__file__).parent.parent)
    return "cc_hf"


@contextmanager
def in_file(where: object, remedy: str = "") -> Iterator[None]:
    """Raise each `InputError` of the block as a `FileError`, which begins with the place.

    Args:
        where: the file, or a place in it.
        remedy: what to do, with which messages end; "" if they say it.
    """
    try:
        yield
    except FileError:
        raise
    except InputError as error:
        raise FileError(where, f"{error}; {remedy}" if remedy else error) from None


def shown(value: object) -> str:
    """Return a value as a message shows it: its repr, cut after 200 characters."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # deep nesting, or an integer of thousands of digits
        name = type(value).__name__
        return f"a{'n' if name[0] in 'aeiou' else ''} {name} that is too large to show"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def check_choice(option: str, value: object, known: Collection[str]) -> None:
    """Raise an InputError that lists the known values if an option has another one."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{option}: expected one of {', '.join(known)}, got {shown(value)}")
