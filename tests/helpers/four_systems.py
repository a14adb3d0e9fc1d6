"""The four commercial systems that WinoMT's authors evaluated, judged by scores without meaning."""

from __future__ import annotations

from pathlib import Path

from cc_hf.reports.samples import System
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.metrics import evaluate_dataset

__all__ = ["four_systems"]


def four_systems(shared: Path, folder: Path) -> list[System]:
    """Return the systems; their translations are written to the folder, without blank lines."""
    systems = []
    for name in ("aws", "bing", "google", "systran"):
        lines = (
            (shared / f"upstream/gabrielStanovsky/mt_gender/translations/{name}/en-de.txt")
            .read_text(encoding="utf-8")
            .splitlines()
        )
        path = folder / f"{name}.txt"
        path.write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")
        result = evaluate_dataset(
            "winomt",
            translations=path,
            tgt_lang="de",
            evaluator=hash_scores,
            data_dir=shared / "upstream",
        )
        systems.append(System(name, {result.metric: result}))
    return systems
