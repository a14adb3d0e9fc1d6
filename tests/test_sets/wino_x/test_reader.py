import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cc_hf
from cc_hf.data.loading import SAMPLE_SIZES, signature_fields
from cc_hf.errors import DataError
from cc_hf.schema import Focus
from cc_hf.test_sets.wino_x.referents import ambiguous_it, referent_position, referent_source
from tests.helpers.samples import MT, declare_wino_x, lay_out_samples
from tests.helpers.usual import cases, evaluate_dataset, fails, refuses, write_jsonl, write_text

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
    actual = []
    for e in (first, second):
        extra = [e.extra[name] for name in names.split()]
        actual.append((e.id, e.category, e.gold, *e.correct_sources, *e.incorrect_sources, *extra))
    of_first = "Q", "1", "second", MT["translation1"], "Wand", "Kunstwerk"
    of_second = "Q", "2", "first", MT["translation2"], "Kunstwerk", "Wand"
    first_row = ("Q-1", "female", "wall", wall, artwork, *of_first)
    assert actual == [first_row, ("Q-2", "neutral", "artwork", artwork, wall, *of_second)]


def test_translations_become_contrastive_translations(tmp_path: Path) -> None:
    row = {**MT, "answer": 2, "false_translation_referent_of_pronoun1_de": "Mauer"}
    (actual,) = load(tmp_path, "mt_en_de.translations", row)
    texts = actual.source, actual.correct_translation, *actual.contrastive_translations
    assert texts == (MT["sentence"], MT["translation2"], MT["translation1"])
    names = "pronoun", "gender", "referent_contrastive"
    expected = {"correct": ["es", "neutral", "Kunstwerk"], "incorrect": ["sie", "female", "Mauer"]}
    for side, values in expected.items():
        assert [actual.extra[f"{side}_{name}"] for name in names] == values


def test_gaps_of_the_lm_data_are_filled(tmp_path: Path) -> None:
    (actual,) = load(tmp_path, "lm_en_ru", LM)
    (english,) = load(tmp_path, "lm_en_ru.english", LM)
    sentence = "Мужчина снял майку и надел футболку, потому что {} была потной."
    texts = sentence.format("футболка"), (sentence.format("майка"),)
    assert (actual.correct_translation, actual.contrastive_translations) == texts
    top = "The man took off the tank top and put on the t-shirt, because the t-shirt was sweaty."
    assert english.correct_translation == top
    fillers = {"correct_filler": "футболка", "incorrect_referent": "майку"}
    for example, tgt_lang, extra in (
        (actual, "ru", {**fillers, "sentence": LM["sentence"]}),
        (english, "en", {"context": LM["context_en"]}),
    ):
        read = example.source, example.src_lang, example.tgt_lang, example.category
        assert read == ("", "en", tgt_lang, "second")
        assert extra.items() <= example.extra.items()


def test_fields_that_are_not_needed_can_be_null(tmp_path: Path) -> None:
    names = "option{}_en", "context_referent_of_option{}_ru"
    nulls = {**LM, **{name.format(i): None for name in names for i in (1, 2)}}
    (actual,) = load(tmp_path, "lm_en_ru", nulls)
    # the context has the accusative
    assert (actual.category, actual.extra["correct_referent"]) == ("unknown", "")
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
    fails(
        DataError,
        rf"_test\.jsonl: line 2: .*{message}",
        load,
        tmp_path,
        config,
        good,
        {**good, "qID": "Q-2", **change},
    )


def test_missing_keys_broken_lines_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    row = {key: value for key, value in MT.items() if key != "translation1"}
    fails(DataError, r"line 1: .* key 'translation1'.*got \['qID'", load, tmp_path, "mt_en_de", row)
    fails(DataError, r"line 2: .* every qID once.*got 'Q-1'", load, tmp_path, "mt_en_de", MT, MT)
    damaged = json.dumps(MT) + "\n{'qID'"
    write_text(tmp_path / "demelin/wino_x/data/mt/en_de_test.jsonl", damaged)
    fails(
        DataError,
        r"en_de_test\.jsonl: line 2: expected a JSON object, got",
        cc_hf.load_examples,
        "wino_x",
        data_dir=tmp_path,
    )


