"""Templates that put a source into words: "translate English to German: {source}"."""

from __future__ import annotations

import string
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf.languages import LANGUAGES, base_code, language_hint, language_name

__all__ = ["DEFAULT_PROMPT", "PromptTemplate"]

#: The prompt by which causal models score a translation. It ends in a line break, since a
#: translation at the beginning of a line is split into the same tokens with and without the prompt.
DEFAULT_PROMPT = "{src_name}:\n{source}\n{tgt_name}:\n"

_FIELDS = ("source", "src_lang", "tgt_lang", "src_name", "tgt_name")


@dataclass(frozen=True)
class PromptTemplate:
    """A text with fields: {source}, {src_lang}, {tgt_lang} (codes), {src_name}, {tgt_name} (names
    in English).

    {{ and }} stand for braces.
    """

    text: str

    def __post_init__(self) -> None:
        try:
            fields = self.fields
        except ValueError as error:
            raise InputError(
                f"prompt: {error} in {self.text!r}; write {{{{ and }}}} for braces"
            ) from error
        if unknown := sorted(fields - set(_FIELDS)):
            raise InputError(
                f"prompt: expected the fields {', '.join(_FIELDS)}, got"
                f" {', '.join(map(repr, unknown))} in {self.text!r}"
            )

    @property
    def fields(self) -> set[str]:
        """The names in braces."""
        return {
            name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            for _, name, form, conversion in string.Formatter().parse(self.text)
            if name is not None
        }

    def check_language(self, name: str, side: str, lang: str) -> None:
        """Check that a language that the template names is given and known."""
        prefix = {"source": "src", "target": "tgt"}[side]
        if not self.fields & {f"{prefix}_lang", f"{prefix}_name"}:
            return
        if not lang:
            raise InputError(
                f"{name}: the prompt {self.text!r} names the {side} language; give it with"
                f" {prefix}_lang"
            )
        if f"{prefix}_name" in self.fields and base_code(lang) not in LANGUAGES:
            raise InputError(
                f"{name}: the {side} language {lang!r} has no name here;"
                f" {language_hint(lang, LANGUAGES)}"
            )

    def scored_as(self, side: str, lang: str) -> str:
        """Return the language that the text tells: without script and region if it names none."""
        prefix = {"source": "src", "target": "tgt"}[side]
        is_named = self.fields & {f"{prefix}_lang", f"{prefix}_name"}
        return lang if is_named else base_code(lang)

    def fill(self, source: str, src_lang: str, tgt_lang: str) -> str:
        """Return the text for one source."""
        names = {
            f"{side}_name": language_name(lang)
            for side, lang in (("src", src_lang), ("tgt", tgt_lang))
        }
        return self.text.format(source=source, src_lang=src_lang, tgt_lang=tgt_lang, **names)
