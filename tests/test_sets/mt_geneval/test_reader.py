from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.test_sets.mt_geneval.reader import DECLARATION, read_mt_geneval, unquoted
from tests.helpers.mt_geneval_files import FEMININE, MASCULINE, pairs, written
from tests.helpers.usual import cases, fails

SOURCES = ["He paints. <sep> The doctor left.", "<sep> The nurse left.", " <sep> The cook left. "]


def contexts(tmp_path: Path, *sides: Sequence[str], split: str = "dev") -> dict[str, Path]:
    """Write sources, references, and references of the other gender."""
    name = "data/context/geneval-context-wikiprofessions-{}-{}.en_de.{}"
    parts = zip(("2to1", "original", "flipped"), ("en", "de", "de"), sides, strict=True)
    return {name.format(p, split, end): written(tmp_path / p, lines) for p, end, lines in parts}


def examples(paths: dict[str, Path], config: str = "counterfactual_de", split: str = "dev") -> Any:
    return list(read_mt_geneval(paths, config, split))


def changed(columns: dict[str, list[str]], **changes: list[str]) -> dict[str, list[str]]:
    return {**columns, **{name.replace("_", "/"): lines for name, lines in changes.items()}}


IDS = ["0.male", "0.female", "1.male", "1.female"]


def test_each_pair_gives_a_male_and_a_female_example(tmp_path: Path) -> None:
    loaded = examples(pairs(tmp_path))
    assert [example.id for example in loaded] == IDS
    references = {"reference": "Sie ging.", "contrastive_reference": "Er ging.", "pair": "0"}
    marked = {"annotated_source": "<F>She</F> left.", "annotated_reference": "<F>Sie</F> ging."}
    extra = {**references, **marked, "reference_raw": "Sie ging."}
    he, she = "He left.", "She left."
    of_her = "en", "de", she, Focus("She", 0), (she,), (he,), "female", "female", extra
    of_him = "en", "de", he, Focus("He", 0), (he,), (she,), "male", "male", loaded[0].extra
    assert loaded[0] == ContrastiveSourceExample("0.male", *of_him)
    assert loaded[1] == ContrastiveSourceExample("0.female", *of_her)
    assert set(loaded[0].extra) == set(DECLARATION.extra_keys_of("counterfactual_de"))


def test_the_focus_is_the_first_marked_word(tmp_path: Path) -> None:
    words = Focus("He", 0), Focus("She", 0), Focus("boy", 4), Focus("girl", 4)
    assert tuple(e.focus for e in examples(pairs(tmp_path))) == words
    literal = changed(FEMININE, en=["It kept <F>her/F> from her work.", FEMININE["en"][1]])
    marked = "It kept <F>her/F> from <F>her</F> work."
    literal["annotated/en"] = [marked, FEMININE["annotated/en"][1]]
    focus = examples(pairs(tmp_path, feminine=literal))[1].focus
    assert focus == Focus("her", len("It kept <F>her/F> from "))


def test_references_become_sources_of_translation_into_english(tmp_path: Path) -> None:
    paths = pairs(tmp_path)
    config = "counterfactual_de.into_english"
    loaded = examples(paths, config)
    assert [e.id for e in loaded] == IDS
    references = {"reference": "He left.", "contrastive_reference": "She left.", "pair": "0"}
    marked = {"annotated_source": "<M>Er</M> ging.", "annotated_reference": "<M>He</M> left."}
    extra = {**references, **marked, "reference_raw": "He left."}
    he, she = "Er ging.", "Sie ging."
    common = "de", "en", he, Focus("Er", 0), (he,), (she,), "male", "male"
    assert loaded[0] == ContrastiveSourceExample("0.male", *common, extra)
    assert (loaded[3].source, loaded[3].focus) == (
        'Das "Mädchen" war Königin.',
        Focus("Mädchen", 5),
    )
    assert set(extra) == set(DECLARATION.extra_keys_of(config))
    both = examples(paths, f"{config}.translations")
    shown = [(e.id, e.source, e.correct_translation, *e.contrastive_translations) for e in both]
    male = "0.male", he, "He left.", "She left."
    assert shown[:2] == [male, ("0.female", she, "She left.", "He left.")]
    assert set(both[0].extra) == set(DECLARATION.extra_keys_of(f"{config}.translations"))


def test_sources_into_english_that_do_not_tell_the_gender_are_left_out(tmp_path: Path) -> None:
    same = changed(FEMININE, de=["Er ging.", FEMININE["de"][1]])
    loaded = examples(pairs(tmp_path, feminine=same), "counterfactual_de.into_english")
    assert [e.id for e in loaded] == IDS[2:]


