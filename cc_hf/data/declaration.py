"""What a dataset declares of itself, once, in one literal: files with commit and sha256, licence,
configurations, sizes, reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.schema import ContrastiveSourceExample, Example

__all__ = ["ConfigDeclaration", "DatasetDeclaration", "Reader", "SourceFile"]

#: (local paths by upstream path, configuration, split) -> examples
Reader = Callable[[Mapping[str, Path], str, str], Iterator[Example]]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of an upstream repository at a pinned commit.

    Attributes:
        repository, commit, path: where it is.
        sha256, size: its content, size in bytes; "" and 0 where only the commit is known. Such a
            file is verified by what the host says of it (the Hub's LFS hash), and a local copy is
            not verified: results then name the content that was read.
        host: github, or hub for a dataset repository of the Hugging Face Hub.
    """

    repository: str
    commit: str
    path: str
    sha256: str = ""
    size: int = 0
    host: Literal["github", "hub"] = "github"

    @property
    def url(self) -> str:
        """Where it is downloaded from."""
        if self.host == "hub":
            return f"https://huggingface.co/datasets/{self.repository}/resolve/{self.commit}/{self.path}"
        return (
            f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{quote(self.path)}"
        )


@dataclass(frozen=True, slots=True)
class ConfigDeclaration:
    """One configuration.

    Attributes:
        name, description: what it is.
        tgt_langs: the languages that its translations can have.
        splits: number of examples by split, None where it is not known; `test` is what is evaluated
            where nothing else is said.
        files: those that only it and its like need.
        form: the class of its examples.
        src_lang: of the sources.
        extra_keys: the columns in `extra`; None: those of the dataset.
        remark: what a reader of every result on it must know, such as which published figures it
            does not compare with; "" for nothing.
    """

    name: str
    description: str
    tgt_langs: tuple[str, ...]
    splits: Mapping[str, int | None]
    files: tuple[SourceFile, ...] = ()
    form: type[Example] = ContrastiveSourceExample
    src_lang: str = "en"
    extra_keys: tuple[str, ...] | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class DatasetDeclaration:
    """A dataset.

    `revision`: pinned commit, or version of the generator, first 7 characters in the signature.

    `files`: those that all configurations share. `extra_keys`: the columns in `extra` of
    configurations that name none. `cues`: the signature's word for how cues were made.
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
            raise InputError(
                f"config: expected the name of a configuration of {self.name}, got"
                f" {type(wanted).__name__}"
            )
        for found in self.configs:
            if found.name == wanted:
                return found
        raise UnknownNameError(
            f"configuration of {self.name}", wanted, [c.name for c in self.configs]
        )

    def split(self, config: str | None, name: str) -> str:
        """The name of a split, if the configuration has it.

        Raises:
            UnknownNameError: for one that it does not have.
        """
        chosen = self.config(config)
        if name not in chosen.splits:
            raise UnknownNameError(f"split of {self.name} {chosen.name}", name, list(chosen.splits))
        return name

    def files_of(self, config: str | None) -> tuple[SourceFile, ...]:
        """The files that a configuration is read from; None: the default one."""
        return (*self.files, *self.config(config).files)

    def extra_keys_of(self, config: str | None) -> tuple[str, ...]:
        """The columns in `extra` of a configuration."""
        found = self.config(config).extra_keys
        return self.extra_keys if found is None else found
