"""What stands in translations beside the translation is named, and removed where that is sure. Each
kind has neighbours of people's own, which must not be named.
"""

from collections.abc import Callable, Sequence

import pytest

from cc_hf.text.artefacts import ARTEFACTS, artefacts, rows_with_reasons, without_artefacts
from tests.helpers.usual import cases

_SOURCES = (
    "The doctor finished her shift.",
    "The nurse said that he was tired.",
    "The lawyer lost her case.",
    "The engineer showed us his plans.",
)
_PLAIN = (
    "Die Ärztin beendete ihre Schicht.",
    "Der Krankenpfleger sagte, dass er müde sei.",
    "Die Anwältin verlor ihren Fall.",
    "Der Ingenieur zeigte uns seine Pläne.",
)
_PIECES = tuple("▁" + text.replace(" ", " ▁") for text in _PLAIN)


def _kinds(texts: Sequence[str], sources: Sequence[str] = _SOURCES) -> list[str]:
    return [artefact.kind for artefact in artefacts(tuple(texts), tuple(sources))]


def _wrapped(form: str) -> list[str]:
    return [form.format(text, row) for row, text in enumerate(_PLAIN)]


@cases(
    ("thinking", "<think>She or he?</think>\n{}"),
    ("thinking", "[THINK]She or he?[/THINK]{}"),
    ("thinking", "◁think▷She or he?◁/think▷{}"),
    ("json", '{{"translation": "{}"}}'),
    ("json", '["{}"]'),
    ("json", '{{"source": "x", "de": "{}"}}'),
    ("fence", "```\n{}\n```"),
    ("fence", "```text\n{}\n```"),
    ("fence", "~~~\n{}\n~~~"),
    ("preface", "Here is the German translation:\n\n{}"),
    ("preface", "Übersetzung: {}"),
    ("preface", "Gerne, auf Deutsch heißt das so: {}"),
    ("preface", "DE: {}"),
    ("preface", "[DE] {}"),
    ("preface", "Sure! {}"),
    ("preface", "✅ {}"),
    ("preface", "- {}"),
    ("ending", "{} (Note: the pronoun decides.)"),
    ("ending", "{}\n\nAnmerkung: Das Pronomen entscheidet."),
    ("ending", "{} Ich hoffe, das hilft!"),
    ("id", "{1},{0}"),
    ("id", "{1}. {0}"),
    ("id", "[{1}] {0}"),
    ("id", "sent-{1}: {0}"),
    ("id", "doc1_{1}: {0}"),
    ("id", "Satz {1}: {0}"),
    ("id", "{1} - {0}"),
    ("special", "<s> {} </s>"),
    ("special", "__de__ {}"),
    ("special", "<|im_start|>{}<|im_end|>"),
    ("special", "deu_Latn {}"),
    ("markup", '<seg id="1">{}</seg>'),
    ("markup", "**{}**"),
    ("markup", "<p>{}</p>"),
    ("quotes", '"{}"'),
    ("quotes", "„{}“"),
    ("quotes", "«{}»"),
    ("quotes", '"""{}"""'),
    ("quotes", '"{}'),
    ("quotes", "*{}*"),
    ("quotes", "&quot;{}&quot;"),
    ("invisible", "\u200f{}\u200f"),
    ("invisible", "\ufeff{}"),
    ("invisible", "\u00ad{}"),
    ("control", "\x07{}"),
    ("control", "{}\x00"),
    ("control", "\x9f{}"),
    ("entities", "{} &amp; so"),
)
def test_text_around_translations_is_named_and_removed(kind: str, form: str) -> None:
    texts = _wrapped(form)
    assert kind in _kinds(texts)
    if kind != "entities":
        assert without_artefacts(texts, _SOURCES) == list(_PLAIN)


