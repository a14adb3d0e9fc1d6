"""MuCoW's own files: keys that name the ambiguous word and the words of its senses, and the
translation suite, which is judged by the form of the translation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.data.files.sense_counts import frequent_senses, read_sense_counts
from cc_hf.errors import DataError
from cc_hf.reading import text_lines
from cc_hf.schema import Focus, ProbingExample
from cc_hf.test_sets.mucow.files import SUITE
from cc_hf.test_sets.mucow.inflection import english_plural
from cc_hf.text.tokenization import Token, moses_tokens

__all__ = ["KeyRow", "key_row", "matching_tokens", "read_suite"]

_DOMAINS = {"in": "in_domain", "out": "out_of_domain"}


@dataclass(frozen=True)
class KeyRow:
    """A line of a key file.

    Attributes:
        word: the ambiguous word, a lemma.
        correct: words of the translation that show the sense.
        incorrect: words of the translation that show another sense.
    """

    corpus: str
    word: str
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]

    @property
    def sense(self) -> tuple[str, frozenset[str]]:
        """The identity of the sense: the ambiguous word and the words that show the sense."""
        return self.word, frozenset(self.correct)


def read_suite(
    paths: Mapping[str, Path], pair: str, counts_path: Path | None
) -> Iterator[ProbingExample]:
    """Yield all sentences of the translation suite for a pair, in file order.

    The category is in_domain or out_of_domain. The focus is None where the word does not occur as a
    token.

    Args:
        counts_path: file with how often each sense occurs in the training data of WMT19; None where
            this was not counted.
    """
    src_lang, _, tgt_lang = pair.partition("-")
    key_path = paths[SUITE.format(pair, "key")]
    rows = aligned_lines(*(paths[SUITE.format(pair, end)] for end in ("text", "key", "ref")))
    domains = _domains(paths[SUITE.format(pair, "domain")])
    frequent = frequent_senses(read_sense_counts(counts_path)) if counts_path else set()
    for number, (source, key_line, reference) in enumerate(rows):
        row = key_row(key_path, number, key_line)
        if row.sense not in domains:
            raise DataError(
                f"{key_path}: line {number + 1}: the sense {' '.join(row.correct)!r} of"
                f" {row.word!r} is not in the pair's domain file"
            )
        tokens = matching_tokens(source, row.word, src_lang)
        frequency = "frequent" if row.sense in frequent else "infrequent"
        yield ProbingExample(
            id=str(number),  # MuCoW's own ids are not unique
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            source=source,
            category=domains[row.sense],
            gold=" ".join(row.correct),
            focus=Focus(tokens[0].text, tokens[0].start) if tokens else None,
            extra={
                "ambiguous_word": row.word,
                "correct_senses": " ".join(row.correct),
                "incorrect_senses": " ".join(row.incorrect),
                "corpus": row.corpus,
                "frequency": frequency if counts_path else "",
                "reference": reference,
            },
        )


def key_row(path: Path, number: int, line: str) -> KeyRow:
    """Return a parsed line of a key file.

    Examples:
        >>> key_row(Path("key.txt"), 0, "7\\tnews\\tbat\\tSchläger Keule\\tFledermaus").correct
        ('Schläger', 'Keule')
    """
    columns = line.split("\t")
    if len(columns) != 5:
        raise DataError(
            f"{path}: line {number + 1}: expected 5 columns (id, corpus, ambiguous word, correct,"
            f" incorrect words), got {len(columns)}: {line[:80]!r}"
        )
    return KeyRow(columns[1], columns[2], tuple(columns[3].split()), tuple(columns[4].split()))


def matching_tokens(source: str, word: str, lang: str) -> list[Token]:
    """Return the tokens that are the word, else its English plural, else the word with a capital.

    Examples:
        >>> matching_tokens("Bats fly, a bat flies.", "bat", "en")
        [Token(text='bat', start=12)]
    """
    tokens = moses_tokens(source, lang)
    # The words are lemmas: as in the paper's program, only English plurals are searched for, so
    # inflected forms in other languages are not found.
    plural = (english_plural(word),) if lang == "en" else ()
    for form in (word, *plural, word.title()):
        if matches := [token for token in tokens if token.text == form]:
            return matches
    return []


def _domains(path: Path) -> dict[tuple[str, frozenset[str]], str]:
    """Return whether each sense is in the training data (Raganato et al. 2019, section 4)."""
    domains = {}
    for number, line in enumerate(text_lines(path), 1):
        columns = line.split("\t")
        if len(columns) != 5 or columns[2] not in _DOMAINS:
            raise DataError(
                f"{path}: line {number}: expected 5 columns (word, sense, in or out, two numbers),"
                f" got {line[:80]!r}"
            )
        domains[columns[0], frozenset(columns[1].split())] = _DOMAINS[columns[2]]
    return domains
