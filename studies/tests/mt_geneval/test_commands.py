import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.mt_geneval.counts import MUST_SHE, DataCounts, count_data, count_must_she
from cc_hf_studies.mt_geneval.ratings import REFERENCE, draw_contextual_sample, rate_genders
from cc_hf_studies.mt_geneval.sentence_gaps import sentence_gaps
from cc_hf_studies.mt_geneval.tables import ratings_json
from sacrebleu import sentence_bleu, sentence_chrf

from cc_hf.schema import Judgement
from studies.tests.mt_geneval import samples
from tests.helpers.usual import (
    cases,
    cells_beside,
    fill,
    known,
    limits,
    printed_by,
    refuses,
    result_of,
    write_lines,
    write_result,
)


def run(line: str) -> str:
    return printed_by(f"study mt_geneval {line}", columns=400)


def with_examples(monkeypatch: pytest.MonkeyPatch, rows: list[Any]) -> None:
    monkeypatch.setattr("cc_hf.data.loading.load_examples", lambda *args, **options: rows)


def test_from_results_to_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_examples(monkeypatch, samples.contextual_examples())
    write_result(tmp_path, "bad", samples.contextual_result("bad", "Der Arzt", "incorrect"))
    run("build-sheets bad.json -o sheets --key key.json --n 2")
    sheets = sorted(Path("sheets").glob("*.csv"))
    for sheet in sheets:
        fill(sheet, lambda row: ["Correct" if "Ärztin" in row["Translation"] else "incorrect"])
    command = f"gender-ratings key.json {' '.join(map(str, sheets))}"
    row = json.loads(run(f"{command} --json"))
    assert [system["accuracy"] for system in row["systems"]] == [0.0, 1.0]
    assert row["systems"][0]["f_scores"] == {"Correct": None, "Incorrect": 1.0}
    assert row["systems"][0]["by_category"]["neutral/male"] == {"n": 2, "n_accepted": 0}
    assert row["published"]["f_score"] == 0.82
    run(f"{command} -o ratings.json")
    beside = cells_beside("mt_geneval", "ratings.json")
    assert beside["Table 7"] == {"alpha": 1.0, "alpha of references": 1.0}
    printed = run(command)
    assert "Krippendorff's alpha of the raters: 1.00 on systems, 1.00 on references" in printed
    assert "Tables 5 and 7: systems 52.3, 51.3, 54.0, references 92.2" in printed
    message = "form: expected one of word-senses, occupation-genders, got 'gender-in"
    refuses(
        message, printed_by, f"compare --by rater bad.json --labels key.json --labels {sheets[0]}"
    )


def test_languages_without_printed_ratings_have_none_in_the_json() -> None:
    key = samples.drawn()
    ratings = rate_genders(key, [samples.answers(key, lambda c, t: True)] * 2)
    assert ratings_json(replace(ratings, data=("", "", "nl")))["published"] is None


def test_sentence_gaps_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_examples(monkeypatch, samples.gap_examples())
    command = f"sentence-gaps {write_result(tmp_path, 'r', samples.gap_result())}"
    row = json.loads(run(f"{command} --n 1 --json"))
    assert [gap["pair"] for gap in (*row["largest"], *row["smallest"])] == ["3", "1"]
    printed = run(f"{command} --score chrf")
    assert "2 of 4 pairs are translated better about men, 1 about women" in printed
    assert "→ Nichts davon" in printed
    refuses("expected a result with judgements by comet, got", run, f"{command} --metric comet")
    judgements = [Judgement("0", "MoMc", True, "t", "correct")]
    path = write_result(tmp_path, "w", result_of(judgements, dataset="simplegen"))
    refuses("got one on simplegen", run, f"sentence-gaps {path}")


def test_counts_are_shown_beside_the_printed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [samples.marked_example("female", "<F>She</F> won.", "<F>Sie</F> siegte.")]
    with_examples(monkeypatch, rows)
    german, italian = json.loads(run("gendered-words de it --json"))
    assert (german["n_instances"], german["published"]["n_source_words"]) == (1, 6604)
    assert italian["published"] is None
    assert DataCounts(1, 3, 1, 3, 1).n_source_words == italian["n_source_words"]
    printed = " ".join(run("gendered-words").split())
    for text in ("de, Table 12", "11,194", "WinoMT, Table 12 1,944 1,883 - - -"):
        assert text in printed
    assert "de, Table 12 " not in run("gendered-words --split test").split("words:")[0]


