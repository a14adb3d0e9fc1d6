"""What is read of the files, and what the forms say of labelled translations."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import FileError
from cc_hf.test_sets.gender_fair_german import reader as gender_fair_german
from cc_hf.test_sets.gender_fair_german.gender_fair_forms import reading_of
from tests.helpers.usual import cases, compute_metric, fails, refuses

_READINGS = ("masculine", "feminine", "neutral", "inclusive", "both", "inconclusive")
_NOUNS = "English,German_MP,German_FP,Gender-Neutral\n{},Die Leser,Die Leserinnen,das L; die M\n"
_PASSAGES = "rid\tseed\tsource\ttranslation\tannot_tgt_gender\n7\treaders\tAll.\tAlle.\t{}\n"


@cases(
    ("deepl.all", (178, 1, 38, 1), (98, 3, 3, 0, 1, 113), 101 / 104),
    ("deepl.valid", (132, 1, 24, 1), None, None),
    ("deepl.common", (120, 1, 23, 1), (65, 2, 1, 0, 1, 76), 66 / 68),
    ("gpt.all", (180, 2, 34, 1), (100, 3, 1, 0, 3, 110), 102 / 104),
    ("gpt.valid", (134, 1, 24, 1), None, None),
    ("gpt.common", (120, 1, 23, 1), (64, 1, 0, 0, 2, 78), 64 / 65),
)
def test_labels_and_readings_of_archived_translations(
    config: str, labels: Any, read: Any, agreement: Any, shared: Path
) -> None:
    material = cc_hf.load_material("gender_fair_german", config, data_dir=shared / "upstream")
    n_of = Counter(example.extra["label"] for example in material.examples)
    assert tuple(n_of[reading] for reading in _READINGS[:4]) == labels
    if read is None:
        return
    texts = [example.extra["labelled_translation"] for example in material.examples]
    result = cc_hf.evaluate(material, translations=texts)
    assert tuple(result.counts[f"n_{reading}"] for reading in _READINGS) == read
    assert result.scores["agreement"] == pytest.approx(agreement)
    assert result.scores["masculine_by_people"] == labels[0] / result.n
    others = cc_hf.evaluate(material, translations=[f"{text} " for text in texts])
    assert (others.counts["n_labelled"], "agreement" in others.scores) == (0, False)


@cases(
    ("Leserinnen lesen.", "feminine"),
    ("Eine Leserin.", "feminine"),
    ("Den Zeitungslesern.", "masculine"),
    ("Leser und Leserinnen.", "both"),
    ("Alle Leser/-innen, auch Leser.", "inclusive"),
    ("LeserInnen.", "inclusive"),
    ("Leser:innen.", "inclusive"),
    ("Die lesenden Personen.", "neutral"),
    ("Leserschaft.", "inconclusive"),
    ("", "inconclusive"),
)
def test_forms_and_compounds_show_a_reading(text: str, reading: str) -> None:
    forms = ("Leser", "Leserinnen", "Lesende; lesenden Personen")
    assert reading_of(text, *forms) == reading
    row = dict(zip(_READINGS[:3], forms, strict=True))
    figures = compute_metric("gender_fair_forms", [text], [row], tgt_lang="de")
    assert figures["readings"] == ["" if reading == "inconclusive" else reading]
    assert not {"probability_counted", "verdicts"} & figures.keys()


@cases(
    ("The readers", "X", r"line 2: annot_tgt_gender: expected one of M, F,.* got 'X'"),
    ("The writers", "M", r"line 2: seed: expected a noun of the dictionary, got 'readers'"),
    ("", "M", r"dictionary.csv: line 2: English: expected a text that is not blank"),
    ("The readers;the others", "F", ""),
)
def test_rows_are_read_or_named(noun: str, label: str, message: str, tmp_path: Path) -> None:
    files = {"dictionary.csv": _NOUNS.format(noun), "rows.tsv": _PASSAGES.format(label)}
    for name, text in files.items():
        (tmp_path / name).write_text(text.replace("\n", "\r\n"), encoding="utf-8", newline="")
    names = ("data/dictionary_plural_v1.csv", "data/wikipedia/annot_gpt_all_v1.tsv")
    paths = dict(zip(names, (tmp_path / name for name in files), strict=True))
    if message:
        fails(
            FileError,
            message,
            list,
            gender_fair_german.read_gender_fair_german(paths, "gpt.all", "test"),
        )
        return
    (example,) = gender_fair_german.read_gender_fair_german(paths, "gpt.all", "test")
    actual = (example.id, example.extra["label"], example.extra["neutral"])
    assert actual == ("7", "feminine", "L; M")


@cases(("", "fr", r"tgt_lang: .* expected de, got 'fr'"), ("M", "de", "row 0: label: .* got 'M'"))
def test_other_languages_and_labels_are_refused(label: str, lang: str, message: str) -> None:
    row = {"masculine": "Leser", "feminine": "Leserinnen", "label": label}
    refuses(message, compute_metric, "gender_fair_forms", ["Die Leser."], [row], tgt_lang=lang)
