from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.readers.contrastive_json import EXTRA_KEYS, read_contrastive_json
from cc_hf.errors import DataError, InputError
from cc_hf.schema import ContrastiveTranslationExample
from tests.helpers.cases import cases_by_message, cases_by_words

ITEM = {
    "reference": "The bulb is out.",
    "ambig word": "pirn",
    "original translation": "bulb",
    "origin": "opensubs",
    "sense": "bulb_bulbs",
    "source": "Pirn on läbi.",
    "errors": [{"contrastive": "The pear is out.", "type": "word_sense", "replacement": "pear"}],
}


def write(folder: Path, *items: dict[str, Any]) -> Path:
    path = folder / "set.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


def read(path: Path, **options: Any) -> list[ContrastiveTranslationExample]:
    return list(
        read_contrastive_json(
            path, src_lang="et", tgt_lang="en", **{"category": "origin", **options}
        )
    )


def test_an_item_gives_one_example(tmp_path: Path) -> None:
    assert read(write(tmp_path, ITEM)) == [
        ContrastiveTranslationExample(
            id="0",
            src_lang="et",
            tgt_lang="en",
            source="Pirn on läbi.",
            correct_translation="The bulb is out.",
            contrastive_translations=("The pear is out.",),
            category="opensubs",
            extra={
                "ambiguous_word": "pirn",
                "sense": "bulb_bulbs",
                "original_translation": "bulb",
                "corpus": "opensubs",
                "replacements": "pear",
                "n_equal_to_reference": "0",
            },
        )
    ]


def test_items_without_contrasts_are_kept_and_equal_contrasts_dropped(tmp_path: Path) -> None:
    same = {"contrastive": "The bulb is out.", "replacement": "bulb"}
    other = {"contrastive": "The pear is out.", "replacement": "pear"}
    none, some = read(
        write(tmp_path, {**ITEM, "errors": []}, {**ITEM, "errors": [same, other, same]})
    )
    assert (none.id, none.contrastive_translations, none.extra["replacements"]) == ("0", (), "")
    assert (some.id, some.contrastive_translations, some.extra["replacements"]) == (
        "1",
        ("The pear is out.",),
        "pear",
    )
    assert (none.extra["n_equal_to_reference"], some.extra["n_equal_to_reference"]) == ("0", "2")


def test_the_category_and_further_columns_are_read(tmp_path: Path) -> None:
    def upper(text: str) -> str:
        if text == "bad":
            raise InputError("expected better, got bad")
        return text.upper()

    found = read(
        write(tmp_path, {**ITEM, "line": 3}),
        category="sense",
        to_category=upper,
        more={"line": "line", "year": "year"},
    )[0]
    assert (found.category, found.extra["line"], found.extra["year"]) == ("BULB_BULBS", "3", "")
    with pytest.raises(DataError, match=r"set.json: item 1: sense: expected better, got bad"):
        read(write(tmp_path, ITEM, {**ITEM, "sense": "bad"}), category="sense", to_category=upper)


@cases_by_message(
    ("change", "message"),
    [
        ({"source": None}, "item 1: source: expected text, got None"),
        ({"reference": ""}, "item 1: reference: expected text, got ''"),
        ({"origin": None}, "item 1: origin: expected text, got None"),
        ({"errors": None}, "item 1: errors: expected a list, empty for .*, got None"),
        ({"errors": ["a"]}, "item 1: error 0: expected an object, got 'a'"),
        (
            {"errors": [{"replacement": "a"}]},
            "item 1: error 0: expected the key 'contrastive', got .*'replacement'",
        ),
        (
            {"errors": [{"contrastive": " "}]},
            "item 1: error 0: contrastive: expected text, got ' '",
        ),
    ],
)
def test_malformed_items_are_refused_naming_the_item(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=f"set.json: {message}"):
        read(write(tmp_path, ITEM, {**ITEM, **change}))


@pytest.mark.shared
@cases_by_words(
    ("pair", "n", "contrasts", "corpora"),
    [
        (
            "et-en",
            1094,
            {1: 903, 2: 110, 3: 41, 4: 40},
            {"opensubs": 683, "europarl": 251, "eubooks": 160},
        ),
        (
            "lt-en",
            356,
            {1: 246, 2: 50, 3: 20, 4: 40},
            {"opensubs": 132, "europarl": 118, "eubooks": 96, "tatoeba": 10},
        ),
        ("lv-en", 139, {1: 99, 2: 40}, {"opensubs": 70, "europarl": 52, "eubooks": 17}),
    ],
    "pair",
)
def test_the_mucow_scoring_suite_has_the_recorded_counts(
    shared: Path, pair: str, n: int, contrasts: dict[int, int], corpora: dict[str, int]
) -> None:
    path = (
        shared
        / f"upstream/Helsinki-NLP/MuCoW/WMT2019/scoring test suite/json/{pair}.mucow.scoring.json"
    )
    examples = list(
        read_contrastive_json(path, src_lang=pair[:2], tgt_lang="en", category="origin")
    )
    items = json.loads(path.read_text(encoding="utf-8"))
    assert len(examples) == n
    assert Counter(len(e.contrastive_translations) for e in examples) == contrasts
    assert Counter(e.category for e in examples) == corpora
    assert {tuple(e.extra) for e in examples} == {EXTRA_KEYS}
    assert {e.extra["n_equal_to_reference"] for e in examples} == {"0"}
    for number, (example, item) in enumerate(zip(examples, items, strict=True)):
        assert (example.id, example.source, example.correct_translation) == (
            str(number),
            item["source"],
            item["reference"],
        )
        assert list(example.contrastive_translations) == [
            error["contrastive"] for error in item["errors"]
        ]
        assert example.extra["replacements"].split("; ") == [
            error["replacement"] for error in item["errors"]
        ]
