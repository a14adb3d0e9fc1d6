"""Each language has its rule and its reader."""

from typing import Any

import pytest

from cc_hf.errors import MissingDependencyError
from cc_hf.plugins.gender_reading import german_nouns
from cc_hf.plugins.gender_reading.german_nouns import open_german_nouns
from cc_hf.plugins.gender_reading.persons import person
from cc_hf.plugins.gender_reading.rules import open_gender_rule
from tests.helpers.usual import cases, fails, refuses


@cases(
    ("de", "Die Ärztin kam.", (1,), "feminine"),
    ("de", "Der Arzt kam.", (1,), "masculine"),
    ("de", "Das Kind kam.", (1,), "none"),
    ("de", "Die Empfangsdame kam.", (1,), "feminine"),  # by the last part of a compound
    ("de", "Die Angestellte kam.", (1,), "feminine"),  # by its determiner
    ("de", "Der kluge Angestellte kam.", (2,), "masculine"),
    ("de", "Er half der Angestellten.", (3,), "both"),
    ("de", "Angestellte kamen.", (0,), "both"),
    ("de", "Der Koch kam.", (1,), "masculine"),  # a boiling is a "Koch", too
    ("de", "Der Xyzzy kam.", (1,), ""),
    ("de", "Sie kam.", (), ""),
    ("ru", "Повариха ушла.", (0,), "feminine"),
    ("ru", "Повар ушёл.", (0,), "masculine"),
    ("ru", "Сирота ушла.", (0,), "both"),
    ("ru", "\U00018800 ушла.", (0,), ""),
)
def test_a_noun_shows_the_gender(
    lang: str, text: str, linked: tuple[int, ...], expected: str
) -> None:
    source, links = "The person came.", tuple((1, token) for token in linked)
    rule = open_gender_rule(lang)
    assert rule.read_all([person(source, "person", 4, text, links)]) == [expected]


@cases(
    (
        "The very brave construction worker left.",
        "construction worker",
        ((0, 0), (3, 2), (4, 3)),
        ((2, 3), (0,)),
    ),
    # a focus within a token is that token
    ("See (doctor) now.", "doctor", ((0, 0), (1, 1), (2, 2)), ((1,), ())),
    # a focus without an article has none
    ("Doctors left the room.", "Doctors", ((0, 0), (2, 1)), ((0,), ())),
)
def test_the_words_of_a_focus_and_its_article_are_found(
    source: str, focus: str, links: Any, linked: Any
) -> None:
    translated = person(source, focus, source.index(focus), "", links)
    assert (translated.linked, translated.article_linked) == linked


@cases(("de", "noun+german-nouns-"), ("uk", "noun+pymorphy3-"))
def test_the_signature_names_rule_and_list(lang: str, signed: str) -> None:
    assert open_gender_rule(lang).signature_name.startswith(signed)


@cases(
    ({"lang": "fi"}, "language whose genders are read 'fi'"),
    ({"lang": "de", "rule": "context"}, "rule: expected noun for de, got context"),
    ({"lang": "fr", "reader": "german-nouns"}, "language of german-nouns 'fr'"),
    ({"lang": "de", "reader": "pymorphy3"}, "language of pymorphy3 'de'"),
)
def test_what_does_not_fit_is_refused(given: dict[str, str], message: str) -> None:
    refuses(message, open_gender_rule, **given)


def test_the_extra_is_named_where_the_list_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(german_nouns, "_PACKAGE", "no-such-list")
    open_german_nouns.cache_clear()
    fails(MissingDependencyError, r"no-such-list.*\[german\]", open_german_nouns, "de")
