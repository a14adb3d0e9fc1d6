"""Options of `cc_hf.load_evaluator`, checked before anything is looked up. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, shown
from cc_hf.evaluators.base import check_batch_tokens

__all__ = ["check_options"]

_TEXTS = ("src_lang", "tgt_lang", "kind", "prompt", "dtype", "on_too_long", "mode")
_LONGEST = 4096  # of a path, on Linux


def check_options(name_or_path: object, options: Mapping[str, Any]) -> None:
    """Refuse names and options of `cc_hf.load_evaluator` that are of another type than it says,
    before anything is looked up.

    Args:
        name_or_path: one name or path, or a list of several.
        options: by name; None passes where an option may be left out.

    Raises:
        InputError: for the first that does not fit.

    >>> check_options(["cc-tiny-en-de", 3], {})
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: evaluator: expected names or paths, got 3 (int) as member 1 of the list
    """
    if not isinstance(name_or_path, (str, Path, list, tuple)):
        raise InputError(
            "evaluator: expected a name, a path, or a list of these, got"
            f" {type(name_or_path).__name__}"
        )
    for i, name in enumerate(
        name_or_path if isinstance(name_or_path, (list, tuple)) else [name_or_path]
    ):
        if not isinstance(name, (str, Path)):
            raise InputError(
                f"evaluator: expected names or paths, got {shown(name)} ({type(name).__name__})"
                f" as member {i} of the list"
            )
        _check_path("evaluator", name)
    for option in _TEXTS:
        if not isinstance(options.get(option), (str, type(None))):
            raise InputError(f"{option}: expected a string, got {shown(options[option])}")
    if options.get("batch_tokens") is not None:
        check_batch_tokens(options["batch_tokens"])
    if not isinstance(options.get("cache", False), (bool, str, Path)):
        raise InputError(f"cache: expected True, False or a path, got {shown(options['cache'])}")
    _check_path("cache", options.get("cache", False))
    revision = options.get("revision")
    revisions = revision if isinstance(revision, (list, tuple)) else [revision]
    if any(not isinstance(one, (str, type(None))) for one in revisions):
        raise InputError(
            "revision: expected a string, or a list with one for each member of an ensemble, got"
            f" {shown(revision)}"
        )


def _check_path(option: str, name: object) -> None:
    """Refuse what no file system takes."""
    text = str(name)
    if len(text) > _LONGEST or "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise InputError(
            f"{option}: expected at most {_LONGEST} characters of valid Unicode, without null"
            f" characters, got {len(text)} that begin {text[:80]!a}"
        )
