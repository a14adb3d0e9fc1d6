from __future__ import annotations

from cc_hf.prompting.translation_replies import parse_translation
from tests.helpers.cases import cases_by_words


@cases_by_words(
    ("reply", "source", "lang", "expected"),
    [
        ("Er ging.", "He left.", "de", "Er ging."),
        ('["Er ging."]', "He left.", "de", "Er ging."),
        ("„Er ging.“\n", "He left.", "de", "Er ging."),
        ("«Он ушёл.»", "He left.", "ru", "Он ушёл."),
        ('"Ja" und "Nein"', "Yes and no", "de", '"Ja" und "Nein"'),
        ("Anna war in London.", "Anna was in London.", "de", "Anna war in London."),
        ("", "He left.", "de", ""),
        ('""', "He left.", "de", ""),
        ("He left!", "He left.", "de", ""),
        ("As an AI, I cannot translate this.", "He left.", "de", ""),
        ("I'm sorry, but this is a fragment.", "He left.", "de", ""),
        ("I’m sorry, no.", "He left.", "de", ""),
        ("I cannot translate this.", "He left.", "de", ""),
        ("The sentence is not complete.", "He left.", "de", ""),
        ("That does not make sense because it is not a sentence.", "He left.", "de", ""),
        ("Er ging.", "He left.", "ru", ""),
        ("I'm sorry.", "Es tut mir leid.", "en", "I'm sorry."),
    ],
)
def test_only_translations_are_valid(reply: str, source: str, lang: str, expected: str) -> None:
    parsed = parse_translation(reply, source, src_lang="", tgt_lang=lang)
    assert parsed.text == expected
    assert parsed.is_valid == bool(expected)


@cases_by_words(
    ("reply", "expected"),
    [
        ('"Match" is a game. Thus the German translation is: "Spiel: gut."', "Spiel: gut."),
        ('The translation is: "Holz." No, the German translation is: "Spiel."', "Spiel."),
        ("So, in German: Das Spiel.", "Das Spiel."),
        ("As an AI language model, I cannot help.", ""),
    ],
)
def test_the_quoted_translation_follows_the_reasons(reply: str, expected: str) -> None:
    assert parse_translation(reply, "The match.", tgt_lang="de", parser="quoted").text == expected
