"""Memory of weights that lie on a file: it is told from other memory, and what is given back is
read again.
"""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from cc_hf.models.file_memory import FileMemory, give_back_freed

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="areas of memory are read from Linux"
)


@pytest.fixture
def mapped(tmp_path: Path) -> torch.Tensor:
    path = tmp_path / "weights.safetensors"
    save_file({"first": torch.zeros(3, 5), "second": torch.arange(2.0**18).view(512, 512)}, path)
    with safe_open(path, framework="pt") as file:
        found: torch.Tensor = file.get_tensor("second")
    return found


def _resident(tensor: torch.Tensor) -> int:
    """Bytes of the area of a tensor that are in memory."""
    is_there = False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if head := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            is_there = int(head[1], 16) <= tensor.data_ptr() < int(head[2], 16)
        elif is_there and line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("there is no such area")


def test_what_is_given_back_is_read_again(mapped: torch.Tensor) -> None:
    memory = FileMemory()
    assert memory.holds(mapped)
    assert memory.holds(mapped[7:9])
    assert float(mapped.sum()) == 2**17 * (2**18 - 1)
    before = _resident(mapped)
    memory.give_back(mapped)
    assert before - _resident(mapped) > 0.9 * mapped.nbytes
    assert torch.equal(mapped, torch.arange(2.0**18).view(512, 512))


def test_a_part_gives_back_no_more_than_itself(mapped: torch.Tensor) -> None:
    mapped.sum()
    before = _resident(mapped)
    FileMemory().give_back(mapped[:3])  # less than two pages: nothing, or one
    assert before - _resident(mapped) <= 4096


def test_what_was_written_to_since_stays(mapped: torch.Tensor) -> None:
    memory = FileMemory()
    mapped[4, 4] = -1
    assert memory.holds(mapped)  # as it was then
    memory.give_back(mapped)
    assert mapped[4, 4] == -1


def test_where_the_system_does_not_tell_all_stays(
    mapped: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = FileMemory()
    mapped.sum()
    before = _resident(mapped)
    monkeypatch.setattr(Path, "open", lambda *_: (_ for _ in ()).throw(PermissionError()))
    memory.give_back(mapped)
    monkeypatch.undo()
    assert _resident(mapped) == before


def test_memory_that_was_written_to_stays(mapped: torch.Tensor) -> None:
    mapped[4, 4] = -1
    memory = FileMemory()
    assert not memory.holds(mapped)
    memory.give_back(mapped)
    assert mapped[4, 4] == -1


def test_other_memory_is_no_files(mapped: torch.Tensor) -> None:
    memory = FileMemory()
    assert not memory.holds(torch.zeros(100, 100))
    assert not memory.holds(mapped.t())  # a view whose elements do not follow each other


def test_elsewhere_nothing_is_held(mapped: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert not FileMemory().holds(mapped)


def _own_memory() -> int:
    """Bytes of this process that are of no file."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("RssAnon:")
    )
    return int(line.split()[1]) * 1024


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="of glibc")
def test_holes_between_what_is_kept_are_given_back() -> None:
    """The C library keeps them by itself: 600 freed tensors of 100 kB, each before one that is
    kept.
    """
    pairs = [(torch.ones(25_000), torch.ones(250)) for _ in range(600)]
    kept = [small for _, small in pairs]
    del pairs
    before = _own_memory()
    give_back_freed()
    assert before - _own_memory() > 30e6
    assert all(float(small.sum()) == 250 for small in kept)
