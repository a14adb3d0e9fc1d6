"""Prints a digest of every row of every configuration of the folders in FOLDER, read as Parquet, by
the script and by cc_hf; runs under old and new `datasets`, which may share HF_HOME.

python digests.py FOLDER DATA_DIR [--scripts DIR]: FOLDER/NAME is what `cc-hf build NAME` wrote;
with --scripts also the builder scripts are loaded (`datasets` below 4 only) and must give the same
rows, as must `cc_hf.load_dataset` and each Parquet file without the card.

A line of the output holds NAME CONFIG SPLIT, the number of rows, and the sha256 of the rows.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import datasets
from huggingface_hub import DatasetCard

import cc_hf


def digest(rows: Any) -> str:
    """Number of rows and the sha256 of all as JSON."""
    total = hashlib.sha256()
    n = 0
    for row in rows:
        total.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode() + b"\n")
        n += 1
    return f"{n} {total.hexdigest()[:16]}"


def configurations(folder: Path) -> list[str]:
    """Those that the card of a built folder names."""
    configs = DatasetCard.load(folder / "README.md").data.to_dict()["configs"]
    return [config["config_name"] for config in configs]


def main() -> None:
    """Print the digests."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("data_dir")
    parser.add_argument("--scripts", type=Path)
    arguments = parser.parse_args()
    datasets.disable_progress_bars()
    for folder in sorted(path for path in arguments.folder.iterdir() if path.is_dir()):
        for config in configurations(folder):
            actual = datasets.load_dataset(str(folder), config)
            if arguments.scripts and not config.endswith(".choices"):  # which no script has
                script = str(arguments.scripts / folder.name)
                options = {"data_dir": arguments.data_dir, "trust_remote_code": True}
                files = (folder / config).glob("*.parquet")
                roads = {
                    "the script": datasets.load_dataset(script, config, **options),
                    "cc_hf": cc_hf.load_dataset(folder.name, config, data_dir=arguments.data_dir),
                    "each file": {
                        file.name.partition("-")[0]: datasets.Dataset.from_parquet(str(file))
                        for file in files
                    },
                }
                expected = {name: digest(rows) for name, rows in actual.items()}
                for road, splits in roads.items():
                    if {name: digest(rows) for name, rows in splits.items()} != expected:
                        raise SystemExit(
                            f"{folder.name} {config}: {road} gives other rows than the folder"
                        )
            for split, rows in sorted(actual.items()):
                streamed = datasets.load_dataset(str(folder), config, split=split, streaming=True)
                if digest(streamed) != digest(rows):
                    raise SystemExit(
                        f"{folder.name} {config} {split}: streaming gives other rows than loading"
                    )
                sys.stdout.write(f"{folder.name} {config} {split} {digest(rows)}\n")


if __name__ == "__main__":
    main()
