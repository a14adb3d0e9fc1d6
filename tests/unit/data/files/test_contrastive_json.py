import json
from pathlib import Path
from typing import Any

from cc_hf.data.files.contrastive_json import read_contrastive_json
from cc_hf.errors import DataError, InputError
from cc_hf.schema import ContrastiveTranslationExample
from tests.helpers.usual import cases, fails, write_text

PEAR = {"contrastive": "The pear is out.", "type": "word_sense", "replacement": "pear"}
ITEM: dict[str, Any] = {
    "source": "Pirn on läbi.",
    "reference": "The bulb is out.",
    "ambig word": "pirn",
    "original translation": "bulb",
    "sense": "bulb_bulbs",
    "errors": [PEAR],
    "origin": "opensubs",
}


def write(folder: Path, *items: dict[str, Any]) -> Path:
    return write_text(folder / "set.json", json.dumps(items))


def read(path: Path, **options: Any) -> list[ContrastiveTranslationExample]:
    options = {"category": "origin", **options}
    return list(read_contrastive_json(path, src_lang="et", tgt_lang="en", **options))


def test_an_item_gives_one_example(tmp_path: Path) -> None:
    texts = "Pirn on läbi.", "The bulb is out.", ("The pear is out.",), "opensubs"
    extra = {
        "ambiguous_word": "pirn",
        "sense": "bulb_bulbs",
        "original_translation": "bulb",
        "corpus": "opensubs",
        "replacements": "pear",
        "n_equal_to_reference": "0",
    }
    expected = ContrastiveTranslationExample("0", "et", "en", *texts, extra)
    assert read(write(tmp_path, ITEM)) == [expected]


def test_items_without_contrasts_are_kept_and_equal_contrasts_dropped(tmp_path: Path) -> None:
    same = {"contrastive": "The bulb is out.", "replacement": "bulb"}
    items = [{**ITEM, "errors": errors} for errors in ([], [same, PEAR, same])]
    names, examples = ("replacements", "n_equal_to_reference"), read(write(tmp_path, *items))
    actual = [(e.id, *e.contrastive_translations, *map(e.extra.get, names)) for e in examples]
    assert actual == [("0", "", "0"), ("1", "The pear is out.", "pear", "2")]


def test_the_category_and_further_columns_are_read(tmp_path: Path) -> None:
    def upper(text: str) -> str:
        if text == "bad":
            raise InputError("expected better, got bad")
        return text.upper()

    options: dict[str, Any] = {"category": "sense", "to_category": upper}
    (actual,) = read(
        write(tmp_path, {**ITEM, "line": 3}), more={"line": "line", "year": "year"}, **options
    )
    assert (actual.category, actual.extra["line"], actual.extra["year"]) == ("BULB_BULBS", "3", "")
    fails(
        DataError,
        r"set.json: item 1: sense: expected better, got bad",
        read,
        write(tmp_path, ITEM, {**ITEM, "sense": "bad"}),
        **options,
    )


@cases(
    ({"source": None}, "item 1: source: expected text, got None"),
    ({"reference": ""}, "item 1: reference: expected text, got ''"),
    ({"origin": None}, "item 1: origin: expected text, got None"),
    ({"errors": None}, "item 1: errors: expected a list, empty for .*, got None"),
    ({"errors": ["a"]}, "item 1: error 0: expected an object, got 'a'"),
    ({"errors": [{"replacement": "a"}]}, "item 1: error 0: .* key 'contrastive', got .*'repl"),
    ({"errors": [{"contrastive": " "}]}, "item 1: error 0: contrastive: expected text, got ' "),
)
def test_malformed_items_are_refused_by_number(change: Any, message: str, tmp_path: Path) -> None:
    fails(DataError, f"set.json: {message}", read, write(tmp_path, ITEM, {**ITEM, **change}))
