"""Examples of word senses: the ambiguous word, the sense that is meant, and a reference
translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.files.custom import is_custom, read_words
from cc_hf.data.loading import check_target_language, declaration, load_examples, signature_fields
from cc_hf.errors import InputError
from cc_hf.files import file_sha256
from cc_hf.languages import language_tag
from cc_hf.lists import listed
from cc_hf.plugins.calibration.cue_set import Sense, SenseExample
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    ProbingExample,
)

__all__ = ["SenseData", "SenseSource", "load_senses"]

#: A dataset's name, a file of words, or examples.
SenseSource: TypeAlias = str | Path | Sequence[ContrastiveSourceExample | ProbingExample]


@dataclass(frozen=True)
class SenseData:
    """Examples by sense."""

    examples: tuple[SenseExample, ...]  # those whose word is located in the source
    rows: Mapping[Sense, Sequence[int]]  # of the requested senses, in `examples`
    tgt_lang: str
    origin: Mapping[str, str]  # the signature's fields for the data
    n_unlocated: int  # left out, since their word is not located

    @property
    def src_lang(self) -> str:
        """The language of the sources, ISO 639-1."""
        return self.examples[0].src_lang


def load_senses(
    dataset: SenseSource,
    config: str | None,
    *,
    tgt_lang: str | None,
    words: Sequence[str] | None,
    data_dir: str | Path | None,
) -> SenseData:
    """Load examples and group them by sense.

    Examples:
        >>> from cc_hf.schema import Focus
        >>> extra = {"ambiguous_word": "bat", "reference": "ein Schläger"}
        >>> located, unlocated = (
        ...     ProbingExample("0", "en", "de", "a bat", "all", "club", focus, extra)
        ...     for focus in (Focus("bat", 2), None)
        ... )
        >>> data = load_senses(
        ...     [located, unlocated], None, tgt_lang=None, words=None, data_dir=None
        ... )
        >>> data.rows, data.n_unlocated
        ({('bat', 'club'): [0]}, 1)
    """
    is_name = isinstance(dataset, (str, Path)) and not is_custom(dataset)
    source = declaration(str(dataset)) if is_name else dataset
    tgt_lang = tgt_lang and language_tag(tgt_lang, "tgt_lang")
    examples, origin, n_unlocated = _examples(source, config, data_dir, tgt_lang)
    target = _target_language(source, config, tgt_lang, examples)
    rows: dict[Sense, list[int]] = {}
    for row, example in enumerate(examples):
        rows.setdefault(example.sense, []).append(row)
    if words is not None:
        _check_words(words, {word for word, _ in rows})
        rows = {sense: indices for sense, indices in rows.items() if sense[0] in words}
        origin = {**origin, "words": ",".join(sorted(set(words)))}
    return SenseData(tuple(examples), rows, target, origin, n_unlocated)


def _examples(
    source: SenseSource | DatasetDeclaration,
    config: str | None,
    data_dir: str | Path | None,
    tgt_lang: str | None,
) -> tuple[list[SenseExample], dict[str, str], int]:
    """Return located examples, signature fields of the data, and how many are not located."""
    if isinstance(source, DatasetDeclaration):
        name = source.config(config).name
        loaded: Sequence[ContrastiveSourceExample | ProbingExample] = load_examples(
            source, name, data_dir=data_dir
        )
        origin = {"data": signature_fields(source, name, data_dir=data_dir)["data"]}
    elif isinstance(source, (str, Path)):
        loaded = list(read_words(source, tgt_lang=tgt_lang))
        digest = file_sha256(Path(source))[:7]
        origin = {"data": f"custom/{Path(source).stem}@{digest}"}
    else:
        loaded, origin = source, {"data": "own"}
    converted = [_sense_example(row, example) for row, example in enumerate(loaded)]
    located = [example for example in converted if example is not None]
    if not located:
        raise InputError(
            "expected at least one example whose ambiguous word is located in the source, got none"
            f" among {len(loaded)} examples"
        )
    return located, origin, len(loaded) - len(located)


def _sense_example(
    row: int, example: ContrastiveSourceExample | ProbingExample | ContrastiveTranslationExample
) -> SenseExample | None:
    remedy = (
        "cues are built for datasets of word senses that have reference translations, such as mucow"
    )
    if isinstance(example, ContrastiveTranslationExample):
        raise InputError(
            f"row {row}: expected an example of a word sense, got a contrastive translation;"
            f" {remedy}"
        )
    word, reference = (example.extra.get(key, "") for key in ("ambiguous_word", "reference"))
    if missing := [
        name
        for name, value in (
            ("gold", example.gold),
            ("ambiguous_word", word),
            ("reference", reference),
        )
        if not value.strip()
    ]:
        raise InputError(
            f"row {row}: expected gold (the sense), ambiguous_word and reference, got no"
            f" {', '.join(missing)}; {remedy}"
        )
    if example.focus is None:
        return None
    return SenseExample(
        id=example.id,
        src_lang=example.src_lang,
        tgt_lang=example.tgt_lang,
        source=example.source,
        focus=example.focus,
        category=example.category,
        gold=example.gold,
        ambiguous_word=word,
        reference=reference,
    )


def _target_language(
    source: object, config: str | None, tgt_lang: str | None, examples: Sequence[SenseExample]
) -> str:
    if isinstance(source, DatasetDeclaration):
        return check_target_language(source, config, tgt_lang)
    languages = {example.tgt_lang for example in examples if example.tgt_lang} | (
        {tgt_lang} if tgt_lang else set()
    )
    if len(languages) != 1:
        raise InputError(
            "tgt_lang: expected one target language of the examples and of tgt_lang together, got"
            f" {', '.join(sorted(languages)) or 'none'}"
        )
    return languages.pop()


def _check_words(words: Sequence[str], known: set[str]) -> None:
    if not (words := listed("words", words, what="ambiguous words")):
        got = "none"
    elif strange := set(words) - known:
        got = ", ".join(sorted(strange))
    else:
        return
    raise InputError(
        "words: expected a list of ambiguous words of the data, such as"
        f" {', '.join(sorted(known)[:3])}; got {got}"
    )
