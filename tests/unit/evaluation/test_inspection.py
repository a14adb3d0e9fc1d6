"""Whatever stands in a file: wrapped, refused or meaningless translations never move a figure
without a word.
"""

import csv
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.inspection import known_texts
from cc_hf.evaluation.material import Material
from cc_hf.results import EvaluationResult
from tests.helpers.usual import cases, refuses, write_text

_ROWS = (
    ("The doctor finished her shift.", "doctor", "female", "Die Ärztin beendete ihre Schicht."),
    (
        "The nurse said that he was tired.",
        "nurse",
        "male",
        "Der Krankenpfleger sagte, dass er müde sei.",
    ),
    ("The lawyer lost her case.", "lawyer", "female", "Die Anwältin verlor ihren Fall."),
    (
        "The engineer showed us his plans.",
        "engineer",
        "male",
        "Der Ingenieur zeigte uns seine Pläne.",
    ),
    ("The teacher forgot her keys.", "teacher", "female", "Die Lehrerin vergaß ihre Schlüssel."),
    ("The baker sold his shop.", "baker", "male", "Der Bäcker verkaufte seinen Laden."),
)
_PLAIN = [row[3] for row in _ROWS]
_REFUSED = "I'm sorry, but I can't help with that."
_UNTRANSLATED = {"n_untranslated": 2, "n_blank": 2}


@pytest.fixture
def material(tmp_path: Path) -> Material:
    path = tmp_path / "test.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("source", "focus", "gold"), *(row[:3] for row in _ROWS)])
    return cc_hf.load_material(path, tgt_lang="de")


def _judged(
    material: Material, texts: Sequence[str], clean: bool | None = None
) -> tuple[EvaluationResult, list[str]]:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", ResultWarning)
        result = cc_hf.evaluate(material, translations=list(texts), clean=clean)
    return result, [str(warning.message) for warning in given]


def _wrapped(form: str) -> list[str]:
    return [form % text for text in _PLAIN]


@cases(
    "Here is the German translation:\n\n%s",
    "Hier ist die Übersetzung: %s",
    "```\n%s\n```",
    '{"translation": "%s"}',
    '"%s"',
    "„%s“",
    "&quot;%s&quot;",
    "<seg>%s</seg>",
    "__de__ %s",
    "<think>She or he?</think>\n%s",
    "%s </s>",
)
def test_wrapped_files_are_refused_and_cleaned(form: str, material: Material) -> None:
    refuses(
        "expected translations alone, but 6 of 6 .* `clean`.*--as-is",
        _judged,
        material,
        _wrapped(form),
    )
    plain, _ = _judged(material, _PLAIN)
    cleaned, _ = _judged(material, _wrapped(form), clean=True)
    assert plain.scores["accuracy"] == 1
    assert cleaned.scores == plain.scores
    assert "|clean:yes|" in cleaned.signature
    assert "clean:" not in plain.signature
    as_is, given = _judged(material, _wrapped(form), clean=False)
    assert "|clean:no|" in as_is.signature
    assert as_is.counts["n_wrapped"] == len(_PLAIN)
    assert "6 of 6 translations stand in text that is no translation" in as_is.why_unfit()
    assert any(note in given for note in as_is.notes)


def test_a_preface_moves_verdicts(material: Material) -> None:
    as_is, _ = _judged(material, _wrapped("Here is the German translation:\n\n%s"), clean=False)
    assert as_is.scores["accuracy"] == 4 / 6


@cases("\u200f%s\u200f", "\u200b%s", "\ufeff%s")
def test_invisible_characters_move_no_figure(form: str, material: Material) -> None:
    plain, _ = _judged(material, _PLAIN)
    marked, given = _judged(material, _wrapped(form))
    assert marked.scores == plain.scores
    assert "n_wrapped" not in marked.counts
    assert any("invisible characters" in note for note in marked.notes)
    assert not any("invisible" in message for message in given)


def test_some_wrapped_translations_are_a_reason_not_to_cite(material: Material) -> None:
    result, given = _judged(material, [f"```{_PLAIN[0]}```", *_PLAIN[1:]])
    assert result.counts["n_wrapped"] == 1
    assert "wrapped" in result.unfit
    assert any("1 of 6 contain a code fence" in message for message in given)


@cases(
    (["N/A", "nan"], _UNTRANSLATED),
    ([_REFUSED, _REFUSED], _UNTRANSLATED),
    (["-", "TODO"], _UNTRANSLATED),
    (["{}", "..."], _UNTRANSLATED),
    (["<seg></seg>", "<think>She?</think>"], _UNTRANSLATED),
    (["Die Übersetzung lautet: N/A", "```\n```"], _UNTRANSLATED),
    (["Es tut mir leid, aber ich kann diesen Text nicht übersetzen.", "—"], _UNTRANSLATED),
)
def test_refusals_and_placeholders_are_not_right(
    texts: list[str], expected: Mapping[str, int], material: Material
) -> None:
    result, given = _judged(material, [*texts, *_PLAIN[2:]])
    assert expected.items() <= result.counts.items()
    assert [j.is_correct for j in result.judgements] == [False, False, True, True, True, True]
    assert [j.translation for j in result.judgements[:2]] == texts
    assert "2 of 6 translations are refusals or placeholders" in "".join(given)
    assert "|blank:incorrect|" in result.signature
    as_is, _ = _judged(material, [*texts, *_PLAIN[2:]], clean=False)
    assert "n_untranslated" not in as_is.counts


