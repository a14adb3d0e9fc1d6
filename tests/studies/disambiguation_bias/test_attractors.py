import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import datasets
import pytest

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.studies.disambiguation_bias import homographs
from cc_hf.studies.disambiguation_bias.attractors import (
    AttractorTable,
    attractor_words,
    count_attractors,
    published_stop_words,
    read_stop_words,
    read_table,
)
from cc_hf.studies.disambiguation_bias.homographs import TaggedPair, write_pairs
from cc_hf.studies.disambiguation_bias.sentences import (
    BiasColumns,
    SentenceBias,
    score_file,
    scored_rows,
    sentence_bias,
)
from tests.helpers.usual import cases, fails, read_jsonl, refuses, write_jsonl, write_lines
from tests.studies.disambiguation_bias.corpus import LEXICON

COUNTS = {"bat": {"1": Counter(ball=3, hit=1), "2": Counter(night=2, hit=2), "3": Counter()}}
TABLE = AttractorTable(COUNTS, {"bat": {"1": 4, "2": 2, "3": 0}})


def pair(source: str, cluster: str, homograph: str = "bat") -> TaggedPair:
    return TaggedPair("7", source, "...", homograph, 0, 0, cluster, "...")


def test_forms_of_the_homograph_short_words_and_stop_words_are_no_attractors() -> None:
    text = "A bat, 2 BATS and it's Bat-Man: a_b."
    assert attractor_words(text, "bat", lang="en", stop_words={"and"}) == ["it's", "man", "a_b"]
    assert attractor_words("bats", "bat", lang="en", lemmatizer="none") == ["bats"]
    assert attractor_words("It &apos;s a bat @-@ cave", "bat", lang="en") == ["it", "cave"]


def test_occurrences_are_counted_not_sentences() -> None:
    table = count_attractors([pair("ball ball bat", "1"), pair("ball", "1"), pair("fly", "2")])
    assert table.counts == {"bat": {"1": {"ball": 3}, "2": {"fly": 1}}}
    assert table.n_pairs == {"bat": {"1": 2, "2": 1}}


def test_a_table_with_a_lexicon_has_all_its_senses() -> None:
    table = count_attractors([pair("ball", "1")], lexicon=LEXICON)
    assert (table.clusters("spring"), table.n_pairs["spring"]) == (("1", "2"), {"1": 0, "2": 0})
    assert table.lexicon == LEXICON.sha256


@cases(
    ([], "expected at least one sentence pair with a homograph"),
    ([pair("x", "1", "rat")], "pair 7: expected a homograph of the lexicon, got 'rat'"),
    ([pair("x", "9")], r"pair 7: expected a cluster of 'bat' \(1, 2\), got '9'"),
)
def test_pairs_that_do_not_fit_are_refused(pairs: list[TaggedPair], message: str) -> None:
    refuses(message, count_attractors, pairs, lexicon=LEXICON)


def test_ppmi_is_the_logarithm_of_a_ratio_of_relative_frequencies() -> None:
    ratio = (1 / 8) / (3 / 8 * 4 / 8)
    for options, expected in (
        ({"association": "freq"}, 1.0),
        ({"association": "pmi"}, math.log2(ratio)),
        ({"association": "ppmi"}, 0.0),
        ({"association": "ppmi", "log": False}, ratio),
    ):
        assert TABLE.association("bat", "1", "Hit", **options) == pytest.approx(expected)


def test_smoothing_is_added_to_every_cell_of_the_senses_that_occur() -> None:
    ratio = (11 / 68) / (23 / 68 * 34 / 68)
    assert TABLE.association("bat", "1", "hit", "pmi", 10) == pytest.approx(math.log2(ratio))


def test_a_word_that_never_occurred_with_a_sense_has_no_bias_towards_it() -> None:
    assert TABLE.association("bat", "2", "ball", "ppmi", 10) == 0
    assert TABLE.association("bat", "3", "ball") == 0


def test_the_strongest_attractors_are_ordered_by_strength_frequency_and_name() -> None:
    assert TABLE.strongest("bat", n=1) == {"1": (("ball", 3.0),), "2": (("hit", 2.0),), "3": ()}
    assert TABLE.strongest("bat", association="ppmi", min_count=2)["2"][0] == ("night", 1.0)


