"""DistilLingEval, DiscEvalMT and ContraWSD: what is read of the files, and what needs no model."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.data.loading import signature_fields
from cc_hf.data.readers import discevalmt
from cc_hf.data.readers.contrastive_json import read_contrastive_json
from cc_hf.data.readers.contrawsd import frequency_class
from cc_hf.errors import DataError, FileError, InputError
from cc_hf.schema import ContrastiveTranslationExample
from tests.helpers.cases import cases
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.lines import write_text
from tests.helpers.refusals import fails, refuses
from tests.helpers.samples import CONTRAWSD_ITEMS, lay_out_samples

_PAIR = {"correct": ["Avant.", "Ils."], "incorrect": ["Avant.", "Elles."], "type": "m.pl"}


def test_a_line_without_a_source_is_left_out_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    config = "hypercorrect_genitive.human"
    lay_out_samples("distil_lingeval", config, tmp_path, tmp_path)
    (example,) = cc_hf.load_examples("distil_lingeval", config, data_dir=tmp_path)
    assert (example.id, example.category) == ("0", "hypercorrect_genitive")
    folder = tmp_path / "ZurichNLP/distil-lingeval/data/hypercorrect_genitive.human"
    for text, message in (
        ("Er ist hier.\n", r"same number of lines, got 2 in .*src.en, .* 1 in .*tgt.incorrect.de"),
        ("\nNein.\n", r"line 1: expected a translation here and in tgt.incorrect.de"),
    ):
        (folder / "tgt.incorrect.de").write_text(text, encoding="utf-8")
        fails(DataError, message, cc_hf.load_examples, "distil_lingeval", config, data_dir=tmp_path)


@pytest.mark.parametrize("name", ["distil_lingeval", "discevalmt"])
def test_ids_are_distinct_and_translations_differ(name: str, shared: Path) -> None:
    config = {"distil_lingeval": "polarity.human", "discevalmt": "anaphora"}[name]
    examples = cc_hf.load_examples(name, config, data_dir=shared / "upstream")
    assert len({example.id for example in examples}) == len(examples)
    assert all(e.correct_translation not in e.contrastive_translations for e in examples)


@cases(("lexical_choice", 100, 100, 100), ("anaphora", 99, 101, 50))
def test_without_context_half_is_right(
    config: str, lowest: int, highest: int, n_blocks: int, shared: Path
) -> None:
    data = cc_hf.load_material("discevalmt", f"{config}.no_context", data_dir=shared / "upstream")
    for seed in ("", "x"):
        scores = lambda s, t, seed=seed: hash_scores([f"{seed}{x}" for x in s], t)  # noqa: E731
        result = cc_hf.evaluate(data, metric="contrastive_translation_scoring", evaluator=scores)
        assert lowest <= result.counts["n_correct"] <= highest
        assert (result.counts["n_blocks"], result.scores["block_accuracy"]) == (n_blocks, 0)


@cases(
    ({"src": ["Before."], "trg": [_PAIR]}, "block 7, pair 1: expected a sentence and the one"),
    ({"src": ["Before.", "They."], "trg": [{"type": "m.pl"}]}, "incorrect"),
    ({"src": ["Before.", 3], "trg": [_PAIR]}, "src: item 2: expected a text that is not blank"),
    ({"src": ["Before.", "They."], "trg": [{**_PAIR, "correct": []}]}, "block 7, pair 1"),
)
def test_a_damaged_block_is_named(item: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / "anaphora.json", json.dumps({"7": item}))
    with pytest.raises((DataError, FileError), match=message):
        list(discevalmt.read({"test-sets/anaphora.json": path}, "anaphora", "test"))


PEAR = {"contrastive": "The pear is out.", "type": "word_sense", "replacement": "pear"}
ITEM: dict[str, Any] = {"source": "Pirn on läbi.", "reference": "The bulb is out."}
ITEM |= {"ambig word": "pirn", "original translation": "bulb", "sense": "bulb_bulbs"}
ITEM |= {"errors": [PEAR], "origin": "opensubs"}


def write(folder: Path, *items: dict[str, Any]) -> Path:
    return write_text(folder / "set.json", json.dumps(items))


def read(path: Path, **options: Any) -> list[ContrastiveTranslationExample]:
    options = {"category": "origin", **options}
    return list(read_contrastive_json(path, src_lang="et", tgt_lang="en", **options))


def test_an_item_gives_one_example(tmp_path: Path) -> None:
    texts = "Pirn on läbi.", "The bulb is out.", ("The pear is out.",), "opensubs"
    extra = {"ambiguous_word": "pirn", "sense": "bulb_bulbs", "original_translation": "bulb"}
    extra |= {"corpus": "opensubs", "replacements": "pear", "n_equal_to_reference": "0"}
    expected = ContrastiveTranslationExample("0", "et", "en", *texts, extra)
    assert read(write(tmp_path, ITEM)) == [expected]


def test_items_without_contrasts_are_kept_and_equal_contrasts_dropped(tmp_path: Path) -> None:
    same = {"contrastive": "The bulb is out.", "replacement": "bulb"}
    items = [{**ITEM, "errors": errors} for errors in ([], [same, PEAR, same])]
    names, examples = ("replacements", "n_equal_to_reference"), read(write(tmp_path, *items))
    found = [(e.id, *e.contrastive_translations, *map(e.extra.get, names)) for e in examples]
    assert found == [("0", "", "0"), ("1", "The pear is out.", "pear", "2")]


def test_the_category_and_further_columns_are_read(tmp_path: Path) -> None:
    def upper(text: str) -> str:
        if text == "bad":
            raise InputError("expected better, got bad")
        return text.upper()

    options: dict[str, Any] = {"category": "sense", "to_category": upper}
    more = {"line": "line", "year": "year"}
    (found,) = read(write(tmp_path, {**ITEM, "line": 3}), more=more, **options)
    assert (found.category, found.extra["line"], found.extra["year"]) == ("BULB_BULBS", "3", "")
    with pytest.raises(DataError, match=r"set.json: item 1: sense: expected better, got bad"):
        read(write(tmp_path, ITEM, {**ITEM, "sense": "bad"}), **options)


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


def test_frequencies_fall_into_the_upstream_classes() -> None:
    classes = {">10k": 10**7, ">5k": 10000, ">2k": 5000, ">1k": 2000, ">500": 1000, ">200": 500}
    classes |= {">100": 200, ">50": 100, ">20": 50, "0-20": 20}
    lowest = [*(highest + 1 for highest in list(classes.values())[1:]), 0]
    for (name, highest), low in zip(classes.items(), lowest, strict=True):
        assert frequency_class(f"{low}/99999999") == name
        assert frequency_class(f" {highest} / 99999999\n") == name


@cases("", "12", "12/", "/12", "a/b", "-1/5", "1.5/3", "1/2/3", "१/२")
def test_malformed_frequencies_are_refused(frequency: str) -> None:
    refuses("expected two numbers such as 12/345", frequency_class, frequency)


def test_samples_of_both_language_pairs_are_read(tmp_path: Path) -> None:
    for pair in ("de-en", "de-fr"):
        lay_out_samples("contrawsd", pair, tmp_path, tmp_path)
    load = functools.partial(cc_hf.load_examples, "contrawsd", data_dir=tmp_path)
    english, french = load("de-en"), load("de-fr")
    found = [(e.id, e.tgt_lang, e.category, len(e.contrastive_translations)) for e in english]
    assert found == [("0", "en", ">200", 2), ("1", "en", "0-20", 1), ("2", "en", ">10k", 0)]
    assert [(e.src_lang, e.tgt_lang, e.category) for e in french] == [("de", "fr", ">50")]
    keys = "frequency", "corpus", "sentence_number"
    extra = [tuple(e.extra[key] for key in keys) for e in english[:2]]
    assert extra == [("212/3050", "news.de-en", "7"), ("20/480", "", "")]
    signed = signature_fields("contrawsd", "de-en", data_dir=tmp_path)["data"]
    assert signed.startswith("contrawsd/de-en@local.")


def test_an_item_without_frequency_is_refused_by_number(tmp_path: Path) -> None:
    lay_out_samples("contrawsd", "de-en", tmp_path, tmp_path)
    path = tmp_path / "a-rios/ContraWSD/de-en.final.json"
    key = "frequency of sense/ambig word in wmt16"
    for value, message in (
        (None, "expected text, got None"),
        ("many", "expected two numbers such as 12/345, got 'many'"),
    ):
        path.write_text(json.dumps([{**CONTRAWSD_ITEMS["de-en"][0], key: value}]), encoding="utf-8")
        with pytest.raises(DataError, match=f"de-en.final.json: item 0: {key}: {message}"):
            cc_hf.load_examples("contrawsd", data_dir=tmp_path)
