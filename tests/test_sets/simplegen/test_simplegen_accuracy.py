import functools
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cc_hf.comparing.systems import compare
from cc_hf.errors import MissingOptionError
from cc_hf.reports.formats.latex import latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import result_table
from cc_hf.reports.tables.comparisons import comparison_tables
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.test_sets.simplegen.occupation_dictionary import load_dictionary
from cc_hf.test_sets.simplegen.simplegen_accuracy import find_genders
from tests.helpers.usual import (
    cases,
    compute_metric,
    constant_scores,
    evaluate_dataset,
    evaluate_dataset_by_all,
    evaluate_metric,
    fails,
    printed,
    refuses,
    write_text,
)

simplegen = functools.partial(compute_metric, "simplegen_accuracy")
simplegen_result = functools.partial(evaluate_metric, "simplegen_accuracy")

NURSE = {"occupation": "nurse", "number": "sg", "gender": "male", "category": "FoMc"}
PHYSICIAN = {"occupation": "physician", "number": "sg", "gender": "female", "category": "MoFc"}
_ENTRY = {"male": ("Arzt", "Lehrer"), "female": ("Ärztin", "Lehrerin")}
_SHORT = st.text(st.characters(codec="utf-8"), max_size=20)
_WORDS = ["Arzt", "Ärztin", "Ärzte", "Krankenpfleger", "Krankenschwester", "doctora"]
_PARTS = st.sampled_from([*_WORDS, "*in", ".", "\u0301", " "])
_SENTENCES = st.lists(_PARTS | _SHORT, max_size=6).map("".join)


@cases(
    ("Der Arzt.", {"male"}),
    ("DIE ÄRZTIN!", {"female"}),
    (unicodedata.normalize("NFD", "Die Ärztin"), {"female"}),
    ("«Arzt»", {"male"}),
    ("Arzt-Ärztin", {"male", "female"}),
    ("Arztes, Arzthelfer, Zahnarzt", set()),
    ("Lehrer*innen", {"male", "female"}),
    ("Lehrer:in", {"male", "female"}),
    ("Lehrer_in", {"male", "female"}),
    ("Lehrer(in)", {"male", "female"}),
    ("Lehrer/-in", {"male", "female"}),
    ("LehrerInnen", set()),
    ("Lehrer (in Berlin)", {"male"}),
    ("Lehrer-Team", {"male"}),
    ("der Lehrer/die Lehrerin", {"male", "female"}),
    ("Arzt\u0301", set()),  # a combining mark makes it another word
    ("", set()),
)
def test_forms_match_whole_words_only(text: str, expected: set[str]) -> None:
    assert find_genders(text, _ENTRY) == expected


def test_a_form_inside_a_longer_form_is_not_counted() -> None:
    entry = {"male": ("médecin",), "female": ("femme médecin", "doctoresse")}
    assert find_genders("La femme  médecin arrive.", entry) == {"female"}
    assert find_genders("Le médecin arrive, la femme médecin aussi.", entry) == {"male", "female"}
    entry = {"male": ("obrero",), "female": ("obrera",)}
    assert find_genders("obrero/a", entry) == {"male", "female"}


def test_vowel_signs_belong_to_the_word() -> None:
    entry = {"male": ("अध्यापक",), "female": ("अध्यापिका",)}
    assert find_genders("वह अध्यापिका है।", entry) == {"female"}
    assert find_genders("अध्यापकी", entry) == set()


def test_other_numbers_and_both_genders_are_inconclusive() -> None:
    texts = ["Ärztinnen", "Arzt und Ärztin", "Ärzt*in", "Ärztin", ""]
    actual = simplegen_result(texts, [PHYSICIAN] * 5, tgt_lang="de", n_resamples=2)
    verdicts = [j.verdict for j in actual.judgements]
    assert verdicts == ["inconclusive"] * 3 + ["correct", "inconclusive"]
    assert [j.predicted for j in actual.judgements] == ["", "both", "", "female", ""]
    ones = dict.fromkeys(("n_correct", "n_both_genders", "n_blank"), 1)
    assert actual.counts == {**ones, "n_incorrect": 0, "n_inconclusive": 4, "n_no_form": 3}


def test_figures_are_given_only_for_present_groups() -> None:
    texts = ["Ärztin", "Arzt", "X", "Krankenpfleger"]
    actual = simplegen_result(texts, [PHYSICIAN] * 3 + [NURSE], tgt_lang="de", n_resamples=50)
    expected = {
        "accuracy_anti": 1 / 2,
        "accuracy": 1 / 2,
        "accuracy_FoMc": 1,
        "incorrect_rate_MoFc": 1 / 3,
        "inconclusive_rate_MoFc": 1 / 3,
    }
    assert expected.items() <= actual.scores.items()
    assert not re.search("delta|_pro|MoMc|FoFc", " ".join([*actual.scores, *actual.intervals]))
    assert actual.intervals["accuracy_FoMc"] == wilson_interval(1, 1)
    assert re.sub(r"own@[0-9a-f]{12}", "own", actual.signature).startswith(
        "sg|data:own|langs:en-de|dict:default|both:inconclusive|norm:nfc-cf|n:4|boot:50|seed:0|m:3|v:"
    )
    him = {"occupation": "physician", "gender": "male"}
    rows = [{**PHYSICIAN, **him, "category": "MoMc"}, {**NURSE, **him}]
    whole = simplegen_result(["Arzt", "Ärztin"], rows, tgt_lang="de", n_resamples=50)
    assert (whole.scores["delta"], whole.scores["delta_mc"]) == (1, 1)
    assert whole.intervals["delta"].high == 1 > whole.intervals["delta"].low
    assert "delta_fc" not in whole.scores


