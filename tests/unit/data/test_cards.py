"""What the cards of the datasets say is what the data say."""

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

CARDS = [pytest.param(name, marks=[pytest.mark.shared] if load_declaration(name).files_of(None) else []) for name in registry.DATASETS]


@pytest.mark.parametrize("name", registry.DATASETS)
def test_front_matter_and_prose_follow_the_declaration(root: Path, name: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    card = DatasetCard((root / f"cards/datasets/{name}.md").read_text(encoding="utf-8"))
    fields: dict[str, Any] = vars(card.data)
    assert fields["license"] == declaration.licence
    assert fields["language"] == ["en"]
    assert fields["task_categories"] == ["translation"]
    assert fields["size_categories"] == ["1K<n<10K"]
    for config in declaration.configs:
        assert 1_000 < config.n_examples < 10_000
        assert re.search(rf"^\| `{re.escape(config.name)}`[^|]*\| {config.n_examples:,} \|", card.text, re.MULTILINE), config.name
    for key in declaration.extra_keys:
        assert f"`{key}`" in card.text
    for file in declaration.files_of(None):
        assert file.path in card.text
        assert file.commit[:7] in card.text


@pytest.mark.parametrize("name", CARDS)
def test_the_example_of_the_card_is_the_first_row(root: Path, shared: Path, name: str) -> None:
    text = (root / f"cards/datasets/{name}.md").read_text(encoding="utf-8")
    found = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert found is not None
    data_dir = shared / "upstream" if load_declaration(name).files_of(None) else None
    row = load_examples(name, data_dir=data_dir)[0].to_row()
    shown = json.loads(found.group(1))
    assert shown == {key: row[key] for key in shown}
    assert {"source", "focus", "correct_sources", "incorrect_sources", "category"} <= set(shown)
