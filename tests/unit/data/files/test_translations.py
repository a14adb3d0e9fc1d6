"""Files of translations (one or several for each example), BLEU, times and counts of senses."""

import io
import json
from pathlib import Path

import pytest

from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.data.files.sense_counts import frequent_senses, read_sense_counts, with_counts
from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.data.files.translations import read_translations
from cc_hf.data.loading import declaration
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.text.sense_matching import SenseCluster
from tests.helpers.usual import cases, refuses, write_text

_SIDES = Focus("", 0), ("c",), ("i",), "male", "male"
_TEXTS = {"0": "One.", "1": "Two.", "2": "Two."}
EXAMPLES = [ContrastiveSourceExample(i, "en", "de", s, *_SIDES) for i, s in _TEXTS.items()]


def write(tmp_path: Path, text: str | bytes, name: str = "t.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(*rows: dict[str, str]) -> str:
    return "\n".join(map(json.dumps, rows))


def test_one_translation_per_line_is_read_in_order(tmp_path: Path) -> None:
    matched = read_translations(write(tmp_path, "Eins.\nZwei.\nZwei\u2028b.\n"), EXAMPLES)
    assert matched.translations == ("Eins.", "Zwei.", "Zwei\u2028b.")


@cases(  # in any order, repeated sources in order, blank lines
    ("\ufeffTwo. ||| Zwei.\r\nThree. ||| Drei.\r\nOne. ||| Eins.\r\n", "Eins. Zwei. Zwei.", 1),
    ("One. ||| Eins.\nTwo. ||| Zwei.\nTwo. ||| Zwo.\n", "Eins. Zwei. Zwo.", 0),
    ("One. ||| Eins.\n\nTwo. ||| Zwei.\n\n", "Eins. Zwei. Zwei.", 0),
)
def test_lines_with_sources_match(text: str, expected: str, n_unused: int, tmp_path: Path) -> None:
    matched = read_translations(write(tmp_path, text), EXAMPLES)
    assert (matched.translations, matched.n_unused) == (tuple(expected.split()), n_unused)
    assert matched.n_lines == text.count("|||")


@pytest.mark.parametrize("names", ["from,n,to", "source,n,translation"])
def test_a_table_is_matched_by_source(tmp_path: Path, names: str) -> None:
    text = f'{names}\r\n"One, ""1""",,Eins\r\n\r\nTwo.,,"Zwei, 2"\r\nOne.,,Eins.\r\n'
    matched = read_translations(write(tmp_path, text, "t.csv"), EXAMPLES)
    assert matched.translations == ("Eins.", "Zwei, 2", "Zwei, 2")
    assert (matched.n_lines, matched.n_unused) == (3, 1)
    refuses(
        r"t.csv: line 6: expected 3 cells, .* got 1",
        read_translations,
        write(tmp_path, f"{text}x\r\n", "t.csv"),
        EXAMPLES,
    )


@pytest.mark.parametrize("key", ["id", "source"])
def test_jsonl_is_matched_by_id_or_source(tmp_path: Path, key: str) -> None:
    values = [getattr(e, key) for e in EXAMPLES]
    rows = [{key: value, "translation": f"t {value}"} for value in reversed(values)]
    matched = read_translations(write(tmp_path, lines(*rows), "t.jsonl"), EXAMPLES)
    assert matched.translations == tuple(f"t {value}" for value in values)


def test_an_id_with_the_source_of_another_example_is_refused(tmp_path: Path) -> None:
    rows = [{"id": e.id, "source": EXAMPLES[0].source, "translation": "t"} for e in EXAMPLES]
    refuses(
        r"line 2: id '1' has the source 'Two\.', the line says",
        read_translations,
        write(tmp_path, lines(*rows), "t.jsonl"),
        EXAMPLES,
    )


def test_blank_lines_are_translations_if_the_number_of_lines_says_so(tmp_path: Path) -> None:
    for text, expected in (
        ("a\nb\nc\n\n \n", ("a", "b", "c")),
        ("a\n\nc\n", ("a", "", "c")),
        ("a\nb\n\n\n", ("a", "b", "")),
    ):
        assert read_translations(write(tmp_path, text), EXAMPLES).translations == expected


@pytest.mark.parametrize("with_sources", [False, True])
def test_lines_for_all_of_a_longer_file_are_accepted(tmp_path: Path, with_sources: bool) -> None:
    sources = ["One.", "Neither.", "Two.", "Two."]
    rows = [f"{source} ||| t{i}" if with_sources else f"t{i}" for i, source in enumerate(sources)]
    path = write(tmp_path, "\n".join(rows))
    matched = read_translations(path, EXAMPLES, other_lengths={4: [0, 2, 3]})
    assert (matched.translations, matched.n_lines, matched.n_unused) == (("t0", "t2", "t3"), 4, 1)
    refuses(
        "3 in all or 5, got 2",
        read_translations,
        write(tmp_path, "a\nb\n"),
        EXAMPLES,
        other_lengths={5: [0, 2, 3]},
    )


def test_unknown_ids_are_ignored_and_sources_matched(tmp_path: Path) -> None:
    texts = tuple(f"t {e.source}" for e in EXAMPLES)
    rows = [{"id": "x", "sentence": e.source, "translation": f"t {e.source}"} for e in EXAMPLES]
    assert read_translations(write(tmp_path, lines(*rows), "t.log"), EXAMPLES).translations == texts


@cases(
    ("Eins.\nZwei.\n", r"expected one line per.*got 2 \(the source 'Two\.' has no line\)"),
    ("a\nb\nc\nd\n", r"got 4 \(line 4 has no example\)"),
    ("", "got an empty file"),
    ('{\n "dataset": "winomt"\n}\n', "got a JSON document of several lines"),
    ("One. ||| Eins.\nZwei.\n", r"line 2: .* \|\|\| .*, as on 1 of the 2 lines, got 'Zwei\.'"),
    ("One. ||| Eins. ||| -3\n", r"line 1: .* with blanks or tabs around the only \|\|\|"),
    ("One. ||| A.\nOne. ||| B.\nTwo. ||| C.\n", r"1, 2 give 2 different .* of 'One\.'"),
    ("One.|||Eins.\nTwo.|||Zwei.\n", r'line 1: expected "source \|\|\| translation"'),
    ("One. ||| Eins.\nThree. ||| Drei.\n", "2 of 3 examples have no translation"),
)
def test_mismatches_are_refused_naming_the_line(text: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_translations, write(tmp_path, text), EXAMPLES)


@cases(
    ("{", "line 1: expected a JSON object"),
    ("[1]", r"line 1: expected a JSON object, got \[1\]"),
    ('{"translation": 3}', "line 1: translation: expected a text, got 3"),
    ("[" * 100_000, "line 1: expected a JSON object"),
    (f'{{"translation": {"1" * 5000}}}', "line 1: expected a JSON object"),
    ('{"translation": "a", "id": true}', "line 1: id: expected a text or a whole .* got True"),
    ('{"translation": "", "source": ""}\n{"translation": "b"}', 'line 2: expected "source"'),
)
def test_bad_jsonl_is_refused_naming_the_line(text: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_translations, write(tmp_path, text, "t.jsonl"), EXAMPLES)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "missing", "missing: file not found"),
        (tmp_path, "cannot be read"),
        (write(tmp_path, b"a\n\xe4"), "line 2: expected UTF-8, got the byte 0xe4"),
    ):
        refuses(message, read_translations, path, EXAMPLES)