def test_the_focus_without_marks_is_the_first_word_that_differs(tmp_path: Path) -> None:
    unmarked = changed(MASCULINE, annotated_de=["Er ging.", MASCULINE["annotated/de"][1]])
    unmarked["de"] = ["Gestern  ging er.", MASCULINE["de"][1]]
    female = changed(FEMININE, de=["Gestern  ging sie.", FEMININE["de"][1]])
    loaded = examples(pairs(tmp_path, unmarked, female), "counterfactual_de.into_english")
    assert [e.focus for e in loaded[:2]] == [Focus("er.", 14), Focus("sie.", 14)]


def test_csv_quotes_and_outer_blanks_are_removed_and_the_raw_line_kept(tmp_path: Path) -> None:
    male, female = examples(pairs(tmp_path))[2:]
    assert male.extra["reference"] == 'Der "Junge" war König.'
    assert male.extra["contrastive_reference"] == 'Das "Mädchen" war Königin.'
    assert male.extra["reference_raw"] == MASCULINE["de"][1]
    assert female.extra["annotated_reference"] == FEMININE["annotated/de"][1]


@cases(
    ('"a ""b"" c"', 'a "b" c'),
    ('"""b"" c"', '"b" c'),
    ('"a """"b"""" c"', 'a ""b"" c'),
    ('"a", sagt sie, "b"', '"a", sagt sie, "b"'),
    ('"a ""b"" c" d', '"a ""b"" c" d'),
    ('"a ""b" c"', '"a ""b" c"'),
    ('"Ja."', '"Ja."'),
    ('"', '"'),
    ('""', '""'),
    (" a ", "a"),
)
def test_only_a_whole_csv_field_is_unquoted(line: str, text: str) -> None:
    assert unquoted(line) == text


def test_pairs_with_equal_references_are_omitted_from_translations(tmp_path: Path) -> None:
    config = "counterfactual_de.translations"
    male, female, *_ = examples(pairs(tmp_path), config)
    assert (male.id, male.source, male.category) == ("0.male", "He left.", "male")
    for example, texts in ((male, ("Er ging.", "Sie ging.")), (female, ("Sie ging.", "Er ging."))):
        assert (example.correct_translation, *example.contrastive_translations) == texts
    assert female.extra["contrastive_source"] == "He left."
    assert set(male.extra) == set(DECLARATION.extra_keys_of(config))
    same = pairs(tmp_path, feminine=changed(FEMININE, de=["Er ging. ", FEMININE["de"][1]]))
    assert [example.id for example in examples(same, config)] == IDS[2:]
    assert [example.id for example in examples(same)] == IDS


def test_the_context_is_separated_from_the_sentence(tmp_path: Path) -> None:
    loaded = examples(
        contexts(tmp_path, SOURCES, ["a", "b", "c"], ["x", "y", "z"]), "contextual_de"
    )
    sources = [(e.id, e.source, e.extra["context"]) for e in loaded]
    shown = ("0", "The doctor left.", "He paints."), ("1", "The nurse left.", "")
    assert sources == [*shown, ("2", "The cook left.", "")]
    targets = [(e.correct_translation, *e.contrastive_translations) for e in loaded]
    assert targets == [("a", "x"), ("b", "y"), ("c", "z")]
    assert [e.extra["source_with_context"] for e in loaded] == SOURCES
    for example in loaded:
        unknown = example.category, example.extra["gender"], example.extra["profession_stereotype"]
        assert {*unknown} == {"unknown"}
    assert set(loaded[0].extra) == set(DECLARATION.extra_keys_of("contextual_de"))


def test_a_bracket_stands_before_the_person_if_its_gender_is_known(tmp_path: Path) -> None:
    lines = [
        "He paints. <sep> The artists and the doctor left.",
        "He met her. <sep> A nurse left.",
        "She slept. <sep> It rained.",
        "She slept. <sep> Butcher likes a singer's voice.",
    ]
    paths = contexts(tmp_path, lines, list("abcd"), list("wxyz"))
    first, last = examples(paths, "contextual_de.sources")
    shown = first.id, first.gold, first.category, first.focus.text
    assert shown == ("0", "male", "male", "doctor")
    assert first.correct_sources == ("The artists and the [male] doctor left.",)
    assert first.incorrect_sources == ("The artists and the [female] doctor left.",)
    assert (first.extra["reference"], first.extra["contrastive_reference"]) == ("a", "w")
    assert (last.id, last.gold, last.focus.text) == ("3", "female", "singer")
    assert set(first.extra) == set(DECLARATION.extra_keys_of("contextual_de.sources"))
    assert DECLARATION.cues_of("contextual_de.sources") == "gender_brackets"
    assert DECLARATION.cues_of("counterfactual_de") == "counterfactual"