@cases(
    ("pieces", _PIECES),
    ("pieces", [text.replace("in ", "@@ in ") + " @@" for text in _PLAIN]),
    ("pieces", ["Die Ärzt ##in kam.", *_PLAIN[1:]]),
    ("columns", [f"{source}\t{text}" for source, text in zip(_SOURCES, _PLAIN, strict=True)]),
    ("upper", [text.upper() for text in _PLAIN]),
    ("lower", [text.lower() for text in _PLAIN]),
    ("tokenised", [text.replace(".", " .").replace(",", " ,") for text in _PLAIN]),
    ("tokenised", [text.replace(".", " .") for text in _PLAIN]),
    ("encoding", [text.encode().decode("latin-1") for text in _PLAIN]),
    ("encoding", [text.encode().decode("cp1252", "replace") for text in _PLAIN]),
    ("encoding", [text.replace("Ä", "\ufffd").replace("ä", "\ufffd") for text in _PLAIN]),
    ("breaks", [text.replace(" ", "\n", 1) for text in _PLAIN]),
    ("entities", [text.replace("ä", "&auml;").replace("Ä", "&Auml;") for text in _PLAIN]),
)
def test_ways_of_writing_are_named(kind: str, texts: Sequence[str]) -> None:
    assert kind in _kinds(texts)


def test_a_preface_that_nothing_sets_apart_stays() -> None:
    texts = _wrapped("So sagt man es wohl {}")
    assert _kinds(texts) == ["beginning"]
    assert without_artefacts(texts, _SOURCES) == texts


def test_pieces_become_words() -> None:
    assert without_artefacts(_PIECES, _SOURCES) == list(_PLAIN)


@cases(
    ('"Kommen Sie!", sagte die Ärztin.', '"Come!", said the doctor.'),
    ('"Kommen Sie!"', '"Come!"'),
    ("„Die Ärztin“, so hieß das Stück.", "The play was called 'The doctor'."),
    ("Er sagte: Komm!", "He said, come!"),
    ("Sie fragte: Wann kommt die Übersetzung?", "She asked: when will the translation come?"),
    ("3 Ärztinnen kamen.", "3 doctors came."),
    ("2. Liga: Die Trainerin ging.", "2nd league: the coach left."),
    ("« Bonjour ! » dit-elle ; il partit ?", "“Hello!” she said; did he leave?"),
    ("Que faire ? Rien !", "What to do? Nothing!"),
    ("<b>Ärztin</b>", "<b>doctor</b>"),
    ('{"name": "Ärztin"}', '{"name": "doctor"}'),
    ("```Ärztin```", "```doctor```"),
    ("Müller &amp; Söhne", "Miller &amp; sons"),
    ("arzt", "doctor"),
    ("Arzt", "Doctor"),
    ("NATO", "NATO"),
    ("DIE ÄRZTIN GING.", "THE DOCTOR LEFT."),
    ("می‌خواهم بروم", "I want to go"),
    ("क्‍षमा करें", "Forgive me"),
    ("👩‍⚕️ geht", "👩‍⚕️ goes"),
    ("הרופאה הלכה.", "The doctor left."),
    ("医生走了。", "The doctor left."),
    ("Zeile eins\nZeile zwei", "Line one\nline two"),
    ("Sie schrieb an max_muster@web.de.", "She wrote to max_muster@web.de."),
    ("2 Pflegerinnen kamen.", "Two nurses came."),
    ("12. Mai: Die Ärztin kam.", "On the twelfth of May the doctor came."),
    ("Der Deutsche: Ich bin müde.", "The German said he was very tired."),
    ("Sie kam. Hinweis: Sie war krank.", "She came, but mind you that she was very ill."),
    ("It-tabiba Ġużeppa ġiet.", "Doctor Josephine came."),
    ("Es gilt a <b und c> d.", "It holds that a is below b and c above d."),
    ("Sie stellte es auf de_DE ein.", "She set it to German."),
    ("ខ្ញុំ\u200bជា\u200bគ្រូ", "I am a teacher."),
)
def test_text_of_people_is_not_named(text: str, source: str) -> None:
    texts, sources = [text, *_PLAIN], [source, *_SOURCES]
    assert _kinds(texts, sources) == []
    assert without_artefacts(texts, sources) == texts


