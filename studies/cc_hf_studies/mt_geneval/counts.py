"""Instances, distinct words and distinct gendered phrases of MT-GenEval, of WinoMT and of MuST-SHE
(Currey et al. 2022, appendix A, Table 12).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import InputError, in_file
from cc_hf.schema import ContrastiveSourceExample, Example
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf.test_sets.mt_geneval.reader import unquoted
from cc_hf.text.tokenization import moses_words

__all__ = ["MUST_SHE", "DataCounts", "count_data", "count_must_she", "count_winomt"]

#: Columns of MuST-SHE's tables that are counted.
MUST_SHE = ("LANG", "SRC", "REF", "GENDERTERMS")

_PHRASE = re.compile(r"<[FM]>(.*?)</[FM]>")


@dataclass(frozen=True, slots=True)
class DataCounts:
    """Counts of one configuration, over both genders: pairs of a sentence and its counterfactual,
    distinct words, and distinct phrases that are marked as gendered.

    None stands for what the data lack: references in WinoMT, marks on sources in MuST-SHE.
    """

    n_instances: int
    n_source_words: int
    n_source_phrases: int | None = None
    n_target_words: int | None = None
    n_target_phrases: int | None = None


def count_data(examples: Sequence[Example]) -> DataCounts:
    """Return the counts of counterfactual sentences and their references.

    Words are Moses tokens of the lower-cased text, punctuation included: the paper does not say
    what it counts, and with these the English words and the Arabic ones come to its numbers or one
    or two of them away. Phrases are lower-cased.
    """
    sentences = []
    for example in examples:
        if not isinstance(example, ContrastiveSourceExample) or not {
            "annotated_source",
            "annotated_reference",
            "reference",
        } <= set(example.extra):
            raise InputError(
                f"example {example.id!r}: expected a configuration counterfactual_* of mt_geneval,"
                " whose gendered words are marked"
            )
        sentences.append(example)
    if not sentences:
        raise InputError("examples: expected at least one, got none")
    tgt_lang = sentences[0].tgt_lang
    return DataCounts(
        len({example.extra["pair"] for example in sentences}),
        _n_words((example.source for example in sentences), sentences[0].src_lang),
        _n_phrases(example.extra["annotated_source"] for example in sentences),
        _n_words((example.extra["reference"] for example in sentences), tgt_lang),
        _n_phrases(unquoted(example.extra["annotated_reference"]) for example in sentences),
    )


def count_winomt(examples: Sequence[Example]) -> DataCounts:
    """Return the instances and the distinct words of WinoMT, counted as in `count_data`."""
    sources = [example.source for example in examples]
    return DataCounts(len(sources) // 2, _n_words(sources, "en"))


def count_must_she(path: Path) -> dict[str, DataCounts]:
    """Return "MuST-SHE LANGUAGE" -> counts of a table of MuST-SHE (Bentivogli et al. 2020)."""
    rows: dict[str, list[tuple[str, str, list[str]]]] = {}
    for where, row in read_rows(path, TABLES, dict.fromkeys(MUST_SHE)):
        terms = [term.split() for term in row["GENDERTERMS"].split(";") if term.strip()]
        with in_file(where, 'expected "right wrong;right wrong", as MuST-SHE has them'):
            if wrong := [term for term in terms if len(term) != 2]:
                raise InputError(f"GENDERTERMS: expected two words for each term, got {wrong[0]}")
        lang = row["LANG"].strip().lower()[-2:]  # "fr" or "en-fr"
        rows.setdefault(lang, []).append((row["SRC"], row["REF"], [term[0] for term in terms]))
    return {
        f"MuST-SHE {lang}": DataCounts(
            len(of_lang),
            _n_words((source for source, _, _ in of_lang), "en"),
            None,
            _n_words((reference for _, reference, _ in of_lang), lang),
            # the right forms of the gendered terms
            len({term.lower() for _, _, terms in of_lang for term in terms}),
        )
        for lang, of_lang in rows.items()
    }


def _n_words(texts: Iterable[str], lang: str) -> int:
    return len({word for text in texts for word in moses_words(text.lower(), lang)})


def _n_phrases(texts: Iterable[str]) -> int:
    return len({phrase.strip().lower() for text in texts for phrase in _PHRASE.findall(text)})
