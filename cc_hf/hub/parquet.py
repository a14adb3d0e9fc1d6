"""A dataset as the folder that a Hub repository holds: Parquet by configuration, the card with its
YAML, the builder script where it disturbs nobody.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import datasets
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from cc_hf.data.custom import is_custom
from cc_hf.data.loading import card_path, declaration, load_dataset, no_progress_bar, script_path
from cc_hf.hub.cards import custom_card, sizes_table, with_block
from cc_hf.hub.folders import new_folder
from cc_hf.hub.tasks import eval_yaml

__all__ = ["build"]


def build(
    name: str,
    configs: Sequence[str] | None = None,
    *,
    output: str | Path,
    data_dir: str | Path | None = None,
) -> list[Path]:
    """Write README.md, CONFIG/SPLIT-00000-of-00001.parquet, loading/NAME.py and eval.yaml into a
    new folder; returns the files, sorted.

    The folder loads with `datasets.load_dataset(output, config)` and is ready to be uploaded. Two
    builds give the same bytes. It appears whole or not at all.

    Args:
        name: a name of `cc-hf list datasets`, or a file as `cc_hf.data.custom.read_custom` takes
            it.
        configs: configurations; None for all.
        output: a folder that does not exist yet, or is empty.
        data_dir: as in `cc_hf.load_dataset`.

    Raises:
        UnknownNameError, DataError: as `cc_hf.load_dataset`.
        InputError: when `output` exists and is not an empty folder, or its parent does not exist.
    """
    target = Path(output)
    declared = declaration(name)
    chosen = (
        [declared.config(c).name for c in configs]
        if configs is not None
        else [c.name for c in declared.configs]
    )
    with new_folder(target) as folder:
        _write(name, chosen, folder, data_dir)
    return sorted(path for path in target.rglob("*") if path.is_file())


def _write(name: str, configs: Sequence[str], folder: Path, data_dir: str | Path | None) -> None:
    declared = declaration(name)
    infos, metadata = DatasetInfosDict(), MetadataConfigs()
    for config in configs:
        loaded = load_dataset(name, config, data_dir=data_dir)
        for split, rows in loaded.items():
            path = folder / config / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(exist_ok=True)
            with no_progress_bar():
                rows.to_parquet(path)
        infos[config] = _info(config, loaded, folder / config)
        metadata[config] = {
            "data_files": [{"split": split, "path": f"{config}/{split}-*"} for split in loaded]
        }
        if config == declared.default_config:
            metadata[config]["default"] = True
    card = DatasetCard(
        custom_card(declared)
        if is_custom(name)
        else _card(
            name, {c: {s: i.num_examples for s, i in infos[c].splits.items()} for c in configs}
        )
    )
    infos.to_dataset_card_data(card.data)
    metadata.to_dataset_card_data(card.data)
    (folder / "README.md").write_text(str(card), encoding="utf-8")
    if is_custom(name):
        return
    (folder / "eval.yaml").write_text(eval_yaml(name, configs), encoding="utf-8")
    (folder / "loading").mkdir()
    shutil.copyfile(script_path(name), folder / "loading" / f"{name}.py")


def _card(name: str, sizes: Mapping[str, Mapping[str, int]]) -> str:
    """The dataset's card with the configurations and numbers of rows that are in the folder."""
    text = with_block(
        card_path(name).read_text(encoding="utf-8"), "sizes", sizes_table(declaration(name), sizes)
    )
    return text.replace(
        "## Use\n",
        f'## Use\n`datasets.load_dataset(FOLDER_OR_REPOSITORY, "{next(iter(sizes))}")`, or with'
        " cc_hf:\n",
        1,
    )


def _info(config: str, loaded: datasets.DatasetDict, folder: Path) -> datasets.DatasetInfo:
    """Features, numbers of rows and sizes, without what differs between machines."""
    splits = datasets.SplitDict()
    for split, rows in loaded.items():
        splits.add(
            datasets.SplitInfo(name=split, num_bytes=rows.data.nbytes, num_examples=rows.num_rows)
        )
    features = next(iter(loaded.values())).features
    size = sum(path.stat().st_size for path in folder.iterdir())
    total = sum(rows.data.nbytes for rows in loaded.values())
    return datasets.DatasetInfo(
        config_name=config, features=features, splits=splits, download_size=size, dataset_size=total
    )
