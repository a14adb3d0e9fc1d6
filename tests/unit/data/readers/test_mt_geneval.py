from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cc_hf.data.readers.mt_geneval import DECLARATION, read, unquoted
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample
from tests.helpers.cases import cases_by_message
from tests.helpers.mt_geneval_files import FEMININE, MASCULINE, pairs, written

SOURCES = ["He paints. <sep> The doctor left.", "<sep> The nurse left.", " <sep> The cook left. "]


def contexts(
    tmp_path: Path,
    sources: Sequence[str],
    original: Sequence[str],
    flipped: Sequence[str],
    split: str = "dev",
) -> dict[str, Path]:
    parts = {"2to1": ("en", sources), "original": ("de", original), "flipped": ("de", flipped)}
    return {
        f"data/context/geneval-context-wikiprofessions-{part}-{split}.en_de.{end}": written(
            tmp_path / part, lines
        )
        for part, (end, lines) in parts.items()
    }


def sources(paths: dict[str, Path]) -> list[ContrastiveSourceExample]:
    found = list(read(paths, "counterfactual_de", "dev"))
    return [example for example in found if isinstance(example, ContrastiveSourceExample)]


def translations(
    paths: dict[str, Path], config: str, split: str = "dev"
) -> list[ContrastiveTranslationExample]:
    return [
        example
        for example in read(paths, config, split)
        if isinstance(example, ContrastiveTranslationExample)
    ]


def changed(columns: dict[str, list[str]], **changes: list[str]) -> dict[str, list[str]]:
    return {**columns, **{name.replace("_", "/"): lines for name, lines in changes.items()}}


def test_each_pair_gives_a_male_and_a_female_example(tmp_path: Path) -> None:
    male, female, *others = sources(pairs(tmp_path))
    assert [example.id for example in (male, female, *others)] == [
        "0.male",
        "0.female",
        "1.male",
        "1.female",
    ]
    assert (
        male.source,
        male.correct_sources,
        male.incorrect_sources,
        male.gold,
        male.category,
    ) == ("He left.", ("He left.",), ("She left.",), "male", "male")
    assert (female.source, female.correct_sources, female.incorrect_sources, female.gold) == (
        "She left.",
        ("She left.",),
        ("He left.",),
        "female",
    )
    assert (female.src_lang, female.tgt_lang) == ("en", "de")
    assert female.extra == {
        "reference": "Sie ging.",
        "contrastive_reference": "Er ging.",
        "pair": "0",
        "reference_raw": "Sie ging.",
        "annotated_source": "<F>She</F> left.",
        "annotated_reference": "<F>Sie</F> ging.",
    }
    assert set(male.extra) == set(DECLARATION.extra_keys_of("counterfactual_de"))


def test_the_focus_is_the_first_marked_word(tmp_path: Path) -> None:
    assert [(e.focus.text, e.focus.start) for e in sources(pairs(tmp_path))] == [
        ("He", 0),
        ("She", 0),
        ("boy", 4),
        ("girl", 4),
    ]
    literal = changed(FEMININE, en=["It kept <F>her/F> from her work.", FEMININE["en"][1]])
    literal["annotated/en"] = [
        "It kept <F>her/F> from <F>her</F> work.",
        FEMININE["annotated/en"][1],
    ]
    focus = sources(pairs(tmp_path, feminine=literal))[1].focus
    assert (focus.text, focus.start) == ("her", len("It kept <F>her/F> from "))


