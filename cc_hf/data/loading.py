"""Datasets by name: as examples, or as a `datasets.DatasetDict` through the builder in
datasets_scripts.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.data.dataset_folders import folder_declaration, is_dataset_folder
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.download import fetch, is_local, local_folder
from cc_hf.data.files.custom import custom_declaration, is_custom
from cc_hf.errors import CCError, DataError, InputError
from cc_hf.files import carried, is_file
from cc_hf.languages import language_tag, same_language
from cc_hf.records import POSITIVE, read_json, write_record
from cc_hf.schema import ContrastiveSourceExample, Example, dataset_in_words
from cc_hf.tables.rows import suffixes

__all__ = [
    "SAMPLE_SIZES",
    "card_path",
    "check_target_language",
    "declaration",
    "load_dataset",
    "load_examples",
    "no_progress_bar",
    "rows",
    "script_path",
    "signature_fields",
]

#: Name of the file that declares the sizes of samples in a local copy.
SAMPLE_SIZES = "cc_hf_sizes.json"


def declaration(
    name: str | DatasetDeclaration, *, src_lang: str | None = None, tgt_lang: str | None = None
) -> DatasetDeclaration:
    """Return the declaration of a dataset.

    Args:
        name: a name of `cc-hf list datasets`, a file of sources, positions and cues
            (`cc_hf.data.files.custom.read_custom`), or a folder that `cc-hf build` wrote. A
            declaration is returned unchanged.
        src_lang, tgt_lang: languages of the rows of a file that name none; None for English sources
            and translations into a language that is not known.

    Raises:
        UnknownNameError: for a dataset that is not registered.
        DataError: for a row of a file or folder that is not as expected.
        InputError: for a file that cannot be read or has another suffix.

    Examples:
        >>> declaration("simplegen").default_config
        'en-de'
    """
    if isinstance(name, DatasetDeclaration):
        return name
    if isinstance(name, (str, Path)) and is_custom(name):
        return custom_declaration(name, src_lang=src_lang or "en", tgt_lang=tgt_lang or None)
    if isinstance(name, (str, Path)) and is_file(name):
        raise InputError(
            f"{name}: expected a dataset's name, or a file that ends in {', '.join(suffixes())};"
            " save it as one of these"
        )
    if (
        isinstance(name, (str, Path))
        and is_dataset_folder(name)
        and str(name) not in registry.names("dataset")
    ):
        return folder_declaration(name)
    declared: DatasetDeclaration = registry.resolve("dataset", name)
    return declared


def load_examples(
    name: str | DatasetDeclaration,
    config: str | None = None,
    *,
    split: str = "test",
    data_dir: str | Path | None = None,
) -> list[Any]:
    """Return all examples of a configuration, in the order of the source files.

    Args:
        name: a name, file or declaration as for `declaration`.
        config: name of a configuration, or a language pair, such as "en-de", of one that is named
            after it, of the default one, or of the only one that has it; None for the default.
        split: name of a split.
        data_dir: a local copy of the upstream repositories (DIR/owner/repository/path), used
            instead of a download. A sample of a file that is pinned by its commit only must declare
            its number of examples in DIR/cc_hf_sizes.json, such as
            {"demelin/wino_x/data/mt/en_de_test.jsonl": 13}.

    Returns:
        Examples of the configuration's class (`cc_hf.schema`).

    Raises:
        UnknownNameError: for an unknown dataset, configuration or split.
        DataError: when a file is missing, changed or malformed, cannot be downloaded, or holds
            another number of examples than the dataset declares.
        InputError: for a user's file that cannot be read.

    Examples:
        >>> load_examples("simplegen", "en-de")[0].source
        'My husband is a director.'
    """
    return list(_read(declaration(name), config, split, data_dir))


def rows(
    name: str, config: str | None = None, *, split: str = "test", data_dir: str | Path | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield pairs of a 0-based number and a row of a Hugging Face dataset, for the builder scripts.

    Examples:
        >>> number, row = next(rows("simplegen", "en-de"))
        >>> number, row["focus"]
        (0, {'text': 'director', 'start': 16})
    """
    return enumerate(
        write_record(example) for example in _read(declaration(name), config, split, data_dir)
    )


def signature_fields(
    name: str | DatasetDeclaration,
    config: str,
    *,
    split: str = "test",
    data_dir: str | Path | None = None,
) -> dict[str, str]:
    """Return the signature's fields for the data: name, configuration, split unless it is `test`,
    revision, cues, and the hash of counts that decide the categories.

    The revision is the pinned commit, or a hash of the content where a local copy of a file that is
    pinned by its commit only is read.

    Examples:
        >>> signature_fields("simplegen", "en-de")
        {'data': 'simplegen/en-de@1.0.0', 'cues': 'gender_brackets'}
    """
    declared = declaration(name)
    config_and_split = config if split == "test" else f"{config}/{split}"
    cues = (
        {"cues": declared.cues_of(config)}
        if declared.config(config).form is ContrastiveSourceExample
        else {}
    )
    return {
        "data": f"{declared.name}/{config_and_split}@{_revision(declared, config, data_dir)}",
        **cues,
        **({"counts": declared.counts} if declared.counts else {}),
    }


