from cc_hf.prompting.choices import parse_choice
from cc_hf.prompting.translation_replies import parse_translation
from tests.helpers.usual import cases, refuses


@cases(
    ("Translation 2", "2"),
    ("translation two.", "2"),
    ("**Translation 1**", "1"),
    ("2", "2"),
    ("(1)", "1"),
    ("Option #2 is better.", "2"),
    ("The second translation is better.", "2"),
    ("The second option", "2"),
    ("Filler no. 1", "1"),
    ("Translation: 2", "2"),
    ("Translation 2, because 'it' is the first noun.", "2"),
    ("Both translations are fine, but translation 1 is slightly better.", "1"),
    ("Both read well, but Translation 2 is slightly better as it is more common.", "2"),
    ("Translation 1 or 2?", ""),
    ("Translation 12", ""),
    ("Neither translation is correct.", ""),
    ("Neither translation 1 nor translation 2 is correct.", ""),
    ("Both translation 1 and translation 2 are correct.", ""),
    ("Option 1 and option 2 are equally good, so I cannot decide.", ""),
    ("In translation 1 it is the milk. In translation 2 it is the cup.", ""),
    ('In translation 1 "er" is tea; in 2 "sie" is a cup. It follows: translation 2.', "2"),
    (
        "In translation 1 it is the cup, in translation 2 the tea. Therefore, it follows that"
        " the correct translation is translation 1.",
        "1",
    ),
    ("Apt is translation 1. Therefore, the correct translation is Translation 2.", "2"),
    ("The place is the alley, not the cellar. Therefore, the correct translation 1.", "1"),
    ("Translation 1 is better than translation 2.", "1"),
    ("I prefer translation 2 over translation 1.", "2"),
    ("Translation 1 is right, not translation 2.", "1"),
    ("The correct translation is not translation 1 but translation 2.", "2"),
    ("Therefore, translation 2 is incorrect and translation 1 is correct.", "1"),
    ("Translation 1 is incorrect. Translation 2 has the right pronoun.", "2"),
    ("Translation 1 is wrong.", ""),
    (
        "Translation 1 wrongly has the feminine, while Translation 2 has the masculine. Based on"
        " this, the better translation would be Translation 2.",
        "2",
    ),
    (
        "Read so, translation 1 would be the better option. Read otherwise, translation 1 would"
        " be better as well. Therefore, translation 2 is the better translation.",
        "2",
    ),
    ("The gap is the tea, so the answer is 2.", "2"),
    ("Übersetzung 2 ist besser.", "2"),
    ("La traduction 2 est meilleure.", "2"),
    ("Перевод 1 лучше.", "1"),
    ("As an AI language model, I cannot choose.", ""),
    ("The sentence is incomplete.", ""),
    ("Ich weiß es nicht.", ""),
    ("", ""),
    (" \n", ""),
)
def test_the_concluding_mention_of_an_option_counts(reply: str, number: str) -> None:
    parsed = parse_choice(reply)
    assert parsed.number == number
    assert parsed.is_valid == bool(number) != bool(parsed.reason)


def test_a_reply_may_be_the_text_of_one_option() -> None:
    options = ["the vase", "the bouquet"]
    assert parse_choice('"The bouquet".', options).number == "2"
    assert parse_choice("Filler: the vase", options).number == "1"
    assert not parse_choice("the vase of the bouquet", options).is_valid
    assert not parse_choice("the vase", ["the vase", "the vase"]).is_valid


def test_other_parsers_read_other_mentions() -> None:
    reply = "The correct translation is translation 1. I also read translation 2."
    assert (parse_choice(reply).number, parse_choice(reply, parser="last").number) == ("1", "2")
    assert not parse_choice(reply, parser="exact").is_valid
    assert parse_choice("Translation 2.", parser="exact").number == "2"
    refuses("parser: expected one of conclusion, last, exact", parse_choice, reply, parser="first")


@cases(
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
)
def test_only_translations_are_valid(reply: str, source: str, lang: str, expected: str) -> None:
    parsed = parse_translation(reply, source, src_lang="", tgt_lang=lang)
    assert (parsed.text, parsed.is_valid) == (expected, bool(expected))


@cases(
    ('"Match" is a game. Thus the German translation is: "Spiel: gut."', "Spiel: gut."),
    ('The translation is: "Holz." No, the German translation is: "Spiel."', "Spiel."),
    ("So, in German: Das Spiel.", "Das Spiel."),
    ("As an AI language model, I cannot help.", ""),
)
def test_the_quoted_translation_follows_the_reasons(reply: str, expected: str) -> None:
    assert parse_translation(reply, "The match.", tgt_lang="de", parser="quoted").text == expected