def test_references_become_sources_of_translation_into_english(tmp_path: Path) -> None:
    paths = pairs(tmp_path)
    config = "counterfactual_de.into_english"
    found = [e for e in read(paths, config, "dev") if isinstance(e, ContrastiveSourceExample)]
    assert [e.id for e in found] == ["0.male", "0.female", "1.male", "1.female"]
    first, *_, last = found
    assert (first.src_lang, first.tgt_lang, first.gold, first.category) == (
        "de",
        "en",
        "male",
        "male",
    )
    assert (first.source, first.correct_sources, first.incorrect_sources) == (
        "Er ging.",
        ("Er ging.",),
        ("Sie ging.",),
    )
    assert (last.source, last.focus.text, last.focus.start) == (
        'Das "Mädchen" war Königin.',
        "Mädchen",
        5,
    )
    assert first.extra == {
        "reference": "He left.",
        "contrastive_reference": "She left.",
        "pair": "0",
        "reference_raw": "He left.",
        "annotated_source": "<M>Er</M> ging.",
        "annotated_reference": "<M>He</M> left.",
    }
    assert set(first.extra) == set(DECLARATION.extra_keys_of(config))
    contrastive = translations(paths, f"{config}.translations")
    assert [
        (e.id, e.source, e.correct_translation, e.contrastive_translations) for e in contrastive[:2]
    ] == [
        ("0.male", "Er ging.", "He left.", ("She left.",)),
        ("0.female", "Sie ging.", "She left.", ("He left.",)),
    ]
    assert set(contrastive[0].extra) == set(DECLARATION.extra_keys_of(f"{config}.translations"))


def test_sources_into_english_that_do_not_tell_the_gender_are_left_out(tmp_path: Path) -> None:
    same = changed(FEMININE, de=["Er ging.", FEMININE["de"][1]])
    found = read(pairs(tmp_path, feminine=same), "counterfactual_de.into_english", "dev")
    assert [e.id for e in found] == ["1.male", "1.female"]


def test_the_focus_without_marks_is_the_first_word_that_differs(tmp_path: Path) -> None:
    unmarked = changed(MASCULINE, annotated_de=["Er ging.", MASCULINE["annotated/de"][1]])
    unmarked["de"] = ["Gestern  ging er.", MASCULINE["de"][1]]
    female = changed(FEMININE, de=["Gestern  ging sie.", FEMININE["de"][1]])
    found = read(pairs(tmp_path, unmarked, female), "counterfactual_de.into_english", "dev")
    examples = [e for e in found if isinstance(e, ContrastiveSourceExample)]
    assert [(e.focus.text, e.focus.start) for e in examples[:2]] == [("er.", 14), ("sie.", 14)]


def test_csv_quotes_and_outer_blanks_are_removed_and_the_raw_line_kept(tmp_path: Path) -> None:
    male, female = sources(pairs(tmp_path))[2:]
    assert (male.extra["reference"], male.extra["contrastive_reference"]) == (
        'Der "Junge" war König.',
        'Das "Mädchen" war Königin.',
    )
    assert male.extra["reference_raw"] == MASCULINE["de"][1]
    assert female.extra["annotated_reference"] == FEMININE["annotated/de"][1]


@pytest.mark.parametrize(
    ("line", "text"),
    [
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
    ],
)
def test_only_a_whole_csv_field_is_unquoted(line: str, text: str) -> None:
    assert unquoted(line) == text


def test_pairs_with_equal_references_are_omitted_from_translations(tmp_path: Path) -> None:
    male, female, *_ = translations(pairs(tmp_path), "counterfactual_de.translations")
    assert (
        male.id,
        male.source,
        male.correct_translation,
        male.contrastive_translations,
        male.category,
    ) == ("0.male", "He left.", "Er ging.", ("Sie ging.",), "male")
    assert (
        female.correct_translation,
        female.contrastive_translations,
        female.extra["contrastive_source"],
    ) == ("Sie ging.", ("Er ging.",), "He left.")
    assert set(male.extra) == set(DECLARATION.extra_keys_of("counterfactual_de.translations"))
    same = pairs(tmp_path, feminine=changed(FEMININE, de=["Er ging. ", FEMININE["de"][1]]))
    assert [example.id for example in translations(same, "counterfactual_de.translations")] == [
        "1.male",
        "1.female",
    ]
    assert [example.id for example in sources(same)] == ["0.male", "0.female", "1.male", "1.female"]