def test_options_that_are_not_known_are_refused() -> None:
    fails(UnknownNameError, "homograph 'bad'; did you mean 'bat'", TABLE.associations, "bad")
    fails(UnknownNameError, "unknown cluster of 'bat' '9'", TABLE.association, "bat", "9", "ball")
    refuses("expected one of freq, ppmi, pmi", TABLE.associations, "bat", association="tfidf")
    for smoothing in (-1, math.inf, math.nan):
        refuses("smoothing: expected 0 or more", TABLE.associations, "bat", smoothing=smoothing)


TAGGING = "tag|corpus:abcdefg|langs:en-de|parser:none|rule:program|v:0"
ORIGIN: dict[str, Any] = {"lexicon": LEXICON, "corpus": "abcdefghi", "tagging": TAGGING}
FULL = count_attractors([pair("ball ball", "1")], stop_words={"the"}, **ORIGIN)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_table(write_lines(tmp_path / "table.json", [FULL.to_json()])) == FULL


def test_the_signature_names_everything_that_a_bias_depends_on() -> None:
    signature = FULL.signature(associations=("freq", "ppmi"), smoothing=100, log=False)
    assert signature.startswith(
        "bias|corpus:abcdefg|lexicon:0123456|langs:en-de|parser:none|rule:program|lemmas:simplemma"
    )
    assert "|stop:1.b9776d7|association:freq+ppmi|smoothing:100|log:none|n:1|" in signature
    assert "smoothing" not in TABLE.signature()
    assert "|stop:none|" in TABLE.signature()


@cases(
    ({"counts": 1}, "counts: expected an object, got 1"),
    ({"n_pairs": {"bat": 1}}, "n_pairs: bat: expected an object, got 1"),
    ({"n_pairs": {"bat": {"1": "2"}}}, "n_pairs: bat: 1: expected a whole number from 0"),
    ({"n_pairs": {}}, "'bat': expected clusters under counts, and numbers of the same"),
    ({"n_pairs": {"bat": {"9": 1}}}, "'bat': expected clusters under counts"),
    ({"counts": {"bat": {"1": {"ball": 0}}}}, "bat: 1: ball: expected a whole number from 1"),
    ({"counts": {"bat": {"1": {"ball": 1e30}}}}, "bat: 1: ball: expected a whole number"),
    ({"stop_words": [1]}, "stop_words: item 1: expected a text, got 1"),
    ({"lexicon": None}, "lexicon: expected a text, got None"),
)
def test_a_damaged_table_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    row = json.dumps(json.loads(TABLE.to_json()) | change)
    refuses(f"table.json: .*{message}", read_table, write_lines(tmp_path / "table.json", [row]))


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"table.json: expected a table of `cc-hf study"):
        read_table(write_lines(tmp_path / "table.json", ["[]"]))


def test_published_stop_words_leave_the_attractors_of_the_thesis() -> None:
    table_3_4 = {"summer", "winter", "come", "hot", "water", "find", "like", "back", "thing"}
    assert not table_3_4 & set(published_stop_words("en"))
    assert {"das", "der"} <= set(published_stop_words("de"))
    fails(UnknownNameError, r"words 'lt'.*give a file of stop words", published_stop_words, "lt")


def test_stop_words_are_lines_or_a_list(tmp_path: Path) -> None:
    for text in ("The\n\nand", '["the", "And"]'):
        assert read_stop_words(write_lines(tmp_path / "words", [text])) == ("the", "and")
    for text in ("", "[1]"):
        with pytest.raises(InputError, match="words: expected stop words, one per line"):
            read_stop_words(write_lines(tmp_path / "words", [text]))


NIGHTS = {"bat": {"1": Counter(ball=3), "2": Counter(night=6, ball=1), "3": Counter()}}
NIGHT_TABLE = AttractorTable(NIGHTS, {"bat": {"1": 3, "2": 6}}, lexicon="0a")
ROWS = [
    TaggedPair("0", "A ball hit the bat .", "...", "bat", 15, 4, "1", "..."),
    TaggedPair("1", "A bat at night", "...", "bat", 2, 1, "1", "..."),
    TaggedPair("2", "A bat", "...", "bat", 2, 1, "3", "..."),
]


def test_all_tokens_count_and_repeated_words_count_twice() -> None:
    bias = sentence_bias(NIGHT_TABLE, "Ball, ball and bat!", "bat", "1")
    assert bias == SentenceBias(right=1.0, wrong=2 / 6, wrong_cluster="2")
    assert bias.diff == pytest.approx(-4 / 6)


