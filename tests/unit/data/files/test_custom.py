import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest

import cc_hf
from cc_hf.data.dataset_folders import examples_of_rows
from cc_hf.data.files.custom import custom_declaration, read_custom, read_words
from cc_hf.errors import CCError, DataError, InputError
from cc_hf.records import write_record
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Focus
from tests.helpers.usual import cases, evaluate_dataset, fails, refuses, typed, write_lines

ROW: dict[str, Any] = {"source": "The bat was old.", "focus": "bat", "correct_cues": ["baseball"]}
ROW["incorrect_cues"] = ["flying", "{focus} (animal)"]


def write(path: Path, *rows: Any) -> Path:
    return write_lines(path, (row if isinstance(row, str) else json.dumps(row) for row in rows))


def examples(path: Path) -> list[Any]:
    return list(read_custom(path))


def test_a_row_with_the_required_fields_is_read(tmp_path: Path) -> None:
    source, focus, correct = "The bat was old.", Focus("bat", 4), ("The baseball bat was old.",)
    incorrect = ("The flying bat was old.", "The bat (animal) was old.")
    sides = source, focus, correct, incorrect, "all", "", {"line": "1"}
    loaded = examples(write(tmp_path / "a.jsonl", ROW))
    assert loaded == [ContrastiveSourceExample("0", "en", "", *sides)]


_BAT = "a", "en", "de", "The bat."
_SIDES = Focus("bat", 4), ("The old bat.",), ("The bat flew.",)
_SOURCES = ContrastiveSourceExample(*_BAT, *_SIDES, "x", "y")
_OTHERS = ("Die Fledermaus.", "Der Hieb.")
_TRANSLATIONS = ContrastiveTranslationExample(*_BAT, "Der Schläger.", _OTHERS, "x")


@pytest.mark.parametrize("example", [_SOURCES, _TRANSLATIONS], ids=["sources", "translations"])
def test_rows_of_contrastive_formats_are_read_as_they_are(tmp_path: Path, example: Any) -> None:
    example = replace(example, extra={"answer": "1"})
    path = write(tmp_path / "a.jsonl", write_record(example))
    assert examples(path) == [replace(example, extra={"answer": "1", "line": "1"})]
    table = path.with_suffix(".tsv")
    row = {**write_record(example), "answer": "1"}
    cells = {k: " | ".join(v) if isinstance(v, list) else v for k, v in row.items() if k != "extra"}
    if isinstance(example, ContrastiveSourceExample):
        cells["focus"] = example.focus.text
    write(table, "\t".join(cells), "\t".join(cells.values()))
    assert examples(table) == [replace(example, extra={"answer": "1", "line": "2"})]


def test_contrastive_sources_need_no_focus_and_no_gold(tmp_path: Path) -> None:
    row = {"source": "The bat.", "correct_sources": ["The old bat."], "incorrect_sources": ["A."]}
    (example,) = examples(write(tmp_path / "a.jsonl", row))
    assert (example.focus, example.gold, example.category) == (Focus("", 0), "", "all")
    with pytest.raises(InputError, match="example '0': focus: expected the words"):
        _ = cc_hf.load_material(tmp_path / "a.jsonl", tgt_lang="de", cues="gender_nouns").examples


def test_a_table_and_jsonl_give_the_same_examples(tmp_path: Path) -> None:
    header = "id,source,focus,position,correct_cues,incorrect_cues,category,gold,tgt_lang,note"
    table = write(
        tmp_path / "a.csv",
        header,
        '7,"A bat, another bat.",bat,15,baseball | wooden,flying,sport,Schläger,de,"a ""b"""',
        'x,It sank.,,0,The ship,The "iron",c,,de,',
    )
    keys = header.split(",")
    bats = "A bat, another bat.", "bat", 15, ["baseball", "wooden"], ["flying"], "sport", "Schläger"
    ship = "x", "It sank.", None, 0, ["The ship"], ['The "iron"'], "c", "", "de", ""
    rows = [dict(zip(keys, row, strict=True)) for row in (("7", *bats, "de", 'a "b"'), ship)]
    first, second = examples(table)
    others = zip((first, second), examples(write(tmp_path / "a.jsonl", *rows)), strict=True)
    assert all(replace(e, extra={}) == replace(other, extra={}) for e, other in others)
    assert first.correct_sources == ("A bat, another baseball bat.", "A bat, another wooden bat.")
    assert (first.extra, second.extra["line"]) == ({"line": "2", "note": 'a "b"'}, "3")
    (example,) = examples(
        write(
            tmp_path / "a.tsv",
            "source\tposition\tcorrect_cues\tincorrect_cues",
            "It sank.\t0\tThe ship\tThe iron",
        )
    )
    assert example.correct_sources == ("The ship It sank.",)


