"""A model under test together with how it translates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cc_hf.errors import InputError, shown
from cc_hf.rules import AtLeast, OneOf, check_fields
from cc_hf.schema import Example

__all__ = ["BACKENDS", "DEFAULT_BEAMS", "PRECISIONS", "System", "with_context"]

DEFAULT_BEAMS = 5
#: Precision of the products with weights when a system translates.
PRECISIONS = ("fp32", "int8")
#: Libraries that run a system when it translates.
BACKENDS = ("torch", "ctranslate2")


def with_context(text: str, context: str, separator: str = "") -> str:
    """Return a text after its context and a separator such as "<sep>", where there are any."""
    return " ".join(filter(None, (context, separator, text))) if context else text


@dataclass(frozen=True, slots=True)
class System:
    """A model under test together with how it translates.

    With a separator, the model sees the sentences before each source, too: "He paints. <sep> The
    doctor left." Systems that are trained on pairs of two sentences (Currey et al. 2022, section
    5.3) translate both and write the separator between; what stands before the last separator is
    cut off. A translation without a separator is judged as a whole, since some systems write the
    last sentence only.

    Attributes:
        model: model that translates: a name, a folder, or a model on the Hub; several make an
            ensemble, whose members must share one tokenizer and vocabulary. Or rules, such as
            apertium:eng-spa.
        num_beams: number of beams in the beam search.
        separator: text between a source and the sentences before it, which the system then reads,
            too, such as "<sep>" (contextual_* of mt_geneval); None for the source alone.
        precision: "fp32" computes with the weights as they are loaded, "int8" with weights and
            inputs of products in 8 bits, on the CPU.
        backend: library that runs the model: "torch", or "ctranslate2" for Marian and M2M100 on
            the CPU.

    Raises:
        InputError: for a number of beams below 1, a blank separator, or another precision or
            backend.

    Examples:
        >>> System("org/model", separator="<sep>").last_sentence("Er malt. <sep> Der Arzt ging.")
        'Der Arzt ging.'
    """

    model: str | Path | tuple[str | Path, ...]
    num_beams: Annotated[int, AtLeast(1)] = DEFAULT_BEAMS
    separator: str | None = None
    precision: Annotated[str, OneOf(*PRECISIONS)] = "fp32"
    backend: Annotated[str, OneOf(*BACKENDS)] = "torch"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.separator is not None and not str(self.separator).strip():
            raise InputError(
                "separator: expected the text that the system was trained with between two"
                f" sentences, such as <sep>, got {shown(self.separator)}"
            )

    def sources(self, examples: Sequence[Example]) -> list[str]:
        """Return what the model translates; examples without a context are translated alone.

        Raises:
            InputError: with a separator, for examples none of which has a context.
        """
        if self.separator is None:
            return [example.source for example in examples]
        # Without "source_with_context", the column "context" means something else.
        contexts = [
            e.extra.get("context", "") if "source_with_context" in e.extra else "" for e in examples
        ]
        if not any(contexts):
            raise InputError(
                "separator: expected sources with sentences before them (contextual_* of"
                " mt_geneval), got none; leave the separator out"
            )
        return [
            with_context(example.source, context, self.separator)
            for context, example in zip(contexts, examples, strict=True)
        ]

    def last_sentence(self, translation: str) -> str:
        """Return what stands after the last separator of a translation."""
        if self.separator is None:
            return translation
        return translation.rpartition(self.separator)[2].strip()

    def signature(self, name: str) -> str:
        """Return how the translations were made, as a signature holds it.

        Examples:
            >>> System("org/model", precision="int8").signature("org/model@1a2b3c4")
            'org/model@1a2b3c4/beam5/int8 torch'
        """
        context = "" if self.separator is None else f"/context {self.separator}"
        arithmetic = (
            ""
            if (self.precision, self.backend) == ("fp32", "torch")
            else f"/{self.precision} {self.backend}"
        )
        return f"{name}/beam{self.num_beams}{arithmetic}{context}"
