"""What Python and notebooks show of results, and how these are saved.

A class names the function that makes its tables as a text, which is imported when something is
shown: tables are made above this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from cc_hf.errors import MissingDependencyError
from cc_hf.registry import imported
from cc_hf.writing import write_atomically

__all__ = ["Displayed", "frame"]


class Displayed:
    """What `print` and a notebook show as the tables of a command.

    Attributes:
        displayed_by: "module:object" of a function that takes the object, and returns the pieces of
            `cc_hf.reports.report_parts` that are shown.
    """

    displayed_by: ClassVar[str]

    def __str__(self) -> str:
        text: str = imported("cc_hf.reports.formats.notebook:as_text")(self._pieces())
        return text

    def _repr_html_(self) -> str:
        html: str = imported("cc_hf.reports.formats.notebook:as_html")(self._pieces())
        return html

    def _pieces(self) -> Iterable[Any]:
        pieces: Iterable[Any] = imported(self.displayed_by)(self)
        return pieces

    def to_json(self) -> str:
        """Return everything as strict JSON."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write the JSON to a file, as the `--output` of the command does."""
        write_atomically(Path(path), self.to_json())


def frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return rows as a `pandas.DataFrame`; raise a MissingDependencyError without pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError("pandas", install="pip install pandas") from error
    return pd.DataFrame([*rows])
