"""Files as people bring them: each case comes out as its README says what is right."""

from pathlib import Path

import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.prompting.translation_replies import parse_translation
from tests.helpers.usual import cases

_REFUSED = "expected translations alone, but 8 of 8 "
_SOURCE = "The doctor finished her shift."
_TRANSLATION = "Die Ärztin beendete ihre Schicht."

pytestmark = pytest.mark.filterwarnings("ignore::cc_hf.errors.ResultWarning")


def _judged(folder: Path, *, clean: bool | None = None) -> cc_hf.EvaluationResult:
    [translations] = folder.glob("mt.*")
    material = cc_hf.load_material(folder / "test.csv", tgt_lang="de")
    return cc_hf.evaluate(material, translations=translations, clean=clean)


@cases(
    ("begin with words", "w1-chat-preface"),
    ("are JSON", "w3-json-as-text"),
    ("stand in quotes", "w4-quotes"),
    ("stand in quotes", "w6-html-entities"),
    ("contain marks of subwords", "w9-sentencepiece"),
    ("begin with a number", "w10-id-column"),
    ("contain the thinking", "t1-thinking"),
)
def test_wrapped_files_are_refused_or_cleaned(kind: str, name: str, shared: Path) -> None:
    folder = shared / "cases/field" / name
    with pytest.raises(InputError, match=f"{_REFUSED}{kind}"):
        _judged(folder)
    assert _judged(folder, clean=True).scores["accuracy"] == 1
    assert "wrapped" in _judged(folder, clean=False).unfit


@cases(
    (1, {}, "w7-rtl-marks"),
    (1, {}, "f9-csv-without-header"),
    (0.625, {"n_untranslated": 3}, "r1-placeholders"),
    (0.75, {"n_untranslated": 2}, "r2-refusals-count-as-right"),
    (0, {"n_both_genders": 7, "n_inconclusive": 7}, "k1-both-forms"),
)
def test_other_files_are_judged_and_counted(
    accuracy: float, counts: dict[str, int], name: str, shared: Path
) -> None:
    result = _judged(shared / "cases/field" / name)
    assert result.scores["accuracy"] == accuracy
    assert counts.items() <= result.counts.items()
    assert result.notes or name.startswith("f9")


def test_invisible_characters_do_not_make_a_wrong_translation_right(shared: Path) -> None:
    text = (shared / "cases/field/w11-zero-width-in-words/text.txt").read_text(encoding="utf-8")
    reference = {
        "reference": "Sie ist eine gute Ärztin.",
        "contrastive_reference": "Er ist ein guter Arzt.",
    }
    figures = cc_hf.load_metric("gender_accuracy").compute(
        predictions=[text.strip()], references=[reference], tgt_lang="de"
    )
    assert figures["accuracy"] == 0


def test_replies_are_read_without_what_is_no_translation(shared: Path) -> None:
    texts = (shared / "cases/field/t2-ask-translate-replies/texts.txt").read_text(encoding="utf-8")
    languages = {"src_lang": "en", "tgt_lang": "de"}
    for text in texts.splitlines():
        assert parse_translation(text, _SOURCE, **languages).text == _TRANSLATION, text