def test_the_focus_at_a_position_excludes_punctuation(tmp_path: Path) -> None:
    cues = {"correct_cues": ["a"], "incorrect_cues": ["b"]}
    (example,) = examples(
        write(tmp_path / "a.jsonl", {"source": "Where is the bat?", "position": 13, **cues})
    )
    assert example.focus == Focus("bat", 13)


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name != key}


_BOTH = {"source": "a", "incorrect_sources": ["b"]}
_TRANSLATED = {"source": "a", "correct_translation": "b", "contrastive_translations": ["c"]}


@cases(
    ({**ROW, "source": " "}, "source: expected a text"),
    ({**ROW, "focus": "cat"}, "'cat' does not occur as a whole word .* write it exactly"),
    ({**ROW, "focus": "Bat"}, "'Bat' does not occur as a whole word .* write it exactly"),
    ({**ROW, "source": "A bat, a bat."}, "'bat' occurs 2 times .* give its \"position\""),
    ({**ROW, "source": "A combat.", "position": 5}, "'bat' at .* 5 .* or ends within a word"),
    ({**ROW, "correct_cue": ["x"]}, "column 'correct_cue': did you mean 'correct_cues'"),
    ({"source": "A nurse.", "focus": "nurse", "gold": "Any"}, "got 'Any'; or give correct_"),
    ({"source": "A bat.", "focus": "bat", "gold": "a", "reference": "b"}, "`cc-hf cues build`"),
    ({**ROW, "correct_cues": ["{Focus}"]}, r"placeholder than \{focus\}, got '\{Focus\}'"),
    ({**ROW, "correct_cues": ["{focus {focus}}"]}, "no other placeholder"),
    ({**ROW, "position": 5}, "'bat' is not at character 5"),
    ({**ROW, "position": 99}, "position: expected the 0-based number .* 0 to 15, got 99"),
    ({**ROW, "position": True}, "position: expected"),
    ({**without("focus"), "position": 3}, "no word begins at character 3"),
    (without("focus"), 'expected "focus", "position" or both'),
    (without("correct_cues"), "correct_cues: expected at least one cue"),
    ({**ROW, "correct_cues": [1]}, "correct_cues: expected at least one cue"),
    ({**ROW, "correct_cues": "flying"}, "the same cue is both correct and incorrect"),
    ({**ROW, "placement": "over"}, "placement: expected one of"),
    ({**ROW, "tgt_lang": "xx"}, "tgt_lang: expected the code or the English name"),
    ({**ROW, "tgt_lang": "Germn"}, "did you mean 'German'"),
    ({"source": "a", "correct_sources": ["b"]}, "incorrect_sources: .* one text, .* got None"),
    ({**_BOTH, "correct_sources": ["b"]}, "the same source is both correct and incorrect: 'b'"),
    (_TRANSLATED, "tgt_lang is empty"),
    ([1], r"expected a JSON object, got \[1\]"),
    ("{", "expected a JSON object"),
)
def test_malformed_rows_are_refused(row: Any, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {**ROW, "id": "first"}, row)
    fails(DataError, rf"a\.jsonl: line 2: .*{message}", examples, path)


_TEXTS = {"source": "A", "good-translation": "B", "incorrect-translation": "C"}
_ACES = {"ID": 7, **_TEXTS, "reference": "R", "phenomena": "antonym", "langpair": "en-de"}
_CONTRAPRO: dict[str, Any] = {
    "src segment": "A",
    "ref segment": "B",
    "src pronoun": "It",
    "ref pronoun": "er",
    "ante distance": 1,
    "errors": [{"contrastive": "C", "replacement": "es"}],
}
_GENTE = {"ID": "3", "SET": "Set-N", "SRC": "A", "REF-G": "C", "REF-N": "B", "GENDER": "F"}
_EUROGEST = {"GEST_ID": 9, "Source": "A", "Stereotype_ID": 2, "Masculine": "B", "Feminine": "C"}


