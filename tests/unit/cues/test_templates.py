from __future__ import annotations

import pytest

from cc_hf.cues.templates import apply_cue
from cc_hf.errors import InputError
from cc_hf.schema import Focus
from tests.helpers.cases import cases_by_message

SOURCE = "A bat, another bat."
SECOND = Focus("bat", 15)


@pytest.mark.parametrize(
    ("cue", "placement", "expected"),
    [
        ("baseball", "before", "A bat, another baseball bat."),
        ("(animal)", "after", "A bat, another bat (animal)."),
        ("racket", "replace", "A bat, another racket."),
        ("{focus} or flying {focus}", "after", "A bat, another bat or flying bat."),
    ],
)
def test_a_cue_changes_only_the_focus(cue: str, placement: str, expected: str) -> None:
    assert apply_cue(SOURCE, SECOND, cue, placement) == expected


@cases_by_message(
    ("focus", "cue", "placement", "message"),
    [
        (SECOND, "x", "above", "placement: expected one of before, after, replace, got 'above'"),
        (SECOND, " ", "before", "expected words, got a blank"),
        (SECOND, "bat", "replace", "changes nothing"),
        (SECOND, "{focus}", "before", "changes nothing"),
        (Focus("bat", 3), "x", "before", "the focus 'bat' is not at character 3"),
        (Focus("bat", -4), "x", "after", "the focus 'bat' is not at character -4"),
    ],
)
def test_unfit_cues_placements_and_focuses_are_refused(
    focus: Focus, cue: str, placement: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        apply_cue(SOURCE, focus, cue, placement)
