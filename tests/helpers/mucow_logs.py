"""Logs of the original program on the probing suite of MuCoW."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def log_of(shared: Path, lang: str) -> list[dict[str, Any]]:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data"
    text = (folder / f"mucow_pattern_matching.results.en-{lang}.ensemble.log").read_text(
        encoding="utf-8"
    )
    return [json.loads(line) for line in text.splitlines()]


def logged_verdict(row: dict[str, Any]) -> str:
    return "inconclusive" if row["is_unknown"] else "correct" if row["is_correct"] else "incorrect"