@cases(
    (_ACES, None, "7", "antonym", {"reference": "R"}),
    (_CONTRAPRO, None, "0", "it:er", {"distance": "1"}),
    (_GENTE, "it", "3", "neutral", {"GENDER": "F"}),
    ({**_GENTE, "SET": "Set-G", "REF-G": "B", "REF-N": "C"}, "it", "3", "gendered", {}),
    (_EUROGEST, "pt", "9", "stereotype_02", {"open_share": "masculine_preference"}),
)
def test_rows_of_published_sets_are_read(
    row: Any, pair: str | None, example_id: str, category: str, extra: Any, tmp_path: Path
) -> None:
    (example,) = read_custom(write(tmp_path / "a.jsonl", row), tgt_lang=pair)
    assert isinstance(example, ContrastiveTranslationExample)
    texts = (example.source, example.correct_translation, example.contrastive_translations)
    assert texts == ("A", "B", ("C",))
    assert (example.id, example.category, example.tgt_lang) == (example_id, category, pair or "de")
    assert extra.items() <= example.extra.items()


def test_a_table_of_gente_needs_no_column_source(tmp_path: Path) -> None:
    lines = ["\t".join(_GENTE), "\t".join(map(str, _GENTE.values()))]
    (example,) = read_custom(write(tmp_path / "a.tsv", "\n".join(lines)), tgt_lang="it")
    assert (example.id, example.source) == ("3", "A")


@cases(
    ({**_ACES, "langpair": "ende"}, "langpair: expected a pair such as en-de, got 'ende'"),
    ({**_ACES, "phenomena": None}, "phenomena: expected a text that is not blank"),
    ({**_CONTRAPRO, "errors": [{}]}, "errors: item 1: expected the key 'contrastive'"),
    ({**_GENTE, "SET": "N"}, "SET: expected Set-G or Set-N, got 'N'"),
    ({**_EUROGEST, "Feminine": None, "Neutral": "D"}, "Feminine: expected a text .* got None"),
    ({**_EUROGEST, "Stereotype_ID": "1_0"}, "Stereotype_ID: expected a whole number, got '1_0'"),
    ({**_EUROGEST, "Stereotype_ID": "x"}, "Stereotype_ID: expected a whole number, got 'x'"),
)
def test_damaged_rows_of_published_sets_are_named(row: Any, message: str, tmp_path: Path) -> None:
    fails(
        DataError,
        rf"a\.jsonl: line 1: .*{message}",
        list,
        read_custom(write(tmp_path / "a.jsonl", row), tgt_lang="it"),
    )


@cases(
    ("source,focus\na,b,c", "line 2: expected 2 cells, one for each name, got 3"),
    ("src,focus\na,b", "line 1: expected columns named source, got .*src"),
    ("source,source\na,b", "line 1: expected different names"),
    (f"source,position,gold\nA.,{'9' * 5000},male", "position: expected the 0-based number"),
    ('source,focus\n"a" x,b', "line 2: .* quote cells"),
    ("", "got an empty file"),
    ("source;focus\na;b;c", "line 2: expected 2 cells, one for each name, got 3"),
    ("Source,source\na,b", "line 2: expected one column source, got several; rename one"),
    ("Sentence,focus\na,a", "line 1: expected columns named source, .* did you mean 'Sentence'"),
    ("source,focus,sex\nA nurse.,nurse,F", "column gold, .* did you mean 'sex'. Rename it to gold"),
    ("source,focus,x\nA nurse.,nurse,F", "expected a column gold, .* did you mean 'x'"),
    ("source,focus\nA nurse.,nurse", "gold: expected male or female"),
)
def test_malformed_tables_are_refused(text: str, message: str, tmp_path: Path) -> None:
    fails(CCError, message, examples, write(tmp_path / "a.csv", text))


def test_missing_empty_and_inconsistent_files_are_refused(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "no.jsonl", "file not found"),
        (write(tmp_path / "empty.jsonl"), "expected at least one row"),
        (write(tmp_path / "ids.jsonl", {**ROW, "id": "1"}, ROW), "line 2: the id '1' is that of"),
    ):
        fails(CCError, message, examples, path)
    rows = [{**ROW, "tgt_lang": lang} for lang in ("de", "fr")]
    fails(
        DataError,
        "expected one source and one target language in a file",
        custom_declaration,
        write(tmp_path / "two.jsonl", *rows),
    )


