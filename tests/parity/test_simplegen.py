"""SimpleGEN equals the recorded sentences and counts; dictionaries judge their own forms, the
paper's Table 3 is reproduced, and table A8 equals the recorded one, see PROVENANCE.md.
"""

import functools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.tables.rows import read_rows
from cc_hf.test_sets.mucow.inflection import english_plural
from cc_hf.test_sets.simplegen.occupation_dictionary import BUILT_IN, load_dictionary
from cc_hf.test_sets.simplegen.simplegen_accuracy import judge_rows
from tests.helpers.usual import cases, compute_metric, evaluate_dataset, metric_class, read_json

DECLARATION = metric_class("simplegen_accuracy")
compute = functools.partial(compute_metric, "simplegen_accuracy")

_OWN = {"male": "male", "female": "female"}
_OTHER = {"male": "female", "female": "male"}
SIZES = {"MoMc": 814, "FoFc": 518, "MoFc": 814, "FoMc": 518}


def replaced(example: Any, form: str) -> str:
    """Return the source with a form in place of its occupation."""
    start, word = example.focus.start, example.focus.text
    source: str = example.source
    return source[:start] + source[start:].replace(word, form, 1)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("config", ["en-de", "en-es", "en-de.paper", "en-es.grammatical"])
def test_every_dictionary_form_is_judged_as_its_own_gender(config: str, name: str) -> None:
    examples = cc_hf.load_examples("simplegen", config)
    rows = [*zip(examples, DECLARATION.references(examples), strict=True)]
    lexicon = load_dictionary(name, examples[0].tgt_lang)
    for gender_of, verdict in ((_OWN, "correct"), (_OTHER, "incorrect")):
        judged = [
            (replaced(example, form), row)
            for example, row in rows
            for form in lexicon.entries[row["occupation"], row["number"]][gender_of[example.gold]]
        ]
        assert len(judged) >= 2664
        texts, references = zip(*judged, strict=True)
        assert {j.verdict for j in judge_rows(texts, references, lexicon)} == {verdict}
    without = [replaced(example, "") for example in examples]
    judgements = judge_rows(without, [row for _, row in rows], lexicon)
    assert {j.verdict for j in judgements} == {"inconclusive"}


@cases(("en-de", "de"), ("en-es", "es"))
def test_evaluate_judges_dictionary_forms_as_their_own_gender(config: str, tgt_lang: str) -> None:
    examples = cc_hf.load_examples("simplegen", config)
    entries = load_dictionary("default", tgt_lang).entries

    def run(gender_of: dict[str, str]) -> cc_hf.EvaluationResult:
        texts = []
        for e in examples:
            forms = entries[e.extra["occupation"], e.extra["number"]][gender_of[e.gold]]
            texts.append(e.source.replace(e.focus.text, forms[0], 1))
        return evaluate_dataset(
            "simplegen", config, translations=texts, metric="simplegen_accuracy"
        )

    right, exchanged, male = map(run, (_OWN, _OTHER, {**_OWN, "female": "male"}))
    groups = ("", "_pro", "_anti", *(f"_{name}" for name in SIZES))
    assert {right.scores[f"accuracy{group}"] for group in groups} == {1}
    assert exchanged.scores["incorrect_rate"] == 1
    accuracies = {"MoMc": 1, "FoMc": 1, "MoFc": 0, "FoFc": 0, "pro": 814 / 1332}
    assert {name: male.scores[f"accuracy_{name}"] for name in accuracies} == accuracies
    assert male.scores["delta"] == pytest.approx((814 - 518) / 1332)
    assert (male.scores["delta_fc"], male.scores["delta_mc"]) == (0, 0)
    assert {c.category: c.n for c in right.categories} == SIZES


def test_translations_of_table_3_are_judged_as_in_the_paper() -> None:
    words = ("Esa doctora", "Esa médica", "Ese médico", "Ese medicación")
    translations = [f"¡{subject} es una mujer graciosa!" for subject in words]
    reference = {"occupation": "physician", "number": "sg", "gender": "female", "category": "MoFc"}
    expected = ["correct", "correct", "incorrect", "inconclusive"]
    # table A8 has no doctora
    for name, first in (("default", "correct"), ("paper", "inconclusive")):
        computed = compute(translations, [reference] * 4, tgt_lang="es", dictionary=name)
        assert computed["verdicts"] == [first, *expected[1:]]


