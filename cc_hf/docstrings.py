"""What docstrings of classes say, for the help of commands and of modules for `evaluate`."""

from __future__ import annotations

import inspect
import re

__all__ = ["attribute_texts", "description"]


def attribute_texts(cls: type) -> dict[str, str]:
    """Return the texts of the section "Attributes:" of a class, by name.

    Examples:
        >>> class Options:
        ...     '''What to do.
        ...
        ...     Attributes:
        ...         low, high: limits, in
        ...             seconds.
        ...     '''
        >>> attribute_texts(Options)
        {'low': 'limits, in seconds.', 'high': 'limits, in seconds.'}
    """
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")
    section = section.partition("\n\n")[0]
    texts = {}
    for names, text in re.findall(r"^ {4}(\w[\w, ]*): (.+(?:\n {5,}.+)*)", section, re.MULTILINE):
        for name in names.split(", "):
            texts[name] = " ".join(text.split())
    return texts


def description(cls: type) -> str:
    """Return the paragraphs between the first line of a class's docstring and its sections."""
    prose = re.split(r"\n\n\w+:\n", inspect.cleandoc(cls.__doc__ or ""))[0]
    return prose.partition("\n\n")[2]
