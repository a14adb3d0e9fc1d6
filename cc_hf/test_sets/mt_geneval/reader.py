"""MT-GenEval (Currey et al. 2022): English sentences with their counterfactual of the other gender,
and ambiguous sentences after a context.

Targets are as upstream has them, except for CSV quotes and outer blanks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example
from cc_hf.test_sets.mt_geneval.context import LOCATED, context_gender
from cc_hf.test_sets.mt_geneval.files import COMMIT, FILES, REPOSITORY
from cc_hf.test_sets.mt_geneval.into_english import INTO_ENGLISH, into_english
from cc_hf.test_sets.mt_geneval.pairs import (
    Side,
    counterfactual_pairs,
    marked_focus,
    unquoted,
)
from cc_hf.text.professions import profession

__all__ = ["DECLARATION", "read_mt_geneval", "sub_category", "unquoted"]

_CONTEXT = "data/context/geneval-context-wikiprofessions-{part}-{split}.en_{lang}.{end}"
_SEPARATOR = "<sep>"
#: Table 4 in the order of its rows: (stereotype of the profession, gender of the person).
_SUB_CATEGORIES = (
    ("female", "male"),
    ("female", "female"),
    ("male", "male"),
    ("male", "female"),
    ("neutral", "male"),
    ("neutral", "female"),
)
_STEREOTYPED, _NEUTRAL = 150, 250
_CONTEXT_KEYS = ("context", "source_with_context", "profession_stereotype")
_UNKNOWN = "unknown"


def read_mt_geneval(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield the rows in file order.

    Ids are 0-based line numbers; a counterfactual pair has `12.male` and `12.female`, in this
    order. Configurations `counterfactual_*.translations` and `.into_english` leave out the pairs
    whose two references are the same text, and `contextual_*.sources` the rows in which the person
    or the person's gender is not known.
    """
    subset, _, lang_and_form = config.partition("_")
    lang, _, form = lang_and_form.partition(".")
    if subset == "contextual":
        rows = _contextual(paths, lang, split)
        return _with_brackets(rows) if form else rows
    if form.startswith(INTO_ENGLISH):
        pairs = counterfactual_pairs(paths, lang, split)
        return into_english(pairs, lang, contrasts_translations=form != INTO_ENGLISH)
    return (
        _counterfactual_translations(paths, lang, split)
        if form
        else _counterfactual(paths, lang, split)
    )


def _contextual(
    paths: Mapping[str, Path], lang: str, split: str
) -> Iterator[ContrastiveTranslationExample]:
    parts = (("2to1", "en"), ("original", lang), ("flipped", lang))
    files = [
        paths[_CONTEXT.format(part=part, split=split, lang=lang, end=end)] for part, end in parts
    ]
    rows = aligned_lines(*files, is_blank_allowed=False)
    for number, (line, original, flipped) in enumerate(rows):
        context, *mains = line.split(_SEPARATOR)
        if len(mains) != 1 or not mains[0].strip():
            raise DataError(
                f'{files[0]}: line {number + 1}: expected "context {_SEPARATOR} sentence", got'
                f" {line[:80]!r}"
            )
        if original == flipped:
            raise DataError(
                f"{files[2]}: line {number + 1}: expected a translation with the other gender, got"
                f" the original one: {flipped[:80]!r}"
            )
        stereotype, gender = (
            _sub_category(files[0], number, len(rows)) if split == "test" else (_UNKNOWN, _UNKNOWN)
        )
        yield ContrastiveTranslationExample(
            id=str(number),
            src_lang="en",
            tgt_lang=lang,
            source=mains[0].strip(),
            correct_translation=original,
            contrastive_translations=(flipped,),
            category=sub_category(stereotype, gender),
            extra={
                "context": context.strip(),
                "source_with_context": line,
                "gender": gender,
                "profession_stereotype": stereotype,
            },
        )


