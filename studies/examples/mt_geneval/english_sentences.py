"""English sentences to train on: those of MT-GenEval for all target languages, without any that the
test sets of the judged language hold. The sources of two languages are not the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cc_hf_studies.mt_geneval.construction import counterfactual, gender_of

from cc_hf.data.loading import load_examples
from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveSourceExample, Example

__all__ = [
    "TARGET_PRONOUNS",
    "Documents",
    "Sentences",
    "documents_of_both_genders",
    "judged_sentences",
    "normalised",
    "sentences",
]

_LANGS = {
    "contextual": ("ar", "de", "es", "fr", "hi", "it", "nl", "pt", "ru"),
    "counterfactual": ("ar", "de", "es", "fr", "hi", "it", "pt", "ru"),
}
_LONGEST = 50  # words: a longer sentence fills a batch on its own
_GENDERS = ("male", "female")
_PRONOUNS = {"male": "he", "female": "she"}
#: The pronouns of the translations that `named` replaces.
TARGET_PRONOUNS = {
    "de": {"male": "er", "female": "sie"},
    "pt": {"male": "ele", "female": "ela"},
}
_NO_NAMES = (
    "A|All|An|Another|Both|Each|He|I|It|Many|Most|One|She|Some|That|The|There|These|They|This|Those"
    "|We|What|Which|Who|You"
)
#: A name that begins a clause, in front of a verb or an adverb.
_SUBJECT = re.compile(
    rf"(?:^|(?<=, ))(?!(?:{_NO_NAMES})\b)(?P<name>[A-Z][\w'’-]+)"
    r"(?= (?:is|was|had|has|be(?:came|gan)|went|won|would|could|also|later|then|[a-z]+ed)\b)"
)


@dataclass(frozen=True)
class Sentences:
    """What may be trained on.

    Attributes:
        contextual: context and sentence of the contextual rows.
        of_known_gender: sentences of the counterfactual pairs, each against its counterfactual.
        judged: normalised sentences of the test sets of the judged language.
        n_held_out: rows that were dropped, since a test set of the judged language has one of their
            sentences.
    """

    contextual: tuple[tuple[str, str], ...]
    of_known_gender: tuple[ContrastiveSourceExample, ...]
    judged: frozenset[str]
    n_held_out: int


@dataclass(frozen=True)
class Documents:
    """A context, its counterfactual, and a sentence whose gender they decide.

    Attributes:
        contexts: the context as it is, and its counterfactual.
        told: the sentence with "he" or "she" in place of the name of the person, as each of the
            contexts has it.
    """

    contexts: tuple[str, str]
    sentence: str
    told: tuple[str, str]
    genders: tuple[str, str]
    name: str

    def named(self, translations: tuple[str, str], tgt_lang: str) -> tuple[str, str] | None:
        """Return the translations of `told` with the name in place of the pronoun, or None if one
        has no such pronoun or several, or if both genders are translated alike.
        """
        texts = []
        for translation, gender in zip(translations, self.genders, strict=True):
            pronoun = re.compile(rf"\b{TARGET_PRONOUNS[tgt_lang][gender]}\b", re.IGNORECASE)
            if len(pronoun.findall(translation)) != 1:
                return None
            texts.append(pronoun.sub(lambda _: self.name, translation))
        return None if texts[0] == texts[1] else (texts[0], texts[1])


def normalised(text: str) -> str:
    """Return the words of a text in lower case, by which two sentences are the same."""
    return " ".join(re.findall(r"\w+", text.lower()))


def _texts(example: Example) -> set[str]:
    """Return all English sentences of an example."""
    texts = {example.source, example.extra.get("context", "")}
    if isinstance(example, ContrastiveSourceExample):
        texts |= {*example.correct_sources, *example.incorrect_sources}
    return {normalised(text) for text in texts} - {""}


def _rows(subset: str, lang: str, splits: tuple[str, ...], data_dir: Path) -> list[Example]:
    return [
        example
        for split in splits
        for example in load_examples(
            "mt_geneval", f"{subset}_{lang}", split=split, data_dir=data_dir
        )
    ]


def judged_sentences(tgt_lang: str, data_dir: Path) -> frozenset[str]:
    """Return the normalised sentences of the test sets of a language, and their contexts and
    counterfactuals.
    """
    return frozenset(
        text
        for subset in _LANGS
        for example in _rows(subset, tgt_lang, ("test",), data_dir)
        for text in _texts(example)
    )


def sentences(tgt_lang: str, data_dir: Path) -> Sentences:
    """Return the sentences for training, each once.

    Args:
        tgt_lang: the judged language. Rows with a sentence of its test sets are dropped.
        data_dir: upstream repositories.
    """
    if tgt_lang not in TARGET_PRONOUNS:
        raise InputError(
            f"tgt_lang: expected one of {', '.join(TARGET_PRONOUNS)}, got {tgt_lang!r}; add its"
            " pronouns to TARGET_PRONOUNS"
        )
    judged = judged_sentences(tgt_lang, data_dir)
    kept: dict[str, dict[str, Example]] = {subset: {} for subset in _LANGS}
    n_held_out = 0
    for subset, langs in _LANGS.items():
        for lang in langs:
            splits = ("dev",) if lang == tgt_lang else ("dev", "test")
            for example in _rows(subset, lang, splits, data_dir):
                texts = _texts(example)
                if texts & judged:
                    n_held_out += 1
                elif max(len(text.split()) for text in texts) <= _LONGEST:
                    kept[subset].setdefault(normalised(example.source), example)
    contextual = {
        (e.extra["context"], e.source) for e in kept["contextual"].values() if e.extra["context"]
    }
    of_known_gender = [
        replace(e, id=str(number), tgt_lang=tgt_lang)
        for number, e in enumerate(kept["counterfactual"].values())
        if isinstance(e, ContrastiveSourceExample)
    ]
    return Sentences(tuple(sorted(contextual)), tuple(of_known_gender), judged, n_held_out)


def documents_of_both_genders(rows: tuple[tuple[str, str], ...]) -> Iterator[Documents]:
    """Yield rows whose context shows one gender and whose sentence has one name as a subject."""
    for context, sentence in rows:
        gender, subjects = gender_of(context), list(_SUBJECT.finditer(sentence))
        if gender not in _GENDERS or gender_of(sentence) or len(subjects) != 1:
            continue
        name, start = subjects[0]["name"], subjects[0].start()
        genders = (gender, "male" if gender == "female" else "female")
        told = tuple(_told(sentence, start, name, _PRONOUNS[g]) for g in genders)
        yield Documents(
            (context, counterfactual(context)), sentence, (told[0], told[1]), genders, name
        )


def _told(sentence: str, start: int, name: str, pronoun: str) -> str:
    written = pronoun if start else pronoun.capitalize()
    return sentence[:start] + written + sentence[start + len(name) :]
