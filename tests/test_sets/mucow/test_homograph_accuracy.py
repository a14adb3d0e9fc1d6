import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.evaluation.material import load_material
from cc_hf.metrics import alignments
from cc_hf.metrics.alignments import corpus_aligner
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus, ProbingExample
from cc_hf.test_sets.mucow.homograph_accuracy import HomographAccuracy, outcomes
from tests.helpers.usual import EN_DE, cases, evaluate_metric, refuses, write_lines

SENSES = {
    "animal": ["Fledermaus", "Fledermäuse"],
    "stick": {"senses": ["Schläger", "Keule"], "ambiguous": ["Holz"]},
    "wood": {"senses": ["Stab"], "ambiguous": ["Holz"], "blacklisted": ["Brett"]},
}
_BAT: dict[str, Any] = {"source": "The bat, it seems, is old.", "homograph": "bat", "start": 4}
ROW: dict[str, Any] = {**_BAT, "cluster": "stick", "senses": SENSES}


def judged(translation: str, **options: Any) -> EvaluationResult:
    options = {"alignments": ["0-0 1-1 6-3 7-4"], "tgt_lang": "de", "n_resamples": 20, **options}
    return evaluate_metric("homograph_accuracy", [translation], [ROW], **options)


@cases(
    ("Der Schläger ist sehr alt.", "stick", "correct"),
    ("Der Schlägern ist sehr alt.", "stick", "correct"),
    ("Der Holzschläger ist sehr alt.", "stick", "correct"),
    ("Das Holz ist sehr alt.", "stick", "correct"),
    ("Die FLEDERMAUS ist sehr alt.", "animal", "incorrect"),
    ("Die Fledermäuse sind sehr alt.", "animal", "incorrect"),
    ("Die Fledermaus Schläger sehr alt.", "animal", "incorrect"),
    ("Das Brett ist sehr alt.", "unknown", "inconclusive"),
    ("Das Tier ist ein Schläger.", "unknown", "inconclusive"),
)
def test_the_aligned_word_decides(translation: str, predicted: str, verdict: str) -> None:
    (judgement,) = judged(translation, search="aligned").judgements
    assert (judgement.predicted, judgement.verdict, judgement.gold) == (predicted, verdict, "stick")


def test_a_homograph_without_a_link_is_deleted() -> None:
    result = judged("Der Schläger ist alt.", search="aligned", alignments=["0-0"])
    assert result.judgements[0].predicted == "deleted"
    zeros = dict.fromkeys(["n_correct", "n_flipped", "n_unknown", "n_blank"], 0)
    assert result.counts == {"n_inconclusive": 1, "n_deleted": 1, **zeros}


def test_an_aligner_learns_from_sentences_of_a_corpus_too(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / "a.en", ["", "old bats", "the old", "a bat", "old"]),
        write_lines(tmp_path / "a.de", ["", "alt Schläger", "der alt", "ein Schläger", "alt"]),
    ]
    text = "Alt ist der Schläger."
    options: dict[str, Any] = {"alignments": None, "search": "aligned"}
    alone = judged(text, **options)
    taught = judged(text, **options, align_with=",".join(map(str, files)))
    assert [result.judgements[0].predicted for result in (alone, taught)] == ["unknown", "stick"]
    assert "|align:fast_align+4." in taught.signature


def test_sentences_of_homographs_are_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignments, "MAX_CELLS", 5)
    names = "a.en", "a.de"
    files = [write_lines(tmp_path / name, ["one", "two", "Bat three", "bat"]) for name in names]
    aligner = corpus_aligner("fast_align", files, words={"bat"}, languages=("", ""))
    assert (aligner.sources, aligner.references) == (("bat", "one"), ("bat", "one"))


def test_the_whole_sentence_is_searched_by_default() -> None:
    result = judged("Das Tier ist ein Schläger, keine Fledermaus.", alignments=[""])
    assert result.judgements[0].predicted == "stick"
    assert "|search:anywhere|" in result.signature
    assert judged("Ein Tier.", alignments=[""]).counts["n_deleted"] == 1
    assert judged("Ein Tier.", alignments=["1-1"]).counts["n_unknown"] == 1


@cases(
    (["Der Schläger ist alt.", "Das Brett.", " "], "anywhere", "50.0 %.* in 1 of 2 reference"),
    (["Der Schläger ist alt."], "sentence", "100.0 %: search=sentence.* in 1 of 1 reference"),
    (["Schläger Holz", "Holz Der", "Der Der"], "aligned", "0.0 %: search=al.* 0 of 3 ref"),
    (["", " "], "anywhere", "unknown: without reference translations"),
)
def test_the_ceiling_of_references_is_said(references: Any, search: str, ceiling: str) -> None:
    rows = [{**ROW, "reference": reference} for reference in references]
    result = evaluate_metric(
        "homograph_accuracy",
        ["Ein Tier."] * len(rows),
        rows,
        search=search,
        alignments=[""] * len(rows),
        tgt_lang="de",
    )
    assert any(re.search(f"ceiling is {ceiling}", note) for note in result.notes)
    assert ("n_references" in result.counts) == ("unknown" not in ceiling)


def test_the_program_finds_senses_at_the_beginning_of_words() -> None:
    text = "Ein Tier mit Keulenform."
    assert judged(text, search="anywhere", alignments=[""]).judgements[0].predicted == "deleted"
    assert judged(text, search="sentence", alignments=[""]).judgements[0].predicted == "stick"


