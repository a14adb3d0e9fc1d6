"""What a machine is, and how much of its processors other programs use. Without torch."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

__all__ = [
    "CpuMeter",
    "cpu_count",
    "load_average",
    "package_versions",
    "processor_name",
]

_FLAGS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8")
_STAT = Path("/proc/stat")


def cpu_count() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float:
    """Return how many programs wanted to run, as the mean of the last minute; 0 if not known."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def processor_name() -> str:
    """Return name, family and model of the CPU, and its vector units for products."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    fields = {
        key: match.group(1).strip()
        for key in ("model name", "cpu family", "model", "flags")
        if (match := re.search(rf"^{key}\s*:(.*)$", text, re.MULTILINE))
    }
    flags = set(fields.get("flags", "").split())
    family = f"family {fields.get('cpu family', '?')} model {fields.get('model', '?')}"
    return (
        f"{fields.get('model name', platform.machine())} ({family};"
        f" {', '.join(flag for flag in _FLAGS if flag in flags) or 'no vector units known here'})"
    )


def package_versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages, without those that are not installed.

    Examples:
        >>> list(package_versions(["numpy", "no-such-package"]))
        ['numpy']
    """
    versions = {}
    for package in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


class CpuMeter:
    """Measures how many cores other processes use, from its making on.

    Time that a hypervisor gives to other machines counts, too.
    """

    def __init__(self) -> None:
        self._start = _usage()

    def others(self) -> float | None:
        """Return the mean number of cores that other processes used; None if not known."""
        end = _usage()
        if self._start is None or end is None or end[0] <= self._start[0]:
            return None
        wall, all_processes, this_process = (
            new - old for new, old in zip(end, self._start, strict=True)
        )
        return max(0.0, all_processes - this_process) / wall


def _usage() -> tuple[float, float, float] | None:
    """Return time, seconds of work of all processes, and of this one; None if not reported."""
    try:
        with _STAT.open(encoding="utf-8") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        ticks_of_a_second = os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError):
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = (*fields, *[0] * (8 - len(fields)))
    ticks = user + nice + system + irq + softirq + steal
    process = os.times()
    return (
        time.monotonic(),
        ticks / ticks_of_a_second,
        process.user + process.system + process.children_user + process.children_system,
    )
