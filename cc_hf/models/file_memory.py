"""Weights that are shown from their file: which they are, and how their memory is given back once
they were copied into another form.

safetensors maps a file into memory, page by page when it is read. Pages that were given back are
read from the file again where they are needed, so that nothing is lost; it is done for memory only
that nobody wrote to, as far as the system tells, on Linux, and is nothing elsewhere.
"""

from __future__ import annotations

import ctypes
import mmap
import re
import sys
from pathlib import Path

import numpy as np
import torch

__all__ = ["FileMemory", "give_back_freed"]

_PAGE = mmap.PAGESIZE
_DONTNEED = 4  # of madvise
_ABSENT, _OF_THE_FILE = 0b000, 0b101  # of a page: is it in memory, swapped out, of a file
_AREA = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+)")
_WRITTEN = re.compile(r"Anonymous: +(\d+) kB")


class FileMemory:
    """The areas of this process that show files and that nobody wrote to, as they are now.

    >>> FileMemory().holds(torch.zeros(10))
    False
    """

    def __init__(self) -> None:
        self._areas = _untouched()

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor lies in such an area."""
        if (
            tensor.device.type != "cpu"
            or tensor.layout != torch.strided
            or not tensor.is_contiguous()
        ):
            return False
        start, end = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes
        return any(first <= start and end <= last for first, last in self._areas)

    def give_back(self, tensor: torch.Tensor) -> None:
        """Free the pages of a tensor that it `holds`; any other, and one that was written to since,
        is left as it is.
        """
        if not self.holds(tensor):
            return
        start = -(-tensor.data_ptr() // _PAGE) * _PAGE
        size = (tensor.data_ptr() + tensor.nbytes) // _PAGE * _PAGE - start
        if size > 0 and not _is_written(start, size):
            # when refused nothing changes
            ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _DONTNEED)


def give_back_freed() -> None:
    """To the system what the program has freed and the C library keeps for itself, in pieces that
    larger tensors do not fit into. Of glibc; else nothing.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(ctypes.c_size_t(0))


def _is_written(start: int, size: int) -> bool:
    """Whether pages of a file are the process's own by now; also where the system does not tell."""
    try:
        with Path("/proc/self/pagemap").open("rb") as file:
            file.seek(start // _PAGE * 8)
            entries = np.frombuffer(file.read(size // _PAGE * 8), np.uint64)
    except (OSError, ValueError):
        return True
    kinds = entries >> np.uint64(61)
    return len(entries) < size // _PAGE or bool(
        ((kinds != _ABSENT) & (kinds != _OF_THE_FILE)).any()
    )


def _untouched() -> list[tuple[int, int]]:
    try:
        lines = (
            Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines()
            if sys.platform == "linux"
            else []
        )
    except OSError:
        return []
    found: list[tuple[int, int]] = []
    area: tuple[int, int] | None = None
    for line in lines:
        if head := _AREA.match(line):
            area = (int(head[1], 16), int(head[2], 16)) if head[3] != "0" else None
        elif area is not None and (written := _WRITTEN.match(line)) and written[1] == "0":
            found.append(area)
    return found