def test_words_and_phrases_are_counted_once_in_lower_case() -> None:
    female = ("<F>She</F> saw that <F>she</F> won.", "<F>Die alte Frau</F> kam.")
    male = ("<F>He</F> saw it.", '"<F>Der ""alte"" Mann</F> kam."')
    rows = [samples.marked_example("female", *female), samples.marked_example("male", *male)]
    counts = count_data(rows)
    assert counts == DataCounts(1, 7, 2, counts.n_target_words, 2)


def test_other_examples_are_refused() -> None:
    refuses("examples: expected at least one", count_data, [])
    refuses(
        r"example '0\.female': expected a configuration counterf",
        count_data,
        [samples.counterfactual("0.female", "She")],
    )


def must_she(folder: Path, *rows: str) -> Path:
    cells = [row.split("|") for row in (f"ID|{'|'.join(MUST_SHE)}", *rows)]
    return write_lines(folder / "must_she.tsv", ["\t".join(row) for row in cells])


def test_must_she_is_counted_beside_its_printed_row(tmp_path: Path) -> None:
    path = must_she(
        tmp_path,
        "1|FR|She left.|Elle est partie.|partie parti",
        "2|FR|She is sad.|Elle est allée seule.|allée allé;seule seul;",
    )
    assert count_must_she(path) == {"MuST-SHE fr": DataCounts(2, 5, None, 6, 3)}
    command = f"study mt_geneval gendered-words {path}"
    assert "1,456" in printed_by(command)
    (row,) = json.loads(printed_by(f"{command} --json"))
    assert (row["tgt_lang"], row["n_target_phrases"]) == ("fr", 3)
    assert row["published"]["n_target_phrases"] == 1456


def test_terms_without_a_wrong_form_are_refused(tmp_path: Path) -> None:
    path = must_she(tmp_path, "1|FR|She left.|Elle est partie.|partie")
    refuses("line 2: GENDERTERMS: expected two words", count_must_she, path)


def test_every_category_has_as_many_sources_with_all_translations() -> None:
    key = samples.drawn()
    origins = [origin for row in key.rows for origin in row.origins]
    counts = Counter((o["system"], o["category"]) for o in origins)
    assert (set(counts.values()), len(counts)) == ({3}, 6)
    for system in ("good", "bad", REFERENCE):
        ids = [o["example_id"] for o in origins if o["system"] == system]
        assert sorted(ids) == sorted({o["example_id"] for o in origins})
    assert {o["verdict"] for o in origins if o["system"] == REFERENCE} == {""}
    assert samples.drawn() == key
    assert samples.drawn(seed=1) != key
    assert len({o["example_id"] for row in samples.drawn(n=50).rows for o in row.origins}) == 8


def test_a_translation_like_the_reference_is_judged_once() -> None:
    key = samples.drawn()
    assert sorted(len(row.origins) for row in key.rows) == [1] * 6 + [2] * 6
    context, source, translation = key.rows[0].cells
    assert context.startswith("She is tall")
    assert source.split()[2] == translation.split()[2]


def test_figures_are_those_of_the_rater_who_accepts_most_references() -> None:
    key = samples.drawn()
    female, male = samples.CATEGORIES
    strict = samples.answers(key, lambda of, text: of == female and "Ärztin" in text)
    kind = samples.answers(key, lambda of, text: of == male or "Ärztin" in text)
    ratings = rate_genders(key, [strict, kind])
    assert (ratings.preferred, ratings.n_accepted) == (2, (3, 6))
    bad, good, reference = ratings.systems
    assert (bad.name, good.name, reference.name) == ("bad", "good", REFERENCE)
    assert (bad.accuracies, bad.accuracy) == ((0.0, 0.5), 0.5)
    assert (good.accuracies, reference.accuracies) == ((0.5, 1.0), (0.5, 1.0))
    assert bad.by_category == {female: (3, 0), male: (3, 3)}
    assert limits(bad.interval)[0] < 0.5 < limits(bad.interval)[1]
    assert bad.f_scores == {"Correct": 0.0, "Incorrect": pytest.approx(2 / 3)}
    assert known(good.f_scores)["Correct"] == 1.0
    assert reference.f_scores is None
    assert ratings.f_scores == {"Correct": 0.5, "Incorrect": pytest.approx(2 / 3)}
    assert ratings.alpha < 1
    assert ratings.data == ("mt_geneval", "contextual_de", "de")
    assert rate_genders(key, [kind, kind]).preferred == 1
    assert rate_genders(key, [kind, kind]).alpha == 1.0


