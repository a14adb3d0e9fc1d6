"""What the cards of the datasets say is what the data say."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import DatasetCard

from cc_hf import registry
from cc_hf.citations import citation
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.loading import load_examples

CARDS = [pytest.param(name, marks=[pytest.mark.shared] if registry.resolve("dataset", name).files else []) for name in registry.DATASETS]


def card(root: Path, name: str) -> str:
    return (root / f"cards/datasets/{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", registry.DATASETS)
def test_front_matter_and_prose_follow_the_declaration(root: Path, name: str) -> None:
    declaration: DatasetDeclaration = registry.resolve("dataset", name)
    found = DatasetCard(card(root, name))
    fields: dict[str, Any] = vars(found.data)
    prose = found.text
    assert fields["license"] == declaration.licence
    assert fields["language"] == ["en"]
    assert fields["task_categories"] == ["translation"]
    assert all(1_000 < config.n_examples < 10_000 for config in declaration.configs)
    assert fields["size_categories"] == ["1K<n<10K"]
    for config in declaration.configs:
        assert f"`{config.name}`" in prose
        assert f"{config.n_examples:,} " in prose
    for key in declaration.extra_keys:
        assert f"`{key}`" in prose
    for key in declaration.citation_keys:
        assert citation(key).bibtex in prose
    for file in declaration.files:
        assert file.commit in prose
        assert file.path in prose


@pytest.mark.parametrize("name", CARDS)
def test_the_example_of_the_card_is_the_first_row(root: Path, shared: Path, name: str) -> None:
    shown = re.findall(r"```json\n(.*?)```", card(root, name), re.DOTALL)
    assert [json.loads(block) for block in shown] == [load_examples(name, data_dir=shared / "upstream" if registry.resolve("dataset", name).files else None)[0].to_row()]


@pytest.mark.shared
def test_counts_of_winomt(root: Path, shared: Path) -> None:
    prose = card(root, "winomt")
    for config in registry.resolve("dataset", "winomt").configs:
        counts = Counter(example.gold for example in load_examples("winomt", config.name, data_dir=shared / "upstream"))
        assert f"| `{config.name}` | {counts.total():,} | {counts['male']:,} | {counts['female']:,} |" in prose
    labels: dict[str, list[tuple[str, str]]] = {}
    for example in load_examples("winomt", data_dir=shared / "upstream"):
        labels.setdefault(example.source, []).append((example.focus.text, example.gold))
    twice = [found for found in labels.values() if len(found) == 2]
    assert all(first == second for first, second in twice)
    assert max(map(len, labels.values())) == 2
    assert f"- {len(twice)} sentences occur twice, with the same labels." in prose


def test_counts_of_simplegen(root: Path) -> None:
    for category, count in Counter(example.category for example in load_examples("simplegen")).items():
        assert re.search(rf"\| `{category}` \|.*\| {count} \|", card(root, "simplegen"))
