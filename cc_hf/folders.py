"""Create an output folder that appears only when it is complete."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.files import exists, file_slug, is_folder, resolved, sole_writer

__all__ = ["new_folder"]

_BUILD = "build"


@contextlib.contextmanager
def new_folder(output: str | Path) -> Iterator[Path]:
    """Yield a temporary folder beside `output`, and rename it to `output` on success; on failure it
    is deleted.

    Args:
        output: a folder that is empty or does not exist; its parents are made.

    Raises:
        InputError: if `output` exists and is not an empty folder, if it cannot be written to, or if
            another run writes it.
    """
    target = Path(output)
    resolved(target)
    if exists(target) and (not is_folder(target) or any(target.iterdir())):
        raise InputError(f"output: {target} exists and is not an empty folder; name a new one")
    try:
        with _parents(target), sole_writer(target), _beside(target) as temporary:
            folder = Path(temporary) / _BUILD
            folder.mkdir()
            yield folder
            if target.exists():
                target.rmdir()
            folder.rename(target)
    except OSError as error:
        raise InputError(
            f"output: {target} could not be written ({error.strerror or error}); nothing was kept"
        ) from error


@contextlib.contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Make the folders that the output lies in, and remove those again if it is not written."""
    new = [folder for folder in target.absolute().parents if not folder.exists()]
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in new:
            with contextlib.suppress(OSError):  # another run may have written into it
                folder.rmdir()
        raise


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[str]:
    """Yield a temporary folder beside the output, and remove those of runs that were killed."""
    parent, prefix = target.absolute().parent, f".{file_slug(target.name)}."
    name = re.compile(rf"{re.escape(prefix)}[a-z0-9_]{{8}}")
    for path in parent.iterdir():
        if name.fullmatch(path.name) and is_folder(path) and _is_abandoned(path):
            shutil.rmtree(path)
    with tempfile.TemporaryDirectory(dir=parent, prefix=prefix) as temporary:
        yield temporary


def _is_abandoned(folder: Path) -> bool:
    """Return whether a folder holds nothing but what `new_folder` makes in it."""
    return not folder.is_symlink() and {path.name for path in folder.iterdir()} <= {_BUILD}