@cases(
    ({}, samples.contextual_examples(), 1, "results: expected those of at least one system"),
    (
        {"a": samples.contextual_result("a", "x", "correct")},
        samples.contextual_examples(),
        0,
        "n: expected at least 1",
    ),
    (
        {REFERENCE: samples.contextual_result("a", "x", "correct")},
        samples.contextual_examples(),
        1,
        "another name for the system",
    ),
    (
        {"a": samples.contextual_result("a", "x", "correct")},
        samples.contextual_examples(9),
        9,
        "a: .* got none of '8'",
    ),
    (
        {"a": samples.contextual_result("a", "x", "correct")},
        [replace(samples.contextual_examples()[0], extra={})],
        1,
        "example '0': expected the test split of",
    ),
    (
        {"a": samples.contextual_result("a", "x", "correct")},
        [replace(samples.contextual_examples()[0], category="unknown")],
        1,
        "example '0': expected the test split",
    ),
    (
        {
            "a": samples.contextual_result("a", "x", "correct"),
            "b": samples.contextual_result("b", "y", "correct", tgt_lang="fr"),
        },
        samples.contextual_examples(),
        1,
        "results: expected those of the same data",
    ),
)
def test_what_cannot_be_drawn_is_refused(results: Any, rows: Any, n: int, message: str) -> None:
    refuses(message, draw_contextual_sample, results, rows, n=n)


def test_a_key_without_references_is_refused() -> None:
    key = samples.drawn()
    rows = tuple(row for row in key.rows if row.origins[0]["system"] == "bad")
    refuses(
        "key: expected references and at least one system",
        rate_genders,
        replace(key, rows=rows),
        [samples.answers(key, lambda *_: True)] * 2,
    )


def test_the_largest_and_the_smallest_gaps_come_first() -> None:
    gaps = sentence_gaps(samples.gap_result(), samples.gap_examples())
    assert (gaps.n_pairs, gaps.n_male, gaps.n_female) == (4, 2, 1)
    few = sentence_gaps(samples.gap_result(), samples.gap_examples(), n=1)
    sides = (gaps.largest, gaps.smallest, few.largest)
    assert [[gap.pair for gap in side] for side in sides] == [["3", "0"], ["1"], ["3"]]
    assert gaps.largest[0].translations == samples.TRANSLATIONS[3]
    assert gaps.largest[0].sources == ("He left.", "She left.")
    assert gaps.signature.startswith("gaps|data:mt_geneval/counterfactual_de@1|langs:en-de|bleu:")
    assert "eff=yes" in gaps.signature


def test_scores_are_those_of_sacrebleu() -> None:
    for score, compute in (("bleu", sentence_bleu), ("chrf", sentence_chrf)):
        gaps = sentence_gaps(samples.gap_result(), samples.gap_examples(), score=score)
        for gap in (*gaps.largest, *gaps.smallest):
            pairs = zip(gap.translations, gap.references, strict=True)
            expected = [compute(text, [reference]).score / 100 for text, reference in pairs]
            assert gap.scores == pytest.approx(expected)
            assert gap.gap == pytest.approx(expected[0] - expected[1])


_SIGNATURE = samples.gap_result().signature.replace("_de", "_de[first 4]")
_FIRST = {"judgements": samples.gap_result().judgements[:4], "signature": _SIGNATURE}
_LIMITED = "of a limited number of sentences, 4 of 8; evaluate all"
_ROWS = samples.gap_examples()


@cases(
    ({}, _ROWS, {"n": 0}, "n: expected at least 1"),
    ({}, _ROWS, {"score": "ter"}, "score: expected one of bleu, chrf, got 'ter'"),
    ({"tgt_lang": "ja"}, _ROWS, {}, "spaces"),
    ({"judgements": ()}, _ROWS, {}, r"got none of '0\.male'; use the result"),
    (_FIRST, _ROWS, {}, rf"got none of '2\.male'; the result is {_LIMITED}"),
    ({}, _ROWS[:-1], {}, "pair '3': expected a sentence of each gender, got male"),
    ({}, [replace(_ROWS[0], extra={})], {}, r"example '0\.male': expected a config"),
)
def test_what_has_no_gaps_is_refused(changes: Any, rows: Any, options: Any, message: str) -> None:
    refuses(message, sentence_gaps, samples.gap_result(**changes), rows, **options)
