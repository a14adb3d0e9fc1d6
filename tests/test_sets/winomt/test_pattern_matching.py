import functools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_hf.errors import DataError
from cc_hf.normalization import composed, is_blank
from cc_hf.schema import ContrastiveSourceExample, Focus, ProbingExample
from cc_hf.text.alignment import GivenAlignments
from tests.helpers.usual import (
    cases,
    compute_metric,
    evaluate_metric,
    fails,
    metric_class,
    refuses,
    write_text,
)

DECLARATION = metric_class("winomt_pattern_matching")
compute = functools.partial(compute_metric, "winomt_pattern_matching")
evaluate = functools.partial(evaluate_metric, "winomt_pattern_matching")

_COOK = {"source": "Then the cook left.", "occupation": "cook", "occupation_index": 2}
GOOD: dict[str, Any] = {**_COOK, "gold_gender": "female", "stereotype": "pro"}
MALE = {**GOOD, "gold_gender": "male", "stereotype": "anti"}
_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_GENDERED = st.sampled_from(["male", "female", "neutral"])
_COLUMNS = {"source": _TEXT.map("the {} x".format), "occupation": _TEXT, "gold_gender": _GENDERED}
_COLUMNS["stereotype"] = st.sampled_from(["pro", "anti", "none"])
_REFERENCES = st.fixed_dictionaries({**_COLUMNS, "occupation_index": st.integers(0, 1)})
_ROWS = st.lists(st.tuples(_TEXT, _REFERENCES), min_size=1, max_size=6)

pytestmark = pytest.mark.filterwarnings("ignore:none of .* translations was read as")


