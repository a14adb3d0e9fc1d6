"""Result files, as `cc-hf evaluate` writes them."""

from __future__ import annotations

from pathlib import Path

from cc_hf.data.text_files import read_lines
from cc_hf.errors import InputError
from cc_hf.results import ResultSet

__all__ = ["read_result_file"]


def read_result_file(path: str | Path) -> ResultSet:
    """Return the results in a file, for one metric or several.

    Args:
        path: a JSON file.

    Raises:
        InputError: for a file that does not exist or holds no result. The message names the file.

    Examples:
        >>> read_result_file("nowhere.json")
        Traceback (most recent call last):
        cc_hf.errors.InputError: file not found: nowhere.json
    """
    try:
        return ResultSet.from_json("\n".join(read_lines(Path(path))))
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from error
