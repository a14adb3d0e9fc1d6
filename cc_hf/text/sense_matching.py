"""The sense clusters of a homograph to which a target token belongs.

A token is looked up by its lemma, else its surface form, else the end of a compound (Emelin et al.
2020; thesis, section 3.2.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cc_hf.errors import InputError, check_choice
from cc_hf.text.lemmatization import Lemmatizer, find_lemmatizer

__all__ = ["SenseCluster", "SenseMatch", "SenseMatcher"]

_SHORTEST_END = 3  # characters; shorter ends of words are no part of a compound
_CACHED_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class SenseCluster:
    """The translations of one sense of a homograph.

    Attributes:
        senses: target words that have this sense only, inflected forms included.
        ambiguous: target words that have this sense among others.
        blacklisted: target words that count for no sense.
        pos: part of speech, such as "NOUN"; "" if it is not known.
    """

    senses: tuple[str, ...]
    ambiguous: tuple[str, ...] = ()
    blacklisted: tuple[str, ...] = ()
    pos: str = ""


@dataclass(frozen=True, slots=True)
class SenseMatch:
    """What the lexicon says of one target token.

    Attributes:
        clusters, ambiguous, blacklisted: ids of clusters that have it among senses of this kind.
        form: the form in the lexicon, in lower case; "" if the token belongs to no cluster.
        rule: "lemma", "surface" or "compound"; "" if the token belongs to no cluster.
    """

    clusters: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    blacklisted: tuple[str, ...] = ()
    form: str = ""
    rule: str = ""

    @property
    def cluster(self) -> str:
        """The only cluster of the token; "" if none, several, or also ambiguous or blacklisted."""
        certain = len(self.clusters) == 1 and not self.ambiguous and not self.blacklisted
        return self.clusters[0] if certain else ""


class SenseMatcher:
    """Match target tokens with the clusters of one homograph, without regard to case.

    Args:
        clusters: id -> cluster.
        lang: ISO 639-1 code of the tokens.
        lemmatizer: a name of `cc_hf.text.lemmatization.LEMMATIZERS`, or a Lemmatizer.
        rule: a name of `RULES`. "recommended": the longest form that ends a compound decides.
            "program": an unambiguous surface form decides where the lemma is not certain, and the
            shortest form that ends a compound decides, with or without its last letter.

    Raises:
        InputError: for an unknown rule, or a cluster without senses.

    Examples:
        >>> matcher = SenseMatcher(
        ...     {"1": SenseCluster(("Feder",)), "2": SenseCluster(("Quelle",))}, lang="de"
        ... )
        >>> matcher.match("Federn").cluster, matcher.match("Heilquelle").rule
        ('1', 'compound')
    """

    #: Rules of matching: the recommended ones, and those of the released program.
    RULES = ("recommended", "program")

    def __init__(
        self,
        clusters: Mapping[str, SenseCluster],
        *,
        lang: str,
        lemmatizer: str | Lemmatizer = "simplemma",
        rule: str = "recommended",
    ) -> None:
        check_choice("rule", rule, self.RULES)
        self._lang = lang
        self._lemmatizer = find_lemmatizer(lemmatizer)
        self._as_program = rule == "program"
        self._entries = _entries(clusters)
        self._shortest_first = sorted(self._entries, key=lambda form: (len(form), form))
        self._matches: dict[str, SenseMatch] = {}

    def match(self, token: str) -> SenseMatch:
        """Return the clusters to which a token belongs, as it is written in the text."""
        match = self._matches.get(token)
        if match is None:
            if len(self._matches) >= _CACHED_TOKENS:
                # Bounds the memory over a large corpus; the frequent tokens are back at once.
                self._matches.clear()
            match = self._matches[token] = self._match(token)
        return match

    def _match(self, token: str) -> SenseMatch:
        surface = token.lower()
        lemmas = self._lemmatizer.lemmas([token], self._lang)
        lemma = lemmas[0].lower() if lemmas else ""
        by_lemma = self._entry(lemma, "lemma")
        by_surface = self._entry(surface, "surface")
        if self._as_program and by_lemma and not by_lemma.cluster and by_surface:
            return by_surface if by_surface.cluster else by_lemma
        return (
            by_lemma
            or by_surface
            or self._compound(surface)
            or self._compound(lemma)
            or SenseMatch()
        )

    def _entry(self, form: str, rule: str) -> SenseMatch | None:
        entry = self._entries.get(form)
        return entry and SenseMatch(*entry, form, rule)

    def _compound(self, word: str) -> SenseMatch | None:
        """Return the match of the end of a word."""
        if self._as_program:
            for form in self._shortest_first:
                if len(form) >= _SHORTEST_END and word.endswith((form, form[:-1])):
                    return self._entry(form, "compound")
            return None
        for start in range(1, len(word) - _SHORTEST_END + 1):
            if word[start:] in self._entries:
                return self._entry(word[start:], "compound")
        return None


def _entries(
    clusters: Mapping[str, SenseCluster],
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Return form in lower case -> ids of the clusters that have it, by kind of their senses."""
    forms: dict[str, tuple[list[str], list[str], list[str]]] = {}
    for name, cluster in clusters.items():
        kinds = (cluster.senses, cluster.ambiguous, cluster.blacklisted)
        if not (cluster.senses or cluster.ambiguous):
            raise InputError(
                f"cluster {name!r}: expected at least one sense, got none; add target words, or"
                " remove the cluster"
            )
        for kind, words in enumerate(kinds):
            for word in words:
                names = forms.setdefault(word.lower(), ([], [], []))[kind]
                if name not in names:
                    names.append(name)
    return {
        form: (tuple(senses), tuple(ambiguous), tuple(blacklisted))
        for form, (senses, ambiguous, blacklisted) in forms.items()
    }