def test_no_reader_meets_the_short_names_of_categories() -> None:
    rows = [
        {**row, "gender": gender, "category": f"{row['category'][:2]}{gender[0].upper()}c"}
        for row in (PHYSICIAN, NURSE)
        for gender in ("male", "female")
        for _ in range(12)
    ]
    texts = {"a": ["Arzt", "Ärztin", "Krankenpfleger", "x"] * 12, "b": ["Ärztin"] * 48}
    results = {
        name: simplegen_result(of_system, rows, tgt_lang="de", n_resamples=10)
        for name, of_system in texts.items()
    }
    systems = [ReportedSystem(name, {r.metric: r}) for name, r in results.items()]
    report = build_report(systems, n_resamples=10)
    page = re.sub(r'href="[^"]*"|<script.*?</script>', "", html_page(report), flags=re.DOTALL)
    for text in (
        page.replace("&#39;", "'"),
        markdown_report(report),
        latex_report(report),
        printed(comparison_tables(compare(results)), width=300),
        printed(result_table(results["a"]), width=300),
    ):
        assert re.findall("[MF]o[MF]c|_pro|_anti|delta_", text) == []
        assert "women's occupations in male contexts" in text
    assert {"accuracy_FoMc", "accuracy_pro", "delta_fc"} <= results["a"].scores.keys()


def test_a_user_dictionary_can_be_used(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "fr.tsv",
        "occupation\tnumber\tmale\tfemale\nphysician\tsg\tmédecin\tfemme médecin|doctoresse\n",
    )
    options = {"tgt_lang": "fr", "dictionary": str(path)}
    actual = simplegen(["La doctoresse.", "Le médecin."], [PHYSICIAN] * 2, **options)
    assert actual["verdicts"] == ["correct", "incorrect"]
    assert "|dict:own." in actual["signature"]
    refuses(
        r"row 1: the dictionary own\..* lacks 1 of 2 occupations",
        simplegen,
        ["x", "y"],
        [PHYSICIAN, NURSE],
        **options,
    )


def test_simplegen_can_be_evaluated_in_a_language_with_a_user_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    rows = [
        f"{occupation}\t{number}\t{'|'.join(entry['male'])}\t{'|'.join(entry['female'])}"
        for (occupation, number), entry in load_dictionary("default", "es").entries.items()
    ]
    path.write_text("\n".join(["occupation\tnumber\tmale\tfemale", *rows]), encoding="utf-8")
    given: dict[str, Any] = {"translations": ["El director."] * 2664}
    galician = {**given, "tgt_lang": "gl"}
    simplegen: dict[str, Any] = {"metric": "simplegen_accuracy"}
    result = evaluate_dataset(
        "simplegen", "en", **galician, **simplegen, options={"dictionary": str(path)}
    )
    assert result.counts["n_correct"] > 0
    expected = evaluate_dataset("simplegen", "en-es", **given, **simplegen)
    assert result.scores == expected.scores
    message = "none is built in for the language 'gl', only"
    fails(MissingOptionError, message, evaluate_dataset, "simplegen", "en", **galician, **simplegen)
    others = evaluate_dataset_by_all("simplegen", "en", **galician, evaluator=constant_scores)
    assert message in others.not_run["simplegen_accuracy"]


@cases(
    (["x"], [{**NURSE, "occupation": "pilot"}], {}, "row 0: the dictionary default lacks 1"),
    (["x"], [{**NURSE, "number": "dual"}], {}, "row 0: number: expected one of.*got 'dual'"),
    (["x"], [{**NURSE, "gender": "neutral"}], {}, "row 0: gender: expected one.*got 'neutral'"),
    (["x"], [{**NURSE, "category": "pro"}], {}, "row 0: category: expected one of.*got 'pro'"),
    (["x"], [{**NURSE, "gender": "female"}], {}, "row 0: gender: expected that.*got 'female'"),
    (["x"], [NURSE], {"tgt_lang": "fr"}, "none is built in for the language 'fr', only"),
    (["x"], [NURSE], {"tgt_lang": ""}, "none is built in for the language '', only for de, es"),
    (["x"], [NURSE], {"tgt_lang": "xx"}, "does not know the language 'xx'"),
    (["x"], [NURSE], {"dictionary": "papr"}, "expected one of default, paper, or.*got 'papr'"),
)
def test_bad_persons_fail(predictions: Any, references: Any, options: Any, message: str) -> None:
    refuses(message, simplegen, predictions, references, **{"tgt_lang": "de", **options})


_ROWS = st.lists(st.tuples(_SENTENCES, st.sampled_from([NURSE, PHYSICIAN])), min_size=1, max_size=6)


@given(_ROWS, st.sampled_from(["de", "es"]))
@example([("0\t0", NURSE)] * 2, "de")
def test_any_text_is_judged_independently_of_other_rows(rows: list[Any], lang: str) -> None:
    as_is = {"tgt_lang": lang, "clean": False}  # rows of tables are refused otherwise
    actual = simplegen([t for t, _ in rows], [r for _, r in rows], **as_is, n_resamples=5)
    alone = [simplegen([t], [r], **as_is, n_resamples=1) for t, r in rows]
    assert [row["verdicts"][0] for row in alone] == actual["verdicts"]
    assert actual["n_correct"] + actual["n_incorrect"] + actual["n_inconclusive"] == len(rows)
    assert actual["n_both_genders"] + actual["n_no_form"] == actual["n_inconclusive"]
    rates = actual["accuracy"], actual["incorrect_rate"], actual["inconclusive_rate"]
    assert sum(rates) == pytest.approx(1)
