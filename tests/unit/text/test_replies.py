"""What stands around a translation, and in its place. Each kind has neighbours, which must stay as
they are: dialogue, sentences with a colon, lists, apologies in the source."""

from collections.abc import Callable

import pytest

from cc_hf.text import replies
from cc_hf.text.replies import (
    is_json,
    is_placeholder,
    is_refusal,
    json_translation,
    without_fence,
    without_note,
    without_preface,
    without_thinking,
)
from tests.helpers.usual import cases

_DE = "Die Ärztin beendete ihre Schicht."
_EN = "The doctor finished her shift."


@cases(
    f"<think>Der Arzt? No.</think> {_DE}",
    f"<think>\n\n</think>\n\n{_DE}",
    f"<THINKING>a</THINKING>\n{_DE}",
    f"<reasoning>a</reasoning>{_DE}",
    f"<reflection>a</reflection>{_DE}",
    f"<thought>a</thought>{_DE}",
    f"<seed:think>a</seed:think>{_DE}",
    f"&lt;think&gt;a&lt;/think&gt;{_DE}",
    f"<think>a</think><reflection>b</reflection>{_DE}",
    f"<think>a <think>b</think> c</think>{_DE}",
    f"◁think▷a◁/think▷{_DE}",
    f"[THINK]a[/THINK]{_DE}",
    f"<|START_THINKING|>a<|END_THINKING|>{_DE}",
    f"Her shift, so a woman.\n</think>\n\n{_DE}",
    f"{_DE}<think>Is it right?</think>",
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant"
    f"<|channel|>final<|message|>{_DE}<|return|>",
    f"analysisThe user wants German.assistantfinal{_DE}",
    f"Thinking...\nHer shift.\n...done thinking.\n\n{_DE}",
    f"Thinking... Her shift. ...done thinking. {_DE}",
)
def test_thoughts_are_removed(text: str) -> None:
    assert without_thinking(text) == _DE


@cases(
    "<think>Der Arzt beendete",
    f"<think>a</think>{_DE}<think>But",
    "[THINK] a",
    "◁think▷a</think>",
    "<|channel|>analysis<|message|>a",
    "analysisThe user wants German.",
    "Thinking...\nHer shift.",
)
def test_a_thought_that_does_not_end_leaves_no_text(text: str) -> None:
    assert without_thinking(text) is None


@cases(
    _DE,
    "",
    "Ich denke, also bin ich.",
    "Thinking... I forgot.",
    "a < b > c",
    "analysis of the data",
    " <b>Ja</b> ",
)
def test_a_text_without_thoughts_is_unchanged(text: str) -> None:
    assert without_thinking(text) == text


def test_texts_on_both_sides_of_a_thought_are_lines() -> None:
    assert without_thinking("Sure. <think>a</think> Ja.") == "Sure.\nJa."
    assert without_thinking("<think>a</think>") == ""


@cases(
    f"```\n{_DE}\n```",
    f"```text\n{_DE}\n```\n",
    f"~~~de\n{_DE}\n~~~",
    f"````\n{_DE}\n````",
    f"``` {_DE} ```",
    f"```{_DE}```",
    f"```text {_DE}```",
    f"{_DE}\n```",
    f"{_DE}```",
    f"`{_DE}`",
    f"``{_DE}``",
)
def test_a_fence_around_the_whole_text_is_removed(text: str) -> None:
    assert without_fence(text) == _DE


@cases(
    _DE,
    "Tippe `ls` ein.",
    "`a` und `b`",
    f"```\n{_DE}",
    "Tippe ``` ein.",
    "```",
    f"Hier:\n```\n{_DE}\n```",
    "```\na\n```\n```\nb\n```",
    "`",
    "``",
    "~ 5 ~",
)
def test_other_fences_stay(text: str) -> None:
    assert without_fence(text) == text


