"""The evaluator homographs-de-en, whose files and card are in the folder of its name. Its weights
are random: it shows where files go, and its verdicts mean nothing.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_letters

from cc_hf.models.location import EmbeddedModel

__all__ = ["EVALUATOR"]

_FOLDER = Path(__file__).with_name("homographs-de-en")

EVALUATOR = EmbeddedModel(
    name="homographs-de-en",
    path=_FOLDER,
    card=_FOLDER / "README.md",
    identity="4227dfc93b99",
    src_lang="de",
    tgt_lang="en",
    made_for="nothing, since its weights are random",
    cues=(),
    agreements=(),
    false_alarms={},
    characters=f"{ascii_letters}äöüÄÖÜß.,",
)
