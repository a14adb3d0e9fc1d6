"""MuCoW in contrastive format as a builder of the datasets library; rows come from cc_hf.data.mucow."""

import typing

import datasets

import cc_hf.citations
import cc_hf.data.features
import cc_hf.data.loading
import cc_hf.data.mucow

_DECLARATION = cc_hf.data.mucow.DECLARATION


class Mucow(datasets.GeneratorBasedBuilder):
    """Declares configurations and features and hands over to cc_hf."""

    VERSION = datasets.Version(_DECLARATION.version)
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=c.name, version=_DECLARATION.version, description=c.description) for c in _DECLARATION.configs]  # noqa: RUF012
    DEFAULT_CONFIG_NAME = _DECLARATION.default_config

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=_DECLARATION.description,
            citation="\n\n".join(cc_hf.citations.citation(key).bibtex for key in _DECLARATION.citation_keys),
            homepage=_DECLARATION.homepage,
            license=_DECLARATION.licence,
            features=cc_hf.data.features.source_example_features(_DECLARATION.extra_keys),
        )

    def _split_generators(self, dl_manager: typing.Any) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name=datasets.Split.TEST)]

    def _generate_examples(self) -> typing.Iterator[tuple[int, dict[str, typing.Any]]]:
        examples = cc_hf.data.loading.load_examples("mucow", self.config.name, data_dir=self.config.data_dir)
        yield from enumerate(example.to_row() for example in examples)
