from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluation.material import Material
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.systems import translate as translation
from cc_hf.systems.system import System
from cc_hf.systems.translate import Translations
from tests.helpers.cases import cases
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.refusals import refuses


def example(number: int, context: str | None) -> ContrastiveSourceExample:
    extra = {} if context is None else {"context": context, "source_with_context": "any"}
    sides = ("The [male] cook left.",), ("The [female] cook left.",), "male", "male", extra
    source = f"The cook left {number}."
    return ContrastiveSourceExample(str(number), "en", "de", source, Focus("cook", 4), *sides)


def test_the_context_stands_before_the_source_where_there_is_one() -> None:
    system = System("any", separator="<sep>")
    sources = system.sources([example(0, "He slept."), example(1, ""), example(2, None)])
    first = "He slept. <sep> The cook left 0."
    assert sources == [first, "The cook left 1.", "The cook left 2."]
    assert System("any").sources([example(0, "He slept.")]) == ["The cook left 0."]


@cases(("Er. <sep> Sie. <sep>Der Koch.", "Der Koch."), ("Der Koch.", "Der Koch."), ("Er <sep>", ""))
def test_the_last_sentence_follows_the_last_separator(written: str, expected: str) -> None:
    assert System("any", separator="<sep>").last_sentence(written) == expected
    assert System("any").last_sentence(written) == written


@cases(
    ({"num_beams": 0}, "num_beams: expected an integer of at least 1, got 0"),
    ({"num_beams": True}, "num_beams: expected an integer of at least 1, got True"),
    ({"separator": " "}, "separator: expected the text that the system was trained with"),
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, System, "any", **options)


def test_a_separator_without_any_context_is_refused() -> None:
    with pytest.raises(InputError, match="expected sources with sentences before them"):
        System("any", separator="<sep>").sources([example(0, ""), example(1, None)])


def test_the_last_sentences_of_a_system_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []

    def fake(_: object, sources: Sequence[str], *, num_beams: int, **__: object) -> Translations:
        seen.extend((source, num_beams) for source in sources)
        return Translations(["Er schlief. <sep> Der Koch ging.", "Der Koch ging."], [])

    monkeypatch.setattr(translation, "translate_rows", fake)
    result = cc_hf.evaluate(
        Material("en", "de", [example(0, "He slept."), example(1, "")]),
        system=System("cc-tiny-en-de", num_beams=2, separator="<sep>"),
        evaluator=hash_scores,
    )
    assert seen == [("He slept. <sep> The cook left 0.", 2), ("The cook left 1.", 2)]
    assert [j.translation for j in result.judgements] == ["Der Koch ging."] * 2
    assert result.counts["n_without_separator"] == 1
    assert "/beam2/context <sep>|" in result.signature
