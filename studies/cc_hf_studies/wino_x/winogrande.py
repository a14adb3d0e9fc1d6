"""WinoGrande (Sakaguchi et al. 2020): English sentences with a gap that one of two fillers fits.

It is material to train on and to make Wino-X from, not a dataset of the registry: it has no
translations to judge, and the answers of its test part are not public.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cc_hf.cues.placement import replace_at
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.data.loading import load_examples
from cc_hf.errors import DataError, InputError, check_choice, in_file
from cc_hf.reading import text_of
from cc_hf.schema import ContrastiveTranslationExample, Example
from cc_hf.tables.rows import read_rows
from cc_hf.test_sets.wino_x.referents import referent_position
from cc_hf.text.tokenization import word_texts

__all__ = ["GAP", "SPLITS", "WINOGRANDE", "load_winogrande", "read_winogrande", "same_context"]

_REPOSITORY, _COMMIT = "allenai/winogrande", "01e74176c63542e6b0bcb004dcdea22d94fb67b5"
_PATH = "winogrande_xl/{}-00000-of-00001.parquet"

#: Splits with answers, and their numbers of rows.
SPLITS: dict[str, int] = {"train": 40_398, "validation": 1_267}

#: The gap in a sentence.
GAP = "_"

_KEYS = ("pair", "answer", "context", "correct_filler", "incorrect_filler")
# Crowd workers had to write twins that share at least 70 % of their words (Sakaguchi et al. 2020,
# section 2).
_SHARED = 0.7


def load_winogrande(
    path: str | Path | None = None,
    *,
    split: str = "train",
    data_dir: str | Path | None = None,
) -> list[ContrastiveTranslationExample]:
    """Return sentences with the right filler against the wrong one.

    `extra` names the schema (`pair`), the `answer`, the `context` with its gap and both fillers.

    Args:
        path: a .jsonl or .parquet file in the format of WinoGrande (`sentence`, `option1`,
            `option2`, `answer`, and `qID` where it is known); None for the largest training set of
            the Hub, pinned by its commit.
    """
    if path is not None:
        return list(read_winogrande(path, name=Path(path).stem))
    check_choice("split", split, tuple(SPLITS))
    return load_examples(WINOGRANDE, split, split=split, data_dir=data_dir)


def read_winogrande(path: str | Path, *, name: str) -> Iterator[ContrastiveTranslationExample]:
    """Yield the rows of a file as examples, in the order of the file."""
    open_rows: dict[frozenset[str], list[tuple[ContrastiveTranslationExample, Counter[str]]]] = {}
    seen: set[str] = set()
    for number, (where, row) in enumerate(_rows(Path(path))):
        qid = text_of(row, "qID", where, default="")
        with in_file(where):
            example = _example(row, where, qid or f"{name}-{number}")
            if example.id in seen:
                raise InputError(f"expected every qID once, got {qid!r} again")
        seen.add(example.id)
        if qid:
            yield _in_schema(example, re.sub(r"-[12]$", "", qid))
            continue
        # Rows without `qID`, such as those of the Hub, are numbered. Their twin is the nearest
        # earlier row with the same options, the other answer and at least 70 % of the same words.
        fillers = frozenset(
            example.extra[f"{side}_filler"].lower() for side in ("correct", "incorrect")
        )
        words = Counter(word_texts(example.extra["context"].lower()))
        candidates = open_rows.setdefault(fillers, [])
        twin = next(
            (
                index
                for index in reversed(range(len(candidates)))
                if _are_twins(example, words, *candidates[index])
            ),
            None,
        )
        if twin is None:
            candidates.append((example, words))
            yield _in_schema(example, example.id)
        else:
            yield _in_schema(example, candidates.pop(twin)[0].id)


def same_context(context: str) -> str:
    """Return a context in a form that is the same in WinoGrande and in Wino-X."""
    # Wino-X has a gap in place of "the" and the gap of WinoGrande.
    return re.sub(r"\bthe _", GAP, " ".join(context.lower().split()))


def _are_twins(
    left: ContrastiveTranslationExample,
    left_words: Counter[str],
    right: ContrastiveTranslationExample,
    right_words: Counter[str],
) -> bool:
    shared = (left_words & right_words).total()
    return left.extra["correct_filler"].lower() != right.extra[
        "correct_filler"
    ].lower() and shared >= _SHARED * max(left_words.total(), right_words.total())


def _in_schema(example: ContrastiveTranslationExample, pair: str) -> ContrastiveTranslationExample:
    return replace(example, extra={**example.extra, "pair": pair})


def _example(row: Mapping[str, Any], where: object, name: str) -> ContrastiveTranslationExample:
    """Return a row as an example that is the only one of its schema."""
    answer = row.get("answer")
    if isinstance(answer, bool) or str(answer) not in ("1", "2"):
        raise InputError(
            f"answer: expected 1 or 2, got {answer!r}; rows without an answer, such as those of the"
            " test part, cannot be used"
        )
    context = " ".join(text_of(row, "sentence", where).split())
    options = [" ".join(text_of(row, f"option{number}", where).split()) for number in (1, 2)]
    correct, incorrect = options if str(answer) == "1" else options[::-1]
    if context.count(GAP) != 1:
        raise InputError(
            f'sentence: expected one gap, "{GAP}", got {context.count(GAP)} in {context!r}'
        )
    if correct.lower() == incorrect.lower():
        raise InputError(f"expected option1 and option2 to differ, got {correct!r} twice")
    gap = context.index(GAP)
    return ContrastiveTranslationExample(
        id=name,
        src_lang="en",
        tgt_lang="en",
        source="",
        correct_translation=replace_at(context, gap, len(GAP), correct),
        contrastive_translations=(replace_at(context, gap, len(GAP), incorrect),),
        category=referent_position(context[:gap], correct, incorrect),
        extra=dict(zip(_KEYS, (name, str(answer), context, correct, incorrect), strict=True)),
    )


def _rows(path: Path) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Yield each row with its position, for messages."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        yield from read_rows(path)
        return
    if suffix != ".parquet":
        raise InputError(
            f"{path}: expected a file of WinoGrande that ends in .jsonl or .parquet, got"
            f" {path.suffix or 'a file without suffix'}"
        )
    import pyarrow
    import pyarrow.parquet

    try:
        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: expected a Parquet file, got {error}") from None
    for number, row in enumerate(rows):
        yield f"{path}: row {number}", row


def _read(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    yield from read_winogrande(paths[_PATH.format(split)], name=split)


#: It is not registered, so that no command offers it as a dataset to judge translations on.
WINOGRANDE = DatasetDeclaration(
    name="winogrande",
    title="WinoGrande",
    description="WinoGrande: English sentences with a gap that one of two fillers fits.",
    licence="cc-by",
    homepage="https://huggingface.co/datasets/allenai/winogrande",
    citation_keys=("sakaguchi-2020",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=tuple(
        ConfigDeclaration(
            name=split,
            description=f"{split} part, {n:,} sentences",
            tgt_langs=("en",),
            splits={split: n},
            files=(SourceFile(_REPOSITORY, _COMMIT, _PATH.format(split), host="hub"),),
            form=ContrastiveTranslationExample,
        )
        for split, n in SPLITS.items()
    ),
    default_config="train",
    extra_keys=_KEYS,
    read=_read,
)
