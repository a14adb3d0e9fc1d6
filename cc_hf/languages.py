"""The languages that cc_hf knows by ISO 639-1 code."""

from __future__ import annotations

__all__ = ["LANGUAGES", "two_letter_code"]

LANGUAGES: dict[str, str] = {
    "ar": "Arabic",
    "cs": "Czech",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "tr": "Turkish",
    "uk": "Ukrainian",
}


_THREE_LETTERS = {
    "ara": "ar", "ces": "cs", "deu": "de", "ger": "de", "eng": "en", "spa": "es", "est": "et", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi",
    "ita": "it", "lit": "lt", "lav": "lv", "nld": "nl", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "tur": "tr", "ukr": "uk",
}  # fmt: skip


def two_letter_code(code: str) -> str:
    """ISO 639-1 for a code that a model gives in two or three letters; an unknown code, and "", are returned as they are.

    >>> two_letter_code("deu"), two_letter_code("de"), two_letter_code("")
    ('de', 'de', '')
    """
    return _THREE_LETTERS.get(code, code)
