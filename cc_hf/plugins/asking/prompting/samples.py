"""What a model is asked, and demonstrations of it: choices between two options, and translations.
Demonstrations ship per language pair, come from a user's file, or are drawn from the data.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cc_hf.errors import InputError, MissingOptionError
from cc_hf.files import is_file
from cc_hf.languages import base_code
from cc_hf.normalization import is_blank
from cc_hf.rules import OneOf
from cc_hf.schema import ContrastiveTranslationExample, Example
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf.text.pronouns import pronoun_gender

__all__ = [
    "ChoiceSample",
    "TranslationSample",
    "choice_samples",
    "draw_samples",
    "draw_schemas",
    "drawn_together",
    "read_choice_samples",
    "read_translation_samples",
    "same_sentence",
    "shipped_file",
    "translation_sample",
]

_FOLDER = Path(__file__).parent / "demonstrations"
_GAP = "<GAP>"
_NUMBERED = ("pronoun", "referent", "target")
_CHOICE_COLUMNS = (
    *("schema", "sentence", "translation1", "translation2", "answer"),
    *(f"{name}{number}" for name in _NUMBERED for number in (1, 2)),
    "reason",
)
_TRANSLATION_COLUMNS = ("source", "word", "meaning", "target", "definition", "translation")


@dataclass(frozen=True, slots=True)
class ChoiceSample:
    """A choice between two options.

    Attributes:
        id: the example; "" for a demonstration from a file.
        schema: the name that twins share; "" for none.
        sentence: the English sentence, or the context with `<GAP>`.
        options: the two translations or fillers, in the order in which they are shown.
        answer: number of the right one, "1" or "2".
        pronouns, referents, targets, genders: of each option, the pronoun of the translation, the
            English noun that it refers to, the noun of the translation, and its gender; "" where
            the data do not say.
        reason: why the right referent is right, as a clause without a full stop; "" for none.
    """

    id: str
    schema: str
    sentence: str
    options: tuple[str, str]
    answer: str
    pronouns: tuple[str, str] = ("", "")
    referents: tuple[str, str] = ("", "")
    targets: tuple[str, str] = ("", "")
    genders: tuple[str, str] = ("", "")
    reason: str = ""

    @property
    def explains(self) -> bool:
        """Whether all columns are known from which reasons are written."""
        texts = (*self.pronouns, *self.referents, *self.targets, *self.genders)
        return all(texts) and "unknown" not in self.genders

    def swapped(self) -> ChoiceSample:
        """Return the same sample with its options in the other order."""
        return replace(
            self,
            options=self.options[::-1],
            answer="2" if self.answer == "1" else "1",
            pronouns=self.pronouns[::-1],
            referents=self.referents[::-1],
            targets=self.targets[::-1],
            genders=self.genders[::-1],
        )


@dataclass(frozen=True, slots=True)
class TranslationSample:
    """A sentence to translate.

    Attributes:
        id: the example; "" for a demonstration from a file.
        translation: its translation; "" where it is not known.
        word, meaning, target, definition: an ambiguous noun of the source, what it means there, the
            noun that translates it, and how that is defined; "" for none.
    """

    id: str
    source: str
    translation: str = ""
    word: str = ""
    meaning: str = ""
    target: str = ""
    definition: str = ""

    @property
    def explains(self) -> bool:
        """Whether all columns are known from which reasons are written."""
        return all((self.word, self.meaning, self.target, self.definition))


def choice_samples(example: ContrastiveTranslationExample) -> list[ChoiceSample]:
    """Return an example as choices, one between the right translation and each wrong one.

    The options are in the order that the data give by the number of the right one, `answer`.
    Without it, a hash of the id decides, so that about half of the right options come first.

    Examples:
        >>> example = ContrastiveTranslationExample(
        ...     "7", "en", "de", "The bat.", "Der Schläger.", ("Die Fledermaus.", "Der Hieb."), "x"
        ... )
        >>> [(sample.id, sample.answer) for sample in choice_samples(example)]
        [('7/1', '2'), ('7/2', '2')]
    """
    extra = example.extra
    has_gap = "correct_filler" in extra and "context" in extra
    given = extra.get("answer", "")
    if extra.get("open_share"):
        raise InputError(
            f"example {example.id!r}: expected a source that tells the right translation, got an"
            " open choice; ask for the translation instead"
        )
    if not (has_gap or example.source) or given not in ("", "1", "2"):
        raise InputError(
            f"example {example.id!r}: expected two translations of a source, or two fillers of a"
            ' gap, and under "answer" the number of the right one, 1 or 2, or nothing'
        )

    def both(key: str) -> tuple[str, str]:
        return extra.get(f"correct_{key}", ""), extra.get(f"incorrect_{key}", "")

    wrong = example.contrastive_translations
    # What a sentence refers to may stand before it, as in contextual_* of mt_geneval.
    context = extra.get("context", "") if "source_with_context" in extra else ""
    samples = []
    for number, translation in enumerate(wrong, 1):
        sample = ChoiceSample(
            id=example.id if len(wrong) == 1 else f"{example.id}/{number}",
            schema=extra.get("pair", "") if len(wrong) == 1 else "",
            sentence=(
                extra["context"].replace("_", _GAP)
                if has_gap
                else " ".join(filter(None, (context, example.source)))
            ),
            options=both("filler") if has_gap else (example.correct_translation, translation),
            answer="1",
            pronouns=both("pronoun"),
            referents=both("referent"),
            targets=both("referent_tgt"),
            genders=both("gender"),
        )
        answer = given or _answer_by_hash(sample.id)
        samples.append(sample if answer == "1" else sample.swapped())
    return samples


def _answer_by_hash(name: str) -> str:
    return "12"[hashlib.sha256(name.encode("utf-8", "replace")).digest()[0] % 2]


def translation_sample(example: Example) -> TranslationSample:
    """Return an example as a sentence to translate, with its reference if it has one."""
    if isinstance(example, ContrastiveTranslationExample):
        return TranslationSample(example.id, example.source, example.correct_translation)
    reference = example.extra.get("reference", "")
    return TranslationSample(example.id, example.source, reference)


def draw_schemas(samples: Sequence[ChoiceSample], n_shots: int, *, seed: int) -> list[ChoiceSample]:
    """Draw whole schemas, both twins of each; or single samples, if none has a schema.

    Examples:
        >>> rows = [ChoiceSample(str(i), str(i // 2), "It.", ("a", "b"), "1") for i in range(6)]
        >>> [sample.id for sample in draw_schemas(rows, 2, seed=0)]
        ['4', '5']
    """
    groups = drawn_together(samples)
    if not any(sample.schema for sample in samples):
        if n_shots > len(samples):
            raise InputError(
                f"shots: expected at most {len(samples)}, the number of rows, got {n_shots}; give"
                " fewer, or a file of demonstrations"
            )
        order = np.random.default_rng(seed).permutation(len(samples))[:n_shots]
        return [samples[number] for number in order]
    if n_shots % 2:
        raise InputError(
            f"shots: expected an even number, since the twins of a schema are drawn together, got"
            f" {n_shots}"
        )
    if n_shots // 2 > len(groups):
        raise InputError(
            f"shots: expected at most {2 * len(groups)}, since {len(groups)} schemas have both of"
            f" their samples among the rows, got {n_shots}; give fewer, or a file of demonstrations"
        )
    order = np.random.default_rng(seed).permutation(len(groups))[: n_shots // 2]
    return [sample for number in order for sample in groups[number]]


def drawn_together(samples: Sequence[ChoiceSample]) -> list[list[ChoiceSample]]:
    """Return both twins of each whole schema, by its name; or each sample, if none has a schema."""
    by_schema: dict[str, list[ChoiceSample]] = {}
    for sample in samples:
        if sample.schema:
            by_schema.setdefault(sample.schema, []).append(sample)
    whole = [by_schema[schema] for schema in sorted(by_schema) if len(by_schema[schema]) == 2]
    return whole if by_schema else [[sample] for sample in samples]


def draw_samples(
    samples: Sequence[TranslationSample], n_shots: int, *, seed: int
) -> list[TranslationSample]:
    """Draw sentences with a translation."""
    translated = [sample for sample in samples if not is_blank(sample.translation)]
    if n_shots > len(translated):
        raise InputError(
            f"shots: expected at most {len(translated)}, the number of rows with a reference, got"
            f" {n_shots}; give fewer, or a file of demonstrations"
        )
    order = np.random.default_rng(seed).permutation(len(translated))[:n_shots]
    return [translated[number] for number in order]


def same_sentence(text: str) -> str:
    """Return what two texts of the same sentence have in common: its words in lower case."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def shipped_file(task: str, src_lang: str, tgt_lang: str) -> Path:
    """Return the file of demonstrations with reasons that ships for a language pair."""
    kind = {"translations": "pronouns"}.get(task, task)
    path = _FOLDER / f"{kind}.{base_code(src_lang)}-{base_code(tgt_lang)}.tsv"
    if not is_file(path):
        shipped = sorted(known.name.split(".")[1] for known in _FOLDER.glob(f"{kind}.*.tsv"))
        raise MissingOptionError(
            f"demonstrations: none with reasons ship for {src_lang}-{tgt_lang}"
            f" ({', '.join(shipped) or 'none'} have some); expected a file of your own, or none"
            " (`shots` 0)"
        )
    return path


def read_choice_samples(path: Path, tgt_lang: str) -> list[ChoiceSample]:
    """Read demonstrations of choices from a tab-separated file.

    The columns are schema, sentence, translation1, translation2, answer, pronoun1, pronoun2,
    referent1, referent2 (English nouns), target1, target2 (nouns of the translation) and reason.
    """
    samples = []
    form = {**dict.fromkeys(_CHOICE_COLUMNS), "answer": OneOf("1", "2")}
    for _, row in read_rows(path, TABLES, form):
        pronouns = row["pronoun1"], row["pronoun2"]
        samples.append(
            ChoiceSample(
                id="",
                schema=row["schema"],
                sentence=row["sentence"],
                options=(row["translation1"], row["translation2"]),
                answer=row["answer"],
                pronouns=pronouns,
                referents=(row["referent1"], row["referent2"]),
                targets=(row["target1"], row["target2"]),
                genders=(
                    pronoun_gender(pronouns[0], tgt_lang),
                    pronoun_gender(pronouns[1], tgt_lang),
                ),
                reason=row["reason"].strip().rstrip("."),
            )
        )
    return samples


def read_translation_samples(path: Path) -> list[TranslationSample]:
    """Read demonstrations of translations from a tab-separated file.

    The columns are source, word, meaning, target, definition and translation.
    """
    return [
        TranslationSample(id="", **{name: row[name] for name in _TRANSLATION_COLUMNS})
        for _, row in read_rows(path, TABLES, dict.fromkeys(_TRANSLATION_COLUMNS))
    ]
