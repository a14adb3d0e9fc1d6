"""The rows that translations are judged by, and where they come from: found once, passed on."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.loading import check_target_language, declaration, load_examples, signature_fields
from cc_hf.errors import InputError, shown
from cc_hf.metrics.base import Metric, Origin
from cc_hf.schema import FORMS, Example

__all__ = ["Material", "check_material", "load_material"]


@dataclass(frozen=True)
class Material:
    """Rows to judge, with their languages.

    Attributes:
        src_lang, tgt_lang: ISO 639-1; "" where they are not known.
        given: the rows: examples (`cc_hf.schema`), or what a metric reads, one mapping per row.
            Only examples have ids and sources. None to read them from the dataset when they are
            first needed.
        ids: names of rows that are mappings, each once; None for their numbers.
        declared, config, split, data_dir: the dataset that the rows are from, as `load_material`
            finds it; None for rows of the caller's own.

    >>> rows = load_examples("simplegen", "en-de")[:4]
    >>> len(Material("en", "de", rows).examples)
    4
    """

    src_lang: str
    tgt_lang: str
    given: Sequence[Example] | Sequence[Mapping[str, Any]] | None = None
    ids: Sequence[str] | None = None
    declared: DatasetDeclaration | None = None
    config: ConfigDeclaration | None = None
    split: str = "test"
    data_dir: str | Path | None = None

    @functools.cached_property
    def examples(self) -> list[Any]:
        """The examples; none where the rows are mappings.

        Raises:
            As `cc_hf.load_examples`.
        """
        if self.given is not None:
            is_list = isinstance(self.given, (list, tuple))
            are_examples = is_list and all(isinstance(row, tuple(FORMS)) for row in self.given)
            return list(self.given) if are_examples else []
        if self.declared is None or self.config is None:
            return []
        return load_examples(
            self.declared, self.config.name, split=self.split, data_dir=self.data_dir
        )

    def references(self, metric: type[Metric]) -> Any:
        """Return what a metric reads of the rows."""
        examples = self.examples
        return metric.references(examples) if examples or self.given is None else self.given

    @functools.cached_property
    def origin(self) -> Origin:
        """The names and the signature fields of a result."""
        if self.declared is None or self.config is None:
            return Origin()
        fields = signature_fields(
            self.declared, self.config.name, split=self.split, data_dir=self.data_dir
        )
        return Origin(self.declared.name, self.config.name, fields)

    @property
    def name(self) -> str:
        """Dataset and configuration, as messages name them."""
        if self.declared is None or self.config is None:
            return "these rows"
        return f"{self.declared.name} {self.config.name}"

    def unfit_reason(self, metric: type[Metric]) -> str:
        """Return "" where a metric can judge the rows, else the reason."""
        if self.declared is None or self.config is None:
            return ""
        return metric.fits(
            self.declared.name, self.config.name, self.config.form, self.src_lang, self.tgt_lang
        )


def check_material(material: object) -> None:
    """Check that rows to judge are given as `Material`.

    Raises:
        InputError: for anything else, such as the name of a dataset.

    >>> check_material("winomt")
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: material: expected what cc_hf.load_material("winomt", ...) returns, got 'winomt'
    """  # noqa: E501
    if not isinstance(material, Material):
        name = material if isinstance(material, str) else "DATASET"
        raise InputError(
            f'material: expected what cc_hf.load_material("{name}", ...) returns, got'
            f" {shown(material)}"
        )


def load_material(
    dataset: str | Path,
    config: str | None = None,
    *,
    split: str = "test",
    tgt_lang: str | None = None,
    data_dir: str | Path | None = None,
) -> Material:
    """Find a dataset that translations are to be judged by; its examples are read when they are
    first needed.

    Args:
        dataset: a name of `cc-hf list datasets`, or a file of sources, positions and cues
            (`cc_hf.data.custom.read_custom`).
        config: a configuration; None takes the dataset's default.
        split: a split of the configuration.
        tgt_lang: ISO 639-1; may be left out where the configuration has one target language.
        data_dir: a local copy of the upstream repositories, instead of a download.

    Raises:
        UnknownNameError: for an unknown dataset, configuration or split.
        InputError: for a target language that the configuration does not have, or none where it has
            several.
        DataError: for a file that is not as expected.

    >>> material = load_material("simplegen", "en-de")
    >>> material.tgt_lang, len(material.examples)
    ('de', 2664)
    """
    declared = declaration(str(dataset) if isinstance(dataset, Path) else dataset)
    chosen = declared.config(config)
    return Material(
        chosen.src_lang,
        check_target_language(declared, chosen.name, tgt_lang),
        declared=declared,
        config=chosen,
        split=declared.split(chosen.name, split),
        data_dir=data_dir,
    )