def test_a_file_path_can_be_used_as_a_dataset_name(tmp_path: Path) -> None:
    path = str(
        write(
            tmp_path / "bats.jsonl",
            {**ROW, "category": "sport", "note": [1]},
            {**ROW, "category": "animal"},
        )
    )
    loaded_examples = cc_hf.load_examples(path)
    loaded = typed(datasets.DatasetDict, cc_hf.load_dataset(path))
    assert examples_of_rows(ContrastiveSourceExample, loaded["test"]) == loaded_examples
    assert list(cc_hf.load_dataset(path, streaming=True, split="test")) == loaded["test"].to_list()
    assert loaded_examples[0].extra == {"line": "1", "note": "[1]"}

    options: dict[str, Any] = {"tgt_lang": "de"}
    options["evaluator"] = lambda sources, _: [1.0 + ("baseball" in source) for source in sources]
    result = evaluate_dataset(path, translations=["Ja."] * 2, **options)
    assert result.scores["accuracy"] == 1.0
    assert [c.category for c in result.categories] == ["animal", "sport"]
    changed = str(write(tmp_path / "bats.jsonl", ROW))
    again = evaluate_dataset(changed, translations=["Ja."], **options)
    assert result.signature.startswith("cc|data:custom/bats@")
    assert again.signature.split("|")[1] != result.signature.split("|")[1]


def test_a_file_without_a_target_language_asks_for_it(tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", ROW)
    refuses(r"^tgt_lang: the file .*'own' does not say .* such as", cc_hf.load_material, path)

    refuses(
        "only mucow lists, not your file; metrics that fit your file: contrastive_conditioning$",
        evaluate_dataset,
        str(path),
        translations=["a"],
        tgt_lang="de",
        metric="mucow_pattern_matching",
    )


def test_a_gender_alone_gives_brackets_in_the_source_language(tmp_path: Path) -> None:
    row = {"source": "Lääkäri lähti.", "focus": "Lääkäri", "src_lang": "fi"}
    rows = [{**row, "gold": gender} for gender in ("male", "female")]
    first, second = examples(write(tmp_path / "a.jsonl", *rows))
    assert first.incorrect_sources == second.correct_sources
    assert second.correct_sources == ("[nainen] Lääkäri lähti.",)
    assert first.correct_sources == ("[mies] Lääkäri lähti.",)
    assert second.category == "female"
    fails(
        DataError,
        r"gold: expected male or female, .* got 'neutral'",
        examples,
        write(tmp_path / "a.jsonl", {**rows[0], "gold": "neutral"}),
    )


_GENDER = {"source": "The nurse left.", "focus": "nurse", "gold": "female"}
_BRACKETS = {"correct_cues": ["[female]"], "incorrect_cues": ["[male]"]}


@cases(
    ([_GENDER], "gender_brackets"),
    ([_GENDER, {**_GENDER, "gold": "male", "category": "x"}], "gender_brackets"),
    ([{"source": "A nurse.", "position": 2, "gold": "male"}], "gender_brackets"),
    ([ROW], "own"),
    ([{**_GENDER, **_BRACKETS}], "own"),  # the same sources, but the user's
    ([_GENDER, {**_GENDER, **_BRACKETS}], "own"),
    ([{"source": "A.", "correct_sources": ["B."], "incorrect_sources": ["C."]}], "own"),
)
def test_cues_are_named_if_the_program_made_all(rows: Any, cues: str, tmp_path: Path) -> None:
    declared = custom_declaration(write(tmp_path / "a.jsonl", *rows))
    assert declared.cues_of(None) == cues
    actual = cc_hf.load_material(write(tmp_path / "b.jsonl", *rows), tgt_lang="de").origin.fields
    assert actual["cues"] == cues


def test_rows_without_cues_become_probing_examples(tmp_path: Path) -> None:
    row = {
        "source": "A bat, another bat.",
        "position": 2,
        "gold": "animal",
        "note": "x",
        "reference": "Eine Fledermaus.",
        "tgt_lang": "de",
    }
    (actual,) = read_words(write(tmp_path / "a.jsonl", row))
    assert actual.focus == Focus("bat", 2)
    kept = {"note": "x", "reference": "Eine Fledermaus."}
    assert actual.extra == {**kept, "line": "1", "ambiguous_word": "bat"}
    for key, message in (
        *((key, f"line 1: {key}: expected a text, got ''") for key in ("gold", "reference")),
        ("tgt_lang", "tgt_lang is empty"),
    ):
        fails(DataError, message, list, read_words(write(tmp_path / "a.jsonl", {**row, key: ""})))


def test_tables_written_by_spreadsheets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "A.CSV"
    path.write_bytes(
        (
            "\ufeffsource, focus ,correct_cues,incorrect_cues\r\nThe bat.,bat,big,small\r\n,,,\r\n"
        ).encode()
    )
    assert [e.correct_sources for e in cc_hf.load_examples(str(path))] == [("The big bat.",)]


def test_files_of_other_types_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(b"PK")
    refuses(r"a file that ends in \.csv, .*\.xlsx, .*\.jsonl", cc_hf.load_examples, str(path))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_the_reserved_category_none_is_refused(tmp_path: Path, suffix: str) -> None:
    row = {"source": "The nurse left.", "focus": "nurse", "gold": "male", "category": "none"}
    path = tmp_path / f"a.{suffix}"
    write(path, *([row] if suffix == "jsonl" else [",".join(row), ",".join(row.values())]))
    fails(DataError, "category: expected any name but 'none', which minimum", examples, path)
    words = write(tmp_path / "w.jsonl", {**row, "tgt_lang": "de", "reference": "Er ging."})
    fails(DataError, "category: expected any name but 'none'", list, read_words(words))


def test_the_configuration_gets_a_safe_name(tmp_path: Path) -> None:
    for name, config in (("bats.jsonl", "bats"), ("a: [b]\n*.jsonl", "a_b_-")):
        assert custom_declaration(write(tmp_path / name, ROW)).default_config.startswith(config)


SENSES = {"stick": ["Schläger"], "animal": {"senses": ["Fledermaus"], "ambiguous": ["Tier"]}}


def senses_row(**changes: Any) -> dict[str, Any]:
    row = {"source": "The bats flew.", "focus": "bats", "homograph": "bat", "tgt_lang": "de"}
    return {**row, "cluster": "animal", "senses": SENSES, **changes}


def test_rows_with_senses_are_homographs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "bats.jsonl", senses_row(), senses_row(homograph=None, category="rare", note="x")
    )
    first, second = cc_hf.load_dataset(str(path))["test"]
    assert (first["gold"], first["category"], second["category"]) == ("animal", "all", "rare")
    assert (first["extra"]["homograph"], second["extra"]["homograph"]) == ("bat", "bats")
    assert second["extra"]["note"] == "x"
    stick = json.loads(first["extra"]["senses"])["stick"]
    assert stick == {"senses": ["Schläger"], "ambiguous": []}
    material = cc_hf.load_material(path)
    result = cc_hf.evaluate(
        material,
        translations=["Die Fledermäuse flogen.", "Die Schläger flogen."],
        metric="homograph_accuracy",
        options={"search": "sentence"},
    )
    assert [j.verdict for j in result.judgements] == ["correct", "incorrect"]
    assert list(cc_hf.evaluate_all(material, translations=["a", "b"]).not_run) == []


