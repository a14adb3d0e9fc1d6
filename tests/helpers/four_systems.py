"""The four commercial systems that WinoMT's authors evaluated, judged by scores without meaning."""

from pathlib import Path
from typing import Any

from cc_hf.reports.samples import ReportedSystem
from tests.helpers.evidence import supported
from tests.helpers.fake_evaluator import hash_scores
from tests.helpers.lines import write_lines
from tests.helpers.metrics import evaluate_dataset


def four_systems(shared: Path, folder: Path) -> list[ReportedSystem]:
    """Return the systems; their translations are written to the folder, without blank lines."""
    systems = []
    for name in ("aws", "bing", "google", "systran"):
        given = shared / f"upstream/gabrielStanovsky/mt_gender/translations/{name}/en-de.txt"
        lines = filter(None, given.read_text(encoding="utf-8").splitlines())
        path = write_lines(folder / f"{name}.txt", lines)
        options: Any = {
            "translations": path,
            "tgt_lang": "de",
            "evaluator": hash_scores,
            "data_dir": shared / "upstream",
        }
        result = supported(evaluate_dataset("winomt", **options))
        systems.append(ReportedSystem(name, {result.metric: result}))
    return systems
