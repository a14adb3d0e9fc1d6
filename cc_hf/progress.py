"""Progress on standard error: a bar in a terminal, and lines elsewhere, such as in the file of a
job, where a bar would leave each of its states.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

__all__ = ["Progress"]

if TYPE_CHECKING:
    _Bar = tqdm[Any]
else:  # tqdm takes no type parameters at run time
    _Bar = tqdm


class Progress(_Bar):
    """A progress bar of tqdm. Where standard error is no terminal, a line at each tenth of the work
    is printed in its place.

    Examples:
        >>> import sys
        >>> with Progress(total=20, desc="scoring", file=sys.stdout) as bar:
        ...     bar.n += 5
        ...     _ = bar.refresh()
        scoring: 5 of 20
    """

    fp: Any
    _n_tenths = 0

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Draw the bar, or print a line if another tenth is done."""
        if self.fp.isatty():
            super().display(msg, pos)
        elif self.total and (n_tenths := int(10 * self.n / self.total)) > self._n_tenths:
            self._n_tenths = n_tenths
            self.fp.write(f"{self.desc.rstrip(': ')}: {self.n:,} of {self.total:,}\n")
            self.fp.flush()

    def close(self) -> None:
        """Remove the bar, or leave the lines as they are."""
        if not self.disable and not self.fp.isatty():
            self.fp = io.StringIO()  # to which tqdm writes the end of the bar
        super().close()