def test_unknown_and_deleted_homographs_are_errors_when_wide() -> None:
    narrow, wide = (judged("Das Tier ist alt.", wide=value) for value in ("no", True))
    for result, verdict, errors in ((narrow, "inconclusive", "flips"), (wide, "incorrect", "wide")):
        assert result.judgements[0].verdict == verdict
        assert f"errors:{errors}" in result.signature
    assert narrow.scores == wide.scores


def test_rates_add_up_in_all_and_by_category() -> None:
    texts = ["Der Schläger.", "Die Fledermaus.", "Das Tier.", "Der", ""]
    categories = ["frequent", "frequent", "frequent", "rare", "rare"]
    rows = [{**ROW, "source": "The bat.", "category": name} for name in categories]
    options: dict[str, Any] = {"alignments": ["1-1", "1-1", "1-1", "0-0", ""], **EN_DE}
    result = evaluate_metric("homograph_accuracy", texts, rows, **options)
    predicted = ["stick", "animal", "unknown", "deleted", "deleted"]
    assert [j.predicted for j in result.judgements] == predicted
    for suffix in ("", "_frequent", "_rare"):
        rates = [result.scores[f"{name}_rate{suffix}"] for name in ("flip", "unknown", "deleted")]
        assert sum(rates) == pytest.approx(result.scores[f"wide_error_rate{suffix}"])
        assert sum(rates) == pytest.approx(1 - result.scores[f"accuracy{suffix}"])
        assert f"flip_rate{suffix}" in {**result.intervals, **result.no_interval}
    assert (result.scores["deleted_rate_rare"], result.scores["min_accuracy"]) == (1, 0)
    assert result.counts["n_blank"] == 1


def test_senses_may_be_json_or_a_mapping() -> None:
    text = '{"animal": ["Fledermaus"], "stick": ["Schläger"]}'
    given = (text, {"animal": ["Fledermaus"], "stick": ("Schläger",)})
    check = HomographAccuracy.check_input
    as_text, as_mapping = (check(["x"], [{**ROW, "senses": senses}])[1] for senses in given)
    assert as_text == as_mapping


@cases(
    ({"senses": {}}, "row 0: senses: expected clusters of senses"),
    ({"senses": "[1"}, "row 0: senses: expected the JSON"),
    ({"senses": {"stick": []}}, "cluster 'stick': expected at least one sense"),
    ({"senses": {"stick": "Keule"}}, "cluster 'stick': senses: expected a list of words"),
    ({"senses": {"stick": {"forms": ["a"]}}}, "expected the keys senses and ambiguous"),
    ({"senses": {" ": ["Keule"]}}, "expected texts as names of clusters"),
    ({"senses": {"a": ["Keule"], "stick": ["Keule"]}}, "'Keule' is a sense of the clusters"),
    ({"senses": {"stick": ["Keule"], "\ud800": ["a"]}}, "row 0: senses is not valid Unicode"),
    ({"cluster": "bird"}, "row 0: cluster: expected one of the clusters in senses"),
    ({"start": 3}, "row 0: start: expected the position of a word"),
    ({"start": -1}, "row 0: start: expected the position of a word"),
)
def test_rows_that_cannot_be_judged_are_refused(change: dict[str, Any], message: str) -> None:
    refuses(message, HomographAccuracy.check_input, ["x"], [{**ROW, **change}])


@cases(
    ({"search": "window"}, "search: expected one of anywhere, aligned, sentence"),
    ({"wide": "maybe"}, "wide: expected true or false"),
    ({"tgt_lang": ""}, "tgt_lang: expected the ISO 639-1 code"),
    ({"tgt_lang": "xx"}, "does not know 'xx'"),
    ({"lemmatizer": 3}, "lemmatizer: expected a name or an object"),
    ({"lemmatizer": "spacy"}, "simplemma"),
    ({"aligner": "eflomal"}, "either an aligner or alignments"),
    ({"alignments": ["9-9"]}, "expected links between"),
    ({"align_with": "a.en"}, "align_with: expected two line-aligned files.* got a.en"),
    ({"align_with": ["a.en", "a.de"]}, "a.en"),
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, judged, "Der Schläger ist sehr alt.", **options)


def test_homographs_with_the_same_senses_are_looked_up_alike() -> None:
    actual = outcomes(
        ["Der Schläger"] * 2, [ROW, {**ROW, "cluster": "animal"}], [((1, 1),)] * 2, tgt_lang="de"
    )
    assert [outcome.kind for outcome in actual] == ["correct", "flipped"]


def test_only_homographs_with_senses_fit() -> None:
    assert HomographAccuracy.fits("custom", "set", ProbingExample, "en", "de") == ""
    reason = HomographAccuracy.fits("custom", "set", ContrastiveSourceExample, "en", "de")
    assert "bias build-challenge" in reason
    assert load_material("simplegen", "en-de").unfit_reason(HomographAccuracy)
    example = ProbingExample("0", "en", "de", "A bat.", "all", "stick", Focus("bat", 2))
    refuses("a located homograph with senses", HomographAccuracy.references, [example])
    (row,) = HomographAccuracy.references(
        [replace(example, extra={"homograph": "bat", "senses": "{}", "reference": "Ein Schläger."})]
    )
    assert row["reference"] == "Ein Schläger."


def test_senses_in_a_mapping_are_composed_as_the_cluster_is() -> None:
    tool, club = (unicodedata.normalize("NFD", text) for text in ("Gerät", "Schläger"))
    row = {**ROW, "cluster": tool, "senses": {tool: [club], "animal": ["Fledermaus"]}}
    result = evaluate_metric("homograph_accuracy", ["Ein Schläger."], [row], tgt_lang="de")
    assert result.scores["accuracy"] == 1