def test_a_table_holds_senses_as_json(tmp_path: Path) -> None:
    cell = json.dumps(SENSES).replace('"', '""')
    (example,) = examples(
        write(
            tmp_path / "bats.tsv", "source\tfocus\tcluster\tsenses", f'A bat.\tbat\tstick\t"{cell}"'
        )
    )
    assert (type(example).__name__, example.gold) == ("ProbingExample", "stick")


@cases(
    ({"cluster": "bird"}, "cluster: expected one of the clusters in senses, stick, animal"),
    ({"cluster": ""}, "cluster: expected a text"),
    ({"senses": {}}, "senses: expected clusters of senses"),
    ({"senses": "x"}, "senses: expected the JSON of clusters"),
    ({"focus": "cats"}, "focus: 'cats' does not occur"),
    ({"category": "none"}, "category: expected any name but"),
)
def test_rows_with_unfit_senses_are_refused(changes: Any, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "bats.jsonl", senses_row(**changes))
    fails(DataError, f"line 1: {re.escape(message)}", examples, path)


def test_a_file_has_cues_or_senses(tmp_path: Path) -> None:
    other = {"source": "A nurse.", "focus": "nurse", "gold": "male", "tgt_lang": "de"}
    path = write(tmp_path / "bats.jsonl", senses_row(), other)
    fails(DataError, "expected rows of one kind", cc_hf.load_material, path)
