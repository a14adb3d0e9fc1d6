"""Fixtures of all tests. Sockets are refused (pytest-socket); caches lie in a folder of the session; the Hub is offline."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_HOME = tempfile.mkdtemp(prefix="cc-hf-tests-")
os.environ["HF_HOME"] = _HOME  # before datasets, evaluate or transformers are imported
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.pop("CC_HF_DATA_DIR", None)

_ROOT = Path(__file__).parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not _shared_folder().is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="the real data (the folder shared beside the project, or CC_HF_SHARED) is not here"))


@pytest.fixture(autouse=True)
def _no_scores_of_other_tests() -> Iterator[None]:
    """The command line keeps scores in HF_HOME, which the session shares; each test starts without."""
    yield
    for path in (Path(_HOME) / "cc_hf").glob("scores.sqlite*"):
        path.unlink()


def _shared_folder() -> Path:
    return Path(os.environ.get("CC_HF_SHARED", _ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return _ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with upstream data and gold; tests that use it carry the marker `shared`."""
    return _shared_folder()


@pytest.fixture(scope="session")
def tiny_marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Marian model with random weights, saved to disk by transformers."""
    from tests.helpers.models import save_tiny_marian

    return save_tiny_marian(tmp_path_factory.mktemp("tiny-marian"))
