"""Made-up Wino-X, and models with random weights and its vocabulary."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.evaluators.loading import load_evaluator
from tests.helpers.judged import Examples
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.wino_x_schemas import lay_out, lm_rows, mt_rows, save_schema_marian


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with both parts of 96 schemas."""
    folder = tmp_path_factory.mktemp("data")
    lay_out(folder, "mt", mt_rows(96))
    return lay_out(folder, "lm", lm_rows(96))


@pytest.fixture(scope="session")
def schemas(data_dir: Path) -> Examples:
    return cc_hf.load_examples("wino_x", "mt_en_de.translations", data_dir=data_dir)


@pytest.fixture(scope="session")
def marian_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model whose pronouns are one token each."""
    return save_schema_marian(tmp_path_factory.mktemp("marian"), n_pieces=140)


@pytest.fixture(scope="module")
def marian(marian_folder: Path) -> Any:
    return load_evaluator(marian_folder, mode="exact")


@pytest.fixture(scope="session")
def masked_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gaps = product(lm_rows(96), ("en", "de"), (1, 2))
    filled = [row[f"context_{of}"].replace("_", row[f"option{i}_{of}"]) for row, of, i in gaps]
    folder = tmp_path_factory.mktemp("masked")
    return save_tiny_masked_lm(folder, filled, family="xlm-roberta", vocab_size=120, seed=1)


@pytest.fixture(scope="session")
def both_sides(data_dir: Path) -> tuple[Examples, Examples]:
    """Return the samples of LM-Wino-X in German and in English."""
    load = partial(cc_hf.load_examples, "wino_x", data_dir=data_dir)
    return load("lm_en_de"), load("lm_en_de.english")
