"""Attractors: source words that go with a sense of a homograph, and how strongly.

See Emelin et al. 2020; thesis, section 3.2.1.
"""

from __future__ import annotations

import hashlib
import json
import math
import string
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cc_hf import signature
from cc_hf.errors import FileError, InputError, UnknownNameError, check_choice, shown
from cc_hf.reading import AS_WRITTEN, read_lines
from cc_hf.records import COUNT, POSITIVE, read_json
from cc_hf.text.lemmatization import Lemmatizer, find_lemmatizer
from cc_hf.text.tokenization import word_texts
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, TaggedPair

__all__ = [
    "ASSOCIATIONS",
    "AttractorTable",
    "attractor_words",
    "count_attractors",
    "published_stop_words",
    "read_stop_words",
    "read_table",
]

#: Measures of association: frequency, and pointwise mutual information as it is or 0 at least.
ASSOCIATIONS = ("freq", "ppmi", "pmi")
_TAGGING_FIELDS = (
    "tagging",
    "homographs",
    "langs",
    "parser",
    "rule",
    "window",
    "ratio",
    "known",
    "align",
    "held",
)
_SHORTEST = 2  # characters
_TEXTS = ("src_lang", "lemmatizer", "corpus", "lexicon", "tagging")
_FORM = {
    **dict.fromkeys(_TEXTS, str),
    "stop_words": [str],
    "n_pairs": {str: {str: COUNT}},
    "counts": {str: {str: {str: POSITIVE}}},
}


