"""The papers that cards may cite."""

from itertools import chain

from cc_hf import registry
from cc_hf.citations import CITATIONS, Citation, citation


def papers() -> dict[str | Citation, Citation]:
    """Return the papers of `cc_hf.citations` by key, and those that only a dataset declares."""
    declared = (dataset.citation_keys for dataset in registry.load_all("dataset").values())
    return {key: citation(key) for key in chain(CITATIONS, *declared)}
