"""Write a dataset as a folder for a Hub repository: Parquet files by configuration, the card with
its YAML, and the builder script in a folder where the Hub ignores it.
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

__all__ = ["build_dataset_folder"]


def build_dataset_folder(
    name: str,
    configs: Sequence[str] | None = None,
    *,
    output: str | Path,
    data_dir: str | Path | None = None,
) -> list[Path]:
    """Write a dataset into a new folder that can be uploaded to the Hub.

    It contains README.md, CONFIG/SPLIT-00000-of-00001.parquet, and for registered datasets
    loading/NAME.py and eval.yaml. `datasets.load_dataset(output, config)` loads it. Two builds
    produce the same bytes. The folder appears only when it is complete.

    Args:
        name: a name of `cc-hf list datasets`, or a file for `cc_hf.data.custom.read_custom`.
        configs: names of configurations; None for all.
        output: a folder that is empty or does not exist.
        data_dir: a local copy of the upstream repositories, as for `cc_hf.load_dataset`.

    Returns:
        The paths of the files, sorted.

    Raises:
        UnknownNameError: for a dataset or configuration that is not registered.
        DataError: for data that cannot be downloaded or are not as declared.
        InputError: if `output` exists and is not an empty folder, if its parent does not exist, or
            for a file that cannot be read.
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
    """Return the card of the dataset, with the configurations and numbers of rows that are in the
    folder.
    """
    text = with_block(
        card_path(name).read_text(encoding="utf-8"), "sizes", sizes_table(declaration(name), sizes)
    )
    return text.replace(
        "## Example\n",
        f'## Example\n`datasets.load_dataset(FOLDER_OR_REPOSITORY, "{next(iter(sizes))}")` loads'
        " the rows without cc_hf. With cc_hf:\n\n",
        1,
    )


def _info(config: str, loaded: datasets.DatasetDict, folder: Path) -> datasets.DatasetInfo:
    """Return features, numbers of rows and sizes, without anything that differs between
    machines.
    """
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
