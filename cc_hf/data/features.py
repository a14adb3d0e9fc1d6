"""Columns of a dataset in contrastive format for `datasets`; valid under its versions 2 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import datasets

from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.schema import Example

__all__ = ["dataset_info", "example_features"]

_LISTS = ("correct_sources", "incorrect_sources", "contrastive_translations")


def example_features(form: type[Example], extra_keys: Sequence[str]) -> Any:
    """Return the `datasets.Features` of a class of examples, in the order of its fields.

    Examples:
        >>> from cc_hf.schema import ContrastiveSourceExample
        >>> list(example_features(ContrastiveSourceExample, ["occupation"]))[:4]
        ['id', 'src_lang', 'tgt_lang', 'source']
    """
    text = datasets.Value("string")
    columns: dict[str, Any] = {
        field.name: [text] if field.name in _LISTS else text for field in fields(form)
    }
    if "focus" in columns:
        columns["focus"] = {"text": text, "start": datasets.Value("int32")}
    return datasets.Features({**columns, "extra": dict.fromkeys(extra_keys, text)})


def dataset_info(declaration: DatasetDeclaration, config: str) -> Any:
    """Return the `datasets.DatasetInfo` of a configuration.

    Examples:
        >>> from cc_hf import registry
        >>> info = dataset_info(registry.resolve("dataset", "winomt"), "pro")
        >>> info.license, sorted(info.features["extra"])
        ('mit', ['occupation', 'stereotype'])
    """
    return datasets.DatasetInfo(
        description=declaration.description,
        citation=declaration.bibtex,
        homepage=declaration.homepage,
        license=declaration.licence,
        features=example_features(
            declaration.config(config).form, declaration.extra_keys_of(config)
        ),
    )