def test_the_strongest_wrong_sense_is_found_for_each_association() -> None:
    sentence = (NIGHT_TABLE, "night ball ball ball ball", "bat", "3")
    biases = [sentence_bias(*sentence, association=name) for name in ("freq", "ppmi")]
    assert [bias.wrong_cluster for bias in biases] == ["1", "1"]
    assert biases[0].wrong == 12 / 5
    assert biases[1].wrong > 0


def test_a_sentence_without_words_or_attractors_has_no_bias() -> None:
    assert sentence_bias(NIGHT_TABLE, "", "bat", "1") == SentenceBias(0.0, 0.0, "2")
    alone = AttractorTable({"bat": {"1": Counter(ball=1)}}, {"bat": {"1": 1}})
    assert sentence_bias(alone, "ball", "bat", "1") == SentenceBias(1.0, 0.0, "")
    assert sentence_bias(alone, "ball", "bat", "2") == SentenceBias(0.0, 1.0, "1")


def test_a_homograph_or_cluster_that_is_not_in_the_table_is_refused() -> None:
    for homograph, cluster, message in (
        ("cat", "1", "unknown homograph 'cat'; did you mean 'bat'"),
        ("bat", "9", "unknown cluster of 'bat' '9'"),
    ):
        fails(UnknownNameError, message, sentence_bias, NIGHT_TABLE, "x", homograph, cluster)
        row = TaggedPair("5", "x", "...", homograph, 0, 0, cluster, "...")
        with pytest.raises(InputError, match=r"p.jsonl: pair 5: expected a homograph and a cluste"):
            list(scored_rows([row], BiasColumns(NIGHT_TABLE), where="p.jsonl"))


def test_columns_are_added_by_map() -> None:
    dataset = datasets.Dataset.from_list(
        [{"source": r.source, "homograph": r.homograph, "cluster": r.cluster} for r in ROWS]
    )
    mapped = dataset.map(BiasColumns(NIGHT_TABLE, ("freq", "pmi")), batched=True, batch_size=2)
    columns = product(("freq", "pmi"), ("right", "wrong", "wrong_cluster", "diff"))
    assert mapped.column_names[3:] == ["_".join(column) for column in columns]
    assert mapped["freq_diff"][:] == [1 / 6 - 3 / 6, 6 / 4, 0.0]


def test_a_file_is_scored_in_batches(tmp_path: Path) -> None:
    pairs, output = tmp_path / "pairs.jsonl", tmp_path / "rows.jsonl"
    write_pairs(pairs, ROWS * 800)
    means, largest = score_file(pairs, BiasColumns(NIGHT_TABLE), output=output, top=2)
    rows = read_jsonl(output)
    assert (len(rows), rows[1]["freq_diff"]) == (2400, 1.5)
    assert [row["id"] for row in largest] == ["1", "1"]
    assert means["freq"]["right"] == pytest.approx((0.5 + 0 + 0) / 3)
    assert score_file(pairs, BiasColumns(NIGHT_TABLE), top=0) == (means, [])


def test_a_file_without_pairs_is_refused(tmp_path: Path) -> None:
    pairs = write_lines(tmp_path / "pairs.jsonl", [""])
    refuses(r"pairs.jsonl: .* got none; tag", score_file, pairs, BiasColumns(NIGHT_TABLE))


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
    fails(UnknownNameError, "homograph 'bats'; did you mean 'bat'", lexicon.clusters, "bats")
    refuses("1: expected a homograph of the lexicon, got 'rat'", lexicon.check, "rat", "1", "row 1")
    refuses(r"1: expected a cluster of 'bat' \(1\), got '9'", lexicon.check, "bat", "9", "row 1")


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
    (tmp_path / "a.jsonl").mkdir()
    refuses(r"a\.jsonl could not be written", homographs.write_rows, tmp_path / "a.jsonl", [])


def test_a_second_writer_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"

    def rows() -> Iterator[dict[str, int]]:
        refuses(r"no other run is writing, got .*pairs\.jsonl", homographs.write_rows, path, [])
        yield {"n": 1}

    assert homographs.write_rows(path, rows()) == 1
    assert path.read_text(encoding="utf-8") == '{"n": 1}\n'
