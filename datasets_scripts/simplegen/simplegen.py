"""SimpleGEN in contrastive format as a builder of the datasets library; rows come from
cc_hf.data.readers.simplegen.
"""

import typing

import datasets

import cc_hf.data.features
import cc_hf.data.loading
import cc_hf.data.readers.simplegen

_DECLARATION = cc_hf.data.readers.simplegen.DECLARATION


class Simplegen(datasets.GeneratorBasedBuilder):
    """Declares configurations, features and splits and hands over to cc_hf."""

    VERSION = datasets.Version(_DECLARATION.version)
    BUILDER_CONFIGS = [  # noqa: RUF012
        datasets.BuilderConfig(name=c.name, version=_DECLARATION.version, description=c.description)
        for c in _DECLARATION.configs
    ]
    DEFAULT_CONFIG_NAME = _DECLARATION.default_config

    def _info(self) -> datasets.DatasetInfo:
        return cc_hf.data.features.dataset_info(_DECLARATION, self.config.name)

    def _split_generators(self, dl_manager: typing.Any) -> list[datasets.SplitGenerator]:
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split})
            for split in _DECLARATION.config(self.config.name).splits
        ]

    def _generate_examples(self, split: str) -> typing.Iterator[tuple[int, dict[str, typing.Any]]]:
        yield from cc_hf.data.loading.rows(
            _DECLARATION.name, self.config.name, split=split, data_dir=self.config.data_dir
        )
