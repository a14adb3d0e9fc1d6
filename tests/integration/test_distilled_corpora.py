"""A file of translations by the embedded model: two real processes, and a process that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers.command_line import run_command

LINES = [
    f"The {noun} called {n} friends." for n in range(4) for noun in ("doctor", "nurse", "cook")
]
_PATIENCE = 300  # seconds until the first block must be there; it takes few


def test_two_processes_that_are_killed_and_one_that_goes_on_write_the_file_of_one(
    tmp_path: Path, root: Path
) -> None:
    source = tmp_path / "in.en"
    source.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    options = ["--source-file", str(source), "--system", "cc-tiny-en-de", "--block-lines", "1"]
    options += ["--device", "cpu", "--quiet", "--output"]
    run_command("translate", *options, tmp_path / "one.de")
    program = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    program += ["--nproc_per_node", "2", "-m", "cc_hf.cli", "translate", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    part = tmp_path / "two.de.part"
    with subprocess.Popen(
        [*program, str(tmp_path / "two.de")], env=environment, start_new_session=True
    ) as process:
        end = time.monotonic() + _PATIENCE
        while not (part.is_file() and part.stat().st_size) and time.monotonic() < end:
            assert process.poll() is None or (tmp_path / "two.de").is_file()
            if (tmp_path / "two.de").is_file():
                break  # the processes were too fast to be killed, and their file is whole
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    if part.is_file():
        assert part.read_bytes()
        run_command("translate", *options, tmp_path / "two.de")
    assert (tmp_path / "two.de").read_bytes() == (tmp_path / "one.de").read_bytes()
    summaries = [tmp_path / f"{name}.de.summary.json" for name in ("one", "two")]
    assert summaries[0].read_bytes() == summaries[1].read_bytes()
