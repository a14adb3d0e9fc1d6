"""Formats of models that transformers does not read, which slices and other packages add."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from cc_hf import registry

__all__ = ["ModelFormat", "format_of", "published_format"]

_KIND = "model format"


class ModelFormat(ABC):
    """Files that become a model of transformers of our own, and names of published ones.

    The registry has an instance of each. Only `load` and `convert` may import torch, since models
    are listed, and their files recognised, without it.

    Attributes:
        name: its name in the registry, which is also the evaluator family and the model_type of
            its models. Published ones are called NAME:SOURCE-TARGET.
        noun: what a model is called, such as "student".
        project: where the models come from.
        expected: the names and folders that are such models, in words for messages.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    project: ClassVar[str]
    expected: ClassVar[str]

    def fits(self, name: str) -> bool:
        """Return whether this is the name of a published model, or a folder of the format."""
        return name.startswith(f"{self.name}:") or self.is_in(name)

    @abstractmethod
    def located(self, name: str) -> tuple[str, tuple[str, str]]:
        """Return the folder of a published model, downloaded if need be, and its language pair.

        Raises:
            UnknownNameError: for a model that is not published.
            DataError: for one that cannot be downloaded.
        """

    @abstractmethod
    def suggestion(self, src_lang: str, tgt_lang: str) -> str:
        """Return the published model of an ISO 639-1 pair in words for a message, "" for none."""

    @abstractmethod
    def about(self) -> str:
        """Return the line of `cc-hf list evaluators` about the published models."""

    @abstractmethod
    def is_in(self, folder: str | Path) -> bool:
        """Return whether a path is a folder with files of the format.

        Raises:
            DataError: for a folder whose files are not those of one model.
        """

    @abstractmethod
    def load(self, folder: str | Path) -> tuple[Any, Any]:
        """Return the model of a folder in float32 and in eval mode, and its tokenizer.

        Raises:
            DataError: for damaged files, or a model that is not supported.
        """

    @abstractmethod
    def identity(self, folder: str | Path) -> str:
        """Return the identity of the model of a folder: twelve hexadecimal digits."""

    @abstractmethod
    def convert(self, source: str, *, output: str | Path) -> Path:
        """Write a model as a folder that transformers reads, and return the folder.

        Args:
            source: the name of a published model, or a folder with its files.
            output: a folder that does not exist yet, or is empty.
        """


def published_format(name: str) -> ModelFormat | None:
    """Return the format whose published models have names that begin like this one, if any.

    Examples:
        >>> published_format("Helsinki-NLP/opus-mt-en-de") is None
        True
    """
    prefix, colon, _ = name.partition(":")
    if not colon or prefix not in registry.names(_KIND):
        return None
    of_prefix: ModelFormat = registry.resolve(_KIND, prefix)
    return of_prefix


def format_of(folder: str | Path) -> ModelFormat | None:
    """Return the format of the files in a folder; None for other files, or no folder.

    Examples:
        >>> format_of("no folder") is None
        True
    """
    formats: dict[str, ModelFormat] = registry.load_all(_KIND)
    return next((of_files for of_files in formats.values() if of_files.is_in(folder)), None)