def test_the_context_is_separated_from_the_sentence(tmp_path: Path) -> None:
    found = translations(
        contexts(tmp_path, SOURCES, ["a", "b", "c"], ["x", "y", "z"]), "contextual_de"
    )
    assert [(e.id, e.source, e.extra["context"]) for e in found] == [
        ("0", "The doctor left.", "He paints."),
        ("1", "The nurse left.", ""),
        ("2", "The cook left.", ""),
    ]
    assert [e.extra["source_with_context"] for e in found] == SOURCES
    assert [(e.correct_translation, e.contrastive_translations) for e in found] == [
        ("a", ("x",)),
        ("b", ("y",)),
        ("c", ("z",)),
    ]
    assert {(e.category, e.extra["gender"], e.extra["profession_stereotype"]) for e in found} == {
        ("unknown", "unknown", "unknown")
    }
    assert set(found[0].extra) == set(DECLARATION.extra_keys_of("contextual_de"))


def test_a_bracket_stands_before_the_person_where_person_and_gender_are_known(
    tmp_path: Path,
) -> None:
    lines = [
        "He paints. <sep> The artists and the doctor left.",
        "He met her. <sep> The nurse left.",
        "She slept. <sep> It rained.",
        "She slept. <sep> Butcher likes to judge a singer's voice.",
    ]
    paths = contexts(tmp_path, lines, list("abcd"), list("wxyz"))
    examples = list(read(paths, "contextual_de.sources", "dev"))
    assert all(isinstance(example, ContrastiveSourceExample) for example in examples)
    first, last = (e for e in examples if isinstance(e, ContrastiveSourceExample))
    assert (first.id, first.gold, first.category, first.focus.text) == (
        "0",
        "male",
        "male",
        "doctor",
    )
    assert first.correct_sources == ("The artists and the [male] doctor left.",)
    assert first.incorrect_sources == ("The artists and the [female] doctor left.",)
    assert (first.extra["reference"], first.extra["contrastive_reference"]) == ("a", "w")
    assert (last.id, last.gold, last.focus.text) == ("3", "female", "singer")
    assert set(first.extra) == set(DECLARATION.extra_keys_of("contextual_de.sources"))
    assert DECLARATION.cues_of("contextual_de.sources") == "gender_brackets"
    assert DECLARATION.cues_of("counterfactual_de") == "counterfactual"


def test_rows_whose_context_has_the_other_gender_are_left_out(tmp_path: Path) -> None:
    """The order of the test rows says male for the first 150."""
    lines = [
        "She slept. <sep> The cook left.",
        "He slept. <sep> The cook left.",
        *["<sep> a"] * 958,
    ]
    paths = contexts(tmp_path, lines, ["a"] * 960, ["x"] * 960, "test")
    assert [e.id for e in read(paths, "contextual_de.sources", "test")] == ["1"]


def test_sub_categories_follow_the_order_of_the_test_rows(tmp_path: Path) -> None:
    n = 960
    rows = [f"<sep> {i}" for i in range(n)]
    found = translations(
        contexts(tmp_path, rows, ["a"] * n, ["x"] * n, "test"), "contextual_de", "test"
    )
    starts = {example.category: example.id for example in reversed(found)}
    assert starts == {
        "female_stereotyped/male": "0",
        "female_stereotyped/female": "150",
        "male_stereotyped/male": "300",
        "male_stereotyped/female": "450",
        "neutral/male": "460",
        "neutral/female": "710",
    }
    assert [
        (e.extra["profession_stereotype"], e.extra["gender"])
        for e in (found[0], found[459], found[-1])
    ] == [("female", "male"), ("male", "female"), ("neutral", "female")]
    with pytest.raises(DataError, match=r"expected more than 950 lines, .* got 950"):
        translations(
            contexts(tmp_path, rows[:950], ["a"] * 950, ["x"] * 950, "test"),
            "contextual_de",
            "test",
        )