def run(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    given = {"tgt_lang": "de", "n_resamples": 20, "clean": False}  # any text is a translation
    return compute(predictions, references, **{**given, **options})


@pytest.mark.parametrize("lang", ["ar", "de", "he", "ru", "uk"])
@settings(deadline=None, max_examples=40)
@given(rows=_ROWS)
def test_any_text_is_judged_in_every_language(lang: str, rows: Any) -> None:
    result = evaluate([t for t, _ in rows], [r for _, r in rows], tgt_lang=lang, n_resamples=5)
    assert result.counts["n_correct"] == sum(j.predicted == j.gold for j in result.judgements)
    for judgement in result.judgements:
        assert (judgement.verdict == "inconclusive") == (judgement.predicted == "unknown")
        assert not is_blank(judgement.translation) or judgement.predicted == "unknown"
    n_known = sum(v for k, v in result.counts.items() if "_as_" in k)
    assert result.counts["n_unknown"] == result.counts["n_inconclusive"] == result.n - n_known


@settings(deadline=None)
@given(rows=_ROWS)
def test_rows_are_independent_under_given_alignments(rows: Any) -> None:
    # A text of invisible characters alone, such as soft hyphens, has no token.
    lines = ["0-0" if composed(t).strip(" \t") else "" for t, _ in rows]
    whole = run([t for t, _ in rows], [r for _, r in rows], alignments=lines)["predicted"]
    pairs = zip(rows, lines, strict=True)
    assert whole == [run([t], [r], alignments=[line])["predicted"][0] for (t, r), line in pairs]


@cases(
    ("Then the cook left.", 2, "0-0 1-1 2-2 3-3", "female"),  # "die Köchin"
    ("Then the cook left.", 2, "0-0 1-1 3-3", "female"),  # the article alone: "die"
    # "some" is not an article: "ging." at 3 is linked, and the nearest article is "die" at 1
    ("Then some cook left.", 2, "1-2 2-3", "female"),
    ("Then the cook left.", 2, "0-0", "male"),  # nothing linked
    # spaces count once; articles in any case: "Köchin"
    ("Then  AN cook left.", 2, "1-2", "female"),
)
def test_gender_is_read_from_links(source: str, index: int, links: str, expected: str) -> None:
    reference = {**GOOD, "source": source, "occupation_index": index}
    outcome = run(["Dann die Köchin ging."], [reference], alignments=[links])
    assert outcome["predicted"] == [expected]


def test_figures_and_counts_follow_the_verdicts() -> None:
    translations = ["Die Köchin ging.", "Der Koch ging.", "Der Koch ging.", " "]
    outcome = run(translations, [GOOD, GOOD, MALE, MALE], alignments=["1-0 2-1"] * 3 + [""])
    for name in ["accuracy", "accuracy_female", "recall_male", "precision_male"]:
        assert outcome[name] == 0.5
    assert outcome["f1_female"] == pytest.approx(2 / 3)
    assert outcome["delta_g"] == pytest.approx(0.5 - 2 / 3)
    assert (outcome["accuracy_pro"], outcome["accuracy_anti"], outcome["delta_s"]) == (
        0.5,
        0.5,
        0.0,
    )
    counts = ["n", "n_correct", "n_female_as_male", "n_unknown", "n_unknown_male", "n_blank"]
    assert [outcome[name] for name in counts] == [4, 2, 1, 1, 1, 1]
    assert outcome["verdicts"] == ["correct", "incorrect", "correct", "inconclusive"]
    assert outcome["intervals"]["recall_male"] == outcome["intervals"]["accuracy_male"]
    assert "f1_neutral" not in outcome
    begin = r"winomt\|data:own@[0-9a-f]{12}\|langs:en-de\|align:given\."
    assert re.match(begin, outcome["signature"])
    assert (
        "|gender:rules|figures:exact|clean:no|norm:nfc-cf|n:4|boot:20|seed:0|m:6|v:"
        in outcome["signature"]
    )
    json.dumps(outcome, allow_nan=False)


def test_printed_figures_use_intermediate_rounding() -> None:
    texts, references = ["Die Köchin"] * 2 + ["Der Koch"] * 4, [GOOD] * 3 + [MALE] * 3
    outcome = run(texts, references, alignments=["1-0 2-1"] * 6, figures="printed")
    names = ["recall_female", "precision_male", "f1_female", "f1_male", "delta_g"]
    # f1_male is of 75.0 and 100.0
    assert [outcome[name] for name in names] == [0.667, 0.75, 0.8, 0.857, 0.057]
    assert "|figures:printed|" in outcome["signature"]


def test_a_gender_that_is_never_predicted_has_precision_0_and_a_warning() -> None:
    with pytest.warns(UserWarning, match="none of 2 translations was read as female"):
        outcome = run(["Der Koch"] * 2, [GOOD, MALE], alignments=["1-0 2-1"] * 2)
    assert outcome["precision_female"] == outcome["f1_female"] == 0.0
    assert outcome["delta_g"] == pytest.approx(2 / 3)


def test_a_single_row_omits_differences_between_groups() -> None:
    outcome = run(["Die Köchin"], [{**GOOD, "stereotype": "none"}], alignments=["1-0 2-1"])
    assert outcome["accuracy"] == outcome["min_accuracy"] == outcome["f1_female"] == 1.0
    assert {"delta_g", "delta_s", "accuracy_pro", "recall_male"}.isdisjoint(outcome)


@cases(
    ({"occupation_index": "2"}, {}, "row 0: occupation_index: expected an.*got '2'"),
    ({"occupation_index": 4}, {}, "row 0: occupation_index: expected 0 to 3, .* got 4"),
    ({"occupation_index": -1}, {}, "row 0: occupation_index: expected 0 to 3"),
    ({"gold_gender": "f"}, {}, "row 0: gold_gender: expected one of male.*got 'f'"),
    ({"stereotype": ""}, {}, "row 0: stereotype: expected one of pro, anti.*got ''"),
    ({}, {"tgt_lang": "cs"}, "unknown target language 'cs'.*Known: ar, de, es, fr, he, it, pt"),
    ({}, {"tgt_lang": ""}, "unknown target language ''.*Known: ar, de"),
    ({}, {"src_lang": "de"}, "src_lang: expected en, whose articles are known, got 'de'"),
    ({}, {"figures": "rounded"}, "figures: expected one of exact, printed, got 'rounded'"),
    ({}, {"aligner": "giza"}, "unknown aligner 'giza'"),
    ({}, {"aligner": "eflomal", "alignments": ["0-0"]}, "either an aligner or.*got both"),
    ({}, {"alignments": ["0-0", "0-0"]}, "expected one line of alignments per translation.*got 2"),
    ({}, {"alignments": ["0-7"]}, "line 1: expected links between 4 source and 1 target tokens"),
    ({}, {"alignments": "no such file"}, "alignments: expected a Pharaoh file"),
    ({}, {"spacy_model": "x"}, "spacy_model: expected none for de"),
    (
        {},
        {"rule": "context"},
        "rule: expected published for de, got context; context reads es, fr, it, pt; noun reads de",
    ),
    ({}, {"rule": "x"}, "rule: expected one of published, context, noun, got 'x'"),
)
def test_bad_rows_and_options_are_refused(change: Any, options: Any, message: str) -> None:
    refuses(message, run, ["x"], [{**GOOD, **change}], **options)


def test_alignments_can_be_read_from_a_file(tmp_path: Path) -> None:
    path = write_text(tmp_path / "links.txt", "1-0 2-1\n\n")  # the second row has no links
    for alignments in (["1-0 2-1", ""], path, str(path)):
        outcome = run(["Die Köchin"] * 2, [GOOD] * 2, alignments=alignments)
        assert outcome["predicted"] == ["female", "male"]
    aligner = GivenAlignments((((1, 0), (2, 1)),))
    assert run(["Die Köchin"], [GOOD], aligner=aligner)["predicted"] == ["female"]
    write_text(path, "1-0\nx\n")
    fails(DataError, "links.txt: line 2: .* links", run, ["x"] * 2, [GOOD] * 2, alignments=path)


def test_only_winomt_in_a_known_language_fits() -> None:
    assert DECLARATION.fits("winomt", "all", ProbingExample, "en", "de") == ""
    assert DECLARATION.fits("winomt", "default", ContrastiveSourceExample, "en", "ru") == ""
    assert "not for cs" in DECLARATION.fits("winomt", "all", ProbingExample, "en", "cs")
    reason = DECLARATION.fits("simplegen", "en-de", ContrastiveSourceExample, "en", "de")
    assert "which simplegen does not have" in reason


def test_examples_give_references_with_occupation_and_stereotype() -> None:
    extra = {"occupation": "cook", "stereotype": "pro"}
    source, gender = "Then the  cook left.", "female"
    example = ProbingExample("0", "en", "", source, gender, gender, Focus("cook", 10), extra)
    assert DECLARATION.references([example]) == [{**GOOD, "source": source, "pair": ""}]
    other = replace(example, focus=None)
    refuses("example '0': expected a located occupation", DECLARATION.references, [other])