@cases(
    ('{"translation": "Sie kam."}', "Sie kam."),
    ('{"translation": " Sie kam.\\n"}', "Sie kam."),
    ('{"translatedText": "Sie kam."}', "Sie kam."),
    ('{"de": "Sie kam."}', "Sie kam."),
    ('{"German": "Sie kam."}', "Sie kam."),
    ('{"Übersetzung": "Sie kam."}', "Sie kam."),
    ('["Sie kam."]', "Sie kam."),
    ('{"x": "Sie kam."}', "Sie kam."),
    ('{"translations": [{"text": "Sie kam."}]}', "Sie kam."),
    (
        '{"translations": [{"detected_source_language": "EN", "text": "Sie kam."}]}',
        "Sie kam.",
    ),
    ('{"data": {"translations": [{"translatedText": "Sie kam."}]}}', "Sie kam."),
    ('{"source": "She came.", "translation": "Sie kam."}', "Sie kam."),
    ('{"translation": "Sie kam.", "note": "feminine"}', "Sie kam."),
    ('{"id": "7", "text": "Sie kam."}', "Sie kam."),
    ('{"en": 5, "output": "Sie kam."}', "Sie kam."),
    ("{'translation': 'Sie kam.'}", "Sie kam."),
    ("['Sie kam.']", "Sie kam."),
    ("{}", ""),
    ("[]", ""),
    ('{"translation": null}', ""),
    ('{"translation": " "}', ""),
    ("[null]", ""),
)
def test_the_translation_in_json_is_read(text: str, expected: str) -> None:
    assert json_translation(text) == expected


@cases(
    _DE,
    "",
    '"Sie kam."',
    "null",
    "[Applaus]",
    "{Sie kam.}",
    '{"translation": "Sie kam."',
    "{'Sie', 'kam'}",
    '["Sie kam.", "Er kam."]',
    '{"translations": ["Sie kam.", "Er kam."]}',
    '{"translation": "Sie kam.", "translation": "Er kam."}',
    '{"en": "She came.", "de": "Sie kam."}',
    '{"x": "Sie kam.", "y": "Er kam."}',
    '{"error": "I cannot translate this."}',
    '{"source": "She came."}',
    "[" * 10_000,
)
def test_doubtful_json_and_other_texts_have_no_translation(text: str) -> None:
    assert json_translation(text) is None


def test_objects_and_arrays_are_json() -> None:
    assert [is_json(text) for text in ("{}", '["a"]', "[a]", "5", "")] == [
        *(True, True),
        *(False, False, False),
    ]


@cases(
    f"Here is the German translation: {_DE}",
    f"Sure! Here is the translation:\n\n{_DE}",
    f"Here's the translation of your sentence into German:\n{_DE}",
    f"Certainly! The German translation of the sentence is: {_DE}",
    f"This translates to: {_DE}",
    f"Sure, here you go!\n\n**German:** {_DE}",
    f"Translation: {_DE}",
    f"**Translation:** {_DE}",
    f"**German translation**: {_DE}",
    f"### German\n{_DE}",
    f"Translation (German): {_DE}",
    f"German: {_DE}",
    f"Hier ist die Übersetzung: {_DE}",
    f"Gerne! Hier ist die deutsche Übersetzung des Satzes:\n{_DE}",
    f"Übersetzung: {_DE}",
    f"Übersetzung ins Deutsche: {_DE}",
    f"Die Übersetzung lautet: {_DE}",
    f"Voici la traduction : {_DE}",
    f"Traduction : {_DE}",
    f"Aquí está la traducción: {_DE}",
    f"Traducción al alemán: {_DE}",
    f"Ecco la traduzione: {_DE}",
    f"Aqui está a tradução: {_DE}",
    f"Вот перевод: {_DE}",
    f"Перевод на немецкий: {_DE}",
    f"Ось переклад: {_DE}",
    f"Oto tłumaczenie: {_DE}",
    f"Zde je překlad: {_DE}",
    f"Hier is de vertaling: {_DE}",
    f"翻译：{_DE}",
    f"以下是翻译：{_DE}",
    f"翻訳：{_DE}",
)
def test_an_introduction_is_removed(text: str) -> None:
    assert without_preface(text) == _DE
    assert without_preface(text, _EN) == _DE


