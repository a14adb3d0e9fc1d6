"""DistilLingEval, DiscEvalMT, ContraWSD and Wino-X: what is read of the files, and what needs no model."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.cues.referents import ambiguous_it
from cc_hf.data.loading import SAMPLE_SIZES, signature_fields
from cc_hf.data.readers import discevalmt
from cc_hf.data.readers.contrastive_json import read_contrastive_json
from cc_hf.data.readers.contrawsd import frequency_class
from cc_hf.errors import DataError, FileError, InputError
from cc_hf.schema import ContrastiveTranslationExample, Focus
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.samples import CONTRAWSD_ITEMS, MT, declare_wino_x, lay_out_samples
from tests.helpers.usual import cases, fails, refuses, write_jsonl, write_text

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
def test_half_needs_context(config: str, low: int, high: int, n_blocks: int, shared: Path) -> None:
    data = cc_hf.load_material("discevalmt", f"{config}.no_context", data_dir=shared / "upstream")
    for seed in ("", "x"):
        scores = lambda s, t, seed=seed: hash_scores([f"{seed}{x}" for x in s], t)  # noqa: E731
        result = cc_hf.evaluate(data, metric="contrastive_translation_scoring", evaluator=scores)
        assert low <= result.counts["n_correct"] <= high
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


LM = {
    "qID": "Q-1",
    "sentence": "The man took off the tank top and put on the t-shirt, because it was sweaty.",
    "context_en": "The man took off the tank top and put on the t-shirt, because _ was sweaty.",
    "context_ru": "Мужчина снял майку и надел футболку, потому что _ была потной.",
    **{"option1_en": "the tank top", "option2_en": "the t-shirt"},
    **{"option1_ru": " майка", "option2_ru": " футболка", "answer": 2},
    **{f"context_referent_of_option{i}_ru": w for i, w in ((1, "майку"), (2, "футболку"))},
}


def load(folder: Path, config: str, *rows: dict[str, Any]) -> list[Any]:
    part, _, rest = config.partition("_")
    write_jsonl(folder / f"demelin/wino_x/data/{part}/{rest.partition('.')[0]}_test.jsonl", rows)
    declare_wino_x(folder)
    return cc_hf.load_examples("wino_x", config, data_dir=folder)


def test_contrastive_sources_replace_it_by_the_referent(tmp_path: Path) -> None:
    first, second = load(tmp_path, "mt_en_de", MT, {**MT, "qID": "Q-2", "answer": "2"})
    source = str(MT["sentence"])
    wall, artwork = (source.replace("it was", f"the {n} was") for n in ("wall", "artwork"))
    assert first.focus == Focus("it", 52)
    names = "pair answer referent_position reference correct_referent_tgt incorrect_referent_tgt"
    found = []
    for e in (first, second):
        extra = [e.extra[name] for name in names.split()]
        found.append((e.id, e.category, e.gold, *e.correct_sources, *e.incorrect_sources, *extra))
    of_first = "Q", "1", "second", MT["translation1"], "Wand", "Kunstwerk"
    of_second = "Q", "2", "first", MT["translation2"], "Kunstwerk", "Wand"
    first_row = ("Q-1", "female", "wall", wall, artwork, *of_first)
    assert found == [first_row, ("Q-2", "neutral", "artwork", artwork, wall, *of_second)]


def test_translations_become_contrastive_translations(tmp_path: Path) -> None:
    row = {**MT, "answer": 2, "false_translation_referent_of_pronoun1_de": "Mauer"}
    (found,) = load(tmp_path, "mt_en_de.translations", row)
    texts = found.source, found.correct_translation, *found.contrastive_translations
    assert texts == (MT["sentence"], MT["translation2"], MT["translation1"])
    names = "pronoun", "gender", "referent_contrastive"
    expected = {"correct": ["es", "neutral", "Kunstwerk"], "incorrect": ["sie", "female", "Mauer"]}
    for side, values in expected.items():
        assert [found.extra[f"{side}_{name}"] for name in names] == values


def test_gaps_of_the_lm_data_are_filled(tmp_path: Path) -> None:
    (found,) = load(tmp_path, "lm_en_ru", LM)
    (english,) = load(tmp_path, "lm_en_ru.english", LM)
    sentence = "Мужчина снял майку и надел футболку, потому что {} была потной."
    texts = sentence.format("футболка"), (sentence.format("майка"),)
    assert (found.correct_translation, found.contrastive_translations) == texts
    top = "The man took off the tank top and put on the t-shirt, because the t-shirt was sweaty."
    assert english.correct_translation == top
    fillers = {"correct_filler": "футболка", "incorrect_referent": "майку"}
    for example, tgt_lang, extra in (
        (found, "ru", {**fillers, "sentence": LM["sentence"]}),
        (english, "en", {"context": LM["context_en"]}),
    ):
        read = example.source, example.src_lang, example.tgt_lang, example.category
        assert read == ("", "en", tgt_lang, "second")
        assert extra.items() <= example.extra.items()


def test_fields_that_are_not_needed_can_be_null(tmp_path: Path) -> None:
    names = "option{}_en", "context_referent_of_option{}_ru"
    nulls = {**LM, **{name.format(i): None for name in names for i in (1, 2)}}
    (found,) = load(tmp_path, "lm_en_ru", nulls)
    # the context has the accusative
    assert (found.category, found.extra["correct_referent"]) == ("unknown", "")
    config = "lm_en_ru.english"
    fails(DataError, "line 1: option2_en: expected text, got None", load, tmp_path, config, nulls)


@cases(
    ("mt_en_de", {"answer": 3}, "answer: expected 1 or 2, got 3"),
    ("mt_en_de", {"answer": True}, "answer: expected 1 or 2, got True"),
    ("mt_en_de", {"answer": None}, "answer: expected 1 or 2, got None"),
    ("mt_en_de", {"sentence": "Its."}, 'sentence: expected the word "it" in .*, got .Its.'),
    ("mt_en_de", {"referent1_en": "artwork"}, "referent2_en to differ, got 'artwork' twice"),
    ("mt_en_de", {"pronoun1": "es"}, "expected pronoun1 and pronoun2 to differ"),
    ("mt_en_de.translations", {"translation1": MT["translation2"]}, "translation2 to differ"),
    ("mt_en_de.translations", {"pronoun1": 5}, "pronoun1: expected text, got 5"),
    ("lm_en_ru", {"context_ru": "Муж"}, 'expected a gap, "_", in the context, got .Муж'),
    ("lm_en_ru", {"option1_ru": "футболка"}, "expected option1_ru and option2_ru to differ"),
    ("lm_en_ru", {"qID": ""}, "qID: expected text, got ''"),
)
def test_malformed_rows_are_refused(config: str, change: Any, message: str, tmp_path: Path) -> None:
    good: dict[str, Any] = MT if config.startswith("mt") else LM
    with pytest.raises(DataError, match=rf"_test\.jsonl: line 2: .*{message}"):
        load(tmp_path, config, good, {**good, "qID": "Q-2", **change})


def test_missing_keys_broken_lines_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    row = {key: value for key, value in MT.items() if key != "translation1"}
    fails(DataError, r"line 1: .* key 'translation1'.*got \['qID'", load, tmp_path, "mt_en_de", row)
    fails(DataError, r"line 2: .* every qID once.*got 'Q-1'", load, tmp_path, "mt_en_de", MT, MT)
    path = tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl"
    path.write_text(json.dumps(MT) + "\n{'qID'", encoding="utf-8")
    with pytest.raises(DataError, match=r"en_de_test\.jsonl: line 2: expected a JSON object, got"):
        cc_hf.load_examples("wino_x", data_dir=tmp_path)


@cases(("Sie", "female"), ("man", "unknown"), ("diese", "unknown"))
def test_unexpected_pronouns_are_kept(pronoun: str, category: str, tmp_path: Path) -> None:
    (found,) = load(tmp_path, "mt_en_de", {**MT, "pronoun1": pronoun})
    assert (found.category, found.extra["correct_pronoun"]) == (category, pronoun)


def test_the_gap_of_every_sample_is_at_the_last_it(shared: Path, tmp_path: Path) -> None:
    """The rule of cues.referents holds for all sentences whose gap is known."""
    n, n_with_two = 0, 0
    for path in sorted(shared.glob("gold/wino_x/lm_*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            assert ambiguous_it(row["sentence"]) == Focus("it", row["context_en"].index("_"))
            n += 1
            n_with_two += row["sentence"].lower().replace(",", "").split().count("it") > 1
    assert (n, n_with_two) == (105, 5)


@cases(*((pair, "swapped") for pair in ("en_de", "en_fr", "en_ru")), ("en_ru", "mixedscript"))
def test_swapped_answers_give_the_same(pair: str, kind: str, shared: Path, tmp_path: Path) -> None:
    def examples(name: str) -> list[Any]:
        path = shared / f"gold/wino_x/mt_wino_x_{pair}.{name}.jsonl"
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return load(tmp_path, f"mt_{pair}", *rows)

    for plain, other in zip(examples("thesis"), examples(kind), strict=True):
        for name in ["source", "correct_sources", "incorrect_sources", "category", "gold", "focus"]:
            assert getattr(other, name) == getattr(plain, name)
        assert other.category in ("male", "female", "neutral")
        # mixed script is kept unchanged
        assert (other.extra["reference"] == plain.extra["reference"]) == (kind == "swapped")


def test_references_are_correct_and_the_signature_names_data(shared: Path, tmp_path: Path) -> None:
    """A scorer that prefers the correct noun in the source judges every reference correct; the
    signature names the content that was read.
    """
    lay_out_samples("wino_x", "mt_en_de", tmp_path, shared)
    examples = cc_hf.load_examples("wino_x", "mt_en_de", data_dir=tmp_path)
    right = {source for example in examples for source in example.correct_sources}

    def score(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [0.9 if source in right else 0.1 for source in sources]

    texts = [e.extra["reference"] for e in examples]
    options: dict[str, Any] = {"evaluator": score, "data_dir": tmp_path}
    result = evaluate_dataset("wino_x", "mt_en_de", translations=texts, **options)
    assert (result.n, result.scores["accuracy"]) == (13, 1.0)
    assert {"accuracy_female", "accuracy_male", "accuracy_neutral"} <= set(result.scores)
    before = signature_fields("wino_x", "mt_en_de", data_dir=tmp_path)
    assert before["data"].startswith("wino_x/mt_en_de@local.")
    assert before["cues"] == "referents"
    path = tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl"
    path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:5]), encoding="utf-8")
    assert signature_fields("wino_x", "mt_en_de", data_dir=tmp_path) != before
    with pytest.raises(InputError, match="wino_x lm_en_de has no contrastive sources"):
        evaluate_dataset("wino_x", "lm_en_de", translations=["a"], **options)


@cases(
    ("mt_en_de", {"metric": "wino_x_pattern_matching", "translations": ["Das ist er."]}),
    ("mt_en_de.translations", {"metric": "contrastive_translation_scoring"}),
)
def test_a_wrong_number_of_rows_is_refused(config: str, options: Any, tmp_path: Path) -> None:
    load(tmp_path, config, MT)
    sizes = tmp_path / SAMPLE_SIZES
    for n in (0, 2, 3774):
        declared = {"demelin/wino_x/data/mt/en_de_test.jsonl": n} if n else {}
        sizes.write_text(json.dumps(declared), encoding="utf-8")
        message = rf"_test\.jsonl: expected {n or 3774} examples of wino_x {config} test, got 1; .*"
        given: dict[str, Any] = {"config": config, "data_dir": tmp_path}
        fails(DataError, message + SAMPLE_SIZES, cc_hf.load_examples, "wino_x", **given)
        fails(DataError, "examples of wino_x", cc_hf.load_dataset, "wino_x", **given)
    sizes.unlink()
    with pytest.raises(DataError, match="expected 3774 examples"):
        evaluate_dataset("wino_x", config, data_dir=tmp_path, **options)


@cases("[1]", "{", '{"a": 1, "a": 2}', '{"a": "1"}', '{"a": true}', '{"a": 0}')
def test_malformed_sample_sizes_are_refused(text: str, tmp_path: Path) -> None:
    load(tmp_path, "mt_en_de", MT)
    (tmp_path / SAMPLE_SIZES).write_text(text, encoding="utf-8")
    fails(DataError, f"{SAMPLE_SIZES}: expected ", cc_hf.load_examples, "wino_x", data_dir=tmp_path)
