"""MuCoW (Raganato et al. 2019) with the published insertions as cues (Vamvas & Sennrich 2021), the
translation suite, and the scoring suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.cues.placement import insert_before
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.data.files.contrastive_json import EXTRA_KEYS as SCORING_KEYS
from cc_hf.data.files.contrastive_json import read_contrastive_json
from cc_hf.data.files.sense_counts import frequent_senses, read_sense_counts
from cc_hf.errors import in_file
from cc_hf.languages import language_name
from cc_hf.reading import Place
from cc_hf.records import WORD, parse_object, read_value
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Focus,
    ProbingExample,
)
from cc_hf.test_sets.mucow.files import (
    COUNTS,
    CUES,
    KEY,
    REF,
    SCORING,
    SCORING_FILES,
    SUITE_FILES,
    TEXT,
    WITH_CUES_FILES,
)
from cc_hf.test_sets.mucow.suite import (
    key_row,
    matching_tokens,
    read_suite,
)
from cc_hf.text.tokenization import Token

__all__ = ["DECLARATION", "read_mucow"]


def read_mucow(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield the examples of a configuration in file order; ids are positions in it, from 0."""
    if config.startswith("scoring."):
        pair = config.removeprefix("scoring.")
        src_lang, _, tgt_lang = pair.partition("-")
        yield from read_contrastive_json(
            paths[SCORING.format(pair)], src_lang=src_lang, tgt_lang=tgt_lang, category="origin"
        )
        return
    pair, _, form = config.partition(".")
    if form == "probing" or pair not in WITH_CUES_FILES:
        yield from read_suite(paths, pair, paths.get(COUNTS.format(pair)))
    else:
        yield from _read_with_cues(paths, pair, as_the_program=form == "emnlp2021")


def _read_with_cues(
    paths: Mapping[str, Path], pair: str, *, as_the_program: bool
) -> Iterator[ContrastiveSourceExample]:
    """Yield the sentences in which the ambiguous word is found."""
    rows = aligned_lines(*(paths[name.format(pair)] for name in (TEXT, KEY, REF, CUES)))
    frequent = frequent_senses(read_sense_counts(paths[COUNTS.format(pair)]))
    for number, (source, key_line, translation, cue_line) in enumerate(rows):
        row = key_row(paths[KEY.format(pair)], number, key_line)
        tokens = matching_tokens(source, row.word, "en")
        if not tokens:
            continue  # the word is written in capitals; the paper leaves these sentences out
        sides = []
        # The cue is inserted before every whole token that is the ambiguous word. The program of
        # the paper instead inserts it before every occurrence of the letters, also inside words.
        for words in _insertions(paths[CUES.format(pair)], number, cue_line):
            sides.append(
                tuple(
                    (
                        _replaced(source, tokens[0].text, word)
                        if as_the_program
                        else _inserted(source, tokens, word)
                    )
                    for word in words
                )
            )
        yield ContrastiveSourceExample(
            id=str(number),
            src_lang="en",
            tgt_lang=pair.removeprefix("en-"),
            source=source,
            focus=Focus(tokens[0].text, tokens[0].start),
            correct_sources=sides[0],
            incorrect_sources=sides[1],
            category="frequent" if row.sense in frequent else "infrequent",
            gold=" ".join(row.correct),
            extra={
                "ambiguous_word": row.word,
                "correct_senses": " ".join(row.correct),
                "incorrect_senses": " ".join(row.incorrect),
                "corpus": row.corpus,
                "reference": translation,
            },
        )


_INSERTIONS = {"correct_insertions": [WORD], "incorrect_insertions": [WORD]}


def _insertions(path: Path, number: int, line: str) -> list[list[str]]:
    """Return the words of both sides, sorted."""
    where = Place(path, number + 1)
    insertions = parse_object(line, where)
    with in_file(where):
        read_value(_INSERTIONS, insertions)
    # The program has them in a set, and the best score does not depend on the order.
    return [sorted(insertions[side]) for side in _INSERTIONS]


def _inserted(source: str, tokens: list[Token], cue: str) -> str:
    for token in reversed(tokens):
        source = insert_before(source, token.start, cue)
    return source


def _replaced(source: str, form: str, cue: str) -> str:
    # This is the program's defect, kept for parity: it also matches letters inside words.
    return source.replace(form, f"{cue} {form}")


_PROGRAM = "cues exactly as the program of Vamvas & Sennrich 2021 places them, its defects included"

_WITH_CUES_SIZES = {"en-de": 3334, "en-ru": 1810}
_SUITE_SIZES = {
    "de-en": 4268,
    "en-cs": 1843,
    "en-de": 3337,
    "en-fi": 830,
    "en-lt": 69,
    "en-ru": 1814,
    "fi-en": 2117,
    "lt-en": 99,
    "ru-en": 1223,
}
_SCORING_SIZES = {"et-en": 1094, "lt-en": 356, "lv-en": 139}
_SUITE_KEYS = (
    "ambiguous_word",
    "correct_senses",
    "incorrect_senses",
    "corpus",
    "frequency",
    "reference",
)


def _configs_with_cues() -> Iterator[ConfigDeclaration]:
    for pair, n in _WITH_CUES_SIZES.items():
        for suffix, description in (
            ("", "3 correct and 3 incorrect insertions before the ambiguous word"),
            (".emnlp2021", _PROGRAM),
        ):
            yield ConfigDeclaration(
                pair + suffix,
                f"{_names(pair)}, {description}",
                (pair[-2:],),
                {"test": n},
                WITH_CUES_FILES[pair],
                line_keys={_SUITE_SIZES[pair]: "id"},
            )


def _configs_of_the_suite() -> Iterator[ConfigDeclaration]:
    for pair, n in _SUITE_SIZES.items():
        counts = tuple(
            file for file in WITH_CUES_FILES.get(pair, ()) if file.path == COUNTS.format(pair)
        )
        yield ConfigDeclaration(
            f"{pair}.probing" if pair in WITH_CUES_FILES else pair,
            f"{_names(pair)}, the translation suite: the words that show a sense",
            (pair[-2:],),
            {"test": n},
            (*SUITE_FILES[pair], *counts),
            ProbingExample,
            pair[:2],
            _SUITE_KEYS,
        )


def _configs_of_scoring() -> Iterator[ConfigDeclaration]:
    for pair, file in SCORING_FILES.items():
        description = (
            f"{_names(pair)}, the scoring suite: the reference against translations with another"
            " sense"
        )
        yield ConfigDeclaration(
            f"scoring.{pair}",
            description,
            (pair[-2:],),
            {"test": _SCORING_SIZES.get(pair)},
            (file,),
            ContrastiveTranslationExample,
            pair[:2],
            SCORING_KEYS,
        )


def _names(pair: str) -> str:
    return "-".join(map(language_name, pair.split("-")))


DECLARATION = DatasetDeclaration(
    name="mucow",
    title="MuCoW",
    phenomenon="word senses",
    description=(
        "MuCoW: sentences with an ambiguous word whose sense the context decides; does the"
        " translation have the right one?"
    ),
    licence="cc-by-4.0",
    homepage="https://github.com/Helsinki-NLP/MuCoW",
    citation_keys=("raganato-2019", "vamvas-sennrich-2021"),
    revision=WITH_CUES_FILES["en-de"][0].commit,
    cues="mlm_insertions",
    files=(),
    configs=(*_configs_with_cues(), *_configs_of_the_suite(), *_configs_of_scoring()),
    default_config="en-de",
    extra_keys=("ambiguous_word", "correct_senses", "incorrect_senses", "corpus", "reference"),
    read=read_mucow,
)
