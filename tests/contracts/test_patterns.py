"""No pattern takes quadratic time: files and the live page may have lines of 100 kB, which would
take a minute then. A quarter of such a line takes a linear pattern a millisecond, and a quadratic
one more than the seconds of processor time after which it is stopped.
"""

import ast
import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

import cc_hf

_ROOT = Path(cc_hf.__file__).parent
_N = 25_000
_SECONDS = 2  # of processor time
_CHARACTERS = " aA1.,-/|:(\"'&<[*_\n\t"
_PAIRS = ("a ", " .", "a-", "a1", "a.", " -", "1.", ": ", "a,", '{"', "<a", "&a", "* ", "_a", "( ")
_SCANNING = re.compile(r"\.(?:search|sub|subn|findall|finditer|split)\b")
#: Patterns that have another name where they are used, and are tried at one position only.
_MATCHED = frozenset(
    (
        "gender_res._FRAMES",
        "translation_replies._REFUSAL",
        "translation_replies._REFUSAL_IN_ENGLISH",
    )
)


def _texts() -> list[str]:
    runs = [character * _N for character in _CHARACTERS]
    return [*runs, *(pair * (_N // 2) for pair in _PAIRS), f"a{' ' * _N}a", f"1{'a' * _N}!"]


def _may_matter(text: str, pattern: str) -> bool:
    """Return whether a pattern names the characters of a text, or kinds of characters."""
    return {*text[:2]} <= {*pattern, *" a1"}


def _within(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for member in value.values():
            yield from _within(member, depth + 1)
    elif depth < 4 and isinstance(value, (list, tuple, set, frozenset)):
        for member in value:
            yield from _within(member, depth + 1)
    elif depth < 4 and type(value).__module__.startswith("cc_hf."):
        yield from _within(getattr(value, "__dict__", {}), depth + 1)


@cache
def _sources() -> dict[str, ast.Module]:
    paths = sorted(_ROOT.rglob("*.py"))
    return {str(path.relative_to(_ROOT)): ast.parse(path.read_text("utf-8")) for path in paths}


def _is_scanned(name: str, module: ModuleType) -> bool:
    """Return whether a pattern is tried at every character, not at one position only."""
    pattern = rf"\b{re.escape(name)}(?:\.pattern)?"
    paths = [Path(module.__file__ or "")] if name.startswith("_") else _ROOT.rglob("*.py")
    texts = [path.read_text("utf-8") for path in paths]
    uses = [text for text in texts if re.search(rf"{pattern}\.\w+", text)]
    return not uses or any(re.search(pattern + _SCANNING.pattern, text) for text in uses)


@cache
def _patterns() -> dict[str, tuple[str, int, bool]]:
    """Return name -> pattern, its flags, and whether it is tried at every character."""
    patterns: dict[str, tuple[str, int, bool]] = {}
    for module in pkgutil.walk_packages(cc_hf.__path__, "cc_hf."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # a program or package that is not installed
            continue
        for name, value in vars(loaded).items():
            if isinstance(value, (type, ModuleType)):
                continue
            for number, actual in enumerate(_within(value)):
                if isinstance(actual.pattern, str):
                    key = f"{module.name}.{name}" + f"[{number}]" * bool(number)
                    short = f"{module.name.rpartition('.')[2]}.{name}"
                    is_scanned = short not in _MATCHED and (
                        not isinstance(value, re.Pattern) or _is_scanned(name, loaded)
                    )
                    patterns[key] = actual.pattern, actual.flags, is_scanned
    for path, tree in _sources().items():
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in (node for function in functions for node in ast.walk(function)):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")):
                continue
            if node.args and isinstance(node.args[0], ast.Constant):
                text, function = node.args[0].value, ast.unparse(node.func).removeprefix("re.")
                if isinstance(text, str) and function != "escape":
                    is_scanned = function not in ("match", "fullmatch")
                    patterns[f"{path}:{node.lineno}"] = text, 0, is_scanned
    return patterns


def _stop(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError


@pytest.mark.skipif(not hasattr(signal, "ITIMER_VIRTUAL"), reason="timers of processor time")
def test_no_pattern_takes_quadratic_time() -> None:
    texts, slow = _texts(), []
    former = signal.signal(signal.SIGVTALRM, _stop)
    try:
        for name, (pattern, flags, is_scanned) in _patterns().items():
            compiled = re.compile(pattern, flags)
            try:
                for text in (text for text in texts if _may_matter(text, pattern)):
                    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
                    compiled.match(text)
                    if is_scanned:
                        compiled.sub("", text)
            except TimeoutError:
                slow.append(f"{name}: {text[:5]!r}")
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, former)
    assert not slow
    assert len(_patterns()) > 200