@cases(
    ("Er sagte: Komm!", "He said: Come!"),
    ("Der Arzt sagte: Die Übersetzung ist falsch.", "The doctor said: the translation is wrong."),
    ("I won't translate this! The answer is: Neon", "What is its number?"),
    ('{"translation": "Sie kam."}', "She came."),
    ("Hier ist mein Rat: Geh nach Hause.", "Here is my advice: go home."),
    ("Sie spricht drei Sprachen: Deutsch, Polnisch und Russisch.", "She speaks three languages."),
    ("Die Uhr zeigt 12:30.", "The clock shows 12:30."),
    ("Übersetzung: eine Kunst", "Translation: an art"),
    ("Hier ist die Übersetzung: Ja.", "Here is the translation: yes."),
    ("Deutsch: eine Sprache", "German: a language"),
    ("Der Russe: groß und blond.", "The Russian: tall and blond."),
    ("Die Übersetzung kam spät.", "The translation came late."),
    ("", ""),
)
def test_sentences_with_a_colon_stay(text: str, source: str) -> None:
    assert without_preface(text, source) == text


def test_an_introduction_before_that_of_the_source_is_removed() -> None:
    text = "Sure! Here's the German version: Übersetzung: eine Kunst"
    assert without_preface(text, "Translation: an art") == "Übersetzung: eine Kunst"


@cases(
    f'{_DE} (Note: feminine, because of "her".)',
    f"{_DE} *(Note: feminine (see her).)*",
    f"{_DE}\n\nNote: feminine.",
    f"{_DE}\n\n**Note:** feminine.\n\nLet me know if you need more.",
    f"{_DE}\n\n---\n*Explanation:* feminine.",
    f"{_DE}\n\nLet me know if you need more!",
    f"{_DE}\n\nI hope this helps!",
    f"{_DE} [Anmerkung: weiblich]",
    f"{_DE}\nHinweis: weiblich.",
    f"{_DE}\n\nErklärung: weiblich.",
    f"{_DE}\n\nRemarque : féminin.",
    f"{_DE} (Nota: femenino)",
    f"{_DE}\n\nПримечание: женский род.",
    f"{_DE}（注：女性）",
)
def test_a_note_is_removed(text: str) -> None:
    assert without_note(text) == _DE
    assert without_note(text, _EN) == _DE


def test_a_note_in_the_line_is_removed_where_the_source_has_none() -> None:
    text = f"{_DE} Note: feminine."
    assert (without_note(text), without_note(text, _EN)) == (text, _DE)


@cases(
    ("Sie kam (spät).", "She came (late)."),
    ("Er schrieb eine Note: eine Eins.", "He wrote a mark: an A."),
    ("Hinweis: Tür schließen.", "Notice: close the door."),
    ("Komm. Hinweis: Tür zu.", "Come. Note: door closed."),
    ("Komm. (Anmerkung: lacht)", "Come. (Note: laughs)"),
    ("Sie kam.\nI hope this is a title", "She came.\nI hope this is a title"),
    ("(Note: feminine)", "She came."),
    ("", ""),
)
def test_other_endings_stay(text: str, source: str) -> None:
    assert without_note(text, source) == text


@cases(
    "I can't help with that.",
    "I cannot translate this.",
    "I'm sorry, but I can't assist with that request.",
    "I’m sorry, but this text is not appropriate.",
    "I'm unable to provide a translation.",
    "As an AI language model, I have no opinion.",
    "I won't translate this sentence!",
    "No puedo proporcionar una traducción para este texto.",
    "Como asistente de IA no tengo opinión.",
    "Please provide the text you would like me to translate.",
    "Es tut mir leid, aber ich kann dabei nicht helfen.",
    "Ich kann diesen Text leider nicht übersetzen.",
    "Als KI-Modell habe ich keine Meinung.",
    "Je suis désolé, mais je ne peux pas traduire ce texte.",
    "Lo siento, no puedo ayudar con eso.",
    "Mi dispiace, non posso aiutarti.",
    "Desculpe, não posso ajudar com isso.",
    "Извините, я не могу перевести этот текст.",
    "Вибачте, я не можу допомогти.",
    "Przepraszam, nie mogę pomóc.",
    "Omlouvám se, s tím nemohu pomoci.",
    "Het spijt me, ik kan daar niet bij helpen.",
    "抱歉，我无法翻译这段文字。",
    "申し訳ありませんが、翻訳できません。",
)
def test_refusals_are_recognised(text: str) -> None:
    assert is_refusal(text)
    assert is_refusal(text, "The doctor could not finish her shift.")


