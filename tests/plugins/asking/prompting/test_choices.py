from cc_hf.plugins.asking.prompting.choices import parse_choice
from cc_hf.plugins.asking.prompting.reply_parts import alternatives, without_element
from cc_hf.plugins.asking.prompting.translation_replies import parse_translation
from tests.helpers.usual import cases, refuses

_DE = "Die Ärztin beendete ihre Schicht."


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
    ("<think>Translation 1 has a woman.</think>\n\nTranslation 2", "2"),
    ("<think>Translation 1 is right. Or translation 2?</think> 1", "1"),
    ("Translation 1 fits? No.</think>\n**2**", "2"),
    ("<think>Therefore, translation 2 is right.", ""),
    ("<think>Translation 1.</think> <think>Therefore, translation 2 is right.", ""),
    ("<think>Therefore, translation 2 is right.</think>", ""),
    ("\\boxed{2}", "2"),
    ("$\\boxed{2}$", "2"),
    ("\\[\\boxed{\\text{Translation 1}}\\]", "1"),
    ("In translation 1 it is a cup, in translation 2 tea. \\boxed{\\text{Translation 2}}", "2"),
    ("Translation 1 is better.\n\nFinal answer: $\\boxed{1}$.", "1"),
    ("\\boxed{1} or \\boxed{2}", ""),
    ("Translation 1 has \\boxed{her}.", ""),
    ("\\boxed{3}", ""),
    ("**2**", "2"),
    ("Final answer: 2", "2"),
    ("**Final answer:** Translation 1", "1"),
    ("```\nTranslation 2\n```", "2"),
    ("<answer>2</answer>", "2"),
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
    assert parse_choice("So it is \\boxed{\\text{the vase}}.", options).number == "1"


@cases("conclusion", "last", "exact")
def test_a_choice_is_never_read_from_a_thought_that_was_cut_off(parser: str) -> None:
    parsed = parse_choice("<think>Translation 1 is right. Translation 2", parser=parser)
    assert (parsed.number, parsed.reason) == ("", "the reply is a thought that was cut off")
    assert parse_choice("<think>Translation 2</think> 1", parser=parser).number == "1"


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
    ('Er ging."', "He left.", "de", "Er ging."),
    ('Ein Rohr von 5"', 'A pipe of 5"', "de", 'Ein Rohr von 5"'),
    ('Ein Rohr von 5"', "A pipe of 5 inches", "de", 'Ein Rohr von 5"'),
    ('Er sagte: „Nein."', "He said: “No.”", "de", 'Er sagte: „Nein."'),
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
    ("<think>He? Sie ging. No.</think> Er ging.", "He left.", "de", "Er ging."),
    ("He, so a man.</think>Er ging.", "He left.", "de", "Er ging."),
    ("Here is the German translation: Er ging.", "He left.", "de", "Er ging."),
    ("Sure! Here's the translation:\n\n```\nEr ging.\n```", "He left.", "de", "Er ging."),
    ("``` Er ging. ```", "He left.", "de", "Er ging."),
    ('{"translation": "Er ging."}', "He left.", "de", "Er ging."),
    ('Translation:\n```json\n{"de": "Er ging."}\n```', "He left.", "de", "Er ging."),
    ('Er ging. (Note: "he" is a man.)', "He left.", "de", "Er ging."),
    ('"Er ging."\n\nNote: a man.', "He left.", "de", "Er ging."),
    ("**Er ging.**", "He left.", "de", "Er ging."),
    ("<translation>Er ging.</translation>", "He left.", "de", "Er ging."),
    ("Er sagte: Nein.", "He said: No.", "de", "Er sagte: Nein."),
    ("Übersetzung: eine Kunst", "Translation: an art", "de", "Übersetzung: eine Kunst"),
    ("1. Er ging. 2. Er kam.", "1. He left. 2. He came.", "de", "1. Er ging. 2. Er kam."),
    ("- Ja.\n- Nein.", "- Yes. - No.", "de", ""),
    ("- Ja.\n- Nein.", "- Yes.\n- No.", "de", "- Ja. - Nein."),
    ("```\nEr ging.\n```", "```\nHe left.\n```", "de", "``` Er ging. ```"),
    ("Er tippte <think>.", "He typed <think>.", "de", "Er tippte <think>."),
    (
        "Es tut mir leid, ich kann nicht.",
        "I'm sorry, I can't.",
        "de",
        "Es tut mir leid, ich kann nicht.",
    ),
    ("Er ging.```\n\nNote: a man.", "He left.", "de", "Er ging."),
    ("Er tippte ```.", "He typed ```.", "de", "Er tippte ```."),
    ("Keiner.", "None.", "de", "Keiner."),
)
def test_only_translations_are_valid(reply: str, source: str, lang: str, expected: str) -> None:
    parsed = parse_translation(reply, source, src_lang="", tgt_lang=lang)
    assert (parsed.text, parsed.is_valid) == (expected, bool(expected))


