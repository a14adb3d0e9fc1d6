"""Builds every configuration of every dataset whose files lie in a local copy: python build_all.py OUTPUT DATA_DIR."""

from __future__ import annotations

import sys
from pathlib import Path

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.hub.parquet import build


def main() -> None:
    """Build into OUTPUT/NAME."""
    output, data_dir = map(Path, sys.argv[1:])
    for name in registry.names("dataset"):
        declared = declaration(name)
        here = [c.name for c in declared.configs if all((data_dir / file.repository / file.path).is_file() for file in declared.files_of(c.name))]
        if here:
            build(name, here, output=output / name, data_dir=data_dir)


if __name__ == "__main__":
    main()