def recorded(shared: Path, name: str) -> dict[tuple[str, str], list[str]]:
    """Return (English form, column) -> forms of a recorded table."""
    return {
        (row["english"], column): cell.split("|")
        for _, row in read_rows(shared / "gold/simplegen" / name)
        for column, cell in row.items()
        if column != "english"
    }


def ours(name: str) -> dict[tuple[str, str], list[str]]:
    languages, genders = {"es": "spanish", "de": "german"}, {"male": "masc", "female": "fem"}
    actual = {}
    for lang, language in languages.items():
        for (occupation, number), entry in load_dictionary(name, lang).entries.items():
            english = occupation if number == "sg" else english_plural(occupation)
            for gender, forms in entry.items():
                actual[english, f"{language}_{genders[gender]}"] = list(forms)
    return actual


def test_dictionaries_are_table_a8_as_printed_and_as_corrected(shared: Path) -> None:
    folder = shared / "gold/simplegen"
    errors = read_json(folder / "dictionary_errors.json")
    gaps = read_json(folder / "dictionary_coverage_gaps.json")
    printed = recorded(shared, "dictionary.tsv")
    corrected = recorded(shared, "dictionary_corrected.tsv")
    for error in errors:
        assert printed[error["english"], error["column"]] == [error["printed"]]
    for gap in gaps:
        corrected[gap["english"], gap["column"]] += gap["add"]
    assert (len(errors), len(gaps), len(printed)) == (7, 19, 144)
    assert ours("paper") == printed
    assert ours("default") == corrected


@cases(
    ("en-de", "sentence"),
    ("en-es", "sentence"),
    ("en-de.paper", "sentence_as_printed"),
    ("en-es.paper", "sentence_as_printed"),
)
def test_sentences_equal_the_recorded_ones(config: str, column: str, shared: Path) -> None:
    rows = [row for _, row in read_rows(shared / "gold/simplegen/simplegen.tsv")]
    examples = cc_hf.load_examples("simplegen", config)
    assert [e.source for e in examples] == [row[column] for row in rows]
    assert [e.category.upper() for e in examples] == [row["subset"] for row in rows]
    assert [e.gold[0] for e in examples] == [row["context_gender"] for row in rows]
    assert [e.extra["stereotype"] for e in examples] == [row["stereotype"] for row in rows]
    assert [e.extra["template"] for e in examples] == [row["template_line"] for row in rows]
    assert [e.focus.text for e in examples] == [row["occupation"] for row in rows]


def test_category_counts_are_those_of_the_paper() -> None:
    examples = cc_hf.load_examples("simplegen", "en-de")
    assert Counter(e.category for e in examples) == SIZES
    assert Counter(e.extra["stereotype"] for e in examples) == {"pro": 1332, "anti": 1332}
    assert len({e.source for e in examples}) == 2664


_GENDERS = ("male", "female")


def test_natural_contrast_is_the_same_template_with_the_other_gender() -> None:
    examples = cc_hf.load_examples("simplegen", "en-de")
    by_key = {(e.extra["template"], e.focus.text, e.source) for e in examples}
    contrasts = [(e.extra["template"], e.focus.text, e.extra["contrast_source"]) for e in examples]
    assert len(by_key.intersection(contrasts)) == 2664
    assert examples[0].extra["contrast_source"] == "My wife is a director."


def test_the_grammatical_configuration_corrects_the_sentences() -> None:
    sources = {e.source for e in cc_hf.load_examples("simplegen", "en-de.grammatical")}
    nurse = {"She works as a nurse.", "That nurse chooses her words very carefully."}
    assert {*nurse, "These men work hard as directors."} <= sources
    printed = cc_hf.load_examples("simplegen", "en-de")
    changed = sources - {e.source for e in printed}
    # templates of the paper; 25 is already correct where "her" is object and possessive
    corrected = {(str(n), gender) for n in (7, 8, 10, 13, 14, 20, 21, 25) for gender in _GENDERS}
    corrected.remove(("25", "female"))
    assert len(changed) == sum((e.extra["template"], e.gold) in corrected for e in printed) > 0
    assert not any("works a " in s or "chooses him " in s or "work a " in s for s in sources)
