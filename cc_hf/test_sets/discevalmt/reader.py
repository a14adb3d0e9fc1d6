"""DiscEvalMT (Bawden et al. 2018): English pairs of sentences with French translations, of which
the sentence before decides which one is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.errors import DataError
from cc_hf.records import WORD, read_json
from cc_hf.schema import ContrastiveTranslationExample

__all__ = ["DECLARATION", "read_discevalmt"]

_REPOSITORY = "rbawden/discourse-mt-test-sets"
_COMMIT = "13d88cee7cfca92d3d5ae2b471b04c62795baac3"
_ANAPHORA = SourceFile(
    _REPOSITORY,
    _COMMIT,
    "test-sets/anaphora.json",
    "e4d540462b3181a32e3b34b4f63c52b38dca2944f1a5e8905e9681979e03b769",
    75678,
)
_LEXICAL_CHOICE = SourceFile(
    _REPOSITORY,
    _COMMIT,
    "test-sets/lexical-choice.json",
    "111dcb231ad9fce78fe83d41278fcc980fe4dab8385f91d96d73d04842b2a7c4",
    106526,
)
_TEXTS = [WORD]
_FORMS = {
    "anaphora": {
        str: {
            "src": _TEXTS,
            "trg": [
                {"correct?": _TEXTS, "semi-correct?": _TEXTS, "incorrect": _TEXTS, "type": str}
            ],
        }
    },
    "lexical_choice": {
        str: {
            "type": str,
            "examples": [{"src": _TEXTS, "trg": {"correct": _TEXTS, "incorrect": _TEXTS}}],
        }
    },
}


def read_discevalmt(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[ContrastiveTranslationExample]:
    """Yield all pairs of translations in file order; the id is block.number."""
    name, _, variant = config.partition(".")
    path = paths[(_ANAPHORA if name == "anaphora" else _LEXICAL_CHOICE).path]
    blocks = read_json(path, "an object, block to its sentences", _FORMS[name])
    for block, item in blocks.items():
        pairs = _anaphora(item) if name == "anaphora" else _lexical_choice(item)
        for number, (source, right, wrong, category, kind) in enumerate(pairs, 1):
            if not len(source) == len(right) == len(wrong) == 2:
                raise DataError(
                    f"{path}: block {block}, pair {number}: expected a sentence and the one before"
                    " it in source and translations"
                )
            texts = (source, right, wrong)
            whole = [text[1] if variant else " ".join(text) for text in texts]
            yield ContrastiveTranslationExample(
                f"{block}.{number}",
                "en",
                "fr",
                whole[0],
                whole[1],
                (whole[2],),
                category,
                {
                    "block": block,
                    "kind": kind,
                    "context_source": source[0],
                    "context_translation": right[0],
                },
            )


_Pair = tuple[list[str], list[str], list[str], str, str]


def _anaphora(item: Mapping[str, Any]) -> Iterator[_Pair]:
    for pair in item["trg"]:
        kind = "correct" if "correct" in pair else "semi-correct"
        yield item["src"], pair.get(kind, []), pair["incorrect"], pair["type"], kind


def _lexical_choice(item: Mapping[str, Any]) -> Iterator[_Pair]:
    for example in item["examples"]:
        texts = example["trg"]
        category = item["type"].replace(", ", "+")
        yield example["src"], texts["correct"], texts["incorrect"], category, "correct"


def _config(name: str, file: SourceFile, description: str) -> ConfigDeclaration:
    return ConfigDeclaration(
        name,
        description,
        ("fr",),
        {"test": 200},
        (file,),
        ContrastiveTranslationExample,
    )


_DESCRIPTIONS = (
    ("anaphora", _ANAPHORA, "the gender and number of a pronoun"),
    ("lexical_choice", _LEXICAL_CHOICE, "the sense of a word, or its repetition"),
)

DECLARATION = DatasetDeclaration(
    name="discevalmt",
    title="DiscEvalMT",
    phenomenon="context",
    description=(
        "DiscEvalMT: English-French; does the model prefer the translation that fits the sentence"
        " before?"
    ),
    licence="cc-by-nc-sa-4.0",
    homepage="https://github.com/rbawden/discourse-mt-test-sets",
    citation_keys=("bawden-2018",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=(
        *(
            _config(name, file, f"{what}, with the sentence before")
            for name, file, what in _DESCRIPTIONS
        ),
        *(
            _config(f"{name}.no_context", file, f"{what}, without the sentence before")
            for name, file, what in _DESCRIPTIONS
        ),
    ),
    default_config="anaphora",
    extra_keys=("block", "kind", "context_source", "context_translation"),
    read=read_discevalmt,
)
