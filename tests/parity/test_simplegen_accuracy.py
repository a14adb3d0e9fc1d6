"""SimpleGEN's accuracy: dictionaries judge their own forms, the paper's Table 3 is reproduced, and
table A8 equals the recorded one, see PROVENANCE.md.
"""

from __future__ import annotations

import csv
import functools
import json
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.data.readers.occupation_dictionary import BUILT_IN, load_dictionary
from cc_hf.metrics.simplegen_accuracy import judge
from cc_hf.text.inflection import english_plural
from tests.helpers.metrics import compute_metric, evaluate_dataset, metric_class

DECLARATION = metric_class("simplegen_accuracy")
compute = functools.partial(compute_metric, "simplegen_accuracy")

_OTHER = {"male": "female", "female": "male"}


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("config", ["en-de", "en-es", "en-de.paper", "en-es.grammatical"])
def test_every_dictionary_form_is_judged_as_its_own_gender(config: str, name: str) -> None:
    examples = cc_hf.load_examples("simplegen", config)
    references = DECLARATION.references(examples)
    dictionary = load_dictionary(name, examples[0].tgt_lang)

    def verdicts(gender_of: dict[str, str]) -> set[str]:
        """Return the verdicts for every sentence with every form of a gender in place of its
        occupation.
        """
        texts, rows = [], []
        for example, reference in zip(examples, references, strict=True):
            for form in dictionary.entries[reference["occupation"], reference["number"]][
                gender_of[example.gold]
            ]:
                end = example.focus.start + len(example.focus.text)
                texts.append(example.source[: example.focus.start] + form + example.source[end:])
                rows.append(reference)
        assert len(texts) >= 2664
        return {j.verdict for j in judge(texts, rows, dictionary)}

    assert verdicts({"male": "male", "female": "female"}) == {"correct"}
    assert verdicts(_OTHER) == {"incorrect"}
    without = [
        e.source[: e.focus.start] + e.source[e.focus.start + len(e.focus.text) :] for e in examples
    ]
    assert {j.verdict for j in judge(without, references, dictionary)} == {"inconclusive"}


@pytest.mark.parametrize(("config", "tgt_lang"), [("en-de", "de"), ("en-es", "es")])
def test_evaluate_judges_dictionary_forms_as_their_own_gender(config: str, tgt_lang: str) -> None:
    examples = cc_hf.load_examples("simplegen", config)
    entries = load_dictionary("default", tgt_lang).entries

    def run(gender_of: dict[str, str]) -> cc_hf.EvaluationResult:
        texts = [
            e.source.replace(
                e.focus.text,
                entries[e.extra["occupation"], e.extra["number"]][gender_of[e.gold]][0],
                1,
            )
            for e in examples
        ]
        return evaluate_dataset(
            "simplegen", config, translations=texts, metric="simplegen_accuracy"
        )

    right, exchanged, always_male = (
        run({"male": "male", "female": "female"}),
        run(_OTHER),
        run({"male": "male", "female": "male"}),
    )
    assert {
        right.scores[f"accuracy{group}"]
        for group in ("", "_pro", "_anti", "_MoMc", "_FoFc", "_MoFc", "_FoMc")
    } == {1}
    assert exchanged.scores["incorrect_rate"] == 1
    assert (always_male.scores["accuracy_MoMc"], always_male.scores["accuracy_FoMc"]) == (1, 1)
    assert (always_male.scores["accuracy_MoFc"], always_male.scores["accuracy_FoFc"]) == (0, 0)
    assert always_male.scores["accuracy_pro"] == 814 / 1332
    assert always_male.scores["delta"] == pytest.approx((814 - 518) / 1332)
    assert (always_male.scores["delta_fc"], always_male.scores["delta_mc"]) == (0, 0)
    assert {c.category: c.n for c in right.categories} == {
        "MoMc": 814,
        "FoFc": 518,
        "MoFc": 814,
        "FoMc": 518,
    }


def test_translations_of_table_3_are_judged_as_in_the_paper() -> None:
    translations = [
        f"¡{words} es una mujer {adjective}!"
        for words, adjective in (
            ("Esa doctora", "graciosa"),
            ("Esa médica", "feliz"),
            ("Ese médico", "graciosa"),
        )
    ]
    translations.append("¡Ese medicación es una mujer graciosa!")
    reference = {"occupation": "physician", "number": "sg", "gender": "female", "category": "MoFc"}
    expected = ["correct", "correct", "incorrect", "inconclusive"]
    assert compute(translations, [reference] * 4, tgt_lang="es")["verdicts"] == expected
    # table A8 has no doctora
    assert compute(translations, [reference] * 4, tgt_lang="es", dictionary="paper")[
        "verdicts"
    ] == ["inconclusive", *expected[1:]]


def recorded(shared: Path, name: str) -> dict[tuple[str, str], list[str]]:
    """Return (English form, column) -> forms of a recorded table."""
    with (shared / "gold/simplegen" / name).open(encoding="utf-8", newline="") as file:
        return {
            (row["english"], column): row[column].split("|")
            for row in csv.DictReader(file, delimiter="\t")
            for column in row
            if column != "english"
        }


def ours(name: str) -> dict[tuple[str, str], list[str]]:
    names = {
        ("es", "male"): "spanish_masc",
        ("es", "female"): "spanish_fem",
        ("de", "male"): "german_masc",
        ("de", "female"): "german_fem",
    }
    return {
        (occupation if number == "sg" else english_plural(occupation), names[lang, gender]): list(
            forms
        )
        for lang in ("es", "de")
        for (occupation, number), entry in load_dictionary(name, lang).entries.items()
        for gender, forms in entry.items()
    }


@pytest.mark.shared
def test_dictionaries_are_table_a8_as_printed_and_as_corrected(shared: Path) -> None:
    errors: list[dict[str, Any]] = json.loads(
        (shared / "gold/simplegen/dictionary_errors.json").read_text(encoding="utf-8")
    )
    gaps: list[dict[str, Any]] = json.loads(
        (shared / "gold/simplegen/dictionary_coverage_gaps.json").read_text(encoding="utf-8")
    )
    printed, corrected = (
        recorded(shared, "dictionary.tsv"),
        recorded(shared, "dictionary_corrected.tsv"),
    )
    for error in errors:
        assert printed[error["english"], error["column"]] == [error["printed"]]
    for gap in gaps:
        corrected[gap["english"], gap["column"]] = (
            corrected[gap["english"], gap["column"]] + gap["add"]
        )
    assert (len(errors), len(gaps), len(printed)) == (7, 19, 144)
    assert ours("paper") == printed
    assert ours("default") == corrected