def test_sentences_from_a_template_are_not_named() -> None:
    jobs = {"cook": "Köchin", "nurse": "Pflegerin", "judge": "Richterin", "baker": "Bäckerin"}
    sources = [f"My sister is a {job} and she is proud of it." for job in jobs]
    texts = [f"Meine Schwester ist {job} und sie ist stolz darauf." for job in jobs.values()]
    assert _kinds(texts, sources) == []


@cases(
    (
        ["Er sagte zu ihr: Ich bin der neue Pfleger.", "Er sagte zu ihr: Ich gehe."],
        ["He told her that he was the new nurse.", "He said to her he was leaving."],
    ),
    (
        ["Ich bin eine Pflegerin.", "Ich bin eine Ärztin.", "Ich bin eine Anwältin."],
        ["I'm a nurse.", "I am a doctor.", "Me? A lawyer."],
    ),
    (
        ["Die Pflegerin kam. Sie war sehr müde.", "Die Ärztin ging. Sie war sehr müde."],
        ["The nurse came. She was very tired.", "The doctor left; she was exhausted."],
    ),
    (
        ["Die Ärztin kam heute spät.", "Die Ärztin kam heute früh.", "Die Ärztin kam heute nie."],
        ["", "", "The doctor."],
    ),
    (
        ["2 Pflegerinnen kamen.", "3 Ärztinnen gingen.", "4 Pilotinnen flogen."],
        ["Two nurses came.", "Three doctors left.", "Four pilots flew."],
    ),
)
def test_sentences_that_begin_or_end_alike_are_not_named(
    texts: list[str], sources: list[str]
) -> None:
    assert _kinds(texts, sources) == []
    assert without_artefacts(texts, sources) == texts


def test_a_preface_before_every_fifth_line_is_named() -> None:
    sources = [f"The {job} saw number {i}." for i, job in enumerate(["cook", "nurse"] * 25)]
    texts = [f"Nummer {i} wurde gesehen." for i in range(50)]
    wrapped = [
        f"Und hier kommt es nun: {text}" if i % 5 == 0 else text for i, text in enumerate(texts)
    ]
    [named] = artefacts(tuple(wrapped), tuple(sources))
    assert (named.kind, len(named.rows), named.example) == ("preface", 10, "Und hier kommt es nun:")
    assert without_artefacts(wrapped, sources) == texts


@cases((2, 300, ["markup"]), (1, 300, []), (1, 100, ["markup"]))
def test_kinds_are_named_from_two_or_one_percent(n: int, n_all: int, expected: list[str]) -> None:
    texts = [f"<i>Sie {i}</i>" if i < n else f"Sie {i}" for i in range(n_all)]
    assert _kinds(texts, [f"She {i}" for i in range(n_all)]) == expected


def test_an_unclosed_thought_leaves_nothing() -> None:
    assert without_artefacts(["<think>She or", *_PLAIN[1:]], _SOURCES) == ["", *_PLAIN[1:]]


def test_layers_are_removed_one_after_another() -> None:
    texts = _wrapped('<think>So</think>\n```json\n{{"translation": "\\"{}\\""}}\n```')
    assert without_artefacts(texts, _SOURCES) == list(_PLAIN)


def test_only_some_kinds_are_reasons() -> None:
    texts = ["<b>Sie kam.</b>", "Sie kam &amp; ging.", *_PLAIN[2:]]
    assert rows_with_reasons(artefacts(tuple(texts), _SOURCES)) == {0}
    assert not ARTEFACTS["tokenised"].is_reason


def test_without_sources_shared_words_say_nothing() -> None:
    assert _kinds([f"Die Ärztin sagte uns dann: {i}" for i in range(9)], [""] * 9) == []


@pytest.mark.parametrize("look", [artefacts, without_artefacts])
@cases(" ", "<", "&", "{[", "`a", "a:", "1.", "(a", '"', "▁", "**", "<a ", "\n", ".,", "ab")
def test_long_texts_end(unit: str, look: Callable[..., object]) -> None:
    text = unit * (100_000 // len(unit))
    look((text, f"x{text}x"), ("A doctor.", "A nurse."))
