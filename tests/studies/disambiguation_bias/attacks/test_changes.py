from __future__ import annotations

import pytest

from cc_hf.studies.disambiguation_bias.attacks.changes import (
    insert_adjective,
    insert_after,
    replace_adjective,
)
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses


@cases(
    ("We met a doctor.", "doctor", "honest", "We met an honest doctor."),
    ("We met an actor.", "actor", "European", "We met a European actor."),
    ("An owner came.", "owner", "new", "A new owner came."),
    ("It is a spring.", "spring", "first", "It is the first spring."),
    ("This was a  match.", "match", "old", "This was an  old match."),
    ("The bat flew.", "bat", "old", "The old bat flew."),
    ("Vitamin a bat.", "Vitamin", "old", "Old vitamin a bat."),
    ("Dr. Lea bat.", "bat", "old", "Dr. Lea old bat."),
    ("NATO acts.", "NATO", "old", "Old NATO acts."),
)
def test_insertions_adapt_articles(source: str, noun: str, adjective: str, expected: str) -> None:
    changed = insert_adjective(source, source.index(noun), adjective)
    assert changed.text == expected
    assert changed.text[changed.start :].lower().startswith(adjective.lower())


@cases(
    ("An old man waits.", "old", "big", "A big man waits."),
    ("Cold springs are rare.", "Cold", "hot", "Hot springs are rare."),
    ("He has a useful arm.", "useful", "idle", "He has an idle arm."),
    ("It is a cold spring.", "cold", "last", "It is the last spring."),
)
def test_replacements_adapt_articles(source: str, old: str, adjective: str, expected: str) -> None:
    assert replace_adjective(source, source.index(old), len(old), adjective).text == expected


def test_other_languages_have_no_articles_to_adapt_and_german_nouns_keep_their_capital() -> None:
    assert insert_adjective("an Federn", 3, "alten", lang="de").text == "an alten Federn"
    assert insert_adjective("Federn", 0, "alte", lang="de").text == "Alte Federn"
    assert replace_adjective("A velha", 2, 5, "idosa", lang="pt").text == "A idosa"
    changed = insert_after("A mola quebrou.", 6, "velha")
    assert [changed.position(start) for start in (0, 2, 7)] == [0, 2, 13]
    assert changed.text[changed.start :] == "velha quebrou."


@pytest.mark.parametrize("adjective", ["old", "first", "big"])
def test_positions_before_and_after_the_change_are_known(adjective: str) -> None:
    source = "I saw a spring near a bank in May."
    changed = insert_adjective(source, source.index("bank"), adjective)
    for word in ("I ", "saw", "spring", "bank", "May"):
        assert changed.text[changed.position(source.index(word)) :].startswith(word)
    replaced = replace_adjective("A cold old bank.", 7, 3, adjective)
    assert replaced.text[replaced.position(11) :] == "bank."


def test_the_change_of_one_sample_is_not_carried_over_to_the_next() -> None:
    source = "He found a spring."
    texts = [insert_adjective(source, 11, adjective).text for adjective in ("old", "hot")]
    assert texts == ["He found an old spring.", "He found a hot spring."]


def test_a_position_outside_the_sentence_is_refused() -> None:
    refuses("expected 0 to 8, got 9", insert_adjective, "A spring.", 9, "hot")
    refuses("expected words", insert_adjective, "A spring.", 2, " ")