@cases(
    ("<think>Er ging. Or Sie ging", "the reply is a thought that was cut off"),
    ("<think>a</think>", "the reply is empty"),
    ("Translation:", "the reply is empty"),
    ("N/A", "the reply is a placeholder"),
    ("...", "the reply is a placeholder"),
    ("{}", "the reply is a placeholder"),
    ('{"translation": null}', "the reply is a placeholder"),
    ("Ich kann diesen Text leider nicht übersetzen.", "the reply is a refusal or an explanation"),
    (
        "I won't translate this. The translation is: Er ging.",
        "the reply is a refusal or an explanation",
    ),
    (
        '["Er ging.", "Sie ging."]',
        "the reply is JSON in which several texts may be the translation",
    ),
    ('{"error": "empty"}', "the reply is JSON in which several texts may be the translation"),
    ("1. Er ging.\n2. Er fuhr.", "the reply has several alternatives"),
    ("Option 1: Er ging. Option 2: Er fuhr.", "the reply has several alternatives"),
    ("Er ging.``` or ```Er fuhr.```", "the reply has other text beside a code fence"),
    ("Er ging.\nEr fuhr weg.", "the reply has more lines than the source"),
    ("He left.\nEr ging.", "the reply has more lines than the source"),
    ("Er <think>ging</think> fort.", "the reply has more lines than the source"),
)
def test_what_is_doubtful_is_no_translation(reply: str, reason: str) -> None:
    parsed = parse_translation(reply, "He left.", tgt_lang="de")
    assert (parsed.text, parsed.reason) == ("", reason)


@cases(
    ('"Match" is a game. Thus the German translation is: "Spiel: gut."', "Spiel: gut."),
    ('The translation is: "Holz." No, the German translation is: "Spiel."', "Spiel."),
    ("So, in German: Das Spiel.", "Das Spiel."),
    ('<think>The translation is: "Das Zündholz."</think> The translation is: "Spiel."', "Spiel."),
    ('<think>The translation is: "Das Zündholz."', ""),
    ("So, in German: Das Spiel. (Note: a game)", "Das Spiel."),
    ("In German:\n1. Das Spiel.\n2. Das Streichholz.", ""),
    ("As an AI language model, I cannot help.", ""),
)
def test_the_quoted_translation_follows_the_reasons(reply: str, expected: str) -> None:
    assert parse_translation(reply, "The match.", tgt_lang="de", parser="quoted").text == expected


@cases(
    (f"<translation>{_DE}</translation>", _DE),
    (f"<answer>\n{_DE}\n</answer>", _DE),
    (f"<output>{_DE}</output>", _DE),
    (f"<b>{_DE}</b>", f"<b>{_DE}</b>"),
    (f"<answer>{_DE}", f"<answer>{_DE}"),
    ("<answer>a</answer> <answer>b</answer>", "<answer>a</answer> <answer>b</answer>"),
)
def test_an_element_around_the_whole_text_is_removed(text: str, expected: str) -> None:
    assert without_element(text) == expected


@cases(
    "1. Sie kam.\n2. Er kam.",
    "Here are two options:\n\n1. Sie kam.\n2. Er kam.",
    "1) Sie kam. 2) Er kam.",
    "a) Sie kam. b) Er kam.",
    "Option 1: Sie kam. Option 2: Er kam.",
    "**Option 1:** Sie kam.\n\n**Option 2:** Er kam.",
    "Übersetzung 1: Sie kam.\nÜbersetzung 2: Er kam.",
    "Version A: Sie kam.\nVersion B: Er kam.",
    "- Sie kam.\n- Er kam.",
    "* Sie kam.\n* Er kam.",
)
def test_alternatives_are_listed(text: str) -> None:
    assert alternatives(text) == ["Sie kam.", "Er kam."]


@cases(
    _DE,
    "",
    "1. Sie kam.",
    "- Sie kam.",
    "Sie kam als 1. und er als 2. ins Ziel.",
    "1. FC Köln schlug den 2. FC Bayern.",
    "Am 1. Mai kam sie. 2. Mai war frei.",
    "Sie kam um 3.15 an - er nicht.",
    "Sie (a) und er (b) kamen.",
    "Sie kam.\nEr kam.",
)
def test_other_texts_are_no_alternatives(text: str) -> None:
    assert alternatives(text) == []


@cases(" ", "\n", "\n ", "` ", "*_", "{[", "<answer>", "(Note ", "1. ", ": ")
def test_long_texts_of_blanks_and_marks_are_read(part: str) -> None:
    """Patterns that go back over a text again and again would not end here."""
    assert alternatives(without_element(part * (50_000 // len(part)))) == []