def _revision(declared: DatasetDeclaration, config: str, data_dir: str | Path | None) -> str:
    unpinned = (
        [fetch(file, data_dir) for file in declared.files_of(config) if not file.sha256]
        if is_local(data_dir)
        else []
    )
    # Files with a hash are checked when they are read, and their commit says what they are.
    if not unpinned:
        return next((file.commit for file in declared.files_of(config)), declared.revision)[:7]
    return (
        "local."
        + hashlib.sha256(
            b"".join(hashlib.sha256(path.read_bytes()).digest() for path in unpinned)
        ).hexdigest()[:7]
    )


def _read(
    declared: DatasetDeclaration, config: str | None, split: str, data_dir: str | Path | None
) -> Iterator[Example]:
    chosen, split_name = declared.config(config), declared.split(config, split)
    paths = {file.path: fetch(file, data_dir) for file in declared.files_of(chosen.name)}
    examples = declared.read(paths, chosen.name, split_name)
    sample = _sample_size(
        [file for file in declared.files_of(chosen.name) if not file.sha256], data_dir
    )
    expected = chosen.splits[split_name] if sample is None else sample
    return _counted(
        examples, f"{declared.name} {chosen.name} {split_name}", expected, list(paths.values())
    )


def _sample_size(unpinned: list[SourceFile], data_dir: str | Path | None) -> int | None:
    """Return the number of examples that a local sample declares, or None."""
    folder = local_folder(data_dir)
    path = None if folder is None else Path(folder) / SAMPLE_SIZES
    if path is None or not unpinned or not is_file(path):
        return None
    # Files that are pinned by their commit only may be sampled.
    what = "an object, owner/repository/path of a file to its number of examples"
    sizes = read_json(path, what, {str: POSITIVE})
    counted = [
        sizes[name] for file in unpinned if (name := f"{file.repository}/{file.path}") in sizes
    ]
    return sum(counted) if counted else None


def _counted(
    examples: Iterator[Example], name: str, expected: int | None, paths: list[Path]
) -> Iterator[Example]:
    """Refuse files that hold more or fewer examples than declared."""
    # Counted while they pass: the number is known when the last one was read.
    n = 0
    for example in examples:
        n += 1
        yield example
    if expected is not None and n != expected:
        files = ", ".join(map(str, paths)) or name
        raise DataError(
            f"{files}: expected {expected} examples of {name}, got {n}; files were cut, added to or"
            " are of another version. Restore them from where the dataset comes from, or leave"
            " data_dir (or CC_HF_DATA_DIR) out and let them be downloaded; a sample on"
            f" purpose declares its size in {SAMPLE_SIZES}, see cc_hf.data.loading.load_examples"
        )


def load_dataset(
    name: str | DatasetDeclaration,
    config: str | None = None,
    *,
    split: str | None = None,
    data_dir: str | Path | None = None,
    streaming: bool = False,
) -> Any:
    """Return the dataset as a `datasets.DatasetDict` of the configuration's splits, or one split.

    The columns are the fields of the configuration's class of examples (`cc_hf.schema`). The cache
    of `datasets` is used, and is rebuilt when the data or the code change.

    Args:
        name: as for `load_examples`.
        config: as for `load_examples`.
        split: one of the configuration's splits; None for all.
        data_dir: as for `load_examples`.
        streaming: return an IterableDatasetDict or IterableDataset, which reads row by row and
            writes no cache.

    Raises:
        UnknownNameError: for an unknown dataset or configuration, or an unknown split of a user's
            file.
        DataError: as for `load_examples`.
        DatasetGenerationError: from `datasets`, when the dataset cannot be built for a reason other
            than its data, such as a full disk.
        ValueError: from `datasets`, for a split that does not exist.

    Examples:
        >>> load_dataset("simplegen", "en-es")["test"].num_rows
        2664
    """
    import datasets

    declared = declaration(name)
    chosen = declared.config(config)
    if declared.name not in registry.DATASETS or declared.counts:  # there is no script for it
        return _in_memory(declared, chosen, split, data_dir, streaming=streaming)
    paths = [fetch(file, data_dir) for file in declared.files_of(chosen.name)]
    builder = _builder_class(declared.name)(
        config_name=chosen.name,
        data_dir=None if data_dir is None else str(data_dir),
        hash=_fingerprint(declared, paths),
    )
    if streaming:
        return builder.as_streaming_dataset(split=split)
    try:
        with no_progress_bar():
            builder.download_and_prepare()
    except datasets.exceptions.DatasetGenerationError as error:
        # `datasets` wraps the reader's error, which names the row: raise that one.
        if isinstance(error.__cause__, CCError):
            raise error.__cause__ from None
        raise
    return builder.as_dataset(split=split)