def _with_brackets(
    rows: Iterator[ContrastiveTranslationExample],
) -> Iterator[ContrastiveSourceExample]:
    """Yield contextual rows with a bracket of gender before the person, where both are known."""
    for row in rows:
        focus, by_pronouns = profession(row.source), context_gender(row.extra["context"])
        # The gender is that of the sub-category in test, and that of the pronouns in the context in
        # dev.
        known = row.extra["gender"] if row.extra["gender"] != _UNKNOWN else by_pronouns
        # Rows of test whose context has pronouns of the other gender only are left out.
        if focus is None or not known or by_pronouns not in ("", known):
            continue
        correct, incorrect = gender_bracket_sources(row.source, focus, known)
        yield ContrastiveSourceExample(
            id=row.id,
            src_lang=row.src_lang,
            tgt_lang=row.tgt_lang,
            source=row.source,
            focus=focus,
            correct_sources=correct,
            incorrect_sources=incorrect,
            category=known,
            gold=known,
            extra={
                "reference": row.correct_translation,
                "contrastive_reference": row.contrastive_translations[0],
                **{key: row.extra[key] for key in _CONTEXT_KEYS},
            },
        )


def _sub_category(path: Path, number: int, n: int) -> tuple[str, str]:
    """Return the stereotype of the profession and the gender of the person for a test row."""
    # Upstream has no field for them, but the test rows are stacked by sub-category. Only the fourth
    # has fewer rows than Table 4 in some languages.
    starts = (_STEREOTYPED, 2 * _STEREOTYPED, 3 * _STEREOTYPED, n - 2 * _NEUTRAL, n - _NEUTRAL)
    if starts[3] <= starts[2]:
        raise DataError(
            f"{path}: expected more than {starts[2] + 2 * _NEUTRAL} lines, the sub-categories of"
            f" Table 4 one after the other, got {n}"
        )
    return _SUB_CATEGORIES[bisect_right(starts, number)]


def sub_category(stereotype: str, gender: str) -> str:
    """Return the name of a sub-category of the contextual subset (Table 4).

    Examples:
        >>> sub_category("female", "male"), sub_category("neutral", "male")
        ('female_stereotyped/male', 'neutral/male')
    """
    if _UNKNOWN in (stereotype, gender):
        return _UNKNOWN
    return (
        f"{stereotype}/{gender}"
        if stereotype == "neutral"
        else f"{stereotype}_stereotyped/{gender}"
    )


def _counterfactual(
    paths: Mapping[str, Path], lang: str, split: str
) -> Iterator[ContrastiveSourceExample]:
    for pair, side, opposite in counterfactual_pairs(paths, lang, split):
        yield ContrastiveSourceExample(
            id=f"{pair}.{side.gender}",
            src_lang="en",
            tgt_lang=lang,
            source=side.source,
            focus=marked_focus(side.path, pair + 1, side.source, side.annotated_source),
            correct_sources=(side.source,),
            incorrect_sources=(opposite.source,),
            category=side.gender,
            gold=side.gender,
            extra={
                "reference": side.reference,
                "contrastive_reference": opposite.reference,
                **_shared_columns(pair, side),
            },
        )


def _counterfactual_translations(
    paths: Mapping[str, Path], lang: str, split: str
) -> Iterator[ContrastiveTranslationExample]:
    for pair, side, opposite in counterfactual_pairs(paths, lang, split):
        if side.reference == opposite.reference:
            continue  # both are translated without gender; the card says how many
        yield ContrastiveTranslationExample(
            id=f"{pair}.{side.gender}",
            src_lang="en",
            tgt_lang=lang,
            source=side.source,
            correct_translation=side.reference,
            contrastive_translations=(opposite.reference,),
            category=side.gender,
            extra={"contrastive_source": opposite.source, **_shared_columns(pair, side)},
        )


def _shared_columns(pair: int, side: Side) -> dict[str, str]:
    annotations = {
        "annotated_source": side.annotated_source,
        "annotated_reference": side.annotated_reference,
    }
    return {"pair": str(pair), "reference_raw": side.reference_raw, **annotations}