@dataclass(frozen=True)
class AttractorTable:
    """How often each source word occurs beside each sense of each homograph.

    Attributes:
        counts: homograph -> id of a cluster -> word -> number of occurrences.
        n_pairs: homograph -> id of a cluster -> number of sentence pairs.
        lemmatizer: name of the lemmatizer by which forms of the homograph were recognised.
        stop_words: words that were not counted, sorted.
        corpus: hash of the sentence pairs; "" if it is not known.
        lexicon: sha256 of the lexicon; "" if the table was counted without one. With one, every
            homograph and every cluster of the lexicon is in the table.
        tagging: signature of the tagging; "" if it is not known.
    """

    counts: Mapping[str, Mapping[str, Counter[str]]]
    n_pairs: Mapping[str, Mapping[str, int]]
    src_lang: str = "en"
    lemmatizer: str = ""
    stop_words: tuple[str, ...] = ()
    corpus: str = ""
    lexicon: str = ""
    tagging: str = ""
    _associations: dict[tuple[str, str, float, bool], Mapping[str, Mapping[str, float]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def clusters(self, homograph: str) -> tuple[str, ...]:
        """Return the ids of the clusters of a homograph."""
        if homograph not in self.counts:
            raise UnknownNameError("homograph", homograph, self.counts)
        return tuple(self.counts[homograph])

    def associations(
        self,
        homograph: str,
        *,
        association: str = "freq",
        smoothing: float = 0.0,
        log: bool = True,
    ) -> Mapping[str, Mapping[str, float]]:
        """Return id of a cluster of a homograph -> word -> their association.

        Probabilities are relative frequencies among the attractors of this homograph (thesis, eq.
        3.1 and 3.2). A word that never occurred beside a cluster is no attractor of it.

        Args:
            association: a name of `ASSOCIATIONS`.
            smoothing: added to each count of a word with a cluster of the homograph, zeros
                included, before probabilities are computed. The released program adds 100.
            log: whether PPMI and PMI take the logarithm to base 2. The thesis prints the ratio
                without it.
        """
        key = (homograph, association, smoothing, log)
        if key not in self._associations:
            check_choice("association", association, ASSOCIATIONS)
            if not smoothing >= 0 or math.isinf(smoothing):
                raise InputError(f"smoothing: expected 0 or more, got {shown(smoothing)}")
            self.clusters(homograph)
            self._associations[key] = _associations(
                self.counts[homograph], association, smoothing, log
            )
        return self._associations[key]

    def association(
        self,
        homograph: str,
        cluster: str,
        word: str,
        association: str = "freq",
        smoothing: float = 0.0,
        log: bool = True,
    ) -> float:
        """Return the disambiguation bias of one word, in any case, towards one sense.

        It is 0 for a word that never occurred beside the cluster.
        """
        words = self.associations(homograph, association=association, smoothing=smoothing, log=log)
        if cluster not in words:
            raise UnknownNameError(f"cluster of {homograph!r}", cluster, words)
        return words[cluster].get(word.lower(), 0.0)

    def strongest(
        self,
        homograph: str,
        *,
        n: int = 3,
        association: str = "freq",
        smoothing: float = 0.0,
        log: bool = True,
        min_count: int = 1,
    ) -> dict[str, tuple[tuple[str, float], ...]]:
        """Return the strongest attractors of each sense, as in Table 3.4 of the thesis.

        Ties are ordered by frequency, then alphabetically.

        Args:
            min_count: smallest number of occurrences of an attractor beside the cluster.
        """
        table = self.associations(homograph, association=association, smoothing=smoothing, log=log)
        strongest = {}
        for cluster, values in table.items():
            counts = self.counts[homograph][cluster]
            words = [word for word in values if counts[word] >= min_count]
            words.sort(key=lambda word: (-values[word], -counts[word], word))
            strongest[cluster] = tuple((word, values[word]) for word in words[:n])
        return strongest

    def signature(
        self,
        *,
        associations: Sequence[str] = ("freq",),
        smoothing: float = 0.0,
        log: bool = True,
    ) -> str:
        """Return what a bias depends on: corpus, tagging, stop words and association."""
        tagging = signature.parse(self.tagging)[1] if self.tagging else {"tagging": "unknown"}
        stops = "\n".join(self.stop_words).encode()
        statistics = set(associations) - {"freq"}
        # Nothing is drawn at random, so there is no seed.
        return signature.build(
            "bias",
            {
                "corpus": self.corpus[:7] or "unknown",
                "lexicon": self.lexicon[:7] or "unknown",
                **{key: tagging[key] for key in _TAGGING_FIELDS if key in tagging},
                "lemmas": self.lemmatizer or "unknown",
                "stop": (
                    f"{len(self.stop_words)}.{hashlib.sha256(stops).hexdigest()[:7]}"
                    if stops
                    else "none"
                ),
                "association": "+".join(associations),
                **(
                    {"smoothing": f"{smoothing:g}", "log": 2 if log else "none"}
                    if statistics
                    else {}
                ),
                "n": sum(sum(numbers.values()) for numbers in self.n_pairs.values()),
            },
        )

    def to_json(self) -> str:
        """Return the table as JSON that `read_table` reads; words are sorted."""
        row = {
            "src_lang": self.src_lang,
            "lemmatizer": self.lemmatizer,
            "stop_words": list(self.stop_words),
            "corpus": self.corpus,
            "lexicon": self.lexicon,
            "tagging": self.tagging,
            "n_pairs": self.n_pairs,
            "counts": {
                homograph: {
                    cluster: dict(sorted(words.items())) for cluster, words in clusters.items()
                }
                for homograph, clusters in self.counts.items()
            },
        }
        return json.dumps(row, ensure_ascii=False) + "\n"


def _associations(
    counts: Mapping[str, Counter[str]], association: str, smoothing: float, log: bool
) -> dict[str, dict[str, float]]:
    if association == "freq":
        return {
            cluster: {word: float(n) for word, n in words.items()}
            for cluster, words in counts.items()
        }
    seen = {cluster: words for cluster, words in counts.items() if words}
    of_word: Counter[str] = Counter()
    for words in seen.values():
        of_word.update(words)
    n_all = sum(of_word.values()) + smoothing * len(seen) * len(of_word)
    values: dict[str, dict[str, float]] = {cluster: {} for cluster in counts}
    for cluster, words in seen.items():
        n_cluster = sum(words.values()) + smoothing * len(of_word)
        for word, n in words.items():
            n_word = of_word[word] + smoothing * len(seen)
            ratio = (n + smoothing) / n_all / (n_word / n_all * (n_cluster / n_all))
            value = math.log2(ratio) if log else ratio
            values[cluster][word] = max(0.0, value) if association == "ppmi" else value
    return values


def attractor_words(
    source: str,
    homograph: str,
    *,
    lang: str,
    stop_words: Collection[str] = (),
    lemmatizer: str | Lemmatizer = "simplemma",
) -> list[str]:
    """Return the attractors of a sentence: its words without the homograph, in lower case.

    Words of one character, punctuation, escapes such as "&apos;", stop words and every form of the
    homograph are dropped.
    """
    chosen = find_lemmatizer(lemmatizer)
    return [
        word
        for token in word_texts(source)
        if not token.startswith("&")
        and len(word := token.lower().strip(string.punctuation)) >= _SHORTEST
        and word not in stop_words
        and word != homograph
        and " ".join(chosen.lemmas([word], lang)).lower() != homograph
    ]


def count_attractors(
    pairs: Iterable[TaggedPair],
    *,
    stop_words: Collection[str] = (),
    lexicon: HomographLexicon | None = None,
    src_lang: str = "en",
    lemmatizer: str | Lemmatizer = "simplemma",
    corpus: str = "",
    tagging: str = "",
) -> AttractorTable:
    """Count the attractors of every sense in sentence pairs.

    The pairs are read once; the memory depends on the number of different words, not of pairs.
    Homographs and clusters are in the order of the lexicon or of the pairs.
    """
    chosen = find_lemmatizer(lemmatizer)
    stops, n = frozenset(stop_words), 0
    known = lexicon.homographs if lexicon else {}
    counts: dict[str, dict[str, Counter[str]]] = {
        homograph: {cluster: Counter() for cluster in clusters}
        for homograph, clusters in known.items()
    }
    n_pairs = {homograph: dict.fromkeys(clusters, 0) for homograph, clusters in known.items()}
    for pair in pairs:
        n += 1
        if lexicon:
            lexicon.check(pair.homograph, pair.cluster, f"pair {pair.id}")
        words = attractor_words(
            pair.source, pair.homograph, lang=src_lang, stop_words=stops, lemmatizer=chosen
        )
        of_homograph = counts.setdefault(pair.homograph, {})
        of_homograph.setdefault(pair.cluster, Counter()).update(words)
        numbers = n_pairs.setdefault(pair.homograph, {})
        numbers[pair.cluster] = numbers.get(pair.cluster, 0) + 1
    if not n:
        raise InputError(
            "pairs: expected at least one sentence pair with a homograph, got none; tag a larger"
            " corpus, or use a lexicon whose homographs occur in it"
        )
    return AttractorTable(
        counts,
        n_pairs,
        src_lang,
        chosen.name,
        tuple(sorted(stops)),
        corpus,
        lexicon.sha256 if lexicon else "",
        tagging,
    )


def published_stop_words(lang: str) -> tuple[str, ...]:
    """Return the stop words of a language, in lower case, by the Snowball project.

    They are words of closed classes, such as the 174 English ones; content words that the thesis
    shows as attractors (Table 3.4: "come", "back") are none.
    """
    words = json.loads(Path(__file__).with_name("stop_words.json").read_text("utf-8"))["words"]
    if lang not in words:
        remedy = "; give a file of stop words"
        raise UnknownNameError("language of Snowball's stop words", lang, words, remedy=remedy)
    return tuple(words[lang].split())


def read_stop_words(path: str | Path) -> tuple[str, ...]:
    """Return the stop words in a file, in lower case."""
    words = read_lines(Path(path))
    what = "stop words, one per line or a JSON list"
    if words and words[0].lstrip().startswith("["):
        words = read_json(path, what, [str])
    if not words:
        raise FileError(path, f"expected {what}, got {shown(words)}")
    return tuple(word.strip().lower() for word in words if word.strip())


def read_table(path: str | Path) -> AttractorTable:
    """Return a table of attractors from a JSON file."""
    what = "a table of `cc-hf study disambiguation_bias attractors --table`"
    row = read_json(path, what, _FORM, remedy=AS_WRITTEN)
    counts, n_pairs = row["counts"], row["n_pairs"]
    for homograph in {**counts, **n_pairs}:
        clusters, numbers = counts.get(homograph, {}), n_pairs.get(homograph)
        if numbers is None or not clusters or not numbers.keys() <= clusters.keys():
            raise FileError(
                f"{path}: {homograph!r}",
                "expected clusters under counts, and numbers of the same clusters under n_pairs,"
                f" got {shown(list(clusters))} and {shown(numbers)}; {AS_WRITTEN}",
            )
    return AttractorTable(
        {
            homograph: {cluster: Counter(words) for cluster, words in clusters.items()}
            for homograph, clusters in counts.items()
        },
        n_pairs,
        stop_words=tuple(row["stop_words"]),
        **{key: row[key] for key in _TEXTS},
    )