def _in_memory(
    declared: DatasetDeclaration,
    config: ConfigDeclaration,
    split: str | None,
    data_dir: str | Path | None,
    *,
    streaming: bool,
) -> Any:
    import datasets

    from cc_hf.data.features import dataset_info

    info = dataset_info(declared, config.name)
    tables = {
        name: datasets.Dataset.from_list(
            [write_record(example) for example in _read(declared, config.name, name, data_dir)],
            info=info,
        )
        for name in config.splits
    }
    splits = datasets.DatasetDict(tables)
    if streaming:
        splits = datasets.IterableDatasetDict(
            {name: table.to_iterable_dataset() for name, table in tables.items()}
        )
    return splits if split is None else splits[declared.split(config.name, split)]


@contextlib.contextmanager
def no_progress_bar() -> Iterator[None]:
    """Hide the progress bars of `datasets` within a context."""
    import datasets

    # The datasets are built in about a second. `datasets` can only switch its bars off for the
    # whole process.
    hidden = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if not hidden:
            datasets.enable_progress_bars()


def script_path(name: str) -> Path:
    """Return the path of a dataset's builder script, which need not exist."""
    return carried("datasets_scripts") / name / f"{name}.py"


def card_path(name: str, *, kind: str = "datasets") -> Path:
    """Return the path of the card of one of the "datasets" or "metrics", which need not exist.

    Examples:
        >>> card_path("mucow").parts[-3:]
        ('cards', 'datasets', 'mucow.md')
    """
    return carried("cards") / kind / f"{name}.md"


def _builder_class(name: str) -> Any:
    import datasets

    module_name = f"cc_hf_datasets_scripts_{name}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, script_path(name))
        if spec is None or spec.loader is None:
            raise ImportError(f"no builder script for {name} at {script_path(name)}")
        module = importlib.util.module_from_spec(spec)
        # `datasets` looks the module up, so it is registered before it is executed.
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        # A half executed module would be taken for the whole one at the next call.
        except BaseException:
            del sys.modules[module_name]
            raise
    members = vars(sys.modules[module_name]).values()
    return next(
        m
        for m in members
        if inspect.isclass(m)
        and issubclass(m, datasets.ArrowBasedBuilder)
        and m.__module__ == module_name
    )


def _fingerprint(declared: DatasetDeclaration, paths: list[Path]) -> str:
    """Return a hash that changes with script, reader, format, data and version of `datasets`."""
    import datasets

    # What `datasets` caches depends on its version, the data, and the code that reads them. Another
    # major version may write columns in a way that an older one cannot read.
    digest = hashlib.sha256(datasets.__version__.partition(".")[0].encode())
    package = Path(__file__).parent.parent
    reader = Path(inspect.getfile(declared.read))
    folders = [*(package / room for room in ("cues", "data", "text")), reader.parent]
    code = sorted(path for folder in folders for path in folder.rglob("*.py"))
    for path in [script_path(declared.name), package / "schema.py", *code, *paths]:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def check_source_language(
    dataset: str | DatasetDeclaration, config: str | None, src_lang: str
) -> None:
    """Check that the sources of a configuration are in a language."""
    declared = declaration(dataset)
    chosen = declared.config(config)
    if not same_language(language_tag(src_lang, "src_lang"), chosen.src_lang):
        raise InputError(
            f"src_lang: expected {chosen.src_lang}, the language of the sources of"
            f" {dataset_in_words(declared.name)} {chosen.name}, got {src_lang}"
        )


def check_target_language(
    dataset: str | DatasetDeclaration, config: str | None, tgt_lang: str | None
) -> str:
    """Return the target language of a configuration: the requested one, or its only one for None.

    Raises:
        UnknownNameError: for an unknown dataset or configuration.
        InputError: when the configuration does not have the language, or has several and none is
            requested.

    Examples:
        >>> check_target_language("simplegen", "en-de", None)
        'de'
    """
    declared = declaration(dataset)
    chosen = declared.config(config)
    languages = chosen.tgt_langs
    tgt_lang = tgt_lang and language_tag(tgt_lang, "tgt_lang")
    if tgt_lang is None and len(languages) == 1:
        return languages[0]
    if tgt_lang is None and declared.name == "custom":
        raise InputError(
            f"tgt_lang: the file of the dataset {chosen.name!r} does not say into which language"
            " its sentences are translated; give the code of the language, such as de, or add a"
            " column tgt_lang to the file"
        )
    if tgt_lang is None:
        raise InputError(
            f"tgt_lang: {dataset_in_words(declared.name)} {chosen.name} has several target"
            f" languages; name one of {', '.join(languages)}"
        )
    if not chosen.has_target(tgt_lang):
        others = [c.name for c in declared.configs_of_pair(chosen.src_lang, tgt_lang)]
        hint = f"; {tgt_lang} has the configuration {' or '.join(others)}" if others else ""
        raise InputError(
            f"tgt_lang: {dataset_in_words(declared.name)} {chosen.name} does not support the"
            f" target language {tgt_lang!r}; expected one of {', '.join(languages)}{hint}"
        )
    return tgt_lang
