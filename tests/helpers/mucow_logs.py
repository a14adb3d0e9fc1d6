"""Logs of the original program on the probing suite of MuCoW."""

from pathlib import Path
from typing import Any

from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement
from tests.helpers.judged import result_of
from tests.helpers.lines import read_jsonl


def log_path(shared: Path, lang: str) -> Path:
    folder = shared / "upstream/ZurichNLP/contrastive-conditioning/human_validation/mucow/data"
    return folder / f"mucow_pattern_matching.results.en-{lang}.ensemble.log"


def log_of(shared: Path, lang: str) -> list[dict[str, Any]]:
    return read_jsonl(log_path(shared, lang))


def logged_result(shared: Path, lang: str) -> EvaluationResult:
    """Return the logged verdicts as a result."""
    rows = log_of(shared, lang)
    verdicts = [logged_verdict(row) for row in rows]
    pairs = enumerate(zip([row["translation"] for row in rows], verdicts, strict=True))
    judgements = [Judgement(str(i), "all", v == "correct", text, v) for i, (text, v) in pairs]
    return result_of(
        judgements,
        dataset="mucow",
        config=f"en-{lang}.probing",
        tgt_lang=lang,
        metric="mucow_pattern_matching",
        system="ensemble",
    )


def logged_verdict(row: dict[str, Any]) -> str:
    return "inconclusive" if row["is_unknown"] else "correct" if row["is_correct"] else "incorrect"
