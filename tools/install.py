"""Install packages with one line of progress in place of pip's hundreds: python tools/install.py
LOG ARGUMENTS, those of `pip install`. What pip prints goes to LOG, whose end is shown if it fails.

It needs the standard library alone, since it runs before anything is installed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

__all__ = ["Progress", "install"]

_PACKAGE = re.compile(r"(?:Collecting|Processing) ")
_DOWNLOAD = re.compile(r"Downloading .*\(([\d.]+) ([kMG])B\)")
_MEGABYTES = {"k": 0.001, "M": 1, "G": 1000}
_ALL_PACKAGES = re.compile(r"Installing collected packages: (.*)")
_SECONDS_BETWEEN_LINES = 15  # where the output is no terminal
_LINES_OF_FAILURE = 20


@dataclass
class Progress:
    """How far pip is: chosen packages, the size of downloads, and whether all packages are here."""

    n_packages: int = 0
    megabytes: float = 0.0
    is_unpacking: bool = False

    def read(self, line: str) -> None:
        """Take in a line of pip.

        Examples:
            >>> progress = Progress()
            >>> progress.read("Collecting torch>=2.4")
            >>> progress.read("  Downloading torch-2.13.0.whl (183.0 MB)")
            >>> print(progress)
            installing: 1 packages, 183 MB downloaded
            >>> progress.read("Installing collected packages: numpy, torch")
            >>> print(progress)
            installing: unpacking 2 packages
        """
        self.n_packages += bool(_PACKAGE.match(line))
        if size := _DOWNLOAD.search(line):
            self.megabytes += float(size[1]) * _MEGABYTES[size[2]]
        if names := _ALL_PACKAGES.match(line):
            self.n_packages = len(names[1].split(", "))
            self.is_unpacking = True

    def __str__(self) -> str:
        if self.is_unpacking:
            return f"installing: unpacking {self.n_packages} packages"
        return f"installing: {self.n_packages} packages, {self.megabytes:,.0f} MB downloaded"


def install(arguments: Sequence[str], log: Path) -> int:
    """Run `pip install`, show its progress, and return its exit status."""
    pip = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-color")
    progress = Progress()
    begin = time.monotonic()
    with (
        log.open("w", encoding="utf-8", newline="\n") as file,
        subprocess.Popen(
            [*pip, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):

        def read(lines: Iterable[str]) -> None:
            for line in lines:
                file.write(line)
                progress.read(line)

        # Pip is silent for minutes while it unpacks, so that the seconds are counted beside it.
        reader = Thread(target=read, args=(process.stdout,))
        reader.start()
        _show(process, progress, begin)
        reader.join()
    if process.returncode:
        end = log.read_text(encoding="utf-8").splitlines()[-_LINES_OF_FAILURE:]
        sys.stderr.write("\n".join([*end, f"pip failed; all that it printed: {log}", ""]))
    return process.returncode


def _show(process: subprocess.Popen[str], progress: Progress, begin: float) -> None:
    """Show the progress until pip ends: in a terminal one line that changes, else some lines."""
    is_terminal = sys.stderr.isatty()
    said = begin
    while process.poll() is None:
        time.sleep(0.5)
        now = time.monotonic()
        if is_terminal:
            sys.stderr.write(f"\r{progress}, {now - begin:.0f} s \033[K")
        elif now - said >= _SECONDS_BETWEEN_LINES:
            said = now
            sys.stderr.write(f"{progress}, {now - begin:.0f} s\n")
        sys.stderr.flush()
    text = f"installed: {progress.n_packages} packages, {time.monotonic() - begin:.0f} s"
    sys.stderr.write("\r\033[K" * is_terminal + f"{text}\n" * (not process.returncode))


if __name__ == "__main__":
    raise SystemExit(install(sys.argv[2:], Path(sys.argv[1])))
