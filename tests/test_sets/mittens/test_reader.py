"""MiTTenS, on rows that are written for the test in its format: none of its own are here."""

from pathlib import Path

import cc_hf
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample
from cc_hf.test_sets.mittens.reader import DECLARATION, in_gender
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cases, fails


def test_passages_are_contrasted_with_the_other_gender(tmp_path: Path) -> None:
    data = lay_out_samples("mittens", "en-de", tmp_path, tmp_path)
    examples: list[ContrastiveSourceExample] = cc_hf.load_examples(
        "mittens", "en-de", data_dir=data
    )
    # The last passage names both genders, so nothing tells whose is meant.
    assert [example.id for example in examples] == ["0", "1", "2"]
    wife, husband, nurse = examples
    assert wife.focus.text == "wife"
    assert wife.incorrect_sources == husband.correct_sources == (husband.source,)
    assert (wife.gold, husband.gold) == ("female", "male")
    assert nurse.incorrect_sources == ('The guard told the nurse that he was "late".',)
    assert wife.extra == {"eval_set": "coref:made", "reference": "de 0"}
    twins = DECLARATION.twins
    assert twins is not None
    assert twins(wife) == (husband.source, "woman")
    assert twins(husband) == (husband.source, "man")


def test_translations_into_english_are_judged_by_their_pronouns(tmp_path: Path) -> None:
    data = lay_out_samples("mittens", "ln-en", tmp_path, tmp_path)
    examples: list[ContrastiveTranslationExample] = cc_hf.load_examples(
        "mittens", "ln-en", split="validation", data_dir=data
    )
    assert [example.id for example in examples] == ["4", "5", "6"]
    assert examples[0].contrastive_translations == ("My husband has his own shop.",)
    material = cc_hf.load_material("mittens", "ln-en", data_dir=data)
    texts = ["His wife has his own shop.", "The husband has a shop.", "The nurse was late."]
    result = cc_hf.evaluate(material, translations=texts, metric="gender_accuracy")
    verdicts = [(judgement.verdict, judgement.predicted) for judgement in result.judgements]
    assert verdicts == [("incorrect", "both"), ("correct", "male"), ("correct", "")]


@cases(
    (
        "The women met my aunt and her actress.",
        "male",
        "The men met my uncle and his actor.",
    ),
    ("Sons and Kings like HIS actors.", "female", "Daughters and Queens like HER actresses."),
    ("A manager told the actor.", "male", "A manager told the actor."),
)
def test_pronouns_and_nouns_change_their_gender(text: str, gender: str, expected: str) -> None:
    assert in_gender(text, gender) == expected


def test_a_pair_that_the_file_lacks_is_named(tmp_path: Path) -> None:
    data = lay_out_samples("mittens", "en-de", tmp_path, tmp_path)
    message = "expected rows of fi-en in test, got none; the file has en-de"
    fails(DataError, message, cc_hf.load_examples, "mittens", "fi-en", data_dir=data)


def test_a_row_of_another_form_is_named(tmp_path: Path) -> None:
    data = lay_out_samples("mittens", "en-de", tmp_path, tmp_path)
    path = data / "google-research-datasets/mittens/mittens_dataset_v5.csv"
    path.write_text(path.read_text("utf-8").replace("masculine", "neither", 1), "utf-8")
    message = "encoded_gender: expected one of feminine, masculine, got 'neither'"
    fails(DataError, message, cc_hf.load_examples, "mittens", "en-de", data_dir=data)
