"""Write the excerpts.

`python -m tests.parity.excerpts.make SHARED` takes every 96th row of recorded outputs on WinoMT,
whose data, translations and programs are under the MIT licence (NOTICE.md).
"""

import gzip
import sys
from pathlib import Path
from typing import Any

from tests.helpers.lines import read_jsonl, write_jsonl

_EVERY = 96
_HERE = Path(__file__).parent
_STEPS = ("sentence", "entity", "src_index", "gold", "translation", "pred")
_SAMPLES = (
    *("sentence", "category", "source_correct", "source_incorrect"),
    *("translation", "probability_correct", "is_correct"),
)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def _chosen(path: Path, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{key: row[key] for key in keys} for row in read_jsonl(path)[::_EVERY]]


def main(shared: Path) -> None:
    """Write all excerpts."""
    folder = shared / "gold/winomt_pattern_matching"
    for system, lang in (("aws", "de"), ("google", "ru")):
        steps = _chosen(folder / f"steps/{system}.en-{lang}.jsonl.gz", _STEPS)
        links = _lines(folder / f"alignments/{system}.en-{lang}.fast_align.gz")[::_EVERY]
        rows = [{**step, "alignment": line} for step, line in zip(steps, links, strict=True)]
        write_jsonl(_HERE / f"winomt_pattern_matching.{system}.{lang}.jsonl", rows)
    samples = shared / "gold/contrastive_conditioning/winomt.en-de.all_samples.jsonl.gz"
    write_jsonl(_HERE / "contrastive_conditioning.winomt.jsonl", _chosen(samples, _SAMPLES))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
