"""Search of a whole translation for the senses of a homograph, as the released program of Emelin et
al. 2020 labels translations; `cc_hf.text.sense_matching` is the recommended way.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

from cc_hf.text.lemmatization import Lemmatizer, find_lemmatizer
from cc_hf.text.sense_matching import SenseCluster, SenseMatcher

__all__ = ["ProgramSearch", "clusters_of"]

_EDGES = string.punctuation + " "


class ProgramSearch:
    """Search texts for senses of one homograph in the program's way.

    A token shows a sense if its lemma is the lemma of one, or begins or ends with it, or ends with
    it but for the last letter; the longest lemma decides. Until a sense is found, the token itself
    is compared with the forms of the senses likewise. Ambiguous and blacklisted senses count.
    """

    def __init__(
        self,
        clusters: Mapping[str, SenseCluster],
        *,
        lang: str,
        lemmatizer: str | Lemmatizer = "simplemma",
    ) -> None:
        self._lang = lang
        self._lemmatizer = find_lemmatizer(lemmatizer)
        self._lemmas: dict[str, list[str]] = {}
        self._forms: dict[str, list[str]] = {}
        for name, cluster in clusters.items():
            for word in (*cluster.senses, *cluster.ambiguous, *cluster.blacklisted):
                self._lemmas.setdefault(self._lemma(word), []).append(name)
                self._forms.setdefault(word.lower(), []).append(name)

    def clusters(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """Return the clusters that the tokens of a text show, once for each form that shows one."""
        shown: list[str] = []
        for token in tokens:
            shown += _shown(self._lemma(token).strip(_EDGES), self._lemmas)
            if not shown:
                shown += _shown(token.lower().strip(_EDGES), self._forms)
        return tuple(shown)

    def _lemma(self, word: str) -> str:
        return " ".join(self._lemmatizer.lemmas([word], self._lang)).lower() or word.lower()


def _shown(word: str, forms: Mapping[str, list[str]]) -> list[str]:
    """Return the clusters of the form that a word is, or else of the longest form at its edge."""
    for n in range(len(word), -1, -1):
        parts = {word[:n], word[len(word) - n :]} | (
            {word[-1 - n : -1]} if n < len(word) else set()
        )
        at_edge = parts & forms.keys()
        if at_edge:
            return forms[next(form for form in forms if form in at_edge)]
    return []


def clusters_of(matcher: SenseMatcher, tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the clusters that tokens show, those of unambiguous words before those of others."""
    matches = [matcher.match(token) for token in tokens]
    names = [name for match in matches for name in match.clusters]
    return tuple(dict.fromkeys(names + [name for match in matches for name in match.ambiguous]))
