"""The counterfactual subset of MT-GenEval for translation into English: the references are the
sources (Currey et al. 2022, appendix B, names further uses of the data).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example, Focus
from cc_hf.test_sets.mt_geneval.pairs import Side, marked_focus, unquoted

__all__ = ["INTO_ENGLISH", "into_english"]

#: How the names of these configurations go on after that of the subset and the language.
INTO_ENGLISH = "into_english"


def into_english(
    pairs: Iterable[tuple[int, Side, Side]], lang: str, *, contrasts_translations: bool
) -> Iterator[Example]:
    """Yield the pairs with the reference as source and the English sentence as reference."""
    for pair, side, opposite in pairs:
        if side.reference == opposite.reference:
            # Two sources with the same text do not tell the gender. The card says how many.
            continue
        shared = {
            "pair": str(pair),
            "reference_raw": side.source,
            "annotated_source": side.annotated_reference,
            "annotated_reference": side.annotated_source,
        }
        if contrasts_translations:
            yield ContrastiveTranslationExample(
                id=f"{pair}.{side.gender}",
                src_lang=lang,
                tgt_lang="en",
                source=side.reference,
                correct_translation=side.source,
                contrastive_translations=(opposite.source,),
                category=side.gender,
                extra={"contrastive_source": opposite.reference, **shared},
            )
            continue
        yield ContrastiveSourceExample(
            id=f"{pair}.{side.gender}",
            src_lang=lang,
            tgt_lang="en",
            source=side.reference,
            focus=_focus(pair, side, opposite),
            correct_sources=(side.reference,),
            incorrect_sources=(opposite.reference,),
            category=side.gender,
            gold=side.gender,
            extra={
                "reference": side.source,
                "contrastive_reference": opposite.source,
                **shared,
            },
        )


def _focus(pair: int, side: Side, opposite: Side) -> Focus:
    """Return the first words that upstream marks as gendered in the reference; where none are
    marked, or the marked line differs, the first word that the counterfactual does not have.
    """
    try:
        return marked_focus(side.path, pair + 1, side.reference, unquoted(side.annotated_reference))
    except DataError:
        return _first_difference(side.reference, opposite.reference)


def _first_difference(text: str, other: str) -> Focus:
    words = [(match[0], match.start()) for match in re.finditer(r"\S+", text)]
    pairs = zip(words, other.split(), strict=False)
    # Where only the other text goes on, the last word is as near as it gets.
    return Focus(*next((word for word, instead in pairs if word[0] != instead), words[-1]))
