"""German: a word in «-in» is feminine; else the determiner or pronoun nearest to the phrase
tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cc_hf.text.gender.phrase import Phrase

__all__ = ["predictor"]

# «den» is absent on purpose: it is also a plural. «ihr» and «ihre» say who owns, not whose gender
# it is.
_DETERMINERS = {
    **dict.fromkeys(
        [
            "der",
            "ein",
            "dem",
            "einen",
            "des",
            "er",
            "seiner",
            "ihn",
            "seinen",
            "ihm",
            "ihren",
            "seinem",
            "ihrem",
            "sein",
        ],
        "male",
    ),
    **dict.fromkeys(["die", "eine", "einer", "sie", "seine", "ihrer"], "female"),
    **dict.fromkeys(["ihr", "ihre", "das", "jemanden"], "neutral"),
}
_ONLY_FEMALE = ("nurse", "the nurse")  # «Krankenschwester», whatever the sentence says


def predictor(lang: str) -> GermanGender:
    """The rules of German."""
    return GermanGender()


@dataclass(frozen=True)
class GermanGender:
    """In this order: nurse, no token, «-in» («ein» and «hin» too), the nearest determiner, none.

    The distance to a determiner is between its position among words and punctuation marks and the
    position of the phrase among space-split tokens, as the original has it: commas before either
    move them apart.
    """

    @property
    def signature_name(self) -> str:
        """`rules`."""
        return "rules"

    def predict(self, phrase: Phrase) -> str:
        """`male` where nothing tells; never unknown."""
        if phrase.word.lower() in _ONLY_FEMALE:
            return "female"
        if not phrase.tokens:
            return "male"
        if any(word.endswith("in") for word in _words(phrase.text)):
            return "female"
        places = [
            (abs(at - phrase.position), word)
            for at, word in enumerate(map(str.lower, _words(phrase.translation)))
            if word in _DETERMINERS
        ]
        return _DETERMINERS[min(places, key=lambda place: place[0])[1]] if places else "male"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)
