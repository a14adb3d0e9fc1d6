"""A file of translations by the embedded model: two real processes, and a process that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from pytest_socket import disable_socket, enable_socket

from tests.helpers.command_line import run_command
from tests.helpers.leaderboard import free_port
from tests.helpers.lines import write_lines

LINES = [
    f"The {noun} called {n} friends." for n in range(4) for noun in ("doctor", "nurse", "cook")
]
_PATIENCE = 3600  # seconds until the first block must be there; it takes few on an idle machine


def test_two_killed_processes_and_another_write_one_file(tmp_path: Path, root: Path) -> None:
    source = write_lines(tmp_path / "in.en", LINES)
    command = (
        f"translate {source} --system cc-tiny-en-de --block-lines 1 --device cpu --quiet --output"
    )
    run_command(command, tmp_path / "one.de")
    part, whole = tmp_path / "two.de.part", tmp_path / "two.de"
    enable_socket()
    try:
        port = free_port()
    finally:
        disable_socket(allow_unix_socket=True)
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment = {**os.environ, **shared, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    # As torchrun starts them; its processes would outlive it, if it were killed.
    words = [sys.executable, "-m", "cc_hf.cli", *command.split(), str(whole)]
    variables = [{**environment, "RANK": rank, "LOCAL_RANK": rank} for rank in "01"]
    processes = [subprocess.Popen(words, env=of_rank) for of_rank in variables]
    end = time.monotonic() + _PATIENCE
    try:
        while not whole.is_file() and not (part.is_file() and part.stat().st_size):
            assert time.monotonic() < end
            assert not any(process.poll() for process in processes)
            time.sleep(0.02)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    if not whole.is_file():  # else they were done before they could be killed
        run_command(command, whole)
    assert whole.read_bytes() == (tmp_path / "one.de").read_bytes()
    summaries = [tmp_path / f"{name}.de.summary.json" for name in ("one", "two")]
    assert summaries[0].read_bytes() == summaries[1].read_bytes()
