"""The language of a text by py3langid, a form of langid (Lui & Baldwin 2012) without a pickle."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

from cc_hf.errors import MissingDependencyError

__all__ = ["identified_language", "identifier_name"]

_PACKAGE = "py3langid"


def identifier_name() -> str:
    """Return the name of the identifier for signatures, with its version."""
    _identifier()
    return f"{_PACKAGE}-{version(_PACKAGE)}"


def identified_language(text: str) -> str:
    """Return the likeliest of 140 languages; of a few words, it is often a related language.

    Examples:
        >>> identified_language("Der Schläger traf den Ball."), identified_language("A bat.")
        ('de', 'eu')
    """
    language, _ = _identifier().classify(text)
    return str(language)


@cache
def _identifier() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise MissingDependencyError(_PACKAGE, "languages") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE)
