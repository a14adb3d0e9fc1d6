"""What a dataset declares of itself, once, in one literal: files with commit and sha256, licence, configurations, sizes, reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.schema import ContrastiveSourceExample

__all__ = ["ConfigDeclaration", "DatasetDeclaration", "Reader", "SourceFile"]

#: (local paths by upstream path, configuration) -> examples
Reader = Callable[[Mapping[str, Path], str], Iterator[ContrastiveSourceExample]]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of an upstream repository at a pinned commit. `size` in bytes."""

    repository: str
    commit: str
    path: str
    sha256: str
    size: int

    @property
    def url(self) -> str:
        """Where it is downloaded from."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True, slots=True)
class ConfigDeclaration:
    """One configuration: what it is, which languages it is for, how many examples it has, the files that only it and its like need."""

    name: str
    description: str
    tgt_langs: tuple[str, ...]
    n_examples: int
    files: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetDeclaration:
    """A dataset. `revision`: pinned commit, or version of the generator, first 7 characters in the signature.

    `files`: those that all configurations share. `extra_keys`: the columns in `extra`, the same for all configurations. `cues`: the signature's word for how cues were made.
    """

    name: str
    description: str
    licence: str
    homepage: str
    citation_keys: tuple[str, ...]
    revision: str
    cues: str
    files: tuple[SourceFile, ...]
    configs: tuple[ConfigDeclaration, ...]
    default_config: str
    extra_keys: tuple[str, ...]
    read: Reader
    version: str = "1.0.0"

    def config(self, name: str | None) -> ConfigDeclaration:
        """A configuration by name, the default one for None.

        Raises:
            UnknownNameError: for a name that is not declared.
        """
        wanted = self.default_config if name is None else name
        if not isinstance(wanted, str):
            raise InputError(f"config: expected the name of a configuration of {self.name}, got {type(wanted).__name__}")
        for found in self.configs:
            if found.name == wanted:
                return found
        raise UnknownNameError(f"configuration of {self.name}", wanted, [c.name for c in self.configs])

    def files_of(self, config: str | None) -> tuple[SourceFile, ...]:
        """The files that a configuration is read from; None: the default one."""
        return (*self.files, *self.config(config).files)

    def signature_fields(self, config: str) -> dict[str, str]:
        """What the signature says of the data."""
        return {"data": f"{self.name}/{config}@{self.revision[:7]}", "cues": self.cues}
