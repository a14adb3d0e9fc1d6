"""The helpers that most tests use, in one place to import them from."""

from tests.helpers.cases import cases
from tests.helpers.command_line import (
    cc_hf,
    invoke,
    overriding,
    printed_by,
    read_json,
    run_command,
)
from tests.helpers.fake_evaluator import coarse_scores, constant_scores, hash_score, hash_scores
from tests.helpers.intervals import limits, reason
from tests.helpers.judged import contrastive, judgement, result_of
from tests.helpers.lines import read_jsonl, write_jsonl, write_lines, write_text
from tests.helpers.metrics import (
    compute_metric,
    evaluate_dataset,
    evaluate_dataset_by_all,
    evaluate_metric,
    metric_class,
)
from tests.helpers.narrowing import known, typed
from tests.helpers.pairs import EN_DE
from tests.helpers.printed_beside import cells_beside
from tests.helpers.refusals import fails, refuses
from tests.helpers.results import small_result, write_result
from tests.helpers.sheets import fill, read_table
from tests.helpers.terminal import printed

__all__ = [
    "EN_DE",
    "cases",
    "cc_hf",
    "cells_beside",
    "coarse_scores",
    "compute_metric",
    "constant_scores",
    "contrastive",
    "evaluate_dataset",
    "evaluate_dataset_by_all",
    "evaluate_metric",
    "fails",
    "fill",
    "hash_score",
    "hash_scores",
    "invoke",
    "judgement",
    "known",
    "limits",
    "metric_class",
    "overriding",
    "printed",
    "printed_by",
    "read_json",
    "read_jsonl",
    "read_table",
    "reason",
    "refuses",
    "result_of",
    "run_command",
    "small_result",
    "typed",
    "write_jsonl",
    "write_lines",
    "write_result",
    "write_text",
]