#: Number of rows in dev and test.
_CONTEXTUAL = {
    "ar": (792, 1100),
    "de": (598, 1100),
    "es": (534, 1096),
    "fr": (477, 1099),
    "hi": (397, 1098),
    "it": (465, 1094),
    "nl": (480, 1078),
    "pt": (574, 1089),
    "ru": (583, 1100),
}
_PAIRS = (1200, 300)
#: Number of pairs in dev and test whose two references are the same text.
_SAME_REFERENCE = {
    "ar": (0, 0),
    "de": (0, 0),
    "es": (130, 14),
    "fr": (0, 0),
    "hi": (184, 32),
    "it": (132, 19),
    "pt": (4, 0),
    "ru": (0, 0),
}
_SHARED = ("pair", "reference_raw", "annotated_source", "annotated_reference")


def _config(
    name: str,
    description: str,
    form: type[Example],
    sizes: tuple[int, int],
    *extra_keys: str,
    cues: str = "",
    pair: tuple[str, str] | None = None,
) -> ConfigDeclaration:
    subset, _, lang = name.partition(".")[0].partition("_")
    src_lang, tgt_lang = pair or ("en", lang)
    folder = "data/context/" if subset == "contextual" else "data/sentences/"
    files = tuple(
        SourceFile(REPOSITORY, COMMIT, path, sha256, size)
        for path, sha256, size in FILES
        if path.startswith(folder) and f".en_{lang}." in path
    )
    return ConfigDeclaration(
        name,
        description,
        (tgt_lang,),
        dict(zip(("dev", "test"), sizes, strict=True)),
        files,
        form,
        src_lang,
        extra_keys=extra_keys,
        cues=cues,
    )


def _configs() -> Iterator[ConfigDeclaration]:
    n_dev, n_test = _PAIRS
    for lang, (same_in_dev, same_in_test) in _SAME_REFERENCE.items():
        name = f"counterfactual_{lang}"
        yield _config(
            name,
            "sources and their counterfactuals",
            ContrastiveSourceExample,
            (2 * n_dev, 2 * n_test),
            "reference",
            "contrastive_reference",
            *_SHARED,
        )
        yield _config(
            f"{name}.translations",
            "references and those of the counterfactuals",
            ContrastiveTranslationExample,
            (2 * (n_dev - same_in_dev), 2 * (n_test - same_in_test)),
            "contrastive_source",
            *_SHARED,
        )
        sizes = (2 * (n_dev - same_in_dev), 2 * (n_test - same_in_test))
        yield _config(
            f"{name}.{INTO_ENGLISH}",
            "the references as sources, translated into English",
            ContrastiveSourceExample,
            sizes,
            "reference",
            "contrastive_reference",
            *_SHARED,
            pair=(lang, "en"),
        )
        yield _config(
            f"{name}.{INTO_ENGLISH}.translations",
            "the same, with the English sentences of both genders",
            ContrastiveTranslationExample,
            sizes,
            "contrastive_source",
            *_SHARED,
            pair=(lang, "en"),
        )
    for lang, sizes in _CONTEXTUAL.items():
        extra = ("context", "source_with_context", "gender", "profession_stereotype")
        yield _config(
            f"contextual_{lang}",
            "gender that only the context tells",
            ContrastiveTranslationExample,
            sizes,
            *extra,
        )
        yield _config(
            f"contextual_{lang}.sources",
            "the same, with a cue at the person",
            ContrastiveSourceExample,
            LOCATED[lang],
            "reference",
            "contrastive_reference",
            *_CONTEXT_KEYS,
            cues="gender_brackets",
        )


DECLARATION = DatasetDeclaration(
    name="mt_geneval",
    title="MT-GenEval",
    phenomenon="gender",
    description=(
        "MT-GenEval: sentences from Wikipedia in which words, or the sentences before, tell a"
        " person's gender; does the translation have it?"
    ),
    licence="cc-by-sa-3.0",
    homepage="https://github.com/amazon-science/machine-translation-gender-eval",
    citation_keys=("currey-2022", "vamvas-sennrich-2021"),
    revision=COMMIT,
    cues="counterfactual",
    files=(),
    configs=tuple(_configs()),
    default_config="counterfactual_de",
    extra_keys=(),
    read=read_mt_geneval,
)
