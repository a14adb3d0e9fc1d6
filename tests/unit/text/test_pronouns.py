from __future__ import annotations

from cc_hf.text.pronouns import pronoun_gender
from tests.helpers.cases import cases


@cases(
    ("de", ["er", "Er", " er "], "male"),
    ("de", ["sie", "SIE"], "female"),
    ("de", ["es"], "neutral"),
    ("fr", ["il", "ils", "Il"], "male"),
    ("fr", ["elle", "elles"], "female"),
    ("ru", ["он", "oн", "Oн", "oH"], "male"),
    ("ru", ["она", "oна", "онa", "oнa", "Oнa"], "female"),
    ("ru", ["оно", "oнo", "оHо"], "neutral"),
    ("ru", ["они", "oни", "on", ""], "unknown"),
    ("de", ["ihn", "oнa", ""], "unknown"),
    ("fi", ["hän"], "unknown"),
)
def test_forms_of_pronouns_show_their_gender(lang: str, forms: list[str], gender: str) -> None:
    assert {pronoun_gender(form, lang) for form in forms} == {gender}