CONTEXTUAL: list[tuple[list[str], list[str], list[str], str]] = [
    (
        ["A. <sep> B.", "A. B."],
        ["a", "b"],
        ["x", "y"],
        r"""2to1: line 2: expected "context <sep> sentence", got 'A\. B\.'""",
    ),
    (["A. <sep> B. <sep> C."], ["a"], ["x"], '2to1: line 1: expected "context <sep> sentence"'),
    (["A. <sep> "], ["a"], ["x"], '2to1: line 1: expected "context <sep> sentence"'),
    (
        ["A. <sep> B."],
        ["a", "b"],
        ["x"],
        (
            "expected files with the same number of lines, got 1 in .*2to1, 2 in .*original, 1 in"
            " .*flipped"
        ),
    ),
    (
        ["A. <sep> B."],
        ["a"],
        ["a"],
        "flipped: line 1: expected a translation with the other gender, got the original one: 'a'",
    ),
    (
        ["A. <sep> B.", "A. <sep> B."],
        ["a", " "],
        ["x", "y"],
        "original: line 2: expected a sentence, got a blank line",
    ),
]


@cases_by_message(("lines", "original", "flipped", "message"), CONTEXTUAL)
def test_malformed_contexts_are_refused_naming_file_and_line(
    tmp_path: Path, lines: list[str], original: list[str], flipped: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        translations(contexts(tmp_path, lines, original, flipped), "contextual_de")


COUNTERFACTUAL: list[tuple[dict[str, Any], str]] = [
    (
        {"en": ["She left."]},
        (
            "expected files with the same number of lines, got 2 in .*masculine.en, .* 1 in"
            " .*feminine.en"
        ),
    ),
    (
        {"en": ["She left.", MASCULINE["en"][1]]},
        "feminine.en: line 2: expected a source with the other gender, got the masculine one",
    ),
    (
        {"annotated_en": ["<F>She</F> went.", FEMININE["annotated/en"][1]]},
        (
            r"annotated.feminine.en: line 1: expected the source with <F> or <M> around words, got"
            r" ' went\.'"
        ),
    ),
    (
        {"annotated_en": ["She left.", FEMININE["annotated/en"][1]]},
        (
            "annotated.feminine.en: line 1: expected the whole source with <F> or <M> around some"
            " words"
        ),
    ),
    (
        {"annotated_en": ["<F>She</F>", FEMININE["annotated/en"][1]]},
        "line 1: expected the whole source",
    ),
    (
        {"annotated_en": ["<F>She</F> <F>left.", FEMININE["annotated/en"][1]]},
        "line 1: expected the whole source",
    ),
    (
        {"annotated_en": ["<F>She<F> left.", FEMININE["annotated/en"][1]]},
        "line 1: expected the source with <F> or <M> around words, got '<F>' at character 3",
    ),
    (
        {"annotated_en": ["<F></F>She left.", FEMININE["annotated/en"][1]]},
        "line 1: expected the source with <F> or <M> around words, got '</F>' at character 0",
    ),
]


@cases_by_message(("changes", "message"), COUNTERFACTUAL)
def test_malformed_pairs_are_refused_naming_file_and_line(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        sources(pairs(tmp_path, feminine=changed(FEMININE, **changes)))


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    paths = pairs(tmp_path)
    next(iter(paths.values())).write_bytes(b"Er ging\xff\n")
    with pytest.raises(DataError, match="line 1: expected UTF-8, got the byte 0xff"):
        sources(paths)


def test_every_configuration_declares_its_files() -> None:
    sizes = {
        name: len(DECLARATION.files_of(name))
        for name in ("counterfactual_de", "counterfactual_de.translations", "contextual_nl")
    }
    assert sizes == {
        "counterfactual_de": 16,
        "counterfactual_de.translations": 16,
        "contextual_nl": 6,
    }
    assert len({file.path for config in DECLARATION.configs for file in config.files}) == 182
    assert all(file.size > 0 for config in DECLARATION.configs for file in config.files)
