"""The cards of the datasets agree with the data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import DatasetCard

from cc_hf import registry
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.loading import declaration as load_declaration
from cc_hf.data.loading import load_examples
from cc_hf.schema import ContrastiveSourceExample, ProbingExample
from tests.helpers.samples import is_sampled, lay_out_samples

#: examples of the largest configuration according to its paper, if not declared
PUBLISHED_SIZES = {"contrawsd": 7_200}
CARDS = [
    pytest.param(name, marks=[pytest.mark.shared] if load_declaration(name).files_of(None) else [])
    for name in registry.DATASETS
]


@pytest.mark.parametrize("name", registry.DATASETS)
def test_cards_agree_with_the_declaration(root: Path, name: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    card = DatasetCard((root / f"cards/datasets/{name}.md").read_text(encoding="utf-8"))
    fields: dict[str, Any] = vars(card.data)
    assert fields["license"] == declaration.licence
    has_text = [
        c
        for c in declaration.configs
        if set(declaration.extra_keys_of(c.name)) & {"reference", "context_tgt"}
        or c.form is not ContrastiveSourceExample
    ]
    # data for every target language contain no translations
    has_text = [c for c in has_text if c.form is not ProbingExample or len(c.tgt_langs) == 1]
    languages = {c.src_lang for c in declaration.configs} | {
        language for c in has_text for language in c.tgt_langs
    }
    assert fields["language"] == sorted(languages)
    assert fields["task_categories"] == ["translation"]
    numbers = [n for c in declaration.configs for n in c.splits.values() if n is not None]
    largest = (
        max(sum(n or 0 for n in c.splits.values()) for c in declaration.configs)
        if numbers
        else PUBLISHED_SIZES[name]
    )
    assert f"{largest:,}" in card.text
    assert fields["size_categories"] == ["10K<n<100K" if largest >= 10_000 else "1K<n<10K"]
    for config in declaration.configs:
        shown = [f"{n:,}" for n in config.splits.values() if n is not None]
        found = re.search(
            rf"^\| `{re.escape(config.name)}`[^|]*\| [^|]+ \| ([^|]+) \|", card.text, re.MULTILINE
        )
        assert found is not None, config.name
        assert all(number in found.group(1) for number in shown)
        assert ("unknown" in found.group(1)) == (None in config.splits.values())
        for key in declaration.extra_keys_of(config.name):
            assert f"`{key}`" in card.text, key
    for file in declaration.files_of(None):
        assert file.path in card.text
        assert file.commit[:7] in card.text
        assert ("local copy is not verified" in " ".join(card.text.split())) == (not file.sha256)


@pytest.mark.parametrize("name", CARDS)
def test_the_example_in_the_card_is_a_row_of_the_data(
    root: Path, shared: Path, tmp_path: Path, name: str
) -> None:
    """The row is the first of the data or, if the data are absent, one of their samples."""
    text = (root / f"cards/datasets/{name}.md").read_text(encoding="utf-8")
    found = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert found is not None
    shown = json.loads(found.group(1))
    declared = load_declaration(name)
    if is_sampled(name, declared.default_config):
        examples = load_examples(
            name, data_dir=lay_out_samples(name, declared.default_config, tmp_path, shared)
        )
        example = next(example for example in examples if example.id == shown["id"])
    else:
        example = load_examples(
            name, data_dir=shared / "upstream" if declared.files_of(None) else None
        )[0]
    row = example.to_row()
    assert shown == {key: row[key] for key in shown}
    assert {"source", "category"} <= set(shown)
    assert {"correct_sources", "correct_translation"} & set(shown)
