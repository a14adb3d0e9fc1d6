"""Builds every configuration of every dataset, from a local copy or, where that lacks a file, from
sample rows in upstream's layout.

python -m tests.compat.build_all OUTPUT DATA SHARED: OUTPUT/NAME is what `cc-hf build NAME` writes,
DATA becomes the data_dir with every file.
"""

import sys
from pathlib import Path

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.plugins.dataset_folders.building import build_dataset_folder
from tests.helpers.samples import is_sampled, lay_out_samples


def main() -> None:
    """Build into OUTPUT/NAME."""
    output, data, shared = map(Path, sys.argv[1:])
    for name in registry.names("dataset"):
        for config in declaration(name).configs:
            if is_sampled(name, config.name):
                lay_out_samples(name, config.name, data, shared)
            else:
                link(name, config.name, data, shared)
        build_dataset_folder(name, output=output / name, data_dir=data)


def link(name: str, config: str, data: Path, shared: Path) -> None:
    """Let DATA have the files that the local copy has."""
    for file in declaration(name).files_of(config):
        path = data / file.repository / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.symlink_to((shared / "upstream" / file.repository / file.path).resolve())


if __name__ == "__main__":
    main()