def test_both_genders_at_once_have_no_verdict(material: Material) -> None:
    both = ["Der*die Ärzt*in beendete die Schicht.", "Der Pfleger/die Pflegerin war müde."]
    result, given = _judged(material, [*both, *_PLAIN[2:]])
    assert [j.verdict for j in result.judgements[:2]] == ["inconclusive"] * 2
    assert {j.predicted for j in result.judgements} == {"both", ""}
    assert result.counts["n_both_genders"] == result.counts["n_inconclusive"] == 2
    assert {c.category: c.n_inconclusive for c in result.categories} == {"female": 1, "male": 1}
    assert "2 of 6 translations name both genders" in "".join(given)
    assert result.counts["n_correct"] == 4


def test_unknown_characters_of_the_embedded_evaluator_are_named(material: Material) -> None:
    result, _ = _judged(material, ["Die Ärztin ging @home.", *_PLAIN[1:]])
    assert "1 of 6 translations have characters that cc-tiny-en-de does not know" in "".join(
        result.notes
    )


_REFERENCES = [
    {"reference": "Sie ist eine gute Ärztin.", "contrastive_reference": "Er ist ein guter Arzt."}
] * 4
_RIGHT, _WRONG = "Sie ist eine gute Ärztin.", "Er ist ein guter Arzt."


def _by_words(predictions: list[str], **options: Any) -> dict[str, Any]:
    metric = cc_hf.load_metric("gender_accuracy")
    return dict(
        metric.compute(predictions=predictions, references=_REFERENCES, tgt_lang="de", **options)
    )


@cases(
    "E\u200br ist ein gut\u200ber Ar\u200bzt.",
    "Er ist ein guter Ar\u00adzt.",
    "Er ist \u2060ein guter Arzt.",
)
def test_invisible_characters_do_not_change_words(text: str) -> None:
    assert _by_words([text] * 4)["accuracy"] == 0


def test_words_in_pieces_are_refused_or_cleaned() -> None:
    pieces = ["▁Er ▁ist ▁ein ▁guter ▁Arzt."] * 4
    refuses("4 of 4 contain marks of subwords", _by_words, pieces)
    assert _by_words(pieces, clean=True)["accuracy"] == 0


def test_metrics_of_words_stay_fit_where_figures_agree() -> None:
    harmless = _by_words([f'"{_RIGHT}"', f'"{_WRONG}"', _RIGHT, _WRONG])
    assert "n_wrapped" not in harmless
    assert any("2 of 4 stand in quotes" in note for note in harmless["notes"])
    moved = _by_words([f"{_RIGHT} (Note: not Er ist ein guter Arzt.)", _RIGHT, _RIGHT, _RIGHT])
    assert moved["n_wrapped"] == 1
    assert "stand in text" in moved["unfit"]


def test_tokenised_text_is_a_warning_where_an_evaluator_scores_it(material: Material) -> None:
    texts = [text.replace(".", " .").replace(",", " ,") for text in _PLAIN]
    result, given = _judged(material, texts)
    assert "n_wrapped" not in result.counts
    assert any("6 of 6 are tokenised" in message for message in given)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResultWarning)
        figures = _by_words([_RIGHT.replace(".", " .")] * 4)
    assert any("4 of 4 are tokenised" in note for note in figures["notes"])
    assert figures["accuracy"] == 1


def test_a_refusal_is_not_right_by_words() -> None:
    figures = _by_words([_REFUSED, _RIGHT, _RIGHT, _RIGHT])
    assert (figures["accuracy"], figures["n_untranslated"]) == (0.75, 1)


def test_another_value_of_clean_is_refused(material: Material) -> None:
    refuses("clean: expected True, False or None, got 'yes'", _judged, material, _PLAIN, "yes")


def test_a_table_is_not_read_as_lines(material: Material, tmp_path: Path) -> None:
    path = write_text(tmp_path / "mt.csv", "".join(f'"{text}"\n' for text in _PLAIN))
    assert cc_hf.evaluate(material, translations=path).scores["accuracy"] == 1
    path.write_text("".join(f"{i},{text}\n" for i, text in enumerate(_PLAIN)), encoding="utf-8")
    refuses(
        "mt.csv: line 1: expected one cell.* name the columns source and translation",
        cc_hf.evaluate,
        material,
        translations=path,
    )


def test_references_say_what_a_translation_may_contain() -> None:
    rows: list[dict[str, Any]] = [
        {"correct_sources": ["a", "b"]},
        {"reference": "c"},
        {"category": "x"},
    ]
    assert known_texts((), rows) == ("a", "c", "")


def test_results_with_cleaned_texts_are_read_again(material: Material) -> None:
    result, _ = _judged(material, _wrapped("```%s```"), clean=True)
    assert EvaluationResult.from_json(json.dumps(json.loads(result.to_json()))) == result


def test_a_single_wrapped_translation_is_cleaned_and_counted(material: Material) -> None:
    examples = material.examples * 50
    texts = [f"<b>{_PLAIN[0]}</b>", *_PLAIN[1:], *_PLAIN * 49]
    rows = [replace(example, id=str(number)) for number, example in enumerate(examples)]
    result, _ = _judged(Material("en", "de", rows), texts, clean=True)
    assert result.notes[0] == "1 of 300 translations were cleaned"
    assert result.scores["accuracy"] == 1
