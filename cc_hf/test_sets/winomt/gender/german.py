"""German gender rules: a word in "-in" is feminine; otherwise the determiner or pronoun nearest
to the phrase decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cc_hf.test_sets.winomt.gender.phrase import GenderPredictor, Phrase

__all__ = ["predictor"]

# "den" is absent on purpose, because it is also a plural. "ihr" and "ihre" show the gender of the
# owner, not that of the person.
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
_ONLY_FEMALE = ("nurse", "the nurse")  # always "Krankenschwester", whatever the sentence says


def predictor(lang: str) -> GermanGender:
    """Return the rules of German, the only language here."""
    return GermanGender()


@dataclass(frozen=True)
class GermanGender(GenderPredictor):
    """Rules for German.

    They are tried in this order: nurse, no token, "-in" (even "ein" and "hin"), the nearest
    determiner, no determiner.

    The distance to a determiner is the difference between its position among words and punctuation
    marks, and the position of the phrase among space-split tokens. As in the original program,
    commas before either therefore change the distance. A word with hyphens is one word, and so is
    "@-@", which Moses writes for a hyphen: spaCy, which the program uses, splits neither.
    """

    signature_name = "rules"

    def predict(self, phrase: Phrase) -> str:
        """Return the gender of a phrase; `male` if nothing decides, never `unknown`."""
        if phrase.word.lower() in _ONLY_FEMALE:
            return "female"
        if not phrase.tokens:
            return "male"
        if any(word.endswith("in") for word in _words(phrase.text)):
            return "female"
        distances = [
            (abs(index - phrase.position), word)
            for index, word in enumerate(map(str.lower, _words(phrase.translation)))
            if word in _DETERMINERS
        ]
        return _DETERMINERS[min(distances, key=lambda pair: pair[0])[1]] if distances else "male"


def _words(text: str) -> list[str]:
    return re.findall(r"@[-/]@|\w+(?:-\w+)*-?|[^\w\s]", text)
