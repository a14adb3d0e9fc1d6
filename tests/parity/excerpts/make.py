"""Write the excerpts.

`python -m tests.parity.excerpts.make SHARED` takes every 96th row of recorded outputs on WinoMT,
whose data, translations and programs are under the MIT licence (NOTICE.md).
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EVERY = 96
_HERE = Path(__file__).parent
_STEPS = ("sentence", "entity", "src_index", "gold", "translation", "pred")
_SAMPLES = (
    "sentence",
    "category",
    "source_correct",
    "source_incorrect",
    "translation",
    "probability_correct",
    "is_correct",
)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def _write(name: str, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (_HERE / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _chosen(keys: tuple[str, ...]) -> Callable[[str], dict[str, Any]]:
    return lambda line: {key: json.loads(line)[key] for key in keys}


def main(shared: Path) -> None:
    """Write all excerpts."""
    folder = shared / "gold/winomt_pattern_matching"
    for system, lang in (("aws", "de"), ("google", "ru")):
        steps = _lines(folder / f"steps/{system}.en-{lang}.jsonl.gz")[::_EVERY]
        links = _lines(folder / f"alignments/{system}.en-{lang}.fast_align.gz")[::_EVERY]
        rows = [
            {**_chosen(_STEPS)(step), "alignment": line}
            for step, line in zip(steps, links, strict=True)
        ]
        _write(f"winomt_pattern_matching.{system}.{lang}", rows)
    samples = _lines(shared / "gold/contrastive_conditioning/winomt.en-de.all_samples.jsonl.gz")
    _write("contrastive_conditioning.winomt", list(map(_chosen(_SAMPLES), samples[::_EVERY])))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
