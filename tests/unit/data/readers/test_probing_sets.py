"""MuCoW, WinoMT and MT-GenEval: cues, configurations and damaged files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.readers import mucow, winomt
from cc_hf.data.readers.mt_geneval import DECLARATION, read, unquoted
from cc_hf.data.readers.mucow_files import COUNTS, CUES, KEY, REF, SUITE, TEXT
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, Focus, ProbingExample
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.mt_geneval_files import FEMININE, MASCULINE, pairs, written
from tests.helpers.usual import cases, fails, write_text


def with_cues(
    tmp_path: Path,
    *,
    text: str = "An ace.",
    key: str = "1\tted\tace\tas\tprofi experte",
    cue: str = '{"correct_insertions": ["b", "a"], "incorrect_insertions": ["c"]}',
    config: str = "en-de",
) -> list[Any]:
    counts = '{"ace - as": 2, "ace - profi experte": 1}'
    contents = {TEXT: text, KEY: key, REF: "Ein Ass.", CUES: cue, COUNTS: counts}
    paths = {}
    for number, (name, content) in enumerate(contents.items()):
        paths[name.format("en-de")] = write_text(tmp_path / str(number), content + "\n")
    return list(mucow.read(paths, config, "test"))


@cases(
    ("An ace in place, an ace!", "en-de", "An {0} ace in place, an {0} ace!"),
    ("An ace in place.", "en-de.emnlp2021", "An {0} ace in pl{0} ace."),
    ("Two aces.", "en-de", "Two {0} aces."),
    ("Ace it.", "en-de", "{0} Ace it."),
    ("AN ACE.", "en-de", None),
)
def test_cues_precede_whole_tokens(text: str, config: str, expected: Any, tmp_path: Path) -> None:
    found = [example.correct_sources for example in with_cues(tmp_path, text=text, config=config)]
    assert found == ([] if expected is None else [tuple(map(expected.format, "ab"))])


@cases(
    ({"text": "a\nb"}, "expected files with the same number of lines, got 2 in .*0, 1 in .*1"),
    ({"key": "1\tted\tace\tas"}, "line 1: expected 5 columns .*, got 4"),
    ({"cue": "{}"}, "line 1: expected the key .correct_insertions., got {}"),
    ({"cue": "[1]"}, "line 1: expected a JSON object, got"),
    ({"cue": "x"}, "line 1: expected a JSON object, got .x."),
)
def test_malformed_files_are_refused(changed: dict[str, str], message: str, tmp_path: Path) -> None:
    fails(DataError, message, with_cues, tmp_path, **changed)


@cases(
    ("hora\tx\tin\t5\t5", "the sense 'čas' of 'hora' is not in the pair's domain file"),
    ("hora\tčas\tmaybe\t5\t5", "line 1: expected 5 columns .* in or out"),
)
def test_a_sense_must_have_a_domain(domain: str, message: str, tmp_path: Path) -> None:
    paths = {}
    files = {"text": "Hora.", "key": "1\tted\thora\tčas\thora", "ref": "Čas.", "domain": domain}
    for end, content in files.items():
        paths[SUITE.format("en-cs", end)] = tmp_path / end
        (tmp_path / end).write_text(content + "\n", encoding="utf-8")
    fails(DataError, message, list, mucow.read(paths, "en-cs", "test"))


def test_every_configuration_declares_the_languages_of_its_name() -> None:
    for config in mucow.DECLARATION.configs:
        pair = config.name.removeprefix("scoring.").partition(".")[0]
        assert pair == f"{config.src_lang}-{config.tgt_langs[0]}"


ROWS = """female\t1\tThe developer argued, because she did not like it.\tdeveloper\tanti
male\t3\tHe hired the construction worker, he was good.\tconstruction worker\tpro
neutral\t0\tSomeone called.\tsomeone\tnone
male\t0\tSomeone called.\tsomeone\tnone
male\t3\tShe asked the  cook.\tcook\tpro
"""


def read_all(tmp_path: Path, text: str, config: str) -> list[Any]:
    path = write_text(tmp_path / "test.tsv", text)
    return list(winomt.read({winomt.DECLARATION.files[0].path: path}, config, "test"))


def rows(tmp_path: Path, text: str, config: str = "default") -> list[tuple[str, ...]]:
    examples = read_all(tmp_path, text, config)
    return [(e.id, e.focus.text, *e.correct_sources, *e.incorrect_sources) for e in examples]


def test_the_cue_is_inserted_before_the_occupation(tmp_path: Path) -> None:
    expected = (
        ("0", "developer", "The [{}] developer argued, because she did not like it.", "female"),
        ("1", "construction worker", "He hired the [{}] construction worker, he was good.", "male"),
        ("3", "Someone", "[{}] Someone called.", "male"),
        ("4", "cook", "She asked the  [{}] cook.", "male"),
    )
    other = {"male": "female", "female": "male"}
    assert rows(tmp_path, ROWS) == [
        (number, focus, source.format(gender), source.format(other[gender]))
        for number, focus, source, gender in expected
    ]


def test_configurations_select_or_damage_rows_or_keep_all_without_cues(tmp_path: Path) -> None:
    found = {row[0]: row[2] for row in rows(tmp_path, ROWS, "emnlp2021")}  # as the program does
    assert found["1"] == "He hired the [male] construction worker worker, he was good."
    assert found["3"] == "[male] someone called."
    assert [row[0] for row in rows(tmp_path, ROWS, "pro")] == ["1", "4"]
    assert [row[0] for row in rows(tmp_path, ROWS, "anti")] == ["0"]
    examples = read_all(tmp_path, ROWS, "all")
    assert all(isinstance(e, ProbingExample) for e in examples)
    genders = enumerate(("female", "male", "neutral", "male", "male"))
    assert [(e.id, e.category) for e in examples] == [(str(i), gender) for i, gender in genders]
    assert [ProbingExample.from_row(e.to_row()) for e in examples] == examples


def test_pairs_are_lines_with_the_same_number(tmp_path: Path) -> None:
    female, male = (f"{g}\t1\tA b, as {p} is.\tb\n" for g, p in (("female", "she"), ("male", "he")))
    config = winomt.DECLARATION.config("pairs")

    def read(pro: str, anti: str) -> list[Any]:
        texts = zip(("pro", "anti"), config.files, (pro, anti), strict=True)
        paths = {file.path: write_text(tmp_path / f"{n}.txt", text) for n, file, text in texts}
        return list(winomt.read(paths, "pairs", "test"))

    examples = read(female + male, male + female)
    assert [e.id for e in examples] == ["0.pro", "0.anti", "1.pro", "1.anti"]
    assert [e.gold for e in examples] == ["female", "male", "male", "female"]
    assert [e.extra["pair"] for e in examples] == ["0", "0", "1", "1"]
    assert examples[1].incorrect_sources == ("A [female] b, as he is.",)
    message = "anti.txt: line 2: expected the other gender .* got male"
    fails(DataError, message, read, female + male, male * 2)
    fails(DataError, "expected 4 columns .* got 3", read, female, "male\t1\tA b.")


@cases(
    ("male\t1\tA b.\tb", "line 1: expected 5 columns .* got 4"),
    ("man\t1\tA b.\tb\tpro", "line 1: gender: expected one of male, female.*got 'man'"),
    ("male\tx\tA b.\tb\tpro", "line 1: index: expected a number"),
    ("male\t7\tA b.\tb\tpro", "line 1: token index: expected 0 to 1, got 7"),
    ("male\t1\tA b.\tb\tyes", "line 1: stereotype"),
    ("male\t1\tA b.\tc\tpro", "line 1: expected the occupation 'c' at token 1, got 'b.'"),
    ("\nmale\t1\tA b.\tb\tpro", "line 1: expected 5 columns"),
)
def test_malformed_rows_are_named_by_line(line: str, message: str, tmp_path: Path) -> None:
    fails(DataError, message, rows, tmp_path, line)


@pytest.mark.parametrize("config", ["default", "emnlp2021", "pro", "anti", "all", "acl2019"])
def test_results_without_neutral_rows_have_a_note(shared: Path, config: str) -> None:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/winomt/data"
    options: dict[str, Any] = {"metric": "winomt_pattern_matching", "data_dir": shared / "upstream"}
    options |= {"translations": folder / "aws.de.full.txt", "tgt_lang": "de"}
    found = evaluate_dataset("winomt", config, **options)
    rounded = tuple(round(100 * found.scores[name], 1) for name in ("accuracy", "delta_g"))
    assert rounded == {"default": (66.0, 14.8), "all": (62.4, 11.9)}.get(config, rounded)
    if config in ("all", "acl2019"):
        assert found.notes == ()
        return
    (note,) = found.notes
    assert "on all" in note
    assert "configuration all" in note
    assert "aws" not in note  # figures of another system read like those of the result


SOURCES = ["He paints. <sep> The doctor left.", "<sep> The nurse left.", " <sep> The cook left. "]


def contexts(tmp_path: Path, *sides: Sequence[str], split: str = "dev") -> dict[str, Path]:
    """Write sources, references, and references of the other gender."""
    name = "data/context/geneval-context-wikiprofessions-{}-{}.en_de.{}"
    parts = zip(("2to1", "original", "flipped"), ("en", "de", "de"), sides, strict=True)
    return {name.format(p, split, end): written(tmp_path / p, lines) for p, end, lines in parts}


def examples(paths: dict[str, Path], config: str = "counterfactual_de", split: str = "dev") -> Any:
    return list(read(paths, config, split))


def changed(columns: dict[str, list[str]], **changes: list[str]) -> dict[str, list[str]]:
    return {**columns, **{name.replace("_", "/"): lines for name, lines in changes.items()}}


IDS = ["0.male", "0.female", "1.male", "1.female"]


def test_each_pair_gives_a_male_and_a_female_example(tmp_path: Path) -> None:
    found = examples(pairs(tmp_path))
    assert [example.id for example in found] == IDS
    references = {"reference": "Sie ging.", "contrastive_reference": "Er ging.", "pair": "0"}
    marked = {"annotated_source": "<F>She</F> left.", "annotated_reference": "<F>Sie</F> ging."}
    extra = {**references, **marked, "reference_raw": "Sie ging."}
    he, she = "He left.", "She left."
    of_her = "en", "de", she, Focus("She", 0), (she,), (he,), "female", "female", extra
    of_him = "en", "de", he, Focus("He", 0), (he,), (she,), "male", "male", found[0].extra
    assert found[0] == ContrastiveSourceExample("0.male", *of_him)
    assert found[1] == ContrastiveSourceExample("0.female", *of_her)
    assert set(found[0].extra) == set(DECLARATION.extra_keys_of("counterfactual_de"))


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
    found = examples(paths, config)
    assert [e.id for e in found] == IDS
    references = {"reference": "He left.", "contrastive_reference": "She left.", "pair": "0"}
    marked = {"annotated_source": "<M>Er</M> ging.", "annotated_reference": "<M>He</M> left."}
    extra = {**references, **marked, "reference_raw": "He left."}
    he, she = "Er ging.", "Sie ging."
    common = "de", "en", he, Focus("Er", 0), (he,), (she,), "male", "male"
    assert found[0] == ContrastiveSourceExample("0.male", *common, extra)
    assert (found[3].source, found[3].focus) == ('Das "Mädchen" war Königin.', Focus("Mädchen", 5))
    assert set(extra) == set(DECLARATION.extra_keys_of(config))
    both = examples(paths, f"{config}.translations")
    shown = [(e.id, e.source, e.correct_translation, *e.contrastive_translations) for e in both]
    male = "0.male", he, "He left.", "She left."
    assert shown[:2] == [male, ("0.female", she, "She left.", "He left.")]
    assert set(both[0].extra) == set(DECLARATION.extra_keys_of(f"{config}.translations"))


def test_sources_into_english_that_do_not_tell_the_gender_are_left_out(tmp_path: Path) -> None:
    same = changed(FEMININE, de=["Er ging.", FEMININE["de"][1]])
    found = examples(pairs(tmp_path, feminine=same), "counterfactual_de.into_english")
    assert [e.id for e in found] == IDS[2:]


def test_the_focus_without_marks_is_the_first_word_that_differs(tmp_path: Path) -> None:
    unmarked = changed(MASCULINE, annotated_de=["Er ging.", MASCULINE["annotated/de"][1]])
    unmarked["de"] = ["Gestern  ging er.", MASCULINE["de"][1]]
    female = changed(FEMININE, de=["Gestern  ging sie.", FEMININE["de"][1]])
    found = examples(pairs(tmp_path, unmarked, female), "counterfactual_de.into_english")
    assert [e.focus for e in found[:2]] == [Focus("er.", 14), Focus("sie.", 14)]


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
    found = examples(contexts(tmp_path, SOURCES, ["a", "b", "c"], ["x", "y", "z"]), "contextual_de")
    sources = [(e.id, e.source, e.extra["context"]) for e in found]
    shown = ("0", "The doctor left.", "He paints."), ("1", "The nurse left.", "")
    assert sources == [*shown, ("2", "The cook left.", "")]
    targets = [(e.correct_translation, *e.contrastive_translations) for e in found]
    assert targets == [("a", "x"), ("b", "y"), ("c", "z")]
    assert [e.extra["source_with_context"] for e in found] == SOURCES
    for example in found:
        unknown = example.category, example.extra["gender"], example.extra["profession_stereotype"]
        assert {*unknown} == {"unknown"}
    assert set(found[0].extra) == set(DECLARATION.extra_keys_of("contextual_de"))


def test_a_bracket_stands_before_the_person_if_its_gender_is_known(tmp_path: Path) -> None:
    lines = ["He paints. <sep> The artists and the doctor left.", "He met her. <sep> A nurse left."]
    lines += ["She slept. <sep> It rained.", "She slept. <sep> Butcher likes a singer's voice."]
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
    assert [e.id for e in read(paths, "contextual_de.sources", "test")] == ["1"]


def test_sub_categories_follow_the_order_of_the_test_rows(tmp_path: Path) -> None:
    def read_rows(n: int) -> Any:
        sides = [f"<sep> {i}" for i in range(n)], ["a"] * n, ["x"] * n
        return examples(contexts(tmp_path, *sides, split="test"), "contextual_de", "test")

    found = read_rows(960)
    starts = {example.category: int(example.id) for example in reversed(found)}
    women = {"female_stereotyped/male": 0, "female_stereotyped/female": 150}
    men = {"male_stereotyped/male": 300, "male_stereotyped/female": 450}
    assert starts == {**women, **men, "neutral/male": 460, "neutral/female": 710}
    keys = "profession_stereotype", "gender"
    shown = [tuple(found[i].extra[key] for key in keys) for i in (0, 459, -1)]
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
    feminine = {**FEMININE, name: [line, FEMININE[name][1]]}
    with pytest.raises(DataError, match=rf"feminine\.en: line 1: .*{message}"):
        examples(pairs(tmp_path, feminine=feminine))
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