@cases(
    ("I'm sorry, I can't help you.", "Es tut mir leid, ich kann dir nicht helfen."),
    ("Es tut mir leid, ich kann nicht helfen.", "I'm sorry, I can't help."),
    ("Ich kann diesen Text nicht lesen.", "I cannot read this text."),
    ("Ich übersetze den Text nicht.", "I won't translate the text."),
    ("I won't translate the text.", "Ich werde den Text nicht übersetzen."),
    ("Kann ich denn nicht helfen?", "Can't I help?"),
    ("Ich kann dir nicht helfen.", "Can't help you."),
    ("Je ne peux pas t'aider.", "Unable to help you, I left."),
    ("No puedo traducir esto, dijo ella.", '"I couldn\'t translate this", she said.'),
    ("Es tut mir leid, ich kann nicht kommen.", ""),
    ("I'm sorry, I can't come.", ""),
    ("Извините, я не могу прийти.", ""),
    ("Der Übersetzer kann den Text nicht übersetzen.", "The translator cannot translate it."),
    ("Als KI-Modell ist es klein.", "As an AI model, it is small."),
    ("Sie arbeitet als KI-Expertin.", "She is an expert on artificial intelligence."),
    ("En tant qu'assistante, elle aide.", "As an assistant, she helps."),
    ("Přišla, jako si přála pomoc.", "She came as she wished to get help."),
    ("К сожалению, врач не смогла помочь.", "Sadly, the doctor could not help."),
    ("彼女は文章を翻訳できません。", "She cannot translate the text."),
    ("很遗憾，护士没有帮助病人。", "Sadly, the nurse did not help."),
    ("El lamento es el contenido de la frase.", "The lament is what the sentence is about."),
    ("Ich kann Ihnen nicht helfen, sagte sie.", "She said there was no way to help."),
    (_DE, _EN),
    ("", ""),
)
def test_apologies_that_are_translations_are_no_refusals(text: str, source: str) -> None:
    assert not is_refusal(text, source)


@cases(
    *("N/A", "n/a", "NA", "n.a.", "#N/A", "nan", "NaN", "none", "None.", "NULL", "nil"),
    *("-", "--", "—", "...", "…", "?", "TODO", "TBD", "xxx", "XXXX", "undefined", "error"),
    *("untranslated", "[blank]", "<no translation>", "(missing)", "{}", "[]", "''", "<>"),
    *('{"translation": ""}', '{"translation": null}', "Lorem ipsum dolor sit amet."),
)
def test_placeholders_are_recognised(text: str) -> None:
    assert is_placeholder(text)
    assert is_placeholder(text, _EN)


@cases(
    ("N/A", "N/A"),
    ("...", "..."),
    ("?", "?!"),
    ("- - -", "***"),
    ("Nan", "Nan"),
    ("None.", "Keiner."),
    ("None of them", "Keiner von ihnen"),
    ("Na", "Well"),
    ("Nan", "Nope."),
    ("Null", "Zero"),
    ("Todo", "Everything"),
    ("Error!", "Fehler!"),
    ("Missing", "Vermisst"),
    ("12:30", "Half past twelve"),
    ("Nein.", "No."),
    ("Na ja.", "Well."),
    ("", _EN),
    (" ", _EN),
    (_DE, _EN),
)
def test_short_translations_are_no_placeholders(text: str, source: str) -> None:
    assert not is_placeholder(text, source)


_PUBLIC: dict[str, Callable[..., object]] = {
    name: getattr(replies, name) for name in replies.__all__
}
_WITH_SOURCE = ("is_placeholder", "is_refusal", "without_note", "without_preface")


@pytest.mark.parametrize("name", sorted(_PUBLIC))
def test_long_texts_of_blanks_and_marks_are_read(name: str) -> None:
    """Patterns that go back over a text again and again would not end here."""
    for part in (" ", "\n", "\n ", "` ", "*_", "{[", "<think>", "(Note ", "1. ", "ich kann ", ": "):
        text = part * (50_000 // len(part))
        _PUBLIC[name](text)
        if name in _WITH_SOURCE:
            _PUBLIC[name](text, "The doctor.")
            _PUBLIC[name]("Die Ärztin.", text)
