import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.studies.disambiguation_bias import homographs
from tests.helpers.cases import cases
from tests.helpers.lines import write_jsonl, write_lines
from tests.helpers.refusals import refuses

PAIR = homographs.TaggedPair("0.bat", "A bat.", "Ein Schläger.", "bat", 2, 1, "1", "Schläger")


def lexicon_of(tmp_path: Path, value: Any) -> homographs.HomographLexicon:
    return homographs.read_lexicon(write_jsonl(tmp_path / "lexicon.json", [value]))


def test_clusters_may_have_published_keys_plain_keys_or_be_lists(tmp_path: Path) -> None:
    plain = {"senses": ["Feder"], "ambiguous": ["Spirale"], "blacklisted": ["Born"], "pos": "NOUN"}
    keys = ("[SENSES]", "[AMBIGUOUS SENSES]", "[BLACKLISTED SENSES]", "[POS]")
    published = {**dict(zip(keys, plain.values(), strict=True)), "[SYNONYMS]": []}
    lexicon = lexicon_of(tmp_path, {"Spring": {"1": published, "2": plain, "3": ["Lenz", "Lenz"]}})
    expected = homographs.SenseCluster(("Feder",), ("Spirale",), ("Born",), "NOUN")
    senses = {"1": expected, "2": expected, "3": homographs.SenseCluster(("Lenz",))}
    assert lexicon.homographs == {"spring": senses}
    assert (lexicon.src_lang, lexicon.tgt_lang, len(lexicon.sha256)) == ("en", "de", 64)


@cases(
    ([], "expected an object such as"),
    ({}, "expected an object such as"),
    ({"bat": []}, "bat: expected an object, got"),
    ({"bat": {"1": []}}, "'bat': cluster '1': expected at least one sense, got none; add"),
    ({"bat": {"1": {"[SENSES]": [], "[AMBIGUOUS SENSES]": ["x"]}}}, "expected at least one se"),
    ({"bat": {"1": 5}}, "expected a list of words or an object, got 5"),
    ({"bat": {"1": ["zwei Wörter"]}}, "senses: item 1: expected a single word, got 'zwei"),
    ({"bat": {"1": ["x"]}, "Bat": {"1": ["x"]}}, "each homograph once"),
)
def test_a_lexicon_of_another_form_is_refused(value: Any, message: str, tmp_path: Path) -> None:
    refuses(message, lexicon_of, tmp_path, value)


def test_a_lexicon_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "lexicon.json", ["spring: Feder"])
    refuses(r"lexicon\.json: expected an object such as", homographs.read_lexicon, path)


def test_a_word_that_is_no_homograph_is_named(tmp_path: Path) -> None:
    lexicon = lexicon_of(tmp_path, {"bat": {"1": ["Schläger"]}})
    with pytest.raises(UnknownNameError, match="unknown homograph 'bats'; did you mean 'bat'"):
        lexicon.clusters("bats")
    with pytest.raises(InputError, match="row 1: expected a homograph of the lexicon, got 'rat'"):
        lexicon.check("rat", "1", "row 1")
    with pytest.raises(InputError, match=r"row 1: expected a cluster of 'bat' \(1\), got '9'"):
        lexicon.check("bat", "9", "row 1")


def test_pairs_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    assert homographs.write_pairs(path, [PAIR, PAIR]) == 2
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert list(homographs.read_pairs(path)) == [PAIR, PAIR]
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.jsonl"]


_NO_POSITION = json.dumps({**asdict(PAIR), "start": 99})
_NO_TOKEN = json.dumps({**asdict(PAIR), "token": True})


@cases(
    ("{", "line 2: expected a JSON object, got .*; write the file with"),
    ("[]", "line 2: expected a JSON object, got .*; write the file with"),
    ('{"id": "1"}', "line 2: expected the key 'source', got .*; write the file with"),
    ('{"id": 1}', "line 2: id: expected a text, got 1"),
    (_NO_POSITION, "line 2: expected the position of 'bat' in the source, got start 99"),
    (_NO_TOKEN, "line 2: token: expected a whole number from 0, got True"),
)
def test_a_line_that_is_no_pair_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "pairs.jsonl", [json.dumps(asdict(PAIR)), line])
    refuses(message, list, homographs.read_pairs(path))


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder .*no folder does not exist"):
        homographs.write_rows(tmp_path / "no folder" / "pairs.jsonl", [])
    (tmp_path / "pairs.jsonl").mkdir()
    refuses(
        r"pairs\.jsonl could not be written", homographs.write_rows, tmp_path / "pairs.jsonl", []
    )


def test_a_second_writer_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"

    def rows() -> Iterator[dict[str, int]]:
        refuses(r"no other run is writing, got .*pairs\.jsonl", homographs.write_rows, path, [])
        yield {"n": 1}

    assert homographs.write_rows(path, rows()) == 1
    assert path.read_text(encoding="utf-8") == '{"n": 1}\n'
