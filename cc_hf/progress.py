"""Progress on standard error: a bar in a terminal, and lines elsewhere, such as in the file of a
job, where a bar would leave each of its states.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from typing import TYPE_CHECKING, Any

from tqdm import TqdmExperimentalWarning

# What tqdm.auto does, without asyncio, whose import costs each command 25 ms.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", TqdmExperimentalWarning)
    from tqdm.autonotebook import tqdm

__all__ = ["Progress"]

_LOG = logging.getLogger("cc_hf")

if TYPE_CHECKING:
    _Bar = tqdm[Any]
else:  # tqdm takes no type parameters at run time
    _Bar = tqdm


class Progress(_Bar):
    """A progress bar of tqdm, as a widget in a notebook that has these. Where standard error is no
    terminal, a line at each tenth of the work is printed in its place, or logged at INFO where the
    logger `cc_hf` has a handler for it.

    Nothing is shown after `datasets.disable_progress_bars()`, or where the level of the logger is
    set above INFO.

    Examples:
        >>> import sys
        >>> with Progress(total=20, desc="scoring", file=sys.stdout) as bar:
        ...     bar.n += 5
        ...     _ = bar.refresh()
        scoring: 5 of 20
    """

    fp: Any
    _n_tenths = 0

    def __init__(self, iterable: Any = None, *, disable: bool = False, **options: Any) -> None:
        super().__init__(iterable, disable=disable or _is_quiet(), **options)

    @property
    def _is_drawn(self) -> bool:
        return getattr(self, "gui", False) or self.fp.isatty()  # a widget, or in a terminal

    def display(self, *arguments: Any, **options: Any) -> None:
        """Draw the bar, or print a line if another tenth is done."""
        if self._is_drawn:
            super().display(*arguments, **options)
        elif self.total and (n_tenths := int(10 * self.n / self.total)) > self._n_tenths:
            self._n_tenths = n_tenths
            line = f"{self.desc.rstrip(': ')}: {self.n:,} of {self.total:,}"
            if _LOG.isEnabledFor(logging.INFO) and _LOG.hasHandlers():
                _LOG.info(line)
                return
            self.fp.write(f"{line}\n")
            self.fp.flush()

    def close(self) -> None:
        """Remove the bar, or leave the lines as they are."""
        if not self.disable and not self._is_drawn:
            self.fp = io.StringIO()  # to which tqdm writes the end of the bar
        super().close()


def _is_quiet() -> bool:
    """Return whether the user has switched progress off, for cc_hf or for `datasets`."""
    datasets = sys.modules.get("datasets")  # which is not imported for it
    is_off = getattr(datasets, "are_progress_bars_disabled", None)
    return _LOG.level > logging.INFO or bool(is_off is not None and is_off())
