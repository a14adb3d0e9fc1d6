"""Paths that users name, names from outside that become parts of files, folders of the wheel."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from cc_hf.errors import InputError

__all__ = [
    "carried",
    "exists",
    "file_sha256",
    "file_slug",
    "huggingface_home",
    "is_file",
    "is_folder",
    "name_key",
    "resolved",
    "sole_writer",
]

_SLUG_LENGTH = 50  # characters of at most 4 bytes each; file systems accept names of 255 bytes
_DIGEST_LENGTH = 8
# What Windows takes for a device, with any suffix.
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3])(\.|$)", re.IGNORECASE)


def carried(folder: str) -> Path:
    """Return a folder that the wheel has inside the package, and a checkout beside it."""
    package = Path(__file__).parent
    inside = package / folder
    return inside if inside.is_dir() else package.parent / folder


def huggingface_home() -> Path:
    """Return HF_HOME, the folder of what is kept between runs."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    # As huggingface_hub has it, which takes long to import.
    return Path(os.path.expanduser(os.getenv("HF_HOME", os.path.join(cache, "huggingface"))))


def is_file(path: str | Path) -> bool:
    """Return whether there is a file. False also for a path that the system cannot look up.

    Examples:
        >>> is_file("x" * 5000)
        False
    """
    # `Path.is_file` raises for a name that is too long.
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """Return whether there is a folder. False also for a path that the system cannot look up."""
    return os.path.isdir(path)


def exists(path: str | Path) -> bool:
    """Return whether a path exists. False also for a path that the system cannot look up."""
    return os.path.exists(path)


def resolved(path: str | Path, what: str = "output") -> Path:
    """Return the absolute path of something that will be written, with symbolic links followed.

    Raises:
        InputError: for a name that is too long, symbolic links in a loop, a null character, or a
            folder without access.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass  # the caller checks for missing folders, and names them
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        text = str(path) if len(str(path)) <= 80 else f"{str(path)[:80]}..."
        raise InputError(
            f"{what}: expected the path of a file or folder, got {text!r}, which the system does"
            f" not accept ({reason}); choose another"
        ) from error
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def sole_writer(output: str | Path, name: str = "output") -> Iterator[None]:
    """Keep every other run from writing an output, for as long as the block runs.

    Args:
        output: the file or folder; its parent must exist. A device or pipe is not locked.

    Raises:
        InputError: if another run writes the output, or the folder cannot be written to.
    """
    from filelock import FileLock, Timeout  # imported here, since `import cc_hf` must stay fast

    path = resolved(output, name)
    if exists(path) and not is_file(path) and not is_folder(path):
        yield
        return
    if not is_folder(path.parent):
        raise InputError(f"{name}: the folder {path.parent} does not exist; create it first")
    # The system holds the lock, so that it ends with the process in any case.
    lock = FileLock(path.with_name(f".{file_slug(path.name)}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{name}: expected a file that no other run is writing, got {path}; wait until that run"
            " ends, or choose another"
        ) from None
    except OSError as error:
        raise InputError(
            f"{name}: the folder {path.parent} cannot be written to ({error.strerror or error})"
        ) from error
    try:
        yield
    finally:
        # Unlinked while it is held: whoever opened it meanwhile finds no other holder, or tries
        # again. Windows cannot delete it, and an empty file remains there.
        with contextlib.suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def file_slug(text: str) -> str:
    r"""Return a name from outside in a form that is safe in a path, a glob pattern and YAML.

    Letters, digits, "_", "-" and "." are kept, up to 50 characters; "." at the ends are dropped.
    Different texts have different names; where several share a folder, compare `name_key`.

    Examples:
        >>> file_slug("en-de.paper"), file_slug("../../evil"), file_slug("aux")
        ('en-de.paper', '_.._evil-0fbfd372', 'aux-321f6814')
    """
    slug = re.sub(r"[^\w.-]+", "_", text).lstrip(".")[:_SLUG_LENGTH].rstrip(".")
    if _RESERVED.match(slug):
        slug = slug.replace(".", "_")
    elif slug == text and slug:
        return slug
    # A name that changes, or that Windows reserves for a device, gets a hash of the text.
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    return f"{slug}-{digest}" if slug else digest


def name_key(name: str) -> str:
    r"""Return what file systems compare that ignore case, or how a letter with a mark is written.

    Examples:
        >>> name_key("Bär") == name_key("BA\u0308R")
        True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