def test_rows_whose_context_has_the_other_gender_are_left_out(tmp_path: Path) -> None:
    """The order of the test rows says male for the first 150."""
    cook = "slept. <sep> The cook left."
    lines = [f"She {cook}", f"He {cook}", *["<sep> a"] * 958]
    paths = contexts(tmp_path, lines, ["a"] * 960, ["x"] * 960, split="test")
    assert [e.id for e in read_mt_geneval(paths, "contextual_de.sources", "test")] == ["1"]


def test_sub_categories_follow_the_order_of_the_test_rows(tmp_path: Path) -> None:
    def read_rows(n: int) -> Any:
        return examples(
            contexts(
                tmp_path, [f"<sep> {i}" for i in range(n)], ["a"] * n, ["x"] * n, split="test"
            ),
            "contextual_de",
            "test",
        )

    actual = read_rows(960)
    starts = {example.category: int(example.id) for example in reversed(actual)}
    women = {"female_stereotyped/male": 0, "female_stereotyped/female": 150}
    men = {"male_stereotyped/male": 300, "male_stereotyped/female": 450}
    assert starts == {**women, **men, "neutral/male": 460, "neutral/female": 710}
    keys = "profession_stereotype", "gender"
    shown = [tuple(actual[i].extra[key] for key in keys) for i in (0, 459, -1)]
    assert shown == [("female", "male"), ("male", "female"), ("neutral", "female")]
    fails(DataError, r"expected more than 950 lines, .* got 950", read_rows, 950)


_AB = "A. <sep> B."


@cases(
    ([_AB, "A. B."], ("ab", "xy"), r'line 2: expected "context <sep> sentence", got .A\. B\.'),
    ([f"{_AB} <sep> C."], ("a", "x"), '2to1: line 1: expected "context <sep> sentence"'),
    (["A. <sep> "], ("a", "x"), '2to1: line 1: expected "context <sep> sentence"'),
    ([_AB], ("ab", "x"), "same number of lines, got 1 in .*2to1, 2 in .*original, 1 in .*flipped"),
    ([_AB], ("a", "a"), "flipped: line 1: expected a .* other gender, got the original one: 'a'"),
    ([_AB, _AB], ("a ", "xy"), "original: line 2: expected a sentence, got a blank line"),
)
def test_bad_contexts_are_refused(lines: Any, targets: Any, message: str, tmp_path: Path) -> None:
    fails(DataError, message, examples, contexts(tmp_path, lines, *targets), "contextual_de")


@cases(
    ("en", MASCULINE["en"][0], "other gender, got the masculine one"),
    ("annotated/en", "<F>She</F> went.", r"with <F> or <M> around words, got ' went\.'"),
    ("annotated/en", "She left.", "the whole source with <F> or <M> around some words"),
    ("annotated/en", "<F>She</F>", "expected the whole source"),
    ("annotated/en", "<F>She</F> <F>left.", "expected the whole source"),
    ("annotated/en", "<F>She<F> left.", "around words, got '<F>' at character 3"),
    ("annotated/en", "<F></F>She left.", "around words, got '</F>' at character 0"),
)
def test_malformed_pairs_are_refused(name: str, line: str, message: str, tmp_path: Path) -> None:
    fails(
        DataError,
        rf"feminine\.en: line 1: .*{message}",
        examples,
        pairs(tmp_path, feminine={**FEMININE, name: [line, FEMININE[name][1]]}),
    )
    message = "same number of lines, got 2 in .*masculine.en, .* 1 in .*feminine.en"
    fails(DataError, message, examples, pairs(tmp_path, feminine={**FEMININE, "en": ["She left."]}))


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    paths = pairs(tmp_path)
    next(iter(paths.values())).write_bytes(b"Er ging\xff\n")
    fails(DataError, "line 1: expected UTF-8, got the byte 0xff", examples, paths)


def test_every_configuration_declares_its_files() -> None:
    names = "counterfactual_de", "counterfactual_de.translations", "contextual_nl"
    assert [len(DECLARATION.files_of(name)) for name in names] == [16, 16, 6]
    files = [file for config in DECLARATION.configs for file in config.files]
    assert len({file.path for file in files}) == 182
    assert all(file.size > 0 for file in files)
