"""Choices as plain rows, for programs that show options in their own way, such as inspect-ai."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cc_hf.plugins.asking.prompting.prompts import bare_question
from cc_hf.plugins.asking.prompting.samples import choice_samples
from cc_hf.plugins.asking.prompting.templates import find_template
from cc_hf.schema import ContrastiveTranslationExample

__all__ = ["choice_rows"]


def choice_rows(examples: Sequence[ContrastiveTranslationExample]) -> list[dict[str, Any]]:
    """Return the choices that `cc-hf ask` puts to a model without demonstrations.

    Returns:
        One row per choice, in the order of the examples: `id`, `question` (the instruction and the
        source, without the options), `choices` (both options, in the order in which they are
        shown) and `target` (the position of the right one, from 0). An example without a wrong
        translation gives none, see `cc_hf.plugins.asking.prompting.samples.choice_samples`.

    Examples:
        >>> example = ContrastiveTranslationExample(
        ...     "a", "en", "de", "It fell.", "Er fiel.", ("Sie fiel.",), "male", {"answer": "2"}
        ... )
        >>> row = choice_rows([example])[0]
        >>> row["choices"], row["target"]
        (['Sie fiel.', 'Er fiel.'], 1)
    """
    has_source = any(example.source for example in examples)
    template = find_template("translations" if has_source else "fillers", "basic")
    return [
        {
            "id": sample.id,
            "question": bare_question(
                template, sample, src_lang=example.src_lang, tgt_lang=example.tgt_lang
            ),
            "choices": list(sample.options),
            "target": int(sample.answer) - 1,
        }
        for example in examples
        for sample in choice_samples(example)
    ]
