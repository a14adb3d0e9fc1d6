"""Files and rows as people bring them: each case comes out as its README says what is right."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cc_hf
from cc_hf.data.files.translations import read_translations
from cc_hf.evaluation.material import Material
from cc_hf.plugins.asking.prompting.translation_replies import parse_translation
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample
from tests.helpers.usual import cases, refuses, typed, write_jsonl, write_lines, write_text
from tests.helpers.usual import cc_hf as cc_hf_command
from tests.helpers.workbooks import write_workbook

_REFUSED = "expected translations alone, but 8 of 8 "
_SOURCE = "The doctor finished her shift."
_TRANSLATION = "Die Ärztin beendete ihre Schicht."


def _judged(folder: Path, *, clean: bool | None = None) -> cc_hf.EvaluationResult:
    [translations] = folder.glob("mt.*")
    return _judged_by(folder / "test.csv", translations, clean=clean)


def _judged_by(
    rows: Path, translations: str | Path, *, clean: bool | None = None
) -> cc_hf.EvaluationResult:
    material = cc_hf.load_material(rows, tgt_lang="de")
    return cc_hf.evaluate(material, translations=translations, clean=clean)


@cases(
    ("begin with words", "w1-chat-preface"),
    ("are JSON", "w3-json-as-text"),
    ("stand in quotes", "w4-quotes"),
    ("stand in quotes", "w6-html-entities"),
    ("contain marks of subwords", "w9-sentencepiece"),
    ("begin with a number", "w10-id-column"),
    ("contain the thinking", "t1-thinking"),
)
def test_wrapped_files_are_refused_or_cleaned(kind: str, name: str, shared: Path) -> None:
    folder = shared / "cases/field" / name
    refuses(f"{_REFUSED}{kind}", _judged, folder)
    assert _judged(folder, clean=True).scores["accuracy"] == 1
    assert "wrapped" in _judged(folder, clean=False).unfit


@cases(
    (1, {}, "w7-rtl-marks"),
    (1, {}, "f9-csv-without-header"),
    (0.625, {"n_untranslated": 3}, "r1-placeholders"),
    (0.75, {"n_untranslated": 2}, "r2-refusals-count-as-right"),
    (0, {"n_both_genders": 7, "n_inconclusive": 7}, "k1-both-forms"),
)
def test_other_files_are_judged_and_counted(
    accuracy: float, counts: dict[str, int], name: str, shared: Path
) -> None:
    result = _judged(shared / "cases/field" / name)
    assert result.scores["accuracy"] == accuracy
    assert counts.items() <= result.counts.items()
    assert result.notes or name.startswith("f9")


def test_invisible_characters_do_not_make_a_wrong_translation_right(shared: Path) -> None:
    text = (shared / "cases/field/w11-zero-width-in-words/text.txt").read_text(encoding="utf-8")
    reference = {
        "reference": "Sie ist eine gute Ärztin.",
        "contrastive_reference": "Er ist ein guter Arzt.",
    }
    figures = cc_hf.load_metric("gender_accuracy").compute(
        predictions=[text.strip()], references=[reference], tgt_lang="de"
    )
    assert figures["accuracy"] == 0


def test_replies_are_read_without_what_is_no_translation(shared: Path) -> None:
    texts = (shared / "cases/field/t2-ask-translate-replies/texts.txt").read_text(encoding="utf-8")
    languages = {"src_lang": "en", "tgt_lang": "de"}
    for text in texts.splitlines():
        assert parse_translation(text, _SOURCE, **languages).text == _TRANSLATION, text


_SYSTEM = [
    ("The doctor finished her shift.", "doctor", "female", "Die Ärztin beendete ihre Schicht."),
    ("The nurse said he was tired.", "nurse", "male", "Der Pfleger sagte, er sei müde."),
    ("The lawyer lost her case.", "lawyer", "female", "Die Anwältin verlor ihren Fall."),
]
_SOURCES, _TEXTS = [row[0] for row in _SYSTEM], [row[3] for row in _SYSTEM]
_PAIRS = list(zip(_SOURCES, _TEXTS, strict=True))


def _rows(*keys: str) -> list[dict[str, str]]:
    return [dict(zip(keys, pair, strict=True)) for pair in _PAIRS]


def _lines(rows: list[Any]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def _table(separator: str, *names: str) -> str:
    quoted = [[f'"{cell}"' for cell in pair] for pair in _PAIRS]
    return "\n".join(separator.join(row) for row in ([names] if names else []) + quoted)


def _reply(name: str, text: str) -> dict[str, Any]:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    response = {"status_code": 200, "body": body}
    return {"id": "batch_7", "custom_id": name, "response": response, "error": None}


def _segments(texts: list[str]) -> str:
    return "".join(f'<seg id="{n}">{text}</seg>\n' for n, text in enumerate(texts, 1))


def _wmt(*systems: str) -> str:
    translated = "".join(f'<hyp system="{name}">{_segments(_TEXTS)}</hyp>' for name in systems)
    return (
        f'<?xml version="1.0"?>\n<dataset id="x">'
        f'<doc id="d"><src lang="en"><p>{_segments(_SOURCES)}</p></src>{translated}</doc>'
        f"</dataset>"
    )


_SGM = f'<tstset setid="x" trglang="de"><doc sysid="A" docid="d">{_segments(_TEXTS)}</doc></tstset>'
_ANTHROPIC = [
    {"custom_id": str(n), "result": {"type": "succeeded", "message": {"content": [part]}}}
    for n, part in enumerate({"type": "text", "text": text} for text in _TEXTS)
]
_BOMB = '<!DOCTYPE dataset [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>\n<dataset>&b;</dataset>'


@pytest.fixture
def material(tmp_path: Path) -> Material:
    rows = [",".join(f'"{cell}"' for cell in row[:3]) for row in _SYSTEM]
    path = write_lines(tmp_path / "test.csv", ["source,focus,gold", *rows])
    return cc_hf.load_material(path, tgt_lang="de")


@cases("f1-semicolon", "f4-json-array", "f7-integer-ids", "m1-source-in-nfd")
def test_tables_of_translations_are_read(name: str, shared: Path) -> None:
    assert _judged(shared / "cases/field" / name).scores["accuracy"] == 1


@cases(
    ("mt.csv", _table(";", "source", "translation")),
    ("mt.csv", "sep=;\n" + _table(";", "Source", " Translation ")),
    ("mt.csv", _table("\t", "source", "translation")),
    ("mt.tsv", _table(",", "source", "translation")),
    ("mt.txt", _table("\t", "source", "translation")),
    ("mt.tsv", _table("\t")),
    ("mt.txt", "\n".join(["Translation", *_TEXTS])),
    ("mt.csv", "\n".join(["target", *(f'"{text}"' for text in _TEXTS)])),
    ("mt.csv#DeepL DE", _table(";", "source", "DeepL DE")),
    ("mt.csv#deepl", _table(",", "n", "DeepL")),
    ("mt.json", json.dumps(_TEXTS)),
    ("mt.json", json.dumps(_rows("source", "translation"), indent=1)),
    ("mt.json", json.dumps({"source": _SOURCES, "translation": _TEXTS})),
    ("mt.json", _lines([{"id": n, "translation": t} for n, t in enumerate(_TEXTS)])),
    ("mt.json#text", json.dumps({"translations": _rows("from", "text")})),
    ("mt.jsonl", _lines([{"id": float(n), "translation": t} for n, t in enumerate(_TEXTS)])),
    ("mt.jsonl", _lines([{"translation": row} for row in _rows("en", "de")])),
    ("mt.jsonl#out.0", _lines([{"source": s, "out": {"0": t}} for s, t in _PAIRS])),
    ("mt.jsonl", _lines([_reply(str(n), t) for n, t in [*enumerate(_TEXTS)][::-1]])),
    ("mt.jsonl", _lines([_reply(f"r-{n}", t) for n, t in [*enumerate(_TEXTS, 1)][::-1]])),
    ("mt.jsonl", _lines(_ANTHROPIC)),
    ("mt.xml", _wmt("A")),
    ("mt.xml#B", _wmt("A", "B")),
    ("mt.sgm", _SGM),
    ("mt.sgm", _SGM.replace(">Die", "> &quot;R&D&quot; & Die").replace("A", "b")),
)
def test_translations_in_any_usual_form_are_read(
    name: str, content: str, material: Material, tmp_path: Path
) -> None:
    write_text(tmp_path / name.partition("#")[0], content)
    result = cc_hf.evaluate(material, translations=tmp_path / name, clean=False)
    assert (result.n, result.counts.get("n_lines")) == (3, 3)
    assert result.scores["accuracy"] == 1


@cases(
    (False, ["id", "translation"], [[n, text] for n, text in enumerate(_TEXTS)]),
    (True, ["source", "translation"], [*_PAIRS, ("", "")]),
    (True, ["source", "", "Translation"], [[source, "", text] for source, text in _PAIRS]),
)
def test_workbooks_of_translations_are_read(
    is_shared: bool, names: list[str], rows: Any, material: Material, tmp_path: Path
) -> None:
    path = write_workbook(tmp_path / "mt.xlsx", names, *rows, is_shared=is_shared)
    assert cc_hf.evaluate(material, translations=path).scores["accuracy"] == 1


def test_parquet_and_files_with_a_number_sign_are_read(
    material: Material, tmp_path: Path, shared: Path
) -> None:
    write_lines(tmp_path / "a#b.txt", _TEXTS)
    table = pa.table({"source": _SOURCES, "DeepL": _TEXTS, "n": [1, 2, 3]})
    pq.write_table(table, tmp_path / "mt.parquet")
    for name in ("a#b.txt", "mt.parquet#DeepL"):
        result = cc_hf.evaluate(material, translations=tmp_path / name)
        assert (result.scores["accuracy"], result.system) == (1, name.partition("et#")[2] or "a#b")
    folder = shared / "cases/field/f5-excel-parquet"
    of_case = cc_hf.load_material(folder / "test.csv", tgt_lang="de")
    assert cc_hf.evaluate(of_case, translations=folder / "mt.parquet").scores["accuracy"] == 1
    refuses(
        "mt.xlsx: expected an Excel file, got one that cannot be read .* save it as CSV UTF-8",
        cc_hf.evaluate,
        of_case,
        translations=folder / "mt.xlsx",
    )


def test_columns_of_a_sheet_are_systems(shared: Path, tmp_path: Path) -> None:
    path = shared / "cases/field/f3-own-column-names/wide.csv"
    refuses(
        r"line 1: .*got the columns source, focus, gold, DeepL, Google; .* as .*wide.csv#DeepL",
        _judged_by,
        path,
        path,
    )
    accuracies = [
        _judged_by(path, f"{path}#{name}").scores["accuracy"] for name in ("DeepL", "Google")
    ]
    assert accuracies == [1, 0.5]
    refuses("column 'Deep', did you mean 'DeepL'", _judged_by, path, f"{path}#Deep")
    files = [
        option for name in ("DeepL", "Google") for option in ("--translations", f"{path}#{name}")
    ]
    cc_hf_command("evaluate", path, "-l", "en-de", *files, "-o", tmp_path / "results", "-q")
    assert {file.name for file in (tmp_path / "results").iterdir()} == {"DeepL.json", "Google.json"}


@cases(
    ("mt.csv", _table(";", "source", "DeepL"), "got the columns source, DeepL; .*#DeepL"),
    ("mt.csv", _table("\t", "Original", "My MT"), "got the columns Original, My MT; .*#My MT"),
    ("mt.jsonl", _lines(_rows("source", "hyp")), "got the keys source, hyp; .*#hyp"),
    ("mt.txt", "\n".join(["translation", *_TEXTS[:2]]), "got 2 besides the header in line 1"),
    ("mt.txt", "\n".join(["Hypothesis", *_TEXTS[:2]]), "got 2 besides the header in line 1"),
    ("mt.csv", "\n".join(["mt", *_TEXTS[:1], _TEXTS[2]]), "got 2 besides the header in line 1"),
    ("mt.txt", "\n".join(["source,translation", *_TEXTS[:2]]), "line 2: expected 2 cells"),
    ("mt.txt", "\n".join(["source", *_SOURCES[:2]]), "got the header of sources 'source'"),
    ("mt.xml", _wmt("A", "B"), "expected one system, got A, B; name it, such as .*mt.xml#A"),
    ("mt.xml#C", _wmt("A", "B"), "expected the system 'C', got A, B"),
    ("mt.xml", _wmt("A")[:-30], "mt.xml: line .*: expected XML that is complete"),
    ("mt.xml", _BOMB, "line 1: expected no entity declarations, got 'a'"),
    ("mt.xml", "<?xml version='1.0'?>\n<feed/>", "got XML of another program"),
    ("mt.tmx", "<?xml version='1.0'?>\n<!DOCTYPE tmx>\n<tmx version='1.4'/>", "got a TMX file"),
    ("mt.po", '# German\nmsgid ""\nmsgstr ""\n', "got a PO file of gettext; convert it"),
    ("mt.xlf", "<xliff version='1.2'/>", "got an XLIFF file; export it as a table"),
    ("mt.html", "<!DOCTYPE html>\n<html></html>", "got a page of HTML; save it as"),
    ("mt.json", "[1, 2, 3]", "item 1: expected a JSON object or a text, got 1"),
    ("mt.json", '{"a": {"b": 1}, "c": []}', "expected an array of JSON objects, or an object"),
    ("mt.jsonl", _lines([_reply("a", "x")]), "3 of 3 .* Line 1 of the file has the id 'a'"),
    ("mt.jsonl", '{"custom_id": "0", "error": {"code": 1}}', "a request that failed .* again"),
    ("mt.jsonl", _lines([{"translation": {"en": "a", "de": "b", "fr": "c"}}]), "#translation.en"),
)
def test_what_cannot_be_read_is_named_with_what_to_do(
    name: str, content: str, message: str, material: Material, tmp_path: Path
) -> None:
    write_text(tmp_path / name.partition("#")[0], content)
    refuses(message, cc_hf.evaluate, material, translations=tmp_path / name)


@cases(
    (b"PK\x03\x04\x14\x00\x06\x00\xff\xfe", "got an Excel file or .* save it as CSV UTF-8"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an old Excel file \(.xls\)"),
    (b"PAR1\x15\x04\x15", "got a Parquet file; name it .parquet"),
    (_TEXTS[0].encode("utf-16"), "got UTF-16, such as the 'Unicode text' of Excel; save it as"),
    (_TEXTS[0].encode("cp1252"), "line 1: expected UTF-8, got the byte 0xc4, 'Ä' in Windows-1252"),
    (b"\x1f\x8b\x08\x00", "compressed by gzip; unpack it"),
)
def test_other_encodings_are_named(
    content: bytes, message: str, material: Material, tmp_path: Path
) -> None:
    for name in ("mt.csv", "mt.txt", "mt.jsonl"):
        (tmp_path / name).write_bytes(content)
        refuses(message, cc_hf.evaluate, material, translations=tmp_path / name)


_QUOTED = "The nurse’s cat, a café owner’s."


@cases(
    (["The nurse's cat, a café owner's."], ["X"]),
    ([f" {_QUOTED} "], ["X"]),
    ([unicodedata.normalize("NFD", _QUOTED)], ["X"]),
    (["The nurse`s cat, a café  owner´s."], ["X"]),
    (["The nurse's cat.", _QUOTED], ["Y"]),
    (["The nurse's cat, a café owner's.", "The nurse’s cat, a café owner's."], "1 of 1 examples"),
    (["The nurse’s cat, a cafe owner’s."], "nearest is line 1; it differs at character 22: .*U"),
    (["Nothing alike"], "Line 1 of the file has 'Nothing alike'"),
)
def test_sources_match_where_one_alone_can_be_meant(
    sources: list[str], expected: list[str] | str, tmp_path: Path
) -> None:
    row = {"source": _QUOTED, "focus": "nurse", "gold": "female"}
    examples = cc_hf.load_examples(str(write_jsonl(tmp_path / "test.jsonl", [row])))
    rows = [{"source": s, "translation": t} for s, t in zip(sources, "XY", strict=False)]
    path = write_jsonl(tmp_path / "mt.jsonl", rows)
    if isinstance(expected, str):
        refuses(expected, read_translations, path, examples)
    else:
        assert list(read_translations(path, examples).translations) == expected


def test_sources_that_differ_in_quotes_alone_are_not_confused(tmp_path: Path) -> None:
    sources = ["The nurse's cat.", "The nurse’s cat."]
    rows = [{"source": s, "focus": "nurse", "gold": "female"} for s in sources]
    examples = cc_hf.load_examples(str(write_jsonl(tmp_path / "test.jsonl", rows)))
    texts = [{"source": s, "translation": t} for s, t in zip(sources[::-1], "XY", strict=True)]
    path = write_jsonl(tmp_path / "mt.jsonl", texts)
    assert read_translations(path, examples).translations == ("Y", "X")
    path = write_jsonl(tmp_path / "mt.jsonl", texts[:1])
    refuses("1 of 2 examples have no translation", read_translations, path, examples)


@cases(
    ("test.csv", "source;focus;gold\nThe nurse left.;nurse;F\n"),
    ("test.csv", " Source ,FOCUS,Gold\nThe nurse left.,nurse, Feminine \n"),
    ("test.tsv", "source,focus,gold\nThe nurse left.,nurse,w\n"),
    ("test.json", '[{"source": "The nurse left.", "focus": "nurse", "gold": "fem"}]'),
    ("test.json", '{"source": ["The nurse left."], "position": [4.0], "gold": ["FEMALE"]}'),
)
def test_rows_to_judge_in_any_usual_form_are_read(name: str, content: str, tmp_path: Path) -> None:
    [example] = cc_hf.load_examples(str(write_text(tmp_path / name, content)))
    assert typed(ContrastiveSourceExample, example).correct_sources == ("The [female] nurse left.",)
    assert (example.gold, example.category) == ("female", "female")


def test_rows_to_judge_are_read_from_workbooks_and_parquet(tmp_path: Path) -> None:
    names, row = ["source", "focus", "gold"], ["The nurse left.", "nurse", "female"]
    pq.write_table(
        pa.table({k: [v] for k, v in zip(names, row, strict=True)}), tmp_path / "a.parquet"
    )
    for path in (write_workbook(tmp_path / "a.xlsx", names, row), tmp_path / "a.parquet"):
        [example] = cc_hf.load_examples(str(path))
        assert typed(ContrastiveSourceExample, example).correct_sources == (
            "The [female] nurse left.",
        )


@cases("gender", "sex", "label", "Gold gender")
def test_a_column_that_may_be_meant_is_named(name: str, tmp_path: Path, shared: Path) -> None:
    text = (shared / "cases/field/o1-gold-column-missing/test.csv").read_text(encoding="utf-8")
    path = write_text(tmp_path / "test.csv", text.replace("gender", name))
    refuses(
        f"line 2: expected a column gold, .*; did you mean '{name}'. Rename it to gold",
        cc_hf.load_examples,
        str(path),
    )


_MENU = "source,correct_translation,contrastive_translations\n"


@cases(
    ("Press A | B.,Drücken Sie A | B.,Drücke A | B.", ("Drücke A | B.",)),
    (r"Press A | B.,Sie A | B.,Drücke A \| B. | Du A \| B.", ("Drücke A | B.", "Du A | B.")),
    (r"Press A.,Drücken Sie A.,Drücke A \| B.", ("Drücke A | B.",)),
    ("Press A.,Drücken Sie A.,Drücke A. | Du A.", ("Drücke A.", "Du A.")),
    ("Press A | B.,Drücken Sie A.,Drücke A | B.", None),
    ("Press A | B.,Sie A | B.,Drücke A | B.|Du A | B.", None),
)
def test_a_bar_in_a_text_cuts_nothing(
    row: str, expected: tuple[str, ...] | None, tmp_path: Path
) -> None:
    path = write_text(tmp_path / "menu.csv", f"{_MENU}{row}\n")
    if expected is None:
        refuses(
            r'contrastive_translations: "\|" separates texts, but .* write "\\\|" for each',
            cc_hf.load_material,
            path,
            tgt_lang="de",
        )
        return
    [example] = cc_hf.load_material(path, tgt_lang="de").examples
    assert typed(ContrastiveTranslationExample, example).contrastive_translations == expected


_OWN_ROWS = [dict(zip(("source", "focus", "gold"), row[:3], strict=True)) for row in _SYSTEM]


@cases(
    ("list", lambda rows: rows),
    ("generator", iter),
    ("table", pd.DataFrame),
    ("table with an index", lambda rows: pd.DataFrame(rows, index=range(9, 6, -1))),
    ("dataset", datasets.Dataset.from_list),
    ("missing values", lambda rows: pd.DataFrame([{**r, "position": float("nan")} for r in rows])),
)
def test_rows_in_memory_are_judged(what: str, made: Callable[[Any], Any]) -> None:
    material = cc_hf.load_material(made(_OWN_ROWS), tgt_lang="de")
    result = cc_hf.evaluate(material, translations=_TEXTS)
    assert (result.scores["accuracy"], result.n) == (1, 3)
    expected = cc_hf.load_material(_OWN_ROWS, "en-de")
    assert material.origin == expected.origin, what


@cases(
    ({"test": _OWN_ROWS}, "expected a name, a file, or rows: .* got dict"),
    (3, "expected a name, a file, or rows: .* got int"),
    (["winomt"], "dataset: row 0: expected a mapping .*, got 'winomt'"),
    ([], "rows in memory: expected at least one row"),
    ([*_OWN_ROWS, {"source": "It is.", "focus": "nurse"}], "row 3: focus: 'nurse' does not occur"),
)
def test_other_values_are_no_rows(rows: Any, message: str) -> None:
    refuses(message, cc_hf.load_material, rows, tgt_lang="de")
