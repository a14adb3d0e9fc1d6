"""The metrics for `evaluate`: their registration by name.

`import cc_hf` runs `register_quietly`, which imports nothing heavy. For each metric it writes a
shim, a file of a few lines, into the cache of modules. `evaluate.load` looks there for a name that
the Hub does not have, or when the Hub cannot be reached.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from cc_hf.errors import UnknownNameError
from cc_hf.registry import METRICS, imported, names

__all__ = [
    "OPT_OUT",
    "check_own_metric",
    "module_class",
    "register",
    "register_quietly",
    "remove",
    "shim_path",
]

#: Environment variable. If it is 1 (or on, yes, true), `import cc_hf` writes nothing.
OPT_OUT = "CC_HF_NO_REGISTER"
_MARK = "# A shim of cc_hf"
_SHIM = """: evaluate.load("{name}") finds the metric by it. Written by `import cc_hf`, removed by `cc-hf register --remove`.
import cc_hf.evaluation.judging

Metric = cc_hf.evaluation.judging.module_class("{name}")
"""  # noqa: E501
_FOLDER = b"cc_hf".hex().ljust(64, "0")  # `evaluate` accepts any folder name of 64 characters


def register_quietly() -> None:
    """Register the metrics, unless `OPT_OUT` is set or the cache of modules cannot be written."""
    if os.getenv(OPT_OUT, "").upper() not in {"1", "ON", "YES", "TRUE"}:
        with contextlib.suppress(OSError):
            register()


def register() -> list[str]:
    """Write the shims that are missing or differ, and return their paths."""
    return [path for name in sorted(METRICS) if _write(path := shim_path(name), name)]


def remove() -> list[str]:
    """Delete the shims of all metrics and folders that hold nothing else; return sorted paths."""
    import shutil

    removed = [path for name in METRICS if _read(path := shim_path(name)).startswith(_MARK)]
    for path in removed:
        os.unlink(path)
        for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            if {"__init__.py", "__pycache__"}.issuperset(os.listdir(folder)):
                shutil.rmtree(folder)
    return sorted(removed)


def shim_path(name: str) -> str:
    """Return the path of a metric's shim in the cache that `evaluate` uses; it need not exist."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    home = os.path.expanduser(os.getenv("HF_HOME", os.path.join(cache, "huggingface")))
    modules = os.getenv("HF_MODULES_CACHE", home and os.path.join(home, "modules"))
    if not modules:
        raise FileNotFoundError("HF_HOME or HF_MODULES_CACHE is set to nothing")
    folder = os.path.join(modules, "evaluate_modules", "metrics", f"evaluate-metric--{name}")
    return os.path.join(folder, _FOLDER, f"{name}.py")


def _read(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _write(path: str, name: str) -> bool:
    text, folder = _MARK + _SHIM.format(name=name), os.path.dirname(path)
    if _read(path) == text:
        return False
    os.makedirs(folder, exist_ok=True)
    for _ in range(4):  # this folder and its parents up to `evaluate_modules` must be packages
        with open(os.path.join(folder, "__init__.py"), "a", encoding="utf-8", newline="\n"):
            folder = os.path.dirname(folder)
    # The rename makes the shim appear complete, so that other processes never read half a file.
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
    return True


def module_class(name: str) -> Any:
    """Return the class of a metric's module, for shims that earlier versions wrote."""
    return imported("cc_hf.evaluation.judging:module_class")(name)


def check_own_metric(name: str) -> None:
    """Refuse a metric that has no module for `evaluate`: those of other packages have none."""
    if name not in METRICS:
        remedy = "; a metric of another package has no module for `evaluate`: use cc_hf.evaluate"
        raise UnknownNameError("metric", name, METRICS, remedy=remedy * (name in names("metric")))
