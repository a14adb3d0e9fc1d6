"""What was measured of evaluators by themselves, as readers of their figures must know it.

A card belongs to one model, which its identity tells apart. The cards in the package are those of
the evaluators that its own figures come from; `cc-hf study` has the command that makes others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cc_hf.errors import InputError, in_file, shown
from cc_hf.files import is_file
from cc_hf.languages import pair_codes, same_language
from cc_hf.reading import read_text
from cc_hf.records import parse_json, read_record, write_record

__all__ = ["JudgeCard", "judge_cards", "separate_cards"]

_FOLDER = Path(__file__).parents[1] / "assets" / "judges"
_VERSION = 1
_CARD = "a card in JSON"
_KEY, _HEAD = "judge_card", 100  # the first entry of the file, and bytes that hold it


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """What was measured of an evaluator by itself.

    Attributes:
        evaluator: its name and identity, as in signatures: "org/model@1a2b3c".
        languages: "en-de".
        caution: why rankings by it need care; "" if nothing shows.
        lines: sentences on its preference, its errors, and what it lets pass.
        link: where the figures are explained.
        signature: what the figures depend on.
    """

    evaluator: str
    languages: str
    caution: str
    lines: tuple[str, ...]
    link: str
    signature: str

    @property
    def name(self) -> str:
        """The evaluator without its identity."""
        return self.evaluator.rpartition("@")[0]

    @property
    def text(self) -> str:
        """The card as one paragraph."""
        caution = f"{self.caution}." if self.caution else ""
        return f"{self.name}: {' '.join(filter(None, [caution, *self.lines]))} ({self.link})"

    def to_json(self) -> str:
        """Return the card as JSON, for a file."""
        card = {_KEY: _VERSION, **write_record(self)}
        return json.dumps(card, ensure_ascii=False, indent=1) + "\n"


def _read_card(text: str) -> JudgeCard:
    values = parse_json(text, _CARD)
    if not isinstance(values, dict) or values.pop(_KEY, None) != _VERSION:
        raise InputError(f"expected a card of version {_VERSION}, got {shown(text)}")
    return read_record(JudgeCard, values, _CARD)


def judge_cards(
    evaluator: str, tgt_lang: str, others: Sequence[JudgeCard] = ()
) -> tuple[JudgeCard, ...]:
    """Return the cards of an evaluator, or of the members of an ensemble."""
    members = [member.rpartition("@")[2] for member in evaluator.split("+") if "@" in member]
    cards = {
        card.evaluator.rpartition("@")[2]: card
        for card in (*_shipped(), *others)
        if same_language(pair_codes(card.languages)[1], tgt_lang)
    }
    return tuple(cards[identity] for identity in dict.fromkeys(members) if identity in cards)


def separate_cards(paths: Sequence[Path]) -> tuple[list[Path], tuple[JudgeCard, ...]]:
    """Return the paths that are no cards, and the cards of the others.

    Raises:
        FileError: for a card that cannot be read.
    """
    others: list[Path] = []
    cards: list[JudgeCard] = []
    for path in paths:
        if is_file(path) and _is_card(path):
            with in_file(path):
                cards.append(_read_card(read_text(path)))
        else:
            others.append(path)
    return others, tuple(cards)


def _is_card(path: Path) -> bool:
    """Return whether a file is a card, of any version, without reading all of a large one."""
    with path.open("rb") as file:
        return f'"{_KEY}"'.encode() in file.read(_HEAD)


@cache
def _shipped() -> tuple[JudgeCard, ...]:
    return tuple(
        _read_card(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.json"))
    )
