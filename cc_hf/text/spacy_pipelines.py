"""spaCy pipelines, with errors that say how to install them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError

__all__ = ["load_pipeline", "pipeline_name"]


def load_pipeline(name: str, lang: str, *, exclude: Sequence[str] = ()) -> Any:
    """Load a spaCy pipeline.

    Args:
        name: name or path of the pipeline.
        lang: the language that it must have, ISO 639-1.

    Raises:
        MissingDependencyError: if spaCy or the pipeline is not installed.
        InputError: for a pipeline of another language.
    """
    try:
        import spacy
    except ImportError:
        raise MissingDependencyError(
            "spacy", install=f"pip install 'spacy>=3.7' && python -m spacy download {name}"
        ) from None
    try:
        pipeline = spacy.load(name, exclude=list(exclude))
    except OSError:
        raise MissingDependencyError(name, install=f"python -m spacy download {name}") from None
    if pipeline.lang != lang:
        raise InputError(
            f"spacy_model: expected a pipeline for {lang}, got {name!r}, which is for"
            f" {pipeline.lang}"
        )
    return pipeline


def pipeline_name(pipeline: Any) -> str:
    """Return the name of a pipeline with its version, as signatures hold it."""
    import spacy

    meta = pipeline.meta
    return f"spacy-{spacy.__version__}+{meta['lang']}_{meta['name']}-{meta['version']}"
