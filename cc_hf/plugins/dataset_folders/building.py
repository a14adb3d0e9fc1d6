"""Write a dataset as a folder for a Hub repository: Parquet files by configuration, the card with
its YAML, and the builder script in a folder where the Hub ignores it. Contrastive translations are
there twice: as examples, and as choices for programs that read columns.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from cc_hf import registry
from cc_hf.data.dataset_folders import CHOICES, examples_of_rows, is_dataset_folder
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.loading import card_path, declaration, load_dataset, script_path
from cc_hf.errors import InputError
from cc_hf.files import is_file
from cc_hf.folders import new_folder
from cc_hf.hub.cards import with_block
from cc_hf.hub.tasks import benchmark_tasks
from cc_hf.plugins.dataset_folders.benchmark import eval_yaml
from cc_hf.plugins.dataset_folders.cards import (
    custom_card,
    rows_loaded_by,
    size_category,
    sizes_table,
)
from cc_hf.plugins.dataset_folders.croissant import croissant_text
from cc_hf.plugins.dataset_folders.declared_card import declared_card
from cc_hf.schema import ContrastiveTranslationExample

__all__ = ["build_dataset_folder"]

#: What a card says of choices.
_CHOICES_NOTE = (
    f"A configuration that ends in `{CHOICES}` has the translations of the one before as questions"
    " with two choices, for programs such as inspect-ai: `id`, `question`, `choices`, and `target`,"
    " the position of the right choice, from 0."
)


def build_dataset_folder(
    name: str | DatasetDeclaration,
    configs: Sequence[str] | None = None,
    *,
    output: str | Path,
    data_dir: str | Path | None = None,
    repo: str | None = None,
    task_ids: Sequence[str] | None = None,
    card: str | None = None,
) -> list[Path]:
    """Write a dataset into a new folder that can be uploaded to the Hub.

    It contains README.md, croissant.json, CONFIG/SPLIT-00000-of-00001.parquet, CONFIG.choices for
    configurations with contrastive translations, eval.yaml for registered datasets with such ones,
    and loading/NAME.py for those of cc_hf. Two builds produce the same bytes. The folder appears
    only when it is complete. `repo` is ORGANISATION/NAME on the Hub; None for a folder that has no
    name there. `card` None is the card of the dataset.
    """
    target = Path(output)
    declared = declaration(name)
    chosen = (
        [declared.config(c).name for c in configs]
        if configs is not None
        else [c.name for c in declared.configs]
    )
    is_own = declared.name == "custom"
    if is_own and task_ids is not None:
        raise InputError("tasks: a file of your own is no benchmark of cc_hf; leave the tasks out")
    tasks = [] if is_own else benchmark_tasks(declared, chosen, ids=task_ids)
    if is_own and not isinstance(name, DatasetDeclaration):
        card = card or _card_of_folder(Path(name))
    with new_folder(target) as folder:
        _write_data(declared, chosen, folder, data_dir=data_dir, repo=repo, text=card)
        described = croissant_text(folder, declared, repo)
        (folder / "croissant.json").write_text(described, encoding="utf-8", newline="\n")
        if tasks:
            (folder / "eval.yaml").write_text(
                eval_yaml(declared, tasks), encoding="utf-8", newline="\n"
            )
        if declared.name in registry.DATASETS:
            (folder / "loading").mkdir()
            script = script_path(declared.name)
            shutil.copyfile(script, folder / "loading" / script.name)
    return sorted(path for path in target.rglob("*") if path.is_file())


def _card_of_folder(folder: Path) -> str | None:
    """Return the card of a folder that `build_dataset_folder` wrote, which is kept."""
    readme = folder / "README.md"
    if is_dataset_folder(folder) and is_file(readme):
        return readme.read_text(encoding="utf-8")
    return None


def _write_data(
    declared: DatasetDeclaration,
    configs: Sequence[str],
    folder: Path,
    *,
    data_dir: str | Path | None,
    repo: str | None,
    text: str | None,
) -> None:
    infos, metadata = DatasetInfosDict(), MetadataConfigs()
    for config in configs:
        loaded = load_dataset(declared, config, data_dir=data_dir)
        for name, tables in {config: loaded, **_choices(declared, config, loaded)}.items():
            for split, rows in tables.items():
                path = folder / name / f"{split}-00000-of-00001.parquet"
                path.parent.mkdir(exist_ok=True)
                # Without the names of the columns' types in `datasets`, which write a list in ways
                # that older versions cannot read. The card has them, for every version.
                table = rows.data.table.replace_schema_metadata(None)
                pyarrow.parquet.write_table(table, path)
            infos[name] = _info(name, tables, folder / name)
            metadata[name] = {
                "data_files": [{"split": split, "path": f"{name}/{split}-*"} for split in tables]
            }
        if config == declared.default_config:
            metadata[config]["default"] = True
    sizes = {c: {s: i.num_examples for s, i in infos[c].splits.items()} for c in configs}
    text = text or _card(declared, sizes, repo)
    if infos.keys() != set(configs) and _CHOICES_NOTE not in text:
        text = text.replace("## Example\n", f"{_CHOICES_NOTE}\n\n## Example\n", 1)
    card = DatasetCard(text)
    n_rows = sum(n for splits in sizes.values() for n in splits.values())
    card.data["size_categories"] = [size_category(n_rows)]
    infos.to_dataset_card_data(card.data)
    metadata.to_dataset_card_data(card.data)
    (folder / "README.md").write_text(str(card), encoding="utf-8", newline="\n")


def _choices(
    declared: DatasetDeclaration, config: str, loaded: datasets.DatasetDict
) -> dict[str, datasets.DatasetDict]:
    """Return the configuration of choices by its name; none where nothing is to be chosen."""
    choice_rows = registry.find("public name", "choice_rows")
    # Other examples, open choices and rows without a wrong translation give no choices.
    if choice_rows is None or not declared.config(config).has_choices:
        return {}
    text = datasets.Value("string")
    columns: dict[str, Any] = {"id": text, "question": text, "choices": [text]}
    features = datasets.Features({**columns, "target": datasets.Value("int64")})
    tables = datasets.DatasetDict()
    for split, rows in loaded.items():
        choices = choice_rows(examples_of_rows(ContrastiveTranslationExample, rows))
        if not choices:
            return {}
        tables[split] = datasets.Dataset.from_list(choices, features=features)
    return {f"{config}{CHOICES}": tables}


def _card(
    declared: DatasetDeclaration, sizes: Mapping[str, Mapping[str, int]], repo: str | None
) -> str:
    """Return the card, with the configurations and numbers of rows that the folder has."""
    if declared.name == "custom":
        return custom_card(declared, repo)
    if declared.name not in registry.DATASETS:
        return declared_card(declared, sizes, repo)
    text = with_block(
        card_path(declared.name).read_text(encoding="utf-8"), "sizes", sizes_table(declared, sizes)
    )
    return text.replace(
        "## Example\n",
        f"## Example\n{rows_loaded_by(repo, next(iter(sizes)))} without cc_hf. With cc_hf:\n\n",
        1,
    )


def _info(config: str, loaded: datasets.DatasetDict, folder: Path) -> datasets.DatasetInfo:
    """Return features, numbers of rows and sizes: nothing that differs between machines."""
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