@cases(("Sie", "female"), ("man", "unknown"), ("diese", "unknown"))
def test_unexpected_pronouns_are_kept(pronoun: str, category: str, tmp_path: Path) -> None:
    (actual,) = load(tmp_path, "mt_en_de", {**MT, "pronoun1": pronoun})
    assert (actual.category, actual.extra["correct_pronoun"]) == (category, pronoun)


def test_the_gap_of_every_sample_is_at_the_last_it(shared: Path, tmp_path: Path) -> None:
    """The rule of `referents` holds for all sentences whose gap is known."""
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
    refuses(
        "wino_x lm_en_de has no contrastive sources",
        evaluate_dataset,
        "wino_x",
        "lm_en_de",
        translations=["a"],
        **options,
    )


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
    fails(
        DataError,
        "expected 3774 examples",
        evaluate_dataset,
        "wino_x",
        config,
        data_dir=tmp_path,
        **options,
    )


@cases("[1]", "{", '{"a": 1, "a": 2}', '{"a": "1"}', '{"a": true}', '{"a": 0}')
def test_malformed_sample_sizes_are_refused(text: str, tmp_path: Path) -> None:
    load(tmp_path, "mt_en_de", MT)
    (tmp_path / SAMPLE_SIZES).write_text(text, encoding="utf-8")
    fails(DataError, f"{SAMPLE_SIZES}: expected ", cc_hf.load_examples, "wino_x", data_dir=tmp_path)


@cases(
    ("The cup hit the plate and it broke.", "The cup hit the plate and the cup broke."),
    ("It made it well, because it was good.", "It made it well, because the cup was good."),
    ("It fell.", "The cup fell."),
    ("It fell because it was round.", "It fell because the cup was round."),
    ("He kept its lid with the bits of it.", "He kept its lid with the bits of the cup."),
    ("He said «it».", "He said «the cup»."),
    ("He said 'it'.", "He said 'the cup'."),
    ("He took it; it's new, its lid fits.", "He took the cup; it's new, its lid fits."),
    ("He chose the cup since it's new.", "He chose the cup since the cup's new."),
    ("It’s new.", "The cup’s new."),
    ("He wanted it-girls to drop it.", "He wanted it-girls to drop the cup."),
)
def test_the_last_it_that_is_a_word_is_replaced(source: str, replaced: str) -> None:
    focus = ambiguous_it(source)
    assert source[focus.start : focus.start + len(focus.text)] == focus.text
    assert focus.text.lower() == "it"
    assert referent_source(source, focus, "cup") == replaced


@cases("", "Its lid fits.", "The kit sits.", "An IT-department", "a post-it")
def test_sources_without_the_word_it_are_refused(source: str) -> None:
    refuses('expected the word "it"', ambiguous_it, source)


@cases(
    ("tank top", "the tank top"),
    (" the cup ", "the cup"),
    ("The Cup", "The Cup"),
    ("an egg", "an egg"),
    ("theory", "the theory"),
)
def test_referents_without_an_article_get_one(referent: str, phrase: str) -> None:
    assert referent_source("so it is", Focus("it", 3), referent) == f"so {phrase} is"


def test_blank_referents_are_refused() -> None:
    refuses("referent: expected a word", referent_source, "so it is", Focus("it", 3), " ")


@cases(
    ("vase", "bouquet", "first"),
    ("bouquet", "vase", "second"),
    ("the flower vase", "bouquet,", "first"),
    ("Bouquet", "VASE", "second"),
    ("woman", "vase", "first"),
    ("cup", "vase", "unknown"),
    ("vase", "bouq", "unknown"),
    ("vase", "a vase", "unknown"),
    ("vase", "", "unknown"),
    ("vase", "()", "unknown"),
)
def test_the_referent_named_first_is_first(correct: str, incorrect: str, position: str) -> None:
    source = "The woman looked for a different vase for the bouquet because it was too small."
    assert referent_position(source, correct, incorrect) == position
    source = "The cup hit the plate, and the cup broke."  # the last mention decides
    assert referent_position(source, "cup", "plate") == "second"
