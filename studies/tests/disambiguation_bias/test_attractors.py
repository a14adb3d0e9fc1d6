"""Attractors, bias of sentences and lexicons, and the section of the report that shows them."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import datasets
import pytest
from cc_hf_studies.disambiguation_bias import homographs
from cc_hf_studies.disambiguation_bias.attractors import (
    AttractorTable,
    attractor_words,
    count_attractors,
    published_stop_words,
    read_stop_words,
    read_table,
)
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair, write_pairs
from cc_hf_studies.disambiguation_bias.report_figures import (
    attractors_of_homographs,
    errors_by_bias,
)
from cc_hf_studies.disambiguation_bias.sentences import (
    BiasColumns,
    SentenceBias,
    score_file,
    scored_rows,
    sentence_bias,
)

from cc_hf.errors import UnknownNameError
from cc_hf.reports.formats.latex import latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.side_by_side import SystemFigure, read_contents, side_by_side
from cc_hf.schema import Focus, Judgement, ProbingExample
from studies.tests.disambiguation_bias.corpus import LEXICON
from tests.helpers.browser import Page
from tests.helpers.usual import (
    cases,
    fails,
    limits,
    read_jsonl,
    refuses,
    result_of,
    write_jsonl,
    write_lines,
    write_result,
    write_text,
)

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
    refuses(
        r"table.json: expected a table of `cc-hf study",
        read_table,
        write_lines(tmp_path / "table.json", ["[]"]),
    )


def test_published_stop_words_leave_the_attractors_of_the_thesis() -> None:
    table_3_4 = {"summer", "winter", "come", "hot", "water", "find", "like", "back", "thing"}
    assert not table_3_4 & set(published_stop_words("en"))
    assert {"das", "der"} <= set(published_stop_words("de"))
    fails(UnknownNameError, r"words 'lt'.*give a file of stop words", published_stop_words, "lt")


def test_stop_words_are_lines_or_a_list(tmp_path: Path) -> None:
    for text in ("The\n\nand", '["the", "And"]'):
        assert read_stop_words(write_lines(tmp_path / "words", [text])) == ("the", "and")
    for text in ("", "[1]"):
        refuses(
            "words: expected stop words, one per line",
            read_stop_words,
            write_lines(tmp_path / "words", [text]),
        )


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
        refuses(
            r"p.jsonl: pair 5: expected a homograph and a cluste",
            list,
            scored_rows([row], BiasColumns(NIGHT_TABLE), where="p.jsonl"),
        )


def test_columns_are_added_by_map() -> None:
    names = ("source", "homograph", "cluster")
    dataset = datasets.Dataset.from_list([{n: getattr(r, n) for n in names} for r in ROWS])
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
    refuses(
        r"the folder .*no folder does not exist",
        homographs.write_rows,
        tmp_path / "no folder" / "pairs.jsonl",
        [],
    )
    (tmp_path / "a.jsonl").mkdir()
    refuses(r"a\.jsonl could not be written", homographs.write_rows, tmp_path / "a.jsonl", [])


def test_a_second_writer_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"

    def rows() -> Iterator[dict[str, int]]:
        refuses(r"no other run is writing, got .*pairs\.jsonl", homographs.write_rows, path, [])
        yield {"n": 1}

    assert homographs.write_rows(path, rows()) == 1
    assert path.read_text(encoding="utf-8") == '{"n": 1}\n'


N = 20
_BAT_COUNTS = {"1": Counter(ball=9, hit=4, the=2), "2": Counter(cave=5), "3": Counter[str]()}
_SIZES = {"bat": {"1": 12, "2": 5, "3": 0}, "spring": {"1": 3}}
_BATS = AttractorTable({"bat": _BAT_COUNTS, "spring": {"1": Counter(summer=3)}}, _SIZES)


def example(number: int, *, has_bias: bool = True) -> ProbingExample:
    word = "bat" if number < 15 else "spring"
    senses = '{"1": ["Schlagholz", "Schläger"], "2": ["Fledermaus"]}'
    bias = {"freq_diff": str(number - 10), "length": "12"} if has_bias else {}
    extra = {"homograph": word, "cluster": "1", "senses": senses, **bias}
    return ProbingExample(str(number), "en", "de", f"A {word}.", "all", "1", Focus(word, 2), extra)


def system(name: str, n_errors: int, n_open: int = 0) -> ReportedSystem:
    verdicts = ["correct"] * (N - n_errors - n_open)
    verdicts += ["inconclusive"] * n_open + ["incorrect"] * n_errors
    rows = [Judgement(str(i), "all", v == "correct", "x", v) for i, v in enumerate(verdicts)]
    scores = {"accuracy": verdicts.count("correct") / N, "flip_rate": n_errors / N}
    origin = {"dataset": "custom", "config": "set", "signature": "homograph|data:custom/set@1"}
    metric = "homograph_accuracy"
    return ReportedSystem(name, {metric: result_of(rows, metric=metric, scores=scores, **origin)})


def report(*systems: ReportedSystem, has_bias: bool = True, has_table: bool = True) -> Report:
    rows = [example(i, has_bias=has_bias) for i in range(N)]
    inputs = {"attractors": _BATS} if has_table else {}
    return build_report(systems, examples=rows, n_resamples=20, section_inputs=inputs)


def test_errors_are_grouped_by_bias() -> None:
    (errors,) = errors_by_bias(report(system("a", 5), system("b", 4, 6), system("none", 0)))
    assert errors.metric == "homograph_accuracy"
    assert [group.errors.k for group in errors.groups["a"]] == [0] * 7 + [1, 2, 2]
    assert [group.errors.n for group in errors.groups["b"]] == [2] * 10
    assert errors.predictions["a"].tests[0].test.rank_biserial == 1
    assert set(errors.predictions) == {"a", "b"}  # there is nothing to predict without errors


def test_homographs_with_most_errors_come_first() -> None:
    first, second = attractors_of_homographs(report(system("a", 9)))
    assert (first.homograph, first.n_errors) == ("spring", 5)
    assert (second.homograph, second.n_errors) == ("bat", 4)
    assert second.senses["1"] == ("Schläger", "Schlagholz")
    assert second.words["freq"]["1"] == (("ball", 9.0), ("hit", 4.0), ("the", 2.0))


def test_bias_is_computed_from_the_table_where_examples_do_not_hold_it() -> None:
    (errors,) = errors_by_bias(report(system("a", 5), has_bias=False))
    assert sum(group.errors.n for group in errors.groups["a"]) == N
    assert [test.feature for test in errors.predictions["a"].tests][-1] == "length"


def test_other_data_have_no_bias() -> None:
    plain = report(system("a", 5), has_bias=False, has_table=False)
    assert (errors_by_bias(plain), attractors_of_homographs(plain)) == ((), ())
    assert "Error rate by bias" not in html_page(plain) + markdown_report(plain)


def test_every_format_shows_error_rates_correlations_and_attractors() -> None:
    contents = report(system("a", 5), system("<b>", 4, 6))
    page = html_page(contents)
    assert '<section id="bias"' in page
    assert "&lt;b&gt;, -10 to -9: 0.0 % (" in page
    parts = ["Schläger, Schlagholz", "ball 9, hit 4", "length (control)", "Attractors of bat"]
    parts.append("Does bias predict errors? Homograph accuracy")
    for text in (page, markdown_report(contents)):
        assert [part for part in parts if part not in text] == []
    assert "Attractors of bat" in latex_report(contents)


def test_without_bias_only_the_tables_have_attractors() -> None:
    rows = [replace(e, extra={"homograph": "bat"}) for e in map(example, range(N))]
    inputs: Any = {"section_inputs": {"attractors": _BATS}, "n_resamples": 20}
    contents = build_report([system("a", 5)], examples=rows, **inputs)
    assert "Attractors of bat" in markdown_report(contents)
    assert "Attractors of bat" not in html_page(contents)


def test_a_system_without_errors_has_no_correlations() -> None:
    text = markdown_report(report(system("a", 0)))
    assert "Error rate by bias" in text
    assert "Does bias predict errors" not in text


def test_the_section_fits_on_narrow_and_wide_screens(page: Page) -> None:
    page.set_content(html_page(report(system("a", 5), system("a system with a long name", 9))))
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def shares(tables: Any, figure: str) -> dict[tuple[str, str], float]:
    return {key: round(cell.value, 4) for key, cell in tables[figure].items()}


def test_errors_on_challenge_sets_are_divided_by_those_on_the_random_one(tmp_path: Path) -> None:
    files = []
    known = {"correct": "1", "inconclusive": "unknown"}
    for name, wrong in {"most_biased": 30, "random": 5}.items():
        verdicts = ["incorrect"] * wrong + ["inconclusive"] * 10 + ["correct"] * (90 - wrong)
        rows = [(str(i), "rare", v == "correct", "t", v) for i, v in enumerate(verdicts)]
        judgements = [Judgement(*row, predicted=known.get(row[-1], "2")) for row in rows]
        fields = {"dataset": "sets", "config": name, "metric": "homograph_accuracy"}
        result = result_of(judgements, **fields, system="mt", signature="h|n:100")
        files.append(write_result(tmp_path, name, result))
    tables = side_by_side(read_contents(files)).tables
    assert sorted(shares(tables, "flipped senses (homograph accuracy)").values()) == [0.05, 0.3]
    (cell,) = tables["flipped senses, times those of the random set"].values()
    assert cell.value == pytest.approx(6)  # the thesis has 6.1 for a set of 3,000
    # by hand from Wilson's limits, .2189 to .3958 and .0215 to .1118, of independent samples
    assert limits(cell.interval) == pytest.approx((2.506, 14.44), abs=0.005)


def attack_file(folder: Path, data: str, k: int, n: int = 100) -> Path:
    total = {"n": n, "n_success": k, "rate": k / n, "interval": {"reason": "one seed"}}
    judge = {"total": total, "by_kind": [{"name": "insert_at_homograph", **total}]}
    row = {"study": "disambiguation_bias/attack", "system": "mt", "data": data}
    return write_text(folder / f"mt.{data}.json", json.dumps({**row, "judges": {"lexicon": judge}}))


def test_attacks_are_divided_by_those_of_the_random_set(tmp_path: Path) -> None:
    files = [attack_file(tmp_path, data, k) for data, k in (("hard", 17), ("random", 4))]
    tables = side_by_side(read_contents(files)).tables
    rates = shares(tables, "attacks that succeed (lexicon)")
    assert rates == {("hard", "mt"): 0.17, ("random", "mt"): 0.04}
    ratios = shares(tables, "attacks that succeed (lexicon), times those of the random set")
    assert ratios == {("hard", "mt"): 4.25}
    without = side_by_side(read_contents([attack_file(tmp_path, "random", 0), files[0]])).tables
    by_kind = "attacks that succeed (lexicon) by kind of change"
    # nothing is divided by 0
    assert list(without) == ["attacks that succeed (lexicon)", by_kind]
    assert shares(tables, by_kind) == {("hard, IH", "mt"): 0.17, ("random, IH", "mt"): 0.04}


def test_correlations_are_marked(tmp_path: Path) -> None:
    row = {"feature": "freq_diff", "test": {"rank_biserial": 0.5, "p_value": 0.01}}
    content = {"study": "disambiguation_bias/correlate", "data": "wmt", "tests": [row]}
    path = write_text(tmp_path / "transformer.json", json.dumps(content))
    figure = "freq_diff and errors, RBC"
    cell = SystemFigure("transformer", "wmt", figure, 0.5, is_share=False, mark="*")
    assert side_by_side(read_contents([path])).tables == {figure: {("wmt", "transformer"): cell}}
    path.write_text(json.dumps(content | {"tests": [{}]}), encoding="utf-8")
    refuses(r"transformer.json: .*feature", side_by_side, read_contents([path]))
