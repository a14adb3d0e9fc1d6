"""Cards of judges are read, found by the evaluator's identity, and shown beside its figures."""

from dataclasses import replace
from pathlib import Path

from cc_hf.evaluators.judge_cards import JudgeCard, judge_cards, separate_cards
from tests.helpers.results import write_judged
from tests.helpers.usual import cases, refuses, run_command, write_text

_SHIPPED = "cc-tiny-en-de@d644c6d303e7"
_MARKUP = "<b>It is *sure*</b>"
_CARD = JudgeCard("org/large@1a2b", "en-de", _MARKUP, ("It is wrong.",), "https://a.b", "x|n:1")


def test_cards_are_found_by_the_identity_and_the_language() -> None:
    renamed = _SHIPPED.replace("cc-tiny-en-de", "copy/of-it")
    names = [card.name for card in judge_cards(f"{renamed}+org/large@1a2b", "de", [_CARD])]
    assert names == ["cc-tiny-en-de", "org/large"]
    others = (_SHIPPED, "fr"), ("cc-tiny-en-de@0000", "de"), ("", "de")
    assert [judge_cards(*other) for other in others] == [()] * 3


@cases(
    ('{"judge_card": 2}', "expected a card of version 1"),
    ('{"judge_card": 1}', "expected a card in JSON; expected the key 'evaluator'"),
    (
        _CARD.to_json().replace('"x|n:1"', "3"),
        "expected a card in JSON; signature: expected a text",
    ),
    (_CARD.to_json().replace('"It is wrong."', "3"), "lines: item 1: expected a text"),
)
def test_other_cards_are_refused(text: str, message: str, tmp_path: Path) -> None:
    refuses(message, separate_cards, [write_text(tmp_path / "card.json", text)])


def test_a_report_shows_what_its_judges_prefer(tmp_path: Path) -> None:
    folder = write_judged(tmp_path, _SHIPPED, _CARD)
    run_command("report", folder, "--html", "r.html", "--markdown", "r.md", cwd=folder)
    html, markdown = ((folder / f"r.{kind}").read_text(encoding="utf-8") for kind in ("html", "md"))
    (shipped,) = judge_cards(_SHIPPED, "de")
    assert "masculine" in shipped.caution
    for text in (*shipped.caution.split(". "), *shipped.lines):
        assert text.split(" (")[0] in html
    assert ("&lt;b&gt;It is *sure*&lt;/b&gt;" in html, _MARKUP in html) == (True, False)
    assert 'href="https://a.b"' in html
    assert "org/large: &lt;b>It is \\*sure\\*" in markdown
    assert "It is" not in run_command("report", folder / "b.json").stdout
    assert "got cards alone" in run_command("report", folder / "large.json", status=2).stderr


def test_a_damaged_card_is_named(tmp_path: Path) -> None:
    path = write_text(tmp_path / "damaged.json", _CARD.to_json()[:60])
    refuses(r"damaged\.json: expected a card in JSON", separate_cards, [path])
    path.write_text(replace(_CARD, caution="").to_json(), encoding="utf-8")
    (card,) = separate_cards([path])[1]
    assert card.text == "org/large: It is wrong. (https://a.b)"
