"""`evaluate.load("contrastive_conditioning")` by name: for each metric a shim, a file of a few
lines in the cache of modules, where `evaluate` looks.

The one thing that `import cc_hf` does: `register_quietly`. It imports nothing heavy, and writes
nothing that is right already; CC_HF_NO_REGISTER=1 turns it off. `evaluate` takes a shim where the
Hub has no module of that name, or is not asked or not reached.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, NamedTuple

__all__ = [
    "OPT_OUT",
    "Shim",
    "module_class",
    "module_path",
    "modules_cache",
    "register",
    "register_quietly",
    "remove",
]

#: set to 1 (or on, yes, true), `import cc_hf` writes nothing
OPT_OUT = "CC_HF_NO_REGISTER"

_MARK = "# A shim of cc_hf"
_SHIM = (
    _MARK
    + """: evaluate.load("{name}") finds the metric by it. Written by `import cc_hf`, removed by `cc-hf register --remove`.
import cc_hf.evaluate_modules

Metric = cc_hf.evaluate_modules.module_class("{name}")
"""  # noqa: E501
)
_FOLDER = b"cc_hf".hex().ljust(64, "0")  # `evaluate` takes any folder with a name of 64 characters
_TRIES = 20


class Shim(NamedTuple):
    """A shim of a metric: where it is, and what `register` or `remove` did: written, present,
    removed, absent, or why it could not.
    """

    name: str
    path: str
    state: str


def modules_cache() -> str:
    """The folder that `evaluate` keeps modules in, by the variables it goes by: HF_MODULES_CACHE,
    HF_HOME, XDG_CACHE_HOME; "" where one is set to nothing.
    """
    home = os.path.expanduser(
        os.getenv("HF_HOME", os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "huggingface"))
    )
    return os.getenv("HF_MODULES_CACHE", home and os.path.join(home, "modules"))


def module_path(name: str) -> str:
    """The file of a metric's `evaluate` module: of the installed package, or of the checkout.

    Raises:
        UnknownNameError: for a metric that is not registered.

    >>> os.path.basename(module_path("gender_accuracy"))
    'gender_accuracy.py'
    """
    package = os.path.dirname(os.path.abspath(__file__))
    for folder in (
        os.path.join(package, "metrics_modules"),
        os.path.join(os.path.dirname(package), "metrics"),
    ):
        path = os.path.join(folder, name, f"{name}.py")
        if name in _names() and os.path.isfile(path):
            return path
    from cc_hf.errors import UnknownNameError

    raise UnknownNameError("metric", name, _names())


def module_class(name: str) -> Any:
    """The class of a metric's `evaluate` module, the same object each time; what a shim holds.

    Raises:
        UnknownNameError: for a metric that is not registered.

    >>> module_class("gender_accuracy").__name__
    'GenderAccuracy'
    """
    import importlib.util
    import inspect

    path = module_path(name)
    key = f"cc_hf_metrics_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"no module for {name} at {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[key] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[key]
            raise
    return next(
        member
        for member in vars(sys.modules[key]).values()
        if inspect.isclass(member) and member.__module__ == key
    )


def register_quietly() -> None:
    """What `import cc_hf` does: `register`, unless told not to; where it cannot write it does
    nothing.
    """
    if os.getenv(OPT_OUT, "").upper() in {"1", "ON", "YES", "TRUE"}:
        return
    cache = modules_cache()
    if cache:
        for name in _names():
            with contextlib.suppress(OSError):
                _write(cache, name)


def register() -> list[Shim]:
    """Write the shims that are not there, of all metrics; whole, or not at all, also while others
    do the same.

    A shim that cannot be written says why in its `state`; other files are left alone.

    >>> {shim.state for shim in register()} <= {"written", "present"}
    True
    """
    return [_tried(_write, name) for name in _names()]


def remove() -> list[Shim]:
    """Remove the shims of all metrics; a file that is none, and folders that hold anything else,
    are left and said.

    >>> os.environ["HF_MODULES_CACHE"] = "/nowhere"
    >>> {shim.state for shim in remove()}
    {'absent'}
    >>> del os.environ["HF_MODULES_CACHE"]
    """
    return [_tried(_remove, name) for name in _names()]


def _names() -> list[str]:
    from cc_hf.registry import METRICS

    return sorted(METRICS)


def _place(cache: str, name: str) -> str:
    return os.path.join(cache, "evaluate_modules", "metrics", f"evaluate-metric--{name}")


def _tried(act: Any, name: str) -> Shim:
    cache = modules_cache()
    path = os.path.join(_place(cache, name), _FOLDER, f"{name}.py")
    if not cache:
        return Shim(
            name,
            path,
            "not possible: HF_HOME or HF_MODULES_CACHE is set to nothing; unset it or name a"
            " folder",
        )
    try:
        return Shim(name, path, act(cache, name))
    except OSError as error:
        return Shim(
            name,
            path,
            f"not possible: {error.strerror or error}; set HF_HOME to a folder that can be"
            " written to",
        )


def _write(cache: str, name: str) -> str:
    """Again, where another process removes folders meanwhile."""
    for _ in range(_TRIES):
        # the latter for a folder that was there a moment ago
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            return _write_once(cache, name)
    return _write_once(cache, name)


def _write_once(cache: str, name: str) -> str:
    """Make the folder beside and rename it, so that whoever looks sees a whole shim or none."""
    place = _place(cache, name)
    folder = os.path.join(place, _FOLDER)
    text = _SHIM.format(name=name)
    if _is_right(folder, name, text) and all(
        os.path.isfile(os.path.join(level, "__init__.py")) for level in _levels(cache, name)
    ):
        return "present"
    os.makedirs(place, exist_ok=True)
    for level in _levels(cache, name):
        with open(os.path.join(level, "__init__.py"), "a"):
            pass
    if _is_right(folder, name, text):
        return "written"
    new = os.path.join(place, f"new-{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(new)
    try:
        for file, content in (("__init__.py", ""), (f"{name}.py", text)):
            with open(os.path.join(new, file), "w", encoding="utf-8") as handle:
                handle.write(content)
        try:
            os.rename(new, folder)
        except OSError:
            # it is there: another process was faster, or an older shim is to be replaced
            for file in ("__init__.py", f"{name}.py"):
                os.replace(os.path.join(new, file), os.path.join(folder, file))
    finally:
        _delete(new, name)
    return "written"


def _levels(cache: str, name: str) -> list[str]:
    place = _place(cache, name)
    return [os.path.dirname(os.path.dirname(place)), os.path.dirname(place), place]


def _is_right(folder: str, name: str, text: str) -> bool:
    return (
        os.path.isfile(os.path.join(folder, "__init__.py"))
        and _read(os.path.join(folder, f"{name}.py")) == text
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _remove(cache: str, name: str) -> str:
    place = _place(cache, name)
    folder = os.path.join(place, _FOLDER)
    path = os.path.join(folder, f"{name}.py")
    if not os.path.lexists(path):
        return "absent"
    if not _read(path).startswith(_MARK) and os.path.lexists(path):
        return "left: it is no shim of cc_hf; remove it by hand if nobody needs it"
    old = os.path.join(place, f"old-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.rename(folder, old)  # whoever looks sees a whole shim or none
    except FileNotFoundError:  # another process was faster
        return "absent"
    _delete(old, name)
    with contextlib.suppress(FileNotFoundError):  # likewise
        if not [
            entry for entry in os.listdir(place) if entry not in {"__init__.py", "__pycache__"}
        ] and not os.path.getsize(os.path.join(place, "__init__.py")):
            _delete(place, name)
    return (
        f"removed; other files in {old if os.path.isdir(old) else place} are not of cc_hf and were"
        " left"
        if os.path.isdir(place)
        else "removed"
    )


def _delete(folder: str, name: str) -> None:
    """Delete what belongs to a shim, and the folder if nothing else is in it."""
    compiled = os.path.join(folder, "__pycache__")
    with contextlib.suppress(FileNotFoundError):
        for entry in os.listdir(compiled):
            if entry.endswith(".pyc") and entry.partition(".")[0] in {"__init__", name}:
                os.unlink(os.path.join(compiled, entry))
    for file in ("__init__.py", f"{name}.py"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, file))
    for empty in (compiled, folder):
        with contextlib.suppress(OSError):  # it is not empty, or not there
            os.rmdir(empty)


def load_metric(name: str, **options: Any) -> Any:
    """The `evaluate` module of a metric, loaded from the installed package: no download, no
    checkout needed.

    Options go to `evaluate.load`.

    Raises:
        UnknownNameError: for a metric that is not registered.

    >>> load_metric("contrastive_conditioning").name
    'contrastive_conditioning'
    """
    import evaluate as host

    return host.load(module_path(name), **options)
