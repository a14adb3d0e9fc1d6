"""The one builder for the `datasets` library. `datasets_scripts` declares a subclass of it for each
dataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

import datasets
import pyarrow as pa

from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.features import dataset_info
from cc_hf.data.loading import rows

__all__ = ["ContrastiveBuilder"]

_BLOCK_ROWS = 1000  # as `datasets` writes them


class ContrastiveBuilder(datasets.ArrowBasedBuilder):  # type: ignore[misc]
    """A dataset builder, for versions 2 to 5 of `datasets`; a subclass sets `DECLARATION` alone."""

    DECLARATION: ClassVar[DatasetDeclaration]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # `datasets` derives further classes from a script's class. These set their own
        # configurations and must not have them overwritten.
        if "DECLARATION" in vars(cls):
            version = cls.DECLARATION.version
            cls.VERSION = datasets.Version(version)
            cls.BUILDER_CONFIGS = [
                datasets.BuilderConfig(name=c.name, version=version, description=c.description)
                for c in cls.DECLARATION.configs
            ]
            cls.DEFAULT_CONFIG_NAME = cls.DECLARATION.default_config

    def _info(self) -> Any:
        return dataset_info(self.DECLARATION, self.config.name)

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split})
            for split in self.DECLARATION.config(self.config.name).splits
        ]

    def _generate_tables(self, split: str) -> Iterator[tuple[int, pa.Table]]:
        config = {"split": split, "data_dir": self.config.data_dir}
        numbered = rows(self.DECLARATION.name, self.config.name, **config)
        schema = self.info.features.arrow_schema
        while block := list(islice(numbered, _BLOCK_ROWS)):
            yield block[0][0], pa.Table.from_pylist([row for _, row in block], schema=schema)
