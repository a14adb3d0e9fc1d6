"""Where the files of an evaluator are, by its name: with the package, in a folder, on the Hub; and which options can name one at all.

Nothing is loaded, and no torch is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import EvaluatorError, InputError, UnknownNameError
from cc_hf.evaluators.base import check_batch_tokens

__all__ = ["MODEL_FILES", "TINY_EN_DE", "EmbeddedModel", "check_options", "default_evaluator", "is_folder", "locate", "stamp"]

#: how the names of the files end that make a model and its tokenizer
MODEL_FILES = (".safetensors", ".bin", ".spm", ".model", ".json", ".txt")

_TEXTS = ("src_lang", "tgt_lang", "kind", "prompt", "dtype", "on_too_long", "mode")

_LONGEST = 4096  # of a path, on Linux
_ASSETS = Path(__file__).parent.parent / "assets"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that ships with the package."""

    name: str
    folder: str
    src_lang: str
    tgt_lang: str

    @property
    def path(self) -> Path:
        """The folder of its files."""
        return _ASSETS / self.folder


TINY_EN_DE = EmbeddedModel("cc-tiny-en-de", "cc-tiny-en-de", "en", "de")


def default_evaluator(src_lang: str, tgt_lang: str) -> str:
    """The embedded evaluator of a language pair.

    Raises:
        InputError: when none is embedded for the pair.

    >>> default_evaluator("en", "de")
    'cc-tiny-en-de'
    """
    for name in registry.names("evaluator"):
        embedded: EmbeddedModel = registry.resolve("evaluator", name)
        if (embedded.src_lang, embedded.tgt_lang) == (src_lang, tgt_lang):
            return name
    if not (src_lang and tgt_lang):
        raise InputError("no evaluator named: give src_lang and tgt_lang, so that the one that ships for the pair is taken, or evaluator")
    pairs = ", ".join(registry.names("evaluator"))
    raise InputError(
        f"no evaluator ships with the package for {src_lang or '?'}-{tgt_lang or '?'} (only {pairs}); name one with evaluator (--evaluator), "
        f"such as 'Helsinki-NLP/opus-mt-{src_lang or 'en'}-{tgt_lang or 'xx'}'"
    )


def check_options(name_or_path: object, options: Mapping[str, Any]) -> None:
    """Refuse names and options of `cc_hf.load_evaluator` that are of another type than it says, before anything is looked up.

    Args:
        name_or_path: one name or path, or a list of several.
        options: by name; None passes where an option may be left out.

    Raises:
        InputError: for the first that does not fit.

    >>> check_options(["cc-tiny-en-de", 3], {})
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: evaluator: expected names or paths, got 3 (int) as member 1 of the list
    """
    if not isinstance(name_or_path, (str, Path, list, tuple)):
        raise InputError(f"evaluator: expected a name, a path, or a list of these, got {type(name_or_path).__name__}")
    for i, name in enumerate(name_or_path if isinstance(name_or_path, (list, tuple)) else [name_or_path]):
        if not isinstance(name, (str, Path)):
            raise InputError(f"evaluator: expected names or paths, got {str(name)[:80]} ({type(name).__name__}) as member {i} of the list")
        _check_path("evaluator", name)
    for option in _TEXTS:
        if not isinstance(options.get(option), (str, type(None))):
            raise InputError(f"{option}: expected a string, got {options[option]!r}")
    if options.get("batch_tokens") is not None:
        check_batch_tokens(options["batch_tokens"])
    if not isinstance(options.get("cache", False), (bool, str, Path)):
        raise InputError(f"cache: expected True, False or a path, got {options['cache']!r}")
    _check_path("cache", options.get("cache", False))
    revision = options.get("revision")
    revisions = revision if isinstance(revision, (list, tuple)) else [revision]
    if any(not isinstance(one, (str, type(None))) for one in revisions):
        raise InputError(f"revision: expected a string, or a list with one for each member of an ensemble, got {revision!r}")


def _check_path(option: str, name: object) -> None:
    """Refuse what no file system takes."""
    text = str(name)
    if len(text) > _LONGEST or "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise InputError(f"{option}: expected at most {_LONGEST} characters of valid Unicode, without null characters, got {len(text)} that begin {text[:80]!a}")


def is_folder(name: str | Path) -> bool:
    """Whether there is such a folder; a name that no file system takes is none.

    >>> is_folder("x" * 5000)
    False
    """
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # too long, a loop of links, no permission; a null byte, a lone surrogate
        return False


def locate(name: str) -> tuple[str, tuple[str, str] | None]:
    """The folder of a model, or its name on the Hub; and of an embedded one its source and target language.

    Raises:
        UnknownNameError: for a name that is neither registered nor a folder nor of the form «organisation/model».
        EvaluatorError: for the path of a folder that is not there.
    """
    if name in registry.EVALUATORS:
        embedded: EmbeddedModel = registry.resolve("evaluator", name)
        return str(embedded.path), (embedded.src_lang, embedded.tgt_lang)
    if is_folder(name):
        return name, None
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        if "/" in name:
            raise EvaluatorError(f"no evaluator at {name!r}: expected a folder that transformers saved, or organisation/model of the Hub; there is no such folder")
        raise UnknownNameError("evaluator", name, registry.EVALUATORS)
    return name, None


def stamp(folder: Path, *, suffixes: Sequence[str] = MODEL_FILES) -> tuple[tuple[str, int, int, int], ...]:
    """Names, sizes and times of a folder's files: what changed on disk has another stamp. Nothing for what is no folder.

    The time of the last change of a file's state is part of it, which no copying program sets back.
    """
    if not is_folder(folder):
        return ()
    found = ((path.name, path.stat()) for path in sorted(folder.iterdir()) if path.suffix in suffixes)
    return tuple((name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in found)