@pytest.mark.parametrize("separator", ["\t|||\t", "\t||| ", "  |||  ", "\u00a0|||\u00a0"])
def test_any_blanks_around_the_separator_are_accepted(tmp_path: Path, separator: str) -> None:
    matched = read_translations(
        write(tmp_path, f"One.{separator}Eins.\nTwo.{separator}Zwei.\n"), EXAMPLES
    )
    assert matched.translations == ("Eins.", "Zwei.", "Zwei.")


def test_indented_json_lines_are_read_as_json(tmp_path: Path) -> None:
    text = "".join(f' {{ "id": "{e.id}", "translation": "t" }}\n' for e in EXAMPLES)
    assert read_translations(write(tmp_path, text), EXAMPLES).translations == ("t",) * len(EXAMPLES)


def test_standard_input_is_named_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Eins.\n")))
    refuses("standard input: expected one line per example", read_translations, "-", EXAMPLES)


def test_scores_from_several_sources_are_merged(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps({"a=b": 42.5, "c": 30}), encoding="utf-8")
    (tmp_path / "q.tsv").write_text("System\tBLEU\nd\t12.25\n\ne f\t7\n", encoding="utf-8")
    (tmp_path / "plain.tsv").write_text("j\t8\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("q.json", "q.tsv", "plain.tsv")]
    actual = read_quality_scores([*files, "g=h=31", "i=0"])
    expected = {"a=b": 0.425, "c": 0.3, "d": 0.1225, "e f": 0.07, "j": 0.08, "g=h": 0.31, "i": 0}
    scores = {system: actual.of(system, "winomt", "de") for system in actual.systems}
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize("text", ["a=0.42", "a=nan", "a=x", "a=101", "a=-3", "a=", "a=4_0", "a=٤٠"])
def test_bleu_must_be_given_in_points(text: str) -> None:
    refuses(r"bleu: BLEU of 'a': expected points, 1 to 100", read_quality_scores, [text])


def test_the_most_specific_score_of_a_system_is_used(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "q.tsv", "system\tBLEU\tdataset\n aws \t31.5\t\ngoogle\t40\twinomt\n\n"
    )
    quality = read_quality_scores([table])
    assert (quality.of("aws", "mucow", "de"), quality.of("google", "winomt", "de")) == (0.315, 0.4)
    assert quality.of("google", "mucow", "de") is None
    entries = [{"system": "aws", "bleu": 20, "tgt_lang": "de"}, {"system": "aws", "bleu": 10}]
    path = write_text(tmp_path / "l.json", json.dumps(entries))
    assert [read_quality_scores([path]).of("aws", "x", lang) for lang in ("de", "fr")] == [0.2, 0.1]


@cases(
    ("q.tsv", "", "at least one system"),
    ("q.tsv", "name\tbleu\na\t1\n", "line 1: expected a header"),
    ("q.tsv", "system\tbleu\n", "at least one system"),
    ("q.tsv", "system\tbleu\na\t1\tx\n", "line 2: expected 2 cells"),
    ("q.tsv", "system\tbleu\na\t101\n", "line 2: BLEU of 'a': expected points, 1.*got '101'"),
    ("q.tsv", "system\tbleu\na\t0.42\n", "line 2: BLEU of 'a': expected points, 1.*got '0.42'"),
    ("q.json", "[" * 100_000, "expected JSON"),
    ("q.tsv", "system\tbleu\na\tnan\n", "got 'nan'"),
    ("q.tsv", "system\tbleu\na\t1\na\t2\n", "line 3: a occurs twice"),
    ("q.tsv", "system\tbleu\n\t1\n", "line 2: expected a system"),
    ("q.tsv", "system\tbleu\tlang\na\t1\tde\n", "expected system, bleu, dataset.*got 'lang'"),
    ("q.json", '{"a": 4, "a": 5}', "the key 'a' occurs twice"),
    ("q.json", '{"a": ' + "9" * 400 + "}", "expected points, 1 to 100"),
    ("q.json", '{"a": ' + "9" * 5000 + "}", "more digits than can be read"),
    ("q.tsv", "a\t4\nb 5", "line 2: expected 2 cells"),
    ("q.json", "x", "expected JSON"),
    ("q.json", "[1]", "or a list of objects with system, bleu, .*, got .1"),
    ("q.json", '{"a": true}', "entry 1: BLEU of 'a'"),
    ("q.json", '[{"system": "a", "bleu": 0.5}]', "expected points, 1 to 100"),
    ("q.json", '[{"system": 3, "bleu": 1}]', "entry 1: system: expected a text, got 3"),
)
def test_malformed_scores_are_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    refuses(message, read_quality_scores, [tmp_path / name])


def test_a_low_figure_with_its_signature_is_in_points(tmp_path: Path) -> None:
    path = write_text(tmp_path / "bleu.json", '[{"system": "a", "bleu": 0.5, "signature": "x"}]')
    assert read_quality_scores(path).of("a", "", "") == 0.005
    refuses(r"or a file that ends in \.json or \.tsv", read_quality_scores, ["q.txt"])


def test_the_frequent_sense_has_the_highest_count_and_of_equal_ones_is_the_first() -> None:
    counts = {"bat - a": 1, "bat - b c": 2, "air - x": 4, "air - y": 4}
    assert frequent_senses(counts) == {("bat", frozenset({"b", "c"})), ("air", frozenset({"x"}))}


@cases(
    ("[]", "expected an object, sense to number"),
    ("{}", "expected an object, sense to number"),
    ('{"bat": 1}', "expected a word, ' - ' and the target words"),
    ('{"bat - a": -1}', "bat - a: expected a whole number from 0, got -1"),
    ('{"bat - a": 1.5}', "bat - a: expected a whole number from 0, got 1.5"),
    ("{", "counts.json: "),
)
def test_files_that_are_no_counts_are_refused(text: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_sense_counts, write_text(tmp_path / "counts.json", text))


def test_counts_fit_only_data_that_name_senses(tmp_path: Path) -> None:
    path = write_text(tmp_path / "counts.json", json.dumps({"counts": {"bat - a": 1}}))
    assert read_sense_counts(path) == {"bat - a": 1}
    assert with_counts(declaration("mucow"), "en-de", path).counts
    for name, config in (("winomt", None), ("mucow", "scoring.lt-en")):
        refuses(f"counts: {name} .* not name senses", with_counts, declaration(name), config, path)


_BAT = SenseCluster(("Fledermaus",), blacklisted=("Vampir",))
CLUSTERS = {"1": SenseCluster(("Schläger",), ("Keule",)), "2": _BAT}


def test_senses_survive_the_way_through_text() -> None:
    text = senses_text(CLUSTERS)
    assert parse_senses(text, "row 0") == CLUSTERS
    assert parse_senses(CLUSTERS, "row 0") == CLUSTERS
    assert "blacklisted" not in text.partition('"2"')[0]


def test_ambiguous_words_may_belong_to_several_clusters() -> None:
    row = {name: {"senses": [name], "ambiguous": ["Ding"]} for name in ("a", "b")}
    assert parse_senses(row, "row 0")["b"].ambiguous == ("Ding",)
