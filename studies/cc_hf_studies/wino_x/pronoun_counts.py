"""Pronouns in translations and corpora, by their gender (thesis, Tables 4.9 and 4.12)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cc_hf.data.corpora.parallel import Corpus, CorpusBlock, StreamCorpus, corpus_blocks
from cc_hf.errors import InputError
from cc_hf.progress import Progress
from cc_hf.signature import build
from cc_hf.text.alignment import Aligner, find_aligner
from cc_hf.text.pronouns import pronoun_gender
from cc_hf_studies.wino_x.pronoun_forms import PRONOUN_FORMS, check_language, find_pronouns

__all__ = ["CorpusPronouns", "corpus_pronouns", "pronoun_counts"]

# Apostrophes and hyphens separate words, so that "it's", "qu'il" and "est-il" have a pronoun.
_WORD = re.compile(r"\w+|[^\w\s]")
_IT = "it"


def pronoun_counts(texts: Iterable[str], lang: str) -> dict[str, int]:
    """Count the singular pronouns of the third person in the nominative by their gender.

    Only the form decides: the German "sie" may also be a plural or an object.
    """
    check_language(lang)
    counts = Counter(
        pronoun_gender(pronoun.text, lang)
        for text in texts
        for pronoun in find_pronouns(text, lang)
    )
    return {gender: counts[gender] for gender in PRONOUN_FORMS[lang]}


@dataclass(frozen=True)
class CorpusPronouns:
    """The pronouns of a parallel corpus.

    The numbers of `translations`, `n_several`, `n_other` and `n_unlinked` add up to `n_it`.

    Attributes:
        n_damaged: how many of them are damaged, such as empty, and were ignored.
        n_it: number of occurrences of "it" in the sources.
        translations: gender -> how often "it" is translated by its pronoun.
        n_several: how often "it" is linked to pronouns of several genders.
        n_other: how often it is linked to other words only.
        n_unlinked: how often it has no link.
        occurrences: gender -> number of its pronouns in the references.
    """

    tgt_lang: str
    n_pairs: int
    n_damaged: int
    n_it: int
    translations: Mapping[str, int]
    n_several: int
    n_other: int
    n_unlinked: int
    occurrences: Mapping[str, int]
    signature: str


def corpus_pronouns(
    corpus: Corpus | StreamCorpus,
    *,
    tgt_lang: str,
    aligner: str | Aligner = "fast_align",
    progress: bool = False,
) -> CorpusPronouns:
    """Count the pronouns that translate "it", by word alignment, and all occurrences.

    Words are compared in lower case; each block of the corpus is aligned by itself.
    """
    check_language(tgt_lang)
    chosen = find_aligner(aligner)
    outcomes, occurrences = Counter[str](), dict.fromkeys(PRONOUN_FORMS[tgt_lang], 0)
    digest, n_pairs, n_damaged = hashlib.sha256(), 0, 0
    with Progress(
        desc="aligning", unit=" pairs", disable=not progress, delay=1, leave=False, unit_scale=True
    ) as bar:
        for block in corpus_blocks(corpus):
            digest.update(block.digest.encode())
            n_pairs += len(block.sources)
            n_damaged += len(block.damaged)
            outcomes.update(_outcomes(block, tgt_lang, chosen))
            for gender, n in pronoun_counts(_whole(block, block.references), tgt_lang).items():
                occurrences[gender] += n
            bar.update(len(block.sources))
    if not outcomes:
        raise InputError(
            f'{corpus.name}: expected English sentences with "it", got none in {n_pairs} pairs;'
            " check which side is which"
        )
    fields: dict[str, str | int] = {
        "corpus": digest.hexdigest()[:7],
        "langs": f"en-{tgt_lang}",
        "align": f"{chosen.signature_name}.{corpus.block_pairs}pairs",
        "n": n_pairs,
    }
    return CorpusPronouns(
        tgt_lang,
        n_pairs,
        n_damaged,
        outcomes.total(),
        {gender: outcomes[gender] for gender in PRONOUN_FORMS[tgt_lang]},
        outcomes["several"],
        outcomes["other"],
        outcomes["unlinked"],
        occurrences,
        build("it-translations", fields),
    )


def _whole(block: CorpusBlock, texts: Sequence[str]) -> list[str]:
    """Return the texts of the pairs that are not damaged."""
    return [text for row, text in enumerate(texts) if row not in block.damaged]


def _outcomes(block: CorpusBlock, lang: str, aligner: Aligner) -> list[str]:
    """Return for each "it" the gender of its translation, or several, other or unlinked."""
    sources, references = (
        [_WORD.findall(text.lower()) for text in _whole(block, texts)]
        for texts in (block.sources, block.references)
    )
    alignments = aligner.align([" ".join(s) for s in sources], [" ".join(r) for r in references])
    outcomes = []
    for source, reference, links in zip(sources, references, alignments, strict=True):
        for position in (i for i, word in enumerate(source) if word == _IT):
            linked = [reference[j] for i, j in links if i == position]
            genders = {
                gender
                for word in linked
                if (gender := pronoun_gender(word, lang)) in PRONOUN_FORMS[lang]
                and len(word) == len(PRONOUN_FORMS[lang][gender])
            }
            if len(genders) > 1:
                outcomes.append("several")
            else:
                outcomes.append(next(iter(genders), "other" if linked else "unlinked"))
    return outcomes
